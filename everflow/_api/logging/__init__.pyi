"""Written by `make index`."""
from typing import Any

from everflow.platform.logging import DEBUG as DEBUG
from everflow.platform.logging import ERROR as ERROR
from everflow.platform.logging import FATAL as FATAL
from everflow.platform.logging import INFO as INFO
from everflow.platform.logging import TaskLevelStatusMessage as TaskLevelStatusMessage
from everflow.platform.logging import WARN as WARN
from everflow.platform.logging import debug as debug
from everflow.platform.logging import error as error
from everflow.platform.logging import fatal as fatal
from everflow.platform.logging import flush as flush
from everflow.platform.logging import get_verbosity as get_verbosity
from everflow.platform.logging import info as info
from everflow.platform.logging import log as log
from everflow.platform.logging import log_every_n as log_every_n
from everflow.platform.logging import log_first_n as log_first_n
from everflow.platform.logging import log_if as log_if
from everflow.platform.logging import set_verbosity as set_verbosity
from everflow.platform.logging import vlog as vlog
from everflow.platform.logging import warn as warn
from everflow.platform.logging import warning as warning
