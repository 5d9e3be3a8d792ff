"""Element-wise ops on tensors of one shape, done together: on small ones, calling a kernel for each of them costs more than their
arithmetic; on large ones, reading and writing memory does."""

from __future__ import annotations

from collections import Counter
from typing import Any

from everflow.graph import dtypes
from everflow.ops.core.node import Node, Value
from everflow.ops.math.elementwise_chains import Chain, is_elementwise, joined, may_be_elementwise
from everflow.runtime.plan import Plan, fused
from everflow.runtime.symbols import Symbols

FEWEST_OPS = 2
MOST_TENSORS = 60


def group_elementwise(plan: Plan) -> bool:
    """Puts one node in the place of element-wise nodes that have one shape and can run at the same time.

    Sizes that are not known before running are taken to be the same where ops combine them; a group looks at what comes, and
    computes node by node where they are not.
    """
    likely = LikelyShapes(plan)
    shapes = Counter(likely.of(node.outputs[0]) for node in plan.nodes if is_elementwise(node, likely.of))
    return any([_fuse(plan, dims, likely) for dims, count in shapes.items() if count >= FEWEST_OPS])


class LikelyShapes:
    """The shapes of values, with unknown sizes taken for one that element-wise ops combine."""

    def __init__(self, plan: Plan) -> None:
        self._symbols = Symbols()
        self._same: dict[Any, Any] = {}
        for node in plan.nodes:
            for value in node.outputs:
                self._symbols.of(value)
            if may_be_elementwise(node):
                dims = [found for v in (*node.inputs, *node.outputs) if (found := self.of(v))]
                for other in dims[1:]:
                    if len(other) == len(dims[0]):
                        for one, two in zip(dims[0], other):
                            self._unite(one, two)

    def _unite(self, one: Any, two: Any) -> None:
        one, two = self._root(one), self._root(two)
        if one == two or 1 in (one, two) or (isinstance(one, int) and isinstance(two, int)):
            return
        if isinstance(one, int):
            one, two = two, one
        self._same[one] = two

    def _root(self, size: Any) -> Any:
        while size in self._same:
            size = self._same[size]
        return size

    def of(self, value: Value) -> Any:
        """A size or a token for each axis; None where the rank is unknown."""
        found = self._symbols.of(value)
        return None if found is None else tuple(self._root(size) for size in found)


def _fuse(plan: Plan, dims: Any, likely: LikelyShapes) -> bool:
    """Goes through the nodes in order. Members of a group run when it is closed, and what depends on them afterwards."""
    nodes: list[Node] = []
    table: dict[Value, Value] = {}
    uses, order = plan.uses(), {node: i for i, node in enumerate(plan.nodes)}
    group = _Group(dims, likely)
    for node in plan.nodes:
        if node.is_feed or node.is_constant:
            nodes.append(node)
            continue
        if node.has_effects or node.reads or any(v.dtype._is_ref_dtype or v.dtype is dtypes.resource for v in node.inputs):
            # What comes before and after an effect stays there.
            group.close(plan, uses, order, nodes, table)
            group = _Group(dims, likely)
            nodes.append(node)
            continue
        depends = any(v in group.behind for v in node.inputs)
        if not depends and (is_elementwise(node, likely.of, dims) or _is_join(node, group, uses)) and group.has_room(node):
            group.add(node)
        elif not depends and not any(v in group.values for v in node.inputs):
            nodes.append(node)
        else:
            group.later.append(node)
            group.behind.update(node.outputs)
    group.close(plan, uses, order, nodes, table)
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

    def __init__(self, dims: Any, likely: LikelyShapes) -> None:
        self.dims, self.likely = dims, likely
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

    def close(self, plan: Plan, uses: Counter[Value], order: dict[Node, int], nodes: list[Node], table: dict[Value, Value]) -> None:
        """Adds the group as one node, or as it was where that gains nothing, and then what waited for it."""
        if not self.members:
            return
        inside = Counter(v for node in self.members for v in node.inputs)
        results = [v for node in self.members for v in node.outputs if uses[v] > inside[v]]
        chain = Chain(self.dims, self.members, results, plan.is_body, self.likely.of) if len(self.members) >= FEWEST_OPS else None
        if chain is None or not chain.knows_its_shape:
            # In the order of the plan, as they came.
            nodes.extend(sorted([*self.members, *self.later], key=order.__getitem__))
            return
        new = fused("_Elementwise", self.members[-1], list(chain.inputs), chain=chain)
        new.outputs = []
        for v in results:
            table[v] = new.add_output(v.dtype, v.dims)
        nodes.append(new)
        nodes.extend(self.later)
