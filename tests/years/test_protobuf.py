"""Messages as they were filled."""

import numpy as np
import pytest

import everflow as tf


@pytest.mark.parametrize("value", [np.array([True, False]), [np.bool_(True), False], (True, False)])
def test_truth_is_a_number_in_lists_of_integers(value):
    assert list(tf.train.Int64List(value=value).value) == [1, 0]
    numbers = tf.train.Int64List(value=[7]).value
    numbers.extend(value)
    numbers.append(np.bool_(True))
    numbers.insert(0, True)
    numbers[1] = False
    assert list(numbers) == [1, 0, 1, 0, 1]


@pytest.mark.parametrize("value", [[1.5], np.array([1.0]), ["a"], [None], [2, "a"]])
def test_other_types_are_none(value):
    with pytest.raises(TypeError):
        tf.train.Int64List(value=value)
    numbers = tf.train.Int64List().value
    with pytest.raises(TypeError):
        numbers.extend(value)
    with pytest.raises(TypeError):
        numbers.append(value[-1])
