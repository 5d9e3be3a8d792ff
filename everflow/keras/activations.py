"""Activation functions by name."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow import api
from everflow.api import public
from everflow.keras.backend import elementwise
from everflow.keras.serialization import deserialize_keras_object, serialize_keras_object

# tf.nn's functions under the names that Keras has for them.
_SAME = {"softmax_v2": "softmax"}


@public("keras.activations.softmax")
def softmax(x: Any, axis: int = -1) -> Any:
    """Softmax along an axis, of at least two."""
    rank = len(x.shape)
    if rank == 2:
        return tf.nn.softmax(x)
    if rank > 2:
        exps = tf.exp(x - tf.reduce_max(x, axis=axis, keepdims=True))
        return exps / tf.reduce_sum(exps, axis=axis, keepdims=True)
    raise ValueError(f"Cannot apply softmax to a tensor that is 1D. Received input: {x}")


@public("keras.activations.elu")
def elu(x: Any, alpha: Any = 1.0) -> Any:
    """The exponential linear unit."""
    return elementwise.elu(x, alpha)


@public("keras.activations.selu")
def selu(x: Any) -> Any:
    """The scaled exponential linear unit, which keeps mean and variance."""
    alpha, scale = 1.6732632423543772848170429916717, 1.0507009873554804934193349852946
    return scale * elementwise.elu(x, alpha)


@public("keras.activations.softplus")
def softplus(x: Any) -> Any:
    """log(exp(x) + 1)."""
    return tf.nn.softplus(x)


@public("keras.activations.softsign")
def softsign(x: Any) -> Any:
    """x / (|x| + 1)."""
    return tf.nn.softsign(x)


@public("keras.activations.relu")
def relu(x: Any, alpha: Any = 0.0, max_value: Any = None, threshold: Any = 0) -> Any:
    """The rectified linear unit."""
    return elementwise.relu(x, alpha=alpha, max_value=max_value, threshold=threshold)


@public("keras.activations.tanh")
def tanh(x: Any) -> Any:
    """The hyperbolic tangent."""
    return tf.nn.tanh(x)


@public("keras.activations.sigmoid")
def sigmoid(x: Any) -> Any:
    """1 / (1 + exp(-x))."""
    return tf.nn.sigmoid(x)


@public("keras.activations.exponential")
def exponential(x: Any) -> Any:
    """The exponential function."""
    return tf.exp(x)


@public("keras.activations.hard_sigmoid")
def hard_sigmoid(x: Any) -> Any:
    """A sigmoid made of three straight lines."""
    return elementwise.hard_sigmoid(x)


@public("keras.activations.linear")
def linear(x: Any) -> Any:
    """The input itself."""
    return x


@public("keras.activations.serialize")
def serialize(activation: Any) -> Any:
    """The name of an activation function; class and config of an object that is called like one."""
    same = _SAME.get(getattr(activation, "__name__", ""))
    return serialize_keras_object(activation) if same is None else same


@public("keras.activations.deserialize")
def deserialize(name: Any, custom_objects: Any = None) -> Any:
    """The activation function of a name."""
    return deserialize_keras_object(name, api.objects("keras.activations"), custom_objects, "activation function")


@public("keras.activations.get")
def get(identifier: Any) -> Any:
    """An activation function by its name, or itself; none is linear."""
    if identifier is None:
        return linear
    if isinstance(identifier, str):
        return deserialize(str(identifier))
    if callable(identifier):
        return identifier
    if isinstance(identifier, dict):
        return deserialize_keras_object(identifier, printable_module_name="activation")
    raise TypeError(f"Could not interpret activation function identifier: {identifier!r}")
