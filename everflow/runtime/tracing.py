"""Runs with RunOptions: step traces in RunMetadata, timeouts, partition graphs."""
from __future__ import annotations

import time
from typing import Any

from everflow.runtime import interpreter
from everflow.runtime.plan import Node

DEVICE = "/job:localhost/replica:0/task:0/device:CPU:0"


def run_with_options(session: Any, fetches: Any, feed_dict: Any, options: Any, run_metadata: Any) -> Any:
    """`session.run` with options and metadata."""
    from everflow.proto import config_pb2

    if options is not None and not isinstance(options, config_pb2.RunOptions):
        raise TypeError(f"options must be a tf.RunOptions, but got {type(options)}")
    if run_metadata is not None and not isinstance(run_metadata, config_pb2.RunMetadata):
        raise TypeError(f"run_metadata must be a tf.RunMetadata, but got {type(run_metadata)}")
    options = options or config_pb2.RunOptions()
    runner = session._runner(fetches, feed_dict)
    arguments = runner.prepared(feed_dict)
    traced = options.trace_level != config_pb2.RunOptions.NO_TRACE and run_metadata is not None
    deadline = time.monotonic() + options.timeout_in_ms / 1000 if options.timeout_in_ms > 0 else None
    if run_metadata is not None:
        run_metadata.Clear()
    if not traced and deadline is None:
        found = session._call(runner.step, arguments)
    else:
        trace = Trace() if traced else None
        with session._context.until(deadline):
            found = interpreter.run(runner.step, arguments, trace.record if trace else None, deadline)
        if trace is not None:
            run_metadata.step_stats.CopyFrom(trace.step_stats())
    if run_metadata is not None and options.output_partition_graphs:
        run_metadata.partition_graphs.add().CopyFrom(_executed_graph(runner.step))
    if run_metadata is not None and session._config is not None and session._config.graph_options.build_cost_model > 0:
        _add_cost_graph(run_metadata, runner.step)
    return runner.finished(found)


class Trace:
    """When each node ran and what it gave."""

    def __init__(self) -> None:
        self.entries: list[tuple[Node, float, float, list[Any]]] = []

    def record(self, node: Node, began: float, ended: float, outputs: list[Any]) -> None:
        shapes = [(tuple(o.shape), o.element_size() * o.numel()) if hasattr(o, "element_size") else None for o in outputs]
        self.entries.append((node, began, ended, shapes))

    def step_stats(self) -> Any:
        """The trace as a StepStats proto."""
        from everflow.proto import step_stats_pb2

        stats = step_stats_pb2.StepStats()
        device = stats.dev_stats.add(device=DEVICE)
        for node, began, ended, outputs in self.entries:
            start = int(began * 1e6)
            length = max(1, int((ended - began) * 1e6))
            inputs = ", ".join(v.node.name for v in node.inputs)
            entry = device.node_stats.add(
                node_name=node.name, all_start_micros=start, op_start_rel_micros=0, op_end_rel_micros=length, all_end_rel_micros=length,
                all_start_nanos=int(began * 1e9), op_end_rel_nanos=int((ended - began) * 1e9), all_end_rel_nanos=int((ended - began) * 1e9),
                timeline_label=f"{node.name} = {node.type}({inputs})", scheduled_micros=start)
            for slot, described in enumerate(outputs):
                if described is None:
                    continue
                dims, size = described
                output = entry.output.add(slot=slot)
                description = output.tensor_description
                description.dtype = node.outputs[slot].dtype.base_dtype.as_datatype_enum
                for d in dims:
                    description.shape.dim.add(size=d)
                description.allocation_description.requested_bytes = size
                description.allocation_description.allocated_bytes = size
                description.allocation_description.allocator_name = "cpu"
        return stats


def _executed_graph(step: Any) -> Any:
    from everflow.proto import graph_pb2

    graph = graph_pb2.GraphDef()
    for node in step.plan.nodes:
        if node.op is not None:
            graph.node.add().CopyFrom(node.op.node_def)
    return graph


def _add_cost_graph(run_metadata: Any, step: Any) -> None:
    for i, node in enumerate(step.plan.nodes):
        run_metadata.cost_graph.node.add(name=node.name, device=DEVICE, id=i)
