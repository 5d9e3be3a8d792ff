"""Comparisons packed into bytes."""

import numpy as np
import pytest

import everflow as tf
from running import run


def test_comparisons_are_packed_with_the_first_in_the_highest_bit():
    assert run(tf.raw_ops.CompareAndBitpack(input=[3.0, 0, 0, 5, 0, 0, 0, 2], threshold=1.0)).tolist() == [0b10010001]
    with pytest.raises(ValueError, match="evenly divisible by 8 but is 7"):
        run(tf.raw_ops.CompareAndBitpack(input=[0.0] * 7, threshold=1.0))


def test_booleans_are_packed_as_they_are():
    bits = np.array([0, 0, 0, 1, 1, 1, 0, 1], bool)
    assert run(tf.raw_ops.CompareAndBitpack(input=bits, threshold=True)).tolist() == [0b11101]
