"""tfe.Network: layers that are put together by hand, as eager programs did before `tf.keras.Model`."""

from __future__ import annotations

import inspect
import os
import re
from collections.abc import Callable
from typing import Any

import everflow as tf
from everflow.api import public
from everflow.contrib.eager.saver import restore_variables_on_create
from everflow.keras.layer import Layer as KerasLayer
from everflow.keras.naming import to_snake_case
from everflow.layers.base import Layer
from everflow.train.checkpoints.saver import Saver
from everflow.train.checkpoints.state import latest_checkpoint

_USED = "_network_names"


def _unique(name: str, taken: Any) -> str:
    found, number = name, 0
    while found in taken:
        number += 1
        found = f"{name}_{number}"
    return found


@public("contrib.eager.Network")
class Network(Layer):
    """A layer made of layers: `self.dense = self.track_layer(tf.layers.Dense(10))` in `__init__`, and a `call` that uses them."""

    _tracked: dict[str, Any]
    _waiting: list[tuple[str, Callable[[str], str]]]
    _has_name: bool
    _is_part: bool
    _scope_name: str

    def __init__(self, name: str | None = None) -> None:
        self.__dict__["_tracked"] = {}
        self.__dict__["_waiting"] = []
        self.__dict__["_is_part"] = False
        self.__dict__["_scope_name"] = tf.get_variable_scope().name
        base = to_snake_case(type(self).__name__)
        self.__dict__["_has_name"] = name is not None
        super().__init__(name=name or base)

    @property
    def name(self) -> str:  # type: ignore[override]
        """The name, which is settled when the network is first called or tracked by another one."""
        if not self._has_name:
            raise ValueError(
                "The network does not yet have a final name, but a name was requested for it. Networks get a name when they are added to "
                "another Network via track_layer, or when they are first called/built."
            )
        return self._name

    def _settle(self, taken: Any) -> None:
        if not self._has_name:
            self._name = _unique(to_snake_case(type(self).__name__), taken)
            self.__dict__["_has_name"] = True

    @property
    def layers(self) -> list[Any]:
        """The tracked layers, in the order in which they were tracked."""
        return list(self._tracked.values())

    def track_layer(self, layer: Any) -> Any:
        """Makes a layer a part of the network; returns it."""
        if not isinstance(layer, KerasLayer):
            raise TypeError(f"Network.track_layer() passed type {type(layer)}, not a tf.layers.Layer")
        if any(known is layer for known in self.layers):
            return layer
        if isinstance(layer, Network):
            layer._settle(self._tracked)
            layer.__dict__["_is_part"] = True
        else:
            base = to_snake_case(type(layer).__name__)
            if not layer.built and re.fullmatch(rf"{base}(_\d+)?", layer.name):
                layer._name = _unique(base, self._tracked)
                if isinstance(layer, Layer):
                    layer.__dict__["_base_name"] = layer._name
        if layer.name in self._tracked:
            raise ValueError(f"Attempt to add two Layers with the name '{layer.name}' to the same Network.")
        self._tracked[layer.name] = layer
        return layer

    def get_layer(self, name: str | None = None, index: int | None = None) -> Any:
        """A tracked layer, by name or by position."""
        if index is not None:
            if name is not None:
                raise ValueError(f"Exactly one of index or name must be provided (got index={index} and name={name})")
            if len(self._tracked) <= index:
                raise ValueError(f"Was asked to retrieve layer at index {index} but Network only has {len(self._tracked)} layers.")
            return self.layers[index]
        if name is None:
            raise ValueError("Provide either a layer name or layer index.")
        if name not in self._tracked:
            raise ValueError(f"No such layer: {name}")
        return self._tracked[name]

    def __call__(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        """Calls the network; its variables get its name before theirs."""
        names = tf.get_default_graph().get_collection_ref(_USED)
        if not self._is_part and not self.built:
            taken = [name for scope, name in names if scope == self._scope_name]
            if self._has_name and self._name in taken:
                raise ValueError(f"A network named '{self._name}' already exists")
            self._settle(taken)
            names.append((self._scope_name, self._name))
        with restore_variables_on_create(*self._waiting[0]) if self._waiting else tf.name_scope(None):
            return super().__call__(inputs, *args, **kwargs)

    @property
    def trainable_weights(self) -> list[Any]:
        """The variables of the layers that training changes."""
        return [v for layer in self.layers for v in layer.trainable_weights]

    @property
    def non_trainable_weights(self) -> list[Any]:
        """The other variables of the layers."""
        return [v for layer in self.layers for v in layer.non_trainable_weights]

    @property
    def weights(self) -> list[Any]:
        """All variables of the layers, layer after layer."""
        return [v for layer in self.layers for v in layer.weights]

    variables = weights
    trainable_variables = trainable_weights

    def add_loss(self, losses: Any, inputs: Any = None) -> None:
        """Losses belong to the layers."""
        raise RuntimeError(
            "add_loss is not supported in Network class yet. Please file an issue at "
            "https://github.com/tensorflow/tensorflow/issues/new if this is important to you"
        )

    def compute_output_shape(self, input_shape: Any) -> Any:
        """What comes out of the layers in turn."""
        for layer in self.layers:
            input_shape = layer.compute_output_shape(input_shape)
        return input_shape


@public("contrib.eager.Sequential")
class Sequential(Network):
    """Layers and functions, each called on what the one before gives."""

    def __init__(self, layers_funcs: Any = None, name: str | None = None) -> None:
        super().__init__(name=name)
        self._functions: list[Callable[..., Any]] = []
        for function in layers_funcs or ():
            self.add(function)

    def add(self, layer_func: Callable[..., Any]) -> None:
        """Adds a layer or a function at the end."""
        self._functions.append(self.track_layer(layer_func) if isinstance(layer_func, KerasLayer) else layer_func)

    def call(self, inputs: Any, training: Any = None) -> Any:  # type: ignore[override]
        """All of them in turn; those with a parameter `training` are given it."""
        found = inputs
        for function in self._functions:
            target = function.call if isinstance(function, KerasLayer) else function
            takes = "training" in inspect.signature(target).parameters
            found = function(found, training=training) if takes else function(found)
        return found


def _names(network: Network, map_func: Callable[[str], str] | None) -> dict[str, Any]:
    """The network's variables by their names in checkpoints: without the network's own, unless a function says otherwise."""
    prefix = network.name + "/"
    shorten = map_func or (lambda name: name.removeprefix(prefix))
    found: dict[str, Any] = {}
    for v in network.variables:
        name = shorten(v.name.rpartition(":")[0])
        if name in found:
            raise ValueError(
                f"The map_func passed to save_network_checkpoint for the Network '{network.name}' resulted in two variables "
                f"named '{name}' (for variables {found[name].name} and {v.name})."
            )
        found[name] = v
    return found


def _session() -> Any:
    return None if tf.executing_eagerly() else tf.get_default_session()


@public("contrib.eager.save_network_checkpoint")
def save_network_checkpoint(
    network: Any, save_path: str, global_step: Any = None, map_func: Callable[..., Any] | None = None
) -> str | None:
    """Writes the network's variables; a folder gets files with the network's name. Returns the checkpoint's path."""
    if not network.built:
        raise ValueError(
            "Attempt to save the Network before it was first called. This means variables have not yet been created, so there "
            "is nothing to save."
        )
    if os.path.isdir(save_path):
        save_path = os.path.join(save_path, network.name.replace("/", "_"))
    saver = Saver(_names(network, map_func))
    return saver.save(_session(), save_path, write_meta_graph=False, global_step=global_step)


@public("contrib.eager.restore_network_checkpoint")
def restore_network_checkpoint(network: Any, save_path: str, map_func: Callable[..., Any] | None = None) -> None:
    """Gives the network's variables the values of a checkpoint: now, or when they are made."""
    if os.path.isdir(save_path):
        save_path = latest_checkpoint(save_path) or save_path
    if network.built:
        Saver(_names(network, map_func)).restore(_session(), save_path)
        return

    def shortened(name: str) -> str:
        return map_func(name) if map_func is not None else name.removeprefix(network.name + "/")

    network._waiting[:] = [(save_path, shortened)]
