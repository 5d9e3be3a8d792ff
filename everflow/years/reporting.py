"""Which shims a program used, and on which of its lines."""

from __future__ import annotations

import atexit
import collections
import os
import sys

# {shim: {file:line: how often}}
used: dict[str, collections.Counter[str]] = {}
wanted = False


def start() -> None:
    """From now on uses are counted; they are told at the end of the process."""
    global wanted
    if not wanted:
        wanted = True
        atexit.register(lambda: print(text(), file=sys.stderr))


def note(shim: str) -> None:
    """Counts a use by the nearest caller that is neither a shim nor the import system."""
    if not wanted:
        return
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith(("everflow.years", "importlib")):
        if frame.f_code.co_name == "_handle_fromlist":
            # `from package import name` looks whether the name is there, then takes it.
            return
        frame = frame.f_back
    used.setdefault(shim, collections.Counter())[f"{frame.f_code.co_filename}:{frame.f_lineno}"] += 1


def text() -> str:
    """One line for each shim and place."""
    if not used:
        return "everflow: nothing of earlier years was used"
    from everflow.years.shims import gone_since

    rows = [
        (shim, gone_since(shim), _nearby(place) + (f" ({times} times)" if times > 1 else ""))
        for shim in sorted(used)
        for place, times in used[shim].items()
    ]
    widths = [max(len(row[column]) for row in rows) for column in range(2)]
    lines = [f"  {shim:<{widths[0]}}  {gone:<{widths[1]}}  {place}" for shim, gone, place in rows]
    return "\n".join(["everflow: what was used of earlier years, what removed it, and where", *lines])


def _nearby(place: str) -> str:
    """Paths below the working folder are shown from there."""
    here = os.getcwd() + os.sep
    return place.removeprefix(here)
