"""tf.CriticalSection: parts of programs that run one at a time."""

from __future__ import annotations

import threading
import time
import weakref
from collections.abc import Callable
from typing import Any, NamedTuple

import everflow as tf
from everflow import errors, nest
from everflow.api import internal, public
from everflow.graph import dtypes
from everflow.graph.func_graph import FuncGraph
from everflow.graph.graph import Graph
from everflow.graph.operation import Operation
from everflow.graph.scopes import colocate_with, control_dependencies, name_scope
from everflow.graph.stacks import get_default_graph, in_eager_mode
from everflow.graph.tensor import Tensor
from everflow.ops.core.node import Node
from everflow.ops.core.registry import apply, op

CRITICAL_SECTIONS = internal("ops.critical_section_ops.CRITICAL_SECTIONS")("critical_sections")
CRITICAL_SECTION_EXECUTIONS = internal("ops.critical_section_ops.CRITICAL_SECTION_EXECUTIONS")("critical_section_executions")


class Mutex:
    """A lock of which a thread that failed while it held it can take hold again: runs of one thread come one after the other."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.holder: Held | None = None

    def take(self, context: Any) -> Held:
        """Waits for the lock as long as the run may."""
        holder = self.holder
        if holder is not None and holder.thread == threading.get_ident():
            holder.release()
        deadline = context.deadline
        while not self.lock.acquire(timeout=0.1):
            if context.cancelled.is_set():
                raise errors.CancelledError(None, None, "Lock acquisition cancelled.")
            if deadline is not None and time.monotonic() > deadline:
                raise errors.DeadlineExceededError(None, None, "Timed out waiting for notification")
        return Held(self)


class Held:
    """A lock that is held: given back when it is consumed, or when a run that failed lets go of it."""

    __slots__ = ("__weakref__", "mutex", "thread")

    def __init__(self, mutex: Mutex) -> None:
        self.mutex: Mutex | None = mutex
        self.thread = threading.get_ident()
        mutex.holder = weakref.proxy(self)

    def release(self) -> None:
        mutex, self.mutex = self.mutex, None
        if mutex is not None:
            mutex.holder = None
            mutex.lock.release()

    def __del__(self) -> None:
        self.release()


def _mutex(node: Node) -> Callable[[], Mutex]:
    name = node.attr("shared_name") or node.name
    return lambda: node.context.resources.get(node.attr("container"), "mutex", name, Mutex)


op("MutexV2", kernel=_mutex, shape=lambda o: ())
op("MutexLock", kernel=lambda n: lambda mutex: mutex.take(n.context), shape=lambda o: (), writes=True)
op("ConsumeMutexLock", kernel=lambda n: Held.release, writes=True)


class Execution(NamedTuple):
    """What is known of a call of `execute`: the op that locks, the section, and what it uses."""

    op: Operation
    handle: Tensor
    resources: list[Tensor]
    exclusive_resource_access: bool


_running = threading.local()


@public("CriticalSection")
class CriticalSection:
    """What one section executes never runs at the same time as anything else that it, or a section of the same name, executes."""

    def __init__(
        self, name: str | None = None, shared_name: str | None = None, critical_section_def: Any = None, import_scope: str | None = None
    ) -> None:
        if critical_section_def is not None:
            raise ValueError("critical_section_def is not supported.")
        with name_scope(name, "CriticalSection", []) as scope:
            self._shared_name = scope if shared_name is None else shared_name
            self._handle = apply("MutexV2", shared_name=self._shared_name, name=scope or None)
        if not in_eager_mode():
            get_default_graph().add_to_collections(CRITICAL_SECTIONS, self)
        self._name = "CriticalSection" if in_eager_mode() else self._handle.op.name

    @property
    def name(self) -> str:
        """The name of the section."""
        return self._name

    def execute(self, fn: Callable[[], Any], exclusive_resource_access: bool = True, name: str | None = None) -> Any:
        """What `fn()` returns, computed while nothing else runs in this section."""
        under_way = _running.__dict__.setdefault("names", [])
        if self._shared_name in under_way:
            raise ValueError(
                "The function fn attempts to directly access the CriticalSection in which it would be running.  This is illegal and "
                "would cause deadlocks."
            )
        with name_scope(name, "critical_section_execute", []):
            under_way.append(self._shared_name)
            try:
                if in_eager_mode():
                    return self._execute_now(fn)
                return self._execute(fn, exclusive_resource_access)
            finally:
                under_way.pop()

    def _execute_now(self, fn: Callable[[], Any]) -> Any:
        lock = apply("MutexLock", self._handle)
        try:
            return fn()
        finally:
            apply("ConsumeMutexLock", lock)

    def _execute(self, fn: Callable[[], Any], exclusive: bool) -> Any:
        graph = get_default_graph()
        lock = apply("MutexLock", self._handle)
        start = len(graph._ops)
        with control_dependencies([lock]):
            found = fn()
        inside = set(graph._ops[start:])
        used = list(dict.fromkeys(t for o in graph._ops[start:] for t in o.inputs if t.op not in inside and t.op is not lock.op))
        self._claim(lock.op, _resources(used, graph, self._handle), exclusive)
        leaves = nest.flatten(found, expand_composites=True)
        used += [v for v in leaves if isinstance(v, Tensor) and v.op.graph is graph and v.op not in inside and v not in used]
        waited = list(dict.fromkeys(t.op for t in used if t.op is not lock.op.inputs[0].op))
        if waited:
            # All that comes from outside is there before the lock is taken: computing it may need the lock itself.
            with graph.waiting_for_nothing():
                lock.op._add_control_input(tf.group(*waited))
        done = [_handed_on(v) for v in leaves]
        with control_dependencies(done), colocate_with(self._handle):
            released = apply("ConsumeMutexLock", lock)
        with control_dependencies(done):
            together = tf.tuple(leaves)
        with control_dependencies([released]):
            results = [_handed_on(v) for v in together]
        return nest.pack_sequence_as(found, results, expand_composites=True)

    def _claim(self, lock: Operation, resources: list[Tensor], exclusive: bool) -> None:
        """Notes what an execution uses, unless another section claims it for itself."""
        graph = _outermost(get_default_graph())
        for other in graph.get_collection(CRITICAL_SECTION_EXECUTIONS):
            if other.handle is self._handle or not (exclusive or other.exclusive_resource_access):
                continue
            shared = [t for t in resources if any(t is r for r in other.resources)]
            if shared:
                raise ValueError(
                    f"This execution would access resources: {shared}.  Either this lock (CriticalSection: {self._handle}) or lock "
                    f"'{other}' (CriticalSection: {other.handle}) requested exclusive resource access of this resource.  Did you mean to "
                    "call execute with keyword argument exclusive_resource_access=False?"
                )
        graph.add_to_collection(CRITICAL_SECTION_EXECUTIONS, Execution(lock, self._handle, resources, exclusive))


def _handed_on(value: Any) -> Any:
    return tf.group(value) if isinstance(value, Operation) else apply("Identity", value)


def _outermost(graph: Graph) -> Graph:
    while graph.outer_graph is not None:
        graph = graph.outer_graph
    return graph


def _resources(tensors: list[Tensor], graph: Any, own: Tensor) -> list[Tensor]:
    """The resources among tensors, each as the tensor outside of all bodies that stands for it."""
    found = []
    for t in tensors:
        around = graph
        while isinstance(around, FuncGraph):
            t = around.outside(t)
            around = around.outer_graph
        if t.dtype is dtypes.resource and t is not own:
            found.append(t)
    return found
