"""How a TPUEstimator is told of its embeddings; errors as in TensorFlow 1.15.5."""

import pytest

import everflow as tf

Spec = tf.estimator.tpu.experimental.EmbeddingConfigSpec


def columns():
    ids = tf.feature_column.categorical_column_with_identity("x", 4)
    return [tf.tpu.experimental.embedding_column(ids, 3), tf.feature_column.numeric_column("y")]


def test_specs_hold_columns_and_how_they_are_trained():
    parameters = tf.tpu.experimental.AdagradParameters(0.1)
    made = columns()
    spec = Spec(feature_columns=made, optimization_parameters=parameters, clipping_limit=2.0, partition_strategy="mod")
    assert spec == (made, parameters, 2.0, False, None, None, None, "mod")
    assert (spec.feature_columns, spec.optimization_parameters, spec.partition_strategy) == (made, parameters, "mod")
    assert Spec._fields[:3] == ("feature_columns", "optimization_parameters", "clipping_limit")


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({}, ValueError, "Exactly one of `feature_columns` and the pair"),
        ({"feature_columns": []}, ValueError, "Exactly one of `feature_columns` and the pair"),
        ({"table_to_config_dict": {"a": 1}}, ValueError, "Exactly one of `feature_columns` and the pair"),
        ({"feature_columns": [1]}, TypeError, "All feature columns must be supported types"),
        ({"feature_columns": columns()}, ValueError, "optimization_parameters must be an instance of type .* Got <class 'NoneType'>"),
        (
            {"feature_columns": columns(), "partition_strategy": "foo"},
            ValueError,
            'Invalid partition_strategy foo. Must be one of "mod" or "div"',
        ),
        (
            {"feature_to_config_dict": {"b": 2}, "table_to_config_dict": {"a": 1}},
            TypeError,
            "Config for feature b must be of type `FeatureConfig`",
        ),
    ],
)
def test_specs_are_checked(arguments, error, message):
    with pytest.raises(error, match=message):
        Spec(**arguments)
