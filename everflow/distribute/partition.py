"""Steps over several processes: what a plan places on a remote task becomes nodes that ask that task's server to do it."""
from __future__ import annotations

import contextlib
import secrets
import threading
import time
from typing import Any

from everflow import errors
from everflow.distribute.remote_task import RemoteTask
from everflow.distribute.tensors import packed, unpacked
from everflow.distribute.wire import called
from everflow.distribute.worker_service import rendezvous_key
from everflow.errors import from_code
from everflow.graph import attrs as attr_values
from everflow.graph import dtypes
from everflow.ops.registry import Meaning
from everflow.proto import graph_pb2, worker_pb2
from everflow.runtime.plan import Node, Plan, Value


def hand_out(plan: Plan) -> None:
    """Replaces the nodes of remote tasks, as many at a time as can run without word from elsewhere."""
    placer = plan.context.placer
    homes = {n: placer.task_of(n.op) for n in plan.nodes if n.op is not None and n.op.type == n.type}
    homes = {n: t for n, t in homes.items() if t.is_remote}
    if not homes:
        return
    nodes: list[Node] = []
    table: dict[Value, Value] = {}
    for task, group in _groups(plan, homes):
        if task is None:
            nodes += group
        else:
            nodes.append(_replaced(plan, task, group, homes, table))
    plan.nodes = nodes
    plan.replace(table)


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
            task = homes.get(next(n for n in left if waiting[n] == 0))
    return found


def _is_handle(value: Value) -> bool:
    return value.dtype._is_ref_dtype or value.dtype.base_dtype is dtypes.resource


def _origin(value: Value) -> Value:
    """Where a handle comes from: an op that changes a variable hands the same variable on."""
    while value.node.inputs and _is_handle(value) and _is_handle(value.node.inputs[0]):
        value = value.node.inputs[0]
    return value


def _replaced(plan: Plan, task: RemoteTask, group: list[Node], homes: dict[Node, RemoteTask], table: dict[Value, Value]) -> Node:
    """The node that stands for a group of nodes of a remote task."""
    inside = set(group)
    part = _RemotePart(plan.context, task)
    plan.context.remote_parts.append(part)
    incoming: dict[Value, str] = {}
    copied: dict[Node, None] = {}
    inputs: dict[Node, list[str]] = {}
    for node in group:
        inputs[node] = []
        for v in node.inputs:
            if v.node not in inside and homes.get(v.node) is task and _is_handle(v):
                v = _origin(v)
            if v.node not in inside and (v.node.type == "Const" or (homes.get(v.node) is task and _is_handle(v))):
                copied[v.node] = None
            elif v.node not in inside:
                if v not in incoming:
                    incoming[v] = part.receive(v.dtype.base_dtype)
                inputs[node].append(incoming[v])
                continue
            inputs[node].append(f"{v.node.name}:{v.index}")
    for node in (*copied, *group):
        part.add(node, inputs.get(node, []), [c.name for c in node.op.control_inputs if c in {n.op for n in group}])  # type: ignore[union-attr]
    used = {v for n in plan.nodes if n not in inside and homes.get(n) is not task for v in n.inputs}
    used |= {v for n in plan.nodes if n not in inside and homes.get(n) is task for v in n.inputs if not _is_handle(v)}
    outgoing = [v for n in group for v in n.outputs if v in used or v in plan.fetches]
    asks = Node("_RemotePart", f"{group[-1].name}/remote", {}, list(incoming), None, plan.context)
    asks.reads = frozenset(i for i, v in enumerate(incoming) if v.dtype._is_ref_dtype)
    asks.asked_for = True
    asks.fused = Meaning("_RemotePart", __name__)
    asks.fused.kernel = lambda node: part.run
    for v in outgoing:
        part.send(f"{v.node.name}:{v.index}", v.dtype.base_dtype)
        table[v] = asks.add_output(v.dtype.base_dtype, v.dims)
    return asks


class _RemotePart:
    """A part of a step that a remote task runs; it is registered with the task's server at its first run."""

    def __init__(self, context: Any, task: RemoteTask) -> None:
        self._context = context
        self._task = task
        self._graph_def = graph_pb2.GraphDef()
        self._graph_def.library.CopyFrom(context.graph.as_graph_def().library)
        self._graph_def.versions.CopyFrom(context.graph.graph_def_versions)
        self._incoming: list[tuple[str, Any]] = []
        self._outgoing: list[tuple[str, Any]] = []
        self._handle = ""
        self._lock = threading.Lock()

    def add(self, node: Node, inputs: list[str], controls: list[str]) -> None:
        """Adds an op of the program."""
        entry = self._graph_def.node.add()
        op: Any = node.op
        entry.CopyFrom(op.node_def)
        # Colocation has done its work: the device is known.
        entry.attr.pop("_class", None)
        own = self._context.placer
        entry.device = own.device_of(op) if own.task_of(op) is self._task else f"{self._task.name}/device:CPU:0"
        del entry.input[:]
        entry.input.extend([*inputs, *(f"^{c}" for c in controls)])

    def receive(self, dtype: Any) -> str:
        """Adds what takes a tensor from here; returns what its consumers call it."""
        name, key = self._end("_Recv", f"wire.in.{len(self._incoming)}", "tensor_type", dtype)
        self._incoming.append((key, dtype))
        return f"{name}:0"

    def send(self, source: str, dtype: Any) -> None:
        """Adds what gives a tensor back."""
        _, key = self._end("_Send", f"wire.out.{len(self._outgoing)}", "T", dtype, source)
        self._outgoing.append((key, dtype))

    def _end(self, kind: str, name: str, type_attr: str, dtype: Any, *inputs: str) -> tuple[str, str]:
        device = f"{self._task.name}/device:CPU:0"
        incarnation = self._task.incarnation(device)
        settings = {"tensor_name": name, "send_device": device, "recv_device": device, "client_terminated": True,
                    "send_device_incarnation": incarnation - 2**64 if incarnation >= 2**63 else incarnation}
        entry = self._graph_def.node.add(name=name, op=kind, device=device, input=inputs)
        entry.attr[type_attr].type = dtype.as_datatype_enum
        for attr, value in settings.items():
            entry.attr[attr].CopyFrom(attr_values.to_proto(value, None))
        return name, rendezvous_key(settings.__getitem__)

    def release(self) -> None:
        """Lets the task's server forget the part, which ends runs of it under way."""
        if self._handle:
            with contextlib.suppress(errors.OpError):
                called(self._task.worker.DeregisterGraph, worker_pb2.DeregisterGraphRequest(graph_handle=self._handle), timeout=5)

    def run(self, *arguments: Any) -> Any:
        """Has the task run the part."""
        worker = self._task.worker
        with self._lock:
            if not self._handle:
                self._handle = called(worker.RegisterGraph, worker_pb2.RegisterGraphRequest(graph_def=self._graph_def)).graph_handle
        step = secrets.randbits(56)
        request = worker_pb2.RunGraphRequest(graph_handle=self._handle, step_id=step, store_errors_in_response_body=True,
                                             recv_key=[key for key, _ in self._outgoing], request_id=secrets.randbits(62))
        for (key, dtype), value in zip(self._incoming, arguments, strict=True):
            request.send.add(name=key).tensor.CopyFrom(packed(value, dtype))
        deadline = self._context.deadline
        response = called(worker.RunGraph, request, None if deadline is None else max(0.001, deadline - time.monotonic()))
        called(worker.CleanupGraph, worker_pb2.CleanupGraphRequest(step_id=step))
        if response.status_code:
            raise from_code(None, None, response.status_error_message, response.status_code)
        tensors = {t.name: t.tensor for t in response.recv}
        found = [unpacked(tensors[key]) for key, _ in self._outgoing]
        return found[0] if len(found) == 1 else tuple(found)
