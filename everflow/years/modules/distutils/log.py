"""Levels and functions of distutils' own log, written by Python's."""

from logging import DEBUG as DEBUG
from logging import ERROR as ERROR
from logging import FATAL as FATAL
from logging import INFO as INFO
from logging import WARN as WARN
from logging import getLogger

_log = getLogger("distutils")
debug, info, warn, error, fatal, set_threshold = _log.debug, _log.info, _log.warning, _log.error, _log.critical, _log.setLevel
