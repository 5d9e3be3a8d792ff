"""Steps of a session, and what it takes to build and plan them."""

import subprocess
import sys
import time

import numpy as np
from timing import batch, case, dense, loss_of, session, tf, timed


@case
def trivial_run():
    """One small op."""
    x = tf.constant(1.0) + tf.placeholder_with_default(2.0, [])
    sess = session()
    return timed(lambda: sess.run(x), seconds=1.5)


@case
def softmax_regression():
    """A training step of softmax regression on digits, batch 100."""
    x, y = tf.placeholder(tf.float32, [None, 784]), tf.placeholder(tf.int64, [None])
    train = tf.train.GradientDescentOptimizer(0.5).minimize(loss_of(dense(x, 784, 10, "logits"), y))
    sess, (xs, ys) = session(), batch(100, (784,))
    return timed(lambda: sess.run(train, {x: xs, y: ys}))


@case
def mlp_adam():
    """A training step of a 784-512-256-10 network with Adam, batch 128."""
    x, y = tf.placeholder(tf.float32, [None, 784]), tf.placeholder(tf.int64, [None])
    h = tf.nn.relu(dense(x, 784, 512, "h1"))
    h = tf.nn.relu(dense(h, 512, 256, "h2"))
    train = tf.train.AdamOptimizer(1e-3).minimize(loss_of(dense(h, 256, 10, "logits"), y))
    sess, (xs, ys) = session(), batch(128, (784,))
    return timed(lambda: sess.run(train, {x: xs, y: ys}))


def cnn(x):
    for i, (n_in, n_out) in enumerate([(1, 32), (32, 64)]):
        w = tf.get_variable("conv%d" % i, [5, 5, n_in, n_out], initializer=tf.truncated_normal_initializer(stddev=0.1))
        b = tf.get_variable("bias%d" % i, [n_out], initializer=tf.zeros_initializer())
        x = tf.nn.relu(tf.nn.bias_add(tf.nn.conv2d(x, w, strides=[1, 1, 1, 1], padding="SAME"), b))
        x = tf.nn.max_pool(x, [1, 2, 2, 1], [1, 2, 2, 1], "SAME")
    x = tf.nn.relu(dense(tf.reshape(x, [-1, 7 * 7 * 64]), 7 * 7 * 64, 1024, "fc"))
    return dense(x, 1024, 10, "logits")


@case
def cnn_train():
    """A training step of the MNIST convolutional network with Adam, batch 64."""
    x, y = tf.placeholder(tf.float32, [None, 28, 28, 1]), tf.placeholder(tf.int64, [None])
    train = tf.train.AdamOptimizer(1e-4).minimize(loss_of(cnn(x), y))
    sess, (xs, ys) = session(), batch(64, (28, 28, 1))
    return timed(lambda: sess.run(train, {x: xs, y: ys}), seconds=6)


@case
def cnn_predict():
    """Prediction with the same network, batch 64."""
    x = tf.placeholder(tf.float32, [None, 28, 28, 1])
    out = tf.nn.softmax(cnn(x))
    sess, (xs, _) = session(), batch(64, (28, 28, 1))
    return timed(lambda: sess.run(out, {x: xs}), seconds=4)


@case
def lstm_train():
    """A training step of a 28-step LSTM of 128 units, unrolled, batch 64."""
    units = 128
    x, y = tf.placeholder(tf.float32, [None, 28, 28]), tf.placeholder(tf.int64, [None])
    w = tf.get_variable("w", [28 + units, 4 * units], initializer=tf.truncated_normal_initializer(stddev=0.1))
    b = tf.get_variable("b", [4 * units], initializer=tf.zeros_initializer())
    h = c = tf.zeros(tf.stack([tf.shape(x)[0], units]))
    h.set_shape([None, units])
    c.set_shape([None, units])
    for step in tf.unstack(x, axis=1):
        i, j, f, o = tf.split(tf.matmul(tf.concat([step, h], 1), w) + b, 4, axis=1)
        c = c * tf.sigmoid(f + 1.0) + tf.sigmoid(i) * tf.tanh(j)
        h = tf.tanh(c) * tf.sigmoid(o)
    train = tf.train.AdamOptimizer(1e-3).minimize(loss_of(dense(h, units, 10, "logits"), y))
    sess, (xs, ys) = session(), batch(64, (28, 28))
    return timed(lambda: sess.run(train, {x: xs, y: ys}), seconds=5)


@case
def build_graph():
    """Building a graph of 2,000 ops."""

    def build():
        with tf.Graph().as_default():
            x = tf.placeholder(tf.float32, [None, 8])
            one = tf.ones([8])
            for i in range(999):
                x = tf.nn.relu(x * one) if i % 2 else tf.tanh(x + one)

    return timed(build, warm=1, least=3)


@case
def gradients_chain():
    """tf.gradients of a chain of 1,000 ops."""

    def build():
        with tf.Graph().as_default():
            x = y = tf.placeholder(tf.float32, [None, 8])
            for _ in range(500):
                y = tf.tanh(y * 1.5)
            t = time.perf_counter()
            tf.gradients(y, x)
            return time.perf_counter() - t

    build()
    return float(np.median([build() for _ in range(5)]))


@case
def first_run():
    """Planning the first run of a graph of 1,000 ops."""
    x = y = tf.placeholder(tf.float32, [None, 8])
    for _ in range(500):
        y = tf.tanh(y * 1.5)
    sess = tf.Session()
    value = np.ones((4, 8), np.float32)
    sess.run(x * 2.0, {x: value})
    t = time.perf_counter()
    sess.run(y, {x: value})
    return time.perf_counter() - t


@case
def import_library():
    """`import tensorflow`, or `import everflow`."""
    name = sys.modules["tensorflow"].__name__
    code = "import time; t = time.perf_counter(); import %s; print(time.perf_counter() - t)" % name
    run = [sys.executable, "-c", code]
    return min(float(subprocess.run(run, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout) for _ in range(3))
