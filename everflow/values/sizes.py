"""Sizes, and other numbers, on the host: they read like tensors where kernels take shapes or numbers."""

from __future__ import annotations


class Sizes(tuple):
    """A vector of sizes on the host; reads like a tensor where kernels take shapes."""

    __slots__ = ()
    ndim = 1

    def tolist(self) -> list[int]:
        return list(self)

    def reshape(self, *_: int) -> Sizes:
        return self


class Number(float):
    """A single number on the host."""

    __slots__ = ()
    ndim = 0

    def tolist(self) -> float:
        return float(self)

    item = tolist


class Size(int):
    """A single size on the host."""

    __slots__ = ()
    ndim = 0

    def tolist(self) -> int:
        return int(self)

    item = tolist
