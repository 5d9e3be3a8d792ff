"""Our own products of matrices, whichever processor they would be chosen on."""

import pytest
import torch

from everflow import _native
from everflow.ops.linalg import matrix_products
from everflow.ops.linalg.matrix_products import Limits, add_product, multiply, multiply_batches, turned

pytestmark = pytest.mark.processor


def numbers(*dims):
    return torch.randn(*dims, generator=torch.Generator().manual_seed(sum(dims)))


@pytest.fixture(autouse=True)
def limits(monkeypatch):
    """The same choices on all processors."""
    monkeypatch.setattr(matrix_products, "limits", lambda: Limits(1 << 17, 4, 12, 1 << 13))


@pytest.fixture
def calls(monkeypatch):
    """The names of our kernels as they are called."""
    made = []
    for name in ("multiply_matrices", "multiply_batches"):
        kernel = getattr(_native, name)
        monkeypatch.setattr(_native, name, lambda *args, name=name, kernel=kernel: (made.append(name), kernel(*args)))
    return made


def assert_close(found, expected):
    torch.testing.assert_close(found.double(), expected, rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize(
    "height,depth,columns",
    [(64, 700, 1030), (1, 1, 1), (37, 53, 71), (800, 7, 33), (13, 1000, 5), (6, 256, 16), (5, 257, 100), (130, 520, 8)],
)
@pytest.mark.parametrize("flip_a", [False, True])
@pytest.mark.parametrize("flip_b", [False, True])
@pytest.mark.parametrize("threads", [1, 2, 6])
def test_products_in_all_orders(height, depth, columns, flip_a, flip_b, threads):
    a = numbers(depth, height).t() if flip_a else numbers(height, depth)
    b = numbers(columns, depth).t() if flip_b else numbers(depth, columns)
    bias, found = numbers(columns), torch.full((height, columns), float("nan"))
    sizes = (height, depth, columns, *a.stride(), *b.stride())
    _native.multiply_matrices(a.data_ptr(), b.data_ptr(), bias.data_ptr(), found.data_ptr(), *sizes, False, False, threads)
    expected = a.double() @ b.double()
    assert_close(found, expected + bias.double())
    total = found.clone()
    _native.multiply_matrices(a.data_ptr(), b.data_ptr(), 0, total.data_ptr(), *sizes, True, False, threads)
    assert_close(total, 2 * expected + bias.double())


@pytest.mark.parametrize("columns,is_ours", [(2, False), (4, False), (5, True), (10, True), (15, True)])
@pytest.mark.parametrize("height", [1, 31, 32, 100])
@pytest.mark.parametrize("flip_a", [False, True])
@pytest.mark.parametrize("flip_b", [False, True])
def test_few_columns(height, columns, is_ours, flip_a, flip_b, calls):
    a, b, bias = numbers(height, 300), numbers(300, columns), numbers(columns)
    product = turned(multiply, flip_a, flip_b)
    given = [a.t().contiguous() if flip_a else a, b.t().contiguous() if flip_b else b]
    for more in ([], [bias]):
        found = product(*given, *more)
        assert found.is_contiguous()
        assert_close(found, a.double() @ b.double() + sum(x.double() for x in more))
    assert bool(calls) == (is_ours and height >= 32)


def test_a_layer_with_its_bias(calls):
    x, w, bias = numbers(64, 600), numbers(600, 900), numbers(900)
    expected = x.double() @ w.double() + bias.double()
    assert_close(multiply(x, w, bias), expected)
    assert_close(turned(multiply, True, True)(x.t(), w.t(), bias), expected)
    assert_close(add_product(bias.expand(64, 900).clone(), x, w), expected)
    assert len(calls) == 3
    assert_close(multiply(x, w, bias.expand(64, 900)), expected)
    assert_close(add_product(bias.repeat(64, 2)[:, :900], x, w), expected)
    assert len(calls) == 3


@pytest.mark.parametrize("a,b", [((0, 4), (4, 3)), ((3, 0), (0, 4)), ((2, 3), (3, 2)), ((1, 3000), (3000, 300)), ((300, 3000), (3000, 1))])
def test_what_is_small_or_empty_is_left_to_torch(a, b, calls):
    a, b = numbers(*a), numbers(*b)
    assert torch.equal(multiply(a, b), torch.mm(a, b))
    assert torch.equal(add_product(torch.ones(len(a), b.shape[1]), a, b), torch.ones(len(a), b.shape[1]).addmm_(a, b))
    assert not calls


def test_parts_of_matrices(calls):
    a, b = numbers(128, 1200)[::2, :400], numbers(400, 2000)[:, 7:800]
    assert_close(multiply(a, b), a.double() @ b.double())
    assert calls
    a, b = numbers(128, 1200)[::2, ::3], numbers(400, 2000)[:, ::2]
    assert_close(multiply(a, b), a.double() @ b.double())
    assert len(calls) == 1


def test_doubles_are_left_to_torch(calls):
    a, b = numbers(64, 600).double(), numbers(600, 900).double()
    assert torch.equal(multiply(a, b), torch.mm(a, b))
    x, y = numbers(8, 64, 64).double(), numbers(8, 64, 64).double()
    assert torch.equal(multiply_batches(x, y), x @ y)
    assert not calls


def test_matrices_that_do_not_fit_are_refused():
    with pytest.raises(RuntimeError, match="mat1 and mat2 shapes cannot be multiplied"):
        multiply(numbers(64, 600), numbers(500, 900))
    with pytest.raises(RuntimeError):
        multiply_batches(numbers(3, 64, 60), numbers(2, 60, 90))


BATCHES = {
    "three axes": (numbers(5, 33, 17), numbers(5, 17, 40)),
    "heads": (numbers(2, 19, 3, 32).transpose(1, 2), numbers(2, 40, 3, 32).transpose(1, 2).mT),
    "one of them": (numbers(2, 3, 33, 17), numbers(2, 20, 3, 17).transpose(1, 2).mT),
    "both turned": (numbers(2, 24, 3, 16).transpose(1, 2).mT, numbers(2, 3, 70, 24).mT),
    "part of larger ones": (numbers(4, 3, 30, 90)[1:, 1:, ::2, 5:70], numbers(4, 2, 65, 50)[1:]),
    "the same for all": (numbers(1, 1, 12, 64).expand(3, 2, 12, 64), numbers(3, 64, 2, 31).transpose(1, 2)),
    "broadcast": (numbers(2, 1, 16, 32), numbers(1, 3, 32, 40)),
    "fewer pairs than threads": (numbers(1, 200, 32), numbers(1, 32, 100)),
}


@pytest.mark.parametrize("x,y", BATCHES.values(), ids=BATCHES)
@pytest.mark.parametrize("threads", [1, 2])
def test_batches(x, y, threads, calls, monkeypatch):
    monkeypatch.setattr(matrix_products.torch, "get_num_threads", lambda: threads)
    found = multiply_batches(x, y)
    assert calls == ["multiply_batches"] and found.is_contiguous()
    assert_close(found, x.double() @ y.double())


def test_a_batch_times_one_matrix_is_one_product(calls):
    x, y = numbers(4, 20, 300), numbers(300, 50)
    assert_close(multiply_batches(x, y), x.double() @ y.double())
    assert calls == ["multiply_matrices"]


OTHERS = {
    "few numbers": (numbers(2, 3, 2, 4), numbers(2, 3, 4, 5)),
    "one row of each": (numbers(2, 1, 3, 64).transpose(1, 2), numbers(2, 200, 3, 64).transpose(1, 2).mT),
    "nothing": (numbers(0, 3, 64, 32), numbers(0, 3, 32, 64)),
    "every other column": (numbers(2, 3, 32, 64)[..., ::2], numbers(2, 3, 32, 32)),
    "five axes": (numbers(2, 1, 3, 32, 32), numbers(2, 2, 1, 32, 32)),
}


@pytest.mark.parametrize("x,y", OTHERS.values(), ids=OTHERS)
def test_other_batches_are_left_to_torch(x, y, calls):
    found = multiply_batches(x, y)
    assert not calls
    torch.testing.assert_close(found, x @ y, rtol=1e-4, atol=1e-4)


def test_where_torch_is_better_nothing_is_ours(calls, monkeypatch):
    monkeypatch.setattr(matrix_products, "limits", lambda: None)
    a, b = numbers(64, 600), numbers(600, 900)
    assert torch.equal(multiply(a, b), torch.mm(a, b))
    assert torch.equal(multiply_batches(a.view(1, 64, 600), b.view(1, 600, 900)), (a @ b)[None])
    assert not calls
