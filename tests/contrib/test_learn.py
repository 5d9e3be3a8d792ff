"""Estimators of tf.contrib.learn."""

from __future__ import annotations

import numpy as np
import pytest

import everflow as tf

learn = tf.contrib.learn
X = np.linspace(0.0, 1.0, 20, dtype=np.float32).reshape(20, 1)
Y = 2.0 * X + 1.0


def model_fn(features, labels, mode, params):
    predicted = tf.layers.dense(features, 1)
    if mode == learn.ModeKeys.INFER:
        return learn.ModelFnOps(mode, predictions=predicted)
    # Labels of one column are fed as a vector.
    loss = tf.losses.mean_squared_error(tf.reshape(labels, [-1, 1]), predicted)
    train_op = tf.train.GradientDescentOptimizer(params["rate"]).minimize(loss, tf.train.get_global_step())
    return learn.ModelFnOps(mode, predictions=predicted, loss=loss, train_op=train_op)


def column_error(labels, predictions):
    return tf.metrics.mean_absolute_error(tf.reshape(labels, [-1, 1]), predictions)


def estimator(folder):
    return learn.Estimator(model_fn, model_dir=str(folder), params={"rate": 0.5}, config=learn.RunConfig(tf_random_seed=1))


def test_arrays_are_fitted_and_predicted(tmp_path):
    fitted = learn.SKCompat(estimator(tmp_path)).fit(X, Y, batch_size=20, steps=60)
    np.testing.assert_allclose(fitted.predict(X), Y, atol=0.1)
    score = fitted.score(X, Y, metrics={"mae": learn.MetricSpec(column_error)})
    assert score["mae"] < 0.1
    assert score["global_step"] == 60


def test_a_model_that_was_not_fitted_predicts_nothing(tmp_path):
    with pytest.raises(learn.NotFittedError, match="Couldn't find trained model"):
        estimator(tmp_path).predict(X)


def test_experiments_train_and_evaluate(tmp_path):
    def experiment(output_dir):
        inputs = learn.io.numpy_input_fn(X, Y, batch_size=10, num_epochs=None)
        return learn.Experiment(estimator(output_dir), inputs, inputs, train_steps=5, eval_steps=1)

    result, _ = learn.learn_runner.run(experiment, str(tmp_path), schedule="train_and_evaluate")
    assert result["global_step"] == 5
