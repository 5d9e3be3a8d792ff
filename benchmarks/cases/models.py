"""Well-known models, a step each, and what they are made of: normalizations, losses, updates of variables, element-wise chains."""

import numpy as np
from timing import batch, case, dense, loss_of, session, tf, timed


def normal(name, shape, stddev=0.02):
    return tf.get_variable(name, shape, initializer=tf.truncated_normal_initializer(stddev=stddev))


def layer_normalized(x, name):
    with tf.variable_scope(name):
        scale = tf.get_variable("gamma", [int(x.shape[-1])], initializer=tf.ones_initializer())
        offset = tf.get_variable("beta", [int(x.shape[-1])], initializer=tf.zeros_initializer())
        mean, variance = tf.nn.moments(x, [-1], keep_dims=True)
        return tf.nn.batch_normalization(x, mean, variance, offset, scale, 1e-12)


def gelu(x):
    return x * 0.5 * (1.0 + tf.erf(x / np.sqrt(2.0).astype(np.float32)))


def bert_layer(x, size, heads, length):
    """A layer of BERT as its authors write it, without dropout: x [positions of all examples, size]."""
    width = size // heads

    def by_head(name):
        return tf.transpose(tf.reshape(dense(x, size, size, name), [-1, length, heads, width]), [0, 2, 1, 3])

    query, key, value = by_head("query"), by_head("key"), by_head("value")
    weights = tf.nn.softmax(tf.multiply(tf.matmul(query, key, transpose_b=True), 1.0 / np.sqrt(float(width))))
    context = tf.reshape(tf.transpose(tf.matmul(weights, value), [0, 2, 1, 3]), [-1, size])
    attended = layer_normalized(dense(context, size, size, "attended") + x, "attention_norm")
    widened = gelu(dense(attended, size, 4 * size, "widened"))
    return layer_normalized(dense(widened, 4 * size, size, "output") + attended, "output_norm")


@case
def bert_layer_train():
    """A training step of a layer of BERT-base with Adam: 8 examples of 128 positions, 768 wide, 12 heads."""
    x = tf.placeholder(tf.float32, [None, 128, 768])
    y = bert_layer(tf.reshape(x, [-1, 768]), 768, 12, 128)
    loss = tf.reduce_mean(tf.square(y))
    train = tf.train.AdamOptimizer(1e-4).minimize(loss)
    sess, (xs, _) = session(), batch(8, (128, 768))
    return timed(lambda: sess.run([train, loss], {x: xs}), seconds=5)


def batch_normalized(x):
    with tf.variable_scope(None, "norm"):
        channels = int(x.shape[-1])
        gamma = tf.get_variable("gamma", [channels], initializer=tf.ones_initializer())
        beta = tf.get_variable("beta", [channels], initializer=tf.zeros_initializer())
        return tf.nn.fused_batch_norm(x, gamma, beta, epsilon=1e-5)[0]


def generated(noise):
    with tf.variable_scope("generator"):
        x = tf.reshape(dense(noise, 100, 7 * 7 * 128, "first"), [64, 7, 7, 128])
        x = tf.nn.relu(batch_normalized(x))
        x = tf.nn.conv2d_transpose(x, normal("up1", [4, 4, 64, 128]), [64, 14, 14, 64], [1, 2, 2, 1])
        x = tf.nn.relu(batch_normalized(x))
        return tf.tanh(tf.nn.conv2d_transpose(x, normal("up2", [4, 4, 1, 64]), [64, 28, 28, 1], [1, 2, 2, 1]))


def judged(x, reuse):
    with tf.variable_scope("discriminator", reuse=reuse):
        x = tf.nn.leaky_relu(tf.nn.conv2d(x, normal("down1", [4, 4, 1, 64]), [1, 2, 2, 1], "SAME"))
        x = tf.nn.conv2d(x, normal("down2", [4, 4, 64, 128]), [1, 2, 2, 1], "SAME")
        with tf.variable_scope("norm"):
            gamma = tf.get_variable("gamma", [128], initializer=tf.ones_initializer())
            beta = tf.get_variable("beta", [128], initializer=tf.zeros_initializer())
        x = tf.nn.leaky_relu(tf.nn.fused_batch_norm(x, gamma, beta, epsilon=1e-5)[0])
        return dense(tf.reshape(x, [64, 7 * 7 * 128]), 7 * 7 * 128, 1, "score")


@case
def dcgan_step():
    """A step of a DCGAN on digits: the discriminator and the generator each trained once, batch 64, Adam."""
    pictures, noise = tf.placeholder(tf.float32, [64, 28, 28, 1]), tf.placeholder(tf.float32, [64, 100])
    made = generated(noise)
    real, fake = judged(pictures, None), judged(made, True)

    def entropy(scores, wanted):
        return tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(logits=scores, labels=tf.fill([64, 1], wanted)))

    of_discriminator = entropy(real, 1.0) + entropy(fake, 0.0)
    of_generator = entropy(fake, 1.0)
    steps = [
        tf.train.AdamOptimizer(2e-4, beta1=0.5).minimize(loss, var_list=tf.trainable_variables(scope))
        for loss, scope in ((of_discriminator, "discriminator"), (of_generator, "generator"))
    ]
    sess, (xs, _) = session(), batch(64, (28, 28, 1))
    zs = np.random.RandomState(1).randn(64, 100).astype(np.float32)
    feed = {pictures: xs, noise: zs}
    return timed(lambda: [sess.run(step, feed) for step in steps], seconds=5)


@case
def wide_and_deep_step():
    """A training step of a wide and deep model: 8 columns of ids, 13 of numbers, batch 256, three hidden layers, Adagrad."""
    ids, numbers = tf.placeholder(tf.int64, [None, 8]), tf.placeholder(tf.float32, [None, 13])
    y = tf.placeholder(tf.int64, [None])
    wide = tf.get_variable("wide", [8 * 10000, 2], initializer=tf.zeros_initializer())
    table = tf.get_variable("table", [8 * 10000, 16], initializer=tf.random_uniform_initializer(-0.05, 0.05, seed=1))
    places = ids + np.arange(8) * 10000
    h = tf.concat([tf.reshape(tf.nn.embedding_lookup(table, places), [-1, 128]), numbers], 1)
    for i, (n_in, n_out) in enumerate([(141, 256), (256, 128), (128, 64)]):
        h = tf.nn.relu(dense(h, n_in, n_out, "hidden%d" % i))
    logits = dense(h, 64, 2, "logits") + tf.reduce_sum(tf.nn.embedding_lookup(wide, places), 1)
    train = tf.train.AdagradOptimizer(0.05).minimize(loss_of(logits, y))
    rng = np.random.RandomState(0)
    feed = {ids: rng.randint(0, 10000, (256, 8)), numbers: rng.rand(256, 13).astype(np.float32), y: rng.randint(0, 2, 256)}
    sess = session()
    return timed(lambda: sess.run(train, feed))


@case
def elementwise_small():
    """A chain of eight element-wise ops on 1,000 floats, and its gradient."""
    x = tf.get_variable("x", [1000], initializer=tf.truncated_normal_initializer(stddev=0.5))
    y = tf.tanh(x * 2.0 + 1.0) * tf.sigmoid(x) - tf.square(x) * 0.5
    fetched = tf.reduce_sum(tf.gradients(tf.reduce_sum(y), x)[0])
    sess = session()
    return timed(lambda: sess.run(fetched), seconds=1.5)


@case
def layer_norm_train():
    """Layer normalization of 4,096 rows of 512, and its gradients."""
    x = tf.get_variable("x", [4096, 512], initializer=tf.truncated_normal_initializer())
    y = layer_normalized(x, "norm")
    gradients = tf.gradients(tf.reduce_sum(y * y), tf.trainable_variables())
    fetched = tf.add_n([tf.reduce_sum(g) for g in gradients])
    sess = session()
    return timed(lambda: sess.run(fetched))


@case
def softmax_loss():
    """The cross-entropy of 2,048 rows of 5,000 classes, and its gradient."""
    logits = tf.get_variable("logits", [2048, 5000], initializer=tf.truncated_normal_initializer())
    labels = tf.constant(np.random.RandomState(0).randint(0, 5000, 2048))
    loss = loss_of(logits, labels)
    fetched = [tf.reduce_sum(tf.gradients(loss, logits)[0]), loss]
    sess = session()
    return timed(lambda: sess.run(fetched))


def update(optimizer):
    """The time of an optimizer's step over 8 variables of a million numbers each, gradients at hand."""
    variables = [tf.get_variable("v%d" % i, [1000, 1000]) for i in range(8)]
    gradients = [tf.get_variable("g%d" % i, [1000, 1000], trainable=False) for i in range(8)]
    train = optimizer.apply_gradients([(g.read_value(), v) for g, v in zip(gradients, variables)])
    sess = session()
    return timed(lambda: sess.run(train))


@case
def adam_update():
    """Adam over 8 variables of a million numbers."""
    return update(tf.train.AdamOptimizer(1e-3))


@case
def momentum_update():
    """Momentum over 8 variables of a million numbers."""
    return update(tf.train.MomentumOptimizer(1e-2, 0.9))
