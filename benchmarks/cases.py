"""The programs that are timed. Each runs unchanged on TensorFlow 1.15, on today's TensorFlow (compat.v1) and on Everflow.

`python cases.py NAME` prints one line of JSON: {"case": NAME, "seconds": time of one iteration}.
"""
import json
import os
import subprocess
import sys
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")

import numpy as np
import tensorflow as tf

if not tf.__version__.startswith("1."):
    tf = tf.compat.v1
    tf.disable_v2_behavior()

CASES = {}


def case(f):
    CASES[f.__name__] = f
    return f


def timed(run, seconds=3.0, warm=3, least=5):
    """The time of one call: the median of as many as fit into a few seconds."""
    for _ in range(warm):
        run()
    times = []
    end = time.perf_counter() + seconds
    while len(times) < least or time.perf_counter() < end:
        t = time.perf_counter()
        run()
        times.append(time.perf_counter() - t)
    return float(np.median(times))


def session():
    sess = tf.Session()
    sess.run(tf.global_variables_initializer())
    return sess


@case
def trivial_run():
    """One small op."""
    x = tf.constant(1.0) + tf.placeholder_with_default(2.0, [])
    sess = session()
    return timed(lambda: sess.run(x), seconds=1.5)


def batch(n, shape, classes=10):
    rng = np.random.RandomState(0)
    return rng.rand(n, *shape).astype(np.float32), rng.randint(0, classes, n).astype(np.int64)


def dense(x, n_in, n_out, name):
    w = tf.get_variable(name + "_w", [n_in, n_out], initializer=tf.truncated_normal_initializer(stddev=0.1))
    b = tf.get_variable(name + "_b", [n_out], initializer=tf.zeros_initializer())
    return tf.matmul(x, w) + b


def loss_of(logits, labels):
    return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits))


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
def while_rnn_train():
    """A training step of a recurrent network in a while loop: 50 steps of 128 units, batch 64."""
    units, steps = 128, 50
    x = tf.placeholder(tf.float32, [None, units])
    w = tf.get_variable("w", [units, units], initializer=tf.truncated_normal_initializer(stddev=0.05))
    u = tf.get_variable("u", [units, units], initializer=tf.truncated_normal_initializer(stddev=0.05))
    inputs = tf.matmul(x, u)
    _, h = tf.while_loop(lambda i, h: i < steps, lambda i, h: (i + 1, tf.tanh(tf.matmul(h, w) + inputs)), [tf.constant(0), inputs])
    train = tf.train.GradientDescentOptimizer(0.01).minimize(tf.reduce_mean(tf.square(h)))
    sess, (xs, _) = session(), batch(64, (units,))
    return timed(lambda: sess.run(train, {x: xs}))


def dynamic_rnn(x):
    """LSTMCell of 128 units over time; today's TensorFlow has the cell under Keras alone."""
    if hasattr(tf.nn.rnn_cell, "LSTMCell"):
        return tf.nn.dynamic_rnn(tf.nn.rnn_cell.LSTMCell(128), x, dtype=tf.float32)[0]
    return tf.keras.layers.LSTM(128, return_sequences=True)(x)


@case
def dynamic_rnn_forward():
    """dynamic_rnn with LSTMCell: 50 steps of 128 units, batch 64."""
    x = tf.placeholder(tf.float32, [None, 50, 128])
    outputs = dynamic_rnn(x)
    sess, (xs, _) = session(), batch(64, (50, 128))
    return timed(lambda: sess.run(outputs, {x: xs}))


@case
def dynamic_rnn_train():
    """A training step of the same."""
    x = tf.placeholder(tf.float32, [None, 50, 128])
    train = tf.train.GradientDescentOptimizer(0.01).minimize(tf.reduce_mean(tf.square(dynamic_rnn(x))))
    sess, (xs, _) = session(), batch(64, (50, 128))
    return timed(lambda: sess.run(train, {x: xs}))


@case
def attention():
    """A training step of a layer of self-attention: batch 16, 64 positions, 8 heads of 32."""
    batch_size, length, heads, width = 16, 64, 8, 32
    size = heads * width
    x = tf.placeholder(tf.float32, [None, length, size])

    def projected(y, name):
        w = tf.get_variable(name, [size, size], initializer=tf.truncated_normal_initializer(stddev=0.05))
        return tf.reshape(tf.matmul(tf.reshape(y, [-1, size]), w), [-1, length, size])

    def split(y):
        return tf.transpose(tf.reshape(y, [-1, length, heads, width]), [0, 2, 1, 3])

    q, k, v = (split(projected(x, name)) for name in ("query", "key", "value"))
    weights = tf.nn.softmax(tf.matmul(q, k, transpose_b=True) * width ** -0.5)
    found = tf.reshape(tf.transpose(tf.matmul(weights, v), [0, 2, 1, 3]), [-1, length, size])
    y = x + projected(found, "output")
    mean, variance = tf.nn.moments(y, [2], keep_dims=True)
    train = tf.train.AdamOptimizer(1e-3).minimize(tf.reduce_mean(tf.square((y - mean) * tf.rsqrt(variance + 1e-6) - x)))
    sess, (xs, _) = session(), batch(batch_size, (length, size))
    return timed(lambda: sess.run(train, {x: xs}))


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
def parse_example():
    """Parsing 10,000 Examples of floats, a string and any number of ids."""
    rng = np.random.RandomState(0)

    def example(i):
        return tf.train.Example(features=tf.train.Features(feature={
            "values": tf.train.Feature(float_list=tf.train.FloatList(value=rng.rand(16))),
            "ids": tf.train.Feature(int64_list=tf.train.Int64List(value=rng.randint(0, 100000, rng.randint(1, 20)))),
            "name": tf.train.Feature(bytes_list=tf.train.BytesList(value=[b"example number %d" % i])),
            "label": tf.train.Feature(int64_list=tf.train.Int64List(value=[i % 10])),
        })).SerializeToString()

    serialized = tf.placeholder(tf.string, [None])
    features = {"values": tf.FixedLenFeature([16], tf.float32), "ids": tf.VarLenFeature(tf.int64),
                "name": tf.FixedLenFeature([], tf.string), "label": tf.FixedLenFeature([], tf.int64)}
    parsed = tf.parse_example(serialized, features)
    fetches = [tf.reduce_sum(parsed["values"]), tf.size(parsed["ids"].values), tf.size(parsed["name"]), tf.reduce_max(parsed["label"])]
    sess, data = session(), np.array([example(i) for i in range(10000)], object)
    return timed(lambda: sess.run(fetches, {serialized: data}))


@case
def embedding_adagrad():
    """A training step of embeddings with sparse Adagrad: 1,024 examples of 10 ids of a table of 200,000 x 16."""
    ids, y = tf.placeholder(tf.int64, [None, 10]), tf.placeholder(tf.int64, [None])
    table = tf.get_variable("table", [200000, 16], initializer=tf.random_uniform_initializer(-0.05, 0.05, seed=1))
    features = tf.reduce_mean(tf.nn.embedding_lookup(table, ids), axis=1)
    train = tf.train.AdagradOptimizer(0.1).minimize(loss_of(dense(features, 16, 10, "logits"), y))
    rng = np.random.RandomState(0)
    sess, feed = session(), {ids: rng.randint(0, 200000, (1024, 10)), y: rng.randint(0, 10, 1024)}
    return timed(lambda: sess.run(train, feed))


@case
def import_library():
    """`import tensorflow`, or `import everflow`."""
    name = sys.modules["tensorflow"].__name__
    code = "import time; t = time.perf_counter(); import %s; print(time.perf_counter() - t)" % name
    run = [sys.executable, "-c", code]
    return min(float(subprocess.run(run, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout) for _ in range(3))


if __name__ == "__main__":
    for name in sys.argv[1:] or CASES:
        with tf.Graph().as_default():
            print(json.dumps({"case": name, "seconds": CASES[name]()}), flush=True)
