"""Operations on bits."""

import numpy as np
import pytest

import everflow as tf
from running import run

INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]


@pytest.mark.parametrize("name", ["bitwise_and", "bitwise_or", "bitwise_xor", "left_shift", "right_shift"])
@pytest.mark.parametrize("dtype", INTEGERS)
def test_results_are_numpys(name, dtype):
    x, y = np.array([1, 100, 7], dtype), np.array([3, 1, 0], dtype)
    found = run(getattr(tf.bitwise, name)(x, y))
    assert found.dtype == dtype
    np.testing.assert_array_equal(found, getattr(np, name)(x, y))


@pytest.mark.parametrize("dtype", INTEGERS)
def test_every_bit_is_inverted_and_counted(dtype):
    from everflow.ops.core.registry import apply

    x = np.array([0, 1, 100], dtype)
    np.testing.assert_array_equal(run(tf.bitwise.invert(x)), ~x)
    bits = x.dtype.itemsize * 8
    assert run(apply("PopulationCount", tf.bitwise.invert(x))).tolist() == [bits, bits - 1, bits - 3]


def test_shifts_by_too_much_are_limited():
    assert run(tf.bitwise.left_shift(np.int8([1, 1]), np.int8([-1, 9]))).tolist() == [1, -128]
    assert run(tf.bitwise.right_shift(np.int8([-64]), np.int8([9]))).tolist() == [-1]


def test_a_right_shift_of_large_unsigned_numbers_brings_in_zeros():
    assert run(tf.bitwise.right_shift(np.uint64([2**63]), np.uint64([62]))).tolist() == [2]


def test_shifts_beyond_the_width_of_words():
    assert run(tf.bitwise.right_shift(np.uint64(3), np.uint64(2**64 - 1))) == 0
