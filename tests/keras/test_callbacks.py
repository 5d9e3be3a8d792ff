"""Callbacks: what each does, says and writes when it is called; values are those of TensorFlow 1.15.5."""

import contextlib
import glob
import io
import os
import re
import tempfile
import time

import numpy as np
import pytest
from plain import plain, refused

import everflow as tf
from everflow.keras.callbacks.base import CallbackList, configure_callbacks, make_logs

inf = np.inf
C, K, L = tf.keras.callbacks, tf.keras.backend, tf.keras.layers


class Rate:
    """An optimizer as callbacks of the learning rate see it."""

    def __init__(self, lr):
        self.lr = K.variable(lr)


class Watched:
    """A model as callbacks see it."""

    _is_graph_network = True
    _in_multi_worker_mode = lambda self: False
    _get_callback_model = lambda self: self

    def __init__(self, lr=1.0, rate=True):
        self.optimizer = Rate(lr) if rate else object()
        self.stop_training = False
        self.weights, self.saved = 0, []
        self.metrics_names = ["loss", "acc"]

    def get_weights(self):
        return self.weights

    def set_weights(self, weights):
        self.saved.append(["set", weights])

    def save_weights(self, path, overwrite):
        self.saved.append(["weights", path, overwrite])

    def save(self, path, overwrite):
        self.saved.append(["model", path, overwrite])

    def load_weights(self, path):
        self.saved.append(["load", os.path.basename(path)])


@contextlib.contextmanager
def said():
    """What is printed meanwhile."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        yield out


def epochs(callback, values, monitor="val_loss", model=None):
    """A callback's life with one value of a metric for each epoch, until it stops training."""
    model = Watched() if model is None else model
    rates, states = [], []
    with said() as out:
        callback.set_model(model)
        callback.set_params({"verbose": 0, "metrics": [monitor]})
        callback.on_train_begin()
        for epoch, value in enumerate(values):
            model.weights = epoch
            logs = {} if value is None else {monitor: value}
            callback.on_epoch_begin(epoch)
            if hasattr(model.optimizer, "lr"):
                rates.append(K.get_value(model.optimizer.lr))
            callback.on_epoch_end(epoch, logs)
            states.append([getattr(callback, n) for n in ("wait", "best", "cooldown_counter") if hasattr(callback, n)] + [logs.get("lr")])
            if model.stop_training:
                break
        callback.on_train_end()
    return {"epochs": len(states), "rates": rates, "states": states, "saved": model.saved, "said": out.getvalue()}


def stops(values, monitor="val_loss", **options):
    run = epochs(C.EarlyStopping(monitor=monitor, **options), values, monitor)
    return [run["epochs"], run["states"], run["saved"], run["said"]]


def reduces(values, monitor="val_loss", lr=1.0, **options):
    run = epochs(C.ReduceLROnPlateau(monitor=monitor, **options), values, monitor, Watched(lr))
    return [run["rates"], run["states"], run["said"]]


def schedules(schedule, lr=1.0, **options):
    run = epochs(C.LearningRateScheduler(schedule, **options), [1.0, 1.0, 1.0], model=Watched(lr))
    return [run["rates"], [s[-1] for s in run["states"]], run["said"]]


def saves(values, path="at-{epoch:02d}-{val_loss:.1f}", monitor="val_loss", batches=(), **options):
    callback, model = C.ModelCheckpoint(path, monitor=monitor, **options), Watched()
    with said() as out:
        callback.set_model(model)
        callback.on_train_begin()
        for epoch, value in enumerate(values):
            callback.on_epoch_begin(epoch)
            for batch, size in enumerate(batches):
                callback.on_batch_end(batch, {"size": size, "val_loss": value})
            callback.on_epoch_end(epoch, {monitor: value} if value is not None else {})
    return [model.saved, callback.best, out.getvalue()]


def restarted(*names, pattern="f.{epoch:02d}-{val_loss:.2f}.h5", **options):
    folder = tempfile.mkdtemp()
    for i, name in enumerate(names):
        with open(os.path.join(folder, name), "w"):
            pass
        os.utime(os.path.join(folder, name), (i, i))
    callback, model = C.ModelCheckpoint(os.path.join(folder, pattern), load_weights_on_restart=True, **options), Watched()
    callback.set_model(model)
    callback.on_train_begin()
    return model.saved


def logged(batches, stateful=(), metrics=("loss", "acc"), before=None):
    callback = C.BaseLogger(stateful)
    callback.set_params({"metrics": metrics})
    callback.on_epoch_begin(0)
    for i, batch in enumerate(batches):
        callback.on_batch_end(i, batch)
    logs = dict(before or {})
    callback.on_epoch_end(0, logs)
    return logs


def remembered():
    callback = C.History()
    callback.on_train_begin()
    for epoch, logs in enumerate([{"loss": 1.0}, {"loss": 2.0, "acc": 0.5}, None]):
        callback.on_epoch_end(epoch, logs)
    first = [callback.epoch, dict(callback.history)]
    callback.on_train_begin()
    return [first, callback.epoch, callback.history]


def ends_on(*losses):
    callback, model = C.TerminateOnNaN(), Watched()
    callback.set_model(model)
    with said() as out:
        for i, loss in enumerate(losses):
            callback.on_batch_end(i, {"loss": loss} if loss is not None else None)
    return [model.stop_training, out.getvalue()]


def lines(value):
    """Texts as lists of lines; <3> stands for three steps back."""
    if isinstance(value, str) and ("\n" in value or "\r" in value):
        return re.split("\n|(?=\r)", re.sub("\b+", lambda back: f"<{len(back[0])}>", value))
    if isinstance(value, dict):
        return {key: lines(v) for key, v in value.items()}
    return [lines(v) for v in value] if isinstance(value, list) else value


def found(made):
    return lines(plain(made(), 6))


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: stops([3.0, 2.0, 2.5, 1.0]), [3, [[0, 3.0, None], [0, 2.0, None], [1, 2.0, None]], [], ""]),
        (
            lambda: stops([3.0, 2.0, 2.5, 2.6, 1.0], patience=2, verbose=1),
            [4, [[0, 3.0, None], [0, 2.0, None], [1, 2.0, None], [2, 2.0, None]], [], ["Epoch 00004: early stopping", ""]],
        ),
        (lambda: stops([3.0, 2.9, 2.5, 2.45], min_delta=0.2, patience=1), [2, [[0, 3.0, None], [1, 3.0, None]], [], ""]),
        (
            lambda: stops([3.0, 2.9, 2.5, 2.45], min_delta=-0.2, patience=2),
            [4, [[0, 3.0, None], [1, 3.0, None], [0, 2.5, None], [1, 2.5, None]], [], ""],
        ),
        (lambda: stops([0.1, 0.3, 0.2, 0.4], "val_acc"), [3, [[0, 0.1, None], [0, 0.3, None], [1, 0.3, None]], [], ""]),
        (
            lambda: stops([0.1, 0.3, 0.4, 0.35], "score", mode="max", min_delta=0.15),
            [3, [[0, 0.1, None], [0, 0.3, None], [1, 0.3, None]], [], ""],
        ),
        (lambda: stops([0.1, 0.3], "val_acc", mode="min"), [2, [[0, 0.1, None], [1, 0.1, None]], [], ""]),
        (lambda: stops([0.1, 0.3], "val_acc", mode="odd"), [2, [[0, 0.1, None], [0, 0.3, None]], [], ""]),
        (lambda: stops([3.0, 2.0, 4.0], baseline=1.0, patience=3), [3, [[1, 1.0, None], [2, 1.0, None], [3, 1.0, None]], [], ""]),
        (
            lambda: stops([3.0, 2.0, 4.0, 5.0], patience=2, restore_best_weights=True, verbose=1),
            [
                4,
                [[0, 3.0, None], [0, 2.0, None], [1, 2.0, None], [2, 2.0, None]],
                [["set", 1]],
                ["Restoring model weights from the end of the best epoch.", "Epoch 00004: early stopping", ""],
            ],
        ),
        (
            lambda: stops([3.0, 2.0, 4.0, 5.0], patience=2, restore_best_weights=True),
            [4, [[0, 3.0, None], [0, 2.0, None], [1, 2.0, None], [2, 2.0, None]], [["set", 1]], ""],
        ),
        (lambda: stops([3.0, None, 4.0], patience=5), [3, [[0, 3.0, None], [0, 3.0, None], [1, 3.0, None]], [], ""]),
        (
            lambda: reduces([1.0] * 12),
            [
                [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.1],
                [
                    [0, 1.0, 0, 1.0],
                    [1, 1.0, 0, 1.0],
                    [2, 1.0, 0, 1.0],
                    [3, 1.0, 0, 1.0],
                    [4, 1.0, 0, 1.0],
                    [5, 1.0, 0, 1.0],
                    [6, 1.0, 0, 1.0],
                    [7, 1.0, 0, 1.0],
                    [8, 1.0, 0, 1.0],
                    [9, 1.0, 0, 1.0],
                    [0, 1.0, 0, 1.0],
                    [1, 1.0, 0, 0.1],
                ],
                "",
            ],
        ),
        (
            lambda: reduces([1.0, 1.0, 1.0, 1.0, 1.0], patience=2, factor=0.5, verbose=1),
            [
                [1.0, 1.0, 1.0, 0.5, 0.5],
                [[0, 1.0, 0, 1.0], [1, 1.0, 0, 1.0], [0, 1.0, 0, 1.0], [1, 1.0, 0, 0.5], [0, 1.0, 0, 0.5]],
                [
                    "",
                    "Epoch 00003: ReduceLROnPlateau reducing learning rate to 0.5.",
                    "",
                    "Epoch 00005: ReduceLROnPlateau reducing learning rate to 0.25.",
                    "",
                ],
            ],
        ),
        (
            lambda: reduces([1.0, 0.95, 0.9, 0.89, 0.88], patience=1, min_delta=0.04, factor=0.5),
            [[1.0, 1.0, 1.0, 1.0, 0.5], [[0, 1.0, 0, 1.0], [0, 0.95, 0, 1.0], [0, 0.9, 0, 1.0], [0, 0.9, 0, 1.0], [0, 0.9, 0, 0.5]], ""],
        ),
        (
            lambda: reduces([1.0, 0.95, 0.9, 0.89, 0.88], patience=1, epsilon=0.04, factor=0.5),
            [[1.0, 1.0, 1.0, 1.0, 0.5], [[0, 1.0, 0, 1.0], [0, 0.95, 0, 1.0], [0, 0.9, 0, 1.0], [0, 0.9, 0, 1.0], [0, 0.9, 0, 0.5]], ""],
        ),
        (
            lambda: reduces([1.0] * 7, patience=1, cooldown=2, factor=0.5),
            [
                [1.0, 1.0, 0.5, 0.5, 0.25, 0.25, 0.125],
                [
                    [0, 1.0, 0, 1.0],
                    [0, 1.0, 2, 1.0],
                    [0, 1.0, 1, 0.5],
                    [0, 1.0, 2, 0.5],
                    [0, 1.0, 1, 0.25],
                    [0, 1.0, 2, 0.25],
                    [0, 1.0, 1, 0.125],
                ],
                "",
            ],
        ),
        (
            lambda: reduces([1.0] * 6, patience=1, min_lr=0.3, factor=0.5),
            [
                [1.0, 1.0, 0.5, 0.3, 0.3, 0.3],
                [[0, 1.0, 0, 1.0], [0, 1.0, 0, 1.0], [0, 1.0, 0, 0.5], [0, 1.0, 0, 0.3], [0, 1.0, 0, 0.3], [0, 1.0, 0, 0.3]],
                "",
            ],
        ),
        (
            lambda: reduces([0.1, 0.2, 0.2, 0.15], "val_acc", patience=1),
            [[1.0, 1.0, 1.0, 0.1], [[0, 0.1, 0, 1.0], [0, 0.2, 0, 1.0], [0, 0.2, 0, 1.0], [0, 0.2, 0, 0.1]], ""],
        ),
        (
            lambda: reduces([0.1, 0.2, 0.2, 0.15], "score", patience=1, mode="max"),
            [[1.0, 1.0, 1.0, 0.1], [[0, 0.1, 0, 1.0], [0, 0.2, 0, 1.0], [0, 0.2, 0, 1.0], [0, 0.2, 0, 0.1]], ""],
        ),
        (
            lambda: reduces([0.1, 0.2, 0.2, 0.15], "val_acc", patience=1, mode="min"),
            [[1.0, 1.0, 0.1, 0.01], [[0, 0.1, 0, 1.0], [0, 0.1, 0, 1.0], [0, 0.1, 0, 0.1], [0, 0.1, 0, 0.01]], ""],
        ),
        (lambda: reduces([0.1, 0.1], "val_loss", patience=1, mode="odd"), [[1.0, 1.0], [[0, 0.1, 0, 1.0], [0, 0.1, 0, 1.0]], ""]),
        (lambda: reduces([0.1, None, 0.1], patience=1), [[1.0, 1.0, 1.0], [[0, 0.1, 0, 1.0], [0, 0.1, 0, None], [0, 0.1, 0, 1.0]], ""]),
        (lambda: schedules(lambda epoch, lr: lr * 0.5), [[0.5, 0.25, 0.125], [0.5, 0.25, 0.125], ""]),
        (
            lambda: schedules(lambda epoch: 1.0 / (epoch + 1), verbose=1),
            [
                [1.0, 0.5, 0.333333],
                [1.0, 0.5, 0.333333],
                [
                    "",
                    "Epoch 00001: LearningRateScheduler reducing learning rate to 1.0.",
                    "",
                    "Epoch 00002: LearningRateScheduler reducing learning rate to 0.5.",
                    "",
                    "Epoch 00003: LearningRateScheduler reducing learning rate to 0.3333333333333333.",
                    "",
                ],
            ],
        ),
        (lambda: saves([3.0, 2.0]), [[["model", "at-01-3.0", True], ["model", "at-02-2.0", True]], inf, ""]),
        (
            lambda: saves([3.0, 2.0], save_weights_only=True, verbose=1),
            [
                [["weights", "at-01-3.0", True], ["weights", "at-02-2.0", True]],
                inf,
                ["", "Epoch 00001: saving model to at-01-3.0", "", "Epoch 00002: saving model to at-02-2.0", ""],
            ],
        ),
        (
            lambda: saves([3.0, 2.0, 2.5], save_best_only=True, verbose=1),
            [
                [["model", "at-01-3.0", True], ["model", "at-02-2.0", True]],
                2.0,
                [
                    "",
                    "Epoch 00001: val_loss improved from inf to 3.00000, saving model to at-01-3.0",
                    "",
                    "Epoch 00002: val_loss improved from 3.00000 to 2.00000, saving model to at-02-2.0",
                    "",
                    "Epoch 00003: val_loss did not improve from 2.00000",
                    "",
                ],
            ],
        ),
        (lambda: saves([3.0, 2.0, 2.5], save_best_only=True), [[["model", "at-01-3.0", True], ["model", "at-02-2.0", True]], 2.0, ""]),
        (lambda: saves([0.1, 0.3, 0.2], "a", "acc", save_best_only=True), [[["model", "a", True], ["model", "a", True]], 0.3, ""]),
        (lambda: saves([0.1, 0.3, 0.2], "a", "fmeasure", save_best_only=True), [[["model", "a", True], ["model", "a", True]], 0.3, ""]),
        (
            lambda: saves([0.1, 0.3, 0.2], "a", "score", save_best_only=True, mode="max"),
            [[["model", "a", True], ["model", "a", True]], 0.3, ""],
        ),
        (lambda: saves([0.1, 0.3, 0.2], "a", "acc", save_best_only=True, mode="min"), [[["model", "a", True]], 0.1, ""]),
        (
            lambda: saves([0.1, 0.3, 0.2], "a", "acc", save_best_only=True, mode="odd"),
            [[["model", "a", True], ["model", "a", True]], 0.3, ""],
        ),
        (lambda: saves([1.0, None], "a", save_best_only=True), [[["model", "a", True]], 1.0, ""]),
        (lambda: saves([5.0, 4.0, 3.0, 2.0, 1.0], period=2), [[["model", "at-02-4.0", True], ["model", "at-04-2.0", True]], inf, ""]),
        (
            lambda: saves([5.0, 4.0], "a-{epoch}", batches=(4, 4, 4), save_freq=8),
            [[["model", "a-1", True], ["model", "a-2", True], ["model", "a-2", True]], inf, ""],
        ),
        (
            lambda: saves([5.0, 4.0], "a-{epoch}", batches=(4, 3, 4), save_freq=8, verbose=1),
            [
                [["model", "a-1", True], ["model", "a-2", True]],
                inf,
                ["", "Epoch 00001: saving model to a-1", "", "Epoch 00002: saving model to a-2", ""],
            ],
        ),
        (lambda: restarted("f.01-0.50.h5", "f.02-0.40.h5", "g.03-0.30.h5"), [["load", "f.02-0.40.h5"]]),
        (lambda: restarted("f.02-0.40.h5", "f.01-0.50.h5"), [["load", "f.01-0.50.h5"]]),
        (lambda: restarted("other"), []),
        (lambda: logged([{"loss": 2.0, "size": 2, "acc": 0.5}, {"loss": 5.0, "size": 1, "acc": 0.7}]), {"loss": 3.0, "acc": 0.566667}),
        (lambda: logged([{"loss": 2.0, "size": 2, "acc": 0.5}, {"loss": 5.0, "size": 1, "acc": 0.7}], ["acc"]), {"loss": 3.0, "acc": 0.7}),
        (lambda: logged([{"loss": 2.0, "size": 2, "num_steps": 3}, {"loss": 5.0, "size": 1}]), {"loss": 1.28571}),
        (lambda: logged([{"loss": 2.0, "size": 2, "other": 1.0}]), {"loss": 2.0}),
        (remembered, [[[0, 1, 2], {"loss": [1.0, 2.0], "acc": [0.5]}], [], {}]),
        (lambda: ends_on(1.0, np.nan), [True, ["Batch 1: Invalid loss, terminating training", ""]]),
        (lambda: ends_on(1.0, np.inf, 2.0), [True, ["Batch 1: Invalid loss, terminating training", ""]]),
        (lambda: ends_on(1.0, None), [False, ""]),
    ],
)
def test_callbacks_of_epochs(made, expected):
    assert found(made) == expected


@pytest.mark.parametrize(
    ("wrong", "expected"),
    [
        (lambda: C.ReduceLROnPlateau(factor=1.0), "ValueError: ReduceLROnPlateau does not support a factor >= 1.0."),
        (lambda: C.ModelCheckpoint("a", save_freq="often"), "ValueError: Unrecognized save_freq: often"),
        (lambda: C.ModelCheckpoint("a", save_freq=2.5), "ValueError: Unrecognized save_freq: 2.5"),
        (lambda: C.ProgbarLogger("rows"), "ValueError: Unknown `count_mode`: rows"),
        (lambda: schedules(lambda epoch: 1), 'ValueError: The output of the "schedule" function should be float.'),
        (
            lambda: epochs(C.LearningRateScheduler(lambda e: 1.0), [1.0], model=Watched(rate=False)),
            'ValueError: Optimizer must have a "lr" attribute.',
        ),
    ],
)
def test_what_callbacks_refuse(wrong, expected):
    assert refused(wrong) == expected


@contextlib.contextmanager
def clock(*times):
    """time.time says these, one after the other."""
    real, times = time.time, list(times)
    time.time = lambda: times.pop(0) if len(times) > 1 else times[0]
    try:
        yield
    finally:
        time.time = real


def bar(target, *updates, times=(0, 1), **options):
    """What a progress bar shows for updates (current, values)."""
    with said() as out, clock(*times):
        shown = tf.keras.utils.Progbar(target, **options)
        for current, *values in updates:
            shown.update(current, *values)
    return out.getvalue()


def added(target, *updates, **options):
    with said() as out, clock(0, 1, 2, 3, 4):
        shown = tf.keras.utils.Progbar(target, **options)
        for n, values in updates:
            shown.add(n, values)
    return out.getvalue()


def logger(mode="samples", steps=None, samples=None, sizes=(2, 2, 1), stateful=None, **params):
    """What the logger of progress says in two epochs."""
    callback = C.ProgbarLogger(mode, stateful)
    callback.set_params({"verbose": 1, "epochs": 2, "steps": steps, "samples": samples, "metrics": ["loss", "acc", "val_loss"], **params})
    with said() as out, clock(*range(100)):
        callback.on_train_begin()
        for epoch in range(2):
            callback.on_epoch_begin(epoch)
            for i, size in enumerate(sizes):
                callback.on_batch_begin(i)
                callback.on_batch_end(i, {"size": size, "loss": float(i), "acc": 0.5 + i, "other": 1})
            callback.on_epoch_end(epoch, {"loss": 1.0, "acc": 3.0, "val_loss": 4.0})
    return out.getvalue()


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (
            lambda: bar(10, (1,), (5,), (10,), times=(0, 1, 2, 3)),
            [
                "",
                "\r 1/10 [==>...........................] - ETA: 9s<48>",
                "\r 5/10 [==============>...............] - ETA: 2s<48>",
                "\r10/10 [==============================] - 3s 300ms/step",
                "",
            ],
        ),
        (
            lambda: bar(10, (1, [("loss", 2.0)]), (4, [("loss", 4.0)]), (10, [("loss", 1.0)]), times=(0, 1, 2, 3)),
            [
                "",
                "\r 1/10 [==>...........................] - ETA: 9s - loss: 2.0000<63>",
                "\r 4/10 [===========>..................] - ETA: 3s - loss: 3.5000<63>",
                "\r10/10 [==============================] - 3s 300ms/step - loss: 2.0000",
                "",
            ],
        ),
        (
            lambda: bar(10, (1, [("acc", 2.0)]), (4, [("acc", 4.0)]), times=(0, 1, 2), stateful_metrics=["acc"]),
            [
                "",
                "\r 1/10 [==>...........................] - ETA: 9s - acc: 2.0000<62>",
                "\r 4/10 [===========>..................] - ETA: 3s - acc: 4.0000",
            ],
        ),
        (
            lambda: bar(None, (1,), (12, [("loss", 0.5)]), times=(0, 1, 2)),
            ["", "\r      1/Unknown - 1s 1s/step<28>", "\r     12/Unknown - 2s 167ms/step - loss: 0.5000"],
        ),
        (lambda: bar(100, (50,), times=(0, 400)), ["", "\r 50/100 [==============>...............] - ETA: 6:40"]),
        (lambda: bar(100, (50,), times=(0, 40000)), ["", "\r 50/100 [==============>...............] - ETA: 11:06:40"]),
        (lambda: bar(100, (50,), times=(0, 3600)), ["", "\r 50/100 [==============>...............] - ETA: 60:00"]),
        (lambda: bar(100, (50,), times=(0, 60)), ["", "\r 50/100 [==============>...............] - ETA: 60s"]),
        (lambda: bar(4, (4,), times=(0, 0.5)), ["", "\r4/4 [==============================] - 0s 125ms/step", ""]),
        (lambda: bar(4, (4,), times=(0, 0.0005)), ["", "\r4/4 [==============================] - 0s 125us/step", ""]),
        (lambda: bar(4, (4,), times=(0, 4)), ["", "\r4/4 [==============================] - 4s 1s/step", ""]),
        (lambda: bar(4, (4,), times=(0, 0)), ["", "\r4/4 [==============================] - 0s 0s/step", ""]),
        (lambda: bar(4, (4,), times=(0, 0.004)), ["", "\r4/4 [==============================] - 0s 1ms/step", ""]),
        (
            lambda: bar(4, (0,), (4,), times=(0, 1, 2), unit_name="row"),
            ["", "\r0/4 [..............................] - ETA: 0s<46>", "\r4/4 [==============================] - 2s 500ms/row", ""],
        ),
        (
            lambda: bar(3, (1,), (2,), (3,), times=(0, 1, 1.04, 1.06)),
            ["", "\r1/3 [=========>....................] - ETA: 2s<46>", "\r3/3 [==============================] - 1s 353ms/step", ""],
        ),
        (
            lambda: bar(3, (1,), (2,), (3,), times=(0, 1, 1.05, 1.06)),
            [
                "",
                "\r1/3 [=========>....................] - ETA: 2s<46>",
                "\r2/3 [===================>..........] - ETA: 0s<46>",
                "\r3/3 [==============================] - 1s 353ms/step",
                "",
            ],
        ),
        (
            lambda: bar(3, (1,), (2,), (3,), times=(0, 1, 1.5, 2.5), interval=1),
            ["", "\r1/3 [=========>....................] - ETA: 2s<46>", "\r3/3 [==============================] - 2s 833ms/step", ""],
        ),
        (lambda: bar(3, (1,), (3, [("loss", 2.0)]), times=(0, 1, 2), verbose=2), ["3/3 - 2s - loss: 2.0000", ""]),
        (
            lambda: bar(3, (3, [("loss", 0.0005), ("negative", -2.0)]), times=(0, 1), verbose=2),
            ["3/3 - 1s - loss: 5.0000e-04 - negative: -2.0000e+00", ""],
        ),
        (
            lambda: bar(3, (3, [("loss", 0.0005), ("negative", -2.0), ("edge", 0.001)]), times=(0, 1)),
            ["", "\r3/3 [==============================] - 1s 333ms/step - loss: 5.0000e-04 - negative: -2.0000 - edge: 1.0000e-03", ""],
        ),
        (lambda: bar(3, (1,), (3,), times=(0, 1, 2), verbose=0), ""),
        (lambda: bar(7, (3,), times=(0, 1), width=10), ["", "\r3/7 [===>......] - ETA: 1s"]),
        (
            lambda: bar(10, (1, [("long_name", 1.0)]), (10,), times=(0, 1000, 1001)),
            [
                "",
                "\r 1/10 [==>...........................] - ETA: 2:30:00 - long_name: 1.0000<73>",
                "\r10/10 [==============================] - 1001s 100s/step - long_name: 1.0000",
                "",
            ],
        ),
        (
            lambda: added(3, (1, [("loss", 1.0)]), (2, [("loss", 4.0)])),
            [
                "",
                "\r1/3 [=========>....................] - ETA: 2s - loss: 1.0000<61>",
                "\r3/3 [==============================] - 2s 667ms/step - loss: 3.0000",
                "",
            ],
        ),
        (
            lambda: logger(samples=5),
            [
                "Epoch 1/2",
                "",
                "\r2/5 [===========>..................] - ETA: 1s - loss: 0.0000e+00 - acc: 0.5000<79>",
                "\r4/5 [=======================>......] - ETA: 0s - loss: 0.5000 - acc: 1.0000    <75>",
                "\r5/5 [==============================] - 3s 600ms/sample - loss: 0.8333 - acc: 1.5833 - val_loss: 4.0000",
                "Epoch 2/2",
                "",
                "\r2/5 [===========>..................] - ETA: 1s - loss: 0.0000e+00 - acc: 0.5000<79>",
                "\r4/5 [=======================>......] - ETA: 0s - loss: 0.5000 - acc: 1.0000    <75>",
                "\r5/5 [==============================] - 3s 600ms/sample - loss: 0.8333 - acc: 1.5833 - val_loss: 4.0000",
                "",
            ],
        ),
        (
            lambda: logger("steps", steps=3),
            [
                "Epoch 1/2",
                "",
                "\r1/3 [=========>....................] - ETA: 2s - loss: 0.0000e+00 - acc: 0.5000<79>",
                "\r2/3 [===================>..........] - ETA: 1s - loss: 0.5000 - acc: 1.0000    <75>",
                "\r3/3 [==============================] - 3s 1s/step - loss: 1.0000 - acc: 1.8750 - val_loss: 4.0000",
                "Epoch 2/2",
                "",
                "\r1/3 [=========>....................] - ETA: 2s - loss: 0.0000e+00 - acc: 0.5000<79>",
                "\r2/3 [===================>..........] - ETA: 1s - loss: 0.5000 - acc: 1.0000    <75>",
                "\r3/3 [==============================] - 3s 1s/step - loss: 1.0000 - acc: 1.8750 - val_loss: 4.0000",
                "",
            ],
        ),
        (
            lambda: logger("steps", steps=3, epochs=1, stateful=["acc"]),
            [
                "",
                "\r1/3 [=========>....................] - ETA: 2s - loss: 0.0000e+00 - acc: 0.5000<79>",
                "\r2/3 [===================>..........] - ETA: 1s - loss: 0.5000 - acc: 1.5000    <75>",
                "\r3/3 [==============================] - 3s 1s/step - loss: 1.0000 - acc: 3.0000 - val_loss: 4.0000",
                "",
                "\r1/3 [=========>....................] - ETA: 2s - loss: 0.0000e+00 - acc: 0.5000<79>",
                "\r2/3 [===================>..........] - ETA: 1s - loss: 0.5000 - acc: 1.5000    <75>",
                "\r3/3 [==============================] - 3s 1s/step - loss: 1.0000 - acc: 3.0000 - val_loss: 4.0000",
                "",
            ],
        ),
        (lambda: logger(samples=5, verbose=0), ""),
        (
            lambda: logger(samples=5, verbose=2),
            [
                "Epoch 1/2",
                "5/5 - 3s - loss: 0.8333 - acc: 1.5833 - val_loss: 4.0000",
                "Epoch 2/2",
                "5/5 - 3s - loss: 0.8333 - acc: 1.5833 - val_loss: 4.0000",
                "",
            ],
        ),
    ],
)
def test_what_progress_looks_like(made, expected):
    assert found(made) == expected


class Noting(C.Callback):
    """Notes every call."""

    def __init__(self):
        super().__init__()
        self.calls = []


for _name in [n for n in dir(C.Callback) if n.startswith("on_")]:

    def _note(self, *args, _name=_name, **kwargs):
        self.calls.append([_name, *[dict(a) if isinstance(a, dict) else a for a in args]])

    setattr(Noting, _name, _note)


class Batches(C.Callback):
    """Looks at batches of training only, in the old way."""

    def __init__(self):
        super().__init__()
        self.calls = []

    def on_batch_begin(self, batch, logs=None):
        self.calls.append(["begin", batch, logs])

    def on_batch_end(self, batch, logs=None):
        self.calls.append(["end", batch, logs])


def listed(callback):
    """The calls that a list of callbacks makes for each method of its own."""
    many = CallbackList([callback])
    many.set_params({"a": 1})
    many.set_model("model")
    for name in ("batch", "train_batch", "test_batch", "predict_batch", "epoch"):
        getattr(many, f"on_{name}_begin")(1, {"x": 1})
        getattr(many, f"on_{name}_end")(2, {"x": 2})
    for name in ("train", "test", "predict"):
        getattr(many, f"on_{name}_begin")({"x": 3})
        getattr(many, f"on_{name}_end")({"x": 4})
    return [callback.calls, callback.params, callback.model, len(list(many))]


def appended():
    many, callback = CallbackList(), Batches()
    many.append(callback)
    many.on_train_batch_begin(2, {"size": 1})
    many.on_train_batch_end(3, {"size": 1})
    return callback.calls


def lambdas():
    calls = []
    names = ("on_epoch_begin", "on_epoch_end", "on_batch_begin", "on_batch_end", "on_train_begin", "on_train_end")
    callback = C.LambdaCallback(**{n: (lambda *args, n=n: calls.append([n, *args])) for n in names}, extra=7)
    for name in names:
        getattr(callback, name)(*([{}] if "train" in name else [1, {}]))
    C.LambdaCallback().on_epoch_end(0, {})
    return [calls, callback.extra]


def configured(given, **options):
    model = Watched()
    many = configure_callbacks(given, model, batch_size=2, epochs=3, steps_per_epoch=4, samples=5, **options)
    base = [sorted(c.stateful_metrics) for c in many.callbacks if hasattr(c, "stateful_metrics")]
    return [[type(c).__name__ for c in many.callbacks], many.callbacks[0].params if many.callbacks else None, base, model.stop_training]


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (
            lambda: listed(Noting()),
            [
                [
                    ["on_train_batch_begin", 1, {"x": 1}],
                    ["on_train_batch_end", 2, {"x": 2}],
                    ["on_train_batch_begin", 1, {"x": 1}],
                    ["on_train_batch_end", 2, {"x": 2}],
                    ["on_test_batch_begin", 1, {"x": 1}],
                    ["on_test_batch_end", 2, {"x": 2}],
                    ["on_predict_batch_begin", 1, {"x": 1}],
                    ["on_predict_batch_end", 2, {"x": 2}],
                    ["on_epoch_begin", 1, {"x": 1}],
                    ["on_epoch_end", 2, {"x": 2}],
                    ["on_train_begin", {"x": 3}],
                    ["on_train_end", {"x": 4}],
                    ["on_test_begin", {"x": 3}],
                    ["on_test_end", {"x": 4}],
                    ["on_predict_begin", {"x": 3}],
                    ["on_predict_end", {"x": 4}],
                ],
                {"a": 1},
                "model",
                1,
            ],
        ),
        (
            lambda: listed(Batches()),
            [[["begin", 1, {"x": 1}], ["end", 2, {"x": 2}], ["begin", 1, {"x": 1}], ["end", 2, {"x": 2}]], {"a": 1}, "model", 1],
        ),
        (appended, [["begin", 2, {"size": 1}], ["end", 3, {"size": 1}]]),
        (
            lambdas,
            [
                [
                    ["on_epoch_begin", 1, {}],
                    ["on_epoch_end", 1, {}],
                    ["on_batch_begin", 1, {}],
                    ["on_batch_end", 1, {}],
                    ["on_train_begin", {}],
                    ["on_train_end", {}],
                ],
                7,
            ],
        ),
        (
            lambda: configured([Batches()]),
            [
                ["BaseLogger", "Batches", "History", "ProgbarLogger"],
                {"batch_size": 2, "epochs": 3, "steps": 4, "samples": 5, "verbose": 1, "do_validation": False, "metrics": ["loss", "acc"]},
                [["acc"], ["acc"]],
                False,
            ],
        ),
        (
            lambda: configured(None, verbose=0),
            [
                ["BaseLogger", "History"],
                {"batch_size": 2, "epochs": 3, "steps": 4, "samples": 5, "verbose": 0, "do_validation": False, "metrics": ["loss", "acc"]},
                [["acc"]],
                False,
            ],
        ),
        (
            lambda: configured([Batches()], do_validation=True, count_mode="samples"),
            [
                ["BaseLogger", "Batches", "History", "ProgbarLogger"],
                {
                    "batch_size": 2,
                    "epochs": 3,
                    "steps": 4,
                    "samples": 5,
                    "verbose": 1,
                    "do_validation": True,
                    "metrics": ["loss", "acc", "val_loss", "val_acc"],
                },
                [["acc"], ["acc"]],
                False,
            ],
        ),
        (
            lambda: configured([Batches()], do_validation=True, mode="test"),
            [
                ["Batches"],
                {
                    "batch_size": 2,
                    "epochs": 3,
                    "steps": 4,
                    "samples": 5,
                    "verbose": 1,
                    "do_validation": True,
                    "metrics": ["loss", "acc", "val_loss", "val_acc"],
                },
                [],
                False,
            ],
        ),
        (
            lambda: configured([Batches()], do_validation=True, mode="predict"),
            [
                ["Batches"],
                {"batch_size": 2, "epochs": 3, "steps": 4, "samples": 5, "verbose": 1, "do_validation": True, "metrics": []},
                [],
                False,
            ],
        ),
        (lambda: make_logs(Watched(), {"a": 1}, [3.0, 4.0], "train"), {"a": 1, "loss": 3.0, "acc": 4.0}),
        (lambda: make_logs(Watched(), {}, [3.0, 4.0], "test", "val_"), {"val_loss": 3.0, "val_acc": 4.0}),
        (lambda: make_logs(Watched(), {}, [3.0, 4.0], "predict"), {"outputs": [3.0, 4.0]}),
    ],
)
def test_lists_of_callbacks_call_each(made, expected):
    assert found(made) == expected


def events(folder):
    """Tags and steps of all summaries in a folder, with the values of scalars."""
    seen = []
    for path in sorted(glob.glob(os.path.join(folder, "events*"))):
        for event in tf.train.summary_iterator(path):
            if event.WhichOneof("what") == "graph_def":
                seen.append("graph")
            for value in event.summary.value:
                kind = value.WhichOneof("value")
                shown = kind if kind != "simple_value" else round(value.simple_value, 4)
                if kind == "image":
                    shown = ["image", value.image.height, value.image.width, value.image.colorspace]
                seen.append([value.tag, event.step, shown])
    return seen


def on_board(epochs=2, extra=None, fit=None, **options):
    """What TensorBoard is given by a little training."""
    folder = tempfile.mkdtemp()
    x, y = np.ones((6, 3), np.float32), np.ones((6, 1), np.float32)
    model = tf.keras.Sequential(
        [L.Dense(2, input_shape=(3,), kernel_initializer="ones", name="a"), L.Dense(1, kernel_initializer="ones", name="b")]
    )
    model.compile("sgd", "mse")
    model.optimizer.lr = 0.0
    callback = C.TensorBoard(folder, **options)
    model.fit(x, y, batch_size=2, epochs=epochs, verbose=0, callbacks=[callback], **(fit or {}))
    return events(folder)


def embedded(**options):
    folder = tempfile.mkdtemp()
    x, y = np.arange(6).reshape(3, 2), np.ones((3, 1), np.float32)
    words = L.Embedding(6, 2, embeddings_initializer="ones", name="words")
    model = tf.keras.Sequential([L.InputLayer((2,), dtype="int32"), words, L.Flatten(), L.Dense(1)])
    model.compile(tf.keras.optimizers.SGD(0.0), "mse")
    callback = C.TensorBoard(folder, write_graph=False, embeddings_freq=1, batch_size=2, **options)
    model.fit(x, y, epochs=2, verbose=0, callbacks=[callback])
    with open(os.path.join(folder, "projector_config.pbtxt")) as f:
        config = f.read().split()
    newest = os.path.join(folder, "keras_embedding.ckpt-1")
    saved = [[n, s, tf.train.load_variable(newest, n).round(1).tolist()] for n, s in tf.train.list_variables(newest)]
    return [config, saved, sorted(n for n in os.listdir(folder) if "index" in n)]


HELD_OUT = {"validation_data": (np.zeros((2, 3), np.float32), np.ones((2, 1), np.float32))}


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: on_board(), ["graph", ["epoch_loss", 0, 25.0], ["epoch_loss", 1, 25.0]]),
        (
            lambda: on_board(write_graph=False, fit=HELD_OUT),
            [["epoch_loss", 0, 25.0], ["epoch_val_loss", 0, 1.0], ["epoch_loss", 1, 25.0], ["epoch_val_loss", 1, 1.0]],
        ),
        (
            lambda: on_board(epochs=1, write_graph=False, update_freq="batch"),
            [["batch_loss", 0, 25.0], ["batch_loss", 1, 25.0], ["batch_loss", 2, 25.0], ["epoch_loss", 6, 25.0]],
        ),
        (
            lambda: on_board(write_graph=False, update_freq=4),
            [["batch_loss", 1, 25.0], ["epoch_loss", 6, 25.0], ["batch_loss", 3, 25.0], ["batch_loss", 5, 25.0], ["epoch_loss", 12, 25.0]],
        ),
        (
            lambda: on_board(3, write_graph=False, histogram_freq=2, write_images=True, write_grads=True, fit=HELD_OUT),
            [
                ["a/kernel_0", 0, "histo"],
                ["a/kernel_0_1/image/0", 0, ["image", 2, 3, 1]],
                ["a/bias_0", 0, "histo"],
                ["a/bias_0_1/image/0", 0, ["image", 2, 1, 1]],
                ["a/kernel_0_grad", 0, "histo"],
                ["a/bias_0_grad", 0, "histo"],
                ["a_out", 0, "histo"],
                ["b/kernel_0", 0, "histo"],
                ["b/kernel_0_1/image/0", 0, ["image", 2, 1, 1]],
                ["b/bias_0", 0, "histo"],
                ["b/kernel_0_grad", 0, "histo"],
                ["b/bias_0_grad", 0, "histo"],
                ["b_out", 0, "histo"],
                ["epoch_loss", 0, 25.0],
                ["epoch_val_loss", 0, 1.0],
                ["epoch_loss", 1, 25.0],
                ["epoch_val_loss", 1, 1.0],
                ["a/kernel_0", 1, "histo"],
                ["a/kernel_0_1/image/0", 1, ["image", 2, 3, 1]],
                ["a/bias_0", 1, "histo"],
                ["a/bias_0_1/image/0", 1, ["image", 2, 1, 1]],
                ["a/kernel_0_grad", 1, "histo"],
                ["a/bias_0_grad", 1, "histo"],
                ["a_out", 1, "histo"],
                ["b/kernel_0", 1, "histo"],
                ["b/kernel_0_1/image/0", 1, ["image", 2, 1, 1]],
                ["b/bias_0", 1, "histo"],
                ["b/kernel_0_grad", 1, "histo"],
                ["b/bias_0_grad", 1, "histo"],
                ["b_out", 1, "histo"],
                ["epoch_loss", 2, 25.0],
                ["epoch_val_loss", 2, 1.0],
            ],
        ),
    ],
)
def test_what_tensorboard_is_given(made, expected):
    assert found(made) == expected


@pytest.mark.parametrize(
    ("options", "lines"),
    [
        (
            {"embeddings_metadata": "names.tsv"},
            ["embeddings", "{", "tensor_name:", '"words_embedding:0"', "metadata_path:", '"names.tsv"', "}"],
        ),
        (
            {"embeddings_metadata": {"words": "n.tsv"}, "embeddings_layer_names": ["words"]},
            ["embeddings", "{", "tensor_name:", '"words_embedding:0"', "metadata_path:", '"n.tsv"', "}"],
        ),
        ({"embeddings_layer_names": ["words"]}, ["embeddings", "{", "tensor_name:", '"words_embedding:0"', "}"]),
    ],
)
def test_embeddings_are_kept_for_the_projector(options, lines):
    config, saved, files = embedded(embeddings_data=np.arange(6).reshape(3, 2), **options)
    assert config == lines
    assert saved == [["words_embedding", [3, 4], [[1.0] * 4] * 3]]
    assert files == ["keras_embedding.ckpt-0.index", "keras_embedding.ckpt-1.index"]


def test_embeddings_need_data():
    with pytest.raises(ValueError, match="To visualize embeddings, embeddings_data must be provided."):
        embedded()
