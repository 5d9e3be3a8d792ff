"""Keras optimizers against values that TensorFlow 1.15 gives for the same steps."""

from __future__ import annotations

import numpy as np
import pytest

import everflow as tf

# After three steps on sum(v * v) with v = [1, 2].
AFTER = [
    ("SGD", {}, [0.94119203, 1.8823841]),
    ("SGD", {"momentum": 0.9, "nesterov": True}, [0.8445283, 1.6890566]),
    ("Adam", {}, [0.9970001, 1.9970001]),
    ("Adam", {"amsgrad": True, "decay": 0.1}, [0.99725765, 1.9972576]),
    ("RMSprop", {"centered": True, "momentum": 0.5}, [0.98810756, 1.9881004]),
    ("Adagrad", {}, [0.99773544, 1.9977207]),
    ("Adadelta", {}, [0.9999957, 1.9999957]),
    ("Adamax", {}, [0.9969986, 1.9969991]),
    ("Nadam", {}, [0.99742854, 1.9974282]),
    ("Ftrl", {}, [0.84166, 1.8401451]),
]


@pytest.mark.parametrize(("name", "arguments", "wanted"), AFTER)
def test_steps_are_those_of_tensorflow(name, arguments, wanted):
    with tf.Graph().as_default(), tf.Session() as session:
        v = tf.Variable([1.0, 2.0], use_resource=True)
        optimizer = getattr(tf.keras.optimizers, name)(**arguments)
        step = optimizer.get_updates(tf.reduce_sum(v * v), [v])
        session.run(tf.global_variables_initializer())
        for _ in range(3):
            session.run(step)
        np.testing.assert_allclose(session.run(v), wanted, rtol=2e-6)
        assert session.run(optimizer.iterations) == 3


def test_rows_without_gradient_stay():
    with tf.Graph().as_default(), tf.Session() as session:
        table = tf.Variable([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], use_resource=True)
        step = tf.keras.optimizers.Adagrad().get_updates(tf.reduce_sum(tf.gather(table, [0, 0, 2]) ** 2), [table])
        session.run(tf.global_variables_initializer())
        for _ in range(3):
            session.run(step)
        np.testing.assert_allclose(session.run(table), [[0.9977212, 1.9977171], [3, 4], [4.997717, 5.9977164]], rtol=2e-6)


def test_configs_make_the_same_optimizer():
    optimizer = tf.keras.optimizers.Adam(0.5, clipnorm=1.0)
    again = tf.keras.optimizers.deserialize(tf.keras.optimizers.serialize(optimizer))
    assert again.get_config() == optimizer.get_config()
    assert type(tf.keras.optimizers.get("rmsprop")) is tf.keras.optimizers.RMSprop


def test_the_rate_can_be_changed_between_steps():
    with tf.Graph().as_default(), tf.Session() as session:
        v = tf.Variable(1.0, use_resource=True)
        optimizer = tf.keras.optimizers.SGD(1.0)
        step = optimizer.get_updates(v * 1.0, [v])
        session.run(tf.global_variables_initializer())
        session.run(step)
        tf.keras.backend.set_value(optimizer.lr, 0.25)
        session.run(step)
        assert session.run(v) == pytest.approx(-0.25)


def test_wrong_arguments_are_refused():
    with pytest.raises(ValueError, match="momentum"):
        tf.keras.optimizers.SGD(momentum=2.0)
    with pytest.raises(TypeError, match="Unexpected keyword"):
        tf.keras.optimizers.Adam(rate=1.0)
    with pytest.raises(ValueError, match="Could not interpret"):
        tf.keras.optimizers.get(3)


def test_steps_on_many_variables_are_taken_in_one_call():
    with tf.Graph().as_default(), tf.Session() as session:
        model = tf.keras.Sequential([tf.keras.layers.Dense(3, input_shape=(2,)), tf.keras.layers.Dense(1)])
        model.compile(tf.keras.optimizers.Adam(0.1), "mse")
        before = model.get_weights()
        model.train_on_batch(np.array([[1.0, 2.0]]), np.array([[3.0]]))
        after = model.get_weights()
        train = model.train_function
        step = session._runner([*train.outputs, train.updates_op], dict.fromkeys(train.inputs, 0)).step
        assert [n.type for n in step.plan.nodes if "ApplyAdam" in n.type] == ["_ResourceApplyAdamTogether"]
        # Adam's first step is the learning rate, whatever the gradient.
        assert max(abs(a - b).max() for a, b in zip(after, before)) == pytest.approx(0.1, rel=1e-3)
