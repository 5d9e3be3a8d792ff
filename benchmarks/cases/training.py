"""Training as programs write it: layers with batch normalization, summaries, monitored sessions."""

import shutil
import tempfile

import numpy as np
from timing import batch, case, loss_of, session, tf, timed


def normalized(x, training):
    """Batch normalization as the layers make it: scale, offset, moving averages and their update ops."""
    channels = int(x.shape[-1])
    with tf.variable_scope(None, "batch_normalization"):
        gamma = tf.get_variable("gamma", [channels], initializer=tf.ones_initializer())
        beta = tf.get_variable("beta", [channels], initializer=tf.zeros_initializer())
        moving_mean = tf.get_variable("moving_mean", [channels], initializer=tf.zeros_initializer(), trainable=False)
        moving_variance = tf.get_variable("moving_variance", [channels], initializer=tf.ones_initializer(), trainable=False)
        if not training:
            return tf.nn.fused_batch_norm(x, gamma, beta, moving_mean, moving_variance, 1e-3, is_training=False)[0]
        y, mean, variance = tf.nn.fused_batch_norm(x, gamma, beta, epsilon=1e-3)
        for moving, value in ((moving_mean, mean), (moving_variance, variance)):
            tf.add_to_collection(tf.GraphKeys.UPDATE_OPS, tf.assign_sub(moving, (moving - value) * 0.1))
        return y


def convolved(x, filters, size, strides=1):
    with tf.variable_scope(None, "conv2d"):
        kernel = tf.get_variable("kernel", [size, size, int(x.shape[-1]), filters])
        return tf.nn.conv2d(x, kernel, [1, strides, strides, 1], "SAME")


def bottleneck(x, filters, strides, training):
    """A block of a ResNet of the second version: normalization and activation first, then 1x1, 3x3 and 1x1 convolutions."""
    y = tf.nn.relu(normalized(x, training))
    around = convolved(y, 4 * filters, 1, strides)
    y = tf.nn.relu(normalized(convolved(y, filters, 1), training))
    y = tf.nn.relu(normalized(convolved(y, filters, 3, strides), training))
    return around + convolved(y, 4 * filters, 1)


def resnet(x, training):
    y = convolved(x, 32, 3)
    for filters, strides in ((16, 1), (32, 2), (64, 2)):
        y = bottleneck(y, filters, strides, training)
    y = tf.reduce_mean(tf.nn.relu(normalized(y, training)), [1, 2])
    return tf.matmul(y, tf.get_variable("logits", [int(y.shape[-1]), 10]))


@case
def resnet_block_train():
    """A training step of three ResNet blocks with batch normalization, momentum and weight decay: 32 images of 32 x 32."""
    x = tf.placeholder(tf.float32, [None, 32, 32, 3])
    labels = tf.placeholder(tf.int64, [None])
    loss = loss_of(resnet(x, training=True), labels)
    loss += 1e-4 * tf.add_n([tf.nn.l2_loss(v) for v in tf.trainable_variables() if "kernel" in v.name])
    with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
        train = tf.train.MomentumOptimizer(0.01, 0.9).minimize(loss, global_step=tf.train.get_or_create_global_step())
    sess, (xs, ys) = session(), batch(32, (32, 32, 3))
    return timed(lambda: sess.run([train, loss], {x: xs, labels: ys}))


@case
def resnet_block_predict():
    """What the same blocks, trained, say of 32 images."""
    x = tf.placeholder(tf.float32, [None, 32, 32, 3])
    found = tf.nn.softmax(resnet(x, training=False))
    sess, (xs, _) = session(), batch(32, (32, 32, 3))
    return timed(lambda: sess.run(found, {x: xs}))


@case
def summary_writes():
    """1,000 summaries of a number, a distribution of 1,000 and a small image, written to a file."""
    values = tf.random_normal([1000], seed=1)
    tf.summary.scalar("mean", tf.reduce_mean(values))
    tf.summary.histogram("values", values)
    tf.summary.image("image", tf.reshape(tf.random_uniform([75], seed=2), [1, 5, 5, 3]))
    merged = tf.summary.merge_all()
    sess, folder = session(), tempfile.mkdtemp()

    def write():
        with tf.summary.FileWriter(folder) as writer:
            for step in range(1000):
                writer.add_summary(sess.run(merged), step)

    try:
        return timed(write, seconds=2.0, warm=1, least=2)
    finally:
        shutil.rmtree(folder)


@case
def summary_events():
    """1,000 numbers given to a FileWriter as messages, and flushed."""
    folder = tempfile.mkdtemp()
    writer = tf.summary.FileWriter(folder)

    def write():
        for step in range(1000):
            writer.add_summary(tf.Summary(value=[tf.Summary.Value(tag="loss", simple_value=0.5)]), step)
        writer.flush()

    try:
        return timed(write, seconds=2.0, warm=1)
    finally:
        writer.close()
        shutil.rmtree(folder)


@case
def monitored_steps():
    """100 steps of a small model in a MonitoredTrainingSession that counts steps and logs."""
    w = tf.get_variable("w", [100, 10])
    x = tf.placeholder(tf.float32, [None, 100])
    loss = tf.reduce_mean(tf.square(tf.matmul(x, w)))
    train = tf.train.GradientDescentOptimizer(0.01).minimize(loss, global_step=tf.train.get_or_create_global_step())
    xs = np.ones([32, 100], np.float32)
    tf.logging.set_verbosity(tf.logging.ERROR)
    hooks = [tf.train.LoggingTensorHook({"loss": loss}, every_n_iter=50), tf.train.NanTensorHook(loss)]
    with tf.train.MonitoredTrainingSession(hooks=hooks) as sess:
        return timed(lambda: [sess.run(train, {x: xs}) for _ in range(100)], seconds=2.0)
