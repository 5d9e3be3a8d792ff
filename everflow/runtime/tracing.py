"""Runs with RunOptions: step traces, executed graphs and costs in RunMetadata, time limits."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator
from typing import Any

from everflow.ops.core.registry import MEANINGS
from everflow.proto import cost_graph_pb2, step_stats_pb2
from everflow.runtime import interpreter
from everflow.runtime.executed_graphs import ARGUMENT, device_of, executed_graphs
from everflow.runtime.options import RunMetadata, RunOptions
from everflow.runtime.plan import Node, Plan, Value
from everflow.runtime.session import BaseSession


def run_with_options(session: Any, runner: Any, arguments: list[Any], options: Any, run_metadata: Any) -> Any:
    """`session.run` with options and metadata."""
    if options is not None and not isinstance(options, RunOptions):
        raise TypeError(f"options must be a tf.RunOptions, but got {type(options)}")
    if run_metadata is not None and not isinstance(run_metadata, RunMetadata):
        raise TypeError(f"run_metadata must be a tf.RunMetadata, but got {type(run_metadata)}")
    options = options or RunOptions()
    if run_metadata is not None:
        run_metadata.Clear()
    if runner.step.is_remote:
        return runner.finished(runner.step.run(arguments, options, run_metadata))
    traced = options.trace_level != RunOptions.NO_TRACE and run_metadata is not None
    measured = run_metadata is not None and _is_measured(session)
    watched = bool(options.debug_options.debug_tensor_watch_opts)
    trace = None
    if traced or measured:
        trace = Trace(runner.step.plan if not watched else _feeds_of(runner.lowered(session)))
    deadline = time.monotonic() + options.timeout_in_ms / 1000 if options.timeout_in_ms > 0 else None
    graphs = None
    if watched:
        from everflow.debug import watched_runs

        with session._context.until(deadline):
            found, graphs = watched_runs.run(session, runner, arguments, options, deadline, trace.record if trace else None)
    elif trace is None and deadline is None:
        found = session._call(runner.step, arguments)
    else:
        with session._context.until(deadline):
            found = interpreter.run(runner.step, arguments, trace.record if trace else None, deadline)
    if trace is not None and run_metadata is not None and traced:
        run_metadata.step_stats.CopyFrom(trace.step_stats())
    if trace is not None and run_metadata is not None and measured:
        run_metadata.cost_graph.CopyFrom(trace.cost_graph())
    if run_metadata is not None and options.output_partition_graphs:
        run_metadata.partition_graphs.extend((graphs or executed_graphs(runner.lowered(session))).values())
    return runner.finished(found)


def _feeds_of(lowered: Any) -> Plan:
    """A plan of nothing but feeds: all else is told as it runs."""
    plan = Plan(lowered.context)
    plan.feeds = [unit.node.outputs[0] for unit in lowered.feeds]
    return plan


@contextlib.contextmanager
def observed(observe: interpreter.Observer) -> Iterator[None]:
    """Within the block, steps of all sessions run node by node, and `observe` is told of each."""
    plain = BaseSession._call

    def call(self: Any, step: Any, arguments: list[Any]) -> Any:
        return plain(self, step, arguments) if step.is_remote else interpreter.run(step, arguments, observe)

    BaseSession._call = call  # type: ignore[method-assign]
    try:
        yield
    finally:
        BaseSession._call = plain  # type: ignore[method-assign]


def _is_measured(session: Any) -> bool:
    """Whether this is the run for which the session was asked to build a cost model."""
    options = session._config.graph_options if session._config is not None else None
    if options is None or options.build_cost_model <= 0:
        return False
    session._runs_measured += 1
    return session._runs_measured == options.build_cost_model + options.build_cost_model_after


def feed_name(value: Value, position: int) -> str:
    """How a fed tensor is called in what is executed."""
    return f"_arg_{value.node.name}_0_{position}"


class Trace:
    """When each node of a step ran and what it gave."""

    def __init__(self, plan: Any) -> None:
        self._entries: list[tuple[Node, int, int, list[Any]]] = []
        self._addresses: dict[Value, int] = {}
        now = time.time_ns()
        self._names = {v.node: feed_name(v, i) for i, v in enumerate(plan.feeds)}
        for node in plan.nodes:
            if node.is_constant:
                self._entries.append((node, now, now, [_described(plan.context.constant(node))]))
            elif node.is_feed:
                self._entries.append((node, now, now, [None]))

    def record(self, node: Node, began: int, ended: int, outputs: list[Any]) -> None:
        """Notes that a node ran."""
        self._entries.append((node, began, ended, [_described(o) for o in outputs]))

    def step_stats(self) -> Any:
        """The trace as a StepStats message."""
        stats = step_stats_pb2.StepStats()
        devices: dict[str, Any] = {}
        for node, began, ended, outputs in self._entries:
            name = device_of(node)
            if name not in devices:
                devices[name] = stats.dev_stats.add(device=name)
            self._add(devices[name].node_stats.add(), node, began, ended, outputs)
        return stats

    def _add(self, entry: Any, node: Node, began: int, ended: int, outputs: list[Any]) -> None:
        name = self._names.get(node, node.name)
        inputs = ", ".join(self._input_name(v) for v in node.inputs)
        entry.node_name = name
        entry.timeline_label = f"{name} = {ARGUMENT if node.type == '_Feed' else node.type}({inputs})"
        entry.thread_id = threading.get_ident() & 0x7FFFFFFF
        entry.all_start_micros, entry.all_start_nanos = began // 1000, began
        entry.scheduled_micros, entry.scheduled_nanos = began // 1000, began
        length = ended - began
        entry.op_end_rel_nanos = entry.all_end_rel_nanos = length
        entry.op_end_rel_micros = entry.all_end_rel_micros = max(1, length // 1000)
        for slot, described in enumerate(outputs):
            if described is None:
                continue
            dims, size, address = described
            description = entry.output.add(slot=slot).tensor_description
            description.dtype = node.outputs[slot].dtype.base_dtype.as_datatype_enum
            for d in dims:
                description.shape.dim.add(size=d)
            allocation = description.allocation_description
            allocation.requested_bytes = allocation.allocated_bytes = size
            allocation.allocator_name = "cpu"
            allocation.ptr = address
            self._addresses[node.outputs[slot]] = address
        taken = sum(described[1] for described in outputs if described is not None and self._is_new(node, described[2]))
        if taken:
            entry.memory.add(allocator_name="cpu", total_bytes=taken, peak_bytes=taken, live_bytes=taken)

    def _is_new(self, node: Node, address: int) -> bool:
        """Whether what lies at an address was made by the node: not what it was given, nor what a variable holds."""
        if node.is_feed or node.is_constant:
            return node.is_constant
        if any(v not in self._addresses for v in node.inputs) and (meaning := MEANINGS.get(node.type)) is not None and meaning.view:
            return False
        return all(self._addresses.get(v) != address for v in node.inputs)

    def _input_name(self, value: Value) -> str:
        name = self._names.get(value.node, value.node.name)
        return name if value.index == 0 else f"{name}:{value.index}"

    def cost_graph(self) -> Any:
        """What each node cost, as a CostGraphDef message."""
        graph = cost_graph_pb2.CostGraphDef()
        numbers = {node: i for i, (node, *_) in enumerate(self._entries)}
        for node, began, ended, outputs in self._entries:
            entry = graph.node.add(name=self._names.get(node, node.name), device=device_of(node), id=numbers[node])
            entry.compute_cost = (ended - began) // 1000
            for value in node.inputs:
                entry.input_info.add(preceding_node=numbers[value.node], preceding_port=value.index)
            for value, described in zip(node.outputs, outputs):
                info = entry.output_info.add(dtype=value.dtype.as_datatype_enum, alias_input_port=-1)
                if described is not None:
                    info.size = described[1]
                    for d in described[0]:
                        info.shape.dim.add(size=d)
        return graph


def _described(value: Any) -> tuple[tuple[int, ...], int, int] | None:
    """The shape, size in bytes and address of a run-time value; None for what is not a tensor."""
    value = getattr(value, "value", value)
    if hasattr(value, "element_size"):
        return tuple(value.shape), value.element_size() * value.numel(), value.data_ptr()
    if hasattr(value, "nbytes"):
        return value.shape, value.nbytes, value.ctypes.data
    return None
