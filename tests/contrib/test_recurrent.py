"""tf.contrib.recurrent: steps by hand, networks against tf.nn.dynamic_rnn."""

import collections

import numpy as np
import pytest

import everflow as tf
from running import run

recurrent = tf.contrib.recurrent
Value = collections.namedtuple("Value", "v")


def cell(theta, state, inputs):
    return Value(state.v * theta.v + inputs.v), Value(state.v)


def doubled_gradient(theta, state, inputs, extras, dstate):
    return Value(dstate.v * extras.v), Value(dstate.v * theta.v), Value(2 * dstate.v)


def test_states_of_all_steps_and_of_the_last_come_in_the_structure_of_the_first():
    theta, x = tf.constant(2.0), tf.constant([1.0, 2.0, 3.0])
    states, last = recurrent.Recurrent(Value(theta), Value(tf.constant(1.0)), Value(x), cell)
    assert isinstance(states, Value) and isinstance(last, Value)
    assert run(states.v).tolist() == [3, 8, 19] and run(last.v) == 19
    dtheta, dx = tf.gradients(last.v, [theta, x])
    assert run(dx).tolist() == [4, 2, 1]
    # ((1·t + 1)·t + 2)·t + 3 is 3t² + 2t + 2 by its derivative.
    assert run(dtheta) == 18


def test_the_gradient_of_a_step_may_be_given():
    theta, x = tf.constant(2.0), tf.constant([1.0, 2.0, 3.0])
    _, last = recurrent.Recurrent(Value(theta), Value(tf.constant(1.0)), Value(x), cell, cell_grad=doubled_gradient)
    dtheta, dx = tf.gradients(last.v, [theta, x])
    assert run(dx).tolist() == [8, 4, 2] and run(dtheta) == 18


@pytest.mark.parametrize(("aligned_end", "states", "last"), [(False, [3, 8, 0, 0], 8), (True, [0, 0, 5, 14], 14)])
def test_of_longer_inputs_only_so_many_steps_are_taken(aligned_end, states, last):
    x = Value(tf.constant([1.0, 2.0, 3.0, 4.0]))
    found, end = recurrent.Recurrent(
        Value(tf.constant(2.0)), Value(tf.constant(1.0)), x, cell, max_input_length=tf.constant(2), aligned_end=aligned_end
    )
    assert run(found.v).tolist() == states and run(end.v) == last


@pytest.mark.parametrize("lengths", [None, [2, 3, 1]])
def test_functional_networks_are_dynamic_ones(lengths):
    x = tf.constant(np.random.RandomState(0).randn(3, 3, 2), tf.float32)
    with tf.variable_scope("a"):
        found = recurrent.functional_rnn(tf.nn.rnn_cell.LSTMCell(4), x, lengths, dtype=tf.float32)
        both = recurrent.bidirectional_functional_rnn(
            tf.nn.rnn_cell.GRUCell(4), tf.nn.rnn_cell.GRUCell(4), x, dtype=tf.float32, sequence_length=lengths
        )
    names = [v.name for v in tf.global_variables()]
    with tf.variable_scope("a", reuse=True):
        wanted = tf.nn.dynamic_rnn(tf.nn.rnn_cell.LSTMCell(4), x, lengths, dtype=tf.float32)
        wanted_both = tf.nn.bidirectional_dynamic_rnn(
            tf.nn.rnn_cell.GRUCell(4), tf.nn.rnn_cell.GRUCell(4), x, sequence_length=lengths, dtype=tf.float32
        )
    assert [v.name for v in tf.global_variables()] == names
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for one, other in zip(*(tf.nest.flatten(session.run(t)) for t in ((found, both), (wanted, wanted_both)))):
            np.testing.assert_allclose(one, other, rtol=1e-5)


def test_reversed_networks_read_from_the_end():
    x = np.random.RandomState(0).randn(2, 3, 2).astype(np.float32)
    with tf.variable_scope("a"):
        backward, _ = recurrent.functional_rnn(tf.nn.rnn_cell.BasicRNNCell(1), x, dtype=tf.float32, reverse=True)
    with tf.variable_scope("a", reuse=True):
        forward, _ = tf.nn.dynamic_rnn(tf.nn.rnn_cell.BasicRNNCell(1), tf.constant(x[:, ::-1].copy()), dtype=tf.float32)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        np.testing.assert_allclose(session.run(backward)[:, ::-1], session.run(forward), rtol=1e-5)
