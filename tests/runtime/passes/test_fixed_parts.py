"""What is the same in all iterations of a loop is computed once."""

import numpy as np
import pytest
from planning import random, types

import everflow as tf


def ran(fetches, feed):
    """What a run gives, and the steps of the loops that it ran."""
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        found = sess.run(fetches, feed)
        return found, [steps for loop in sess._context.loops.values() for steps in loop.compiled.values()]


def repeated(body, start, times=3):
    return tf.while_loop(lambda i, _: i < times, lambda i, x: (i + 1, body(x, i)), [0, start])[1]


def test_what_depends_on_nothing_that_changes_is_computed_ahead():
    w, x = tf.placeholder(tf.float32, [4, 4]), tf.placeholder(tf.float32, [2, 4])
    y = repeated(lambda x, i: tf.matmul(x, tf.nn.softmax(tf.transpose(w) * 2.0)), x)
    fed = {w: random(4, 4), x: random(2, 4)}
    found, (steps,) = ran(y, fed)
    e = np.exp(fed[w].T * 2)
    np.testing.assert_allclose(found, fed[x] @ np.linalg.matrix_power(e / e.sum(1, keepdims=True), 3), rtol=1e-5)
    assert "Softmax" in types(steps.ahead) and "Softmax" not in types(steps.body) and "MatMul" in types(steps.body)


def test_what_changes_or_has_effects_stays():
    x, v = tf.placeholder(tf.float32, [2]), tf.Variable(1.0, use_resource=True)

    def body(x, i):
        with tf.control_dependencies([v.assign_add(1.0)]):
            return x + v.read_value() + tf.exp(tf.cast(i, tf.float32)) * 0.0 + tf.random_uniform([2]) * 0.0

    found, (steps,) = ran(repeated(body, x), {x: [0.0, 10.0]})
    np.testing.assert_allclose(found, [9.0, 19.0])
    assert steps.ahead is None


def test_results_that_are_loop_variables_themselves():
    w = tf.placeholder(tf.float32, [3])
    found, (steps,) = ran(repeated(lambda x, i: tf.exp(w), tf.zeros([3])), {w: [0.0, 1.0, 2.0]})
    np.testing.assert_allclose(found, np.exp([0.0, 1.0, 2.0]), rtol=1e-6)
    assert types(steps.ahead) == ["Exp"]


def test_what_is_computed_ahead_is_not_overwritten():
    w, x = tf.placeholder(tf.float32, [3]), tf.placeholder(tf.float32, [3])
    y = repeated(lambda x, i: tf.nn.relu(tf.cumsum(w)) + x, x)
    np.testing.assert_allclose(ran(y, {w: [-1.0, 3.0, 1.0], x: [1.0, 2.0, 3.0]})[0], [1.0, 8.0, 12.0])


def test_errors_come_in_their_time_or_not_at_all():
    w, n = tf.placeholder(tf.float32, [None]), tf.placeholder(tf.int32, [])
    y = tf.while_loop(lambda i, _: i < n, lambda i, x: (i + 1, x + tf.gather(w, 7, name="taken")), [0, 0.0])[1]
    with tf.Session() as sess:
        assert sess.run(y, {w: [1.0], n: 0}) == 0.0
        with pytest.raises(tf.errors.InvalidArgumentError, match="taken"):
            sess.run(y, {w: [1.0], n: 1})
        assert sess.run(y, {w: np.arange(8.0), n: 2}) == 14.0


def test_two_threads_may_fail_ahead_at_once():
    w, n = tf.placeholder(tf.float32, [None]), tf.placeholder(tf.int32, [])
    y = tf.while_loop(lambda i, _: i < n, lambda i, x: (i + 1, x + tf.gather(w, 7)), [0, 0.0])[1]
    with tf.Session() as sess:
        sess.run(y, {w: np.arange(8.0), n: 0})
        ((steps,),) = (loop.compiled.values() for loop in sess._context.loops.values())
        runs = [0.0]

        def fail(*values):
            if runs:
                assert sess.run(y, {w: np.arange(8.0), n: 2}) == 14.0 + runs.pop()
            raise ValueError

        steps.ahead.call = fail
        assert sess.run(y, {w: np.arange(8.0), n: 1}) == 7.0


def test_assertions_hold_although_what_waits_for_them_is_computed_ahead():
    w = tf.placeholder(tf.float32, [None])

    def body(x, i):
        with tf.control_dependencies([tf.assert_positive(w, message="must be positive")]):
            return x + tf.reduce_sum(tf.sqrt(w))

    y = repeated(body, 0.0)
    with tf.Session() as sess:
        assert sess.run(y, {w: [1.0, 4.0]}) == 9.0
        with pytest.raises(tf.errors.InvalidArgumentError, match="must be positive"):
            sess.run(y, {w: [1.0, -4.0]})


def test_gradients_of_loops_with_fixed_parts():
    w, x = tf.placeholder(tf.float64, [3, 3]), tf.placeholder(tf.float64, [2, 3])
    y = repeated(lambda x, i: tf.tanh(tf.matmul(x, tf.sin(w))), x)
    point = {w: random(3, 3), x: random(2, 3)}
    with tf.Session() as sess:
        gradient = sess.run(tf.gradients(y, w)[0], point)
        for place in ((0, 1), (2, 2)):
            step = np.zeros((3, 3))
            step[place] = 1e-6
            more, less = (sess.run(tf.reduce_sum(y), {**point, w: point[w] + s}) for s in (step, -step))
            np.testing.assert_allclose(gradient[place], (more - less) / 2e-6, rtol=1e-5)


@pytest.mark.parametrize("flip", [False, True])
@pytest.mark.parametrize("places", [[0, 0, 0, 1, 1, 1], [0, 0, 0, 0, 1, 1], [0, 0, 0, 0, 0, 0], [0, 1, 2, 0, 1, 2], [0, 0, 1, 2, 2, 2]])
def test_products_with_matrices_that_a_batch_repeats(places, flip):
    memory, x = tf.placeholder(tf.float32, [None, 5, 4]), tf.placeholder(tf.float32, [None, 2, 4])

    def body(x, i):
        scores = tf.matmul(x, memory, transpose_b=True)
        return tf.matmul(tf.nn.softmax(scores), memory) if flip else tf.matmul(scores, memory) * 0.1

    fed = {memory: random(3, 5, 4)[places], x: random(6, 2, 4)}
    found, (steps,) = ran(repeated(body, x), fed)
    expected = fed[x]
    for _ in range(3):
        scores = expected @ fed[memory].swapaxes(1, 2)
        e = np.exp(scores)
        expected = e / e.sum(-1, keepdims=True) @ fed[memory] if flip else scores @ fed[memory] * 0.1
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)
    assert types(steps.body).count("_ProductInGroups") == 2


@pytest.mark.parametrize(("rows", "depth", "columns"), [(0, 4, 3), (2, 0, 3), (2, 4, 0), (0, 0, 0)])
def test_products_of_nothing_with_matrices_that_a_batch_repeats(rows, depth, columns):
    memory, x = tf.placeholder(tf.float32, [None, None, None]), tf.placeholder(tf.float32, [None, None, None])
    y = repeated(lambda y, i: y + tf.reduce_sum(tf.matmul(x + y, memory) * 0.0 + 1.0), 0.0)
    found, (steps,) = ran(y, {memory: np.ones((6, depth, columns)), x: np.ones((6, rows, depth))})
    assert found == 3 * 6 * rows * columns
    assert "_ProductInGroups" in types(steps.body)


def test_products_with_a_batch_of_another_size_fail_as_ever():
    memory, x = tf.placeholder(tf.float32, [None, 4, 4]), tf.placeholder(tf.float32, [None, 1, 4])
    y = repeated(lambda x, i: tf.matmul(x, memory, name="product"), x)
    with tf.Session() as sess, pytest.raises(tf.errors.InvalidArgumentError, match="compatible batch dimensions[^$]*product"):
        sess.run(y, {memory: np.zeros((4, 4, 4)), x: np.zeros((3, 1, 4))})


def test_products_with_a_small_batch_that_is_constant():
    x, w = tf.placeholder(tf.float32, [4, 1, 2]), tf.placeholder(tf.float32, [2])
    batch = np.repeat(random(2, 2, 2), 2, axis=0)
    fed = {x: random(4, 1, 2), w: random(2)}
    found, _ = ran(repeated(lambda x, i: tf.matmul(x, tf.constant(batch)) + w, x, 2), fed)
    np.testing.assert_allclose(found, (fed[x] @ batch + fed[w]) @ batch + fed[w], rtol=1e-5)
