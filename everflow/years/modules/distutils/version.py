"""Versions that can be compared."""

from __future__ import annotations

import functools
import re
from typing import Any


@functools.total_ordering
class Version:
    """A version, parsed by its class into something that can be compared."""

    version: Any

    def __init__(self, vstring: str | None = None) -> None:
        if vstring:
            self.parse(vstring)

    def parse(self, vstring: str) -> None:
        raise TypeError(f"{type(self).__name__} does not say how versions are read")

    def _other(self, other: Any) -> Any:
        return type(self)(other) if isinstance(other, str) else other

    def __eq__(self, other: Any) -> bool:
        other = self._other(other)
        return self.version == other.version if isinstance(other, Version) else NotImplemented

    def __lt__(self, other: Any) -> bool:
        other = self._other(other)
        return self.version < other.version if isinstance(other, Version) else NotImplemented

    def __repr__(self) -> str:
        return f"{type(self).__name__} ('{self}')"


class LooseVersion(Version):
    """Numbers and words, in the order in which they stand."""

    def parse(self, vstring: str) -> None:
        self.vstring = vstring
        parts = (part for part in re.split(r"(\d+|[a-z]+|\.)", vstring) if part and part != ".")
        self.version = [int(part) if part.isdigit() else part for part in parts]

    def __str__(self) -> str:
        return self.vstring


class StrictVersion(Version):
    """Two or three numbers, and perhaps an `a` or `b` with a number, which comes before."""

    def parse(self, vstring: str) -> None:
        match = re.fullmatch(r"(\d+)\.(\d+)(?:\.(\d+))?(?:([ab])(\d+))?", vstring, re.ASCII)
        if match is None:
            raise ValueError(f"invalid version number '{vstring}'")
        major, minor, small, kind, number = match.groups()
        self.numbers = int(major), int(minor), int(small or 0)
        self.prerelease = (kind, int(number)) if kind else None
        self.version = self.numbers, self.prerelease or ("final", 0)

    def __str__(self) -> str:
        numbers = self.numbers if self.numbers[2] else self.numbers[:2]
        return ".".join(map(str, numbers)) + ("{}{}".format(*self.prerelease) if self.prerelease else "")
