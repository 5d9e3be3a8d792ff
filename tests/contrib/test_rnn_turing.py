"""The neural Turing machine. Numbers are 1.15.5's for the same weights, or seed."""

import numpy as np
import pytest

import everflow as tf
from everflow.contrib.rnn.turing import NTMCell


def machine(reads, writes, **options):
    return NTMCell(tf.nn.rnn_cell.BasicLSTMCell(4), 8, 3, reads, writes, shift_range=2, **options)


@pytest.mark.parametrize(
    ("heads", "total", "gradients", "place"),
    [
        (
            (1, 2),
            14.254,
            [71.78, 96.49, 206.85, 91.15, 20.67, 17.1, 0.15, 1.31, 80.18, 314.82, 52.01],
            [0.1079, 0.0792, 0.0885, 0.1062, 0.1227, 0.1644, 0.1824, 0.1488],
        ),
        (
            (2, 1),
            -75.921,
            [84.85, 186.51, 437.86, 163.52, 9.2, 2.07, 47.06, 30.0, 19.17, 385.73, 174.93, 15.23],
            [0.1575, 0.1134, 0.0763, 0.0632, 0.0833, 0.1345, 0.1832, 0.1886],
        ),
    ],
)
def test_steps_of_several_heads(session, heads, total, gradients, place):
    x = np.random.RandomState(1).randn(3, 6, 5).astype(np.float32)
    cell = machine(*heads, output_dim=7, clip_value=3)
    state, outputs = cell.zero_state(3, tf.float32), []
    with tf.variable_scope("r"):
        for step in range(4):
            output, state = cell(tf.constant(x[:, step]), state)
            outputs.append(output)
    weights = tf.trainable_variables()
    slopes = tf.gradients(tf.reduce_sum(tf.square(tf.stack(outputs))), weights)
    random = np.random.RandomState(2)
    for weight in weights:
        weight.load(random.randn(*weight.shape.as_list()).astype(np.float32), session)
    found, slopes, places = session.run([outputs, slopes, state.w_list])
    assert np.sum(found) == pytest.approx(total, abs=2e-3)
    np.testing.assert_allclose([np.abs(slope).sum() for slope in slopes], gradients, atol=2e-2)
    np.testing.assert_allclose(places[0][0], place, atol=1e-4)


def test_names_of_variables_and_draws_for_a_seed(session):
    tf.set_random_seed(1234)
    with tf.variable_scope("root"):
        x = tf.random_uniform((4, 4), seed=1235)
        cell = NTMCell(tf.nn.rnn_cell.LSTMCell(4), 5, 4, 1, 1)
        output, state = cell(x, cell.zero_state(4, tf.float32))
    assert [v.op.name.removeprefix("root/ntm_cell/") for v in tf.trainable_variables()] == [
        "parameters_kernel",
        "parameters_bias",
        "output_kernel",
        "output_bias",
        "initial_read_vector_0",
        "initial_address_weights_0",
        "initial_address_weights_1",
        "memory",
        "lstm_cell/kernel",
        "lstm_cell/bias",
    ]
    assert (cell.output_size, state.time) == (4, 1)
    session.run(tf.global_variables_initializer())
    first, place = session.run([output[0], state.w_list[1][0]])
    np.testing.assert_allclose(first, [-0.04973561, -0.00020032, -0.09586011, -0.0504951], atol=1e-6)
    np.testing.assert_allclose(place, [0.21703579, 0.19425656, 0.22143756, 0.18024713, 0.18702295], atol=1e-6)


def test_batches_of_any_size(session):
    x = tf.placeholder(tf.float32, [None, 5])
    cell = machine(2, 1)
    output, _ = cell(x, cell.zero_state(tf.shape(x)[0], tf.float32))
    session.run(tf.global_variables_initializer())
    both = session.run(output, {x: np.ones([2, 5])})
    assert both.shape == (2, 5)
    np.testing.assert_allclose(both[:1], session.run(output, {x: np.ones([1, 5])}), atol=1e-6)


def test_the_controller_must_be_a_cell():
    with pytest.raises(TypeError, match="NTM RNN controller cell"):
        NTMCell(3, 8, 3, 2, 1)
