"""Steps as TensorFlow runs them: a graph's ops one by one, loops and branches as Enter, Merge, Switch, NextIteration and Exit.

Our graphs have a While node for a loop and an If node for a branch, whose bodies are functions. TensorFlow 1 has the ops of the
bodies in the graph itself, and that is what its tools show. Ops in bodies have the names that they have there, so that what is made
here is what TensorFlow makes of the same program.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from typing import Any

from everflow.graph.func_graph import function_targets
from everflow.graph.operation import Operation
from everflow.graph.tensor import Tensor
from everflow.ops.control_flow.frame_lives import frames_of
from everflow.ops.control_flow.frame_op_types import FRAME_OPS, IDENTITY
from everflow.ops.core.node import FEED, Node, Value
from everflow.ops.core.registry import meaning
from everflow.runtime.plan import Plan, reads_of, schedule
from everflow.runtime.references import fetch_last_values, see_later_writes

WHILES = ("While", "StatelessWhile")
IFS = ("If", "StatelessIf")
# How an input of a body is called that stands for what the body takes from outside, and how what follows a While or an If is.
_CAPTURE = re.compile(r"Placeholder(_\d+)?")
_END = re.compile(r"(Exit|Merge)(_\d+)?")

# An output of a unit.
Edge = tuple["Unit", int]


class Unit:
    """One op of what runs: its name, what it takes and waits for, and the node by which it is computed."""

    __slots__ = ("controls", "inputs", "name", "node", "place", "position")

    def __init__(self, name: str, node: Node, inputs: list[Edge], controls: list[Unit], place: int, position: int) -> None:
        self.name = name
        self.node = node
        self.inputs = inputs
        self.controls = controls
        # The order among units that could run: that of the outermost loop or branch, then its own.
        self.place = place
        self.position = position

    @property
    def type(self) -> str:
        return self.node.type

    def __repr__(self) -> str:
        return f"<{self.type} {self.name}>"


class Lowered:
    """The units that are needed to fetch tensors and to run ops."""

    def __init__(self, context: Any, fetches: list[Tensor], targets: list[Operation], feeds: list[Tensor]) -> None:
        self.context = context
        self.units: list[Unit] = []
        # {name of a frame: what leaves it}
        self.exits: dict[str, list[Unit]] = {}
        self.fetched, self.targets, self.fed = fetches, targets, feeds
        self._names: set[str] = set()
        self._count = itertools.count()
        self._variables: dict[tuple[str, str], Unit] = {}
        needed: list[Any] = [*fetches, *targets]
        self._graph = needed[0].graph if needed else None
        self._top = _Level(self, None, None)
        self.feeds = [self._add_feed(t, i) for i, t in enumerate(feeds)]
        plan = self._top.add_ops(fetches, targets, feeds)
        self.fetches = [self._top.of(v) for v in plan.fetches]
        # A fetch of a variable, or of what it is read as, shows what the step leaves behind.
        self.fetches_refs = [v.dtype._is_ref_dtype for v in plan.fetches]

    def _add_feed(self, tensor: Tensor, index: int) -> Unit:
        node = Node(FEED, tensor.op.name, {}, [], tensor.op, self.context)
        node.add_output(tensor.dtype.base_dtype, tensor.dims)
        unit = self.add(f"_arg_{tensor.op.name}_{tensor.value_index}_{index}", node, [], [], None)
        self._top.edges[tensor] = (unit, 0)
        return unit

    def next_place(self) -> int:
        """The place of what comes next."""
        return next(self._count)

    def add(self, name: str, node: Node, inputs: list[Edge], controls: list[Unit], place: int | None) -> Unit:
        """Adds a unit with a name of its own; `place` is that of the outermost loop or branch around it."""
        unique, number = name, 0
        while unique in self._names:
            number += 1
            unique = f"{name}_{number}"
        self._names.add(unique)
        position = next(self._count)
        unit = Unit(unique, node, inputs, controls, position if place is None else place, position)
        self.units.append(unit)
        return unit

    def variable(self, op: Operation) -> Edge:
        """The variable of the graph that one in a body stands for."""
        container, name = op.attrs.get("container") or "", op.attrs.get("shared_name") or op.name
        unit = self._variables.get((container, name))
        if unit is None:
            found = self._graph._nodes_by_name.get(name) if self._graph is not None else None
            source = found if found is not None and found.type == op.type else op
            node = Node(source.type, source.name, source.attrs, [], source, self.context)
            for t in source.outputs:
                node.add_output(t.dtype, t.dims)
            unit = self._variables[container, name] = self.add(source.name, node, [], [], None)
        return unit, 0

    def remember(self, op: Operation, unit: Unit) -> None:
        """Says which unit is a variable."""
        self._variables[op.attrs.get("container") or "", op.attrs.get("shared_name") or op.name] = unit


class _Level:
    """The graph itself, the body of a loop or a branch: which unit gives which tensor there."""

    def __init__(self, whole: Lowered, above: _Level | None, place: int | None, bring: Callable[[Edge, str], Edge] | None = None) -> None:
        self.whole = whole
        self.above = above
        self.place = place
        self._bring = bring
        self.edges: dict[Tensor, Edge] = {}
        self.anchors: dict[Operation, Unit] = {}
        self._tensors: dict[Value, Tensor] = {}
        # What runs once for each time that a body does. What takes only what is there all the time waits for it.
        self.pivot: Unit | None = None
        self.always_there: set[Unit] = set()

    def of(self, value: Value) -> Edge:
        """What gives a value of this level's plan."""
        return self.edges[self._tensors[value]]

    def variable(self, op: Operation) -> Edge:
        """A variable, as this level sees it."""
        if self.above is None or self._bring is None:
            return self.whole.variable(op)
        return self._bring(self.above.variable(op), op.name.rpartition("/")[0])

    def add_ops(self, fetches: list[Tensor], targets: list[Operation], feeds: list[Tensor]) -> Plan:
        """Adds the units of the ops that are needed."""
        plan, nodes = self._planned(fetches, targets, feeds)
        used = {self._tensors[v] for v in (*plan.fetches, *(v for n in nodes.values() for v in n.inputs)) if v in self._tensors}
        ends = _ends(nodes)
        late: list[tuple[Unit, Node]] = []
        for op, node in nodes.items():
            if ends.get(op.inputs[0] if op.inputs else None) is op:
                self.edges[op.outputs[0]] = self.edges[op.inputs[0]]
                self.anchors[op] = self.edges[op.inputs[0]][0]
            elif is_lowered(op):
                (_Loop if op.type in WHILES else _Branch)(self, node, {t: ends.get(t) for t in op.outputs if t in used})
            elif self.above is not None and _is_reference(op):
                self.edges[op.outputs[0]] = edge = self.variable(op)
                self.anchors[op] = edge[0]
            else:
                late.append((self._add(op, node), node))
        for unit, node in late:
            unit.inputs.extend(self.of(v) for v in node.inputs)
            unit.controls.extend(self.anchors[c] for c in node.op.control_inputs if c in self.anchors)  # type: ignore[union-attr]
            self._hold(unit)
        self._join_frames(nodes, set(feeds))
        return plan

    def _planned(self, fetches: list[Tensor], targets: list[Operation], feeds: list[Tensor]) -> tuple[Plan, dict[Operation, Node]]:
        """Nodes for what is needed. Which values reads of variables see is settled as it is for other steps."""
        context = self.whole.context
        plan = Plan(context)
        values: dict[Tensor, Value] = {}
        for t in feeds:
            node = Node(FEED, t.op.name, {}, [], t.op, context)
            values[t] = node.add_output(t.dtype.base_dtype if self.above is None else t.dtype, t.dims)
            plan.nodes.append(node)
        order = schedule(fetches, targets, values)
        context.placer.place(order)
        nodes = {op: Node(op.type, op.name, op.attrs, [], op, context) for op in order}
        for op, node in nodes.items():
            for t in op.outputs:
                values.setdefault(t, node.add_output(t.dtype, t.dims))
        for op, node in nodes.items():
            node.inputs = [values[t] for t in op.inputs]
            node.reads = reads_of(op, node)
            if len(context.placer.tasks) > 1:
                node.context = context.at(context.placer.task_of(op))
            plan.nodes.append(node)
        self._tensors.update((value, t) for t, value in values.items())
        plan.fetches = [values[t] for t in fetches]
        see_later_writes(plan)
        if self.above is None:
            fetch_last_values(plan)
        return plan, nodes

    def _add(self, op: Operation, node: Node) -> Unit:
        unit = self.whole.add(op.name, node, [], [], self.place)
        self.anchors[op] = unit
        for slot, t in enumerate(op.outputs):
            self.edges.setdefault(t, (unit, slot))
        if self.above is None and _is_reference(op):
            self.whole.remember(op, unit)
        return unit

    def _hold(self, unit: Unit) -> None:
        """Has a unit of a body run when the body does."""
        if self.pivot is not None and not unit.controls and all(source in self.always_there for source, _ in unit.inputs):
            unit.controls.append(self.pivot)

    def _join_frames(self, nodes: dict[Operation, Node], fed: set[Tensor]) -> None:
        """Gives the units of a loop that is in the graph as such the same place."""
        if not any(op.type in FRAME_OPS for op in nodes):
            return
        places: dict[int, int] = {}
        home = frames_of([op for op in nodes if op in self.anchors], fed)
        for op, frame in home.items():
            places[id(frame.outermost)] = min(places.get(id(frame.outermost), 1 << 60), self.anchors[op].position)
        for op, frame in home.items():
            self.anchors[op].place = places[id(frame.outermost)]
        for frame in {id(f): f for f in home.values()}.values():
            self.whole.exits.setdefault(frame.name, []).extend(self.anchors[e] for e in frame.exits)

    def made(self, kind: str, name: str, like: Operation, inputs: list[Edge], count: int = 1, **attrs: Any) -> Unit:
        """Adds a unit that the graph has no op for. It runs where `like` does, and its outputs have the type of its first input."""
        node = Node(kind, name, attrs, [source.node.outputs[slot] for source, slot in inputs], like, self.whole.context)
        first = node.inputs[0]
        for _ in range(count):
            node.add_output(first.dtype, first.dims)
        if kind != "LoopCond":
            node.attrs = {"T": first.dtype.base_dtype, **attrs}
        return self.whole.add(name, node, inputs, [], self.place)


def is_lowered(op: Operation) -> bool:
    """Whether an op is a loop or a branch whose bodies become part of what runs."""
    return op.type in (*WHILES, *IFS) and bool(op.attrs.get("_lower_using_switch_merge"))


def _is_reference(op: Operation) -> bool:
    known = meaning(op.type)
    return known is not None and known.variable and not op.inputs and bool(op.outputs) and op.outputs[0].dtype._is_ref_dtype


def _ends(nodes: dict[Operation, Node]) -> dict[Any, Operation]:
    """{output of a While or If: the Identity that stands for the Exit or Merge in which it ends}."""
    found: dict[Any, Operation] = {}
    for op in nodes:
        if op.type == IDENTITY and op.inputs[0].op in nodes and is_lowered(op.inputs[0].op) and not op.control_inputs:
            if _END.fullmatch(op.name.rpartition("/")[2]):
                found.setdefault(op.inputs[0], op)
    return found


def _beside(name: str, old: str, new: str) -> str:
    """The name `while/Merge_1` with another last part: `while/Enter_1`; what is called differently gets a part more."""
    above, slash, last = name.rpartition("/")
    return f"{above}{slash}{new}{last[len(old) :]}" if re.fullmatch(old + r"(_\d+)?", last) else f"{name}/{new}"


class _Loop:
    """A While as Enter, Merge, LoopCond, Switch, NextIteration and Exit, and the ops of its two bodies."""

    def __init__(self, level: _Level, node: Node, wanted: dict[Tensor, Operation | None]) -> None:
        assert node.op is not None
        self.level, self.op = level, node.op
        whole = level.whole
        self.scope = self.op.name.rpartition("/")[0] or self.op.name
        self.frame = f"{self.scope}/while_context"
        while self.frame in whole.exits:
            self.frame += "_1"
        whole.exits[self.frame] = []
        place = whole.next_place() if level.place is None else level.place
        self.entered: dict[Edge, Edge] = {}
        condition, body = (whole.context.library(self.op.attrs[key].name).graph for key in ("cond", "body"))
        self.deciding = _Level(whole, level, place, self._enter)
        self.going = _Level(whole, level, place, self._enter)
        merges: dict[int, Unit] = {}
        for k, value in enumerate(node.inputs):
            outer, reads = level.of(value), k in node.reads
            if body.outputs[k] is body.inputs[k] and _CAPTURE.fullmatch(body.inputs[k].op.name.rpartition("/")[2]):
                level.edges[self.op.outputs[k]] = outer
                used = [t for t in (condition.inputs[k], body.inputs[k]) if t.consumers()]
                if used:
                    inner = self._enter(outer, used[0].op.name.rpartition("/")[0], reads)
                    self.deciding.edges[condition.inputs[k]] = self.going.edges[body.inputs[k]] = inner
                    self.going.edges[body.inputs[k]] = inner
                continue
            name = condition.inputs[k].op.name
            enter = self._made_enter(outer, _beside(name, "Merge", "Enter"), reads, False)
            merges[k] = self.deciding.made("Merge", name, self.op, [(enter, 0)], 2, N=2)
            self.deciding.edges[condition.inputs[k]] = (merges[k], 0)
        self.deciding.pivot = next(iter(merges.values()), None)
        plan = self.deciding.add_ops(list(condition.outputs), function_targets(condition), _known(condition, self.deciding))
        decided = self.deciding.made("LoopCond", f"{self.scope}/LoopCond", self.op, [self.deciding.of(plan.fetches[0])])
        switches = {}
        for k, merge in merges.items():
            name = _beside(condition.inputs[k].op.name, "Merge", "Switch")
            switches[k] = self.going.made("Switch", name, self.op, [(merge, 0), (decided, 0)], 2)
            given = self.going.made(IDENTITY, body.inputs[k].op.name, self.op, [(switches[k], 1)])
            self.going.edges[body.inputs[k]] = (given, 0)
            self.going.pivot = self.going.pivot or given
        plan = self.going.add_ops(list(body.outputs), function_targets(body), _known(body, self.going))
        for k, merge in merges.items():
            name = _beside(condition.inputs[k].op.name, "Merge", "NextIteration")
            again = self.going.made("NextIteration", name, self.op, [self.going.of(plan.fetches[k])])
            merge.inputs.append((again, 0))
        for k, switch in switches.items():
            t = self.op.outputs[k]
            if t in wanted or (not level.anchors.get(self.op) and k == max(switches)):
                self._leave(t, switch, wanted.get(t), _beside(condition.inputs[k].op.name, "Merge", "Exit"))

    def _leave(self, tensor: Tensor, switch: Unit, end: Operation | None, name: str) -> None:
        leaving = self.level.made("Exit", end.name if end is not None else name, end or self.op, [(switch, 0)])
        leaving.place = self.going.place if self.going.place is not None else leaving.place
        self.level.whole.exits[self.frame].append(leaving)
        self.level.edges[tensor] = (leaving, 0)
        self.level.anchors.setdefault(self.op, leaving)

    def _made_enter(self, outer: Edge, name: str, reads: bool, is_constant: bool) -> Unit:
        enter = self.deciding.made("Enter", name, self.op, [outer], frame_name=self.frame, is_constant=is_constant, parallel_iterations=1)
        if reads:
            enter.node.reads = frozenset((0,))
        return enter

    def _enter(self, outer: Edge, scope: str, reads: bool = False) -> Edge:
        """What does not change in the loop, as the loop sees it."""
        if outer not in self.entered:
            enter = self._made_enter(outer, f"{scope}/Enter", reads, True)
            self.deciding.always_there.add(enter)
            self.going.always_there.add(enter)
            self.entered[outer] = (enter, 0)
        return self.entered[outer]


def _known(body: Any, level: _Level) -> list[Tensor]:
    """The inputs of a body that something there uses."""
    return [t for t in body.inputs if t in level.edges]


class _Branch:
    """An If as Switch and Merge, and the ops of its two bodies."""

    def __init__(self, level: _Level, node: Node, wanted: dict[Tensor, Operation | None]) -> None:
        assert node.op is not None
        self.level, self.op, self.node = level, node.op, node
        whole = level.whole
        scope = self.op.name.rpartition("/")[0] or self.op.name
        self.place = whole.next_place() if level.place is None else level.place
        inner = _Level(whole, level, self.place)
        pred = level.of(node.inputs[0])
        switch = inner.made("Switch", f"{scope}/Switch", self.op, [pred, pred], 2)
        true = inner.made(IDENTITY, f"{scope}/switch_t", self.op, [(switch, 1)])
        false = inner.made(IDENTITY, f"{scope}/switch_f", self.op, [(switch, 0)])
        self.pred = inner.made(IDENTITY, f"{scope}/pred_id", self.op, [pred])
        if 0 in node.reads:
            switch.node.reads, self.pred.node.reads = frozenset((0, 1)), frozenset((0,))
        taken = [self._add_branch(branch, pivot) for branch, pivot in ((0, false), (1, true))]
        for k, t in enumerate(self.op.outputs):
            if t in wanted:
                end = wanted[t]
                ways = [edges[k] for edges, _ in taken]
                merge = inner.made("Merge", end.name if end is not None else f"{scope}/Merge", end or self.op, ways, 2, N=2)
                level.edges[t] = (merge, 0)
                level.anchors.setdefault(self.op, merge)
        if self.op not in level.anchors:
            done = [inner.made(IDENTITY, f"{scope}/done", self.op, [(pivot, 0)]) for pivot in (false, true)]
            for unit, (_, effects) in zip(done, taken):
                unit.controls.extend(effects)
            level.anchors[self.op] = inner.made("Merge", f"{scope}/Merge", self.op, [(unit, 0) for unit in done], 2, N=2)

    def _add_branch(self, branch: int, pivot: Unit) -> tuple[list[Edge], list[Unit]]:
        """Adds one of the two bodies; returns what it gives, and what runs there for its effects."""
        whole = self.level.whole
        body = whole.context.library(self.op.attrs["then_branch" if branch else "else_branch"].name).graph
        brought: dict[Edge, Edge] = {}

        def bring(outer: Edge, scope: str, reads: bool = False) -> Edge:
            if outer not in brought:
                switch = inner.made("Switch", f"{scope}/Switch", self.op, [outer, (self.pred, 0)], 2)
                if reads:
                    switch.node.reads = frozenset((0,))
                brought[outer] = (switch, branch)
            return brought[outer]

        inner = _Level(whole, self.level, self.place, bring)
        inner.pivot = pivot
        outputs = set(body.outputs)
        for k, t in enumerate(body.inputs):
            if t.consumers() or t in outputs:
                outer = self.level.of(self.node.inputs[k + 1])
                inner.edges[t] = bring(outer, t.op.name.rpartition("/")[0], k + 1 in self.node.reads)
        targets = function_targets(body)
        plan = inner.add_ops(list(body.outputs), targets, _known(body, inner))
        edges = [inner.of(v) for v in plan.fetches]
        effects = [inner.anchors[op] for op in targets if op in inner.anchors]
        loose = [unit for unit in effects if unit not in _before(edges)]
        if loose:
            edges = [(inner.made(IDENTITY, f"{edge[0].name}/done", self.op, [edge]), 0) for edge in edges]
            for source, _ in edges:
                source.controls.extend(loose)
        return edges, effects


def _before(edges: list[Edge]) -> set[Unit]:
    """What has run where these are known."""
    found: set[Unit] = set()
    stack = [source for source, _ in edges]
    while stack:
        unit = stack.pop()
        if unit not in found:
            found.add(unit)
            stack.extend(source for source, _ in unit.inputs)
            stack.extend(unit.controls)
    return found
