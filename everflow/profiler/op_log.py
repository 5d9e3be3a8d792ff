"""The op log: what the graph itself does not say of ops (their types, floating point operations and where they were made)."""

from __future__ import annotations

import contextlib
import os
import sys
from typing import Any

import everflow as tf
import everflow.profiler.flops
from everflow.api import internal, public
from everflow.graph.stacks import get_default_graph
from everflow.graph.statistics import get_stats_for_node_def
from everflow.proto import tfprof_log_pb2

TRAINABLE_VARIABLES = "_trainable_variables"

public("profiler.OpLogProto")(tfprof_log_pb2.OpLogProto)


class _Strings(dict[str, int]):
    """Numbers for strings, in the order in which they are first seen."""

    def __missing__(self, text: str) -> int:
        self[text] = len(self)
        return self[text]


@internal("profiler.tfprof_logger._fill_missing_graph_shape")
def fill_missing_graph_shape(graph: Any, run_meta: Any) -> Any:
    """Has the graph's tensors without a full static shape take the shape that they had in a run; returns the graph."""
    for device in run_meta.step_stats.dev_stats:
        for stats in device.node_stats:
            if not stats.output or stats.node_name not in graph._nodes_by_name:
                continue
            op = graph.get_operation_by_name(stats.node_name)
            for output in stats.output:
                if output.slot < len(op.outputs) and not op.outputs[output.slot].shape.is_fully_defined():
                    # A run of another graph may disagree with this one.
                    with contextlib.suppress(ValueError):
                        op.outputs[output.slot].set_shape([d.size for d in output.tensor_description.shape.dim])
    return graph


def logged_ops(
    graph: Any, run_meta: Any = None, add_trace: bool = True, add_trainable_var: bool = True
) -> tuple[dict[str, Any], dict[str, int]]:
    """{op: its entry} and {string: its number} for the ops of a graph."""
    if run_meta is not None:
        graph = fill_missing_graph_shape(graph, run_meta)
    strings, entries, without_shape = _Strings(none=0), {}, 0
    for op in graph.get_operations():
        try:
            flops = get_stats_for_node_def(graph, op.node_def, "flops").value
        except ValueError:
            # The shapes that the count needs are not known.
            without_shape += 1
            flops = None
        entry = tfprof_log_pb2.OpLogEntry(name=op.name)
        if flops and flops > 0:
            entry.float_ops = flops
        for file, line, function, text, start in op.traceback_with_start_lines if add_trace else ():
            entry.code_def.traces.add(
                file_id=strings[file or "none"],
                lineno=line or -1,
                function_id=strings[function or "none"],
                line_id=strings[text or "none"],
                func_start_line=start or -1,
            )
        if entry.float_ops or add_trace:
            entries[op.name] = entry
    if add_trainable_var:
        for v in graph.get_collection(tf.GraphKeys.TRAINABLE_VARIABLES):
            entries.setdefault(v.op.name, tfprof_log_pb2.OpLogEntry(name=v.op.name)).types.append(TRAINABLE_VARIABLES)
    if without_shape and not run_meta:
        sys.stderr.write(f"{without_shape} ops no flops stats due to incomplete shapes.\n")
    return entries, strings


@internal("profiler.tfprof_logger.merge_default_op_log")
def merge_default_op_log(
    graph: Any, op_log: Any = None, run_meta: Any = None, add_trace: bool = True, add_trainable_var: bool = True
) -> Any:
    """An op log of a graph, with what a program's own log adds to it."""
    if graph is None and not tf.executing_eagerly():
        graph = get_default_graph()
    merged = tfprof_log_pb2.OpLogProto()
    entries, strings = logged_ops(graph, run_meta, add_trace, add_trainable_var) if graph is not None else ({}, {})
    if op_log is None:
        merged.log_entries.extend(entries.values())
    else:
        given = set()
        for entry in op_log.log_entries:
            merged.log_entries.add().CopyFrom(entry)
            given.add(entry.name)
            if (known := entries.get(entry.name)) is not None:
                combined = merged.log_entries[-1]
                combined.types.extend(t for t in known.types if t not in combined.types)
                combined.float_ops = combined.float_ops or known.float_ops
                if add_trace and known.HasField("code_def"):
                    combined.code_def.CopyFrom(known.code_def)
        merged.log_entries.extend(entry for name, entry in entries.items() if name not in given)
    for text, number in strings.items():
        merged.id_to_string[number] = text
    return merged


@public("profiler.write_op_log")
def write_op_log(graph: Any, log_dir: str, op_log: Any = None, run_meta: Any = None, add_trace: bool = True) -> None:
    """Writes the op log of a graph to the file `tfprof_log` in a folder."""
    merged = merge_default_op_log(graph, op_log, run_meta, add_trace)
    with tf.gfile.Open(os.path.join(log_dir, "tfprof_log"), "w") as log:
        log.write(merged.SerializeToString())
