"""sparsify_gather: columns of weights, most of them zeros, kept as tables."""

from __future__ import annotations

from typing import Any

import numpy as np

import everflow as tf
from everflow.errors import FailedPreconditionError
from everflow.proto import node_def_pb2
from everflow.tools.graph_transforms.table import Told, const, made, node_of, said, transform, value_of, with_nodes, without_unused


@transform
def sparsify_gather(graph: Any, told: Told) -> Any:
    """Has rows of a frozen variable of one column looked up in a table of those that are not zero.

    Tables are filled by the op that `group_init_node` names (`group_deps`). With `input_checkpoint` variables may still be variables."""
    by_name = {node.name: node for node in graph.node}
    reader = tf.train.load_checkpoint(told.one("input_checkpoint")) if "input_checkpoint" in told.parameters else None
    changed: dict[str, list[Any]] = {}
    tables: dict[str, list[Any]] = {}
    loose: set[str] = set()
    for gather in graph.node:
        read = by_name.get(gather.input[0]) if gather.op in ("Gather", "GatherV2") else None
        held = by_name.get(read.input[0]) if read is not None and read.op == "Identity" and read.input else None
        weights = None if held is None else _weights(held, reader)
        if read is None or held is None or weights is None:
            continue
        if weights.ndim != 2 or weights.shape[1] != 1:
            sizes = ",".join(map(str, weights.shape))
            raise FailedPreconditionError(
                None,
                None,
                f"Transform only applicable to subgraph with 'Const' with tensor of shape [N, 1]. But instead get shape [{sizes}].",
            )
        tables.setdefault(held.name, _table(held.name, weights[:, 0]))
        changed[gather.name] = _found(gather, held.name + "/HashTable")
        loose.update(map(node_of, (read.name, held.name, *gather.input[2:])))
    nodes = [node for made_for in tables.values() for node in made_for]
    nodes += [made for node in graph.node for made in changed.get(node.name, [node])]
    nodes = without_unused(graph, nodes, loose - told.kept)
    for name in tables:
        if by_name[name].op != "Const":
            nodes = _without_variable(graph, nodes, name)
    group = told.one("group_init_node", "group_deps")
    fillings = [f"^{name}/InitializeTable" for name in tables]
    others = [node for node in nodes if node.name != group]
    begins = made("NoOp", group, [*by_name[group].input, *fillings] if group in by_name else fillings)
    return with_nodes(graph, [*others, begins])


def _without_variable(graph: Any, nodes: list[Any], name: str) -> list[Any]:
    """Nodes without a variable that is only initialized, saved and restored, and without what does that."""
    users = [node for node in nodes if name in node.input]
    if not all(node.op in ("Assign", "SaveV2") for node in users):
        return nodes
    gone = {name, *(node.name for node in users if node.op == "Assign")}
    left = []
    for node in nodes:
        if node.name in gone:
            continue
        if any(node_of(given) in gone for given in node.input):
            other = node_def_pb2.NodeDef()
            other.CopyFrom(node)
            other.input[:] = [given for given in node.input if node_of(given) not in gone]
            node = other
        left.append(node)
    starts = {node.name for node in nodes if node.name.startswith(name + "/Initializer/") or node.name == name + "/initial_value"}
    return without_unused(graph, left, starts)


def _weights(node: Any, reader: Any) -> np.ndarray | None:
    if node.op == "Const":
        return value_of(node)
    if reader is not None and node.op in ("Variable", "VariableV2"):
        return reader.get_tensor(node.name)
    return None


def _table(name: str, weights: np.ndarray) -> list[Any]:
    rows = np.flatnonzero(weights)
    dtype = tf.as_dtype(weights.dtype)
    inputs = [name + "/HashTable", name + "/indices", name + "/values"]
    return [
        const(inputs[1], rows.astype(np.int64)),
        const(inputs[2], weights[rows]),
        made("HashTable", inputs[0], key_dtype=tf.int64, value_dtype=dtype),
        made("InitializeTable", name + "/InitializeTable", inputs, Tkey=tf.int64, Tval=dtype),
    ]


def _found(gather: Any, table: str) -> list[Any]:
    dtype = tf.as_dtype(said(gather, "Tparams").type)
    rows, start = gather.input[1], gather.name + "/"
    nodes = [const(start + "Const", np.zeros((), dtype.as_numpy_dtype)), const(start + "ExpandDims/Const", np.int32(-1))]
    if said(gather, "Tindices").type != tf.int64.as_datatype_enum:
        nodes.append(made("Cast", start + "Cast", [rows], SrcT=tf.as_dtype(said(gather, "Tindices").type), DstT=tf.int64))
        rows = start + "Cast"
    find = made("LookupTableFind", start + "LookupTableFind", [table, rows, start + "Const"], Tin=tf.int64, Tout=dtype)
    return [*nodes, find, made("ExpandDims", gather.name, [find.name, start + "ExpandDims/Const"], T=dtype)]
