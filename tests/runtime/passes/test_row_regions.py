"""Cells of recurrent networks that are written out run as one program for all their rows, and give what they give one by one."""

import numpy as np
import pytest
from planning import random

import everflow as tf
from everflow.ops.linalg import joined_products, row_programs
from everflow.runtime import passes

pytestmark = pytest.mark.processor

CELLS = {
    "basic": lambda: tf.nn.rnn_cell.BasicRNNCell(5),
    "relu": lambda: tf.nn.rnn_cell.BasicRNNCell(5, activation=tf.nn.relu),
    "gru": lambda: tf.nn.rnn_cell.GRUCell(17),
    "lstm": lambda: tf.nn.rnn_cell.LSTMCell(33),
    "peepholes": lambda: tf.nn.rnn_cell.LSTMCell(7, use_peepholes=True),
    "projection": lambda: tf.nn.rnn_cell.LSTMCell(9, num_proj=4),
    "basic lstm": lambda: tf.nn.rnn_cell.BasicLSTMCell(16, forget_bias=0.5),
    "two layers": lambda: tf.nn.rnn_cell.MultiRNNCell([tf.nn.rnn_cell.GRUCell(6), tf.nn.rnn_cell.LSTMCell(5)]),
    "residual": lambda: tf.nn.rnn_cell.ResidualWrapper(tf.nn.rnn_cell.GRUCell(4)),
}


def flat(structure):
    return tf.contrib.framework.nest.flatten(structure)


def network(cell, x, **options):
    """Outputs, last states, and the gradients for everything that there is."""
    tf.set_random_seed(3)
    outputs, state = tf.nn.static_rnn(cell, tf.unstack(x, axis=1), dtype=x.dtype, **options)
    # Of a function that is not computed row by row: it comes between the way forward and the way back.
    loss = sum(tf.reduce_sum(tf.asinh(t)) for t in (*outputs, *flat(state)))
    return [*outputs, *flat(state), *tf.gradients(loss, [x, *tf.trainable_variables()])]


def types(sess, fetches, feed):
    return [call.node.type for call in sess._runner(fetches, dict.fromkeys(feed)).step.calls]


def both_ways(fetches, feed, monkeypatch, tolerance=2e-5):
    """How many programs a step has, whose values are the same without them."""
    found = []
    for rewrites in (passes.PASSES, [p for p in passes.PASSES if p is not passes.join_rows]):
        with monkeypatch.context() as patch, tf.Session() as sess:
            patch.setattr(passes.run, "__defaults__", (tuple(rewrites),))
            tf.set_random_seed(3)
            sess.run(tf.global_variables_initializer())
            found.append((sess.run(fetches, feed), types(sess, fetches, feed)))
    (ours, nodes), (plain, others) = found
    assert "_RowProgram" not in others
    for a, b in zip(ours, plain, strict=True):
        np.testing.assert_allclose(a, b, rtol=10 * tolerance, atol=tolerance)
    return nodes.count("_RowProgram")


@pytest.mark.parametrize("rows", [1, 3, 14, 200])
@pytest.mark.parametrize("cell", CELLS)
def test_recurrent_networks(cell, rows, monkeypatch):
    x = tf.placeholder(tf.float32, [None, 6, 4])
    assert both_ways(network(CELLS[cell](), x), {x: random(rows, 6, 4)}, monkeypatch) >= 2


@pytest.mark.parametrize("rows", [2, 9])
def test_known_sizes(rows, monkeypatch):
    x = tf.placeholder(tf.float32, [rows, 5, 4])
    assert both_ways(network(CELLS["lstm"](), x), {x: random(rows, 5, 4)}, monkeypatch) >= 2


def test_initial_states(monkeypatch):
    x, state = tf.placeholder(tf.float32, [None, 5, 4]), tf.placeholder(tf.float32, [None, 17])
    fetches = network(CELLS["gru"](), x, initial_state=state)
    assert both_ways(fetches, {x: random(7, 5, 4), state: random(7, 17)}, monkeypatch) >= 1


def test_sequences_of_different_lengths(monkeypatch):
    x, lengths = tf.placeholder(tf.float32, [None, 5, 4]), tf.placeholder(tf.int32, [None])
    both_ways(network(CELLS["lstm"](), x, sequence_length=lengths), {x: random(4, 5, 4), lengths: [3, 0, 5, 1]}, monkeypatch)


def test_no_rows_at_all(monkeypatch):
    x = tf.placeholder(tf.float32, [None, 5, 4])
    assert both_ways(network(CELLS["lstm"](), x), {x: np.zeros((0, 5, 4), "f")}, monkeypatch) >= 2


def test_few_steps_and_doubles_stay_as_they_are(monkeypatch):
    x = tf.placeholder(tf.float32, [None, 2, 4])
    assert not both_ways(network(CELLS["lstm"](), x), {x: random(3, 2, 4)}, monkeypatch)
    tf.reset_default_graph()
    x = tf.placeholder(tf.float64, [None, 5, 4])
    assert not both_ways(network(CELLS["lstm"](), x), {x: random(3, 5, 4).astype("d")}, monkeypatch, 1e-12)


def test_values_inside_can_be_fetched(monkeypatch):
    x, w = tf.placeholder(tf.float32, [None, 4]), tf.constant(random(4, 4) * 0.3)
    found, inside = x, []
    for _ in range(5):
        product = tf.matmul(found, w)
        found = tf.tanh(product)
        inside += [product, found]
    assert both_ways(inside, {x: random(3, 4)}, monkeypatch) == 1
    with tf.Session() as sess:
        fetched = sess.run(inside, {x: random(3, 4)})
        fetched[1][:] = 7.0
        np.testing.assert_array_equal(fetched[3], sess.run(inside, {x: random(3, 4)})[3])


def test_gradients_of_gradients(monkeypatch):
    tf.set_random_seed(3)
    x = tf.placeholder(tf.float32, [None, 4, 3])
    outputs, _ = tf.nn.static_rnn(CELLS["gru"](), tf.unstack(x, axis=1), dtype=tf.float32)
    (first,) = tf.gradients(tf.reduce_sum(outputs[-1] ** 2), x)
    fetches = tf.gradients(tf.reduce_sum(tf.sin(first)), [x, *tf.trainable_variables()])
    assert both_ways(fetches, {x: random(5, 4, 3)}, monkeypatch) >= 3


def test_a_matrix_that_the_rows_make_is_waited_for(monkeypatch):
    x, w = tf.placeholder(tf.float32, [4, 4]), tf.constant(random(4, 4) * 0.3)
    found = x
    for _ in range(4):
        found = tf.tanh(tf.matmul(found, w))
    for _ in range(4):
        found = tf.tanh(tf.matmul(x, found))
    assert both_ways([found], {x: random(4, 4)}, monkeypatch) == 1


def test_rows_that_are_not_as_many_as_they_seemed(monkeypatch):
    """A single row that is added to all of them: this is known only when it comes."""
    x, more = tf.placeholder(tf.float32, [None, 4]), tf.placeholder(tf.float32, [None, 4])
    w, found = tf.constant(random(4, 4) * 0.3), x
    for _ in range(5):
        found = tf.tanh(tf.matmul(found, w)) + more
    assert both_ways([found], {x: random(3, 4), more: random(3, 4)}, monkeypatch) == 1
    assert both_ways([found], {x: random(3, 4), more: random(1, 4)}, monkeypatch) == 1
    with tf.Session() as sess, pytest.raises(tf.errors.InvalidArgumentError, match=r"Incompatible shapes: \[3,4\] vs. \[2,4\]"):
        sess.run(found, {x: random(3, 4), more: random(2, 4)})


def test_effects_keep_their_order(monkeypatch):
    """Between the products a variable is written and read."""
    x, w = tf.placeholder(tf.float32, [None, 4]), tf.get_variable("w", initializer=random(4, 4) * 0.3)
    count = tf.get_variable("count", initializer=tf.zeros([4]))
    found = x
    for _ in range(6):
        found = tf.tanh(tf.matmul(found, w))
        with tf.control_dependencies([found]), tf.control_dependencies([tf.assign_add(count, tf.ones([4]))]):
            found += tf.identity(count)
    with tf.control_dependencies([found]):
        changed = tf.assign(w, w * 2.0)
    both_ways([found, changed], {x: random(3, 4)}, monkeypatch)


def test_random_numbers_between_the_cells(monkeypatch):
    x = tf.placeholder(tf.float32, [None, 6, 4])
    cell = tf.nn.rnn_cell.DropoutWrapper(CELLS["lstm"](), output_keep_prob=0.6, state_keep_prob=0.7, seed=4)
    assert both_ways(network(cell, x), {x: random(5, 6, 4)}, monkeypatch) >= 1


def test_inputs_whose_rows_lie_apart(monkeypatch):
    x, w = tf.placeholder(tf.float32, [3, 8, 4]), tf.constant(random(4, 4) * 0.3)
    sums = [tf.matmul(row, w) for row in tf.unstack(x, axis=1)]
    found = sums[0]
    for other in sums[1:]:
        found = tf.matmul(found, w) + other
    assert both_ways([found, sums[3]], {x: random(3, 8, 4)}, monkeypatch) == 2


def test_weights_are_summed_up_at_once(monkeypatch):
    """What programs leave for the gradients of weights lies in memory as one matrix, or a few."""
    found = []
    original = joined_products._piled
    monkeypatch.setattr(joined_products, "_piled", lambda *xs: (piles := list(original(*xs)), found.append(len(piles)))[0])
    for steps, piles in ((6, 1), (21, 3)):
        tf.reset_default_graph()
        x = tf.placeholder(tf.float32, [None, steps, 4])
        with tf.Session() as sess:
            fetches = network(CELLS["lstm"](), x)[-2:]
            sess.run(tf.global_variables_initializer())
            sess.run(fetches, {x: random(5, steps, 4)})
        assert found == [piles] * 2
        found.clear()


def test_long_networks_are_cut(monkeypatch):
    x = tf.placeholder(tf.float32, [None, 30, 4])
    assert both_ways(network(CELLS["gru"](), x), {x: random(5, 30, 4)}, monkeypatch) == 8 + 8


def test_programs_are_made_for_a_few_shapes(monkeypatch):
    monkeypatch.setattr(row_programs, "MOST_SHAPES", 2)
    x = tf.placeholder(tf.float32, [None, 5, 4])
    fetches = network(CELLS["basic"](), x)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for rows in (1, 2, 3, 2, 1):
            one = sess.run(fetches[4], {x: random(rows, 5, 4)})
            np.testing.assert_allclose(one, np.concatenate([sess.run(fetches[4], {x: r[None]}) for r in random(rows, 5, 4)]), atol=1e-6)
