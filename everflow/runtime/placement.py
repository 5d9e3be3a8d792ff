"""Where ops run: the device that each asks for must exist, and may be told to the user."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from typing import Any

from everflow import errors
from everflow.graph.devices import DeviceSpec
from everflow.graph.dtypes import resource
from everflow.graph.graph import Graph
from everflow.graph.interpolation import described
from everflow.graph.operation import Operation
from everflow.runtime.devices import GPU
from everflow.runtime.tasks import HERE, Task

# What all sessions of a cluster find under the same name, where nobody said in which task it is.
_SHARED = re.compile(r"VarHandleOp|Variable(V2)?|\w*(Queue|HashTable|HashTableOfTensors)(V2)?|\w*ConditionalAccumulator|Barrier")


class Placer:
    """Places the ops of a session's graph, each once.

    Where an op's device leaves it open, its task is the first; for variables, queues and the like it is the one whose name comes first, as
    in TensorFlow, so that sessions of other tasks find them.
    """

    def __init__(self, config: Any, tasks: list[Task] | None = None) -> None:
        self.tasks = tasks or [Task(HERE.job, HERE.index, config)]
        self._is_soft = config is not None and config.allow_soft_placement
        self._logs = config is not None and config.log_device_placement
        self._only_what_runs = config is not None and config.graph_options.place_pruned_graph
        self._graph_ops_placed = 0
        self._placed: set[Operation] = set()
        self._outside: dict[Operation, Operation] = {}
        # The tasks of which one has what is shared.
        self._common = self.tasks
        # Of a task's devices, the one for what says nothing.
        self._default = "CPU", 0

    def place_graph(self, graph: Graph) -> None:
        """Places what was added to the graph, needed or not, unless the session is to look only at what it runs."""
        if not self._only_what_runs:
            added = graph._ops[self._graph_ops_placed :]
            self.place(added)
            self._graph_ops_placed += len(added)

    def place(self, ops: Iterable[Operation]) -> None:
        """Raises for an op that asks for a device this session does not have, unless soft placement allows another."""
        for op in ops:
            if op in self._placed or not (op._device or self._logs):
                continue
            device = self.device_of(op)
            self._placed.add(op)
            if self._logs:
                self._log(op, device)

    @property
    def default_device(self) -> str:
        """Where what says nothing about its device runs."""
        kind, index = self._default
        return f"{self.tasks[0].name}/device:{kind}:{index}"

    def device_named(self, name: str) -> tuple[Task, DeviceSpec]:
        """The device with a name, which may leave out what the first task's have in common: the task, and the name taken apart."""
        try:
            asked = DeviceSpec.from_string(name)
        except ValueError:
            raise errors.InvalidArgumentError(None, None, f"Could not parse {name} into a device specification.") from None
        spec = DeviceSpec.from_string(self.default_device).make_merged_spec(asked)
        for task in self.tasks:
            is_its = (task.job, task.index, 0) == (spec.job, spec.task, spec.replica)
            if is_its and spec.device_index < task.counts.get(spec.device_type, 0):
                return task, spec
        raise errors.InternalError(None, None, f"Currently don't support instantiating functions on device: {spec.to_string()}")

    def device_of(self, op: Operation) -> str:
        """The full name of the device that an op runs on."""
        return self._found(op)[1]

    def task_of(self, op: Operation) -> Task:
        """The task that an op runs in."""
        return self._found(op)[0]

    def seen_from(self, task: Task, config: Any, device: DeviceSpec | None = None) -> Placer:
        """The same places, where what leaves its task open runs in another one, on a certain device of it."""
        found = Placer(config, [task, *(t for t in self.tasks if t is not task)])
        found._outside, found._common = self._outside, [task]
        if device is not None:
            found._default = device.device_type, device.device_index
        return found

    def lead_outside(self, call: Operation, functions: Iterable[Any]) -> None:
        """Remembers which variables and resources the arguments of called functions stand for. Functions take what is given to the
        call last as their last arguments."""
        given = [t.op if _is_handle(t) else None for t in call.inputs]
        for function in functions:
            for argument, source in zip(reversed(function.graph.inputs), reversed(given)):
                if source is not None:
                    self._outside[argument.op] = source

    def stands_for_another(self, op: Operation | None) -> bool:
        """Whether an op is an argument of a function that stands for a variable or resource of whoever calls it."""
        return op in self._outside

    def source(self, op: Operation) -> Operation:
        """The op that makes a variable or resource which another hands on, or which an argument of a function stands for."""
        while True:
            if op in self._outside:
                op = self._outside[op]
            elif op.inputs and _is_handle(op.inputs[0]) and any(_is_handle(t) for t in op.outputs):
                op = op.inputs[0].op
            else:
                return op

    def _found(self, op: Operation) -> tuple[Task, str]:
        if op in self._outside:
            return self._found(self._outside[op])
        spec = DeviceSpec.from_string(op._device)
        if len(self.tasks) > 1:
            # What uses a variable or another resource is where that is, whatever it asks for itself.
            leader = self._owner(op) or (_leader(op) if spec.job is None else None)
            if leader is not None:
                task = self.task_of(leader)
                spec = spec.replace(job=task.job, task=task.index)
            elif spec.job is None:
                spec = _place_of_users(op, spec)
            if leader is None and spec.task is None and _SHARED.fullmatch(op.type):
                task = min((t for t in self._common if spec.job in (None, t.job)), key=lambda t: t.name, default=self.tasks[0])
                spec = spec.replace(job=task.job, task=task.index)
        kind, index = self._default if spec.device_type is None else (spec.device_type.upper(), spec.device_index or 0)
        tasks = [t for t in self.tasks if spec.job in (None, t.job) and spec.task in (None, t.index) and spec.replica in (None, 0)]
        for task in tasks:
            if index < task.counts.get(kind, 0):
                return task, f"{task.name}/device:{kind}:{index}"
        if tasks and self._is_soft:
            return tasks[0], f"{tasks[0].name}/device:CPU:0"
        available = ", ".join(d.name for t in self.tasks for d in t.devices())
        no_gpu = kind == GPU and not any(t.counts[GPU] for t in self.tasks)
        hint = " The requested device appears to be a GPU, but CUDA is not enabled." if no_gpu else ""
        raise errors.InvalidArgumentError(
            op.node_def,
            op,
            f"Cannot assign a device for operation {op.name}: {described(op)} was explicitly assigned to {op._device} but available "
            f"devices are [ {available} ]. Make sure the device specification refers to a valid device.{hint}\n\t [[{op.name}]]",
        )

    def _owner(self, op: Operation) -> Operation | None:
        """The op whose variable or resource another one uses. Functions may use those of several tasks: they stay where they are."""
        if calls_functions(op):
            return None
        takes_refs = op.op_def_.takes_refs
        return next((t.op for t in op.inputs if t.dtype is resource or (_is_handle(t) and (takes_refs or t.op in self._outside))), None)

    def _log(self, op: Operation, device: str) -> None:
        if len(self._placed) == 1:
            print("Device mapping:", *(d.name for t in self.tasks for d in t.devices()), sep="\n", file=sys.stderr)
        print(f"{op.name}: ({op.type}): {device}", file=sys.stderr)


def calls_functions(op: Operation) -> bool:
    """Whether an op has bodies: branches, loops, calls."""
    return any(a.type in ("func", "list(func)") for a in op.op_def_.attrs.values())


def _is_handle(t: Any) -> bool:
    return t.dtype._is_ref_dtype or t.dtype is resource


def _leader(op: Operation) -> Operation | None:
    """The op that another is best with: the one whose value it reads, or that it is colocated with."""
    owners = [t.op for t in op.inputs if _is_handle(t)]
    if owners and not calls_functions(op):
        return owners[0]
    for group in op.attrs.get("_class") or ():
        name = (group.decode() if isinstance(group, bytes) else group).removeprefix("loc:@")
        if name != op.name and name in op.graph._by_name:
            return op.graph._by_name[name]
    return None


def _place_of_users(op: Operation, spec: DeviceSpec) -> DeviceSpec:
    """What an op that says nothing of its task asks for: to be where those who use its resource say that they are."""
    users = (DeviceSpec.from_string(c._device) for t in op.outputs if t.dtype is resource for c in t.consumers())
    found = next((user for user in users if user.job), None)
    return spec if found is None else spec.replace(job=found.job, task=found.task)
