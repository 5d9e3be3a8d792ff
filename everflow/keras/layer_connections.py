"""The calls of a layer in functional models: nodes, and the inputs and outputs at each."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow import nest
from everflow.keras.call_context import have_all_keras_metadata
from everflow.keras.node import KerasHistory, Node
from everflow.ops.variables.variables import Variable


class LayerConnections:
    """The part of Layer that remembers where it stands in functional models."""

    name: str
    built: bool
    _inbound_nodes: list[Node]
    _outbound_nodes: list[Node]

    @property
    def inbound_nodes(self) -> list[Node]:
        """The calls of this layer."""
        return self._inbound_nodes

    @property
    def outbound_nodes(self) -> list[Node]:
        """The calls of other layers on outputs of this one."""
        return self._outbound_nodes

    def _connect(self, inputs: Any, outputs: Any, arguments: dict[str, Any]) -> Any:
        """Remembers a call; returns its outputs, which are no longer the inputs themselves."""
        if not have_all_keras_metadata(inputs):
            return outputs
        given = nest.flatten(inputs)
        flat = [tf.identity(y) if isinstance(y, Variable) or any(y is x for x in given) else y for y in nest.flatten(outputs)]
        outputs = nest.pack_sequence_as(outputs, flat)
        self._add_inbound_node(inputs, outputs, arguments)
        return outputs

    def _add_inbound_node(self, input_tensors: Any, output_tensors: Any, arguments: Any = None) -> None:
        history = [nest.map_structure(lambda t, f=field: getattr(t._keras_history, f), input_tensors) for field in KerasHistory._fields]
        Node(self, history[0], history[1], history[2], input_tensors, output_tensors, arguments)
        index = len(self._inbound_nodes) - 1
        for i, tensor in enumerate(nest.flatten(output_tensors)):
            tensor._keras_history = KerasHistory(layer=self, node_index=index, tensor_index=i)

    def _connected_at(self, node_index: int, attribute: str, what: str) -> Any:
        if not self._inbound_nodes:
            raise RuntimeError(f"The layer has never been called and thus has no defined {what}.")
        if not len(self._inbound_nodes) > node_index:
            raise ValueError(f"Asked to get {what} at node {node_index}, but the layer has only {len(self._inbound_nodes)} inbound nodes.")
        values = getattr(self._inbound_nodes[node_index], attribute)
        return values[0] if isinstance(values, list) and len(values) == 1 else values

    def get_input_at(self, node_index: int) -> Any:
        """The input of a call."""
        return self._connected_at(node_index, "input_tensors", "input")

    def get_output_at(self, node_index: int) -> Any:
        """The output of a call."""
        return self._connected_at(node_index, "output_tensors", "output")

    def get_input_shape_at(self, node_index: int) -> Any:
        """The shape of a call's input."""
        return self._connected_at(node_index, "input_shapes", "input shape")

    def get_output_shape_at(self, node_index: int) -> Any:
        """The shape of a call's output."""
        return self._connected_at(node_index, "output_shapes", "output shape")

    def get_input_mask_at(self, node_index: int) -> Any:
        """The mask of a call's input."""
        return _masks(self.get_input_at(node_index))

    def get_output_mask_at(self, node_index: int) -> Any:
        """The mask of a call's output."""
        return _masks(self.get_output_at(node_index))

    @property
    def input(self) -> Any:
        """The input of the first call."""
        if not self._inbound_nodes:
            raise AttributeError(f"Layer {self.name} is not connected, no input to return.")
        return self.get_input_at(0)

    @property
    def output(self) -> Any:
        """The output of the first call."""
        if not self._inbound_nodes:
            raise AttributeError(f"Layer {self.name} has no inbound nodes.")
        return self.get_output_at(0)

    @property
    def input_mask(self) -> Any:
        """The mask of the first call's input."""
        return _masks(self.input)

    @property
    def output_mask(self) -> Any:
        """The mask of the first call's output."""
        return _masks(self.output)

    @property
    def input_shape(self) -> Any:
        """The shape of the input, where all calls agree on it."""
        return self._shape_of_all("input_shapes", "input")

    @property
    def output_shape(self) -> Any:
        """The shape of the output, where all calls agree on it."""
        return self._shape_of_all("output_shapes", "output")

    def _shape_of_all(self, attribute: str, what: str) -> Any:
        if not self._inbound_nodes:
            raise AttributeError(f"The layer has never been called and thus has no defined {what} shape.")
        shapes = [getattr(node, attribute) for node in self._inbound_nodes]
        if any(str(s) != str(shapes[0]) for s in shapes):
            quote = '"' if what == "output" else ""
            raise AttributeError(
                f'The layer "{self.name}{quote} has multiple inbound nodes, with different {what} shapes. Hence the notion of '
                f'"{what} shape" is ill-defined for the layer. Use `get_{what}_shape_at(node_index)` instead.'
            )
        return shapes[0]


def _masks(tensors: Any) -> Any:
    if isinstance(tensors, list):
        return [getattr(x, "_keras_mask", None) for x in tensors]
    return getattr(tensors, "_keras_mask", None)
