"""Convolutions against sums written out, and their gradients against finite differences."""

import itertools

import numpy as np
import pytest

import everflow as tf
from running import run

pytestmark = pytest.mark.processor

RANDOM = np.random.RandomState(0)


def padding_of(size, window, stride, padding, dilation):
    if padding == "VALID":
        return 0, 0
    total = max(0, (-(-size // stride) - 1) * stride + (window - 1) * dilation + 1 - size)
    return total // 2, total - total // 2


def convolved(x, filters, strides, padding, dilations):
    """A convolution of channels-last arrays in any number of dimensions, window by window."""
    n = x.ndim - 2
    pads = (
        padding
        if not isinstance(padding, str)
        else [padding_of(x.shape[1 + i], filters.shape[i], strides[i], padding, dilations[i]) for i in range(n)]
    )
    x = np.pad(x, [(0, 0), *pads, (0, 0)])
    sizes = [(x.shape[1 + i] - (filters.shape[i] - 1) * dilations[i] - 1) // strides[i] + 1 for i in range(n)]
    found = np.zeros((x.shape[0], *sizes, filters.shape[-1]), x.dtype)
    for position in itertools.product(*map(range, filters.shape[:n])):
        window = tuple(slice(p * d, p * d + (size - 1) * s + 1, s) for p, d, size, s in zip(position, dilations, sizes, strides))
        found += np.tensordot(x[(slice(None), *window)], filters[position], 1)
    return found


CASES = [
    ((2, 7, 6, 3), (3, 2, 3, 4), (1, 1), "SAME", (1, 1)),
    ((2, 7, 6, 3), (3, 2, 3, 4), (1, 1), "VALID", (1, 1)),
    ((1, 8, 8, 2), (3, 3, 2, 3), (2, 2), "SAME", (1, 1)),
    ((1, 9, 8, 2), (3, 4, 2, 3), (2, 3), "VALID", (1, 1)),
    ((2, 9, 9, 2), (3, 3, 2, 3), (1, 1), "SAME", (2, 2)),
    ((2, 9, 9, 2), (2, 3, 2, 3), (1, 1), "VALID", (2, 3)),
    ((1, 5, 5, 1), (1, 1, 1, 2), (3, 3), "SAME", (1, 1)),
    ((1, 4, 4, 1), (4, 4, 1, 1), (1, 1), "SAME", (1, 1)),
]


@pytest.mark.parametrize(("shape", "window", "strides", "padding", "dilations"), CASES)
@pytest.mark.parametrize("data_format", ["NHWC", "NCHW"])
def test_conv2d_is_the_sum_over_windows(shape, window, strides, padding, dilations, data_format):
    x, w = RANDOM.randn(*shape), RANDOM.randn(*window)
    want = convolved(x, w, strides, padding, dilations)

    def build():
        if data_format == "NHWC":
            return tf.nn.conv2d(x, w, [1, *strides, 1], padding, dilations=[1, *dilations, 1])
        y = tf.nn.conv2d(x.transpose(0, 3, 1, 2), w, [1, 1, *strides], padding, data_format="NCHW", dilations=[1, 1, *dilations])
        assert y.shape.as_list() == [want.shape[i] for i in (0, 3, 1, 2)]
        return tf.transpose(y, [0, 2, 3, 1])

    np.testing.assert_allclose(run(build()), want, atol=1e-10)


@pytest.mark.parametrize(("shape", "window", "strides", "padding", "dilations"), CASES)
def test_conv2d_has_the_gradients_of_finite_differences(shape, window, strides, padding, dilations):
    x, w = RANDOM.randn(*shape), RANDOM.randn(*window)
    with tf.Graph().as_default(), tf.Session():
        xt, wt = tf.constant(x), tf.constant(w)
        y = tf.nn.conv2d(xt, wt, [1, *strides, 1], padding, dilations=[1, *dilations, 1])
        for t, value in ((xt, x), (wt, w)):
            assert tf.test.compute_gradient_error(t, value.shape, y, y.shape.as_list(), x_init_value=value) < 1e-5


def test_conv2d_can_be_differentiated_twice():
    x, w = RANDOM.randn(1, 5, 5, 2), RANDOM.randn(3, 3, 2, 2)
    with tf.Graph().as_default(), tf.Session():
        xt, wt = tf.constant(x), tf.constant(w)
        y = tf.nn.conv2d(xt, wt, 2, "SAME")
        dx, dw = tf.gradients(tf.square(y), [xt, wt])
        assert tf.test.compute_gradient_error(wt, w.shape, dx, x.shape, x_init_value=w) < 1e-4
        assert tf.test.compute_gradient_error(xt, x.shape, dw, w.shape, x_init_value=x) < 1e-4


def test_conv2d_takes_explicit_padding():
    x, w = RANDOM.randn(1, 4, 5, 2), RANDOM.randn(2, 2, 2, 3)
    found = run(tf.nn.conv2d(x, w, 1, [[0, 0], [1, 2], [0, 3], [0, 0]]))
    np.testing.assert_allclose(found, convolved(x, w, (1, 1), [(1, 2), (0, 3)], (1, 1)), atol=1e-12)


def test_conv2d_learns_sizes_when_it_runs():
    x, w = RANDOM.randn(3, 6, 7, 2), RANDOM.randn(2, 3, 2, 2)
    with tf.Graph().as_default(), tf.Session() as session:
        xt, wt = tf.placeholder(tf.float64), tf.placeholder(tf.float64)
        y = tf.nn.conv2d(xt, wt, 2, "SAME")
        dx, dw = tf.gradients(y, [xt, wt])
        for n in (6, 5):
            found, of_x, of_w = session.run([y, dx, dw], {xt: x[:, :n], wt: w})
            np.testing.assert_allclose(found, convolved(x[:, :n], w, (2, 2), "SAME", (1, 1)), atol=1e-10)
            assert (of_x.shape, of_w.shape) == (x[:, :n].shape, w.shape)


@pytest.mark.parametrize("dtype", [tf.float16, tf.bfloat16, tf.float32])
def test_conv2d_works_in_short_types(dtype):
    x, w = np.ones((1, 4, 4, 2)), np.full((2, 2, 2, 3), 0.5)
    assert (
        run(tf.cast(tf.nn.conv2d(tf.cast(x, dtype), tf.cast(w, dtype), 1, "VALID"), tf.float32)).tolist()
        == np.full((1, 3, 3, 3), 4.0).tolist()
    )


def test_empty_batches_give_empty_outputs_and_zero_gradients():
    with tf.Graph().as_default(), tf.Session() as session:
        x, w = tf.placeholder(tf.float32, [None, 4, 4, 2]), tf.ones([3, 3, 2, 5])
        y = tf.nn.conv2d(x, w, 1, "SAME")
        found, dw = session.run([y, tf.gradients(y, w)[0]], {x: np.zeros((0, 4, 4, 2))})
    assert found.shape == (0, 4, 4, 5)
    assert not dw.any()


def test_conv1d_and_conv3d_are_the_same_in_other_dimensions():
    x, w = RANDOM.randn(2, 9, 3), RANDOM.randn(4, 3, 2)
    np.testing.assert_allclose(run(tf.nn.conv1d(x, w, 2, "SAME")), convolved(x, w, (2,), "SAME", (1,)), atol=1e-12)
    found = run(tf.nn.conv1d(x.transpose(0, 2, 1), w, 1, "VALID", data_format="NCW"))
    np.testing.assert_allclose(found.transpose(0, 2, 1), convolved(x, w, (1,), "VALID", (1,)), atol=1e-12)
    x, w = RANDOM.randn(2, 5, 4, 6, 2), RANDOM.randn(2, 3, 2, 2, 3)
    for padding in ("SAME", "VALID"):
        found = run(tf.nn.conv3d(x, w, [1, 1, 2, 1, 1], padding))
        np.testing.assert_allclose(found, convolved(x, w, (1, 2, 1), padding, (1, 1, 1)), atol=1e-12)


def test_conv3d_has_the_gradients_of_finite_differences():
    x, w = RANDOM.randn(1, 3, 4, 4, 1), RANDOM.randn(2, 2, 3, 1, 2)
    with tf.Graph().as_default(), tf.Session():
        xt, wt = tf.constant(x), tf.constant(w)
        y = tf.nn.conv3d(xt, wt, [1, 1, 2, 1, 1], "SAME")
        for t, value in ((xt, x), (wt, w)):
            assert tf.test.compute_gradient_error(t, value.shape, y, y.shape.as_list(), x_init_value=value) < 1e-5


@pytest.mark.parametrize("padding", ["SAME", "VALID"])
def test_transposed_convolutions_are_gradients(padding):
    w = RANDOM.randn(3, 3, 2, 4)
    x = RANDOM.randn(2, 7, 8, 2)
    dy = RANDOM.randn(*convolved(x, w, (2, 2), padding, (1, 1)).shape)
    with tf.Graph().as_default(), tf.Session() as session:
        xt = tf.constant(x)
        want, found = session.run(
            [tf.gradients(tf.nn.conv2d(xt, w, 2, padding), xt, dy)[0], tf.nn.conv2d_transpose(dy, w, x.shape, 2, padding)]
        )
    np.testing.assert_allclose(found, want, atol=1e-12)


def test_depthwise_convolution_keeps_channels_apart():
    x, w = RANDOM.randn(2, 6, 5, 3), RANDOM.randn(3, 2, 3, 2)
    want = np.concatenate([convolved(x[..., c : c + 1], w[:, :, c : c + 1], (1, 1), "SAME", (1, 1)) for c in range(3)], -1)
    np.testing.assert_allclose(run(tf.nn.depthwise_conv2d(x, w, [1, 1, 1, 1], "SAME")), want, atol=1e-12)
    with tf.Graph().as_default(), tf.Session():
        xt, wt = tf.constant(x[:1]), tf.constant(w)
        y = tf.nn.depthwise_conv2d(xt, wt, [1, 2, 2, 1], "VALID")
        for t, value in ((xt, x[:1]), (wt, w)):
            assert tf.test.compute_gradient_error(t, value.shape, y, y.shape.as_list(), x_init_value=value) < 1e-5


def test_separable_convolution_mixes_channels_afterwards():
    x, d, p = RANDOM.randn(1, 5, 5, 2), RANDOM.randn(3, 3, 2, 2), RANDOM.randn(1, 1, 4, 3)
    want, found = run(
        [
            tf.nn.conv2d(tf.nn.depthwise_conv2d(x, d, [1, 1, 1, 1], "SAME"), p, 1, "VALID"),
            tf.nn.separable_conv2d(x, d, p, [1, 1, 1, 1], "SAME"),
        ]
    )
    np.testing.assert_allclose(found, want, atol=1e-12)


@pytest.mark.parametrize("dims", [[2, 6, 5, 3], [None] * 4, None])
@pytest.mark.parametrize("rate", [1, 2])
def test_an_array_of_doubles_filters_pictures_of_floats(graph, dims, rate):
    x, w = RANDOM.randn(2, 6, 5, 3), RANDOM.randn(3, 2, 3, 2)
    pictures = tf.placeholder(tf.float32, dims)
    found = tf.nn.convolution(pictures, w, "SAME", dilation_rate=[rate, rate])
    assert found.dtype == tf.float32 and graph.get_operation_by_name("convolution/filter").outputs[0].dtype == tf.float32
    np.testing.assert_allclose(run(found, {pictures: x}), convolved(x, w, (1, 1), "SAME", (rate, rate)), atol=1e-5)


@pytest.mark.parametrize("padding", ["SAME", "VALID"])
def test_dilation_by_dealing_pixels_out_is_dilation(padding):
    x, w = RANDOM.randn(2, 9, 8, 3), RANDOM.randn(3, 2, 3, 2)
    np.testing.assert_allclose(run(tf.nn.atrous_conv2d(x, w, 2, padding)), convolved(x, w, (1, 1), padding, (2, 2)), atol=1e-12)
    np.testing.assert_allclose(
        run(tf.nn.convolution(x, w, padding, dilation_rate=[3, 1])), convolved(x, w, (1, 1), padding, (3, 1)), atol=1e-12
    )
    with tf.Graph().as_default(), tf.Session() as session:
        unknown = tf.placeholder(tf.float64, [None, None, None, 3])
        np.testing.assert_allclose(
            session.run(tf.nn.atrous_conv2d(unknown, w, 2, padding), {unknown: x}), convolved(x, w, (1, 1), padding, (2, 2)), atol=1e-12
        )


def test_atrous_transpose_undoes_the_shape():
    x, w = RANDOM.randn(1, 9, 8, 2), RANDOM.randn(3, 3, 2, 4)
    dy = RANDOM.randn(1, 9, 8, 4)
    with tf.Graph().as_default(), tf.Session() as session:
        xt = tf.constant(x)
        want, found = session.run(
            [tf.gradients(tf.nn.atrous_conv2d(xt, w, 2, "SAME"), xt, dy)[0], tf.nn.atrous_conv2d_transpose(dy, w, [1, 9, 8, 2], 2, "SAME")]
        )
    np.testing.assert_allclose(found, want, atol=1e-12)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (
            lambda p: tf.nn.conv2d(p(2, 8, 8, 3), p(3, 3, 4, 4), 1, "SAME"),
            r"Depth of input \(3\) is not a multiple of input depth of filter \(4\)",
        ),
        (lambda p: tf.nn.conv2d(p(2, 8, 8), p(3, 3, 4, 4), 1, "SAME"), "Shape must be rank 4 but is rank 3"),
        (lambda p: tf.nn.conv2d(p(2, 2, 2, 3), p(3, 3, 3, 4), 1, "VALID"), "Negative dimension size caused by subtracting 3 from 2"),
        (lambda p: tf.nn.conv2d(p(2, 8, 8, 3), p(3, 3, 3, 4), [1, 1, 1], "SAME"), "strides should be of length 1, 2 or 4 but was 3"),
        (lambda p: tf.nn.conv2d(p(2, 8, 8, 3), p(3, 3, 3, 4), 1, "EXPLICIT"), '"EXPLICIT" is not a valid value for the padding parameter'),
        (lambda p: tf.nn.conv2d(p(2, 8, 8, 3), p(3, 3, 3, 4), 1, "SAME", data_format="NCHW_VECT_C"), 'not in: "NHWC", "NCHW"'),
        (
            lambda p: tf.nn.conv2d(p(2, 8, 8, 3), p(3, 3, 3, 4), 1, "SAME", filters=p(3, 3, 3, 4)),
            "Cannot specify both 'filter' and 'filters'",
        ),
        (
            lambda p: tf.nn.convolution(p(2, 8, 8, 3), p(3, 3, 3, 4), "SAME", strides=[2, 2], dilation_rate=[2, 2]),
            "strides > 1 not supported",
        ),
    ],
)
def test_mistakes_are_found_when_the_graph_is_built(build, message):
    with tf.Graph().as_default(), pytest.raises(ValueError, match=message):
        build(lambda *shape: tf.placeholder(tf.float32, shape))


def test_mistakes_in_sizes_are_found_when_it_runs():
    with tf.Graph().as_default(), tf.Session() as session:
        x, w = tf.placeholder(tf.float32), tf.placeholder(tf.float32)
        y = tf.nn.conv2d(x, w, 1, "VALID")
        with pytest.raises(tf.errors.InvalidArgumentError, match="input depth must be evenly divisible by filter depth: 3 vs 2"):
            session.run(y, {x: np.zeros((1, 4, 4, 3)), w: np.zeros((2, 2, 2, 2))})
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"input must be 4-dimensional\[1,4,4\]"):
            session.run(y, {x: np.zeros((1, 4, 4)), w: np.zeros((2, 2, 2, 2))})
        dx = tf.nn.conv2d_backprop_input([1, 4, 4, 2], w, x, [1, 1, 1, 1], "VALID")
        with pytest.raises(tf.errors.InvalidArgumentError, match="Size of out_backprop doesn't match computed: actual = 2, computed = 3"):
            session.run(dx, {x: np.zeros((1, 2, 2, 2)), w: np.zeros((2, 2, 2, 2))})
