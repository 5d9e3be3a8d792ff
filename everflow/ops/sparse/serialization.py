"""Sparse tensors on their way: as serialized tensors, as variants, and kept in a map under handles."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

import everflow as tf
from everflow.api import internal, public
from everflow.errors import invalid_argument
from everflow.graph import dtypes, shapes
from everflow.graph.operation import Operation
from everflow.graph.sparse_tensor import SparseTensor
from everflow.graph.tensor_proto import make_ndarray
from everflow.lazy import torch
from everflow.ops.arrays.reshaping import shown
from everflow.ops.core.node import Node
from everflow.ops.core.registry import apply, not_differentiable, op
from everflow.ops.sparse.indices import as_sparse, check_parts, joined, taken
from everflow.proto import tensor_pb2
from everflow.values.tensors import from_numpy, to_numpy

Kernel = Callable[..., Any]

# Messages call types by the names of the wire format.
_WIRE_NAMES = {"float32": "float", "float64": "double", "float16": "half"}

Parts = tuple[Any, Any, Any]


def _varint(n: int) -> bytes:
    found = bytearray()
    while n >= 0x80:
        found.append(n & 0x7F | 0x80)
        n >>= 7
    found.append(n)
    return bytes(found)


def _content(value: Any, dtype: dtypes.DType) -> bytes:
    """The elements in the compact form of TensorProto.tensor_content: strings are their lengths, then their bytes."""
    if dtype is dtypes.string:
        texts = value.ravel().tolist()
        return b"".join(map(_varint, map(len, texts))) + b"".join(texts)
    return np.ascontiguousarray(to_numpy(value, dtype)).tobytes()


def _written(value: Any, dtype: dtypes.DType) -> bytes:
    proto = tensor_pb2.TensorProto(dtype=dtype.as_datatype_enum, tensor_content=_content(value, dtype))
    proto.tensor_shape.SetInParent()
    for size in value.shape:
        proto.tensor_shape.dim.add().size = size
    return proto.SerializeToString()


def _texts_in(content: bytes, count: int) -> list[bytes]:
    lengths, at = [], 0
    for _ in range(count):
        n = shift = 0
        while True:
            byte = content[at]
            at += 1
            n |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                break
        lengths.append(n)
    bounds = list(itertools.accumulate(lengths, initial=at))
    return [content[a:b] for a, b in itertools.pairwise(bounds)]


def _read(serialized: bytes) -> tuple[Any, dtypes.DType]:
    from google.protobuf.message import DecodeError

    proto = tensor_pb2.TensorProto()
    try:
        proto.ParseFromString(serialized)
    except DecodeError:
        raise invalid_argument("Could not parse serialized proto") from None
    dtype = dtypes.as_dtype(proto.dtype)
    if dtype is dtypes.string and proto.tensor_content:
        sizes = [d.size for d in proto.tensor_shape.dim]
        found = np.empty(sizes, object)
        found.reshape(-1)[:] = _texts_in(proto.tensor_content, found.size)
        return found, dtype
    return from_numpy(make_ndarray(proto), dtype), dtype


def _packed(parts: Parts, dtype: dtypes.DType, as_text: bool) -> np.ndarray:
    found = np.empty(3, object)
    for i, (part, kind) in enumerate(zip(parts, (dtypes.int64, dtype, dtypes.int64))):
        found[i] = _written(part, kind) if as_text else (part, kind)
    return found


def _rows(indices: Any, values: Any, shape: Any) -> list[Parts]:
    """The sparse tensors that a sparse tensor holds along its first dimension."""
    check_parts(indices, values, shape)
    if len(shape) < 2:
        raise invalid_argument(f"Rank of input SparseTensor should be > 1, but saw rank: {len(shape)}")
    first, inner = indices[:, 0], shape[1:].clone()
    count = int(shape[0])
    if len(first) and not 0 <= int(first.min()) <= int(first.max()) < count:
        raise invalid_argument("Indices of the first dimension are out of bounds")
    order = torch.argsort(first, stable=True)
    indices, values = indices[order, 1:], taken(values, order)
    ends = torch.bincount(first, minlength=count).cumsum(0).tolist() if count else []
    return [(indices[a:b], values[a:b], inner) for a, b in itertools.pairwise([0, *ends])]


def _serialize(node: Node) -> Kernel:
    dtype, as_text = node.inputs[1].dtype.base_dtype, node.attr("out_type") is dtypes.string

    def run(indices: Any, values: Any, shape: Any) -> Any:
        check_parts(indices, values, shape)
        return _packed((indices, values, shape), dtype, as_text)

    return run


def _serialize_many(node: Node) -> Kernel:
    dtype, as_text = node.inputs[1].dtype.base_dtype, node.attr("out_type") is dtypes.string

    def run(indices: Any, values: Any, shape: Any) -> Any:
        rows = _rows(indices, values, shape)
        found = np.empty((len(rows), 3), object)
        for i, row in enumerate(rows):
            found[i] = _packed(row, dtype, as_text)
        return found

    return run


def _parts_shape(o: Operation, result: Any) -> Any:
    shapes.with_rank(o.inputs[0].dims, 2)
    shapes.with_rank(o.inputs[1].dims, 1)
    shapes.with_rank(o.inputs[2].dims, 1)
    return result


op("SerializeSparse", kernel=_serialize, shape=lambda o: _parts_shape(o, (3,)), gradient=not_differentiable)
op("SerializeManySparse", kernel=_serialize_many, shape=lambda o: _parts_shape(o, (None, 3)), gradient=not_differentiable)


def _joined(items: list[Parts], outer: list[int], what: str) -> Any:
    """Sparse tensors one after the other along new first dimensions; in the others as large as the largest."""
    if len(items) == 1 and not outer:
        return items[0]
    rank = len(items[0][2])
    for i, (_, _, shape) in enumerate(items):
        if len(shape) != rank:
            raise invalid_argument(
                f"Inconsistent {what} across SparseTensors: rank prior to SparseTensor[{i}] was: {rank + (what == 'rank')} "
                f"but rank of SparseTensor[{i}] is: {len(shape) + (what == 'rank')}"
            )
    lengths = torch.tensor([len(values) for _, values, _ in items])
    places = torch.arange(len(items)).repeat_interleave(lengths)
    columns = []
    for size in reversed(outer):
        columns.append(places % max(size, 1))
        places = places // max(size, 1)
    indices = torch.cat([torch.stack(columns[::-1], 1), torch.cat([indices for indices, _, _ in items])], 1)
    largest = torch.stack([shape for _, _, shape in items]).amax(0)
    return indices, joined([values for _, values, _ in items]), torch.cat([torch.tensor(outer, dtype=torch.int64), largest])


def _deserialize(node: Node) -> Kernel:
    dtype = node.attr("dtype")

    def unpacked(i: int, row: Any) -> Parts:
        parts = [_read(part) if isinstance(part, bytes) else part for part in row]
        (indices, index_type), (values, value_type), (shape, shape_type) = parts
        for what, kind in (("indices", index_type), ("shape", shape_type)):
            if kind is not dtypes.int64:
                raise invalid_argument(f"Expected SparseTensor[{i}].{what} to be of type int64 but received: {kind.name}")
        if indices.ndim != 2:
            raise invalid_argument(
                f"Expected serialized_sparse[{i}, 0] to represent an index matrix but received shape {shown(indices.shape)}"
            )
        if values.ndim != 1:
            raise invalid_argument(
                f"Expected serialized_sparse[{i}, 1] to represent a values vector but received shape {shown(values.shape)}"
            )
        if value_type is not dtype:
            wanted, found = (_WIRE_NAMES.get(t.name, t.name) for t in (dtype, value_type))
            raise invalid_argument(f"Requested SparseTensor of type {wanted} but SparseTensor[{i}].values.dtype() == {found}")
        return indices, values, shape

    def run(serialized: Any) -> Any:
        if not serialized.ndim or serialized.shape[-1] != 3:
            raise invalid_argument(f"Serialized sparse should have 3 as the last dimension {shown(serialized.shape)}")
        if 0 in serialized.shape:
            raise invalid_argument(
                f"Serialized sparse should have at least 1 serialized tensor, but has a zero dimension {shown(serialized.shape)}"
            )
        rows = serialized.reshape(-1, 3)
        return _joined([unpacked(i, row) for i, row in enumerate(rows)], list(serialized.shape[:-1]), "shape")

    return run


def _deserialize_many_shape(o: Operation) -> Any:
    dims = shapes.with_rank(o.inputs[0].dims, 2)
    shapes.merge_size(dims[1], 3)
    return [(None, None), (None,), (None,)]


def _deserialize_shape(o: Operation) -> Any:
    dims = shapes.with_rank_at_least(o.inputs[0].dims, 1)
    if dims is not None and dims[-1] not in (None, 3):
        raise ValueError(f"Dimension must be 3 but is {dims[-1]}")
    return [(None, None), (None,), (None,)]


op("DeserializeSparse", kernel=_deserialize, shape=_deserialize_shape, gradient=not_differentiable)
op("DeserializeManySparse", kernel=_deserialize, shape=_deserialize_many_shape, gradient=not_differentiable)


@public("serialize_sparse", "io.serialize_sparse")
def serialize_sparse(sp_input: Any, name: str | None = None, out_type: dtypes.DTypeLike = dtypes.string) -> Any:
    """The three parts of a sparse tensor as a vector of serialized tensors."""
    sp_input = as_sparse(sp_input)
    return apply("SerializeSparse", sp_input.indices, sp_input.values, sp_input.dense_shape, out_type=out_type, name=name)


@public("serialize_many_sparse", "io.serialize_many_sparse")
def serialize_many_sparse(sp_input: Any, name: str | None = None, out_type: dtypes.DTypeLike = dtypes.string) -> Any:
    """A row of three serialized tensors for each of the sparse tensors along the first dimension."""
    sp_input = as_sparse(sp_input)
    return apply("SerializeManySparse", sp_input.indices, sp_input.values, sp_input.dense_shape, out_type=out_type, name=name)


@internal("ops.sparse_ops.serialize_sparse_v2")
def _serialize_of_2(sp_input: Any, out_type: dtypes.DTypeLike = dtypes.string, name: str | None = None) -> Any:
    return serialize_sparse(sp_input, name, out_type)


@internal("ops.sparse_ops.serialize_many_sparse_v2")
def _serialize_many_of_2(sp_input: Any, out_type: dtypes.DTypeLike = dtypes.string, name: str | None = None) -> Any:
    return serialize_many_sparse(sp_input, name, out_type)


def _of_rank(parts: Any, rank: Any) -> SparseTensor:
    parts[0].set_shape([None, rank])
    parts[2].set_shape([rank])
    return SparseTensor(*parts)


@internal("ops.sparse_ops.deserialize_sparse")
def deserialize_sparse(serialized_sparse: Any, dtype: dtypes.DTypeLike, rank: int | None = None, name: str | None = None) -> Any:
    """The sparse tensor of serialized ones of any shape [..., 3]."""
    return _of_rank(apply("DeserializeSparse", serialized_sparse, dtype=dtype, name=name), rank)


@public("deserialize_many_sparse", "io.deserialize_many_sparse")
def deserialize_many_sparse(serialized_sparse: Any, dtype: dtypes.DTypeLike, rank: int | None = None, name: str | None = None) -> Any:
    """The sparse tensors of a batch, one after the other along a new first dimension."""
    return _of_rank(apply("DeserializeManySparse", serialized_sparse, dtype=dtype, name=name), rank)


class _TensorMap:
    """Sparse tensors by handle; each is taken once."""

    def __init__(self) -> None:
        self._items: dict[int, Parts] = {}
        self._handles = itertools.count()

    def add(self, parts: Parts) -> int:
        handle = next(self._handles)
        self._items[handle] = parts
        return handle

    def take(self, handle: int) -> Parts:
        found = self._items.pop(handle, None)
        if found is None:
            raise invalid_argument(f"Unable to find SparseTensor: {handle} in map: ")
        return found


def _map_of(node: Node) -> _TensorMap:
    name = node.attr("shared_name") or node.name
    return node.context.resources.get(node.attr("container"), "sparse tensors", name, _TensorMap)


def _add(node: Node) -> Kernel:
    kept = _map_of(node)

    def run(indices: Any, values: Any, shape: Any) -> Any:
        check_parts(indices, values, shape)
        return torch.tensor(kept.add((indices.clone(), values if isinstance(values, np.ndarray) else values.clone(), shape.clone())))

    return run


def _add_many(node: Node) -> Kernel:
    kept = _map_of(node)
    return lambda *parts: torch.tensor([kept.add(row) for row in _rows(*parts)], dtype=torch.int64)


def _take_many(node: Node) -> Kernel:
    kept = _map_of(node)

    def run(handles: Any) -> Any:
        if handles.ndim != 1:
            raise invalid_argument(f"sparse_handles should be a vector but received shape {shown(handles.shape)}")
        if not len(handles):
            raise invalid_argument("Must have at least 1 serialized SparseTensor, but input matrix has 0 rows")
        return _joined([kept.take(h) for h in handles.tolist()], [len(handles)], "rank")

    return run


op("AddSparseToTensorsMap", kernel=_add, shape=lambda o: _parts_shape(o, ()), gradient=not_differentiable)
op("AddManySparseToTensorsMap", kernel=_add_many, shape=lambda o: _parts_shape(o, (None,)), gradient=not_differentiable)
op("TakeManySparseFromTensorsMap", kernel=_take_many, shape=lambda o: [(None, None), (None,), (None,)], gradient=not_differentiable)


@internal("ops.sparse_ops._add_sparse_to_tensors_map")
def add_sparse_to_tensors_map(sp_input: Any, container: str | None = None, shared_name: str | None = None, name: str | None = None) -> Any:
    """Keeps a sparse tensor; its handle."""
    sp_input = as_sparse(sp_input)
    return apply(
        "AddSparseToTensorsMap",
        sp_input.indices,
        sp_input.values,
        sp_input.dense_shape,
        container=container,
        shared_name=shared_name,
        name=name,
    )


@internal("ops.sparse_ops._add_many_sparse_to_tensors_map")
def add_many_sparse_to_tensors_map(
    sp_input: Any, container: str | None = None, shared_name: str | None = None, name: str | None = None
) -> Any:
    """Keeps the sparse tensors along the first dimension; a handle for each."""
    sp_input = as_sparse(sp_input)
    return apply(
        "AddManySparseToTensorsMap",
        sp_input.indices,
        sp_input.values,
        sp_input.dense_shape,
        container=container,
        shared_name=shared_name,
        name=name,
    )


@internal("ops.sparse_ops._take_many_sparse_from_tensors_map")
def take_many_sparse_from_tensors_map(sparse_map_op: Any, sparse_handles: Any, rank: int | None = None, name: str | None = None) -> Any:
    """The sparse tensors that an op keeps under handles, one after the other along a new first dimension."""
    if not isinstance(sparse_map_op, tf.Operation):
        raise TypeError("sparse_map_op be an Operation")
    if sparse_map_op.type not in ("AddSparseToTensorsMap", "AddManySparseToTensorsMap"):
        raise TypeError(
            f"sparse_map_op must be one of AddSparseToTensorsMap or AddSparseToTensorsMap. Instead, found `{sparse_map_op.type}`."
        )
    with tf.colocate_with(sparse_map_op):
        shared = sparse_map_op.get_attr("shared_name") or sparse_map_op.name.encode()
        found = apply(
            "TakeManySparseFromTensorsMap",
            sparse_handles,
            dtype=sparse_map_op.get_attr("T"),
            container=sparse_map_op.get_attr("container"),
            shared_name=shared,
            name=name,
        )
    return _of_rank(found, rank)
