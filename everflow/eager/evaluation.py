"""What a structure of eager tensors holds."""

from __future__ import annotations

from typing import Any

from everflow import nest
from everflow.api import internal
from everflow.graph.indexed_slices import IndexedSlices, IndexedSlicesValue
from everflow.graph.sparse_tensor import SparseTensor, SparseTensorValue


@internal("eager.evaluation.evaluated")
def evaluated(tensors: Any) -> Any:
    """The values of a structure of tensors; functions in it are called."""
    return nest.map_structure(_value, tensors)


def _value(t: Any) -> Any:
    if t is None:
        return None
    if callable(t) and not hasattr(t, "numpy"):
        return evaluated(t())
    if isinstance(t, SparseTensor):
        parts: list[Any] = [t.indices, t.values, t.dense_shape]
        return SparseTensorValue(*(x.numpy() for x in parts))
    if isinstance(t, IndexedSlices):
        parts = [t.values, t.indices, t.dense_shape]
        return IndexedSlicesValue._make(None if x is None else x.numpy() for x in parts)  # type: ignore[attr-defined]
    if hasattr(t, "_eager_value"):
        return t._eager_value()
    if not hasattr(t, "numpy"):
        raise ValueError(f"Unsupported type {type(t)}.")
    return t.numpy()
