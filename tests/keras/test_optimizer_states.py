"""What optimizers say and keep beside their steps; values are those of TensorFlow 1.15.5, where that has them."""

import numpy as np
import pytest
from plain import plain, refused

import everflow as tf

K, L, keras, O = tf.keras.backend, tf.keras.layers, tf.keras, tf.keras.optimizers
LossScaleOptimizer = tf.keras.mixed_precision.experimental.LossScaleOptimizer
Fixed, Dynamic = tf.train.experimental.FixedLossScale, tf.train.experimental.DynamicLossScale
ALL = ("SGD", "Adam", "Adamax", "Nadam", "Adagrad", "Adadelta", "RMSprop", "Ftrl")


def variable(*values, dtype="float32"):
    return tf.Variable(np.array(values, dtype))


def minimized(optimizer, steps=1, dtype="float32", given=None, **kwargs):
    """A variable after steps down the square of it, in eager mode, and the optimizer's weights."""
    v = variable(1.0, -2.0, dtype=dtype)
    for _ in range(steps):
        optimizer.minimize(lambda: tf.reduce_sum(v * v), given if given is not None else [v], **kwargs)
    return [v.numpy(), [w.numpy() for w in optimizer.weights]]


def chosen(optimizer):
    """The same where the variables are found by a function."""
    v = variable(3.0)
    optimizer.minimize(lambda: 0.5 * v * v, lambda: [v])
    return [v.numpy(), int(optimizer.iterations.numpy())]


def stepped(optimizer, steps=1, **kwargs):
    """The same in a graph."""
    v = K.variable([1.0, -2.0])
    step = optimizer.minimize(lambda: tf.reduce_sum(v * v), [v], **kwargs)
    K.get_session().run([v.initializer for v in optimizer.weights])
    for _ in range(steps):
        K.get_session().run(step)
    return [K.get_value(v), step.name, [w.name for w in optimizer.weights]]


def ready(optimizer):
    """An optimizer with its variables, in eager mode."""
    v = variable(1.0, 2.0)
    optimizer.apply_gradients([(tf.constant([0.5, 0.25]), v)])
    return optimizer


def kept(optimizer):
    """What an optimizer gives back of its weights, after they were set to other values."""
    optimizer = ready(optimizer)
    optimizer.set_weights([np.asarray(w + 1) for w in optimizer.get_weights()])
    return [[w.name for w in optimizer.weights], optimizer.get_weights()]


def old(name):
    """An optimizer that takes weights of before there was a count of steps."""
    optimizer = ready(getattr(O, name)())
    optimizer.set_weights([np.asarray(w + 2) for w in optimizer.get_weights()[1:]])
    return optimizer.get_weights()


def raised(act):
    return act(ready(O.SGD(0.5, momentum=0.5)))


def set_late(optimizer):
    optimizer.iterations = variable(1)


def read_only(optimizer, name):
    """A hyperparameter that is set again."""
    before = getattr(optimizer, name)
    setattr(optimizer, name, 0.25)
    return [before if isinstance(before, float) else K.get_value(before), K.get_value(getattr(optimizer, name))]


def scaled(scale=8.0, inner=None):
    return LossScaleOptimizer(inner or O.SGD(0.5, momentum=0.5), scale)


def gradients(optimizer):
    """Scaled losses and gradients made right again, in a graph."""
    v = K.variable([1.0, -2.0])
    loss = tf.reduce_sum(v * v)
    found = optimizer.get_gradients(loss, [v])
    K.get_session().run([w.initializer for w in tf.global_variables() if "loss_scale" in w.name or "good_steps" in w.name])
    return K.get_session().run(
        [
            optimizer.get_scaled_loss(loss),
            found[0],
            optimizer.get_scaled_loss(lambda: loss)(),
            *optimizer.get_unscaled_gradients([tf.constant([8.0])]),
        ]
    )


def sparse(optimizer):
    """Gradients of some rows, scaled."""
    found = optimizer.get_unscaled_gradients([tf.IndexedSlices(tf.constant([8.0]), tf.constant([1])), None])
    return [found[0].values.numpy(), found[0].indices.numpy(), found[1]]


def dynamic(*losses):
    """The scale and a variable after each of several losses, some of which are not finite."""
    scale = Dynamic(initial_loss_scale=4.0, increment_period=2, multiplier=3.0)
    optimizer = LossScaleOptimizer(O.SGD(0.5), scale)
    v = variable(1.0)
    seen = []
    for factor in losses:
        optimizer.apply_gradients([(tf.constant([factor]), v)])
        seen.append([float(scale().numpy()), v.numpy().tolist(), int(optimizer.iterations.numpy())])
    return seen


def again(optimizer):
    """The config of an optimizer that was made from a config."""
    return type(optimizer).from_config(optimizer.get_config()).get_config()


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: minimized(O.SGD(0.25)), [[0.5, -1.0], [1]]),
        (lambda: minimized(O.SGD(0.25, momentum=0.5), steps=2), [[0.0, 0.0], [2, [-0.5, 1.0]]]),
        (lambda: minimized(O.Adam(0.5), steps=2), [[0.03391, -1.009], [2, [0.28, -0.66], [0.004996, 0.02498]]]),
        (lambda: minimized(O.Adam(0.5, amsgrad=True), dtype="float64"), [[0.5, -1.5], [1, [0.2, -0.4], [0.004, 0.016], [0.004, 0.016]]]),
        (lambda: minimized(O.SGD(0.25, clipnorm=1.0)), [[0.8882, -1.776], [1]]),
        (lambda: minimized(O.SGD(0.25, clipvalue=1.5)), [[0.625, -1.625], [1]]),
        (lambda: minimized(O.SGD(lambda: 0.125)), [[0.75, -1.5], [1]]),
        (lambda: minimized(O.SGD(O.schedules.ExponentialDecay(0.5, 1, 0.5)), steps=3), [[0.0, 0.0], [3]]),
        (lambda: minimized(O.SGD(0.5, decay=1.0), steps=3), [[0.0, 0.0], [3]]),
        (lambda: minimized(O.SGD(0.25), grad_loss=tf.constant(3.0)), [[-0.5, 1.0], [1]]),
        (lambda: chosen(O.SGD(0.5)), [[1.5], 1]),
        (
            lambda: [kept(getattr(O, name)(0.5)) for name in ALL],
            [
                [["SGD/iter:0"], [2]],
                [["Adam/iter:0", "Adam/Variable/m:0", "Adam/Variable/v:0"], [2, [1.05, 1.025], [1.0, 1.0]]],
                [["Adamax/iter:0", "Adamax/Variable/m:0", "Adamax/Variable/v:0"], [2, [1.05, 1.025], [1.5, 1.25]]],
                [
                    ["Nadam/iter:0", "Nadam/momentum_cache:0", "Nadam/Variable/m:0", "Nadam/Variable/v:0"],
                    [2, 1.45, [1.05, 1.025], [1.0, 1.0]],
                ],
                [["Adagrad/iter:0", "Adagrad/Variable/accumulator:0"], [2, [1.35, 1.163]]],
                [["Adadelta/iter:0", "Adadelta/Variable/accum_grad:0", "Adadelta/Variable/accum_var:0"], [2, [1.013, 1.003], [1.0, 1.0]]],
                [["RMSprop/iter:0", "RMSprop/Variable/rms:0"], [2, [1.025, 1.006]]],
                [["Ftrl/iter:0", "Ftrl/Variable/accumulator:0", "Ftrl/Variable/linear:0"], [2, [1.35, 1.163], [0.9492, 0.9025]]],
            ],
        ),
        (lambda: [old(name) for name in ("Adagrad", "Adadelta")], [[0, [2.35, 2.162]], [0, [2.013, 2.003], [2.0, 2.0]]]),
        (
            lambda: [
                raised(lambda o: [v.name for v in o.variables()]),
                raised(lambda o: o.get_slot_names()),
                raised(lambda o: o.get_weights()),
            ],
            [["SGD/iter:0", "SGD/Variable/momentum:0"], ["momentum"], [1, [-0.25, -0.125]]],
        ),
        (lambda: read_only(O.SGD(0.5), "lr"), [0.25, 0.25]),
        (lambda: read_only(O.Adam(0.5), "beta_1"), [0.25, 0.25]),
        (lambda: read_only(O.RMSprop(0.5), "learning_rate"), [0.25, 0.25]),
        (
            lambda: [
                K.get_value(getattr(O.Adam(0.25), name))
                if not isinstance(getattr(O.Adam(0.25), name), float)
                else getattr(O.Adam(0.25), name)
                for name in ("lr", "learning_rate", "beta_1", "beta_2", "decay", "epsilon", "amsgrad")
            ],
            [0.25, 0.25, 0.9, 0.999, 0.0, 1e-07, False],
        ),
        (lambda: dynamic(1.0, 1.0, 1.0, 1.0), [[4.0, [0.5], 1], [12.0, [0.0], 2], [12.0, [-0.5], 3], [36.0, [-1.0], 4]]),
        (
            lambda: dynamic(np.inf, 1.0, np.nan, np.nan, 1.0),
            [[1.333, [1.0], 0], [1.333, [0.5], 1], [1.0, [0.5], 1], [1.0, [0.5], 1], [1.0, [0.0], 2]],
        ),
        (lambda: read_only(scaled(), "learning_rate"), [0.25, 0.25]),
        (lambda: read_only(scaled(), "lr"), [0.25, 0.25]),
        (
            lambda: [repr(scaled(Fixed(2)).loss_scale), repr(scaled("dynamic").loss_scale.get_config())],
            ["FixedLossScale(2.0)", "{'initial_loss_scale': 32768.0, 'increment_period': 2000, 'multiplier': 2.0}"],
        ),
        (lambda: ready(scaled())._optimizer.get_slot_names(), ["momentum"]),
        (lambda: [int(O.SGD().apply_gradients([]).numpy()), int(ready(O.SGD()).apply_gradients([]).numpy())], [1, 2]),
    ],
)
@pytest.mark.usefixtures("eager")
def test_optimizers_step_at_once(made, expected):
    assert plain(made(), 4) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: stepped(O.SGD(0.25)), [[0.5, -1.0], "SGD/SGD/AssignAddVariableOp", ["SGD/iter:0"]]),
        (lambda: stepped(O.SGD(0.25), steps=2, name="step"), [[0.25, -0.5], "SGD/step/AssignAddVariableOp", ["SGD/iter:0"]]),
        (
            lambda: stepped(O.Adam(0.5), steps=2),
            [[0.03391, -1.009], "Adam/Adam/AssignAddVariableOp", ["Adam/iter:0", "Adam/Variable/m:0", "Adam/Variable/v:0"]],
        ),
        (lambda: gradients(scaled()), [40.0, [2.0, -4.0], 40.0, [1.0]]),
        (lambda: gradients(scaled(Dynamic(4.0))), [20.0, [2.0, -4.0], 20.0, [2.0]]),
    ],
)
def test_optimizers_step_in_graphs(made, expected):
    assert plain(made(), 4) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (
            lambda: set_late(ready(O.SGD())),
            "RuntimeError: Cannot set `iterations` to a new Variable after the Optimizer weights have been created",
        ),
        (lambda: O.SGD().apply_gradients([(None, variable(1.0))]), "ValueError: No gradients provided for any variable: ['Variable:0']."),
        (
            lambda: O.SGD().minimize(lambda: tf.constant(1.0), [variable(1.0)]),
            "ValueError: No gradients provided for any variable: ['Variable:0'].",
        ),
        (
            lambda: ready(O.SGD()).set_weights([1, 2, 3]),
            "ValueError: You called `set_weights(weights)` on optimizer SGD with a  weight list of length 3, but the optimi",
        ),
        (
            lambda: ready(O.Adam()).set_weights([np.zeros(3)] * 3),
            "ValueError: Optimizer weight shape () not compatible with provided weight shape (3,)",
        ),
        (
            lambda: O.SGD().add_weight("a", (), trainable=True, synchronization=tf.VariableSynchronization.ON_READ),
            "ValueError: Synchronization value can be set to VariableSynchronization.ON_READ only for non-trainable variabl",
        ),
        (lambda: O.SGD(clipnorm=-1.0), "ValueError: Expected clipnorm >= 0, received: -1.0"),
        (lambda: O.SGD(unknown=1), "TypeError: Unexpected keyword argument passed to optimizer: unknown"),
        (lambda: O.SGD(lr=-1.0), "ValueError: Expected lr >= 0, received: -1.0"),
        (lambda: O.SGD(0.1, momentum=2), "ValueError: `momentum` must be between [0, 1]."),
        (lambda: O.get("nothing"), "ValueError: Unknown optimizer: nothing"),
        (lambda: O.get(3), "ValueError: ('Could not interpret optimizer identifier:', 3)"),
        (lambda: minimized(O.SGD(0.25), dtype="int32"), "ValueError: No gradients provided for any variable: ['Variable:0']."),
        (
            lambda: LossScaleOptimizer(tf.train.GradientDescentOptimizer(1.0), 2.0),
            'ValueError: "opt" must be an instance of OptimizerV2, but got:',
        ),
        (
            lambda: LossScaleOptimizer(O.SGD(clipnorm=1.0), 2.0),
            "ValueError: LossScaleOptimizer does not support wrapping optimizers with a clipnorm. Optimizer",
        ),
        (
            lambda: LossScaleOptimizer(O.SGD(clipvalue=1.0), 2.0),
            "ValueError: LossScaleOptimizer does not support wrapping optimizers with a clipvalue. Optimizer",
        ),
        (lambda: LossScaleOptimizer(O.SGD(), "static"), "ValueError: Could not interpret loss scale identifier: static"),
        (lambda: LossScaleOptimizer(O.SGD(), 0.5), "ValueError: loss_scale_value must be at least 1."),
    ],
)
@pytest.mark.usefixtures("eager")
def test_optimizers_refuse_at_once(made, expected):
    assert refused(made).startswith(expected)


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: sparse(scaled(4.0)), [[2.0], [1], None]),
        (
            lambda: [
                K.get_value(ready(scaled()).learning_rate),
                int(ready(scaled()).iterations.numpy()),
                len(ready(scaled()).weights),
                len(ready(scaled()).variables()),
            ],
            [0.5, 1, 2, 2],
        ),
        (lambda: kept(scaled()), [["iter:0", "Variable/momentum:0"], [2, [0.75, 0.875]]]),
        (
            lambda: again(scaled(Dynamic(2.0, 3, 4.0))),
            {
                "optimizer": {
                    "class_name": "SGD",
                    "config": {"name": "SGD", "learning_rate": 0.5, "decay": 0.0, "momentum": 0.5, "nesterov": False},
                },
                "loss_scale": {
                    "class_name": "DynamicLossScale",
                    "config": {"initial_loss_scale": 2.0, "increment_period": 3, "multiplier": 4.0},
                },
            },
        ),
        (
            lambda: again(scaled(Fixed(16))),
            {
                "optimizer": {
                    "class_name": "SGD",
                    "config": {"name": "SGD", "learning_rate": 0.5, "decay": 0.0, "momentum": 0.5, "nesterov": False},
                },
                "loss_scale": {"class_name": "FixedLossScale", "config": {"loss_scale_value": 16.0}},
            },
        ),
        (
            lambda: again(scaled(inner=O.Adam(0.5))),
            {
                "optimizer": {
                    "class_name": "Adam",
                    "config": {
                        "name": "Adam",
                        "learning_rate": 0.5,
                        "decay": 0.0,
                        "beta_1": 0.9,
                        "beta_2": 0.999,
                        "epsilon": 1e-07,
                        "amsgrad": False,
                    },
                },
                "loss_scale": {"class_name": "FixedLossScale", "config": {"loss_scale_value": 8.0}},
            },
        ),
    ],
)
@pytest.mark.usefixtures("eager")
def test_scaled_losses_keep_what_their_optimizer_keeps(made, expected):
    assert plain(made(), 4) == expected


@pytest.mark.parametrize(("made", "expected"), [(lambda: LossScaleOptimizer(O.SGD(), None), "ValueError: loss_scale cannot be None.")])
@pytest.mark.usefixtures("eager")
def test_there_is_a_scale(made, expected):
    assert refused(made).startswith(expected)
