"""Optimizers by name and as data."""

from __future__ import annotations

from typing import Any

from everflow import api
from everflow.api import public
from everflow.keras.optimizers.base import OptimizerV2
from everflow.keras.optimizers.first import Optimizer, TFOptimizer, track_tf_optimizer
from everflow.keras.serialization import deserialize_keras_object, serialize_keras_object
from everflow.train.optimizer import Optimizer as GraphOptimizer

_NAMES = ("Adadelta", "Adagrad", "Adam", "Adamax", "Ftrl", "Nadam", "RMSprop", "SGD")


@public("keras.optimizers.serialize")
def serialize(optimizer: Any) -> Any:
    """An optimizer as data."""
    return serialize_keras_object(optimizer)


@public("keras.optimizers.deserialize")
def deserialize(config: Any, custom_objects: Any = None) -> Any:
    """The optimizer that data describe; names are known in any case."""
    known = {name.lower(): api.find(f"keras.optimizers.{name}") for name in _NAMES}
    if isinstance(config, dict) and config.get("class_name", "").lower() in known:
        config = {**config, "class_name": config["class_name"].lower()}
    return deserialize_keras_object(config, module_objects=known, custom_objects=custom_objects, printable_module_name="optimizer")


@public("keras.optimizers.get")
def get(identifier: Any) -> Any:
    """An optimizer by its name, its config, or itself; those of tf.train are wrapped."""
    if isinstance(identifier, (Optimizer, OptimizerV2)):
        return identifier
    if isinstance(identifier, GraphOptimizer):
        wrapped = TFOptimizer(identifier)
        track_tf_optimizer(wrapped)
        return wrapped
    described = {"class_name": identifier, "config": {}} if isinstance(identifier, str) else identifier
    if isinstance(described, dict):
        return deserialize(described)
    raise ValueError("Could not interpret optimizer identifier:", identifier)
