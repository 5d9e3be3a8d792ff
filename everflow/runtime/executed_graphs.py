"""What runs, as GraphDefs: one for each device, without what a step is rewritten to."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from everflow.graph import attrs as attr_values
from everflow.graph import opdefs
from everflow.ops.control_flow.frame_op_types import ENTERS, MERGES
from everflow.ops.core.node import Node
from everflow.proto import graph_pb2
from everflow.runtime.lowering import Edge, Lowered
from everflow.versions import GRAPH_DEF_VERSION

# What stands for a value that is fed.
ARGUMENT = "_Arg"

# How an output is called by those who take it, and which nodes they wait for besides.
Taken = Callable[[Edge], tuple[str, list[str]]]


def device_of(node: Node) -> str:
    """The full name of the device that a node runs on."""
    placer = node.context.placer
    return placer.device_of(node.op) if node.op is not None else placer.default_device


def as_taken(edge: Edge) -> tuple[str, list[str]]:
    """An output as it is."""
    source, slot = edge
    return (source.name if slot == 0 else f"{source.name}:{slot}"), []


def executed_graphs(lowered: Lowered, taken: Taken = as_taken) -> dict[str, Any]:
    """{device: what runs there}. Nodes are called as in the graph, what is fed `_arg_...` and what is fetched `_retval_...`."""
    graphs: dict[str, Any] = {}

    def add(node: Node, name: str, op: str, edges: list[Edge], controls: list[str], attrs: dict[str, Any]) -> None:
        device = device_of(node)
        if device not in graphs:
            graphs[device] = graph_pb2.GraphDef()
            graphs[device].versions.producer = GRAPH_DEF_VERSION
        found = [taken(edge) for edge in edges]
        # A Merge waits for one of its inputs only.
        waits = [] if op in MERGES else [name for _, names in found for name in names]
        inputs = [*(name for name, _ in found), *sorted("^" + c for c in dict.fromkeys((*controls, *waits)))]
        entry = graphs[device].node.add(name=name, op=op, device=device, input=inputs)
        set_attrs(entry, op, attrs)
        if op in ENTERS:
            # What is watched happens in order.
            entry.attr["parallel_iterations"].i = 1

    feeds = {unit: i for i, unit in enumerate(lowered.feeds)}
    for unit in lowered.units:
        if unit in feeds:
            add(unit.node, unit.name, ARGUMENT, [], [], {"T": unit.node.outputs[0].dtype, "index": feeds[unit]})
        else:
            add(unit.node, unit.name, unit.type, unit.inputs, [before.name for before in unit.controls], unit.node.attrs)
    by_name = sorted(zip(lowered.fetched, lowered.fetches), key=lambda pair: pair[0].name)
    for place, (source, slot) in enumerate(dict.fromkeys(edge for _, edge in by_name)):
        attrs = {"T": source.node.outputs[slot].dtype.base_dtype, "index": place}
        add(source.node, f"_retval_{source.name}_{slot}_{place}", "_Retval", [(source, slot)], [], attrs)
    return graphs


def set_attrs(entry: Any, op: str, attrs: dict[str, Any]) -> None:
    """Gives a NodeDef its attributes."""
    definition = opdefs.find(op)
    for key, value in attrs.items():
        known = definition.attrs.get(key) if definition is not None else None
        entry.attr[key].CopyFrom(attr_values.to_proto(value, known.type if known is not None else None))
