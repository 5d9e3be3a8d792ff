"""The ops that write and read checkpoints."""

from __future__ import annotations

import contextlib
import math
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from everflow.errors import invalid_argument
from everflow.graph.constants import known
from everflow.graph.describe import type_name
from everflow.ops.core.node import Node
from everflow.ops.core.registry import op
from everflow.train.checkpoints.bundle import Reading
from everflow.train.checkpoints.bundle_writer import BundleWriter, merge_bundles
from everflow.train.checkpoints.legacy import write_legacy
from everflow.train.checkpoints.reader import Reader, open_checkpoint
from everflow.train.checkpoints.slices import TensorSlice, parse_spec
from everflow.values.tensors import from_numpy, to_numpy

# From this many bytes on, a second thread pays.
LARGE = 8 << 20


def _text(value: Any) -> str:
    return os.fsdecode(value.item() if hasattr(value, "item") else value)


def _texts(value: Any) -> list[str]:
    return [os.fsdecode(item) for item in value.reshape(-1).tolist()]


def _checked(name: str, spec: str, array: np.ndarray) -> tuple[tuple[int, ...], TensorSlice]:
    """Shape of the whole and slice of what is saved."""
    if not spec:
        return array.shape, TensorSlice.whole(array.ndim)
    shape, part = parse_spec(spec)
    if part.shape_in(shape) != array.shape:
        raise invalid_argument(
            f"Slice in shape_and_slice specification does not match the shape of the tensor to save: {spec}, tensor: {list(array.shape)}"
        )
    return shape, part


def _save(node: Node) -> Callable[..., Any]:
    types = [t.base_dtype for t in node.attr("dtypes")]

    def save(prefix: Any, tensor_names: Any, shape_and_slices: Any, *tensors: Any) -> tuple[()]:
        names, specs = _texts(tensor_names), _texts(shape_and_slices)
        if len(names) != len(tensors) or len(specs) != len(tensors):
            raise invalid_argument(f"Input 1 was expected to have {len(tensors)} elements but got {len(names)} and {len(specs)}")
        with BundleWriter(_text(prefix)) as writer:
            for name, spec, tensor, dtype in zip(names, specs, tensors, types):
                array = to_numpy(tensor, dtype)
                if spec:
                    writer.add_slice(name, *_checked(name, spec, array), array, dtype)
                else:
                    writer.add(name, array, dtype)
        return ()

    return save


def _save_legacy(node: Node, sliced: bool) -> Callable[..., Any]:
    types = [t.base_dtype for t in node.attr("T")]

    def save(filename: Any, tensor_names: Any, *rest: Any) -> tuple[()]:
        names = _texts(tensor_names)
        tensors = rest[1:] if sliced else rest
        specs = _texts(rest[0]) if sliced else [""] * len(tensors)
        if len(names) != len(tensors):
            raise invalid_argument(f"Got {len(names)} tensor names but {len(tensors)} tensors.")
        if len(specs) != len(tensors):
            raise invalid_argument(f"Expected {len(tensors)} elements for the tensor slices but got {len(specs)}")
        rows = []
        for name, spec, tensor, dtype in zip(names, specs, tensors, types):
            array = to_numpy(tensor, dtype)
            rows.append((name, *_checked(name, spec, array), array, dtype))
        write_legacy(_text(filename), rows)
        return ()

    return save


def _restored(file: Reader, names: list[str], specs: list[str], types: list[Any]) -> list[Any]:
    """Tensors, or parts of them, as run-time values; where they are large, read by two threads."""
    readings = [_reading(file, *row) for row in zip(names, specs, types)]
    size = sum(math.prod(file.shape(name)) * dtype.size for name, dtype in zip(names, types))
    if size < LARGE or len(names) == 1:
        arrays = [read() for read in readings]
    else:
        with ThreadPoolExecutor(2) as pool:
            arrays = list(pool.map(lambda read: read(), readings))
    return [from_numpy(array, dtype) for array, dtype in zip(arrays, types)]


def _reading(file: Reader, name: str, spec: str, dtype: Any) -> Reading:
    stored = file.dtype(name)
    if stored is not dtype:
        raise invalid_argument(f"tensor_name = {name}; expected dtype {type_name(dtype)} does not equal original dtype {type_name(stored)}")
    if not spec:
        return file.reading(name)
    shape, part = parse_spec(spec)
    if shape != file.shape(name):
        raise invalid_argument(
            f"tensor_name = {name}; shape in shape_and_slice spec {_shown(shape)} does not match the shape stored in checkpoint: "
            f"{_shown(file.shape(name))}"
        )
    return file.reading(name, part)


def _shown(shape: Any) -> str:
    return f"[{','.join(str(size) for size in shape)}]"


def _restore(node: Node) -> Callable[..., Any]:
    types = [t.base_dtype for t in node.attr("dtypes")]

    def restore(prefix: Any, tensor_names: Any, shape_and_slices: Any) -> Any:
        names, specs = _texts(tensor_names), _texts(shape_and_slices)
        if len(names) != len(types) or len(specs) != len(types):
            raise invalid_argument(f"Input 1 was expected to have {len(types)} elements but got {len(names)} and {len(specs)}")
        with contextlib.closing(open_checkpoint(_text(prefix))) as file:
            found = _restored(file, names, specs, types)
        return tuple(found) if len(found) > 1 else found[0]

    return restore


def _restore_legacy(node: Node) -> Callable[..., Any]:
    dtype = node.attr("dt").base_dtype

    def restore(file_pattern: Any, tensor_name: Any, shape_and_slice: Any = None) -> Any:
        with contextlib.closing(open_checkpoint(_text(file_pattern))) as file:
            return _restored(file, [_text(tensor_name)], ["" if shape_and_slice is None else _text(shape_and_slice)], [dtype])[0]

    return restore


def _restored_shapes(operation: Any) -> Any:
    """The shapes of slices are known from their specs."""
    for t in operation.inputs[1:]:
        if t.dims is not None and (len(t.dims) != 1 or t.dims[0] not in (None, len(operation.outputs))):
            raise ValueError(f"Dimension must be {len(operation.outputs)} but is {t.dims[0] if t.dims else 'of a scalar'}")
    specs = known(operation.inputs[2])
    shapes: list[Any] = []
    for i in range(len(operation.outputs)):
        spec = os.fsdecode(specs.reshape(-1)[i]) if specs is not None and specs.size > i else ""
        shapes.append(_sliced_dims(spec))
    return shapes


def _restored_shape(operation: Any) -> Any:
    spec = known(operation.inputs[2])
    return _sliced_dims(os.fsdecode(spec.item()) if spec is not None else "")


def _sliced_dims(spec: str) -> Any:
    if not spec:
        return None
    shape, part = parse_spec(spec)
    return part.shape_in(shape)


def _merge(node: Node) -> Callable[..., Any]:
    delete = node.attr("delete_old_dirs")

    def merge(checkpoint_prefixes: Any, destination_prefix: Any) -> tuple[()]:
        merge_bundles(_texts(checkpoint_prefixes), _text(destination_prefix), delete)
        return ()

    return merge


def _sharded_filename(basename: Any, shard: Any, num_shards: Any) -> Any:
    return np.array(basename.item() + b"-%05d-of-%05d" % (int(shard), int(num_shards)), object)


def _sharded_filespec(basename: Any, num_shards: Any) -> Any:
    return np.array(basename.item() + b"-?????-of-%05d" % int(num_shards), object)


op("SaveV2", kernel=_save)
op("RestoreV2", kernel=_restore, shape=_restored_shapes, restored=True)
op("MergeV2Checkpoints", kernel=_merge)
op("Save", kernel=lambda node: _save_legacy(node, sliced=False))
op("SaveSlices", kernel=lambda node: _save_legacy(node, sliced=True))
op("Restore", kernel=_restore_legacy, shape=lambda operation: None, restored=True)
op("RestoreSlice", kernel=_restore_legacy, shape=_restored_shape, restored=True)
op("ShardedFilename", kernel=lambda node: _sharded_filename, shape=lambda operation: ())
op("ShardedFilespec", kernel=lambda node: _sharded_filespec, shape=lambda operation: ())
