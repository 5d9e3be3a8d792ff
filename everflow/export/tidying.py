"""Makes generated lines pleasant to read: without what nothing uses, and not too long."""

from __future__ import annotations

import collections
import re

WIDTH = 120
_WORD = re.compile(r"[A-Za-z_]\w*")
_ASSIGNMENT = re.compile(r"\s*([A-Za-z_]\w*) = (.*)")


def without_unused(lines: list[str], used: str) -> list[str]:
    """Leaves out assignments of names that neither later lines nor `used` mention; expressions have no effects."""
    counts = collections.Counter(word for line in [*lines, used] for word in _WORD.findall(line))
    kept = list(lines)
    changed = True
    while changed:
        changed = False
        for i in range(len(kept) - 1, -1, -1):
            match = _ASSIGNMENT.fullmatch(kept[i])
            if match is None or counts[match[1]] > 1 or _alone(kept, i):
                continue
            counts.subtract(_WORD.findall(kept.pop(i)))
            changed = True
    return kept


def _alone(lines: list[str], i: int) -> bool:
    """Whether a line is all that a block has."""

    def depth(k: int) -> int:
        return len(lines[k]) - len(lines[k].lstrip()) if 0 <= k < len(lines) else 0

    return i > 0 and lines[i - 1].rstrip().endswith(":") and depth(i + 1) < depth(i)


def wrapped(line: str) -> list[str]:
    """A line, broken between the arguments of its outermost call where it is too long."""
    if len(line) <= WIDTH or not line.endswith((")", "]")):
        return [line]
    closing = line[-1]
    start = opening(line)
    if start is None:
        return [line]
    indent = " " * (len(line) - len(line.lstrip()))
    found = [line[: start + 1]]
    current = indent + "    "
    for part in _parts(line[start + 1 : -1]):
        if len(current) + len(part) + 2 > WIDTH and current.strip():
            found.append(current.rstrip())
            current = indent + "    "
        current += part + ", "
    return [*found, current.rstrip().removesuffix(","), indent + closing]


def opening(line: str) -> int | None:
    """Where the bracket opens that the line ends with."""
    depth = 0
    for i in range(len(line) - 1, -1, -1):
        depth += (line[i] in ")]}") - (line[i] in "([{")
        if depth == 0:
            return i
    return None


def _parts(text: str) -> list[str]:
    """What commas separate that are in no brackets."""
    parts, depth, start = [], 0, 0
    for i, letter in enumerate(text):
        depth += (letter in "([{") - (letter in ")]}")
        if letter == "," and depth == 0:
            parts.append(text[start:i].strip())
            start = i + 1
    return [*parts, text[start:].strip()]
