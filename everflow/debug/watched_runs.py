"""Runs whose tensors are watched: each op runs on its own, and what it gives goes to the destinations before anything else runs."""

from __future__ import annotations

import itertools
import threading
import weakref
from typing import Any

from everflow.debug import disk_usage
from everflow.debug.debug_options import DebugOp, Watches
from everflow.debug.destinations import Destination, open_destination
from everflow.debug.events import Seen
from everflow.debug.watched_graphs import watched_graphs, watched_outputs
from everflow.errors import unimplemented
from everflow.graph import dtypes
from everflow.ops.checks.debug_ops import is_healthy, nan_count, numeric_summary
from everflow.runtime.dataflow import Dataflow
from everflow.runtime.executed_graphs import device_of
from everflow.runtime.frames import DEAD
from everflow.runtime.lowering import Lowered, Unit

# How many different sets of watches a session remembers; whoever dumps each run to a folder of its own brings a new one each time.
_REMEMBERED = 16


class WatchedStep:
    """What certain fetches and feeds need, with certain watches; made at the first such run."""

    def __init__(self, runner: Any, flow: Dataflow, debug_options: Any) -> None:
        watches = Watches(debug_options)
        self.runner = runner
        self.flow = flow
        self.watched = watched_outputs(flow.lowered, watches)
        self.urls = watches.urls
        self.graphs = watched_graphs(flow.lowered, self.watched)
        self.serialized = {device: graph.SerializeToString(deterministic=True) for device, graph in self.graphs.items()}
        self.runs = itertools.count()


class _Kept:
    """What a session keeps for its watched runs."""

    def __init__(self) -> None:
        self.steps: dict[tuple[int, bytes], WatchedStep] = {}
        # Watched runs are numbered from 1 on.
        self.runs = itertools.count(1)
        self.lock = threading.Lock()

    def step(self, session: Any, runner: Any, debug_options: Any) -> WatchedStep:
        """The step for a runner and watches. The step of a run and that of a later one differ not by the global step."""
        asked = type(debug_options)()
        asked.CopyFrom(debug_options)
        asked.ClearField("global_step")
        asked.ClearField("reset_disk_byte_usage")
        key = (id(runner), asked.SerializeToString(deterministic=True))
        found = self.steps.pop(key, None)
        if found is None:
            flow = next((step.flow for step in self.steps.values() if step.runner is runner), None)
            if flow is None:
                flow = Dataflow(_local(runner.lowered(session)))
            found = WatchedStep(runner, flow, debug_options)
        self.steps[key] = found
        while len(self.steps) > _REMEMBERED:
            del self.steps[next(iter(self.steps))]
        return found


_sessions: weakref.WeakKeyDictionary[Any, _Kept] = weakref.WeakKeyDictionary()
_lock = threading.Lock()


def _kept(session: Any) -> _Kept:
    with _lock:
        return _sessions.setdefault(session, _Kept())


def _local(lowered: Lowered) -> Lowered:
    """The same, where all of it runs in this process."""
    placer = lowered.context.placer
    if any(task.is_remote for task in placer.tasks):
        for unit in lowered.units:
            if unit.node.op is not None and (task := placer.task_of(unit.node.op)).is_remote:
                raise unimplemented(f"Everflow watches the tensors of one task; {unit.name} runs in another, {task.name}.")
    return lowered


def run(
    session: Any, runner: Any, arguments: list[Any], options: Any, deadline: float | None, observe: Any = None
) -> tuple[Any, dict[str, Any]]:
    """Runs what a runner stands for while it is watched; returns the fetched run-time values, and what ran on each device."""
    kept = _kept(session)
    with kept.lock:
        step = kept.step(session, runner, options.debug_options)
        number, execution = next(kept.runs), next(step.runs)
    if options.debug_options.reset_disk_byte_usage:
        disk_usage.reset()
    lowered = step.flow.lowered
    metadata = {
        "global_step": options.debug_options.global_step,
        "session_run_index": number,
        "executor_step_index": execution,
        "input_names": sorted(t.name for t in lowered.fed),
        "output_names": sorted({t.name for t in lowered.fetched}),
        "target_nodes": sorted({op.name for op in lowered.targets}),
    }
    destinations: dict[str, Destination] = {}
    try:
        for url in step.urls:
            destinations[url] = open_destination(url)
        for destination in destinations.values():
            for device, graph_def in step.serialized.items():
                destination.graph(device, graph_def)
            destination.metadata(metadata)
        watcher = _Watcher(step, destinations, observe)
        return step.flow.run(arguments, watcher.look, deadline), step.graphs
    finally:
        for destination in destinations.values():
            destination.close()


class _Watcher:
    """Looks at what units give."""

    def __init__(self, step: WatchedStep, destinations: dict[str, Destination], observe: Any) -> None:
        self.step = step
        self.destinations = destinations
        self.observe = observe

    def look(self, unit: Unit, began: int, ended: int, outputs: list[Any]) -> None:
        if self.observe is not None:
            self.observe(unit.node, began, ended, outputs)
        for slot, value in enumerate(outputs):
            watch = self.step.watched.get((unit, slot))
            if watch is None or value is DEAD:
                continue
            device = device_of(unit.node)
            seen = Seen(value, unit.node.outputs[slot].dtype, device)
            for debug_op in watch.debug_ops:
                self._send(debug_op, seen, unit.name, slot, device)

    def _send(self, debug_op: DebugOp, seen: Seen, name: str, slot: int, device: str) -> None:
        given = self.destinations
        wanted = [d for url in debug_op.urls if (d := given[url]).wants(name, slot, debug_op.kind, debug_op.is_gated)]
        found = _found(debug_op, seen) if wanted else None
        if found is not None:
            tensor = debug_op.attrs["tensor_name"].rpartition(":")
            name = tensor[0] or tensor[2]
            for destination in wanted:
                destination.tensor(found, name, slot, debug_op.kind, device, debug_op.is_gated)


def _found(debug_op: DebugOp, seen: Seen) -> Seen | None:
    """What a debug op gives; None where it has nothing to say."""
    if debug_op.kind == "DebugNanCount":
        return Seen(nan_count(seen.array), dtypes.int64, "")
    if debug_op.kind == "DebugNumericSummary":
        attrs = debug_op.attrs
        summary = numeric_summary(seen.array, seen.dtype, seen.dims, attrs["lower_bound"], attrs["upper_bound"])
        if attrs["mute_if_healthy"] and is_healthy(summary):
            return None
        return Seen(summary, dtypes.float64, "")
    return seen
