"""Gradients that programs register, and ops that use another gradient than their own."""

import itertools

import pytest

import everflow as tf
from everflow.autodiff.registry import REGISTERED, get_gradient_function

serial = itertools.count()


@pytest.fixture
def name():
    return f"TestGradient{next(serial)}"


def slope(y, x):
    with tf.Session() as session:
        return session.run(tf.gradients(y, x)[0])


def test_ops_made_in_an_override_block_use_the_other_gradient(name):
    @tf.RegisterGradient(name)
    def five_times(op, grad):
        assert op.type == "Tanh"
        return grad * 5

    x = tf.constant(0.0)
    graph = tf.get_default_graph()
    with graph.gradient_override_map({"Tanh": name}):
        inside = tf.tanh(x)
    outside = tf.tanh(x)
    assert (slope(inside, x), slope(outside, x)) == (5, 1)
    assert inside.op.get_attr("_gradient_op_type") == name.encode()
    assert get_gradient_function(inside.op) is five_times is REGISTERED.lookup(name)


def test_an_override_that_does_not_exist():
    x = tf.constant(0.0)
    with tf.get_default_graph().gradient_override_map({"Tanh": "NoSuchGradient"}):
        y = tf.tanh(x)
    with pytest.raises(LookupError, match="No gradient defined for operation 'Tanh'"):
        tf.gradients(y, x)
    with pytest.raises(LookupError, match="gradient registry has no entry for: NoSuchGradient"):
        get_gradient_function(y.op)


@pytest.mark.parametrize("wrong", [3, {1: "a"}, {"a": 2}])
def test_override_maps_are_of_strings(wrong):
    with pytest.raises(TypeError, match="op_type_map must be a dictionary mapping strings to strings"):
        tf.get_default_graph().gradient_override_map(wrong).__enter__()


def test_a_name_is_registered_once(name):
    tf.RegisterGradient(name)(lambda op, grad: grad)
    for taken in (name, "Tanh"):
        with pytest.raises(KeyError, match=f"Registering two gradient with name '{taken}'"):
            tf.RegisterGradient(taken)(lambda op, grad: grad)
        with pytest.raises(KeyError, match="Registering two gradient with name"):
            tf.NotDifferentiable(taken)
    with pytest.raises(TypeError, match="op_type must be a string"):
        tf.RegisterGradient(3)
    with pytest.raises(TypeError, match="op_type must be a string"):
        tf.NotDifferentiable(3)


def test_differentiation_ends_at_what_is_not_differentiable(name):
    tf.NotDifferentiable(name)
    x = tf.constant(0.0)
    with tf.get_default_graph().gradient_override_map({"Tanh": name}):
        y = tf.tanh(x)
    assert tf.gradients(y, x) == [None] and get_gradient_function(y.op) is None


def test_a_gradient_function_returns_one_value_for_each_input(name):
    tf.RegisterGradient(name)(lambda op, grad: [grad, grad])
    x = tf.constant(0.0)
    with tf.get_default_graph().gradient_override_map({"Tanh": name}):
        y = tf.tanh(x)
    with pytest.raises(ValueError, match="(?s)Num gradients 2 generated for op .* do not match num inputs 1"):
        tf.gradients(y, x)


def test_a_gradient_of_the_wrong_shape(name):
    tf.RegisterGradient(name)(lambda op, grad: tf.zeros([7]))
    x = tf.constant([0.0, 1.0])
    with tf.get_default_graph().gradient_override_map({"Tanh": name}):
        y = tf.tanh(x)
    with pytest.raises(ValueError, match=r"Forward operation: Tanh.  Input index: 0. Original input shape: \(2,\).*shape: \(7,\)"):
        tf.gradients(y, x)
