"""Training for long does not take more and more memory."""

import numpy as np

import everflow as tf


def resident() -> int:
    """The memory that this process occupies, in bytes."""
    with open("/proc/self/status") as f:
        return next(int(line.split()[1]) * 1024 for line in f if line.startswith("VmRSS"))


def test_a_loop_that_is_trained_a_thousand_times_keeps_its_size():
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.placeholder(tf.float32, [None, 32])
        w = tf.Variable(np.eye(32, dtype=np.float32) * 0.5)
        _, h = tf.while_loop(lambda i, h: i < 10, lambda i, h: (i + 1, tf.tanh(tf.matmul(h, w) + x)), [0, x])
        train = tf.train.GradientDescentOptimizer(1e-3).minimize(tf.reduce_mean(h))
        sess.run(tf.global_variables_initializer())
        batch = np.ones((64, 32), np.float32)

        def run(times):
            for _ in range(times):
                sess.run(train, {x: batch})

        run(100)
        before = resident()
        run(1000)
        assert resident() - before < 5e6
