"""The optimizers of tf.contrib.opt: one or two steps, worked out by hand."""

import numpy as np
import pytest

import everflow as tf


def after(optimizer, gradient, start, steps=1, resource=False, **kwargs):
    w = tf.get_variable("w", initializer=np.asarray(start, np.float32), use_resource=resource)
    step = tf.get_variable("step", initializer=np.int64(0), trainable=False)
    train = optimizer.apply_gradients([(gradient, w)], global_step=step, **kwargs)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for _ in range(steps):
            session.run(train)
        return session.run(w)


def rows(values, indices, shape=None):
    return tf.IndexedSlices(tf.constant(values), tf.constant(indices), shape and tf.constant(shape))


@pytest.mark.parametrize("resource", [False, True])
def test_adamax_steps_by_the_learning_rate_while_the_gradient_stays(resource):
    found = after(tf.contrib.opt.AdaMaxOptimizer(0.1), tf.constant([3.0, -0.5]), [1.0, 1.0], 2, resource)
    np.testing.assert_allclose(found, [0.8, 1.2], rtol=1e-4)


@pytest.mark.parametrize("resource", [False, True])
@pytest.mark.parametrize("make", [tf.contrib.opt.AdaMaxOptimizer, tf.contrib.opt.LazyAdamOptimizer])
def test_rows_without_a_gradient_stay(make, resource):
    found = after(make(0.1), rows([[1.0], [1.0]], [2, 2]), [[1.0], [2.0], [3.0]], 1, resource)
    np.testing.assert_allclose(found, [[1.0], [2.0], [2.9]], rtol=1e-5)


@pytest.mark.parametrize("resource", [False, True])
def test_nadam_looks_ahead(resource):
    # m = 0.1, v = 0.001; the step is 0.1 * sqrt(0.001) / 0.1 * (0.9 * m + 0.1) / sqrt(v).
    dense = after(tf.contrib.opt.NadamOptimizer(0.1), tf.constant([1.0]), [1.0], 1, resource)
    np.testing.assert_allclose(dense, [1 - 0.19], rtol=1e-5)


def test_add_sign_doubles_steps_that_agree():
    found = after(tf.contrib.opt.AddSignOptimizer(0.1), tf.constant([1.0, -2.0]), [1.0, 1.0])
    np.testing.assert_allclose(found, [0.8, 1.4], rtol=1e-6)


def test_power_sign_multiplies_steps_that_agree_by_its_base():
    found = after(tf.contrib.opt.PowerSignOptimizer(0.1, base=3.0), rows([1.0], [1], [2]), [1.0, 1.0])
    np.testing.assert_allclose(found, [1.0, 0.7], rtol=1e-6)


def test_the_influence_of_signs_may_decay_with_the_step():
    optimizer = tf.contrib.opt.AddSignOptimizer(0.1, sign_decay_fn=lambda step: tf.cast(step, tf.float32))
    np.testing.assert_allclose(after(optimizer, tf.constant([1.0]), [1.0], 3), [1 - 0.1 * (1 + 2 + 3)], rtol=1e-6)


@pytest.mark.parametrize("resource", [False, True])
@pytest.mark.parametrize("sparse", [False, True])
def test_weight_decay_comes_before_the_step(resource, sparse):
    optimizer = tf.contrib.opt.MomentumWOptimizer(0.5, learning_rate=0.1, momentum=0.9)
    gradient = rows([1.0], [0]) if sparse else tf.constant([1.0, 0.0])
    found = after(optimizer, gradient, [4.0, 8.0], 1, resource)
    np.testing.assert_allclose(found, [1.9, 8.0 if sparse else 4.0], rtol=1e-6)


def test_any_optimizer_can_be_extended_with_weight_decay():
    extended = tf.contrib.opt.extend_with_decoupled_weight_decay(tf.train.GradientDescentOptimizer)
    optimizer = extended(weight_decay=0.5, learning_rate=1.0)
    np.testing.assert_allclose(after(optimizer, tf.constant([1.0]), [4.0]), [1.0])


def test_only_the_named_variables_decay():
    w, b = tf.get_variable("w", initializer=[4.0]), tf.get_variable("b", initializer=[4.0])
    train = tf.contrib.opt.AdamWOptimizer(0.5, learning_rate=0.0).minimize(tf.reduce_sum(w + b), decay_var_list=[w])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(train)
        np.testing.assert_allclose(session.run([w, b]), [[2.0], [4.0]])


def test_lars_scales_the_rate_by_the_norms():
    optimizer = tf.contrib.opt.LARSOptimizer(1.0, momentum=0.0, weight_decay=0.0, eeta=0.5)
    np.testing.assert_allclose(after(optimizer, tf.constant([0.0, 2.0]), [3.0, 4.0]), [3.0, 4.0 - 0.5 * 5], rtol=1e-6)


def test_reg_adagrad_can_leave_its_accumulator_alone():
    optimizer = tf.contrib.opt.RegAdagradOptimizer(1.0, initial_accumulator_value=4.0)
    with optimizer.avoid_updating_slots():
        np.testing.assert_allclose(after(optimizer, tf.constant([1.0]), [1.0], 2), [0.0])
