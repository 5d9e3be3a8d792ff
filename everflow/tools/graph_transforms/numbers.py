"""Transforms of constants: folded, rounded, kept in eight bits."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import everflow as tf
from everflow.graph import opdefs
from everflow.proto import node_def_pb2
from everflow.tools.graph_transforms.attributes import remove_attribute
from everflow.tools.graph_transforms.nodes import sort_by_execution_order
from everflow.tools.graph_transforms.table import Told, const, consumers, needed, node_of, transform, value_of, with_nodes
from everflow.tools.optimize_for_inference import fold_batch_norms as folded_old_batch_norms

# Tensors with fewer numbers are left as they are.
_ROUNDED_FROM, _QUANTIZED_FROM = 16, 1024
_SMALLEST = np.finfo(np.float32).tiny


@transform
def fold_constants(graph: Any, told: Told) -> Any:
    """Computes what depends on constants only."""
    if told.one("clear_output_shapes", "true").lower() == "true":
        graph = remove_attribute(graph, Told(told.inputs, told.outputs, {"attribute_name": ["_output_shapes"]}))
    by_name = {node.name: node for node in graph.node}
    fed = frozenset(node_of(name) for name in told.inputs)
    constant: set[str] = set()
    for node in sort_by_execution_order(graph, told).node:
        definition = opdefs.find(node.op)
        if node.op == "Const" and node.name not in fed:
            constant.add(node.name)
        elif (
            node.input
            and node.name not in fed
            and definition is not None
            and not definition.is_stateful
            and all(not given.startswith("^") and node_of(given) in constant for given in node.input)
        ):
            constant.add(node.name)
    used = {given for node in graph.node if node.name not in constant for given in node.input}
    used.update(told.outputs)
    with tf.Graph().as_default() as whole:
        tf.import_graph_def(with_nodes(graph, [n for n in graph.node if n.name in constant]), name="")
    frontier = [
        name
        for name in by_name
        if name in constant
        and by_name[name].op != "Const"
        and any(node_of(given) == name for given in used)
        and len(whole.get_operation_by_name(name).outputs) == 1
        and whole.get_tensor_by_name(name + ":0").dtype != tf.resource
    ]
    with tf.Session(graph=whole) as session:
        values = dict(zip(frontier, session.run([name + ":0" for name in frontier])))
    types = {name: whole.get_tensor_by_name(name + ":0").dtype for name in frontier}
    folded = with_nodes(graph, [const(n.name, values[n.name], types[n.name]) if n.name in values else n for n in graph.node])
    used = needed(folded, told.outputs, fed) | fed
    return with_nodes(folded, [node for node in folded.node if node.name in used])


_WEIGHTED = ("Conv2D", "DepthwiseConv2dNative", "MatMul")


@transform
def fold_batch_norms(graph: Any, told: Told) -> Any:
    """Multiplies weights of convolutions and products by the constant that their results are multiplied by."""
    by_name = {node.name: node for node in graph.node}
    uses = consumers(graph)
    changed: dict[str, Any] = {}
    gone: set[str] = set()
    for scaled in graph.node:
        if scaled.op != "Mul" or len(scaled.input) != 2:
            continue
        layer, factor = (by_name.get(given) for given in scaled.input)
        if layer is None or factor is None or layer.op not in _WEIGHTED or factor.op != "Const" or len(layer.input) != 2:
            continue
        weights = by_name.get(layer.input[1])
        if weights is None or weights.op != "Const" or layer.name in told.kept or uses[layer.name] != 1 or uses[weights.name] != 1:
            continue
        numbers, factors = value_of(weights), value_of(factor)
        last = numbers.shape[2:] if layer.op == "DepthwiseConv2dNative" else numbers.shape[-1:]
        is_row_last = layer.op == "MatMul" and layer.attr["transpose_b"].b
        if (
            factors.ndim != 1
            or factors.size != (numbers.shape[0] if is_row_last else int(np.prod(last)))
            or ("data_format" in layer.attr and layer.attr["data_format"].s == b"NCHW")
        ):
            continue
        by_channel = factors[:, None] if is_row_last else factors.reshape(last)
        changed[weights.name] = const(weights.name, numbers * by_channel)
        made = node_def_pb2.NodeDef()
        made.CopyFrom(layer)
        made.name = scaled.name
        changed[scaled.name] = made
        gone.add(layer.name)
        if uses[factor.name] == 1 and factor.name not in told.kept:
            gone.add(factor.name)
    return with_nodes(graph, [changed.get(node.name, node) for node in graph.node if node.name not in gone])


@transform
def fold_old_batch_norms(graph: Any, told: Told) -> Any:
    """Folds whole batch normalizations with constant statistics into the weights before them."""
    return folded_old_batch_norms(graph)


def _weights_of(graph: Any, fewest: int) -> Iterator[Any]:
    for node in graph.node:
        if node.op == "Const" and node.attr["dtype"].type == tf.float32.as_datatype_enum and value_of(node).size >= fewest:
            yield node


@transform
def round_weights(graph: Any, told: Told) -> Any:
    """Leaves weights a number of values, so that files compress better."""
    steps = int(told.one("num_steps", 256))
    changed = {}
    for node in _weights_of(graph, _ROUNDED_FROM):
        numbers = value_of(node)
        low, high = np.float32(min(numbers.min(), 0)), np.float32(max(numbers.max(), 0))
        width = max((high - low) / np.float32(steps), _SMALLEST)
        changed[node.name] = const(node.name, (low + (np.floor((numbers - low) / width) + np.float32(0.5)) * width).astype(np.float32))
    return with_nodes(graph, [changed.get(node.name, node) for node in graph.node])


def _rounded(numbers: Any) -> Any:
    return np.trunc(numbers + np.copysign(0.5, numbers))


@transform
def quantize_weights(graph: Any, told: Told) -> Any:
    """Keeps weights in eight bits, and makes floats of them when the graph runs."""
    fewest = int(told.one("minimum_size", _QUANTIZED_FROM))
    changed: dict[str, list[Any]] = {}
    for node in _weights_of(graph, fewest):
        numbers = value_of(node).astype(np.float64)
        low, high = min(float(numbers.min()), 0.0), max(float(numbers.max()), float(_SMALLEST))
        scale = 255.0 / (high - low)
        bits = np.clip(_rounded(numbers * scale) - _rounded(low * scale), 0, 255).astype(np.uint8)
        start = node.name + "_quantized_"
        held = node_def_pb2.NodeDef(name=start + "const", op="Const")
        held.attr["dtype"].type = tf.quint8.as_datatype_enum
        held.attr["value"].tensor.dtype = tf.quint8.as_datatype_enum
        held.attr["value"].tensor.tensor_shape.CopyFrom(node.attr["value"].tensor.tensor_shape)
        held.attr["value"].tensor.tensor_content = bits.tobytes()
        ends = [const(start + name, np.asarray(end, np.float32)) for name, end in (("min", low), ("max", high))]
        read = node_def_pb2.NodeDef(name=node.name, op="Dequantize", input=[held.name, *(end.name for end in ends)])
        read.attr["T"].type = tf.quint8.as_datatype_enum
        read.attr["mode"].s = b"MIN_FIRST"
        changed[node.name] = [held, *ends, read]
    return with_nodes(graph, [made for node in graph.node for made in changed.get(node.name, [node])])
