"""Our own kernels of convolutions with stride one, whichever processor they would be chosen on."""

import numpy as np
import pytest
import torch

from everflow.ops.nn import window_convolutions
from everflow.ops.nn.window_convolutions import Windows

pytestmark = pytest.mark.processor


def never(*_):
    raise AssertionError("left to torch")


def numbers(*dims):
    return torch.from_numpy(np.random.RandomState(len(dims) + sum(dims)).standard_normal(dims).astype(np.float32))


def expected(x, filter, dy, padding):
    """torch's convolution in float64 with its gradients: result, of the input, of the filter."""
    x, filter = x.double().permute(0, 3, 1, 2).requires_grad_(), filter.double().permute(3, 2, 0, 1).requires_grad_()
    rows, columns = filter.shape[2:]
    top, left = ((rows - 1) // 2, (columns - 1) // 2) if padding == "SAME" else (0, 0)
    bottom, right = (rows - 1 - top, columns - 1 - left) if padding == "SAME" else (0, 0)
    y = torch.conv2d(torch.nn.functional.pad(x, (left, right, top, bottom)), filter)
    y.backward(dy.double().permute(0, 3, 1, 2))
    return y.detach().permute(0, 2, 3, 1), x.grad.permute(0, 2, 3, 1), filter.grad.permute(2, 3, 1, 0)


def assert_close(found, wanted):
    """Sums of many products are right to five or six digits of what they typically are."""
    torch.testing.assert_close(found.double(), wanted, rtol=0, atol=3e-5 * float(wanted.square().mean().sqrt()))


SIZES = [
    ((14, 14, 32), (5, 5, 64)),
    ((7, 19, 16), (3, 3, 48)),
    ((9, 6, 48), (5, 5, 16)),
    ((6, 9, 48), (2, 4, 16)),
    ((5, 3, 16), (1, 3, 16)),
    ((3, 3, 16), (3, 3, 16)),
    ((9, 11, 144), (3, 3, 128)),
    ((48, 47, 16), (3, 3, 1040)),
    ((10, 7, 160), (5, 5, 112)),
]


@pytest.mark.parametrize("padding", ["SAME", "VALID"])
@pytest.mark.parametrize("winograd", ["1", "0"])
@pytest.mark.parametrize("picture,filter", SIZES)
def test_convolutions_and_their_gradients(padding, winograd, picture, filter, monkeypatch):
    monkeypatch.setenv("TF_ENABLE_WINOGRAD_NONFUSED", winograd)
    filter = numbers(*filter[:2], picture[2], filter[2])
    x = numbers(5, *picture)
    windows = Windows(padding, tuple(filter.shape))
    _, _, height, width = windows.fit(x.shape, 1)
    dy = numbers(5, height, width, filter.shape[3])
    y, dx, df = expected(x, filter, dy, padding)
    assert_close(windows.forward(never)(x, filter), y)
    bias = numbers(filter.shape[3])
    assert_close(windows.forward(never)(x, filter, bias), y + bias.double())
    assert_close(windows.input_gradient(never, lambda s: s)(list(x.shape), filter, dy), dx)
    assert_close(windows.filter_gradient(never, lambda s: s)(x, list(filter.shape), dy), df)


def test_fewer_multiplications_cost_no_digits():
    filter, x = numbers(3, 3, 64, 64), numbers(4, 12, 12, 64)
    y = expected(x, filter, torch.zeros(4, 12, 12, 64), "SAME")[0]
    tiled = Windows("SAME", (3, 3, 64, 64)).forward(never)(x, filter).double()
    plain = torch.conv2d(x.permute(0, 3, 1, 2), filter.permute(3, 2, 0, 1), padding=1).permute(0, 2, 3, 1).double()
    assert (tiled - y).square().mean() < 16 * (plain - y).square().mean()


def test_large_filters_cost_no_digits_either():
    filter, x = numbers(3, 3, 256, 128), numbers(4, 12, 12, 256)
    y = expected(x, filter, torch.zeros(4, 12, 12, 128), "SAME")[0]
    tiled = Windows("SAME", (3, 3, 256, 128)).forward(never)(x, filter).double()
    plain = torch.conv2d(x.permute(0, 3, 1, 2), filter.permute(3, 2, 0, 1), padding=1).permute(0, 2, 3, 1).double()
    assert (tiled - y).square().mean() < 16 * (plain - y).square().mean()


def test_large_filters_next_to_few_pixels_are_left_to_torch():
    general = lambda *_: "general"
    for channels, batch, is_ours in ((256, 2, False), (256, 3, True), (512, 11, False), (512, 12, True)):
        windows = Windows("SAME", (3, 3, channels, channels))
        x, filter = numbers(batch, 7, 7, channels), numbers(3, 3, channels, channels)
        assert windows.forward(general)(x, filter) == "general" if not is_ours else windows.forward(never)(x, filter).shape == x.shape
        assert (windows.input_gradient(general, list)(x.shape, filter, x) == "general") != is_ours
        assert (windows.filter_gradient(general, tuple)(x, filter.shape, x) == "general") == (batch < 3)


@pytest.mark.parametrize("wrong", [np.inf, np.nan])
@pytest.mark.parametrize("depth", [16, 144])
def test_infinities_and_nans_stay_in_their_windows(wrong, depth):
    x, filter, dy = numbers(3, 12, 12, depth), numbers(3, 3, depth, 128), numbers(3, 12, 12, 128)
    spoiled, dy_spoiled = x.clone(), dy.clone()
    spoiled[1, 5, 6, 3] = dy_spoiled[1, 5, 6, 3] = wrong

    def general(name):
        layer = lambda x, f: torch.conv2d(x.permute(0, 3, 1, 2), f.permute(3, 2, 0, 1), padding=1).permute(0, 2, 3, 1)
        return {
            "forward": layer,
            "input": lambda shape, f, dy: torch.autograd.functional.vjp(lambda x: layer(x, f), torch.zeros(list(shape)), dy)[1],
            "filter": lambda x, shape, dy: torch.autograd.functional.vjp(lambda f: layer(x, f), torch.zeros(list(shape)), dy)[1],
        }[name]

    windows = Windows("SAME", (3, 3, depth, 128))
    y = windows.forward(general("forward"))(spoiled, filter)
    dx = windows.input_gradient(general("input"), list)(x.shape, filter, dy_spoiled)
    for found in (y, dx):
        reached = torch.zeros(3, 12, 12, dtype=torch.bool)
        reached[1, 4:7, 5:8] = True
        assert torch.equal(~torch.isfinite(found).all(-1), reached)
    df = windows.filter_gradient(general("filter"), tuple)(spoiled, filter.shape, dy)
    assert torch.equal(~torch.isfinite(df).all((0, 1, 3)), torch.arange(depth) == 3)


def test_threads_share_a_single_picture(monkeypatch):
    monkeypatch.setattr(window_convolutions.torch, "get_num_threads", lambda: 2)
    x, filter = numbers(1, 27, 28, 16), numbers(3, 3, 16, 32)
    y, dx, df = expected(x, filter, dy := numbers(1, 27, 28, 32), "SAME")
    windows = Windows("SAME", (3, 3, 16, 32))
    assert_close(windows.forward(never)(x, filter), y)
    assert_close(windows.input_gradient(never, list)(x.shape, filter, dy), dx)
    assert_close(windows.filter_gradient(never, tuple)(x, filter.shape, dy), df)
    assert windows.forward(lambda *_: "general")(x[:, 9:], filter) == "general"


def test_sums_over_pictures_are_the_same_each_time():
    x, dy = numbers(9, 8, 8, 16), numbers(9, 8, 8, 16)
    run = Windows("SAME", (3, 3, 16, 16)).filter_gradient(never, lambda s: s)
    first = run(x, [3, 3, 16, 16], dy)
    assert all(torch.equal(run(x, [3, 3, 16, 16], dy), first) for _ in range(20))


def test_other_pictures_are_left_to_torch():
    windows = Windows("VALID", (3, 3, 16, 16))
    left = windows.forward(lambda *_: "torch")
    assert left(numbers(4, 2, 8, 16), numbers(3, 3, 16, 16)) == "torch"
    assert left(numbers(4, 8, 8, 8), numbers(3, 3, 16, 16)) == "torch"
    wrong = windows.input_gradient(lambda *_: "torch", lambda s: s)
    assert wrong([4, 8, 8, 16], numbers(3, 3, 16, 16), numbers(4, 5, 6, 16)) == "torch"


def test_pictures_may_be_parts_of_larger_ones():
    x, filter = numbers(4, 10, 9, 32)[:, 1:, ::2, 16:], numbers(3, 3, 16, 16)
    y = Windows("SAME", (3, 3, 16, 16)).forward(never)(x, filter)
    assert_close(y, expected(x, filter, torch.zeros_like(y), "SAME")[0])
