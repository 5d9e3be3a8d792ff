"""model_to_estimator: a compiled Keras model as an estimator."""

from __future__ import annotations

import os
import re
from typing import Any

import everflow as tf
from everflow import nest
from everflow.api import internal, public
from everflow.estimator.estimator import Estimator
from everflow.estimator.mode_keys import ModeKeys
from everflow.estimator.spec import EstimatorSpec
from everflow.estimator.warm_start_settings import WarmStartSettings
from everflow.keras.backend.learning_phase import set_learning_phase
from everflow.keras.cloning import clone_model
from everflow.keras.config import floatx
from everflow.keras.layer import Layer
from everflow.keras.model import Model
from everflow.keras.sequential import Sequential
from everflow.keras.training import compiling
from everflow.keras.training.arrays import generic_output_names
from everflow.platform import logging
from everflow.train.checkpoints.saver import Saver
from everflow.train.global_step import get_global_step


def _by_name(given: Any, names: list[str], what: str) -> list[Any]:
    """Tensors in the order of a model's inputs or outputs."""
    if not isinstance(given, dict):
        return list(given) if isinstance(given, (list, tuple)) else [given]
    missing = set(names) - set(given)
    if missing:
        raise KeyError(
            f"The dictionary passed into {what} does not have the expected {'inputs' if what == 'features' else 'outputs'} keys defined in "
            f"the keras model.\n\tExpected keys: {set(names)}\n\t{what} keys: {set(given)}\n\tDifference: {missing}"
        )
    return [given[name] for name in names]


def _as_floats(tensor: Any) -> Any:
    return tf.cast(tensor, floatx()) if tensor.dtype.is_integer or tensor.dtype.is_floating else tensor


def _on(model: Any, inputs: list[Any]) -> tuple[Any, list[str], list[Any]]:
    """A model like this one in the current graph, and the names and tensors of its outputs on these inputs."""
    inputs = inputs if len(inputs) > 1 else inputs[0]
    if not _can_be_cloned(model):
        made = _anew(model)
        outputs = nest.flatten(made(inputs))
        return made, generic_output_names(outputs), outputs
    made = clone_model(model, input_tensors=inputs)
    return made, list(made.output_names), list(made.outputs)


def _can_be_cloned(model: Any) -> bool:
    return model._is_graph_network or isinstance(model, Sequential)


def _anew(layer: Any) -> Any:
    """A layer or model like this one, with weights of its own; a model with its own `call` keeps its other attributes."""
    if not isinstance(layer, Model):
        return type(layer).from_config(layer.get_config())
    if _can_be_cloned(layer):
        return clone_model(layer)
    made = layer.__class__.__new__(layer.__class__)
    Model.__init__(made, name=layer.name)
    known = set(vars(made))
    for name, value in vars(layer).items():
        if name not in known and not name.startswith("_self_"):
            holds_layers = any(isinstance(item, Layer) for item in nest.flatten(value))
            setattr(
                made,
                name,
                nest.map_structure(lambda item: _anew(item) if isinstance(item, Layer) else item, value) if holds_layers else value,
            )
    return made


def _loss_of(model: Any, names: list[str], targets: list[Any], outputs: list[Any], penalties: list[Any]) -> tuple[Any, list[Any]]:
    """The total loss, and the functions that it is made of."""
    functions = compiling.prepare_loss_functions(model.loss, names)
    weights = model.loss_weights or [1.0] * len(names)
    if isinstance(weights, dict):
        weights = [weights.get(name, 1.0) for name in names]
    terms = [w * fn(y, out) for w, fn, y, out in zip(weights, functions, targets, outputs) if fn is not None]
    return tf.add_n([*terms, *penalties]), functions


def _metrics_of(model: Any, names: list[str], functions: list[Any], targets: list[Any], outputs: list[Any]) -> dict[str, Any]:
    found = {}
    asked = compiling.metrics_per_output(model._compile_metrics, names)
    for name, metrics, loss_fn, target, output in zip(names, asked, functions, targets, outputs):
        for metric in metrics:
            function = compiling.get_metric_function(metric, output.shape, loss_fn)
            label = compiling.get_metric_name(metric)
            values = function(target, output) if not hasattr(function, "_fn") else function._fn(target, output)
            found[label if len(names) == 1 else f"{name}_{label}"] = tf.metrics.mean(values, name=label)
    return found


def _train_op(model: Any, clone: Any, loss: Any) -> Any:
    inner = getattr(model.optimizer, "optimizer", None)
    if inner is not None:
        with tf.name_scope("training"):
            return tf.group(inner.minimize(loss, global_step=get_global_step()), *clone.updates)
    optimizer = type(model.optimizer).from_config(model.optimizer.get_config())
    optimizer.iterations = get_global_step()
    with tf.name_scope("training"):
        updates = optimizer.get_updates(loss, clone.trainable_weights)
    return tf.group(*updates, *clone.updates)


def _keras_model_fn(model: Any) -> Any:
    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        set_learning_phase(1 if mode == ModeKeys.TRAIN else 0)
        inputs = [_as_floats(t) for t in _by_name(features, model.input_names or [], "features")]
        clone, names, outputs = _on(model, inputs)
        predictions = dict(zip(names, outputs))
        if mode == ModeKeys.PREDICT:
            return EstimatorSpec(mode=mode, predictions=predictions)
        targets = [t if t.shape.ndims != 1 else tf.expand_dims(t, -1) for t in _by_name(labels, names, "labels")]
        loss, functions = _loss_of(model, names, targets, outputs, list(clone.losses))
        if mode == ModeKeys.EVAL:
            return EstimatorSpec(
                mode=mode, predictions=predictions, loss=loss, eval_metric_ops=_metrics_of(model, names, functions, targets, outputs)
            )
        return EstimatorSpec(mode=mode, predictions=predictions, loss=loss, train_op=_train_op(model, clone, loss))

    return model_fn


def _save_first_weights(model: Any, folder: str) -> Any:
    """Writes the model's weights as a checkpoint that estimators start from."""
    values = model.get_weights()
    path = os.path.join(folder, "keras", "keras_model.ckpt")
    tf.gfile.MakeDirs(os.path.dirname(path))
    with tf.Graph().as_default(), tf.Session() as session:
        clone = clone_model(model)
        for variable, value in zip(clone.weights, values):
            variable.load(value, session)
        names = [v.op.name for v in clone.weights]
        Saver(clone.weights).save(session, path)
    return WarmStartSettings(path, [re.escape(name) + ":0$" for name in names])


@public("keras.estimator.model_to_estimator")
@internal("keras.estimator.model_to_estimator", "estimator.keras.model_to_estimator")
def model_to_estimator(
    keras_model: Any = None,
    keras_model_path: Any = None,
    custom_objects: dict[str, Any] | None = None,
    model_dir: str | None = None,
    config: Any = None,
    checkpoint_format: str = "saver",
) -> Any:
    """An estimator that trains a compiled Keras model, from the weights that it has now."""
    if (keras_model is None) == (keras_model_path is None):
        raise ValueError(
            "Either `keras_model` or `keras_model_path` needs to be provided."
            if keras_model is None
            else "Please specity either `keras_model` or `keras_model_path`, but not both."
        )
    if checkpoint_format not in ("saver", "checkpoint", None):
        raise ValueError(f'Checkpoint format must be one of "checkpoint" or "saver", given: {checkpoint_format}')
    if keras_model is None:
        if keras_model_path.startswith(("gs://", "s3://")):
            raise ValueError(f"{keras_model_path} is not a local path. Please copy the model locally first.")
        logging.info("Loading models from %s", keras_model_path)
        keras_model = tf.keras.models.load_model(keras_model_path, custom_objects=custom_objects)
    else:
        logging.info("Using the Keras model provided.")
    if not getattr(keras_model, "optimizer", None):
        raise ValueError(
            "The given keras model has not been compiled yet. Please compile the model with `model.compile()` before calling "
            "`model_to_estimator()`."
        )
    estimator = Estimator(_keras_model_fn(keras_model), model_dir=model_dir, config=config)
    if keras_model._is_graph_network and not estimator.latest_checkpoint():
        estimator._warm_start_settings = _save_first_weights(keras_model, estimator.model_dir)
    return estimator
