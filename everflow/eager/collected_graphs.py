"""The graphs of functions that run for the first time, for those who ask what a piece of a program did."""

from __future__ import annotations

from typing import Any

from everflow.api import internal
from everflow.eager import concrete_functions
from everflow.eager.execute import CONTEXT
from everflow.graph.func_graph import function_targets
from everflow.proto import graph_pb2
from everflow.runtime.executed_graphs import executed_graphs, set_attrs
from everflow.runtime.lowering import Lowered
from everflow.runtime.options import RunMetadata


class _Collected:
    metadata = RunMetadata()


@internal("eager.context.enable_run_metadata", "eager.context.enable_graph_collection")
def enable_run_metadata() -> None:
    """From now on, keeps the graphs of functions that run for the first time."""
    if _note not in concrete_functions.FIRST_RUNS:
        concrete_functions.FIRST_RUNS.append(_note)


@internal("eager.context.disable_run_metadata", "eager.context.disable_graph_collection")
def disable_run_metadata() -> None:
    """Keeps no more graphs."""
    if _note in concrete_functions.FIRST_RUNS:
        concrete_functions.FIRST_RUNS.remove(_note)


@internal("eager.context.export_run_metadata")
def export_run_metadata() -> Any:
    """What was kept since this was last asked, as RunMetadata."""
    found, _Collected.metadata = _Collected.metadata, RunMetadata()
    return found


def _note(function: Any) -> None:
    graph = function.graph
    runs = list(executed_graphs(Lowered(CONTEXT, graph.outputs, function_targets(graph), graph.inputs)).values())
    entry = _Collected.metadata.function_graphs.add()
    entry.pre_optimization_graph.CopyFrom(_with_arguments(function))
    for part in runs:
        entry.post_optimization_graph.MergeFrom(part)
        entry.partition_graphs.add().CopyFrom(part)
        _Collected.metadata.partition_graphs.add().CopyFrom(part)


def _with_arguments(function: Any) -> Any:
    """The body as a graph: what it is given are _Arg nodes, what it returns _Retval ones."""
    graph = function.graph
    places = {t.op.name: i for i, t in enumerate(graph.inputs)}
    found = graph_pb2.GraphDef()
    found.CopyFrom(graph.as_graph_def())
    for node in found.node:
        if node.name in places:
            node.op = "_Arg"
            node.attr.clear()
            set_attrs(node, "_Arg", {"T": graph.inputs[places[node.name]].dtype.base_dtype, "index": places[node.name]})
    for i, (t, name) in enumerate(zip(graph.outputs, function.function_def.signature.output_arg)):
        source = t.op.name if t.value_index == 0 else f"{t.op.name}:{t.value_index}"
        set_attrs(
            found.node.add(name=f"{name.name}_RetVal", op="_Retval", input=[source]), "_Retval", {"T": t.dtype.base_dtype, "index": i}
        )
    return found
