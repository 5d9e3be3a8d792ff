"""Comparisons packed into bytes."""
import pytest

import everflow as tf


def run(build):
    with tf.Graph().as_default(), tf.Session() as session:
        return session.run(build())


def test_comparisons_are_packed_with_the_first_in_the_highest_bit():
    assert run(lambda: tf.raw_ops.CompareAndBitpack(input=[3.0, 0, 0, 5, 0, 0, 0, 2], threshold=1.0)).tolist() == [0b10010001]
    with pytest.raises(ValueError, match="evenly divisible by 8 but is 7"):
        run(lambda: tf.raw_ops.CompareAndBitpack(input=[0.0] * 7, threshold=1.0))
