"""What models are fed with: streams that end, sparse values, tensors, weights by class; values are those of TensorFlow 1.15.5."""

import contextlib
import io
import re

import numpy as np
import pytest
import scipy.sparse
from plain import plain, refused

import everflow as tf

K, L, keras = tf.keras.backend, tf.keras.layers, tf.keras


def some(*shape):
    return np.sin(np.arange(np.prod(shape, dtype=int))).reshape(shape).astype(np.float32)


X, Y = some(4, 2), some(4, 1)
CLASSES = np.float32([[0], [1], [1], [2]])
ONE_HOT = np.eye(3, dtype=np.float32)[[0, 1, 1, 2]]


def model(units=1, loss="mse", shape=(2,), **kwargs):
    made = keras.Sequential([L.Dense(units, kernel_initializer="ones", input_shape=shape)])
    made.compile(keras.optimizers.SGD(0.1), loss, **kwargs)
    return made


def data(*parts, size=2, repeat=1):
    return tf.data.Dataset.from_tensor_slices(tuple(parts) if len(parts) > 1 else parts[0]).batch(size).repeat(repeat)


def history(x=X, y=None, made=None, **kwargs):
    return (made or model()).fit(x, y, verbose=0, shuffle=False, **kwargs).history


def drawn(*parts, count=None):
    """A generator of batches of two, that ends after some."""
    i = 0
    while count is None or i < count:
        yield tuple(p[2 * (i % 2) : 2 * (i % 2) + 2] for p in parts)
        i += 1


def printed(call, keep=None):
    """The lines that a call prints, without times and bars."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        call()
    text = re.sub("\x08+|\r", "\n", out.getvalue())
    lines = [re.sub(r" - (ETA: [\d:]+s?|\d+s( \d+[mu]?s/(step|sample))?)", "", line).strip() for line in text.splitlines()]
    lines = [re.sub(r"\[[=>.]*\]", "[]", line) for line in lines if line]
    return lines[-keep:] if keep else lines


def sparse_model(**kwargs):
    x = keras.Input((3,), sparse=True)
    dense = L.Lambda(lambda t: tf.reshape(tf.sparse.to_dense(t), [-1, 3]), name="filled")(x)
    made = keras.Model(x, L.Dense(1, kernel_initializer="ones")(dense))
    made.compile(keras.optimizers.SGD(0.1), "mse", **kwargs)
    return made


def sparse(rows=4):
    """A sparse matrix of scipy."""
    return scipy.sparse.csr_matrix((np.float32(range(1, rows + 1)), (np.arange(rows), np.arange(rows) % 3)), shape=(rows, 3))


def sparse_tensor(rows=4):
    return tf.SparseTensor(np.int64([[i, i % 3] for i in range(rows)]), np.float32(range(1, rows + 1)), np.int64([rows, 3]))


def gives(make):
    """A model that gives what a function makes of its inputs, without training."""
    x = keras.Input((2,))
    return keras.Model(x, L.Lambda(make)(x))


class Pair(keras.Model):
    """A model without a known shape, which takes a dictionary or a list."""

    def __init__(self):
        super().__init__()
        self.dense = L.Dense(1, kernel_initializer="ones")

    def call(self, inputs):
        if isinstance(inputs, dict):
            return self.dense(inputs["a"]) + 2.0 * self.dense(inputs["b"])
        if isinstance(inputs, (list, tuple)):
            return self.dense(inputs[0]) + 3.0 * self.dense(inputs[1])
        return self.dense(inputs)


def pair(x, y=Y, **kwargs):
    made = Pair()
    made.compile("sgd", "mse", **kwargs)
    return [made.train_on_batch(x, y), made.input_names, made.output_names]


def weighted(weights, y=Y, x=X, made=None, **kwargs):
    made = made or model(y.shape[-1])
    return made.train_on_batch(x, y, class_weight=weights, **kwargs)


def frozen_step():
    """What a step says of weights that were set untrainable after `compile`."""
    made = model()
    made.layers[0].trainable = False
    before = made.get_weights()
    made.train_on_batch(X, Y)
    return bool((made.get_weights()[0] == before[0]).all())


def stateful(x, **kwargs):
    made = keras.Sequential([L.SimpleRNN(1, stateful=True, batch_input_shape=(2, 3, 1))])
    made.compile("sgd", "mse")
    return made.predict(x, **kwargs).shape


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: history(data(X, Y)), {"loss": [1.939]}),
        (lambda: history(data(X, Y), epochs=2), {"loss": [1.939, 1.14]}),
        (lambda: history(data(X, Y, repeat=None), epochs=2, steps_per_epoch=3), {"loss": [1.379, 1.123]}),
        (lambda: history(data(X, Y).filter(lambda x, y: True), epochs=2), {"loss": [1.939, 1.14]}),
        (lambda: history(data(X, Y), validation_data=data(X, Y), validation_steps=1), {"loss": [1.939], "val_loss": [0.26]}),
        (lambda: history(data(X, Y, np.float32([0, 1, 2, 3]))), {"loss": [3.502]}),
        (lambda: history(drawn(X, Y), steps_per_epoch=2, epochs=2), {"loss": [1.939, 1.14]}),
        (
            lambda: history(drawn(X, Y), steps_per_epoch=2, validation_data=drawn(X, Y), validation_steps=1),
            {"loss": [1.939], "val_loss": [0.26]},
        ),
        (lambda: model().evaluate(drawn(X, Y), steps=3, verbose=0), 1.408),
        (lambda: model().predict(drawn(X), steps=3), [[0.8415], [1.05], [-1.716], [0.3776], [0.8415], [1.05]]),
        (lambda: model().predict(drawn(X, Y), steps=1), [[0.8415], [1.05]]),
        (lambda: model().predict(data(X, Y), steps=2), [[0.8415], [1.05], [-1.716], [0.3776]]),
        (lambda: model().train_on_batch(tf.data.make_one_shot_iterator(data(X, Y))), 0.3759),
        (lambda: model().test_on_batch(tf.data.make_one_shot_iterator(data(X, Y))), 0.3759),
        (lambda: model().train_on_batch(data(X, Y)), 0.3759),
        (lambda: history(tf.constant(X), tf.constant(Y), steps_per_epoch=2), {"loss": [1.714]}),
        (lambda: model().evaluate(tf.constant(X), tf.constant(Y), steps=2, verbose=0), 1.925),
        (lambda: model().predict(tf.constant(X), steps=1), [[0.8415], [1.05], [-1.716], [0.3776]]),
        (lambda: model().train_on_batch(tf.constant(X), tf.constant(Y)), 1.925),
        (lambda: history(X, Y, batch_size=3, validation_split=0.5), {"loss": [0.3759], "val_loss": [3.502]}),
        (lambda: history(X, Y, validation_data=(X, Y, np.float32([0, 0, 0, 1]))), {"loss": [1.925], "val_loss": [0.01219]}),
        (lambda: history({"dense_input": X}, {"dense": Y}, batch_size=4), {"loss": [1.925]}),
    ],
)
def test_streams_give_batches(made, expected):
    assert plain(made(), 4) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: sparse_model().train_on_batch(sparse(), Y), 5.401),
        (lambda: sparse_model().predict_on_batch(sparse(2)), [[1.0], [2.0]]),
        (lambda: sparse_model().predict(sparse_tensor(), steps=2), [[1.0], [2.0], [3.0], [4.0], [1.0], [2.0], [3.0], [4.0]]),
        (lambda: sparse_model().train_on_batch(sparse_tensor(), Y), 5.401),
        (lambda: sparse_model().evaluate(sparse_tensor(), Y, steps=1, verbose=0), 5.401),
        (
            lambda: gives(lambda x: tf.contrib.layers.dense_to_sparse(x)).predict(X, batch_size=2),
            {
                "indices": [[0, 1], [1, 0], [1, 1], [2, 0], [2, 1], [3, 0], [3, 1]],
                "values": [0.8415, 0.9093, 0.1411, -0.7568, -0.9589, -0.2794, 0.657],
                "dense_shape": [4, 2],
            },
        ),
        (
            lambda: gives(lambda x: tf.RaggedTensor.from_tensor(x)).predict(X, batch_size=2),
            [[0.0, 0.8415], [0.9093, 0.1411], [-0.7568, -0.9589], [-0.2794, 0.657]],
        ),
        (
            lambda: gives(lambda x: tf.RaggedTensor.from_tensor(x)).predict(X, batch_size=4),
            [[0.0, 0.8415], [0.9093, 0.1411], [-0.7568, -0.9589], [-0.2794, 0.657]],
        ),
    ],
)
def test_sparse_and_ragged_values_are_fed(made, expected):
    assert plain(made(), 4) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: pair(X), [1.925, ["input_1"], ["output_1"]]),
        (lambda: pair({"b": X, "a": X}), [12.34, ["a", "b"], ["output_1"]]),
        (lambda: pair([X, X]), [21.23, ["input_1", "input_2"], ["output_1"]]),
        (lambda: pair((X, X)), [21.23, ["input_1", "input_2"], ["output_1"]]),
        (lambda: pair(np.float32([1, 2, 3, 4])), [5.401, ["input_1"], ["output_1"]]),
        (lambda: pair(X.astype(np.float64)), [1.925, ["input_1"], ["output_1"]]),
        (lambda: pair(np.int32([[1, 2]] * 4).astype(np.float32)), [6.551, ["input_1"], ["output_1"]]),
    ],
)
def test_models_learn_their_inputs_from_what_comes(made, expected):
    assert plain(made(), 4) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: weighted({0: 1.0, 1: 2.0, 2: 4.0}, CLASSES), 6.498),
        (lambda: weighted({0: 1.0, 1: 2.0, 2: 4.0}, ONE_HOT), 2.923),
        (lambda: weighted({0: 1.0, 2: 4.0, 1: 0.5}, CLASSES, sample_weight=np.float32([1, 2, 3, 4])), 13.47),
        (lambda: frozen_step(), False),
        (lambda: history(X, CLASSES, class_weight={0: 1.0, 1: 2.0, 2: 4.0}, batch_size=4), {"loss": [6.498]}),
    ],
)
def test_classes_weigh(made, expected):
    assert plain(made(), 4) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: printed(lambda: model().fit(X, Y, batch_size=4)), ["Train on 4 samples", "4/4 [] - loss: 1.9246"]),
        (
            lambda: printed(lambda: model().fit(X, Y, batch_size=4, verbose=2, validation_data=(X, X[:, :1]))),
            ["Train on 4 samples, validate on 4 samples", "4/4 - loss: 1.9246 - val_loss: 0.3562"],
        ),
        (lambda: printed(lambda: model().fit(data(X, Y), steps_per_epoch=2), 2), ["1/2 [] - loss: 0.3759", "2/2 [] - loss: 1.9388"]),
        (
            lambda: printed(lambda: model().fit(data(X, Y), verbose=2, validation_data=data(X, Y))),
            ["Train on 2 steps, validate on 2 steps", "2/2 - loss: 1.9388 - val_loss: 1.1340"],
        ),
        (
            lambda: printed(lambda: model(metrics=["mae"]).evaluate(X, Y, batch_size=4), 1),
            ["4/4 [] - loss: 1.9246 - mean_absolute_error: 0.9780"],
        ),
        (lambda: printed(lambda: model().evaluate(data(X, Y), steps=2), 1), ["2/2 [] - loss: 1.9246"]),
        (lambda: printed(lambda: model().predict(X, verbose=1, batch_size=4), 1), ["4/4 []"]),
        (lambda: printed(lambda: model().predict(data(X), steps=2, verbose=1), 1), ["2/2 []"]),
        (lambda: printed(lambda: model().fit(drawn(X, Y), steps_per_epoch=2, verbose=2)), ["2/2 - loss: 1.9388"]),
    ],
)
def test_progress_is_told(made, expected):
    assert plain(made(), 4) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (
            lambda: model().fit(data(X, Y), Y),
            "ValueError: You passed a dataset or dataset iterator (<DatasetV1Adapter shapes: ((?, 2), (?, 1)), types: (tf.f",
        ),
        (
            lambda: model().fit(data(X, Y), sample_weight=X),
            "ValueError: `sample_weight` argument is not supported when input `x` is a dataset or a dataset iterator. Inste",
        ),
        (
            lambda: model().fit(data(X, Y), batch_size=2),
            "ValueError: The `batch_size` argument must not be specified for the given input type. Received input: <Dataset",
        ),
        (
            lambda: model().fit(data(X, Y), validation_split=0.5, steps_per_epoch=1),
            "ValueError: `validation_split` argument is not supported when input `x` is a dataset or a dataset iterator. Re",
        ),
        (
            lambda: model().fit(data(X, Y, repeat=None)),
            "ValueError: When passing an infinitely repeating dataset, you must specify the `steps_per_epoch` argument.",
        ),
        (lambda: model().fit(drawn(X, Y)), "ValueError: Please specify the number of steps via the `steps_per_epoch` argument."),
        (
            lambda: model().fit(drawn(X, Y), Y, steps_per_epoch=1),
            "ValueError: `y` argument is not supported when data isa generator or Sequence instance. Instead pass targets a",
        ),
        (
            lambda: model().fit(drawn(X, Y), sample_weight=Y, steps_per_epoch=1),
            "ValueError: `sample_weight` argument is not supported when data isa generator or Sequence instance. Instead pa",
        ),
        (
            lambda: model().fit(drawn(X, Y), validation_split=0.5, steps_per_epoch=1),
            "ValueError: If your data is in the form of a Python generator, you cannot use `validation_split`.",
        ),
        (
            lambda: model().fit(tf.constant(X), tf.constant(Y)),
            "ValueError: When using data tensors as input to a model, you should specify the `steps_per_epoch` argument.",
        ),
        (
            lambda: model().fit(tf.constant(X), tf.constant(Y), steps_per_epoch=1, validation_split=0.5),
            "ValueError: If your data is in the form of symbolic tensors, you cannot use `validation_split`.",
        ),
        (
            lambda: model().fit(X, Y, validation_data=(X,)),
            "ValueError: When passing a `validation_data` argument, it must contain either 2 items (x_val, y_val), or 3 ite",
        ),
        (
            lambda: model().fit(X, Y[:3]),
            "ValueError: Input arrays should have the same number of samples as target arrays. Found 4 input samples and 3",
        ),
        (
            lambda: model().fit(X, Y, sample_weight=np.ones(3)),
            "ValueError: Found a sample_weight array with shape (3,) for an input with shape (4, 1). sample_weight cannot b",
        ),
        (
            lambda: model().fit(X, Y, sample_weight=np.ones((4, 2))),
            "ValueError: Found a sample_weight array with shape (4, 2). In order to use timestep-wise sample weights, you s",
        ),
        (lambda: model().fit(X, Y, validation_data=(X, Y), validation_freq=0), "ValueError: `validation_freq` can not be less than 1."),
        (lambda: model().fit({"a": X}, Y), "ValueError: No data provided for \"dense_input\". Need data for each key in: ['dense_input']"),
        (lambda: model().fit(X, {"a": Y}), "ValueError: No data provided for \"dense\". Need data for each key in: ['dense']"),
        (lambda: model().fit("abc", Y), "AttributeError: 'str' object has no attribute 'shape'"),
        (
            lambda: model().fit(X, CLASSES, class_weight={0: 1.0}),
            "ValueError: `class_weight` must contain all classes in the data. The classes {1.0, 2.0} exist in the data but",
        ),
        (
            lambda: model().train_on_batch(X, CLASSES, class_weight={1: 1.0, 2: 1.0}),
            "ValueError: `class_weight` must contain all classes in the data. The classes {0.0} exist in the data but not i",
        ),
        (
            lambda: model(sample_weight_mode="temporal").fit(X, Y),
            "ValueError: Found a sample_weight array for an input with shape (4, 1). Timestep-wise sample weighting (use of",
        ),
        (
            lambda: model(2, "categorical_crossentropy").fit(X, Y),
            "ValueError: You are passing a target array of shape (4, 1) while using as loss `categorical_crossentropy`. `ca",
        ),
        (
            lambda: model(3, "categorical_crossentropy").fit(X, some(4, 2)),
            "ValueError: A target array with shape (4, 2) was passed for an output of shape (None, 3) while using as loss `",
        ),
        (
            lambda: model().fit(some(4, 3), Y),
            "ValueError: Error when checking input: expected dense_input to have shape (2,) but got array with shape (3,)",
        ),
        (
            lambda: model().fit(some(4, 2, 1), Y),
            "ValueError: Error when checking input: expected dense_input to have 2 dimensions, but got array with shape (4,",
        ),
        (
            lambda: stateful(some(4, 3, 1), batch_size=4),
            "ValueError: The `batch_size` argument value 4 is incompatible with the specified batch size of your Input Laye",
        ),
        (lambda: model().fit(X, Y, unknown=1), "TypeError: Unrecognized keyword arguments: {'unknown': 1}"),
    ],
)
def test_what_does_not_fit_is_refused(made, expected):
    assert refused(made).startswith(expected)


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: history(data(X, Y), epochs=2), {"loss": [1.939, 1.14]}),
        (lambda: history(X, Y, steps_per_epoch=2), {"loss": [1.939]}),
        (lambda: history(X, Y, steps_per_epoch=2, epochs=2), {"loss": [1.939, 1.14]}),
        (lambda: history(tf.constant(X), tf.constant(Y), batch_size=3), {"loss": [1.925]}),
        (lambda: model().predict(X, steps=2), [[0.8415], [1.05], [-1.716], [0.3776]]),
        (lambda: model().predict(tf.constant(X)), [[0.8415], [1.05], [-1.716], [0.3776]]),
        (lambda: model().evaluate(X, Y, steps=4, verbose=0), 1.925),
        (lambda: model().train_on_batch(tf.constant(X), tf.constant(Y)), 1.925),
        (lambda: history(data(X, Y), made=model(run_eagerly=True), epochs=2), {"loss": [1.939, 1.14]}),
        (lambda: history(X, Y, made=model(run_eagerly=True), epochs=2, batch_size=2), {"loss": [1.939, 1.14]}),
        (
            lambda: history(X, Y, made=model(run_eagerly=True, metrics=["mae"]), sample_weight=np.float32([0, 1, 2, 3]), batch_size=2),
            {"loss": [3.502], "mean_absolute_error": [0.9745]},
        ),
        (lambda: pair(X, run_eagerly=True), [1.925, ["input_1"], ["output_1"]]),
        (lambda: pair({"b": X, "a": X}, run_eagerly=True), [12.34, ["a", "b"], ["output_1"]]),
        (lambda: pair([X, X]), [21.23, ["input_1", "input_2"], ["output_1"]]),
        (lambda: weighted({0: 1.0, 1: 2.0, 2: 4.0}, CLASSES), 6.498),
        (lambda: weighted({0: 1.0, 1: 2.0, 2: 4.0}, ONE_HOT, made=model(3, run_eagerly=True)), 2.923),
    ],
)
@pytest.mark.usefixtures("eager")
def test_streams_give_batches_at_once(made, expected):
    assert plain(made(), 4) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (
            lambda: model().fit(X, Y, steps_per_epoch=3),
            "ValueError: The number of samples 4 is not divisible by steps 3. Please change the number of steps to a value",
        ),
        (
            lambda: model().fit(X, Y, steps_per_epoch=3, batch_size=2),
            "ValueError: Number of samples 4 is less than samples required for specified batch_size 2 and steps 3",
        ),
        (
            lambda: model().fit(data(X, Y, repeat=None)),
            "ValueError: When passing an infinitely repeating dataset, you must specify the `steps_per_epoch` argument.",
        ),
        (
            lambda: model().fit(X, Y[:3]),
            "ValueError: Input arrays should have the same number of samples as target arrays. Found 4 input samples and 3",
        ),
        (
            lambda: model().fit(tf.data.make_one_shot_iterator(data(X, Y)), steps_per_epoch=2),
            "ValueError: For performance reasons Keras `fit`, `evaluate` and`predict` accept tf.data `Datasets` as input bu",
        ),
        (
            lambda: model().evaluate(iter(data(X, Y)), steps=2),
            "ValueError: For performance reasons Keras `fit`, `evaluate` and`predict` accept tf.data `Datasets` as input bu",
        ),
    ],
)
@pytest.mark.usefixtures("eager")
def test_what_does_not_fit_is_refused_at_once(made, expected):
    assert refused(made).startswith(expected)


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (
            lambda: model().fit(X, Y, validation_split=0.99),
            "ValueError: Training data contains 4 samples, which is not sufficient to split it into a validation and traini",
        ),
        (
            lambda: model().fit(X, Y, validation_data=(X, Y, Y, Y)),
            "ValueError: When passing a `validation_data` argument, it must contain either 2 items (x_val, y_val), or 3 ite",
        ),
        (
            lambda: model().fit(X, Y, validation_data=(X, Y), validation_freq="a"),
            "ValueError: `validation_freq` must be an Integer or `collections_abc.Container` (e.g. list, tuple, etc.). Rece",
        ),
        (
            lambda: model().fit([X, X], Y),
            "ValueError: Error when checking model input: the list of Numpy arrays that you are passing to your model is no",
        ),
        (lambda: model().train_on_batch(X), "ValueError: No data provided for \"dense\". Need data for each key in: ['dense']"),
        (
            lambda: model().fit(data(X, Y, Y, Y)),
            "ValueError: Output of generator should be a tuple of 1 or 2 or 3 elements: (input,) or (input, target) or (inp",
        ),
        (
            lambda: model().predict(data(X, Y, Y, Y), steps=1),
            "ValueError: Output of generator should be a tuple of 1 or 2 or 3 elements: (input,) or (input, target) or (inp",
        ),
    ],
)
def test_what_1_15_5_trips_over_is_refused(made, expected):
    assert refused(made).startswith(expected)


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (
            lambda: (
                weighted({0: 1.0, 1: 2.0, 2: 4.0}, tf.constant(ONE_HOT), tf.constant(X), model(3))
                / weighted({0: 1.0, 1: 2.0, 2: 4.0}, ONE_HOT)
            ),
            1.0,
        ),
        (
            lambda: (
                weighted({0: 1.0, 1: 2.0, 2: 4.0}, tf.constant(CLASSES), tf.constant(X), model(1))
                / weighted({0: 1.0, 1: 2.0, 2: 4.0}, CLASSES)
            ),
            1.0,
        ),
        (
            lambda: (
                history(data(X, CLASSES, size=4), class_weight={0: 1.0, 1: 2.0, 2: 4.0})["loss"][0]
                / history(X, CLASSES, batch_size=4, class_weight={0: 1.0, 1: 2.0, 2: 4.0})["loss"][0]
            ),
            1.0,
        ),
    ],
)
def test_class_weights_of_tensors(made, expected):
    assert plain(made(), 4) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: history(drawn(X, Y, count=3), epochs=2), {"loss": [1.379]}),
        (lambda: history(drawn(X, Y), steps_per_epoch=2), {"loss": [1.939]}),
        (lambda: history(data(X, Y), epochs=3, steps_per_epoch=1), {"loss": [0.3759, 3.502]}),
    ],
)
@pytest.mark.usefixtures("eager")
def test_generators_are_read_to_their_end(made, expected):
    assert plain(made(), 4) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: sparse_model().predict(sparse()), [[1.0], [2.0], [3.0], [4.0]]),
        (lambda: sparse_model().predict(sparse(), batch_size=3), [[1.0], [2.0], [3.0], [4.0]]),
        (lambda: sparse_model().evaluate(sparse(), Y, verbose=0, batch_size=4), 5.401),
        (lambda: sparse_model().fit(sparse(), Y, verbose=0, batch_size=2, shuffle=False).history, {"loss": [4.094]}),
    ],
)
def test_sparse_matrices_are_fed_in_batches(made, expected):
    assert plain(made(), 4) == expected
