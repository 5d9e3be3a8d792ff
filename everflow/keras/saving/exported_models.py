"""tf.keras.experimental.export_saved_model: graphs to train, to evaluate and to serve a model, beside its config."""

from __future__ import annotations

import json
import os
from typing import Any

import everflow as tf
from everflow import nest
from everflow.api import internal, public
from everflow.estimator.export_outputs import EvalOutput, PredictOutput, TrainOutput
from everflow.estimator.mode_keys import EXPORT_TAGS, ModeKeys
from everflow.keras.backend.learning_phase import learning_phase_scope
from everflow.keras.backend.session import track_variable
from everflow.keras.cloning import clone_model, compile_like, optimizer_configs
from everflow.keras.input_layer import Input
from everflow.keras.saving.configs import as_json, model_config, model_from_json
from everflow.keras.saving.model_calls import trace_model_call
from everflow.keras.sequential import Sequential
from everflow.keras.serialization import CustomObjectScope
from everflow.platform import logging
from everflow.saved_model import constants
from everflow.saved_model.builder import _SavedModelBuilder
from everflow.saved_model.object_saving import save
from everflow.saved_model.tensor_infos import get_or_create_assets_dir, get_or_create_variables_dir, get_variables_path
from everflow.train.checkpoints.saver import Saver
from everflow.train.global_step import create_global_step
from everflow.train.tracking.graph_view import ObjectGraphView

_CONFIG = "saved_model.json"


@public("keras.experimental.export_saved_model")
@internal("keras.saving.saved_model_experimental.export_saved_model")
def export_saved_model(
    model: Any,
    saved_model_path: Any,
    custom_objects: dict[str, Any] | None = None,
    as_text: bool = False,
    input_signature: Any = None,
    serving_only: bool = False,
) -> None:
    """Writes a model with its weights and its config.

    `serving_only`: only to be served, which is all that models with a `call` of their own can be.
    """
    path = os.fspath(saved_model_path)
    if serving_only:
        save(model, path, signatures=trace_model_call(model, input_signature))
    else:
        _export_graphs(model, path, custom_objects, as_text)
    try:
        described = json.dumps(model_config(model), default=as_json)
    except NotImplementedError:
        logging.warning("Skipped saving model JSON, subclassed model does not have get_config() defined.")
        return
    with open(os.path.join(get_or_create_assets_dir(path), _CONFIG), "w") as f:
        f.write(described)


@public("keras.experimental.load_from_saved_model")
@internal("keras.saving.saved_model_experimental.load_from_saved_model")
def load_from_saved_model(saved_model_path: Any, custom_objects: dict[str, Any] | None = None) -> Any:
    """The model that `export_saved_model` wrote, not compiled."""
    path = os.fspath(saved_model_path)
    with tf.gfile.Open(os.path.join(path, constants.ASSETS_DIRECTORY, _CONFIG)) as f:
        model = model_from_json(f.read(), custom_objects=custom_objects)
    model.load_weights(get_variables_path(path))
    return model


def _export_graphs(model: Any, path: str, custom_objects: dict[str, Any] | None, as_text: bool) -> None:
    if isinstance(model, Sequential):
        if not model.built:
            raise ValueError(
                "Weights for sequential model have not yet been created. Weights are created when the Model is first called "
                "on inputs or `build()` is called with an `input_shape`, or the first layer in the model has `input_shape` "
                "during construction."
            )
    elif not model._is_graph_network:
        raise NotImplementedError("Subclassed models can only be exported for serving. Please set argument serving_only=True.")
    builder = _SavedModelBuilder(path)
    get_or_create_variables_dir(path)
    weights = get_variables_path(path)
    model.save_weights(weights, save_format="tf", overwrite=True)
    # The graphs read the checkpoint that the model itself has written.
    builder._has_saved_variables = True
    modes = [ModeKeys.TRAIN, ModeKeys.EVAL, ModeKeys.PREDICT] if model.optimizer else [ModeKeys.PREDICT]
    # Its values are in the session that is the default now.
    config = optimizer_configs(model) if model.optimizer else None
    for mode in modes:
        with CustomObjectScope(custom_objects or {}):
            _add_graph(model, builder, mode, weights, config)
    builder.save(as_text)


def _add_graph(model: Any, builder: Any, mode: str, weights: str, optimizer_config: Any) -> None:
    with tf.Graph().as_default() as graph, tf.Session(graph=graph), learning_phase_scope(int(mode == ModeKeys.TRAIN)):
        clone = _clone(model)
        train_op = None
        if mode == ModeKeys.PREDICT:
            key, inputs = constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY, dict(zip(clone.input_names, clone.inputs))
            output: Any = PredictOutput(dict(zip(model.output_names, clone.outputs)))
        else:
            step = create_global_step()
            track_variable(step)
            compile_like(model, clone, optimizer_config, step)
            key, inputs, output = _supervised(model, clone, mode)
            if mode == ModeKeys.TRAIN:
                train_op = _train_op(clone)
        clone.load_weights(weights)
        if mode == ModeKeys.TRAIN:
            # An optimizer that has not run yet has its variables only now.
            clone.save_weights(weights, save_format="tf", overwrite=True)
        saver = Saver(ObjectGraphView(clone).frozen_saveable_objects(to_graph=graph))
        builder.add_meta_graph(
            list(EXPORT_TAGS[mode]),
            signature_def_map={key: output.as_signature_def(inputs)},
            saver=saver,
            init_op=tf.group(tf.local_variables_initializer(), tf.variables_initializer([v for m in clone.metrics for v in m.variables])),
            train_op=train_op,
        )


def _clone(model: Any) -> Any:
    """A model like another; what only knows its inputs from data is told them."""
    made = clone_model(model)
    if not made.inputs:
        place = lambda spec: Input(batch_shape=spec.shape, dtype=spec.dtype)
        made._set_inputs(nest.map_structure(place, model._saved_model_inputs_spec))
        made._note(input_names=list(model.input_names), output_names=list(model.output_names))
    return made


def _supervised(model: Any, clone: Any, mode: str) -> tuple[str, dict[str, Any], Any]:
    targets = {f"{name}_target": target for name, target in zip(model.output_names, clone._targets) if target is not None}
    metrics = {}
    for metric in clone.metrics:
        updated = tf.group(*metric._updates)
        with tf.control_dependencies([updated]):
            metrics[metric.name] = (tf.identity(metric.result()), updated)
    kind, key = (
        (TrainOutput, constants.DEFAULT_TRAIN_SIGNATURE_DEF_KEY)
        if mode == ModeKeys.TRAIN
        else (EvalOutput, constants.DEFAULT_EVAL_SIGNATURE_DEF_KEY)
    )
    output = kind(loss=clone.total_loss, predictions=dict(zip(model.output_names, clone.outputs)), metrics=metrics)
    return key, {**dict(zip(model.input_names, clone.inputs)), **targets}, output


def _train_op(clone: Any) -> Any:
    return clone._make_train_function().updates_op
