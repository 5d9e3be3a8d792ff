"""Sums, maxima, softmax and reductions of sparse tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import everflow as tf
from everflow.api import internal, public
from everflow.errors import invalid_argument
from everflow.graph import shapes
from everflow.graph.constants import dims_of, known
from everflow.graph.operation import Operation
from everflow.graph.scopes import name_scope
from everflow.graph.sparse_tensor import SparseTensor, SparseTensorValue
from everflow.lazy import torch
from everflow.ops.arrays.reshaping import as_signed
from everflow.ops.core.families import WIDER
from everflow.ops.core.node import Node
from everflow.ops.core.registry import apply, not_differentiable, op
from everflow.ops.core.shape_rules import ranked, same_as
from everflow.ops.math.reduction_gradients import reduced_shape
from everflow.ops.sparse.indices import as_sparse, check_parts, groups, positions
from everflow.platform.deprecation import deprecated_argument_lookup

Kernel = Callable[..., Any]


def _computed(x: Any, wide: str | None) -> Any:
    return x if wide is None else x.to(getattr(torch, wide))


def _wide(node: Node, index: int = 1) -> str | None:
    return WIDER.get(node.inputs[index].dtype.base_dtype.name)


def _check_pair(a_shape: Any, b_shape: Any) -> None:
    a, b = a_shape.tolist(), b_shape.tolist()
    if len(a) != len(b):
        raise invalid_argument(f"Operands do not have the same ranks; got shapes: {' '.join(map(str, a))} and {' '.join(map(str, b))}")
    for i, (m, n) in enumerate(zip(a, b)):
        if m != n:
            raise invalid_argument(f"Operands' shapes do not match: got {m} and {n} for dimension {i}")


def _union(a_indices: Any, a: Any, b_indices: Any, b: Any) -> tuple[Any, Any, Any]:
    """(all indices in order, the values of a there, those of b), with zeros for what is not there."""
    rows, which = groups(torch.cat([a_indices, b_indices]))
    both = torch.zeros((2, len(rows)), dtype=a.dtype, device=a.device)
    both[0].index_add_(0, which[: len(a)], a)
    both[1].index_add_(0, which[len(a) :], b)
    return rows, both[0], both[1]


def _add(node: Node) -> Kernel:
    wide = _wide(node)

    def run(a_indices: Any, a: Any, a_shape: Any, b_indices: Any, b: Any, b_shape: Any, threshold: Any) -> Any:
        check_parts(a_indices, a, a_shape, "Input a_")
        check_parts(b_indices, b, b_shape, "Input b_")
        if len(a_shape) != len(b_shape):
            raise invalid_argument(f"Ranks of input tensors must match, but saw ranks: {len(a_shape)} and {len(b_shape)}")
        for i, (m, n) in enumerate(zip(a_shape.tolist(), b_shape.tolist())):
            if m != n:
                raise invalid_argument(f"Input shapes must match: got {m} and {n} for dimension {i}")
        rows, x, y = _union(a_indices, _computed(a, wide), b_indices, _computed(b, wide))
        total = x + y
        if threshold.item() > 0:
            large = total.abs() >= threshold
            rows, total = rows[large], total[large]
        return rows, total.to(a.dtype), a_shape

    return run


def _add_grad(node: Node) -> Kernel:
    def run(dy: Any, a_indices: Any, b_indices: Any, sum_indices: Any) -> Any:
        if a_indices.shape[1] != b_indices.shape[1] or b_indices.shape[1] != sum_indices.shape[1]:
            raise invalid_argument(
                f"The densified operands should have the same ndims: A: {a_indices.shape[1]}, B: {b_indices.shape[1]}, "
                f"sum: {sum_indices.shape[1]}"
            )
        rows, which = groups(torch.cat([sum_indices, a_indices, b_indices]))
        whole = torch.zeros(len(rows), dtype=dy.dtype, device=dy.device)
        n, m = len(sum_indices), len(sum_indices) + len(a_indices)
        whole[which[:n]] = dy
        return whole[which[n:m]], whole[which[m:]]

    return run


def _union_shape(o: Operation) -> Any:
    rank = shapes.with_rank(o.inputs[2].dims, 1)[0]
    return [(None, rank), (None,), (rank,)]


def _add_gradient(o: Operation, *dys: Any) -> Any:
    da, db = apply("SparseAddGrad", dys[1], o.inputs[0], o.inputs[3], o.outputs[0])
    for d, t in ((da, o.inputs[1]), (db, o.inputs[4])):
        d.set_shape(t.get_shape())
    return None, da, None, None, db, None, None


op("SparseAdd", kernel=_add, shape=_union_shape, gradient=_add_gradient, view=True)
op(
    "SparseAddGrad",
    kernel=_add_grad,
    gradient=not_differentiable,
    shape=lambda o: [shapes.with_rank(o.inputs[1].dims, 2)[:1], shapes.with_rank(o.inputs[2].dims, 2)[:1]],
)


@public("sparse_add", "sparse.add")
def sparse_add(a: Any, b: Any, threshold: Any = None, thresh: Any = None) -> Any:
    """The sum of two tensors of which at least one is sparse; sums of sparse ones that are smaller than `threshold` are left out."""
    threshold = deprecated_argument_lookup("threshold", threshold, "thresh", thresh)
    kinds = (SparseTensor, SparseTensorValue)
    if not isinstance(a, kinds) and not isinstance(b, kinds):
        raise TypeError("At least one input should be SparseTensor; do you mean to use tf.add()?")
    if isinstance(a, kinds) and isinstance(b, kinds):
        a, b = as_sparse(a), as_sparse(b)
        kind = a.values.dtype.real_dtype.base_dtype
        threshold = tf.convert_to_tensor(0 if threshold is None else threshold, dtype=kind, name="threshold")
        indices, values, shape = apply("SparseAdd", a.indices, a.values, a.dense_shape, b.indices, b.values, b.dense_shape, threshold)
        a.get_shape().assert_is_compatible_with(b.get_shape())
        static = tf.broadcast_static_shape(a.get_shape(), b.get_shape())
        return SparseTensor(indices, values, static.as_list() if static.is_fully_defined() else shape)
    if isinstance(b, kinds):
        a, b = b, a
    a = as_sparse(a)
    return apply("SparseTensorDenseAdd", a.indices, a.values, a.dense_shape, b)


@internal("ops.sparse_ops.sparse_add_v2")
def _add_of_2(a: Any, b: Any, threshold: Any = 0) -> Any:
    return sparse_add(a, b, threshold)


def _elementwise(choose: Callable[[], Any]) -> Callable[[Any], Kernel]:
    def make(node: Node) -> Kernel:
        function, wide = choose(), _wide(node)

        def run(a_indices: Any, a: Any, a_shape: Any, b_indices: Any, b: Any, b_shape: Any) -> Any:
            _check_pair(a_shape, b_shape)
            rows, x, y = _union(a_indices, _computed(a, wide), b_indices, _computed(b, wide))
            return rows, function(x, y).to(a.dtype)

        return run

    return make


def _elementwise_shape(o: Operation) -> Any:
    rank = shapes.with_rank(o.inputs[2].dims, 1)[0]
    return [(None, rank), (None,)]


op("SparseSparseMaximum", kernel=_elementwise(lambda: torch.maximum), shape=ranked(_elementwise_shape, 2, 1, 1, 2, 1, 1))
op("SparseSparseMinimum", kernel=_elementwise(lambda: torch.minimum), shape=ranked(_elementwise_shape, 2, 1, 1, 2, 1, 1))


def _larger_or_smaller(op_type: str, sp_a: Any, sp_b: Any, name: str | None) -> Any:
    with name_scope(name, op_type, [sp_a.indices, sp_a.values, sp_b.indices, sp_b.values]) as scope:
        indices, values = apply(
            op_type, sp_a.indices, sp_a.values, sp_a.dense_shape, sp_b.indices, sp_b.values, sp_b.dense_shape, name=scope
        )
    return SparseTensor(indices, values, sp_a.dense_shape)


@public("sparse_maximum", "sparse.maximum")
def sparse_maximum(sp_a: Any, sp_b: Any, name: str | None = None) -> Any:
    """The larger element of two sparse tensors wherever either has one; the other counts as zero there."""
    return _larger_or_smaller("SparseSparseMaximum", sp_a, sp_b, name)


@public("sparse_minimum", "sparse.minimum")
def sparse_minimum(sp_a: Any, sp_b: Any, name: str | None = None) -> Any:
    """The smaller element of two sparse tensors wherever either has one; the other counts as zero there."""
    return _larger_or_smaller("SparseSparseMinimum", sp_a, sp_b, name)


def _softmax(node: Node) -> Kernel:
    def run(indices: Any, values: Any, shape: Any) -> Any:
        check_parts(indices, values, shape)
        if len(shape) < 2:
            raise invalid_argument(f"Input should have rank >= 2, but received shape: {' '.join(map(str, shape.tolist()))}")
        rows, which = groups(indices[:, :-1])
        n = len(rows)
        largest = torch.full((n,), -torch.inf, dtype=values.dtype, device=values.device).scatter_reduce_(0, which, values, "amax")
        powers = (values - largest[which]).exp()
        totals = torch.zeros(n, dtype=values.dtype, device=values.device).index_add_(0, which, powers)
        return powers / totals[which]

    return run


def _softmax_gradient(o: Operation, dy: Any) -> Any:
    indices, shape = o.inputs[0], o.inputs[2]
    y = o.outputs[0]
    totals = sparse_reduce_sum(SparseTensor(indices, y * dy, shape), [-1], keepdims=True)
    beside = apply("SparseDenseCwiseAdd", indices, dy, shape, -totals)
    return [None, beside * y, None]


op("SparseSoftmax", kernel=_softmax, shape=ranked(same_as(1), 2, 1, 1), gradient=_softmax_gradient)


@public("sparse_softmax", "sparse.softmax")
def sparse_softmax(sp_input: Any, name: str | None = None) -> Any:
    """Softmax along the last dimension over the elements that are there."""
    with name_scope(name, "SparseSoftmax", [sp_input.indices, sp_input.values]):
        values = apply("SparseSoftmax", sp_input.indices, sp_input.values, sp_input.dense_shape)
        return SparseTensor(sp_input.indices, values, sp_input.dense_shape)


def _axes(given: Any, rank: int) -> list[int]:
    for a in given:
        if not -rank <= a < rank:
            raise invalid_argument(f"Invalid reduction dimension {a}, for input with {rank} dimensions.")
    return sorted({a % rank for a in given})


def _reduce(reduction: str, sparse: bool) -> Callable[[Any], Kernel]:
    def make(node: Node) -> Kernel:
        keep, wide = node.attr("keep_dims"), _wide(node)

        def run(indices: Any, values: Any, shape: Any, reduction_axes: Any) -> Any:
            check_parts(indices, values, shape)
            sizes = shape.tolist()
            reduced = _axes(reduction_axes.reshape(-1).tolist(), len(sizes))
            kept = [i for i in range(len(sizes)) if i not in reduced]
            result = [1 if i in reduced else n for i, n in enumerate(sizes)] if keep else [sizes[i] for i in kept]
            rows, which = groups(indices[:, kept])
            items = _computed(values, wide)
            totals = torch.zeros(len(rows), dtype=items.dtype, device=items.device)
            if reduction == "sum":
                totals.index_add_(0, which, items)
            elif len(items):
                totals.scatter_reduce_(0, which, items, "amax", include_self=False)
            totals = totals.to(values.dtype)
            if sparse:
                if keep:
                    whole = torch.zeros((len(rows), len(sizes)), dtype=torch.int64, device=rows.device)
                    whole[:, kept] = rows
                    rows = whole
                return rows, totals, torch.tensor(result, dtype=torch.int64)
            count = 1
            for n in result:
                count *= n
            dense = torch.zeros(count, dtype=values.dtype, device=values.device)
            as_signed(dense)[positions(rows, [sizes[i] for i in kept])] = as_signed(totals)
            return dense.reshape(result)

        return run

    return make


def _reduce_shape(o: Operation) -> Any:
    sizes, axes = dims_of(o.inputs[2]), known(o.inputs[3])
    keep = o.attr("keep_dims")
    if sizes is None:
        return None
    if axes is None:
        return (None,) * len(sizes) if keep else None
    rank = len(sizes)
    reduced = {int(a) % rank if rank and -rank <= a < rank else int(a) for a in axes.reshape(-1)}
    if keep:
        return tuple(1 if i in reduced else n for i, n in enumerate(sizes))
    if any(not 0 <= a < rank for a in reduced):
        return None
    return tuple(n for i, n in enumerate(sizes) if i not in reduced)


def _reduce_sum_gradient(o: Operation, dy: Any) -> Any:
    indices, _, shape, axes = o.inputs
    kept = reduced_shape(shape, axes)
    # Dimensions that were reduced have the one index 0.
    places = indices // (shape // tf.cast(kept, tf.int64))
    return None, tf.gather_nd(tf.reshape(dy, kept), places), None, None


op("SparseReduceSum", kernel=_reduce("sum", sparse=False), shape=_reduce_shape, gradient=_reduce_sum_gradient)
op("SparseReduceMax", kernel=_reduce("max", sparse=False), shape=_reduce_shape)
for _name in ("Sum", "Max"):
    op(f"SparseReduce{_name}Sparse", kernel=_reduce(_name.lower(), sparse=True), shape=lambda o: [(None, None), (None,), (None,)])


def _all_axes(sp_input: SparseTensor, axis: Any) -> Any:
    if axis is not None:
        return axis
    rank = sp_input.dense_shape.dims[0] if sp_input.dense_shape.dims is not None else None
    return tf.constant(list(range(rank)), tf.int32) if rank is not None else tf.range(tf.rank(sp_input))


def _reduced(op_type: str, sp_input: Any, axis: Any, keepdims: bool, reduction_axes: Any, keep_dims: bool) -> Any:
    keepdims = deprecated_argument_lookup("keepdims", keepdims, "keep_dims", keep_dims)
    axis = deprecated_argument_lookup("axis", axis, "reduction_axes", reduction_axes)
    return apply(op_type, sp_input.indices, sp_input.values, sp_input.dense_shape, _all_axes(sp_input, axis), keep_dims=bool(keepdims))


@public("sparse_reduce_sum", "sparse.reduce_sum")
def sparse_reduce_sum(sp_input: Any, axis: Any = None, keepdims: Any = None, reduction_axes: Any = None, keep_dims: Any = None) -> Any:
    """Sums of the elements of a sparse tensor over dimensions, as a dense tensor."""
    return _reduced("SparseReduceSum", sp_input, axis, keepdims, reduction_axes, keep_dims)


@public("sparse_reduce_max", "sparse.reduce_max")
def sparse_reduce_max(sp_input: Any, axis: Any = None, keepdims: Any = None, reduction_axes: Any = None, keep_dims: Any = None) -> Any:
    """The largest elements of a sparse tensor over dimensions, as a dense tensor with zeros where there are none."""
    return _reduced("SparseReduceMax", sp_input, axis, keepdims, reduction_axes, keep_dims)


@public("sparse_reduce_sum_sparse", "sparse.reduce_sum_sparse")
def sparse_reduce_sum_sparse(
    sp_input: Any, axis: Any = None, keepdims: Any = None, reduction_axes: Any = None, keep_dims: Any = None
) -> Any:
    """Sums of the elements of a sparse tensor over dimensions, as a sparse tensor."""
    return SparseTensor(*_reduced("SparseReduceSumSparse", sp_input, axis, keepdims, reduction_axes, keep_dims))


@public("sparse_reduce_max_sparse", "sparse.reduce_max_sparse")
def sparse_reduce_max_sparse(
    sp_input: Any, axis: Any = None, keepdims: Any = None, reduction_axes: Any = None, keep_dims: Any = None
) -> Any:
    """The largest elements of a sparse tensor over dimensions, as a sparse tensor."""
    return SparseTensor(*_reduced("SparseReduceMaxSparse", sp_input, axis, keepdims, reduction_axes, keep_dims))


@internal("ops.sparse_ops.sparse_reduce_sum_v2")
def _reduce_sum_of_2(
    sp_input: Any, axis: Any = None, keepdims: bool | None = None, output_is_sparse: bool = False, name: str | None = None
) -> Any:
    return (sparse_reduce_sum_sparse if output_is_sparse else sparse_reduce_sum)(sp_input, axis, keepdims)


@internal("ops.sparse_ops.sparse_reduce_max_v2")
def _reduce_max_of_2(
    sp_input: Any, axis: Any = None, keepdims: bool | None = None, output_is_sparse: bool = False, name: str | None = None
) -> Any:
    return (sparse_reduce_max_sparse if output_is_sparse else sparse_reduce_max)(sp_input, axis, keepdims)
