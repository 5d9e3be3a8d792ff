"""tf.keras.Sequential: layers that follow each other."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from everflow import nest
from everflow.api import internal, public
from everflow.graph.shapes import TensorShape
from everflow.keras.input_layer import Input, InputLayer
from everflow.keras.layer import Layer, _default
from everflow.keras.layer_serialization import deserialize
from everflow.keras.layer_variables import holds_weights
from everflow.keras.model import Model
from everflow.keras.network import Network, refuse_legacy_layers
from everflow.keras.network_order import get_source_inputs
from everflow.platform import logging as tf_logging


@public("keras.Sequential", "keras.models.Sequential")
@internal("keras.engine.sequential.Sequential")
class Sequential(Model):
    """Layers that follow each other."""

    def __init__(self, layers: Any = None, name: str | None = None) -> None:
        self._base_init(name=name)
        self.supports_masking = True
        self._note(inputs=[], outputs=[])
        self._build_input_shape: Any = None
        for layer in layers if isinstance(layers, (list, tuple)) else [layers] if layers else ():
            self.add(layer)

    @property
    def layers(self) -> list[Any]:
        """The layers that were added."""
        found = super().layers
        return found[1:] if found and isinstance(found[0], InputLayer) else found

    def _track_value(self, value: Any) -> None:
        """Only layers that were added count; attributes do not."""
        if not holds_weights(value):
            super()._track_value(value)

    def add(self, layer: Any) -> None:
        """Puts a layer at the end."""
        if hasattr(layer, "_keras_history") and isinstance(layer._keras_history.layer, InputLayer):
            layer = layer._keras_history.layer
        if not isinstance(layer, Layer):
            raise TypeError(f"The added layer must be an instance of class Layer. Found: {layer}")
        refuse_legacy_layers([layer])
        self.built = False
        if not self._layers:
            self._start(layer)
        elif self.outputs:
            output = layer(self.outputs[0])
            if isinstance(output, list):
                raise TypeError(
                    "All layers in a Sequential model should have a single output tensor. For multi-output layers, use the functional API."
                )
            self._note(outputs=[output])
        self._added(layer)

    def _start(self, layer: Any) -> None:
        """The first layer may say what comes in."""
        first = layer
        if isinstance(layer, InputLayer):
            self._note(outputs=list(layer._inbound_nodes[-1].output_tensors))
        else:
            while isinstance(first, Network) and first.layers:
                first = first.layers[0]
            shape = getattr(first, "_batch_input_shape", None)
            if shape is None and isinstance(layer, Network) and layer._is_graph_network:
                shape = tuple(layer.inputs[0].shape.as_list())
            if shape is not None:
                x = Input(batch_shape=shape, dtype=first.dtype, name=layer.name + "_input")
                layer(x)
                self._note(outputs=nest.flatten(layer._inbound_nodes[-1].output_tensors))
                if len(self.outputs) != 1:
                    raise ValueError(
                        "All layers in a Sequential model should have a single output tensor. For multi-output layers, use "
                        "the functional API."
                    )
                self._layers.append(x._keras_history.layer)
        if self.outputs:
            self._note(inputs=get_source_inputs(self.outputs[0]))

    def _added(self, layer: Any) -> None:
        self._hold_layer(layer)
        self._track_trackable(layer, name=f"layer-{len(self._layers) - 1}", overwrite=True)
        if self.outputs and all(hasattr(t, "_keras_history") for t in self.inputs):
            self._settle()
        else:
            # A model that got its inputs from data goes on with them.
            self.built = bool(self.outputs)

    def _settle(self) -> None:
        """Where the inputs are known the layers are a functional model."""
        self._note(
            _is_graph_network=True, _autocast=False, _nested_inputs=self.inputs[0], _nested_outputs=self.outputs[0], _inbound_nodes=[]
        )
        self._connect_graph()
        self.built = True

    def pop(self) -> None:
        """Takes the last layer away."""
        if not self.layers:
            raise TypeError("There are no layers in the model.")
        layer = self._layers.pop()
        if not self.layers:
            self._note(inputs=None, outputs=None, _is_graph_network=False)
            self.built = False
        elif self._is_graph_network:
            layer._inbound_nodes.clear()
            self.layers[-1]._outbound_nodes.clear()
            self._note(outputs=[self.layers[-1].output])
            self._settle()

    @_default
    def build(self, input_shape: Any = None) -> None:
        """Makes the variables, for inputs of a shape."""
        if self._is_graph_network:
            self._settle()
            return
        if input_shape is None:
            raise ValueError("You must provide an `input_shape` argument.")
        self._build_input_shape = input_shape
        super().build(input_shape)

    def call(self, inputs: Any, training: Any = None, mask: Any = None) -> Any:  # type: ignore[override]
        """The layers one after the other."""
        if self._is_graph_network:
            if not self.built:
                self._settle()
            return super().call(inputs, training=training, mask=mask)
        x = inputs
        for layer in self.layers:
            arguments: dict[str, Any] = {}
            if layer._call_takes("mask"):
                arguments["mask"] = mask
            if layer._call_takes("training"):
                arguments["training"] = training
            x = layer(x, **arguments)
            mask = getattr(x, "_keras_mask", None)
        return x

    def _set_inputs(self, inputs: Any, outputs: Any = None, training: Any = None) -> None:
        if isinstance(inputs, dict) and not getattr(self.layers[0], "_is_feature_layer", False):
            raise ValueError(
                "Passing a dictionary input to a Sequential Model which doesn't have FeatureLayer as the first layer is an error."
            )
        super()._set_inputs(inputs, outputs, training)
        if not isinstance(inputs, dict):
            given = self.inputs[0] if self.inputs else nest.flatten(inputs)[0]
            self._build_input_shape = (None, *TensorShape(given.shape).as_list()[1:])

    def predict_proba(self, x: Any, batch_size: int = 32, verbose: int = 0) -> Any:
        """The outputs for data, which are taken for probabilities."""
        found = self.predict(x, batch_size, verbose)
        if np.min(found) < 0.0 or np.max(found) > 1.0:
            tf_logging.warning(
                "Network returning invalid probability values. The last layer might not normalize predictions into "
                "probabilities (like softmax or sigmoid would)."
            )
        return found

    def predict_classes(self, x: Any, batch_size: int = 32, verbose: int = 0) -> Any:
        """The likeliest class of each sample."""
        found = self.predict(x, batch_size=batch_size, verbose=verbose)
        return found.argmax(axis=-1) if found.shape[-1] > 1 else (found > 0.5).astype("int32")

    def compute_output_shape(self, input_shape: Any) -> Any:
        """The shape after all layers."""
        shape = input_shape
        for layer in self.layers:
            shape = layer.compute_output_shape(shape)
        return shape

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        """The mask after all layers."""
        return getattr(self.call(inputs, mask=mask), "_keras_mask", None)

    @property  # type: ignore[misc]
    def input_spec(self) -> Any:  # type: ignore[override]
        """What the first layer wants."""
        return self.layers[0].input_spec if self.layers and hasattr(self.layers[0], "input_spec") else None

    def get_config(self) -> dict[str, Any]:
        """The layers, in their order."""
        layers = [{"class_name": type(layer).__name__, "config": layer.get_config()} for layer in self.layers]
        if self._is_graph_network and layers and "batch_input_shape" not in layers[0]["config"]:
            # A first layer that follows an Input says what that said.
            layers[0]["config"]["batch_input_shape"] = tuple(self.inputs[0].shape.as_list())
        config = {"name": self.name, "layers": copy.deepcopy(layers)}
        if self._build_input_shape:
            config["build_input_shape"] = self._build_input_shape
        return config

    @property
    def _object_identifier(self) -> str:
        return "_tf_keras_sequential"

    @classmethod
    def from_config(cls, config: Any, custom_objects: dict[str, Any] | None = None) -> Any:
        """A model with the layers of a config."""
        name, shape, layers = (
            (config.get("name"), config.get("build_input_shape"), config["layers"]) if isinstance(config, dict) else (None, None, config)
        )
        model = cls(name=name)
        for data in layers:
            model.add(deserialize(data, custom_objects))
        if not model.inputs and shape:
            model.build(shape)
        return model
