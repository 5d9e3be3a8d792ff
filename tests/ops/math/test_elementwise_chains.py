"""The native loop that runs chains of element-wise ops."""

import numpy as np
import pytest
import torch
from planning import random

import everflow as tf
from everflow._native import ELEMENTWISE, ElementwiseChain

pytestmark = pytest.mark.processor


@pytest.mark.parametrize("name", sorted(ELEMENTWISE))
def test_each_instruction_agrees_with_its_op(name):
    special = [0.0, -0.0, 1e-4, -1e-4, 20.0, -20.0, 90.0, -90.0, np.inf, -np.inf, np.nan]
    x = np.array([*special, *random(600) * 3], np.float32)
    y = np.array([*[1.0] * len(special), *random(600)[::-1] + 0.1], np.float32)
    out = torch.empty(x.size)
    a, b = torch.from_numpy(x), torch.from_numpy(y)
    ElementwiseChain(1, x.size, [(0, 0, x.size, False), (1, 0, x.size, False)], [], [(name, 0, 1)], [(2, 0, x.size, False)]).run(
        1, a.data_ptr(), b.data_ptr(), out.data_ptr()
    )
    function = getattr(tf.raw_ops, name)
    arguments = [x] if len(function.__signature__.parameters) == 2 else [x, y]
    with tf.Graph().as_default(), tf.Session() as sess:
        names = list(function.__signature__.parameters)
        expected = sess.run(function(**dict(zip(names, arguments))))
    # Where x is near 1, what is left of 1 - x * x depends on whether the product is rounded first, which processors decide.
    rounding = np.nan_to_num(np.abs(x * x * y) * 2e-7, posinf=0) if name == "TanhGrad" else 1e-37
    # Infinities and NaNs alone must be the same ones; numpy 1.26 has no tolerance for each element.
    finite = np.isfinite(expected)
    close = np.where(
        finite,
        np.abs(out.numpy() - np.where(finite, expected, 0)) <= rounding + 5e-7 * np.abs(expected),
        (out.numpy() == expected) | np.isnan(out.numpy()) & np.isnan(expected),
    )
    assert close.all(), list(zip(x[~close], y[~close], out.numpy()[~close], expected[~close]))


@pytest.mark.parametrize(
    ("name", "expected"), [("Sigmoid", [0, 0, 1, 1, np.nan]), ("Tanh", [-1, -1, 1, 1, np.nan]), ("Exp", [0, 0, np.inf, np.inf, np.nan])]
)
def test_limits_are_reached_exactly(name, expected):
    x = torch.tensor([-np.inf, -1e4, 1e4, np.inf, np.nan] * 8)
    out = torch.empty(len(x))
    ElementwiseChain(1, len(x), [(0, 0, len(x), False)], [], [(name, 0, 0)], [(1, 0, len(x), False)]).run(1, x.data_ptr(), out.data_ptr())
    np.testing.assert_array_equal(out.numpy(), np.float32(expected * 8))


def test_instructions_must_be_sound():
    with pytest.raises(ValueError, match="no loop for Gather"):
        ElementwiseChain(1, 4, [(0, 0, 4, False)], [], [("Gather", 0, 0)], [(1, 0, 4, False)])
    with pytest.raises(ValueError, match="before its operands"):
        ElementwiseChain(1, 4, [(0, 0, 4, False)], [], [("Add", 0, 5)], [(1, 0, 4, False)])
    chain = ElementwiseChain(1, 4, [(0, 0, 4, False)], [], [("Add", 0, 0)], [(1, 0, 4, False)])
    with pytest.raises(ValueError, match="a pointer for each tensor"):
        chain.run(1, 0)


@pytest.mark.parametrize(("rows", "columns"), [(1, 100), (7, 100), (9, 128), (3, 256), (5, 1), (4, 600)])
def test_parts_of_wider_tensors(rows, columns):
    """What is read and written lies in columns of wider tensors; what is between lies where it is near."""
    x, y = random(rows, 3 * columns), random(rows, columns)
    out, last = torch.zeros(rows, 2 * columns), torch.zeros(rows, columns)
    chain = ElementwiseChain(
        rows,
        columns,
        [(0, columns, 3 * columns, False), (0, 2 * columns, 3 * columns, False), (1, 0, columns, False)],
        [2.0],
        [("Mul", 0, 1), ("Sub", 4, 2), ("Mul", 5, 3), ("AddV2", 6, 0)],
        [(-1, 0, 0, False), (2, columns, 2 * columns, False), (-1, 0, 0, False), (3, 0, columns, False)],
    )
    a, b = torch.from_numpy(x), torch.from_numpy(y)
    chain.run(2, a.data_ptr(), b.data_ptr(), out.data_ptr(), last.data_ptr())
    between = x[:, columns : 2 * columns] * x[:, 2 * columns :] - y
    np.testing.assert_allclose(out.numpy(), np.hstack([np.zeros_like(y), between]), rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(last.numpy(), between * 2 + x[:, columns : 2 * columns], rtol=1e-6, atol=1e-6)


def test_sums_of_parts_of_wider_tensors():
    x, columns = random(6, 20), 5
    products, sums = torch.zeros(6, columns), torch.zeros(columns)
    places = [(0, 0, 20, False), (0, 10, 20, False)]
    chain = ElementwiseChain(6, columns, places, [], [("Mul", 0, 1)], [(1, 0, columns, False)], [(0, "columns", 2, 1.0)])
    a = torch.from_numpy(x)
    chain.run(1, a.data_ptr(), products.data_ptr(), sums.data_ptr())
    np.testing.assert_allclose(products.numpy(), x[:, :5] * x[:, 10:15], rtol=1e-6)
    np.testing.assert_allclose(sums.numpy(), x[:, :5].sum(0), rtol=1e-5, atol=1e-6)
