"""For the same seed a model begins with TensorFlow's numbers: each op before a random one counts."""

import numpy as np
import pytest

import everflow as tf


def test_weights_after_an_embedding_are_those_of_1_15(tmp_path):
    words = tf.feature_column.categorical_column_with_hash_bucket("w", 50)
    columns = [tf.feature_column.embedding_column(words, 8), tf.feature_column.numeric_column("x")]
    model = tf.estimator.DNNClassifier([16], columns, model_dir=str(tmp_path), config=tf.estimator.RunConfig(tf_random_seed=7))

    def examples():
        features = {"w": tf.constant([["a"], ["b"], ["c"], ["d"]]), "x": tf.constant([[1.0], [2.0], [3.0], [4.0]])}
        return features, tf.constant([[0], [1], [0], [1]])

    model.train(examples, steps=1)
    assert np.sum(model.get_variable_value("dnn/hiddenlayer_0/kernel")) == pytest.approx(-2.8546906, abs=1e-5)
    assert model.evaluate(examples, steps=1)["loss"] == pytest.approx(2.6286325, abs=1e-5)
