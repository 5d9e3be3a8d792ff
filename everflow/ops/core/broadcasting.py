"""Broadcasting: elementwise kernels that say which shapes don't fit, and gradients summed back to the inputs' shapes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import everflow as tf
from everflow.errors import invalid_argument
from everflow.graph import shapes
from everflow.graph.operation import Operation
from everflow.graph.stacks import in_eager_mode
from everflow.lazy import torch
from everflow.ops.core import symbolic
from everflow.ops.core.node import Node
from everflow.ops.core.registry import apply, fused_op, not_differentiable, op
from everflow.ops.core.shape_rules import ranked
from everflow.values.sizes import Sizes

Sum = Callable[[Any], Any]


def checked(node: Node, compute: Callable[..., Any]) -> Callable[..., Any]:
    """An elementwise kernel with TensorFlow's error for shapes that don't broadcast; bare where the static shapes say they do."""
    if _surely_broadcasts(*(v.dims for v in node.inputs)):
        return compute

    def run(x: Any, y: Any) -> Any:
        try:
            return compute(x, y)
        except RuntimeError as error:
            raise (incompatible(x, y) or error) from None

    return run


def _surely_broadcasts(a: Any, b: Any) -> bool:
    if not (shapes.is_fully_defined(a) and shapes.is_fully_defined(b)):
        return False
    try:
        shapes.broadcast(a, b)
    except ValueError:
        return False
    return True


def incompatible(x: Any, y: Any) -> Exception | None:
    """The error for two values that don't broadcast; None if they do."""
    try:
        np.broadcast_shapes(tuple(x.shape), tuple(y.shape))
    except ValueError:
        return invalid_argument(f"Incompatible shapes: {shapes.describe(tuple(x.shape))} vs. {shapes.describe(tuple(y.shape))}")
    return None


def sums_to_inputs(x: Any, y: Any) -> tuple[Sum, Sum]:
    """For two tensors that an op broadcasts: functions that sum a gradient of the output to the shape of each."""
    return sums_along(tf.shape(x), tf.shape(y))


def sums_along(shape_x: Any, shape_y: Any) -> tuple[Sum, Sum]:
    """The same from the shapes of the two as tensors."""
    axes_x, axes_y = apply("BroadcastGradientArgs", shape_x, shape_y)
    return (lambda g: tf.reshape(tf.reduce_sum(g, axes_x), shape_x)), (lambda g: tf.reshape(tf.reduce_sum(g, axes_y), shape_y))


def needed_sums_to_inputs(x: Any, y: Any, dz: Any) -> tuple[Sum, Sum]:
    """The same, leaving out what the static shapes show to be needless."""
    a, b = x.dims, y.dims
    if not (shapes.is_fully_defined(a) and shapes.is_fully_defined(b)):
        return sums_along(apply("Shape", x), apply("Shape", y))
    if not in_eager_mode():
        apply("BroadcastGradientArgs", np.array(a, np.int32), np.array(b, np.int32))
    axes_x, axes_y = gradient_axes(a, b)
    return _static_sum(a, dz.dims, axes_x), _static_sum(b, dz.dims, axes_y)


def _static_sum(dims: shapes.Dims, gradient_dims: Any, axes: list[int]) -> Sum:
    if dims == gradient_dims:
        return lambda g: g
    return lambda g: tf.reshape(apply("Sum", g, np.array(axes, np.int32), keep_dims=False), np.array(dims, np.int32))


def gradient_axes(a: Any, b: Any) -> tuple[list[int], list[int]]:
    """The axes along which each of two shapes was broadcast to reach their common shape."""
    if a == b:
        return [], []
    rank = max(len(a), len(b))
    a, b = [1] * (rank - len(a)) + list(a), [1] * (rank - len(b)) + list(b)
    of_a, of_b = [], []
    for i, (m, n) in enumerate(zip(a, b)):
        if m == n:
            if m == 1:
                of_a.append(i)
                of_b.append(i)
        elif m == 1:
            of_a.append(i)
        elif n == 1:
            of_b.append(i)
        else:
            raise invalid_argument(f"Incompatible shapes: {shapes.describe(tuple(a))} vs. {shapes.describe(tuple(b))}")
    return of_a, of_b


def _broadcast_gradient_args(node: Node) -> Any:
    dtype = torch.int64 if node.inputs[0].dtype.base_dtype.name == "int64" else torch.int32

    def run(a: Any, b: Any) -> Any:
        of_a, of_b = gradient_axes(a.tolist(), b.tolist())
        return torch.tensor(of_a, dtype=dtype), torch.tensor(of_b, dtype=dtype)

    return run


def _axes_of_sizes(node: Node) -> Any:
    def run(a: Any, b: Any) -> Any:
        of_a, of_b = gradient_axes(list(a), list(b))
        return Sizes(of_a), Sizes(of_b)

    return run


op(
    "BroadcastGradientArgs",
    kernel=_broadcast_gradient_args,
    shape=ranked(lambda o: [(None,), (None,)], 1, 1),
    gradient=not_differentiable,
    kind="axes of broadcasting",
    host=_axes_of_sizes,
)


def _sum_to_shape(node: Node) -> Callable[..., Any]:
    """A gradient summed over the axes along which the value of this shape was broadcast: in most runs, none."""
    known = node.constant(1)
    if known is not None:
        dims = tuple(known.tolist())
        return lambda gradient, _shape: gradient if gradient.shape == dims else gradient.sum_to_size(dims)

    def run(gradient: Any, shape: Any) -> Any:
        dims = shape if isinstance(shape, tuple) else tuple(shape.tolist())
        return gradient if gradient.shape == dims else gradient.sum_to_size(dims)

    return run


fused_op("_SumToShape", kernel=_sum_to_shape, view=True, sizes=(1,))


def broadcast_sizes(a: list[int], b: list[int]) -> tuple[int, ...]:
    """The shape that two shapes are broadcast to."""
    try:
        return np.broadcast_shapes(tuple(a), tuple(b))
    except ValueError:
        raise invalid_argument(f"Incompatible shapes: {shapes.describe(tuple(a))} vs. {shapes.describe(tuple(b))}") from None


def _broadcast_args(node: Node) -> Any:
    def run(a: Any, b: Any) -> Any:
        for i, sizes in enumerate((a, b)):
            if sizes.ndim != 1:
                raise invalid_argument(f"In[{i}] must be a vector.{shapes.describe(sizes.shape)}")
        return torch.tensor(broadcast_sizes(a.tolist(), b.tolist()), dtype=a.dtype)

    return run


def _broadcast_args_shape(o: Operation) -> Any:
    a, b = (t.dims for t in o.inputs)
    return (max(a[0], b[0]),) if a and b and a[0] is not None and b[0] is not None else (None,)


op(
    "BroadcastArgs",
    kernel=_broadcast_args,
    shape=ranked(_broadcast_args_shape, 1, 1),
    holds=symbolic.holds_broadcast,
    host=lambda node: lambda a, b: Sizes(a) if a == b else Sizes(broadcast_sizes(a, b)),
)
