"""Penalties on weights and outputs that are added to the loss."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import everflow as tf
from everflow.api import public
from everflow.keras.config import cast_to_floatx
from everflow.keras.serialization import deserialize_keras_object, serialize_keras_object


@public("keras.regularizers.Regularizer")
class Regularizer:
    """A function of a tensor that gives a penalty."""

    def __call__(self, x: Any) -> Any:
        return 0.0

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Any:
        """A regularizer of this class with the given arguments."""
        return cls(**config)


@public("keras.regularizers.L1L2")
class L1L2(Regularizer):
    """`l1` times the sum of absolute values, plus `l2` times the sum of squares."""

    def __init__(self, l1: float = 0.0, l2: float = 0.0) -> None:
        self.l1 = cast_to_floatx(l1)
        self.l2 = cast_to_floatx(l2)

    def __call__(self, x: Any) -> Any:
        penalty: Any = 0.0
        for factor, size in ((self.l1, tf.abs), (self.l2, tf.square)):
            if factor:
                penalty = penalty + factor * tf.reduce_sum(size(x))
        return penalty if self.l1 or self.l2 else tf.constant(0.0, x.dtype.base_dtype)

    def get_config(self) -> dict[str, Any]:
        """The two factors."""
        return {"l1": float(self.l1), "l2": float(self.l2)}


@public("keras.regularizers.l1")
def l1(l: float = 0.01) -> L1L2:
    """A penalty on absolute values."""
    return L1L2(l1=l)


@public("keras.regularizers.l2")
def l2(l: float = 0.01) -> L1L2:
    """A penalty on squares."""
    return L1L2(l2=l)


@public("keras.regularizers.l1_l2")
def l1_l2(l1: float = 0.01, l2: float = 0.01) -> L1L2:
    """A penalty on absolute values and squares."""
    return L1L2(l1=l1, l2=l2)


@public("keras.regularizers.serialize")
def serialize(regularizer: Callable[..., Any] | None) -> Any:
    """A regularizer as data."""
    return serialize_keras_object(regularizer)


@public("keras.regularizers.deserialize")
def deserialize(config: Any, custom_objects: Any = None) -> Any:
    """The regularizer that data stand for."""
    return deserialize_keras_object(config, globals(), custom_objects, "regularizer")


@public("keras.regularizers.get")
def get(identifier: Any) -> Any:
    """A regularizer by its name, its config, or itself."""
    if identifier is None:
        return None
    if isinstance(identifier, dict):
        return deserialize(identifier)
    if isinstance(identifier, str):
        # Their plain names stand for functions with defaults that are not zero.
        return deserialize(identifier)() if identifier in ("l1", "l2", "l1_l2") else deserialize(identifier)
    if callable(identifier):
        return identifier
    raise ValueError("Could not interpret regularizer identifier:", identifier)
