"""The Event messages in which the debugger writes and sends what it finds."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from everflow.graph import dtypes
from everflow.proto import event_pb2, resource_handle_pb2, tensor_pb2
from everflow.values import tensors as values
from everflow.values.resources import Storage

_PLUGIN = "debugger"


def compact(data: Any) -> str:
    """JSON as TensorFlow writes it, without spaces."""
    return json.dumps(data, separators=(",", ":"))


class Seen:
    """A tensor at the moment at which it was seen: an array, or what stands for one that is none."""

    def __init__(self, value: Any, dtype: dtypes.DType, device: str) -> None:
        self.dtype = dtype.base_dtype
        self.array: np.ndarray | None = None
        self.content = b""
        self.dims: tuple[int, ...] = ()
        if isinstance(value, Storage) and dtype._is_ref_dtype:
            self.dims = tuple(d or 0 for d in value.dims or ())
            value = value.value
            if value is None:
                return
        if self.dtype is dtypes.resource:
            self.content = _prefixed(_handle(value, device))
        elif self.dtype is dtypes.variant:
            self.content = _prefixed(tensor_pb2.VariantTensorDataProto(type_name=_variant_type(value)).SerializeToString())
        elif self.dtype is dtypes.string:
            self.array = np.asarray(value, object)
        elif isinstance(value, np.ndarray):
            self.array = value
        elif hasattr(value, "detach"):
            self.array = values.to_numpy(value, self.dtype)
        else:
            # What is not a tensor flows as a number that nobody reads.
            self.array = np.zeros((), self.dtype.as_numpy_dtype)
        if self.array is not None:
            self.dims = self.array.shape

    @property
    def size(self) -> int:
        """How many bytes it takes."""
        if self.array is None:
            return len(self.content)
        return sum(map(len, self.array.ravel().tolist())) if self.dtype is dtypes.string else self.array.nbytes

    def fill(self, tensor: Any) -> None:
        """Writes it to a TensorProto."""
        tensor.dtype = self.dtype.as_datatype_enum
        tensor.tensor_shape.SetInParent()
        for size in self.dims:
            tensor.tensor_shape.dim.add(size=size)
        if self.array is None:
            tensor.tensor_content = self.content
        elif self.dtype is dtypes.string:
            tensor.string_val.extend(t if isinstance(t, bytes) else str(t).encode() for t in self.array.ravel().tolist())
        else:
            tensor.tensor_content = np.ascontiguousarray(self.array).tobytes()


def _prefixed(message: bytes) -> bytes:
    """A message with its length before it, seven bits a byte."""
    length, head = len(message), bytearray()
    while length > 127:
        head.append(length & 127 | 128)
        length >>= 7
    return bytes([*head, length]) + message


def _handle(value: Any, device: str) -> bytes:
    kind = "N10tensorflow3VarE" if isinstance(value, Storage) else type(value).__name__
    name = getattr(value, "name", "")
    proto = resource_handle_pb2.ResourceHandleProto(
        device=device,
        container=str(getattr(value, "container", "") or "localhost"),
        name=name if isinstance(name, str) else "",
        maybe_type_name=kind,
    )
    return proto.SerializeToString(deterministic=True)


def _variant_type(value: Any) -> str:
    value = value.item() if isinstance(value, np.ndarray) and value.ndim == 0 else value
    kind = type(value).__name__
    return f"tensorflow::{'DatasetVariantWrapper' if 'Dataset' in kind else kind}"


def tensor_event(seen: Seen, node_name: str, slot: int, debug_op: str, device: str, time: int) -> Any:
    """What a debug op gave for an output."""
    event = event_pb2.Event(wall_time=float(time))
    value = event.summary.value.add(tag=node_name, node_name=f"{node_name}:{slot}:{debug_op}")
    seen.fill(value.tensor)
    value.metadata.plugin_data.plugin_name = _PLUGIN
    value.metadata.plugin_data.content = _place(device, slot, 1, 0)
    return event


def _place(device: str, slot: int, chunks: int, index: int) -> bytes:
    return compact({"device": device, "outputSlot": slot, "numChunks": chunks, "chunkIndex": index}).encode()


def message_event(message: str, time: int) -> Any:
    """A text."""
    event = event_pb2.Event(wall_time=float(time))
    event.log_message.message = message
    return event


def graph_event(graph_def: bytes, time: int) -> Any:
    """A graph."""
    return event_pb2.Event(wall_time=float(time), graph_def=graph_def)


def split(event: Any, device: str, limit: int) -> list[Any]:
    """A tensor's event as several, none of which carries more than `limit` bytes of the tensor."""
    (value,) = event.summary.value
    tensor = value.tensor
    slot = int(value.node_name.rsplit(":", 2)[1])
    if tensor.string_val:
        parts: list[Any] = _groups(list(tensor.string_val), limit)
    else:
        content = tensor.tensor_content
        parts = [content[i : i + limit] for i in range(0, len(content), limit)]
    if len(parts) < 2:
        return [event]
    found = []
    for index, part in enumerate(parts):
        piece = event_pb2.Event(wall_time=event.wall_time)
        held = piece.summary.value.add(tag=value.tag, node_name=value.node_name)
        held.tensor.dtype = tensor.dtype
        held.tensor.tensor_shape.CopyFrom(tensor.tensor_shape)
        if tensor.string_val:
            held.tensor.string_val.extend(part)
        else:
            held.tensor.tensor_content = part
        held.metadata.plugin_data.plugin_name = _PLUGIN
        held.metadata.plugin_data.content = _place(device, slot, len(parts), index)
        found.append(piece)
    return found


def _groups(texts: list[bytes], limit: int) -> list[list[bytes]]:
    """Texts one after the other, as many together as fit."""
    found: list[list[bytes]] = [[]]
    size = 0
    for text in texts:
        if found[-1] and size + len(text) > limit:
            found.append([])
            size = 0
        found[-1].append(text)
        size += len(text)
    return found
