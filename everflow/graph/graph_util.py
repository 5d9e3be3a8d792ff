"""tf.graph_util: cutting and simplifying GraphDefs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from everflow.api import public
from everflow.graph import dtypes, shapes
from everflow.graph.graph import Graph
from everflow.proto import graph_pb2, node_def_pb2

_VARIABLE_OPS = frozenset(
    ("Assign", "AssignAdd", "AssignSub", "Queue", "ScatterAdd", "ScatterSub", "ScatterUpdate", "TruncatedNormal", "Variable", "VariableV2")
)


@public("graph_util.must_run_on_cpu")
def must_run_on_cpu(node: Any, pin_variables_on_cpu: bool = False) -> bool:
    """Whether a node (an Operation or a NodeDef) has only a kernel for the CPU."""
    definition = node if isinstance(node, node_def_pb2.NodeDef) else node.node_def
    if pin_variables_on_cpu and definition.op in _VARIABLE_OPS:
        return True

    def has(attr: str, *types: dtypes.DType) -> bool:
        return definition.attr[attr].type in [t.as_datatype_enum for t in types]

    if definition.op == "Const":
        return has("dtype", dtypes.string, dtypes.int32)
    if definition.op in ("DynamicStitch", "ParallelDynamicStitch"):
        return has("T", dtypes.int32)
    return definition.op == "Cast" and has("SrcT", dtypes.int32)


def node_name(name: str) -> str:
    """The node that an input's name (`^a`, `a:1`) means."""
    return name[1:] if name.startswith("^") else name.split(":")[0]


@public("graph_util.extract_sub_graph")
def extract_sub_graph(graph_def: Any, dest_nodes: list[str]) -> Any:
    """The nodes that the named nodes need, in their old order, with the library."""
    if not isinstance(graph_def, graph_pb2.GraphDef):
        raise TypeError("graph_def must be a graph_pb2.GraphDef proto.")
    if isinstance(dest_nodes, str):
        raise TypeError("dest_nodes must be a list.")
    inputs = {node.name: [node_name(i) for i in node.input] for node in graph_def.node}
    for name in dest_nodes:
        if name not in inputs:
            raise AssertionError(f"{name} is not in graph")
    needed = reachable(dest_nodes, inputs)
    found = graph_pb2.GraphDef()
    found.node.extend(node for node in graph_def.node if node.name in needed)
    found.library.CopyFrom(graph_def.library)
    found.versions.CopyFrom(graph_def.versions)
    return found


def reachable(starts: Iterable[str], inputs: dict[str, list[str]]) -> set[str]:
    """The nodes on the way backwards from some nodes."""
    found: set[str] = set()
    stack = list(starts)
    while stack:
        name = stack.pop()
        if name not in found:
            found.add(name)
            stack.extend(inputs.get(name, ()))
    return found


@public("graph_util.tensor_shape_from_node_def_name")
def tensor_shape_from_node_def_name(graph: Graph, input_name: str) -> shapes.TensorShape:
    """The static shape of the tensor that an input's name means."""
    name = input_name if ":" in input_name else input_name + ":0"
    return graph.get_tensor_by_name(name).get_shape()


@public("graph_util.remove_training_nodes")
def remove_training_nodes(input_graph: Any, protected_nodes: list[str] | None = None) -> Any:
    """The graph without what only training needs: CheckNumerics, and Identity nodes that just hand a tensor on."""
    protected = set(protected_nodes or ())
    return _without_identities(_without_checks(input_graph, protected), protected)


def _like(graph_def: Any, nodes: list[Any]) -> Any:
    found = type(graph_def)()
    found.node.extend(nodes)
    for part in ("library", "versions"):
        if graph_def.HasField(part):
            getattr(found, part).CopyFrom(getattr(graph_def, part))
    return found


def _copied(node: Any, inputs: list[str]) -> Any:
    found = type(node)()
    found.CopyFrom(node)
    del found.input[:]
    found.input.extend(inputs)
    return found


def _without_checks(graph_def: Any, protected: set[str]) -> Any:
    gone = {n.name: n.input[0] for n in graph_def.node if n.op == "CheckNumerics" and n.name not in protected}
    nodes = []
    for node in graph_def.node:
        if node.name in gone:
            continue
        inputs = []
        for name in node.input:
            plain = name.removeprefix("^")
            if plain not in gone:
                inputs.append(name)
            elif plain == name:
                # A data edge goes on to what the node was given; a control edge has lost its sense.
                inputs.append(gone[name])
        nodes.append(_copied(node, inputs))
    return _like(graph_def, nodes)


def _without_identities(graph_def: Any, protected: set[str]) -> Any:
    control = {name[1:] for node in graph_def.node for name in node.input if name.startswith("^")}
    gone: dict[str, str] = {}
    for node in graph_def.node:
        data = [i for i in node.input if not i.startswith("^")]
        if node.op == "Identity" and node.name not in protected and node.name not in control and len(data) == len(node.input) == 1:
            gone[node.name] = data[0]
    nodes = []
    for node in graph_def.node:
        if node.name in gone:
            continue
        nodes.append(_copied(node, [_final(name, gone) for name in node.input]))
    return _like(graph_def, nodes)


def _final(name: str, gone: dict[str, str]) -> str:
    seen = set()
    while name.removesuffix(":0") in gone and name not in seen:
        seen.add(name)
        name = gone[name.removesuffix(":0")]
    return name
