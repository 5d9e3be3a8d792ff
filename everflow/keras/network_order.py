"""In which order the calls between a model's inputs and outputs run."""

from __future__ import annotations

from typing import Any, NamedTuple

from everflow import nest
from everflow.api import public


class Order(NamedTuple):
    """Calls by how far they are from the outputs, farthest first; the layers in that order; names of the calls."""

    nodes: list[list[Any]]
    layers: list[Any]
    keys: set[str]


def ordered(inputs: list[Any], outputs: list[Any]) -> Order:
    """Follows the history of the outputs back to the inputs."""
    visited, numbers = _visited(outputs)
    depth_of: dict[int, int] = {}
    layer_depth: dict[int, int] = {}
    layers: dict[int, Any] = {}
    for node in reversed(visited):
        layer = node.outbound_layer
        layers[id(layer)] = layer
        depth = max(depth_of.get(id(node), 0), layer_depth.get(id(layer), 0))
        depth_of[id(node)] = layer_depth[id(layer)] = depth
        for before, index, _, _ in node.iterate_inbound(include_arguments=True):
            other = id(before._inbound_nodes[index])
            depth_of[other] = max(depth + 1, depth_of.get(other, 0))
    # An input that no output depends on belongs to the model all the same.
    for t in inputs:
        layer = t._keras_history.layer
        if id(layer) not in layers:
            layers[id(layer)], layer_depth[id(layer)], numbers[id(layer)] = layer, 0, -1
            visited.append(layer._inbound_nodes[0])
            depth_of[id(layer._inbound_nodes[0])] = 0
    levels: dict[int, list[Any]] = {}
    for node in visited:
        levels.setdefault(depth_of[id(node)], []).append(node)
    found = sorted(layers.values(), key=lambda la: (-layer_depth[id(la)], numbers[id(la)]))
    _check(inputs, [node for depth in sorted(levels, reverse=True) for node in levels[depth]])
    names = [la.name for la in found]
    for name in names:
        if names.count(name) != 1:
            raise ValueError(f'The name "{name}" is used {names.count(name)} times in the model. All layer names should be unique.')
    keys = {f"{n.outbound_layer.name}_ib-{n.outbound_layer._inbound_nodes.index(n)}" for n in visited}
    return Order([levels[depth] for depth in sorted(levels, reverse=True)], found, keys)


def _visited(outputs: list[Any]) -> tuple[list[Any], dict[int, int]]:
    """The calls that lead to the outputs, each after those it needs; and when each layer was met."""
    found: list[Any] = []
    done: set[int] = set()
    numbers: dict[int, int] = {}
    under_way: set[int] = set()
    for t in outputs:
        stack: list[tuple[Any, Any]] = [_entered(t._keras_history, numbers)]
        while stack:
            node, rest = stack[-1]
            if id(node) in done:
                stack.pop()
                continue
            under_way.add(id(node))
            following = next(rest, None)
            if following is None:
                stack.pop()
                under_way.discard(id(node))
                done.add(id(node))
                found.append(node)
            else:
                layer, index, _, _ = following
                entered = _entered((layer, index), numbers)
                if id(entered[0]) in under_way:
                    raise ValueError(f'The tensor at layer "{layer.name}" is part of a cycle.')
                if id(entered[0]) not in done:
                    stack.append(entered)
    return found, numbers


def _entered(history: Any, numbers: dict[int, int]) -> tuple[Any, Any]:
    layer, index = history[0], history[1]
    numbers.setdefault(id(layer), len(numbers))
    node = layer._inbound_nodes[index]
    return node, node.iterate_inbound(include_arguments=True)


def _check(inputs: list[Any], nodes: list[Any]) -> None:
    """Each call gets its inputs from calls before it or from the model's inputs."""
    known = {id(t) for t in inputs}
    seen: list[str] = []
    for node in nodes:
        layer = node.outbound_layer
        for t in [*nest.flatten(node.input_tensors), *node.argument_tensors]:
            if id(t) not in known:
                raise ValueError(
                    f'Graph disconnected: cannot obtain value for tensor {t} at layer "{layer.name}". The following previous layers were '
                    f"accessed without issue: {seen}"
                )
        known.update(id(t) for t in nest.flatten(node.output_tensors))
        seen.append(layer.name)


@public("keras.utils.get_source_inputs")
def get_source_inputs(tensor: Any, layer: Any = None, node_index: Any = None) -> Any:
    """The input tensors that a tensor comes from."""
    if not hasattr(tensor, "_keras_history"):
        return tensor
    # Where both are given, the first node is meant by 0, any other by the tensor's own history.
    made_by = tensor._keras_history[:2] if layer is None or node_index else (layer, 0)
    nodes = made_by[0]._inbound_nodes
    if not nodes:
        return [tensor]
    node = nodes[made_by[1]]
    before = list(node.iterate_inbound())
    if not before:
        return nest.flatten(node.input_tensors)
    found: dict[int, Any] = {}
    for inbound, index, _, t in before:
        for source in get_source_inputs(t, inbound, index):
            found[id(source)] = source
    return list(found.values())
