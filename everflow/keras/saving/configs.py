"""Models as text: JSON and YAML."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from everflow.api import internal, public
from everflow.graph.dtypes import DType
from everflow.graph.shapes import Dimension, TensorShape
from everflow.keras.layer_serialization import deserialize

KERAS_VERSION = public("keras.__version__")("2.2.4-tf")


def as_json(value: Any) -> Any:
    """What JSON has no form for, in one that it has."""
    if hasattr(value, "get_config"):
        return {"class_name": type(value).__name__, "config": value.get_config()}
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, TensorShape):
        return value.as_list()
    if isinstance(value, Dimension):
        return value.value
    if isinstance(value, DType):
        return value.name
    if callable(value):
        return value.__name__
    if hasattr(value, "items"):
        return dict(value)
    if isinstance(value, (set, frozenset)) or hasattr(value, "__iter__"):
        return list(value)
    raise TypeError("Not JSON Serializable:", value)


def model_config(model: Any) -> dict[str, Any]:
    """A model's class and config, with the version that wrote them."""
    return {"class_name": type(model).__name__, "config": model.get_config(), "keras_version": KERAS_VERSION, "backend": "tensorflow"}


def to_json(model: Any, **kwargs: Any) -> str:
    """A model as JSON."""
    return json.dumps(model_config(model), default=as_json, **kwargs)


def to_yaml(model: Any, **kwargs: Any) -> str:
    """A model as YAML."""
    import yaml

    # Through JSON: YAML's own writer would name Python's types.
    return yaml.dump(json.loads(to_json(model)), **kwargs)


@public("keras.models.model_from_config")
@internal("keras.saving.model_config.model_from_config")
def model_from_config(config: Any, custom_objects: dict[str, Any] | None = None) -> Any:
    """The model that a config describes."""
    if isinstance(config, list):
        raise TypeError("`model_from_config` expects a dictionary, not a list. Maybe you meant to use `Sequential.from_config(config)`?")
    return deserialize(config, custom_objects=custom_objects)


@public("keras.models.model_from_json")
@internal("keras.saving.model_config.model_from_json")
def model_from_json(json_string: Any, custom_objects: dict[str, Any] | None = None) -> Any:
    """The model that JSON describes."""
    return model_from_config(json.loads(json_string), custom_objects)


@public("keras.models.model_from_yaml")
@internal("keras.saving.model_config.model_from_yaml")
def model_from_yaml(yaml_string: Any, custom_objects: dict[str, Any] | None = None) -> Any:
    """The model that YAML describes."""
    import yaml

    class Loader(yaml.SafeLoader):
        """YAML with the tuples that other writers name."""

    Loader.add_constructor("tag:yaml.org,2002:python/tuple", lambda loader, node: tuple(loader.construct_sequence(node)))
    return model_from_config(yaml.load(yaml_string, Loader=Loader), custom_objects)
