"""Transforms that change what nodes say: their ops, attributes, devices and names."""

from __future__ import annotations

import string
from collections.abc import Callable, Iterator
from typing import Any

import everflow as tf
from everflow.errors import invalid_argument
from everflow.proto import graph_pb2
from everflow.tools.graph_transforms.nodes import rewired
from everflow.tools.graph_transforms.table import Told, node_of, transform, with_nodes


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
    made = with_nodes(graph, graph.node)
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
    made = with_nodes(graph, graph.node)
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
    made = with_nodes(graph, graph.node)
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
    made = with_nodes(graph, graph.node)
    for node in made.node:
        node.device = place(node.device)
    return made


_DIGITS = string.digits + string.ascii_lowercase + string.ascii_uppercase


@transform
def obfuscate_names(graph: Any, told: Told) -> Any:
    """Gives nodes other than inputs and outputs the shortest names."""
    names = (name for name in _short_names() if name not in told.kept)
    short = {node.name: node.name if node.name in told.kept else next(names) for node in graph.node}
    made = rewired(graph, graph.node, lambda given: given.replace(node_of(given), short[node_of(given)], 1))
    for node in made.node:
        node.name = short[node.name]
    return made


def _short_names() -> Iterator[str]:
    yield from _DIGITS
    for start in _short_names():
        yield from (start + digit for digit in _DIGITS)
