"""Models that are often wanted: linear ones, and linear and deep ones together."""

from __future__ import annotations

import functools
import operator
from typing import Any

import everflow as tf
from everflow import nest
from everflow.api import public
from everflow.keras import activations
from everflow.keras.configured import Configured
from everflow.keras.layer_serialization import deserialize as deserialize_layer
from everflow.keras.layer_serialization import serialize as serialize_layer
from everflow.keras.layers.dense import Dense
from everflow.keras.model import Model
from everflow.keras.training.eager_steps import apply_gradients


@public("keras.experimental.LinearModel")
class LinearModel(Configured, Model):
    """A sum of products: of each input with a kernel of its own, and a bias."""

    def __init__(
        self,
        units: int = 1,
        activation: Any = None,
        use_bias: bool = True,
        kernel_initializer: Any = "glorot_uniform",
        bias_initializer: Any = "zeros",
        kernel_regularizer: Any = None,
        bias_regularizer: Any = None,
        **kwargs: Any,
    ) -> None:
        self._base_init(**kwargs)
        self._keep(locals())

    def build(self, input_shape: Any) -> None:
        """Makes a kernel for each input, and the bias."""
        shapes = input_shape if isinstance(input_shape, list) else [input_shape]
        kernels = {"kernel_initializer": self.kernel_initializer, "kernel_regularizer": self.kernel_regularizer}
        self.dense_layers = []
        for shape in shapes:
            self.dense_layers.append(Dense(self.units, use_bias=False, **kernels))
            self.dense_layers[-1].build(shape)
        self.bias = None
        if self.use_bias:
            self.bias = self.add_weight("bias", self.units, initializer=self.bias_initializer, regularizer=self.bias_regularizer)
        self.built = True

    def call(self, inputs: Any) -> Any:  # type: ignore[override]
        """The sum over inputs, with the activation."""
        given = list(inputs) if isinstance(inputs, (tuple, list)) else [inputs]
        if len(given) != len(self.dense_layers):
            raise ValueError(f"The model was built for {len(self.dense_layers)} inputs, but got {len(given)}.")
        total = functools.reduce(operator.add, (layer(x) for layer, x in zip(self.dense_layers, given)))
        if self.use_bias:
            total = tf.nn.bias_add(total, self.bias)
        return total if self.activation is None else self.activation(total)

    def get_config(self) -> dict[str, Any]:
        """The arguments that make a model like this one."""
        return {"name": self.name, "trainable": self.trainable, "dtype": self.dtype, **self._written()}

    @classmethod
    def from_config(cls, config: Any, custom_objects: dict[str, Any] | None = None) -> Any:
        """A model with these arguments."""
        return cls(**config)


@public("keras.experimental.WideDeepModel")
class WideDeepModel(Model):
    """The mean of a linear model and a deep one; each may have an optimizer of its own: `compile(["ftrl", "adam"], "mse")`."""

    def __init__(self, linear_model: Any, dnn_model: Any, activation: Any = None, **kwargs: Any) -> None:
        self._base_init(**kwargs)
        self.linear_model = linear_model
        self.dnn_model = dnn_model
        self.activation = activations.get(activation)

    def call(self, inputs: Any) -> Any:  # type: ignore[override]
        """The mean of both, with the activation; both see the same inputs, or two are given."""
        linear_inputs, dnn_inputs = inputs if isinstance(inputs, (tuple, list)) and len(inputs) == 2 else (inputs, inputs)
        wide = self.linear_model(linear_inputs)
        output = nest.map_structure(lambda x, y: 0.5 * (x + y), wide, self.dnn_model(dnn_inputs))
        return output if not self.activation else nest.map_structure(self.activation, output)

    def _of_each(self, variables: Any) -> Any:
        """(an optimizer, its variables) of the linear and the deep model."""
        linear = {id(v) for v in self.linear_model.trainable_weights}
        return zip(self.optimizer, ([v for v in variables if id(v) in linear], [v for v in variables if id(v) not in linear]))

    def _optimizer_updates(self, variables: Any, loss: Any) -> list[Any]:
        if not isinstance(self.optimizer, list):
            return super()._optimizer_updates(variables, loss)
        return [u for optimizer, own in self._of_each(variables) for u in optimizer.get_updates(params=own, loss=loss)]

    def _apply_gradients(self, pairs: list[Any]) -> None:
        if not isinstance(self.optimizer, list):
            super()._apply_gradients(pairs)
            return
        gradients = {id(v): g for g, v in pairs}
        for optimizer, own in self._of_each([v for _, v in pairs]):
            apply_gradients(optimizer, [(gradients[id(v)], v) for v in own])

    def get_config(self) -> dict[str, Any]:
        """The two models and the activation."""
        return {
            "name": self.name,
            "trainable": self.trainable,
            "dtype": self.dtype,
            "linear_model": serialize_layer(self.linear_model),
            "dnn_model": serialize_layer(self.dnn_model),
            "activation": activations.serialize(self.activation),
        }

    @classmethod
    def from_config(cls, config: Any, custom_objects: dict[str, Any] | None = None) -> Any:
        """A model with these parts."""
        known = {"LinearModel": LinearModel, **(custom_objects or {})}
        parts = {
            **config,
            "linear_model": deserialize_layer(config["linear_model"], known),
            "dnn_model": deserialize_layer(config["dnn_model"], custom_objects),
            "activation": activations.deserialize(config.get("activation"), custom_objects=custom_objects),
        }
        return cls(**parts)
