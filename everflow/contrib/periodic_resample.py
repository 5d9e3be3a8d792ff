"""tf.contrib.periodic_resample: a tensor's channels dealt out to finer grids, periodically."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from everflow.api import internal, public
from everflow.errors import invalid_argument
from everflow.graph.operation import Operation
from everflow.lazy import torch
from everflow.ops.core.node import Node
from everflow.ops.core.registry import apply, op


def _plan(sizes: tuple[int, ...], desired: Any) -> tuple[tuple[int, ...], int, list[int]]:
    """The shape of the result, the axis whose size follows from the others, and how much finer each other axis becomes."""
    wanted = [-1 if size is None else size for size in desired]
    if len(sizes) != len(wanted):
        raise invalid_argument(
            f"periodic_resample expects the rank of the input tensor, {len(sizes)}, to be the same as the length of the desired shape, "
            f"{len(wanted)}."
        )
    free = [i for i, size in enumerate(wanted) if size < 1]
    if len(free) != 1:
        raise invalid_argument("periodic_resample expects exactly one non-positive entry in the desired shape" if free else
                               "periodic_resample requires at least one adjustable dimension.")  # fmt: skip
    for i, (have, want) in enumerate(zip(sizes, wanted)):
        if i != free[0] and want < have:
            raise invalid_argument(
                "periodic_resample expects the size of non-adjustable dimensions be at least as large as size of input tensor. "
                f"Dimension {i} input tensor has size {have}, desired shape has size {want}."
            )
    factors = [1 if i == free[0] else math.ceil(want / have) for i, (have, want) in enumerate(zip(sizes, wanted))]
    wanted[free[0]] = sizes[free[0]] // math.prod(factors)
    return tuple(wanted), free[0], factors


def _places(sizes: tuple[int, ...], desired: Any) -> tuple[tuple[int, ...], Any]:
    """The shape of the result, and where in the input each of its elements lies."""
    shape, free, factors = _plan(sizes, desired)
    indices = torch.meshgrid(*(torch.arange(size) for size in shape), indexing="ij")
    channel, step = indices[free], shape[free]
    for i, factor in enumerate(factors):
        if i != free:
            channel = channel + step * (indices[i] % factor)
            step *= factor
    place = torch.zeros_like(channel)
    for i, size in enumerate(sizes):
        place = place * size + (channel if i == free else indices[i] // factors[i])
    return shape, place.reshape(-1)


def _resample(node: Node) -> Callable[..., Any]:
    desired = node.attr("shape")

    def run(values: Any) -> Any:
        shape, place = _places(tuple(values.shape), desired)
        return values.reshape(-1)[place].reshape(shape)

    return run


def _resample_gradient(node: Node) -> Callable[..., Any]:
    original, desired = node.attr("original_shape"), node.attr("desired_shape")

    def run(dy: Any) -> Any:
        _, place = _places(tuple(original), desired)
        return dy.new_zeros(math.prod(original)).index_add(0, place, dy.reshape(-1)).reshape(tuple(original))

    return run


def _shape(o: Operation) -> Any:
    dims = o.inputs[0].dims
    if dims is None or None in dims:
        return None if dims is None else tuple(size if size and size > 0 else None for size in o.attr("shape"))
    return _plan(tuple(size for size in dims if size is not None), o.attr("shape"))[0]


op(
    "PeriodicResample",
    kernel=_resample,
    shape=_shape,
    gradient=lambda o, dy: apply("PeriodicResampleOpGrad", dy, original_shape=o.inputs[0].shape, desired_shape=o.get_attr("shape")),
)
op("PeriodicResampleOpGrad", kernel=_resample_gradient, shape=lambda o: tuple(o.attr("original_shape")))


@public("contrib.periodic_resample.periodic_resample")
def periodic_resample(values: Any, shape: Any, name: str | None = None) -> Any:
    """A tensor of a larger shape, whose None is as large as the elements allow: `[2, 2, 4]` to `[4, 4, None]` shuffles pixels."""
    return apply("PeriodicResample", values, shape=shape, name=name)


@internal("contrib.periodic_resample.python.ops.gen_periodic_resample_op.periodic_resample_op_grad")
def periodic_resample_op_grad(grad: Any, original_shape: Any, desired_shape: Any, name: str | None = None) -> Any:
    """The gradient of periodic_resample."""
    return apply("PeriodicResampleOpGrad", grad, original_shape=original_shape, desired_shape=desired_shape, name=name)
