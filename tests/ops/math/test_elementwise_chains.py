"""The native loop that runs chains of element-wise ops."""

import numpy as np
import pytest
import torch
from planning import random

import everflow as tf
from everflow._native import ELEMENTWISE, ElementwiseChain
from everflow.graph import opdefs
from everflow.ops.math.elementwise_chains import ATTRIBUTES

pytestmark = pytest.mark.processor


def computed(name, *arrays, constants=()):
    """What an instruction makes of arrays and constants."""
    tensors = [torch.from_numpy(x) for x in arrays]
    size, count = arrays[0].size, len(arrays) + len(constants)
    out = torch.empty(size)
    operands = [min(i, count - 1) for i in range(3)]
    places = [(i, 0, size, False) for i in range(len(arrays) + 1)]
    chain = ElementwiseChain(1, size, places[:-1], list(constants), [(name, *operands)], places[-1:])
    chain.run(1, *[x.data_ptr() for x in (*tensors, out)])
    return out.numpy()


@pytest.mark.parametrize("name", sorted(name for name in ELEMENTWISE if not name.startswith("_")))
@pytest.mark.filterwarnings("ignore:overflow")
def test_each_instruction_agrees_with_its_op(name):
    special = [0.0, -0.0, 1e-4, -1e-4, 20.0, -20.0, 90.0, -90.0, np.inf, -np.inf, np.nan]
    x = np.array([*special, *random(600) * 3], np.float32)
    y = np.array([*[1.0] * len(special), *random(600)[::-1] + 0.1], np.float32)
    of_truths = name.startswith("Logical") or name == "Cast"
    arrays = [x > 1, y > 1] if of_truths else [x > 1, x, y] if "Select" in name else [x, y - 1, y]
    count = len(opdefs.find(name).inputs)
    arrays = [x, y] if count == 2 and not of_truths else arrays[:count]
    constants = [0.2] if name in ATTRIBUTES else []
    out = computed(name, *[v.astype(np.float32) for v in arrays], constants=constants)
    names = list(getattr(tf.raw_ops, name).__signature__.parameters)
    with tf.Graph().as_default(), tf.Session() as sess:
        expected = sess.run(getattr(tf.raw_ops, name)(**dict(zip(names, [*arrays, *([tf.float32] if name == "Cast" else constants)]))))
    expected = expected.astype(np.float32)
    # Where x is near 1, what is left of 1 - x * x depends on whether the product is rounded first, which processors decide.
    rounding = np.nan_to_num(np.abs(x * x * y) * 2e-7, posinf=0) if name == "TanhGrad" else 1e-37
    # Infinities and NaNs alone must be the same ones; numpy 1.26 has no tolerance for each element.
    finite = np.isfinite(expected)
    close = np.where(
        finite,
        np.abs(out - np.where(finite, expected, 0)) <= rounding + 5e-7 * np.abs(expected),
        (out == expected) | np.isnan(out) & np.isnan(expected),
    )
    assert close.all(), list(zip(x[~close], y[~close], out[~close], expected[~close]))


@pytest.mark.parametrize(
    ("name", "expected"), [("Sigmoid", [0, 0, 1, 1, np.nan]), ("Tanh", [-1, -1, 1, 1, np.nan]), ("Exp", [0, 0, np.inf, np.inf, np.nan])]
)
def test_limits_are_reached_exactly(name, expected):
    found = computed(name, np.float32([-np.inf, -1e4, 1e4, np.inf, np.nan] * 8))
    np.testing.assert_array_equal(found, np.float32(expected * 8))


TRUTHS = {
    "Sin": np.sin, "Cos": np.cos, "Tan": np.tan, "Atan": np.arctan, "Asin": np.arcsin, "Acos": np.arccos, "Sinh": np.sinh,
    "Cosh": np.cosh, "Floor": np.floor, "Ceil": np.ceil, "Rint": np.rint, "Sign": np.sign,
}  # fmt: skip


@pytest.mark.parametrize("name", TRUTHS)
@pytest.mark.filterwarnings("ignore:(overflow|invalid)")
def test_functions_are_exact_to_a_few_units_in_the_last_place_of_any_float(name):
    source = np.random.RandomState(0)
    any_float = source.randint(0, 2**32, 20000, np.uint64).astype(np.uint32).view(np.float32)
    turns = (np.arange(1, 20000) * (np.pi / 2)).astype(np.float32)
    x = np.concatenate([any_float, turns, source.randn(20000), source.uniform(-1, 1, 20000), [0, -0.0, np.inf, -np.inf, 1e6, 2e6, 3e38]])
    x = x.astype(np.float32)[~np.isnan(x)]
    found, truth = computed(name, x), TRUTHS[name](x.astype(np.float64))
    # Numbers that are not normal have fewer digits.
    expected = truth.astype(np.float32)
    assert ((found == expected) | np.isnan(expected) | np.isfinite(expected)).all()
    at = np.isfinite(expected) & ((np.abs(x) > 1e-37) | (x == 0)) & (np.abs(expected) < 3e38)
    units = np.abs(found[at] - truth[at]) / np.spacing(np.maximum(np.abs(expected[at]), np.float32(1e-37)))
    assert units.max() < (2 if name in ("Sin", "Cos", "Atan") else 4)
    np.testing.assert_array_equal(np.signbit(found[x == 0]), np.signbit(expected[x == 0]))
    assert np.isnan(computed(name, np.float32([np.nan]))).all() or name == "Sign"


def test_instructions_must_be_sound():
    with pytest.raises(ValueError, match="no loop for Gather"):
        ElementwiseChain(1, 4, [(0, 0, 4, False)], [], [("Gather", 0, 0, 0)], [(1, 0, 4, False)])
    with pytest.raises(ValueError, match="before its operands"):
        ElementwiseChain(1, 4, [(0, 0, 4, False)], [], [("Add", 0, 5, 5)], [(1, 0, 4, False)])
    chain = ElementwiseChain(1, 4, [(0, 0, 4, False)], [], [("Add", 0, 0, 0)], [(1, 0, 4, False)])
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
        [("Mul", 0, 1, 1), ("Sub", 4, 2, 2), ("Mul", 5, 3, 3), ("AddV2", 6, 0, 0)],
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
    chain = ElementwiseChain(6, columns, places, [], [("Mul", 0, 1, 1)], [(1, 0, columns, False)], [(0, "columns", 2, 1.0)])
    a = torch.from_numpy(x)
    chain.run(1, a.data_ptr(), products.data_ptr(), sums.data_ptr())
    np.testing.assert_allclose(products.numpy(), x[:, :5] * x[:, 10:15], rtol=1e-6)
    np.testing.assert_allclose(sums.numpy(), x[:, :5].sum(0), rtol=1e-5, atol=1e-6)


@pytest.mark.filterwarnings("ignore:(overflow|invalid|divide)")
def test_powers_are_those_of_longer_floats():
    source = np.random.RandomState(0)
    special = np.float32([0, -0.0, 1, -1, 0.5, -0.5, 2, -2, 3, -3, 2.5, 1e9, 16777215, -16777215, 8388608.5, 1e38, np.inf, -np.inf, np.nan])
    bases = [np.repeat(special, len(special)), source.uniform(0, 3, 20000), np.exp(source.uniform(-80, 80, 20000)), -np.arange(1, 100.0)]
    powers = [np.tile(special, len(special)), source.uniform(-50, 50, 20000), source.uniform(-1.5, 1.5, 20000), np.arange(1, 100) % 9 - 4.0]
    x, y = (np.concatenate(parts).astype(np.float32) for parts in (bases, powers))
    truth = x.astype(np.float64) ** y.astype(np.float64)
    found, expected = computed("Pow", x, y), truth.astype(np.float32)
    np.testing.assert_array_equal(np.isnan(found), np.isnan(expected))
    ends = np.isinf(expected) | (expected == 0) | (x == 1) | (y == 0)
    np.testing.assert_array_equal(found[ends], expected[ends])
    np.testing.assert_array_equal(np.signbit(found), np.where(np.isnan(found), np.signbit(found), np.signbit(expected)))
    at = np.isfinite(expected) & (np.abs(expected) > 1e-37)
    assert (np.abs(found[at] - truth[at]) / np.spacing(np.abs(expected[at]))).max() < 0.51
    np.testing.assert_array_equal(computed("_Root", special), computed("Pow", special, np.full_like(special, 0.5)))
