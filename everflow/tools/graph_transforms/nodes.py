"""Transforms that choose which nodes there are, and in which order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import everflow as tf
from everflow.errors import invalid_argument
from everflow.graph import opdefs
from everflow.proto import node_def_pb2
from everflow.tools.graph_transforms.table import Told, needed, node_of, transform, with_nodes


@transform
def strip_unused_nodes(graph: Any, told: Told) -> Any:
    """Leaves what outputs are computed from; inputs become placeholders."""
    inputs = frozenset(node_of(name) for name in told.inputs)
    left_over = needed(graph, told.outputs, inputs)
    types = dict(zip(told.parameters.get("name", ()), told.parameters.get("type_for_name", ())))
    shapes = dict(zip(told.parameters.get("name", ()), told.parameters.get("shape_for_name", ())))

    def left(node: Any) -> Any:
        if node.name not in inputs or node.op == "Placeholder":
            return node
        made = node_def_pb2.NodeDef(name=node.name, op="Placeholder")
        made.attr["dtype"].type = tf.as_dtype(_type_name(types.get(node.name, told.one("type", "float")))).as_datatype_enum
        made.attr["shape"].shape.SetInParent()
        sizes = shapes.get(node.name, told.one("shape", ""))
        for size in filter(None, sizes.split(",")):
            made.attr["shape"].shape.dim.add(size=int(size))
        return made

    return with_nodes(graph, [left(node) for node in graph.node if node.name in left_over])


def _type_name(name: str) -> str:
    return {"float": "float32", "double": "float64", "half": "float16"}.get(name, name)


@transform
def remove_nodes(graph: Any, told: Told) -> Any:
    """Takes out nodes of some ops: what they were given goes on to where their results went."""
    ops = told.parameters.get("op")
    if not ops:
        raise invalid_argument("remove_nodes expects at least one 'op'argument, e.g. remove_nodes(op=Identity)")
    most = int(told.one("max_inputs", 1))
    replaced = {
        node.name: node.input[0]
        for node in graph.node
        if node.op in ops and node.name not in told.kept and 1 <= len(node.input) <= most and not node.input[0].startswith("^")
    }

    def final(given: str) -> str:
        while node_of(given) in replaced:
            source = replaced[node_of(given)]
            given = "^" + node_of(source) if given.startswith("^") else source
        return given

    return rewired(graph, [node for node in graph.node if node.name not in replaced], final)


def rewired(graph: Any, nodes: Any, change: Callable[[str], str]) -> Any:
    made = with_nodes(graph, nodes)
    for node in made.node:
        # A node waits once for another.
        inputs = list(dict.fromkeys(change(given) for given in node.input if given.startswith("^")))
        node.input[:] = [change(given) for given in node.input if not given.startswith("^")] + inputs
    return made


@transform
def merge_duplicate_nodes(graph: Any, told: Told) -> Any:
    """Leaves one of several nodes that compute the same."""
    while True:
        first: dict[Any, str] = {}
        replaced: dict[str, str] = {}
        for node in graph.node:
            definition = opdefs.find(node.op)
            if node.name in told.kept or definition is None or definition.is_stateful:
                continue
            same = node_def_pb2.NodeDef()
            same.CopyFrom(node)
            same.name = ""
            if (known := first.setdefault(same.SerializeToString(deterministic=True), node.name)) != node.name:
                replaced[node.name] = known
        if not replaced:
            return graph

        def change(given: str) -> str:
            name = node_of(given)
            return given.replace(name, replaced[name], 1) if name in replaced else given  # noqa: B023

        graph = rewired(graph, [node for node in graph.node if node.name not in replaced], change)


@transform
def sort_by_execution_order(graph: Any, told: Told) -> Any:
    """Puts each node behind all that it is computed from."""
    by_name = {node.name: node for node in graph.node}
    done: dict[str, Any] = {}
    for start in graph.node:
        waiting = [start]
        while waiting:
            node = waiting[-1]
            missing = [by_name[node_of(given)] for given in node.input if node_of(given) in by_name and node_of(given) not in done]
            # A loop comes back to what it began with.
            missing = [] if node.op == "NextIteration" else [m for m in missing if m.op != "NextIteration"]
            if node.name in done or not missing:
                done.setdefault(node.name, node)
                waiting.pop()
            else:
                waiting.extend(reversed(missing))
    return with_nodes(graph, done.values())


@transform
def remove_control_dependencies(graph: Any, told: Told) -> Any:
    """Has no node wait for another that it is not given anything by."""
    made = with_nodes(graph, graph.node)
    for node in made.node:
        node.input[:] = [given for given in node.input if not given.startswith("^")]
    return made
