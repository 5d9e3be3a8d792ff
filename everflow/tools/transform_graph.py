"""TransformGraph: changes to GraphDefs, one after the other, each a function of the graph and of what it was told."""

from __future__ import annotations

import argparse
import collections
import dataclasses
import re
import string
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import everflow as tf
from everflow.api import public
from everflow.errors import invalid_argument
from everflow.graph import opdefs
from everflow.proto import graph_pb2, node_def_pb2
from everflow.tools.graph_files import add_flag, read_proto, write_proto
from everflow.tools.optimize_for_inference import fold_batch_norms as folded_old_batch_norms

# Tensors with fewer numbers are left as they are.
_ROUNDED_FROM, _QUANTIZED_FROM = 16, 1024
_SMALLEST = np.finfo(np.float32).tiny


@dataclasses.dataclass(frozen=True)
class Told:
    """What a transform is told: the nodes that are fed and fetched, and its parameters."""

    inputs: list[str]
    outputs: list[str]
    parameters: dict[str, list[str]]

    def one(self, name: str, default: Any = None) -> Any:
        """A parameter that is given once at most."""
        return self.parameters.get(name, [default])[0]

    def is_on(self, name: str) -> bool:
        return self.one(name, "false").lower() in ("true", "1", "t", "yes")

    @property
    def kept(self) -> frozenset[str]:
        """The nodes whose names people know."""
        return frozenset(node_of(name) for name in (*self.inputs, *self.outputs))


Transform = Callable[[Any, Told], Any]
TRANSFORMS: dict[str, Transform] = {}


def transform(function: Transform) -> Transform:
    """Names a transform as its function is named."""
    TRANSFORMS[function.__name__] = function
    return function


def node_of(given: str) -> str:
    """The node that an input names."""
    return given.removeprefix("^").partition(":")[0]


def _with_nodes(graph: Any, nodes: Any) -> Any:
    made = graph_pb2.GraphDef()
    for field in ("versions", "library"):
        if graph.HasField(field):
            getattr(made, field).CopyFrom(getattr(graph, field))
    made.node.extend(nodes)
    return made


def _needed(graph: Any, outputs: list[str], stops: frozenset[str] = frozenset()) -> set[str]:
    """The names of the nodes that outputs are computed from, as far as to some at which one stops."""
    by_name = {node.name: node for node in graph.node}
    found: set[str] = set()
    waiting = [node_of(name) for name in outputs]
    while waiting:
        name = waiting.pop()
        if name in found:
            continue
        if name not in by_name:
            raise invalid_argument(f"Input node {name} not found in graph")
        found.add(name)
        if name not in stops:
            waiting.extend(node_of(given) for given in by_name[name].input)
    return found


def _consumers(graph: Any) -> collections.Counter[str]:
    return collections.Counter(node_of(given) for node in graph.node for given in node.input)


def _const(name: str, value: np.ndarray, dtype: Any = None) -> Any:
    made = node_def_pb2.NodeDef(name=name, op="Const")
    proto = tf.make_tensor_proto(value, dtype)
    made.attr["dtype"].type = proto.dtype
    made.attr["value"].tensor.CopyFrom(proto)
    return made


def _value(node: Any) -> np.ndarray:
    return tf.make_ndarray(node.attr["value"].tensor)


# Which nodes there are


@transform
def strip_unused_nodes(graph: Any, told: Told) -> Any:
    """Leaves what outputs are computed from; inputs become placeholders."""
    inputs = frozenset(node_of(name) for name in told.inputs)
    needed = _needed(graph, told.outputs, inputs)
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

    return _with_nodes(graph, [left(node) for node in graph.node if node.name in needed])


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

    return _rewired(graph, [node for node in graph.node if node.name not in replaced], final)


def _rewired(graph: Any, nodes: Any, change: Callable[[str], str]) -> Any:
    made = _with_nodes(graph, nodes)
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

        graph = _rewired(graph, [node for node in graph.node if node.name not in replaced], change)


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
    return _with_nodes(graph, done.values())


@transform
def remove_control_dependencies(graph: Any, told: Told) -> Any:
    """Has no node wait for another that it is not given anything by."""
    made = _with_nodes(graph, graph.node)
    for node in made.node:
        node.input[:] = [given for given in node.input if not given.startswith("^")]
    return made


# What nodes say


def _of_ops(made: Any, told: Told) -> Iterator[Any]:
    asked = told.one("op_name", "*")
    return (node for node in made.node if asked in ("*", node.op))


@transform
def rename_op(graph: Any, told: Told) -> Any:
    """Gives the nodes of one op another one."""
    old, new = told.one("old_op_name"), told.one("new_op_name")
    if old is None or new is None:
        raise invalid_argument(
            "rename_op expects exactly one 'old_op_name' and 'new_op_name' argument, e.g. rename_op(old_op_name=Mul, new_op_name=Multiply)"
        )
    made = _with_nodes(graph, graph.node)
    for node in made.node:
        if node.op == old:
            node.op = new
    return made


@transform
def rename_attribute(graph: Any, told: Told) -> Any:
    """Calls an attribute otherwise."""
    old, new = told.one("old_attribute_name"), told.one("new_attribute_name")
    if old is None or new is None:
        raise invalid_argument(
            "rename_attribute expects exactly one 'old_attribute_name' and one 'new_attribute_name' argument, e.g. "
            "rename_attribute(old_attribute_name=foo, new_attribute_name=bar)"
        )
    made = _with_nodes(graph, graph.node)
    for node in _of_ops(made, told):
        if old in node.attr:
            node.attr[new].CopyFrom(node.attr[old])
            del node.attr[old]
    return made


@transform
def remove_attribute(graph: Any, told: Told) -> Any:
    """Leaves an attribute out."""
    name = told.one("attribute_name")
    if name is None:
        raise invalid_argument(
            "remove_attribute expects exactly one 'attribute_name' argument, e.g. remove_attribute(op_name=Mul, attribute_name=foo)"
        )
    made = _with_nodes(graph, graph.node)
    for node in _of_ops(made, told):
        node.attr.pop(name, None)
    return made


@transform
def add_default_attributes(graph: Any, told: Told) -> Any:
    """Writes attributes out that have their defaults."""
    made = graph_pb2.GraphDef()
    made.CopyFrom(graph)
    with tf.Graph().as_default() as filled:
        tf.import_graph_def(graph, name="")
    found = {node.name: node for node in filled.as_graph_def().node}
    for node in made.node:
        for name, value in found[node.name].attr.items():
            if name not in node.attr and not name.startswith("_"):
                node.attr[name].CopyFrom(value)
    return made


@transform
def remove_device(graph: Any, told: Told) -> Any:
    """Lets nodes be anywhere."""
    return _placed(graph, lambda _: "")


@transform
def set_device(graph: Any, told: Told) -> Any:
    """Puts nodes on a device, or those that are on none."""
    device, only_default = told.one("device", ""), told.is_on("if_default")
    return _placed(graph, lambda now: now if only_default and now else device)


def _placed(graph: Any, place: Callable[[str], str]) -> Any:
    made = _with_nodes(graph, graph.node)
    for node in made.node:
        node.device = place(node.device)
    return made


_DIGITS = string.digits + string.ascii_lowercase + string.ascii_uppercase


@transform
def obfuscate_names(graph: Any, told: Told) -> Any:
    """Gives nodes other than inputs and outputs the shortest names."""
    names = (name for name in _short_names() if name not in told.kept)
    short = {node.name: node.name if node.name in told.kept else next(names) for node in graph.node}
    made = _rewired(graph, graph.node, lambda given: given.replace(node_of(given), short[node_of(given)], 1))
    for node in made.node:
        node.name = short[node.name]
    return made


def _short_names() -> Iterator[str]:
    yield from _DIGITS
    for start in _short_names():
        yield from (start + digit for digit in _DIGITS)


# Numbers


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
        tf.import_graph_def(_with_nodes(graph, [n for n in graph.node if n.name in constant]), name="")
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
    folded = _with_nodes(graph, [_const(n.name, values[n.name], types[n.name]) if n.name in values else n for n in graph.node])
    needed = _needed(folded, told.outputs, fed) | fed
    return _with_nodes(folded, [node for node in folded.node if node.name in needed])


_WEIGHTED = ("Conv2D", "DepthwiseConv2dNative", "MatMul")


@transform
def fold_batch_norms(graph: Any, told: Told) -> Any:
    """Multiplies weights of convolutions and products by the constant that their results are multiplied by."""
    by_name = {node.name: node for node in graph.node}
    uses = _consumers(graph)
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
        numbers, factors = _value(weights), _value(factor)
        last = numbers.shape[2:] if layer.op == "DepthwiseConv2dNative" else numbers.shape[-1:]
        is_row_last = layer.op == "MatMul" and layer.attr["transpose_b"].b
        if (
            factors.ndim != 1
            or factors.size != (numbers.shape[0] if is_row_last else int(np.prod(last)))
            or ("data_format" in layer.attr and layer.attr["data_format"].s == b"NCHW")
        ):
            continue
        by_channel = factors[:, None] if is_row_last else factors.reshape(last)
        changed[weights.name] = _const(weights.name, numbers * by_channel)
        made = node_def_pb2.NodeDef()
        made.CopyFrom(layer)
        made.name = scaled.name
        changed[scaled.name] = made
        gone.add(layer.name)
        if uses[factor.name] == 1 and factor.name not in told.kept:
            gone.add(factor.name)
    return _with_nodes(graph, [changed.get(node.name, node) for node in graph.node if node.name not in gone])


@transform
def fold_old_batch_norms(graph: Any, told: Told) -> Any:
    """Folds whole batch normalizations with constant statistics into the weights before them."""
    return folded_old_batch_norms(graph)


def _weights_of(graph: Any, fewest: int) -> Iterator[Any]:
    for node in graph.node:
        if node.op == "Const" and node.attr["dtype"].type == tf.float32.as_datatype_enum and _value(node).size >= fewest:
            yield node


@transform
def round_weights(graph: Any, told: Told) -> Any:
    """Leaves weights a number of values, so that files compress better."""
    steps = int(told.one("num_steps", 256))
    changed = {}
    for node in _weights_of(graph, _ROUNDED_FROM):
        numbers = _value(node)
        low, high = np.float32(min(numbers.min(), 0)), np.float32(max(numbers.max(), 0))
        width = max((high - low) / np.float32(steps), _SMALLEST)
        changed[node.name] = _const(node.name, (low + (np.floor((numbers - low) / width) + np.float32(0.5)) * width).astype(np.float32))
    return _with_nodes(graph, [changed.get(node.name, node) for node in graph.node])


def _rounded(numbers: Any) -> Any:
    return np.trunc(numbers + np.copysign(0.5, numbers))


@transform
def quantize_weights(graph: Any, told: Told) -> Any:
    """Keeps weights in eight bits, and makes floats of them when the graph runs."""
    fewest = int(told.one("minimum_size", _QUANTIZED_FROM))
    changed: dict[str, list[Any]] = {}
    for node in _weights_of(graph, fewest):
        numbers = _value(node).astype(np.float64)
        low, high = min(float(numbers.min()), 0.0), max(float(numbers.max()), float(_SMALLEST))
        scale = 255.0 / (high - low)
        bits = np.clip(_rounded(numbers * scale) - _rounded(low * scale), 0, 255).astype(np.uint8)
        start = node.name + "_quantized_"
        held = node_def_pb2.NodeDef(name=start + "const", op="Const")
        held.attr["dtype"].type = tf.quint8.as_datatype_enum
        held.attr["value"].tensor.dtype = tf.quint8.as_datatype_enum
        held.attr["value"].tensor.tensor_shape.CopyFrom(node.attr["value"].tensor.tensor_shape)
        held.attr["value"].tensor.tensor_content = bits.tobytes()
        ends = [_const(start + name, np.asarray(end, np.float32)) for name, end in (("min", low), ("max", high))]
        read = node_def_pb2.NodeDef(name=node.name, op="Dequantize", input=[held.name, *(end.name for end in ends)])
        read.attr["T"].type = tf.quint8.as_datatype_enum
        read.attr["mode"].s = b"MIN_FIRST"
        changed[node.name] = [held, *ends, read]
    return _with_nodes(graph, [made for node in graph.node for made in changed.get(node.name, [node])])


# Asking for them


_WORD = re.compile(r"\s*([A-Za-z0-9_]+)\s*")
_PARAMETER = re.compile(r"\s*([A-Za-z0-9_]+)\s*=\s*(\"[^\"]*\"|[^\s,()\"]*)\s*,?\s*")


def parsed(text: str) -> list[tuple[str, dict[str, list[str]]]]:
    """The transforms in a text like `remove_nodes(op=Identity, op=CheckNumerics) fold_constants`, with their parameters."""
    found = []
    at = 0
    while text[at:].strip():
        word = _WORD.match(text, at)
        if word is None:
            raise invalid_argument(f"Looking for transform name, but found {text[at:].strip()}")
        at = word.end()
        parameters: dict[str, list[str]] = collections.defaultdict(list)
        if text[at : at + 1] == "(":
            at += 1
            while (parameter := _PARAMETER.match(text, at)) is not None:
                parameters[parameter[1]].append(parameter[2].strip('"'))
                at = parameter.end()
            if text[at : at + 1] != ")":
                raise invalid_argument(f"Looking for parameter name or ')', but found {text[at:].strip()}")
            at += 1
        found.append((word[1], dict(parameters)))
    return found


@public("tools.graph_transforms.TransformGraph")
def TransformGraph(input_graph_def: Any, inputs: Any, outputs: Any, transforms: Any) -> Any:
    """A graph after some transforms, such as `["strip_unused_nodes", "fold_constants(ignore_errors=true)"]`, one after the other."""
    graph = graph_pb2.GraphDef()
    graph.CopyFrom(input_graph_def)
    for name, parameters in (step for text in transforms for step in parsed(text)):
        if name not in TRANSFORMS:
            raise invalid_argument(f"Transform '{name}' not recognized.")
        graph = TRANSFORMS[name](graph, Told(list(inputs), list(outputs), parameters))
    return graph


def command(arguments: list[str]) -> int:
    """`everflow transform_graph`."""
    parser = argparse.ArgumentParser(
        prog="everflow transform_graph", description=f"Changes a graph. Transforms: {', '.join(sorted(TRANSFORMS))}."
    )
    for flag, text in (
        ("--in_graph", "file of the graph"),
        ("--out_graph", "file to write"),
        ("--transforms", "what to do, in this order"),
    ):
        parser.add_argument(flag, required=True, help=text)
    parser.add_argument("--inputs", default="", help="names of the nodes that are fed, with commas")
    parser.add_argument("--outputs", default="", help="names of the nodes that are fetched, with commas")
    add_flag(parser, "--output_as_text", False, "write the graph as text")
    given = parser.parse_args(arguments)
    graph = read_proto(given.in_graph, graph_pb2.GraphDef(), binary=not given.in_graph.endswith("txt"))
    inputs, outputs = ([name for name in text.split(",") if name] for text in (given.inputs, given.outputs))
    write_proto(given.out_graph, TransformGraph(graph, inputs, outputs, [given.transforms]), binary=not given.output_as_text)
    return 0
