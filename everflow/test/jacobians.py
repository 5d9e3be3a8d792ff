"""Jacobian matrices of functions of arrays: by finite differences, and by asking for the gradient of each output.

A row belongs to an element of the input and a column to one of the output; a complex element has two, real part first.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np


def real_dtype(dtype: Any) -> np.dtype:
    """The type of a complex type's parts; other types are their own."""
    return np.dtype(dtype).type(0).real.dtype if np.dtype(dtype).kind == "c" else np.dtype(dtype)


def as_reals(array: np.ndarray) -> np.ndarray:
    """A flat view in which real and imaginary parts are elements."""
    return array.ravel().view(real_dtype(array.dtype))


def numeric(f: Callable[[np.ndarray], Any], x: np.ndarray, y_shape: Any, y_dtype: Any, delta: float) -> np.ndarray:
    """Central differences of `f` around `x`."""
    jacobian = np.zeros((as_reals(x).size, as_reals(np.zeros(y_shape, y_dtype)).size), real_dtype(x.dtype))
    if not jacobian.size:
        return jacobian
    for row in range(jacobian.shape[0]):
        above, below = x.copy(order="C"), x.copy(order="C")
        above.reshape(-1).view(real_dtype(x.dtype))[row] += delta
        below.reshape(-1).view(real_dtype(x.dtype))[row] -= delta
        difference = np.asarray(f(above)) - np.asarray(f(below))
        slope = np.ascontiguousarray(difference / difference.dtype.type(2 * delta))
        jacobian[row] = as_reals(slope).astype(jacobian.dtype)
    return jacobian


def theoretical(gradient: Callable[[np.ndarray], Any], x_shape: Any, x_dtype: Any, y_shape: Any, y_dtype: Any) -> np.ndarray:
    """What `gradient` (from a gradient of the output to one of the input) answers for each unit vector."""
    zeros = np.zeros(y_shape, y_dtype)
    columns = as_reals(zeros).size
    rows = as_reals(np.zeros(x_shape, x_dtype)).size
    jacobian = np.zeros((rows, columns), real_dtype(x_dtype))
    for column in range(columns):
        unit = np.zeros(y_shape, y_dtype)
        unit.reshape(-1).view(real_dtype(y_dtype))[column] = 1
        answer = dense(gradient(unit), x_shape, x_dtype)
        jacobian[:, column] = as_reals(np.ascontiguousarray(answer))
    if not columns:
        answer = dense(gradient(zeros), x_shape, x_dtype)
        if answer.shape != tuple(x_shape):
            raise ValueError(f"Empty gradient has wrong shape: expected {tuple(x_shape)}, got {answer.shape}")
        if np.any(answer):
            raise ValueError("Empty tensor with nonzero gradients")
    return jacobian


class Slices(NamedTuple):
    """Rows of a gradient, and which rows they are."""

    values: Any
    indices: Any


def fetchable(gradient: Any) -> Any:
    """What a session is asked for to get a gradient that may be made of slices."""
    return Slices(gradient.values, gradient.indices) if hasattr(gradient, "indices") else gradient


def dense(gradient: Any, shape: Any, dtype: Any) -> np.ndarray:
    """The gradient as an array; rows that came as slices are added where they belong."""
    if not isinstance(gradient, Slices):
        return np.asarray(gradient)
    array = np.zeros(shape, dtype)
    np.add.at(array, np.asarray(gradient.indices), np.asarray(gradient.values))
    return array


def largest_difference(pairs: Any) -> Any:
    """The largest difference between the matrices of any pair; pairs of empty ones count as equal."""
    error: Any = 0
    for one, two in pairs:
        if one.size or two.size:
            error = np.maximum(error, np.fabs(one - two).max())
    return error
