"""`tf.logging`: the logger named "tensorflow", which writes lines such as `INFO:tensorflow:text` to stderr."""

from __future__ import annotations

import collections
import functools
import logging
import os
import sys
import threading
import time
from typing import Any

from everflow.api import internal, public

DEBUG = public("logging.DEBUG")(logging.DEBUG)
INFO = public("logging.INFO")(logging.INFO)
WARN = public("logging.WARN")(logging.WARNING)
ERROR = public("logging.ERROR")(logging.ERROR)
FATAL = public("logging.FATAL")(logging.CRITICAL)

_counts: collections.Counter[Any] = collections.Counter()

internal("platform.tf_logging")(sys.modules[__name__])


@public("get_logger")
@functools.cache
def get_logger() -> logging.Logger:
    """The logger; it gets a handler of its own unless the program has configured logging already."""
    logger = logging.getLogger("tensorflow")
    if not logging.getLogger().handlers:
        interactive = hasattr(sys, "ps1") or bool(sys.flags.interactive)
        handler = _CurrentStream(interactive)
        handler.setFormatter(logging.Formatter(logging.BASIC_FORMAT))
        logger.addHandler(handler)
        if interactive:
            logger.setLevel(logging.INFO)
    return logger


class _CurrentStream(logging.StreamHandler):
    """Writes to what is stderr (stdout in an interactive interpreter) at that moment."""

    def __init__(self, interactive: bool) -> None:
        logging.Handler.__init__(self)
        self._interactive = interactive

    @property
    def stream(self) -> Any:
        return sys.stdout if self._interactive else sys.stderr


@public("logging.log")
def log(level: int, msg: str, *args: Any, **kwargs: Any) -> None:
    get_logger().log(level, msg, *args, stacklevel=2, **kwargs)


@public("logging.debug")
def debug(msg: str, *args: Any, **kwargs: Any) -> None:
    get_logger().debug(msg, *args, stacklevel=2, **kwargs)


@public("logging.info")
def info(msg: str, *args: Any, **kwargs: Any) -> None:
    get_logger().info(msg, *args, stacklevel=2, **kwargs)


@public("logging.warning")
def warning(msg: str, *args: Any, **kwargs: Any) -> None:
    get_logger().warning(msg, *args, stacklevel=2, **kwargs)


@public("logging.warn")
def warn(msg: str, *args: Any, **kwargs: Any) -> None:
    get_logger().warning(msg, *args, stacklevel=2, **kwargs)


@public("logging.error")
def error(msg: str, *args: Any, **kwargs: Any) -> None:
    get_logger().error(msg, *args, stacklevel=2, **kwargs)


@public("logging.fatal")
def fatal(msg: str, *args: Any, **kwargs: Any) -> None:
    get_logger().critical(msg, *args, stacklevel=2, **kwargs)


@public("logging.vlog")
def vlog(level: int, msg: str, *args: Any, **kwargs: Any) -> None:
    get_logger().log(level, msg, *args, stacklevel=2, **kwargs)


@public("logging.TaskLevelStatusMessage")
def TaskLevelStatusMessage(msg: str) -> None:
    error(msg)


@public("logging.flush")
def flush() -> None:
    for handler in get_logger().handlers:
        handler.flush()


@public("logging.get_verbosity")
def get_verbosity() -> int:
    """The level from which messages are shown."""
    return get_logger().getEffectiveLevel()


@public("logging.set_verbosity")
def set_verbosity(v: int | str) -> None:
    """Shows messages from this level on."""
    get_logger().setLevel(v)


def _calls_from_here() -> int:
    """How often the line that called our caller has done so before."""
    frame = sys._getframe(2)
    place = frame.f_code.co_filename, frame.f_lineno
    _counts[place] += 1
    return _counts[place] - 1


@public("logging.log_every_n")
def log_every_n(level: int, msg: str, n: int, *args: Any) -> None:
    """Logs the first of every `n` calls from the same line."""
    log_if(level, msg, _calls_from_here() % n == 0, *args)


@public("logging.log_first_n")
def log_first_n(level: int, msg: str, n: int, *args: Any) -> None:
    """Logs the first `n` calls from the same line."""
    log_if(level, msg, _calls_from_here() < n, *args)


@public("logging.log_if")
def log_if(level: int, msg: str, condition: Any, *args: Any) -> None:
    if condition:
        vlog(level, msg, *args)


def google2_log_prefix(level: int, timestamp: float | None = None, file_and_line: tuple[str, int] | None = None) -> str:
    """The beginning of a line in Google's format: `I0131 23:59:59.000000 thread file.py:1] `."""
    frame = sys._getframe(1)
    filename, line = file_and_line or (frame.f_code.co_filename, frame.f_lineno)
    now = time.time() if timestamp is None else timestamp
    parts = time.localtime(now)
    letter = {FATAL: "F", ERROR: "E", WARN: "W", DEBUG: "D"}.get(level, "I")
    return (
        f"{letter}{parts.tm_mon:02d}{parts.tm_mday:02d} {parts.tm_hour:02d}:{parts.tm_min:02d}:{parts.tm_sec:02d}."
        f"{int(now % 1.0 * 1e6):06d} {threading.get_ident() & sys.maxsize:5d} {os.path.basename(filename)}:{line}] "
    )
