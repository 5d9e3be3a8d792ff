"""Monitors as a hook of monitored sessions."""

from __future__ import annotations

from typing import Any

from everflow.contrib.learn.monitors.base import MODULE
from everflow.contrib.learn.publishing import learn
from everflow.estimator.arguments import parameters_of
from everflow.graph.stacks import get_default_graph
from everflow.train.global_step import get_global_step
from everflow.train.session_run_hook import SessionRunArgs, SessionRunHook


@learn(MODULE, "RunHookAdapterForMonitors")
class RunHookAdapterForMonitors(SessionRunHook):
    """Tells monitors of the steps of a session. They count a step before the global step does."""

    def __init__(self, monitors: Any) -> None:
        self._monitors = monitors

    def begin(self) -> None:
        """Training begins."""
        self._last_step: Any = None
        self._global_step_tensor = get_global_step()
        for monitor in self._monitors:
            monitor.begin(max_steps=None)

    def before_run(self, run_context: Any) -> Any:
        """Asks for what the monitors want."""
        if self._last_step is None:
            self._last_step = run_context.session.run(self._global_step_tensor) + 1
        wanted: list[Any] = []
        for monitor in self._monitors:
            asked = monitor.step_begin(self._last_step)
            if asked and not isinstance(asked, list):
                raise ValueError("Monitor.step_begin should return a list.")
            wanted.extend(asked or ())
        fetches: dict[Any, Any] = {self._global_step_tensor: self._global_step_tensor}
        if wanted:
            fetches["monitors"] = {request: as_graph_element(request) for request in wanted}
        return SessionRunArgs(fetches)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        """Hands on the values."""
        found = run_values.results.get("monitors", {})
        for monitor in self._monitors:
            if monitor.step_end(self._last_step, found):
                run_context.request_stop()
        for monitor in self._monitors:
            monitor.post_step(self._last_step, run_context.session)
        self._last_step = run_values.results[self._global_step_tensor] + 1

    def end(self, session: Any) -> None:
        """Training ends."""
        self._last_step = None
        for monitor in self._monitors:
            # Monitors older than the argument end without the session.
            if "session" in parameters_of(monitor.end):
                monitor.end(session=session)
            else:
                monitor.end()


@learn(MODULE, "replace_monitors_with_hooks")
def replace_monitors_with_hooks(monitors_or_hooks: Any, estimator: Any) -> list[Any]:
    """Hooks as they are, and one hook for all monitors; workers other than the chief have only the monitors that all need."""
    given = list(monitors_or_hooks or ())
    hooks = [thing for thing in given if isinstance(thing, SessionRunHook)]
    monitors = [thing for thing in given if not isinstance(thing, SessionRunHook)]
    if not estimator.config.is_chief:
        monitors = [monitor for monitor in monitors if monitor.run_on_all_workers]
    for monitor in monitors:
        monitor.set_estimator(estimator)
    return [*hooks, RunHookAdapterForMonitors(monitors)] if monitors else hooks


@learn(MODULE, "_as_graph_element")
def as_graph_element(obj: Any) -> Any:
    """The tensor that a monitor asked for; an op's name stands for its only output."""
    graph = get_default_graph()
    if not isinstance(obj, str):
        if getattr(obj, "graph", None) is not graph:
            raise ValueError(f"Passed {obj} should have graph attribute that is equal to current graph {graph}.")
        return obj
    if ":" in obj:
        return graph.as_graph_element(obj)
    found = graph.as_graph_element(obj + ":0")
    if len(found.op.outputs) > 1:
        raise ValueError(f"Name {obj} is ambiguous, as this `Operation` has multiple outputs (at least 2).")
    return found
