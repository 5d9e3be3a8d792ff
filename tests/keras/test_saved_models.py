"""Keras models as SavedModels."""

from __future__ import annotations

import contextlib

import numpy as np
import pytest

import everflow as tf
from everflow.eager.context import eager_mode, graph_mode
from everflow.keras.saving.object_functions import LayerCalls

L = tf.keras.layers
X = np.arange(8, dtype=np.float32).reshape(2, 4) / 3


@pytest.fixture(params=["graph", "eager"])
def mode(request):
    eager = request.param == "eager"
    with eager_mode() if eager else graph_mode(), contextlib.nullcontext() if eager else tf.Graph().as_default():
        yield request.param
    tf.keras.backend.clear_session()


class Doubled(L.Layer):
    """A layer of the program's own, with a loss of its inputs."""

    def __init__(self):
        super().__init__()
        self.inner = L.Dense(3)

    def call(self, inputs):
        self.add_loss(tf.reduce_sum(inputs), inputs=True)
        return 2 * self.inner(inputs)


class Own(tf.keras.Model):
    """A model with its own `call`, and layers in a list."""

    def __init__(self):
        super().__init__()
        self.first = Doubled()
        self.rest = [L.Dense(2, kernel_regularizer="l2", activity_regularizer="l2")]

    def call(self, inputs, training=None):
        return self.rest[0](self.first(inputs))


def sequential():
    model = tf.keras.Sequential(
        [L.Dense(3, activation="relu", input_shape=(4,), kernel_regularizer="l2"), L.Dropout(0.5), L.BatchNormalization(), L.Dense(2)]
    )
    model.compile("adam", "mse", metrics=["mae"])
    model.fit(np.ones((8, 4)), np.ones((8, 2)), verbose=0)
    return model


def functional():
    a, b = tf.keras.Input((5, 4), name="a"), tf.keras.Input((3,), name="b")
    joined = L.concatenate([L.LSTM(3)(a), b])
    return tf.keras.Model([a, b], [joined, L.Dense(2, name="out")(joined)])


def test_a_sequential_model_comes_back_compiled(mode, tmp_path):
    model = sequential()
    expected = model.predict(X)
    model.save(str(tmp_path / "m"), save_format="tf")
    loaded = tf.keras.models.load_model(str(tmp_path / "m"))
    np.testing.assert_allclose(loaded.predict(X), expected, rtol=1e-5)
    assert [type(layer).__name__ for layer in loaded.layers] == ["Dense", "Dropout", "BatchNormalization", "Dense"]
    assert loaded.loss == "mse" and type(loaded.optimizer).__name__ == "Adam" and len(loaded.losses) == 1
    before = loaded.evaluate(X, np.ones((2, 2)), verbose=0)[0]
    loaded.fit(X, np.ones((2, 2)), epochs=20, verbose=0)
    assert loaded.evaluate(X, np.ones((2, 2)), verbose=0)[0] != before


def test_a_functional_model_takes_and_gives_several_tensors(mode, tmp_path):
    model = functional()
    given = [np.ones((2, 5, 4), np.float32), np.ones((2, 3), np.float32)]
    expected = model.predict(given)
    model.save(str(tmp_path / "m"), save_format="tf")
    loaded = tf.keras.models.load_model(str(tmp_path / "m"))
    for got, want in zip(loaded.predict(given), expected):
        np.testing.assert_allclose(got, want, rtol=1e-5)
    assert loaded.get_config()["name"] == model.name


def test_a_model_with_its_own_call_keeps_layers_and_losses(mode, tmp_path):
    model = Own()
    expected = model.predict(X)
    model.save(str(tmp_path / "m"), save_format="tf")
    loaded = tf.keras.models.load_model(str(tmp_path / "m"))
    np.testing.assert_allclose(loaded.predict(X), expected, rtol=1e-5)
    assert [type(layer).__name__ for layer in loaded.layers] == ["Doubled", "Dense"]
    assert [w.shape for w in loaded.weights] == [w.shape for w in model.weights]
    assert len(loaded.losses) == 3
    with pytest.raises(NotImplementedError):
        loaded.get_config()


def test_the_default_signature_names_inputs_and_outputs(tmp_path):
    with tf.Graph().as_default():
        model = functional()
        model.save(str(tmp_path / "m"), save_format="tf")
    with tf.Session(graph=tf.Graph()) as session:
        signature = tf.saved_model.loader.load(session, ["serve"], str(tmp_path / "m")).signature_def["serving_default"]
        assert set(signature.inputs) == {"a", "b"} and set(signature.outputs) == {"concatenate", "out"}
        feeds = {signature.inputs["a"].name: np.ones((1, 5, 4)), signature.inputs["b"].name: np.ones((1, 3))}
        assert session.run(signature.outputs["out"].name, feeds).shape == (1, 2)


def test_saving_leaves_losses_and_updates_as_they_were(tmp_path):
    with eager_mode():
        model = Own()
        model.predict(X)
        losses, updates = len(model.losses), list(model.updates)
        tf.saved_model.save(model, str(tmp_path / "m"))
        assert len(model.losses) == losses and list(model.updates) == updates


def test_other_readers_find_keras_attributes(tmp_path):
    with eager_mode():
        model = sequential()
        tf.saved_model.save(model, str(tmp_path / "m"))
        loaded = tf.saved_model.load_v2(str(tmp_path / "m"))
        assert len(loaded.keras_api.layers) == 4 and len(loaded.regularization_losses) == 1
        assert len(loaded.variables) == 8 and len(loaded.keras_api.non_trainable_variables) == 2
        np.testing.assert_allclose(loaded(tf.constant(X), training=False), model.predict(X), rtol=1e-5)


def test_training_of_a_loaded_layer_can_be_a_tensor(tmp_path):
    with eager_mode():
        layer = L.BatchNormalization()
        layer(np.ones((2, 3), np.float32))
        tf.saved_model.save(layer, str(tmp_path / "m"))
        loaded = tf.keras.models.load_model(str(tmp_path / "m"))
        x = tf.constant([[1.0, 2.0, 3.0], [3.0, 4.0, 5.0]])
        np.testing.assert_allclose(loaded(x, training=tf.constant(False)), layer(x, training=False), rtol=1e-5)
        np.testing.assert_allclose(loaded(x, training=tf.constant(True)), [[-1.0] * 3, [1.0] * 3], atol=1e-3)
        assert float(loaded.moving_mean[0]) == pytest.approx(0.01 * 2)


def test_the_ways_to_call_a_layer_are_traced_together():
    class Phased(L.Layer):
        def call(self, inputs, training=None):
            return inputs if training else 2 * inputs

    calls = LayerCalls(Phased())
    first, second = calls.add_function(calls.layer.call, "first"), calls.add_function(calls.layer.call, "second")
    with eager_mode():
        assert first(np.ones((2, 3))).numpy().max() == 2
    # For training and for inference, in both.
    assert len(second._list_all_concrete_functions_for_serialization()) == 2


def test_a_layer_that_says_nothing_readable_is_refused(tmp_path):
    with eager_mode():
        tf.saved_model.save(sequential(), str(tmp_path / "m"))
        from everflow.proto import saved_model_pb2

        proto = saved_model_pb2.SavedModel.FromString((tmp_path / "m" / "saved_model.pb").read_bytes())
        proto.meta_graphs[0].object_graph_def.nodes[0].user_object.metadata = "{"
        (tmp_path / "m" / "saved_model.pb").write_bytes(proto.SerializeToString())
        with pytest.raises(tf.errors.DataLossError, match="describes a layer"):
            tf.keras.models.load_model(str(tmp_path / "m"))


def test_an_optimizer_can_be_left_out(tmp_path):
    with eager_mode():
        model = sequential()
        model.save(str(tmp_path / "m"), save_format="tf", include_optimizer=False)
        assert model.optimizer is not None
        assert tf.keras.models.load_model(str(tmp_path / "m")).optimizer is None
