"""Logits of columns: of a network, and of a linear model."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.contrib.layers.feature_columns import FeatureColumn
from everflow.contrib.layers.feature_vectors import EmbeddingColumn
from everflow.contrib.learn.model_ops import ModeKeys

# Variables of columns are split into parts of no less than this.
COLUMN_SLICE = 64 << 20
_ACTIVATIONS = {"relu": tf.nn.relu, "tanh": tf.nn.tanh, "sigmoid": tf.nn.sigmoid}


def partitioner(parts: int, min_slice_size: int | None = None) -> Any:
    """Splits large variables among parameter servers."""
    if min_slice_size is None:
        return tf.min_max_variable_partitioner(max_partitions=parts)
    return tf.min_max_variable_partitioner(max_partitions=parts, min_slice_size=min_slice_size)


def activation(function: Any) -> Any:
    """A function, also by its name."""
    if not isinstance(function, str):
        return function
    if function not in _ACTIVATIONS:
        raise ValueError(f"Activation name should be one of [{', '.join(_ACTIVATIONS)}], you provided {function}.")
    return _ACTIVATIONS[function]


def _of_contrib(columns: Any) -> bool:
    return all(isinstance(column, FeatureColumn) for column in columns)


def write_activations(value: Any, tag: str, separator: str) -> None:
    """Summaries of what a layer gives."""
    tf.summary.scalar(f"{tag}{separator}fraction_of_zero_values", tf.nn.zero_fraction(value))
    tf.summary.histogram(f"{tag}{separator}activation", value)


def deep_logits(
    features: dict[str, Any],
    columns: Any,
    hidden_units: Any,
    activation_fn: Any,
    dropout: Any,
    units: int,
    mode: str,
    collection: str,
    input_partitioner: Any,
    separator: str,
) -> tuple[Any, str]:
    """The logits of a network in the scope around, and the scope of its input."""
    values = tuple(features.values())
    with tf.variable_scope("input_from_feature_columns", values=values, partitioner=input_partitioner) as input_scope:
        if _of_contrib(columns):
            net = tf.contrib.layers.input_from_feature_columns(
                columns_to_tensors=features, feature_columns=columns, weight_collections=[collection], scope=input_scope
            )
        else:
            net = tf.feature_column.input_layer(features=features, feature_columns=columns, weight_collections=[collection])
    for layer, size in enumerate(hidden_units):
        with tf.variable_scope(f"hiddenlayer_{layer}", values=(net,)) as scope:
            net = tf.contrib.layers.fully_connected(net, size, activation_fn=activation_fn, variables_collections=[collection], scope=scope)
            if dropout is not None and mode == ModeKeys.TRAIN:
                net = tf.contrib.layers.dropout(net, keep_prob=1.0 - dropout)
        write_activations(net, scope.name, separator)
    with tf.variable_scope("logits", values=(net,)) as scope:
        logits = tf.contrib.layers.fully_connected(net, units, activation_fn=None, variables_collections=[collection], scope=scope)
    write_activations(logits, scope.name, separator)
    return logits, input_scope.name


def linear_logits(features: dict[str, Any], columns: Any, units: int, collection: str, joint_weights: bool, scope: Any) -> Any:
    """The weighted sums of columns."""
    if not _of_contrib(columns):
        return tf.feature_column.linear_model(features=features, feature_columns=columns, units=units, weight_collections=[collection])
    layers = tf.contrib.layers
    summed = layers.joint_weighted_sum_from_feature_columns if joint_weights else layers.weighted_sum_from_feature_columns
    return summed(columns_to_tensors=features, feature_columns=columns, num_outputs=units, weight_collections=[collection], scope=scope)[0]


def embedding_multipliers(multipliers: Any, collection: str, input_scope: str) -> Any:
    """{variable: factor of its gradients} for the variables of embedding columns."""
    if not multipliers:
        return None
    found: dict[Any, Any] = {}
    for column, factor in multipliers.items():
        if not isinstance(column, EmbeddingColumn):
            raise ValueError(f"learning rate multipler can only be defined for embedding columns. It is defined for {column}")
        variables = tf.get_collection(collection, f"{input_scope}/{column.name}")
        if not variables:
            raise ValueError(f"Couldn't find a variable for column {column}")
        found.update({variable: factor for variable in variables})
    return found
