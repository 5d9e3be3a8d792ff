"""What exported time series models take: tensors as they are, or Examples."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow import nest
from everflow.contrib.timeseries.feature_keys import TrainEvalFeatures
from everflow.contrib.timeseries.heads import state_to_dictionary
from everflow.contrib.timeseries.model import TimeSeriesModel, parsed_columns
from everflow.estimator.receivers import ServingInputReceiver
from everflow.graph.constants import constant_value

TIMES, VALUES = TrainEvalFeatures.TIMES, TrainEvalFeatures.VALUES


def state_placeholders(model: TimeSeriesModel, batch_size_tensor: Any, static_batch_size: int | None = None) -> dict[str, Any]:
    """Placeholders for the tensors of a state, which are zeros unless they are fed."""
    with tf.Graph().as_default():
        model.initialize_graph()
        zeros = nest.map_structure(lambda tensor: constant_value(tf.zeros_like(tensor)), model.get_start_state())
    placeholders = {}
    for name, state in state_to_dictionary(zeros).items():
        multiples = tf.concat([batch_size_tensor[None], tf.ones(len(state.shape), dtype=tf.int32)], axis=0)
        default = tf.tile(state[None, ...], multiples=multiples)
        shape = tf.TensorShape((static_batch_size,)).concatenate(state.shape)
        placeholders[name] = tf.placeholder_with_default(input=default, name=name, shape=shape)
    return placeholders


def raw_receiver(model: TimeSeriesModel, batch_size: int | None, series_length: int | None) -> ServingInputReceiver:
    """Placeholders for times, values, what feature columns read, and a state."""
    times = tf.placeholder(name=TIMES, dtype=tf.int64, shape=[batch_size, series_length])
    none = tf.zeros(shape=[batch_size or 0, series_length or 0, model.num_features], dtype=model.dtype)
    values = tf.placeholder_with_default(name=VALUES, input=none, shape=(batch_size, series_length, model.num_features))
    placeholders = {TIMES: times, VALUES: values}
    if model.exogenous_feature_columns:
        with tf.Graph().as_default():
            parsed = parsed_columns(model.exogenous_feature_columns)
            kinds = {key: (value.get_shape().with_rank_at_least(1).as_list(), value.dtype) for key, value in parsed.items()}
        for key, (shape, dtype) in kinds.items():
            placeholders[key] = tf.placeholder(dtype=dtype, name=key, shape=[batch_size, series_length, *shape[1:]])
    placeholders.update(state_placeholders(model, tf.shape(times)[0], static_batch_size=batch_size))
    return ServingInputReceiver(placeholders, placeholders)


def _sequence_spec(spec: Any, key: str, length: int, values_length: int) -> Any:
    """How to read a feature that has a value for each time."""
    if isinstance(spec, tf.FixedLenFeature):
        return spec._replace(shape=(values_length if key == VALUES else length, *spec.shape))
    if spec.dtype == tf.string:
        return tf.FixedLenFeature(shape=(length,), dtype=tf.string)
    raise ValueError(f"VarLenFeatures not supported, got {spec} for key {key}")


def parsing_receiver(
    model: TimeSeriesModel, filtering_length: int, prediction_length: int, batch_size: int | None, values_dtype: Any, truncate_values: bool
) -> ServingInputReceiver:
    """Examples with the values to filter and the times to filter and to predict."""
    length = filtering_length + prediction_length
    times_column = tf.feature_column.numeric_column(key=TIMES, dtype=tf.int64)
    values_column = tf.feature_column.numeric_column(key=VALUES, dtype=values_dtype or tf.float32, shape=(model.num_features,))
    specs = tf.feature_column.make_parse_example_spec([*model.exogenous_feature_columns, times_column, values_column])
    values_length = length if truncate_values else filtering_length
    specs = {key: _sequence_spec(spec, key, length, values_length) for key, spec in specs.items()}
    examples = tf.placeholder(shape=[batch_size], dtype=tf.string, name="input")
    features = tf.parse_example(serialized=examples, features=specs)
    features[TIMES] = tf.squeeze(features[TIMES], axis=-1)
    features[VALUES] = tf.cast(features[VALUES], dtype=model.dtype)[:, :filtering_length]
    features.update(state_placeholders(model, tf.shape(features[TIMES])[0], static_batch_size=batch_size))
    return ServingInputReceiver(features, {"examples": examples})
