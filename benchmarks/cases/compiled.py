"""Steps in pairs: as they are, and compiled (`global_jit_level`). 1.15.5 compiles for processors only if a flag says so too."""

import os

os.environ.setdefault("TF_XLA_FLAGS", "--tf_xla_cpu_global_jit")

import numpy as np
from cases.models import bert_layer, gelu, layer_normalized
from timing import batch, case, dense, tf, timed


def session(compiled):
    config = tf.ConfigProto()
    config.graph_options.optimizer_options.global_jit_level = tf.OptimizerOptions.ON_1 if compiled else tf.OptimizerOptions.OFF
    sess = tf.Session(config=config)
    sess.run(tf.global_variables_initializer())
    return sess


def chain(compiled):
    x = tf.get_variable("x", [2048, 768])
    bias = tf.get_variable("bias", [768], initializer=tf.zeros_initializer())
    y = layer_normalized(gelu(x + bias) + x, "norm")
    gradients = tf.gradients(tf.reduce_mean(tf.square(y)), tf.trainable_variables())
    fetched = tf.add_n([tf.reduce_sum(g) for g in gradients])
    sess = session(compiled)
    return timed(lambda: sess.run(fetched))


def block(compiled):
    x = tf.placeholder(tf.float32, [None, 64, 256])
    loss = tf.reduce_mean(tf.square(bert_layer(tf.reshape(x, [-1, 256]), 256, 4, 64)))
    train = tf.train.AdamOptimizer(1e-4).minimize(loss)
    sess, (xs, _) = session(compiled), batch(16, (64, 256))
    return timed(lambda: sess.run([train, loss], {x: xs}))


def normalized(x, name):
    """Batch normalization written out, with the average that prediction uses."""
    with tf.variable_scope(name):
        size = int(x.shape[-1])
        gamma = tf.get_variable("gamma", [size], initializer=tf.ones_initializer())
        beta = tf.get_variable("beta", [size], initializer=tf.zeros_initializer())
        mean, variance = tf.nn.moments(x, [0])
        return tf.nn.batch_normalization(x, mean, variance, beta, gamma, 1e-3)


def focal(logits, labels):
    """The loss that looks at what is hard: written with element-wise ops, as papers' programs do."""
    p = tf.sigmoid(logits)
    hit = -labels * 0.25 * tf.square(1.0 - p) * tf.log(p + 1e-7)
    miss = -(1.0 - labels) * 0.75 * tf.square(p) * tf.log(1.0 - p + 1e-7)
    return tf.reduce_mean(tf.reduce_sum(hit + miss, 1))


def perceptron(compiled):
    x = tf.placeholder(tf.float32, [None, 64])
    labels = tf.placeholder(tf.float32, [None, 400])
    h = tf.nn.elu(normalized(dense(x, 64, 256, "first"), "norm1"))
    h = tf.nn.elu(normalized(dense(h, 256, 128, "second"), "norm2"))
    loss = focal(dense(h, 128, 400, "logits"), labels)
    train = tf.train.MomentumOptimizer(0.01, 0.9).minimize(loss)
    rng = np.random.RandomState(0)
    feed = {x: rng.rand(512, 64).astype(np.float32), labels: (rng.rand(512, 400) < 0.02).astype(np.float32)}
    sess = session(compiled)
    return timed(lambda: sess.run([train, loss], feed))


def mixture(compiled):
    x, middle, scale = (
        tf.get_variable(name, dims) for name, dims in (("x", [512, 1, 64]), ("middle", [1, 32, 64]), ("scale", [1, 32, 64]))
    )
    z = (x - middle) * tf.exp(-scale)
    loss = -tf.reduce_mean(tf.reduce_logsumexp(tf.reduce_sum(-0.5 * tf.square(z) - scale - 0.9189385, 2), 1))
    fetched = tf.add_n([tf.reduce_sum(g) for g in tf.gradients(loss, [middle, scale])])
    sess = session(compiled)
    return timed(lambda: sess.run(fetched))


@case
def chain_as_it_is():
    """Bias, GELU, a residual and layer normalization of 2,048 rows of 768, and their gradients."""
    return chain(False)


@case
def chain_compiled():
    """The same, compiled."""
    return chain(True)


@case
def block_as_it_is():
    """A training step of a transformer's block with Adam: 16 examples of 64 positions, 256 wide, 4 heads."""
    return block(False)


@case
def block_compiled():
    """The same, compiled."""
    return block(True)


@case
def perceptron_as_it_is():
    """A training step of a perceptron with batch normalization, ELU and a focal loss over 400 labels: batch 512."""
    return perceptron(False)


@case
def perceptron_compiled():
    """The same, compiled."""
    return perceptron(True)


@case
def mixture_as_it_is():
    """The likelihood of 512 points of 64 dimensions under a mixture of 32 normal distributions, and its gradients."""
    return mixture(False)


@case
def mixture_compiled():
    """The same, compiled."""
    return mixture(True)
