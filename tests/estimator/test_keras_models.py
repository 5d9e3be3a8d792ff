"""Keras models as estimators."""

from __future__ import annotations

import numpy as np
import pytest

import everflow as tf

X = np.random.RandomState(0).rand(32, 3).astype(np.float32)
Y = X.sum(axis=1, keepdims=True)


def model():
    tf.keras.backend.clear_session()
    return tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(3,), name="only")])


def test_a_model_goes_on_from_its_weights(tmp_path):
    keras = model()
    keras.compile(optimizer=tf.keras.optimizers.Adam(0.01), loss="mse", metrics=["mae"])
    before = keras.get_weights()
    estimator = tf.keras.estimator.model_to_estimator(keras, model_dir=str(tmp_path))

    def inputs():
        return tf.data.Dataset.from_tensor_slices(({keras.input_names[0]: X}, Y)).batch(32)

    estimator.train(inputs)
    # Adam's first step has the length of the rate.
    np.testing.assert_allclose(np.abs(estimator.get_variable_value("only/kernel") - before[0]), 0.01, rtol=1e-3)
    assert "training/Adam/only/kernel/m" in estimator.get_variable_names()
    results = estimator.evaluate(inputs)
    assert set(results) == {"mean_absolute_error", "loss", "global_step"}
    assert results["global_step"] == 1
    assert list(next(estimator.predict(inputs))) == ["only"]


def test_a_model_has_to_be_compiled():
    with pytest.raises(ValueError, match="has not been compiled yet"):
        tf.keras.estimator.model_to_estimator(model())


class Own(tf.keras.Model):
    """A model with a `call` of its own."""

    def __init__(self, units):
        super().__init__(name="own")
        self.units = units
        self.hidden = [tf.keras.layers.Dense(units, activation="relu")]
        self._last = tf.keras.layers.Dense(1)

    def call(self, inputs):
        return self._last(self.hidden[0](inputs))


@pytest.mark.parametrize(
    "make, scope, output",
    [
        (lambda: tf.keras.Sequential([tf.keras.layers.Dense(4), tf.keras.layers.Dense(1)]), "", "dense_1"),
        (lambda: Own(4), "own/", "output_1"),
    ],
)
def test_models_that_have_no_inputs_yet(make, scope, output):
    tf.keras.backend.clear_session()
    keras = make()
    keras.compile(tf.train.AdamOptimizer(0.01), "mse", metrics=["mae"])
    estimator = tf.keras.estimator.model_to_estimator(keras)
    estimator.train(lambda: tf.data.Dataset.from_tensor_slices((X, Y)).batch(32).repeat(2))
    assert {f"{scope}dense/kernel", f"{scope}dense_1/bias/Adam_1", "training/beta1_power"} <= {*estimator.get_variable_names()}
    assert estimator.evaluate(lambda: tf.data.Dataset.from_tensors((X, Y)))["global_step"] == 2
    assert list(next(estimator.predict(lambda: tf.data.Dataset.from_tensors(X)))) == [output]
    assert not keras.built


def test_misspelt_arguments_of_compile_are_noticed_in_training():
    keras = model()
    keras.compile("sgd", "mse", metric="accuracy")
    with pytest.raises(ValueError, match='Invalid argument "metric" passed to K.function with TensorFlow backend'):
        keras.fit(X, Y, verbose=0)


def test_samples_count_by_their_weights():
    tf.keras.backend.clear_session()
    same = tf.keras.layers.Input(shape=(1,), name="same")
    keras = tf.keras.Model(same, same)
    keras.compile("sgd", "mean_absolute_error")
    data = {"features": [[0.0], [0.0], [1.0], [1.0]], "sample_weights": [0.0, 0.4, 1.0, 1.0]}
    estimator = tf.keras.estimator.model_to_estimator(keras)
    found = estimator.evaluate(lambda: tf.data.Dataset.from_tensors((data, [[0.0], [1.0], [0.0], [1.0]])), steps=1)
    assert found["loss"] == pytest.approx((0.4 + 1) / 4)


def test_a_model_with_several_outputs_has_the_metrics_of_each(tmp_path):
    tf.keras.backend.clear_session()
    a = tf.keras.layers.Input(shape=(3,), name="a")
    keras = tf.keras.Model(a, [tf.keras.layers.Dense(1, name="c")(a), tf.keras.layers.Dense(1, name="d")(a)])
    keras.compile("sgd", "mse", metrics={"c": "mae"})
    inputs = lambda: tf.data.Dataset.from_tensors(({"a": X}, {"c": Y, "d": Y})).repeat(3)
    estimator = tf.keras.estimator.model_to_estimator(keras, model_dir=str(tmp_path))
    estimator.train(inputs)
    assert set(estimator.evaluate(inputs, steps=1)) == {"c_mean_absolute_error", "global_step", "loss"}
    assert "c/kernel" in {name for name, _ in tf.train.list_variables(str(tmp_path / "keras"))}
    with pytest.raises(KeyError, match="Difference: .*other"):
        estimator.train(lambda: tf.data.Dataset.from_tensors(({"a": X, "other": X}, {"c": Y, "d": Y})))


def test_checkpoints_by_object_start_and_go_on(tmp_path):
    keras = model()
    keras.compile(tf.keras.optimizers.SGD(0.0), "mse")
    before = keras.get_weights()[0]
    estimator = tf.keras.estimator.model_to_estimator(keras, model_dir=str(tmp_path), checkpoint_format="checkpoint")
    estimator.train(lambda: tf.data.Dataset.from_tensors((X, Y)))
    key = "layer_with_weights-0/kernel/.ATTRIBUTES/VARIABLE_VALUE"
    np.testing.assert_array_equal(estimator.get_variable_value(key), before)
    with pytest.raises(ValueError, match='must be one of "checkpoint" or "saver". Got no'):
        tf.keras.estimator.model_to_estimator(keras, checkpoint_format="no")
