"""Small functions of arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from everflow.api import public


@public("keras.utils.to_categorical")
def to_categorical(y: Any, num_classes: int | None = None, dtype: str = "float32") -> Any:
    """Numbers of classes as rows with a 1 at their place."""
    y = np.array(y, dtype="int")
    shape = y.shape[:-1] if y.ndim > 1 and y.shape[-1] == 1 else y.shape
    flat = y.ravel()
    number = num_classes or int(np.max(flat)) + 1
    found = np.zeros((flat.shape[0], number), dtype=dtype)
    found[np.arange(flat.shape[0]), flat] = 1
    return found.reshape((*shape, number))


@public("keras.utils.normalize")
def normalize(x: Any, axis: int = -1, order: int = 2) -> Any:
    """Vectors of length one; those of length zero stay."""
    lengths = np.atleast_1d(np.linalg.norm(x, order, axis))
    lengths[lengths == 0] = 1
    return x / np.expand_dims(lengths, axis)
