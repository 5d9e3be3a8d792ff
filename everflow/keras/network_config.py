"""Functional models as data: which layers they have, and which calls connect them."""

from __future__ import annotations

import copy
from typing import Any

from everflow import nest
from everflow.graph.tensor import Tensor
from everflow.keras.backend.session import get_value
from everflow.keras.layer_serialization import deserialize


def _key(layer: Any, index: int) -> str:
    return f"{layer.name}_ib-{index}"


def connections_config(network: Any) -> dict[str, Any]:
    """The config of a functional model."""
    numbers: dict[str, int] = {}
    for layer in network.layers:
        kept = 0
        for i in range(len(layer._inbound_nodes)):
            if _key(layer, i) in network._network_nodes:
                numbers[_key(layer, i)] = kept
                kept += 1

    def place(layer: Any, index: int, tensor_index: int) -> list[Any]:
        return [layer.name, numbers.get(_key(layer, index), 0), tensor_index]

    def said(argument: Any) -> Any:
        """An argument as data: where a tensor comes from, else the value."""
        if hasattr(argument, "_keras_history"):
            return place(*argument._keras_history)
        return get_value(argument).tolist() if isinstance(argument, Tensor) else copy.deepcopy(argument)

    layers = []
    for layer in network.layers:
        calls = []
        for i, node in enumerate(layer._inbound_nodes):
            if _key(layer, i) in network._network_nodes and nest.flatten(node.inbound_layers):
                arguments = nest.map_structure(said, dict(node.arguments or {}))
                flat = [[*place(before, index, which), arguments] for before, index, which, _ in node.iterate_inbound()]
                calls.append(_arranged(node.input_tensors, flat) if isinstance(node.input_tensors, dict) else flat)
        layers.append({"name": layer.name, "class_name": type(layer).__name__, "config": layer.get_config(), "inbound_nodes": calls})

    def places(coordinates: Any, structure: Any) -> Any:
        flat = [place(*h) for h in coordinates]
        return _arranged(structure, flat) if isinstance(structure, dict) else flat

    return {
        "name": network.name,
        "layers": copy.deepcopy(layers),
        "input_layers": places(network._input_coordinates, network._nested_inputs),
        "output_layers": places(network._output_coordinates, network._nested_outputs),
    }


def _arranged(structure: Any, flat: list[Any]) -> Any:
    """Lists in the places of a structure's tensors."""
    numbers = iter(range(len(flat)))
    return nest.map_structure(lambda _: flat[next(numbers)], structure)


def network_from_config(cls: Any, config: dict[str, Any], custom_objects: dict[str, Any] | None) -> Any:
    """The functional model that a config describes."""
    made: dict[str, Any] = {}
    # Models know themselves as a first call, which is no call in the model that they are part of.
    own: dict[str, int] = {}
    waiting: list[tuple[Any, Any]] = []
    for data in config["layers"]:
        layer = deserialize(data, custom_objects)
        made[data["name"]] = layer
        own[data["name"]] = len(layer._inbound_nodes) if hasattr(layer, "_is_graph_network") else 0
        waiting.extend((layer, call) for call in data["inbound_nodes"])

    def tensor(place: Any) -> Any:
        name, index, which = place[:3]
        return nest.flatten(made[name]._inbound_nodes[index + own[name]].output_tensors)[which]

    while waiting:
        left = []
        for layer, call in waiting:
            wanted = _found_places(call, made)
            arguments: dict[str, Any] = next((p[3] for p in wanted if len(p) > 3), {})
            wanted += _found_places(arguments, made)
            if all(len(made[name]._inbound_nodes) > index + own[name] for name, index, *_ in wanted):
                given = _map_places(tensor, call, made)
                layer(given[0] if isinstance(given, list) and len(given) == 1 else given, **_map_places(tensor, arguments, made))
            else:
                left.append((layer, call))
        if len(left) == len(waiting):
            raise ValueError(f"The calls of {[layer.name for layer, _ in left]} wait for each other.")
        waiting = left

    def found(places: Any) -> Any:
        places = [places] if _is_place(places, made) else places
        return _map_places(tensor, places, made)

    network = cls(inputs=found(config["input_layers"]), outputs=found(config["output_layers"]), name=config.get("name"))
    # Losses and metrics that were added from outside: nothing that comes out depends on them.
    aside = [layer for layer in made.values() if not any(layer is known for known in network.layers)]
    if aside:
        network._insert_layers(aside)
    return network


def _is_place(value: Any, layers: dict[str, Any]) -> bool:
    """Whether a value says where a tensor comes from: [name of a layer, number of its call, number of the output]."""
    return (
        isinstance(value, (list, tuple))
        and len(value) in (3, 4)
        and isinstance(value[0], str)
        and value[0] in layers
        and all(isinstance(v, int) for v in value[1:3])
    )


def _map_places(function: Any, value: Any, layers: dict[str, Any]) -> Any:
    if _is_place(value, layers):
        return function(value)
    if isinstance(value, dict):
        return {k: _map_places(function, v, layers) for k, v in value.items()}
    return [_map_places(function, v, layers) for v in value] if isinstance(value, (list, tuple)) else value


def _found_places(value: Any, layers: dict[str, Any]) -> list[Any]:
    found: list[Any] = []
    _map_places(found.append, value, layers)
    return found
