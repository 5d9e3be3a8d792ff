"""Storage of variables that are there at once: it lives as long as something holds a handle to it."""
from __future__ import annotations

from typing import Any

from everflow.eager.tensor import EagerTensor
from everflow.graph import dtypes
from everflow.graph.shapes import as_shape
from everflow.runtime.resources import Slot, copied
from everflow.train.tracking.restoring import uid


def handle_for(value: Any, shape: Any, name: str) -> tuple[EagerTensor, str]:
    """A handle to new storage that holds a copy of a value, and a name that only it has."""
    handle, unique = empty_handle(value.dtype, value.dims if shape is None else as_shape(shape).as_dims(), name)
    handle.value.value = copied(value.value)
    return handle, unique


def empty_handle(dtype: Any, dims: Any, name: str) -> tuple[EagerTensor, str]:
    """A handle to new storage that holds no value yet, and a name that only it has."""
    return EagerTensor(Slot(name, dtype, dims, False), dtypes.resource), f"{name}_{uid()}"
