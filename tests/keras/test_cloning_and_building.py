"""Clones that are built and compiled as their model is; models with their own `call` that start again in place."""

import numpy as np
import pytest

import everflow as tf
from everflow import internals

models = internals.module("python.keras.models")
X, Y = np.ones((4, 3)), np.zeros((4, 2))


class Own(tf.keras.Model):
    def __init__(self):
        super().__init__(name="own")
        self.dense = tf.keras.layers.Dense(2, kernel_initializer="one")
        self.scale = 2.0

    def call(self, x):
        return self.dense(x) * self.scale


def functional():
    x = tf.keras.Input([3])
    return tf.keras.Model(x, tf.keras.layers.Dense(2)(x))


def compiled(model):
    model.compile("sgd", "mse", metrics=["mae"])
    return model


@pytest.mark.parametrize("make", [functional, lambda: tf.keras.Sequential([tf.keras.layers.Dense(2, input_shape=[3])])])
def test_a_clone_is_compiled_as_its_model(make):
    model = compiled(make())
    clone = models.clone_and_build_model(model)
    assert clone is not model and clone.loss == "mse" and clone.metrics_names == ["loss", "mean_absolute_error"]
    before = model.get_weights()
    clone.train_on_batch(X, Y)
    np.testing.assert_array_equal(model.get_weights()[0], before[0])
    assert (clone.get_weights()[0] != before[0]).any()


def test_a_clone_need_not_be_compiled():
    clone = models.clone_and_build_model(functional(), compile_clone=False)
    with pytest.raises(RuntimeError, match="must compile"):
        clone.evaluate(X, Y)
    with pytest.raises(ValueError, match="has not been compiled"):
        models.clone_and_build_model(functional())


def test_steps_are_counted_by_a_variable_of_the_caller():
    steps = tf.keras.backend.variable(7, dtype=tf.int64)
    models.clone_and_build_model(compiled(functional()), optimizer_iterations=steps).train_on_batch(X, Y)
    assert tf.keras.backend.eval(steps) == 8


def test_layers_that_are_shared_share_weights():
    model = functional()
    clone = models._clone_functional_model(model, layer_fn=models.share_weights)
    assert clone.layers[-1] is model.layers[-1]
    with pytest.raises(ValueError, match="functional `Model` instance, got a `Sequential`"):
        models._clone_functional_model(tf.keras.Sequential())
    with pytest.raises(ValueError, match="to be a `Sequential` model"):
        models._clone_sequential_model(model)
    with pytest.raises(ValueError, match="callable"):
        models._clone_functional_model(model, layer_fn=3)


def test_a_model_with_its_own_call_starts_again_in_place_and_is_restored():
    model = compiled(Own())
    model.train_on_batch(X, Y)
    trained, dense = model.get_weights(), model.dense
    with pytest.raises(ValueError, match="set the argument `in_place_reset`"):
        models.clone_and_build_model(model)
    assert models.clone_and_build_model(model, in_place_reset=True) is model
    assert model.dense is not dense and model.scale == 2.0 and model.loss == "mse"
    np.testing.assert_array_equal(model.predict_on_batch(X), np.full((4, 2), 6.0))
    models.in_place_subclassed_model_state_restoration(model)
    assert model.dense is dense
    np.testing.assert_array_equal(model.get_weights()[0], trained[0])
