"""compile, fit, evaluate and predict."""

from __future__ import annotations

import numpy as np
import pytest

import everflow as tf
from everflow.eager.context import eager_mode


def _data(samples=48, classes=3, features=4):
    generator = np.random.RandomState(1)
    labels = generator.randint(0, classes, samples)
    x = generator.rand(samples, features).astype("float32") + labels[:, None]
    return x, np.eye(classes, dtype="float32")[labels]


def _classifier():
    layers = tf.keras.layers
    return tf.keras.Sequential([layers.Dense(16, activation="relu", input_shape=(4,)), layers.Dense(3, activation="softmax")])


@pytest.fixture(params=["graph", "compiled", "eager"])
def mode(request):
    if request.param == "graph":
        with tf.Graph().as_default():
            yield {}
    else:
        with eager_mode():
            yield {"run_eagerly": request.param == "eager"}
    tf.keras.backend.clear_session()


def test_training_lowers_the_loss_in_every_mode(mode):
    x, y = _data()
    model = _classifier()
    model.compile("adam", "categorical_crossentropy", metrics=["accuracy"], **mode)
    history = model.fit(x, y, epochs=8, batch_size=8, verbose=0, validation_split=0.25)
    assert list(history.history) == ["loss", "acc", "val_loss", "val_acc"]
    assert history.history["loss"][-1] < history.history["loss"][0]
    loss, accuracy = model.evaluate(x, y, verbose=0)
    predicted = model.predict(x)
    assert accuracy == pytest.approx(np.mean(predicted.argmax(1) == y.argmax(1)))
    assert loss == pytest.approx(-np.log(predicted[y == 1]).mean(), rel=1e-4)


def test_sample_weights_scale_the_loss_of_each_sample(mode):
    x, y = _data(6)
    model = _classifier()
    model.compile("sgd", "mse", **mode)
    each = ((model.predict(x) - y) ** 2).mean(1)
    weights = np.arange(6).astype("float32")
    assert model.test_on_batch(x, y, sample_weight=weights) == pytest.approx((each * weights).mean(), rel=1e-5)
    assert model.test_on_batch(x, y) == pytest.approx(each.mean(), rel=1e-5)


def test_a_subclass_learns_its_inputs_from_data(mode):
    class Twice(tf.keras.Model):
        def __init__(self):
            super().__init__()
            self.dense = tf.keras.layers.Dense(3, activation="softmax")

        def call(self, inputs):
            return self.dense(inputs)

    x, y = _data()
    model = Twice()
    model.compile("sgd", "categorical_crossentropy", **mode)
    model.fit(x, y, verbose=0)
    assert model.predict(x[:5]).shape == (5, 3)


def test_losses_of_outputs_are_weighted_and_shown_by_name(mode):
    inputs = tf.keras.Input((4,))
    a, b = (tf.keras.layers.Dense(n, name=name)(inputs) for n, name in ((2, "a"), (1, "b")))
    model = tf.keras.Model(inputs, [a, b])
    model.compile("sgd", {"a": "mse", "b": "mae"}, loss_weights=[1.0, 0.5], metrics={"b": ["mae"]}, **mode)
    assert model.metrics_names == ["loss", "a_loss", "b_loss", "b_mean_absolute_error"]
    x = np.ones((4, 4), "float32")
    total, of_a, of_b, error = model.test_on_batch(x, [np.zeros((4, 2)), np.zeros((4, 1))])
    assert total == pytest.approx(of_a + 0.5 * of_b)
    assert of_b == pytest.approx(error)


def test_datasets_and_generators_are_drawn_from(mode):
    x, y = _data(32)
    model = _classifier()
    model.compile("sgd", "mse", **mode)
    dataset = tf.data.Dataset.from_tensor_slices((x, y)).batch(8)
    by_dataset = model.evaluate(dataset, verbose=0)

    def batches():
        while True:
            for i in range(0, 32, 8):
                yield x[i : i + 8], y[i : i + 8]

    assert by_dataset == pytest.approx(model.evaluate(x, y, verbose=0), rel=1e-5)
    assert model.evaluate_generator(batches(), steps=4) == pytest.approx(by_dataset, rel=1e-5)
    model.fit(dataset.repeat(), steps_per_epoch=3, epochs=2, verbose=0)
    assert int(tf.keras.backend.get_value(model.optimizer.iterations)) == 6


def test_batch_norm_keeps_averages_while_training(mode):
    model = tf.keras.Sequential([tf.keras.layers.BatchNormalization(momentum=0.5, input_shape=(2,))])
    model.compile("sgd", "mse", **mode)
    x = np.array([[1.0, 10.0], [3.0, 30.0]], "float32")
    model.train_on_batch(x, x)
    np.testing.assert_allclose(model.layers[0].get_weights()[2], [1.0, 10.0], rtol=1e-4)


def test_what_does_not_fit_is_said():
    with tf.Graph().as_default():
        model = _classifier()
        with pytest.raises(RuntimeError, match="must compile"):
            model.fit(np.zeros((2, 4)), np.zeros((2, 3)))
        model.compile("sgd", "mse")
        with pytest.raises(ValueError, match="to have shape .* but got array with shape"):
            model.fit(np.zeros((2, 5)), np.zeros((2, 3)), verbose=0)
        with pytest.raises(ValueError, match="same number of samples"):
            model.fit(np.zeros((2, 4)), np.zeros((3, 3)), verbose=0)


def test_the_progress_bar_shows_epochs_and_metrics(capsys):
    with tf.Graph().as_default():
        x, y = _data(8)
        model = _classifier()
        model.compile("sgd", "mse", metrics=["acc"])
        model.fit(x, y, epochs=2, verbose=2)
        lines = capsys.readouterr().out.splitlines()
    assert lines[:2] == ["Train on 8 samples", "Epoch 1/2"]
    assert lines[2].startswith("8/8 - ") and " - loss: " in lines[2] and " - acc: " in lines[2]


def test_variables_of_a_graph_are_data():
    model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(2,), use_bias=False, kernel_initializer="ones")])
    model.compile(tf.keras.optimizers.SGD(0.0), "mse")
    x, y = tf.keras.backend.ones((4, 2)), tf.keras.backend.zeros((4, 1))
    assert model.train_on_batch(x, y) == 4 and model.evaluate(x, y, steps=2, verbose=0) == 4
    assert model.fit(x, y, steps_per_epoch=2, verbose=0).history["loss"] == [4]
    assert model.predict(x, steps=1).tolist() == [[2]] * 4
    double = tf.keras.backend.function([model.input], [model.output * 2])
    assert double([x])[0].tolist() == [[4]] * 4


def test_classes_of_each_step_need_no_axis_of_their_own(mode):
    x, labels = np.random.RandomState(0).rand(8, 3, 4), np.arange(24).reshape(8, 3) % 5
    model = tf.keras.Sequential([tf.keras.layers.Dense(5, activation="softmax", input_shape=(3, 4))])
    model.compile("sgd", "sparse_categorical_crossentropy", **mode)
    chosen = np.take_along_axis(model.predict(x), labels[..., None], -1)
    expected = -np.log(chosen).mean()
    assert model.evaluate(x, labels, verbose=0) == pytest.approx(expected, rel=1e-4)
    assert model.evaluate(x, labels[..., None], verbose=0) == pytest.approx(expected, rel=1e-4)
    assert model.train_on_batch(x, labels) == pytest.approx(expected, rel=1e-4)


def test_functions_that_run_as_python_have_models_do_so():
    with eager_mode():
        model = _classifier()
        model.compile("sgd", "mse")
        try:
            tf.config.experimental_run_functions_eagerly(True)
            assert model.run_eagerly
        finally:
            tf.config.experimental_run_functions_eagerly(False)
        assert not model.run_eagerly
