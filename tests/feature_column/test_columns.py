"""Columns turn raw features into numbers, ids and vectors."""

from __future__ import annotations

import copy

import numpy as np
import pytest

import everflow as tf
from everflow import internals
from everflow.feature_column.serialization import deserialize_feature_column, serialize_feature_column

fc = tf.feature_column


def dense(columns, features):
    """What input_layer gives for features."""
    with tf.Graph().as_default(), tf.Session() as session:
        result = fc.input_layer(features, columns)
        session.run([tf.global_variables_initializer(), tf.tables_initializer()])
        return session.run(result)


def test_numbers_are_normalized():
    column = fc.numeric_column("x", shape=2, normalizer_fn=lambda t: t * 2.0)
    np.testing.assert_allclose(dense([column], {"x": [[1.0, 2.0]]}), [[2.0, 4.0]])


def test_a_boundary_belongs_to_the_bucket_above_it():
    column = fc.bucketized_column(fc.numeric_column("x"), [0.0, 10.0])
    np.testing.assert_allclose(dense([column], {"x": [[-1.0], [0.0], [10.0]]}), np.eye(3))


def test_words_out_of_the_vocabulary_get_buckets_of_their_own():
    column = fc.indicator_column(fc.categorical_column_with_vocabulary_list("w", ["a", "b"], num_oov_buckets=1))
    np.testing.assert_allclose(dense([column], {"w": [["b", "z"], ["a", ""]]}), [[0, 1, 1], [1, 0, 0]])


def test_a_vocabulary_may_be_a_file(tmp_path):
    path = tmp_path / "words.txt"
    path.write_text("a\nb\nc\n")
    column = fc.categorical_column_with_vocabulary_file("w", str(path))
    assert column.num_buckets == 3
    np.testing.assert_allclose(dense([fc.indicator_column(column)], {"w": [["c"]]}), [[0, 0, 1]])


def test_ids_out_of_range_are_an_error_without_a_default():
    column = fc.indicator_column(fc.categorical_column_with_identity("i", 3))
    np.testing.assert_allclose(dense([column], {"i": [[2]]}), [[0, 0, 1]])
    with pytest.raises(tf.errors.InvalidArgumentError, match="exceeds number of buckets"):
        dense([column], {"i": [[3]]})
    with_default = fc.indicator_column(fc.categorical_column_with_identity("i", 3, default_value=0))
    np.testing.assert_allclose(dense([with_default], {"i": [[7]]}), [[1, 0, 0]])


def test_weights_count_in_indicators():
    ids = fc.weighted_categorical_column(fc.categorical_column_with_identity("i", 3), "w")
    np.testing.assert_allclose(dense([fc.indicator_column(ids)], {"i": [[0, 2]], "w": [[0.5, 2.0]]}), [[0.5, 0.0, 2.0]])


def test_hashes_are_those_of_tensorflow():
    hashed = fc.categorical_column_with_hash_bucket("s", 10)
    np.testing.assert_array_equal(dense([fc.indicator_column(hashed)], {"s": [["a"], ["b"]]}).argmax(axis=1), [9, 2])
    crossed = fc.crossed_column(["s", fc.categorical_column_with_identity("i", 5)], 100)
    assert crossed.name == "i_X_s"
    result = dense([fc.indicator_column(crossed)], {"s": [["a"], ["b"]], "i": [[3], [4]]})
    np.testing.assert_array_equal(result.argmax(axis=1), [52, 65])


def test_embeddings_of_an_example_are_averaged():
    table = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], np.float32)
    column = fc.embedding_column(fc.categorical_column_with_identity("i", 3), 2, initializer=tf.constant_initializer(table))
    ids = tf.SparseTensorValue([[0, 0], [0, 1], [2, 0]], [0, 2, 1], [3, 2])
    with tf.Graph().as_default(), tf.Session() as session:
        result = fc.input_layer({"i": tf.SparseTensor(*ids)}, [column])
        session.run(tf.global_variables_initializer())
        # The second example has no ids: zeros.
        np.testing.assert_allclose(session.run(result), [[3.0, 4.0], [0.0, 0.0], [3.0, 4.0]])


def test_shared_embeddings_have_one_table():
    a, b = (fc.categorical_column_with_identity(k, 4) for k in "ab")
    with tf.Graph().as_default():
        fc.input_layer({"a": [[1]], "b": [[1]]}, fc.shared_embedding_columns([a, b], 2))
        assert [v.name for v in tf.global_variables()] == ["input_layer/a_b_shared_embedding/embedding_weights:0"]


def test_columns_survive_copies_and_data():
    column = fc.embedding_column(fc.crossed_column(["a", fc.bucketized_column(fc.numeric_column("x"), [0.0])], 10), 3)
    assert copy.deepcopy(column).name == column.name == "a_X_x_bucketized_embedding"
    bucketized = fc.bucketized_column(fc.numeric_column("x", dtype=tf.int64), [0, 1])
    assert deserialize_feature_column(serialize_feature_column(bucketized)) == bucketized


def test_parse_specs_join_those_of_all_columns():
    spec = fc.make_parse_example_spec([fc.numeric_column("x", shape=3), fc.crossed_column(["a", "b"], 5)])
    assert spec == {"x": tf.FixedLenFeature((3,), tf.float32), "a": tf.VarLenFeature(tf.string), "b": tf.VarLenFeature(tf.string)}
    with pytest.raises(ValueError, match="different parse_spec for key x"):
        fc.make_parse_example_spec([fc.numeric_column("x"), fc.numeric_column("x", shape=2)])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: fc.numeric_column(("x",)), "key must be a string"),
        (lambda: fc.numeric_column("x", shape=[0]), "shape dimensions must be greater than 0"),
        (lambda: fc.bucketized_column(fc.numeric_column("x"), [2, 1]), "boundaries must be a sorted list"),
        (lambda: fc.crossed_column(["a"], 3), "keys must be a list with length > 1"),
        (lambda: fc.categorical_column_with_vocabulary_list("w", ["a", "a"]), "Duplicate keys in vocabulary_list"),
        (lambda: fc.embedding_column(fc.categorical_column_with_identity("i", 3), 0), "Invalid dimension 0"),
    ],
)
def test_wrong_arguments_are_named(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_features_are_looked_for_by_name():
    with pytest.raises(ValueError, match="Feature x is not in features dictionary"):
        dense([fc.numeric_column("x")], {"y": [[1.0]]})


def test_a_column_of_a_program_may_name_the_older_protocol_first():
    old = internals.module("python.feature_column.feature_column")
    new = internals.module("python.feature_column.feature_column_v2")

    class Column(old._DenseColumn, new.DenseColumn):
        name = "c"

    assert issubclass(Column, new.FeatureColumn) and isinstance(tf.feature_column.numeric_column("x"), old._DenseColumn)
