"""Cells over time."""

import numpy as np
import pytest

import everflow as tf
from running import run

CELLS = tf.nn.rnn_cell
X = np.random.RandomState(0).randn(3, 6, 4).astype(np.float32)
LENGTHS = [6, 2, 4]


@pytest.fixture(autouse=True)
def seed(graph):
    tf.set_random_seed(1)


@pytest.mark.parametrize("lengths", [None, LENGTHS])
def test_dynamic_and_static_loops_agree(lengths):
    with tf.variable_scope("rnn", reuse=tf.AUTO_REUSE) as scope:
        dynamic, last = tf.nn.dynamic_rnn(CELLS.LSTMCell(5), X, lengths, dtype=tf.float32, scope=scope)
        static, same = tf.nn.static_rnn(
            CELLS.LSTMCell(5), tf.unstack(tf.constant(X), axis=1), dtype=tf.float32, sequence_length=lengths, scope=scope
        )
    assert [v.name for v in tf.global_variables()] == ["rnn/lstm_cell/kernel:0", "rnn/lstm_cell/bias:0"]
    assert dynamic.shape.as_list() == [3, 6, 5]
    variables = tf.trainable_variables()
    by_loop = tf.gradients(tf.reduce_sum(tf.square(dynamic)), variables)
    unrolled = tf.gradients(tf.reduce_sum(tf.square(tf.stack(static))), variables)
    dynamic, last, static, same, by_loop, unrolled = run([dynamic, last, tf.stack(static, 1), same, by_loop, unrolled])
    np.testing.assert_allclose(dynamic, static, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(last, same, rtol=1e-5, atol=1e-6)
    for a, b in zip(by_loop, unrolled):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)


def test_after_its_end_a_sequence_gives_zeros_and_keeps_its_state():
    y, state = tf.nn.dynamic_rnn(CELLS.GRUCell(5), X, LENGTHS, dtype=tf.float32)
    y, state = run([y, state])
    for row, length in enumerate(LENGTHS):
        np.testing.assert_array_equal(y[row, length:], 0)
        np.testing.assert_array_equal(y[row, length - 1], state[row])


def test_time_may_come_first():
    with tf.variable_scope("s", reuse=tf.AUTO_REUSE):
        a, _ = tf.nn.dynamic_rnn(CELLS.GRUCell(5), X, dtype=tf.float32)
        b, _ = tf.nn.dynamic_rnn(CELLS.GRUCell(5), np.swapaxes(X, 0, 1), dtype=tf.float32, time_major=True)
    a, b = run([a, b])
    np.testing.assert_allclose(a, np.swapaxes(b, 0, 1), rtol=1e-6)


def test_batch_and_time_need_not_be_known():
    x = tf.placeholder(tf.float32, [None, None, 4])
    y, _ = tf.nn.dynamic_rnn(CELLS.LSTMCell(5), x, dtype=tf.float32)
    assert y.shape.as_list() == [None, None, 5]
    assert run(y, {x: X}).shape == (3, 6, 5)


def test_both_directions():
    outputs, states = tf.nn.bidirectional_dynamic_rnn(CELLS.GRUCell(5), CELLS.GRUCell(5), X, LENGTHS, dtype=tf.float32)
    assert {v.name.rsplit("/", 3)[0] for v in tf.global_variables()} == {"bidirectional_rnn/fw", "bidirectional_rnn/bw"}
    steps = tf.unstack(tf.constant(X), axis=1)
    with tf.variable_scope(tf.get_variable_scope(), reuse=True):
        joined, forward, backward = tf.nn.static_bidirectional_rnn(
            CELLS.GRUCell(5), CELLS.GRUCell(5), steps, dtype=tf.float32, sequence_length=LENGTHS
        )
    outputs, states, joined, forward, backward = run([outputs, states, tf.stack(joined, 1), forward, backward])
    np.testing.assert_allclose(np.concatenate(outputs, 2), joined, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(states, [forward, backward], rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(outputs[1][:, 0], states[1], rtol=1e-6)


def test_raw_loops_feed_themselves():
    cell = CELLS.BasicRNNCell(4)

    def loop(time, output, state, loop_state):
        finished = tf.tile([time >= 5], [2])
        if output is None:
            return finished, tf.ones([2, 4]), cell.zero_state(2, tf.float32), None, tf.constant(0)
        return finished, output, state, output, loop_state + 1

    outputs, state, count = tf.nn.raw_rnn(cell, loop)
    x, expected = tf.ones([2, 4]), []
    current = cell.zero_state(2, tf.float32)
    with tf.variable_scope("rnn", reuse=True):
        for _ in range(5):
            x, current = cell(x, current)
            expected.append(x)
    outputs, state, count, expected = run([outputs.stack(), state, count, tf.stack(expected)])
    np.testing.assert_allclose(outputs, expected, rtol=1e-5)
    np.testing.assert_allclose(state, expected[-1], rtol=1e-5)
    assert count == 5


def test_a_fused_lstm_is_the_loop_of_its_cell():
    fused = tf.contrib.rnn.LSTMBlockFusedCell(5, name="lstm_cell")
    x = np.swapaxes(X, 0, 1)
    with tf.variable_scope("rnn", reuse=tf.AUTO_REUSE):
        y, state = fused(tf.constant(x), dtype=tf.float32, sequence_length=LENGTHS)
    with tf.variable_scope("", reuse=True):
        z, same = tf.nn.dynamic_rnn(CELLS.LSTMCell(5), x, LENGTHS, dtype=tf.float32, time_major=True)
    grads = [tf.gradients(tf.reduce_sum(tf.square(v)), tf.trainable_variables()) for v in (y, z)]
    y, state, z, same, grads = run([y, state, z, same, grads])
    np.testing.assert_allclose(y, z, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(state, same, rtol=1e-5, atol=1e-6)
    for a, b in zip(*grads):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)


def test_mistakes_are_named():
    cell = CELLS.GRUCell(5)
    with pytest.raises(ValueError, match="you must give a dtype"):
        tf.nn.dynamic_rnn(cell, X)
    with pytest.raises(ValueError, match="vector of length batch_size"):
        tf.nn.dynamic_rnn(cell, X, [[1]], dtype=tf.float32)
    with pytest.raises(ValueError, match="accessible via shape inference"):
        tf.nn.dynamic_rnn(cell, tf.placeholder(tf.float32, [None, 3, None]), dtype=tf.float32)
    with pytest.raises(TypeError, match="is not an RNNCell"):
        tf.nn.dynamic_rnn(object(), X, dtype=tf.float32)
    with pytest.raises(ValueError, match="inputs must not be empty"):
        tf.nn.static_rnn(cell, [], dtype=tf.float32)
    lengths = tf.placeholder(tf.int32, [None])
    y, _ = tf.nn.dynamic_rnn(cell, X, lengths, dtype=tf.float32)
    with pytest.raises(tf.errors.InvalidArgumentError, match="Expected shape for Tensor"):
        run(y, {lengths: [1, 2]})


@pytest.mark.parametrize("lengths,seeds", [(None, [117, 132, 167, 182, 249]), ([1, 2, 3, 4], [136, 151, 186, 201, 274])])
def test_seeds_inside_of_a_loop_are_those_of_tensorflow(lengths, seeds):
    tf.set_random_seed(1)
    x = tf.placeholder(tf.float32, [4, 5, 3])
    cells = [tf.nn.rnn_cell.DropoutWrapper(tf.nn.rnn_cell.BasicLSTMCell(3), input_keep_prob=0.5) for _ in range(2)]
    with tf.name_scope("n"):
        lengths = None if lengths is None else tf.constant(lengths)
        tf.nn.dynamic_rnn(tf.nn.rnn_cell.MultiRNNCell(cells), x, dtype=tf.float32, sequence_length=lengths)
    tf.random_uniform([1])
    graph = tf.get_default_graph().as_graph_def()
    nodes = [*graph.node, *(node for body in graph.library.function for node in body.node_def)]
    assert sorted(node.attr["seed2"].i for node in nodes if "seed2" in node.attr) == seeds
