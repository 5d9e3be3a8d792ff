"""Sparse tensors together with dense ones: conversion, products, sums and elementwise arithmetic."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import everflow as tf
from everflow._native import sparse_product
from everflow.api import internal, public
from everflow.errors import invalid_argument
from everflow.graph import dtypes, shapes
from everflow.graph.constants import dims_of
from everflow.graph.operation import Operation
from everflow.graph.scopes import name_scope
from everflow.graph.sparse_tensor import SparseTensor
from everflow.lazy import torch
from everflow.ops.arrays.reshaping import shown
from everflow.ops.core.families import WIDER
from everflow.ops.core.node import Node
from everflow.ops.core.registry import apply, op
from everflow.ops.sparse.indices import as_sparse, check_order, count, first_out_of_bounds, positions

Kernel = Callable[..., Any]


def _to_dense(node: Node) -> Kernel:
    validate = node.attr("validate_indices")

    def run(indices: Any, shape: Any, values: Any, default: Any) -> Any:
        if indices.ndim > 2:
            raise invalid_argument(f"sparse_indices should be a scalar, vector, or matrix, got shape {shown(indices.shape)}")
        n, rank = (1 if indices.ndim == 0 else indices.shape[0]), (indices.shape[1] if indices.ndim == 2 else 1)
        if shape.ndim != 1:
            raise invalid_argument(f"output_shape should be a vector, got shape {shown(shape.shape)}")
        if len(shape) != rank:
            raise invalid_argument(f"output_shape has incorrect number of elements: {len(shape)} should be: {rank}")
        if values.ndim > 1 or values.ndim == 1 and len(values) != n:
            raise invalid_argument(f"sparse_values has incorrect shape {shown(values.shape)}, should be [] or [{n}]")
        if default.ndim != 0:
            raise invalid_argument("default_value should be a scalar.")
        sizes = shape.tolist()
        rows = indices.reshape(n, rank).long()
        if validate:
            check_order(rows, sizes)
        elif first_out_of_bounds(rows, sizes) is not None:
            raise invalid_argument(f"Indices are not valid (out of bounds).  Shape: {shown(sizes)}")
        at = positions(rows, sizes)
        if isinstance(values, np.ndarray):
            texts = np.full(count(sizes), default[()], object)
            texts[at.numpy()] = values
            return texts.reshape(sizes)
        found = default.expand(count(sizes)).clone()
        found[at] = values
        return found.reshape(sizes)

    return run


def _to_dense_shape(o: Operation) -> Any:
    if o.inputs[1].dims is not None:
        shapes.with_rank(o.inputs[1].dims, 1)
    return dims_of(o.inputs[1])


def _to_dense_gradient(o: Operation, dy: Any) -> Any:
    indices, shape = o.inputs[0], o.inputs[1]
    d_values = tf.gather_nd(dy, indices)
    d_default = tf.reduce_sum(dy) - tf.reduce_sum(d_values)
    return tf.zeros_like(indices), tf.zeros_like(shape), d_values, d_default


op("SparseToDense", kernel=_to_dense, shape=_to_dense_shape, gradient=_to_dense_gradient)


@public("sparse_to_dense")
def sparse_to_dense(
    sparse_indices: Any,
    output_shape: Any,
    sparse_values: Any,
    default_value: Any = 0,
    validate_indices: bool = True,
    name: str | None = None,
) -> Any:
    """A dense tensor with values at indices and a default elsewhere."""
    return apply("SparseToDense", sparse_indices, output_shape, sparse_values, default_value, validate_indices=validate_indices, name=name)


@public("sparse_tensor_to_dense", "sparse.to_dense")
def sparse_tensor_to_dense(sp_input: Any, default_value: Any = None, validate_indices: bool = True, name: str | None = None) -> Any:
    """The dense form of a sparse tensor."""
    sp_input = as_sparse(sp_input)
    if default_value is None:
        default_value = tf.zeros([], dtype=sp_input.dtype)
    return sparse_to_dense(
        sp_input.indices, sp_input.dense_shape, sp_input.values, default_value=default_value, validate_indices=validate_indices, name=name
    )


@internal("ops.sparse_ops.sparse_to_dense_v2")
def _to_dense_of_2(sp_input: Any, default_value: Any = None, validate_indices: bool = True, name: str | None = None) -> Any:
    return sparse_tensor_to_dense(sp_input, default_value, validate_indices, name)


@public("sparse.from_dense")
def from_dense(tensor: Any, name: str | None = None) -> Any:
    """The elements of a dense tensor that are not zero."""
    with name_scope(name, "dense_to_sparse"):
        tensor = tf.convert_to_tensor(tensor)
        indices = tf.where_v2(tf.not_equal(tensor, tf.constant(0, tensor.dtype) if tensor.dtype != dtypes.string else tf.constant("")))
        return SparseTensor(indices, tf.gather_nd(tensor, indices), tf.shape(tensor, out_type=dtypes.int64))


def _matmul(node: Node) -> Kernel:
    flip_a, flip_b = node.attr("adjoint_a"), node.attr("adjoint_b")
    # The other types have no sparse products of their own.
    direct = node.inputs[1].dtype.base_dtype.name in ("float32", "float64", "complex64", "complex128")

    def run(indices: Any, values: Any, shape: Any, b: Any) -> Any:
        if b.ndim != 2:
            raise invalid_argument("Tensor 'b' is not a matrix")
        if shape.ndim != 1:
            raise invalid_argument("Tensor 'a_shape' is not a vector")
        if len(shape) != 2:
            raise invalid_argument("Tensor 'a_shape' must have 2 elements")
        if values.ndim != 1:
            raise invalid_argument("Tensor 'a_values' is not a vector")
        if indices.ndim != 2:
            raise invalid_argument("Tensor 'a_indices' is not a matrix")
        if len(indices) != len(values):
            raise invalid_argument("Number of rows of a_indices does not match number of entries in a_values")
        sizes = shape.tolist()
        rows, columns = indices.unbind(1)
        if flip_a:
            rows, columns, sizes = columns, rows, sizes[::-1]
            values = values.conj()
        if flip_b:
            b = b.mH
        if sizes[1] != b.shape[0]:
            raise invalid_argument(
                f"Cannot multiply A and B because inner dimension does not match: {sizes[1]} vs. {b.shape[0]}.  Did you forget a "
                f"transpose?  Dimensions of A: [{sizes[0]}, {sizes[1]}).  Dimensions of B: {shown(b.shape)}"
            )
        if b.dtype is torch.float32 and b.is_cpu:
            indices, values, b = indices.contiguous(), values.contiguous(), b.contiguous()
            found = torch.zeros((sizes[0], b.shape[1]))
            addresses = indices.data_ptr(), values.data_ptr(), len(values), flip_a, b.data_ptr(), *b.shape, found.data_ptr(), sizes[0]
            if sparse_product(*addresses) < 0:
                return found
        _check_bounds(columns, sizes[1], "k", 0 if flip_a else 1)
        _check_bounds(rows, sizes[0], "m", 1 if flip_a else 0)
        if direct and len(values):
            a = torch.sparse_coo_tensor(torch.stack([rows, columns]), values.resolve_conj(), sizes, check_invariants=False)
            return torch.sparse.mm(a, b.contiguous().resolve_conj())
        found = torch.zeros((sizes[0], b.shape[1]), dtype=b.dtype, device=b.device)
        return found.index_add_(0, rows, values.unsqueeze(1) * b[columns])

    return run


def _check_bounds(places: Any, size: int, letter: str, column: int) -> None:
    if len(places) and (int(places.max()) >= size or int(places.min()) < 0):
        at = int(((places >= size) | (places < 0)).nonzero()[0])
        raise invalid_argument(f"{letter} ({int(places[at])}) from index[{at},{column}] out of bounds (>={size})")


def _matmul_shape(o: Operation) -> Any:
    shapes.with_rank(o.inputs[0].dims, 2)
    shapes.with_rank(o.inputs[1].dims, 1)
    a = shapes.with_rank(dims_of(o.inputs[2]), 2)
    b = shapes.with_rank(o.inputs[3].dims, 2)
    rows, inner = a[::-1] if o.attr("adjoint_a") else a
    other, columns = b[::-1] if o.attr("adjoint_b") else b
    shapes.merge_size(inner, other)
    return rows, columns


def _matmul_gradient(o: Operation, dy: Any) -> Any:
    indices, values, shape, b = o.inputs
    flip_a, flip_b = o.attr("adjoint_a"), o.attr("adjoint_b")
    d_b = apply("SparseTensorDenseMatMul", indices, values, shape, dy, adjoint_a=not flip_a)
    if flip_b:
        d_b, b = tf.linalg.adjoint(d_b), tf.linalg.adjoint(b)
    rows, columns = indices[:, 0], indices[:, 1]
    from_dy, from_b = tf.gather(dy, columns if flip_a else rows), tf.gather(b, rows if flip_a else columns)
    if dy.dtype.is_complex:
        from_dy, from_b = (tf.conj(from_dy), from_b) if flip_a else (from_dy, tf.conj(from_b))
    return None, tf.reduce_sum(from_dy * from_b, axis=1), None, d_b


op("SparseTensorDenseMatMul", kernel=_matmul, shape=_matmul_shape, gradient=_matmul_gradient)


@public("sparse_tensor_dense_matmul", "sparse.sparse_dense_matmul", "sparse.matmul")
def sparse_tensor_dense_matmul(sp_a: Any, b: Any, adjoint_a: bool = False, adjoint_b: bool = False, name: str | None = None) -> Any:
    """The product of a sparse matrix and a dense one."""
    a = as_sparse(sp_a)
    parts = (a.indices, a.values, a.dense_shape)
    with name_scope(name, "SparseTensorDenseMatMul", [*parts[:2], b]):
        return apply("SparseTensorDenseMatMul", *parts, tf.convert_to_tensor(b, name="b"), adjoint_a=adjoint_a, adjoint_b=adjoint_b)


def _dense_add(node: Node) -> Kernel:
    wide = WIDER.get(node.inputs[1].dtype.base_dtype.name)

    def run(indices: Any, values: Any, shape: Any, b: Any) -> Any:
        sizes = shape.tolist()
        if tuple(b.shape) != tuple(sizes):
            for i, (have, want) in enumerate(zip(b.shape, sizes)):
                if have != want:
                    raise invalid_argument(
                        f"Dimension {i} does not equal (no broadcasting is supported): sparse side {want} vs dense side {have}"
                    )
            raise invalid_argument(f"Two operands have different ranks; received: {len(sizes)} and {b.ndim}")
        outside = first_out_of_bounds(indices, sizes)
        if outside is not None:
            raise invalid_argument("Sparse tensor has some invalid index on dimension 0")
        at, dtype = positions(indices, sizes), b.dtype
        if wide is not None:
            b, values = b.to(getattr(torch, wide)), values.to(getattr(torch, wide))
        return b.reshape(-1).index_add(0, at, values).reshape(sizes).to(dtype)

    return run


op(
    "SparseTensorDenseAdd",
    kernel=_dense_add,
    shape=lambda o: o.inputs[3].dims,
    gradient=lambda o, dy: (None, tf.gather_nd(dy, o.inputs[0]), None, dy),
)


def _places(indices: Any, shape: Any, dense: Any) -> Any:
    """For each element of a sparse tensor: where a dense tensor that is broadcast to it has its element."""
    rank, sizes = dense.ndim, shape.tolist()
    if rank > len(sizes) or any(n not in (1, size) for n, size in zip(dense.shape, sizes[len(sizes) - rank :])):
        raise invalid_argument(
            f"SparseDenseBinaryOpShared broadcasts dense to sparse only; got incompatible shapes: {shown(sizes)} vs. {shown(dense.shape)}"
        )
    if first_out_of_bounds(indices, sizes) is not None:
        raise invalid_argument("Provided indices are out-of-bounds w.r.t. dense side with broadcasted shape")
    inner = indices[:, len(sizes) - rank :]
    spread = torch.tensor([n != 1 for n in dense.shape], dtype=torch.int64, device=indices.device)
    return positions(inner * spread, list(dense.shape)) if rank else torch.zeros(len(indices), dtype=torch.int64, device=indices.device)


def _elementwise(compute: Callable[[Any], Callable[[Any, Any], Any]]) -> Callable[[Any], Kernel]:
    def make(node: Node) -> Kernel:
        function = compute(node)
        wide = WIDER.get(node.inputs[1].dtype.base_dtype.name)

        def run(indices: Any, values: Any, shape: Any, dense: Any) -> Any:
            beside = dense.reshape(-1)[_places(indices, shape, dense)]
            if wide is None:
                return function(values, beside)
            return function(values.to(getattr(torch, wide)), beside.to(getattr(torch, wide))).to(values.dtype)

        return run

    return make


def _quotient(node: Node) -> Callable[[Any, Any], Any]:
    if node.inputs[1].dtype.is_integer:
        return lambda x, y: torch.div(x, y, rounding_mode="trunc")
    return torch.div


def _values_shape(o: Operation) -> Any:
    n = shapes.with_rank(o.inputs[0].dims, 2)[0]
    return (shapes.merge_size(n, shapes.with_rank(o.inputs[1].dims, 1)[0]),)


def _elementwise_gradient(partials: Callable[[Any, Any, Any], tuple[Any, Any]]) -> Callable[..., Any]:
    """`partials(x, y, dz)` gives the gradients of the values and of the dense elements beside them."""

    def differentiate(o: Operation, dz: Any) -> Any:
        indices, values, _, dense = o.inputs
        sizes = tf.shape(dense, out_type=dtypes.int64)
        inner = indices[:, tf.shape(indices)[1] - tf.size(sizes) :]
        places = inner * tf.cast(tf.not_equal(sizes, 1), dtypes.int64)
        dx, dy = partials(values, tf.gather_nd(dense, places), dz)
        return None, dx, None, tf.scatter_nd(places, dy, sizes)

    return differentiate


op(
    "SparseDenseCwiseMul",
    kernel=_elementwise(lambda node: torch.mul),
    shape=_values_shape,
    gradient=_elementwise_gradient(lambda x, y, dz: (dz * y, dz * x)),
)
op(
    "SparseDenseCwiseDiv",
    kernel=_elementwise(_quotient),
    shape=_values_shape,
    gradient=_elementwise_gradient(lambda x, y, dz: (dz / y, dz * (-x / tf.square(y)))),
)
op(
    "SparseDenseCwiseAdd",
    kernel=_elementwise(lambda node: torch.add),
    shape=_values_shape,
    gradient=_elementwise_gradient(lambda x, y, dz: (dz, dz)),
)


@internal("ops.sparse_ops.sparse_dense_cwise_add")
def sparse_dense_cwise_add(sp_t: Any, dense_t: Any) -> Any:
    """Adds the elements of a dense tensor, broadcast to a sparse one, to the sparse one's values."""
    values = apply("SparseDenseCwiseAdd", sp_t.indices, sp_t.values, sp_t.dense_shape, dense_t)
    return SparseTensor(sp_t.indices, values, sp_t.dense_shape)
