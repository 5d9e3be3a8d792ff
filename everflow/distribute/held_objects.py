"""Objects that can't travel: a server keeps resources and variants that a step gave out, and sends their names instead."""

from __future__ import annotations

import threading
from typing import Any

from everflow import errors
from everflow.distribute.messages import Pieces, fields
from everflow.distribute.tensors import decoded, encoded
from everflow.graph import dtypes, shapes
from everflow.proto import tensor_pb2
from everflow.values.resources import Storage

# The container of resources that have no name but the one that a client made up for them: they go when nobody holds them any more.
NAMELESS = "everflow.nameless"
OBJECTS = (dtypes.resource, dtypes.variant)


class HeldObjects:
    """What a task's server keeps for the clients of its steps, until they clean the step up."""

    def __init__(self, task: Any) -> None:
        self._task = task
        self._held: dict[int, dict[str, Any]] = {}
        self._lock = threading.Lock()

    def given(self, value: Any, dtype: Any, step: int, key: str, is_ours: bool = False) -> Pieces:
        """The TensorProto that stands for a value, which `is_ours` alone or shared with others."""
        if dtype not in OBJECTS:
            return encoded(value, dtype, is_ours)
        with self._lock:
            self._held.setdefault(step, {})[key] = value
        proto = tensor_pb2.TensorProto(dtype=dtype.as_datatype_enum)
        handle = proto.resource_handle_val.add(device=self._task.name, container=str(step), name=key, maybe_type_name=type(value).__name__)
        if isinstance(value, Storage):
            handle.dtypes_and_shapes.add(dtype=value.dtype.as_datatype_enum, shape=shapes.TensorShape.from_dims(value.dims).as_proto())
        return [proto.SerializeToString()]

    def taken(self, tensor: memoryview) -> Any:
        """The value that a TensorProto stands for."""
        if dtypes.as_dtype(next((v for n, v in fields(tensor) if n == 1), 0)) not in OBJECTS:
            return decoded(tensor)
        handle = tensor_pb2.TensorProto.FromString(bytes(tensor)).resource_handle_val[0]
        with self._lock:
            found = self._held.get(int(handle.container), {})
            if handle.name not in found:
                raise errors.InvalidArgumentError(None, None, f"Unable to find the relevant tensor remote_handle: {handle.name}")
            return found[handle.name]

    def let_go(self, step: int) -> None:
        """Forgets what a step gave out."""
        with self._lock:
            dropped = self._held.pop(step, {})
            kept = {id(v) for values in self._held.values() for v in values.values()}
        for value in dropped.values():
            if id(value) not in kept:
                self._task.resources.remove_from(NAMELESS, value)
