"""A part of a GraphDef as one node."""

from __future__ import annotations

from typing import Any

from everflow.api import public
from everflow.proto import graph_pb2


def _behind(starts: list[str], nodes: dict[str, Any], stops: set[str]) -> set[str]:
    """The nodes that some need, themselves too; what the stops need is not looked for."""
    found: set[str] = set()
    waiting = list(starts)
    while waiting:
        name = waiting.pop()
        if name in found:
            continue
        found.add(name)
        if name not in stops:
            waiting.extend(_node_of(i) for i in nodes[name].input)
    return found


def _node_of(input_name: str) -> str:
    return input_name.lstrip("^").partition(":")[0]


@public("contrib.framework.fuse_op")
def fuse_op(
    graph_def: Any, input_nodes: Any, output_nodes: Any, output_dtypes: Any, output_quantized: bool, op_name: str, op_type: str
) -> Any:
    """A copy of a graph in which one node stands for all between the input and the output nodes, which both stay.

    Each output node takes the result of the new one of its place in the list instead of the one input that it had.
    """
    if not isinstance(graph_def, graph_pb2.GraphDef):
        raise TypeError("graph_def must be a graph_pb2.GraphDef proto.")
    if isinstance(input_nodes, str):
        raise TypeError("input_nodes must be a list.")
    if isinstance(output_nodes, str):
        raise TypeError("output_nodes must be a list.")
    nodes = {node.name: node for node in graph_def.node}
    for name in (*input_nodes, *output_nodes):
        if name not in nodes:
            raise AssertionError(f"{name} is not in graph")
    before = _behind(list(input_nodes), nodes, set())
    inside = _behind(list(output_nodes), nodes, set(input_nodes))

    fused = graph_pb2.GraphDef()
    fused.node.extend(node for node in graph_def.node if node.name in before)
    made = fused.node.add(name=op_name, op=op_type, input=list(input_nodes))
    made.attr["_output_types"].list.type.extend(output_dtypes)
    made.attr["_output_quantized"].b = output_quantized
    for place, name in enumerate(output_nodes):
        if len(nodes[name].input) != 1:
            raise AssertionError(f"The output node {name} has {len(nodes[name].input)} inputs; it must have one.")
        output = fused.node.add()
        output.CopyFrom(nodes[name])
        output.input[:] = [op_name if place == 0 else f"{op_name}:{place}"]
    fused.node.extend(node for node in graph_def.node if node.name not in before | inside)
    fused.library.CopyFrom(graph_def.library)
    fused.versions.CopyFrom(graph_def.versions)
    return fused
