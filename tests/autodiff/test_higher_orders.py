"""Derivatives of derivatives of control flow, against finite differences."""

import pytest

import everflow as tf


def loop(n, body, start):
    return tf.while_loop(lambda i, y: i < n, lambda i, y: (i + 1, body(i, y)), [0, start])[1]


def with_variables(x):
    v, r = tf.Variable(1.5, dtype=tf.float64), tf.Variable(0.5, dtype=tf.float64, use_resource=True)
    return loop(3, lambda i, y: tf.sin(y * v) * x * r, x)


FUNCTIONS = {
    "loop": lambda x: loop(4, lambda i, y: tf.sin(y) * x, x),
    "cond": lambda x: tf.cond(x > 0.5, lambda: x * x * x, lambda: tf.exp(x) * x),
    "cond in loop": lambda x: loop(4, lambda i, y: tf.cond(tf.equal(i % 2, 0), lambda: tf.sin(y) * x, lambda: y * y + x), x),
    "loop in cond": lambda x: tf.cond(x > 0.5, lambda: loop(3, lambda i, y: tf.sin(y) * x, x), lambda: x * x),
    "loop in loop": lambda x: loop(3, lambda i, y: loop(i, lambda j, z: tf.sin(z) * x, y) + y * y, x),
    "gradient in loop": lambda x: loop(3, lambda i, y: tf.gradients(tf.sin(y * x) * y, y)[0], x),
    "gradient of loop in loop": lambda x: loop(2, lambda i, y: tf.gradients(loop(2, lambda j, z: tf.sin(z) * y, y), y)[0] * x, x),
    "variables": with_variables,
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_derivatives_of_any_order(name):
    epsilon = 1e-5
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.placeholder(tf.float64, [])
        orders = [FUNCTIONS[name](x)]
        for _ in range(2):
            orders.append(tf.gradients(orders[-1], x)[0])
        sess.run(tf.global_variables_initializer())
        for at in (0.3, 0.7):
            found = sess.run(orders, {x: at})
            above, below = sess.run(orders, {x: at + epsilon}), sess.run(orders, {x: at - epsilon})
            for k in (0, 1):
                assert found[k + 1] == pytest.approx((above[k] - below[k]) / (2 * epsilon), rel=1e-4, abs=1e-4)


def test_a_loop_can_be_differentiated_again_after_it_ran():
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.constant(0.5)
        y = loop(3, lambda i, y: y * y + x, x)
        (first,) = tf.gradients(y, x)
        before = sess.run([y, first])
        (second,) = tf.gradients(first, x)
        (again,) = tf.gradients(y, x)
        value, one, other, two = sess.run([y, first, again, second])
        assert [value, one] == before
        assert other == one
        assert two > 0
