"""Element-wise ops on tensors of one shape, done together: on small ones, calling a kernel for each of them costs more than their
arithmetic; on large ones, reading and writing memory does."""

from __future__ import annotations

from collections import Counter
from typing import Any

from everflow.graph import dtypes
from everflow.ops.core.node import Node, Value
from everflow.ops.math.elementwise_chains import Chain, is_elementwise, joined
from everflow.runtime.plan import Plan, fused

FEWEST_OPS = 2
MOST_TENSORS = 60


def group_elementwise(plan: Plan) -> bool:
    """Puts one node in the place of element-wise nodes that have one static shape and can run at the same time."""
    shapes = Counter(node.outputs[0].dims for node in plan.nodes if is_elementwise(node))
    return any([_fuse(plan, dims) for dims, count in shapes.items() if count >= FEWEST_OPS])


def _fuse(plan: Plan, dims: Any) -> bool:
    """Goes through the nodes in order. Members of a group run when it is closed, and what depends on them afterwards."""
    nodes: list[Node] = []
    table: dict[Value, Value] = {}
    uses = plan.uses()
    group = _Group(dims)
    for node in plan.nodes:
        if node.is_feed or node.is_constant:
            nodes.append(node)
            continue
        if node.has_effects or node.reads or any(v.dtype._is_ref_dtype or v.dtype is dtypes.resource for v in node.inputs):
            # What comes before and after an effect stays there.
            group.close(plan, uses, nodes, table)
            group = _Group(dims)
            nodes.append(node)
            continue
        depends = any(v in group.behind for v in node.inputs)
        if not depends and (is_elementwise(node, dims) or _is_join(node, group, uses)) and group.has_room(node):
            group.add(node)
        elif not depends and not any(v in group.values for v in node.inputs):
            nodes.append(node)
        else:
            group.later.append(node)
            group.behind.update(node.outputs)
    group.close(plan, uses, nodes, table)
    plan.nodes = nodes
    if table:
        plan.replace(table)
    return bool(table)


def _is_join(node: Node, group: _Group, uses: Counter[Value]) -> bool:
    """Whether a node puts results of the group beside each other, and is all that uses them."""
    parts = joined(node, group.dims)
    return bool(parts) and all(v in group.values and uses[v] == 1 for v in parts)


class _Group:
    """Nodes that are to be one, and nodes that have to wait for them."""

    def __init__(self, dims: Any) -> None:
        self.dims = dims
        self.members: list[Node] = []
        self.values: set[Value] = set()
        self.later: list[Node] = []
        self.behind: set[Value] = set()
        self._tensors: set[Value] = set()

    def has_room(self, node: Node) -> bool:
        return len(self._tensors | set(node.inputs) | set(node.outputs)) <= MOST_TENSORS

    def add(self, node: Node) -> None:
        self.members.append(node)
        self.values.update(node.outputs)
        self._tensors.update(node.inputs, node.outputs)

    def close(self, plan: Plan, uses: Counter[Value], nodes: list[Node], table: dict[Value, Value]) -> None:
        """Adds the group as one node, or as it was where that gains nothing, and then what waited for it."""
        if len(self.members) < FEWEST_OPS:
            # In the order of the plan, as they came.
            order = {node: i for i, node in enumerate(plan.nodes)}
            nodes.extend(sorted([*self.members, *self.later], key=order.__getitem__))
            return
        inside = Counter(v for node in self.members for v in node.inputs)
        results = [v for node in self.members for v in node.outputs if uses[v] > inside[v]]
        chain = Chain(self.dims, self.members, results, plan.is_body)
        new = fused("_Elementwise", self.members[-1], chain.inputs, chain=chain)
        new.outputs = []
        for v in results:
            table[v] = new.add_output(v.dtype, v.dims)
        nodes.append(new)
        nodes.extend(self.later)
