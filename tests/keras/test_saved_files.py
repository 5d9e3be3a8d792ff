"""Models and weights in files and as text: HDF5, checkpoints, JSON and YAML; values are those of TensorFlow 1.15.5."""

import builtins
import json
import os
import tempfile

import h5py
import numpy as np
import pytest
from plain import plain, refused

import everflow as tf
from everflow.keras.saving import hdf5 as hdf5_format

L, K, keras = tf.keras.layers, tf.keras.backend, tf.keras


def some(*shape):
    return np.sin(np.arange(np.prod(shape, dtype=int))).reshape(shape).astype(np.float32)


X, Y = some(4, 2), some(4, 1)


def model(*units, **compiled):
    """Dense layers a, b, ...; trained for a step where it is told how."""
    layers = [L.Dense(n, name="abc"[i], **({"input_shape": (2,)} if not i else {})) for i, n in enumerate(units)]
    made = keras.Sequential(layers, name="m")
    made.set_weights([some(*w.shape) for w in made.get_weights()])
    if compiled:
        made.compile(**compiled)
        made.train_on_batch(X, Y)
    return made


def folder():
    return tempfile.mkdtemp(prefix="saved")


def stored(made, **kwargs):
    """(path of a file with the model, the same file opened)."""
    path = os.path.join(folder(), "m.h5")
    made.save(path, **kwargs)
    return path


def contents(path):
    """Names of attributes and of data sets."""
    with h5py.File(path, "r") as f:
        found = []
        f.visititems(lambda name, item: found.append(name) if isinstance(item, h5py.Dataset) else None)
        text = lambda v: v.decode() if hasattr(v, "decode") else str(v)
        return [{k: text(v) for k, v in f.attrs.items() if k not in ("model_config", "training_config")}, sorted(f.attrs), found]


def described(made, **kwargs):
    """What a file says of training."""
    with h5py.File(stored(made, **kwargs), "r") as f:
        found = f.attrs["training_config"]
        return json.loads(found.decode() if hasattr(found, "decode") else found)


def loaded(made, objects=None, **kwargs):
    """A model that comes back: losses, metrics and the optimizer, and what it says after another step."""
    again = keras.models.load_model(stored(made), custom_objects=objects, **kwargs)
    if not again.optimizer:
        return [again.predict(X), None]
    before = [K.get_value(w) for w in again.optimizer.weights][:3]
    return [again.metrics_names, type(again.optimizer).__name__, before, again.train_on_batch(X, Y), made.train_on_batch(X, Y)]


def weights_into(target, source, by_name=False, **kwargs):
    """The weights of a model after it read those of another."""
    path = os.path.join(folder(), kwargs.pop("name", "w.h5"))
    source.save_weights(path, **kwargs)
    target.load_weights(path, by_name=by_name)
    return (
        [w.shape for w in target.get_weights()],
        [float(w.sum()) for w in target.get_weights()],
        sorted(os.listdir(os.path.dirname(path))),
    )


def asked(*answers, path=None):
    """Whether a file was written anew, after some answers."""
    given, path = iter(answers), stored(model(1))
    before, kept = os.path.getmtime(path), builtins.input
    os.utime(path, (1, 1))
    builtins.input = lambda text: next(given)
    try:
        model(1).save(path, overwrite=False)
        model(1).save_weights(path, overwrite=False) if len(answers) > 2 else None
    finally:
        builtins.input = kept
    return [os.path.getmtime(path) > 1, next(given, None), before > 1]


class Own(L.Dense):
    """A layer of the program."""


def own_loss(y_true, y_pred):
    return tf.reduce_mean(tf.abs(y_true - y_pred), -1) * 3.0


class Own_rate(L.Layer):
    """A layer whose config JSON has no form for."""

    def __init__(self, value, **kwargs):
        super().__init__(**kwargs)
        self.value = value

    def call(self, x):
        return x

    def get_config(self):
        return {**super().get_config(), "value": self.value}


def jsoned(value):
    made = keras.Sequential([Own_rate(value, input_shape=(1,))])
    return json.loads(made.to_json())["config"]["layers"][0]["config"]["value"]


def cut(path, name):
    """A file without an attribute."""
    with h5py.File(path, "a") as f:
        del f.attrs[name]
    return path


def many():
    """A list of names that is too long for one attribute."""
    path = os.path.join(folder(), "names.h5")
    with h5py.File(path, "w") as f:
        hdf5_format.save_attributes_to_hdf5_group(f, "names", [b"%06d" % i + b"x" * 1000 for i in range(100)])
        return sorted(f.attrs), [n[:6] for n in hdf5_format.load_attributes_from_hdf5_group(f, "names")] == [f"{i:06d}" for i in range(100)]


def too_long():
    with h5py.File(os.path.join(folder(), "names.h5"), "w") as f:
        hdf5_format.save_attributes_to_hdf5_group(f, "names", ["x" * 65000])


class Called(keras.Model):
    """A model with a call of its own."""

    def __init__(self):
        super().__init__()
        self.inner = L.Dense(1, name="a")

    def call(self, x):
        return self.inner(x)


def opened(made):
    """A model through a file that is open already."""
    with h5py.File(os.path.join(folder(), "m.h5"), "w") as f:
        made.save(f)
        return [keras.models.load_model(f).predict(X[:1]), bool(f.id)]


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (
            lambda: contents(stored(model(3, 1, optimizer="adam", loss="mse"))),
            [
                {"backend": "tensorflow", "keras_version": "2.2.4-tf"},
                ["backend", "keras_version", "model_config", "training_config"],
                [
                    "model_weights/a/a/bias:0",
                    "model_weights/a/a/kernel:0",
                    "model_weights/b/b/bias:0",
                    "model_weights/b/b/kernel:0",
                    "optimizer_weights/training/Adam/a/bias/m:0",
                    "optimizer_weights/training/Adam/a/bias/v:0",
                    "optimizer_weights/training/Adam/a/kernel/m:0",
                    "optimizer_weights/training/Adam/a/kernel/v:0",
                    "optimizer_weights/training/Adam/b/bias/m:0",
                    "optimizer_weights/training/Adam/b/bias/v:0",
                    "optimizer_weights/training/Adam/b/kernel/m:0",
                    "optimizer_weights/training/Adam/b/kernel/v:0",
                    "optimizer_weights/training/Adam/iter:0",
                ],
            ],
        ),
        (
            lambda: contents(stored(model(1, optimizer="adam", loss="mse"), include_optimizer=False)),
            [
                {"backend": "tensorflow", "keras_version": "2.2.4-tf"},
                ["backend", "keras_version", "model_config"],
                ["model_weights/a/a/bias:0", "model_weights/a/a/kernel:0"],
            ],
        ),
        (
            lambda: contents(stored(model(1))),
            [
                {"backend": "tensorflow", "keras_version": "2.2.4-tf"},
                ["backend", "keras_version", "model_config"],
                ["model_weights/a/a/bias:0", "model_weights/a/a/kernel:0"],
            ],
        ),
        (
            lambda: described(model(1, optimizer="sgd", loss="mse")),
            {
                "loss": "mse",
                "metrics": [],
                "weighted_metrics": None,
                "sample_weight_mode": None,
                "loss_weights": None,
                "optimizer_config": {
                    "class_name": "SGD",
                    "config": {"name": "SGD", "learning_rate": 0.01, "decay": 0.0, "momentum": 0.0, "nesterov": False},
                },
            },
        ),
        (
            lambda: described(model(1, optimizer=keras.optimizers.Adam(0.5), loss=own_loss, metrics=["mae", own_loss])),
            {
                "loss": "own_loss",
                "metrics": ["mae", "own_loss"],
                "weighted_metrics": None,
                "sample_weight_mode": None,
                "loss_weights": None,
                "optimizer_config": {
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
            },
        ),
        (
            lambda: described(model(1, optimizer="sgd", loss=keras.losses.Huber(0.3), metrics=[keras.metrics.AUC(5)], loss_weights=[2.0])),
            {
                "loss": {"class_name": "Huber", "config": {"reduction": "auto", "name": "huber_loss", "delta": 0.3}},
                "metrics": [
                    {
                        "class_name": "AUC",
                        "config": {
                            "name": "auc",
                            "dtype": "float32",
                            "num_thresholds": 5,
                            "curve": "ROC",
                            "summation_method": "interpolation",
                            "thresholds": [0.25, 0.5, 0.75],
                        },
                    }
                ],
                "weighted_metrics": None,
                "sample_weight_mode": None,
                "loss_weights": [2.0],
                "optimizer_config": {
                    "class_name": "SGD",
                    "config": {"name": "SGD", "learning_rate": 0.01, "decay": 0.0, "momentum": 0.0, "nesterov": False},
                },
            },
        ),
        (
            lambda: described(model(1, optimizer="sgd", loss={"a": "mse"}, metrics={"a": ["mae"]}, weighted_metrics=["mse"])),
            {
                "loss": {"a": "mse"},
                "metrics": {"a": ["mae"]},
                "weighted_metrics": ["mse"],
                "sample_weight_mode": None,
                "loss_weights": None,
                "optimizer_config": {
                    "class_name": "SGD",
                    "config": {"name": "SGD", "learning_rate": 0.01, "decay": 0.0, "momentum": 0.0, "nesterov": False},
                },
            },
        ),
        (
            lambda: loaded(model(3, 1, optimizer=keras.optimizers.SGD(0.1, momentum=0.9), loss="mse", metrics=["mae"])),
            [
                ["loss", "mean_absolute_error"],
                "SGD",
                [1, [[0.0, -0.04309, -0.04656], [0.0, 0.01694, 0.01831]], [0.0, -0.1273, -0.1376]],
                [0.2403, 0.3851],
                [0.2403, 0.3851],
            ],
        ),
        (
            lambda: loaded(model(1, optimizer="adam", loss=keras.losses.Huber(0.3), metrics=[keras.metrics.MeanAbsoluteError(name="off")])),
            [["loss", "off"], "Adam", [1, [[-0.003239], [0.01737]], [0.0]], [0.2217, 0.889], [0.2217, 0.889]],
        ),
        (
            lambda: loaded(model(1, optimizer="sgd", loss={"a": "mae"}, metrics={"a": ["mse", "mae"]}, loss_weights=[0.5])),
            [["loss", "mean_squared_error", "mean_absolute_error"], "SGD", [1], [0.444, 1.031, 0.8879], [0.444, 1.031, 0.8879]],
        ),
        (lambda: loaded(model(1, optimizer="sgd", loss=own_loss), {"own_loss": own_loss}), [["loss"], "SGD", [1], 2.638, 2.638]),
        (lambda: loaded(model(1, optimizer="sgd", loss="mse"), compile=False), [[[0.7045], [0.1212], [-0.7868], [0.5522]], None]),
        (
            lambda: loaded(model(1, optimizer=tf.train.GradientDescentOptimizer(0.1), loss="mse")),
            [[[0.6726], [0.1438], [-0.6055], [0.547]], None],
        ),
        (lambda: loaded(model(2)), [[[0.7651, 0.9602], [0.1283, 1.627], [-0.8719, 0.06932], [0.5974, 0.6991]], None]),
        (lambda: opened(model(2)), [[[0.7651, 0.9602]], True]),
        (lambda: weights_into(model(3, 1), model(3, 1)), [[[2, 3], [3], [3, 1], [1]], [0.1762, 1.751, 1.751, 0.0], ["w.h5"]]),
        (
            lambda: weights_into(model(3, 2), model(3, 2, 1), by_name=True),
            [[[2, 3], [3], [3, 2], [2]], [0.1762, 1.751, 0.1762, 0.8415], ["w.h5"]],
        ),
        (
            lambda: weights_into(model(3, 2), model(3, 2), name="w", save_format=None),
            [
                [[2, 3], [3], [3, 2], [2]],
                [0.1762, 1.751, 0.1762, 0.8415],
                ["checkpoint", "w.data-00000-of-00002", "w.data-00001-of-00002", "w.index"],
            ],
        ),
        (
            lambda: weights_into(model(3, 2), model(3, 2), name="w", save_format=" TF "),
            [
                [[2, 3], [3], [3, 2], [2]],
                [0.1762, 1.751, 0.1762, 0.8415],
                ["checkpoint", "w.data-00000-of-00002", "w.data-00001-of-00002", "w.index"],
            ],
        ),
        (
            lambda: weights_into(model(3, 2), model(3, 2), name="w", save_format="HDF5"),
            [[[2, 3], [3], [3, 2], [2]], [0.1762, 1.751, 0.1762, 0.8415], ["w"]],
        ),
        (
            lambda: weights_into(model(3, 2), model(3, 2), name="w.keras"),
            [[[2, 3], [3], [3, 2], [2]], [0.1762, 1.751, 0.1762, 0.8415], ["w.keras"]],
        ),
        (lambda: [model(2).load_weights(stored(model(2))), keras.models.load_model(stored(model(2))).name], [None, "m"]),
        (
            lambda: [asked("y"), asked("N"), asked("odd", " n "), asked("?", "y", "n")],
            [[True, None, True], [False, None, True], [False, None, True], [True, None, True]],
        ),
        (lambda: many(), [["names0", "names1"], True]),
        (
            lambda: [
                jsoned(v) for v in (np.float32(2.5), np.arange(3), tf.TensorShape([2, None]), tf.Dimension(3), tf.float32.name, np.int64(3))
            ],
            [2.5, [0, 1, 2], [2, None], 3, "float32", 3],
        ),
        (
            lambda: [jsoned(v) for v in (own_loss, keras.initializers.Ones(), (1, 2), {"a": (1,)})],
            ["own_loss", {"class_name": "Ones", "config": {"dtype": "float32"}}, [1, 2], {"a": [1]}],
        ),
        (
            lambda: (
                keras.models.load_model(stored(keras.Sequential([Own(1, input_shape=(2,))])), {"Own": Own}).layers[0].__class__.__name__
            ),
            "Own",
        ),
        (lambda: keras.models.load_model(cut(stored(model(1, optimizer="sgd", loss="mse")), "training_config")).optimizer, None),
    ],
)
def test_files_of_models(made, expected):
    assert plain(made(), 4) == expected


@pytest.mark.parametrize(
    ("wrong", "expected"),
    [
        (lambda: keras.models.load_model(cut(stored(model(1)), "model_config")), "ValueError: No model found in config file."),
        (
            lambda: keras.models.load_model("/nowhere/m.h5"),
            "OSError: SavedModel file does not exist at: /nowhere/m.h5/{saved_model.pbtxt|sav",
        ),
        (lambda: keras.models.load_model(stored(keras.Sequential([Own(1, input_shape=(2,))]))), "ValueError: Unknown layer: Own"),
        (lambda: stored(Called()), "NotImplementedError: Saving the model to HDF5 format requires the model to be a "),
        (
            lambda: keras.Sequential([L.Dense(1)]).save_weights("w.h5"),
            "ValueError: Weights for model sequential have not yet been created. Weights are ",
        ),
        (lambda: model(1).save_weights("w", save_format="odd"), 'ValueError: Unknown format "odd". Was expecting one of {"tf", "h5"}.'),
        (
            lambda: model(1).save_weights("w.h5", save_format="tf"),
            'ValueError: save_weights got save_format="tf"/"tensorflow", but the filepath ("w',
        ),
        (lambda: weights_into(model(3), model(3, 1)), "ValueError: You are trying to load a weight file containing 2 layers into a mode"),
        (lambda: weights_into(model(3), model(2)), "no error, but ([(2, 2), (2,)], [1.8918883800506592, 0.8414709568023682], ['w.h5'"),
        (
            lambda: weights_into(model(3), model(2), by_name=True),
            "ValueError: Layer #0 (named \"a\"), weight <tf.Variable 'a/kernel:0' shape=(2, 3) ",
        ),
        (
            lambda: weights_into(keras.Sequential([L.Dense(1, use_bias=False, input_shape=(2,), name="a")]), model(1), by_name=True),
            'ValueError: Layer #0 (named "a") expects 1 weight(s), but the saved weights have',
        ),
        (
            lambda: weights_into(keras.Sequential([L.Dense(1, use_bias=False, input_shape=(2,), name="a")]), model(1)),
            'ValueError: Layer #0 (named "a" in the current model) was found to correspond to',
        ),
        (
            lambda: weights_into(model(1), model(1), by_name=True, name="w"),
            "NotImplementedError: Weights may only be loaded based on topology into Models wh",
        ),
        (lambda: too_long(), "RuntimeError: The following attributes cannot be saved to HDF5 file because they"),
    ],
)
def test_files_that_cannot_be(wrong, expected):
    assert refused(wrong)[:80] == expected
