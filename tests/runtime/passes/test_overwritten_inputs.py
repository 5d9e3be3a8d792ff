"""Results that are written over what nothing needs any more."""

import numpy as np
import pytest
from planning import same

import everflow as tf
from everflow.runtime.passes.overwritten_inputs import overwrite_inputs


def test_results_are_written_over_what_nothing_needs():
    x = tf.placeholder(tf.float32, [None, 3])
    y = tf.tanh(tf.nn.relu(x * 2.0) + x)
    assert same([y], [x], overwrite_inputs, [[1.0, -2.0, 3.0]]) == ["Mul", "_ReluOver", "_AddV2Over", "_TanhOver"]


def test_two_terms_are_added_in_place():
    x, y = tf.placeholder(tf.float32, [2, 2]), tf.placeholder(tf.float32, [2, 2])
    a, b = np.eye(2, dtype="f"), np.ones((2, 2), "f")
    assert same([tf.add_n([x, tf.matmul(x, y)])], [x, y], overwrite_inputs, a, b) == ["MatMul", "_AddNOver"]


@pytest.mark.parametrize(
    ("activation", "function", "slope"),
    [("Tanh", np.tanh, lambda y: 1 - y**2), ("Sigmoid", lambda x: 1 / (1 + np.exp(-x)), lambda y: y * (1 - y))],
)
def test_activations_and_their_gradients_take_no_memory_of_their_own(activation, function, slope, session):
    """Where they are native too: 10,000 numbers are several blocks, and the last one is not full."""
    x = tf.placeholder(tf.float32, [100, 100])
    apply = {"Tanh": tf.tanh, "Sigmoid": tf.sigmoid}[activation]
    y = apply(tf.matmul(x, tf.eye(100)))
    z = apply(tf.matmul(y, tf.eye(100)))
    gradient = tf.gradients(z, x)[0]
    fed = np.linspace(-5, 5, 10000, dtype=np.float32).reshape(100, 100)
    found, gradients = session.run([z, gradient], {x: fed})
    middle, last = function(fed), function(function(fed))
    np.testing.assert_allclose(found, last, rtol=1e-5)
    np.testing.assert_allclose(gradients, slope(middle) * slope(last), rtol=1e-4, atol=1e-6)
    types = [call.node.type for call in session._runner([z, gradient], {x: fed}).step.calls]
    assert f"_{activation}Over" in types and f"_{activation}GradOver" in types, types


def test_groups_of_elementwise_ops_are_written_over_a_large_input(session):
    weights = np.linspace(-1, 1, 400, dtype=np.float32)
    x = tf.placeholder(tf.float32, [300, 400])
    product = tf.matmul(x, tf.eye(400))
    changed = tf.exp(product * weights) - product
    fed = np.random.RandomState(0).randn(300, 400).astype(np.float32)
    np.testing.assert_allclose(session.run(changed, {x: fed}), np.exp(fed * weights) - fed, rtol=1e-5, atol=1e-6)
    assert "_ElementwiseOver" in [call.node.type for call in session._runner(changed, {x: fed}).step.calls]
    small = tf.random_uniform([3, 4])
    for given, over in ((tf.random_uniform([300, 400]), True), (small, False)):
        for result in (given * 2.0 - 3.0, 2.0 - tf.square(given)):
            types = [call.node.type for call in session._runner(result, None).step.calls]
            assert ("_ElementwiseOver" in types) is over, types


def test_what_is_added_up_or_repeated_is_not_overwritten(session):
    noise = tf.random_uniform([300, 400])
    row = tf.random_uniform([400])
    for result in (
        tf.reduce_sum(tf.exp(noise) - 1.0, 1),
        [tf.exp(noise) - 1.0, tf.reduce_sum(tf.exp(noise))],
        tf.exp(row + tf.ones([300, 400])),
    ):
        assert "_ElementwiseOver" not in [call.node.type for call in session._runner(result, None).step.calls]


def test_what_is_fed_fetched_or_used_twice_is_never_overwritten():
    x = tf.placeholder(tf.float32, [None, 3])
    doubled = x * 2.0
    y, z = tf.nn.relu(doubled), tf.tanh(doubled)
    fed = np.array([[1.0, -2.0, 3.0]], np.float32)
    with tf.Session() as sess:
        a, b, c = sess.run([doubled, y, z], {x: fed})
        np.testing.assert_array_equal(a, fed * 2)
        np.testing.assert_array_equal(b, np.maximum(fed * 2, 0))
        np.testing.assert_allclose(c, np.tanh(fed * 2), rtol=1e-6)
        sess.run(tf.nn.relu(x), {x: fed})
        np.testing.assert_array_equal(fed, [[1.0, -2.0, 3.0]])


def test_a_smaller_operand_is_not_overwritten():
    x, y = tf.placeholder(tf.float32, [None, 3]), tf.placeholder(tf.float32, [None, 3])
    z = x * 2.0 + y * 3.0
    with tf.Session() as sess:
        found = sess.run(z, {x: np.ones((1, 3)), y: np.ones((2, 3))})
    np.testing.assert_array_equal(found, np.full((2, 3), 5.0))
