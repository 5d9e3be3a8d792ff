"""What the timed programs share. They run unchanged on TensorFlow 1.15 (Python 3.7), on today's TensorFlow (compat.v1) and on Everflow."""

import os
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
    """The time of one call: the median of as many as fit into a few seconds, or into the share of them that is asked for."""
    seconds *= float(os.environ.get("BENCH_SHARE", "1"))
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


def batch(n, shape, classes=10):
    rng = np.random.RandomState(0)
    return rng.rand(n, *shape).astype(np.float32), rng.randint(0, classes, n).astype(np.int64)


def dense(x, n_in, n_out, name):
    w = tf.get_variable(name + "_w", [n_in, n_out], initializer=tf.truncated_normal_initializer(stddev=0.1))
    b = tf.get_variable(name + "_b", [n_out], initializer=tf.zeros_initializer())
    return tf.matmul(x, w) + b


def loss_of(logits, labels):
    return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits))
