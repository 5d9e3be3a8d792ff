"""Our own kernels of convolutions with windows of 4 x 4 and stride two, whichever processor they would be chosen on."""

import numpy as np
import pytest
import torch

import everflow as tf
from everflow.ops.nn.halving_convolutions import Halving
from everflow.ops.nn.windows import pads_of
from running import run

pytestmark = pytest.mark.processor


def never(*_):
    raise AssertionError("left to torch")


def numbers(*dims):
    return torch.from_numpy(np.random.RandomState(len(dims) + sum(dims)).standard_normal(dims).astype(np.float32))


def expected(x, filter, dy, padding):
    """torch's convolution in float64 with its gradients: result, of the input, of the filter."""
    x, filter = x.double().permute(0, 3, 1, 2).requires_grad_(), filter.double().permute(3, 2, 0, 1).requires_grad_()
    (top, bottom), (left, right) = pads_of(padding, x.shape[2:], (4, 4), (2, 2), (1, 1))
    y = torch.conv2d(torch.nn.functional.pad(x, (left, right, top, bottom)), filter, stride=2)
    y.backward(dy.double().permute(0, 3, 1, 2))
    return y.detach().permute(0, 2, 3, 1), x.grad.permute(0, 2, 3, 1), filter.grad.permute(2, 3, 1, 0)


def assert_close(found, wanted):
    """Sums of many products are right to five or six digits of what they typically are."""
    torch.testing.assert_close(found.double(), wanted, rtol=0, atol=3e-5 * float(wanted.square().mean().sqrt()))


@pytest.mark.parametrize("padding", ["SAME", "VALID"])
@pytest.mark.parametrize("dims", [(5, 14, 14, 32, 48), (3, 9, 20, 16, 16), (2, 4, 5, 48, 16), (1, 37, 34, 16, 80), (70, 16, 16, 16, 16)])
def test_convolutions_and_their_gradients(padding, dims):
    x, filter = numbers(*dims[:4]), numbers(4, 4, *dims[3:])
    halving = Halving(padding, tuple(filter.shape))
    *_, height, width = halving.fit(x.shape)
    dy = numbers(dims[0], height, width, dims[4])
    y, dx, df = expected(x, filter, dy, padding)
    assert_close(halving.forward(never)(x, filter), y)
    bias = numbers(dims[4])
    assert_close(halving.forward(never)(x, filter, bias), y + bias.double())
    assert_close(halving.input_gradient(never, lambda s: s)(list(x.shape), filter, dy), dx)
    assert_close(halving.filter_gradient(never, lambda s: s)(x, list(filter.shape), dy), df)


def test_fewer_multiplications_cost_few_digits():
    filter, x = numbers(4, 4, 64, 64), numbers(4, 16, 16, 64)
    y = expected(x, filter, torch.zeros(4, 8, 8, 64), "SAME")[0]
    tiled = Halving("SAME", (4, 4, 64, 64)).forward(never)(x, filter).double()
    plain = torch.conv2d(x.permute(0, 3, 1, 2), filter.permute(3, 2, 0, 1), stride=2, padding=1).permute(0, 2, 3, 1).double()
    assert (tiled - y).square().mean() < 25 * (plain - y).square().mean()


@pytest.mark.parametrize("wrong", [np.inf, np.nan])
@pytest.mark.parametrize("place", [(0, 5, 5, 0), (1, 16, 16, 3)])
def test_what_is_not_finite_stays_in_its_windows(place, wrong):
    x, filter, dy = numbers(2, 17, 17, 16), numbers(4, 4, 16, 16), numbers(2, 7, 7, 16)
    dy[1, 0, 1, 2] = x[place] = wrong
    fed = [tf.constant(t.numpy()) for t in (x, filter, dy)]
    y = tf.nn.conv2d(fed[0], fed[1], [1, 2, 2, 1], "VALID")
    found = run([y, *tf.gradients(y, fed[:2], fed[2])])
    for values, wanted in zip(found, expected(x, filter, dy, "VALID")):
        np.testing.assert_array_equal(np.isfinite(values), wanted.isfinite())
    assert np.isnan(found[0]).any() == np.isnan(wrong) * (place[1] == 5)


def test_sums_over_pictures_do_not_depend_on_threads():
    x, dy = numbers(70, 16, 16, 16), numbers(70, 8, 8, 16)
    collect = Halving("SAME", (4, 4, 16, 16)).filter_gradient(never, lambda s: s)
    threads = torch.get_num_threads()
    try:
        torch.set_num_threads(1)
        alone = collect(x, [4, 4, 16, 16], dy)
        torch.set_num_threads(3)
        assert all(torch.equal(collect(x, [4, 4, 16, 16], dy), alone) for _ in range(5))
    finally:
        torch.set_num_threads(threads)


def test_other_pictures_are_left_to_torch():
    halving = Halving("VALID", (4, 4, 16, 16))
    left = halving.forward(lambda *_: "torch")
    assert left(numbers(4, 3, 8, 16), numbers(4, 4, 16, 16)) == "torch"
    assert left(numbers(4, 8, 8, 8), numbers(4, 4, 16, 16)) == "torch"
    wrong = halving.input_gradient(lambda *_: "torch", lambda s: s)
    assert wrong([4, 8, 8, 16], numbers(4, 4, 16, 16), numbers(4, 3, 4, 16)) == "torch"
    wrong = halving.filter_gradient(lambda *_: "torch", lambda s: s)
    assert wrong(numbers(4, 8, 8, 16), [4, 4, 16, 32], numbers(4, 3, 3, 16)) == "torch"


def test_pictures_may_be_parts_of_larger_ones():
    x, filter = numbers(4, 10, 9, 32)[:, 1:, ::2, 16:], numbers(4, 4, 16, 16)
    y = Halving("SAME", (4, 4, 16, 16)).forward(never)(x, filter)
    assert_close(y, expected(x, filter, torch.zeros_like(y), "SAME")[0])


def test_generators_double_and_discriminators_halve(monkeypatch):
    """The same network with and without kernels of our own, with the gradients of both its filters."""
    x, up, down = (v.numpy() for v in (numbers(3, 5, 6, 32), numbers(4, 4, 16, 32), numbers(4, 4, 16, 48)))

    def results():
        with tf.Graph().as_default():
            given, first, second = tf.constant(x), tf.constant(up), tf.constant(down)
            doubled = tf.nn.conv2d_transpose(given, first, [3, 10, 12, 16], [1, 2, 2, 1])
            halved = tf.nn.bias_add(tf.nn.conv2d(doubled, second, [1, 2, 2, 1], "SAME"), tf.ones([48]))
            gradients = tf.gradients(tf.reduce_sum(halved * halved), [given, first, second])
            return [torch.from_numpy(v) for v in run([doubled, halved, *gradients])]

    ours = results()
    monkeypatch.setenv("TF_ENABLE_WINOGRAD_NONFUSED", "0")
    for found, wanted in zip(ours, results()):
        assert_close(found, wanted.double())
