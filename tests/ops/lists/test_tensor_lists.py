"""Lists of tensors as values: the ops TensorList*."""

from __future__ import annotations

import numpy as np
import pytest

import everflow as tf
from everflow.ops.core.registry import apply
from everflow.ops.lists import list_functions as lists
from running import run

FLOAT = tf.float32


def of(*rows, shape=()):
    return lists.tensor_list_from_tensor(tf.constant(rows, FLOAT), shape)


def all_of(items):
    return lists.tensor_list_stack(items, FLOAT)


def test_lists_are_values():
    two = of(1.0, 2.0)
    three = apply("TensorListPushBack", two, 3.0)
    other = apply("TensorListPushBack", two, 4.0)
    shorter, last = lists.tensor_list_pop_back(three, FLOAT)
    found = run([all_of(two), all_of(three), all_of(other), all_of(shorter), last])
    assert [f.tolist() for f in found] == [[1, 2], [1, 2, 3], [1, 2, 4], [1, 2], 3]


def test_items_that_are_not_set_read_as_zeros():
    items = lists.tensor_list_set_item(lists.tensor_list_reserve(None, 3, FLOAT), 1, [1.0, 2.0])
    np.testing.assert_array_equal(run(all_of(items)), [[0, 0], [1, 2], [0, 0]])
    np.testing.assert_array_equal(run(lists.tensor_list_get_item(items, 0, FLOAT)), [0, 0])


def test_rows_go_in_and_out_by_index():
    items = lists.tensor_list_scatter([1.0, 2.0], [3, 0], [])
    np.testing.assert_array_equal(run(all_of(items)), [2, 0, 0, 1])
    np.testing.assert_array_equal(run(lists.tensor_list_gather(items, [3, 3, 0], FLOAT)), [1, 1, 2])
    parts = lists.tensor_list_split([1.0, 2.0, 3.0], [None], [1, 2])
    np.testing.assert_array_equal(run(lists.tensor_list_get_item(parts, 1, FLOAT)), [2, 3])
    np.testing.assert_array_equal(run(lists.tensor_list_concat(parts, FLOAT)), [1, 2, 3])


def test_what_is_known_of_items_is_known_before_running():
    items = lists.tensor_list_reserve([None, 2], 3, FLOAT)
    assert all_of(items).shape.as_list() == [None, None, 2]
    assert lists.tensor_list_get_item(items, 0, FLOAT).shape.as_list() == [None, 2]
    with pytest.raises(ValueError, match="Expected list with element dtype int32 but got list with element dtype float"):
        lists.tensor_list_get_item(items, 0, tf.int32)


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: lists.tensor_list_pop_back(lists.empty_tensor_list([], FLOAT), FLOAT)[1], "Trying to pop from an empty list"),
        (lambda: all_of(apply("TensorListPushBack", lists.empty_tensor_list([], FLOAT, 0), 1.0)), "Tried to push item into a full list"),
        (lambda: lists.tensor_list_get_item(of(1.0), 1, FLOAT), "Trying to access element 1 in a list with 1 elements"),
        (lambda: all_of(lists.tensor_list_set_item(of(1.0), 1, 2.0)), "Trying to modify element 1 in a list with 1 elements"),
        (lambda: all_of(lists.empty_tensor_list(None, FLOAT)), "non-fully-defined element_shape: <unknown>"),
        (lambda: all_of(tf.add_n([of(1.0), of(1.0, 2.0)])), "lists of tensors with different lengths. One is 1 and the other is 2"),
        (lambda: all_of(lists.tensor_list_split([1.0, 2.0], [None], [1])), "Unused values in tensor"),
    ],
)
def test_mistakes_are_told_when_lists_are_used(make, text):
    with pytest.raises(tf.errors.InvalidArgumentError, match=text):
        run(make())


def test_gradients_are_lists_too():
    x = tf.constant([1.0, 2.0, 3.0])
    items = lists.tensor_list_from_tensor(x, [])
    items, last = lists.tensor_list_pop_back(items, FLOAT)
    items = apply("TensorListPushBack", items, last * last)
    items = lists.tensor_list_set_item(items, 0, lists.tensor_list_get_item(items, 1, FLOAT) * 5.0)
    y = all_of(items)
    np.testing.assert_array_equal(run(y), [10, 2, 9])
    np.testing.assert_array_equal(run(tf.gradients(y, x)[0]), [0, 6, 6])


def test_a_list_may_be_the_variable_of_a_loop():
    x = tf.constant(2.0)
    start = lists.empty_tensor_list([], FLOAT)
    _, items = tf.while_loop(lambda i, _: i < 3, lambda i, a: (i + 1, apply("TensorListPushBack", a, x * tf.cast(i, FLOAT))), (0, start))
    np.testing.assert_array_equal(run(all_of(items)), [0, 2, 4])
    assert run(tf.gradients(all_of(items), x)[0]) == 3.0


def test_sums_and_zeros_of_lists():
    total = tf.add_n([of(1.0, 2.0), of(3.0, 4.0)])
    np.testing.assert_array_equal(run(all_of(total)), [4, 6])
    np.testing.assert_array_equal(run(all_of(tf.zeros_like(total))), [0, 0])
