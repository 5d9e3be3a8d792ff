"""What ragged tensors are made of, and what is refused; values are those of TensorFlow 1.15.5."""

import numpy as np
import pytest
from plain import computed

import everflow as tf

R = tf.ragged
RT = tf.RaggedTensor


def rows():
    return R.constant([[3, 1], [], [2, 5, 4]])


def deep():
    return R.constant([[[1, 2], [3]], [], [[], [4, 5, 6]]])


def wide():
    return R.constant([[[1, 2], [3, 4]], [], [[5, 6]]], ragged_rank=1)


def short():
    return R.constant([[1], [2]], row_splits_dtype=tf.int32)


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: deep()[0], [[1, 2], [3]]),
        (lambda: deep()[2, 1], [4, 5, 6]),
        (lambda: deep()[2, 1, 0], 4),
        (lambda: deep()[:, 1:], [[[3]], [], [[4, 5, 6]]]),
        (lambda: deep()[:, :1], [[[1, 2]], [], [[]]]),
        (lambda: deep()[:, :, 1:], [[[2], []], [], [[], [5, 6]]]),
        (lambda: deep()[..., :1], [[[1], [3]], [], [[], [4]]]),
        (lambda: deep()[1:, :, :1], [[], [[], [4]]]),
        (lambda: deep()[::-1], [[[], [4, 5, 6]], [], [[1, 2], [3]]]),
        (lambda: deep()[1:1], []),
        (lambda: deep()[:, tf.newaxis], [[[[1, 2], [3]]], [[]], [[[], [4, 5, 6]]]]),
        (lambda: deep()[:, :, tf.newaxis], [[[[1, 2]], [[3]]], [], [[[]], [[4, 5, 6]]]]),
        (lambda: deep()[tf.newaxis, 0], [[[1, 2], [3]]]),
        (lambda: deep()[tf.constant(2)], [[], [4, 5, 6]]),
        (lambda: deep()[tf.constant(1) :], [[], [[], [4, 5, 6]]]),
        (lambda: deep()[np.int64(0)], [[1, 2], [3]]),
        (lambda: deep()[()], [[[1, 2], [3]], [], [[], [4, 5, 6]]]),
        (lambda: deep()[[0, 0]], [1, 2]),
        (lambda: wide()[:, :, 0], [[1, 3], [], [5]]),
        (lambda: wide()[:, :, ::-1], [[[2, 1], [4, 3]], [], [[6, 5]]]),
        (lambda: wide()[0], [[1, 2], [3, 4]]),
        (lambda: wide()[..., 1], [[2, 4], [], [6]]),
        (lambda: wide()[:, 1:], [[[3, 4]], [], []]),
        (lambda: wide()[:, 1:, 0], [[3], [], []]),
        (lambda: wide()[:, :, tf.newaxis, 1], [[[2], [4]], [], [[6]]]),
    ],
)
def test_parts_of_deeper_tensors_are_those_of_lists(made, expected):
    assert computed(made()) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: deep().row_lengths(), [2, 0, 2]),
        (lambda: deep().row_lengths(axis=0), 3),
        (lambda: deep().row_lengths(axis=2), [[2, 1], [], [0, 3]]),
        (lambda: deep().row_lengths(axis=-1), [[2, 1], [], [0, 3]]),
        (lambda: wide().row_lengths(axis=2), [[2, 2], [], [2]]),
        (lambda: deep().nested_value_rowids(), [[0, 0, 2, 2], [0, 0, 1, 3, 3, 3]]),
        (lambda: deep().nested_row_lengths(), [[2, 0, 2], [2, 1, 0, 3]]),
        (lambda: deep().nrows(out_type=tf.int32).dtype, "int32"),
        (lambda: deep().bounding_shape(), [3, 2, 3]),
        (lambda: deep().bounding_shape(axis=0), 3),
        (lambda: deep().bounding_shape(axis=2), 3),
        (lambda: deep().bounding_shape(axis=[2, 0]), [3, 3]),
        (lambda: wide().bounding_shape(), [3, 2, 2]),
        (lambda: R.constant([], ragged_rank=1).bounding_shape(), [0, 0]),
        (lambda: wide().shape, [3, None, 2]),
        (lambda: deep().flat_values, [1, 2, 3, 4, 5, 6]),
        (lambda: deep().values, [[1, 2], [3], [], [4, 5, 6]]),
        (lambda: deep().ragged_rank, 2),
        (lambda: wide().ragged_rank, 1),
        (lambda: deep().with_row_splits_dtype(tf.int32).nested_row_splits[1].dtype, "int32"),
        (lambda: short().with_row_splits_dtype(tf.int32) is not None, True),
        (lambda: deep().with_flat_values(tf.range(6) * 10), [[[0, 10], [20]], [], [[], [30, 40, 50]]]),
        (lambda: deep().with_values(R.constant([[1], [2], [], [3]])), [[[1], [2]], [], [[], [3]]]),
        (lambda: repr(R.constant_value([[1, 2], []])), "tf.RaggedTensorValue(values=array([1, 2]), row_splits=array([0, 2, 2]))"),
        (lambda: str(R.constant_value([[1, 2], []])), "<tf.RaggedTensorValue [[1, 2], []]>"),
        (lambda: R.constant_value([[[1], []], []]).nested_row_splits, [[0, 2, 2], [0, 1, 1]]),
        (lambda: R.constant_value([[[1], []], []]).flat_values, [1]),
        (lambda: R.constant_value([[[1], []], []]).values, [[1], []]),
        (lambda: R.constant_value([[[1], []], []]).ragged_rank, 2),
        (lambda: R.constant_value([[[1, 2]], []], ragged_rank=1).shape, [2, None, 2]),
        (lambda: R.constant_value([[[1], []], []]).shape, [2, None, None]),
    ],
)
def test_parts_of_a_ragged_tensor(made, expected):
    assert computed(made()) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [(lambda: RT.from_row_splits(short(), [0, 2]), [[[1], [2]]]), (lambda: RT.from_row_splits([1, 2], [0, 3], validate=False), [[1, 2]])],
)
def test_mistakes(made, expected):
    assert computed(made()) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: RT.from_value_rowids([], tf.constant([], tf.int64)), []),
        (lambda: RT.from_value_rowids([], tf.constant([], tf.int64), nrows=2), [[], []]),
        (lambda: RT.from_value_rowids([1, 2], tf.placeholder_with_default(np.int64([0, 2]), [None])), [[1], [], [2]]),
        (lambda: RT.from_value_rowids([1, 2], tf.placeholder_with_default(np.int64([0, 2]), [None])).shape, [None, None]),
        (lambda: RT.from_value_rowids([1, 2], [0, 2]).shape, [3, None]),
        (lambda: RT.from_value_rowids([1, 2], [0, 2], nrows=5).shape, [5, None]),
        (lambda: RT.from_row_starts([1, 2, 3], [0, 0]).shape, [2, None]),
        (lambda: RT.from_row_limits([1, 2, 3], [0, 3]).shape, [2, None]),
        (lambda: RT.from_row_limits([1, 2, 3], np.int32([0, 3])).row_splits.dtype, "int32"),
    ],
)
def test_rows_are_made_from_partitions(made, expected):
    assert computed(made()) == expected


@pytest.mark.parametrize(
    ("made", "error", "message"),
    [
        (lambda: deep()[0, ..., 0], ValueError, "Cannot index into an inner ragged dimension."),
        (lambda: deep()["a"], TypeError, "Only integers, slices (`:`), ellipsis (`...`), tf.newaxis (`None`)"),
        (lambda: deep()[1.5], TypeError, "Only integers, slices (`:`), ellipsis (`...`), tf.newaxis (`None`)"),
        (lambda: deep()[tf.constant([1, 2])], TypeError, "Only integers, slices (`:`), ellipsis (`...`), tf.newaxis (`None`)"),
        (lambda: deep()[tf.constant(1.0)], TypeError, "Only integers, slices (`:`), ellipsis (`...`), tf.newaxis (`None`)"),
        (lambda: deep()[:, 0], ValueError, "Cannot index into an inner ragged dimension."),
        (lambda: deep()[:, :, 0], ValueError, "Cannot index into an inner ragged dimension."),
        (lambda: deep()[3], ValueError, "slice index 3 of dimension 0 out of bounds. for"),
        (lambda: deep()[0, 5], ValueError, "slice index 5 of dimension 0 out of bounds. for"),
        (lambda: deep()[:"a"], TypeError, "Only integers, slices (`:`), ellipsis (`...`), tf.newaxis (`None`)"),
        (lambda: deep()[slice(0, Ellipsis)], TypeError, "Only integers, slices (`:`), ellipsis (`...`), tf.newaxis (`None`)"),
        (lambda: deep().row_lengths(axis=3), ValueError, "axis=3 out of bounds: expected -3<=axis<3"),
        (lambda: deep().row_lengths(axis=-4), ValueError, "axis=-4 out of bounds: expected -3<=axis<3"),
        (lambda: bool(rows()), TypeError, "RaggedTensor may not be used as a boolean."),
        (lambda: rows().to_list(), ValueError, "RaggedTensor.to_list() is only supported in eager mode; in graph"),
        (lambda: rows().with_row_splits_dtype(tf.float32), ValueError, "dtype must be int32 or int64"),
        (lambda: rows().with_values(tf.constant(1)), ValueError, "Shape () must have rank at least 1"),
        (lambda: rows().with_values(tf.constant([1, 2, 3])), ValueError, "Shapes (5,) and (3,) are incompatible"),
        (
            lambda: deep().with_values(R.constant([[1], [2], [], [3]], row_splits_dtype=tf.int32)),
            ValueError,
            "self and new_values have mismatched row_splits dtypes; use",
        ),
        (
            lambda: RT(tf.constant([1]), tf.constant([0, 1])),
            ValueError,
            "RaggedTensor constructor is private; please use one of the factory",
        ),
        (lambda: RT(tf.constant([1]), [0, 1], internal=True), TypeError, "Row-partitioning argument must be a Tensor, got [0, 1]"),
        (lambda: RT([1], tf.constant([0, 1]), internal=True), TypeError, "values must be a Tensor or RaggedTensor, got [1]"),
        (
            lambda: RT(tf.constant([1]), tf.constant([0, 1]), cached_nrows=1, internal=True),
            TypeError,
            "Cached value must be a Tensor or None.",
        ),
        (
            lambda: RT(tf.constant([1]), tf.constant([0, 1]), cached_nrows=tf.constant(1.0), internal=True),
            TypeError,
            "Cached value must be int32 or int64.",
        ),
        (
            lambda: RT(tf.constant([1]), tf.constant([0.0, 1]), internal=True),
            ValueError,
            "Row-partitioning argument must be int32 or int64",
        ),
        (lambda: RT.from_row_splits([1], []), ValueError, "row_splits tensor may not be empty."),
        (lambda: RT.from_row_splits([1], tf.constant([0, 1], tf.int16)), ValueError, "row_splits must have dtype int32 or int64"),
        (lambda: RT.from_row_splits(3, [0, 1]), ValueError, "slice index 0 of dimension 0 out of bounds. for"),
        (lambda: RT.from_row_splits(short(), tf.constant([0, 2], tf.int64)), ValueError, "dtype mismatch:"),
        (
            lambda: RT.from_row_splits([1, 2], [0, 3]),
            tf.errors.InvalidArgumentError,
            "assertion failed: [Arguments to from_row_splits do not form a valid",
        ),
        (
            lambda: RT.from_row_splits([1, 2], [1, 2]),
            tf.errors.InvalidArgumentError,
            "assertion failed: [Arguments to from_row_splits do not form a valid",
        ),
        (
            lambda: RT.from_row_splits([1, 2], [0, 2, 1, 2]),
            tf.errors.InvalidArgumentError,
            "assertion failed: [Arguments to from_row_splits do not form a valid",
        ),
        (
            lambda: RT.from_row_lengths([1, 2], [1]),
            tf.errors.InvalidArgumentError,
            "assertion failed: [Arguments to from_row_lengths do not form a valid",
        ),
        (
            lambda: RT.from_row_lengths([1, 2], [3, -1]),
            tf.errors.InvalidArgumentError,
            "Arguments to from_row_lengths do not form a valid RaggedTensor",
        ),
        (
            lambda: RT.from_row_starts([1, 2], [1]),
            tf.errors.InvalidArgumentError,
            "assertion failed: [Arguments to from_row_starts do not form a valid",
        ),
        (
            lambda: RT.from_row_starts([1, 2], [0, 3]),
            tf.errors.InvalidArgumentError,
            "assertion failed: [Arguments to from_row_starts do not form a valid",
        ),
        (
            lambda: RT.from_row_starts([1, 2], [0, 2, 1]),
            tf.errors.InvalidArgumentError,
            "assertion failed: [Arguments to from_row_starts do not form a valid",
        ),
        (
            lambda: RT.from_row_limits([1, 2], [1]),
            tf.errors.InvalidArgumentError,
            "assertion failed: [Arguments to from_row_limits do not form a valid",
        ),
        (
            lambda: RT.from_row_limits([1, 2], [2, 1, 2]),
            tf.errors.InvalidArgumentError,
            "assertion failed: [Arguments to from_row_limits do not form a valid",
        ),
        (
            lambda: RT.from_row_limits([1, 2], [-1, 2]),
            tf.errors.InvalidArgumentError,
            "assertion failed: [Arguments to from_row_limits do not form a valid",
        ),
        (
            lambda: RT.from_value_rowids([1, 2], [1, 0]),
            tf.errors.InvalidArgumentError,
            "assertion failed: [Arguments to from_value_rowids do not form a valid",
        ),
        (
            lambda: RT.from_value_rowids([1, 2], [-1, 0]),
            tf.errors.InvalidArgumentError,
            "assertion failed: [Arguments to from_value_rowids do not form a valid",
        ),
        (lambda: RT.from_value_rowids([1, 2], [0]), ValueError, "Shapes (2,) and (1,) are incompatible"),
        (lambda: RT.from_value_rowids([1, 2], [0, 3], nrows=2), ValueError, "Expected nrows >= value_rowids[-1] + 1; got nrows=2,"),
        (lambda: RT.from_value_rowids([1, 2], [0, 1], nrows=-1), ValueError, "Expected nrows >= 0; got -1"),
        (lambda: RT.from_nested_row_splits([1], tf.constant([0, 1])), TypeError, "nested_row_splits must be a list of Tensors"),
        (lambda: RT.from_nested_row_lengths([1], tf.constant([1])), TypeError, "nested_row_lengths must be a list of Tensors"),
        (lambda: RT.from_nested_value_rowids([1], tf.constant([0])), TypeError, "nested_value_rowids must be a list of Tensors"),
        (
            lambda: RT.from_nested_value_rowids([1], [[0]], nested_nrows=[1, 2]),
            ValueError,
            "nested_nrows must have the same length as nested_value_rowids",
        ),
        (
            lambda: RT.from_nested_value_rowids([1], [[0]], nested_nrows=tf.constant([1])),
            TypeError,
            "nested_nrows must be a list of Tensors",
        ),
        (lambda: RT.from_nested_value_rowids([1], [[0], [1]], nested_nrows=[2, 3]), ValueError, "Shapes (3,) and (1,) are incompatible"),
    ],
)
def test_mistakes_are_refused(made, error, message):
    with pytest.raises(error) as caught:
        computed(made())
    assert message in str(caught.value)
