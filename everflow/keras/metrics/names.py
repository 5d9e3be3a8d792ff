"""Metrics by name and as data."""

from __future__ import annotations

from typing import Any

from everflow import api
from everflow.api import internal, public
from everflow.keras.serialization import deserialize_keras_object, serialize_keras_object


@public("keras.metrics.serialize")
@internal("keras.metrics.serialize")
def serialize(metric: Any) -> Any:
    """A metric as data."""
    return serialize_keras_object(metric)


@public("keras.metrics.deserialize")
@internal("keras.metrics.deserialize")
def deserialize(config: Any, custom_objects: Any = None) -> Any:
    """The metric that data stand for."""
    inner = ("accuracy", "MeanMetricWrapper", "SumOverBatchSize", "SumOverBatchSizeMetricWrapper", "Reduce", "cosine_proximity")
    known = {**api.objects("keras.metrics"), **{name: api.find(f"python.keras.metrics.{name}") for name in inner}}
    return deserialize_keras_object(config, module_objects=known, custom_objects=custom_objects, printable_module_name="metric function")


@public("keras.metrics.get")
@internal("keras.metrics.get")
def get(identifier: Any) -> Any:
    """A metric by its name, its config, or itself."""
    if isinstance(identifier, dict):
        return deserialize(identifier)
    if isinstance(identifier, str):
        return deserialize(str(identifier))
    if callable(identifier):
        return identifier
    raise ValueError(f"Could not interpret metric function identifier: {identifier}")
