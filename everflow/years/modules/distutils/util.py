"""Small things that programs took from here."""

from __future__ import annotations

import sysconfig


def strtobool(val: str) -> int:
    """1 for yes, y, true, t, on and 1; 0 for no, n, false, f, off and 0."""
    val = val.lower()
    if val in ("y", "yes", "t", "true", "on", "1"):
        return 1
    if val in ("n", "no", "f", "false", "off", "0"):
        return 0
    raise ValueError(f"invalid truth value {val!r}")


def get_platform() -> str:
    return sysconfig.get_platform()
