"""Canned estimators: names, metrics, and numbers of TensorFlow 1.15."""

from __future__ import annotations

import numpy as np
import pytest

import everflow as tf

fc = tf.feature_column
X = np.linspace(0.0, 1.0, 12, dtype=np.float32).reshape(12, 1)
WORDS = np.array([["a"], ["b"], ["c"]] * 4)
CLASSES = (X[:, 0] > 0.4).astype(np.int64)
# What TensorFlow 1.15.5 found with the same seed.
LINEAR_X = [[0.22589808702468872]]
LINEAR_LOSS = 0.6540660262107849
DEEP_KERNEL = [[-1.1018626689910889], [-0.788293719291687], [0.9107438325881958]]


def inputs(labels, epochs=1):
    return lambda: tf.data.Dataset.from_tensor_slices(({"x": X, "w": WORDS}, labels)).repeat(epochs).batch(4)


def columns():
    return fc.numeric_column("x"), fc.categorical_column_with_vocabulary_list("w", ["a", "b"])


def config():
    return tf.estimator.RunConfig(tf_random_seed=3, save_summary_steps=1000, log_step_count_steps=None)


def test_linear_classifiers_match_tensorflow(tmp_path):
    estimator = tf.estimator.LinearClassifier(columns(), model_dir=str(tmp_path), config=config())
    estimator.train(inputs(CLASSES))
    np.testing.assert_allclose(estimator.get_variable_value("linear/linear_model/x/weights"), LINEAR_X, rtol=1e-5)
    results = estimator.evaluate(inputs(CLASSES))
    assert set(results) == {
        "accuracy",
        "accuracy_baseline",
        "auc",
        "auc_precision_recall",
        "average_loss",
        "global_step",
        "label/mean",
        "loss",
        "precision",
        "prediction/mean",
        "recall",
    }
    assert results["average_loss"] == pytest.approx(LINEAR_LOSS, rel=1e-5)


def test_deep_classifiers_match_tensorflow(tmp_path):
    x, word = columns()
    estimator = tf.estimator.DNNClassifier(
        [3], [x, fc.embedding_column(word, 2)], model_dir=str(tmp_path), n_classes=2, config=config(), label_vocabulary=["n", "p"]
    )
    estimator.train(inputs(np.array(["n", "p"])[CLASSES]))
    assert "dnn/hiddenlayer_0/kernel/t_0/Adagrad" in estimator.get_variable_names()
    np.testing.assert_allclose(estimator.get_variable_value("dnn/logits/kernel"), DEEP_KERNEL, rtol=1e-4)
    first = next(estimator.predict(inputs(CLASSES)))
    assert first["classes"][0] in (b"n", b"p")
    assert list(first["all_classes"]) == [b"n", b"p"]


def test_wide_and_deep_regressors_train_both_parts(tmp_path):
    x, word = columns()
    estimator = tf.estimator.DNNLinearCombinedRegressor(
        model_dir=str(tmp_path), linear_feature_columns=[word], dnn_feature_columns=[x], dnn_hidden_units=[2], config=config()
    )
    estimator.train(inputs(X * 2.0))
    names = estimator.get_variable_names()
    assert {"dnn/hiddenlayer_0/kernel/Adagrad", "linear/linear_model/w/weights/Ftrl", "global_step"} <= set(names)
    assert estimator.get_variable_value("global_step") == 3
    assert {"average_loss", "prediction/mean", "label/mean", "loss", "global_step"} == set(estimator.evaluate(inputs(X * 2.0)))


def test_baselines_learn_how_often_classes_occur(tmp_path):
    estimator = tf.estimator.BaselineClassifier(model_dir=str(tmp_path), n_classes=3, config=config())
    labels = np.array([0, 1, 1, 1] * 3)
    estimator.train(inputs(labels, epochs=20))
    np.testing.assert_allclose(next(estimator.predict(inputs(labels)))["probabilities"], [0.25, 0.75, 0.0], atol=0.08)


def test_weights_and_several_heads(tmp_path):
    heads = tf.contrib.estimator.multi_head(
        [tf.contrib.estimator.binary_classification_head(name="a", weight_column="x"), tf.contrib.estimator.regression_head(name="b")]
    )
    estimator = tf.estimator.LinearEstimator(heads, [columns()[0]], model_dir=str(tmp_path), config=config())
    both = {"a": CLASSES, "b": X}
    estimator.train(inputs(both))
    results = estimator.evaluate(inputs(both))
    assert {"loss/a", "loss/b", "auc/a", "label/mean/b"} <= set(results)
    assert results["loss"] == pytest.approx(results["loss/a"] + results["loss/b"], rel=1e-4)
    # Weighted by x, which is what decides the class.
    assert results["label/mean/a"] == pytest.approx(X[CLASSES == 1].sum() / X.sum(), rel=1e-5)


def test_labels_that_do_not_fit_are_named(tmp_path):
    estimator = tf.estimator.LinearRegressor([columns()[0]], model_dir=str(tmp_path), config=config())
    with pytest.raises(ValueError, match="Expected labels dimension=1.  Received 2"):
        estimator.train(inputs(np.zeros([12, 2], np.float32)))
    with pytest.raises(ValueError, match="Unsupported optimizer name: Nadam"):
        tf.estimator.LinearRegressor([columns()[0]], model_dir=str(tmp_path), optimizer="Nadam", config=config()).train(inputs(X))


def test_more_metrics_and_forwarded_features(tmp_path):
    estimator = tf.estimator.LinearRegressor([columns()[0]], model_dir=str(tmp_path), config=config())
    estimator.train(inputs(X))
    more = tf.contrib.estimator.add_metrics(
        estimator, lambda labels, predictions: {"mae": tf.metrics.mean_absolute_error(labels, predictions["predictions"])}
    )
    assert 0.0 < more.evaluate(inputs(X))["mae"] < 1.0
    assert next(tf.contrib.estimator.forward_features(estimator, "w").predict(inputs(X)))["w"][0] == b"a"


def test_heads_with_keras_optimizers_match_tensorflow(tmp_path):
    head = tf.estimator.BinaryClassHead(thresholds=[0.3])

    def model_fn(features, labels, mode):
        dense = tf.keras.layers.Dense(1, kernel_initializer="zeros")
        optimizer = tf.keras.optimizers.SGD(0.5)
        optimizer.iterations = tf.train.get_or_create_global_step()
        logits = dense(features["x"])
        return head.create_estimator_spec(features, mode, logits, labels, optimizer=optimizer, trainable_variables=dense.trainable_weights)

    x = np.linspace(0, 1, 24, dtype=np.float32).reshape(24, 1)
    estimator = tf.estimator.Estimator(model_fn, str(tmp_path), config())
    data = ({"x": x}, (x[:, 0] > 0.6).astype(np.int64))
    estimator.train(lambda: tf.data.Dataset.from_tensor_slices(data).repeat(3).batch(8))
    results = estimator.evaluate(lambda: tf.data.Dataset.from_tensor_slices(data).batch(8))
    assert results["average_loss"] == pytest.approx(0.63858, abs=1e-5)
    assert results["precision"] == pytest.approx(0.625)
    assert results["accuracy/positive_threshold_0.3"] == pytest.approx(0.41667, abs=1e-5)
