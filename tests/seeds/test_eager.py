"""The eager programs that people show each other, with the values they say."""

import numpy as np
import pytest

import everflow as tf

pytestmark = pytest.mark.usefixtures("eager")

tfe = tf.contrib.eager


def test_matmul_is_there_at_once():
    x = [[2.0]]
    np.testing.assert_array_equal(tf.matmul(x, x).numpy(), [[4.0]])


def test_fitting_a_line_by_hand():
    tf.set_random_seed(0)
    inputs = tf.random_normal([1000])
    outputs = inputs * 3 + 2 + tf.random_normal([1000])
    w, b = tfe.Variable(5.0), tfe.Variable(10.0)

    def loss():
        return tf.reduce_mean(tf.square(inputs * w + b - outputs))

    first = float(loss())
    for _ in range(200):
        with tf.GradientTape() as tape:
            value = loss()
        dw, db = tape.gradient(value, [w, b])
        w.assign_sub(dw * 0.01)
        b.assign_sub(db * 0.01)
    assert 60 < first < 80 and f"{loss():.1f}" in ("1.0", "1.1", "0.9")
    assert abs(w.numpy() - 3) < 0.2 and abs(b.numpy() - 2) < 0.3


def test_a_variable_comes_back_from_a_checkpoint(tmp_path):
    x = tfe.Variable(10.0)
    checkpoint = tf.train.Checkpoint(x=x)
    x.assign(2.0)
    path = checkpoint.save(str(tmp_path / "ckpt"))
    x.assign(11.0)
    checkpoint.restore(path)
    assert x.numpy() == 2.0


def test_metrics_add_up():
    m = tfe.metrics.Mean("loss")
    m(0)
    m(5)
    assert m.result().numpy() == 2.5
    m([8, 9])
    assert m.result().numpy() == 5.5
    m.init_variables()
    assert np.isnan(m.result().numpy())
    accuracy = tfe.metrics.Accuracy()
    accuracy([1, 2], [1, 3])
    assert accuracy.result().numpy() == 0.5 and [v.name for v in accuracy.variables] == ["Accuracy/numer:0", "Accuracy/denom:0"]


def test_derivatives_of_derivatives():
    grad = tfe.gradients_function(lambda x: tf.multiply(x, x))
    gradgrad = tfe.gradients_function(lambda x: grad(x)[0])
    gradgradgrad = tfe.gradients_function(lambda x: gradgrad(x)[0])
    assert float(grad(3.0)[0]) == 6.0 and float(gradgrad(3.0)[0]) == 2.0 and gradgradgrad(3.0) == [None]


def test_python_decides():
    grad = tfe.gradients_function(lambda x: x if x > 0.0 else -x)
    assert float(grad(3.0)[0]) == 1.0 and float(grad(-3.0)[0]) == -1.0


def test_two_arguments():
    value, (dx, dy) = tfe.value_and_gradients_function(lambda x, y: x * x * x * y - x * y * y)(2.0, 3.0)
    assert value.numpy() == 6 and dx.numpy() == 27 and dy.numpy() == -4


def test_an_unstable_gradient_and_its_cure():
    grad = tfe.gradients_function(lambda x: tf.log(1 + tf.exp(x)))
    assert float(grad(0.0)[0]) == 0.5 and np.isnan(grad(100.0)[0].numpy())

    @tf.custom_gradient
    def log1pexp(x):
        e = tf.exp(x)
        return tf.log(1 + e), lambda dy: dy * (1 - 1 / (1 + e))

    stable = tfe.gradients_function(log1pexp)
    assert float(stable(0.0)[0]) == 0.5 and float(stable(100.0)[0]) == 1.0


def test_eager_functions_inside_graphs():
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.placeholder(tf.float32)
        squared = tfe.py_func(lambda m: tf.matmul(m, m), [x], tf.float32)
        np.testing.assert_array_equal(sess.run(squared, {x: [[2.0]]}), [[4.0]])
