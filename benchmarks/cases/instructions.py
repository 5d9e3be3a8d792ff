"""Loops, recurrent networks, attention, embeddings and parsing."""

import numpy as np
from timing import batch, case, dense, loss_of, session, tf, timed


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


@case
def while_rnn_inputs():
    """A training step of a small recurrent network over a sequence in a while loop: 40 steps of 32 inputs and 64 units, batch 32."""
    x = tf.placeholder(tf.float32, [32, 40, 32])
    w = tf.get_variable("w", [32, 64], initializer=tf.truncated_normal_initializer(stddev=0.1))
    u = tf.get_variable("u", [64, 64], initializer=tf.truncated_normal_initializer(stddev=0.1))
    b = tf.get_variable("b", [64], initializer=tf.zeros_initializer())
    sequence = tf.transpose(x, [1, 0, 2])
    _, h = tf.while_loop(
        lambda i, h: i < 40,
        lambda i, h: (i + 1, tf.tanh(tf.matmul(sequence[i], w) + tf.matmul(h, u) + b)),
        [tf.constant(0), tf.zeros([32, 64])],
    )
    train = tf.train.GradientDescentOptimizer(0.01).minimize(tf.reduce_mean(tf.square(h)))
    sess, (xs, _) = session(), batch(32, (40, 32))
    return timed(lambda: sess.run(train, {x: xs}))


def dynamic_rnn(x, kind):
    """LSTMCell or GRUCell of 128 units over time; today's TensorFlow has the cells under Keras alone."""
    if hasattr(tf.nn.rnn_cell, "LSTMCell"):
        return tf.nn.dynamic_rnn(getattr(tf.nn.rnn_cell, kind + "Cell")(128), x, dtype=tf.float32)[0]
    options = {"reset_after": False} if kind == "GRU" else {}
    return getattr(tf.keras.layers, kind)(128, return_sequences=True, **options)(x)


def forward(kind):
    x = tf.placeholder(tf.float32, [None, 50, 128])
    outputs = dynamic_rnn(x, kind)
    sess, (xs, _) = session(), batch(64, (50, 128))
    return timed(lambda: sess.run(outputs, {x: xs}))


def training(kind):
    x = tf.placeholder(tf.float32, [None, 50, 128])
    train = tf.train.GradientDescentOptimizer(0.01).minimize(tf.reduce_mean(tf.square(dynamic_rnn(x, kind))))
    sess, (xs, _) = session(), batch(64, (50, 128))
    return timed(lambda: sess.run(train, {x: xs}))


@case
def dynamic_rnn_forward():
    """dynamic_rnn with LSTMCell: 50 steps of 128 units, batch 64."""
    return forward("LSTM")


@case
def dynamic_rnn_train():
    """A training step of the same."""
    return training("LSTM")


@case
def dynamic_gru_forward():
    """dynamic_rnn with GRUCell: 50 steps of 128 units, batch 64."""
    return forward("GRU")


@case
def dynamic_gru_train():
    """A training step of the same."""
    return training("GRU")


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
    weights = tf.nn.softmax(tf.matmul(q, k, transpose_b=True) * width**-0.5)
    found = tf.reshape(tf.transpose(tf.matmul(weights, v), [0, 2, 1, 3]), [-1, length, size])
    y = x + projected(found, "output")
    mean, variance = tf.nn.moments(y, [2], keep_dims=True)
    train = tf.train.AdamOptimizer(1e-3).minimize(tf.reduce_mean(tf.square((y - mean) * tf.rsqrt(variance + 1e-6) - x)))
    sess, (xs, _) = session(), batch(batch_size, (length, size))
    return timed(lambda: sess.run(train, {x: xs}))


@case
def parse_example():
    """Parsing 10,000 Examples of floats, a string and any number of ids."""
    rng = np.random.RandomState(0)

    def example(i):
        return tf.train.Example(
            features=tf.train.Features(
                feature={
                    "values": tf.train.Feature(float_list=tf.train.FloatList(value=rng.rand(16))),
                    "ids": tf.train.Feature(int64_list=tf.train.Int64List(value=rng.randint(0, 100000, rng.randint(1, 20)))),
                    "name": tf.train.Feature(bytes_list=tf.train.BytesList(value=[b"example number %d" % i])),
                    "label": tf.train.Feature(int64_list=tf.train.Int64List(value=[i % 10])),
                }
            )
        ).SerializeToString()

    serialized = tf.placeholder(tf.string, [None])
    features = {
        "values": tf.FixedLenFeature([16], tf.float32),
        "ids": tf.VarLenFeature(tf.int64),
        "name": tf.FixedLenFeature([], tf.string),
        "label": tf.FixedLenFeature([], tf.int64),
    }
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
def elementwise_chain():
    """A chain of eight element-wise ops on a million floats, and its gradient."""
    x = tf.get_variable("x", [1000, 1000], initializer=tf.truncated_normal_initializer(stddev=0.5))
    y = tf.tanh(x * 2.0 + 1.0) * tf.sigmoid(x) - tf.square(x) * 0.5
    gradient = tf.gradients(tf.reduce_sum(y), x)[0]
    sess = session()
    fetched = tf.reduce_sum(gradient)
    return timed(lambda: sess.run(fetched))
