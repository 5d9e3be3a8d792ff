"""Sizes and times as people write them, and the words that name the debugger's colours."""

from __future__ import annotations

import math
from typing import Any

from everflow.api import internal

BELOW = "debug.cli.cli_shared."

COLORS = ("black", "blue", "cyan", "gray", "green", "magenta", "red", "white", "yellow")
for _color in COLORS:
    internal(f"{BELOW}COLOR_{_color.upper()}")(_color)

TIME_UNITS = ["us", "ms", "s"]
internal(BELOW + "TIME_UNITS")(TIME_UNITS)
for _unit in TIME_UNITS:
    internal(f"{BELOW}TIME_UNIT_{_unit.upper()}")(_unit)


@internal(BELOW + "bytes_to_readable_str")
def bytes_to_readable_str(num_bytes: int | None, include_b: bool = False) -> str:
    """A number of bytes in the unit that fits: "500", "1.50k", "3.00MB"."""
    if num_bytes is None:
        return str(num_bytes)
    unit, size = next(((unit, size) for unit, size in (("G", 2**30), ("M", 2**20), ("k", 2**10)) if num_bytes >= size), ("", 1))
    return (f"{num_bytes / size:.2f}{unit}" if unit else str(num_bytes)) + ("B" if include_b else "")


@internal(BELOW + "time_to_readable_str")
def time_to_readable_str(value_us: float | None, force_time_unit: str | None = None) -> str:
    """Microseconds in the unit that fits, or in a given one: "40us", "1.23ms"."""
    if not value_us:
        return "0"
    if force_time_unit is None:
        power = min(max(int(math.log10(abs(value_us))) // 3, 0), len(TIME_UNITS) - 1)
        return f"{value_us / 1000**power:.3g}{TIME_UNITS[power]}"
    if force_time_unit not in TIME_UNITS:
        raise ValueError(f"Invalid time unit: {force_time_unit}")
    return f"{value_us / 1000 ** TIME_UNITS.index(force_time_unit):.10g}{force_time_unit}"


@internal(BELOW + "numpy_printoptions_from_screen_info")
def numpy_printoptions_from_screen_info(screen_info: dict[str, Any] | None) -> dict[str, Any]:
    """How numpy should print on a screen: no wider than it is."""
    return {"linewidth": screen_info["cols"]} if screen_info and "cols" in screen_info else {}
