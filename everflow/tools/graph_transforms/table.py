"""What transforms are made of: the table of them, what they are told, and nodes read and made."""

from __future__ import annotations

import collections
import dataclasses
from collections.abc import Callable, Collection, Iterable
from typing import Any

import numpy as np

import everflow as tf
from everflow.errors import invalid_argument
from everflow.proto import attr_value_pb2, graph_pb2, node_def_pb2


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
_NOTHING = attr_value_pb2.AttrValue()


def transform(function: Transform) -> Transform:
    """Names a transform as its function is named."""
    TRANSFORMS[function.__name__] = function
    return function


def node_of(given: str) -> str:
    """The node that an input names."""
    return given.removeprefix("^").partition(":")[0]


def with_nodes(graph: Any, nodes: Any) -> Any:
    """A graph of these nodes. As 1.15.5's, it has a library, if an empty one, and says no version."""
    made = graph_pb2.GraphDef(library=graph.library)
    made.node.extend(nodes)
    return made


def needed(graph: Any, outputs: list[str], stops: frozenset[str] = frozenset()) -> set[str]:
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


def consumers(graph: Any) -> collections.Counter[str]:
    return collections.Counter(node_of(given) for node in graph.node for given in node.input)


def said(node: Any, key: str) -> Any:
    """An attribute, empty where the node does not have it; asking for it otherwise would give it one."""
    return node.attr[key] if key in node.attr else _NOTHING


def without_unused(graph: Any, nodes: list[Any], loose: Collection[str]) -> list[Any]:
    """Nodes without those of some names that nobody uses any more."""
    while True:
        uses = consumers(with_nodes(graph, nodes))
        left = [node for node in nodes if node.name not in loose or uses[node.name]]
        if len(left) == len(nodes):
            return left
        nodes = left


def const(name: str, value: np.ndarray | np.generic, dtype: Any = None) -> Any:
    made = node_def_pb2.NodeDef(name=name, op="Const")
    proto = tf.make_tensor_proto(value, dtype)
    made.attr["dtype"].type = proto.dtype
    made.attr["value"].tensor.CopyFrom(proto)
    return made


def value_of(node: Any) -> np.ndarray:
    return tf.make_ndarray(node.attr["value"].tensor)


def made(op: str, name: str, inputs: Iterable[str] = (), like: Any = None, keep: Iterable[str] = (), **attrs: Any) -> Any:
    """A node. Some attributes may be those of another node."""
    node = node_def_pb2.NodeDef(name=name, op=op, input=inputs)
    for key in keep:
        if key in like.attr:
            node.attr[key].CopyFrom(like.attr[key])
    for key, given in attrs.items():
        if isinstance(given, tf.DType):
            node.attr[key].type = given.as_datatype_enum
        elif isinstance(given, bool):
            node.attr[key].b = given
        elif isinstance(given, int):
            node.attr[key].i = given
        else:
            node.attr[key].s = tf.compat.as_bytes(given)
    return node
