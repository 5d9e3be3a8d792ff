"""Numbers as levels of an integer type: the arithmetic that TensorFlow's quantized kernels share.

A quantized tensor comes with the two floats that its lowest and its highest level stand for.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from everflow.errors import invalid_argument
from everflow.lazy import torch


class Levels(NamedTuple):
    """The levels of a quantized dtype."""

    lowest: int
    highest: int

    @classmethod
    def of(cls, dtype: Any) -> Levels:
        bits = {"qint8": 8, "quint8": 8, "qint16": 16, "quint16": 16, "qint32": 32}.get(dtype.base_dtype.name)
        if bits is None:
            raise invalid_argument(f"No OpKernel was registered to support quantized values of type {dtype.base_dtype.name}")
        return cls(0, (1 << bits) - 1) if dtype.base_dtype.name.startswith("qu") else cls(-(1 << (bits - 1)), (1 << (bits - 1)) - 1)

    @property
    def total(self) -> int:
        return self.highest - self.lowest + 1

    @property
    def signed(self) -> bool:
        return self.lowest < 0

    def step(self, low: float, high: float) -> np.float32:
        """The float that one level is worth."""
        return np.float32((np.float64(np.float32(high)) - np.float64(np.float32(low))) / (self.total - 1))

    def place(self, x: float, low: float, high: float) -> int:
        """The level of a float, which may lie beyond the type's own."""
        if low == high:
            return 0
        per_level = self.total / ((high - low) * (self.total / (self.total - 1.0)))
        return _rounded(x * per_level) - _rounded(low * per_level) + self.lowest

    def from_floats(self, x: Any, low: float, high: float) -> Any:
        """The levels (int64) of floats, those beyond the range at its ends."""
        if low == high:
            return torch.zeros(x.shape, dtype=torch.int64, device=x.device)
        per_level = self.total / ((high - low) * (self.total / (self.total - 1.0)))
        found = rounded_away(x.double() * per_level) - _rounded(low * per_level) + self.lowest
        return found.clamp(self.lowest, self.highest).long()

    def to_floats(self, levels: Any, low: float, high: float) -> Any:
        """The floats (float64) that levels stand for."""
        if low == high:
            return torch.full(levels.shape, low, dtype=torch.float64, device=levels.device)
        step = float(np.float32(high) - np.float32(low)) * (self.total / (self.total - 1.0)) / self.total
        # The float 0 is a level: exactly so for a step of single precision.
        short = np.float32(step)
        start = np.float32(_rounded(float(np.float32(low) / short))) * short
        if self.total <= 1 << 16:
            return ((levels.float() - self.lowest) * float(short) + float(start)).double()
        return step * (levels.double() - self.lowest) + float(start)


def narrowed(x: Any, low: float, high: float, new_low: float, new_high: float) -> Any:
    """Levels of 32 bits as levels of eight (int64), in fixed point with sixteen bits behind it: the same bits as TensorFlow's."""
    first, last, start, end = (np.float32(value) for value in (low, high, new_low, new_high))
    one = np.float32(1 << 16)
    per_unit = np.float32(255.0 / (end - start)) if end > start else np.float32(0)
    scale = int(np.float32(np.float32(255) * one * (last - first)) / (end - start)) if end > start else 0
    middle = int(np.float32((first + last) / np.float32(2)) * per_unit * one)
    found = ((x.long() * scale) >> 32) + (middle - int(start * per_unit * one) + (1 << 15))
    return (found >> 16).clamp(0, 255)


def _rounded(x: float) -> int:
    return int(np.floor(x + 0.5)) if x >= 0 else -int(np.floor(-x + 0.5))


def rounded_away(x: Any) -> Any:
    """To the nearest whole number, halves away from zero."""
    return torch.trunc(x + torch.copysign(torch.full_like(x, 0.5), x))


def product_range(a: Levels, low_a: float, high_a: float, b: Levels, low_b: float, high_b: float, out: Levels) -> tuple[Any, Any]:
    """The range of products (or sums of them) of two quantized tensors."""
    step = np.float32(a.step(low_a, high_a) * b.step(low_b, high_b))
    return np.float32(step * np.float32(out.lowest)), np.float32(step * np.float32(out.highest))
