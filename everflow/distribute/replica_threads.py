"""Runs a function for each replica: a thread each, one of them at a time, that meet where replicas merge."""

from __future__ import annotations

import contextlib
import re
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from everflow.api import internal
from everflow.autodiff.tape import ACTIVE
from everflow.distribute.device_maps import DeviceMap
from everflow.distribute.strategy_context import Standing
from everflow.distribute.values import regroup, select_replica
from everflow.graph import stacks
from everflow.graph.controls import control_inputs_for
from everflow.graph.scopes import control_dependencies, device, name_scope
from everflow.graph.stacks import get_default_graph, graphs, in_eager_mode, sessions
from everflow.ops.variables.variable_scope import variable_scope, variable_scope_store

_STACKS = ("controls", "devices", "colocation", "original_op", "name_stack", "variable_creators")


class _ThreadState:
    """The scopes that a thread is in, to be entered by another."""

    def __init__(self) -> None:
        self._graphs, self._sessions = list(graphs.stack), list(sessions.stack)
        self._eager_scope = stacks.eager_scope.name
        self._tapes = list(ACTIVE.tapes)
        self._graph, self._global_graph = get_default_graph(), stacks.global_graph()
        state = self._graph._stacks()
        self._of_graph = {name: getattr(state, name) for name in _STACKS if hasattr(state, name)}
        store = variable_scope_store()
        self._scope, self._counts = store.current_scope, dict(store.variable_scopes_count)

    @contextlib.contextmanager
    def entered(self, replica: int) -> Iterator[None]:
        """These scopes, in the thread of a replica."""
        graphs.stack[:], sessions.stack[:] = self._graphs, self._sessions
        stacks.adopt_global_graph(self._global_graph)
        stacks.eager_scope.name = self._eager_scope
        ACTIVE.tapes[:] = self._tapes
        state = self._graph._stacks()
        for name, value in self._of_graph.items():
            setattr(state, name, list(value) if isinstance(value, list) else value)
        store = variable_scope_store()
        store.current_scope, store.variable_scopes_count = self._scope, dict(self._counts)
        if in_eager_mode():
            yield
            return
        with variable_scope(self._scope, reuse=replica > 0 or None, auxiliary_name_scope=False):
            yield


SHARED = "distribute.shared_variable_creator."


@internal(SHARED + "_canonicalize_variable_name")
def canonical_name(name: str | None) -> str:
    """A variable's name without the numbers that tell it from others of its name, which differ from replica to replica."""
    return "Variable" if name is None else re.sub(r"_\d+(?=/|$)", "", name)


@internal(SHARED + "make_fn")
def make_fn(shared_variable_store: dict[str, list[Any]], device_id: int) -> Any:
    """What makes a replica's variables: the first replica makes them, the others find them by name and order."""
    seen: dict[str, int] = {}

    def create(next_creator: Any, *args: Any, **kwargs: Any) -> Any:
        key = canonical_name(kwargs.get("name"))
        made = shared_variable_store.setdefault(key, [])
        i = seen[key] = seen.get(key, -1) + 1
        if device_id == 0:
            made.append(next_creator(*args, **kwargs))
        elif i >= len(made):
            raise RuntimeError(
                f"Tried to create variable {kwargs.get('name')} with mismatching name on device {device_id}: replicas must make the same "
                "variables."
            )
        return made[i]

    return create


class ReplicaThread(threading.Thread):
    """Runs the function for one replica, and hands the word back where it merges or ends."""

    def __init__(self, strategy: Any, replica: int, where: str, fn: Callable[..., Any], args: Any, kwargs: Any, create: Any) -> None:
        super().__init__(daemon=True, name=f"replica_{replica}")
        self._strategy, self._replica, self._where = strategy, replica, where
        self._fn, self._args, self._kwargs = fn, args, kwargs
        self._create = create
        self._state = _ThreadState()
        self._go, self._stopped = threading.Semaphore(0), threading.Semaphore(0)
        self.is_done = self.is_cancelled = False
        self.result: Any = None
        self.error: BaseException | None = None
        # What the replica brought to a merge: the function with its arguments; and what it got back.
        self.brought: Any = None
        self.given: Any = None
        self.scope = ""
        self.waited_for: list[Any] = []

    def proceed(self) -> None:
        """Lets the replica run until it merges or ends."""
        if not self.is_alive():
            self.start()
        self._go.release()
        self._stopped.acquire()

    def run(self) -> None:
        """The thread."""
        self._go.acquire()
        try:
            if not self.is_cancelled:
                self._run()
        except BaseException as error:
            self.error = error
        finally:
            self.is_done = True
            self._stopped.release()

    def _run(self) -> None:
        context = self._strategy.extended._replica_context(self._replica, self)
        with contextlib.ExitStack() as inside:
            inside.enter_context(self._state.entered(self._replica))
            if self._replica > 0 and not in_eager_mode():
                inside.enter_context(name_scope(f"replica_{self._replica}"))
            inside.enter_context(device(self._where))
            inside.enter_context(Standing(self._strategy, context))
            inside.enter_context(get_default_graph()._variable_creator_scope(self._create))
            self.result = self._fn(*self._args, **self._kwargs)

    def merged(self, merge_fn: Any, args: Any, kwargs: Any) -> Any:
        """Waits for the other replicas, and gives what merging gave this one. Called in the thread."""
        self.brought = (merge_fn, args, kwargs)
        if not in_eager_mode():
            graph = get_default_graph()
            self.scope, self.waited_for = graph.get_name_scope(), control_inputs_for(graph._controls, ())
        self._stopped.release()
        self._go.acquire()
        if self.is_cancelled:
            raise _Cancelled
        return self.given


class _Cancelled(Exception):
    """Another replica failed."""


def call_for_each_replica(strategy: Any, device_map: DeviceMap, fn: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """What a function gives for each replica, regrouped."""
    store: dict[str, list[Any]] = {}
    devices = device_map.all_devices
    threads = [
        ReplicaThread(strategy, i, where, fn, select_replica(i, args), select_replica(i, kwargs), make_fn(store, i))
        for i, where in enumerate(devices)
    ]
    try:
        while not all(thread.is_done for thread in threads):
            for thread in threads:
                if not thread.is_done:
                    thread.proceed()
                    if thread.error is not None:
                        raise thread.error
            done = [thread.is_done for thread in threads]
            if all(done):
                break
            if any(done):
                raise RuntimeError("Some replicas made a different number of replica_context().merge_call() calls.")
            _merge(strategy, device_map, threads)
    finally:
        for thread in threads:
            if not thread.is_done and thread.is_alive():
                thread.is_cancelled = True
                thread.proceed()
    for thread in threads:
        thread.join()
    return regroup(device_map, tuple(thread.result for thread in threads))


def _merge(strategy: Any, device_map: DeviceMap, threads: Sequence[ReplicaThread]) -> None:
    brought = [thread.brought for thread in threads]
    args = regroup(device_map, tuple(b[1] for b in brought))
    kwargs = regroup(device_map, tuple(b[2] for b in brought))
    with contextlib.ExitStack() as inside:
        if not in_eager_mode():
            scope = threads[0].scope
            inside.enter_context(name_scope(scope + "/" if scope else ""))
            # What one replica waits for, all of them do.
            waited = [op for thread in threads for op in thread.waited_for]
            if waited:
                inside.enter_context(control_dependencies(waited))
        inside.enter_context(Standing(strategy))
        found = brought[0][0](strategy, *args, **kwargs)
    for i, thread in enumerate(threads):
        thread.given = select_replica(i, found)
