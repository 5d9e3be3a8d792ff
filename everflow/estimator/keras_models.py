"""model_to_estimator: a compiled Keras model as an estimator."""

from __future__ import annotations

import os
import re
from typing import Any

import everflow as tf
from everflow.api import internal, public
from everflow.distribute.strategy_context import has_strategy
from everflow.eager.context import executing_eagerly, graph_mode
from everflow.estimator.estimator import Estimator, EstimatorV2, config_with_folder
from everflow.estimator.export_outputs import PredictOutput
from everflow.estimator.mode_keys import ModeKeys
from everflow.estimator.spec import EstimatorSpec
from everflow.keras.backend.learning_phase import set_learning_phase
from everflow.keras.backend.session import set_session, track_variable
from everflow.keras.cloning import can_be_cloned, clone_model, compile_like, made_anew, optimizer_configs
from everflow.keras.serialization import CustomObjectScope
from everflow.keras.training.arrays import standardize_sample_weights
from everflow.platform import logging
from everflow.saved_model.constants import DEFAULT_SERVING_SIGNATURE_DEF_KEY
from everflow.train.checkpoints.saver import Saver
from everflow.train.checkpoints.state import latest_checkpoint
from everflow.train.global_step import create_global_step, get_global_step, get_or_create_global_step
from everflow.train.scaffold import Scaffold
from everflow.train.tracking.graph_view import ObjectGraphView

_WEIGHTED = {"features", "sample_weights"}


def _in_order(given: Any, names: list[str], what: str, expected: str) -> Any:
    """Tensors in the order of a model's inputs or outputs."""
    if given is None:
        return None
    if not isinstance(given, dict):
        return [tf.convert_to_tensor_or_sparse_tensor(x) for x in (given if isinstance(given, (list, tuple)) else [given])]
    different = set(given) ^ set(names)
    if different:
        raise KeyError(
            f"The dictionary passed into {what} does not have the expected {expected} keys defined in the keras model."
            f"\n\tExpected keys: {set(names)}\n\t{what} keys: {set(given)}\n\tDifference: {different}"
        )
    return [tf.convert_to_tensor_or_sparse_tensor(given[name]) for name in names]


def _names(model: Any, kind: str, given: Any) -> list[str]:
    """What the inputs or outputs of a model are called; those of models with a `call` of their own are numbered."""
    if model._is_graph_network:
        return getattr(model, kind + "_names")
    return [f"{kind}_{i}" for i in range(1, len(given) + 1)] if isinstance(given, dict) else []


def _inputs_for(model: Any, features: Any) -> Any:
    if isinstance(model._input_structure, dict):
        return {key: tf.convert_to_tensor_or_sparse_tensor(features[key]) for key in model._input_structure}
    return _in_order(features, _names(model, "input", features), "features", "inputs")


def _clone(model: Any, inputs: Any, custom_objects: Any) -> Any:
    """A model like this one in the current graph, on these inputs."""
    if can_be_cloned(model):
        with CustomObjectScope(custom_objects or {}):
            made = clone_model(model, input_tensors=inputs)
        if not made.outputs and model.inputs:
            made._set_inputs(tf.keras.backend.placeholder(model.inputs[0].shape, dtype=model.inputs[0].dtype))
        return made
    made = made_anew(model)
    if inputs is not None:
        made._set_inputs(inputs[0] if isinstance(inputs, list) and len(inputs) == 1 else inputs)
    return made


def _clone_and_compile(
    mode: str, model: Any, custom_objects: Any, features: Any = None, labels: Any = None, weights: Any = None, configs: Any = None
) -> Any:
    """A model like this one on features, whose steps are the graph's; compiled, unless it only predicts."""
    set_learning_phase(int(mode == ModeKeys.TRAIN))
    clone = _clone(model, None if features is None else _inputs_for(model, features), custom_objects)
    if mode != ModeKeys.PREDICT:
        step = get_or_create_global_step()
        track_variable(step)
        targets = _in_order(labels, _names(model, "output", labels), "labels", "outputs")
        compile_like(model, clone, optimizer_configs(model) if configs is None else configs, step, targets)
        if weights is not None:
            clone._steps.weigh_by(standardize_sample_weights(weights, clone.output_names))
    return clone


@internal("estimator.keras._create_keras_model_fn")
def keras_model_fn(keras_model: Any, custom_objects: Any = None, save_object_ckpt: bool = False) -> Any:
    """The model function of a compiled Keras model."""
    # Values of rates are in the session that is the default now.
    configs = optimizer_configs(keras_model)

    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        weights = None
        if isinstance(features, dict) and set(features) == _WEIGHTED:
            features, weights = features["features"], features["sample_weights"]
        model = _clone_and_compile(mode, keras_model, custom_objects, features, labels, weights, configs)
        # Towers number the names of layers, and have to give the same ones.
        names = [re.sub(r"_\d$", "", name) for name in model.output_names] if has_strategy() else model.output_names
        predictions = dict(zip(names, model.outputs))
        loss, train_op, metrics = None, None, None
        if mode != ModeKeys.PREDICT:
            loss = model.total_loss
            if mode == ModeKeys.TRAIN:
                train_op = model._make_train_function().updates_op
            else:
                model._make_test_function()
            metrics = {m.name: m for e in model._training_endpoints for m in (*e.metrics.values(), *e.weighted_metrics.values())}
        return EstimatorSpec(
            mode=mode,
            predictions=predictions,
            loss=loss,
            train_op=train_op,
            eval_metric_ops=metrics,
            export_outputs={DEFAULT_SERVING_SIGNATURE_DEF_KEY: PredictOutput(predictions)},
            scaffold=_object_scaffold(model) if save_object_ckpt else None,
        )

    return model_fn


def _object_scaffold(model: Any) -> Any:
    """Saves variables under the names of the objects that hold them."""
    model._track_trackable(get_global_step(), "estimator_global_step")
    return Scaffold(saver=Saver(ObjectGraphView(model).frozen_saveable_objects(), sharded=True))


def _has_values(model: Any) -> bool:
    """Whether weights of the model have been initialized."""
    return executing_eagerly() or any(hasattr(weight, "_keras_initialized") for layer in model.layers for weight in layer.weights)


def _first_checkpoint(model: Any, custom_objects: Any, config: Any, save_object_ckpt: bool) -> str:
    """Where the weights that the estimator starts from are: those that the model has now, unless there are older ones."""
    folder = os.path.join(config.model_dir, "keras")
    found = latest_checkpoint(folder)
    if found:
        return found
    values = model.get_weights() if _has_values(model) else None
    configs = optimizer_configs(model)
    path = os.path.join(folder, "keras_model.ckpt")
    tf.gfile.MakeDirs(folder)
    with graph_mode(), tf.Graph().as_default():
        tf.set_random_seed(config.tf_random_seed)
        create_global_step()
        clone = _clone_and_compile(ModeKeys.TRAIN, model, custom_objects, configs=configs)
        clone._make_train_function()
        with tf.Session(config=config.session_config) as session:
            session.run(tf.global_variables_initializer())
            for variable, value in zip(clone.weights, values or ()):
                variable.load(value, session)
            if save_object_ckpt:
                clone._track_trackable(get_global_step(), "estimator_global_step")
                clone.save_weights(path)
            else:
                Saver().save(session, path)
    return path


@internal("estimator.keras.model_to_estimator")
def keras_estimator(
    keras_model: Any = None,
    keras_model_path: Any = None,
    custom_objects: dict[str, Any] | None = None,
    model_dir: str | None = None,
    config: Any = None,
    checkpoint_format: str | None = None,
    use_v2_estimator: bool = False,
) -> Any:
    """An estimator that trains a compiled Keras model, from the weights that it has now."""
    if not (keras_model or keras_model_path):
        raise ValueError("Either `keras_model` or `keras_model_path` needs to be provided.")
    if keras_model and keras_model_path:
        raise ValueError("Please specity either `keras_model` or `keras_model_path`, but not both.")
    config = config_with_folder(config, model_dir)
    if keras_model:
        logging.info("Using the Keras model provided.")
    else:
        logging.info("Loading models from %s", keras_model_path)
        keras_model = tf.keras.models.load_model(keras_model_path)
    if checkpoint_format not in (None, "checkpoint", "saver"):
        raise ValueError(f'Checkpoint format must be one of "checkpoint" or "saver". Got {checkpoint_format}')
    by_object = checkpoint_format != "saver"
    if by_object and not can_be_cloned(keras_model):
        raise ValueError("Object-based checkpoints are currently not supported with subclassed models.")
    if not getattr(keras_model, "optimizer", None):
        raise ValueError(
            "The given keras model has not been compiled yet. Please compile the model with `model.compile()` before calling "
            "`model_to_estimator()`."
        )
    model_fn = keras_model_fn(keras_model, custom_objects, by_object)
    if not _has_values(keras_model):
        set_session(tf.Session(config=config.session_config))
    elif config.session_config.HasField("gpu_options"):
        logging.warning(
            "The Keras backend session has already been set. The _session_config passed to model_to_estimator will not be used."
        )
    start = None
    if keras_model._is_graph_network:
        start = _first_checkpoint(keras_model, custom_objects, config, by_object)
    elif keras_model.built:
        logging.warning(
            "You are creating an Estimator from a Keras model manually subclassed from `Model`, that was already called on some "
            "inputs (and thus already had weights). We are currently unable to preserve the model's state (its weights) as part of "
            "the estimator in this case. Be warned that the estimator has been created using a freshly initialized version of your "
            "model.\nNote that this doesn't affect the state of the model instance you passed as `keras_model` argument."
        )
    return (EstimatorV2 if use_v2_estimator else Estimator)(model_fn, config=config, warm_start_from=start)


@public("keras.estimator.model_to_estimator")
@internal("keras.estimator.model_to_estimator")
def model_to_estimator(
    keras_model: Any = None,
    keras_model_path: Any = None,
    custom_objects: dict[str, Any] | None = None,
    model_dir: str | None = None,
    config: Any = None,
    checkpoint_format: str = "saver",
) -> Any:
    """An estimator that trains a compiled Keras model, from the weights that it has now."""
    return keras_estimator(keras_model, keras_model_path, custom_objects, model_dir, config, checkpoint_format)
