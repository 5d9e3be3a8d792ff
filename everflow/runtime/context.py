"""Where steps run: the resources, functions, devices and configuration that a session's kernels share."""

from __future__ import annotations

import contextlib
import copy
import threading
from collections.abc import Callable, Collection
from typing import Any

from everflow.cycles import uncollected
from everflow.errors import OpError, invalid_argument, not_found
from everflow.graph import dtypes
from everflow.graph.describe import type_name
from everflow.graph.func_graph import function_targets
from everflow.graph.operation import Operation
from everflow.runtime import codegen, compilation, passes, threads
from everflow.runtime.branches import fix_feeds, take_known_branches
from everflow.runtime.failures import explained
from everflow.runtime.loops import while_kernel
from everflow.runtime.meetings import join_meetings
from everflow.runtime.memory import keep_freed_memory
from everflow.runtime.placement import Placer
from everflow.runtime.plan import Node, Plan, make_plan
from everflow.runtime.references import fetch_last_values
from everflow.runtime.symbols import forget_dims, settle_dims
from everflow.runtime.tasks import Task
from everflow.values import tensors as values


class Context:
    """The run-time side of a session; kernels reach it as `node.context`."""

    # Whether other sessions see the same resources.
    is_shared = False
    # Whether Python functions that do not wait for each other start together.
    runs_side_by_side = True

    def __init__(self, graph: Any, config: Any = None, tasks: list[Task] | None = None) -> None:
        keep_freed_memory()
        self.graph = graph
        self.config = config
        # Whether whole steps are to be compiled; see everflow.runtime.passes.compiled_parts.
        self.compiles = compilation.is_asked_for(config)
        self.placer = Placer(config, tasks)
        self.resources = self.placer.tasks[0].resources
        self.cancelled = threading.Event()
        self._constants: dict[Operation, Any] = {}
        self._functions: dict[tuple[str, bool], Callable[..., Any]] = {}
        self._elsewhere: dict[Task, Context] = {}
        self._on_devices: dict[str, Context] = {}
        self.loops: dict[Any, Any] = {}
        self.effects: dict[str, Any] = {}
        self._op_state: dict[Any, Any] = {}
        self._lock = threading.RLock()
        self._runs = threading.local()

    @property
    def deadline(self) -> float | None:
        """When the run under way in this thread must be over (time.monotonic), or None. What blocks looks at it."""
        return getattr(self._runs, "deadline", None)

    @contextlib.contextmanager
    def until(self, deadline: float | None) -> Any:
        """Sets the deadline of this thread's runs."""
        before = self.deadline
        self._runs.deadline = deadline
        try:
            yield
        finally:
            self._runs.deadline = before

    def close(self) -> None:
        """Cancels the runs under way and lets go of the resources."""
        self.cancelled.set()
        self.resources.clear()

    def own_name(self, name: str) -> str:
        """What a resource that has no name to be shared by is called: here what its op is called, as nobody else sees it."""
        return name

    def at(self, task: Task) -> Context:
        """The same context as it is seen from one of its tasks: with that task's resources."""
        tasks = self.placer.tasks
        if task is tasks[0]:
            return self
        found = self._elsewhere.get(task)
        if found is None:
            found = self._elsewhere[task] = copy.copy(self)
            found.placer = self.placer.seen_from(task, self.config)
            found.resources = task.resources
            found._functions, found._on_devices = {}, {}
            found._elsewhere = {tasks[0]: self}
        return found

    def on(self, device: str) -> Context:
        """The same context as it is seen from one of its devices: what leaves its place open runs there."""
        found = self._on_devices.get(device)
        if found is None:
            task, spec = self.placer.device_named(device)
            found = copy.copy(self.at(task))
            found.placer = self.placer.seen_from(task, self.config, spec)
            found._functions, found._elsewhere, found._on_devices = {}, {}, {}
            self._on_devices[device] = found
        return found

    def renewed(self, runs_side_by_side: bool = True) -> Context:
        """The same context with functions compiled anew, whose ops remember nothing."""
        found = copy.copy(self)
        found._functions, found._elsewhere, found._on_devices, found._op_state, found.loops = {}, {}, {}, {}, {}
        found.runs_side_by_side = runs_side_by_side
        return found

    def constant(self, node: Node) -> Any:
        """The run-time value of a constant; where it is one of the graph, shared by all steps that use it."""
        op = node.op
        if op is None or op.attrs is not node.attrs:
            return values.from_numpy(node.attrs["value"], node.outputs[0].dtype)
        found = self._constants.get(op)
        if found is None:
            value, dtype = op.attrs["value"], op.outputs[0].dtype
            if value.dtype != dtype.as_numpy_dtype:
                kinds = type_name(dtypes.as_dtype(value.dtype)), type_name(dtype)
                raise explained(invalid_argument("Type mismatch between value ({}) and dtype ({})".format(*kinds)), node)
            found = self._constants[op] = values.from_numpy(value, dtype)
        return found

    def state(self, node: Node, make: Callable[[], Any]) -> Any:
        """What an op keeps between runs (a random generator, a counter), made at its first use in this session."""
        key = node.op if node.op is not None else node
        found = self._op_state.get(key)
        if found is None:
            with self._lock:
                found = self._op_state.get(key)
                if found is None:
                    found = self._op_state[key] = make()
        return found

    def library(self, name: str) -> Any:
        """A function of the graph's library, or None."""
        graph = self.graph
        while graph is not None:
            found = graph._functions.get(name)
            if found is not None:
                return found
            graph = graph.outer_graph
        return None

    def is_function(self, name: str) -> bool:
        return self.library(name) is not None

    def function(self, name: str, any_shape: bool = False) -> Callable[..., Any]:
        """A library function, compiled: takes run-time values, returns a tuple of them. `any_shape`: these may have other
        shapes than its inputs say."""
        key = (name, any_shape)
        found = self._functions.get(key)
        if found is None:
            entry = self.library(name)
            if entry is None:
                raise not_found(f"Function {name} is not defined.")
            found = self._functions[key] = self.compile(entry.graph, any_shape)
        return found

    def forget_function(self, name: str) -> None:
        """Lets go of what is compiled of a library function."""
        for any_shape in (False, True):
            self._functions.pop((name, any_shape), None)

    def partial_run(self, session: Any, fetches: Any, feeds: Any) -> Any:
        """A run whose feeds and fetches come piece by piece."""
        from everflow.runtime.partial import PartialRun

        return PartialRun(session, fetches, feeds)

    def loop(self, condition: Any, body: Any, key: Any = None) -> Callable[..., Any]:
        """What runs a loop over two function graphs. Loops with the same key share what is compiled."""
        return while_kernel(self, condition, body, key)

    def compile(self, body: Any, any_shape: bool = False) -> Callable[..., Any]:
        """Compiles a function graph at its first call (a function may call itself)."""
        context = self
        step: codegen.Step | None = None
        lock = threading.Lock()

        def call(*arguments: Any) -> Any:
            nonlocal step
            if step is None:
                with lock:
                    if step is None:
                        step = context.step(body.outputs, function_targets(body), body.inputs, is_body=True, any_shape=any_shape)
            try:
                return step.call(*arguments)
            except Exception as e:
                error = explained(e, step.culprit(e.__traceback__))
                raise error from (None if error is e or isinstance(e, OpError) else e)

        return call

    @uncollected()
    def step(
        self,
        fetches: Any,
        targets: Any,
        feeds: Any,
        is_body: bool = False,
        host: Any = ((), ()),
        dims: dict[int, Any] | None = None,
        any_shape: bool = False,
        carried: int = 0,
        known: dict[int, Any] | None = None,
        own: Collection[int] = (),
    ) -> codegen.Step:
        """Plans and compiles what computes the fetches and targets from the feeds. `host`: which feeds are, and which fetches may
        be, plain numbers. `dims`: the shapes of feeds, where more is known of them than their tensors say. `any_shape`: feeds may
        have other shapes than their tensors say. `carried`: how many feeds are the variables of a loop, if what is the same in all its
        iterations is to be computed apart. `known`: the values of feeds that are always the same. `own`: the fetches that are handed over
        in memory that nobody else sees."""
        plan = make_plan(self, fetches, targets, feeds)
        if not is_body:
            fetch_last_values(plan)
        if known:
            fix_feeds(plan, known)
            take_known_branches(plan)
        if any_shape:
            forget_dims(plan)
        if dims:
            settle_dims(plan, dims)
        plan.is_body, plan.carried = is_body, carried
        plan.host_feeds, plan.host_fetches = map(frozenset, host)
        self.placer.place(n.op for n in plan.nodes if n.op is not None)
        if len(self.placer.tasks) > 1:
            for node in plan.nodes:
                if node.op is not None:
                    node.context = self.at(self.placer.task_of(node.op))
            if any(task.is_remote for task in self.placer.tasks):
                from everflow.distribute.partition import hand_out

                hand_out(plan)
        join_meetings(plan)
        step = self.compiled(plan, own)
        if not is_body:
            threads.tuned(step, self.config.intra_op_parallelism_threads if self.config is not None else None)
        return step

    def compiled(self, plan: Plan, own: Collection[int] = ()) -> codegen.Step:
        """A plan made faster, and code of it."""
        passes.run(plan)
        return codegen.generate(plan, own)
