"""How loops run: compiled for the shapes that come, with lists kept outside of the steps."""

import numpy as np
import pytest

import everflow as tf
from everflow.runtime import loops as loop_steps


def recurrent(x, w, count=4):
    return tf.while_loop(lambda i, h: i < count, lambda i, h: (i + 1, tf.tanh(tf.matmul(h, w) + x)), [0, x])[1]


def compiled_loops(sess):
    return list(sess._context.loops.values())


def expected(x, w, count=4):
    h, hs = x, []
    for _ in range(count):
        hs.append(h)
        h = np.tanh(h @ w + x)
    dh, dw = np.ones_like(h), 0
    for before, after in zip(reversed(hs), [h, *reversed(hs[1:])]):
        dz = dh * (1 - after**2)
        dw, dh = dw + before.T @ dz, dz @ w.T
    return h, dw


def test_a_loop_is_compiled_for_each_shape_and_then_for_any(monkeypatch):
    monkeypatch.setattr(loop_steps, "MOST_SHAPES", 3)
    x, w = tf.placeholder(tf.float32, [None, 2]), tf.constant([[0.5, -1.0], [0.25, 1.0]])
    y = recurrent(x, w)
    dw = tf.gradients(y, w)[0]
    with tf.Session() as sess:
        for rows in (1, 2, 2, 3, 4, 5, 1):
            value = np.random.RandomState(rows).randn(rows, 2).astype(np.float32)
            found = sess.run([y, dw], {x: value})
            for a, b in zip(found, expected(value, np.array([[0.5, -1.0], [0.25, 1.0]], np.float32))):
                np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)
        assert [len(loop.compiled) for loop in compiled_loops(sess)] == [4, 4]


def test_known_shapes_reach_all_of_the_body():
    x, w = tf.placeholder(tf.float32, [None, 2]), tf.eye(2)
    dw = tf.gradients(recurrent(x, w), w)[0]
    with tf.Session() as sess:
        sess.run(dw, {x: np.ones((3, 2))})
        kinds = {c.node.type for loop in compiled_loops(sess) for steps in loop.compiled.values() for c in steps.body.calls}
    assert not kinds & {"_SumToShape", "_HostShape", "TensorListPushBack", "TensorListPopBack", "_AsTensor"}


def test_a_variable_that_changes_its_shape_is_not_taken_for_one_that_does_not():
    x = tf.placeholder(tf.float32, [None])
    grown, kept = tf.while_loop(
        lambda y, z: tf.size(y) < 20, lambda y, z: (tf.concat([y, z], 0), z * 2.0), [x, x], [tf.TensorShape([None])] * 2
    )
    with tf.Session() as sess:
        found, last = sess.run([grown, kept], {x: [1.0, 2.0]})
        assert found.tolist() == [1, 2, *(f * 2**k for k in range(9) for f in (1, 2))]
        assert last.tolist() == [512, 1024]


def test_a_step_that_broadcasts_its_variable_once():
    """After one iteration the variable has another shape: what holds at the start does not hold in the loop."""
    x = tf.placeholder(tf.float32, [None, 2])
    ones = tf.ones([3, 2])
    y = tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y + ones), [0, x], [tf.TensorShape([]), tf.TensorShape([None, 2])])[1]
    dx = tf.gradients(y, x)[0]
    with tf.Session() as sess:
        value, gradient = sess.run([y, dx], {x: [[1.0, 2.0]]})
    assert value.tolist() == [[4, 5]] * 3
    assert gradient.tolist() == [[3, 3]]


def test_popping_more_than_there_is_fails():
    items = tf.raw_ops.EmptyTensorList(element_shape=tf.constant([], tf.int32), max_num_elements=-1, element_dtype=tf.float32)
    items = tf.raw_ops.TensorListPushBack(input_handle=items, tensor=7.0)

    def body(i, items, total):
        items, value = tf.raw_ops.TensorListPopBack(input_handle=items, element_shape=tf.constant([], tf.int32), element_dtype=tf.float32)
        return i + 1, items, total + value

    n = tf.placeholder(tf.int32, [])
    total = tf.while_loop(lambda i, *_: i < n, body, [0, items, 0.0])[2]
    with tf.Session() as sess:
        assert sess.run(total, {n: 1}) == 7
        with pytest.raises(tf.errors.InvalidArgumentError, match="Trying to pop from an empty list"):
            sess.run(total, {n: 2})
        assert sess.run(total, {n: 1}) == 7


def test_pushing_more_than_a_list_may_hold_fails():
    items = tf.raw_ops.EmptyTensorList(element_shape=tf.constant([], tf.int32), max_num_elements=2, element_dtype=tf.float32)

    def body(i, items):
        return i + 1, tf.raw_ops.TensorListPushBack(input_handle=items, tensor=tf.cast(i, tf.float32))

    n = tf.placeholder(tf.int32, [])
    items = tf.while_loop(lambda i, _: i < n, body, [0, items])[1]
    stacked = tf.raw_ops.TensorListStack(input_handle=items, element_shape=tf.constant([], tf.int32), element_dtype=tf.float32)
    with tf.Session() as sess:
        assert sess.run(stacked, {n: 2}).tolist() == [0, 1]
        with pytest.raises(tf.errors.InvalidArgumentError, match="full list"):
            sess.run(stacked, {n: 3})


def test_gradients_that_nobody_asks_for_are_not_built():
    x, w = tf.placeholder(tf.float32, [4, 3, 2]), tf.get_variable("w", [2, 2])
    y = tf.nn.dynamic_rnn(tf.nn.rnn_cell.BasicRNNCell(2), tf.tensordot(x, w, 1), dtype=tf.float32)[0]
    cell = [v for v in tf.global_variables() if v is not w]

    def arrays(xs):
        before = len(tf.get_default_graph().as_graph_def().library.function)
        tf.gradients(y, xs)
        bodies = tf.get_default_graph().as_graph_def().library.function[before:]
        return sum(n.op == "TensorArrayWriteV3" for f in bodies for n in f.node_def)

    assert arrays(cell) == 0
    assert arrays([w]) > 0


def test_values_of_which_only_the_shape_is_needed_are_not_kept():
    x = tf.placeholder(tf.float32, [None, 2])
    bias = tf.placeholder(tf.float32, [None, 2])

    def body(i, h):
        # The product's own value is not needed for gradients, nor is that of the sum: their shapes are.
        return i + 1, tf.tanh(tf.sigmoid(h) * x + bias)

    y = tf.while_loop(lambda i, h: i < 3, body, [0, x])[1]
    gradients = tf.gradients(y, [x, bias])
    with tf.Session() as sess:
        value = np.array([[0.5, -1.0], [2.0, 0.25]], np.float32)
        found = sess.run(gradients, {x: value, bias: value[:1]})
        kept = [t.op.type for loop in compiled_loops(sess) for _, t in loop.pushed]
    assert sorted(kept) == ["Sigmoid", "Tanh"]

    def forward(x, b):
        h = x
        for _ in range(3):
            h = np.tanh(1 / (1 + np.exp(-h)) * x + b)
        return h.sum()

    for gradient, wrt in zip(found, (0, 1)):
        given = [value.astype(float), value[:1].astype(float)]
        for at in np.ndindex(given[wrt].shape):
            moved = [[g.copy() for g in given] for _ in range(2)]
            moved[0][wrt][at] += 1e-5
            moved[1][wrt][at] -= 1e-5
            assert abs((forward(*moved[0]) - forward(*moved[1])) / 2e-5 - gradient[at]) < 1e-3
