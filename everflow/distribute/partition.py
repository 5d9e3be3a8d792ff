"""Steps over several processes: what a plan places on a remote task becomes nodes that ask that task's server to do it."""

from __future__ import annotations

import functools
import time
from typing import Any, NamedTuple

from everflow.distribute.failures import told
from everflow.distribute.remote_part import RemotePart
from everflow.distribute.remote_task import RemoteTask
from everflow.distribute.tensors import decoded, encoded
from everflow.errors import OpError
from everflow.graph import dtypes
from everflow.graph.functions import called_functions, with_called
from everflow.graph.operation import Operation
from everflow.ops.core.node import FEED
from everflow.ops.core.registry import Meaning
from everflow.runtime.placement import calls_functions
from everflow.runtime.plan import Node, Plan, Value


def hand_out(plan: Plan) -> None:
    """Replaces the nodes of remote tasks, as many at a time as can run without word from elsewhere."""
    placer = plan.context.placer
    homes = {n: placer.task_of(n.op) for n in plan.nodes if n.op is not None and n.op.type == n.type}
    homes = {n: t for n, t in homes.items() if t.is_remote}
    _lead_into_bodies(plan, homes)
    if not homes:
        return
    nodes: list[Node] = []
    table: dict[Value, Value] = {}
    for batch in _batches(plan, _groups(plan, homes)):
        if batch[0][0] is None:
            nodes += batch[0][1]
        else:
            nodes.append(_asking(plan, [_handed(plan, task, group, homes) for task, group in batch if task is not None], table))
    plan.nodes = nodes
    plan.replace(table)
    for node in nodes:
        # Of variables that are elsewhere, the values have come.
        node.reads = frozenset(i for i in node.reads if node.inputs[i].dtype._is_ref_dtype)


def _lead_into_bodies(plan: Plan, homes: dict[Node, RemoteTask]) -> None:
    """A function that is called here may use what is kept elsewhere: its body goes there itself, and is given nothing."""
    nodes: list[Node] = []
    for node in plan.nodes:
        op = node.op
        if op is not None and node.type != FEED and node not in homes and calls_functions(op):
            far = [i for i, v in enumerate(node.inputs) if _is_handle(v) and _home(plan, v, homes) is not None]
            if far:
                functions = (plan.context.library(name) for name in called_functions(op))
                plan.context.placer.lead_outside(op, [f for f in functions if f is not None])
            for i in far:
                v = node.inputs[i]
                stand_in = Node("_Elsewhere", f"{v.node.name}/elsewhere", {}, [], None, plan.context)
                stand_in.fused = Meaning("_Elsewhere", __name__, lambda node: lambda: None)
                nodes.append(stand_in)
                node.inputs[i] = stand_in.add_output(v.dtype, v.dims)
        nodes.append(node)
    plan.nodes = nodes


def _home(plan: Plan, handle: Value, homes: dict[Node, RemoteTask]) -> RemoteTask | None:
    """Which remote task keeps a variable or resource; the argument of a function may stand for one."""
    node = handle.node
    if node.type != FEED or not plan.context.placer.stands_for_another(node.op):
        return homes.get(node)
    task = plan.context.placer.task_of(node.op)
    return task if task.is_remote else None


Group = tuple[RemoteTask | None, list[Node]]


def _batches(plan: Plan, groups: list[Group]) -> list[list[Group]]:
    """Groups of several tasks that follow each other and don't wait for each other, which can run at once."""
    by_op = {n.op: n for n in plan.nodes}
    found: list[list[Group]] = []
    inside: set[Node] = set()
    for task, group in groups:
        before = {v.node for n in group for v in n.inputs}
        before.update(by_op[c] for n in group if n.op is not None and n.type != FEED for c in n.op.control_inputs if c in by_op)
        tasks = {t for t, _ in found[-1]} if found else {None}
        if task is None or None in tasks or task in tasks or before & inside:
            found.append([])
            inside = set()
        found[-1].append((task, group))
        inside.update(group)
    return found


def _groups(plan: Plan, homes: dict[Node, RemoteTask]) -> list[tuple[RemoteTask | None, list[Node]]]:
    """The nodes in an order in which they can run, with as few changes of task as that allows."""
    by_op = {n.op: n for n in plan.nodes}
    waiting, after = {}, {n: [] for n in plan.nodes}  # type: dict[Node, int], dict[Node, list[Node]]
    for node in plan.nodes:
        controls = (by_op[c] for c in node.op.control_inputs if c in by_op) if node.op is not None and node.type != "_Feed" else ()
        before = {*(v.node for v in node.inputs), *controls}
        waiting[node] = len(before)
        for b in before:
            after[b].append(node)
    left = list(plan.nodes)
    found: list[tuple[RemoteTask | None, list[Node]]] = []
    task: RemoteTask | None = None
    while left:
        group, rest = [], []
        for node in left:
            if waiting[node] == 0 and homes.get(node) is task:
                group.append(node)
                for a in after[node]:
                    waiting[a] -= 1
            else:
                rest.append(node)
        if group:
            if found and found[-1][0] is task:
                found[-1][1].extend(group)
            else:
                found.append((task, group))
            left = rest
        else:
            # Other tasks first: what they give may then be asked for at once.
            ready = [homes.get(n) for n in left if waiting[n] == 0]
            task = next((t for t in ready if t is not None), None)
    return found


def _is_handle(value: Value) -> bool:
    return value.dtype._is_ref_dtype or value.dtype.base_dtype is dtypes.resource


def _origin(value: Value) -> Value:
    """Where a handle comes from: an op that changes a variable hands the same variable on."""
    while value.node.inputs and _is_handle(value) and _is_handle(value.node.inputs[0]):
        value = value.node.inputs[0]
    return value


class _Handed(NamedTuple):
    """What a remote task does: its part, with what that takes and gives."""

    part: _PlannedPart
    incoming: list[Value]
    outgoing: list[Value]


def _asking(plan: Plan, batch: list[_Handed], table: dict[Value, Value]) -> Node:
    """The node that has tasks do their parts, all at once."""
    incoming = [v for handed in batch for v in handed.incoming]
    asks = Node("_RemotePart", f"{batch[0].part.name}/remote", {}, incoming, None, plan.context)
    asks.reads = frozenset(i for i, v in enumerate(incoming) if v.dtype._is_ref_dtype)
    asks.asked_for = True
    asks.fused = Meaning("_RemotePart", __name__)
    parts = [handed.part for handed in batch]
    asks.fused.kernel = lambda node: parts[0].run if len(parts) == 1 else functools.partial(_run_together, parts)
    for handed in batch:
        for v in handed.outgoing:
            table[v] = asks.add_output(v.dtype.base_dtype, v.dims)
    return asks


def _handed(plan: Plan, task: RemoteTask, group: list[Node], homes: dict[Node, RemoteTask]) -> _Handed:
    """What stands for a group of nodes of a remote task."""
    inside = set(group)
    part = _PlannedPart(plan.context, task, group[-1].name)
    plan.context.remote_parts.append(part)
    incoming: dict[Value, str] = {}
    copied: dict[Node, None] = {}
    kept: dict[Operation, None] = {}
    inputs: dict[Node, list[str]] = {}
    for node in group:
        inputs[node] = []
        for v in node.inputs:
            is_kept_there = v.node not in inside and _is_handle(v) and _home(plan, v, homes) is task
            if is_kept_there:
                v = _origin(v)
            if is_kept_there and v.node.type == FEED:
                outside = plan.context.placer.source(v.node.op)
                kept[outside] = None
                inputs[node].append(f"{outside.name}:0")
                continue
            if v.node not in inside and (v.node.type == "Const" or is_kept_there):
                copied[v.node] = None
            elif v.node not in inside:
                if v not in incoming:
                    incoming[v] = part.receive(v.dtype.base_dtype)
                    part.are_ours.append(v.node.is_fresh or v.node.type == FEED)
                inputs[node].append(incoming[v])
                continue
            inputs[node].append(f"{v.node.name}:{v.index}")
    ops = {n.op for n in group}
    for op in kept:
        part.add(op, [], [])
    for node in (*copied, *group):
        part.add(node.op, inputs.get(node, []), [c.name for c in node.op.control_inputs if c in ops])  # type: ignore[union-attr]
    used = {v for n in plan.nodes if n not in inside and homes.get(n) is not task for v in n.inputs}
    used |= {v for n in plan.nodes if n not in inside and homes.get(n) is task for v in n.inputs if not _is_handle(v)}
    outgoing = [v for n in group for v in n.outputs if v in used or v in plan.fetches]
    for v in outgoing:
        part.send(f"{v.node.name}:{v.index}", v.dtype.base_dtype)
    return _Handed(part, list(incoming), outgoing)


class _PlannedPart(RemotePart):
    """A part of a step that a remote task runs, with the session's functions at hand."""

    def __init__(self, context: Any, task: RemoteTask, name: str) -> None:
        device = f"{task.name}/device:CPU:0"
        super().__init__(
            task.channel, device, task.incarnation(device), task.session or context.handle, task.is_ours, is_known=bool(task.session)
        )
        self.name = name
        self._context = context
        self._task = task
        self._functions: dict[str, Any] = {}
        # Of each tensor that it is given, whether nobody else may write to it meanwhile.
        self.are_ours: list[bool] = []
        self.graph_def.versions.CopyFrom(context.graph.graph_def_versions)

    def add(self, op: Any, inputs: list[str], controls: list[str]) -> None:
        """Adds an op of the program."""
        entry = self.graph_def.node.add()
        entry.CopyFrom(op.node_def)
        # Colocation has done its work: the device is known.
        entry.attr.pop("_class", None)
        own = self._context.placer
        entry.device = own.device_of(op) if own.task_of(op) is self._task else self.device
        del entry.input[:]
        entry.input.extend([*inputs, *(f"^{c}" for c in controls)])
        called = (self._context.library(name) for name in called_functions(op) if name not in self._functions)
        for name, function in with_called(f for f in called if f is not None).items():
            if name not in self._functions:
                self._functions[name] = function
                self.graph_def.library.function.append(function.definition)

    def started(self, arguments: Any) -> tuple[int, Any]:
        """Has the task begin to run the part."""
        return self.begin(self._encoded(arguments), self._timeout())

    def ended(self, step: int, call: Any) -> list[Any]:
        """What the task gave."""
        found = self.end(step, call)
        self.finish(step)
        return [decoded(t) for t in found]

    def run(self, *arguments: Any) -> Any:
        """Has the task run the part."""
        step, tensors = self.call(self._encoded(arguments), self._timeout())
        self.finish(step)
        found = [decoded(t) for t in tensors]
        return found[0] if len(found) == 1 else tuple(found)

    def failed(self, message: str, code: int) -> OpError:
        """The error that the task answered with, as one of the program's ops."""
        return told(self._context.graph, f"From {self._task.name}:\n{message}", code)

    def _encoded(self, arguments: Any) -> list[Any]:
        return [encoded(*given) for given in zip(arguments, self.incoming_types, self.are_ours, strict=True)]

    def _timeout(self) -> float | None:
        deadline = self._context.deadline
        return None if deadline is None else max(0.001, deadline - time.monotonic())


def _run_together(parts: list[_PlannedPart], *arguments: Any) -> Any:
    """Has several tasks run their parts at the same time."""
    given = iter(arguments)
    calls = [(part, *part.started([next(given) for _ in part.incoming_types])) for part in parts]
    found: list[Any] = []
    try:
        for part, step, call in calls:
            found += part.ended(step, call)
    finally:
        # Where one failed, nobody wants the rest.
        for _, _, call in calls:
            call.cancel()
    return found[0] if len(found) == 1 else tuple(found)
