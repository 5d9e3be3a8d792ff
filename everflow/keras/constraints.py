"""What weights are brought back to after each step of training."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import everflow as tf
from everflow import api
from everflow.api import public
from everflow.keras.backend.elementwise import clip, sqrt
from everflow.keras.config import epsilon
from everflow.keras.serialization import deserialize_keras_object, serialize_keras_object


@public("keras.constraints.Constraint")
class Constraint:
    """A function of weights that gives the nearest allowed ones."""

    def __call__(self, w: Any) -> Any:
        return w

    def get_config(self) -> dict[str, Any]:
        """The arguments that make this constraint."""
        return {}


def _norms(w: Any, axis: Any) -> Any:
    return sqrt(tf.reduce_sum(tf.square(w), axis=axis, keepdims=True))


@public("keras.constraints.MaxNorm", "keras.constraints.max_norm")
class MaxNorm(Constraint):
    """Weights of norm `max_value` at most."""

    def __init__(self, max_value: float = 2, axis: Any = 0) -> None:
        self.max_value = max_value
        self.axis = axis

    def __call__(self, w: Any) -> Any:
        norms = _norms(w, self.axis)
        return w * (clip(norms, 0, self.max_value) / (epsilon() + norms))

    def get_config(self) -> dict[str, Any]:
        return {"max_value": self.max_value, "axis": self.axis}


@public("keras.constraints.NonNeg", "keras.constraints.non_neg")
class NonNeg(Constraint):
    """Weights that are not negative."""

    def __call__(self, w: Any) -> Any:
        return w * tf.cast(tf.greater_equal(w, 0.0), w.dtype.base_dtype)


@public("keras.constraints.UnitNorm", "keras.constraints.unit_norm")
class UnitNorm(Constraint):
    """Weights of norm one."""

    def __init__(self, axis: Any = 0) -> None:
        self.axis = axis

    def __call__(self, w: Any) -> Any:
        return w / (epsilon() + _norms(w, self.axis))

    def get_config(self) -> dict[str, Any]:
        return {"axis": self.axis}


@public("keras.constraints.MinMaxNorm", "keras.constraints.min_max_norm")
class MinMaxNorm(Constraint):
    """Weights with a norm between two bounds, approached at a rate."""

    def __init__(self, min_value: float = 0.0, max_value: float = 1.0, rate: float = 1.0, axis: Any = 0) -> None:
        self.min_value = min_value
        self.max_value = max_value
        self.rate = rate
        self.axis = axis

    def __call__(self, w: Any) -> Any:
        norms = _norms(w, self.axis)
        wanted = self.rate * clip(norms, self.min_value, self.max_value) + (1 - self.rate) * norms
        return w * (wanted / (epsilon() + norms))

    def get_config(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in ("min_value", "max_value", "rate", "axis")}


@public("keras.constraints.RadialConstraint", "keras.constraints.radial_constraint")
class RadialConstraint(Constraint):
    """Kernels of images that are the same in all directions from their centre."""

    def __call__(self, w: Any) -> Any:
        dims = w.shape.as_list()
        if len(dims) != 4:
            raise ValueError(f"The weight tensor must be of rank 4, but is of shape: {w.shape}")
        height, width, channels, kernels = dims
        flat = tf.reshape(w, (height, width, channels * kernels))
        return tf.reshape(tf.map_fn(_radial, tf.stack(tf.unstack(flat, axis=-1), axis=0)), (height, width, channels, kernels))


def _radial(kernel: Any) -> Any:
    """One kernel, rebuilt ring by ring with the values of its diagonal."""
    size = kernel.shape.as_list()[0]
    start = size // 2
    inner = 1 if size % 2 else 2
    made = tf.ones((inner, inner), dtype=kernel.dtype) * kernel[start - 1, start - 1]
    # Round a centre of two by two, the ring next to it has the value of the corner after.
    for i in range(start + 1 - size % 2, 2 * start):
        frame = 1 - tf.pad(tf.ones((inner, inner), dtype=kernel.dtype), [[1, 1], [1, 1]])
        made = tf.pad(made, [[1, 1], [1, 1]]) + frame * kernel[i, i]
        inner += 2
    return made


@public("keras.constraints.serialize")
def serialize(constraint: Callable[..., Any] | None) -> Any:
    """A constraint as data."""
    return serialize_keras_object(constraint)


@public("keras.constraints.deserialize")
def deserialize(config: Any, custom_objects: Any = None) -> Any:
    """The constraint that data stand for."""
    return deserialize_keras_object(config, api.objects("keras.constraints"), custom_objects, "constraint")


# What constraints were called before they were classes.
_OLD_NAMES = {"maxnorm": "MaxNorm", "nonneg": "NonNeg", "unitnorm": "UnitNorm"}


@public("keras.constraints.get")
def get(identifier: Any) -> Any:
    """A constraint by its name, its config, or itself."""
    if identifier is None:
        return None
    if isinstance(identifier, dict):
        return deserialize(identifier)
    if isinstance(identifier, str):
        return deserialize({"class_name": _OLD_NAMES.get(identifier, identifier), "config": {}})
    if callable(identifier):
        return identifier
    raise ValueError(f"Could not interpret constraint identifier: {identifier}")
