"""Layers and models that come from SavedModels: what they compute is in the functions that were saved with them."""

from __future__ import annotations

import inspect
from typing import Any

import everflow as tf
from everflow import nest
from everflow.api import internal
from everflow.graph.tensor import Tensor
from everflow.keras import regularizers
from everflow.keras.backend.learning_phase import learning_phase
from everflow.keras.input_layer import InputLayer
from everflow.keras.input_spec import InputSpec
from everflow.keras.layer import Layer
from everflow.keras.model import Model
from everflow.keras.network import Network
from everflow.keras.sequential import Sequential
from everflow.train.tracking.data_structures import is_function

# What hangs on a layer of a SavedModel and is no attribute that the program gave it.
_LISTS = frozenset(
    (
        "variables",
        "trainable_variables",
        "non_trainable_variables",
        "regularization_losses",
        "layer_regularization_losses",
        "layers",
        "metrics",
    )
)
_BOOKS = frozenset(
    (
        "_callable_losses",
        "_losses",
        "_eager_losses",
        "_updates",
        "_metrics",
        "_layers",
        "_trainable_weights",
        "_non_trainable_weights",
        "_inbound_nodes",
        "_outbound_nodes",
        "_self_unconditional_checkpoint_dependencies",
    )
)
_HANGING = frozenset(("keras_api", "signatures"))


def _as_spec(config: Any) -> Any:
    """The InputSpecs that data describe, in their structure."""
    if isinstance(config, dict) and set(config) == {"class_name", "config"}:
        return InputSpec.from_config(config["config"])
    if isinstance(config, dict):
        return {key: _as_spec(value) for key, value in config.items()}
    return [_as_spec(value) for value in config] if isinstance(config, (list, tuple)) else None


@internal("keras.saving.saved_model.load.RevivedLayer")
class RevivedLayer(Layer):
    """A layer whose `call` runs a saved function."""

    _metadata: dict[str, Any]
    _saved: dict[str, Any]

    @classmethod
    def from_metadata(cls, metadata: dict[str, Any]) -> Any:
        """A layer without variables and functions yet, which follow."""
        made = type(metadata["class_name"], (cls,), {})(name=metadata["name"])
        made._take(metadata)
        return made

    def _take(self, metadata: dict[str, Any]) -> None:
        books = self.__dict__
        books.update(_metadata=metadata, _saved={}, built=True, _trainable=metadata.get("trainable", True))
        self._dtype = metadata.get("dtype")
        if metadata.get("batch_input_shape") is not None:
            books["_batch_input_shape"] = tuple(metadata["batch_input_shape"])
        if metadata.get("input_spec") is not None and not isinstance(self, Network):
            self.input_spec = _as_spec(metadata["input_spec"])
        books["_activity_regularizer"] = (
            regularizers.deserialize(metadata["activity_regularizer"]) if metadata.get("activity_regularizer") else None
        )

    @property
    def _expects_training_arg(self) -> bool:
        return self._metadata["expects_training_arg"]

    def get_config(self) -> dict[str, Any]:
        """The config that was saved."""
        if "config" not in self._metadata:
            raise NotImplementedError
        return self._metadata["config"]

    def hang(self, name: str, value: Any) -> None:
        """Takes what hung on the layer under a name when it was saved."""
        if name in _LISTS or is_function(value):
            self._saved[name] = value
        elif name in _HANGING:
            self.__dict__[name] = value
            self._track_trackable(value, name, overwrite=True)
        elif name not in _BOOKS:
            static = inspect.getattr_static(type(self), name, None)
            if isinstance(static, property) and static.fset is None:
                self._track_trackable(value, name, overwrite=True)
            else:
                setattr(self, name, value)

    @staticmethod
    def hang_on(layer: RevivedLayer, name: str, value: Any) -> None:
        """How a loader sets attributes of layers."""
        layer.hang(name, value)

    def held(self) -> list[RevivedLayer]:
        """The layers that were saved within this one."""
        inner = [*getattr(self.__dict__.get("keras_api"), "layers", ()), *self._saved.values()]
        return [each for each in inner if isinstance(each, RevivedLayer)]

    def settle(self) -> None:
        """Becomes callable, once everything hangs on it."""
        api = self.__dict__.get("keras_api")
        for loss in getattr(api, "layer_regularization_losses", ()):
            self.add_loss(loss)
        if self._activity_regularizer is None:
            # Of a penalty without a config only its function is left.
            self.__dict__["_activity_regularizer"] = getattr(api, "activity_regularizer_fn", None)
        function = getattr(api, "call_and_return_conditional_losses", None) or self._saved.get("call_and_return_all_conditional_losses")
        if function is not None:
            self.__dict__["call"] = _calling(self, function)
            self.__dict__.pop("_call_parameters_", None)


def _calling(layer: RevivedLayer, function: Any) -> Any:
    """What a layer does when it is called: runs a function, and keeps the losses that it gives."""
    signature = function.function_spec.signature

    def call(inputs: Any, *args: Any, **kwargs: Any) -> Any:
        given = signature.bind(inputs, *args, **kwargs)
        if "training" not in signature.parameters:
            outputs, losses = function(*given.args, **given.kwargs)
        else:
            training = given.arguments.get("training")

            def run(training: bool) -> Any:
                given.arguments["training"] = training
                return function(*given.args, **given.kwargs)

            outputs, losses = _either(learning_phase() if training is None else training, run)
        layer.add_loss(losses, inputs=inputs)
        return outputs

    call.__signature__ = signature  # type: ignore[attr-defined]
    return call


def _either(training: Any, run: Any) -> Any:
    """One of the two runs, where need be the one that a tensor chooses."""
    if isinstance(training, Tensor) and training.is_eager:
        training = bool(training.numpy())
    if not isinstance(training, Tensor):
        return run(bool(training))
    structure: list[Any] = []

    def flat(value: bool) -> Any:
        found = run(value)
        structure.append(found)
        return nest.flatten(found)

    results = tf.cond(training, lambda: flat(True), lambda: flat(False))
    return nest.pack_sequence_as(structure[0], nest.flatten(results))


@internal("keras.saving.saved_model.load.RevivedNetwork")
class RevivedNetwork(RevivedLayer, Network):
    """A network, called as a whole."""

    def hang(self, name: str, value: Any) -> None:
        """Takes an attribute; the layers of functional models hang on them by number."""
        if name.startswith(("layer-", "layer_with_weights-")):
            self._saved[name] = value
            self._track_trackable(value, name, overwrite=True)
        elif name == "optimizer":
            self._saved[name] = value
        else:
            super().hang(name, value)

    def _numbered_layers(self) -> list[Any]:
        found = {int(name.partition("-")[2]): value for name, value in self._saved.items() if name.startswith("layer-")}
        return [found[number] for number in sorted(found)]

    def settle(self) -> None:
        """Becomes callable, with the layers that it had."""
        super().settle()
        for layer in self._numbered_layers():
            self._track_value(layer)
        self.__dict__.setdefault("_is_graph_network", False)


@internal("keras.saving.saved_model.load.RevivedModel")
class RevivedModel(RevivedNetwork, Model):
    """A model, which is trained and used as one that was never saved."""

    def settle(self) -> None:
        """Knows its inputs again."""
        super().settle()
        self._know_inputs()

    def _know_inputs(self) -> None:
        traced = getattr(self._saved.get("__call__"), "concrete_functions", ())
        if not traced:
            return
        (specs, *_), _ = traced[0].structured_input_signature
        if nest.flatten(specs):
            self._set_inputs(specs)


@internal("keras.saving.saved_model.load.RevivedSequential")
class RevivedSequential(RevivedModel, Sequential):
    """Layers that follow each other again."""

    def settle(self) -> None:
        """Connects its layers where it knows its inputs."""
        RevivedLayer.settle(self)
        config = self._metadata.get("config", {})
        self._build_input_shape = config.get("build_input_shape")
        layers = self._numbered_layers()
        if layers and layers[0]._metadata["class_name"] == "InputLayer":
            first = InputLayer(**layers[0].get_config())
            layers = [first, *layers[1:]]
        del self.__dict__["call"]
        self.__dict__.pop("_call_parameters_", None)
        for layer in layers:
            self.add(layer)
        self.built = True
        if not self.inputs:
            self._know_inputs()
