"""Layers as data and back: their class's name, and the arguments they were made with."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from everflow import api
from everflow.api import internal, public
from everflow.keras.serialization import deserialize_keras_object

_MODELS = ("Model", "Sequential")


# Layers without a public name that models hold.
_INTERNAL = {"TensorFlowOpLayer": "base_layer", "AddLoss": "base_layer", "AddMetric": "base_layer", "Network": "network"}

# What models of earlier versions call layers.
_FORMERLY = {"BatchNormalizationV1": "BatchNormalization", "BatchNormalizationV2": "BatchNormalization"}


class _Classes(Mapping[str, Any]):
    """The classes that configs name."""

    def __getitem__(self, name: str) -> Any:
        if name in _INTERNAL:
            return api.find(f"python.keras.engine.{_INTERNAL[name]}.{name}")
        full = f"keras.{name}" if name in _MODELS else f"keras.layers.{_FORMERLY.get(name, name)}"
        if not api.has(full):
            raise KeyError(name)
        return api.find(full)

    def __iter__(self) -> Iterator[str]:
        return iter(api.members("keras.layers") | set(_MODELS))

    def __len__(self) -> int:
        return len(list(iter(self)))


@public("keras.layers.serialize")
@internal("keras.layers.serialization.serialize")
def serialize(layer: Any) -> dict[str, Any]:
    """A layer as a dict."""
    return {"class_name": type(layer).__name__, "config": layer.get_config()}


@public("keras.layers.deserialize")
@internal("keras.layers.serialization.deserialize", "keras.layers.deserialize")
def deserialize(config: Any, custom_objects: Any = None) -> Any:
    """The layer that a dict describes."""
    return deserialize_keras_object(config, module_objects=_Classes(), custom_objects=custom_objects, printable_module_name="layer")
