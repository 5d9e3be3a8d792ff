"""The table that `model.summary()` prints."""

from __future__ import annotations

import math
from typing import Any

from everflow.api import internal


def count_elements(weights: Any) -> int:
    """How many numbers variables hold, each counted once."""
    return sum(math.prod(w.shape.as_list()) for w in {id(w): w for w in weights}.values())


@internal("keras.utils.layer_utils.print_summary")
def print_summary(model: Any, line_length: Any = None, positions: Any = None, print_fn: Any = None) -> None:
    """Prints name, output shape and number of parameters of each layer; of branching models also what each is connected to."""
    show = print_fn or print
    sequential = _is_sequential(model)
    line_length = line_length or (65 if sequential else 98)
    positions = positions or ([0.45, 0.85, 1.0] if sequential else [0.33, 0.55, 0.67, 1.0])
    if positions[-1] <= 1:
        positions = [int(line_length * p) for p in positions]
    fields = ["Layer (type)", "Output Shape", "Param #"] + ([] if sequential else ["Connected to"])

    def row(values: list[Any]) -> None:
        line = ""
        for value, end in zip(values, positions):
            # A column that is full still ends in a space.
            line = ((line[:-1] + " " if line else "") + str(value))[:end].ljust(end)
        show(line)

    show(f'Model: "{model.name}"')
    show("_" * line_length)
    row(fields)
    show("=" * line_length)
    for i, layer in enumerate(model.layers):
        try:
            shape: Any = layer.output_shape
        except (AttributeError, RuntimeError):
            shape = "multiple"
        values = [f"{layer.name} ({type(layer).__name__})", shape, layer.count_params() if layer.built else "0 (unused)"]
        connections = [] if sequential else _connections(model, layer)
        row(values if sequential else [*values, connections[0] if connections else ""])
        for other in connections[1:]:
            row(["", "", "", other])
        show(("=" if i == len(model.layers) - 1 else "_") * line_length)
    trainable, frozen = count_elements(model.trainable_weights), count_elements(model.non_trainable_weights)
    show(f"Total params: {trainable + frozen:,}")
    show(f"Trainable params: {trainable:,}")
    show(f"Non-trainable params: {frozen:,}")
    show("_" * line_length)


def _is_sequential(model: Any) -> bool:
    """Whether each level of a model is one call of one layer."""
    if type(model).__name__ == "Sequential" or not model._is_graph_network:
        return True
    if any(len(nodes) > 1 or len(list(n.iterate_inbound())) > 1 for nodes in model._nodes_by_depth for n in nodes):
        return False
    return all(sum(n in nodes for nodes in model._nodes_by_depth for n in layer._inbound_nodes) <= 1 for layer in model.layers)


def _connections(model: Any, layer: Any) -> list[str]:
    inside = {id(n) for nodes in model._nodes_by_depth for n in nodes}
    return [
        f"{before.name}[{index}][{tensor_index}]"
        for node in layer._inbound_nodes
        if id(node) in inside
        for before, index, tensor_index, _ in node.iterate_inbound()
    ]
