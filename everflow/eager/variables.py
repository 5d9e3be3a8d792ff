"""Storage of variables that are there at once: it lives as long as something holds a handle to it."""

from __future__ import annotations

from typing import Any

from everflow.eager.devices import CURRENT, PLACEMENT
from everflow.eager.tensor import EagerTensor
from everflow.graph import dtypes
from everflow.graph.shapes import as_shape
from everflow.ops.core.registry import apply
from everflow.train.tracking.restoring import uid
from everflow.values.resources import Storage, copied


def handle_for(value: Any, shape: Any, name: str) -> tuple[EagerTensor, str]:
    """A handle to new storage that holds a copy of a value, and a name that only it has."""
    handle, unique = empty_handle(value.dtype, value.dims if shape is None else as_shape(shape).as_dims(), name)
    if type(handle.value) is Storage:
        handle.value.value = copied(value.value)
    else:
        apply("AssignVariableOp", handle, value)
    return handle, unique


def empty_handle(dtype: Any, dims: Any, name: str) -> tuple[EagerTensor, str]:
    """A handle to new storage that holds no value yet, and a name that only it has."""
    place = CURRENT.place
    if place is not None and type(place) is not str:
        return place.make_variable(dtype, dims), f"{name}_{uid()}"
    handle = EagerTensor(Storage(name, dtype, dims, False), dtypes.resource)
    if PLACEMENT.cpus > 1 and CURRENT.name and place is None:
        # Devices that the processor was split into have one memory: only the name tells them apart.
        handle.__dict__["place"] = CURRENT.name
    return handle, f"{name}_{uid()}"
