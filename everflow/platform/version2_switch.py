"""Whether a program is one for TensorFlow 2: by a call that says so, else by the environment's TF2_BEHAVIOR."""

from __future__ import annotations

import os
import sys

from everflow.api import internal

internal("tf2")(sys.modules[__name__])

# What enable and disable said last; None where neither was called.
_force_enable: bool | None = None


def enable() -> None:
    """Notes that the program is one for version 2."""
    global _force_enable
    _force_enable = True


def disable() -> None:
    """Notes that the program is one for version 1."""
    global _force_enable
    _force_enable = False


def enabled() -> bool:
    """Whether TensorFlow 2's behaviour is on as a whole."""
    return os.environ.get("TF2_BEHAVIOR", "0") != "0" if _force_enable is None else _force_enable
