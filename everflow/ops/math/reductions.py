"""Reductions over axes: sums, means, products, extremes, norms."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

import everflow as tf
from everflow.api import internal, public
from everflow.errors import invalid_argument
from everflow.graph import dtypes
from everflow.graph.constants import known
from everflow.graph.convert import convert_to_tensor
from everflow.graph.operation import Operation
from everflow.graph.scopes import name_scope
from everflow.graph.stacks import in_eager_mode
from everflow.lazy import torch
from everflow.ops.core import host_sizes, symbolic
from everflow.ops.core.families import WIDER, is_sparse
from everflow.ops.core.node import Node
from everflow.ops.core.registry import apply, not_differentiable, op
from everflow.ops.math import reduction_gradients as gradients
from everflow.values.tensors import torch_dtype

Compute = Callable[[Any, Any, bool], Any]


def axes_of(rank: int, indices: list[int]) -> tuple[int, ...]:
    """Reduction indices as sorted axes from 0; an error for those that are not there."""
    found = set()
    for i in indices:
        if not -rank <= i < rank:
            raise invalid_argument(f"Invalid reduction dimension ({i} for input with {rank} dimension(s)")
        found.add(i % rank)
    return tuple(sorted(found))


def _indices(value: Any) -> list[int]:
    return value.reshape(-1).tolist()


def _reduction_shape(o: Operation) -> Any:
    dims = o.inputs[0].dims
    keep = o.attr("keep_dims")
    indices = known(o.inputs[1])
    if o.inputs[1].dims is not None and len(o.inputs[1].dims) > 1:
        raise ValueError(f"Shape must be at most rank 1 but is rank {len(o.inputs[1].dims)}")
    if dims is None:
        return None
    if indices is None:
        return (None,) * len(dims) if keep else None
    axes = set()
    for i in indices.reshape(-1).tolist():
        if not -len(dims) <= i < len(dims):
            raise ValueError(f"Invalid reduction dimension {i} for input with {len(dims)} dimensions.")
        axes.add(i % len(dims))
    if keep:
        return tuple(1 if i in axes else d for i, d in enumerate(dims))
    return tuple(d for i, d in enumerate(dims) if i not in axes)


def _reduction(make: Callable[[Any], Compute]) -> Callable[[Any], Callable[..., Any]]:
    """A kernel from a function of (x, axes, keepdims), where axes is a tuple of at least one axis."""

    def factory(node: Node) -> Callable[..., Any]:
        compute = _widened(node, make(node))
        keep = node.attr("keep_dims")
        indices = node.constant(1)
        dims = node.inputs[0].dims
        if indices is not None and dims is not None:
            axes = axes_of(len(dims), _indices(indices))
            return (lambda x, _: compute(x, axes, keep)) if axes else lambda x, _: x.clone()

        def run(x: Any, indices: Any) -> Any:
            axes = axes_of(x.ndim, _indices(indices))
            return compute(x, axes, keep) if axes else x.clone()

        return run

    return factory


def _widened(node: Node, compute: Compute) -> Compute:
    wide = WIDER.get(node.inputs[0].dtype.base_dtype.name)
    if wide is None:
        return compute
    wide_type, result = getattr(torch, wide), torch_dtype(node.outputs[0].dtype)
    return lambda x, axes, keep: compute(x.to(wide_type), axes, keep).to(result)


def _sum(node: Node) -> Compute:
    if node.inputs[0].dtype.is_integer or node.inputs[0].dtype.is_quantized:
        return lambda x, axes, keep: torch.sum(x, axes, keep, dtype=x.dtype)
    return torch.sum


def _mean(node: Node) -> Compute:
    if not (node.inputs[0].dtype.is_integer or node.inputs[0].dtype.is_quantized):
        return torch.mean

    def run(x: Any, axes: Any, keep: bool) -> Any:
        count = math.prod(x.shape[a] for a in axes)
        total = torch.sum(x, axes, keep, dtype=x.dtype)
        return torch.div(total, max(count, 1), rounding_mode="trunc").to(x.dtype)

    return run


def _flattened(compute: Callable[..., Any]) -> Compute:
    """A reduction over several axes from one that takes a single axis."""

    def run(x: Any, axes: Any, keep: bool) -> Any:
        if len(axes) == 1:
            return compute(x, axes[0], keep)
        kept = [i for i in range(x.ndim) if i not in axes]
        sizes = [x.shape[i] for i in kept]
        y = compute(x.permute(*kept, *axes).reshape(*sizes, math.prod(x.shape[a] for a in axes)), -1, False)
        return y.reshape([1 if i in axes else n for i, n in enumerate(x.shape)]) if keep else y

    return run


def _extreme(name: str, of_nothing: str) -> Callable[[Any], Compute]:
    """The largest or smallest element; the type's own limit where there is no element."""

    def make(node: Node) -> Compute:
        compute = getattr(torch, name)

        def run(x: Any, axes: Any, keep: bool) -> Any:
            if x.numel() or all(x.shape[a] for a in axes):
                return compute(x, axes, keep)
            shape = [1 if i in axes else n for i, n in enumerate(x.shape) if keep or i not in axes]
            limits = torch.finfo(x.dtype) if x.is_floating_point() else torch.iinfo(x.dtype)
            infinite = math.inf if of_nothing == "max" else -math.inf
            return torch.full(shape, infinite if x.is_floating_point() else getattr(limits, of_nothing), dtype=x.dtype, device=x.device)

        return run

    return make


def _euclidean_norm(node: Node) -> Compute:
    kind = node.inputs[0].dtype

    def run(x: Any, axes: Any, keep: bool) -> Any:
        squares = torch.sum(x * x.conj() if kind.is_complex else x * x, axes, keep, dtype=x.dtype)
        return torch.sqrt(squares.to(torch.float64)).to(x.dtype) if kind.is_integer else torch.sqrt(squares)

    return run


op(
    "Sum",
    kernel=_reduction(_sum),
    shape=_reduction_shape,
    gradient=lambda o, dy: gradients.of_sum(o, dy),
    kind="sum over axes",
    sizes=(1,),
    symbolic=symbolic.reduced,
)
op(
    "Mean",
    kernel=_reduction(_mean),
    shape=_reduction_shape,
    gradient=lambda o, dy: gradients.of_mean(o, dy),
    sizes=(1,),
    symbolic=symbolic.reduced,
)
op(
    "Prod",
    kernel=_reduction(lambda n: _flattened(lambda x, axis, keep: torch.prod(x, axis, keep, dtype=x.dtype))),
    shape=_reduction_shape,
    gradient=lambda o, dy: gradients.of_product(o, dy),
    sizes=(1,),
    host=host_sizes.product,
)
op(
    "Max",
    kernel=_reduction(_extreme("amax", "min")),
    shape=_reduction_shape,
    gradient=lambda o, dy: gradients.of_extreme(o, dy),
    sizes=(1,),
    symbolic=symbolic.reduced,
)
op(
    "Min",
    kernel=_reduction(_extreme("amin", "max")),
    shape=_reduction_shape,
    gradient=lambda o, dy: gradients.of_extreme(o, dy),
    sizes=(1,),
    symbolic=symbolic.reduced,
)
op("All", kernel=_reduction(lambda n: torch.all), shape=_reduction_shape, gradient=not_differentiable, sizes=(1,))
op("Any", kernel=_reduction(lambda n: torch.any), shape=_reduction_shape, gradient=not_differentiable, sizes=(1,))
op("EuclideanNorm", kernel=_reduction(_euclidean_norm), shape=_reduction_shape, gradient=not_differentiable)


@internal("ops.math_ops._ReductionDims")
def reduction_axes(x: Any, axis: Any, reduction_indices: Any = None) -> Any:
    """The axes to reduce: those given, or all of them."""
    if reduction_indices is not None:
        if axis is not None:
            raise ValueError("Can't specify both axis' and 'reduction_indices'.")
        axis = reduction_indices
    if axis is not None:
        return axis
    dims = getattr(x, "dims", None)
    if dims is None and is_sparse(x):
        dims = x.get_shape().as_dims()
    if dims is None:
        return tf.range(0, tf.rank(x))
    axes = np.arange(len(dims), dtype=np.int32)
    return axes if in_eager_mode() else tf.constant(axes)


def _one_of(new_name: str, new: Any, old_name: str, old: Any) -> Any:
    """The value of an argument that may come under its old name."""
    if old is None:
        return new
    if new is not None:
        raise ValueError(f"Cannot specify both '{old_name}' and '{new_name}'")
    return old


def _to_scalar(keepdims: bool, axis: Any, output: Any) -> Any:
    """Reducing all axes without keeping them gives a single number, even if the rank was not known."""
    if output.dims is None and not keepdims and axis is None:
        output.set_shape(())
    return output


def _reducer(op_type: str, description: str, *names: str) -> Callable[..., Any]:
    def reduce(
        input_tensor: Any,
        axis: Any = None,
        keepdims: bool | None = None,
        name: str | None = None,
        reduction_indices: Any = None,
        keep_dims: bool | None = None,
    ) -> Any:
        axis = _one_of("axis", axis, "reduction_indices", reduction_indices)
        keepdims = bool(_one_of("keepdims", keepdims, "keep_dims", keep_dims))
        axes = reduction_axes(input_tensor, axis)
        return _to_scalar(keepdims, axis, apply(op_type, input_tensor, axes, keep_dims=keepdims, name=name))

    reduce.__name__ = reduce.__qualname__ = names[0].rpartition(".")[2]
    reduce.__doc__ = f"{description} over the given axes, or over all of them."
    return public(*names, owner=__name__, ragged=f"math.{names[0]}")(reduce)


reduce_sum = _reducer("Sum", "The sum", "reduce_sum", "math.reduce_sum")
reduce_mean = _reducer("Mean", "The mean", "reduce_mean", "math.reduce_mean")
reduce_prod = _reducer("Prod", "The product", "reduce_prod", "math.reduce_prod")
reduce_max = _reducer("Max", "The largest element", "reduce_max", "math.reduce_max")
reduce_min = _reducer("Min", "The smallest element", "reduce_min", "math.reduce_min")
reduce_all = _reducer("All", "Whether all are true", "reduce_all", "math.reduce_all")
reduce_any = _reducer("Any", "Whether any is true", "reduce_any", "math.reduce_any")


@public("reduce_logsumexp", "math.reduce_logsumexp")
def reduce_logsumexp(
    input_tensor: Any,
    axis: Any = None,
    keepdims: bool | None = None,
    name: str | None = None,
    reduction_indices: Any = None,
    keep_dims: bool | None = None,
) -> Any:
    """log(sum(exp(x))) without overflow."""
    axis = _one_of("axis", axis, "reduction_indices", reduction_indices)
    keepdims = bool(_one_of("keepdims", keepdims, "keep_dims", keep_dims))
    with name_scope(name, "ReduceLogSumExp", [input_tensor]):
        largest = reduce_max(input_tensor, axis, keepdims=True)
        shift = tf.stop_gradient(tf.where(tf.is_finite(largest), largest, tf.zeros_like(largest)))
        result = tf.log(reduce_sum(tf.exp(tf.subtract(input_tensor, shift)), axis, keepdims=keepdims))
        if not keepdims:
            shift = tf.reshape(shift, tf.shape(result))
        return _to_scalar(keepdims, axis, tf.add(result, shift))


@public("math.reduce_euclidean_norm")
def reduce_euclidean_norm(input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None) -> Any:
    """The square root of the sum of squares."""
    keepdims = bool(keepdims)
    axes = reduction_axes(input_tensor, axis)
    return _to_scalar(keepdims, axis, apply("EuclideanNorm", input_tensor, axes, keep_dims=keepdims, name=name))


@public("math.reduce_variance")
def reduce_variance(input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None) -> Any:
    """The mean squared distance from the mean."""
    with name_scope(name or "reduce_variance"):
        means = reduce_mean(input_tensor, axis=axis, keepdims=True)
        return reduce_mean(tf.square(input_tensor - means), axis=axis, keepdims=keepdims)


@public("math.reduce_std")
def reduce_std(input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None) -> Any:
    """The standard deviation."""
    with name_scope(name or "reduce_std"):
        return tf.sqrt(reduce_variance(input_tensor, axis=axis, keepdims=keepdims))


@public("count_nonzero", "math.count_nonzero")
def count_nonzero(
    input_tensor: Any = None,
    axis: Any = None,
    keepdims: bool | None = None,
    dtype: dtypes.DTypeLike = dtypes.int64,
    name: str | None = None,
    reduction_indices: Any = None,
    keep_dims: bool | None = None,
    input: Any = None,
) -> Any:
    """How many elements are not zero (for strings: not empty)."""
    keepdims = bool(_one_of("keepdims", keepdims, "keep_dims", keep_dims))
    input_tensor = _one_of("input", input, "input_tensor", input_tensor)
    axis = _one_of("axis", axis, "reduction_indices", reduction_indices)
    with name_scope(name, "count_nonzero", [input_tensor]):
        x = convert_to_tensor(input_tensor, name="input")
        zero = tf.zeros([], dtype=x.dtype.base_dtype)
        counted = reduce_sum(tf.cast(tf.not_equal(x, zero), dtypes.int64), axis=axis, keepdims=keepdims)
        return tf.cast(counted, dtype=dtype)
