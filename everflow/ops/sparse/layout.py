"""Sparse tensors put in order, joined, cut, reshaped and transposed."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

import everflow as tf
from everflow import _native
from everflow.api import internal, public
from everflow.errors import invalid_argument
from everflow.graph import dtypes, shapes
from everflow.graph.constants import constant_value, constant_value_as_shape
from everflow.graph.operation import Operation
from everflow.graph.scopes import name_scope
from everflow.graph.sparse_tensor import SparseTensor
from everflow.lazy import torch
from everflow.ops.arrays.reshaping import shown
from everflow.ops.control_flow.ordering import with_dependencies
from everflow.ops.core.node import Node
from everflow.ops.core.registry import apply, not_differentiable, op
from everflow.ops.sparse.indices import all_as_sparse, as_sparse, check_parts, joined, known_shape, positions, row_order, taken
from everflow.platform.deprecation import deprecated_argument_lookup

Kernel = Callable[..., Any]


def _reorder(node: Node) -> Kernel:
    def run(indices: Any, values: Any, shape: Any) -> Any:
        check_parts(indices, values, shape)
        order = row_order(indices)
        return indices[order], taken(values, order)

    return run


def _reorder_gradient(o: Operation, _: Any, dy: Any) -> Any:
    indices, _, shape = o.inputs
    places = tf.range(tf.shape(indices)[0])
    order = sparse_reorder(SparseTensor(indices, places, shape)).values
    return None, tf.gather(dy, tf.invert_permutation(order)), None


def _same_parts(o: Operation) -> Any:
    return [shapes.with_rank(o.inputs[0].dims, 2), shapes.with_rank(o.inputs[1].dims, 1)]


op("SparseReorder", kernel=_reorder, shape=_same_parts, gradient=_reorder_gradient)


@public("sparse_reorder", "sparse.reorder")
def sparse_reorder(sp_input: Any, name: str | None = None) -> Any:
    """The same sparse tensor with its elements in row-major order."""
    sp_input = as_sparse(sp_input)
    indices, values = apply("SparseReorder", sp_input.indices, sp_input.values, sp_input.dense_shape, name=name)
    sizes = known_shape(sp_input)
    return SparseTensor(indices, values, tf.identity(sp_input.dense_shape) if sizes is None else sizes)


def _concat(node: Node) -> Kernel:
    n, axis = node.attr("N"), node.attr("concat_dim")

    def run(*parts: Any) -> Any:
        indices, values, dense = parts[:n], parts[n : 2 * n], [s.tolist() for s in parts[2 * n :]]
        rank = len(dense[0])
        at = axis + rank if axis < 0 else axis
        if not 0 <= at < rank:
            raise invalid_argument(f"Concat dimension must be in range [{-rank}, {rank}), got {axis}")
        offset, moved = 0, []
        for i, (rows, sizes) in enumerate(zip(indices, dense)):
            if len(sizes) != rank:
                raise invalid_argument(f"Ranks of all input tensors must match: expected {rank} but got {len(sizes)} at position {i}")
            for d in range(rank):
                if d != at and sizes[d] != dense[0][d]:
                    raise invalid_argument(
                        f"Input shapes must match: expected {dense[0][d]} for dimension {d} but got {sizes[d]} at position {i}"
                    )
            shift = torch.zeros(rank, dtype=torch.int64, device=rows.device)
            shift[at] = offset
            moved.append(rows + shift)
            offset += sizes[at]
        rows, items = torch.cat(moved), joined(values)
        order = row_order(rows)
        result = list(dense[0])
        result[at] = offset
        return rows[order], taken(items, order), torch.tensor(result, dtype=torch.int64)

    return run


def _concat_shape(o: Operation) -> Any:
    n = o.attr("N")
    total: int | None = 0
    rank = None
    for t in o.inputs[:n]:
        rows, columns = shapes.with_rank(t.dims, 2)
        rank = shapes.merge_size(rank, columns)
        total = None if total is None or rows is None else total + rows
    for t in o.inputs[2 * n :]:
        rank = shapes.merge_size(rank, shapes.with_rank(t.dims, 1)[0])
    return [(total, rank), (total,), (rank,)]


op("SparseConcat", kernel=_concat, shape=_concat_shape, gradient=not_differentiable)


def _largest_other_sizes(inputs: list[SparseTensor], axis: int) -> list[Any]:
    """The inputs' shapes with the largest size of all of them in every dimension but one."""
    rank = inputs[0].shape.ndims
    stacked = tf.concat([tf.reshape(s.dense_shape, [1, -1]) for s in inputs], 0)
    largest = tf.reduce_max(stacked, 0)
    at = axis if axis >= 0 or rank is None else axis + rank
    return [tf.concat([largest[:at], s.dense_shape[at : at + 1], largest[at + 1 :] if at != -1 else largest[:0]], 0) for s in inputs]


@public("sparse_concat", "sparse.concat")
def sparse_concat(
    axis: int,
    sp_inputs: Any,
    name: str | None = None,
    expand_nonconcat_dim: bool = False,
    concat_dim: Any = None,
    expand_nonconcat_dims: Any = None,
) -> Any:
    """Joins sparse tensors along a dimension; the others must agree, or are made as large as the largest."""
    expand = deprecated_argument_lookup(
        "expand_nonconcat_dims", expand_nonconcat_dims, "expand_nonconcat_dim", expand_nonconcat_dim or None
    )
    axis = deprecated_argument_lookup("axis", axis, "concat_dim", concat_dim)
    inputs = all_as_sparse(sp_inputs)
    if len(inputs) == 1:
        return inputs[0]
    dense = [s.dense_shape for s in inputs]
    if expand:
        dense = _largest_other_sizes(inputs, axis)
    indices, values, shape = apply(
        "SparseConcat", [s.indices for s in inputs], [s.values for s in inputs], dense, concat_dim=axis, name=name
    )
    if not expand:
        known = [constant_value(s) for s in dense]
        if all(k is not None for k in known):
            shape = known[0].copy()
            shape[axis] = sum(k[axis] for k in known)
            shape = tf.constant(shape)
    return SparseTensor(indices, values, shape)


@internal("ops.sparse_ops.sparse_concat_v2")
def _concat_of_2(axis: int, sp_inputs: Any, expand_nonconcat_dims: bool = False, name: str | None = None) -> Any:
    return sparse_concat(axis, sp_inputs, name, expand_nonconcat_dims)


def _split(node: Node) -> Kernel:
    n = node.attr("num_split")

    def run(axis: Any, indices: Any, values: Any, shape: Any) -> Any:
        at, sizes = int(axis), shape.tolist()
        if not 0 <= at < len(sizes):
            raise invalid_argument(f"Input split_dim should be between 0 and rank ({len(sizes)}), got {at}")
        if not 1 <= n <= sizes[at]:
            raise invalid_argument(f"Input num_split should be between 1 and the splitting dimension size ({sizes[at]}), got {n}")
        size, longer = divmod(sizes[at], n)
        found: list[Any] = []
        start = 0
        for i in range(n):
            width = size + (i < longer)
            inside = ((indices[:, at] >= start) & (indices[:, at] < start + width)).nonzero()[:, 0]
            rows = indices[inside]
            rows[:, at] -= start
            found.append((rows, taken(values, inside), torch.tensor([*sizes[:at], width, *sizes[at + 1 :]], dtype=torch.int64)))
            start += width
        return tuple(part for parts in zip(*found) for part in parts)

    return run


def _split_shape(o: Operation) -> Any:
    n, rank = o.attr("num_split"), o.inputs[3].dims
    rank = shapes.with_rank(rank, 1)[0]
    return [(None, rank)] * n + [(None,)] * n + [(rank,)] * n


op("SparseSplit", kernel=_split, shape=_split_shape)


@internal("ops.sparse_ops.KeywordRequired")
class KeywordRequired:
    """Stands in for an argument that may not be given, so that the others are given by name."""

    def __repr__(self) -> str:
        return "KeywordRequired()"


@public("sparse_split", "sparse.split")
def sparse_split(
    keyword_required: Any = KeywordRequired(),
    sp_input: Any = None,
    num_split: Any = None,
    axis: Any = None,
    name: str | None = None,
    split_dim: Any = None,
) -> Any:
    """Cuts a sparse tensor into parts along a dimension; the first are larger by one where they can't be equal."""
    if not isinstance(keyword_required, KeywordRequired):
        raise ValueError("Keyword arguments are required for this function.")
    for argument, given in {"sp_input": sp_input, "num_split": num_split, "axis": axis}.items():
        if given is None:
            raise ValueError(f"{argument} is required")
    axis = deprecated_argument_lookup("axis", axis, "split_dim", split_dim)
    sp_input = as_sparse(sp_input)
    parts = apply("SparseSplit", axis, sp_input.indices, sp_input.values, sp_input.dense_shape, num_split=num_split, name=name)
    return [SparseTensor(*part) for part in zip(*parts)]


@internal("ops.sparse_ops.sparse_split_v2")
def _split_of_2(sp_input: Any = None, num_split: Any = None, axis: Any = None, name: str | None = None) -> Any:
    return sparse_split(sp_input=sp_input, num_split=num_split, axis=axis, name=name)


def _slice(node: Node) -> Kernel:
    def run(indices: Any, values: Any, shape: Any, start: Any, size: Any) -> Any:
        check_parts(indices, values, shape)
        rank = len(shape)
        for what, given in (("start", start), ("size", size)):
            if given.ndim != 1:
                raise invalid_argument(f"Input {what} should be a vector but received shape {shown(given.shape)}")
            if len(given) != rank:
                raise invalid_argument(f"Expected {what} to be a vector of length {rank} but got length {len(given)}")
        inside = ((indices >= start) & (indices < start + size)).all(1).nonzero()[:, 0]
        kept = torch.minimum(size, (shape - start).clamp(min=0))
        return indices[inside] - start, taken(values, inside), kept

    return run


def _slice_grad(node: Node) -> Kernel:
    def run(dy: Any, indices: Any, start: Any, output_indices: Any) -> Any:
        if len(dy) != len(output_indices):
            raise invalid_argument(
                f"The number of elements in backprop_val_grad should match the number of output indices: {len(dy)} vs. "
                f"{len(output_indices)}"
            )
        found = torch.zeros(len(indices), dtype=dy.dtype, device=dy.device)
        # Elements of a slice come in the order of those of the whole.
        moved, at = output_indices + start, 0
        limit = len(moved)
        rows, wanted = indices.tolist(), moved.tolist()
        for i, row in enumerate(rows):
            if at < limit and row == wanted[at]:
                found[i] = dy[at]
                at += 1
        if at < limit:
            raise invalid_argument(f"Elements of backprop_val_grad aren't all propagated. Num elements: {limit}, used: {at}")
        return found

    return run


def _slice_shape(o: Operation) -> Any:
    rank = shapes.with_rank(o.inputs[2].dims, 1)[0]
    return [(None, rank), (None,), (rank,)]


def _slice_gradient(o: Operation, _: Any, dy: Any, __: Any) -> Any:
    return None, apply("SparseSliceGrad", dy, o.inputs[0], o.inputs[3], o.outputs[0]), None, None, None


op("SparseSlice", kernel=_slice, shape=_slice_shape, gradient=_slice_gradient)
op("SparseSliceGrad", kernel=_slice_grad, shape=lambda o: (shapes.with_rank(o.inputs[1].dims, 2)[0],))


@public("sparse_slice", "sparse.slice")
def sparse_slice(sp_input: Any, start: Any, size: Any, name: str | None = None) -> Any:
    """The elements of a sparse tensor in a box."""
    sp_input = as_sparse(sp_input)
    start, size = tf.convert_to_tensor(start, dtypes.int64), tf.convert_to_tensor(size, dtypes.int64)
    with name_scope(name, "SparseSlice", [sp_input]) as scope:
        return SparseTensor(*apply("SparseSlice", sp_input.indices, sp_input.values, sp_input.dense_shape, start, size, name=scope))


def _reshape(node: Node) -> Kernel:
    def run(indices: Any, shape: Any, new_shape: Any) -> Any:
        if indices.ndim != 2:
            raise invalid_argument(f"Input indices should be a matrix but received shape {shown(indices.shape)}")
        for what, given in (("Input", shape), ("Target", new_shape)):
            if given.ndim != 1:
                raise invalid_argument(f"{what} shape should be a vector but received shape {shown(given.shape)}")
        old, new = shape.tolist(), new_shape.tolist()
        total = math.prod(old)
        free = [i for i, n in enumerate(new) if n == -1]
        if len(free) > 1:
            raise invalid_argument(f"only one output dimension may be -1, not both {free[0]} and {free[1]}")
        rest = math.prod(n for n in new if n != -1)
        for i, n in enumerate(new):
            if n < -1:
                raise invalid_argument(f"size {i} must be non-negative, not {n}")
        if free:
            if rest <= 0:
                raise invalid_argument(
                    "reshape cannot infer the missing input size for an empty tensor unless all specified input sizes are non-zero"
                )
            new[free[0]] = total // rest
            if new[free[0]] * rest != total:
                raise invalid_argument(
                    f"Input to reshape is a SparseTensor with {total} dense values, but the requested shape requires a multiple of {rest}. "
                    f"input_shape={shown(old)} output_shape={shown(new)}"
                )
        elif rest != total:
            raise invalid_argument(
                f"Input to reshape is a tensor with {total} dense values, but the requested shape has {rest}. "
                f"input_shape={shown(old)} output_shape={shown(new)}"
            )
        return _moved(indices, old, new), torch.tensor(new, dtype=torch.int64)

    return run


def _moved(indices: Any, old: list[int], new: list[int]) -> Any:
    if indices.is_cpu:
        # Held by its name until native code has read it: `tf.where` gives indices that are not contiguous.
        indices = indices.contiguous()
        found = indices.new_empty((len(indices), len(new)))
        _native.move_places(indices.data_ptr(), len(indices), old, new, found.data_ptr())
        return found
    at = positions(indices, old)
    columns = []
    for size in reversed(new):
        columns.append(at % max(size, 1))
        at = at // max(size, 1)
    return torch.stack(columns[::-1], 1) if columns else indices.new_empty((len(indices), 0))


def _reshape_shape(o: Operation) -> Any:
    rows = shapes.with_rank(o.inputs[0].dims, 2)[0]
    rank = shapes.with_rank(o.inputs[2].dims, 1)[0]
    return [(rows, rank), (rank,)]


op("SparseReshape", kernel=_reshape, shape=_reshape_shape)


def _known_reshape(sp_input: SparseTensor, shape: Any) -> list[Any] | None:
    """The sizes that a reshape gives, checked against what is known; None where they are not all known."""
    wanted = constant_value_as_shape(shape)
    if wanted.ndims is None:
        return None
    sizes: list[Any] = wanted.as_list()
    given = constant_value(shape)
    if given is not None and sum(g == -1 for g in given) > 1:
        raise ValueError(f"At most one dimension can be inferred (-1). Found: {given}")
    have = sp_input.get_shape()
    total = have.num_elements()
    if total is None:
        return None
    unknown = [i for i, n in enumerate(sizes) if n is None]
    if given is not None and len(unknown) == 1:
        rest = int(np.prod([n for n in sizes if n is not None], dtype=np.int64))
        guess = list(sizes)
        guess[unknown[0]] = total // rest if rest else None
        if rest and guess[unknown[0]] * rest != total:
            raise ValueError(f"Cannot reshape a tensor with {total} elements to shape {sizes} ({rest * guess[unknown[0]]} elements).")
        sizes = guess
    elif not unknown and int(np.prod(sizes, dtype=np.int64)) != total:
        raise ValueError(f"Cannot reshape a tensor with {total} elements to shape {sizes} ({int(np.prod(sizes))} elements).")
    return None if None in sizes else sizes


@public("sparse_reshape", "sparse.reshape")
def sparse_reshape(sp_input: Any, shape: Any, name: str | None = None) -> Any:
    """The same elements in row-major order in a tensor of another shape."""
    sp_input = as_sparse(sp_input)
    shape = tf.cast(shape, dtype=dtypes.int64)
    with name_scope(name, "SparseReshape", [sp_input]) as scope:
        indices, found = apply("SparseReshape", sp_input.indices, sp_input.dense_shape, shape, name=scope)
        sizes = _known_reshape(sp_input, shape)
        if sizes is not None:
            found = tf.constant(sizes, dtype=dtypes.int64)
        return SparseTensor(indices, tf.identity(sp_input.values), found)


@public("sparse_transpose", "sparse.transpose")
def sparse_transpose(sp_input: Any, perm: Any = None, name: str | None = None) -> Any:
    """A sparse tensor with its dimensions in another order; without `perm`, reversed."""
    with name_scope(name, "SparseTranspose", [sp_input]):
        is_given = perm is not None
        if not is_given:
            rank = tf.rank(sp_input)
            perm = (rank - 1) - tf.range(0, rank, 1)
        indices = tf.transpose(tf.gather(tf.transpose(sp_input.indices), perm))
        order = constant_value(tf.convert_to_tensor(perm)) if is_given else None
        sizes = known_shape(sp_input)
        shape = tf.gather(sp_input.dense_shape, perm) if order is None or sizes is None else [sizes[i] for i in order]
        return sparse_reorder(SparseTensor(indices, sp_input.values, shape))


def _fill_empty_rows(node: Node) -> Kernel:
    def run(indices: Any, values: Any, shape: Any, default: Any) -> Any:
        if shape.ndim != 1:
            raise invalid_argument(f"dense_shape must be a vector, saw: {shown(shape.shape)}")
        if indices.ndim != 2:
            raise invalid_argument(f"indices must be a matrix, saw: {shown(indices.shape)}")
        if values.ndim != 1:
            raise invalid_argument(f"values must be a vector, saw: {shown(values.shape)}")
        if default.ndim != 0:
            raise invalid_argument(f"default_value must be a scalar, saw: {shown(default.shape)}")
        n, rows = len(indices), int(shape[0])
        if not rows and n:
            raise invalid_argument(f"Received SparseTensor with dense_shape[0] = 0 but indices.shape[0] = {n}")
        if indices.is_cpu and indices.shape[1]:
            found = _with_filled_rows(indices.contiguous(), values, default, rows)
            if found is not None:
                return found
        first = indices[:, 0]
        for outside in ((first < 0) | (first >= rows)).nonzero()[:1, 0].tolist():
            row = int(first[outside])
            raise invalid_argument(f"indices({outside}, 0) is invalid: {row} " + ("< 0" if row < 0 else f">= {rows}"))
        empty = torch.ones(rows, dtype=torch.bool, device=indices.device)
        empty[first] = False
        missing = torch.zeros((int(empty.sum()), indices.shape[1]), dtype=torch.int64, device=indices.device)
        missing[:, 0] = empty.nonzero()[:, 0]
        whole = torch.cat([indices, missing])
        order = torch.argsort(whole[:, 0], stable=True)
        if isinstance(values, np.ndarray):
            filler: Any = np.full(len(missing), default[()], object)
        else:
            filler = default.expand(len(missing))
        back = torch.empty_like(order)
        back[order] = torch.arange(len(order), device=order.device)
        return whole[order], taken(joined([values, filler]), order), empty, back[:n]

    return run


def _with_filled_rows(indices: Any, values: Any, default: Any, rows: int) -> Any:
    """What filling empty rows gives; None where elements are in no row."""
    n, rank = indices.shape
    empty = torch.empty(rows, dtype=torch.bool)
    missing = _native.empty_rows(indices.data_ptr(), n, rank, rows, empty.data_ptr())
    if missing == _WHOLE:
        return indices.clone(), values.copy() if isinstance(values, np.ndarray) else values.clone(), empty, torch.arange(n)
    if missing < 0:
        return None
    filled = indices.new_empty((n + missing, rank))
    sources, went = indices.new_empty(n + missing), indices.new_empty(n)
    _native.fill_rows(indices.data_ptr(), n, rank, rows, filled.data_ptr(), sources.data_ptr(), went.data_ptr())
    return filled, taken(joined([values, default.reshape(1)]), sources), empty, went


# What `_native.empty_rows` says where there is nothing to do.
_WHOLE = -2


def _fill_empty_rows_shape(o: Operation) -> Any:
    indices, values, shape = (o.inputs[i].dims for i in range(3))
    n, rank = shapes.with_rank(indices, 2)
    n = shapes.merge_size(n, shapes.with_rank(values, 1)[0])
    rank = shapes.merge_size(rank, shapes.with_rank(shape, 1)[0])
    shapes.with_rank(o.inputs[3].dims, 0)
    rows = constant_value(o.inputs[2])
    return [(None, rank), (None,), (None if rows is None else int(rows[0]),), (n,)]


def _fill_empty_rows_gradient(o: Operation, _: Any, dy: Any, __: Any, ___: Any) -> Any:
    d_values, d_default = apply("SparseFillEmptyRowsGrad", o.outputs[3], dy)
    return [None, d_values, None, d_default]


def _fill_empty_rows_grad(node: Node) -> Kernel:
    def run(places: Any, dy: Any) -> Any:
        if places.ndim != 1:
            raise invalid_argument(f"reverse_index_map must be a vector, saw: {shown(places.shape)}")
        if dy.ndim != 1:
            raise invalid_argument(f"grad_values must be a vector, saw: {shown(dy.shape)}")
        for outside in ((places < 0) | (places >= len(dy))).nonzero()[:1, 0].tolist():
            raise invalid_argument(f"Elements in reverse index must be in [0, {len(dy)}) but got {int(places[outside])}")
        filled = torch.ones(len(dy), dtype=torch.bool, device=dy.device)
        filled[places] = False
        return dy[places], dy[filled].sum().to(dy.dtype)

    return run


op("SparseFillEmptyRows", kernel=_fill_empty_rows, shape=_fill_empty_rows_shape, gradient=_fill_empty_rows_gradient)


def _fill_empty_rows_grad_shape(o: Operation) -> Any:
    shapes.with_rank(o.inputs[1].dims, 1)
    return [shapes.with_rank(o.inputs[0].dims, 1), ()]


op("SparseFillEmptyRowsGrad", kernel=_fill_empty_rows_grad, shape=_fill_empty_rows_grad_shape)


@public("sparse_fill_empty_rows", "sparse.fill_empty_rows")
def sparse_fill_empty_rows(sp_input: Any, default_value: Any, name: str | None = None) -> Any:
    """(the sparse tensor with a default in the first column of rows without elements, which rows these are)."""
    sp_input = as_sparse(sp_input)
    with name_scope(name, "SparseFillEmptyRows", [sp_input]):
        default_value = tf.convert_to_tensor(default_value, dtype=sp_input.values.dtype)
        found = apply("SparseFillEmptyRows", sp_input.indices, sp_input.values, sp_input.dense_shape, default_value)
        return SparseTensor(found.output_indices, found.output_values, sp_input.dense_shape), found.empty_row_indicator


@public("sparse_retain", "sparse.retain")
def sparse_retain(sp_input: Any, to_retain: Any) -> Any:
    """The elements of a sparse tensor for which a boolean is true."""
    sp_input = as_sparse(sp_input)
    to_retain = tf.convert_to_tensor(to_retain)
    to_retain.get_shape()[:1].merge_with(sp_input.values.get_shape()[:1])
    places = tf.reshape(tf.where(to_retain), [-1])
    return SparseTensor(tf.gather(sp_input.indices, places), tf.gather(sp_input.values, places), tf.identity(sp_input.dense_shape))


@public("sparse_reset_shape", "sparse.reset_shape")
def sparse_reset_shape(sp_input: Any, new_shape: Any = None) -> Any:
    """The same elements in a larger shape, or in the smallest that holds them."""
    sp_input = as_sparse(sp_input)
    indices, values, shape = tf.identity(sp_input.indices), tf.identity(sp_input.values), tf.identity(sp_input.dense_shape)
    if new_shape is None:
        largest = tf.reduce_max(indices, axis=0)
        found = tf.maximum(tf.constant(0, dtypes.int64), tf.add(largest, tf.ones_like(shape)))
        return SparseTensor(indices, values, found)
    wanted = tf.cast(tf.convert_to_tensor(new_shape), dtypes.int64)
    if wanted.get_shape().ndims != 1:
        wanted.get_shape().assert_has_rank(1)
    rank = constant_value_as_shape(shape)
    asked = constant_value_as_shape(wanted)
    if rank.is_fully_defined() and asked.is_fully_defined():
        wanted.get_shape().dims[0].assert_is_compatible_with(shape.get_shape().dims[0])
        have, want = np.array(rank.as_list()), np.array(asked.as_list())
        if not (have <= want).all():
            raise ValueError(
                f"Requested new_shape should have dimension sizes >= sp_input.shape.  Found new_shape ({have}), sp_input.shape ({want})."
            )
        return SparseTensor(indices, values, asked.as_list())
    wanted = with_dependencies([tf.assert_equal(tf.shape(shape), tf.shape(wanted))], wanted)
    return SparseTensor(indices, values, with_dependencies([tf.assert_less_equal(shape, wanted)], wanted))
