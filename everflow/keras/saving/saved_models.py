"""Models as SavedModels, beside their config."""
from __future__ import annotations

import json
import os
from typing import Any

import everflow as tf
from everflow.api import public
from everflow.eager.context import executing_eagerly
from everflow.keras.backend.learning_phase import learning_phase_scope
from everflow.keras.backend.session import get_session
from everflow.keras.saving.configs import as_json, model_config, model_from_json

_CONFIG = "saved_model.json"


@public("keras.experimental.export_saved_model")
def export_saved_model(model: Any, saved_model_path: str, custom_objects: Any = None, as_text: bool = False, input_signature: Any = None,
                       serving_only: bool = False) -> None:
    """Writes a model as a SavedModel for serving, with its weights and its config."""
    assets = os.path.join(saved_model_path, "assets")
    with tf.Graph().as_default() if executing_eagerly() else _nothing():
        builder = tf.saved_model.Builder(saved_model_path)
        _add_serving(model, builder, custom_objects, input_signature)
        builder.save(as_text)
    variables = os.path.join(saved_model_path, "variables", "variables")
    os.makedirs(os.path.dirname(variables), exist_ok=True)
    model.save_weights(variables, save_format="tf", overwrite=True)
    if model._is_graph_network or type(model).__name__ == "Sequential":
        os.makedirs(assets, exist_ok=True)
        with open(os.path.join(assets, _CONFIG), "w") as f:
            json.dump(model_config(model), f, default=as_json)


def _nothing() -> Any:
    import contextlib

    return contextlib.nullcontext()


def _add_serving(model: Any, builder: Any, custom_objects: Any, input_signature: Any) -> None:
    """The graph of inference in a graph of its own, with the weights of the model."""
    from everflow.keras.cloning import clone_model

    values = model.get_weights()
    with tf.Graph().as_default(), tf.Session() as session:
        with learning_phase_scope(0):
            again = clone_model(model)
        session.run(tf.global_variables_initializer())
        again.set_weights(values)
        inputs = {n: t for n, t in zip(again.input_names, again.inputs)}
        outputs = {n: t for n, t in zip(again.output_names, again.outputs)}
        signature = tf.saved_model.predict_signature_def(inputs, outputs)
        builder.add_meta_graph_and_variables(
            session, [tf.saved_model.tag_constants.SERVING],
            signature_def_map={tf.saved_model.signature_constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY: signature})


@public("keras.experimental.load_from_saved_model")
def load_from_saved_model(saved_model_path: str, custom_objects: Any = None) -> Any:
    """The model that `export_saved_model` wrote."""
    with open(os.path.join(saved_model_path, "assets", _CONFIG)) as f:
        model = model_from_json(f.read(), custom_objects=custom_objects)
    model.load_weights(os.path.join(saved_model_path, "variables", "variables"))
    return model


def save(model: Any, path: str, overwrite: bool, include_optimizer: bool, signatures: Any) -> None:
    """Writes a model through tf.saved_model.save."""
    from everflow.api import find
    from everflow.keras.saving.files import should_overwrite

    if not overwrite and os.path.exists(path) and not should_overwrite(path):
        return
    find("saved_model.save")(model, path, signatures)


def load(path: str, custom_objects: Any, compile: bool) -> Any:
    """A model that a SavedModel holds."""
    if os.path.exists(os.path.join(path, "assets", _CONFIG)):
        return load_from_saved_model(path, custom_objects)
    from everflow.api import find

    if not executing_eagerly():
        get_session()
    return find("saved_model.load_v2")(path) if _has_v2() else find("saved_model.load")(path)


def _has_v2() -> bool:
    from everflow.api import has

    return has("saved_model.load_v2")
