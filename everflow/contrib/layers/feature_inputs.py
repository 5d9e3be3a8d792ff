"""What models take in of feature columns: one matrix for networks, weighted sums for linear models, and sequences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import everflow as tf
from everflow.contrib.framework.variables import model_variable
from everflow.contrib.layers.column_protocol import Transformer, numbers_of_rank
from everflow.contrib.layers.feature_columns import (
    CrossedColumn,
    RealColumn,
    VarLenColumn,
    WeightedColumn,
    by_key,
    check_feature_columns,
    create_feature_spec_for_parsing,
    sequence_feature_spec,
)
from everflow.contrib.layers.feature_vectors import EmbeddingColumn, OneHotColumn, embedded, parts_of
from everflow.contrib.layers.publishing import layer
from everflow.graph.keys import GraphKeys
from everflow.train.checkpoints.initializing import init_from_checkpoint


def _checked(feature_columns: Any, features: Any) -> tuple[list[Any], Transformer]:
    check_feature_columns(feature_columns)
    return by_key(feature_columns), Transformer(features)


def _vectors(column: Any, features: Transformer, collections: list[Any], trainable: bool, output_rank: int = 2) -> Any:
    found = features.transform(column)
    try:
        lookup = column._deep_embedding_lookup_arguments(found)
    except NotImplementedError as no_lookup:
        try:
            return column._to_dnn_input_layer(found, collections, trainable, output_rank=output_rank)
        except ValueError as error:
            raise ValueError(f"Error creating input layer for column: {column.name}.\n{error}, {no_lookup}") from error
    return embedded(column, lookup, collections, trainable, output_rank=output_rank)


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
    _check_sequences(feature_columns)
    return _joined(columns_to_tensors, feature_columns, weight_collections, trainable, scope, "sequence_input_from_feature_columns", 3)


def _check_sequences(feature_columns: Any) -> None:
    for column in feature_columns:
        if not isinstance(column, (RealColumn, VarLenColumn, EmbeddingColumn, OneHotColumn)):
            raise ValueError(f"FeatureColumn type {type(column).__name__} is not currently supported for sequence data.")
        source = getattr(column, "sparse_id_column", None)
        if isinstance(source, CrossedColumn):
            raise ValueError(f"Column {source.name} is of type {type(source).__name__}, which is not currently supported for sequences.")


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
            column_to_variable[column] = weights
        bias = _bias(num_outputs, collections, trainable)
        return tf.nn.bias_add(tf.add_n(sums), bias), column_to_variable, bias


def _weighted(column: Any, features: Transformer, num_outputs: int, collections: list[Any], trainable: bool) -> tuple[Any, list[Any]]:
    found = features.transform(column)
    try:
        lookup = column._wide_embedding_lookup_arguments(found)
    except NotImplementedError:
        numbers = numbers_of_rank(column._to_dense_tensor(found), 2, column.name, op_name="ExpandDims")
        width = tf.dimension_value(numbers.shape[-1]) or column.dimension
        weights = _zeros("weight", [width, num_outputs], collections, trainable)
        return tf.matmul(numbers, weights, name="matmul"), parts_of(weights)
    except ValueError as error:
        raise ValueError(f"Error creating weighted sum for column: {column.name}.\n{error}") from error
    weights = _zeros("weights", [lookup.vocab_size, num_outputs], collections, trainable)
    if getattr(column, "ckpt_to_load_from", None) is not None:
        init_from_checkpoint(column.ckpt_to_load_from, {column.tensor_name_in_ckpt: weights})
    return _looked_up(weights, lookup, f"{column.name}_weights"), parts_of(weights)


def _looked_up(weights: Any, lookup: Any, name: str) -> Any:
    return tf.contrib.layers.safe_embedding_lookup_sparse(
        parts_of(weights), lookup.input_tensor, sparse_weights=lookup.weight_tensor, combiner=lookup.combiner, name=name
    )


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
) -> tuple[Any, list[Any], Any]:
    """(sums, weights, bias) of a linear model with the weights of all columns in one variable."""
    columns, features = _checked(feature_columns, columns_to_tensors)
    collections = list(weight_collections or [])
    with tf.variable_scope(
        scope, default_name="joint_weighted_sum_from_feature_columns", values=[v for v in columns_to_tensors.values() if v is not None]
    ):
        lookups = []
        for column in columns:
            found = features.transform(column)
            try:
                lookups.append((column, column._wide_embedding_lookup_arguments(found)))
            except NotImplementedError:
                raise NotImplementedError(
                    "Real-valued columns are not supported. Use weighted_sum_from_feature_columns instead, or bucketize these columns."
                ) from None
        instead = "Please use weighted_sum_from_feature_columns instead."
        assert not any(isinstance(column, WeightedColumn) for column in columns), (
            f"Joint sums for weighted sparse columns are not supported. {instead}"
        )
        assert all(lookup.combiner == "sum" for _, lookup in lookups), (
            f"Combiners other than sum are not supported for joint sums. {instead}"
        )
        with tf.variable_scope("linear_weights"):
            size = sum(lookup.vocab_size for _, lookup in lookups)
            weights = _zeros("weights", [size, num_outputs], collections, trainable)
        sums, start = [], 0
        for column, lookup in lookups:
            ids = lookup.input_tensor
            shifted = tf.SparseTensor(ids.indices, tf.where(ids.values >= 0, ids.values + start, ids.values), ids.dense_shape)
            sums.append(_looked_up(weights, lookup._replace(input_tensor=shifted), f"{column.name}_weights"))
            start += lookup.vocab_size
        bias = _bias(num_outputs, collections, trainable)
        return tf.nn.bias_add(tf.add_n(sums), bias), parts_of(weights), bias


@layer("transform_features")
def transform_features(features: Any, feature_columns: Any) -> dict[Any, Any]:
    """What each column makes of features, by column."""
    columns, found = _checked(feature_columns, features)
    return {column: found.transform(column) for column in columns}


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
    sequence = sequence_feature_spec(sequence_feature_columns or [])
    return tf.parse_single_sequence_example(serialized, context, sequence, example_name, name)


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
