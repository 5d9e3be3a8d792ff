"""The elements of datasets at run time: flat tuples of components, stacked into batches and taken apart again.

A component is a run-time value: a torch tensor, a numpy array of bytes or of variants, or, for a variant that is a scalar, any object.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from everflow.errors import OpError, invalid_argument
from everflow.graph import dtypes, shapes
from everflow.lazy import torch
from everflow.values.tensors import from_torch_dtype, is_numeric, torch_dtype

Element = tuple[Any, ...]
Dims = Sequence[Any]


def text(value: bytes) -> np.ndarray:
    """A scalar string."""
    found = np.empty((), object)
    found[()] = value
    return found


def dims_of(component: Any) -> tuple[int, ...]:
    """The shape of a component."""
    return tuple(component.shape) if hasattr(component, "shape") else ()


def mismatch(columns: Sequence[Sequence[Any]]) -> OpError | None:
    """What is wrong with elements that can't be stacked, given component by component."""
    for index, column in enumerate(columns):
        first = dims_of(column[0])
        for position, component in enumerate(column):
            if dims_of(component) != first:
                return invalid_argument(
                    f"Cannot batch tensors with different shapes in component {index}. First element had shape "
                    f"{shapes.describe(first)} and element {position} had shape {shapes.describe(dims_of(component))}."
                )
    return None


def _stack_numbers(column: Sequence[Any]) -> Any:
    return torch.stack(column)  # type: ignore[arg-type]


def _stack_texts(column: Sequence[Any]) -> np.ndarray:
    if column[0].ndim == 0:
        found = np.empty(len(column), object)
        found[:] = [c.item() for c in column]
        return found
    return np.stack(column)


def _stack_objects(column: Sequence[Any]) -> np.ndarray:
    if any(isinstance(c, np.ndarray) for c in column):
        return np.stack([c if isinstance(c, np.ndarray) else _boxed(c) for c in column])
    found = np.empty(len(column), object)
    for i, c in enumerate(column):
        found[i] = c
    return found


def _boxed(value: Any) -> np.ndarray:
    found = np.empty((), object)
    found[()] = value
    return found


def stacker(dtype: dtypes.DType) -> Callable[[Sequence[Any]], Any]:
    """The function that stacks components of a dtype."""
    if is_numeric(dtype):
        return _stack_numbers
    return _stack_texts if dtype.base_dtype is dtypes.string else _stack_objects


def stack(elements: Sequence[Element], types: Sequence[dtypes.DType]) -> Element:
    """Elements as one: each component has a further first dimension."""
    columns = list(zip(*elements))
    try:
        return tuple(stacker(dtype)(column) for dtype, column in zip(types, columns))
    except (RuntimeError, ValueError):
        problem = mismatch(columns)
        if problem is None:
            raise
        raise problem from None


def joined(parts: Sequence[Element]) -> Element:
    """Batches one after the other."""
    if len(parts) == 1:
        return parts[0]
    columns = list(zip(*parts))
    try:
        return tuple(np.concatenate(c) if isinstance(c[0], np.ndarray) else torch.cat(c) for c in columns)
    except (RuntimeError, ValueError):
        problem = mismatch([[row for part in column for row in rows_of(part)] for column in columns])
        if problem is None:
            raise
        raise problem from None


def rows_of(component: Any) -> list[Any]:
    """The elements of a batch of one component."""
    if isinstance(component, np.ndarray):
        if component.ndim > 1 or (component.size and isinstance(component.flat[0], bytes)):
            return [component[i, ...] for i in range(component.shape[0])]
        return list(component)
    return list(component.unbind(0))


def row(component: Any, index: int) -> Any:
    """One element of a batch of one component."""
    if isinstance(component, np.ndarray):
        found = component[index, ...]
        return found.item() if found.ndim == 0 and not isinstance(found.item(), bytes) else found
    return component[index]


def gathered(component: Any, indices: Any) -> Any:
    """Some elements of a batch of one component, as a batch; the indices are a torch vector."""
    if isinstance(component, np.ndarray):
        return component[indices.numpy()]
    return component.index_select(0, indices)


def size_in_bytes(component: Any) -> int:
    """How much memory a component takes, as TensorFlow counts it."""
    if isinstance(component, np.ndarray):
        return sum(len(x) + 8 if isinstance(x, bytes) else 8 for x in component.flat)
    return component.numel() * component.element_size() if hasattr(component, "numel") else 8


def type_of(component: Any) -> dtypes.DType | None:
    """The dtype of a component; None for a variant, and for an array without elements, of which it is not known."""
    if isinstance(component, np.ndarray):
        return dtypes.string if component.size and isinstance(component.flat[0], bytes) else None
    return from_torch_dtype(component.dtype) if hasattr(component, "numel") else None


def zero(dtype: dtypes.DType) -> Any:
    """The scalar that pads by default."""
    return torch.zeros((), dtype=torch_dtype(dtype)) if is_numeric(dtype) else text(b"")


def filled(dims: Sequence[int], padding: Any) -> Any:
    """A component of this shape in which all is padding."""
    if isinstance(padding, np.ndarray):
        found = np.empty(dims, object)
        found.reshape(-1)[:] = [padding.item()] * found.size
        return found
    return padding.expand(*dims).clone() if dims else padding.clone()
