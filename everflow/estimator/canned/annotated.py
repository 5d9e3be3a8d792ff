"""Deep estimators whose graphs say which tensors are features, for programs that attribute predictions to them."""

from __future__ import annotations

import pickle
from typing import Any

from google.protobuf import any_pb2

import everflow as tf
from everflow.api import internal, public
from everflow.estimator.canned.dnn import DNNClassifier, DNNRegressor, watching_input_layers
from everflow.estimator.estimator import Estimator
from everflow.feature_column.embedding import EmbeddingColumn
from everflow.losses.weighting import Reduction
from everflow.saved_model.tensor_infos import build_tensor_info

_MODULE = "contrib.estimator.python.estimator.dnn_with_layer_annotations"


@internal(f"{_MODULE}.LayerAnnotationsCollectionNames")
class LayerAnnotationsCollectionNames:
    """The collections that hold the annotations: names in `.../keys`, descriptions of tensors in `.../values`."""

    UNPROCESSED_FEATURES = "layer_annotations/unprocessed_features"
    PROCESSED_FEATURES = "layer_annotatons/processed_features"  # Spelled so in 1.15.
    FEATURE_COLUMNS = "layer_annotations/feature_columns"

    @classmethod
    def keys(cls, collection_name: str) -> str:
        """Where the names are."""
        return f"{collection_name}/keys"

    @classmethod
    def values(cls, collection_name: str) -> str:
        """Where the tensors are."""
        return f"{collection_name}/values"


def _note(collection: str, name: str, tensor: Any) -> None:
    described = any_pb2.Any()
    described.Pack(build_tensor_info(tensor))
    tf.add_to_collection(LayerAnnotationsCollectionNames.keys(collection), name)
    tf.add_to_collection(LayerAnnotationsCollectionNames.values(collection), described)


def _pickled(column: Any) -> bytes:
    # Functions inside of functions can't be pickled, and readers need no initializer or layer.
    if isinstance(column, EmbeddingColumn):
        column = column._replace(**{name: None for name in ("initializer", "layer_creator") if name in column._fields})
    return pickle.dumps(column)


def _annotate(features: Any, columns: Any, outputs: dict[Any, Any]) -> None:
    for key in tf.feature_column.make_parse_example_spec(columns):
        tensor = features[key] if isinstance(features[key], tf.SparseTensor) else tf.convert_to_tensor(features[key])
        _note(LayerAnnotationsCollectionNames.UNPROCESSED_FEATURES, key, tensor)
    for column in columns:
        tf.add_to_collection(LayerAnnotationsCollectionNames.FEATURE_COLUMNS, _pickled(column))
    for column, tensor in outputs.items():
        _note(LayerAnnotationsCollectionNames.PROCESSED_FEATURES, column.name, tensor)


def _annotated(original: Estimator, model_dir: Any, config: Any, warm_start_from: Any) -> Estimator:
    def model_fn(features: Any, labels: Any, mode: Any, config: Any) -> Any:
        with watching_input_layers(_annotate):
            return original.model_fn(features, labels, mode, config)

    return Estimator(model_fn, model_dir, config, warm_start_from=warm_start_from)


@public("contrib.estimator.DNNClassifierWithLayerAnnotations")
@internal(f"{_MODULE}.DNNClassifierWithLayerAnnotations")
def DNNClassifierWithLayerAnnotations(
    hidden_units: Any,
    feature_columns: Any,
    model_dir: Any = None,
    n_classes: int = 2,
    weight_column: Any = None,
    label_vocabulary: Any = None,
    optimizer: Any = "Adagrad",
    activation_fn: Any = tf.nn.relu,
    dropout: Any = None,
    input_layer_partitioner: Any = None,
    config: Any = None,
    warm_start_from: Any = None,
    loss_reduction: str = Reduction.SUM,
) -> Estimator:
    """A DNNClassifier, with its checkpoints, that notes its features in collections."""
    original = DNNClassifier(
        hidden_units=hidden_units,
        feature_columns=feature_columns,
        model_dir=model_dir,
        n_classes=n_classes,
        weight_column=weight_column,
        label_vocabulary=label_vocabulary,
        optimizer=optimizer,
        activation_fn=activation_fn,
        dropout=dropout,
        input_layer_partitioner=input_layer_partitioner,
        config=config,
        warm_start_from=warm_start_from,
        loss_reduction=loss_reduction,
    )
    return _annotated(original, model_dir, config, warm_start_from)


@public("contrib.estimator.DNNRegressorWithLayerAnnotations")
@internal(f"{_MODULE}.DNNRegressorWithLayerAnnotations")
def DNNRegressorWithLayerAnnotations(
    hidden_units: Any,
    feature_columns: Any,
    model_dir: Any = None,
    label_dimension: int = 1,
    weight_column: Any = None,
    optimizer: Any = "Adagrad",
    activation_fn: Any = tf.nn.relu,
    dropout: Any = None,
    input_layer_partitioner: Any = None,
    config: Any = None,
    warm_start_from: Any = None,
    loss_reduction: str = Reduction.SUM,
) -> Estimator:
    """A DNNRegressor, with its checkpoints, that notes its features in collections."""
    original = DNNRegressor(
        hidden_units=hidden_units,
        feature_columns=feature_columns,
        model_dir=model_dir,
        label_dimension=label_dimension,
        weight_column=weight_column,
        optimizer=optimizer,
        activation_fn=activation_fn,
        dropout=dropout,
        input_layer_partitioner=input_layer_partitioner,
        config=config,
        warm_start_from=warm_start_from,
        loss_reduction=loss_reduction,
    )
    return _annotated(original, model_dir, config, warm_start_from)
