"""Products of many pairs of matrices by our own kernel, wherever these lie in memory."""

import pytest
import torch

from everflow import _native
from everflow.ops.linalg.transposed_products import multiply_transposed

pytestmark = pytest.mark.processor


def numbers(*dims):
    return torch.randn(*dims, generator=torch.Generator().manual_seed(sum(dims)))


@pytest.fixture
def calls(monkeypatch):
    """How often the kernel was asked."""
    made, multiply = [], _native.multiply_batches
    monkeypatch.setattr(_native, "multiply_batches", lambda *args: (made.append(1), multiply(*args)))
    return made


PAIRS = {
    "heads": (numbers(2, 9, 3, 32).transpose(1, 2), numbers(2, 40, 3, 32).transpose(1, 2)),
    "one of them": (numbers(2, 3, 33, 17), numbers(2, 20, 3, 17).transpose(1, 2)),
    "transposed twice": (numbers(2, 16, 3, 24).transpose(1, 2).mT, numbers(2, 3, 16, 70).mT),
    "part of larger ones": (numbers(4, 3, 30, 90)[1:, 1:, ::2, 5:70], numbers(4, 2, 50, 65)[1:]),
    "the same for all": (numbers(1, 1, 12, 64).expand(3, 2, 12, 64), numbers(3, 31, 2, 64).transpose(1, 2)),
}


@pytest.mark.parametrize("x,y", PAIRS.values(), ids=PAIRS)
def test_products_are_those_of_float64(x, y, calls):
    found = multiply_transposed(x, y)
    assert calls and found.is_contiguous()
    torch.testing.assert_close(found.double(), x.double() @ y.double().mT, rtol=1e-4, atol=1e-4)


OTHERS = {
    "few numbers": (numbers(2, 3, 2, 4), numbers(2, 3, 5, 4)),
    "broadcast batches": (numbers(2, 1, 16, 32), numbers(2, 3, 16, 32)),
    "one batch, as it lies": (numbers(5, 33, 17), numbers(5, 20, 17)),
    "two axes of a batch that are one": (numbers(2, 3, 16, 32), numbers(2, 3, 40, 32)),
    "one row of each": (numbers(2, 1, 3, 64).transpose(1, 2), numbers(2, 200, 3, 64).transpose(1, 2)),
    "no batch": (numbers(64, 64), numbers(64, 64)),
    "nothing": (numbers(0, 3, 64, 32), numbers(0, 3, 64, 32)),
    "every other column": (numbers(2, 3, 32, 64)[..., ::2], numbers(2, 3, 32, 32)),
}


@pytest.mark.parametrize("x,y", OTHERS.values(), ids=OTHERS)
def test_others_are_left_to_torch(x, y, calls):
    found = multiply_transposed(x, y)
    assert not calls
    torch.testing.assert_close(found, x @ y.mT, rtol=1e-4, atol=1e-4)
