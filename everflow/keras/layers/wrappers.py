"""Layers around layers: over time, and in both directions."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import everflow as tf
from everflow import nest
from everflow.api import public
from everflow.graph.shapes import TensorShape
from everflow.keras.backend.recurrence import rnn
from everflow.keras.backend.values import is_keras_tensor
from everflow.keras.input_spec import InputSpec
from everflow.keras.layer import Layer
from everflow.keras.layer_serialization import deserialize
from everflow.keras.layers.recurrent import standardize_args
from everflow.keras.serialization import CustomObjectScope, has_arg
from everflow.keras.shape_methods import of_tuples
from everflow.looks import own_module


@public("keras.layers.Wrapper")
class Wrapper(Layer):
    """Base of layers around another."""

    def __init__(self, layer: Any, **kwargs: Any) -> None:
        if not isinstance(layer, Layer):
            raise AssertionError(f"Wrappers take layers; got {layer}.")
        super().__init__(**kwargs)
        self.layer = layer

    def build(self, input_shape: Any = None) -> None:
        if not self.layer.built:
            self.layer.build(input_shape)
            self.layer.built = True
        self.built = True

    @property
    def activity_regularizer(self) -> Any:
        """That of the layer inside."""
        return getattr(self.layer, "activity_regularizer", None) if "layer" in self.__dict__ else None

    @activity_regularizer.setter
    def activity_regularizer(self, regularizer: Callable[..., Any] | None) -> None:
        self.__dict__["_activity_regularizer"] = regularizer

    def get_config(self) -> dict[str, Any]:
        inside = {"class_name": type(self.layer).__name__, "config": self.layer.get_config()}
        return {**super().get_config(), "layer": inside}

    @classmethod
    def from_config(cls, config: Any, custom_objects: dict[str, Any] | None = None) -> Any:
        """The wrapper and the layer that a config describes."""
        config = copy.deepcopy(config)
        return cls(deserialize(config.pop("layer"), custom_objects=custom_objects), **config)


@public("keras.layers.TimeDistributed")
class TimeDistributed(Wrapper):
    """A layer applied to each time step."""

    _always_use_reshape: bool

    def __init__(self, layer: Any, **kwargs: Any) -> None:
        if not isinstance(layer, Layer):
            raise ValueError(f"Please initialize `TimeDistributed` layer with a `Layer` instance. You passed: {layer}")
        super().__init__(layer, **kwargs)
        self.supports_masking = True
        # Stateful layers keep what is for whole sequences, and a program's own may know how large a batch is: steps come one by one.
        is_ours = own_module(type(layer)).startswith("everflow.")
        self.__dict__["_always_use_reshape"] = is_ours and not getattr(layer, "stateful", False)

    def _inner_shape(self, x: Any, first: int) -> list[Any]:
        """The shape of a tensor after its first dimensions, as numbers where they are known."""
        dynamic = tf.shape(x)
        return [s if s is not None else dynamic[i + first] for i, s in enumerate(x.shape.as_list()[first:])]

    def build(self, input_shape: Any) -> None:  # type: ignore[override]
        sizes = TensorShape(input_shape).as_list()
        if len(sizes) < 3:
            raise ValueError(
                f"`TimeDistributed` Layer should be passed an `input_shape ` with at least 3 dimensions, received: {input_shape}"
            )
        self.input_spec = InputSpec(shape=[None, None, *sizes[2:]])
        super().build(tuple([sizes[0], *sizes[2:]]))

    def compute_output_shape(self, input_shape: Any) -> Any:
        sizes = TensorShape(input_shape).as_list()
        inside = TensorShape(self.layer.compute_output_shape(TensorShape([sizes[0], *sizes[2:]]))).as_list()
        return TensorShape([inside[0], sizes[1], *inside[1:]])

    def call(self, inputs: Any, training: Any = None, mask: Any = None) -> Any:  # type: ignore[override]
        arguments = {"training": training} if has_arg(self.layer.call, "training") else {}
        sizes = inputs.shape.as_list()
        if sizes[0] and not self._always_use_reshape:

            def step(x: Any, _: Any) -> tuple[Any, list[Any]]:
                return self.layer(x, **arguments), []

            _, outputs, _ = rnn(step, inputs, initial_states=[], input_length=sizes[1], mask=mask, unroll=False)
            return outputs
        if has_arg(self.layer.call, "mask") and mask is not None:
            arguments["mask"] = tf.reshape(mask, [-1, *self._inner_shape(mask, 2)])
        flat = tf.reshape(inputs, [-1, *self._inner_shape(inputs, 2)])
        flat.set_shape([None if sizes[0] is None or sizes[1] is None else sizes[0] * sizes[1], *sizes[2:]])
        found = self.layer(flat, **arguments)
        steps = sizes[1] if sizes[1] is not None else tf.shape(inputs)[1]
        batch = tf.shape(inputs)[0] if sizes[1] is None else -1
        outputs = tf.reshape(found, [batch, steps, *self._inner_shape(found, 1)])
        known = found.shape.as_list()[1:] if found.shape.ndims is not None else None
        if known is not None:
            outputs.set_shape([sizes[0], sizes[1], *known])
        return outputs

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        inner = None
        if mask is not None:
            inner = tf.reshape(mask, [-1, *self._inner_shape(mask, 2)])
        sizes = inputs.shape.as_list()
        if sizes[0]:
            return mask
        flat = tf.reshape(inputs, [-1, *self._inner_shape(inputs, 2)])
        found = self.layer.compute_mask(flat, inner)
        if found is None:
            if mask is None:
                return None
            # The mask of steps alone: what a layer leaves of the mask of what is inside them.
            kept = mask
            for _ in range(2, len(mask.shape)):
                kept = tf.reduce_any(kept, axis=-1)
            return kept
        steps = sizes[1] if sizes[1] is not None else tf.shape(inputs)[1]
        return tf.reshape(found, [-1, steps, *self._inner_shape(found, 1)])


@public("keras.layers.Bidirectional")
class Bidirectional(Wrapper):
    """A recurrent layer over sequences and another over the same sequences backwards."""

    _num_constants: int
    layer: Any

    def __init__(self, layer: Any, merge_mode: Any = "concat", weights: Any = None, backward_layer: Any = None, **kwargs: Any) -> None:
        if not isinstance(layer, Layer):
            raise ValueError(f"Please initialize `Bidirectional` layer with a `Layer` instance. You passed: {layer}")
        if backward_layer is not None and not isinstance(backward_layer, Layer):
            raise ValueError(f"`backward_layer` need to be a `Layer` instance. You passed: {backward_layer}")
        if merge_mode not in ("sum", "mul", "ave", "concat", None):
            raise ValueError('Invalid merge mode. Merge mode should be one of {"sum", "mul", "ave", "concat", None}')
        self.__dict__["_self_setattr_tracking"] = False
        super().__init__(layer, **kwargs)
        self.forward_layer = _again(layer)
        if backward_layer is None:
            self.backward_layer = _again(layer, go_backwards=True)
        else:
            self.backward_layer = backward_layer
            self.__dict__["_backward_config"] = {"class_name": type(backward_layer).__name__, "config": backward_layer.get_config()}
        _check_directions(self.forward_layer, self.backward_layer)
        self.forward_layer.__dict__["_name"] = "forward_" + self.forward_layer.name
        self.backward_layer.__dict__["_name"] = "backward_" + self.backward_layer.name
        self.merge_mode = merge_mode
        self.stateful = layer.stateful
        self.return_sequences = self.forward_layer.return_sequences
        self.return_state = self.forward_layer.return_state
        self.supports_masking = True
        self.__dict__["_trainable"] = True
        self.__dict__["_num_constants"] = 0
        self.input_spec = layer.input_spec
        self.__dict__["_self_setattr_tracking"] = True
        for name in ("forward_layer", "backward_layer"):
            inner = self.__dict__[name]
            self._track_value(inner)
            self._track_trackable(inner, name=name)

    @property
    def trainable(self) -> bool:
        """Whether training changes the layers' variables."""
        return self._trainable

    @trainable.setter
    def trainable(self, value: bool) -> None:
        self.__dict__["_trainable"] = value
        for name in ("forward_layer", "backward_layer"):
            if name in self.__dict__:
                self.__dict__[name].trainable = value

    @property
    def activity_regularizer(self) -> Any:
        """None: the layers inside regularize on their own."""
        return None

    @activity_regularizer.setter
    def activity_regularizer(self, regularizer: Callable[..., Any] | None) -> None:
        """Follows from the layers."""

    def build(self, input_shape: Any) -> None:  # type: ignore[override]
        for inner in (self.forward_layer, self.backward_layer):
            with tf.name_scope(inner.name):
                inner.build(input_shape)
                inner.built = True
        self.built = True

    @of_tuples
    def compute_output_shape(self, input_shape: Any) -> Any:
        found = self.forward_layer.compute_output_shape(input_shape)
        if not isinstance(found, list) or not isinstance(found[0], (list, tuple, TensorShape)):
            found = [found]
        shape, states = TensorShape(found[0]), found[1:] if self.return_state else []
        if self.merge_mode == "concat":
            sizes: list[Any] = shape.as_list()
            sizes[-1] *= 2
            shape = TensorShape(sizes)
        outputs = [shape, copy.copy(shape)] if self.merge_mode is None else [shape]
        everything = [*outputs, *states, *copy.copy(states)]
        return everything[0] if len(everything) == 1 else everything

    def __call__(self, inputs: Any, initial_state: Any = None, constants: Any = None, **kwargs: Any) -> Any:
        inputs, initial_state, constants = standardize_args(inputs, initial_state, constants, self._num_constants)
        if initial_state is None and constants is None:
            return super().__call__(inputs, **kwargs)
        extra: list[Any] = []
        if initial_state is not None:
            if len(initial_state) % 2:
                raise ValueError(
                    "When passing `initial_state` to a Bidirectional RNN, the state should be a list containing the states of "
                    f"the underlying RNNs. Found: {initial_state}"
                )
            extra += initial_state
            half = len(initial_state) // 2
            for inner, states in ((self.forward_layer, initial_state[:half]), (self.backward_layer, initial_state[half:])):
                inner.__dict__["state_spec"] = [InputSpec(shape=tuple(s.shape.as_list())) for s in nest.flatten(states)]
        if constants is not None:
            extra += constants
            self.__dict__["_num_constants"] = len(constants)
            self.forward_layer.__dict__["_num_constants"] = self.backward_layer.__dict__["_num_constants"] = len(constants)
        symbolic = [t for t in extra if isinstance(t, tf.Tensor) and not t.is_eager and is_keras_tensor(t)]
        if symbolic and len(symbolic) != len(extra):
            raise ValueError(
                "The initial state of a Bidirectional layer cannot be specified with a mix of Keras tensors and non-Keras "
                'tensors (a "Keras tensor" is a tensor that was returned by a Keras layer, or by `Input`)'
            )
        if not symbolic:
            if initial_state is not None:
                kwargs["initial_state"] = initial_state
            if constants is not None:
                kwargs["constants"] = constants
            return super().__call__(inputs, **kwargs)
        self.__dict__["_num_given"] = len(initial_state or ())
        spec, self.__dict__["_input_spec"] = self._input_spec, None
        try:
            return super().__call__([inputs, *extra], **kwargs)
        finally:
            self.__dict__["_input_spec"] = spec

    def call(  # type: ignore[override]
        self, inputs: Any, training: Any = None, mask: Any = None, initial_state: Any = None, constants: Any = None
    ) -> Any:
        """What both directions give, put together."""
        arguments: dict[str, Any] = {}
        if has_arg(self.layer.call, "training"):
            arguments["training"] = training
        if has_arg(self.layer.call, "mask"):
            arguments["mask"] = mask[0] if isinstance(mask, (list, tuple)) else mask
        if isinstance(inputs, (list, tuple)) and len(inputs) > 1:
            number = self.__dict__.get("_num_given", 0)
            initial_state = list(inputs[1 : 1 + number]) or None
            constants = list(inputs[1 + number :]) or None
            inputs = inputs[0]
        if constants is not None:
            arguments["constants"] = constants
        forward_arguments, backward_arguments = dict(arguments), dict(arguments)
        if initial_state is not None:
            half = len(initial_state) // 2
            forward_arguments["initial_state"], backward_arguments["initial_state"] = initial_state[:half], initial_state[half:]
        y, y_back = (
            _regularized(inner, inputs, given)
            for inner, given in ((self.forward_layer, forward_arguments), (self.backward_layer, backward_arguments))
        )
        states = []
        if self.return_state:
            states = [*y[1:], *y_back[1:]]
            y, y_back = y[0], y_back[0]
        if self.return_sequences:
            time = 0 if getattr(self.forward_layer, "time_major", False) else 1
            y_back = tf.reverse(y_back, [time])
        merged: Any = {
            "concat": lambda: tf.concat([y, y_back], -1),
            "sum": lambda: y + y_back,
            "ave": lambda: (y + y_back) / 2,
            "mul": lambda: y * y_back,
            None: lambda: [y, y_back],
        }[self.merge_mode]()
        if not self.return_state:
            return merged
        return [*merged, *states] if self.merge_mode is None else [merged, *states]

    def reset_states(self) -> None:
        """Resets the states of both directions."""
        self.forward_layer.reset_states()
        self.backward_layer.reset_states()

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        if isinstance(mask, list):
            mask = mask[0]
        kept = mask if self.return_sequences else None
        found = [kept, kept] if self.merge_mode is None else kept
        if not self.return_state:
            return found
        states = [None for _ in self.forward_layer.states] * 2
        return [*found, *states] if isinstance(found, list) else [found, *states]

    @property
    def constraints(self) -> dict[Any, Any]:
        """The constraints of both directions."""
        return {**getattr(self.forward_layer, "constraints", {}), **getattr(self.backward_layer, "constraints", {})}

    def get_config(self) -> dict[str, Any]:
        config = {**super().get_config(), "merge_mode": self.merge_mode}
        if self._num_constants:
            config["num_constants"] = self._num_constants
        if "_backward_config" in self.__dict__:
            config["backward_layer"] = self.__dict__["_backward_config"]
        return config

    @classmethod
    def from_config(cls, config: Any, custom_objects: dict[str, Any] | None = None) -> Any:
        """The wrapper and the layers that a config describes."""
        config = copy.deepcopy(config)
        number = config.pop("num_constants", 0)
        config["layer"] = deserialize(config["layer"], custom_objects=custom_objects)
        if config.get("backward_layer") is not None:
            config["backward_layer"] = deserialize(config["backward_layer"], custom_objects=custom_objects)
        made = cls(**config)
        made.__dict__["_num_constants"] = number
        return made


def _regularized(layer: Any, inputs: Any, arguments: dict[str, Any]) -> Any:
    """What a layer inside gives; its activity counts as it does outside."""
    outputs = layer.call(layer._maybe_cast_inputs(inputs), **arguments)
    layer._handle_activity_regularization(inputs, outputs)
    return outputs


def _again(layer: Any, go_backwards: bool = False) -> Any:
    """A layer like another; backwards where that goes forwards, and the other way round."""
    config = layer.get_config()
    # What is merged has no values where a sequence has none.
    if getattr(layer, "return_sequences", False) and hasattr(layer, "zero_output_for_mask"):
        config["zero_output_for_mask"] = True
    if go_backwards:
        config["go_backwards"] = not config["go_backwards"]
    if not hasattr(layer, "cell"):
        return type(layer).from_config(config)
    # Cells of the program's own are known by their names here.
    cells = (layer.cell, *getattr(layer.cell, "cells", ()))
    with CustomObjectScope({type(cell).__name__: type(cell) for cell in cells}):
        return type(layer).from_config(config)


def _check_directions(forward: Any, backward: Any) -> None:
    if forward.go_backwards == backward.go_backwards:
        raise ValueError("Forward layer and backward layer should have different `go_backwards` value.")
    for name in ("stateful", "return_sequences", "return_state"):
        if getattr(forward, name) != getattr(backward, name):
            raise ValueError(
                f"Forward layer and backward layer are expected to have the same value for attribute {name}, got "
                f"{getattr(forward, name)} and {getattr(backward, name)}"
            )
