"""Recurrent layers against loops in numpy."""

from __future__ import annotations

import numpy as np
import pytest

import everflow as tf

layers = tf.keras.layers


def _sigmoid(x):
    return 1 / (1 + np.exp(-x))


def _lstm(x, kernel, recurrent, bias, units):
    h = c = np.zeros((x.shape[0], units))
    outputs = []
    for t in range(x.shape[1]):
        i, f, g, o = np.split(x[:, t] @ kernel + h @ recurrent + bias, 4, axis=1)
        c = _sigmoid(f) * c + _sigmoid(i) * np.tanh(g)
        h = _sigmoid(o) * np.tanh(c)
        outputs.append(h)
    return np.stack(outputs, 1)


@pytest.mark.parametrize("unroll", [False, True])
def test_lstm_is_its_equations(unroll):
    with tf.Graph().as_default():
        x = np.random.RandomState(0).rand(2, 4, 3).astype("float32")
        model = tf.keras.Sequential(
            [layers.LSTM(5, recurrent_activation="sigmoid", return_sequences=True, unroll=unroll, input_shape=(4, 3))]
        )
        np.testing.assert_allclose(model.predict(x), _lstm(x, *model.get_weights(), 5), rtol=1e-4, atol=1e-6)


def test_masked_steps_leave_the_state_alone():
    with tf.Graph().as_default():
        model = tf.keras.Sequential([layers.Masking(input_shape=(4, 2)), layers.GRU(3)])
        x = np.random.RandomState(0).rand(1, 4, 2).astype("float32")
        x[:, 2:] = 0
        short = tf.keras.Sequential([layers.GRU(3, input_shape=(2, 2))])
        short.set_weights(model.get_weights())
        np.testing.assert_allclose(model.predict(x), short.predict(x[:, :2]), rtol=1e-5)


def test_stateful_layers_go_on_where_they_stopped():
    with tf.Graph().as_default():
        x = np.random.RandomState(0).rand(2, 6, 3).astype("float32")
        model = tf.keras.Sequential([layers.SimpleRNN(4, stateful=True, batch_input_shape=(2, 3, 3))])
        whole = tf.keras.Sequential([layers.SimpleRNN(4, input_shape=(6, 3))])
        whole.set_weights(model.get_weights())
        model.predict(x[:, :3], batch_size=2)
        np.testing.assert_allclose(model.predict(x[:, 3:], batch_size=2), whole.predict(x), rtol=1e-4, atol=1e-6)
        model.reset_states()
        first = model.predict(x[:, :3], batch_size=2)
        model.reset_states()
        np.testing.assert_allclose(model.predict(x[:, :3], batch_size=2), first)


def test_bidirectional_reads_both_ways():
    with tf.Graph().as_default():
        x = np.random.RandomState(0).rand(2, 4, 3).astype("float32")
        model = tf.keras.Sequential([layers.Bidirectional(layers.LSTM(2, return_sequences=True), input_shape=(4, 3))])
        kernel = model.get_weights()
        model.set_weights(kernel[:3] + kernel[:3])
        found = model.predict(x)
        np.testing.assert_allclose(found[..., 2:], model.predict(x[:, ::-1])[:, ::-1, :2], rtol=1e-5)


def test_configs_make_the_same_layer():
    with tf.Graph().as_default():
        made = layers.RNN([layers.LSTMCell(3), layers.GRUCell(2)], return_state=True)
        again = layers.RNN.from_config(made.get_config())
        assert again.get_config() == made.get_config()
