"""The optimizers of the first Keras: steps, state and configs; numbers are those of TensorFlow 1.15.5."""

import numpy as np
import pytest
from plain import plain, refused

import everflow as tf
from everflow.keras.optimizers import first

K = tf.keras.backend
START, SLOPES = np.array([1.0, -2.0, 3.0], np.float32), np.array([1.0, 0.5, 2.0], np.float32)


def trained(optimizer, steps=3, constraint=None):
    """The variable and the optimizer's state after some steps down a bowl."""
    x = tf.Variable(START, constraint=constraint, use_resource=True)
    loss = tf.reduce_sum(tf.square(x) * SLOPES)
    step = K.function([], [loss], updates=optimizer.get_updates(loss, [x]))
    K.get_session().run(tf.global_variables_initializer())
    for _ in range(steps):
        step([])
    return [K.get_value(x), optimizer.get_weights()]


def remade(optimizer):
    return type(optimizer).from_config(optimizer.get_config())


def set_to(optimizer, weights):
    trained(optimizer, 1)
    optimizer.set_weights(weights)
    return optimizer.get_weights()


def wrapped(iterations=None):
    optimizer = first.TFOptimizer(tf.train.GradientDescentOptimizer(0.1), iterations)
    x = tf.Variable(START, use_resource=True)
    loss = tf.reduce_sum(tf.square(x) * SLOPES)
    pairs = optimizer.get_grads(loss, [x])
    updates = optimizer.get_updates(loss, [x])
    session = K.get_session()
    session.run(tf.global_variables_initializer())
    slope = session.run(pairs[0][0])
    session.run(updates)
    session.run(updates)
    return [slope, session.run([x, optimizer.iterations]), optimizer.iterations.name]


def found(made):
    return plain(made(), 4)


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: trained(first.SGD()), [[0.9412, -1.941, 2.654], [3, [-0.01921, 0.0196, -0.1106]]]),
        (lambda: trained(first.SGD(lr=0.1, momentum=0.5, decay=0.3)), [[0.5023, -1.471, 0.375], [3, [-0.1612, 0.1832, -0.7212]]]),
        (lambda: trained(first.SGD(lr=0.1, momentum=0.5, nesterov=True)), [[0.248, -1.118, -0.198], [3, [-0.208, 0.2745, -0.612]]]),
        (lambda: trained(first.SGD(lr=0.1, clipnorm=1.0)), [[0.9506, -1.95, 2.708], [3, [-0.01674, 0.01702, -0.09711]]]),
        (lambda: trained(first.SGD(lr=0.1, clipvalue=1.5)), [[0.56, -1.55, 2.55], [3, [-0.14, 0.15, -0.15]]]),
        (lambda: trained(first.SGD(lr=0.1, clipvalue=0.7, clipnorm=1.0), 1), [[0.9838, -1.984, 2.93], [1, [-0.01622, 0.01622, -0.07]]]),
        (lambda: trained(first.SGD(lr=0.1), constraint=lambda v: v * 0.5), [[0.064, -0.1822, 0.081], [3, [-0.032, 0.0405, -0.108]]]),
        (lambda: trained(first.RMSprop()), [[0.9926, -1.993, 2.993], [[1.077, 1.081, 38.94]]]),
        (lambda: trained(first.RMSprop(lr=0.1, rho=0.7, epsilon=0.5, decay=0.3)), [[0.7972, -1.793, 2.728], [[2.126, 2.365, 86.16]]]),
        (lambda: trained(first.RMSprop(lr=0.1), constraint=tf.abs), [[0.3692, 1.309, 2.292], [[0.5919, 0.7964, 31.77]]]),
        (lambda: trained(first.Adagrad()), [[0.9772, -1.977, 2.977], [[11.79, 11.89, 429.4]]]),
        (lambda: trained(first.Adagrad(lr=0.1, epsilon=0.5, decay=0.3)), [[0.8772, -1.876, 2.855], [[10.78, 11.37, 414.1]]]),
        (lambda: trained(first.Adadelta()), [[0.9957, -1.996, 2.996], [[0.5688, 0.5697, 20.52], [2.915e-07, 2.918e-07, 2.918e-07]]]),
        (
            lambda: trained(first.Adadelta(lr=0.5, rho=0.7, epsilon=0.5, decay=0.3)),
            [[0.1912, -1.031, 1.786], [[1.003, 1.596, 63.56], [0.3936, 0.6296, 1.032]]],
        ),
        (lambda: trained(first.Adam()), [[0.997, -1.997, 2.997], [3, [0.5414, -0.5417, 3.251], [0.01196, 0.01198, 0.4313], [0.0]]]),
        (
            lambda: trained(first.Adam(lr=0.1, beta_1=0.8, beta_2=0.7, epsilon=0.5)),
            [[0.7828, -1.782, 2.717], [3, [0.8972, -0.9365, 5.647], [2.2, 2.407, 87.53], [0.0]]],
        ),
        (
            lambda: trained(first.Adam(lr=0.9, beta_2=0.7, amsgrad=True)),
            [[-0.7055, 0.4854, 0.3661], [3, [0.07648, -0.2816, 2.206], [0.9179, 0.8548, 42.83], [1.2, 1.203, 51.41]]],
        ),
        (lambda: trained(first.Adamax()), [[0.994, -1.994, 2.994], [3, [0.5408, -0.5414, 3.25], [1.996, 1.996, 11.98]]]),
        (
            lambda: trained(first.Adamax(lr=0.1, beta_1=0.8, beta_2=0.7, epsilon=0.5)),
            [[0.7549, -1.758, 2.708], [3, [0.8857, -0.931, 5.64], [1.677, 1.839, 11.23]]],
        ),
        (lambda: trained(first.Nadam()), [[0.9949, -1.995, 2.995], [3, 0.09121, [0.5409, -0.5414, 3.25], [0.01194, 0.01196, 0.431]]]),
        (
            lambda: trained(first.Nadam(lr=0.1, beta_1=0.8, beta_2=0.7, epsilon=0.5, schedule_decay=0.3)),
            [[0.7829, -1.779, 2.733], [3, 0.06874, [0.8861, -0.9308, 5.638], [2.145, 2.376, 87.28]]],
        ),
        (wrapped, [[2.0, -2.0, 12.0], [[0.64, -1.62, 1.08], 2], "TFOptimizer/iterations:0"]),
    ],
)
def test_steps_and_state(made, expected):
    assert found(made) == expected


@pytest.mark.parametrize(
    ("configured", "expected"),
    [
        (
            lambda: first.SGD(lr=0.2, momentum=0.3, decay=0.4, nesterov=True, clipnorm=0.5, clipvalue=2.0),
            {"clipnorm": 0.5, "clipvalue": 2.0, "lr": 0.2, "momentum": 0.3, "decay": 0.4, "nesterov": True},
        ),
        (lambda: first.RMSprop(lr=0.2, rho=0.3, decay=0.4, epsilon=0.5), {"lr": 0.2, "rho": 0.3, "decay": 0.4, "epsilon": 0.5}),
        (lambda: first.Adagrad(lr=0.2, decay=0.4, epsilon=0.5, clipvalue=2.0), {"clipvalue": 2.0, "lr": 0.2, "decay": 0.4, "epsilon": 0.5}),
        (lambda: first.Adadelta(lr=0.2, rho=0.3, decay=0.4, epsilon=0.5), {"lr": 0.2, "rho": 0.3, "decay": 0.4, "epsilon": 0.5}),
        (
            lambda: first.Adam(lr=0.2, beta_1=0.3, beta_2=0.6, decay=0.4, epsilon=0.5, amsgrad=True),
            {"lr": 0.2, "beta_1": 0.3, "beta_2": 0.6, "decay": 0.4, "epsilon": 0.5, "amsgrad": True},
        ),
        (
            lambda: first.Adamax(lr=0.2, beta_1=0.3, beta_2=0.6, decay=0.4, epsilon=0.5),
            {"lr": 0.2, "beta_1": 0.3, "beta_2": 0.6, "decay": 0.4, "epsilon": 0.5},
        ),
        (
            lambda: first.Nadam(lr=0.2, beta_1=0.3, beta_2=0.6, schedule_decay=0.4, epsilon=0.5),
            {"lr": 0.2, "beta_1": 0.3, "beta_2": 0.6, "epsilon": 0.5, "schedule_decay": 0.4},
        ),
        (lambda: first.SGD(), {"lr": 0.01, "momentum": 0.0, "decay": 0.0, "nesterov": False}),
        (lambda: first.RMSprop(), {"lr": 0.001, "rho": 0.9, "decay": 0.0, "epsilon": 1e-07}),
        (lambda: first.Adagrad(), {"lr": 0.01, "decay": 0.0, "epsilon": 1e-07}),
        (lambda: first.Adadelta(), {"lr": 1.0, "rho": 0.95, "decay": 0.0, "epsilon": 1e-07}),
        (lambda: first.Adam(), {"lr": 0.001, "beta_1": 0.9, "beta_2": 0.999, "decay": 0.0, "epsilon": 1e-07, "amsgrad": False}),
        (lambda: first.Adamax(), {"lr": 0.002, "beta_1": 0.9, "beta_2": 0.999, "decay": 0.0, "epsilon": 1e-07}),
        (lambda: first.Nadam(), {"lr": 0.002, "beta_1": 0.9, "beta_2": 0.999, "epsilon": 1e-07, "schedule_decay": 0.004}),
    ],
)
def test_configs_say_all_arguments_and_make_the_same_again(configured, expected):
    assert found(lambda: configured().get_config()) == expected
    assert found(lambda: remade(configured()).get_config()) == expected


@pytest.mark.parametrize(
    ("wrong", "expected"),
    [
        (lambda: first.SGD(speed=1.0), "TypeError: Unexpected keyword argument passed to optimizer: speed"),
        (lambda: first.SGD(clipnorm=-1.0), "ValueError: Expected clipnorm >= 0, received: -1.0"),
        (lambda: first.Adam(clipvalue=-0.5), "ValueError: Expected clipvalue >= 0, received: -0.5"),
        (
            lambda: set_to(first.SGD(), [np.array(3)]),
            "ValueError: Length of the specified weight list (1) does not match the number of weights of the optimizer (2)",
        ),
        (
            lambda: set_to(first.SGD(), [np.array(3), np.zeros(2)]),
            "ValueError: Optimizer weight shape (3,) not compatible with provided weight shape (2,)",
        ),
        (
            lambda: first.SGD().get_gradients(tf.constant(1.0), [tf.Variable(1.0)]),
            "ValueError: An operation has `None` for gradient. Please make sure that all of your ops have a gradient define",
        ),
        (lambda: first.Optimizer().get_updates(None, []), "NotImplementedError"),
        (lambda: first.TFOptimizer(tf.train.AdamOptimizer()).weights, "NotImplementedError"),
        (lambda: first.TFOptimizer(tf.train.AdamOptimizer()).get_config(), "NotImplementedError"),
    ],
)
def test_what_cannot_be_is_refused(wrong, expected):
    assert refused(wrong) == expected


def test_weights_can_be_set():
    given = [np.array(7), np.array([1.0, 2.0, 3.0])]
    assert plain(set_to(first.SGD(), given)) == plain(given)


@pytest.mark.parametrize("name", ["SGD", "RMSprop", "Adagrad", "Adadelta", "Adam", "Adamax", "Nadam"])
def test_optimizers_have_names_in_small_letters_too(name):
    assert getattr(first, name) is getattr(tf.python.keras.optimizers, name.lower())


def test_the_variables_of_a_wrapped_optimizer_are_initialized_with_those_of_keras():
    step = tf.Variable(5, dtype="int64", use_resource=True)
    assert plain(wrapped(step)[1][1]) == 7
    optimizer = tf.train.MomentumOptimizer(0.1, 0.9)
    first.track_tf_optimizer(first.TFOptimizer(optimizer))
    x = K.variable(START)
    update = optimizer.minimize(tf.reduce_sum(x))
    K.get_session().run(update)
    assert plain(K.get_session().run(x)) == plain(START - 0.1)
