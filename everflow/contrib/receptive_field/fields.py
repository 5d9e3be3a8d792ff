"""Receptive fields: their size, stride and padding, from a network's graph."""

from __future__ import annotations

import collections
from typing import Any, NamedTuple

import numpy as np

from everflow.api import public
from everflow.contrib.receptive_field.layer_windows import _node_name, is_known, window_of

BELOW = "contrib.receptive_field."


@public(BELOW + "python.util.graph_compute_order.NodeEntry")
class NodeEntry(NamedTuple):
    """How many nodes a node comes after, and the [height, width] of the images that it gets and gives, where they are known."""

    order: int
    node: Any
    input_size: Any
    output_size: Any


@public(BELOW + "python.util.receptive_field.ReceptiveField")
class ReceptiveField:
    """Size, stride and padding of the parts of an image that features see, along the axes of images."""

    def __init__(self, size: Any, stride: Any, padding: Any) -> None:
        self.size, self.stride, self.padding = np.asarray(size), np.asarray(stride), np.asarray(padding)

    def compute_input_center_coordinates(self, y: Any, axis: Any = None) -> Any:
        """Where in the image the middle of what features see is."""
        size, stride, padding = self._along(axis)
        return -padding + np.asarray(y) * stride + (size - 1) / 2.0

    def compute_feature_coordinates(self, x: Any, axis: Any = None) -> Any:
        """Which features have their middle at places in the image."""
        size, stride, padding = self._along(axis)
        return (np.asarray(x) + padding + (1 - size) / 2.0) / stride

    def _along(self, axis: Any) -> tuple[Any, Any, Any]:
        axes = np.arange(self.size.size) if axis is None else np.atleast_1d(axis)
        return self.size[axes], self.stride[axes], self.padding[axes]

    def __iter__(self) -> Any:
        """Size, stride and padding, horizontal before vertical."""
        for values in (self.size, self.stride, self.padding):
            yield values[1]
            yield values[0]


@public(
    BELOW + "get_compute_order",
    BELOW + "receptive_field_api.get_compute_order",
    BELOW + "python.util.graph_compute_order.get_compute_order",
)
def get_compute_order(graph_def: Any, input_node_name: str = "", input_node_size: Any = None) -> tuple[dict[str, Any], dict[str, Any]]:
    """({name: how many nodes it comes after, the node, and the image sizes it gets and gives}, {name: node})."""
    nodes = parse_graph_nodes(graph_def)
    if input_node_name and input_node_name not in nodes:
        raise ValueError(f"Input node '{input_node_name}' was not found in the graph")
    waiting = {name: len(_sources(node)) for name, node in nodes.items()}
    followers = _followers(nodes)
    found: dict[str, Any] = {}
    ready = collections.deque(name for name, count in waiting.items() if not count)
    while ready:
        name = ready.popleft()
        node = nodes[name]
        before = [found[source] for source in _sources(node)]
        given = next((entry.output_size for entry in before if entry.output_size is not None), None)
        if name == input_node_name:
            left = None if input_node_size is None else list(input_node_size)
        elif given is None:
            left = None
        else:
            left = window_of(node, nodes, given).output_size(given) if is_known(node) else [None, None]
        found[name] = NodeEntry(max((entry.order + 1 for entry in before), default=0), node, given, left)
        for follower in followers[name]:
            waiting[follower] -= 1
            if not waiting[follower]:
                ready.append(follower)
    return found, nodes


@public(BELOW + "python.util.graph_compute_order.parse_graph_nodes")
def parse_graph_nodes(graph_def: Any) -> dict[str, Any]:
    """The nodes of a GraphDef by name."""
    return {node.name: node for node in graph_def.node}


def _sources(node: Any) -> list[str]:
    return list(dict.fromkeys(map(_node_name, node.input)))


def _followers(nodes: dict[str, Any]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = collections.defaultdict(list)
    for name, node in nodes.items():
        for source in _sources(node):
            found[source].append(name)
    return found


def _reached(start: str, followers: dict[str, list[str]]) -> set[str]:
    found, pending = {start}, [start]
    while pending:
        for name in followers[pending.pop()]:
            if name not in found:
                found.add(name)
                pending.append(name)
    return found


@public(
    BELOW + "compute_receptive_field_from_graph_def",
    BELOW + "receptive_field_api.compute_receptive_field_from_graph_def",
    BELOW + "python.util.receptive_field.compute_receptive_field_from_graph_def",
)
def compute_receptive_field_from_graph_def(
    graph_def: Any, input_node: str, output_node: str, stop_propagation: Any = None, input_resolution: Any = None
) -> ReceptiveField:
    """What a feature of `output_node` sees of `input_node`.

    Fields are followed from the output backwards; where paths meet, the largest field counts, and all of them must have the same stride
    and the same middle."""
    if hasattr(graph_def, "as_graph_def"):
        graph_def = graph_def.as_graph_def()
    every, nodes = get_compute_order(graph_def, input_node, input_resolution)
    reached = _reached(input_node, _followers(nodes))
    order = {name: entry for name, entry in every.items() if name in reached}
    if output_node not in order:
        raise ValueError(f"Output node was not found: '{output_node}' does not follow from '{input_node}'")
    stops = set(stop_propagation or ())
    fields: dict[str, list[tuple[int, int, int | None]]] = {output_node: [(1, 1, 0), (1, 1, 0)]}
    for name in sorted(order, key=lambda n: -order[n].order):
        if name not in fields or name == input_node or name in stops:
            continue
        entry = order[name]
        window = window_of(entry.node, nodes, entry.input_size)
        before = [
            (size * stride + kernel - stride, step * stride, None if shift is None or padding is None else shift * stride + padding)
            for (size, step, shift), kernel, stride, padding, _ in zip(fields[name], *window)
        ]
        for source in _sources(entry.node):
            if source in order:
                fields[source] = before if source not in fields else [_met(a, b) for a, b in zip(fields[source], before)]
    if input_node not in fields:
        raise ValueError(f"Input node was not found: '{output_node}' does not depend on '{input_node}'")
    return ReceptiveField(*zip(*fields[input_node]))


def _met(one: tuple[int, int, int | None], other: tuple[int, int, int | None]) -> tuple[int, int, int | None]:
    """The field where two paths meet."""
    if one[1] != other[1]:
        raise ValueError("Graph is not aligned since effective stride from different paths is different in vertical/horizontal direction")
    if one[2] is None or other[2] is None:
        return max(one[0], other[0]), one[1], None
    if (one[0] - 1) / 2 - one[2] != (other[0] - 1) / 2 - other[2]:
        raise ValueError("Graph is not aligned since center shift from different paths is different")
    return one if one[0] >= other[0] else other
