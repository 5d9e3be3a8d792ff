"""What models take in of feature columns: one matrix for networks, weighted sums for linear models, and sequences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import everflow as tf
from everflow.contrib.framework.variables import model_variable
from everflow.contrib.layers.feature_columns import (
    BucketizedColumn,
    RealColumn,
    Transformed,
    by_key,
    check_feature_columns,
    create_feature_spec_for_parsing,
)
from everflow.contrib.layers.feature_vectors import EmbeddingColumn, OneHotColumn, looked_up
from everflow.contrib.layers.publishing import layer
from everflow.contrib.layers.scattered_embeddings import ScatteredEmbeddingColumn
from everflow.graph import dtypes
from everflow.graph.keys import GraphKeys
from everflow.train.checkpoints.initializing import init_from_checkpoint


def _checked(feature_columns: Any, features: Any) -> tuple[list[Any], Transformed]:
    columns = list(feature_columns)
    check_feature_columns(columns)
    return by_key(columns), Transformed(features)


def _vectors(column: Any, features: Transformed, collections: list[Any], trainable: bool, output_rank: int = 2) -> Any:
    if isinstance(column, RealColumn):
        if output_rank == 2:
            return column.matrix(features)
        found = features.raw(column.column_name)
        found = column.normalizer(found) if column.normalizer is not None else found
        return tf.cast(tf.expand_dims(found, -1) if found.get_shape().ndims == 2 else found, dtypes.float32)
    if isinstance(column, BucketizedColumn):
        hot = tf.one_hot(features.of(column), depth=column.length, on_value=1.0, off_value=0.0, name="one_hot")
        return tf.reshape(hot, [-1, column.length * column.source_column.dimension], name="reshape")
    if isinstance(column, (EmbeddingColumn, OneHotColumn, ScatteredEmbeddingColumn)):
        return column.vectors(features, collections, trainable)
    raise ValueError(
        f"Error creating input layer for column: {column.name}.\n{type(column).__name__} is not supported in DNN. Please use "
        f"embedding_column or one_hot_column. column: {column}"
    )


def _joined(
    columns_to_tensors: Any,
    feature_columns: Any,
    weight_collections: Sequence[str] | None,
    trainable: bool,
    scope: Any,
    default_scope: str,
    output_rank: int,
    cols_to_outs: Any = None,
) -> Any:
    if cols_to_outs is not None and not isinstance(cols_to_outs, dict):
        raise ValueError("cols_to_outs must be a dict unless None")
    columns, features = _checked(feature_columns, columns_to_tensors)
    collections = list(weight_collections or [])
    outputs = []
    with tf.variable_scope(scope, default_name=default_scope, values=[v for v in columns_to_tensors.values() if v is not None]):
        for column in columns:
            with tf.variable_scope(column.name):
                found = _vectors(column, features, collections, trainable, output_rank)
            outputs.append(found)
            if cols_to_outs is not None:
                cols_to_outs[column] = found
        return tf.concat(outputs, output_rank - 1)


@layer("input_from_feature_columns")
def input_from_feature_columns(
    columns_to_tensors: Any,
    feature_columns: Any,
    weight_collections: Sequence[str] | None = None,
    trainable: bool = True,
    scope: Any = None,
    cols_to_outs: Any = None,
) -> Any:
    """What columns make of features, side by side: the input of a network."""
    return _joined(columns_to_tensors, feature_columns, weight_collections, trainable, scope, "input_from_feature_columns", 2, cols_to_outs)


@layer("sequence_input_from_feature_columns")
def sequence_input_from_feature_columns(
    columns_to_tensors: Any,
    feature_columns: Any,
    weight_collections: Sequence[str] | None = None,
    trainable: bool = True,
    scope: Any = None,
) -> Any:
    """What columns make of sequences, [batch, steps, numbers]."""
    for column in feature_columns:
        if not isinstance(column, (RealColumn, EmbeddingColumn, OneHotColumn)):
            raise ValueError(f"FeatureColumn type {type(column)} is not currently supported for sequence data.")
    return _joined(columns_to_tensors, feature_columns, weight_collections, trainable, scope, "sequence_input_from_feature_columns", 3)


def _bias(num_outputs: int, collections: list[Any], trainable: bool) -> Any:
    found = model_variable(
        "bias_weight",
        shape=[num_outputs],
        initializer=tf.zeros_initializer(),
        trainable=trainable,
        collections=[GraphKeys.GLOBAL_VARIABLES, *collections],
    )
    tf.add_to_collection(GraphKeys.BIASES, found)
    return found


@layer("weighted_sum_from_feature_columns")
def weighted_sum_from_feature_columns(
    columns_to_tensors: Any,
    feature_columns: Any,
    num_outputs: int,
    weight_collections: Sequence[str] | None = None,
    trainable: bool = True,
    scope: Any = None,
) -> tuple[Any, dict[Any, list[Any]], Any]:
    """(sums, {column: its weights}, bias) of a linear model."""
    columns, features = _checked(feature_columns, columns_to_tensors)
    collections = list(weight_collections or [])
    column_to_variable: dict[Any, list[Any]] = {}
    sums = []
    with tf.variable_scope(
        scope, default_name="weighted_sum_from_feature_columns", values=[v for v in columns_to_tensors.values() if v is not None]
    ):
        for column in columns:
            with tf.variable_scope(column.name):
                found, weights = _weighted(column, features, num_outputs, collections, trainable)
            sums.append(tf.reshape(found, [-1, num_outputs]))
            column_to_variable[column] = [weights]
        bias = _bias(num_outputs, collections, trainable)
        return tf.nn.bias_add(tf.add_n(sums), bias), column_to_variable, bias


def _weighted(column: Any, features: Transformed, num_outputs: int, collections: list[Any], trainable: bool) -> tuple[Any, Any]:
    if isinstance(column, (EmbeddingColumn, OneHotColumn, ScatteredEmbeddingColumn)):
        raise ValueError(
            f"Error creating weighted sum for column: {column.name}.\n{type(column).__name__} is not supported in linear "
            f"models. Please use sparse columns. column: {column}"
        )
    if isinstance(column, RealColumn):
        numbers = column.matrix(features, name="ExpandDims")
        weights = _zeros("weight", [column.dimension, num_outputs], collections, trainable)
        return tf.matmul(numbers, weights, name="matmul"), weights
    ids = column.ids(features)
    weights = _zeros("weights", [ids.size, num_outputs], collections, trainable)
    if getattr(column, "ckpt_to_load_from", None) is not None:
        init_from_checkpoint(column.ckpt_to_load_from, {column.tensor_name_in_ckpt: weights})
    return looked_up(weights, ids, ids.combiner), weights


def _zeros(name: str, shape: list[int], collections: list[Any], trainable: bool) -> Any:
    return model_variable(
        name, shape=shape, initializer=tf.zeros_initializer(), trainable=trainable, collections=[GraphKeys.GLOBAL_VARIABLES, *collections]
    )


@layer("joint_weighted_sum_from_feature_columns")
def joint_weighted_sum_from_feature_columns(
    columns_to_tensors: Any,
    feature_columns: Any,
    num_outputs: int,
    weight_collections: Sequence[str] | None = None,
    trainable: bool = True,
    scope: Any = None,
) -> tuple[Any, dict[Any, list[Any]], Any]:
    """The same with the weights of all columns in one variable."""
    columns, features = _checked(feature_columns, columns_to_tensors)
    collections = list(weight_collections or [])
    with tf.variable_scope(
        scope, default_name="joint_weighted_sum_from_feature_columns", values=[v for v in columns_to_tensors.values() if v is not None]
    ):
        found = []
        for column in columns:
            if isinstance(column, RealColumn):
                raise NotImplementedError(
                    "Real-valued columns are not supported. Use weighted_sum_from_feature_columns instead, or bucketize these columns."
                )
            found.append(column.ids(features))
        weights = _zeros("weights", [sum(ids.size for ids in found), num_outputs], collections, trainable)
        sums, start = [], 0
        for ids in found:
            shifted = tf.SparseTensor(
                ids.ids.indices, tf.where(ids.ids.values >= 0, ids.ids.values + start, ids.ids.values), ids.ids.dense_shape
            )
            sums.append(looked_up(weights, ids._replace(ids=shifted), "sum"))
            start += ids.size
        bias = _bias(num_outputs, collections, trainable)
        return tf.nn.bias_add(tf.add_n(sums), bias), {column: [weights] for column in columns}, bias


@layer("transform_features")
def transform_features(features: Any, feature_columns: Any) -> dict[Any, Any]:
    """What each column makes of features, by column."""
    columns, found = _checked(feature_columns, features)
    return {column: found.of(column) for column in columns}


@layer("parse_feature_columns_from_examples")
def parse_feature_columns_from_examples(
    serialized: Any, feature_columns: Any, name: str | None = None, example_names: Any = None
) -> dict[Any, Any]:
    """Parses examples and transforms their features."""
    check_feature_columns(feature_columns)
    features = tf.parse_example(
        serialized=serialized, features=create_feature_spec_for_parsing(feature_columns), name=name, example_names=example_names
    )
    return {**features, **transform_features(features, feature_columns)}


@layer("parse_feature_columns_from_sequence_examples")
def parse_feature_columns_from_sequence_examples(
    serialized: Any, context_feature_columns: Any, sequence_feature_columns: Any, name: str | None = None, example_name: Any = None
) -> tuple[Any, Any]:
    """Parses one sequence example: (context, sequences)."""
    context = create_feature_spec_for_parsing(context_feature_columns or [])
    sequence = {key: _of_a_step(value) for key, value in create_feature_spec_for_parsing(sequence_feature_columns or []).items()}
    return tf.parse_single_sequence_example(serialized, context, sequence, example_name, name)


def _of_a_step(spec: Any) -> Any:
    if isinstance(spec, tf.FixedLenFeature):
        return tf.FixedLenSequenceFeature(shape=spec.shape, dtype=spec.dtype)
    return spec


@layer("make_place_holder_tensors_for_base_features")
def make_place_holder_tensors_for_base_features(feature_columns: Any) -> dict[str, Any]:
    """Placeholders of the features that columns are made of."""
    found = {}
    for name, spec in create_feature_spec_for_parsing(feature_columns).items():
        if isinstance(spec, tf.VarLenFeature):
            found[name] = tf.sparse_placeholder(dtype=spec.dtype, shape=[None, None], name=f"Placeholder_{name}")
        else:
            found[name] = tf.placeholder(dtype=spec.dtype, shape=[None, *spec.shape], name=f"Placeholder_{name}")
    return found
