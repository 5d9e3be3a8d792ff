"""Pictures with zeros around them, made in one piece of memory."""

from __future__ import annotations

from typing import Any

from everflow.lazy import torch

# Rows and columns of zeros: above, below, left, right.
Border = tuple[int, int, int, int]


def surrounded(shape: Any, border: Border) -> tuple[Any, Any]:
    """Memory for pictures (NHWC) with zeros around them: (the part that is theirs, all of it)."""
    n, height, width, channels = shape
    top, bottom, left, right = border
    whole = torch.empty((n, top + height + bottom, left + width + right, channels))
    for axis, size, before, after in ((1, height, top, bottom), (2, width, left, right)):
        if before:
            whole.narrow(axis, 0, before).zero_()
        if after:
            whole.narrow(axis, before + size, after).zero_()
    return whole.narrow(1, top, height).narrow(2, left, width), whole
