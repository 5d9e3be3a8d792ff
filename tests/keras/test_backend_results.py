"""What the functions of Keras's backend give, and what is known before a run; values are those of TensorFlow 1.15.5."""

import numpy as np
import pytest
from plain import described, refused
from rows import unsized

import everflow as tf
from everflow.keras.window_arithmetic import (
    conv_input_length,
    conv_output_length,
    convert_data_format,
    deconv_output_length,
    normalize_data_format,
    normalize_padding,
    normalize_tuple,
)

K = tf.keras.backend


def f32(*shape):
    return np.arange(1, 1 + np.prod(shape), dtype=np.float32).reshape(shape)


def t(*shape):
    return tf.constant(f32(*shape))


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (
            lambda: [convert_data_format(f, n) for f in ("channels_last", "channels_first") for n in (3, 4, 5)],
            ["NWC", "NHWC", "NDHWC", "NCW", "NCHW", "NCDHW"],
        ),
        (lambda: normalize_tuple(2, 3, "n"), [2, 2, 2]),
        (lambda: normalize_tuple((1, 2), 2, "n"), [1, 2]),
        (lambda: normalize_tuple([1, 2], 2, "n"), [1, 2]),
        (lambda: normalize_data_format(None), "channels_last"),
        (lambda: normalize_data_format("Channels_First"), "channels_first"),
        (lambda: normalize_padding("SAME"), "same"),
        (lambda: normalize_padding([1, 2]), [1, 2]),
        (
            lambda: [conv_output_length(10, 3, p, s, d) for p in ("same", "valid", "full", "causal") for s in (1, 2, 3) for d in (1, 2)],
            [10, 10, 5, 5, 4, 4, 8, 6, 4, 3, 3, 2, 12, 14, 6, 7, 4, 5, 10, 10, 5, 5, 4, 4],
        ),
        (lambda: [conv_input_length(10, 3, p, s) for p in ("same", "valid", "full") for s in (1, 2)], [10, 19, 12, 21, 8, 17]),
        (
            lambda: [
                deconv_output_length(10, 3, p, o, s, d)
                for p in ("same", "valid", "full")
                for o in (None, 0, 1)
                for s in (1, 2, 5)
                for d in (1, 2)
            ],
            [
                10,
                10,
                20,
                20,
                50,
                50,
                10,
                10,
                19,
                19,
                46,
                46,
                11,
                11,
                20,
                20,
                47,
                47,
                12,
                14,
                21,
                23,
                50,
                50,
                12,
                14,
                21,
                23,
                48,
                50,
                13,
                15,
                22,
                24,
                49,
                51,
                8,
                6,
                17,
                15,
                44,
                42,
                8,
                6,
                17,
                15,
                44,
                42,
                9,
                7,
                18,
                16,
                45,
                43,
            ],
        ),
        (lambda: deconv_output_length(10, 3, "same"), 0),
    ],
)
def test_sizes_of_windows_are_counted(made, expected):
    assert described(made()) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: convert_data_format("channels_last", 2), "ValueError: ('Input rank not supported:', 2)"),
        (lambda: convert_data_format("last", 4), "ValueError: ('Invalid data_format:', 'last')"),
        (lambda: normalize_tuple((1, 2), 3, "n"), "ValueError: The `n` argument must be a tuple of 3 integers. Received: (1, 2)"),
        (lambda: normalize_tuple(2.5, 2, "n"), "ValueError: The `n` argument must be a tuple of 2 integers. Received: 2.5"),
        (
            lambda: normalize_tuple(("a", 2), 2, "n"),
            "ValueError: The `n` argument must be a tuple of 2 integers. Received: ('a', 2) including element a o",
        ),
        (
            lambda: normalize_tuple((1, None), 2, "n"),
            "ValueError: The `n` argument must be a tuple of 2 integers. Received: (1, None) including element No",
        ),
        (
            lambda: normalize_data_format("first"),
            'ValueError: The `data_format` argument must be one of "channels_first", "channels_last". Received: f',
        ),
        (
            lambda: normalize_padding("full"),
            'ValueError: The `padding` argument must be a list/tuple or one of "valid", "same" (or "causal", only',
        ),
    ],
)
def test_sizes_of_windows_are_counted_or_are_refused(made, expected):
    assert refused(lambda: described(made())).startswith(expected)


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: K.concatenate([t(2, 3), t(2, 1)]), ["float32 [2, 4]", [[1.0, 2.0, 3.0, 1.0], [4.0, 5.0, 6.0, 2.0]]]),
        (lambda: K.concatenate([t(2, 3), t(1, 3)], axis=0), ["float32 [3, 3]", [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [1.0, 2.0, 3.0]]]),
        (lambda: K.concatenate([t(2, 3), t(2, 1)], axis=-1), ["float32 [2, 4]", [[1.0, 2.0, 3.0, 1.0], [4.0, 5.0, 6.0, 2.0]]]),
        (lambda: K.concatenate([t(2, 3), t(1, 3)], axis=-2), ["float32 [3, 3]", [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [1.0, 2.0, 3.0]]]),
        (
            lambda: K.concatenate([tf.SparseTensor([[0, 0]], [1.0], [1, 2]), tf.SparseTensor([[0, 1]], [2.0], [1, 2])]),
            {"indices": [[0, 0], [0, 3]], "values": [1.0, 2.0], "dense_shape": [1, 4]},
        ),
        (lambda: K.concatenate([tf.SparseTensor([[0, 0]], [1.0], [1, 2]), t(1, 2)]), ["float32 [1, 4]", [[1.0, 0.0, 1.0, 2.0]]]),
        (
            lambda: K.concatenate([tf.SparseTensor([[0, 0]], [1.0], [1, 2]), tf.SparseTensor([[0, 1]], [2.0], [1, 2])], 0),
            {"indices": [[0, 0], [1, 1]], "values": [1.0, 2.0], "dense_shape": [2, 2]},
        ),
        (lambda: K.to_dense(tf.SparseTensor([[0, 1]], [2.0], [1, 2])), ["float32 [1, 2]", [[0.0, 2.0]]]),
        (lambda: K.to_dense(t(2)), ["float32 [2]", [1.0, 2.0]]),
        (lambda: K.repeat_elements(t(2, 2), 2, 0), ["float32 [4, 2]", [[1.0, 2.0], [1.0, 2.0], [3.0, 4.0], [3.0, 4.0]]]),
        (lambda: K.repeat_elements(t(2, 2), 2, 1), ["float32 [2, 4]", [[1.0, 1.0, 2.0, 2.0], [3.0, 3.0, 4.0, 4.0]]]),
        (lambda: K.repeat_elements(t(2, 2), 3, -1), ["float32 [2, 6]", [[1.0, 1.0, 1.0, 2.0, 2.0, 2.0], [3.0, 3.0, 3.0, 4.0, 4.0, 4.0]]]),
        (lambda: K.repeat_elements(unsized(f32(2, 2)), 2, 0), ["float32 [None, None]", [[1.0, 2.0], [1.0, 2.0], [3.0, 4.0], [3.0, 4.0]]]),
        (lambda: K.repeat_elements(unsized(f32(2, 2)), 2, 1), ["float32 [None, None]", [[1.0, 1.0, 2.0, 2.0], [3.0, 3.0, 4.0, 4.0]]]),
        (
            lambda: K.repeat_elements(tf.placeholder_with_default(f32(2, 2), [None, 2]), 2, 0),
            ["float32 [None, 2]", [[1.0, 2.0], [1.0, 2.0], [3.0, 4.0], [3.0, 4.0]]],
        ),
        (
            lambda: K.repeat_elements(tf.placeholder_with_default(f32(2, 2, 2), [2, None, 2]), 3, 1),
            [
                "float32 [2, None, 2]",
                [
                    [[1.0, 2.0], [1.0, 2.0], [1.0, 2.0], [3.0, 4.0], [3.0, 4.0], [3.0, 4.0]],
                    [[5.0, 6.0], [5.0, 6.0], [5.0, 6.0], [7.0, 8.0], [7.0, 8.0], [7.0, 8.0]],
                ],
            ],
        ),
        (lambda: K.repeat(t(2, 2), 3), ["float32 [2, 3, 2]", [[[1.0, 2.0], [1.0, 2.0], [1.0, 2.0]], [[3.0, 4.0], [3.0, 4.0], [3.0, 4.0]]]]),
        (lambda: K.arange(3), ["int32 [3]", [0, 1, 2]]),
        (lambda: K.arange(-3), ["int32 [0]", []]),
        (lambda: K.arange(1, 7, 3), ["int32 [2]", [1, 4]]),
        (lambda: K.arange(3, dtype="float32"), ["float32 [3]", [0.0, 1.0, 2.0]]),
        (lambda: K.arange(5, 1, -2), ["int32 [2]", [5, 3]]),
        (lambda: K.tile(t(2), 2), ["float32 [4]", [1.0, 2.0, 1.0, 2.0]]),
        (lambda: K.tile(t(2, 2), [2, 1]), ["float32 [4, 2]", [[1.0, 2.0], [3.0, 4.0], [1.0, 2.0], [3.0, 4.0]]]),
        (lambda: K.tile(t(2, 2), (1, 2)), ["float32 [2, 4]", [[1.0, 2.0, 1.0, 2.0], [3.0, 4.0, 3.0, 4.0]]]),
        (lambda: K.flatten(t(2, 2)), ["float32 [4]", [1.0, 2.0, 3.0, 4.0]]),
        (lambda: K.batch_flatten(t(2, 2, 2)), ["float32 [2, 4]", [[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]]]),
        (lambda: K.batch_flatten(unsized(f32(2, 2, 2))), ["float32 [None, None]", [[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]]]),
        (lambda: K.expand_dims(t(2)), ["float32 [2, 1]", [[1.0], [2.0]]]),
        (lambda: K.expand_dims(t(2), 0), ["float32 [1, 2]", [[1.0, 2.0]]]),
        (lambda: K.squeeze(t(2, 1), 1), ["float32 [2]", [1.0, 2.0]]),
        (lambda: K.squeeze(t(2, 1), -1), ["float32 [2]", [1.0, 2.0]]),
        (lambda: K.stack([t(2), t(2)]), ["float32 [2, 2]", [[1.0, 2.0], [1.0, 2.0]]]),
        (lambda: K.stack([t(2), t(2)], 1), ["float32 [2, 2]", [[1.0, 1.0], [2.0, 2.0]]]),
        (lambda: K.one_hot([0, 2], 3), ["float32 [2, 3]", [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]]),
        (lambda: K.one_hot([[0, 2]], 3), ["float32 [1, 2, 3]", [[[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]]]),
        (lambda: K.reverse(t(2, 2), 0), ["float32 [2, 2]", [[3.0, 4.0], [1.0, 2.0]]]),
        (lambda: K.reverse(t(2, 2), 1), ["float32 [2, 2]", [[2.0, 1.0], [4.0, 3.0]]]),
        (lambda: K.reverse(t(2, 2), [0, 1]), ["float32 [2, 2]", [[4.0, 3.0], [2.0, 1.0]]]),
        (lambda: K.transpose(t(2, 3)), ["float32 [3, 2]", [[1.0, 4.0], [2.0, 5.0], [3.0, 6.0]]]),
        (lambda: K.permute_dimensions(t(1, 2, 3), (2, 0, 1)), ["float32 [3, 1, 2]", [[[1.0, 4.0]], [[2.0, 5.0]], [[3.0, 6.0]]]]),
        (lambda: K.reshape(t(2, 3), (3, 2)), ["float32 [3, 2]", [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]]),
        (lambda: K.gather(t(3, 2), [2, 0]), ["float32 [2, 2]", [[5.0, 6.0], [1.0, 2.0]]]),
        (lambda: K.temporal_padding(t(1, 2, 1)), ["float32 [1, 4, 1]", [[[0.0], [1.0], [2.0], [0.0]]]]),
        (lambda: K.temporal_padding(t(1, 2, 1), (2, 0)), ["float32 [1, 4, 1]", [[[0.0], [0.0], [1.0], [2.0]]]]),
        (
            lambda: K.spatial_2d_padding(t(1, 1, 1, 1)),
            ["float32 [1, 3, 3, 1]", [[[[0.0], [0.0], [0.0]], [[0.0], [1.0], [0.0]], [[0.0], [0.0], [0.0]]]]],
        ),
        (
            lambda: K.spatial_2d_padding(t(1, 1, 1, 1), ((1, 0), (0, 2))),
            ["float32 [1, 2, 3, 1]", [[[[0.0], [0.0], [0.0]], [[1.0], [0.0], [0.0]]]]],
        ),
        (
            lambda: K.spatial_2d_padding(t(1, 1, 1, 1), ((1, 0), (0, 2)), "channels_first"),
            ["float32 [1, 1, 2, 3]", [[[[0.0, 0.0, 0.0], [1.0, 0.0, 0.0]]]]],
        ),
        (
            lambda: K.spatial_3d_padding(t(1, 1, 1, 1, 1), ((1, 0), (0, 2), (0, 0))),
            ["float32 [1, 2, 3, 1, 1]", [[[[[0.0]], [[0.0]], [[0.0]]], [[[1.0]], [[0.0]], [[0.0]]]]]],
        ),
        (lambda: K.spatial_3d_padding(t(1, 1, 1, 1, 1), ((1, 0), (0, 2), (0, 0)), "channels_first").shape, [1, 1, 2, 3, 1]),
        (lambda: K.spatial_3d_padding(t(1, 1, 1, 1, 1)).shape, [1, 3, 3, 3, 1]),
        (
            lambda: K.resize_images(t(1, 2, 2, 1), 2, 3, "channels_last"),
            [
                "float32 [1, 4, 6, 1]",
                [
                    [
                        [[1.0], [1.0], [1.0], [2.0], [2.0], [2.0]],
                        [[1.0], [1.0], [1.0], [2.0], [2.0], [2.0]],
                        [[3.0], [3.0], [3.0], [4.0], [4.0], [4.0]],
                        [[3.0], [3.0], [3.0], [4.0], [4.0], [4.0]],
                    ]
                ],
            ],
        ),
        (
            lambda: K.resize_images(t(1, 2, 2, 1), 2, 2, "channels_last", "bilinear"),
            [
                "float32 [1, 4, 4, 1]",
                [
                    [
                        [[1.0], [1.25], [1.75], [2.0]],
                        [[1.5], [1.75], [2.25], [2.5]],
                        [[2.5], [2.75], [3.25], [3.5]],
                        [[3.0], [3.25], [3.75], [4.0]],
                    ]
                ],
            ],
        ),
        (
            lambda: K.resize_images(t(1, 1, 2, 2), 2, 1, "channels_first"),
            ["float32 [1, 1, 4, 2]", [[[[1.0, 2.0], [1.0, 2.0], [3.0, 4.0], [3.0, 4.0]]]]],
        ),
        (lambda: K.resize_images(unsized(f32(1, 2, 2, 1)), 2, 2, "channels_last").shape, [None, None, None, None]),
        (
            lambda: K.resize_images(tf.placeholder_with_default(f32(1, 2, 2, 1), [None, 2, None, 1]), 3, 2, "channels_last").shape,
            [None, 6, None, 1],
        ),
        (
            lambda: K.resize_volumes(t(1, 1, 1, 2, 1), 2, 1, 2, "channels_last"),
            ["float32 [1, 2, 1, 4, 1]", [[[[[1.0], [1.0], [2.0], [2.0]]], [[[1.0], [1.0], [2.0], [2.0]]]]]],
        ),
        (lambda: K.resize_volumes(t(1, 1, 1, 1, 2), 1, 1, 2, "channels_first"), ["float32 [1, 1, 1, 1, 4]", [[[[[1.0, 1.0, 2.0, 2.0]]]]]]),
        (lambda: K.resize_volumes(t(1, 1, 1, 2, 1), 2, 3, 2, "channels_last").shape, [1, 2, 3, 4, 1]),
    ],
)
def test_tensors_take_other_shapes(made, expected):
    assert described(made()) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: K.tile(t(2, 2), 2), "ValueError: Shape must be rank 2 but is rank 1"),
        (lambda: K.squeeze(t(2, 1), 0), "ValueError: Can not squeeze dim[0], expected a dimension of 1, got 2"),
        (lambda: K.spatial_2d_padding(t(1, 1, 1, 1), ((1, 0), (0, 2)), "first"), "ValueError: Unknown data_format: first"),
        (lambda: K.spatial_3d_padding(t(1, 1, 1, 1, 1), ((1, 0), (0, 2), (0, 0)), "x"), "ValueError: Unknown data_format: x"),
        (lambda: K.resize_images(t(1, 2, 2, 1), 2, 2, "x"), "ValueError: Invalid `data_format` argument: x"),
        (
            lambda: K.resize_images(t(1, 2, 2, 1), 2, 2, "channels_last", "cubic"),
            'ValueError: interpolation should be one of "nearest" or "bilinear".',
        ),
        (lambda: K.resize_volumes(t(1, 1, 1, 2, 1), 2, 1, 2, "x"), "ValueError: Invalid data_format: x"),
    ],
)
def test_tensors_take_other_shapes_or_are_refused(made, expected):
    assert refused(lambda: described(made())).startswith(expected)


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: K.clip(t(4), 2, 3), ["float32 [4]", [2.0, 2.0, 3.0, 3.0]]),
        (lambda: K.clip(t(4), 3, 2), ["float32 [4]", [3.0, 3.0, 3.0, 3.0]]),
        (lambda: K.clip(t(4), 2.0, None), ["float32 [4]", [2.0, 2.0, 3.0, 4.0]]),
        (lambda: K.clip(tf.constant([1, 5]), 2, 3), ["int32 [2]", [2, 3]]),
        (lambda: K.relu(t(3) - 2), ["float32 [3]", [0.0, 0.0, 1.0]]),
        (lambda: K.relu(t(3) - 2, alpha=0.5), ["float32 [3]", [-0.5, 0.0, 1.0]]),
        (lambda: K.relu(t(5) - 2, max_value=2), ["float32 [5]", [0.0, 0.0, 1.0, 2.0, 2.0]]),
        (lambda: K.relu(t(5) - 2, threshold=1), ["float32 [5]", [-0.0, 0.0, 0.0, 2.0, 3.0]]),
        (lambda: K.relu(t(5) - 2, alpha=0.1, max_value=2, threshold=1), ["float32 [5]", [-0.2, -0.1, 0.0, 2.0, 2.0]]),
        (lambda: K.relu(t(9), max_value=6), ["float32 [9]", [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 6.0, 6.0, 6.0]]),
        (lambda: K.relu(t(5) - 2, alpha=0.1, max_value=2), ["float32 [5]", [-0.1, 0.0, 1.0, 2.0, 2.0]]),
        (lambda: K.relu(t(5) - 2, alpha=0.1, threshold=1), ["float32 [5]", [-0.2, -0.1, 0.0, 2.0, 3.0]]),
        (lambda: K.elu(t(3) - 2), ["float32 [3]", [-0.63212, 0.0, 1.0]]),
        (lambda: K.elu(t(3) - 2, 0.5), ["float32 [3]", [-0.31606, 0.0, 1.0]]),
        (lambda: K.hard_sigmoid(t(7) - 4), ["float32 [7]", [0.0, 0.1, 0.3, 0.5, 0.7, 0.9, 1.0]]),
        (lambda: K.softplus(t(2)), ["float32 [2]", [1.3133, 2.1269]]),
        (lambda: K.softsign(t(2)), ["float32 [2]", [0.5, 0.66667]]),
        (lambda: K.tanh(t(2)), ["float32 [2]", [0.76159, 0.96403]]),
        (lambda: K.sigmoid(t(2)), ["float32 [2]", [0.73106, 0.8808]]),
        (lambda: K.softmax(t(1, 3)), ["float32 [1, 3]", [[0.090031, 0.24473, 0.66524]]]),
        (lambda: K.softmax(t(2, 2), axis=0), ["float32 [2, 2]", [[0.1192, 0.1192], [0.8808, 0.8808]]]),
        (lambda: K.softmax(t(3)), ["float32 [3]", [0.090031, 0.24473, 0.66524]]),
        (lambda: K.l2_normalize(t(2, 2), axis=1), ["float32 [2, 2]", [[0.44721, 0.89443], [0.6, 0.8]]]),
        (lambda: K.l2_normalize(t(2, 2)), ["float32 [2, 2]", [[0.18257, 0.36515], [0.54772, 0.7303]]]),
        (lambda: K.pow(t(3), 2), ["float32 [3]", [1.0, 4.0, 9.0]]),
        (lambda: K.square(t(3)), ["float32 [3]", [1.0, 4.0, 9.0]]),
        (lambda: K.sqrt(t(3) - 2), ["float32 [3]", [0.0, 0.0, 1.0]]),
        (lambda: K.exp(t(2)), ["float32 [2]", [2.7183, 7.3891]]),
        (lambda: K.log(t(2)), ["float32 [2]", [0.0, 0.69315]]),
        (lambda: K.abs(-t(2)), ["float32 [2]", [1.0, 2.0]]),
        (lambda: K.sign(t(3) - 2), ["float32 [3]", [-1.0, 0.0, 1.0]]),
        (lambda: K.round(t(3) / 2), ["float32 [3]", [0.0, 1.0, 2.0]]),
        (lambda: K.sin(t(2)), ["float32 [2]", [0.84147, 0.9093]]),
        (lambda: K.cos(t(2)), ["float32 [2]", [0.5403, -0.41615]]),
        (lambda: K.maximum(t(3), 2.0), ["float32 [3]", [2.0, 2.0, 3.0]]),
        (lambda: K.minimum(t(3), 2.0), ["float32 [3]", [1.0, 2.0, 2.0]]),
        (lambda: K.equal(t(3), 2.0), ["bool [3]", [False, True, False]]),
        (lambda: K.not_equal(t(3), 2.0), ["bool [3]", [True, False, True]]),
        (lambda: K.greater(t(3), 2.0), ["bool [3]", [False, False, True]]),
        (lambda: K.greater_equal(t(3), 2.0), ["bool [3]", [False, True, True]]),
        (lambda: K.less(t(3), 2.0), ["bool [3]", [True, False, False]]),
        (lambda: K.less_equal(t(3), 2.0), ["bool [3]", [True, True, False]]),
        (lambda: K.dropout(t(3), 0.0), ["float32 [3]", [1.0, 2.0, 3.0]]),
        (lambda: K.in_top_k(t(2, 3), [2, 0], 1), ["bool [2]", [True, False]]),
        (lambda: K.in_top_k(t(2, 3), [2, 1], 2), ["bool [2]", [True, True]]),
        (lambda: K.bias_add(t(1, 2, 1, 2), np.ones((2, 1, 2), np.float32)), ["float32 [1, 2, 1, 2]", [[[[2.0, 3.0]], [[4.0, 5.0]]]]]),
    ],
)
def test_elements_are_computed(made, expected):
    assert described(made()) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (
            lambda: K.bias_add(t(1, 2), np.ones((2, 1, 2), np.float32)),
            "ValueError: Unexpected bias dimensions 3, expect to be 1 or 2 dimensions",
        ),
        (lambda: K.bias_add(t(1, 2, 2), [1.0, 2.0], "x"), "ValueError: Unknown data_format: x"),
    ],
)
def test_elements_are_computed_or_are_refused(made, expected):
    assert refused(lambda: described(made())).startswith(expected)


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: K.max(t(2, 3)), ["float32 []", 6.0]),
        (lambda: K.max(t(2, 3), 1), ["float32 [2]", [3.0, 6.0]]),
        (lambda: K.max(t(2, 3), 1, keepdims=True), ["float32 [2, 1]", [[3.0], [6.0]]]),
        (lambda: K.min(t(2, 3), 0), ["float32 [3]", [1.0, 2.0, 3.0]]),
        (lambda: K.min(t(2, 3), 0, True), ["float32 [1, 3]", [[1.0, 2.0, 3.0]]]),
        (lambda: K.sum(t(2, 3), [0, 1]), ["float32 []", 21.0]),
        (lambda: K.sum(t(2, 3), -1, True), ["float32 [2, 1]", [[6.0], [15.0]]]),
        (lambda: K.prod(t(2, 3), 1), ["float32 [2]", [6.0, 120.0]]),
        (lambda: K.prod(t(2, 3), 1, True), ["float32 [2, 1]", [[6.0], [120.0]]]),
        (lambda: K.cumsum(t(2, 3)), ["float32 [2, 3]", [[1.0, 2.0, 3.0], [5.0, 7.0, 9.0]]]),
        (lambda: K.cumsum(t(2, 3), 1), ["float32 [2, 3]", [[1.0, 3.0, 6.0], [4.0, 9.0, 15.0]]]),
        (lambda: K.cumprod(t(2, 3)), ["float32 [2, 3]", [[1.0, 2.0, 3.0], [4.0, 10.0, 18.0]]]),
        (lambda: K.cumprod(t(2, 3), 1), ["float32 [2, 3]", [[1.0, 2.0, 6.0], [4.0, 20.0, 120.0]]]),
        (lambda: K.var(t(2, 3)), ["float32 []", 2.9167]),
        (lambda: K.var(t(2, 3), 1, True), ["float32 [2, 1]", [[0.66667], [0.66667]]]),
        (lambda: K.var(tf.constant([[True, False]]), 1), ["float32 [1]", [0.25]]),
        (lambda: K.std(t(2, 3), 0), ["float32 [3]", [1.5, 1.5, 1.5]]),
        (lambda: K.std(t(2, 3), 0, True), ["float32 [1, 3]", [[1.5, 1.5, 1.5]]]),
        (lambda: K.mean(t(2, 3), 1), ["float32 [2]", [2.0, 5.0]]),
        (lambda: K.mean(t(2, 3), 1, True), ["float32 [2, 1]", [[2.0], [5.0]]]),
        (lambda: K.mean(tf.constant([True, False])), ["float32 []", 0.5]),
        (lambda: K.any(tf.constant([[True, False]]), 1), ["bool [1]", [True]]),
        (lambda: K.any(tf.constant([[1, 0]]), 1, True), ["bool [1, 1]", [[True]]]),
        (lambda: K.all(tf.constant([[True, False]]), 1), ["bool [1]", [False]]),
        (lambda: K.all(tf.constant([[1, 2]]), 1, True), ["bool [1, 1]", [[True]]]),
        (lambda: K.argmax(t(2, 3)), ["int64 [2]", [2, 2]]),
        (lambda: K.argmax(t(2, 3), 0), ["int64 [3]", [1, 1, 1]]),
        (lambda: K.argmin(t(2, 3)), ["int64 [2]", [0, 0]]),
        (lambda: K.argmin(t(2, 3), 0), ["int64 [3]", [0, 0, 0]]),
    ],
)
def test_elements_are_reduced(made, expected):
    assert described(made()) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: K.dot(t(2, 3), t(3, 2)), ["float32 [2, 2]", [[22.0, 28.0], [49.0, 64.0]]]),
        (lambda: K.dot(t(2, 3, 2), t(2, 4)).shape, [2, 3, 4]),
        (lambda: K.dot(t(1, 2, 2), t(2, 2)), ["float32 [1, 2, 2]", [[[7.0, 10.0], [15.0, 22.0]]]]),
        (lambda: K.dot(unsized(f32(1, 2, 2)), t(2, 2)), ["float32 [None, None, 2]", [[[7.0, 10.0], [15.0, 22.0]]]]),
        (lambda: K.dot(t(1, 2), t(1, 2, 3)), ["float32 [1, 1, 3]", [[[9.0, 12.0, 15.0]]]]),
        (lambda: K.dot(t(2, 2, 3), t(4, 3, 2)).shape, [2, 2, 4, 2]),
        (lambda: K.dot(tf.SparseTensor([[0, 1]], [2.0], [1, 2]), t(2, 2)), ["float32 [1, 2]", [[6.0, 8.0]]]),
        (lambda: K.batch_dot(t(2, 3), t(2, 3), 1), ["float32 [2, 1]", [[14.0], [77.0]]]),
        (lambda: K.batch_dot(t(2, 3), t(2, 3), axes=[1, 1]), ["float32 [2, 1]", [[14.0], [77.0]]]),
        (
            lambda: K.batch_dot(t(2, 2, 3), t(2, 3, 2)),
            ["float32 [2, 2, 2]", [[[22.0, 28.0], [49.0, 64.0]], [[220.0, 244.0], [301.0, 334.0]]]],
        ),
        (
            lambda: K.batch_dot(t(2, 2, 3), t(2, 2, 3), axes=2),
            ["float32 [2, 2, 2]", [[[14.0, 32.0], [32.0, 77.0]], [[194.0, 266.0], [266.0, 365.0]]]],
        ),
        (
            lambda: K.batch_dot(t(2, 2, 3), t(2, 2, 3), axes=[1, 1]),
            [
                "float32 [2, 3, 3]",
                [
                    [[17.0, 22.0, 27.0], [22.0, 29.0, 36.0], [27.0, 36.0, 45.0]],
                    [[149.0, 166.0, 183.0], [166.0, 185.0, 204.0], [183.0, 204.0, 225.0]],
                ],
            ],
        ),
        (
            lambda: K.batch_dot(t(2, 2, 3), t(2, 2, 3), axes=(2, 2)),
            ["float32 [2, 2, 2]", [[[14.0, 32.0], [32.0, 77.0]], [[194.0, 266.0], [266.0, 365.0]]]],
        ),
        (lambda: K.batch_dot(t(2, 3), t(2, 3, 2), axes=[1, 1]), ["float32 [2, 2]", [[22.0, 28.0], [139.0, 154.0]]]),
        (lambda: K.batch_dot(t(2, 2, 3), t(2, 3), axes=[2, 1]), ["float32 [2, 2]", [[14.0, 32.0], [122.0, 167.0]]]),
        (lambda: K.batch_dot(t(2, 3), t(2, 2, 3), axes=(1, 2)), ["float32 [2, 2]", [[14.0, 32.0], [122.0, 167.0]]]),
    ],
)
def test_products_are_taken(made, expected):
    assert described(made()) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: K.constant([1, 2]), ["float32 [2]", [1.0, 2.0]]),
        (lambda: K.constant(3, shape=(2, 2)), ["float32 [2, 2]", [[3.0, 3.0], [3.0, 3.0]]]),
        (lambda: K.constant(3, "int64", [2], "n").op.name, "n"),
        (lambda: K.zeros((2, 2)), ["float32 [2, 2]", [[0.0, 0.0], [0.0, 0.0]]]),
        (lambda: K.zeros((2,), "int32"), ["int32 [2]", [0, 0]]),
        (lambda: K.ones((2, 2)), ["float32 [2, 2]", [[1.0, 1.0], [1.0, 1.0]]]),
        (lambda: K.ones((2,), "float64", "n").op.name, "n_1"),
        (lambda: K.eye(2), ["float32 [2, 2]", [[1.0, 0.0], [0.0, 1.0]]]),
        (lambda: K.eye(2, "int32"), ["int32 [2, 2]", [[1, 0], [0, 1]]]),
        (lambda: K.zeros_like(t(2)), ["float32 [2]", [0.0, 0.0]]),
        (lambda: K.ones_like(t(2), "int32"), ["int32 [2]", [1, 1]]),
        (lambda: K.cast(t(2), "int32"), ["int32 [2]", [1, 2]]),
        (lambda: K.int_shape(t(2, 3)), [2, 3]),
        (lambda: K.int_shape(unsized(f32(2, 3))), [None, None]),
        (lambda: K.int_shape(K.variable(f32(2, 3))), [2, 3]),
        (lambda: K.ndim(t(2, 3)), 2),
        (lambda: K.dtype(t(2)), "float32"),
        (lambda: K.dtype(K.variable(1, "int32")), "int32"),
        (lambda: K.shape(t(2, 3)), ["int32 [2]", [2, 3]]),
        (lambda: K.count_params(K.zeros((2, 3))), 6),
        (lambda: K.is_sparse(t(2)), False),
        (lambda: K.is_sparse(tf.SparseTensor([[0, 1]], [2.0], [1, 2])), True),
        (lambda: K.placeholder((2, None)).shape, [2, None]),
        (lambda: K.placeholder(ndim=3).shape, [None, None, None]),
        (lambda: K.placeholder((2,), dtype="int32").dtype, "int32"),
        (lambda: K.placeholder((2,), name="p").op.name, "p"),
        (lambda: K.placeholder((2, 2), sparse=True).dtype, "float32"),
        (lambda: K.placeholder((2, None), ragged=True).shape, [None, None]),
        (lambda: K.random_normal((2,), 1.0, 0.0), ["float32 [2]", [1.0, 1.0]]),
        (lambda: K.random_uniform((2,), 3.0, 3.5).shape, [2]),
        (lambda: K.random_binomial((2,), 1.0), ["float32 [2]", [1.0, 1.0]]),
        (lambda: K.random_binomial((2,), 0.0, "float64"), ["float64 [2]", [0.0, 0.0]]),
        (lambda: K.truncated_normal((2,), 2.0, 0.0), ["float32 [2]", [2.0, 2.0]]),
        (lambda: K.map_fn(lambda x: x * 2, t(3)), ["float32 [3]", [2.0, 4.0, 6.0]]),
        (lambda: K.switch(tf.constant(True), lambda: t(2), lambda: -t(2)), ["float32 [2]", [1.0, 2.0]]),
        (lambda: K.switch(tf.constant([True, False]), t(2), -t(2)), ["float32 [2]", [1.0, -2.0]]),
        (lambda: K.switch(tf.constant([True, False]), t(2, 2), -t(2, 2)), ["float32 [2, 2]", [[1.0, 2.0], [-3.0, -4.0]]]),
        (lambda: K.in_train_phase(1.0, 2.0, training=True), 1.0),
        (lambda: K.in_train_phase(lambda: 1.0, lambda: 2.0, training=False), 2.0),
        (lambda: K.in_train_phase(1.0, 2.0, training=0), 2.0),
        (lambda: K.in_test_phase(1.0, 2.0, training=True), 2.0),
        (lambda: K.in_test_phase(1.0, 2.0, training=0), 1.0),
        (
            lambda: K.ctc_label_dense_to_sparse(tf.constant([[1, 2, 0]]), tf.constant([2])),
            {"indices": [[0, 0], [0, 1]], "values": [1, 2], "dense_shape": [1, 3]},
        ),
    ],
)
def test_values_are_made_and_known(made, expected):
    assert described(made()) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: K.foldl(lambda a, x: a + x, [1.0, 2.0, 3.0]), "IndexError: list index out of range"),
        (lambda: K.foldl(lambda a, x: a * x, [1.0, 2.0, 3.0], 2.0), "IndexError: list index out of range"),
        (lambda: K.foldr(lambda a, x: a - x, [1.0, 2.0, 3.0]), "IndexError: list index out of range"),
        (
            lambda: K.switch(tf.constant([[True, False]]), t(1), -t(1)),
            "ValueError: Rank of `condition` should be less than or equal to rank of `then_expression` and `else_",
        ),
    ],
)
def test_values_are_made_and_known_or_are_refused(made, expected):
    assert refused(lambda: described(made())).startswith(expected)


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: K.categorical_crossentropy(tf.constant([[0.0, 1.0]]), tf.constant([[0.2, 0.6]])), ["float32 [1]", [0.28768]]),
        (lambda: K.categorical_crossentropy(tf.constant([[0.0, 1.0]]), tf.constant([[0.2, 0.6]]), True), ["float32 [1]", [0.51302]]),
        (lambda: K.categorical_crossentropy(tf.constant([[0.0], [1.0]]), tf.constant([[0.2], [0.6]]), axis=0), ["float32 [1]", [0.28768]]),
        (
            lambda: K.categorical_crossentropy(tf.constant([[0.0, 1.0]]), tf.nn.softmax(tf.constant([[0.2, 0.6]]))),
            ["float32 [1]", [0.51302]],
        ),
        (lambda: K.sparse_categorical_crossentropy(tf.constant([1]), tf.constant([[0.2, 0.6]])), ["float32 [1]", [0.28768]]),
        (lambda: K.sparse_categorical_crossentropy(tf.constant([1]), tf.constant([[0.2, 0.6]]), True), ["float32 [1]", [0.51302]]),
        (
            lambda: K.sparse_categorical_crossentropy(tf.constant([[1], [0]]), tf.constant([[[0.2, 0.6]], [[0.5, 0.5]]])),
            ["float32 [2, 1]", [[0.28768], [0.69315]]],
        ),
        (
            lambda: K.sparse_categorical_crossentropy(tf.constant([1, 0]), tf.constant([[0.2, 0.6], [0.1, 0.9]]), axis=0),
            ["float32 [2]", [1.0986, 0.91629]],
        ),
        (lambda: K.sparse_categorical_crossentropy(tf.constant([1]), tf.constant([[0.2, 0.6]]), axis=3), ["float32 [1]", [0.28768]]),
        (lambda: K.binary_crossentropy(tf.constant([0.0, 1.0]), tf.constant([0.2, 0.6])), ["float32 [2]", [0.22314, 0.51083]]),
        (lambda: K.binary_crossentropy(tf.constant([0.0, 1.0]), tf.constant([0.2, 0.6]), True), ["float32 [2]", [0.79814, 0.43749]]),
        (lambda: K.binary_crossentropy(tf.constant([0.0, 1.0]), tf.sigmoid(tf.constant([0.2, 0.6]))), ["float32 [2]", [0.79814, 0.43749]]),
        (lambda: K.binary_crossentropy(tf.constant([0.0, 1.0]), tf.constant([1.0, 0.0])), ["float32 [2]", [15.333, 15.425]]),
    ],
)
def test_crossentropies_are_taken(made, expected):
    assert described(made()) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: K.conv1d(t(1, 4, 1), t(2, 1, 1)), ["float32 [1, 3, 1]", [[[5.0], [8.0], [11.0]]]]),
        (lambda: K.conv1d(t(1, 4, 1), t(2, 1, 1), 2, "same"), ["float32 [1, 2, 1]", [[[5.0], [11.0]]]]),
        (lambda: K.conv1d(t(1, 4, 1), t(2, 1, 1), padding="causal"), ["float32 [1, 4, 1]", [[[2.0], [5.0], [8.0], [11.0]]]]),
        (lambda: K.conv1d(t(1, 4, 1), t(2, 1, 1), dilation_rate=2), ["float32 [1, 2, 1]", [[[7.0], [10.0]]]]),
        (
            lambda: K.conv1d(t(1, 4, 1), t(2, 1, 1), padding="causal", dilation_rate=2),
            ["float32 [1, 4, 1]", [[[2.0], [4.0], [7.0], [10.0]]]],
        ),
        (lambda: K.conv2d(t(1, 3, 3, 1), t(2, 2, 1, 1)), ["float32 [1, 2, 2, 1]", [[[[37.0], [47.0]], [[67.0], [77.0]]]]]),
        (
            lambda: K.conv2d(t(1, 3, 3, 1), t(2, 2, 1, 1), (2, 1), "same"),
            ["float32 [1, 2, 3, 1]", [[[[37.0], [47.0], [21.0]], [[23.0], [26.0], [9.0]]]]],
        ),
        (
            lambda: K.conv2d(t(1, 1, 3, 3), t(2, 2, 1, 1), data_format="channels_first"),
            ["float32 [1, 1, 2, 2]", [[[[37.0, 47.0], [67.0, 77.0]]]]],
        ),
        (lambda: K.conv2d(t(1, 3, 3, 1), t(2, 2, 1, 1), dilation_rate=(2, 2)), ["float32 [1, 1, 1, 1]", [[[[64.0]]]]]),
        (lambda: K.conv3d(t(1, 2, 2, 2, 1), t(2, 2, 2, 1, 1)), ["float32 [1, 1, 1, 1, 1]", [[[[[204.0]]]]]]),
        (
            lambda: K.conv3d(t(1, 2, 2, 2, 1), t(1, 2, 2, 1, 1), (2, 1, 1), "same"),
            ["float32 [1, 1, 2, 2, 1]", [[[[[30.0], [14.0]], [[11.0], [4.0]]]]]],
        ),
        (
            lambda: K.conv2d_transpose(t(1, 2, 2, 1), t(2, 2, 1, 1), (1, 3, 3, 1)),
            ["float32 [1, 3, 3, 1]", [[[[1.0], [4.0], [4.0]], [[6.0], [20.0], [16.0]], [[9.0], [24.0], [16.0]]]]],
        ),
        (
            lambda: K.conv2d_transpose(t(1, 2, 2, 1), t(2, 2, 1, 1), (1, 4, 4, 1), (2, 2), "same"),
            [
                "float32 [1, 4, 4, 1]",
                [
                    [
                        [[1.0], [2.0], [2.0], [4.0]],
                        [[3.0], [4.0], [6.0], [8.0]],
                        [[3.0], [6.0], [4.0], [8.0]],
                        [[9.0], [12.0], [12.0], [16.0]],
                    ]
                ],
            ],
        ),
        (
            lambda: K.conv2d_transpose(t(1, 1, 2, 2), t(2, 2, 1, 1), (1, 1, 3, 3), data_format="channels_first"),
            ["float32 [1, 1, 3, 3]", [[[[1.0, 4.0, 4.0], [6.0, 20.0, 16.0], [9.0, 24.0, 16.0]]]]],
        ),
        (lambda: K.separable_conv2d(t(1, 2, 2, 1), t(2, 2, 1, 2), t(1, 1, 2, 1)), ["float32 [1, 1, 1, 1]", [[[[170.0]]]]]),
        (lambda: K.separable_conv2d(t(1, 2, 2, 1), t(1, 1, 1, 2), t(1, 1, 2, 1), (2, 2), "same"), ["float32 [1, 1, 1, 1]", [[[[5.0]]]]]),
        (lambda: K.pool2d(t(1, 3, 3, 1), (2, 2)), ["float32 [1, 2, 2, 1]", [[[[5.0], [6.0]], [[8.0], [9.0]]]]]),
        (
            lambda: K.pool2d(t(1, 3, 3, 1), (2, 2), (2, 2), "same", pool_mode="avg"),
            ["float32 [1, 2, 2, 1]", [[[[3.0], [4.5]], [[7.5], [9.0]]]]],
        ),
        (lambda: K.pool2d(t(1, 1, 3, 3), (2, 2), data_format="channels_first"), ["float32 [1, 1, 2, 2]", [[[[5.0, 6.0], [8.0, 9.0]]]]]),
        (lambda: K.pool3d(t(1, 2, 2, 2, 1), (2, 2, 2)), ["float32 [1, 1, 1, 1, 1]", [[[[[8.0]]]]]]),
        (lambda: K.pool3d(t(1, 2, 2, 2, 1), (2, 2, 2), (2, 2, 2), "same", pool_mode="avg"), ["float32 [1, 1, 1, 1, 1]", [[[[[4.5]]]]]]),
        (lambda: K.local_conv1d(t(1, 3, 1), t(2, 2, 1), (2,), (1,)), ["float32 [1, 2, 1]", [[[5.0], [18.0]]]]),
        (lambda: K.local_conv2d(t(1, 2, 2, 1), t(2, 2, 1), (1, 2), (1, 1), (2, 1)), ["float32 [1, 2, 1, 1]", [[[[5.0]], [[25.0]]]]]),
        (
            lambda: K.local_conv2d(t(1, 1, 2, 2), t(2, 2, 1), (1, 2), (1, 1), (2, 1), "channels_first"),
            ["float32 [1, 1, 2, 1]", [[[[5.0], [25.0]]]]],
        ),
    ],
)
def test_windows_are_slid(made, expected):
    assert described(made()) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: K.conv1d(t(1, 4, 1), t(2, 1, 1), padding="x"), "ValueError: Invalid padding: x"),
        (lambda: K.conv1d(t(1, 4, 1), t(2, 1, 1), data_format="x"), "ValueError: Unknown data_format: x"),
        (lambda: K.conv2d(t(1, 3, 3, 1), t(2, 2, 1, 1), data_format="x"), "ValueError: Unknown data_format: x"),
        (lambda: K.conv2d_transpose(t(1, 2, 2, 1), t(2, 2, 1, 1), (1, 3, 3, 1), data_format="x"), "ValueError: Unknown data_format: x"),
        (
            lambda: K.separable_conv2d(t(1, 2, 2, 1), t(1, 1, 1, 2), t(1, 1, 2, 1), (2, 2, 2)),
            "ValueError: `strides` must be a tuple of 2 integers.",
        ),
        (lambda: K.pool2d(t(1, 3, 3, 1), (2, 2), pool_mode="x"), "ValueError: Invalid pooling mode: x"),
        (lambda: K.pool2d(t(1, 3, 3, 1), (2,)), "ValueError: `pool_size` must be a tuple of 2 integers."),
        (lambda: K.pool2d(t(1, 3, 3, 1), (2, 2), (1,)), "ValueError: `strides` must be a tuple of 2 integers."),
        (lambda: K.pool2d(t(1, 3, 3, 1), (2, 2), data_format="x"), "ValueError: Unknown data_format: x"),
        (lambda: K.pool3d(t(1, 2, 2, 2, 1), (2, 2, 2), pool_mode="x"), "ValueError: Invalid pooling mode: x"),
        (lambda: K.local_conv1d(t(1, 3, 1), t(2, 2, 1), (2,), (1,), "x"), "ValueError: Unknown data_format: x"),
    ],
)
def test_windows_are_slid_or_are_refused(made, expected):
    assert refused(lambda: described(made())).startswith(expected)
