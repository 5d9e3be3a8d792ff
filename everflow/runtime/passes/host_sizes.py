"""Small integer arithmetic on shapes stays on the host, in Python: a tensor for a handful of sizes costs more than computing them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from everflow.ops.core.node import Node, Value
from everflow.ops.core.registry import kind_of
from everflow.runtime.counters import counters
from everflow.runtime.plan import Plan, fused, variant
from everflow.values.sizes import Size, Sizes

# The dtypes of results that stay on the host.
TYPES = ("int32", "int64", "bool")


def _taken(node: Node) -> Sequence[int]:
    """The inputs that may be sizes as they are."""
    meaning = node.meaning
    if meaning is None or not meaning.loops:
        return () if meaning is None else meaning.sizes
    body = node.context.library(node.attr("body").name)
    return () if body is None else counters(body.graph)


def keep_sizes_on_host(plan: Plan) -> bool:
    """Computes shapes, and integers made from them, in Python; makes tensors of them only for kernels that need tensors."""
    # A loop hands its counters in and out as they are.
    host: set[Value] = {plan.feeds[i] for i in plan.host_feeds}
    table: dict[Value, Value] = {}
    nodes: list[Node] = []
    tensors: dict[Value, Value] = {}

    def as_tensor(value: Value) -> Value:
        if value not in tensors:
            made = fused("_AsTensor", value.node, [value])
            made.outputs = [Value(made, 0, value.dtype, value.dims)]
            tensors[value] = made.outputs[0]
            nodes.append(made)
        return tensors[value]

    for node in plan.nodes:
        node.inputs[:] = [table.get(v, v) for v in node.inputs]
        kernel = host_kernel(node, host)
        if kernel is not None:
            new = variant("_Host" + node.type, node, list(node.inputs), kernel)
            host.update(new.outputs)
            table.update(zip(node.outputs, new.outputs))
            nodes.append(new)
            continue
        scaled = _scaled(node, host)
        if scaled is not None:
            table[node.outputs[0]] = scaled.outputs[0]
            nodes.append(scaled)
            continue
        taken = _taken(node)
        for i, v in enumerate(node.inputs):
            if v in host and i not in taken:
                node.inputs[i] = as_tensor(v)
        nodes.append(node)
    if not host:
        plan.host_fetches = frozenset()
        return False
    plan.nodes = nodes
    plan.replace(table)
    kept = plan.host_fetches
    plan.fetches = [as_tensor(v) if v in host and i not in kept else v for i, v in enumerate(plan.fetches)]
    plan.host_fetches = frozenset(i for i in kept if plan.fetches[i] in host)
    return True


def _scaled(node: Node, host: set[Value]) -> Node | None:
    """A division by a size that was cast to a floating type: by the number itself."""
    if kind_of(node.type) != "division" or node.reads:
        return None
    cast = node.inputs[1].node
    if cast.type != "Cast" or cast.inputs[0].node.type != "_AsTensor" or not node.outputs[0].dtype.is_floating:
        return None
    size = cast.inputs[0].node.inputs[0]
    if size.dims != () or node.inputs[0] in host:
        return None
    return fused("_DivideBySize", node, [node.inputs[0], size])


def host_kernel(node: Node, host: set[Value]) -> Callable[[Node], Any] | None:
    """The host form of a node, where it has one and its inputs are on the host or constant."""
    meaning = node.meaning
    if meaning is None or meaning.host is None or node.reads:
        return None
    if meaning.measures:
        return meaning.host if node.inputs[0].dtype.name != "string" else None
    if not any(v in host for v in node.inputs) or not all(v in host or _is_small(v) for v in node.inputs):
        return None
    around = (*node.inputs, *node.outputs)
    if any(v.dtype.name not in TYPES for v in node.outputs) or any(v.dims is None or len(v.dims) > 1 for v in around):
        return None
    compute = meaning.host(node)
    if compute is None:
        return None
    fixed = [_constant(v) if v not in host else None for v in node.inputs]
    if all(f is None for f in fixed):
        return lambda n: compute
    if len(fixed) == 2:
        first, second = fixed
        return lambda n: (lambda _, y: compute(first, y)) if second is None else lambda x, _: compute(x, second)
    return lambda n: lambda *xs: compute(*[x if f is None else f for x, f in zip(xs, fixed)])


def _is_small(value: Value) -> bool:
    return value.constant is not None and value.constant.size <= 32 and value.dtype.name in ("int32", "int64")


def _constant(value: Value) -> Any:
    found = value.constant.tolist()  # type: ignore[union-attr]
    return Sizes(found) if isinstance(found, list) else Size(found)
