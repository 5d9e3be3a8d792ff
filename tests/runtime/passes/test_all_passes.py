"""All passes on one network: each changes nothing but speed."""

import gc
import time

import numpy as np
import pytest
from planning import compiled, types, values

import everflow as tf
from everflow.runtime import passes


def test_what_nothing_needs_is_left_out_but_effects_stay():
    v = tf.Variable(0.0)
    x = tf.constant(2.0)
    with tf.control_dependencies([tf.assign_add(v, 1.0), tf.exp(x)]):
        y = tf.identity(x)
    with tf.Session() as sess:
        sess.run(v.initializer)
        sess.run(y)
        assert sess.run(v) == 1.0
        step = sess._runner(y, None).step
        assert "Exp" not in types(step) and "AssignAdd" in types(step)


def test_a_read_is_a_snapshot_when_a_write_follows():
    v = tf.Variable([1.0, 2.0], use_resource=True)
    before = v.read_value()
    with tf.control_dependencies([before]):
        change = v.assign_add([10.0, 10.0])
    with tf.control_dependencies([change]):
        twice = before * 2.0
    with tf.Session() as sess:
        sess.run(v.initializer)
        np.testing.assert_array_equal(sess.run(twice), [2.0, 4.0])


def test_fetched_arrays_never_change():
    v = tf.Variable([1.0, 2.0])
    c = tf.constant([5.0, 6.0])
    change = tf.assign_add(v, [1.0, 1.0])
    with tf.Session() as sess:
        sess.run(v.initializer)
        first, constant = sess.run([v, c])
        sess.run(change)
        np.testing.assert_array_equal(first, [1.0, 2.0])
        constant[:] = 0.0
        np.testing.assert_array_equal(sess.run(c), [5.0, 6.0])


def gradients_of_a_network():
    """A little network with everything that passes look for: its fetches and feeds."""
    tf.set_random_seed(3)
    x = tf.placeholder(tf.float32, [None, 8, 8, 1])
    y = tf.placeholder(tf.int64, [None])
    kernel = tf.constant(np.random.RandomState(0).randn(3, 3, 1, 4).astype(np.float32))
    h = tf.nn.relu(tf.nn.bias_add(tf.nn.conv2d(x, kernel, [1, 1, 1, 1], "SAME"), tf.constant([0.1, -0.1, 0.2, 0.0])))
    h = tf.nn.max_pool(h, [1, 2, 2, 1], [1, 2, 2, 1], "SAME")
    h = tf.reshape(h, [-1, 64])
    w = tf.constant(np.random.RandomState(1).randn(64 + 5, 5).astype(np.float32))
    b = tf.constant([0.1, 0.2, 0.3, 0.4, 0.5])
    state = tf.zeros(tf.stack([tf.shape(x)[0], 5]))
    both_w, both_b = tf.concat([w, w], 1), tf.concat([b, b], 0)
    for _ in range(4):
        gate, out = tf.split(tf.matmul(tf.concat([h, state], 1), both_w) + both_b, 2, axis=1)
        state = state * tf.sigmoid(gate) + tf.tanh(out)
    loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=state))
    return [loss, *tf.gradients(loss, [kernel, w, b, x])], [x, y]


@pytest.mark.parametrize("rewrite", passes.PASSES, ids=lambda f: f.__name__)
def test_a_network_is_the_same_with_each_pass(rewrite):
    fetches, feeds = gradients_of_a_network()
    data = np.random.RandomState(2).rand(3, 8, 8, 1).astype(np.float32), np.array([0, 3, 4])
    for a, b in zip(values(compiled(fetches, feeds, ()), *data), values(compiled(fetches, feeds, (rewrite,)), *data)):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-6)


def test_a_network_is_the_same_with_all_passes_and_much_shorter():
    fetches, feeds = gradients_of_a_network()
    data = np.random.RandomState(2).rand(3, 8, 8, 1).astype(np.float32), np.array([0, 3, 4])
    plain, rewritten = compiled(fetches, feeds, ()), compiled(fetches, feeds, passes.PASSES)
    for a, b in zip(values(plain, *data), values(rewritten, *data)):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-6)
    assert len(rewritten.calls) < 0.6 * len(plain.calls)
    found = types(rewritten)
    fused = {"_RowProgram", "_ConvBias", "_MaxPoolWithPositions", "_MaxPoolGradFromPositions", "_Part", "_SumOfProducts", "_DivideBySize"}
    assert fused <= set(found)
    assert "BroadcastGradientArgs" not in found


def test_planning_takes_time_that_grows_with_the_graph():
    """Ten times as many nodes take about ten times as long; with work for all pairs of something it would be forty by now."""

    def seconds(layers):
        with tf.Graph().as_default():
            x = y = tf.placeholder(tf.float32, [4, 8])
            w, b = tf.ones([8, 8]), tf.ones([8])
            for _ in range(layers):
                y = tf.tanh(tf.nn.bias_add(tf.matmul(y, w), b))
            fetches = tf.gradients(y, [w, b])
            # What lies about from other tests takes the collector its own time.
            gc.collect()
            gc.disable()
            try:
                start = time.process_time()
                compiled(fetches, [x], passes.PASSES)
                return time.process_time() - start
            finally:
                gc.enable()

    seconds(10)
    assert seconds(3000) < 20 * min(seconds(300) for _ in range(3))
