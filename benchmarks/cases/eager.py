"""Eager execution: what one small op costs, training steps on a tape, and the same steps as functions and in a session."""

import numpy as np
from timing import batch, case, loss_of, tf, timed

tf.enable_eager_execution()


def repeated(run, times=1000):
    """The time of one of many short calls."""

    def many():
        for _ in range(times):
            run()

    return timed(many, seconds=2.0) / times


@case
def eager_add_scalar():
    """`x + 1.0` on a scalar."""
    x = tf.constant(2.0)
    return repeated(lambda: x + 1.0)


@case
def eager_add_100():
    """`x + 1.0` on 100 floats."""
    x = tf.constant(np.ones(100, np.float32))
    return repeated(lambda: x + 1.0)


@case
def eager_matmul_2x2():
    """tf.matmul of 2 by 2."""
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    return repeated(lambda: tf.matmul(x, x))


def regression_data():
    rng = np.random.RandomState(0)
    x = rng.rand(100, 3).astype(np.float32)
    return x, (x.dot([[1.0], [2.0], [3.0]]) + 0.5).astype(np.float32)


def regression_step(xs, ys, w, b):
    with tf.GradientTape() as tape:
        error = tf.matmul(xs, w) + b - ys
        loss = tf.reduce_mean(tf.square(error))
    dw, db = tape.gradient(loss, [w, b])
    w.assign_sub(0.1 * dw)
    b.assign_sub(0.1 * db)
    return loss


def regression():
    xs, ys = regression_data()
    w, b = tf.Variable(tf.zeros([3, 1]), use_resource=True), tf.Variable(tf.zeros([1]), use_resource=True)
    return tf.constant(xs), tf.constant(ys), w, b


@case
def eager_regression():
    """A step of linear regression on a tape: 100 examples of 3 numbers."""
    xs, ys, w, b = regression()
    return repeated(lambda: regression_step(xs, ys, w, b), 100)


@case
def defun_regression():
    """The same step as a function."""
    xs, ys, w, b = regression()
    step = tf.function(lambda: regression_step(xs, ys, w, b))
    return repeated(step, 100)


@case
def session_regression():
    """The same step in a session."""
    with tf.Graph().as_default():
        xs, ys, w, b = regression()
        loss = tf.reduce_mean(tf.square(tf.matmul(xs, w) + b - ys))
        with tf.control_dependencies([tf.train.GradientDescentOptimizer(0.1).minimize(loss)]):
            done = tf.identity(loss)
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            return repeated(lambda: sess.run(done), 100)


def convolutional():
    """Variables of two convolutions and two dense layers."""
    shapes = [[5, 5, 1, 32], [32], [5, 5, 32, 64], [64], [7 * 7 * 64, 256], [256], [256, 10], [10]]
    rng = np.random.RandomState(1)
    return [tf.Variable((0.05 * rng.randn(*s)).astype(np.float32), use_resource=True) for s in shapes]


def convolutional_loss(variables, xs, ys):
    w1, b1, w2, b2, w3, b3, w4, b4 = variables
    x = tf.nn.relu(tf.nn.conv2d(xs, w1, strides=[1, 1, 1, 1], padding="SAME") + b1)
    x = tf.nn.max_pool(x, [1, 2, 2, 1], [1, 2, 2, 1], "SAME")
    x = tf.nn.relu(tf.nn.conv2d(x, w2, strides=[1, 1, 1, 1], padding="SAME") + b2)
    x = tf.nn.max_pool(x, [1, 2, 2, 1], [1, 2, 2, 1], "SAME")
    x = tf.nn.relu(tf.matmul(tf.reshape(x, [-1, 7 * 7 * 64]), w3) + b3)
    return loss_of(tf.matmul(x, w4) + b4, ys)


def convolutional_step(variables, xs, ys):
    with tf.GradientTape() as tape:
        loss = convolutional_loss(variables, xs, ys)
    for variable, gradient in zip(variables, tape.gradient(loss, variables)):
        variable.assign_sub(0.01 * gradient)
    return loss


@case
def eager_cnn():
    """A training step of a small convolutional network on a tape: batch 64."""
    variables = convolutional()
    xs, ys = [tf.constant(v) for v in batch(64, (28, 28, 1))]
    return timed(lambda: convolutional_step(variables, xs, ys))


@case
def defun_cnn():
    """The same step as a function."""
    variables = convolutional()
    xs, ys = [tf.constant(v) for v in batch(64, (28, 28, 1))]
    step = tf.function(lambda x, y: convolutional_step(variables, x, y))
    return timed(lambda: step(xs, ys))


@case
def session_cnn():
    """The same step in a session."""
    data = batch(64, (28, 28, 1))
    with tf.Graph().as_default():
        variables = convolutional()
        xs, ys = [tf.constant(v) for v in data]
        loss = convolutional_loss(variables, xs, ys)
        with tf.control_dependencies([tf.train.GradientDescentOptimizer(0.01).minimize(loss)]):
            done = tf.identity(loss)
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            return timed(lambda: sess.run(done))
