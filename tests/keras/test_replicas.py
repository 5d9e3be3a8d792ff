"""Models under a strategy with two replicas: each gets its part of a batch; values are those of TensorFlow 1.15.5."""

import numpy as np
import pytest
from plain import plain

import everflow as tf

K, L, keras = tf.keras.backend, tf.keras.layers, tf.keras


def some(*shape):
    return np.sin(np.arange(np.prod(shape, dtype=int))).reshape(shape).astype(np.float32)


X, Y = some(8, 3), some(8, 2)


def session():
    """Keras' session, with two devices."""
    made = tf.Session(config=tf.ConfigProto(device_count={"CPU": 2}, allow_soft_placement=True))
    K.set_session(made)
    return made


def model(optimizer="sgd", loss="mse", make=None, strategy=None, **kwargs):
    """A compiled model on two replicas."""
    session()
    with (strategy or tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"])).scope():
        if make is None:
            made = keras.Sequential([L.Dense(2, input_shape=(3,), kernel_initializer="ones", name="out")])
        else:
            x = keras.Input((3,), name="in")
            made = keras.Model(x, make(x))
        if optimizer == "sgd":
            optimizer = keras.optimizers.SGD(0.1)
        made.compile(optimizer, loss, **kwargs)
    return made


def data(*parts, size=4):
    return tf.data.Dataset.from_tensor_slices(tuple(parts) if len(parts) > 1 else parts[0]).batch(size)


def fitted(*parts, epochs=2, size=4, **kwargs):
    """(the history, the weights) after some epochs."""
    made = model(**kwargs)
    history = made.fit(data(*(parts or (X, Y)), size=size).repeat(), epochs=epochs, verbose=0, shuffle=False, steps_per_epoch=8 // size)
    return [history.history, made.get_weights()]


def judged(*parts, size=4, **kwargs):
    made = model(**kwargs)
    return [made.metrics_names, made.evaluate(data(*(parts or (X, Y)), size=size), verbose=0, steps=8 // size)]


def normal(x):
    return L.Dense(2, kernel_initializer="ones")(L.BatchNormalization(momentum=0.5)(x))


def penalized(x):
    return L.Dense(2, kernel_initializer="ones", kernel_regularizer="l2", activity_regularizer="l1")(x)


def both(x):
    return [L.Dense(1, kernel_initializer="ones", name="a")(x), L.Dense(2, kernel_initializer="ones", name="b")(x)]


WEIGHT = np.arange(8.0)


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: fitted(), [{"loss": [1.807, 1.385]}, [[[1.089, 1.06], [0.7693, 0.7984], [0.6621, 0.722]], [-0.004015, 0.009683]]]),
        (lambda: fitted(size=8), [{"loss": [1.84, 1.57]}, [[[1.062, 1.047], [0.8742, 0.8901], [0.8015, 0.8341]], [-0.00469, 0.004582]]]),
        (
            lambda: fitted(optimizer=keras.optimizers.Adam(0.1)),
            [{"loss": [1.815, 1.308]}, [[[1.38, 1.284], [0.6923, 0.6922], [0.6702, 0.698]], [-0.04693, -0.0004365]]],
        ),
        (
            lambda: fitted(optimizer=keras.optimizers.SGD(0.1, momentum=0.9, nesterov=True), metrics=["mae"]),
            [
                {"loss": [1.815, 1.081], "mean_absolute_error": [1.106, 0.8797]},
                [[[1.154, 1.101], [0.3128, 0.3992], [0.1032, 0.2501]], [-0.01126, 0.03575]],
            ],
        ),
        (
            lambda: fitted(optimizer=keras.optimizers.RMSprop(0.1)),
            [{"loss": [1.91, 1.193]}, [[[1.299, 1.116], [0.5597, 0.5495], [0.5908, 0.6543]], [0.03624, 0.00592]]],
        ),
        (
            lambda: fitted(X, Y, WEIGHT),
            [{"loss": [3.311, 2.524]}, [[[1.211, 0.9733], [0.8091, 0.751], [0.5823, 0.7577]], [0.06816, 0.06669]]],
        ),
        (lambda: judged(X, Y, WEIGHT), [["loss"], 3.569]),
        (
            lambda: fitted(loss=keras.losses.MeanSquaredError(reduction="sum")),
            [{"loss": [7.889, 4.281]}, [[[0.9627, 0.8807], [0.3565, 0.4241], [0.342, 0.497]], [0.03697, 0.04312]]],
        ),
        (
            lambda: fitted(loss=keras.losses.MeanAbsoluteError()),
            [{"loss": [1.096, 1.062]}, [[[1.031, 1.02], [0.9438, 0.9302], [0.9084, 0.9045]], [0.0, 0.0]]],
        ),
        (
            lambda: fitted(make=penalized),
            [{"loss": [1.88, 1.437]}, [[[1.08, 1.052], [0.7612, 0.7902], [0.6543, 0.7141]], [-0.004266, 0.009433]]],
        ),
        (
            lambda: fitted(make=normal),
            [
                {"loss": [1.346, 0.5946]},
                [
                    [1.186, 0.7814, 0.7795],
                    [0.04813, 0.03924, 0.03924],
                    [0.05255, 0.05814, 0.01028],
                    [0.3889, 0.2598, 0.8929],
                    [[1.12, 1.054], [0.8626, 0.9069], [0.8603, 0.9075]],
                    [0.01489, 0.02882],
                ],
            ],
        ),
        (
            lambda: fitted(X, (Y[:, :1], Y), make=both, loss=["mse", "mae"], loss_weights=[2.0, 0.5], metrics={"a": "mae", "b": ["mse"]}),
            [
                {
                    "loss": [4.684, 2.612],
                    "a_loss": [2.067, 1.038],
                    "b_loss": [1.098, 1.074],
                    "a_mean_absolute_error": [1.19, 0.8396],
                    "b_mean_squared_error": [1.832, 1.749],
                },
                [[[0.9627], [0.3565], [0.342]], [0.03697], [[1.024, 1.01], [0.9683, 0.9651], [0.9422, 0.9522]], [0.0125, 0.0]],
            ],
        ),
        (
            lambda: fitted(X, (Y[:, :1], Y), make=both, loss={"a": "mse", "b": "mae"}),
            [
                {"loss": [3.052, 2.267], "a_loss": [1.956, 1.204], "b_loss": [1.096, 1.062]},
                [[[1.097], [0.5963], [0.4665]], [0.002502], [[1.031, 1.02], [0.9438, 0.9302], [0.9084, 0.9045]], [0.0, 0.0]],
            ],
        ),
        (lambda: judged(), [["loss"], 1.84]),
        (lambda: judged(size=2), [["loss"], 1.84]),
        (lambda: judged(metrics=["mae", "mse"]), [["loss", "mean_absolute_error", "mean_squared_error"], [1.84, 1.101, 1.84]]),
        (
            lambda: judged(X, (Y[:, :1], Y), make=both, loss=["mse", "mae"], loss_weights=[2.0, 0.5]),
            [["loss", "a_loss", "b_loss"], [4.607, 2.028, 1.101]],
        ),
        (lambda: judged(make=penalized), [["loss"], 1.919]),
        (
            lambda: model().predict(data(X), steps=2),
            [
                [1.751, 1.751],
                [-1.575, -1.575],
                [1.367, 1.367],
                [-1.132, -1.132],
                [0.8742, 0.8742],
                [-0.599, -0.599],
                [0.3118, 0.3118],
                [-0.01842, -0.01842],
            ],
        ),
        (
            lambda: model(make=both).predict(data(X, size=8), steps=1),
            [
                [[1.751], [-1.575], [1.367], [-1.132], [0.8742], [-0.599], [0.3118], [-0.01842]],
                [
                    [1.751, 1.751],
                    [-1.575, -1.575],
                    [1.367, 1.367],
                    [-1.132, -1.132],
                    [0.8742, 0.8742],
                    [-0.599, -0.599],
                    [0.3118, 0.3118],
                    [-0.01842, -0.01842],
                ],
            ],
        ),
        (lambda: [type(w).__name__ for w in model().weights], ["MirroredVariable", "MirroredVariable"]),
        (lambda: [model().weights[0].shape, len(model().weights[0].values)], [[3, 2], 2]),
    ],
)
def test_replicas_train_as_one_would(made, expected):
    assert plain(made(), 4) == expected
