"""The position of an iterator as bytes, and back: what `tf.data.experimental.make_saveable_from_iterator` saves."""

from __future__ import annotations

import json
import struct
from typing import Any

import numpy as np

import everflow as tf
from everflow.api import public
from everflow.data.iterator_ops import Iterator
from everflow.data.source_ops import ListStream
from everflow.errors import failed_precondition, invalid_argument, unimplemented
from everflow.graph import dtypes
from everflow.ops.core.node import Node
from everflow.ops.core.registry import apply, op
from everflow.train.checkpoints.saveable import SaveableObject, SaveSpec
from everflow.values.tensors import from_numpy, from_torch_dtype, to_numpy

MAGIC = b"everflow-iterator-1\n"


def encoded(state: Any, types: Any = None) -> bytes:
    """Plain values and elements as bytes: JSON, followed by the tensors that it refers to."""
    tensors: list[bytes] = []

    def plain(value: Any) -> Any:
        if value is None or isinstance(value, (bool, int, float, str)):
            return value
        if isinstance(value, (list, tuple)):
            return {"t" if isinstance(value, tuple) else "l": [plain(v) for v in value]}
        if isinstance(value, dict):
            return {"d": [[k, plain(v)] for k, v in value.items()]}
        if isinstance(value, bytes):
            tensors.append(value)
            return {"b": len(tensors) - 1}
        if isinstance(value, np.ndarray):
            return {"a": [list(value.shape), [plain(v) for v in value.reshape(-1).tolist()]]}
        if hasattr(value, "numel"):
            dtype = from_torch_dtype(value.dtype)
            array = np.ascontiguousarray(to_numpy(value, dtype))
            tensors.append(array.tobytes())
            return {"n": [dtype.name, list(value.shape), len(tensors) - 1]}
        if isinstance(value, ListStream):
            return {"s": [[t.name for t in value.types], plain(list(value.dims)), plain(list(value.elements))]}
        raise unimplemented(f"The position of this iterator can't be saved: it holds {type(value).__name__}.")

    text = json.dumps(plain(state)).encode()
    parts = [MAGIC, struct.pack("<Q", len(text)), text]
    for content in tensors:
        parts += [struct.pack("<Q", len(content)), content]
    return b"".join(parts)


def decoded(content: bytes) -> Any:
    """What `encoded` was given."""
    if not content.startswith(MAGIC):
        raise ValueError("not the position of an iterator")
    at = len(MAGIC)
    pieces = []
    while at < len(content):
        (size,) = struct.unpack_from("<Q", content, at)
        pieces.append(content[at + 8 : at + 8 + size])
        at += 8 + size
    tensors = pieces[1:]

    def value(plain: Any) -> Any:
        if not isinstance(plain, dict):
            return plain
        ((kind, inner),) = plain.items()
        if kind in "tl":
            found = [value(v) for v in inner]
            return tuple(found) if kind == "t" else found
        if kind == "d":
            return {k: value(v) for k, v in inner}
        if kind == "b":
            return tensors[inner]
        if kind == "a":
            array = np.empty(inner[0], object)
            array.reshape(-1)[:] = [value(v) for v in inner[1]]
            return array
        if kind == "s":
            return ListStream([dtypes.as_dtype(n) for n in inner[0]], value(inner[1]), value(inner[2]))
        name, shape, index = inner
        return _tensor(name, shape, tensors[index])

    return value(json.loads(pieces[0]))


def _tensor(name: str, shape: list[int], content: bytes) -> Any:
    dtype = dtypes.as_dtype(name)
    array = np.frombuffer(content, dtype.as_numpy_dtype).reshape(shape).copy()
    return from_numpy(array, dtype)


def _serialize(node: Node) -> Any:
    def run(iterator: Iterator) -> Any:
        with iterator.lock:
            if iterator.cursor is None or iterator.reading is None or iterator.stream is None:
                raise failed_precondition(
                    "Save() failed because the iterator has not been initialized. Ensure that you have run the initializer operation for "
                    "this iterator before saving it."
                )
            try:
                state = {"cursor": iterator.cursor.save(), "drawn": iterator.reading.positions(iterator.stream)}
            except NotImplementedError:
                raise unimplemented(f"The position of {type(iterator.cursor.stream).__name__} can't be saved.") from None
        found = np.empty(1, object)
        found[0] = encoded(state)
        return found

    return run


def _deserialize(node: Node) -> Any:
    def run(iterator: Iterator, serialized: Any) -> None:
        if iterator.stream is None:
            raise failed_precondition(
                "Restore() failed because the iterator has not been initialized. Ensure that you have run the initializer operation for "
                "this iterator before restoring it."
            )
        content = serialized.reshape(-1)[0]
        try:
            state = decoded(content)
        except (ValueError, struct.error):
            raise invalid_argument("This is not the position of an iterator.") from None
        iterator.start(iterator.stream)
        with iterator.lock:
            assert iterator.cursor is not None and iterator.reading is not None
            iterator.reading.go_to(iterator.stream, state["drawn"])
            iterator.cursor.restore(state["cursor"])

    return run


op("SerializeIterator", kernel=_serialize, shape=lambda o: (None,))
op("DeserializeIterator", kernel=_deserialize, shape=lambda o: [])


def iterator_saveable(resource: Any, name: str) -> Any:
    """What a Saver needs to save an iterator under a name."""

    class IteratorSaveable(SaveableObject):
        """An iterator's position."""

        def __init__(self) -> None:
            serialized = apply("SerializeIterator", resource)
            specs = [SaveSpec(serialized, "", name + "_STATE", device=resource.device)]
            super().__init__(resource, specs, name)

        def restore(self, restored_tensors: Any, restored_shapes: Any) -> Any:
            """An op that goes to the saved position."""
            with tf.colocate_with(resource):
                return apply("DeserializeIterator", resource, restored_tensors[0])

    return IteratorSaveable()


@public("data.experimental.make_saveable_from_iterator", "contrib.data.make_saveable_from_iterator")
def make_saveable_from_iterator(iterator: Any) -> Any:
    """What to add to the saved objects so that an iterator's position survives."""
    return iterator_saveable(iterator._iterator_resource, iterator._iterator_resource.name)
