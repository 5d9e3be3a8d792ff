"""tf.keras.experimental.export_saved_model."""

from __future__ import annotations

import numpy as np
import pytest

import everflow as tf

L = tf.keras.layers


def compiled(optimizer="adam"):
    model = tf.keras.Sequential([L.Dense(3, input_shape=(4,), name="first"), L.Dropout(0.5), L.Dense(2, name="last")])
    model.compile(optimizer, "mse", metrics=["mae"])
    model.fit(np.ones((8, 4)), np.ones((8, 2)), verbose=0)
    return model


@pytest.fixture(autouse=True)
def fresh():
    with tf.Graph().as_default():
        yield
    tf.keras.backend.clear_session()


@pytest.mark.parametrize("optimizer", ["adam", tf.train.AdamOptimizer])
def test_a_model_is_exported_to_train_to_evaluate_and_to_serve(tmp_path, optimizer):
    model = compiled(optimizer if isinstance(optimizer, str) else optimizer())
    x, y = np.ones((2, 4), np.float32), np.zeros((2, 2), np.float32)
    expected, loss = model.predict(x), model.evaluate(x, y, verbose=0)[0]
    path = str(tmp_path / "m")
    tf.keras.experimental.export_saved_model(model, path)
    with tf.Session(graph=tf.Graph()) as session:
        signature = tf.saved_model.loader.load(session, ["serve"], path).signature_def["serving_default"]
        got = session.run(signature.outputs["last"].name, {signature.inputs["first_input"].name: x})
    np.testing.assert_allclose(got, expected, rtol=1e-5)
    with tf.Session(graph=tf.Graph()) as session:
        signature = tf.saved_model.loader.load(session, ["eval"], path).signature_def["eval"]
        feeds = {signature.inputs["first_input"].name: x, signature.inputs["last_target"].name: y}
        assert session.run(signature.outputs["loss"].name, feeds) == pytest.approx(loss, rel=1e-5)
        assert session.run(tf.train.get_global_step()) == 1
    with tf.Session(graph=tf.Graph()) as session:
        definition = tf.saved_model.loader.load(session, ["train"], path)
        signature = definition.signature_def["train"]
        feeds = {signature.inputs["first_input"].name: x, signature.inputs["last_target"].name: y}
        train = definition.signature_def["__saved_model_train_op"].outputs["__saved_model_train_op"].name
        session.run(session.graph.get_operation_by_name(train), feeds)
        assert session.run(tf.train.get_global_step()) == 2


def test_an_exported_model_comes_back_by_its_config(tmp_path):
    model = compiled()
    expected = model.predict(np.ones((2, 4)))
    tf.keras.experimental.export_saved_model(model, str(tmp_path / "m"))
    loaded = tf.keras.experimental.load_from_saved_model(str(tmp_path / "m"))
    assert loaded.optimizer is None
    np.testing.assert_allclose(loaded.predict(np.ones((2, 4))), expected, rtol=1e-5)


def test_a_model_with_its_own_call_can_only_be_served(tmp_path):
    class Own(tf.keras.Model):
        def call(self, inputs):
            return inputs * 2

    model = Own()
    model.predict(np.ones((1, 3), np.float32))
    with pytest.raises(NotImplementedError, match="serving_only=True"):
        tf.keras.experimental.export_saved_model(model, str(tmp_path / "a"))
    given = [tf.TensorSpec([None, 3], tf.float32, name="named")]
    tf.keras.experimental.export_saved_model(model, str(tmp_path / "b"), serving_only=True, input_signature=given)
    with tf.Session(graph=tf.Graph()) as session:
        assert set(tf.saved_model.loader.load(session, ["serve"], str(tmp_path / "b")).signature_def["serving_default"].inputs) == {"named"}
    with pytest.raises(tf.errors.NotFoundError, match=r"saved_model\.json"):
        tf.keras.experimental.load_from_saved_model(str(tmp_path / "b"))


def test_a_sequential_model_without_weights_is_refused(tmp_path):
    with pytest.raises(ValueError, match="Weights for sequential model have not yet been created"):
        tf.keras.experimental.export_saved_model(tf.keras.Sequential([L.Dense(2)]), str(tmp_path / "m"))


def test_checkpoints_know_layers_with_weights_by_number(tmp_path):
    compiled().save_weights(str(tmp_path / "w"), save_format="tf")
    names = {name for name, _ in tf.train.list_variables(str(tmp_path / "w"))}
    assert {"layer_with_weights-0/kernel/.ATTRIBUTES/VARIABLE_VALUE", "layer_with_weights-1/bias/.ATTRIBUTES/VARIABLE_VALUE"} <= names
