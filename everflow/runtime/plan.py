"""A step's plan: the part of a graph that a `run` needs, as nodes that passes may rewrite before code is generated."""

from __future__ import annotations

import collections
import heapq
from collections.abc import Callable, Iterable
from typing import Any

from everflow import errors
from everflow.graph.operation import Operation
from everflow.graph.tensor import Tensor
from everflow.ops.control_flow.frame_op_types import BACK_EDGES, FRAME_OPS
from everflow.ops.core.node import FEED, Node, Value
from everflow.ops.core.registry import Meaning, meaning


class Plan:
    """Nodes in an order in which they can run, with what is fed and what is fetched.

    The order is fixed when the plan is made, so control edges have done their work then: passes replace and remove nodes, and
    never reorder them.
    """

    def __init__(self, context: Any) -> None:
        self.context = context
        self.nodes: list[Node] = []
        self.feeds: list[Value] = []
        self.fetches: list[Value] = []
        # Whether this is the body of a function, whose results go to the code that calls it.
        self.is_body = False
        # Which feeds are plain numbers, and which fetches may be: a loop's counters and its condition.
        self.host_feeds: frozenset[int] = frozenset()
        self.host_fetches: frozenset[int] = frozenset()
        # How many feeds are the variables of a loop whose body this is: as many fetches are their next values.
        self.carried = 0
        # What computes the last feeds from the variables, once for all iterations.
        self.ahead: Plan | None = None

    @property
    def fed_ahead(self) -> list[Value]:
        """The feeds that are computed ahead."""
        return self.feeds[len(self.feeds) - len(self.ahead.fetches) :] if self.ahead is not None else []

    def replace(self, table: dict[Value, Value]) -> None:
        """Makes uses of the table's keys use its values."""

        ends: dict[Value, Value] = {}

        def final(v: Value) -> Value:
            """The end of a chain; what lies on the way knows it from then on, since chains are long."""
            way = []
            while v in table and v not in ends:
                way.append(v)
                v = table[v]
            v = ends.get(v, v)
            ends.update((passed, v) for passed in way)
            return v

        for node in self.nodes:
            inputs = node.inputs
            for i, v in enumerate(inputs):
                if v in table:
                    inputs[i] = final(v)
        self.fetches = [final(v) for v in self.fetches]

    def uses(self) -> collections.Counter[Value]:
        """How often each value is used."""
        return collections.Counter([*(v for n in self.nodes for v in n.inputs), *self.fetches])

    def drop_unused(self) -> None:
        """Leaves out the nodes that nothing needs. What has effects stays: it was asked for when the plan was made."""
        needed: set[Node] = {n for n in self.nodes if n.has_effects}
        stack = [v.node for v in self.fetches] + [v.node for n in needed for v in n.inputs]
        while stack:
            node = stack.pop()
            if node not in needed:
                needed.add(node)
                stack.extend(v.node for v in node.inputs)
        self.nodes = [n for n in self.nodes if n in needed]


def fused(name: str, of: Node, inputs: list[Value], /, **attrs: Any) -> Node:
    """A node that does the work of several, declared with `fused_op`. It takes the place of one of them, with its attributes and the types
    of its outputs; `attrs` are further attributes."""
    node = Node(name, of.name, {**of.attrs, **attrs} if attrs else of.attrs, inputs, of.op, of.context)
    for v in of.outputs:
        node.add_output(v.dtype, v.dims)
    return node


def remade(node: Node, inputs: list[Value], like: Node | None = None, **attrs: Any) -> Node:
    """The same node with other inputs; `attrs` are attributes that change, `like` a node whose outputs have the types of the new one's."""
    new = Node(node.type, node.name, {**node.attrs, **attrs}, inputs, node.op, node.context)
    new.asked_for = node.asked_for
    for v in (like or node).outputs:
        new.add_output(v.dtype, v.dims)
    return new


def variant(name: str, of: Node, inputs: list[Value], kernel: Callable[[Node], Any], **facts: Any) -> Node:
    """A node that does the same as another by a kernel of its own. `facts`: see Meaning."""
    node = fused(name, of, inputs)
    node.fused = Meaning(name, __name__, kernel, **facts)
    return node


def make_plan(context: Any, fetches: Iterable[Tensor], targets: Iterable[Operation], feeds: Iterable[Tensor]) -> Plan:
    """Prunes a graph backwards from what is asked for, stopping at what is fed."""
    plan = Plan(context)
    values: dict[Tensor, Value] = {}
    for t in feeds:
        node = Node(FEED, t.op.name, {}, [], t.op, context)
        # A body may be handed a reference.
        known = meaning(t.op.type)
        values[t] = node.add_output(t.dtype if known is not None and known.fed else t.dtype.base_dtype, t.dims)
        plan.feeds.append(values[t])
        plan.nodes.append(node)
    fetches, targets = list(fetches), list(targets)
    order = schedule(fetches, targets, values)
    nodes: dict[Operation, Node] = {}
    body_of_frame = getattr(plan.feeds[0].node.op.graph, "body_of_frame", None) if plan.feeds else None  # type: ignore[union-attr]
    if body_of_frame or any(op.type in FRAME_OPS for op in order):
        from everflow.runtime.frames import add_nodes

        nodes = add_nodes(plan, order, values, fetches, body_of_frame)
    else:
        for op in order:
            node = Node(op.type, op.name, op.attrs, [values[t] for t in op.inputs], op, context)
            for t in op.outputs:
                value = node.add_output(t.dtype, t.dims)
                if t not in values:
                    values[t] = value
            node.reads = reads_of(op, node)
            nodes[op] = node
            plan.nodes.append(node)
        plan.fetches = [values[t] for t in fetches]
    for op in targets:
        if op in nodes:
            nodes[op].asked_for = True
            _ask_for_bodies(nodes[op])
    for op in nodes:
        for before in op.control_inputs:
            if before in nodes:
                _ask_for_bodies(nodes[before])
    from everflow.runtime.references import see_later_writes

    see_later_writes(plan)
    return plan


def _ask_for_bodies(node: Node) -> None:
    """A branch or loop that is run for itself is run whole, although nothing uses its results: they may come after effects."""
    source = node.inputs[0].node if node.is_identity else node
    if source.meaning is not None and source.meaning.bodies:
        source.asked_for = True


def reads_of(op: Operation, node: Node) -> frozenset[int]:
    """The inputs that are variables (reference dtype) where the op takes a plain value."""
    if not any(v.dtype._is_ref_dtype for v in node.inputs):
        return frozenset()
    takes_ref: list[bool] = []
    for arg in op.op_def_.inputs:
        if arg.type_list_attr:
            takes_ref.extend([False] * len(op.attrs[arg.type_list_attr]))
        else:
            takes_ref.extend([arg.is_ref] * (op.attrs[arg.number_attr] if arg.number_attr else 1))
    return frozenset(i for i, v in enumerate(node.inputs) if v.dtype._is_ref_dtype and not takes_ref[i])


def schedule(fetches: list[Tensor], targets: list[Operation], fed: dict[Tensor, Value]) -> list[Operation]:
    """The ops that are needed: in the order of their creation wherever edges allow it; those that may wait for others come last."""
    needed: dict[Operation, list[Operation]] = {}
    stack = [t.op for t in fetches if t not in fed] + targets
    ordered = True
    while stack:
        op = stack.pop()
        if op in needed:
            continue
        before = [t.op for t in op.inputs if t not in fed]
        if op.control_inputs:
            before.extend(op.control_inputs)
        needed[op] = before
        for b in before:
            if b._id >= op._id:
                ordered = False
            if b not in needed:
                stack.append(b)
    known = [says for kind in {op.type for op in needed} if (says := meaning(kind)) is not None]
    late = {says.name for says in known if says.waits} if any(says.brings for says in known) else set()
    if any(says.meets for says in known):
        from everflow.runtime.meetings import members

        if met := members(needed):
            ordered = False
            for before in needed.values():
                before.extend([other for b in before if b in met for other in met[b]])
    if ordered and not late:
        return sorted(needed, key=_creation)
    waiting = {}
    after: dict[Operation, list[Operation]] = {}
    ready: list[tuple[bool, int, str, Operation]] = []
    for op, before in needed.items():
        # A loop's back edge is not waited for: the node before it (Merge) starts the loop.
        unique = {b for b in before if b.type not in BACK_EDGES}
        waiting[op] = len(unique)
        for b in unique:
            after.setdefault(b, []).append(op)
        if not unique:
            heapq.heappush(ready, (op.type in late, op._id, op.name, op))
    found = []
    while ready:
        op = heapq.heappop(ready)[3]
        found.append(op)
        for b in after.get(op, ()):
            waiting[b] -= 1
            if not waiting[b]:
                heapq.heappush(ready, (b.type in late, b._id, b.name, b))
    if len(found) < len(needed):
        raise errors.InvalidArgumentError(None, None, f"Graph is invalid, contains a cycle with {len(needed) - len(found)} nodes")
    return found


def _creation(op: Operation) -> int:
    return op._id
