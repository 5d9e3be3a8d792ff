"""Shapes of ragged tensors at run time, and tensors broadcast to them. The values are TensorFlow 1.15.5's."""

import numpy as np
import pytest
from plain import computed, refused
from rows import R, ints, unsized

import everflow as tf
from everflow.ragged.broadcasting import RaggedTensorDynamicShape, broadcast_dynamic_shape, broadcast_to

sized = RaggedTensorDynamicShape.from_dim_sizes


def sizes(shape):
    return computed([list(shape.partitioned_dim_sizes), shape.inner_dim_sizes])


def test_the_shape_of_a_tensor_has_a_length_for_each_row():
    assert sizes(RaggedTensorDynamicShape.from_tensor([[1, 2, 3]])) == [[], [1, 3]]
    assert sizes(RaggedTensorDynamicShape.from_tensor(R.constant([[1, 2], [], [3, 4, 5]]))) == [[3, [2, 0, 3]], []]
    assert sizes(RaggedTensorDynamicShape.from_tensor(R.constant([[[1, 2], [3, 4]], [[5, 6]]], ragged_rank=1))) == [[2, [2, 1]], [2]]


def test_what_a_shape_says_of_its_dimensions():
    shape = sized([2, [2, 1], 3, 2])
    assert (shape.rank, shape.num_partitioned_dimensions, shape.num_inner_dimensions) == (4, 2, 2)
    assert [shape.is_ragged(i) for i in range(4)] == [False, True, False, False]
    assert computed([shape.num_slices_in_dimension(i) for i in range(-1, 4)]) == [1, 2, 3, 9, 18]
    assert shape.with_dim_size_dtype("int32").dim_size_dtype == tf.int32


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: sized([[2]]), "outermost partitioned dimension must be uniform"),
        (lambda: RaggedTensorDynamicShape([2], [3]), "innermost partitioned dimension must be ragged"),
        (lambda: sized([[[1]]]), "Each dim_size must be a scalar or a vector"),
        (lambda: sized([2, 3]).broadcast_to_rank(1), "rank=1 must be greater than self.rank=2."),
        (lambda: sized([2]).is_ragged(-1), "Negative axis values are not supported"),
        (lambda: sized([2]).is_ragged(1), "Expected axis=1 < rank=1"),
        (lambda: sized([1, 3]).broadcast_dimension(0, [2]), "outermost dimension must be uniform."),
        (lambda: broadcast_to(R.constant([[1], [2, 3]]), sized([2, 2])), "ragged rank mismatch"),
        (lambda: broadcast_to([1], [2]), "shape must be a RaggedTensorDynamicShape"),
        (lambda: broadcast_dynamic_shape([1], sized([2])), "shape_x must be a RaggedTensorDynamicShape"),
    ],
)
def test_shapes_that_cannot_be(make, message):
    assert message in refused(make)


@pytest.mark.parametrize(
    ("dims", "axis", "lengths", "expected"),
    [
        ([3, 4, 1], 2, 5, [[], [3, 4, 5]]),
        ([3, 1], 1, [2, 0, 1], [[3, [2, 0, 1]], []]),
        ([1, [5]], 0, 3, [[3, [5, 5, 5]], []]),
        ([1, 2, [2, 1], [3, 5, 2], 2], 0, 2, [[2, 2, [2, 1, 2, 1], [3, 5, 2, 3, 5, 2]], [2]]),
        ([3, 1, [3, 1, 2], [3, 1, 4, 1, 5, 9]], 1, [2, 0, 3], [[3, [2, 0, 3], [3, 3, 2, 2, 2], [3, 1, 4, 3, 1, 4, 5, 9, 5, 9, 5, 9]], []]),
        ([2, [2, 1]], 1, 1, [[2, [2, 1]], []]),
        ([2, [2, 1]], 1, [2, 1], [[2, [2, 1]], []]),
    ],
)
@pytest.mark.parametrize("known", [True, False])
def test_rows_of_one_element_grow_and_what_is_below_them_is_repeated(dims, axis, lengths, expected, known):
    given = dims if known else [unsized(np.array(d, np.int64)) for d in dims]
    assert sizes(sized(given).broadcast_dimension(axis, lengths)) == expected


@pytest.mark.parametrize(("axis", "lengths"), [(0, 5), (1, 5), (1, [2, 2]), (2, 5)])
def test_lengths_that_do_not_fit_are_found_in_the_run(axis, lengths):
    grown = sized([2, [2, 1], 3]).broadcast_dimension(axis, lengths)
    assert "Unable to broadcast: dimension size mismatch in dimension" in refused(lambda: sizes(grown))


def test_two_shapes_broadcast_to_each_other():
    x, y = sized([1, 3, [3, 0, 2], 1, 2]), sized([2, 1, 1, [7, 2], 1])
    expected = [[2, 3, [3, 0, 2, 3, 0, 2], [7, 7, 7, 7, 7, 2, 2, 2, 2, 2]], [2]]
    assert sizes(broadcast_dynamic_shape(x, y)) == sizes(broadcast_dynamic_shape(y, x)) == expected


@pytest.mark.parametrize(
    ("value", "dims", "expected"),
    [
        ([[10], [20], [30]], [3, 2], [[10, 10], [20, 20], [30, 30]]),
        ([[10], [20], [30]], [3, [3, 0, 2]], [[10, 10, 10], [], [30, 30]]),
        ([[[1, 2]], [[3, 4]]], [2, [2, 1], 2], [[[1, 2], [1, 2]], [[3, 4]]]),
        ([[[1]], [[2]]], [2, [2, 3], [0, 2, 1, 2, 0]], [[[], [1, 1]], [[2], [2, 2], []]]),
        (10, [3, [3, 0, 2]], [[10, 10, 10], [], [10, 10]]),
    ],
)
def test_tensors_are_broadcast_to_a_shape(value, dims, expected):
    assert computed(broadcast_to(value, sized(dims))) == expected


PAIRS = [
    ([[1, 2, 3], [], [4, 5]], [[10], [20], [30]], [[11, 12, 13], [], [34, 35]]),
    ([[1, 2, 3]], [[10], [20]], [[11, 12, 13], [21, 22, 23]]),
    ([[1], [2, 3]], [10], [[11], [12, 13]]),
]


@pytest.mark.parametrize(("x", "y", "expected"), PAIRS)
@pytest.mark.parametrize("known", [True, False])
def test_sums_broadcast_plain_tensors_over_rows(x, y, expected, known):
    x = R.constant(x)
    if not known:
        x, y = (
            tf.RaggedTensor.from_row_splits(
                tf.placeholder_with_default(x.flat_values, [None]), tf.placeholder_with_default(x.row_splits, [None])
            ),
            unsized(ints(y)),
        )
    assert computed(x + y) == computed(y + x) == expected


def test_ragged_tensors_broadcast_to_each_other():
    x, y = R.constant([[[[1], [2]], [[3], [4]]], [[[5], [6]]]], ragged_rank=1), R.constant([[10, 20], [30]])
    assert computed(x + y) == [[[[11, 21], [32]], [[13, 23], [34]]], [[[15, 25], [36]]]]


@pytest.mark.parametrize("y", [R.constant, lambda rows: tf.constant([[1, 1], [1, 1]])])
def test_rows_that_may_differ_are_not_broadcast(y):
    total = R.constant([[1], [2, 3]]) + y([[1, 2], [3]])
    assert "Unable to broadcast" in refused(lambda: computed(total))


def test_gradients_reach_what_was_broadcast():
    weights = tf.constant([[2.0], [3.0]])
    product = R.constant([[1.0, 2.0], [5.0]]) * weights
    assert computed(tf.gradients(product.flat_values, weights)[0]) == [[3], [5]]
