import numpy as np
import pytest

import everflow as tf
from everflow.eager.context import eager_mode, graph_mode


def test_results_are_stacked():
    with eager_mode():
        x = tf.reshape(tf.range(12.0), [3, 4])
        np.testing.assert_array_equal(tf.vectorized_map(lambda r: tf.reduce_sum(r * r), x).numpy(), [14, 126, 366])
        sums, ones, nothing = tf.vectorized_map(lambda r: (r[0] + r[1], tf.ones([2]), None), (x, 2 * x))
        np.testing.assert_array_equal(sums.numpy(), 3 * x.numpy())
        np.testing.assert_array_equal(ones.numpy(), np.ones([3, 2]))
        assert nothing is None
        assert tf.vectorized_map(lambda r: r, tf.zeros([0, 3])).shape == (0, 3)
        assert tf.vectorized_map(lambda r: 5.0, x).numpy().tolist() == [5, 5, 5]
        with pytest.raises(tf.errors.InvalidArgumentError, match="slice index 0 of dimension 0 out of bounds"):
            tf.vectorized_map(lambda r: r, 1.0)


def test_gradients_and_graphs():
    with eager_mode():
        x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.vectorized_map(lambda r: tf.reduce_sum(r * r), x)
        np.testing.assert_array_equal(tape.gradient(y, x).numpy(), [[2, 4], [6, 8]])
    with graph_mode(), tf.Graph().as_default(), tf.Session() as session:
        rows = tf.placeholder(tf.float32, [None, 2])
        plus = tf.vectorized_map(lambda r: {"sum": r + 1.0}, rows)["sum"]
        assert plus.shape.as_list() == [None, 2]
        np.testing.assert_array_equal(session.run(plus, {rows: [[1, 2]]}), [[2, 3]])


def test_each_element_is_differentiated_by_what_lies_before_it(session):
    weights = tf.get_variable("weights", initializer=[1.0, 2.0])
    rows = tf.constant([[3.0, 4.0], [-2.0, 1.0]])
    losses = 0.5 * tf.reduce_sum(tf.squared_difference(rows, weights), 1)
    gradients = tf.vectorized_map(lambda loss: tf.gradients(loss, weights)[0], losses)
    assert gradients.shape.as_list() == [2, 2]
    session.run(tf.global_variables_initializer())
    assert session.run(gradients).tolist() == [[-2, -2], [3, 1]]


def test_random_numbers_are_drawn_for_each_element(session):
    drawn = tf.vectorized_map(lambda r: r * 0.0 + tf.random_uniform([]), tf.zeros([20]))
    assert len(set(session.run(drawn).tolist())) > 15


def test_what_a_function_branches_on_may_differ_between_elements(session):
    found = tf.vectorized_map(lambda r: tf.cond(r > 0, lambda: r * 2.0, lambda: -r), tf.constant([1.0, -3.0]))
    assert session.run(found).tolist() == [2, 3]
