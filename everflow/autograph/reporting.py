"""What AutoGraph tells of its work."""

from __future__ import annotations

import os
import sys
from typing import Any

from everflow.api import internal, public
from everflow.platform import logging as tf_logging

_VARIABLE = internal("autograph.utils.ag_logging.VERBOSITY_VAR_NAME")("AUTOGRAPH_VERBOSITY")


class _Settings:
    level: int | None = None
    echoes = False


_settings = _Settings()


@public("autograph.set_verbosity")
@internal("autograph.utils.ag_logging.set_verbosity")
def set_verbosity(level: int, alsologtostdout: bool = False) -> None:
    """How much is logged: 0 for nothing, more for larger numbers; the environment's AUTOGRAPH_VERBOSITY does the same."""
    _settings.level = level
    _settings.echoes = alsologtostdout


@internal("autograph.utils.ag_logging.get_verbosity")
def get_verbosity() -> int:
    """How much is logged."""
    return int(os.environ.get(_VARIABLE, 0)) if _settings.level is None else _settings.level


@internal("autograph.utils.ag_logging.has_verbosity")
def has_verbosity(level: int) -> bool:
    """Whether things of a level are logged."""
    return get_verbosity() >= level


@public("autograph.trace")
@internal("autograph.utils.ag_logging.trace")
def trace(*args: Any) -> None:
    """Prints what it is given when the graph is built: tensors, not their values."""
    print(*args)


@internal("autograph.utils.ag_logging.log")
def log(level: int, msg: str, *args: Any, **kwargs: Any) -> None:
    """Logs where so much is asked for."""
    if has_verbosity(level):
        tf_logging.info(msg, *args)
        if _settings.echoes:
            print(msg % args, file=sys.stdout)


@internal("autograph.utils.ag_logging.warn")
def warn(msg: str, *args: Any, **kwargs: Any) -> None:
    """Warns."""
    tf_logging.warning(msg, *args)
    if _settings.echoes:
        print("WARNING: " + msg % args, file=sys.stdout)


def warn_as_is(function: Any, cause: Exception) -> None:
    """Says that a function could not be converted."""
    warn(
        "Entity %s could not be transformed and will be executed as-is. Please report this to the AutoGraph team. When filing the bug, "
        "set the verbosity to 10 (on Linux, `export AUTOGRAPH_VERBOSITY=10`) and attach the full output. Cause: %s",
        function,
        cause,
    )
