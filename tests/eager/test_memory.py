"""Training step after step on tapes leaves nothing behind."""

import gc
import tracemalloc

import numpy as np
import pytest

import everflow as tf

pytestmark = pytest.mark.usefixtures("eager")


def steps(count, step):
    for _ in range(count):
        step()


def grown(step):
    """The memory and objects that 300 further steps leave behind."""
    steps(30, step)
    gc.collect()
    objects = len(gc.get_objects())
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    steps(300, step)
    gc.collect()
    after = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    return after - before, len(gc.get_objects()) - objects


def test_tape_steps_keep_nothing():
    x = tf.constant(np.random.RandomState(0).rand(20, 3).astype(np.float32))
    w = tf.Variable(tf.zeros([3, 1]))

    def step():
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(tf.matmul(x, w) - 1.0))
        w.assign_sub(0.1 * tape.gradient(loss, w))

    size, objects = grown(step)
    assert size < 30_000
    assert objects < 100


def test_calls_of_a_function_keep_nothing():
    w = tf.Variable(tf.zeros([3]))

    @tf.function
    def loss(scale):
        return tf.reduce_sum(tf.square(w - 1.0)) * scale

    def step():
        with tf.GradientTape() as tape:
            found = loss(tf.constant(2.0))
        w.assign_sub(0.1 * tape.gradient(found, w))

    size, objects = grown(step)
    assert size < 30_000
    assert objects < 100
