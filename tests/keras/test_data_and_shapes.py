"""How data become arrays of a model, lengths of windows, functions of the backend, merging; values are those of TensorFlow 1.15.5."""

import numpy as np
import pytest
from plain import plain, refused

import everflow as tf
from everflow.keras import window_arithmetic
from everflow.keras.training import arrays

K, L, keras = tf.keras.backend, tf.keras.layers, tf.keras


def some(*shape):
    return np.sin(np.arange(np.prod(shape, dtype=int))).reshape(shape).astype(np.float32)


def digest(x):
    x = np.asarray(x, np.float64)
    return plain(x, 4) if x.size < 7 else [list(x.shape), float(f"{(x.ravel() * np.cos(np.arange(x.size))).sum():.3g}")]


def shown(x):
    """Arrays as lists, tensors by their shapes."""
    if isinstance(x, (list, tuple)):
        return [shown(v) for v in x]
    if isinstance(x, tf.Tensor):
        return ["tensor", x.shape.as_list()]
    return plain(x, 5) if isinstance(x, np.ndarray) else x


def tensor(*shape):
    return tf.constant(some(*shape))


def value(fetch):
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return digest(session.run(fetch))


def found(made):
    return plain(shown(made()))


A, B = np.array([1.0, 2.0]), np.array([[3.0], [4.0]])
Y, COLUMN, CUBE = np.array([[0, 1], [1, 0]]), np.array([[1], [0]]), np.zeros((2, 3, 1))
take = arrays.standardize_input_data
weigh = arrays.standardize_weights


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: take(A, ["a"]), [[[1.0], [2.0]]]),
        (lambda: take([A, B], ["a", "b"]), [[[1.0], [2.0]], [[3.0], [4.0]]]),
        (lambda: take({"b": B, "a": A}, ["a", "b"]), [[[1.0], [2.0]], [[3.0], [4.0]]]),
        (lambda: take([[1.0, 2.0], [3.0, 4.0]], ["a", "b"]), [[[1.0], [2.0]], [[3.0], [4.0]]]),
        (lambda: take([1.0, 2.0], ["a"]), [[[1.0], [2.0]]]),
        (lambda: take(None, ["a", "b"]), [None, None]),
        (lambda: take([], []), []),
        (lambda: take(A, ["a"], [(None, 1)]), [[[1.0], [2.0]]]),
        (lambda: take(A, ["a"], [(None,)]), [[1.0, 2.0]]),
        (lambda: take(B, ["a"], [(5, 1)], check_batch_axis=False), [[[3.0], [4.0]]]),
        (lambda: take(B, ["a"], [None]), [[[3.0], [4.0]]]),
        (lambda: take(tf.zeros((2,)), ["a"]), [["tensor", [2, 1]]]),
        (lambda: arrays.standardize_single_array(None), None),
        (lambda: arrays.standardize_single_array(A), [[1.0], [2.0]]),
        (lambda: arrays.standardize_single_array(A, (None,)), [1.0, 2.0]),
        (lambda: arrays.standardize_single_array(B, (None,)), [[3.0], [4.0]]),
        (lambda: arrays.standardize_sample_weights(None, ["a", "b"]), [None, None]),
        (lambda: arrays.standardize_sample_weights([], ["a"]), [None]),
        (lambda: arrays.standardize_sample_weights([A], ["a"]), [[1.0, 2.0]]),
        (lambda: arrays.standardize_sample_weights(A, ["a"]), [[1.0, 2.0]]),
        (lambda: arrays.standardize_sample_weights({"a": A}, ["a"]), [[1.0, 2.0]]),
        (lambda: arrays.standardize_class_weights({0: 1.0}, ["a"]), [{0: 1.0}]),
        (lambda: arrays.standardize_sample_weights([A, B], ["a", "b"]), [[1.0, 2.0], [[3.0], [4.0]]]),
        (lambda: arrays.standardize_sample_weights({"b": B}, ["a", "b"]), [None, [[3.0], [4.0]]]),
        (lambda: weigh(Y), None),
        (lambda: weigh(Y, A), [1.0, 2.0]),
        (lambda: weigh(Y, A, {0: 2.0, 1: 3.0}), [3.0, 4.0]),
        (lambda: weigh(Y, class_weight={0: 2.0, 1: 3.0}), [3.0, 2.0]),
        (lambda: weigh(COLUMN, class_weight={0: 2.0, 1: 3.0}), [3.0, 2.0]),
        (lambda: weigh(COLUMN[:, 0], class_weight={0: 2.0, 1: 3.0}), [3.0, 2.0]),
        (lambda: weigh(CUBE, np.ones((2, 3)), sample_weight_mode="temporal"), [[1.0, 1.0, 1.0], [1.0, 1.0, 1.0]]),
        (lambda: [arrays.check_array_lengths([A, B], [A], [None]), arrays.check_array_lengths([A], [A, B], [A, B])], [None, None]),
        (lambda: arrays.check_num_samples([A], 2), 2),
        (lambda: arrays.check_num_samples([A], steps=2), 2),
        (lambda: arrays.check_num_samples([tf.zeros(3)], steps=2), None),
        (lambda: arrays.check_steps_argument([A], None, "steps"), False),
        (lambda: arrays.check_steps_argument([tf.zeros(3)], 3, "steps"), True),
        (lambda: arrays.check_steps_argument(None, 3, "steps"), True),
        (lambda: arrays.generic_output_names([1, 2, 3]), ["output_1", "output_2", "output_3"]),
        (lambda: arrays.check_loss_and_target_compatibility([Y], [keras.losses.CategoricalCrossentropy()], [(None, 2)]), None),
        (lambda: arrays.check_loss_and_target_compatibility([COLUMN], [keras.losses.SparseCategoricalCrossentropy()], [(None, 2)]), None),
        (
            lambda: arrays.check_loss_and_target_compatibility([Y, None], [keras.losses.MeanSquaredError(), None], [(None, None), None]),
            None,
        ),
    ],
)
def test_data_become_arrays(made, expected):
    assert found(made) == expected


@pytest.mark.parametrize(
    ("wrong", "expected"),
    [
        (lambda: take({"a": A}, ["a", "b"]), "ValueError: No data provided for \"b\". Need data for each key in: ['a', 'b']"),
        (
            lambda: take([A, B], ["a"], exception_prefix="input"),
            "ValueError: Error when checking model input: the list of Numpy arrays that you are passing to your model is no",
        ),
        (
            lambda: take([A], ["a", "b"], exception_prefix="input"),
            "ValueError: Error when checking model input: the list of Numpy arrays that you are passing to your model is no",
        ),
        (
            lambda: take(B, ["a"], [(None, 1, 1)], exception_prefix="input"),
            "ValueError: Error when checking input: expected a to have 3 dimensions, but got array with shape (2, 1)",
        ),
        (
            lambda: take(B, ["a"], [(None, 2)], exception_prefix="input"),
            "ValueError: Error when checking input: expected a to have shape (None, 2) but got array with shape (2, 1)",
        ),
        (
            lambda: take(B, ["a"], [(5, 1)], exception_prefix="target"),
            "ValueError: Error when checking target: expected a to have shape (5, 1) but got array with shape (2, 1)",
        ),
        (
            lambda: take(tf.zeros((2, 3)), ["a"], [(None, 2)], exception_prefix="input"),
            "ValueError: Error when checking input: expected a to have shape (None, 2) but got array with shape (2, 3)",
        ),
        (lambda: arrays.standardize_single_array(3), "ValueError: Expected an array data type but received an integer: 3"),
        (
            lambda: arrays.standardize_sample_weights([A], ["a", "b"]),
            "ValueError: Provided `sample_weight` was a list of 1 elements, but the model has 2 outputs. You should provide",
        ),
        (
            lambda: arrays.standardize_sample_weights({"c": A}, ["a", "b"]),
            "ValueError: Unknown entries in sample_weight dictionary: ['c']. Only expected following keys: ['a', 'b']",
        ),
        (
            lambda: arrays.standardize_class_weights(A, ["a", "b"]),
            "TypeError: The model has multiple outputs, so `class_weight` should be either a list or a dict. Provided `clas",
        ),
        (lambda: weigh(Y, sample_weight_mode="odd"), 'ValueError: "sample_weight_mode should be None or "temporal". Found: odd'),
        (
            lambda: weigh(Y, sample_weight_mode="temporal"),
            "ValueError: Found a sample_weight array for an input with shape (2, 2). Timestep-wise sample weighting (use of",
        ),
        (
            lambda: weigh(CUBE, A, sample_weight_mode="temporal"),
            "ValueError: Found a sample_weight array with shape (2,). In order to use timestep-wise sample weighting, you s",
        ),
        (
            lambda: weigh(Y, np.ones((2, 2))),
            "ValueError: Found a sample_weight array with shape (2, 2). In order to use timestep-wise sample weights, you s",
        ),
        (
            lambda: weigh(Y, np.ones(3)),
            "ValueError: Found a sample_weight array with shape (3,) for an input with shape (2, 2). sample_weight cannot b",
        ),
        (lambda: weigh(CUBE, class_weight={0: 1.0}), "ValueError: `class_weight` not supported for 3+ dimensional targets."),
        (
            lambda: weigh(Y, class_weight={0: 1.0}),
            "ValueError: `class_weight` must contain all classes in the data. The classes {1} exist in the data but not in ",
        ),
        (
            lambda: arrays.check_array_lengths([A, np.zeros(3)], [A]),
            "ValueError: All input arrays (x) should have the same number of samples. Got array shapes: [(2,), (3,)]",
        ),
        (
            lambda: arrays.check_array_lengths([A], [A, np.zeros(3)]),
            "ValueError: All target arrays (y) should have the same number of samples. Got array shapes: [(2,), (3,)]",
        ),
        (
            lambda: arrays.check_array_lengths([A], [np.zeros(3)]),
            "ValueError: Input arrays should have the same number of samples as target arrays. Found 2 input samples and 3 ",
        ),
        (
            lambda: arrays.check_array_lengths([A], [A], [A, np.zeros(3)]),
            "ValueError: All sample_weight arrays should have the same number of samples. Got array shapes: [(2,), (3,)]",
        ),
        (
            lambda: arrays.check_array_lengths([A], [A], [np.zeros(3)]),
            "ValueError: Sample_weight arrays should have the same number of samples as target arrays. Got 2 input samples ",
        ),
        (lambda: arrays.check_num_samples([A], 2, 3), "ValueError: If steps is set, the `batch_size` must be None."),
        (
            lambda: arrays.check_steps_argument([tf.zeros(3)], None, "steps_per_epoch"),
            "ValueError: When using data tensors as input to a model, you should specify the `steps_per_epoch` argument.",
        ),
        (
            lambda: arrays.check_steps_argument([], None, "steps"),
            "ValueError: When using data tensors as input to a model, you should specify the `steps` argument.",
        ),
        (
            lambda: arrays.check_loss_and_target_compatibility([COLUMN], [keras.losses.CategoricalCrossentropy()], [(None, 2)]),
            "ValueError: You are passing a target array of shape (2, 1) while using as loss `categorical_crossentropy`. `ca",
        ),
        (
            lambda: arrays.check_loss_and_target_compatibility([COLUMN], [keras.losses.MeanSquaredError()], [(None, 2)]),
            "ValueError: A target array with shape (2, 1) was passed for an output of shape (None, 2) while using as loss `",
        ),
    ],
)
def test_data_that_do_not_fit_are_refused(wrong, expected):
    assert refused(wrong) == expected


W = window_arithmetic
PADDINGS = ("valid", "same", "full")


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (
            lambda: [W.convert_data_format(f, n) for f in ("channels_last", "channels_first") for n in (3, 4, 5)],
            ["NWC", "NHWC", "NDHWC", "NCW", "NCHW", "NCDHW"],
        ),
        (
            lambda: [W.normalize_tuple(2, 3, "n"), W.normalize_tuple((1, 2), 2, "n"), W.normalize_tuple([1, 2], 2, "n")],
            [[2, 2, 2], [1, 2], [1, 2]],
        ),
        (lambda: [W.normalize_data_format(None), W.normalize_data_format("Channels_First")], ["channels_last", "channels_first"]),
        (
            lambda: [W.normalize_padding("SAME"), W.normalize_padding("causal"), W.normalize_padding(((1, 1),))],
            ["same", "causal", [[1, 1]]],
        ),
        (
            lambda: [W.conv_output_length(10, 3, p, s, d) for p in (*PADDINGS, "causal") for s in (1, 2, 3) for d in (1, 2)],
            [8, 6, 4, 3, 3, 2, 10, 10, 5, 5, 4, 4, 12, 14, 6, 7, 4, 5, 10, 10, 5, 5, 4, 4],
        ),
        (lambda: [W.conv_output_length(None, 3, "same", 1), W.conv_input_length(None, 3, "same", 1)], [None, None]),
        (lambda: [W.conv_input_length(5, 3, p, s) for p in PADDINGS for s in (1, 2)], [7, 11, 5, 9, 3, 7]),
        (
            lambda: [W.deconv_output_length(5, k, p, stride=s) for k in (1, 2, 3) for p in PADDINGS for s in (1, 2)],
            [5, 10, 5, 10, 5, 9, 6, 10, 5, 10, 4, 8, 7, 11, 5, 10, 3, 7],
        ),
        (
            lambda: [W.deconv_output_length(5, 3, p, output_padding=o, stride=2, dilation=2) for p in PADDINGS for o in (None, 0, 1)],
            [13, 13, 14, 10, 9, 10, 5, 5, 6],
        ),
        (lambda: W.deconv_output_length(None, 3, "same", stride=2), None),
    ],
)
def test_lengths_of_windows(made, expected):
    assert found(made) == expected


@pytest.mark.parametrize(
    ("wrong", "expected"),
    [
        (lambda: W.convert_data_format("rows", 3), "ValueError: ('Invalid data_format:', 'rows')"),
        (lambda: W.convert_data_format("channels_last", 6), "ValueError: ('Input rank not supported:', 6)"),
        (
            lambda: W.normalize_tuple((1, 2), 3, "strides"),
            "ValueError: The `strides` argument must be a tuple of 3 integers. Received: (1, 2)",
        ),
        (lambda: W.normalize_tuple(None, 3, "strides"), "ValueError: The `strides` argument must be a tuple of 3 integers. Received: None"),
        (
            lambda: W.normalize_tuple(("a", "b"), 2, "strides"),
            "ValueError: The `strides` argument must be a tuple of 2 integers. Received: ('a', 'b') including element a of ",
        ),
        (
            lambda: W.normalize_data_format("rows"),
            'ValueError: The `data_format` argument must be one of "channels_first", "channels_last". Received: rows',
        ),
        (
            lambda: W.normalize_padding("most"),
            'ValueError: The `padding` argument must be a list/tuple or one of "valid", "same" (or "causal", only for `Conv',
        ),
        (
            lambda: keras.layers.Conv2D(2, 2, padding="causal"),
            "ValueError: Causal padding is only supported for `Conv1D`and ``SeparableConv1D`.",
        ),
        (lambda: L.Add()(tf.zeros((2, 3))), "ValueError: A merge layer should be called on a list of inputs."),
        (lambda: L.Add()([tf.zeros((2, 3))]), "ValueError: A merge layer should be called on a list of at least 2 inputs. Got 1 inputs."),
        (
            lambda: L.Add()([keras.Input((2, 3)), keras.Input((4, 3))]),
            "ValueError: Operands could not be broadcast together with shapes (2, 3) (4, 3)",
        ),
        (lambda: L.Subtract()([tf.zeros((2, 3))] * 3), "ValueError: A `Subtract` layer should be called on exactly 2 inputs"),
        (
            lambda: L.Concatenate()([keras.Input((2, 3)), keras.Input((4, 3))]),
            "ValueError: A `Concatenate` layer requires inputs with matching shapes except for the concat axis. Got inputs ",
        ),
        (lambda: L.Concatenate()([keras.Input((3,))]), "ValueError: A `Concatenate` layer should be called on a list of at least 2 inputs"),
        (lambda: L.Concatenate().compute_output_shape((2, 3)), "ValueError: A `Concatenate` layer should be called on a list of inputs."),
        (lambda: L.Dot(1)(tf.zeros((2, 3))), "ValueError: A `Dot` layer should be called on a list of 2 inputs."),
        (
            lambda: L.Dot(1)([keras.Input((2,)), keras.Input((3,))]),
            "ValueError: Dimension incompatibility 2 != 3. Layer shapes: (None, 2), (None, 3)",
        ),
        (lambda: L.Dot("a"), "TypeError: Invalid type for `axes` - should be a list or an int."),
        (lambda: L.Dot((1, 2, 3)), "ValueError: Invalid format for `axes` - should contain two elements."),
        (lambda: L.Dot((1, "b")), 'ValueError: Invalid format for `axes` - list elements should be "int".'),
        (lambda: L.Dot(1).compute_output_shape((2, 3)), "ValueError: A `Dot` layer should be called on a list of 2 inputs."),
        (lambda: L.Add().compute_mask(tf.zeros((2, 3)), [None]), "ValueError: `inputs` should be a list."),
        (lambda: L.Add().compute_mask([tf.zeros((2, 3))], tf.zeros((2, 3))), "ValueError: `mask` should be a list."),
        (
            lambda: L.Add().compute_mask([tf.zeros((2, 3))], [None, None]),
            "ValueError: The lists `inputs` and `mask` should have the same length.",
        ),
        (
            lambda: L.Concatenate().compute_mask([tf.zeros((2, 3))] * 2, [None]),
            "ValueError: The lists `inputs` and `mask` should have the same length.",
        ),
        (lambda: K.spatial_2d_padding(tf.zeros((1, 2, 3, 1)), data_format="rows"), "ValueError: Unknown data_format: rows"),
        (lambda: K.pool2d(tf.zeros((1, 4, 4, 1)), (2, 2), pool_mode="odd"), "ValueError: Invalid pooling mode: odd"),
        (lambda: K.pool2d(tf.zeros((1, 4, 4, 1)), (2,)), "ValueError: `pool_size` must be a tuple of 2 integers."),
        (lambda: K.pool2d(tf.zeros((1, 4, 4, 1)), (2, 2), (1,)), "ValueError: `strides` must be a tuple of 2 integers."),
        (lambda: K.resize_images(tf.zeros((1, 4, 4, 1)), 2, 2, "rows"), "ValueError: Invalid `data_format` argument: rows"),
        (
            lambda: K.bias_add(tf.zeros((1, 4, 4, 2)), tf.zeros((2, 2))),
            "ValueError: Unexpected bias dimensions 2, expect to be 1 or 4 dimensions",
        ),
    ],
)
def test_windows_and_merges_that_cannot_be(wrong, expected):
    assert refused(wrong) == expected


def merged(layer, *xs, masks=None):
    inputs = [keras.Input(batch_shape=(None, *x.shape[1:])) for x in xs]
    out = layer(inputs)
    with tf.Session() as session:
        return [digest(session.run(out, dict(zip(inputs, xs)))), out.shape.as_list()]


def merged_mask(layer, *masks):
    xs = [tf.zeros((2, 3, 2))] * len(masks)
    after = layer.compute_mask(xs, [None if m is None else tf.constant(m) for m in masks])
    return None if after is None else K.eval(after)


ON, OFF = np.array([[True, False, True], [True, True, False]]), np.array([[False, True, True], [True, True, True]])
P, Q, R = some(2, 3), some(2, 3) + 1, some(2, 4, 3)
X4, X5 = some(1, 4, 5, 2), some(1, 3, 4, 5, 2)


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: merged(L.Add(), P, Q, P), [[[1.0, 3.524, 3.728], [1.423, -1.27, -1.877]], [None, 3]]),
        (lambda: merged(L.Add(), P, R), [[[2, 4, 3], 0.366], [None, 4, 3]]),
        (lambda: merged(L.Multiply(), some(2, 1), Q), [[[0.0, 0.0, 0.0], [0.9602, 0.2046, 0.03456]], [None, 3]]),
        (lambda: merged(L.Subtract(), P, Q), [[[-1.0, -1.0, -1.0], [-1.0, -1.0, -1.0]], [None, 3]]),
        (lambda: merged(L.Average(), P, Q, Q), [[[0.6667, 1.508, 1.576], [0.8078, -0.09014, -0.2923]], [None, 3]]),
        (lambda: merged(L.Maximum(), P, Q), [[[1.0, 1.841, 1.909], [1.141, 0.2432, 0.04108]], [None, 3]]),
        (lambda: merged(L.Minimum(), P, Q), [[[0.0, 0.8415, 0.9093], [0.1411, -0.7568, -0.9589]], [None, 3]]),
        (lambda: merged(L.Concatenate(axis=1), R, some(2, 2, 3)), [[[2, 6, 3], 6.56], [None, 6, 3]]),
        (lambda: merged(L.Dot(1), P, Q), [[[3.286], [-0.06241]], [None, 1]]),
        (lambda: merged(L.Dot(1, normalize=True), P, Q), [[[0.9355], [-0.04347]], [None, 1]]),
        (lambda: merged(L.Dot((2, 1)), R, some(2, 3, 5)), [[[2, 4, 5], -6.06], [None, 4, 5]]),
        (lambda: merged(L.Dot(-1), R, R + 1), [[[2, 4, 4], -2.79], [None, 4, 4]]),
        (
            lambda: [
                L.Concatenate(axis=1).compute_output_shape([(2, 3, 4), (2, 5, 4)]),
                L.Concatenate().compute_output_shape([(2, None), (2, 5)]),
            ],
            [[2, 8, 4], [2, None]],
        ),
        (
            lambda: [L.Dot((2, 1)).compute_output_shape([(2, 4, 3), (2, 3, 5)]), L.Dot(1).compute_output_shape([(2, 3), (2, 3)])],
            [[2, 4, 5], [2, 1]],
        ),
        (
            lambda: [L.Add().compute_output_shape([(2, 3), (2, 1)]), L.Add().compute_output_shape([(None, 4, 3), (None, 3)])],
            [[2, 3], [None, 4, 3]],
        ),
        (lambda: merged_mask(L.Add(), ON, OFF), [[False, False, True], [True, True, False]]),
        (lambda: merged_mask(L.Add(), None, None), None),
        (lambda: merged_mask(L.Add(), ON, None), [[True, False, True], [True, True, False]]),
        (
            lambda: merged_mask(L.Concatenate(axis=1), ON, OFF),
            [[True, False, True, False, True, True], [True, True, False, True, True, True]],
        ),
        (lambda: merged_mask(L.Concatenate(), ON, OFF), [[False, False, True], [True, True, False]]),
        (lambda: merged_mask(L.Dot(1), ON, OFF), None),
        (
            lambda: value(K.conv1d(tf.constant(some(1, 5, 2)), tensor(2, 2, 3), strides=2)),
            [[[-0.07717, -0.1162, -0.0484], [0.2135, -0.4521, -0.702]]],
        ),
        (lambda: value(K.conv1d(tf.constant(some(1, 5, 2)), tensor(2, 2, 3), padding="causal", dilation_rate=2)), [[1, 5, 3], 0.0177]),
        (lambda: value(K.conv2d(tf.constant(X4), tensor(2, 2, 2, 3), strides=(2, 1), padding="same")), [[1, 2, 5, 3], -0.395]),
        (lambda: value(K.conv2d(tf.constant(X4), tensor(2, 2, 2, 3), dilation_rate=(2, 2))), [[1, 2, 3, 3], -0.583]),
        (
            lambda: value(K.conv2d_transpose(tf.constant(X4), tensor(2, 2, 3, 2), (1, 8, 10, 3), strides=(2, 2), padding="same")),
            [[1, 8, 10, 3], 0.218],
        ),
        (lambda: value(K.separable_conv2d(tf.constant(X4), tensor(2, 2, 2, 2), tensor(1, 1, 4, 3), padding="same")), [[1, 4, 5, 3], 2.42]),
        (lambda: value(K.conv3d(tf.constant(X5), tensor(2, 2, 2, 2, 3), strides=(1, 2, 1))), [[1, 2, 2, 4, 3], -0.59]),
        (lambda: value(K.pool2d(tf.constant(X4), (2, 3), (1, 2), "same", pool_mode="avg")), [[1, 4, 3, 2], 0.48]),
        (lambda: value(K.pool2d(tf.constant(X4), (2, 2))), [[1, 3, 4, 2], -0.635]),
        (lambda: value(K.pool3d(tf.constant(X5), (2, 2, 2), (1, 1, 2), "same")), [[1, 3, 4, 3, 2], 3.68]),
        (lambda: value(K.pool3d(tf.constant(X5), (2, 2, 2), pool_mode="avg")), [[1, 2, 3, 4, 2], 0.15]),
        (lambda: value(K.local_conv1d(tf.constant(some(1, 5, 2)), tensor(4, 4, 3), (2,), (1,))), [[1, 4, 3], 1.05]),
        (lambda: value(K.local_conv2d(tf.constant(X4), tensor(12, 8, 3), (2, 2), (1, 1), (3, 4))), [[1, 3, 4, 3], 3.58]),
        (lambda: value(K.resize_images(tf.constant(X4), 2, 3, "channels_last")), [[1, 8, 15, 2], 0.0307]),
        (lambda: value(K.resize_images(tf.constant(X4), 2, 2, "channels_last", "bilinear")), [[1, 8, 10, 2], 6.02]),
        (lambda: value(K.resize_volumes(tf.constant(X5), 2, 1, 3, "channels_last")), [[1, 6, 4, 15, 2], -0.693]),
        (lambda: value(K.temporal_padding(tf.constant(some(1, 3, 2)), (1, 2))), [[1, 6, 2], -2.84]),
        (lambda: value(K.spatial_2d_padding(tf.constant(X4), ((1, 0), (2, 1)))), [[1, 5, 8, 2], -11.9]),
        (lambda: value(K.spatial_2d_padding(tf.constant(X4), ((1, 0), (2, 1)), "channels_first")), [[1, 4, 6, 5], -1.58]),
        (lambda: value(K.spatial_3d_padding(tf.constant(X5), ((1, 0), (2, 1), (0, 1)))), [[1, 4, 7, 6, 2], -11.8]),
        (lambda: value(K.spatial_3d_padding(tf.constant(X5), ((1, 0), (2, 1), (0, 1)), "channels_first")), [[1, 3, 5, 8, 3], -0.315]),
        (lambda: value(K.bias_add(tf.constant(X4), tensor(2))), [[1, 4, 5, 2], 0.799]),
        (lambda: value(K.bias_add(tf.constant(X4), tensor(4), "channels_first")), [[1, 4, 5, 2], -0.161]),
        (lambda: value(K.bias_add(tf.constant(X4), tensor(4, 5, 2))), [[1, 4, 5, 2], 0.853]),
        (lambda: value(K.bias_add(tf.constant(some(1, 5, 2)), tensor(5), "channels_first")), [[1, 5, 2], -0.611]),
        (lambda: value(K.bias_add(tf.constant(X5), tensor(2))), [[1, 3, 4, 5, 2], 0.162]),
        (lambda: value(K.bias_add(tf.constant(some(2, 3)), tensor(3))), [[0.0, 1.683, 1.819], [0.1411, 0.08467, -0.04963]]),
        (lambda: value(K.dot(tf.constant(some(2, 3, 4)), tf.constant(some(4, 5)))), [[2, 3, 5], 1.59]),
        (lambda: value(K.dot(tf.constant(some(2, 3)), tf.constant(some(4, 3, 5)))), [[2, 4, 5], -4.53]),
        (lambda: value(K.batch_dot(tf.constant(some(2, 3, 4)), tf.constant(some(2, 4, 5)))), [[2, 3, 5], 10.9]),
        (lambda: value(K.batch_dot(tf.constant(some(2, 3)), tf.constant(some(2, 3)), axes=1)), [[1.535], [1.512]]),
        (lambda: value(K.batch_dot(tf.constant(some(2, 3, 4)), tf.constant(some(2, 3)), axes=(1, 1))), [[2, 4], 2.44]),
        (lambda: value(K.batch_dot(tf.constant(some(2, 3, 4)), tf.constant(some(2, 5, 4)), axes=2)), [[2, 3, 5], 1.98]),
        (lambda: value(K.repeat(tf.constant(some(2, 3)), 4)), [[2, 4, 3], -0.0891]),
        (lambda: value(K.repeat_elements(tf.constant(some(2, 3)), 2, 1)), [[2, 6], 0.322]),
        (lambda: value(K.arange(5)), [0.0, 1.0, 2.0, 3.0, 4.0]),
        (
            lambda: [value(K.arange(2, 9, 3)), K.arange(3).dtype.name, K.arange(3, dtype="float32").dtype.name, value(K.arange(-3))],
            [[2.0, 5.0, 8.0], "int32", "float32", []],
        ),
        (lambda: value(K.tile(tf.constant(some(2, 3)), [1, 2])), [[2, 6], -0.00918]),
        (lambda: value(K.flatten(tf.constant(some(2, 3)))), [0.0, 0.8415, 0.9093, 0.1411, -0.7568, -0.9589]),
        (lambda: value(K.batch_flatten(tf.constant(some(2, 3, 4)))), [[2, 12], 0.455]),
        (lambda: value(K.permute_dimensions(tf.constant(some(2, 3, 4)), (2, 0, 1))), [[4, 2, 3], 1.3]),
        (lambda: value(K.reverse(tf.constant(some(2, 3, 4)), 1)), [[2, 3, 4], 1.93]),
        (lambda: value(K.one_hot(tf.constant([0, 2]), 3)), [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]),
        (lambda: value(K.concatenate([tf.constant(P), tf.constant(Q)], 0)), [[4, 3], 0.986]),
        (lambda: value(K.stack([tf.constant(P), tf.constant(Q)], 1)), [[2, 2, 3], -3.11]),
        (lambda: value(K.expand_dims(tf.constant(P), 1)), [[[0.0, 0.8415, 0.9093]], [[0.1411, -0.7568, -0.9589]]]),
        (lambda: value(K.squeeze(tf.constant(some(2, 1, 3)), 1)), [[0.0, 0.8415, 0.9093], [0.1411, -0.7568, -0.9589]]),
        (lambda: value(K.l2_normalize(tf.constant(P), 1)), [[0.0, 0.6792, 0.734], [0.1148, -0.6154, -0.7798]]),
        (lambda: value(K.in_top_k(tf.constant(P), tf.constant([0, 1]), 2)), [0.0, 1.0]),
        (lambda: value(K.cumsum(tf.constant(P), 1)), [[0.0, 0.8415, 1.751], [0.1411, -0.6157, -1.575]]),
        (lambda: value(K.cumprod(tf.constant(P), 0)), [[0.0, 0.8415, 0.9093], [0.0, -0.6368, -0.8719]]),
        (lambda: value(K.var(tf.constant(P), 1, True)), [[0.1711], [0.2286]]),
        (lambda: value(K.std(tf.constant(P))), 0.712),
        (lambda: value(K.any(tf.constant(P) > 0.5, 1)), [1.0, 0.0]),
        (lambda: value(K.all(tf.constant(P) > -2.0, 0, True)), [[1.0, 1.0, 1.0]]),
        (lambda: value(K.argmin(tf.constant(P), 1)), [0.0, 2.0]),
        (lambda: value(K.hard_sigmoid(tf.constant(P * 4))), [[0.5, 1.0, 1.0], [0.6129, 0.0, 0.0]]),
        (
            lambda: value(K.relu(tf.constant(P * 4), alpha=0.1, max_value=2.0, threshold=0.5)),
            [[-0.05, 2.0, 2.0], [0.5645, -0.3527, -0.4336]],
        ),
        (lambda: value(K.relu(tf.constant(P * 4), threshold=0.5)), [[0.0, 3.366, 3.637], [0.5645, -0.0, -0.0]]),
        (lambda: value(K.elu(tf.constant(P), 0.5)), [[0.0, 0.8415, 0.9093], [0.1411, -0.2654, -0.3083]]),
        (lambda: value(K.clip(tf.constant(P), -0.5, 0.5)), [[0.0, 0.5, 0.5], [0.1411, -0.5, -0.5]]),
        (lambda: value(K.clip(tf.constant(P), 0.5, 0.1)), [[0.5, 0.5, 0.5], [0.5, 0.5, 0.5]]),
        (
            lambda: value(K.switch(tf.constant([True, False]), tf.constant(P), tf.constant(Q))),
            [[0.0, 0.8415, 0.9093], [1.141, 0.2432, 0.04108]],
        ),
        (
            lambda: value(K.switch(tf.constant(True), lambda: tf.constant(P), lambda: tf.constant(Q))),
            [[0.0, 0.8415, 0.9093], [0.1411, -0.7568, -0.9589]],
        ),
        (lambda: value(K.foldl(lambda a, x: a + x, tf.constant(P))), [0.1411, 0.08467, -0.04963]),
        (lambda: value(K.foldr(lambda a, x: a - x, tf.constant(P))), [0.1411, -1.598, -1.868]),
        (lambda: value(K.map_fn(lambda x: x * 2, tf.constant(P))), [[0.0, 1.683, 1.819], [0.2822, -1.514, -1.918]]),
        (
            lambda: [value(t) for t in K.normalize_batch_in_training(tf.constant(P), tf.ones(3), tf.zeros(3), [0])],
            [[[-0.9125, 0.9992, 0.9994], [0.9125, -0.9992, -0.9994]], [0.07056, 0.04233, -0.02481], [0.004979, 0.6386, 0.8726]],
        ),
        (
            lambda: value(K.batch_normalization(tf.constant(P), tf.zeros(3), tf.ones(3), tf.ones(3), tf.ones(3), axis=-1, epsilon=0.1)),
            [[1.0, 1.802, 1.867], [1.135, 0.2784, 0.0857]],
        ),
        (lambda: value(K.ctc_label_dense_to_sparse(tf.constant([[1, 2, 0]]), tf.constant([2])).values), [1.0, 2.0]),
        (
            lambda: value(
                K.ctc_batch_cost(tf.constant([[1, 2]]), tf.nn.softmax(tf.constant(some(1, 5, 4))), tf.constant([[5]]), tf.constant([[2]]))
            ),
            [[3.449]],
        ),
        (lambda: value(K.ctc_decode(tf.nn.softmax(tf.constant(some(1, 5, 4) * 3)), tf.constant([5]))[0][0]), [[2.0, 0.0, 2.0]]),
        (
            lambda: value(K.ctc_decode(tf.nn.softmax(tf.constant(some(1, 5, 4) * 3)), tf.constant([5]), greedy=False, beam_width=3)[1]),
            [[-1.539]],
        ),
    ],
)
def test_windows_merges_and_the_backend(made, expected):
    assert found(made) == expected
