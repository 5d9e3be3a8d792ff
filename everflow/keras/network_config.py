"""Functional models as data: which layers they have, and which calls connect them."""
from __future__ import annotations

import copy
from typing import Any

from everflow import nest


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
    layers = []
    for layer in network.layers:
        calls = []
        for i, node in enumerate(layer._inbound_nodes):
            if _key(layer, i) in network._network_nodes and nest.flatten(node.inbound_layers):
                calls.append([
                    [before.name, numbers.get(_key(before, index), 0), tensor_index, dict(node.arguments or {})]
                    for before, index, tensor_index, _ in node.iterate_inbound()
                ])
        layers.append({"name": layer.name, "class_name": type(layer).__name__, "config": layer.get_config(), "inbound_nodes": calls})

    def places(coordinates: Any) -> list[Any]:
        return [[h.layer.name, numbers.get(_key(h.layer, h.node_index), 0), h.tensor_index] for h in coordinates]

    return copy.deepcopy({
        "name": network.name, "layers": layers, "input_layers": places(network._input_coordinates),
        "output_layers": places(network._output_coordinates)})


def network_from_config(cls: Any, config: dict[str, Any], custom_objects: Any) -> Any:
    """The functional model that a config describes."""
    from everflow.keras.layer_serialization import deserialize

    made: dict[str, Any] = {}
    waiting: list[tuple[Any, Any]] = []
    for data in config["layers"]:
        layer = deserialize(data, custom_objects)
        made[data["name"]] = layer
        waiting.extend((layer, call) for call in data["inbound_nodes"])
    while waiting:
        left = []
        for layer, call in waiting:
            if all(len(made[name]._inbound_nodes) > index for name, index, *_ in call):
                tensors = [_tensor(made[name], index, which) for name, index, which, *_ in call]
                arguments = call[0][3] if len(call[0]) > 3 else {}
                layer(tensors[0] if len(tensors) == 1 else tensors, **arguments)
            else:
                left.append((layer, call))
        if len(left) == len(waiting):
            raise ValueError(f"The calls of {[layer.name for layer, _ in left]} wait for each other.")
        waiting = left

    def found(places: Any) -> list[Any]:
        places = [places] if places and not isinstance(places[0], (list, tuple)) else places
        return [_tensor(made[name], index, which) for name, index, which in places]

    return cls(inputs=found(config["input_layers"]), outputs=found(config["output_layers"]), name=config.get("name"))


def _tensor(layer: Any, index: int, which: int) -> Any:
    return nest.flatten(layer._inbound_nodes[index].output_tensors)[which]
