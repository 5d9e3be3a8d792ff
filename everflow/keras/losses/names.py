"""Losses by name and as data."""

from __future__ import annotations

from typing import Any

import numpy as np

from everflow import api
from everflow.api import internal, public
from everflow.keras.losses import functions
from everflow.keras.losses.classes import CategoricalCrossentropy, LossFunctionWrapper
from everflow.keras.serialization import deserialize_keras_object, serialize_keras_object

# Losses whose labels need not be of the type of the prediction.
LABEL_DTYPES_FOR_LOSSES: dict[Any, str] = {functions.sparse_categorical_crossentropy: "int32"}
internal("keras.losses.LABEL_DTYPES_FOR_LOSSES")(LABEL_DTYPES_FOR_LOSSES)


@internal("keras.losses.is_categorical_crossentropy")
def is_categorical_crossentropy(loss: Any) -> bool:
    """Whether a loss wants one-hot labels of classes."""
    return (
        isinstance(loss, CategoricalCrossentropy)
        or isinstance(loss, LossFunctionWrapper)
        and loss.fn is functions.categorical_crossentropy
        or getattr(loss, "__name__", None) == "categorical_crossentropy"
        or isinstance(loss, str)
        and loss == "categorical_crossentropy"
    )


@public("keras.losses.serialize")
@internal("keras.losses.serialize")
def serialize(loss: Any) -> Any:
    """A loss as data."""
    return serialize_keras_object(loss)


@public("keras.losses.deserialize")
@internal("keras.losses.deserialize")
def deserialize(name: Any, custom_objects: Any = None) -> Any:
    """The loss that data stand for."""
    known = {**api.objects("keras.losses"), "huber_loss": functions.huber_loss}
    return deserialize_keras_object(name, module_objects=known, custom_objects=custom_objects, printable_module_name="loss function")


@public("keras.losses.get")
@internal("keras.losses.get")
def get(identifier: Any) -> Any:
    """A loss by its name, its config, or itself."""
    if identifier is None or isinstance(identifier, np.ndarray):
        return None
    if isinstance(identifier, (str, dict)):
        return deserialize(identifier)
    if callable(identifier):
        return identifier
    raise ValueError("Could not interpret loss function identifier:", identifier)
