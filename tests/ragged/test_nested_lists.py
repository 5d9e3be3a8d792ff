"""How deep lists are nested, and what is below their ragged dimensions; measured with TensorFlow 1.15.5."""

import pytest

import everflow as tf
from everflow import internals

factory = internals.module("python.ops.ragged.ragged_factory_ops")
strings = internals.module("python.ops.ragged.ragged_string_ops")


@pytest.mark.parametrize(
    ("lists", "expected"), [(1, (0, 0)), ([], (None, 1)), ([1], (1, 1)), ([[1], []], (2, 2)), ([[[]]], (None, 3)), ([1, [[]]], None)]
)
def test_depths_of_values_and_lists(lists, expected):
    assert factory._find_scalar_and_max_depth(lists) == (expected or (1, 3))


def test_values_of_different_depths_are_refused():
    with pytest.raises(ValueError, match="all scalar values must have the same nesting depth"):
        factory._find_scalar_and_max_depth([[1, [2]]])


@pytest.mark.parametrize(
    ("lists", "ragged_rank", "expected"),
    [([[1, 2], [3, 4]], 0, (2,)), ([[1, 2], [3, 4]], 1, ()), ([[[1], [2]], [[3]]], 1, (1,)), ([], 0, ()), ([[]], 0, (0,)), (5, 0, ())],
)
def test_shapes_below_ragged_dimensions(lists, ragged_rank, expected):
    assert factory._default_inner_shape_for_pylist(lists, ragged_rank) == expected


@pytest.mark.parametrize(
    ("lists", "ragged_rank", "match"),
    [
        ([[[1, 2], [3]]], 1, "inconsistent shape"),
        ([[1], [2, 3]], 0, "inconsistent shape"),
        ([[1]], 3, "requires scalar value depth greater than 3"),
    ],
)
def test_shapes_that_cannot_be(lists, ragged_rank, match):
    with pytest.raises(ValueError, match=match):
        factory._default_inner_shape_for_pylist(lists, ragged_rank)


def test_rows_of_strings_are_joined(session):
    rows = tf.ragged.constant([["a", "b"], ["c"], []])
    assert session.run(strings.reduce_join(rows, axis=1, separator="-")).tolist() == [b"a-b", b"c", b""]
