"""Callbacks, functions of the backend, queues of batches and files where they are seldom used; values are those of TensorFlow 1.15.5."""

import csv
import os
import tarfile
import tempfile
import zipfile

import numpy as np
import pytest
from plain import plain, refused

import everflow as tf

K, L, keras, U, C = tf.keras.backend, tf.keras.layers, tf.keras, tf.keras.utils, tf.keras.callbacks


def some(*shape):
    return np.sin(np.arange(np.prod(shape, dtype=int))).reshape(shape).astype(np.float32)


X, Y = some(4, 2), some(4, 1)


def model(**kwargs):
    made = keras.Sequential([L.Dense(1, kernel_initializer="ones", input_shape=(2,))])
    made.compile(keras.optimizers.SGD(0.1), "mse", **kwargs)
    return made


def fitted(*callbacks, epochs=3, **kwargs):
    made = model(metrics=kwargs.pop("metrics", None))
    made.fit(X, Y, batch_size=2, epochs=epochs, verbose=0, shuffle=False, callbacks=list(callbacks), **kwargs)
    return made


class Noting(C.Callback):
    """Notes all calls, and some of what comes with them."""

    def __init__(self):
        super().__init__()
        self.seen = []

    def note(self, name, *args):
        self.seen.append([name, *(sorted(a) if isinstance(a, dict) else a for a in args)])


for when in ("train_begin", "train_end", "test_begin", "test_end", "predict_begin", "predict_end"):
    setattr(Noting, "on_" + when, lambda self, logs=None, when=when: self.note(when, logs))
for when in ("epoch", "train_batch", "test_batch", "predict_batch"):
    setattr(Noting, f"on_{when}_begin", lambda self, index, logs=None, when=when: self.note(when + " begins", index, logs))
    setattr(Noting, f"on_{when}_end", lambda self, index, logs=None, when=when: self.note(when + " ends", index, logs))


def noted(act):
    noting = Noting()
    act(model(metrics=["mae"]), noting)
    return [noting.seen, sorted(noting.params)]


def rates(*callbacks, **kwargs):
    """The learning rate at the end of each epoch."""
    found = []
    seen = C.LambdaCallback(on_epoch_end=lambda epoch, logs: found.append(float(K.get_value(seen.model.optimizer.lr))))
    fitted(*callbacks, seen, **kwargs)
    return found


class Values(C.Callback):
    """Gives metrics of epochs as they are told."""

    def __init__(self, name, values):
        super().__init__()
        self.name, self.values = name, values

    def on_epoch_end(self, epoch, logs=None):
        logs[self.name] = self.values[epoch]


def stopped(values, name="m", **kwargs):
    """(how many epochs ran, the first one that was not better, whether weights came back)."""
    stop = C.EarlyStopping(name, **kwargs)
    made = fitted(Values(name, values), stop, epochs=len(values))
    return [len(made.history.epoch), stop.stopped_epoch, made.get_weights()[0]]


def plateaus(values, **kwargs):
    return rates(Values("m", values), C.ReduceLROnPlateau("m", **kwargs), epochs=len(values))


def logged(*, epochs=2, first=None, **kwargs):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "log.csv")
        if first is not None:
            with open(path, "w") as f:
                f.write(first)
        fitted(Values("list", [[1, 2], np.float32([3.0])]), C.CSVLogger(path, **kwargs), epochs=epochs)
        with open(path) as f:
            return [[cell[:6] for cell in row] for row in csv.reader(f, delimiter=kwargs.get("separator", ","))]


def checkpointed(name="w.{epoch}.h5", made=None, **kwargs):
    """The files that checkpoints leave."""
    with tempfile.TemporaryDirectory() as folder:
        point = C.ModelCheckpoint(os.path.join(folder, name), **kwargs)
        (made or model()).fit(
            X, Y, batch_size=2, epochs=3, verbose=0, shuffle=False, callbacks=[Values("m", [3, 1, 2]), point], validation_data=(X, Y)
        )
        return sorted(os.listdir(folder))


class Own(keras.Model):
    def __init__(self):
        super().__init__()
        self.dense = L.Dense(1)

    def call(self, x):
        return self.dense(x)


def own():
    made = Own()
    made.compile("sgd", "mse")
    return made


def restarted(name="w.h5"):
    """Weights that a second run starts with."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, name)
        kept = fitted(C.ModelCheckpoint(path, save_weights_only=True), epochs=2).get_weights()[0]
        starts = []
        first = C.LambdaCallback(on_train_begin=lambda logs: starts.append(first.model.get_weights()[0]))
        fitted(C.ModelCheckpoint(path, save_weights_only=True, load_weights_on_restart=True), first, epochs=1)
        return bool((starts[0] == kept).all())


def ended_by_nan():
    made = model()
    made.fit(X, Y * np.float32([[1], [1], [np.nan], [1]]), batch_size=1, epochs=3, verbose=0, shuffle=False, callbacks=[C.TerminateOnNaN()])
    return [made.stop_training, made.history.epoch]


class Batches(U.Sequence):
    def __init__(self, size=3):
        self.size, self.ends = size, 0

    def __len__(self):
        return self.size

    def __getitem__(self, i):
        return [i, self.ends]

    def on_epoch_end(self):
        self.ends += 1


def queued(make, count, **kwargs):
    """The first batches of a queue."""
    queue = make()
    queue.start(**kwargs)
    found = []
    for batch in queue.get():
        found.append(batch)
        if len(found) == count:
            break
    running = queue.is_running()
    queue.stop()
    return [found, running, queue.is_running()]


def ended(values, count=9, **kwargs):
    return queued(lambda: U.GeneratorEnqueuer(iter(values), **kwargs), count)


def failing():
    yield 1
    raise KeyError("no more")


def drained(make):
    queue = make()
    queue.start()
    return list(queue.get())


def got(name="a.txt", content=b"some text", pack=None, **kwargs):
    """What `get_file` finds behind an address."""
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, "source")
        os.mkdir(source)
        inside = os.path.join(source, "inside.txt")
        with open(inside, "wb") as f:
            f.write(content)
        path = os.path.join(source, "a.bin")
        if pack == "tar":
            with tarfile.open(path, "w") as packed:
                packed.add(inside, "inside.txt")
        elif pack == "zip":
            with zipfile.ZipFile(path, "w") as packed:
                packed.write(inside, "inside.txt")
        else:
            path = inside
        os.mkdir(os.path.join(folder, "cache"))
        found = U.get_file(name, "file://" + path, cache_dir=os.path.join(folder, "cache"), **kwargs)
        return [
            os.path.relpath(found, folder),
            sorted(os.path.relpath(os.path.join(d, f), folder) for d, _, fs in os.walk(os.path.join(folder, "cache")) for f in fs),
        ]


def function(inputs, outputs, updates=None, **kwargs):
    return K.function(inputs, outputs, updates, **kwargs)


def fed():
    a, b = K.placeholder(()), tf.placeholder_with_default(2.0, ())
    return [
        function([a, b], [a + b, a * b])([3.0, 4.0]),
        function([a, b], a + b)([3.0, None]),
        function([a], {"sum": a + b, "twice": 2.0 * a})([1.0]),
        function((a,), (-a, a + 1.0))((5.0,)),
    ]


def updating():
    v, a = K.variable(1.0), K.placeholder(())
    step = function([a], [a * 3.0], [K.update_add(v, a)])
    return [step([2.0]), step([2.0]), K.get_value(v)]


def with_options():
    a, b = K.placeholder(()), K.placeholder(())
    step = function([a], [a + b], feed_dict={b: 5.0})
    fetched = function([a], [-a], fetches=[a * 10.0])
    return [step([1.0]), fetched([2.0]), function([a], [-a], name="f", options=tf.RunOptions())([1.0])]


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (
            lambda: noted(lambda m, c: m.fit(X, Y, batch_size=2, verbose=0, callbacks=[c], validation_data=(X, Y))),
            [
                [
                    ["train_begin", None],
                    ["epoch begins", 0, []],
                    ["train_batch begins", 0, ["batch", "size"]],
                    ["train_batch ends", 0, ["batch", "loss", "mean_absolute_error", "size"]],
                    ["train_batch begins", 1, ["batch", "size"]],
                    ["train_batch ends", 1, ["batch", "loss", "mean_absolute_error", "size"]],
                    ["test_begin", None],
                    ["test_batch begins", 0, ["batch", "size"]],
                    ["test_batch ends", 0, ["batch", "loss", "mean_absolute_error", "size"]],
                    ["test_batch begins", 1, ["batch", "size"]],
                    ["test_batch ends", 1, ["batch", "loss", "mean_absolute_error", "size"]],
                    ["test_end", None],
                    ["epoch ends", 0, ["loss", "mean_absolute_error", "val_loss", "val_mean_absolute_error"]],
                    ["train_end", None],
                ],
                ["batch_size", "do_validation", "epochs", "metrics", "samples", "steps", "verbose"],
            ],
        ),
        (
            lambda: noted(lambda m, c: m.evaluate(X, Y, batch_size=2, verbose=0, callbacks=[c])),
            [
                [
                    ["test_begin", None],
                    ["test_batch begins", 0, ["batch", "size"]],
                    ["test_batch ends", 0, ["batch", "loss", "mean_absolute_error", "size"]],
                    ["test_batch begins", 1, ["batch", "size"]],
                    ["test_batch ends", 1, ["batch", "loss", "mean_absolute_error", "size"]],
                    ["test_end", None],
                ],
                ["batch_size", "do_validation", "epochs", "metrics", "samples", "steps", "verbose"],
            ],
        ),
        (
            lambda: noted(lambda m, c: m.predict(X, batch_size=2, verbose=0, callbacks=[c])),
            [
                [
                    ["predict_begin", None],
                    ["predict_batch begins", 0, ["batch", "size"]],
                    ["predict_batch ends", 0, ["batch", "outputs", "size"]],
                    ["predict_batch begins", 1, ["batch", "size"]],
                    ["predict_batch ends", 1, ["batch", "outputs", "size"]],
                    ["predict_end", None],
                ],
                ["batch_size", "do_validation", "epochs", "metrics", "samples", "steps", "verbose"],
            ],
        ),
        (
            lambda: noted(lambda m, c: m.fit_generator(((X, Y) for _ in range(9)), steps_per_epoch=2, verbose=0, callbacks=[c], workers=0)),
            [
                [
                    ["train_begin", None],
                    ["epoch begins", 0, []],
                    ["train_batch begins", 0, ["batch", "size"]],
                    ["train_batch ends", 0, ["batch", "loss", "mean_absolute_error", "size"]],
                    ["train_batch begins", 1, ["batch", "size"]],
                    ["train_batch ends", 1, ["batch", "loss", "mean_absolute_error", "size"]],
                    ["epoch ends", 0, ["loss", "mean_absolute_error"]],
                    ["train_end", None],
                ],
                ["batch_size", "do_validation", "epochs", "metrics", "samples", "steps", "verbose"],
            ],
        ),
        (
            lambda: noted(lambda m, c: m.evaluate_generator(((X, Y) for _ in range(9)), steps=2, callbacks=[c], workers=0)),
            [
                [
                    ["test_begin", None],
                    ["test_batch begins", 0, ["batch", "size"]],
                    ["test_batch ends", 0, ["batch", "loss", "mean_absolute_error", "size"]],
                    ["test_batch begins", 1, ["batch", "size"]],
                    ["test_batch ends", 1, ["batch", "loss", "mean_absolute_error", "size"]],
                    ["test_end", None],
                ],
                ["batch_size", "do_validation", "epochs", "metrics", "samples", "steps", "verbose"],
            ],
        ),
        (
            lambda: noted(lambda m, c: m.predict_generator(((X, Y) for _ in range(9)), steps=2, callbacks=[c], workers=0)),
            [
                [
                    ["predict_begin", None],
                    ["predict_batch begins", 0, ["batch", "size"]],
                    ["predict_batch ends", 0, ["batch", "outputs", "size"]],
                    ["predict_batch begins", 1, ["batch", "size"]],
                    ["predict_batch ends", 1, ["batch", "outputs", "size"]],
                    ["predict_end", None],
                ],
                ["batch_size", "do_validation", "epochs", "metrics", "samples", "steps", "verbose"],
            ],
        ),
        (lambda: rates(C.LearningRateScheduler(lambda epoch: 0.5 / (epoch + 1))), [0.5, 0.25, 0.1667]),
        (lambda: rates(C.LearningRateScheduler(lambda epoch, rate: rate / 2)), [0.05, 0.025, 0.0125]),
        (lambda: stopped([3, 2, 2, 2]), [3, 2, [[0.508], [0.2011]]]),
        (lambda: stopped([3, 2, 2, 2], patience=1), [3, 2, [[0.508], [0.2011]]]),
        (lambda: stopped([3, 2, 2.5, 2.6], patience=2, restore_best_weights=True), [4, 3, [[0.624], [0.4057]]]),
        (lambda: stopped([3, 2, 1.95, 1.9], min_delta=0.1), [3, 2, [[0.508], [0.2011]]]),
        (lambda: stopped([1, 2, 1, 3], mode="max"), [3, 2, [[0.508], [0.2011]]]),
        (lambda: stopped([1, 2, 1, 3], name="acc"), [3, 2, [[0.508], [0.2011]]]),
        (lambda: stopped([3, 2, 1], baseline=1.0), [1, 0, [[0.7833], [0.6668]]]),
        (lambda: stopped([1, 2, 3], mode="unknown"), [2, 1, [[0.624], [0.4057]]]),
        (lambda: plateaus([1, 1, 1, 1], patience=1, factor=0.5), [0.1, 0.05, 0.025, 0.0125]),
        (lambda: plateaus([1, 1, 1, 1], patience=1, factor=0.5, cooldown=1), [0.1, 0.05, 0.025, 0.0125]),
        (lambda: plateaus([1, 1, 1, 1], patience=1, factor=0.5, min_lr=0.04), [0.1, 0.05, 0.04, 0.04]),
        (lambda: plateaus([1, 0.95, 0.9, 0.8], patience=1, factor=0.5, min_delta=0.2), [0.1, 0.05, 0.025, 0.0125]),
        (lambda: plateaus([1, 2, 1, 1], patience=1, factor=0.5, mode="max"), [0.1, 0.1, 0.05, 0.025]),
        (lambda: plateaus([1, 2, 3, 3], patience=2), [0.1, 0.1, 0.01, 0.01]),
        (lambda: logged(), [["epoch", "list", "loss"], ["0", '"[1, 2', "1.9388"], ["1", '"[3.0]', "1.1396"]]),
        (lambda: logged(separator=";", append=True), [["epoch", "list", "loss"], ["0", '"[1, 2', "1.9388"], ["1", '"[3.0]', "1.1396"]]),
        (
            lambda: logged(append=True, first="epoch,list,loss\n7,1,2\n"),
            [["epoch", "list", "loss"], ["7", "1", "2"], ["0", '"[1, 2', "1.9388"], ["1", '"[3.0]', "1.1396"]],
        ),
        (lambda: checkpointed(), ["w.1.h5", "w.2.h5", "w.3.h5"]),
        (lambda: checkpointed("w.h5"), ["w.h5"]),
        (lambda: checkpointed(monitor="m", save_best_only=True), ["w.1.h5", "w.2.h5"]),
        (lambda: checkpointed(monitor="m", save_best_only=True, mode="max"), ["w.1.h5"]),
        (lambda: checkpointed(period=2), ["w.2.h5"]),
        (lambda: checkpointed(save_freq=4, name="w.h5"), ["w.h5"]),
        (lambda: checkpointed(save_weights_only=True), ["w.1.h5", "w.2.h5", "w.3.h5"]),
        (
            lambda: checkpointed(made=own(), name="w.{epoch}"),
            [
                "checkpoint",
                "w.1.data-00000-of-00002",
                "w.1.data-00001-of-00002",
                "w.1.index",
                "w.2.data-00000-of-00002",
                "w.2.data-00001-of-00002",
                "w.2.index",
                "w.3.data-00000-of-00002",
                "w.3.data-00001-of-00002",
                "w.3.index",
            ],
        ),
        (lambda: checkpointed(monitor="none", save_best_only=True), []),
        (lambda: restarted(), True),
        (lambda: restarted("w.ckpt"), True),
        (lambda: [getattr(fitted(C.TerminateOnNaN()), "stop_training", None), ended_by_nan()], [False, [True, [0]]]),
        (
            lambda: [fitted(C.History()).history.epoch, sorted(fitted(metrics=["mae"]).history.params)],
            [[0, 1, 2], ["batch_size", "do_validation", "epochs", "metrics", "samples", "steps", "verbose"]],
        ),
    ],
)
def test_callbacks_are_called(made, expected):
    assert plain(made(), 4) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (
            lambda: rates(C.LearningRateScheduler(lambda epoch: "fast")),
            'ValueError: The output of the "schedule" function should be float.',
        ),
        (lambda: plateaus([1], factor=1.0), "ValueError: ReduceLROnPlateau does not support a factor >= 1.0."),
        (lambda: C.ModelCheckpoint("a", save_freq="batch"), "ValueError: Unrecognized save_freq: batch"),
    ],
)
def test_callbacks_refuse(made, expected):
    assert refused(made).startswith(expected)


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: queued(lambda: U.OrderedEnqueuer(Batches(2)), 2), [[[0, 0], [1, 0]], True, False]),
        (lambda: queued(lambda: U.OrderedEnqueuer(Batches(2)), 2, workers=2, max_queue_size=1), [[[0, 0], [1, 0]], True, False]),
        (
            lambda: [
                sorted(b[0] for b in queued(lambda: U.OrderedEnqueuer(Batches(5), shuffle=True), 5)[0]),
                queued(lambda: U.OrderedEnqueuer(Batches(2), use_multiprocessing=False), 1)[0],
            ],
            [[0, 1, 2, 3, 4], [[0, 0]]],
        ),
        (lambda: drained(lambda: U.GeneratorEnqueuer(iter([1, 2, 3]))), [1, 2, 3]),
        (lambda: drained(lambda: U.GeneratorEnqueuer(iter([1, None, 3]))), [1, 3]),
        (
            lambda: [
                U.OrderedEnqueuer(Batches()).is_running(),
                U.GeneratorEnqueuer(iter([])).workers,
                U.OrderedEnqueuer(Batches()).queue,
                U.OrderedEnqueuer(Batches()).use_multiprocessing,
            ],
            [False, 0, None, False],
        ),
        (lambda: [list(zip(range(3), Batches(2))), len(Batches(4))], [[[0, [0, 0]], [1, [1, 0]]], 4]),
    ],
)
def test_queues_give_batches(made, expected):
    assert plain(made(), 4) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: drained(lambda: U.GeneratorEnqueuer(failing())), "KeyError: 'no more'"),
        (lambda: U.Sequence()[0], "NotImplementedError"),
        (lambda: len(U.Sequence()), "NotImplementedError"),
        (lambda: U.SequenceEnqueuer(Batches()).get(), "NotImplementedError"),
    ],
)
def test_queues_refuse(made, expected):
    assert refused(made).startswith(expected)


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: got(), ["cache/datasets/a.txt", ["cache/datasets/a.txt"]]),
        (lambda: got(cache_subdir="other"), ["cache/other/a.txt", ["cache/other/a.txt"]]),
        (lambda: got("a.tar", pack="tar", extract=True), ["cache/datasets/a.tar", ["cache/datasets/a.tar", "cache/datasets/inside.txt"]]),
        (lambda: got("a.zip", pack="zip", extract=True), ["cache/datasets/a.zip", ["cache/datasets/a.zip", "cache/datasets/inside.txt"]]),
        (
            lambda: got("a.zip", pack="zip", extract=True, archive_format="zip"),
            ["cache/datasets/a.zip", ["cache/datasets/a.zip", "cache/datasets/inside.txt"]],
        ),
        (lambda: got("a.zip", pack="zip", extract=True, archive_format="tar"), ["cache/datasets/a.zip", ["cache/datasets/a.zip"]]),
        (
            lambda: got("a.tar", pack="tar", extract=True, archive_format=["zip", "tar"]),
            ["cache/datasets/a.tar", ["cache/datasets/a.tar", "cache/datasets/inside.txt"]],
        ),
        (lambda: got("a.tar", pack="tar", extract=True, archive_format=None), ["cache/datasets/a.tar", ["cache/datasets/a.tar"]]),
        (lambda: got("a.txt", extract=True), ["cache/datasets/a.txt", ["cache/datasets/a.txt"]]),
        (lambda: got(file_hash="552e21cd4cd9918678e3c1a0df491bc3"), ["cache/datasets/a.txt", ["cache/datasets/a.txt"]]),
        (lambda: got(md5_hash="552e21cd4cd9918678e3c1a0df491bc3"), ["cache/datasets/a.txt", ["cache/datasets/a.txt"]]),
        (
            lambda: got(hash_algorithm="md5", file_hash="552e21cd4cd9918678e3c1a0df491bc3"),
            ["cache/datasets/a.txt", ["cache/datasets/a.txt"]],
        ),
    ],
)
def test_files_are_found(made, expected):
    assert plain(made(), 4) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: fed(), [[7.0, 12.0], 5.0, {"sum": 3.0, "twice": 2.0}, [-5.0, 6.0]]),
        (lambda: updating(), [[6.0], [6.0], 5.0]),
        (lambda: with_options(), [[6.0], [-2.0], [-1.0]]),
        (lambda: function([], [tf.constant(1.0)])([]), [1.0]),
        (
            lambda: [K.eval(tf.constant(3.0)), K.get_value(K.variable([1.0])), K.is_sparse(K.placeholder((2, 2), sparse=True))],
            [3.0, [1.0], True],
        ),
        (
            lambda: [K.int_shape(K.placeholder(ndim=3)), K.ndim(K.placeholder((2, None))), K.dtype(K.placeholder((), dtype="int32"))],
            [[None, None, None], 2, "int32"],
        ),
        (
            lambda: [
                K.eval(K.batch_dot(tf.constant(some(2, 3)), tf.constant(some(2, 3)), 1)),
                K.eval(K.batch_dot(tf.constant(some(2, 3, 2)), tf.constant(some(2, 2, 3)), (2, 1))).shape,
                K.eval(K.batch_dot(tf.constant(some(2, 3)), tf.constant(some(2, 3, 2)), [1, 1])),
            ],
            [[[1.535], [1.512]], [2, 3, 3], [[0.07699, -0.7532], [-0.2665, 0.7397]]],
        ),
        (
            lambda: [
                K.eval(
                    K.separable_conv2d(tf.constant(some(1, 3, 3, 1)), tf.constant(some(2, 2, 1, 1)), tf.constant(some(1, 1, 1, 2)))
                ).shape,
                K.eval(K.conv1d(tf.constant(some(1, 4, 1)), tf.constant(some(2, 1, 1)), padding="causal")),
            ],
            [[1, 2, 2, 2], [[[0.0], [0.7081], [0.7651], [0.1187]]]],
        ),
        (
            lambda: [
                K.eval(t)
                for t in (
                    K.in_top_k(tf.constant(some(2, 3)), [0, 1], 1),
                    K.one_hot([0, 1], 3),
                    K.reverse(tf.constant([1, 2]), 0),
                    K.cumsum(tf.constant([1, 2])),
                    K.cumprod(tf.constant([1, 2])),
                    K.resize_images(tf.constant(some(1, 1, 1, 1)), 2, 2, "channels_last"),
                )
            ],
            [[False, False], [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]], [2, 1], [1, 3], [1, 2], [[[[0.0], [0.0]], [[0.0], [0.0]]]]],
        ),
    ],
)
def test_functions_of_the_backend(made, expected):
    assert plain(made(), 4) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (
            lambda: function([], [tf.constant(1.0)], updates=3),
            "TypeError: `updates` in a Keras backend function should be a list or tuple.",
        ),
        (
            lambda: function([], [tf.constant(1.0)], unknown=1),
            'ValueError: Invalid argument "unknown" passed to K.function with TensorFlow backend',
        ),
        (lambda: K.set_learning_phase(3), "ValueError: Expected learning phase to be 0 or 1."),
        (lambda: K.set_floatx("int32"), "ValueError: Unknown floatx type: int32"),
        (lambda: K.set_image_data_format("middle"), "ValueError: Unknown data_format: middle"),
        (lambda: K.conv2d(tf.ones([1, 2, 2, 1]), tf.ones([1, 1, 1, 1]), padding="middle"), "ValueError: Invalid padding: middle"),
        (lambda: K.pool2d(tf.ones([1, 2, 2, 1]), (1, 1), pool_mode="mid"), "ValueError: Invalid pooling mode: mid"),
        (lambda: K.resize_images(tf.ones([1, 2, 2, 1]), 2, 2, "middle"), "ValueError: Invalid `data_format` argument: middle"),
        (
            lambda: K.bias_add(tf.ones([1, 2]), tf.ones([1, 2, 3])),
            "ValueError: Unexpected bias dimensions 3, expect to be 1 or 2 dimensions",
        ),
        (
            lambda: K.switch(tf.constant([[True]]), tf.ones([2]), tf.ones([2])),
            "ValueError: Rank of `condition` should be less than or equal to rank of `then_expression` and `else_expression",
        ),
    ],
)
def test_functions_of_the_backend_refuse(made, expected):
    assert refused(made).startswith(expected)


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: K.is_keras_tensor(3), "ValueError: Unexpectedly found an instance of type `"),
        (
            lambda: K.placeholder((2,), sparse=True, ragged=True),
            "ValueError: Cannot set both sparse and ragged to True when creating a placeholder. Received sparse=True, ragge",
        ),
        (
            lambda: K.batch_dot(tf.ones([2]), tf.ones([2])),
            "ValueError: Cannot do batch_dot on inputs with rank < 2. Received inputs with shapes (2,) and (2,).",
        ),
        (
            lambda: K.batch_dot(tf.ones([2, 2]), tf.ones([2, 2]), (1, 2, 3)),
            "ValueError: Cannot perform batch_dot over axis 0. If your inputs are not batched, add a dummy batch dimension",
        ),
        (
            lambda: K.batch_dot(tf.ones([2, 2]), tf.ones([2, 2]), ((1,), (1,))),
            "ValueError: Multiple target dimensions are not supported. Expected: None, int, (int, int), Provided: ((1,), (1",
        ),
        (
            lambda: K.rnn(lambda x, s: (x, s), tf.placeholder("float32", [None, None, 2]), [], unroll=True),
            "ValueError: Unrolling requires a fixed number of timesteps.",
        ),
    ],
)
def test_what_1_15_5_lets_pass_or_says_otherwise(made, expected):
    assert refused(made).startswith(expected)
