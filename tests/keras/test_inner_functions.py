"""Functions behind the models that TensorFlow's own programs use by their modules; values are those of TensorFlow 1.15.5."""

import collections

import numpy as np
import pytest
from plain import plain, refused

import everflow as tf
from everflow.internals import module

K, L, keras = tf.keras.backend, tf.keras.layers, tf.keras
training, shapes, serialization = (
    module(f"python.keras.{name}") for name in ("engine.training_utils", "utils.tf_utils", "utils.generic_utils")
)
convolutions, losses, metrics = (module(f"python.keras.utils.{name}") for name in ("conv_utils", "losses_utils", "metrics_utils"))
json_types = module("python.util.serialization")


def some(*shape):
    return np.sin(np.arange(np.prod(shape, dtype=int))).reshape(shape).astype(np.float32)


X, Y = some(4, 2), some(4, 1)


def data(*parts):
    return tf.data.Dataset.from_tensor_slices(tuple(parts) if len(parts) > 1 else parts[0])


def value(x):
    return K.get_session().run(x)


def gathered(aggregator, *batches):
    """What an aggregator makes of batches."""
    start = 0
    for i, batch in enumerate(batches):
        if not i:
            aggregator.create(batch)
        rows = len(batch[0] if isinstance(batch, list) else batch)
        aggregator.aggregate(batch, start, start + rows)
        start += rows
    aggregator.finalize()
    found = aggregator.results
    return [f.shape for f in found] if isinstance(found, list) else [found.shape, float(np.sum(found))]


def large(units=9000):
    """Outputs so large that other threads copy them."""
    made = keras.Sequential([L.Dense(units, kernel_initializer="ones", input_shape=(2,))])
    found = made.predict(X, batch_size=2)
    return [found.shape, found[:, 0], found[:, -1]]


def counts(y_true, y_pred, thresholds=(0.5,), **kwargs):
    """True and false positives and negatives of a batch."""
    kinds = metrics.ConfusionMatrix
    variables = {kind: K.zeros((len(thresholds),)) for kind in kinds}
    update = metrics.update_confusion_matrix_variables(variables, tf.constant(y_true), tf.constant(y_pred), list(thresholds), **kwargs)
    value(update)
    return {kind.name: K.get_value(v) for kind, v in variables.items()}


GUESS, TRUTH = np.float32([[0.2, 0.6], [0.4, 0.7]]), np.float32([[0, 1], [1, 0]])


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: training.standardize_input_data(X, ["a"]), [[[0.0, 0.8415], [0.9093, 0.1411], [-0.7568, -0.9589], [-0.2794, 0.657]]]),
        (
            lambda: training.standardize_input_data({"b": X, "a": Y}, ["a", "b"]),
            [[[0.0], [0.8415], [0.9093], [0.1411]], [[0.0, 0.8415], [0.9093, 0.1411], [-0.7568, -0.9589], [-0.2794, 0.657]]],
        ),
        (
            lambda: training.standardize_input_data([X, Y[:, 0]], ["a", "b"], [(None, 2), (None, 1)]),
            [[[0.0, 0.8415], [0.9093, 0.1411], [-0.7568, -0.9589], [-0.2794, 0.657]], [[0.0], [0.8415], [0.9093], [0.1411]]],
        ),
        (lambda: training.standardize_input_data(None, ["a", "b"]), [None, None]),
        (lambda: training.standardize_input_data([], []), []),
        (lambda: training.standardize_input_data([1.0, 2.0], ["a"]), [[[1.0], [2.0]]]),
        (
            lambda: training.standardize_sample_or_class_weights([Y, None], ["a", "b"], "sample_weight"),
            [[[0.0], [0.8415], [0.9093], [0.1411]], None],
        ),
        (
            lambda: training.standardize_sample_or_class_weights({"b": Y}, ["a", "b"], "sample_weight"),
            [None, [[0.0], [0.8415], [0.9093], [0.1411]]],
        ),
        (lambda: training.standardize_sample_or_class_weights(None, ["a"], "sample_weight"), [None]),
        (lambda: training.standardize_sample_or_class_weights(Y, ["a"], "class_weight"), [[[0.0], [0.8415], [0.9093], [0.1411]]]),
        (lambda: training.standardize_weights(Y, np.float32([1, 2, 3, 4])), [1.0, 2.0, 3.0, 4.0]),
        (lambda: training.standardize_weights(np.float32([[0], [1]]), np.float32([1, 2]), {0: 3.0, 1: 5.0}), [3.0, 10.0]),
        (lambda: training.standardize_weights(np.float32([0, 1]), class_weight={0: 3.0, 1: 5.0}), [3.0, 5.0]),
        (lambda: training.batch_shuffle(np.arange(5), 2).size, 5),
        (lambda: [training.check_num_samples([X], 2), training.check_num_samples([X], None, 3, "steps")], [4, 4]),
        (lambda: serialization.make_batches(5, 2), [[0, 2], [2, 4], [4, 5]]),
        (lambda: [training.get_metric_name("acc", w) for w in (False, True)], ["acc", "weighted_acc"]),
        (lambda: gathered(training.OutputsAggregator(True), [some(2, 2), some(2, 1)], [some(2, 2), some(2, 1)]), [[4, 2], [4, 1]]),
        (lambda: gathered(training.OutputsAggregator(False, 4), some(2, 2), some(2, 2)), [[4, 2], 3.784]),
        (lambda: gathered(training.OutputsAggregator(False, 3), some(2, 2), some(1, 2)), [[3, 2], 2.733]),
        (lambda: gathered(training.OutputsAggregator(False, 2), some(2, 2)), [[2, 2], 1.892]),
        (lambda: large(), [[4, 9000], [0.8415, 1.05, -1.716, 0.3776], [0.8415, 1.05, -1.716, 0.3776]]),
        (
            lambda: [training.check_steps_argument(X, None, "steps"), training.check_steps_argument(tf.constant(X), 2, "steps")],
            [False, True],
        ),
    ],
)
def test_arrays_are_arranged(made, expected):
    assert plain(made(), 4) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (
            lambda: training.standardize_input_data([X], ["a", "b"]),
            "ValueError: Error when checking model : the list of Numpy arrays that you are passing to your model is not the",
        ),
        (lambda: training.standardize_input_data([3, 4], ["a", "b"]), "ValueError: Expected an array data type but received an integer: 3"),
        (
            lambda: training.standardize_input_data({"b": X}, ["a"]),
            "ValueError: No data provided for \"a\". Need data for each key in: ['a']",
        ),
        (
            lambda: training.standardize_input_data(X, ["a"], [(None, 3)]),
            "ValueError: Error when checking : expected a to have shape (None, 3) but got array with shape (4, 2)",
        ),
        (
            lambda: training.standardize_input_data(X, ["a"], [(None, 2, 1)]),
            "ValueError: Error when checking : expected a to have 3 dimensions, but got array with shape (4, 2)",
        ),
        (
            lambda: training.standardize_input_data(X, ["a"], [(3, 2)]),
            "ValueError: Error when checking : expected a to have shape (3, 2) but got array with shape (4, 2)",
        ),
        (lambda: training.standardize_input_data(3, ["a"]), "ValueError: Expected an array data type but received an integer: 3"),
        (
            lambda: training.standardize_sample_or_class_weights([Y, Y, Y], ["a", "b"], "sample_weight"),
            "ValueError: Provided `sample_weight` was a list of 3 elements, but the model has 2 outputs. You should provide",
        ),
        (
            lambda: training.standardize_sample_or_class_weights(3, ["a", "b"], "sample_weight"),
            "TypeError: The model has multiple outputs, so `sample_weight` should be either a list or a dict. Provided `sam",
        ),
        (
            lambda: training.standardize_weights(Y, np.float32([[1, 2]])),
            "ValueError: Found a sample_weight array with shape (1, 2). In order to use timestep-wise sample weights, you s",
        ),
        (
            lambda: training.standardize_weights(some(2, 2, 2), class_weight={0: 1.0}),
            "ValueError: `class_weight` not supported for 3+ dimensional targets.",
        ),
        (
            lambda: training.standardize_weights(Y, np.float32([1, 2, 3])),
            "ValueError: Found a sample_weight array with shape (3,) for an input with shape (4, 1). sample_weight cannot b",
        ),
        (
            lambda: training.standardize_weights(some(2, 2, 2), np.float32([1]), sample_weight_mode="temporal"),
            "ValueError: Found a sample_weight array with shape (1,). In order to use timestep-wise sample weighting, you s",
        ),
        (
            lambda: training.check_array_lengths([X], [Y[:3]]),
            "ValueError: Input arrays should have the same number of samples as target arrays. Found 4 input samples and 3",
        ),
        (
            lambda: training.check_array_lengths([X, X[:2]], None),
            "ValueError: All input arrays (x) should have the same number of samples. Got array shapes: [(4, 2), (2, 2)]",
        ),
        (
            lambda: training.check_array_lengths(None, [Y, Y[:3]]),
            "ValueError: All target arrays (y) should have the same number of samples. Got array shapes: [(4, 1), (3, 1)]",
        ),
        (
            lambda: training.check_array_lengths([X], [Y], [Y[:2]]),
            "ValueError: Sample_weight arrays should have the same number of samples as target arrays. Got 4 input samples",
        ),
        (
            lambda: training.check_loss_and_target_compatibility([Y], [keras.losses.CategoricalCrossentropy()], [(None, 1)]),
            "ValueError: You are passing a target array of shape (4, 1) while using as loss `categorical_crossentropy`. `ca",
        ),
        (
            lambda: training.check_loss_and_target_compatibility([Y], [keras.losses.MeanSquaredError()], [(None, 2)]),
            "ValueError: A target array with shape (4, 1) was passed for an output of shape (None, 2) while using as loss `",
        ),
        (lambda: training.check_num_samples([X], 2, 3, "steps"), "ValueError: If steps is set, the `batch_size` must be None."),
        (
            lambda: training.check_steps_argument(tf.constant(X), None, "steps"),
            "ValueError: When using data tensors as input to a model, you should specify the `steps` argument.",
        ),
    ],
)
def test_arrays_that_do_not_fit(made, expected):
    assert refused(made).startswith(expected)


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (
            lambda: [
                convolutions.conv_output_length(n, 3, p, 2, d)
                for n in (None, 5, 8)
                for p in ("same", "valid", "full", "causal")
                for d in (1, 2)
            ],
            [None, None, None, None, None, None, None, None, 3, 3, 2, 1, 4, 5, 3, 3, 4, 4, 3, 2, 5, 6, 4, 4],
        ),
        (
            lambda: [convolutions.conv_input_length(n, 3, p, 2) for n in (None, 5) for p in ("same", "valid", "full")],
            [None, None, None, 9, 11, 7],
        ),
        (
            lambda: [
                convolutions.deconv_output_length(n, 3, p, stride=2, dilation=d)
                for n in (None, 5)
                for p in ("same", "valid", "full")
                for d in (1, 2)
            ],
            [None, None, None, None, None, None, 10, 10, 11, 13, 7, 5],
        ),
        (lambda: [convolutions.deconv_output_length(5, 3, p, output_padding=1, stride=2) for p in ("same", "valid", "full")], [10, 12, 8]),
        (lambda: [convolutions.normalize_tuple(v, 2, "n") for v in (3, (1, 2), [4, 5])], [[3, 3], [1, 2], [4, 5]]),
        (
            lambda: [
                convolutions.normalize_padding("SAME"),
                convolutions.normalize_data_format(None),
                convolutions.normalize_data_format("Channels_First"),
            ],
            ["same", "channels_last", "channels_first"],
        ),
        (
            lambda: [convolutions.convert_data_format(f, n) for n in (3, 4, 5) for f in ("channels_last", "channels_first")],
            ["NWC", "NCW", "NHWC", "NCHW", "NDHWC", "NCDHW"],
        ),
        (lambda: convolutions.conv_kernel_mask((4,), (2,), (1,), "valid").astype(int), [[1, 0, 0], [1, 1, 0], [0, 1, 1], [0, 0, 1]]),
        (
            lambda: convolutions.conv_kernel_mask((2, 2), (2, 1), (1, 1), "same").astype(int),
            [[[[1, 0], [1, 0]], [[0, 1], [0, 1]]], [[[0, 0], [1, 0]], [[0, 0], [0, 1]]]],
        ),
    ],
)
def test_lengths_of_windows(made, expected):
    assert plain(made(), 4) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (
            lambda: convolutions.normalize_tuple((1, 2, 3), 2, "n"),
            "ValueError: The `n` argument must be a tuple of 2 integers. Received: (1, 2, 3)",
        ),
        (
            lambda: convolutions.normalize_tuple("ab", 2, "n"),
            "ValueError: The `n` argument must be a tuple of 2 integers. Received: ab including element a of type",
        ),
        (lambda: convolutions.normalize_tuple(None, 2, "n"), "ValueError: The `n` argument must be a tuple of 2 integers. Received: None"),
        (
            lambda: convolutions.normalize_padding("middle"),
            'ValueError: The `padding` argument must be a list/tuple or one of "valid", "same" (or "causal", only for `Conv',
        ),
        (
            lambda: convolutions.normalize_data_format("middle"),
            'ValueError: The `data_format` argument must be one of "channels_first", "channels_last". Received: middle',
        ),
        (lambda: convolutions.convert_data_format("channels_last", 6), "ValueError: ('Input rank not supported:', 6)"),
        (lambda: convolutions.convert_data_format("middle", 4), "ValueError: ('Invalid data_format:', 'middle')"),
        (
            lambda: convolutions.conv_kernel_mask((4,), (2, 2), (1,), "valid"),
            "ValueError: Number of strides, input and kernel dimensions must all match. Received: 1, 1, 2.",
        ),
        (
            lambda: convolutions.conv_kernel_mask((4,), (2,), (1,), "middle"),
            'NotImplementedError: Padding type middle not supported. Only "valid" and "same" are implemented.',
        ),
    ],
)
def test_windows_that_do_not_fit(made, expected):
    assert refused(made).startswith(expected)


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (
            lambda: counts(TRUTH, GUESS),
            {"TRUE_POSITIVES": [1.0], "FALSE_POSITIVES": [1.0], "TRUE_NEGATIVES": [1.0], "FALSE_NEGATIVES": [1.0]},
        ),
        (
            lambda: counts(TRUTH, GUESS, (0.3, 0.65)),
            {"TRUE_POSITIVES": [2.0, 0.0], "FALSE_POSITIVES": [1.0, 1.0], "TRUE_NEGATIVES": [1.0, 1.0], "FALSE_NEGATIVES": [0.0, 2.0]},
        ),
        (
            lambda: counts(TRUTH, GUESS, top_k=1),
            {"TRUE_POSITIVES": [1.0], "FALSE_POSITIVES": [1.0], "TRUE_NEGATIVES": [1.0], "FALSE_NEGATIVES": [1.0]},
        ),
        (
            lambda: counts(TRUTH, GUESS, class_id=1),
            {"TRUE_POSITIVES": [1.0], "FALSE_POSITIVES": [1.0], "TRUE_NEGATIVES": [0.0], "FALSE_NEGATIVES": [0.0]},
        ),
        (
            lambda: counts(TRUTH, GUESS, sample_weight=np.float32([[1], [2]])),
            {"TRUE_POSITIVES": [1.0], "FALSE_POSITIVES": [2.0], "TRUE_NEGATIVES": [1.0], "FALSE_NEGATIVES": [2.0]},
        ),
        (
            lambda: counts(TRUTH, GUESS, sample_weight=np.float32([1, 2])),
            {"TRUE_POSITIVES": [1.0], "FALSE_POSITIVES": [2.0], "TRUE_NEGATIVES": [1.0], "FALSE_NEGATIVES": [2.0]},
        ),
        (
            lambda: counts(TRUTH, GUESS, sample_weight=np.float32(3.0)),
            {"TRUE_POSITIVES": [3.0], "FALSE_POSITIVES": [3.0], "TRUE_NEGATIVES": [3.0], "FALSE_NEGATIVES": [3.0]},
        ),
    ],
)
def test_confusion_is_counted(made, expected):
    assert plain(made(), 4) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: counts(TRUTH, GUESS + 1), "InvalidArgumentError: predictions must be <= 1"),
        (lambda: counts(TRUTH, GUESS - 1), "InvalidArgumentError: predictions must be >= 0"),
        (lambda: counts(TRUTH, GUESS[:, :1]), "ValueError: Shapes (2, 1) and (2, 2) are incompatible"),
        (
            lambda: metrics.update_confusion_matrix_variables({}, tf.ones([1]), tf.ones([1]), [0.5]),
            "ValueError: Please provide at least one valid confusion matrix variable to update. Valid variable key options",
        ),
        (lambda: metrics.assert_thresholds_range([0.5, -0.1]), "ValueError: Threshold values must be in [0, 1]. Invalid values: [-0.1]"),
        (lambda: metrics.assert_thresholds_range([None]), "ValueError: Threshold values must be in [0, 1]. Invalid values: [None]"),
        (lambda: metrics.parse_init_thresholds([2.0]), "ValueError: Threshold values must be in [0, 1]. Invalid values: [2.0]"),
    ],
)
def test_confusion_is_refused(made, expected):
    assert refused(made).startswith(expected)


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (
            lambda: [
                serialization.func_load(serialization.func_dump(lambda x, y=2: x + y))(3),
                serialization.func_load(serialization.func_dump(lambda x: x))(1),
            ],
            [5, 1],
        ),
        (
            lambda: [
                serialization.has_arg(f, n, a)
                for f, n, a in (
                    (lambda x: x, "x", False),
                    (lambda x: x, "y", False),
                    (lambda **k: k, "y", True),
                    (lambda **k: k, "y", False),
                )
            ],
            [True, False, True, False],
        ),
        (
            lambda: [serialization.to_snake_case(n) for n in ("SomeName", "someName", "HTTPName", "_Private", "Conv2D")],
            ["some_name", "some_name", "http_name", "private__private", "conv2d"],
        ),
        (lambda: [serialization.to_list(v) for v in (1, [1], (1,))], [[1], [1], [[1]]]),
        (
            lambda: [
                len(serialization.object_list_uid([X, Y]).split(", ")),
                serialization.is_all_none([None, None]),
                serialization.is_all_none([None, 1]),
                serialization.is_all_none(None),
            ],
            [2, True, False, True],
        ),
        (
            lambda: [
                serialization.serialize_keras_object(None),
                serialization.serialize_keras_object(keras.activations.relu),
                serialization.serialize_keras_object(keras.initializers.Ones()),
            ],
            [None, "relu", {"class_name": "Ones", "config": {"dtype": "float32"}}],
        ),
        (lambda: keras.layers.deserialize({"class_name": "Lambda", "config": L.Lambda(lambda x: x + 1, name="l").get_config()}).name, "l"),
        (
            lambda: [
                L.Lambda(lambda x: x, arguments={"a": 1}).get_config()[k]
                for k in ("function_type", "output_shape", "output_shape_type", "arguments")
            ],
            ["lambda", None, "raw", {"a": 1}],
        ),
        (lambda: L.Lambda(lambda x: x, output_shape=(3,)).get_config()["output_shape"], [3]),
    ],
)
def test_objects_are_written(made, expected):
    assert plain(made(), 4) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (
            lambda: [
                shapes.is_symbolic_tensor(t)
                for t in (tf.constant(1), K.variable(1.0), 3, tf.SparseTensor([[0]], [1], [1]), K.placeholder((2, 2), sparse=True))
            ],
            [True, True, False, True, True],
        ),
        (
            lambda: [
                value(shapes.smart_cond(True, lambda: tf.constant(1), lambda: tf.constant(2))),
                value(shapes.smart_cond(tf.constant(False), lambda: tf.constant(1), lambda: tf.constant(2))),
            ],
            [1, 2],
        ),
        (
            lambda: [
                value(losses.compute_weighted_loss(tf.constant(some(2, 2)), w, r))
                for w in (None, 2.0, np.float32([1, 2]))
                for r in ("none", "sum", "sum_over_batch_size")
            ],
            [
                [[0.0, 0.8415], [0.9093, 0.1411]],
                1.892,
                0.473,
                [[0.0, 1.683], [1.819, 0.2822]],
                3.784,
                0.9459,
                [[0.0, 0.8415], [1.819, 0.2822]],
                2.942,
                0.7356,
            ],
        ),
        (
            lambda: [
                json_types.get_json_type(v)
                for v in (np.float32(2.0), np.arange(2), tf.TensorShape([1, None]), tf.Dimension(3), len, collections.OrderedDict(a=1))
            ],
            [2.0, [0, 1], [1, None], 3, "len", {"a": 1}],
        ),
    ],
)
def test_trees_of_layers(made, expected):
    assert plain(made(), 4) == expected
