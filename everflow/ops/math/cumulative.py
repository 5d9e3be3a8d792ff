"""Running totals along an axis, and positions of extremes."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import everflow as tf
from everflow import _native
from everflow.api import public
from everflow.errors import invalid_argument, unimplemented
from everflow.graph import dtypes, shapes
from everflow.graph.constants import known
from everflow.graph.convert import convert_to_tensor
from everflow.graph.operation import Operation
from everflow.graph.scopes import name_scope
from everflow.lazy import torch
from everflow.ops.core import symbolic
from everflow.ops.core.families import WIDER
from everflow.ops.core.node import Node
from everflow.ops.core.registry import apply, not_differentiable, op
from everflow.ops.core.shape_rules import same_as_input
from everflow.values.tensors import torch_dtype


def _axis(x: Any, axis: Any) -> int:
    if axis.ndim:
        raise invalid_argument(f"ScanOp: axis must be a scalar, not {shapes.describe(tuple(axis.shape))}")
    found = int(axis)
    if not -x.ndim <= found < x.ndim:
        raise invalid_argument(f"ScanOp: Expected scan axis in the range [{-x.ndim}, {x.ndim}), but got {found}")
    return found


def _scan(compute: Callable[..., Any], start: float | None) -> Callable[[Any], Callable[..., Any]]:
    """A running total; `exclusive` leaves out each element's own, `reverse` runs from the end. No start stands for the type's lowest."""

    def make(node: Node) -> Callable[..., Any]:
        exclusive, reverse = node.attr("exclusive"), node.attr("reverse")
        place, dims = node.constant(1), node.inputs[0].dims
        wide = WIDER.get(node.inputs[0].dtype.base_dtype.name)

        plain = not exclusive and not reverse and node.inputs[0].dtype.is_floating
        if plain and place is not None and place.ndim == 0 and dims is not None:
            fixed = int(place)
            if -len(dims) <= fixed < len(dims):
                return lambda x, _: compute(x, fixed)

        def run(x: Any, axis: Any) -> Any:
            axis = _axis(x, axis)
            kind = x.dtype
            if wide is not None:
                x = x.to(getattr(torch, wide))
            if reverse:
                x = x.flip(axis)
            if exclusive and x.shape[axis]:
                first = torch.full_like(x.narrow(axis, 0, 1), torch.finfo(kind).min if start is None else start)
                x = torch.cat([first, x.narrow(axis, 0, x.shape[axis] - 1)], axis)
            y = compute(x, axis)
            return (y.flip(axis) if reverse else y).to(kind)

        return run

    return make


def _cumsum_gradient(o: Operation, dy: Any) -> Any:
    axis, exclusive, reverse = o.inputs[1], o.attr("exclusive"), o.attr("reverse")
    return cumsum(dy, axis, exclusive=exclusive, reverse=not reverse), None


def _cumprod_gradient(o: Operation, dy: Any) -> Any:
    x, axis = o.inputs
    exclusive, reverse = o.attr("exclusive"), o.attr("reverse")
    products = cumprod(x, axis, exclusive=exclusive, reverse=reverse)
    return cumsum(products * dy, axis, exclusive=exclusive, reverse=not reverse) / x, None


def _cumulative_logsumexp_gradient(o: Operation, dy: Any) -> Any:
    """Computed with the logarithms of the gradient's positive and negative parts."""
    x, axis = o.inputs
    y = o.outputs[0]
    exclusive, reverse = o.attr("exclusive"), o.attr("reverse")
    lowest = dy.dtype.min
    positive = tf.where_v2(tf.greater(dy, 0), tf.log(dy), lowest)
    negative = tf.where_v2(tf.less(dy, 0), tf.log(-dy), lowest)

    def part(logs: dict[str, Any] | None) -> Any:
        return tf.exp(cumulative_logsumexp(logs - y, axis, exclusive=exclusive, reverse=not reverse) + x)

    of_positive = part(positive)
    return of_positive - part(negative), None


op("Cumsum", kernel=_scan(lambda x, axis: torch.cumsum(x, axis), 0), shape=same_as_input, gradient=_cumsum_gradient)
op("Cumprod", kernel=_scan(lambda x, axis: torch.cumprod(x, axis), 1), shape=same_as_input, gradient=_cumprod_gradient)
op(
    "CumulativeLogsumexp",
    kernel=_scan(lambda x, axis: torch.logcumsumexp(x, axis), None),
    shape=same_as_input,
    gradient=_cumulative_logsumexp_gradient,
)


def _scanner(op_type: str, description: str, *names: str) -> Callable[..., Any]:
    def scan(x: Any, axis: Any = 0, exclusive: bool = False, reverse: bool = False, name: str | None = None) -> Any:
        with name_scope(name, op_type, [x]) as scope:
            x = convert_to_tensor(x, name="x")
            return apply(op_type, x, axis, exclusive=exclusive, reverse=reverse, name=scope)

    scan.__name__ = scan.__qualname__ = names[0].rpartition(".")[2]
    scan.__doc__ = f"{description} along an axis."
    return public(*names, owner=__name__)(scan)


cumsum = _scanner("Cumsum", "The running sum", "cumsum", "math.cumsum")
cumprod = _scanner("Cumprod", "The running product", "cumprod", "math.cumprod")
cumulative_logsumexp = _scanner("CumulativeLogsumexp", "The logarithm of the running sum of exponentials", "math.cumulative_logsumexp")


def _arg_shape(o: Operation) -> Any:
    dims = o.inputs[0].dims
    if o.inputs[1].dims:
        raise ValueError(f"Shape must be rank 0 but is rank {len(o.inputs[1].dims)}")
    axis = known(o.inputs[1])
    if dims is None:
        return None
    if len(dims) <= 1:
        return ()
    if axis is None:
        return (None,) * (len(dims) - 1)
    place = int(axis)
    if not -len(dims) <= place < len(dims):
        raise ValueError(
            f"Dimension ({place}) must be in the range [{-len(dims)}, {len(dims)}), where {len(dims)} is the number of "
            "dimensions in the input."
        )
    place %= len(dims)
    return dims[:place] + dims[place + 1 :]


# Rows of so many numbers in all are searched one number at a time: looking for NaN with torch takes longer.
FEW = 1 << 12


def _past_nan(which: str) -> Callable[..., Any]:
    """Where the largest or smallest number is. Torch takes NaN for it, TensorFlow passes NaN over: then it is looked for again."""
    find, bound = getattr(torch, which), -math.inf if which == "argmax" else math.inf
    smallest = which == "argmin"

    def run(x: Any, axis: int) -> Any:
        if x.dtype is torch.float32 and axis in (-1, x.ndim - 1) and x.is_cpu and x.is_contiguous() and 0 < x.numel() <= FEW:
            places = torch.empty(x.shape[:-1], dtype=torch.int64)
            _native.places_of_most(x.data_ptr(), places.numel(), x.shape[-1], smallest, places.data_ptr())
            return places
        places = find(x, axis)
        found = x.gather(axis, places.unsqueeze(axis)) if x.ndim else x
        return find(x.masked_fill(x.isnan(), bound), axis) if bool(found.isnan().any()) else places

    return run


def _arg(which: str) -> Callable[[Any], Callable[..., Any]]:
    def make(node: Node) -> Callable[..., Any]:
        find = _past_nan(which) if node.inputs[0].dtype.is_floating else getattr(torch, which)
        kind = torch_dtype(node.attr("output_type"))
        wide = WIDER.get(node.inputs[0].dtype.base_dtype.name)
        if node.inputs[0].dtype.is_complex:
            raise unimplemented(f"{node.type} of complex numbers is not supported")

        place, dims = node.constant(1), node.inputs[0].dims
        if place is not None and place.ndim == 0 and dims is not None and wide is None:
            fixed = int(place)
            if -len(dims) <= fixed < len(dims) and dims[fixed]:
                return lambda x, _: find(x, fixed).to(kind)

        def run(x: Any, axis: Any) -> Any:
            if axis.ndim:
                raise invalid_argument(f"dim must be a scalar, but received tensor of shape: {shapes.describe(tuple(axis.shape))}")
            axis = int(axis)
            if not -x.ndim <= axis < x.ndim:
                raise invalid_argument(f"Expected dimension in the range [{-x.ndim}, {x.ndim}), but got {axis}")
            if x.shape[axis] == 0:
                raise invalid_argument(f"Reduction axis {axis} is empty in shape [{','.join(map(str, x.shape))}]")
            if wide is not None:
                x = x.to(getattr(torch, wide))
            return find(x, axis).to(kind)

        return run

    return make


op("ArgMax", kernel=_arg("argmax"), shape=_arg_shape, gradient=not_differentiable, symbolic=symbolic.without_axis)
op("ArgMin", kernel=_arg("argmin"), shape=_arg_shape, gradient=not_differentiable, symbolic=symbolic.without_axis)


def _finder(op_type: str, name_now: str, name_before: str, which: str) -> None:
    def find(input: Any, axis: Any = None, name: str | None = None, dimension: Any = None, output_type: Any = dtypes.int64) -> Any:
        if dimension is not None:
            if axis is not None:
                raise ValueError("Cannot specify both 'dimension' and 'axis'")
            axis = dimension
        return apply(op_type, input, 0 if axis is None else axis, output_type=output_type, name=name)

    def find_before(input: Any, dimension: Any, output_type: Any = dtypes.int64, name: str | None = None) -> Any:
        return apply(op_type, input, dimension, output_type=output_type, name=name)

    for function, public_name in ((find, name_now), (find_before, name_before)):
        function.__name__ = function.__qualname__ = public_name
        function.__doc__ = f"The position of the {which} element along an axis; of the first if there are several."
    public(name_now, f"math.{name_now}", owner=__name__)(find)
    public(name_before, owner=__name__)(find_before)


_finder("ArgMax", "argmax", "arg_max", "largest")
_finder("ArgMin", "argmin", "arg_min", "smallest")
