"""Models of Keras made for TPUs, which run where there is none."""

import numpy as np
import pytest

import everflow as tf


def compiled(optimizer):
    model = tf.keras.Sequential([tf.keras.layers.Dense(1, use_bias=False, input_shape=(2,), kernel_initializer="ones")])
    model.compile(optimizer, "mse", metrics=["mae"])
    return model


@pytest.mark.parametrize("optimizer", [lambda: tf.keras.optimizers.SGD(0.1), lambda: tf.train.GradientDescentOptimizer(0.1)])
def test_models_learn_apart_and_are_brought_together(optimizer):
    model = compiled(optimizer())
    twin = tf.contrib.tpu.keras_to_tpu_model(model, tf.contrib.tpu.TPUDistributionStrategy(using_single_core=True))
    x, y = np.eye(2), np.zeros((2, 1))
    assert twin.predict(x).tolist() == model.predict(x).tolist() == [[1], [1]]
    twin.fit(x, y, verbose=0)
    assert twin.evaluate(x, y, verbose=0) == pytest.approx([0.81, 0.9])
    assert model.predict(x).tolist() == [[1], [1]]
    assert twin.sync_to_cpu() is model is twin.cpu_model
    assert model.predict(x).ravel() == pytest.approx([0.9, 0.9])


def test_models_that_are_not_compiled_stay_so():
    model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(2,))])
    twin = tf.contrib.tpu.keras_to_tpu_model(model)
    assert twin.optimizer is None
    np.testing.assert_array_equal(twin.predict(np.eye(2)), model.predict(np.eye(2)))


def test_strategies_of_other_kinds_are_refused():
    with pytest.raises(TypeError, match="`strategy` must have type TPUDistributionStrategy"):
        tf.contrib.tpu.keras_to_tpu_model(compiled("sgd"), strategy=3)
