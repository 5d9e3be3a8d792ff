"""Layers and models as the JSON that SavedModels keep beside their objects."""

from __future__ import annotations

import inspect
import json
from typing import Any

from everflow import nest
from everflow.keras import regularizers
from everflow.keras.saving.configs import KERAS_VERSION, as_json
from everflow.keras.saving.training_config import training_config
from everflow.platform import logging


def expects_training(layer: Any) -> bool:
    """Whether a layer's `call` takes `training`, by its name or among others."""
    parameters = inspect.signature(layer.call).parameters.values()
    return any(p.name == "training" or p.kind is p.VAR_KEYWORD for p in parameters)


def metadata_of(layer: Any) -> str:
    """A layer's metadata."""
    found = _of_layer(layer)
    if hasattr(layer, "_is_graph_network"):
        found.update(_of_model(layer, found))
    return json.dumps(found, default=as_json)


def _of_layer(layer: Any) -> dict[str, Any]:
    found = {
        "class_name": type(layer).__name__,
        "name": layer.name,
        "trainable": layer.trainable,
        "expects_training_arg": expects_training(layer),
        "dtype": layer.dtype,
        "batch_input_shape": getattr(layer, "_batch_input_shape", None),
    }
    try:
        # A class without a config can be called all the same.
        found["config"] = layer.get_config()
    except NotImplementedError:
        pass
    found["input_spec"] = nest.map_structure(lambda spec: None if spec is None else as_json(spec), layer.input_spec)
    regularizer = layer.activity_regularizer
    found["activity_regularizer"] = regularizers.serialize(regularizer) if hasattr(regularizer, "get_config") else None
    return found


def _of_model(model: Any, found: dict[str, Any]) -> dict[str, Any]:
    more: dict[str, Any] = {"keras_version": KERAS_VERSION, "backend": "tensorflow", "model_config": {"class_name": found["class_name"]}}
    if "config" in found:
        more["model_config"]["config"] = found["config"]
    optimizer = getattr(model, "optimizer", None)
    if optimizer is None:
        return more
    if not hasattr(optimizer, "get_config"):
        logging.warning("Optimizers of tf.train cannot be described, so that the model has to be compiled again after it is loaded.")
        return more
    return {**more, "training_config": training_config(model)}
