"""Comparing graphs and meta graphs, and finding nodes in them."""

from __future__ import annotations

import re
from typing import Any

import everflow as tf
from everflow.api import internal, public
from everflow.graph.collection_protos import get_collection_proto_type
from everflow.graph.graph import Graph
from everflow.proto import graph_pb2, types_pb2

# Names that a checkpoint or a hash table gets anew each time its graph is made.
_RANDOM_PREFIX = re.compile(rb"_temp_[0-9a-f]{32}/part")
_RANDOM_TABLE = re.compile(rb"hash_table_[0-9a-zA-Z\-]+|[0-9a-zA-Z\-]+_[0-9a-zA-Z\-]+_load_[0-9]+_[0-9]+")


@public("test.assert_equal_graph_def")
@internal("framework.test_util.assert_equal_graph_def", "framework.test_util.assert_equal_graph_def_v1")
def assert_equal_graph_def(actual: Any, expected: Any, checkpoint_v2: bool = False, hash_table_shared_name: bool = False) -> None:
    """Raises AssertionError unless both GraphDefs hold the same nodes, in any order; `_attributes` don't count."""
    for what, graph_def in (("actual", actual), ("expected", expected)):
        if not isinstance(graph_def, graph_pb2.GraphDef):
            raise TypeError(f"Expected tf.GraphDef for {what}, got {type(graph_def).__name__}")
    diff = graph_difference(
        _without_random_names(actual, checkpoint_v2, hash_table_shared_name),
        _without_random_names(expected, checkpoint_v2, hash_table_shared_name),
    )
    if diff:
        raise AssertionError(diff)


@internal("framework.test_util.assert_equal_graph_def_v2")
def assert_equal_graph_def_v2(expected: Any, actual: Any) -> None:
    assert_equal_graph_def(actual, expected, checkpoint_v2=True, hash_table_shared_name=True)


def _without_random_names(graph_def: Any, checkpoint_v2: bool, hash_table_shared_name: bool) -> Any:
    copy = type(graph_def)()
    copy.CopyFrom(graph_def)
    for node in copy.node if checkpoint_v2 or hash_table_shared_name else ():
        if checkpoint_v2 and node.op == "Const":
            values = node.attr["value"].tensor.string_val
            if values and _RANDOM_PREFIX.match(values[0]):
                values[0] = b""
        if hash_table_shared_name and node.op == "HashTableV2" and _RANDOM_TABLE.match(node.attr["shared_name"].s):
            node.attr["shared_name"].s = b""
    return copy


@internal("pywrap_tensorflow.EqualGraphDefWrapper")
def serialized_graph_difference(actual: bytes, expected: bytes) -> bytes:
    """The same for GraphDefs that are given as their bytes; the answer is UTF-8."""
    return graph_difference(graph_pb2.GraphDef.FromString(actual), graph_pb2.GraphDef.FromString(expected)).encode()


def graph_difference(actual: Any, expected: Any) -> str:
    """A difference between two GraphDefs in a sentence, or an empty string; the last node that differs is told."""
    remaining = {node.name: node for node in expected.node}
    for node in reversed(actual.node):
        wanted = remaining.pop(node.name, None)
        if wanted is None:
            return f"Found unexpected node '{_summary(node)}'"
        diff = _node_difference(node, wanted)
        if diff:
            return diff
    for node in reversed(remaining.values()):
        return f"Did not find expected node '{_summary(node)}'"
    return ""


def _node_difference(node: Any, wanted: Any) -> str:
    start = f"Node named '{node.name}' has"
    if node.op != wanted.op:
        return f"{start} op '{node.op}' that is not expected '{wanted.op}'"
    if node.device != wanted.device:
        return f"{start} device '{node.device}' that is not expected '{wanted.device}'"
    if len(node.input) != len(wanted.input):
        return f"{start} inputs '{', '.join(node.input)}' that don't match expected '{', '.join(wanted.input)}'"
    data = [name for name in node.input if not name.startswith("^")]
    for i, name in enumerate(data):
        if name != wanted.input[i] and name + ":0" != wanted.input[i] and name != wanted.input[i] + ":0":
            return f"{start} input {i} '{name}' that doesn't match expected '{wanted.input[i]}'"
    controls = sorted(node.input[len(data) :]), sorted(wanted.input[len(data) :])
    for name, other in zip(*controls):
        if name != other:
            return f"{start} missing expected control input '{other}'"
    for name in sorted(set(node.attr) | set(wanted.attr), reverse=True):
        if name.startswith("_"):
            continue
        if name not in wanted.attr:
            return f"{start} unexpected attr '{name}' with value: {_shown(node.attr[name])}"
        if name not in node.attr:
            return f"Node named '{node.name}' missing expected attr '{name}' with value: {_shown(wanted.attr[name])}"
        if not _same_attr(node.attr[name], wanted.attr[name]):
            return f"{start} attr '{name}' with value: {_shown(node.attr[name])} that does not match expected: {_shown(wanted.attr[name])}"
    return ""


def _same_attr(a: Any, b: Any) -> bool:
    if a == b:
        return True
    if a.WhichOneof("value") != "tensor" or b.WhichOneof("value") != "tensor":
        return False
    # The same tensor may be written as a list of values or as bytes.
    one, two = _array(a.tensor), _array(b.tensor)
    return a.tensor.dtype == b.tensor.dtype and one.shape == two.shape and one.tobytes() == two.tobytes()


def _array(tensor: Any) -> Any:
    return tf.make_ndarray(tensor)


def _summary(node: Any) -> str:
    attrs = ", ".join(f"{name}={_shown(node.attr[name])}" for name in sorted(node.attr) if not name.startswith("_"))
    device = f', _device="{node.device}"' if node.device else ""
    return f"{{{{node {node.name}}}}} = {node.op}[{attrs}{device}]({', '.join(node.input)})"


def _shown(value: Any) -> str:
    kind = value.WhichOneof("value")
    if kind == "type":
        return types_pb2.DataType.Name(value.type)
    if kind == "tensor":
        array = _array(value.tensor)
        values = " ".join(str(v) for v in array.ravel()[:8])
        dtype = tf.as_dtype(value.tensor.dtype).name
        dtype = {"float32": "float", "float64": "double"}.get(dtype, dtype)
        return f"Tensor<type: {dtype} shape: [{','.join(map(str, array.shape))}] values: {values}>"
    if kind == "b":
        return str(value.b).lower()
    return str(getattr(value, kind)).strip() if kind else "<Unknown AttrValue type>"


@internal("framework.test_util.assert_ops_in_graph")
def assert_ops_in_graph(expected_ops: dict[str, str], graph: Graph) -> dict[str, Any]:
    """The nodes with these names, which must be of these op types."""
    found = {}
    for node in graph.as_graph_def().node:
        if node.name in expected_ops:
            wanted = expected_ops[node.name]
            if wanted != node.op:
                raise ValueError(f"Expected op for node {node.name} is different. {wanted} vs {node.op}")
            found[node.name] = node
    if set(expected_ops) != set(found):
        raise ValueError(f"Not all expected ops are present. Expected {expected_ops.keys()}, found {found.keys()}")
    return found


@internal("framework.test_util.get_node_def_from_graph")
def get_node_def_from_graph(node_name: str, graph_def: Any) -> Any:
    """The node with this name, or None."""
    return next((node for node in graph_def.node if node.name == node_name), None)


@internal("framework.test_util.set_producer_version")
def set_producer_version(graph: Graph, producer_version: int) -> None:
    """Makes the graph one that was written by this version."""
    graph_def = graph_pb2.GraphDef()
    graph_def.versions.producer = producer_version
    with graph.as_default():
        tf.import_graph_def(graph_def)
    assert graph.graph_def_versions.producer == producer_version


@internal("framework.test_util.assert_meta_graph_protos_equal")
def assert_meta_graph_protos_equal(tester: Any, a: Any, b: Any) -> None:
    """Both MetaGraphDefs say the same; messages kept as bytes in collections are compared as messages."""
    tester.assertEqual(set(a.collection_def), set(b.collection_def))
    rests = []
    for meta_graph in (a, b):
        rest = type(meta_graph)()
        rest.CopyFrom(meta_graph)
        rest.ClearField("collection_def")
        rests.append(rest)
    for key, a_value in a.collection_def.items():
        b_value = b.collection_def[key]
        message_type = get_collection_proto_type(key)
        if message_type is None:
            tester.assertEqual(a_value, b_value)
            continue
        pairs = list(zip(a_value.bytes_list.value, b_value.bytes_list.value))
        tester.assertEqual(len(a_value.bytes_list.value), len(b_value.bytes_list.value))
        for a_bytes, b_bytes in pairs:
            tester.assertProtoEquals(message_type.FromString(a_bytes), message_type.FromString(b_bytes))
    assert_equal_graph_def(rests[0].graph_def, rests[1].graph_def)
    for rest in rests:
        rest.ClearField("graph_def")
    tester.assertProtoEquals(*rests)
