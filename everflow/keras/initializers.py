"""Initializers by name. The classes stand beside tf.initializers."""

from __future__ import annotations

import functools
import inspect
from typing import Any

from everflow import api
from everflow.api import public
from everflow.keras.serialization import deserialize_keras_object, serialize_keras_object


@public("keras.initializers.serialize")
def serialize(initializer: Any) -> Any:
    """An initializer as data."""
    return serialize_keras_object(initializer)


@public("keras.initializers.deserialize")
def deserialize(config: Any, custom_objects: Any = None) -> Any:
    """The initializer that data stand for."""
    return deserialize_keras_object(config, _known(), custom_objects, "initializer")


@functools.cache
def _known() -> dict[str, Any]:
    public_names = api.objects("keras.initializers")
    # The classes' own names too, as their configs have them, and two that Keras has besides.
    own = {c.__name__: c for c in public_names.values() if inspect.isclass(c)}
    return {**public_names, **own, "one": own["Ones"], "zero": own["Zeros"]}


@public("keras.initializers.get")
def get(identifier: Any) -> Any:
    """An initializer by its name, its config, or itself; a class is called."""
    if identifier is None:
        return None
    if isinstance(identifier, dict):
        return deserialize(identifier)
    if isinstance(identifier, str):
        # A plain name stands for the initializer with all defaults.
        return deserialize({"class_name": identifier, "config": {}}) if _is_class(identifier) else _made(deserialize(identifier))
    if callable(identifier):
        return identifier() if inspect.isclass(identifier) else identifier
    raise ValueError(f"Could not interpret initializer identifier: {identifier}")


def _is_class(name: str) -> bool:
    return inspect.isclass(_known().get(name))


def _made(found: Any) -> Any:
    return found() if inspect.isfunction(found) and not inspect.signature(found).parameters.keys() & {"shape"} else found
