"""Which characters belong together: the scripts of Unicode 11, as ICU numbers them, and the general categories."""

from __future__ import annotations

import functools
import json
import unicodedata
from typing import Any

import numpy as np

from everflow.api import PACKAGE

Ranges = list[tuple[int, int]]
LAST = 0x10FFFF


@functools.cache
def _facts() -> dict[str, Any]:
    """`names`: the number of each script; `runs`: where characters of a script begin, and its number."""
    return json.loads((PACKAGE / "facts" / "unicode_scripts.json").read_text())


@functools.cache
def _runs() -> tuple[np.ndarray, np.ndarray]:
    starts, numbers = zip(*_facts()["runs"])
    return np.array(starts), np.array(numbers, np.int32)


def scripts_of(characters: np.ndarray) -> np.ndarray:
    """The number of each character's script; -1 for what is no character."""
    starts, numbers = _runs()
    found = numbers[np.searchsorted(starts, characters, "right") - 1]
    return np.where((characters < 0) | (characters > LAST), np.int32(-1), found)


def script(name: str) -> Ranges | None:
    """The characters of a script, or None where there is no script of this name."""
    number = _facts()["names"].get(name)
    if number is None:
        return None
    runs = _facts()["runs"]
    ends = [start - 1 for start, _ in runs[1:]] + [LAST]
    return [(start, end) for (start, which), end in zip(runs, ends) if which == number]


@functools.cache
def _categories() -> dict[str, Ranges]:
    found: dict[str, Ranges] = {}
    before = start = None
    for code in range(LAST + 2):
        category = unicodedata.category(chr(code)) if code <= LAST else None
        if category != before:
            if before is not None:
                found.setdefault(before, []).append((start, code - 1))  # type: ignore[arg-type]
            before, start = category, code
    return found


def category(name: str) -> Ranges | None:
    """The characters of a general category such as "Lu", or of all that begin with a letter, such as "L"."""
    if len(name) not in (1, 2):
        return None
    found = [ranges for key, ranges in _categories().items() if key.startswith(name) and key != "Cn"]
    return sorted(pair for ranges in found for pair in ranges) if found else None


def complement(ranges: Ranges) -> Ranges:
    """All other characters."""
    found, after = [], 0
    for start, end in sorted(ranges):
        if start > after:
            found.append((after, start - 1))
        after = max(after, end + 1)
    return [*found, (after, LAST)] if after <= LAST else found
