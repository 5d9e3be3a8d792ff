"""Transforms for runtimes that are older than the graph."""

from __future__ import annotations

from typing import Any

import numpy as np

import everflow as tf
from everflow.graph import opdefs
from everflow.tools.graph_transforms.nodes import rewired
from everflow.tools.graph_transforms.table import Told, const, made, node_of, transform, with_nodes

# Ops that hand on what they are given.
_HANDS_ON = frozenset(("Enter", "Exit", "Identity", "Merge", "NextIteration", "Switch"))


@transform
def backport_concatv2(graph: Any, told: Told) -> Any:
    """Has tensors joined by the op that is told the axis first."""

    def older(node: Any) -> Any:
        if node.op != "ConcatV2":
            return node
        joined = [given for given in node.input if not given.startswith("^")]
        waits = node.input[len(joined) :]
        return made("Concat", node.name, [joined[-1], *joined[:-1], *waits], node, ("N", "T"))

    return with_nodes(graph, map(older, graph.node))


@transform
def backport_tensor_array_v3(graph: Any, told: Told) -> Any:
    """Takes the second form of arrays, whose handles are strings and which make no flow."""
    arrays = {node.name for node in graph.node if node.op in ("TensorArrayV3", "TensorArrayGradV3")}
    handles = _reached(graph, arrays)

    def older(node: Any) -> list[Any]:
        changed = made(node.op, node.name, node.input, node, node.attr)
        changed.device = node.device
        if node.name in handles:
            changed.attr["T"].type = tf.string.as_datatype_enum
        if not (node.op.startswith("TensorArray") and node.op.endswith("V3")):
            return [changed]
        changed.op = node.op[:-1] + "2"
        definition = opdefs.find(changed.op)
        assert definition is not None
        for key in set(changed.attr) - set(definition.attrs) - {key for key in changed.attr if key.startswith("_")}:
            del changed.attr[key]
        return [changed, const(_flow(node.name), np.float32(1))] if node.name in arrays else [changed]

    def change(given: str) -> str:
        return _flow(node_of(given)) if node_of(given) in arrays and given.endswith(":1") else given

    return rewired(graph, [made for node in graph.node for made in older(node)], change)


def _flow(name: str) -> str:
    return name + "/replacement_flow_node"


def _reached(graph: Any, arrays: set[str]) -> set[str]:
    """The nodes that hand on an array's handle."""
    found: set[str] = set()
    while True:
        more = {
            node.name
            for node in graph.node
            if node.op in _HANDS_ON and any(given in arrays or node_of(given) in found for given in node.input)
        } - found
        if not more:
            return found
        found |= more
