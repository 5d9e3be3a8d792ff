"""Optimizers with all their options, and objects as configs; values are those of TensorFlow 1.15.5."""

import numpy as np
import pytest
from plain import plain, refused

import everflow as tf
from everflow.keras import serialization

O, K, keras = tf.keras.optimizers, tf.keras.backend, tf.keras
S = keras.optimizers.schedules
START, SLOPES = np.array([1.0, -2.0, 3.0], np.float32), np.array([1.0, 0.5, 2.0], np.float32)


def trained(optimizer, steps=3, sparse=False, constraint=None, start=START):
    """The variable and the optimizer's state after some steps."""
    x = tf.Variable(start, constraint=constraint, use_resource=True)
    # The first row is asked for twice.
    loss = tf.reduce_sum(tf.square(tf.gather(x, [0, 2, 0]))) if sparse else tf.reduce_sum(tf.square(x) * SLOPES)
    update = optimizer.get_updates(loss, [x])
    with tf.Session() as session:
        K.set_session(session)
        session.run(tf.global_variables_initializer())
        for _ in range(steps):
            session.run(update)
        found = [session.run(x), session.run(optimizer.weights)]
    K.clear_session()
    return found


def rates(schedule, *steps):
    return [K.get_value(schedule(tf.constant(s))) for s in steps]


def set_to(weights):
    optimizer = O.Adam()
    x = tf.Variable(START, use_resource=True)
    optimizer.get_updates(tf.reduce_sum(x), [x])
    optimizer.set_weights(weights)
    return optimizer.get_weights()


def counted():
    optimizer = O.SGD(0.1)
    optimizer.iterations = tf.Variable(5, dtype="int64", use_resource=True)
    trained(optimizer)
    return len(optimizer.weights)


def found(made):
    return plain(made(), 4)


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: trained(O.SGD()), [[0.9412, -1.941, 2.654], [3]]),
        (lambda: trained(O.SGD(0.1, momentum=0.5)), [[0.302, -1.228, -0.372], [3, [-0.238, 0.292, -0.852]]]),
        (lambda: trained(O.SGD(0.1, momentum=0.5, nesterov=True)), [[0.248, -1.118, -0.198], [3, [-0.208, 0.2745, -0.612]]]),
        (lambda: trained(O.SGD(0.1, momentum=0.5, nesterov=True), sparse=True), [[-0.066, -2.0, 0.744], [3, [-0.204, 0.0, -0.624]]]),
        (lambda: trained(O.SGD(0.1), sparse=True), [[0.216, -2.0, 1.536], [3]]),
        (lambda: trained(O.SGD(0.1, clipnorm=1.0)), [[0.9506, -1.95, 2.708], [3]]),
        (lambda: trained(O.SGD(0.1, clipvalue=1.5)), [[0.56, -1.55, 2.55], [3]]),
        (lambda: trained(O.SGD(0.1), constraint=tf.abs), [[0.512, 1.458, 0.648], [3]]),
        (lambda: trained(O.SGD(lambda: 0.2)), [[0.216, -1.024, 0.024], [3]]),
        (lambda: trained(O.SGD(S.ExponentialDecay(0.1, 1, 0.5)), 1), [[0.8, -1.8, 1.8], [1]]),
        (lambda: trained(O.RMSprop()), [[0.9926, -1.993, 2.993], [3, [1.077, 1.081, 38.94]]]),
        (
            lambda: trained(O.RMSprop(0.1, rho=0.7, momentum=0.3, epsilon=0.5)),
            [[0.547, -1.527, 2.455], [3, [1.755, 2.151, 81.01], [0.1395, -0.153, 0.1735]]],
        ),
        (
            lambda: trained(O.RMSprop(0.1, rho=0.7, centered=True)),
            [[0.4448, -1.402, 2.39], [3, [1.541, 2.015, 79.32], [0.9854, -1.146, 7.207]]],
        ),
        (
            lambda: trained(O.RMSprop(0.1, rho=0.7, momentum=0.3, centered=True)),
            [[0.3222, -1.266, 2.251], [3, [1.451, 1.954, 77.72], [0.2174, -0.2609, 0.2722], [0.9461, -1.126, 7.128]]],
        ),
        (lambda: trained(O.RMSprop(0.1, rho=0.7), sparse=True), [[0.5846, -2.0, 2.563], [3, [6.881, 0.0, 20.59]]]),
        (
            lambda: trained(O.RMSprop(0.1, rho=0.7, momentum=0.3, centered=True), sparse=True),
            [[0.3222, -2.0, 2.251], [3, [5.803, 0.0, 19.43], [0.2174, 0.0, 0.2722], [1.892, 0.0, 3.564]]],
        ),
        (
            lambda: trained(O.RMSprop(0.1, centered=True), sparse=True),
            [[0.3236, -2.0, 2.224], [3, [2.283, 0.0, 7.831], [0.7502, 0.0, 1.451]]],
        ),
        (lambda: trained(O.Adagrad()), [[0.9977, -1.998, 2.998], [3, [12.08, 12.09, 431.8]]]),
        (
            lambda: trained(O.Adagrad(0.1, initial_accumulator_value=0.5, epsilon=0.3)),
            [[0.8105, -1.807, 2.779], [3, [10.81, 11.62, 407.8]]],
        ),
        (lambda: trained(O.Adagrad(0.1), sparse=True), [[0.7809, -2.0, 2.775], [3, [40.18, 0.1, 101.8]]]),
        (lambda: trained(O.Adadelta()), [[1.0, -2.0, 3.0], [3, [0.5705, 0.5705, 20.54], [2.92e-07, 2.92e-07, 2.92e-07]]]),
        (
            lambda: trained(O.Adadelta(0.5, rho=0.7, epsilon=0.5)),
            [[0.02092, -0.6124, 1.201], [3, [0.782, 1.322, 54.35], [0.2797, 0.5267, 0.9113]]],
        ),
        (
            lambda: trained(O.Adadelta(0.5, rho=0.7, epsilon=0.5), sparse=True),
            [[-0.002443, -2.0, 1.232], [3, [2.857, 0.0, 13.72], [0.3276, 0.0, 0.8801]]],
        ),
        (lambda: trained(O.Adam()), [[0.997, -1.997, 2.997], [3, [0.5414, -0.5417, 3.251], [0.01196, 0.01198, 0.4313]]]),
        (
            lambda: trained(O.Adam(0.1, beta_1=0.8, beta_2=0.7, epsilon=0.5)),
            [[0.7828, -1.782, 2.717], [3, [0.8972, -0.9365, 5.647], [2.2, 2.407, 87.53]]],
        ),
        (
            lambda: trained(O.Adam(0.9, beta_2=0.7, amsgrad=True)),
            [[-0.7055, 0.4854, 0.3661], [3, [0.07648, -0.2816, 2.206], [0.9179, 0.8548, 42.83], [1.2, 1.203, 51.41]]],
        ),
        (
            lambda: trained(O.Adam(0.1, beta_1=0.8, beta_2=0.7), sparse=True),
            [[0.6992, -2.0, 2.7], [3, [1.728, 0.0, 2.816], [8.144, 0.0, 21.76]]],
        ),
        (
            lambda: trained(O.Adam(0.9, beta_2=0.7, amsgrad=True), sparse=True),
            [[-0.7055, -2.0, 0.3661], [3, [0.153, 0.0, 1.103], [3.672, 0.0, 10.71], [4.8, 0.0, 12.85]]],
        ),
        (lambda: trained(O.Adamax()), [[0.997, -1.997, 2.997], [3, [0.5414, -0.5417, 3.251], [1.996, 1.998, 11.99]]]),
        (
            lambda: trained(O.Adamax(0.1, beta_1=0.8, beta_2=0.7, epsilon=0.5)),
            [[0.7549, -1.758, 2.708], [3, [0.8857, -0.931, 5.64], [1.677, 1.839, 11.23]]],
        ),
        (
            lambda: trained(O.Adamax(0.1, beta_1=0.8, beta_2=0.7), sparse=True),
            [[0.684, -2.0, 2.695], [3, [1.724, 0.0, 2.815], [3.18, 0.0, 5.597]]],
        ),
        (lambda: trained(O.Nadam()), [[0.9974, -1.997, 2.997], [3, 0.09121, [0.5414, -0.5417, 3.251], [0.01196, 0.01198, 0.4313]]]),
        (
            lambda: trained(O.Nadam(0.1, beta_1=0.8, beta_2=0.7, epsilon=0.5)),
            [[0.7831, -1.779, 2.733], [3, 0.06406, [0.8863, -0.9308, 5.639], [2.146, 2.376, 87.3]]],
        ),
        (
            lambda: trained(O.Nadam(0.1, beta_1=0.8, beta_2=0.7), sparse=True),
            [[0.7283, -2.0, 2.722], [3, 0.06406, [1.728, 0.0, 2.815], [8.144, 0.0, 21.75]]],
        ),
        (lambda: trained(O.Ftrl(0.1)), [[0.6379, -1.476, 2.697], [3, [8.202, 8.957, 392.7], [-18.27, 44.18, -534.4]]]),
        (lambda: trained(O.Ftrl(0.1, -0.3, 0.2, 0.1, 0.2)), [[0.3503, -0.9179, 1.961], [3, [5.64, 6.216, 299.5], [-6.126, 16.35, -109.4]]]),
        (
            lambda: trained(O.Ftrl(0.1, l2_shrinkage_regularization_strength=0.3)),
            [[0.5807, -1.354, 2.664], [3, [7.788, 8.494, 389.1], [-16.21, 39.48, -525.5]]],
        ),
        (
            lambda: trained(O.Ftrl(0.1, l1_regularization_strength=0.1), sparse=True),
            [[0.7054, -2.0, 2.618], [3, [35.97, 0.1, 94.73], [-42.4, 0.0, -254.9]]],
        ),
        (
            lambda: trained(O.Ftrl(0.1, l2_shrinkage_regularization_strength=0.3), sparse=True),
            [[0.6775, -2.0, 2.554], [3, [35.14, 0.1, 93.09], [-40.16, 0.0, -246.5]]],
        ),
        (lambda: rates(S.ExponentialDecay(1.0, 4, 0.5), 0, 2, 8), [1.0, 0.7071, 0.25]),
        (lambda: rates(S.ExponentialDecay(1.0, 4, 0.5, staircase=True), 0, 2, 8), [1.0, 1.0, 0.25]),
        (lambda: rates(S.InverseTimeDecay(1.0, 4, 0.5), 0, 2, 8), [1.0, 0.8, 0.5]),
        (lambda: rates(S.InverseTimeDecay(1.0, 4, 0.5, staircase=True), 0, 2, 8), [1.0, 1.0, 0.5]),
        (lambda: rates(S.PolynomialDecay(1.0, 4, 0.1, 2.0), 0, 2, 8), [1.0, 0.325, 0.1]),
        (lambda: rates(S.PolynomialDecay(1.0, 4, 0.1, cycle=True), 0, 2, 6), [1.0, 0.55, 0.325]),
        (lambda: rates(S.PiecewiseConstantDecay([2, 4], [1.0, 0.5, 0.1]), 0, 2, 3, 5), [1.0, 1.0, 0.5, 0.1]),
        (counted, 1),
    ],
)
def test_steps_of_optimizers(made, expected):
    assert found(made) == expected


@pytest.mark.parametrize(
    ("configured", "expected"),
    [
        (
            lambda: O.SGD(0.2, momentum=0.3, nesterov=True, clipnorm=0.5, name="mine"),
            {"name": "mine", "clipnorm": 0.5, "learning_rate": 0.2, "decay": 0.0, "momentum": 0.3, "nesterov": True},
        ),
        (
            lambda: O.RMSprop(0.2, rho=0.3, momentum=0.4, epsilon=0.5, centered=True, decay=0.1),
            {"name": "RMSprop", "learning_rate": 0.2, "decay": 0.1, "rho": 0.3, "momentum": 0.4, "epsilon": 0.5, "centered": True},
        ),
        (
            lambda: O.Adagrad(0.2, initial_accumulator_value=0.3, epsilon=0.5),
            {"name": "Adagrad", "learning_rate": 0.2, "decay": 0.0, "initial_accumulator_value": 0.3, "epsilon": 0.5},
        ),
        (
            lambda: O.Adadelta(0.2, rho=0.3, epsilon=0.5),
            {"name": "Adadelta", "learning_rate": 0.2, "decay": 0.0, "rho": 0.3, "epsilon": 0.5},
        ),
        (
            lambda: O.Adam(0.2, beta_1=0.3, beta_2=0.6, epsilon=0.5, amsgrad=True),
            {"name": "Adam", "learning_rate": 0.2, "decay": 0.0, "beta_1": 0.3, "beta_2": 0.6, "epsilon": 0.5, "amsgrad": True},
        ),
        (
            lambda: O.Adamax(0.2, beta_1=0.3, beta_2=0.6, epsilon=0.5),
            {"name": "Adamax", "learning_rate": 0.2, "decay": 0.0, "beta_1": 0.3, "beta_2": 0.6, "epsilon": 0.5},
        ),
        (
            lambda: O.Nadam(0.2, beta_1=0.3, beta_2=0.6, epsilon=0.5),
            {"name": "Nadam", "learning_rate": 0.2, "decay": 0.004, "beta_1": 0.3, "beta_2": 0.6, "epsilon": 0.5},
        ),
        (
            lambda: O.Ftrl(0.2, -0.3, 0.4, 0.5, 0.6, "Mine", 0.7),
            {
                "name": "Mine",
                "learning_rate": 0.2,
                "decay": 0.0,
                "initial_accumulator_value": 0.4,
                "learning_rate_power": -0.3,
                "l1_regularization_strength": 0.5,
                "l2_regularization_strength": 0.6,
                "l2_shrinkage_regularization_strength": 0.7,
            },
        ),
        (lambda: O.SGD(), {"name": "SGD", "learning_rate": 0.01, "decay": 0.0, "momentum": 0.0, "nesterov": False}),
        (
            lambda: O.RMSprop(),
            {"name": "RMSprop", "learning_rate": 0.001, "decay": 0.0, "rho": 0.9, "momentum": 0.0, "epsilon": 1e-07, "centered": False},
        ),
        (
            lambda: O.Adagrad(),
            {"name": "Adagrad", "learning_rate": 0.001, "decay": 0.0, "initial_accumulator_value": 0.1, "epsilon": 1e-07},
        ),
        (lambda: O.Adadelta(), {"name": "Adadelta", "learning_rate": 0.001, "decay": 0.0, "rho": 0.95, "epsilon": 1e-07}),
        (
            lambda: O.Adam(),
            {"name": "Adam", "learning_rate": 0.001, "decay": 0.0, "beta_1": 0.9, "beta_2": 0.999, "epsilon": 1e-07, "amsgrad": False},
        ),
        (lambda: O.Adamax(), {"name": "Adamax", "learning_rate": 0.001, "decay": 0.0, "beta_1": 0.9, "beta_2": 0.999, "epsilon": 1e-07}),
        (lambda: O.Nadam(), {"name": "Nadam", "learning_rate": 0.001, "decay": 0.004, "beta_1": 0.9, "beta_2": 0.999, "epsilon": 1e-07}),
        (
            lambda: O.Ftrl(),
            {
                "name": "Ftrl",
                "learning_rate": 0.001,
                "decay": 0.0,
                "initial_accumulator_value": 0.1,
                "learning_rate_power": -0.5,
                "l1_regularization_strength": 0.0,
                "l2_regularization_strength": 0.0,
                "l2_shrinkage_regularization_strength": 0.0,
            },
        ),
        (
            lambda: O.Adam(S.ExponentialDecay(0.1, 5, 0.5, True, "e")),
            {
                "name": "Adam",
                "learning_rate": {
                    "class_name": "ExponentialDecay",
                    "config": {"initial_learning_rate": 0.1, "decay_steps": 5, "decay_rate": 0.5, "staircase": True, "name": "e"},
                },
                "decay": 0.0,
                "beta_1": 0.9,
                "beta_2": 0.999,
                "epsilon": 1e-07,
                "amsgrad": False,
            },
        ),
        (
            lambda: S.InverseTimeDecay(0.1, 5, 0.5),
            {"initial_learning_rate": 0.1, "decay_steps": 5, "decay_rate": 0.5, "staircase": False, "name": None},
        ),
        (
            lambda: S.PolynomialDecay(0.1, 5, 0.01, 2.0, True, "p"),
            {"initial_learning_rate": 0.1, "decay_steps": 5, "end_learning_rate": 0.01, "power": 2.0, "cycle": True, "name": "p"},
        ),
        (lambda: S.PiecewiseConstantDecay([2], [1.0, 0.5], "c"), {"boundaries": [2], "values": [1.0, 0.5], "name": "c"}),
    ],
)
def test_optimizers_come_back_from_their_configs(configured, expected):
    assert found(lambda: configured().get_config()) == expected
    assert found(lambda: type(configured()).from_config(configured().get_config()).get_config()) == expected


@pytest.mark.parametrize(
    ("wrong", "expected"),
    [
        (lambda: O.SGD(speed=1.0), "TypeError: Unexpected keyword argument passed to optimizer: speed"),
        (lambda: O.SGD(clipnorm=-1.0), "ValueError: Expected clipnorm >= 0, received: -1.0"),
        (lambda: O.SGD(momentum=2.0), "ValueError: `momentum` must be between [0, 1]."),
        (lambda: O.Adagrad(initial_accumulator_value=-1.0), "ValueError: initial_accumulator_value must be non-negative: -1.0"),
        (lambda: O.Ftrl(learning_rate_power=1.0), "ValueError: learning_rate_power 1.000000 needs to be negative or zero"),
        (lambda: O.Ftrl(initial_accumulator_value=-1.0), "ValueError: initial_accumulator_value -1.000000 needs to be positive or zero"),
        (lambda: O.Ftrl(l1_regularization_strength=-1.0), "ValueError: l1_regularization_strength -1.000000 needs to be positive or zero"),
        (lambda: O.Ftrl(l2_regularization_strength=-1.0), "ValueError: l2_regularization_strength -1.000000 needs to be positive or zero"),
        (
            lambda: O.Ftrl(l2_shrinkage_regularization_strength=-1.0),
            "ValueError: l2_shrinkage_regularization_strength -1.000000 needs to be positive or zero",
        ),
        (
            lambda: O.Nadam(S.ExponentialDecay(0.1, 1, 0.5)),
            "ValueError: The Nadam optimizer does not support tf.keras.optimizers.LearningRateSchedules as the learning rat",
        ),
        (lambda: O.SGD().nothing, "AttributeError: 'SGD' object has no attribute 'nothing'"),
        (
            lambda: set_to([np.array(2)]),
            "ValueError: You called `set_weights(weights)` on optimizer Adam with a  weight list of length 1, but the optim",
        ),
        (
            lambda: set_to([np.array(2), START, START[:2]]),
            "ValueError: Optimizer weight shape (3,) not compatible with provided weight shape (2,)",
        ),
        (
            lambda: O.SGD().apply_gradients([(None, tf.Variable(1.0, name="v"))]),
            "ValueError: No gradients provided for any variable: ['v:0'].",
        ),
        (
            lambda: trained(O.SGD(0.1), sparse=True, constraint=tf.abs),
            "RuntimeError: Cannot use a constraint function on a sparse variable.",
        ),
        (lambda: O.get("nothing"), "ValueError: Unknown optimizer: nothing"),
        (lambda: O.get(3), "ValueError: ('Could not interpret optimizer identifier:', 3)"),
    ],
)
def test_optimizers_that_cannot_be(wrong, expected):
    assert refused(wrong) == expected


class Known:
    """An object with a config."""

    def __init__(self, a=1):
        self.a = a

    def get_config(self):
        return {"a": self.a}

    @classmethod
    def from_config(cls, config):
        return cls(**config)


class Plain:
    def __init__(self, b=2):
        self.b = b


def named(x, y=1, *args, z=2, **kwargs):
    return x


G = serialization
put, made_of = keras.utils.serialize_keras_object, keras.utils.deserialize_keras_object


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: put(None), None),
        (lambda: put(named), "named"),
        (lambda: put(Known(3)), {"class_name": "Known", "config": {"a": 3}}),
        (lambda: made_of(None), None),
        (lambda: made_of({"class_name": "Known", "config": {"a": 4}}, {"Known": Known}).a, 4),
        (lambda: made_of({"class_name": "Known", "config": {"a": 4}}, custom_objects={"Known": Known}).a, 4),
        (lambda: made_of({"class_name": "Plain", "config": {"b": 4}}, {"Plain": Plain}).b, 4),
        (lambda: made_of("named", {"named": named}) is named, True),
        (lambda: made_of("named", {"named": 3}, custom_objects={"named": named}) is named, True),
        (lambda: made_of("Known", {"Known": Known}).a, 1),
        (lambda: [G.to_list(1), G.to_list([1]), G.to_list((1,))], [[1], [1], [[1]]]),
        (lambda: [G.is_all_none(None), G.is_all_none([None, None]), G.is_all_none([1, None])], [True, True, False]),
        (lambda: [G.slice_arrays([START], [2, 0]), G.slice_arrays(START, np.array([1]))], [[[3.0, 1.0]], [-2.0]]),
        (lambda: [G.make_batches(5, 2), G.make_batches(4, 2), G.make_batches(0, 2)], [[[0, 2], [2, 4], [4, 5]], [[0, 2], [2, 4]], []]),
        (lambda: G.validate_kwargs({"a": 1}, {"a", "b"}), None),
    ],
)
def test_objects_as_configs(made, expected):
    assert found(made) == expected


@pytest.mark.parametrize(
    ("wrong", "expected"),
    [
        (lambda: made_of({"class_name": "Known"}), "ValueError: Improper config format: {'class_name': 'Known'}"),
        (
            lambda: made_of({"class_name": "Odd", "config": {}}, {"Known": Known}, printable_module_name="thing"),
            "ValueError: Unknown thing: Odd",
        ),
        (lambda: made_of("odd", {"Known": Known}, printable_module_name="thing"), "ValueError: Unknown thing:odd"),
        (lambda: G.validate_kwargs({"c": 1}, {"a", "b"}), "TypeError: ('Keyword argument not understood:', 'c')"),
        (lambda: G.slice_arrays([START], [1], 2), "ValueError: The stop argument has to be None if the value of start is a list."),
    ],
)
def test_configs_that_cannot_be(wrong, expected):
    assert refused(wrong) == expected


def test_names_of_a_program_hold_within_their_scope():
    with keras.utils.custom_object_scope({"Known": Known}):
        assert made_of({"class_name": "Known", "config": {"a": 5}}).a == 5
        assert keras.utils.get_custom_objects()["Known"] is Known
    assert "Known" not in keras.utils.get_custom_objects()


def test_hyperparameters_can_be_changed():
    optimizer = O.SGD(0.1, momentum=0.5)
    assert plain([K.get_value(optimizer.lr), K.get_value(optimizer.learning_rate)]) == [0.1, 0.1]
    optimizer.lr = 0.3
    optimizer.momentum = 0.7
    assert plain(K.get_value(optimizer.lr)) == 0.3
    assert plain([optimizer.get_config()["learning_rate"], optimizer.get_config()["momentum"]]) == [0.3, 0.7]
    assert {"lr", "learning_rate", "momentum"} <= set(dir(optimizer))


def test_functions_know_their_arguments():
    assert [G.has_arg(named, n) for n in ("x", "y", "args", "kwargs", "other")] == [True, True, False, False, False]
    assert G.has_arg(named, "other", accept_all=True) and not G.has_arg(lambda x: x, "other", accept_all=True)
    assert G.slice_arrays([START, None], 1)[0].tolist() == [-2.0, 3.0] and G.slice_arrays([None], 0, 2) == [None]
    assert G.slice_arrays([START], 0, 2)[0].tolist() == [1.0, -2.0] and G.slice_arrays(None) == [None]
