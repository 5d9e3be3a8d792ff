"""An op that has to run after a write of a reference variable sees what was written; one that need not does not."""

import numpy as np

import everflow as tf


def results(fetches, times=2):
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return [session.run(fetches) for _ in range(times)]


def test_ops_under_control_dependencies_see_the_write():
    v = tf.Variable(1.0)
    with tf.control_dependencies([tf.assign(v, v * 2.0)]):
        after = v + 0.0, tf.identity(v)
    assert results(after) == [(2.0, 2.0), (4.0, 4.0)]


def test_a_dependency_may_lead_through_other_ops():
    v = tf.Variable(1.0)
    with tf.control_dependencies([tf.assign_add(v, 1.0)]):
        one = tf.constant(1.0) * 1.0
    assert results(v * one) == [2.0, 3.0]


def test_what_was_computed_before_the_write_stays():
    v = tf.Variable(1.0)
    before = v + 0.0
    with tf.control_dependencies([before]):
        change = tf.assign_add(v, 1.0)
    with tf.control_dependencies([change]):
        after = tf.identity(before), v * 1.0
    assert results(after) == [(1.0, 2.0), (2.0, 3.0)]


def test_an_identity_of_the_variable_is_the_variable():
    v = tf.Variable([1.0, 2.0])
    read = tf.identity(v)
    with tf.control_dependencies([tf.assign_add(v, [1.0, 1.0])]):
        after = read + 0.0
    np.testing.assert_array_equal(results(after), [[2.0, 3.0], [3.0, 4.0]])


def test_a_resource_variable_was_read_where_the_read_stands():
    v = tf.Variable([1.0, 2.0], use_resource=True)
    read = tf.identity(v)
    with tf.control_dependencies([read]):
        change = tf.assign_add(v, [1.0, 1.0])
    with tf.control_dependencies([change]):
        after = read + 0.0
    np.testing.assert_array_equal(results(after), [[1.0, 2.0], [2.0, 3.0]])


def test_a_variable_is_assigned_a_rearrangement_of_itself():
    v = tf.Variable(np.arange(9.0).reshape(3, 3))
    np.testing.assert_array_equal(results(tf.assign(v, tf.transpose(v)), 1)[0], np.arange(9.0).reshape(3, 3).T)
    rolled = np.arange(9.0).reshape(3, 3)[[2, 0, 1]]
    np.testing.assert_array_equal(results(tf.scatter_update(v, [1, 2, 0], v), 1)[0], rolled)


def test_a_fetched_read_shows_what_the_step_leaves_behind():
    v = tf.Variable(1.0)
    read, deeper, computed = v.value(), tf.stop_gradient(tf.identity(v)), v + 0.0
    with tf.control_dependencies([read, deeper, computed]):
        change = tf.assign_add(v, 1.0)
    assert results([read, deeper, computed, change]) == [[2.0, 2.0, 1.0, 2.0], [3.0, 3.0, 2.0, 3.0]]


def test_a_fetched_read_shows_what_an_optimizer_wrote():
    v = tf.Variable(1.0)
    read = v.read_value()
    train = tf.train.GradientDescentOptimizer(1.0).minimize(-read)
    assert results([read, train]) == [[2.0, None], [3.0, None]]


def test_a_fetched_read_of_a_resource_was_made_where_it_stands():
    v = tf.Variable(1.0, use_resource=True)
    read = v.read_value()
    with tf.control_dependencies([read]):
        change = tf.assign_add(v, 1.0)
    assert results([read, change]) == [[1.0, 2.0], [2.0, 3.0]]


def test_a_read_after_a_branch_sees_what_the_branch_wrote():
    v = tf.Variable(1.0)
    flag = tf.placeholder_with_default(True, [])
    branch = tf.cond(flag, lambda: tf.identity(tf.assign_add(v, 1.0)), lambda: tf.identity(v))
    with tf.control_dependencies([branch]):
        after = tf.identity(v) * 10.0
    assert results([v.value(), after]) == [[2.0, 20.0], [3.0, 30.0]]
