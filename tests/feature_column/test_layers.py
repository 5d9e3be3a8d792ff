"""Layers and models of features, and the names of their variables."""

from __future__ import annotations

import numpy as np
import pytest

import everflow as tf
from everflow.feature_column.layers import SequenceFeatures
from everflow.feature_column.linear import LinearModel

fc = tf.feature_column


def columns():
    word = fc.categorical_column_with_vocabulary_list("w", ["a", "b"])
    return fc.numeric_column("x"), word


def features():
    return {"x": tf.constant([[1.0], [2.0]]), "w": tf.constant([["a"], ["b"]])}


def test_linear_model_adds_weights_and_bias():
    with tf.Graph().as_default(), tf.Session() as session:
        variables = {}
        x, word = columns()
        result = fc.linear_model(features(), [x, word], cols_to_vars=variables)
        assert [v.name for v in tf.trainable_variables()] == [
            "linear_model/w/weights:0",
            "linear_model/x/weights:0",
            "linear_model/bias_weights:0",
        ]
        session.run([tf.global_variables_initializer(), tf.tables_initializer()])
        session.run([variables[word][0].assign([[10.0], [20.0]]), variables[x][0].assign([[3.0]]), variables["bias"][0].assign([1.0])])
        np.testing.assert_allclose(session.run(result), [[14.0], [27.0]])


def test_a_second_linear_model_gets_its_own_scopes():
    with tf.Graph().as_default(), tf.variable_scope("zz"):
        fc.linear_model({"x": [[1.0]]}, [fc.numeric_column("x")])
        fc.linear_model({"x": [[1.0]]}, [fc.numeric_column("x")])
        assert [v.op.name for v in tf.global_variables()] == [
            "zz/linear_model/x/weights",
            "zz/linear_model/bias_weights",
            "zz/linear_model_1/x_1/weights",
            "zz/linear_model_1/bias_weights",
        ]


def test_layers_make_partitioned_variables_where_the_scope_says_so():
    with tf.Graph().as_default(), tf.variable_scope("s", partitioner=tf.fixed_size_partitioner(2)):
        ids = fc.categorical_column_with_identity("i", 4)
        tf.keras.layers.DenseFeatures([fc.embedding_column(ids, 2)], name="input_layer")({"i": tf.constant([[1]])})
        assert [v.op.name for v in tf.global_variables()] == [
            "s/input_layer/i_embedding/embedding_weights/part_0",
            "s/input_layer/i_embedding/embedding_weights/part_1",
        ]


def test_linear_layers_learn():
    with tf.Graph().as_default(), tf.Session() as session:
        x, word = columns()
        model = LinearModel([x, word])
        loss = tf.reduce_mean(tf.square(model(features()) - [[3.0], [5.0]]))
        train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
        session.run([tf.global_variables_initializer(), tf.tables_initializer()])
        first = session.run(loss)
        for _ in range(50):
            session.run(train)
        assert session.run(loss) < first / 100


def test_sequences_come_with_their_lengths():
    with tf.Graph().as_default(), tf.Session() as session:
        sparse = tf.SparseTensor([[0, 0], [0, 1], [1, 0]], [1.0, 2.0, 3.0], [3, 2])
        tensor, lengths = SequenceFeatures([fc.sequence_numeric_column("x")])({"x": sparse})
        np.testing.assert_allclose(session.run(tensor), [[[1.0], [2.0]], [[3.0], [0.0]], [[0.0], [0.0]]])
        np.testing.assert_array_equal(session.run(lengths), [2, 1, 0])


def test_categorical_columns_need_a_wrapper():
    with pytest.raises(ValueError, match="must be a .*DenseColumn"):
        tf.keras.layers.DenseFeatures([columns()[1]])
    with tf.Graph().as_default(), pytest.raises(ValueError, match="must be a _DenseColumn"):
        fc.input_layer(features(), [columns()[1]])


def test_batches_have_to_agree():
    with tf.Graph().as_default(), pytest.raises(ValueError, match=r"Batch size \(first dimension\) of each feature must be same"):
        fc.input_layer({"a": tf.zeros([2, 1]), "b": tf.zeros([3, 1])}, [fc.numeric_column("a"), fc.numeric_column("b")])
