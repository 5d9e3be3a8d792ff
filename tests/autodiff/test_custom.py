"""Functions with gradients of their own: tf.custom_gradient, grad_pass_through, recompute_grad."""

import numpy as np
import pytest

import everflow as tf
from running import run


@tf.custom_gradient
def log1pexp(x):
    """log(1 + exp(x))"""
    e = tf.exp(x)
    return tf.log(1 + e), lambda dy: dy * (1 - 1 / (1 + e))


def test_the_gradient_is_the_one_that_is_given():
    x = tf.constant(100.0, tf.float32)
    y = log1pexp(x)
    assert np.isinf(run(y)) and run(tf.gradients(y, x)) == [1]
    assert (log1pexp.__name__, log1pexp.__doc__) == ("log1pexp", "log(1 + exp(x))")


def test_several_arguments_and_results():
    @tf.custom_gradient
    def f(a, b):
        # Gradients come in the order of sorted keys.
        return {"sum": a + b, "product": [a * b]}, lambda dp, ds: (10 * ds + dp, 100 * ds)

    a, b = tf.constant(2.0), tf.constant(3.0)
    found = f(a, b)
    assert run(found) == {"sum": 5, "product": [6]}
    assert run(tf.gradients(found["sum"], [a, b])) == [10, 100]
    assert run(tf.gradients([found["sum"], found["product"][0]], [a, b])) == [11, 100]


def test_functions_inside_each_other():
    @tf.custom_gradient
    def tripled(x):
        return tf.identity(x), lambda dy: 3 * dy

    x = tf.constant(1.0)
    assert run(tf.gradients(tripled(tripled(x)), x)) == [9]


def test_arguments_become_tensors_and_keywords_are_refused():
    x = tf.constant(1.0)
    assert run(log1pexp(0.0)) == np.float32(np.log(2))
    with pytest.raises(ValueError, match="supports keywords arguments only when eager execution is enabled"):
        log1pexp(x=x)


def test_the_graph_has_a_node_that_hands_everything_on():
    x = tf.constant(1.0, name="x")
    y = log1pexp(x)
    assert y.op.type == "IdentityN" and [t.name for t in y.op.inputs] == ["Log:0", "x:0"]
    assert y.op.get_attr("_gradient_op_type").startswith(b"CustomGradient-")


def test_variables_that_the_function_uses():
    seen = []

    @tf.custom_gradient
    def scaled(x):
        v = tf.get_variable("v", initializer=3.0)

        def grad(dy, variables=None):
            seen.append(variables)
            return dy * 5, [dy * 7]

        return x * v, grad

    with tf.variable_scope("s", use_resource=True):
        x = tf.constant(2.0)
        y = scaled(x)
    (v,) = tf.trainable_variables()
    assert run([y, *tf.gradients(y, [x, v])]) == [6, 5, 7]
    assert seen == [[v]]


def test_variables_from_outside_are_found_and_those_not_trained_left_out():
    with tf.variable_scope("s", use_resource=True):
        v = tf.get_variable("v", initializer=3.0)
        fixed = tf.get_variable("fixed", initializer=1.0, trainable=False)

        @tf.custom_gradient
        def f(x):
            return x * v + fixed, lambda dy, variables: (dy, [dy * 7 for _ in variables])

        x = tf.constant(2.0)
        assert run(tf.gradients(f(x), [v])) == [7]


def test_mistakes_with_variables():
    def make(grad, use_resource=True):
        @tf.custom_gradient
        def f(x):
            return x * tf.get_variable("v", initializer=3.0, use_resource=use_resource), grad

        return f

    x = tf.constant(1.0)
    with pytest.raises(TypeError, match="grad_fn must accept a keyword argument 'variables'"):
        make(lambda dy: dy)(x)
    with tf.Graph().as_default(), pytest.raises(TypeError, match="must be `ResourceVariable`s"):
        make(lambda dy, variables: (dy, [dy]), use_resource=False)(tf.constant(1.0))
    with tf.Graph().as_default():
        x = tf.constant(1.0)
        y = make(lambda dy, variables: (dy, []))(x)
        with pytest.raises(ValueError, match="Must return gradient for each variable"):
            tf.gradients(y, x)
    with tf.Graph().as_default(), pytest.raises(TypeError, match="the enclosing variable scope must have use_resource=True"):
        tf.custom_gradient(lambda x: (x * 2, lambda dy, variables=None: dy))(tf.constant(1.0))


def test_gradients_pass_through():
    with tf.variable_scope("s", use_resource=True):
        x = tf.constant(2.6)
        y = tf.grad_pass_through(tf.round)(x * x)
        assert run([y, *tf.gradients(y, x)]) == [7, np.float32(5.2)]


def test_what_is_recomputed_has_the_same_gradient():
    with tf.variable_scope("s", use_resource=True):
        v = tf.get_variable("v", initializer=3.0)

        def f(x, y):
            return tf.sin(x * v) * y

        x, y = tf.constant(0.5), tf.constant(2.0)
        again = run(tf.gradients(tf.recompute_grad(f)(x, y), [x, y, v]))
        np.testing.assert_allclose(again, run(tf.gradients(f(x, y), [x, y, v])), rtol=1e-6)
