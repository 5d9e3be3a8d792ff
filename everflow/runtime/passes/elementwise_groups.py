"""Element-wise ops on tensors of one shape, done together, with the sums of what they give: on small tensors, calling a kernel for each
of them costs more than their arithmetic; on large ones, reading and writing memory does."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

from everflow.graph import dtypes
from everflow.ops.core.node import Node, Value
from everflow.ops.math.elementwise_chains import (
    CHEAP,
    SUMS,
    Chain,
    has_numbers,
    is_elementwise,
    is_of_rows,
    is_static,
    joined,
    may_be_elementwise,
    numbers_of_rows,
    summed,
)
from everflow.runtime.passes.identities import begins_again
from everflow.runtime.plan import Plan, fused, remade
from everflow.runtime.symbols import Symbols

FEWEST_OPS = 2
MOST_TENSORS = 250
# Ops on tensors of so many elements gain from being done together even if they have nothing in common.
SMALL = 1 << 12
# Rows are shared among threads as a whole: a few that are longer are better summed up by themselves.
FEW_ROWS, LONG_ROW = 8, 1 << 12


def group_elementwise(plan: Plan) -> bool:
    """Puts one node in the place of element-wise nodes that have one shape and can run one after the other.

    Sizes that are not known before running are taken to be the same where ops combine them; a group looks at what comes, and
    computes node by node where they are not.
    """
    likely = LikelyShapes(plan)
    shapes = Counter(likely.of(node.outputs[0]) for node in plan.nodes if is_elementwise(node, likely.of))
    whole = [(node, likely.of(node.inputs[0])) for node in plan.nodes if node.type in SUMS]
    summing = (_sums_up_computed, sums_up_rows)
    shapes.update(dims for node, dims in whole if dims and any(sums(node, likely.of, dims) for sums in summing))
    # What has one number for each row may be computed with what the rows belong to, which comes first.
    ordered = sorted(shapes, key=lambda dims: dims[-1] == 1)
    return any([_fuse(plan, dims, likely) for dims in ordered if shapes[dims] >= FEWEST_OPS])


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

    def stands_for(self, new: Value, old: Value) -> None:
        self._symbols.stands_for(new, old)

    def of(self, value: Value) -> Any:
        """A size or a token for each axis; None where the rank is unknown."""
        found = self._symbols.of(value)
        return None if found is None else tuple(self._root(size) for size in found)


def _fuse(plan: Plan, dims: Any, likely: LikelyShapes) -> bool:
    """Groups what lies between effects, which stay where they are, and between computations that are to keep little."""
    nodes: list[Node] = []
    table: dict[Value, Value] = {}
    uses = plan.uses()
    segment: list[Node] = []
    for node in plan.nodes:
        if begins_again(node) or node.has_effects:
            nodes.extend(_Segment(segment, dims, likely, uses).arranged(plan, table))
            nodes.append(node)
            segment = []
        else:
            segment.append(node)
    nodes.extend(_Segment(segment, dims, likely, uses).arranged(plan, table))
    plan.nodes = nodes
    if table:
        plan.replace(table)
    return bool(table)


class _Segment:
    """Nodes without effects, the element-wise ones of a shape in groups.

    Groups have numbers. A node is in the first group that comes no sooner than those that its inputs are in, and after all that its
    inputs need: so each needs only groups before its own.
    """

    def __init__(self, nodes: list[Node], dims: Any, likely: LikelyShapes, uses: Counter[Value]) -> None:
        self._nodes, self._uses = nodes, uses
        self._order = {node: i for i, node in enumerate(nodes)}
        # By number; in the end those that have something in common.
        self._groups: dict[int, _Group] = {}
        self._of: dict[Node, _Group] = {}
        # The first group that may use what a node computes.
        self._level: dict[Node, int] = {}
        for node in nodes:
            level = max([self._level.get(v.node, 0) for v in node.inputs], default=0)
            if (group := self._home(node, level, dims, likely)) is not None:
                group.add(node)
                # A sum is there when the group is done, but one of a row when the row is.
                self._of[node], self._level[node] = group, group.number + bool(summed(node, dims) and not group.has_numbers(node))
            else:
                after = [self._of[v.node].number + 1 for v in node.inputs if v.node in self._of]
                self._level[node] = max([level, *after])
        self._found = list(self._groups.values())
        if not is_static(dims) or math.prod(dims) > SMALL:
            self._found = [part for group in self._found for part in group.parts()]
            self._of = {node: part for part in self._found for node in part.members}
        # How often groups use a value.
        self._users: dict[Value, Counter[_Group]] = {}
        for group in self._found:
            for node in group.members:
                self._take(node, group)
        self._copies: dict[Node, list[Node]] = {}
        for group in reversed(self._found):
            for node in reversed(group.members):
                self._compute_late(node, group)
        if self._copies:
            # Before all of their group, should its members run one by one.
            self._nodes = [n for node in self._nodes for n in (*self._copies.get(node, ()), node)]

    def _take(self, node: Node, group: _Group) -> None:
        self._of[node] = group
        for v in node.inputs:
            self._users.setdefault(v, Counter())[group] += 1

    def _compute_late(self, node: Node, group: _Group) -> None:
        """What only another group uses is computed there, and so is what is sooner computed again than read: it need not be written
        down, nor kept."""
        value = node.outputs[0]
        users = self._users.get(value, Counter())
        elsewhere = [other for other in users if other is not group]
        if value not in group.values or not elsewhere or users.total() < self._uses[value]:
            return
        moves = len(users) == 1
        # One tensor is then kept in the place of another, never two.
        whole = {v for v in node.inputs if group.likely.of(v) == group.dims and v.constant is None}
        if len(whole) > 1 or not all(other.has_room(node) for other in elsewhere):
            return
        # A truth is a byte: it is kept rather than a tensor in its place.
        if (not moves or value.dtype is dtypes.bool) and (
            node.type not in CHEAP or any(self._is_used_here_alone(v, group) for v in node.inputs)
        ):
            return
        for other in elsewhere[moves:]:
            self._copy(node, other)
        if moves:
            for v in node.inputs:
                self._users[v] -= Counter({group: 1})
            group.members.remove(node)
            elsewhere[0].add_first(node)
            self._take(node, elsewhere[0])

    def _is_used_here_alone(self, value: Value, group: _Group) -> bool:
        """Whether a whole tensor of a group is used there alone: using it elsewhere would have it written down."""
        return value in group.values and self._users[value][group] == self._uses[value]

    def _copy(self, node: Node, group: _Group) -> None:
        copy = remade(node, list(node.inputs))
        old, new = node.outputs[0], copy.outputs[0]
        group.likely.stands_for(new, old)
        count = self._users[old].pop(group)
        self._users[new] = Counter({group: count})
        self._uses[new] = count
        self._uses[old] -= count
        self._uses.update(copy.inputs)
        for member in group.members:
            member.inputs[:] = [new if v is old else v for v in member.inputs]
        self._copies.setdefault(min(group.members, key=self._position), []).append(copy)
        group.add_first(copy)
        self._take(copy, group)

    def _position(self, node: Node) -> float:
        return self._order.get(node, math.inf)

    def _home(self, node: Node, level: int, dims: Any, likely: LikelyShapes) -> _Group | None:
        """The group that a node is to be in."""
        if node.is_feed or node.is_constant:
            return None
        if is_elementwise(node, likely.of, dims):
            while (group := self._groups.setdefault(level, _Group(dims, likely, level))) and not group.has_room(node):
                level += 1
            return group
        if sums_up_rows(node, likely.of, dims):
            group = self._groups.setdefault(level, _Group(dims, likely, level))
            return group if group.has_room(node) else None
        found = self._groups.get(level)
        if found is None or not found.has_room(node):
            return None
        of_rows = is_of_rows(node, likely.of, dims) and any(v in found.numbers for v in node.inputs)
        return found if of_rows or _ends(node, found, self._uses) else None

    def arranged(self, plan: Plan, table: dict[Value, Value]) -> list[Node]:
        """The nodes in their order, except that a group and what it needs come where the first of its results is needed."""
        chains = {group: chain for group in self._found if (chain := group.chain(plan, self._uses)) is not None}
        if not chains:
            return self._nodes
        nodes: list[Node] = []
        done: set[Any] = set()
        rest = [node for node in self._nodes if self._of.get(node) not in chains]
        for first in (*rest, *chains):
            stack: list[Any] = [first]
            while stack:
                unit = stack[-1]
                members = unit.members if isinstance(unit, _Group) else [unit]
                needed = [self._unit(v.node, chains) for member in members for v in member.inputs if v.node in self._level]
                waiting = [] if unit in done else [other for other in needed if other is not unit and other not in done]
                if waiting:
                    stack.extend(reversed(waiting))
                    continue
                stack.pop()
                if unit not in done:
                    done.add(unit)
                    nodes.append(unit.fused(chains[unit], table) if isinstance(unit, _Group) else unit)
        return nodes

    def _unit(self, node: Node, chains: dict[_Group, Chain]) -> Any:
        """What runs at once: a group, or a node that is in none."""
        group = self._of.get(node)
        return node if group is None or group not in chains else group


def sums_up_rows(node: Node, shape: Any, dims: Any) -> bool:
    """Whether a node gives one number for each row of a tensor of this shape, which a group can use for the rest of the row."""
    if summed(node, dims) != "rows" or shape(node.inputs[0]) != dims or shape(node.outputs[0]) != numbers_of_rows(dims):
        return False
    few = is_static(dims) and math.prod(dims[:-1]) < FEW_ROWS and dims[-1] > LONG_ROW
    return not few and node.inputs[0].dtype is dtypes.float32 and 0 not in dims


def _sums_up_computed(node: Node, shape: Any, dims: Any) -> bool:
    """Whether a node sums up, in any direction, what an element-wise op gives."""
    return is_elementwise(node.inputs[0].node, shape) and bool(summed(node, dims))


def _ends(node: Node, group: _Group, uses: Counter[Value]) -> bool:
    """Whether a node sums up a result of the group, or puts results beside each other and is all that uses them."""
    parts = joined(node, group.dims)
    if parts:
        return all(v in group.values and uses[v] == 1 for v in parts)
    return bool(summed(node, group.dims)) and node.inputs[0] in group.values


class _Group:
    """Nodes that are to be one."""

    def __init__(self, dims: Any, likely: LikelyShapes, number: int) -> None:
        self.dims, self.likely, self.number = dims, likely, number
        self.members: list[Node] = []
        # What has the shape of the group, and is neither joined nor summed up.
        self.values: set[Value] = set()
        # What has one number for each row, and can be used in the group.
        self.numbers: set[Value] = set()
        self._tensors: set[Value] = set()
        self._results: list[Value] = []

    def has_room(self, node: Node) -> bool:
        return len(self._tensors) + len(node.inputs) + len(node.outputs) <= MOST_TENSORS

    def has_numbers(self, node: Node) -> bool:
        return not self.numbers.isdisjoint(node.outputs)

    def add(self, node: Node) -> None:
        self.members.append(node)
        if is_of_rows(node, self.likely.of, self.dims) or sums_up_rows(node, self.likely.of, self.dims):
            self.numbers.update(node.outputs)
        elif may_be_elementwise(node):
            self.values.update(node.outputs)
        self._tensors.update(node.inputs, node.outputs)

    def add_first(self, node: Node) -> None:
        self.add(node)
        self.members.insert(0, self.members.pop())

    def parts(self) -> list[_Group]:
        """Groups of those members that share a value that is computed, directly or by way of others."""
        homes: dict[Value, list[Node]] = {}
        parts: dict[Node, list[Node]] = {}
        for node in self.members:
            own = parts[node] = [node]
            shared = [v for v in (*node.inputs, *node.outputs) if not v.node.is_constant]
            for v in shared:
                other = homes.get(v)
                other = parts[other[0]] if other is not None else own
                if other is not own:
                    # The smaller one joins the larger one.
                    small, own = sorted((own, other), key=len)
                    own.extend(small)
                    parts.update((member, own) for member in small)
            homes.update((v, own) for v in shared)
        found: dict[int, _Group] = {}
        for node in self.members:
            part = parts[node]
            if id(part) not in found:
                found[id(part)] = _Group(self.dims, self.likely, self.number)
            found[id(part)].add(node)
        return list(found.values())

    def chain(self, plan: Plan, uses: Counter[Value]) -> Chain | None:
        """What computes all members at once; None where that gains nothing."""
        if len(self.members) < FEWEST_OPS or not has_numbers(self.members):
            return None
        inside = Counter(v for node in self.members for v in node.inputs)
        self._results = [v for node in self.members for v in node.outputs if uses[v] > inside[v]]
        chain = Chain(self.dims, self.members, self._results, plan.is_body, self.likely.of)
        return chain if chain.knows_its_shape else None

    def fused(self, chain: Chain, table: dict[Value, Value]) -> Node:
        new = fused("_Elementwise", self.members[-1], list(chain.inputs), chain=chain)
        new.outputs = []
        for v in self._results:
            table[v] = new.add_output(v.dtype, v.dims)
            self.likely.stands_for(table[v], v)
        return new
