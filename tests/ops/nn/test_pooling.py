"""Pooling against windows written out, and its gradients against finite differences."""

import itertools

import numpy as np
import pytest

import everflow as tf
from everflow.ops.core.registry import apply
from running import run

RANDOM = np.random.RandomState(1)


def pooled(x, window, strides, padding, reduce):
    """Pooling of a channels-last array, window by window; padding does not count."""
    n = x.ndim - 2
    sizes, starts = [], []
    for i in range(n):
        size, k, s = x.shape[1 + i], window[i], strides[i]
        count = -(-size // s) if padding == "SAME" else (size - k) // s + 1
        before = max(0, (count - 1) * s + k - size) // 2 if padding == "SAME" else 0
        sizes.append(count)
        starts.append([j * s - before for j in range(count)])
    found = np.zeros((x.shape[0], *sizes, x.shape[-1]), x.dtype)
    for position in itertools.product(*map(range, sizes)):
        spans = tuple(slice(max(0, starts[i][p]), starts[i][p] + window[i]) for i, p in enumerate(position))
        found[(slice(None), *position)] = reduce(x[(slice(None), *spans)], tuple(range(1, n + 1)))
    return found


CASES = [
    ((2, 6, 6, 3), (2, 2), (2, 2)),
    ((2, 7, 5, 2), (2, 2), (2, 2)),
    ((1, 7, 7, 2), (3, 3), (2, 2)),
    ((1, 5, 6, 2), (3, 2), (1, 1)),
    ((1, 6, 6, 1), (2, 4), (1, 1)),
    ((1, 8, 8, 1), (2, 2), (3, 3)),
    ((1, 4, 4, 1), (4, 4), (4, 4)),
    ((1, 3, 3, 1), (5, 5), (1, 1)),
]


@pytest.mark.parametrize(("shape", "window", "strides"), CASES)
@pytest.mark.parametrize("padding", ["SAME", "VALID"])
@pytest.mark.parametrize("kind", ["max", "avg"])
def test_pooling_reduces_each_window(shape, window, strides, padding, kind):
    if padding == "VALID" and shape[1] < window[0]:
        pytest.skip("no window fits")
    x = RANDOM.randn(*shape)
    want = pooled(x, window, strides, padding, np.max if kind == "max" else np.mean)
    function = tf.nn.max_pool if kind == "max" else tf.nn.avg_pool
    np.testing.assert_allclose(run(function(x, window, strides, padding)), want, atol=1e-12)
    first = run(function(x.transpose(0, 3, 1, 2), window, strides, padding, data_format="NCHW"))
    np.testing.assert_allclose(first.transpose(0, 2, 3, 1), want, atol=1e-12)
    with tf.Graph().as_default(), tf.Session():
        xt = tf.constant(x)
        y = function(xt, window, strides, padding)
        assert tf.test.compute_gradient_error(xt, shape, y, y.shape.as_list(), x_init_value=x, delta=1e-5) < 1e-5


@pytest.mark.parametrize("padding", ["SAME", "VALID"])
def test_pooling_works_on_volumes_and_sequences(padding):
    x = RANDOM.permutation(240).reshape(1, 5, 4, 6, 2).astype(np.float32) / 16
    for function, reduce in ((tf.nn.max_pool3d, np.max), (tf.nn.avg_pool3d, np.mean)):
        np.testing.assert_allclose(
            run(function(x, [1, 2, 2, 3, 1], [1, 2, 1, 2, 1], padding)), pooled(x, (2, 2, 3), (2, 1, 2), padding, reduce), atol=1e-12
        )
        with tf.Graph().as_default(), tf.Session():
            xt = tf.constant(x)
            y = function(xt, 2, 2, padding)
            assert tf.test.compute_gradient_error(xt, x.shape, y, y.shape.as_list(), x_init_value=x, delta=2**-6) < 1e-3
    x = RANDOM.randn(2, 7, 3)
    for function, reduce in ((tf.nn.max_pool1d, np.max), (tf.nn.avg_pool1d, np.mean)):
        np.testing.assert_allclose(run(function(x, 3, 2, padding)), pooled(x, (3,), (2,), padding, reduce), atol=1e-12)


def test_images_without_channels_have_averages_without_channels():
    assert run(tf.nn.avg_pool2d(np.ones((2, 3, 3, 0), np.float32), 2, 1, "VALID")).shape == (2, 2, 2, 0)


def test_of_equal_maxima_the_first_gets_the_gradient():
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.ones([1, 2, 4, 1])
        dx = session.run(tf.gradients(tf.nn.max_pool(x, 2, 2, "VALID"), x)[0])
    assert dx[0, :, :, 0].tolist() == [[1, 0, 1, 0], [0, 0, 0, 0]]


def test_second_derivatives_pick_what_was_largest():
    x = RANDOM.randn(1, 4, 4, 2)
    for function in (tf.nn.max_pool, tf.nn.avg_pool):
        with tf.Graph().as_default(), tf.Session():
            dy = tf.ones([1, 3, 3, 2], tf.float64)
            xt = tf.constant(x)
            dx = tf.gradients(function(xt, 2, 1, "VALID"), xt, dy)[0]
            assert tf.test.compute_gradient_error(dy, [1, 3, 3, 2], dx, x.shape) < 1e-6


@pytest.mark.parametrize("padding", ["SAME", "VALID"])
def test_argmax_is_a_position_in_the_flattened_image(padding):
    x = RANDOM.randn(2, 5, 5, 3)
    for window, strides in (((2, 2), (2, 2)), ((2, 2), (1, 1))):
        ksize, steps = [1, *window, 1], [1, *strides, 1]
        with tf.Graph().as_default(), tf.Session() as session:
            xt = tf.constant(x)
            y, argmax = tf.nn.max_pool_with_argmax(xt, ksize, steps, padding)
            both = tf.nn.max_pool_with_argmax(xt, ksize, steps, padding, output_dtype=tf.int32, include_batch_in_index=True)
            values, positions, in_batch, dx, want = session.run(
                [y, argmax, both[1], tf.gradients(y, xt)[0], tf.gradients(tf.nn.max_pool(xt, ksize, steps, padding), xt)[0]]
            )
        for b in range(2):
            np.testing.assert_array_equal(x[b].ravel()[positions[b]], values[b])
        np.testing.assert_array_equal(x.ravel()[in_batch], values)
        assert (positions.dtype, in_batch.dtype) == (np.int64, np.int32)
        np.testing.assert_allclose(dx, want)


def test_max_pool_works_on_integers_and_over_channels():
    x = np.arange(16, dtype=np.int32).reshape(1, 4, 4, 1)
    assert run(tf.nn.max_pool(x, 2, 2, "VALID")).ravel().tolist() == [5, 7, 13, 15]
    assert run(tf.nn.max_pool(x.astype(np.uint16), 2, 2, "VALID")).ravel().tolist() == [5, 7, 13, 15]
    x = np.array([3.0, 1.0, 2.0, 5.0]).reshape(1, 1, 1, 4)
    assert run(tf.nn.max_pool(x, [1, 1, 1, 2], [1, 1, 1, 2], "VALID")).ravel().tolist() == [3.0, 5.0]


@pytest.mark.parametrize("dtype", [tf.float16, tf.bfloat16])
def test_pooling_works_in_short_types(dtype):
    x = np.arange(32.0).reshape(1, 2, 4, 4, 1)
    found = run([tf.cast(f(tf.cast(x, dtype), 2, 2, "VALID"), tf.float32) for f in (tf.nn.max_pool3d, tf.nn.avg_pool3d)])
    assert [f.ravel().tolist() for f in found] == [[21, 23, 29, 31], [10.5, 12.5, 18.5, 20.5]]


def test_windows_may_come_as_tensors():
    x = RANDOM.randn(1, 5, 5, 2)
    with tf.Graph().as_default(), tf.Session() as session:
        xt, window = tf.constant(x), tf.placeholder(tf.int32, [4])
        y = apply("MaxPoolV2", xt, window, [1, 1, 1, 1], padding="SAME")
        dx = tf.gradients(y, xt)[0]
        for k in (2, 3):
            found, gradient = session.run([y, dx], {window: [1, k, k, 1]})
            np.testing.assert_allclose(found, pooled(x, (k, k), (1, 1), "SAME", np.max))
            assert gradient.sum() == pytest.approx(50)


def test_pool_spreads_windows_out():
    x = RANDOM.randn(1, 6, 7, 2)
    found = run(tf.nn.pool(x, [2, 2], "MAX", "VALID", dilation_rate=[2, 3]))
    want = np.max([x[:, i : i + 4, j : j + 4] for i in (0, 2) for j in (0, 3)], 0)
    np.testing.assert_array_equal(found, want)
    np.testing.assert_allclose(run(tf.nn.pool(x, [2, 2], "AVG", "SAME", strides=[2, 1])), pooled(x, (2, 2), (2, 1), "SAME", np.mean))


@pytest.mark.parametrize(
    ("build", "error", "message"),
    [
        (lambda p: tf.nn.max_pool(p(2, 8, 8, 3), 20, 1, "VALID"), ValueError, "Negative dimension size caused by subtracting 20 from 8"),
        (lambda p: tf.nn.max_pool(p(2, 8, 8, 3), [2, 2, 2], 1, "VALID"), ValueError, "ksize should be of length 1, 2 or 4 but was 3"),
        (lambda p: tf.nn.max_pool(p(2, 8, 8, 3), 2, 2, "EXPLICIT"), ValueError, 'not in: "SAME", "VALID"'),
        (lambda p: tf.nn.max_pool_v2(p(2, 8), 2, 2, "VALID"), ValueError, "Input tensor must be of rank 3, 4 or 5 but was 2."),
        (
            lambda p: tf.nn.pool(p(2, 8, 8, 3), [2, 2], "MAX", "SAME", dilation_rate=[2, 2]),
            ValueError,
            "not implemented for dilation_rate > 1",
        ),
        (lambda p: tf.nn.max_pool_with_argmax(p(2, 8, 8, 3), 2, 2, "SAME"), TypeError, "Expected list for 'ksize' argument"),
    ],
)
def test_mistakes_are_found_when_the_graph_is_built(build, error, message):
    with tf.Graph().as_default(), pytest.raises(error, match=message):
        build(lambda *shape: tf.placeholder(tf.float32, shape))


def test_pooling_over_the_batch_is_refused():
    with pytest.raises(tf.errors.UnimplementedError, match="Pooling is not yet supported on the batch dimension."):
        run(tf.nn.max_pool(np.zeros((2, 2, 2, 1)), [2, 1, 1, 1], 1, "VALID"))
