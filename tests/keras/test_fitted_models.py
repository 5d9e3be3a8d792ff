"""Models that are fitted, what training refuses, and what callbacks decide, as in TensorFlow 1.15.5."""

import numpy as np
import pytest
from plain import described, refused

import everflow as tf
from everflow.eager.context import eager_mode

CB, L, SK = tf.keras.callbacks, tf.keras.layers, tf.keras.wrappers.scikit_learn

x = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0]], np.float32)
yy = np.array([[1.0], [0.0], [1.0], [0.0]], np.float32)


def model(loss="mse", optimizer="sgd", layer=None, **others):
    made = tf.keras.Sequential([L.Dense(1, kernel_initializer="ones", input_shape=(2,), name="d", **layer or {})])
    if isinstance(optimizer, str):
        optimizer = tf.keras.optimizers.get({"class_name": optimizer, "config": {"learning_rate": 0.01}})
    made.compile(optimizer, loss, **others)
    return made


def pair(**others):
    a = tf.keras.Input((2,), name="a")
    made = tf.keras.Model(a, [L.Dense(1, kernel_initializer="ones", name=name)(a) for name in "pq"])
    made.compile(tf.keras.optimizers.SGD(0.01), **others)
    return made


def history(model, *args, **others):
    found = model.fit(*args, **{"verbose": 0, "shuffle": False, **others}).history
    return {key: [float(f"{v:.4g}") for v in values] for key, values in found.items()}


def rounded(values):
    if isinstance(values, (list, tuple)) or np.ndim(values):
        return [rounded(v) for v in values]
    return float(f"{float(values):.4g}")


class Fake:
    """What callbacks ask of a model."""

    stop_training = False

    def __init__(self):
        self.optimizer = type("Optimizer", (), {"lr": tf.keras.backend.variable(0.1)})()
        self.saved = []

    def _in_multi_worker_mode(self):
        return False

    def save(self, path, overwrite=True):
        self.saved.append(path)

    def save_weights(self, path, overwrite=True):
        self.saved.append("w" + path)


def follows(callback, values, seen, name="val_loss"):
    """What is seen of a model after each epoch, until the callback stops it."""
    callback.model = model = Fake()
    callback.on_train_begin()
    found = []
    for i, v in enumerate(values):
        callback.on_epoch_begin(i)
        callback.on_epoch_end(i, v if isinstance(v, dict) else {name: v})
        found.append(seen(model))
        if model.stop_training:
            break
    return found


def stops(values, **others):
    callback = CB.EarlyStopping(**others)
    found = follows(callback, values, lambda model: model.stop_training)
    return len(found) - 1, found[-1], callback.stopped_epoch


def rates(values, **others):
    return follows(CB.ReduceLROnPlateau(**others), values, lambda model: rounded(tf.keras.backend.get_value(model.optimizer.lr)))


def saves(values, path="f{epoch:02d}-{val_loss:.1f}", **others):
    return follows(CB.ModelCheckpoint(path, **others), values, lambda model: list(model.saved))[-1]


def eagerly(made):
    with eager_mode():
        return made()


def gen(size=2, weights=None):
    while True:
        for i in range(0, 4, size):
            yield tuple(part[i : i + size] for part in (x, yy, weights) if part is not None)


class Batches(tf.keras.utils.Sequence):
    def __len__(self):
        return 2

    def __getitem__(self, i):
        return x[2 * i : 2 * i + 2], yy[2 * i : 2 * i + 2]


def data():
    return tf.data.Dataset.from_tensor_slices((x, yy)).batch(2)


def built(units=1, rate=0.01):
    made = tf.keras.Sequential([L.Dense(units, kernel_initializer="ones", input_shape=(2,))])
    made.compile(tf.keras.optimizers.SGD(rate), "mse")
    return made


def f32(*shape):
    return np.arange(1, 1 + np.prod(shape), dtype=np.float32).reshape(shape)


def t(*shape):
    return tf.constant(f32(*shape))


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: history(model(), x, yy), {"loss": [94.5]}),
        (lambda: history(model(), x, yy, epochs=3, batch_size=2), {"loss": [53.78, 15.57, 4.427]}),
        (
            lambda: history(model(metrics=["mae"]), x, yy, validation_split=0.5),
            {"loss": [26.5], "mean_absolute_error": [4.5], "val_loss": [81.07], "val_mean_absolute_error": [8.79]},
        ),
        (
            lambda: history(model(metrics=["mae", "mse"]), x, yy, validation_data=(x, yy)),
            {
                "loss": [94.5],
                "mean_absolute_error": [8.5],
                "mean_squared_error": [94.5],
                "val_loss": [0.5934],
                "val_mean_absolute_error": [0.59],
                "val_mean_squared_error": [0.5934],
            },
        ),
        (lambda: history(model(), x, yy, sample_weight=np.array([1.0, 0.0, 0.0, 2.0])), {"loss": [113.5]}),
        (lambda: history(model(), x, yy, class_weight={0: 2.0, 1: 0.5}), {"loss": [150.0]}),
        (lambda: history(model(), x, yy, initial_epoch=1, epochs=3), {"loss": [94.5, 0.5934]}),
        (
            lambda: history(model(), x, yy, validation_data=(x, yy), validation_freq=2, epochs=3),
            {"loss": [94.5, 0.5934, 0.4803], "val_loss": [0.4803]},
        ),
        (
            lambda: history(model(), x, yy, validation_data=(x, yy), validation_freq=[1, 3], epochs=3),
            {"loss": [94.5, 0.5934, 0.4803], "val_loss": [0.5934, 0.4769]},
        ),
        (lambda: history(model(layer=dict(kernel_regularizer="l2")), x, yy), {"loss": [94.52]}),
        (lambda: history(model(layer=dict(activity_regularizer="l2")), x, yy), {"loss": [95.51]}),
        (lambda: history(model(layer=dict(kernel_constraint="unit_norm")), x, yy, epochs=2), {"loss": [94.5, 1.645]}),
        (lambda: history(pair(loss="mse"), x, [yy, yy]), {"loss": [189.0], "p_loss": [94.5], "q_loss": [94.5]}),
        (lambda: history(pair(loss=["mse", "mae"]), x, [yy, yy]), {"loss": [103.0], "p_loss": [94.5], "q_loss": [8.5]}),
        (
            lambda: history(pair(loss={"p": "mse", "q": "mae"}, loss_weights=[1.0, 0.5]), x, {"p": yy, "q": yy}),
            {"loss": [98.75], "p_loss": [94.5], "q_loss": [8.5]},
        ),
        (
            lambda: history(pair(loss={"p": "mse", "q": "mae"}, loss_weights={"p": 3.0, "q": 0.5}, metrics={"q": ["mse"]}), x, [yy, yy]),
            {"loss": [287.8], "p_loss": [94.5], "q_loss": [8.5], "q_mean_squared_error": [94.5]},
        ),
        (
            lambda: history(pair(loss="mse", metrics=["mae"]), x, [yy, yy], sample_weight={"p": np.array([1.0, 0.0, 1.0, 0.0])}),
            {"loss": [120.5], "p_loss": [26.0], "q_loss": [94.5], "p_mean_absolute_error": [8.5], "q_mean_absolute_error": [8.5]},
        ),
        (
            lambda: history(pair(loss="mse", metrics=[["mae"], []]), x, [yy, yy]),
            {"loss": [189.0], "p_loss": [94.5], "q_loss": [94.5], "p_mean_absolute_error": [8.5]},
        ),
        (
            lambda: [
                history(model(optimizer=o), x, yy, epochs=2)["loss"]
                for o in ("sgd", "adam", "rmsprop", "adagrad", "adadelta", "adamax", "nadam", "ftrl")
            ],
            [[94.5, 0.5934], [94.5, 92.39], [94.5, 87.92], [94.5, 92.39], [94.5, 94.5], [94.5, 92.39], [94.5, 92.27], [94.5, 91.77]],
        ),
        (
            lambda: [
                history(model(optimizer=o), x, yy, epochs=3)["loss"]
                for o in (
                    tf.keras.optimizers.SGD(0.01, 0.9),
                    tf.keras.optimizers.SGD(0.01, 0.9, True),
                    tf.keras.optimizers.SGD(0.01, decay=0.5),
                    tf.keras.optimizers.SGD(0.01, clipnorm=0.1),
                    tf.keras.optimizers.SGD(0.01, clipvalue=0.1),
                )
            ],
            [[94.5, 0.5934, 81.72], [94.5, 88.02, 1.293], [94.5, 0.5934, 0.4919], [94.5, 94.34, 94.19], [94.5, 94.29, 94.08]],
        ),
        (
            lambda: [
                history(model(optimizer=o), x, yy, epochs=3)["loss"]
                for o in (
                    tf.keras.optimizers.Adam(0.01, amsgrad=True),
                    tf.keras.optimizers.RMSprop(0.01, momentum=0.9),
                    tf.keras.optimizers.RMSprop(0.01, centered=True),
                    tf.keras.optimizers.Adam(0.01, decay=0.5),
                    tf.keras.optimizers.SGD(tf.keras.optimizers.schedules.ExponentialDecay(0.01, 1, 0.5)),
                )
            ],
            [[94.5, 92.39, 90.31], [94.5, 87.92, 77.8], [94.5, 87.57, 82.54], [94.5, 92.39, 91.0], [94.5, 0.5934, 0.5074]],
        ),
        (lambda: rounded(model().evaluate(x, yy, verbose=0)), 94.5),
        (lambda: rounded(model(metrics=["mae"]).evaluate(x, yy, verbose=0, batch_size=3)), [94.5, 8.5]),
        (lambda: rounded(model(metrics=["mae"]).evaluate(x, yy, verbose=0, sample_weight=np.array([1.0, 0.0, 0.0, 2.0]))), [113.5, 8.5]),
        (lambda: rounded(pair(loss="mse").evaluate(x, [yy, yy], verbose=0)), [189.0, 94.5, 94.5]),
        (lambda: rounded(model().predict(x)), [[3.0], [7.0], [11.0], [15.0]]),
        (lambda: rounded(model().predict(x, batch_size=3)), [[3.0], [7.0], [11.0], [15.0]]),
        (lambda: rounded(pair(loss="mse").predict(x)), [[[3.0], [7.0], [11.0], [15.0]], [[3.0], [7.0], [11.0], [15.0]]]),
        (lambda: rounded(model(metrics=["mae"]).train_on_batch(x, yy)), [94.5, 8.5]),
        (lambda: rounded(model(metrics=["mae"]).test_on_batch(x, yy, np.array([1.0, 0.0, 0.0, 2.0]))), [113.5, 8.5]),
        (lambda: rounded(model().predict_on_batch(x)), [[3.0], [7.0], [11.0], [15.0]]),
        (lambda: rounded(model().train_on_batch(x, yy, class_weight={0: 2.0, 1: 0.5})), 150.0),
        (lambda: model(metrics=["mae"]).metrics_names, ["loss", "mean_absolute_error"]),
        (
            lambda: pair(loss="mse", metrics=["mae"]).metrics_names,
            ["loss", "p_loss", "q_loss", "p_mean_absolute_error", "q_mean_absolute_error"],
        ),
        (
            lambda: [history(model(metrics=[n]), x, yy) for n in ("acc", "accuracy", "binary_accuracy")],
            [{"loss": [94.5], "acc": [0.5]}, {"loss": [94.5], "acc": [0.5]}, {"loss": [94.5], "binary_accuracy": [0.5]}],
        ),
        (
            lambda: history(model("binary_crossentropy", metrics=["acc"], layer=dict(activation="sigmoid")), x, yy),
            {"loss": [5.512], "acc": [0.5]},
        ),
    ],
)
def test_models_are_fitted(made, expected):
    assert described(made()) == expected


@pytest.mark.parametrize(("made", "expected"), [(lambda: history(pair(loss=["mse", None]), x, [yy]), "ValueError: Variable")])
def test_models_are_fitted_or_are_refused(made, expected):
    assert refused(lambda: described(made())).startswith(expected)


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (
            lambda: model().fit(x, yy[:2]),
            "ValueError: Input arrays should have the same number of samples as target arrays. Found 4 input samp",
        ),
        (
            lambda: model().fit(x[:, :1], yy),
            "ValueError: Error when checking input: expected d_input to have shape (2,) but got array with shape",
        ),
        (
            lambda: model().fit(x, np.ones((4, 2))),
            "ValueError: A target array with shape (4, 2) was passed for an output of shape (None, 1) while using",
        ),
        (
            lambda: model().fit(x, yy, sample_weight=np.ones(3)),
            "ValueError: Found a sample_weight array with shape (3,) for an input with shape (4, 1). sample_weigh",
        ),
        (
            lambda: model().fit(x, yy, validation_data=(x,)),
            "ValueError: When passing a `validation_data` argument, it must contain either 2 items (x_val, y_val)",
        ),
        (lambda: model().fit(x, yy, epochs=1, foo=2), "TypeError: Unrecognized keyword arguments: {'foo': 2}"),
        (lambda: model().fit({"z": x}, yy), "ValueError: No data provided for \"d_input\". Need data for each key in: ['d_input']"),
        (
            lambda: model().predict(np.ones((4, 3))),
            "ValueError: Error when checking input: expected d_input to have shape (2,) but got array with shape",
        ),
        (lambda: model().predict(3), "ValueError: Expected an array data type but received an integer: 3"),
        (
            lambda: model().train_on_batch(x, np.ones((3, 1))),
            "ValueError: Input arrays should have the same number of samples as target arrays. Found 4 input samp",
        ),
        (
            lambda: pair(loss=["mse"]),
            "ValueError: When passing a list as loss, it should have one entry per model outputs. The model has 2",
        ),
        (
            lambda: pair(loss={"z": "mse"}),
            "ValueError: Unknown entries in loss dictionary: ['z']. Only expected following keys: ['p', 'q']",
        ),
        (
            lambda: pair(loss="mse", loss_weights=[1.0]),
            "ValueError: When passing a list as loss_weights, it should have one entry per model output. The mode",
        ),
        (
            lambda: pair(loss="mse", loss_weights={"z": 1.0}),
            "ValueError: Unknown entries in loss_weights dictionary: ['z']. Only expected following keys: ['p', '",
        ),
        (lambda: pair(loss="mse", loss_weights=3), "TypeError: Could not interpret loss_weights argument: 3 - expected a list of dicts."),
        (
            lambda: pair(loss="mse", metrics={"z": "mae"}),
            "ValueError: Unknown entries in metrics dictionary: ['z']. Only expected following keys: ['p', 'q']",
        ),
        (
            lambda: pair(loss="mse").fit(x, yy),
            "ValueError: Error when checking model target: the list of Numpy arrays that you are passing to your",
        ),
        (lambda: model("x"), "ValueError: Unknown loss function:x"),
        (
            lambda: model("categorical_crossentropy").fit(x, yy),
            "ValueError: You are passing a target array of shape (4, 1) while using as loss `categorical_crossent",
        ),
        (lambda: model(metrics=["x"]), "ValueError: Unknown metric function:x"),
        (lambda: model(optimizer=3), "ValueError: ('Could not interpret optimizer identifier:', 3)"),
        (
            lambda: model("sparse_categorical_crossentropy").fit(x, np.ones((4, 3))),
            "InvalidArgumentError: logits and labels must have the same first dimension, got logits shape [4,1] a",
        ),
    ],
)
def test_training_refuses_or_are_refused(made, expected):
    assert refused(lambda: described(made())).startswith(expected)


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: stops([1.0, 0.5, 0.6, 0.7]), [2, True, 2]),
        (lambda: stops([1.0, 0.5, 0.6, 0.7], patience=1), [2, True, 2]),
        (lambda: stops([1.0, 0.5, 0.6, 0.7], patience=2), [3, True, 3]),
        (lambda: stops([1.0, 0.9, 0.85], min_delta=0.2), [1, True, 1]),
        (lambda: stops([1.0, 2.0, 1.5], mode="max"), [2, True, 2]),
        (lambda: stops([{"val_acc": v} for v in (0.1, 0.3, 0.2)], monitor="val_acc"), [2, True, 2]),
        (lambda: stops([{"val_acc": v} for v in (0.1, 0.3, 0.2)], monitor="val_acc", mode="min"), [1, True, 1]),
        (lambda: stops([{"loss": 1.0}, {"loss": 2.0}]), [1, False, 0]),
        (lambda: stops([1.0, 0.5], baseline=0.7), [0, True, 0]),
        (lambda: stops([1.0, 0.5], baseline=0.7, patience=2), [1, False, 0]),
        (lambda: stops([1.0, 2.0, 3.0], mode="x"), [1, True, 1]),
        (lambda: stops([1.0, 1.0, 1.0]), [1, True, 1]),
        (lambda: rates([1.0, 0.5, 0.6, 0.7], patience=1), [0.1, 0.1, 0.01, 0.001]),
        (lambda: rates([1.0, 0.5, 0.6, 0.7, 0.8], patience=1, factor=0.5, cooldown=1), [0.1, 0.1, 0.05, 0.025, 0.0125]),
        (lambda: rates([1.0, 0.9999, 0.9998], patience=2), [0.1, 0.1, 0.1]),
        (lambda: rates([1.0, 0.9999, 0.9998], patience=2, min_delta=0.0), [0.1, 0.1, 0.1]),
        (lambda: rates([1.0, 2.0, 3.0, 4.0], patience=1, mode="max"), [0.1, 0.1, 0.1, 0.1]),
        (lambda: rates([1.0, 2.0, 3.0, 4.0], patience=1, min_lr=0.05), [0.1, 0.05, 0.05, 0.05]),
        (lambda: rates([1.0, 2.0, 3.0], patience=1, epsilon=0.5), [0.1, 0.01, 0.001]),
        (
            lambda: (
                lambda m: (
                    history(m, x, yy, epochs=2, callbacks=[CB.LearningRateScheduler(lambda e: 0.1 / (e + 1))]),
                    rounded(tf.keras.backend.get_value(m.optimizer.lr)),
                )
            )(model()),
            [{"loss": [94.5, 8205.0], "lr": [0.1, 0.05]}, 0.05],
        ),
        (lambda: history(model(), x, yy, epochs=5, callbacks=[CB.EarlyStopping("loss", min_delta=100.0)]), {"loss": [94.5, 0.5934]}),
        (lambda: history(model(), x * np.nan, yy, epochs=5, callbacks=[CB.TerminateOnNaN()])["loss"] != 0, True),
    ],
)
def test_callbacks_decide(made, expected):
    assert described(made()) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: CB.ReduceLROnPlateau(factor=1.0), "ValueError: ReduceLROnPlateau does not support a factor >= 1.0."),
        (
            lambda: CB.LearningRateScheduler(lambda e: 0.5).on_epoch_begin(0),
            "AttributeError: 'NoneType' object has no attribute 'optimizer'",
        ),
        (
            lambda: (lambda m: history(m, x, yy, callbacks=[CB.LearningRateScheduler(lambda e: "a")]))(model()),
            'ValueError: The output of the "schedule" function should be float.',
        ),
    ],
)
def test_callbacks_decide_or_are_refused(made, expected):
    assert refused(lambda: described(made())).startswith(expected)


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: saves([1.0, 0.5, 0.7]), ["f01-1.0", "f02-0.5", "f03-0.7"]),
        (lambda: saves([1.0, 0.5, 0.7], save_best_only=True), ["f01-1.0", "f02-0.5"]),
        (lambda: saves([1.0, 0.5, 0.7], save_best_only=True, mode="max"), ["f01-1.0"]),
        (lambda: saves([1.0, 0.5, 0.7], save_weights_only=True), ["wf01-1.0", "wf02-0.5", "wf03-0.7"]),
        (lambda: saves([1.0, 0.5, 0.7], period=2), ["f02-0.5"]),
        (
            lambda: (
                lambda l: (
                    history(
                        model(),
                        x,
                        yy,
                        batch_size=2,
                        callbacks=[
                            CB.LambdaCallback(
                                on_epoch_begin=lambda e, logs: l.append(("eb", e)),
                                on_batch_end=lambda b, logs: l.append(("be", b, sorted(logs))),
                                on_train_end=lambda logs: l.append("te"),
                            )
                        ],
                    ),
                    l,
                )[1]
            )([]),
            [["eb", 0], ["be", 0, ["batch", "loss", "size"]], ["be", 1, ["batch", "loss", "size"]], "te"],
        ),
    ],
)
def test_checkpoints_are_written(made, expected):
    assert described(made()) == expected


@pytest.mark.parametrize(("made", "expected"), [(lambda: saves([1.0], "f{foo}"), "KeyError: 'foo'")])
def test_checkpoints_are_written_or_are_refused(made, expected):
    assert refused(lambda: described(made())).startswith(expected)


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (
            lambda: eagerly(lambda: history(model(metrics=["mae"]), x, yy, epochs=2, batch_size=2)),
            {"loss": [53.78, 15.57], "mean_absolute_error": [6.645, 3.873]},
        ),
        (lambda: eagerly(lambda: history(model(), x, yy, validation_split=0.5)), {"loss": [26.5], "val_loss": [81.07]}),
        (lambda: eagerly(lambda: history(model(), x, yy, sample_weight=np.array([1.0, 0.0, 0.0, 2.0]))), {"loss": [113.5]}),
        (lambda: eagerly(lambda: history(model(), x, yy, class_weight={0: 2.0, 1: 0.5})), {"loss": [150.0]}),
        (
            lambda: eagerly(lambda: history(model(run_eagerly=True, metrics=["mae"]), x, yy, epochs=2, batch_size=2)),
            {"loss": [53.78, 15.57], "mean_absolute_error": [6.645, 3.873]},
        ),
        (lambda: eagerly(lambda: history(model(run_eagerly=True), x, yy, sample_weight=np.array([1.0, 0.0, 0.0, 2.0]))), {"loss": [113.5]}),
        (
            lambda: eagerly(
                lambda: history(model(run_eagerly=True, layer=dict(kernel_regularizer="l2", activity_regularizer="l2")), x, yy)
            ),
            {"loss": [95.53]},
        ),
        (
            lambda: eagerly(
                lambda: history(pair(run_eagerly=True, loss=["mse", "mae"], loss_weights=[1.0, 0.5], metrics=["mse"]), x, [yy, yy])
            ),
            {"loss": [98.75], "p_loss": [94.5], "q_loss": [8.5], "p_mean_squared_error": [94.5], "q_mean_squared_error": [94.5]},
        ),
        (lambda: eagerly(lambda: rounded(model(run_eagerly=True, metrics=["mae"]).evaluate(x, yy, verbose=0))), [94.5, 8.5]),
        (lambda: eagerly(lambda: rounded(model(run_eagerly=True).predict(x))), [[3.0], [7.0], [11.0], [15.0]]),
        (lambda: eagerly(lambda: rounded(model(run_eagerly=True, metrics=["mae"]).train_on_batch(x, yy))), [94.5, 8.5]),
        (
            lambda: eagerly(lambda: rounded(model(run_eagerly=True, metrics=["mae"]).test_on_batch(x, yy, np.array([1.0, 0.0, 0.0, 2.0])))),
            [113.5, 8.5],
        ),
        (
            lambda: eagerly(lambda: rounded(pair(run_eagerly=True, loss="mse").predict(x))),
            [[[3.0], [7.0], [11.0], [15.0]], [[3.0], [7.0], [11.0], [15.0]]],
        ),
        (
            lambda: eagerly(lambda: history(model(run_eagerly=True, layer=dict(kernel_constraint="unit_norm")), x, yy, epochs=2)),
            {"loss": [94.5, 1.645]},
        ),
        (
            lambda: eagerly(
                lambda: history(model("sparse_categorical_crossentropy", run_eagerly=True, layer=dict(activation="softmax")), x, yy * 0)
            ),
            {"loss": [0.0]},
        ),
        (lambda: eagerly(lambda: history(model(run_eagerly=True), data(), epochs=2)), {"loss": [53.78, 15.57]}),
    ],
)
def test_models_are_fitted_eagerly(made, expected):
    assert described(made()) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: history(model(), gen(), steps_per_epoch=2), {"loss": [53.78]}),
        (
            lambda: history(model(metrics=["mae"]), gen(), steps_per_epoch=2, epochs=2),
            {"loss": [53.78, 15.57], "mean_absolute_error": [6.645, 3.873]},
        ),
        (lambda: history(model(), gen(2, np.array([1.0, 0.0, 0.0, 2.0])), steps_per_epoch=2), {"loss": [106.4]}),
        (
            lambda: history(model(), gen(), steps_per_epoch=2, validation_data=gen(), validation_steps=1),
            {"loss": [53.78], "val_loss": [10.3]},
        ),
        (lambda: history(model(), gen(), steps_per_epoch=2, validation_data=(x, yy)), {"loss": [53.78], "val_loss": [28.6]}),
        (lambda: history(model(), gen(), steps_per_epoch=2, class_weight={0: 2.0, 1: 0.5}), {"loss": [53.15]}),
        (lambda: history(model(), Batches()), {"loss": [53.78]}),
        (lambda: history(model(), Batches(), epochs=2, steps_per_epoch=1), {"loss": [26.5, 81.07]}),
        (lambda: history(model(), Batches(), validation_data=Batches()), {"loss": [53.78], "val_loss": [28.6]}),
        (lambda: history(model(), Batches(), workers=0), {"loss": [53.78]}),
        (lambda: history(model(), data()), {"loss": [53.78]}),
        (lambda: history(model(), data(), epochs=2), {"loss": [53.78, 15.57]}),
        (lambda: history(model(), data().repeat(), steps_per_epoch=3), {"loss": [39.29]}),
        (lambda: history(model(), data(), validation_data=data(), epochs=2), {"loss": [53.78, 15.57], "val_loss": [28.6, 7.074]}),
        (lambda: history(model(), data(), validation_data=data().repeat(), validation_steps=1), {"loss": [53.78], "val_loss": [10.3]}),
        (lambda: rounded(model().evaluate(gen(), steps=2, verbose=0)), 94.5),
        (lambda: rounded(model().evaluate(data(), verbose=0)), 94.5),
        (lambda: rounded(model().evaluate(Batches(), verbose=0)), 94.5),
        (lambda: rounded(model().predict(gen(), steps=1)), [[3.0], [7.0]]),
        (lambda: rounded(model().predict(data())), [[3.0], [7.0], [11.0], [15.0]]),
        (lambda: rounded(model().predict(Batches())), [[3.0], [7.0], [11.0], [15.0]]),
        (lambda: rounded(model().predict_generator(Batches())), [[3.0], [7.0], [11.0], [15.0]]),
        (lambda: rounded(model().evaluate_generator(Batches())), 94.5),
        (lambda: {k: rounded(v) for k, v in model().fit_generator(Batches(), verbose=0, shuffle=False).history.items()}, {"loss": [53.78]}),
    ],
)
def test_models_are_fitted_from_generators(made, expected):
    assert described(made()) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (
            lambda: model().fit(gen(), yy, steps_per_epoch=1),
            "ValueError: `y` argument is not supported when data isa generator or Sequence instance. Instead pass",
        ),
        (
            lambda: model().fit(data(), yy),
            "ValueError: You passed a dataset or dataset iterator (<DatasetV1Adapter shapes: ((?, 2), (?, 1)), ty",
        ),
        (
            lambda: model().fit(data(), batch_size=2),
            "ValueError: The `batch_size` argument must not be specified for the given input type. Received input",
        ),
        (
            lambda: model().fit(Batches(), yy),
            "ValueError: `y` argument is not supported when data isa generator or Sequence instance. Instead pass",
        ),
        (
            lambda: model().fit(gen(), sample_weight=np.ones(4), steps_per_epoch=1),
            "ValueError: `sample_weight` argument is not supported when data isa generator or Sequence instance.",
        ),
        (
            lambda: model().fit(data().repeat()),
            "ValueError: When passing an infinitely repeating dataset, you must specify the `steps_per_epoch` arg",
        ),
        (
            lambda: model().fit(data(), validation_split=0.5),
            "ValueError: `validation_split` argument is not supported when input `x` is a dataset or a dataset it",
        ),
        (
            lambda: model().fit(data(), validation_data=data().repeat()),
            "ValueError: When passing an infinitely repeating dataset, you must specify the `validation_steps` ar",
        ),
        (lambda: model().fit(gen()), "ValueError: Please specify the number of steps via the `steps_per_epoch` argument."),
        (
            lambda: model().fit_generator(gen(), verbose=0),
            "ValueError: Please specify the number of steps via the `steps_per_epoch` argument.",
        ),
        (lambda: model().predict_generator(gen()), "ValueError: Please specify the number of steps via the `steps` argument."),
        (lambda: model().evaluate_generator(gen()), "ValueError: Please specify the number of steps via the `steps` argument."),
        (
            lambda: model().evaluate(data(), yy),
            "ValueError: You passed a dataset or dataset iterator (<DatasetV1Adapter shapes: ((?, 2), (?, 1)), ty",
        ),
        (
            lambda: model().predict(data().repeat()),
            "ValueError: When passing an infinitely repeating dataset, you must specify the `steps` argument.",
        ),
    ],
)
def test_models_are_fitted_from_generators_or_are_refused(made, expected):
    assert refused(lambda: described(made())).startswith(expected)


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: rounded(SK.KerasRegressor(built, epochs=2, verbose=0, shuffle=False).fit(x, yy).history["loss"]), [94.5, 0.5934]),
        (
            lambda: (lambda r: (r.fit(x, yy), rounded(r.predict(x)))[1])(SK.KerasRegressor(built, rate=0.0, verbose=0)),
            [3.0, 7.0, 11.0, 15.0],
        ),
        (lambda: (lambda r: (r.fit(x, yy), rounded(r.score(x, yy)))[1])(SK.KerasRegressor(built, rate=0.0, verbose=0)), -94.5),
        (lambda: SK.KerasRegressor(built, nb_epoch=1).get_params()["nb_epoch"], 1),
        (lambda: SK.KerasRegressor(built, units=2).get_params()["units"], 2),
        (lambda: SK.KerasRegressor(built).set_params(units=3).sk_params, {"units": 3}),
        (lambda: SK.KerasRegressor(built, epochs=3, units=2).filter_sk_params(built), {"units": 2}),
        (lambda: SK.KerasRegressor(built, epochs=3, units=2).filter_sk_params(built, {"rate": 0.5}), {"units": 2, "rate": 0.5}),
    ],
)
def test_estimators_of_scikit_learn(made, expected):
    assert described(made()) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: SK.KerasRegressor(built, foo=1), "ValueError: foo is not a legal parameter"),
        (lambda: SK.KerasRegressor(built).set_params(foo=3), "ValueError: foo is not a legal parameter"),
    ],
)
def test_estimators_of_scikit_learn_or_are_refused(made, expected):
    assert refused(lambda: described(made())).startswith(expected)


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (
            lambda: L.Multiply()([t(2, 3), t(2, 2, 3)]),
            ["float32 [2, 2, 3]", [[[1.0, 4.0, 9.0], [4.0, 10.0, 18.0]], [[28.0, 40.0, 54.0], [40.0, 55.0, 72.0]]]],
        ),
        (lambda: L.Add().compute_mask([1, 2], [tf.constant([True, False]), tf.constant([True, True])]), ["bool [2]", [True, False]]),
        (lambda: L.Add().compute_mask([1, 2], [tf.constant([True, False]), None]), ["bool [2]", [True, False]]),
        (
            lambda: L.Concatenate().compute_mask([t(1, 2, 2), t(1, 2, 2)], [tf.constant([[True, False]]), tf.constant([[True, True]])]),
            ["bool [1, 2]", [[True, False]]],
        ),
        (
            lambda: [
                (
                    lambda l: (
                        l.build((None, 2, 5) if l.data_format == "channels_first" else (None, 5, 2)),
                        sorted(l.input_spec.axes.items()),
                    )[1]
                )(L.LocallyConnected1D(1, 2, data_format=d))
                for d in ("channels_first", "channels_last")
            ],
            [[[1, 2]], [[-1, 2]]],
        ),
        (
            lambda: [
                (
                    lambda l: (
                        l.build((None, 2, 5, 4) if l.data_format == "channels_first" else (None, 5, 4, 2)),
                        sorted(l.input_spec.axes.items()),
                        l.kernel.shape,
                        l.bias.shape,
                    )[1:]
                )(L.LocallyConnected2D(1, 2, data_format=d))
                for d in ("channels_first", "channels_last")
            ],
            [[[[1, 2]], [12, 8, 1], [4, 3, 1]], [[[-1, 2]], [12, 8, 1], [4, 3, 1]]],
        ),
        (
            lambda: [
                (lambda l: (l.build(s), sorted(l.input_spec.axes.items()), l.kernel.shape)[1:])(l)
                for l, s in (
                    (L.Conv2D(3, 2), (None, 5, 5, 2)),
                    (L.Conv2D(3, 2, data_format="channels_first"), (None, 2, 5, 5)),
                    (L.Conv2DTranspose(3, 2), (None, 5, 5, 2)),
                    (L.Dense(3), (None, 4)),
                )
            ],
            [[[[-1, 2]], [2, 2, 2, 3]], [[[1, 2]], [2, 2, 2, 3]], [[[-1, 2]], [2, 2, 3, 2]], [[[-1, 4]], [4, 3]]],
        ),
    ],
)
def test_merging_and_sizes(made, expected):
    assert described(made()) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: L.Add().compute_mask([1, 2], 3), "ValueError: `mask` should be a list."),
        (lambda: L.Add().compute_mask(1, [None]), "ValueError: `inputs` should be a list."),
        (
            lambda: L.Add().compute_mask([1, 2], [tf.constant([True])]),
            "ValueError: The lists `inputs` and `mask` should have the same length.",
        ),
        (
            lambda: L.Concatenate(1).compute_mask([t(1, 2, 2), t(1, 1, 2)], [tf.constant([[True, False]]), None]),
            "ValueError: Dimension 0 in both shapes must be equal, but are 1 and 2. Shapes are [1] and [2].",
        ),
        (lambda: L.Concatenate().compute_mask([1, 2], 3), "ValueError: `mask` should be a list."),
        (lambda: L.Concatenate().compute_mask(1, [None]), "ValueError: `inputs` should be a list."),
        (lambda: L.Concatenate().compute_mask([1, 2], [None]), "ValueError: The lists `inputs` and `mask` should have the same length."),
        (
            lambda: tf.keras.metrics.MeanTensor().result(),
            "ValueError: MeanTensor does not have any result yet. Please call the MeanTensor instance or use `.up",
        ),
    ],
)
def test_merging_and_sizes_or_are_refused(made, expected):
    assert refused(lambda: described(made())).startswith(expected)
