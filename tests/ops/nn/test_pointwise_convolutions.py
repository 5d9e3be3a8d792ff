"""Convolutions whose windows are single pixels, and filters in the order of memory that libraries take."""

import numpy as np
import pytest
import torch

import everflow as tf
from everflow.ops.nn import filters, pointwise_convolutions
from everflow.ops.nn.windows import Layout
from running import run

pytestmark = pytest.mark.processor


def random(*dims):
    return np.random.RandomState(sum(dims)).standard_normal(dims)


@pytest.fixture
def products(monkeypatch):
    """How often a general product of matrices was asked for."""
    made, put = [], pointwise_convolutions.put_product
    monkeypatch.setattr(pointwise_convolutions, "put_product", lambda *args: (made.append(1), put(*args)))
    monkeypatch.setattr(pointwise_convolutions, "limits", lambda: "some")
    return made


def results(x, filter, bias, stride, dtype):
    """A convolution, one with a bias and one that is added to something, and the gradients of the first."""
    x, filter, bias = (tf.constant(value, dtype) for value in (x, filter, bias))
    y = tf.nn.conv2d(x, filter, [1, stride, stride, 1], "SAME")
    weights = tf.cos(tf.range(tf.cast(tf.size(y), tf.float64), dtype=tf.float64))
    dy = tf.reshape(tf.cast(weights, dtype), tf.shape(y))
    return run([y, tf.nn.bias_add(y, bias), tf.nn.relu(tf.nn.bias_add(y, bias)), dy * 2.0 + y, *tf.gradients(y, [x, filter], dy)])


@pytest.mark.parametrize("stride", [1, 2])
@pytest.mark.parametrize("depth,channels", [(160, 128), (100, 200), (16, 16), (24, 1000), (20000, 1)])
def test_values_and_gradients_are_those_of_float64(depth, channels, stride, products):
    arrays = random(3, 7, 6, depth), random(1, 1, depth, channels), random(channels)
    for found, expected in zip(results(*arrays, stride, tf.float32), results(*arrays, stride, tf.float64), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5 * np.abs(expected).max())
    assert bool(products) == (depth * channels > pointwise_convolutions.LARGEST)


def test_gradients_are_added_to_others(products):
    def found(dtype):
        x = tf.constant(random(2, 5, 6, 160), dtype)
        f, g = (tf.constant(random(1, 1, 160, 120 + n), dtype) for n in (0, 8))
        loss = sum(tf.reduce_sum(tf.sin(tf.nn.conv2d(x, filter, [1, n, n, 1], "SAME"))) for n, filter in ((1, f), (2, g)))
        return run(tf.gradients(loss + tf.reduce_sum(tf.square(x)), [x, f, g]))

    for ours, expected in zip(found(tf.float32), found(tf.float64), strict=True):
        np.testing.assert_allclose(ours, expected, rtol=1e-4, atol=1e-4)
    assert products


@pytest.mark.parametrize("window", [(1, 1), (7, 7), (3, 5), (2, 3, 4)])
@pytest.mark.parametrize("depth,channels", [(64, 80), (37, 130), (1, 9000), (700, 3), (2, 2)])
def test_filters_are_turned_exactly(window, depth, channels):
    layout = Layout("NHWC" if len(window) == 2 else "NDHWC")
    filter = torch.from_numpy(random(*window, depth, channels)).float()
    laid = filters.for_torch(layout)(filter)
    assert torch.equal(laid, filter.permute(filters.ORDERS[layout.rank]))
    if filter.numel() >= filters.FEWEST:
        assert laid.permute(0, *range(2, layout.rank), 1).is_contiguous()
    back = filters.from_torch(layout)(laid)
    assert back.is_contiguous() and torch.equal(back, filter)


def test_other_types_and_places_are_turned_by_torch():
    layout, filter = Layout("NHWC"), torch.from_numpy(random(3, 3, 64, 80))
    assert torch.equal(filters.for_torch(layout)(filter), filter.permute(3, 2, 0, 1))
    assert torch.equal(filters.from_torch(layout)(filter.permute(3, 2, 0, 1)), filter)
    part = filter.float()[:, :, ::2]
    assert torch.equal(filters.for_torch(layout)(part), part.permute(3, 2, 0, 1))
    assert filters.for_torch(Layout("NCHW"))(filter.float()).shape == (80, 64, 3, 3)


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("rows,columns", [(1, 1), (16, 16), (15, 33), (64, 48), (129, 1000), (1000, 7)])
def test_matrices_are_transposed_exactly(rows, columns, threads, monkeypatch):
    monkeypatch.setattr(filters.torch, "get_num_threads", lambda: threads)
    x = torch.from_numpy(random(rows, columns)).float()
    assert torch.equal(filters.transposed(x), x.t())
