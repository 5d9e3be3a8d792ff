"""Timelines: a step's trace (StepStats) as a file for chrome://tracing and Perfetto.

A process of the trace is a device (its ops) or a device's tensors; a thread is a lane in which no two ops overlap.
"""

from __future__ import annotations

import collections
import json
import re
from typing import Any, NamedTuple

from everflow.api import internal
from everflow.graph.graph import Graph

# `name = Op(input, input)`, and what an edge between machines is called.
_OP_LABEL = re.compile(r"^(?P<name>[^ ]+) = (?P<op>[^(]+)\((?P<inputs>.*)\)$", re.DOTALL)
_TRANSFER = re.compile(r"^\[.*B\] (?P<edge>[^ ]+) from (?P<source>[^ ]+) to (?P<target>[^ ]+)")
_TRANSFERS = ("RecvTensor", "_Send", "_Recv")


@internal("client.timeline.AllocationMaximum")
class AllocationMaximum(NamedTuple):
    """When an allocator held the most, how much that was, and for which tensors."""

    timestamp: int
    num_bytes: int
    tensors: set[str]


@internal("client.timeline.StepStatsAnalysis")
class StepStatsAnalysis(NamedTuple):
    """What a timeline finds in a trace."""

    chrome_trace: Any
    allocator_maximums: dict[str, AllocationMaximum]


@internal("client.timeline._ChromeTraceFormatter")
class ChromeTrace:
    """The events of a trace, in the Trace Event Format."""

    def __init__(self, show_memory: bool = False) -> None:
        self.show_memory = show_memory
        self._metadata: list[dict[str, Any]] = []
        self._events: list[dict[str, Any]] = []

    def process(self, pid: int, name: str) -> None:
        """Names a process."""
        self._metadata.append({"name": "process_name", "ph": "M", "pid": pid, "args": {"name": name}})

    def event(self, kind: str, category: str, name: str, pid: int, tid: int, timestamp: int, **more: Any) -> None:
        """Adds an event: X an op, s and t the ends of an arrow, N, O and D an object's life, C a counter."""
        self._events.append({"ph": kind, "cat": category, "name": name, "pid": pid, "tid": tid, "ts": timestamp, **more})

    def format_to_string(self, pretty: bool = False) -> str:
        """The trace as JSON."""
        trace = {"traceEvents": self._metadata + self._events}
        return json.dumps(trace, indent=4 if pretty else None, separators=(",", ": ") if pretty else None)


class _Tensor:
    """A tensor's life: from the start of the op that makes it to the end of the last one that uses it."""

    def __init__(self, number: int, name: str, pid: int, created: int, allocator: str, size: int) -> None:
        self.number = number
        self.name = name
        self.pid = pid
        self.created = created
        self.released = created
        self.allocator = allocator
        self.size = size


class _Placed(NamedTuple):
    stats: Any
    pid: int
    lane: int
    name: str
    op: str
    inputs: list[str]

    @property
    def start(self) -> int:
        return self.stats.all_start_micros

    @property
    def end(self) -> int:
        return self.stats.all_start_micros + self.stats.all_end_rel_micros


def _parsed(stats: Any, on_stream: bool) -> tuple[str, str, list[str]]:
    """A node's name, op type and inputs, from its label."""
    label = stats.timeline_label
    found = _OP_LABEL.match(label)
    if found:
        inputs = found["inputs"]
        return found["name"], found["op"], [] if inputs in ("", " ") else inputs.split(", ")
    transfer = _TRANSFER.match(label)
    if transfer:
        return stats.node_name, stats.node_name if stats.node_name in _TRANSFERS else transfer["edge"], []
    if on_stream:
        # What runs on a GPU's stream is called after its op: `name:Op`, with `@@` and the kernel's name behind it.
        name, _, op = label.partition("@@")[0].rpartition(":")
        return name or op, op, []
    return stats.node_name, stats.node_name, []


@internal("client.timeline.Timeline")
class Timeline:
    """`Timeline(run_metadata.step_stats).generate_chrome_trace_format()`."""

    def __init__(self, step_stats: Any, graph: Graph | None = None) -> None:
        self._step_stats = step_stats
        self._graph = graph

    def generate_chrome_trace_format(self, show_dataflow: bool = True, show_memory: bool = False) -> str:
        """The trace as JSON; with arrows from ops to those that use their results, with the memory that tensors take."""
        return self._trace(show_dataflow, show_memory)[0].format_to_string(pretty=True)

    def analyze_step_stats(self, show_dataflow: bool = True, show_memory: bool = True) -> StepStatsAnalysis:
        """The trace, and how much memory was taken at most."""
        return StepStatsAnalysis(*self._trace(show_dataflow, show_memory))

    def _trace(self, show_dataflow: bool, show_memory: bool) -> tuple[ChromeTrace, dict[str, AllocationMaximum]]:
        trace = ChromeTrace(show_memory)
        trace.process(0, "Allocators")
        placed = self._place(trace)
        tensors = _tensors(placed)
        if show_memory:
            _show_lives(trace, placed, tensors)
        _show_ops(trace, placed, show_dataflow)
        return trace, _allocations(trace, tensors, show_memory)

    def _place(self, trace: ChromeTrace) -> list[_Placed]:
        """The nodes of each device, in lanes."""
        placed = []
        for i, device in enumerate(self._step_stats.dev_stats):
            pid = 1 + 2 * i
            trace.process(pid, device.device + " Compute")
            trace.process(pid + 1, device.device + " Tensors")
            ends: list[int] = []
            for stats in device.node_stats:
                start, end = stats.all_start_micros, stats.all_start_micros + stats.all_end_rel_micros
                lane = next((k for k, until in enumerate(ends) if until <= start), len(ends))
                ends[lane : lane + 1] = [end]
                placed.append(_Placed(stats, pid, lane, *_parsed(stats, "/stream:" in device.device)))
        return placed


def _source(name: str) -> str:
    """The node that an input names, without its output index and the sign of a control edge."""
    return name.lstrip("^").partition(":")[0]


def _tensors(placed: list[_Placed]) -> dict[str, _Tensor]:
    """The tensors that nodes made, with when they were last used."""
    found: dict[str, _Tensor] = {}
    for node in placed:
        for output in node.stats.output:
            name = node.stats.node_name if output.slot == 0 else f"{node.stats.node_name}:{output.slot}"
            described = output.tensor_description.allocation_description
            if name not in found:
                found[name] = _Tensor(len(found), name, node.pid + 1, node.start, described.allocator_name, described.allocated_bytes)
            found[name].released = node.end
    for node in placed:
        for name in node.inputs:
            tensor = found.get(name) or found.get(_source(name))
            if tensor is not None:
                tensor.released = max(tensor.released, node.end)
    return found


def _show_lives(trace: ChromeTrace, placed: list[_Placed], tensors: dict[str, _Tensor]) -> None:
    for node in placed:
        for output in node.stats.output:
            name = node.stats.node_name if output.slot == 0 else f"{node.stats.node_name}:{output.slot}"
            tensor = tensors[name]
            trace.event("N", "Tensor", name, tensor.pid, node.lane, tensor.created, id=tensor.number)
            ready = node.start + node.stats.op_end_rel_micros
            snapshot = {"tensor_description": str(output.tensor_description).replace('"', "")}
            trace.event("O", "Tensor", name, tensor.pid, node.lane, ready, id=tensor.number, args={"snapshot": snapshot})
    for tensor in tensors.values():
        trace.event("D", "Tensor", tensor.name, tensor.pid, 0, tensor.released, id=tensor.number)


def _show_ops(trace: ChromeTrace, placed: list[_Placed], show_dataflow: bool) -> None:
    makers = {node.stats.node_name: node for node in placed}
    arrows = 0
    for node in placed:
        args = {"name": node.name, "op": node.op, **{f"input{i}": name for i, name in enumerate(node.inputs)}}
        trace.event("X", "Op", node.op, node.pid, node.lane, node.start, dur=max(node.end - node.start, 1), args=args)
        for name in node.inputs if show_dataflow else ():
            maker = makers.get(_source(name))
            # Within a lane the order shows the same.
            if maker is not None and (maker.pid, maker.lane) != (node.pid, node.lane):
                trace.event("s", "DataFlow", name, maker.pid, maker.lane, maker.end, id=arrows)
                trace.event("t", "DataFlow", name, node.pid, node.lane, node.start, id=arrows)
                arrows += 1


def _allocations(trace: ChromeTrace, tensors: dict[str, _Tensor], show_memory: bool) -> dict[str, AllocationMaximum]:
    """The most that each allocator held; shown, how much it held at each time."""
    changes: dict[str, list[tuple[int, int, str]]] = collections.defaultdict(list)
    for tensor in tensors.values():
        if tensor.allocator:
            changes[tensor.allocator] += [(tensor.created, tensor.size, tensor.name), (tensor.released, -tensor.size, tensor.name)]
    found = {}
    for allocator, events in changes.items():
        held = 0
        alive: set[str] = set()
        most = AllocationMaximum(0, 0, set())
        for timestamp, size, name in sorted(events):
            held += size
            (alive.add if size > 0 else alive.discard)(name)
            if held > most.num_bytes:
                most = AllocationMaximum(timestamp, held, set(alive))
            if show_memory:
                trace.event("C", "Memory", allocator, 0, 0, timestamp, args={allocator: held})
        found[allocator] = most
    return found
