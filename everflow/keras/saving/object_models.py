"""load_model for SavedModels: Keras's objects come back as layers and models."""

from __future__ import annotations

import json
import os
from typing import Any

from everflow.api import internal
from everflow.errors import data_loss
from everflow.keras.saving.files import ask_to_proceed_with_overwrite
from everflow.keras.saving.revived import RevivedLayer, RevivedModel, RevivedNetwork, RevivedSequential
from everflow.keras.saving.training_config import compile_arguments
from everflow.platform import logging
from everflow.saved_model.object_loading import Loader, load_with
from everflow.saved_model.object_saving import save as save_object

_KINDS: dict[str, type[RevivedLayer]] = {
    "_tf_keras_layer": RevivedLayer,
    "_tf_keras_network": RevivedNetwork,
    "_tf_keras_model": RevivedModel,
    "_tf_keras_sequential": RevivedSequential,
}


@internal("keras.saving.saved_model.load.KerasObjectLoader")
class KerasLoader(Loader):
    """Makes layers and models of the objects that were some."""

    def _recreate(self, proto: Any) -> tuple[Any, Any]:
        if proto.WhichOneof("kind") == "user_object" and proto.user_object.identifier in _KINDS:
            kind = _KINDS[proto.user_object.identifier]
            return kind.from_metadata(self._metadata(proto.user_object.metadata)), RevivedLayer.hang_on
        return super()._recreate(proto)

    def _metadata(self, text: str) -> dict[str, Any]:
        try:
            found = json.loads(text)
        except ValueError:
            found = None
        if not isinstance(found, dict) or not isinstance(found.get("class_name"), str) or not isinstance(found.get("name"), str):
            raise data_loss(f"The SavedModel in {self._folder} describes a layer in a way that can't be read: {text[:80]!r}")
        return found

    def _finish(self) -> None:
        # Models are connected when the layers in them can be called.
        layers = [node for node in self._nodes if isinstance(node, RevivedLayer)]
        done: set[int] = set()

        def settle(layer: RevivedLayer) -> None:
            if id(layer) in done:
                return
            done.add(id(layer))
            for inner in layer.held():
                settle(inner)
            layer.settle()

        for layer in layers:
            settle(layer)


@internal("keras.saving.saved_model.load.load")
def load(path: Any, compile: bool = True) -> Any:
    """The layer or model that a SavedModel holds, compiled as it was."""
    model = load_with(KerasLoader, path, None)
    if isinstance(model, RevivedModel) and compile:
        config = model._metadata.get("training_config")
        if config is not None:
            model.compile(**compile_arguments(config))
        else:
            logging.warning("No training configuration found in save file, so the model was *not* compiled. Compile it manually.")
    return model


@internal("keras.saving.saved_model.save.save")
def save(model: Any, filepath: str, overwrite: bool, include_optimizer: bool, signatures: Any = None) -> None:
    """Writes a model as a SavedModel, with its optimizer or without."""
    if not overwrite and os.path.exists(filepath) and not ask_to_proceed_with_overwrite(filepath):
        return
    optimizer = model.optimizer
    if not include_optimizer:
        model.optimizer = None
    try:
        save_object(model, filepath, signatures)
    finally:
        if not include_optimizer:
            model.optimizer = optimizer
