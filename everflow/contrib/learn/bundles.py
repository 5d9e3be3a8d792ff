"""Estimators of tf.contrib.learn written as session bundles, with the signatures of old."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.contrib.learn.publishing import learn
from everflow.contrib.session_bundle import versions
from everflow.contrib.session_bundle.exporting import Exporter, classification_signature, generic_signature, regression_signature
from everflow.platform import logging
from everflow.train.checkpoints import management
from everflow.train.checkpoints.saver import Saver
from everflow.train.global_step import create_global_step, get_global_step

_MODULE = "utils.export"


def _needs_examples(examples: Any) -> None:
    if examples is None:
        raise ValueError("examples cannot be None when using this signature fn.")


def _part(predictions: Any, key: str) -> Any:
    return predictions[key] if isinstance(predictions, dict) else predictions


@learn(_MODULE, "generic_signature_fn")
def generic_signature_fn(examples: Any, unused_features: Any, predictions: Any) -> tuple[Any, dict[str, Any]]:
    """From examples to all predictions."""
    _needs_examples(examples)
    outputs = predictions if isinstance(predictions, dict) else {"outputs": predictions}
    return generic_signature({"inputs": examples, **outputs}), {}


@learn(_MODULE, "classification_signature_fn")
def classification_signature_fn(examples: Any, unused_features: Any, predictions: Any) -> tuple[Any, dict[str, Any]]:
    """From examples to classes."""
    _needs_examples(examples)
    return classification_signature(examples, classes_tensor=_part(predictions, "classes")), {}


@learn(_MODULE, "classification_signature_fn_with_prob")
def classification_signature_fn_with_prob(examples: Any, unused_features: Any, predictions: Any) -> tuple[Any, dict[str, Any]]:
    """From examples to the probabilities of classes."""
    _needs_examples(examples)
    return classification_signature(examples, scores_tensor=_part(predictions, "probabilities")), {}


@learn(_MODULE, "regression_signature_fn")
def regression_signature_fn(examples: Any, unused_features: Any, predictions: Any) -> tuple[Any, dict[str, Any]]:
    """From examples to numbers."""
    _needs_examples(examples)
    return regression_signature(input_tensor=examples, output_tensor=predictions), {}


@learn(_MODULE, "logistic_regression_signature_fn")
def logistic_regression_signature_fn(examples: Any, unused_features: Any, predictions: Any) -> tuple[Any, dict[str, Any]]:
    """From examples to the probability of the second of two classes."""
    _needs_examples(examples)
    probabilities = _part(predictions, "probabilities")
    shape = probabilities.get_shape()
    if len(shape) != 2:
        logging.fatal(f"Expected predictions to have rank 2, but received predictions with rank: {len(shape)} and shape: {shape}")
    if shape[1] != 2:
        logging.fatal(
            f"Expected predictions to have 2nd dimension: 2, but received predictions with 2nd dimension: {shape[1]} and shape: {shape}. "
            "Did you mean to use regression_signature_fn or classification_signature_fn_with_prob instead?"
        )
    return regression_signature(input_tensor=examples, output_tensor=probabilities[:, 1]), {}


@learn(_MODULE, "_default_input_fn")
def default_input_fn(estimator: Any, examples: Any) -> Any:
    """The features that the estimator was trained with, parsed from examples."""
    return estimator._get_feature_ops_from_example(examples)


@learn(_MODULE, "export_estimator")
def export_estimator(
    estimator: Any,
    export_dir: Any,
    signature_fn: Any = None,
    input_fn: Any = default_input_fn,
    default_batch_size: Any = 1,
    exports_to_keep: Any = None,
) -> None:
    """Writes the latest checkpoint of an estimator as a session bundle."""
    export_bundle(estimator, export_dir, signature_fn, input_fn, default_batch_size, exports_to_keep)


@learn(_MODULE, "_export_estimator")
def export_bundle(
    estimator: Any,
    export_dir: Any,
    signature_fn: Any,
    input_fn: Any,
    default_batch_size: Any,
    exports_to_keep: Any,
    input_feature_key: Any = None,
    use_deprecated_input_fn: bool = True,
    prediction_key: Any = None,
    checkpoint_path: Any = None,
) -> Any:
    """Writes a checkpoint of an estimator as a session bundle, and gives its path."""
    if use_deprecated_input_fn:
        input_fn = input_fn or default_input_fn
    elif input_fn is None:
        raise ValueError("input_fn must be defined.")
    checkpoint_path = checkpoint_path or management.latest_checkpoint(estimator._model_dir)
    with tf.Graph().as_default() as graph:
        create_global_step(graph)
        examples, features = None, None
        if use_deprecated_input_fn:
            examples = tf.placeholder(dtype=tf.string, shape=[default_batch_size], name="input_example_tensor")
            features = input_fn(estimator, examples)
        else:
            features, _ = input_fn()
            if input_feature_key is not None:
                examples = features.pop(input_feature_key)
        if examples is None and not features:
            raise ValueError("Either features or examples must be defined.")
        predictions = estimator._get_predict_ops(features).predictions
        if prediction_key is not None:
            predictions = predictions[prediction_key]
        default, named = _signatures(estimator, signature_fn)(examples, features, predictions)
        saver = Saver()
        tf.add_to_collection(tf.GraphKeys.SAVERS, saver)
        with tf.Session("") as session:
            saver.restore(session, checkpoint_path)
            export = Exporter(saver)
            export.init(
                init_op=tf.group(tf.local_variables_initializer(), tf.tables_initializer()),
                default_graph_signature=default,
                named_graph_signatures=named,
                assets_collection=tf.get_collection(tf.GraphKeys.ASSET_FILEPATHS),
            )
            kept = None if exports_to_keep is None else versions.largest_export_versions(exports_to_keep)
            return export.export(export_dir, get_global_step(), session, exports_to_keep=kept)


def _signatures(estimator: Any, signature_fn: Any) -> Any:
    if signature_fn:
        return signature_fn
    if hasattr(estimator, "_create_signature_fn"):
        return estimator._create_signature_fn()
    logging.warning(
        "Change warning: `signature_fn` will be required after2016-08-01.\nUsing generic signatures for now.  To maintain this behavior, "
        "pass:\n  signature_fn=export.generic_signature_fn\nAlso consider passing a regression or classification signature; see "
        "cl/126430915 for an example."
    )
    return generic_signature_fn
