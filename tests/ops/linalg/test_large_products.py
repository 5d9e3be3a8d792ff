"""Our own products of matrices, whichever processor they would be chosen on."""

import numpy as np
import pytest
import torch

from everflow import _native
from everflow.ops.linalg.large_products import multiply, narrow, turned

pytestmark = pytest.mark.processor


def numbers(*dims):
    return torch.from_numpy(np.random.RandomState(sum(dims)).standard_normal(dims).astype(np.float32))


@pytest.mark.parametrize(
    "height,depth,columns", [(64, 700, 1030), (1, 1, 1), (37, 53, 71), (800, 7, 33), (13, 1000, 5), (6, 256, 16), (5, 257, 100)]
)
@pytest.mark.parametrize("flip_a", [False, True])
@pytest.mark.parametrize("flip_b", [False, True])
@pytest.mark.parametrize("threads", [1, 2])
def test_products_in_all_orders(height, depth, columns, flip_a, flip_b, threads):
    a = numbers(depth, height).t() if flip_a else numbers(height, depth)
    b = numbers(columns, depth).t() if flip_b else numbers(depth, columns)
    bias, found = numbers(columns), torch.full((height, columns), float("nan"))
    sizes = (height, depth, columns, *a.stride(), *b.stride())
    _native.multiply_matrices(a.data_ptr(), b.data_ptr(), bias.data_ptr(), found.data_ptr(), sizes, threads)
    torch.testing.assert_close(found.double(), a.double() @ b.double() + bias.double(), rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize("height", [1, 31, 32, 100])
@pytest.mark.parametrize("flip_a", [False, True])
@pytest.mark.parametrize("flip_b", [False, True])
def test_few_columns(height, flip_a, flip_b):
    a, b, bias = numbers(height, 53), numbers(53, 10), numbers(10)
    product = turned(narrow, flip_a, flip_b)
    given = [a.t().contiguous() if flip_a else a, b.t().contiguous() if flip_b else b]
    for more in ([], [bias]):
        found = product(*given, *more)
        assert found.is_contiguous()
        torch.testing.assert_close(found.double(), a.double() @ b.double() + sum(x.double() for x in more), rtol=1e-5, atol=1e-5)


def test_a_layer_with_its_bias():
    x, w, bias = numbers(64, 600), numbers(600, 900), numbers(900)
    expected = x.double() @ w.double() + bias.double()
    torch.testing.assert_close(multiply(x, w, bias).double(), expected, rtol=1e-5, atol=1e-4)
    torch.testing.assert_close(turned(multiply, True, True)(x.t(), w.t(), bias).double(), expected, rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize("a,b", [((0, 4), (4, 3)), ((3, 0), (0, 4)), ((2, 3), (3, 2)), ((300, 300), (300, 300))])
def test_what_is_small_or_empty_is_left_to_torch(a, b):
    a, b = numbers(*a), numbers(*b)
    assert torch.equal(multiply(a, b), torch.mm(a, b))


def test_parts_of_matrices():
    a, b = numbers(128, 1200)[::2, ::3], numbers(400, 2000)[:, ::2]
    torch.testing.assert_close(multiply(a, b).double(), a.double() @ b.double(), rtol=1e-5, atol=1e-4)


def test_matrices_that_do_not_fit_are_refused():
    with pytest.raises(RuntimeError, match="mat1 and mat2 shapes cannot be multiplied"):
        multiply(numbers(64, 600), numbers(500, 900))
