"""Nodes: each call of a layer on tensors of a functional model is one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from everflow import nest
from everflow.api import internal


@internal("keras.engine.base_layer.KerasHistory")
class KerasHistory(NamedTuple):
    """Where a tensor comes from: which output of which call of which layer."""

    layer: Any
    node_index: int
    tensor_index: int


@internal("keras.engine.node.Node")
class Node:
    """A call: the layers and tensors it came from, the layer that was called, and what came out."""

    def __init__(
        self,
        outbound_layer: Any,
        inbound_layers: Any,
        node_indices: Any,
        tensor_indices: Any,
        input_tensors: Any,
        output_tensors: Any,
        arguments: Any = None,
    ) -> None:
        # Inputs of a model come from nowhere.
        if isinstance(input_tensors, (list, tuple, dict)) and nest.flatten(inbound_layers):
            nest.assert_same_structure(input_tensors, inbound_layers)
            nest.assert_same_structure(input_tensors, node_indices)
            nest.assert_same_structure(input_tensors, tensor_indices)
        self.outbound_layer = outbound_layer
        self.inbound_layers = inbound_layers
        self.node_indices = node_indices
        self.tensor_indices = tensor_indices
        self.input_tensors = input_tensors
        self.output_tensors = output_tensors
        self.arguments = arguments
        self.input_shapes = nest.map_structure(shape_of, input_tensors)
        self.output_shapes = nest.map_structure(shape_of, output_tensors)
        for layer in nest.flatten(inbound_layers):
            if layer is not None:
                layer._outbound_nodes.append(self)
        outbound_layer._inbound_nodes.append(self)

    def iterate_inbound(self, include_arguments: bool = False) -> Iterator[Any]:
        """(layer, node index, tensor index, tensor) of each input, and if asked for of each tensor among the further arguments."""
        yield from zip(*(nest.flatten(part) for part in (self.inbound_layers, self.node_indices, self.tensor_indices, self.input_tensors)))
        if include_arguments:
            for t in self.argument_tensors:
                yield (*t._keras_history, t)

    @property
    def argument_tensors(self) -> list[Any]:
        """The outputs of layers among the further arguments."""
        return [t for t in nest.flatten(self.arguments or {}) if hasattr(t, "_keras_history")]

    def get_config(self) -> dict[str, Any]:
        """The names of the layers, and the places of the tensors."""
        return {
            "outbound_layer": self.outbound_layer.name,
            "inbound_layers": nest.map_structure(lambda layer: layer.name, self.inbound_layers),
            "node_indices": self.node_indices,
            "tensor_indices": self.tensor_indices,
        }


def shape_of(tensor: Any) -> Any:
    """A tensor's static shape as Keras shows it: a tuple, or None where not even the rank is known."""
    dims = tensor.shape
    return None if dims.rank is None else tuple(dims.as_list())
