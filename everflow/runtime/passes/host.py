"""Small integer arithmetic on shapes stays on the host, in Python: a tensor for a handful of sizes costs more than computing them."""
from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

from everflow.lazy import torch
from everflow.ops.core.broadcasting import broadcast_sizes, gradient_axes
from everflow.runtime.counters import counters
from everflow.runtime.plan import Node, Plan, Value, fused
from everflow.values.sizes import Size, Sizes
from everflow.values.tensors import torch_dtype

# Kernels that take these inputs with `.tolist()`, so that host values serve them as they are.
TAKERS = {
    "Reshape": (1,), "Fill": (0,), "Tile": (1,), "BroadcastTo": (1,), "Slice": (1, 2), "StridedSlice": (1, 2, 3),
    "StridedSliceGrad": (0, 1, 2, 3), "ScatterNd": (2,), "Conv2DBackpropInput": (0,), "Conv2DBackpropFilter": (1,),
    "_ConvInputGradientAdded": (1,),
    "RandomUniform": (0,), "RandomStandardNormal": (0,), "TruncatedNormal": (0,),
    "_SumToShape": (1,), "TensorArrayReadV3": (1,), "TensorArrayWriteV3": (1,), "TensorListGetItem": (1,), "TensorListSetItem": (1,),
    "If": (0,), "StatelessIf": (0,), "Case": (0,),
    **{name: (1,) for name in ("Sum", "Mean", "Max", "Min", "Prod", "All", "Any")},
}


LOOPS = ("While", "StatelessWhile")


def _counters(node: Node) -> list[int]:
    body = node.context.library(node.attr("body").name)
    return [] if body is None else counters(body.graph)


def keep_sizes_on_host(plan: Plan) -> None:
    """Computes shapes, and integers made from them, in Python; makes tensors of them only for kernels that need tensors."""
    # A loop hands its counters in and out as they are.
    host: set[Value] = {plan.feeds[i] for i in plan.host_feeds}
    table: dict[Value, Value] = {}
    nodes: list[Node] = []
    tensors: dict[Value, Value] = {}

    def as_tensor(value: Value) -> Value:
        if value not in tensors:
            made = fused("_AsTensor", _as_tensor(value), value.node, [value])
            made.outputs = [Value(made, 0, value.dtype, value.dims)]
            tensors[value] = made.outputs[0]
            nodes.append(made)
        return tensors[value]

    for node in plan.nodes:
        node.inputs[:] = [table.get(v, v) for v in node.inputs]
        kernel = _host_kernel(node, host)
        if kernel is not None:
            new = fused("_Host" + node.type, kernel, node, list(node.inputs))
            host.update(new.outputs)
            table.update(zip(node.outputs, new.outputs))
            nodes.append(new)
            continue
        scaled = _scaled(node, host)
        if scaled is not None:
            table[node.outputs[0]] = scaled.outputs[0]
            nodes.append(scaled)
            continue
        taken = _counters(node) if node.type in LOOPS else TAKERS.get(node.type, ())
        for i, v in enumerate(node.inputs):
            if v in host and i not in taken:
                node.inputs[i] = as_tensor(v)
        nodes.append(node)
    if not host:
        plan.host_fetches = frozenset()
        return
    plan.nodes = nodes
    plan.replace(table)
    kept = plan.host_fetches
    plan.fetches = [as_tensor(v) if v in host and i not in kept else v for i, v in enumerate(plan.fetches)]
    plan.host_fetches = frozenset(i for i in kept if plan.fetches[i] in host)


def _as_tensor(value: Value) -> Callable[[Node], Any]:
    dtype = torch_dtype(value.dtype)
    return lambda node: lambda v: torch.tensor(v, dtype=dtype)


def _scaled(node: Node, host: set[Value]) -> Node | None:
    """A division by a size that was cast to a floating type: by the number itself."""
    if node.type != "RealDiv" or node.reads:
        return None
    cast = node.inputs[1].node
    if cast.type != "Cast" or cast.inputs[0].node.type != "_AsTensor" or not node.outputs[0].dtype.is_floating:
        return None
    size = cast.inputs[0].node.inputs[0]
    if size.dims != () or node.inputs[0] in host:
        return None
    return fused("_DivideBySize", lambda n: lambda x, size: torch.div(x, size), node, [node.inputs[0], size])


def _host_kernel(node: Node, host: set[Value]) -> Callable[[Node], Any] | None:
    """The host form of a node, where it has one and its inputs are on the host or constant."""
    if node.type in ("Shape", "ShapeN"):
        return _SHAPES[node.type] if node.inputs[0].dtype.name != "string" else None
    rule = RULES.get(node.type)
    if rule is None or node.reads or not any(v in host for v in node.inputs):
        return None
    if not all(v in host or _is_small(v) for v in node.inputs) or any(v.dtype.name not in _result_types(node) for v in node.outputs):
        return None
    if any(v.dims is None or len(v.dims) > 1 for v in (*node.inputs, *node.outputs)):
        return None
    compute = rule(node)
    if compute is None:
        return None
    fixed = [_constant(v) if v not in host else None for v in node.inputs]
    if all(f is None for f in fixed):
        return lambda n: compute
    if len(fixed) == 2:
        first, second = fixed
        return lambda n: (lambda _, y: compute(first, y)) if second is None else lambda x, _: compute(x, second)
    return lambda n: lambda *xs: compute(*[x if f is None else f for x, f in zip(xs, fixed)])


def _result_types(node: Node) -> tuple[str, ...]:
    """The dtypes of results that stay on the host."""
    return ("bool",) if node.type in COMPARISONS else ("int32", "int64")


_SHAPES: dict[str, Callable[[Node], Any]] = {
    "Shape": lambda node: lambda x: Sizes(x.shape),
    "ShapeN": lambda node: (lambda x: Sizes(x.shape)) if len(node.outputs) == 1 else lambda *xs: [Sizes(x.shape) for x in xs],
}


def _is_small(value: Value) -> bool:
    return value.node.type == "Const" and value.node.attrs["value"].size <= 32 and value.dtype.name in ("int32", "int64")


def _constant(value: Value) -> Any:
    found = value.node.attrs["value"].tolist()
    return Sizes(found) if isinstance(found, list) else Size(found)


def _elementwise(compute: Callable[[int, int], int]) -> Callable[[Node], Any]:
    def rule(node: Node) -> Any:
        x, y = (v.dims for v in node.inputs)
        if x == () and y == ():
            return lambda a, b: Size(compute(a, b))
        if x == ():
            return lambda a, b: Sizes([compute(a, n) for n in b])
        if y == ():
            return lambda a, b: Sizes([compute(m, b) for m in a])
        if x != y or x == (None,):
            return None
        return lambda a, b: Sizes([compute(m, n) for m, n in zip(a, b)])

    return rule


def _divided(node: Node) -> Any:
    """Only by constants other than zero: an error must be raised by the op itself."""
    divisor = node.constant(1)
    return _elementwise(operator.floordiv)(node) if divisor is not None and (divisor != 0).all() else None


def _product(node: Node) -> Any:
    axes = node.constant(1)
    if axes is None or axes.reshape(-1).tolist() not in ([0], [-1]) or node.attr("keep_dims") or node.inputs[0].dims == ():
        return None
    return lambda x, axes: Size(math.prod(x))


def _slice(node: Node) -> Any:
    bounds = [node.constant(i) for i in (1, 2, 3)]
    if any(b is None or b.size != 1 for b in bounds) or node.attr("ellipsis_mask") or node.attr("new_axis_mask"):
        return None
    start, stop, step = (int(b[0]) for b in bounds)  # type: ignore[index]
    size = node.inputs[0].dims[0] if node.inputs[0].dims else None
    if node.attr("shrink_axis_mask"):
        return (lambda x, *_: Size(x[start])) if size is not None and -size <= start < size else None
    part = slice(None if node.attr("begin_mask") else start, None if node.attr("end_mask") else stop, step)
    return lambda x, *_: Sizes(x[part])


def _packed(node: Node) -> Any:
    return (lambda *xs: Sizes(xs)) if all(v.dims == () for v in node.inputs) else None


def _joined(node: Node) -> Any:
    axis = node.constant(len(node.inputs) - 1)
    if axis is None or axis.reshape(-1).tolist() not in ([0], [-1]) or any(v.dims == () for v in node.inputs[:-1]):
        return None
    return lambda *xs: Sizes([n for x in xs[:-1] for n in x])


def _gathered(node: Node) -> Any:
    indices, size = node.constant(1), node.inputs[0].dims[0] if node.inputs[0].dims else None
    if indices is None or size is None or not ((indices >= 0) & (indices < size)).all():
        return None
    if indices.ndim == 0:
        at = int(indices)
        return lambda x, *_: Size(x[at])
    wanted = indices.tolist()
    return lambda x, *_: Sizes([x[i] for i in wanted])


def _broadcast(node: Node) -> Any:
    def run(a: Any, b: Any) -> Any:
        of_a, of_b = gradient_axes(list(a), list(b))
        return Sizes(of_a), Sizes(of_b)

    return run


def _broadcast_sizes(node: Node) -> Any:
    return lambda a, b: Sizes(a) if a == b else Sizes(broadcast_sizes(a, b))


def _comparison(compare: Callable[..., bool]) -> Callable[[Node], Any]:
    """Of two numbers: what conditions of loops are made of."""
    return lambda node: compare if all(v.dims == () for v in node.inputs) else None


COMPARISONS: dict[str, Callable[..., bool]] = {
    "Less": operator.lt, "LessEqual": operator.le, "Greater": operator.gt, "GreaterEqual": operator.ge, "Equal": operator.eq,
    "NotEqual": operator.ne, "LogicalAnd": operator.and_, "LogicalOr": operator.or_, "LogicalNot": operator.not_,
}
RULES: dict[str, Callable[[Node], Any]] = {
    "AddV2": _elementwise(operator.add), "Add": _elementwise(operator.add), "Sub": _elementwise(operator.sub),
    "Mul": _elementwise(operator.mul), "Maximum": _elementwise(max), "Minimum": _elementwise(min), "FloorDiv": _divided,
    "Prod": _product, "StridedSlice": _slice, "Pack": _packed, "ConcatV2": _joined, "GatherV2": _gathered, "Gather": _gathered,
    "BroadcastGradientArgs": _broadcast, "BroadcastArgs": _broadcast_sizes, "Cast": lambda node: lambda x: x,
    **{name: _comparison(compare) for name, compare in COMPARISONS.items()},
}
