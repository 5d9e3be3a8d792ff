"""From a tensor of a functional model back to the inputs that it depends on."""
from __future__ import annotations

from typing import Any

from everflow import nest
from everflow.api import public


@public("keras.utils.get_source_inputs")
def get_source_inputs(tensor: Any, layer: Any = None, node_index: int | None = None) -> list[Any]:
    """The input tensors, each once, in the order in which they are met."""
    if not hasattr(tensor, "_keras_history"):
        return [tensor]
    if layer is None or node_index:
        layer, node_index, _ = tensor._keras_history
    if not layer._inbound_nodes:
        return [tensor]
    node = layer._inbound_nodes[node_index or 0]
    if not node.inbound_layers:
        return nest.flatten(node.input_tensors)
    found: list[Any] = []
    for before in nest.flatten(node.input_tensors):
        found.extend(one for one in get_source_inputs(before) if not any(one is other for other in found))
    return found
