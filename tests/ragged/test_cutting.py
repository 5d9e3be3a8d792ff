"""How values are cut into rows, and what is known of rows before a run; values are those of TensorFlow 1.15.5."""

import numpy as np
import pytest
from plain import described, refused
from rows import RT, R, deep, fed, fed_deep, formless, ints, rows, small, small_deep, unknown, unsized, wide

import everflow as tf


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: RT.from_value_rowids([1, 2], ints([0, 2])), ["int32 [3, None] by int32", [[1], [], [2]]]),
        (lambda: RT.from_value_rowids([1, 2], ints([0, 2]), nrows=4), ["int32 [4, None] by int32", [[1], [], [2], []]]),
        (lambda: RT.from_value_rowids([1, 2], [0, 2], nrows=unsized(np.int64(4))), ["int32 [None, None]", [[1], [], [2], []]]),
        (lambda: RT.from_value_rowids([1, 2], [0, 2], nrows=unsized(np.int64(2)), validate=False), ["int32 [None, None]", [[1], []]]),
        (lambda: RT.from_value_rowids([1, 2], unsized(np.array([0, 2])), nrows=3), ["int32 [3, None]", [[1], [], [2]]]),
        (lambda: RT.from_value_rowids(unsized([1, 2]), unsized(np.array([0, 1]))), ["int32 [None, None]", [[1], [2]]]),
        (lambda: RT.from_value_rowids(unknown([1, 2]), unsized(np.array([0, 1]))), ["int32 None", [[1], [2]]]),
        (lambda: RT.from_value_rowids(unknown([1, 2]), [0, 1]), ["int32 None", [[1], [2]]]),
        (lambda: RT.from_value_rowids([1, 2], [0, 1], nrows=2), ["int32 [2, None]", [[1], [2]]]),
        (lambda: RT.from_value_rowids([], [], nrows=0), ["float32 [0, None]", []]),
        (lambda: RT.from_value_rowids([], []), ["float32 [0, None]", []]),
        (lambda: RT.from_value_rowids(tf.constant([], tf.int32), tf.constant([], tf.int64), nrows=0), ["int32 [0, None]", []]),
        (lambda: RT.from_value_rowids(rows(), [0, 0, 3]), ["int32 [4, None, None]", [[[3, 1], []], [], [], [[2, 5, 4]]]]),
        (lambda: RT.from_value_rowids(small(), [0, 0, 3]), ["int32 [4, None, None] by int32", [[[3, 1], []], [], [], [[2, 5, 4]]]]),
        (lambda: RT.from_value_rowids([1, 2], [0, 2]).value_rowids(), ["int64 [2]", [0, 2]]),
        (lambda: RT.from_value_rowids([1, 2], [0, 2], nrows=5).nrows(), ["int64 []", 5]),
        (lambda: RT.from_value_rowids([1, 2], [0, 2], nrows=5).nrows(tf.int32), ["int32 []", 5]),
    ],
)
def test_rows_are_cut_by_row_numbers(made, expected):
    assert described(made()) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (
            lambda: RT.from_value_rowids([1, 2], [0, 2], nrows=unsized(np.int64(2))),
            "InvalidArgumentError: assertion failed: [Arguments to from_value_rowids do not form a valid RaggedTe",
        ),
        (
            lambda: RT.from_value_rowids([1, 2], unsized(np.array([0, 2])), nrows=2),
            "InvalidArgumentError: assertion failed: [Arguments to from_value_rowids do not form a valid RaggedTe",
        ),
        (
            lambda: RT.from_value_rowids([1, 2], unsized(np.array([2, 0])), nrows=3),
            "InvalidArgumentError: assertion failed: [Arguments to from_value_rowids do not form a valid RaggedTe",
        ),
        (
            lambda: RT.from_value_rowids([1, 2], unsized(np.array([0])), nrows=3),
            "InvalidArgumentError: assertion failed: [Arguments to from_value_rowids do not form a valid RaggedTe",
        ),
        (
            lambda: RT.from_value_rowids([1, 2], unsized(np.array([-1, 0])), nrows=3),
            "InvalidArgumentError: assertion failed: [Arguments to from_value_rowids do not form a valid RaggedTe",
        ),
        (lambda: RT.from_value_rowids([1, 2], [0, 1], nrows=[2]), "ValueError: Shape (1,) must have rank 0"),
        (lambda: RT.from_value_rowids([1, 2], [[0, 1]]), "ValueError: Shape (1, 2) must have rank 1"),
        (lambda: RT.from_value_rowids([1, 2], [0.0, 1.0]), "ValueError: value_rowids must have dtype int32 or int64"),
        (lambda: RT.from_value_rowids([1, 2], [0, 1], nrows=1.5), "TypeError: Expected int64, got 1.5 of type 'float' instead."),
        (
            lambda: RT.from_value_rowids([1, 2], [0, 1], nrows=1),
            "ValueError: Expected nrows >= value_rowids[-1] + 1; got nrows=1, value_rowids[-1]=1",
        ),
        (lambda: RT.from_value_rowids(R.constant_value([[1], [2, 3]]), [0, 1]), "TypeError: Failed to convert object of type"),
    ],
)
def test_rows_are_cut_by_row_numbers_or_are_refused(made, expected):
    assert refused(lambda: described(made())).startswith(expected)


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: RT.from_row_splits(unsized([1, 2]), unsized(np.array([0, 1, 2]))), ["int32 [None, None]", [[1], [2]]]),
        (lambda: RT.from_row_splits([1, 2], unknown(np.array([0, 2]))), ["int32 [None, None]", [[1, 2]]]),
        (lambda: RT.from_row_splits([1, 2], ints([0, 2])), ["int32 [1, None] by int32", [[1, 2]]]),
        (lambda: RT.from_row_splits([1, 2], [0, 2]), ["int32 [1, None]", [[1, 2]]]),
        (lambda: RT.from_row_splits(rows(), [0, 1, 3]), ["int32 [2, None, None]", [[[3, 1]], [[], [2, 5, 4]]]]),
        (lambda: RT.from_row_splits(small(), [0, 1, 3]), ["int32 [2, None, None] by int32", [[[3, 1]], [[], [2, 5, 4]]]]),
        (lambda: RT.from_row_splits([[1, 2], [3, 4]], [0, 2, 2]), ["int32 [2, None, 2]", [[[1, 2], [3, 4]], []]]),
    ],
)
def test_rows_are_cut_by_splits(made, expected):
    assert described(made()) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (
            lambda: RT.from_row_splits([1, 2], unsized(np.array([0, 3]))),
            "InvalidArgumentError: assertion failed: [Arguments to from_row_splits do not form a valid RaggedTens",
        ),
        (
            lambda: RT.from_row_splits([1, 2], unsized(np.array([1, 2]))),
            "InvalidArgumentError: assertion failed: [Arguments to from_row_splits do not form a valid RaggedTens",
        ),
        (
            lambda: RT.from_row_splits([1, 2], unsized(np.array([0, 2, 1, 2]))),
            "InvalidArgumentError: assertion failed: [Arguments to from_row_splits do not form a valid RaggedTens",
        ),
        (lambda: RT.from_row_splits([1, 2], ()), "ValueError: row_splits tensor may not be empty."),
        (lambda: RT.from_row_splits([1, 2], np.array([], np.int64)), "ValueError: slice index 0 of dimension 0 out of bounds."),
        (
            lambda: RT.from_row_splits(rows(), [0, 1, 2]),
            "InvalidArgumentError: assertion failed: [Arguments to from_row_splits do not form a valid RaggedTens",
        ),
        (lambda: RT.from_row_splits(R.constant_value([[1], [2, 3]]), [0, 1, 2]), "TypeError: Failed to convert object of type"),
    ],
)
def test_rows_are_cut_by_splits_or_are_refused(made, expected):
    assert refused(lambda: described(made())).startswith(expected)


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: RT.from_row_lengths([1, 2], ints([0, 2])), ["int32 [2, None] by int32", [[], [1, 2]]]),
        (lambda: RT.from_row_lengths([1, 2], unsized(np.array([0, 2]))), ["int32 [None, None]", [[], [1, 2]]]),
        (lambda: RT.from_row_lengths([1, 2], [0, 1], validate=False), ["int32 [2, None]", [[], [1]]]),
        (lambda: RT.from_row_lengths([1, 2], [0, 2]).row_lengths(), ["int64 [2]", [0, 2]]),
        (lambda: RT.from_row_lengths([1, 2], [0, 2]).row_lengths(axis=-1), ["int64 [2]", [0, 2]]),
        (lambda: RT.from_row_lengths(rows(), [1, 2]), ["int32 [2, None, None]", [[[3, 1]], [[], [2, 5, 4]]]]),
        (lambda: RT.from_row_lengths(small(), [1, 2]), ["int32 [2, None, None] by int32", [[[3, 1]], [[], [2, 5, 4]]]]),
    ],
)
def test_rows_are_cut_by_lengths(made, expected):
    assert described(made()) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (
            lambda: RT.from_row_lengths([1, 2], unsized(np.array([0, 1]))),
            "InvalidArgumentError: assertion failed: [Arguments to from_row_lengths do not form a valid RaggedTen",
        ),
        (
            lambda: RT.from_row_lengths([1, 2], unsized(np.array([3, -1]))),
            "InvalidArgumentError: assertion failed: [Arguments to from_row_lengths do not form a valid RaggedTen",
        ),
        (lambda: RT.from_row_lengths([1, 2], [[0, 2]]), "ValueError: Shape (1, 2) must have rank 1"),
        (lambda: RT.from_row_lengths([1, 2], 2), "ValueError: Shape () must have rank 1"),
    ],
)
def test_rows_are_cut_by_lengths_or_are_refused(made, expected):
    assert refused(lambda: described(made())).startswith(expected)


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: RT.from_row_starts([1, 2, 3], ints([0, 2])), ["int32 [2, None] by int32", [[1, 2], [3]]]),
        (lambda: RT.from_row_starts([1, 2, 3], unsized(np.array([0, 2, 2]))), ["int32 [None, None]", [[1, 2], [], [3]]]),
        (lambda: RT.from_row_starts([1, 2, 3], unsized(np.array([0, 3]))), ["int32 [None, None]", [[1, 2, 3], []]]),
        (lambda: RT.from_row_starts([1, 2, 3], [0, 4], validate=False).row_splits, ["int64 [3]", [0, 4, 3]]),
        (lambda: RT.from_row_starts([], []), ["float32 [0, None]", []]),
        (lambda: RT.from_row_starts(rows(), [0, 1]), ["int32 [2, None, None]", [[[3, 1]], [[], [2, 5, 4]]]]),
        (lambda: RT.from_row_starts(small(), [0, 1]), ["int32 [2, None, None] by int32", [[[3, 1]], [[], [2, 5, 4]]]]),
        (lambda: RT.from_row_limits([1, 2, 3], unsized(np.array([0, 3]))), ["int32 [None, None]", [[], [1, 2, 3]]]),
        (lambda: RT.from_row_limits([1, 2, 3], [0, 2], validate=False).row_splits, ["int64 [3]", [0, 0, 2]]),
        (lambda: RT.from_row_limits([], []), ["float32 [0, None]", []]),
        (lambda: RT.from_row_limits(rows(), [0, 3]), ["int32 [2, None, None]", [[], [[3, 1], [], [2, 5, 4]]]]),
        (lambda: RT.from_row_limits(small(), [0, 3]), ["int32 [2, None, None] by int32", [[], [[3, 1], [], [2, 5, 4]]]]),
    ],
)
def test_rows_are_cut_by_starts_and_limits(made, expected):
    assert described(made()) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (
            lambda: RT.from_row_starts([1, 2, 3], unsized(np.array([1, 2]))),
            "InvalidArgumentError: assertion failed: [Arguments to from_row_starts do not form a valid RaggedTens",
        ),
        (
            lambda: RT.from_row_starts([1, 2, 3], unsized(np.array([0, 2, 1]))),
            "InvalidArgumentError: assertion failed: [Arguments to from_row_starts do not form a valid RaggedTens",
        ),
        (
            lambda: RT.from_row_starts([1, 2, 3], unsized(np.array([0, 4]))),
            "InvalidArgumentError: assertion failed: [Arguments to from_row_starts do not form a valid RaggedTens",
        ),
        (lambda: RT.from_row_starts([1, 2, 3], [[0, 2]]), "ValueError: Shape (1, 2) must have rank 1"),
        (
            lambda: RT.from_row_limits([1, 2, 3], unsized(np.array([0, 2]))),
            "InvalidArgumentError: assertion failed: [Arguments to from_row_limits do not form a valid RaggedTens",
        ),
        (
            lambda: RT.from_row_limits([1, 2, 3], unsized(np.array([-1, 3]))),
            "InvalidArgumentError: assertion failed: [Arguments to from_row_limits do not form a valid RaggedTens",
        ),
        (
            lambda: RT.from_row_limits([1, 2, 3], unsized(np.array([2, 1, 3]))),
            "InvalidArgumentError: assertion failed: [Arguments to from_row_limits do not form a valid RaggedTens",
        ),
        (lambda: RT.from_row_limits([1, 2, 3], [[0, 3]]), "ValueError: Shape (1, 2) must have rank 1"),
    ],
)
def test_rows_are_cut_by_starts_and_limits_or_are_refused(made, expected):
    assert refused(lambda: described(made())).startswith(expected)


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (
            lambda: RT.from_nested_value_rowids([1, 2, 3], [[0, 0, 2], [0, 1, 2]], nested_nrows=[4, 3]),
            ["int32 [4, None, None]", [[[1], [2]], [], [[3]], []]],
        ),
        (
            lambda: RT.from_nested_value_rowids([1, 2, 3], [[0, 0], [0, 1, 1]], nested_nrows=[None, None]),
            ["int32 [1, None, None]", [[[1], [2, 3]]]],
        ),
        (lambda: RT.from_nested_value_rowids([1, 2, 3], []), [1, 2, 3]),
        (lambda: RT.from_nested_value_rowids([1, 2, 3], [[1, 0], [0, 1, 1]], validate=False).value_rowids(), ["int64 [2]", [1, 0]]),
        (lambda: RT.from_nested_row_splits([1, 2, 3], []), [1, 2, 3]),
        (lambda: RT.from_nested_row_splits([1, 2, 3], [ints([0, 1]), ints([0, 3])]), ["int32 [1, None, None] by int32", [[[1, 2, 3]]]]),
        (lambda: RT.from_nested_row_splits([1, 2, 3], [[0, 2], [0, 4]], validate=False).row_splits, ["int64 [2]", [0, 2]]),
        (lambda: RT.from_nested_row_splits([1, 2, 3], (unsized(np.array([0, 1])), [0, 3])), ["int32 [None, None, None]", [[[1, 2, 3]]]]),
        (lambda: RT.from_nested_row_lengths([1, 2, 3], [[2, 0], [1, 2]]), ["int32 [2, None, None]", [[[1], [2, 3]], []]]),
        (lambda: RT.from_nested_row_lengths([1, 2, 3], []), [1, 2, 3]),
        (
            lambda: RT.from_nested_row_lengths([1, 2, 3], [unsized(np.array([2, 1])), [1, 2]], validate=False).row_splits,
            ["int64 [None]", [0, 2, 3]],
        ),
    ],
)
def test_rows_of_rows_are_cut_from_the_outside(made, expected):
    assert described(made()) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (
            lambda: RT.from_nested_value_rowids([1, 2, 3], [unsized(np.array([1, 0])), [0, 1, 1]]),
            "InvalidArgumentError: assertion failed: [Arguments to from_value_rowids do not form a valid RaggedTe",
        ),
        (
            lambda: RT.from_nested_row_splits([1, 2, 3], [unsized(np.array([0, 2])), [0, 3]]),
            "InvalidArgumentError: assertion failed: [Arguments to from_row_splits do not form a valid RaggedTens",
        ),
        (
            lambda: RT.from_nested_row_lengths([1, 2, 3], [unsized(np.array([2, 1])), [1, 2]]),
            "InvalidArgumentError: assertion failed: [Arguments to from_row_lengths do not form a valid RaggedTen",
        ),
    ],
)
def test_rows_of_rows_are_cut_from_the_outside_or_are_refused(made, expected):
    assert refused(lambda: described(made())).startswith(expected)


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: fed(), ["int32 [None, None]", [[3, 1], [], [2, 5, 4]]]),
        (lambda: fed_deep(), ["int32 [None, None, None]", [[[1, 2], [3]], [], [[], [4, 5, 6]]]]),
        (lambda: formless(), ["int32 None", [[3, 1], [], [2, 5, 4]]]),
        (lambda: fed().nrows(), ["int64 []", 3]),
        (lambda: fed().nrows(tf.int32), ["int32 []", 3]),
        (lambda: fed().row_starts(), ["int64 [None]", [0, 2, 2]]),
        (lambda: fed().row_limits(), ["int64 [None]", [2, 2, 5]]),
        (lambda: fed().row_lengths(), ["int64 [None]", [2, 0, 3]]),
        (lambda: fed().row_lengths(axis=0), ["int64 []", 3]),
        (lambda: fed().value_rowids(), ["int64 [None]", [0, 0, 2, 2, 2]]),
        (lambda: fed_deep().row_lengths(axis=2), ["int64 [None, None]", [[2, 1], [], [0, 3]]]),
        (lambda: fed_deep().nested_row_lengths(), [["int64 [None]", "int64 [None]"], [[2, 0, 2], [2, 1, 0, 3]]]),
        (lambda: fed_deep().nested_value_rowids(), [["int64 [None]", "int64 [None]"], [[0, 0, 2, 2], [0, 0, 1, 3, 3, 3]]]),
        (lambda: fed(np.int32).value_rowids(), ["int32 [None]", [0, 0, 2, 2, 2]]),
        (lambda: fed(np.int32).row_lengths(), ["int32 [None]", [2, 0, 3]]),
        (lambda: fed(np.int32).nrows(), ["int32 []", 3]),
        (lambda: fed(np.int32).nrows(tf.int64), ["int64 []", 3]),
        (lambda: fed(np.int32).bounding_shape(), ["int32 [2]", [3, 3]]),
        (lambda: fed().bounding_shape(), ["int64 [2]", [3, 3]]),
        (lambda: fed().bounding_shape(axis=0, out_type=tf.int32), ["int32 []", 3]),
        (lambda: fed().bounding_shape(axis=tf.constant(1)), ["int64 []", 3]),
        (lambda: fed_deep().bounding_shape(), ["int64 [3]", [3, 2, 3]]),
        (lambda: wide().bounding_shape(axis=2), ["int64 []", 2]),
        (lambda: R.constant([[]], dtype=tf.int32).bounding_shape(axis=1), ["int64 []", 0]),
        (lambda: R.constant([], ragged_rank=1).bounding_shape(axis=1), ["int64 []", 0]),
        (lambda: R.constant([], ragged_rank=2).bounding_shape(), ["int64 [3]", [0, 0, 0]]),
        (lambda: wide().row_lengths(axis=-1), ["int64 [3, None]", [[2, 2], [], [2]]]),
        (lambda: R.constant([[[[1, 2]], [[3, 4]]], []], ragged_rank=1).row_lengths(axis=2), ["int64 [2, None]", [[1, 1], []]]),
        (lambda: R.constant([[[[1, 2]], [[3, 4]]], []], ragged_rank=1).row_lengths(axis=3), ["int64 [2, None, 1]", [[[2], [2]], []]]),
        (lambda: formless().row_lengths(), ["int64 [None]", [2, 0, 3]]),
        (lambda: formless().row_lengths(axis=0), ["int64 []", 3]),
    ],
)
def test_parts_tell_what_is_known_before_a_run(made, expected):
    assert described(made()) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: wide().bounding_shape(axis=-1), "InvalidArgumentError: indices = -1 is not in [0, 3)"),
        (lambda: formless().row_lengths(axis=-1), "ValueError: axis may only be negative if ndims is statically known."),
    ],
)
def test_parts_tell_what_is_known_before_a_run_or_are_refused(made, expected):
    assert refused(lambda: described(made())).startswith(expected)


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: small().with_row_splits_dtype(tf.int64), ["int32 [3, None]", [[3, 1], [], [2, 5, 4]]]),
        (lambda: small_deep().with_row_splits_dtype("int64"), ["int32 [3, None, None]", [[[1, 2], [3]], [], [[], [4, 5, 6]]]]),
        (lambda: deep().with_row_splits_dtype(tf.int32), ["int32 [3, None, None] by int32", [[[1, 2], [3]], [], [[], [4, 5, 6]]]]),
        (lambda: RT.from_row_lengths([1, 2], [0, 2]).with_row_splits_dtype(tf.int32).row_lengths(), ["int32 [2]", [0, 2]]),
        (lambda: RT.from_value_rowids([1, 2], [0, 2]).with_row_splits_dtype(tf.int32).value_rowids(), ["int32 [2]", [0, 2]]),
        (lambda: RT.from_value_rowids([1, 2], [0, 2]).with_row_splits_dtype(tf.int32).nrows(), ["int32 []", 3]),
        (lambda: RT.from_row_lengths([1, 2], [0, 2]).with_values(tf.constant([3, 4])).row_lengths(), ["int64 [2]", [0, 2]]),
        (lambda: RT.from_value_rowids([1, 2], [0, 2]).with_values(tf.constant(["a", "b"])), ["string [3, None]", [[b"a"], [], [b"b"]]]),
        (lambda: rows().with_values(unsized([1, 2, 3, 4, 5])), ["int32 [3, None]", [[1, 2], [], [3, 4, 5]]]),
        (lambda: rows().with_values(tf.constant([[1], [2], [3], [4], [5]])), ["int32 [3, None, 1]", [[[1], [2]], [], [[3], [4], [5]]]]),
        (
            lambda: deep().with_flat_values(tf.constant([[1], [2], [3], [4], [5], [6]])),
            ["int32 [3, None, None, 1]", [[[[1], [2]], [[3]]], [], [[], [[4], [5], [6]]]]],
        ),
        (
            lambda: deep().with_flat_values(R.constant([[1], [2], [3], [4], [5], [6, 7]])),
            ["int32 [3, None, None, None]", [[[[1], [2]], [[3]]], [], [[], [[4], [5], [6, 7]]]]],
        ),
        (lambda: str(rows()).startswith("tf.RaggedTensor(values=Tensor("), True),
        (lambda: rows().consumers(), []),
        (lambda: hash(rows()) is not None, True),
    ],
)
def test_parts_are_exchanged(made, expected):
    assert described(made()) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: rows().with_values(deep()), "ValueError: Shapes (5,) and (3,) are incompatible"),
        (lambda: rows().with_flat_values([1.5, 2.5, 3.5, 4.5, 5.5]), "AttributeError: 'list' object has no attribute 'shape'"),
        (lambda: deep().with_flat_values([1, 2, 3, 4, 5, 6]), "AttributeError: 'list' object has no attribute 'shape'"),
        (lambda: deep().with_flat_values([1, 2]), "AttributeError: 'list' object has no attribute 'shape'"),
        (lambda: rows()._shape_as_list(), "AttributeError: 'RaggedTensor' object has no attribute '_shape_as_list'"),
    ],
)
def test_parts_are_exchanged_or_are_refused(made, expected):
    assert refused(lambda: described(made())).startswith(expected)
