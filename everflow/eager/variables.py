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
    dims = value.dims if shape is None else as_shape(shape).as_dims()
    slot = Slot(name, value.dtype, dims, False)
    slot.value = copied(value.value)
    return EagerTensor(slot, dtypes.resource), f"{name}_{uid()}"
