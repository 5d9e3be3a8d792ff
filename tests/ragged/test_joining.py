"""Rows joined, repeated, masked and parted, of known sizes and of unknown ones; values are those of TensorFlow 1.15.5."""

import numpy as np
import pytest
from plain import computed, described, refused
from rows import RT, R, deep, fed, fed_deep, formless, ints, rows, small, small_deep, unknown, unsized, wide, words

import everflow as tf
from everflow.ragged.arrays import assert_splits_match, concat, expand_dims, rank, size, squeeze, tile, where


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: concat([fed(), fed()], 0), ["int32 [None, None]", [[3, 1], [], [2, 5, 4], [3, 1], [], [2, 5, 4]]]),
        (lambda: concat([fed(), fed()], 1), ["int32 [None, None]", [[3, 1, 3, 1], [], [2, 5, 4, 2, 5, 4]]]),
        (lambda: concat([fed_deep(), fed_deep()], 2), ["int32 [None, None, None]", [[[1, 2, 1, 2], [3, 3]], [], [[], [4, 5, 6, 4, 5, 6]]]]),
        (lambda: concat([small(), small()], 0), ["int32 [6, None] by int32", [[3, 1], [], [2, 5, 4], [3, 1], [], [2, 5, 4]]]),
        (lambda: concat([small(), small()], 1), ["int32 [3, None] by int32", [[3, 1, 3, 1], [], [2, 5, 4, 2, 5, 4]]]),
        (
            lambda: concat([small_deep(), small_deep()], 2),
            ["int32 [3, None, None] by int32", [[[1, 2, 1, 2], [3, 3]], [], [[], [4, 5, 6, 4, 5, 6]]]],
        ),
        (lambda: concat([small(), [[7], [8], [9]]], 1), ["int32 [3, None] by int32", [[3, 1, 7], [8], [2, 5, 4, 9]]]),
        (lambda: concat([small(), [[7], [8], [9]]], 0), ["int32 [6, None] by int32", [[3, 1], [], [2, 5, 4], [7], [8], [9]]]),
        (lambda: concat([fed(), rows()], 1), ["int32 [3, None]", [[3, 1, 3, 1], [], [2, 5, 4, 2, 5, 4]]]),
        (lambda: concat([rows(), fed()], 0), ["int32 [None, None]", [[3, 1], [], [2, 5, 4], [3, 1], [], [2, 5, 4]]]),
        (lambda: concat([[1, 2], [3]], 0), ["int32 [3]", [1, 2, 3]]),
        (lambda: concat([[[1, 2]], [[3]]], 1), ["int32 [1, 3]", [[1, 2, 3]]]),
        (lambda: concat([[[1, 2]], [[3, 4]]], 0), ["int32 [2, None]", [[1, 2], [3, 4]]]),
        (lambda: concat([[[1, 2]], [[3, 4]]], -1), ["int32 [1, 4]", [[1, 2, 3, 4]]]),
        (lambda: concat([[1, 2]], 0), ["int32 [2]", [1, 2]]),
        (lambda: concat(rows(), 0), ["int32 [3, None]", [[3, 1], [], [2, 5, 4]]]),
        (lambda: concat((rows(), rows()), -2), ["int32 [6, None]", [[3, 1], [], [2, 5, 4], [3, 1], [], [2, 5, 4]]]),
        (lambda: concat([unknown([[1]]), unknown([[2]])], 0), ["int32 None", [[1], [2]]]),
        (lambda: concat([unknown([[1]]), unknown([[2]])], 1), ["int32 None", [[1, 2]]]),
        (lambda: concat([deep(), [[[1]], [[2]], [[3]]]], 1), ["int32 [3, None, None]", [[[1, 2], [3], [1]], [[2]], [[], [4, 5, 6], [3]]]]),
        (
            lambda: concat([deep(), [[[1]], [[2]], [[3]]]], 0),
            ["int32 [6, None, None]", [[[1, 2], [3]], [], [[], [4, 5, 6]], [[1]], [[2]], [[3]]]],
        ),
        (
            lambda: concat([wide(), [[[7, 8]], [[9, 10]], [[11, 12]]]], 1),
            ["int32 [3, None, 2]", [[[1, 2], [3, 4], [7, 8]], [[9, 10]], [[5, 6], [11, 12]]]],
        ),
        (lambda: concat([wide(), deep()], 1), ["int32 [3, None, None]", [[[1, 2], [3, 4], [1, 2], [3]], [], [[5, 6], [], [4, 5, 6]]]]),
        (lambda: concat([rows(), rows(), [[0], [0], [0]]], 1), ["int32 [3, None]", [[3, 1, 3, 1, 0], [0], [2, 5, 4, 2, 5, 4, 0]]]),
        (lambda: concat([rows(), rows(), rows()], 0).row_splits, ["int64 [10]", [0, 2, 2, 5, 7, 7, 10, 12, 12, 15]]),
    ],
)
def test_tensors_are_joined(made, expected):
    assert described(made()) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (
            lambda: concat([rows(), [[7], [8]]], 1),
            "ValueError: Dimension 0 in both shapes must be equal, but are 4 and 3. Shapes are [4] and [3].",
        ),
        (
            lambda: concat([rows(), unsized([[7], [8]])], 1),
            "InvalidArgumentError: assertion failed: [Input tensors have incompatible shapes.]",
        ),
        (lambda: concat([1, 2], 0), "ValueError: axis=0 out of bounds: expected 0<=axis<0"),
        (lambda: concat([rows(), [1, 2]], 0), "ValueError: Shape (2,) must have rank 2"),
        (lambda: concat([rows(), deep()], 0), "ValueError: Shape (3, ?, ?) must have rank 2"),
        (lambda: concat([rows(), rows()], -3), "ValueError: axis=-3 out of bounds: expected -2<=axis<2"),
        (lambda: concat([rows(), rows()], 1.0), "TypeError: axis must be an int; got float"),
        (lambda: concat([unknown([[1]]), unknown([[2]])], -1), "ValueError: axis may only be negative if ndims is statically known."),
        (
            lambda: concat([R.constant_value([[1], [2]]), [[3], [4]]], 1),
            "TypeError: Tensors in list passed to 'values' of 'ConcatV2' Op have types [int64, int32] that don't",
        ),
        (
            lambda: concat([deep(), R.constant([[[1]], [], [[2], [3, 4]]])], 2),
            "InvalidArgumentError: Inputs must have identical ragged splits",
        ),
    ],
)
def test_tensors_are_joined_or_are_refused(made, expected):
    assert refused(lambda: described(made())).startswith(expected)


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: R.stack([small(), small()]), ["int32 [2, None, None] by int32", [[[3, 1], [], [2, 5, 4]], [[3, 1], [], [2, 5, 4]]]]),
        (lambda: R.stack([small(), small()], 1), ["int32 [3, None, None] by int32", [[[3, 1], [3, 1]], [[], []], [[2, 5, 4], [2, 5, 4]]]]),
        (lambda: R.stack([small(), small()], 2), ["int32 [3, None, 2] by int32", [[[3, 3], [1, 1]], [], [[2, 2], [5, 5], [4, 4]]]]),
        (lambda: R.stack([fed(), fed()]), ["int32 [2, None, None]", [[[3, 1], [], [2, 5, 4]], [[3, 1], [], [2, 5, 4]]]]),
        (lambda: R.stack([fed(), fed()], 1), ["int32 [None, None, None]", [[[3, 1], [3, 1]], [[], []], [[2, 5, 4], [2, 5, 4]]]]),
        (lambda: R.stack([fed(), rows()], 1), ["int32 [3, None, None]", [[[3, 1], [3, 1]], [[], []], [[2, 5, 4], [2, 5, 4]]]]),
        (lambda: R.stack([fed(), fed()], 2), ["int32 [None, None, 2]", [[[3, 3], [1, 1]], [], [[2, 2], [5, 5], [4, 4]]]]),
        (lambda: R.stack([rows(), rows()[:1]], 0), ["int32 [2, None, None]", [[[3, 1], [], [2, 5, 4]], [[3, 1]]]]),
        (lambda: R.stack([rows(), rows()], -3), ["int32 [2, None, None]", [[[3, 1], [], [2, 5, 4]], [[3, 1], [], [2, 5, 4]]]]),
        (
            lambda: R.stack([small_deep(), small_deep()], 3),
            ["int32 [3, None, None, 2] by int32", [[[[1, 1], [2, 2]], [[3, 3]]], [], [[], [[4, 4], [5, 5], [6, 6]]]]],
        ),
        (lambda: R.stack([wide(), wide()], 3), ["int32 [3, None, 2, 2]", [[[[1, 1], [2, 2]], [[3, 3], [4, 4]]], [], [[[5, 5], [6, 6]]]]]),
        (
            lambda: R.stack([wide(), wide()], 1),
            ["int32 [3, None, None, 2]", [[[[1, 2], [3, 4]], [[1, 2], [3, 4]]], [[], []], [[[5, 6]], [[5, 6]]]]],
        ),
        (lambda: R.stack([[[1, 2]], [[3, 4]]], axis=2), ["int32 [1, 2, 2]", [[[1, 3], [2, 4]]]]),
        (lambda: R.stack([[[1, 2]], [[3, 4]]], axis=-1), ["int32 [1, 2, 2]", [[[1, 3], [2, 4]]]]),
        (lambda: R.stack([unsized([[1, 2]]), unsized([[3]])]), ["int32 [2, None, None]", [[[1, 2]], [[3]]]]),
        (lambda: R.stack([unsized([1, 2]), unsized([3, 4])]), ["int32 [2, None]", [[1, 2], [3, 4]]]),
        (lambda: R.stack(5), ["int32 [1]", [5]]),
        (
            lambda: R.stack([words(), words()[::-1]]),
            ["string [2, None, None]", [[[b"a", b"b"], [], [b"c", b"d", b"e"]], [[b"c", b"d", b"e"], [], [b"a", b"b"]]]],
        ),
    ],
)
def test_tensors_are_stacked(made, expected):
    assert described(made()) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (
            lambda: R.stack([rows(), rows()[:1]], 1),
            "ValueError: Dimension 0 in both shapes must be equal, but are 4 and 2. Shapes are [4] and [2].",
        ),
        (lambda: R.stack([fed(), rows()[:1]], 1), "InvalidArgumentError: assertion failed: [Input tensors have incompatible shapes.]"),
        (lambda: R.stack([rows(), deep()]), "ValueError: Shape (3, ?, ?) must have rank 2"),
        (lambda: R.stack([rows(), rows()], 3), "ValueError: axis=3 out of bounds: expected -3<=axis<3"),
        (lambda: R.stack([rows(), rows()], -4), "ValueError: axis=-4 out of bounds: expected -3<=axis<3"),
        (
            lambda: R.stack([[[1, 2]], [[3]]], axis=2),
            "ValueError: Dimension 1 in both shapes must be equal, but are 2 and 1. Shapes are [1,2] and [1,1].",
        ),
        (lambda: R.stack([1, 2], axis=1), "ValueError: axis=1 out of bounds: expected -1<=axis<1"),
        (
            lambda: R.stack([[[[1]]], [[[2, 3]]]]),
            "ValueError: Dimension 0 in both shapes must be equal, but are 1 and 2. Shapes are [1] and [2].",
        ),
        (lambda: R.stack(()), "ValueError: rt_inputs may not be empty."),
    ],
)
def test_tensors_are_stacked_or_are_refused(made, expected):
    assert refused(lambda: described(made())).startswith(expected)


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: assert_splits_match([rows().nested_row_splits]), []),
        (lambda: len(assert_splits_match([rows().nested_row_splits, rows().nested_row_splits])), 1),
        (lambda: len(assert_splits_match([deep().nested_row_splits, deep().nested_row_splits])), 2),
    ],
)
def test_splits_are_compared(made, expected):
    assert described(made()) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (
            lambda: assert_splits_match([rows().nested_row_splits, deep().nested_row_splits]),
            "ValueError: Inputs must have identical ragged splits",
        )
    ],
)
def test_splits_are_compared_or_are_refused(made, expected):
    assert refused(lambda: described(made())).startswith(expected)


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: tile([1, 2], [2]), ["int32 [4]", [1, 2, 1, 2]]),
        (lambda: tile([[1, 2]], [2, 1]), ["int32 [2, 2]", [[1, 2], [1, 2]]]),
        (lambda: tile(small(), [2, 1]), ["int32 [6, None] by int32", [[3, 1], [], [2, 5, 4], [3, 1], [], [2, 5, 4]]]),
        (lambda: tile(small(), [1, 2]), ["int32 [3, None] by int32", [[3, 1, 3, 1], [], [2, 5, 4, 2, 5, 4]]]),
        (
            lambda: tile(small_deep(), [2, 1, 2]),
            [
                "int32 [6, None, None] by int32",
                [[[1, 2, 1, 2], [3, 3]], [], [[], [4, 5, 6, 4, 5, 6]], [[1, 2, 1, 2], [3, 3]], [], [[], [4, 5, 6, 4, 5, 6]]],
            ],
        ),
        (lambda: tile(fed(), [2, 2]), ["int32 [None, None]", [[3, 1, 3, 1], [], [2, 5, 4, 2, 5, 4], [3, 1, 3, 1], [], [2, 5, 4, 2, 5, 4]]]),
        (
            lambda: tile(fed_deep(), [2, 2, 2]),
            [
                "int32 [None, None, None]",
                [
                    [[1, 2, 1, 2], [3, 3], [1, 2, 1, 2], [3, 3]],
                    [],
                    [[], [4, 5, 6, 4, 5, 6], [], [4, 5, 6, 4, 5, 6]],
                    [[1, 2, 1, 2], [3, 3], [1, 2, 1, 2], [3, 3]],
                    [],
                    [[], [4, 5, 6, 4, 5, 6], [], [4, 5, 6, 4, 5, 6]],
                ],
            ],
        ),
        (
            lambda: tile(fed(), unsized([2, 2])),
            ["int32 [None, None]", [[3, 1, 3, 1], [], [2, 5, 4, 2, 5, 4], [3, 1, 3, 1], [], [2, 5, 4, 2, 5, 4]]],
        ),
        (
            lambda: tile(rows(), unknown([2, 2])),
            ["int32 [None, None]", [[3, 1, 3, 1], [], [2, 5, 4, 2, 5, 4], [3, 1, 3, 1], [], [2, 5, 4, 2, 5, 4]]],
        ),
        (lambda: tile(wide(), [1, 1, 0]), ["int32 [3, None, 0]", [[[], []], [], [[]]]]),
        (lambda: tile(words(), [1, 2]), ["string [3, None]", [[b"a", b"b", b"a", b"b"], [], [b"c", b"d", b"e", b"c", b"d", b"e"]]]),
        (lambda: tile(deep(), [1, 1, 1]), ["int32 [3, None, None]", [[[1, 2], [3]], [], [[], [4, 5, 6]]]]),
        (lambda: tile(R.constant([], ragged_rank=1), [2, 2]), ["float32 [0, None]", []]),
        (lambda: tile(rows(), ints([2, 1])), ["int32 [6, None]", [[3, 1], [], [2, 5, 4], [3, 1], [], [2, 5, 4]]]),
        (
            lambda: tile(R.constant([[[1, 2]], []], ragged_rank=1), [1, 2, 3]),
            ["int32 [2, None, 6]", [[[1, 2, 1, 2, 1, 2], [1, 2, 1, 2, 1, 2]], []]],
        ),
    ],
)
def test_rows_are_repeated(made, expected):
    assert described(made()) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: tile(rows(), [2, 2, 2]), "ValueError: Shape must be rank 1 but is rank 2"),
        (lambda: tile(rows(), [2, -1]), "InvalidArgumentError: Expected multiples[1] >= 0, but got -1"),
    ],
)
def test_rows_are_repeated_or_are_refused(made, expected):
    assert refused(lambda: described(made())).startswith(expected)


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: expand_dims([1, 2], 0), ["int32 [1, 2]", [[1, 2]]]),
        (lambda: expand_dims([1, 2], -1), ["int32 [2, 1]", [[1], [2]]]),
        (lambda: expand_dims(small(), 0), ["int32 [1, None, None] by int32", [[[3, 1], [], [2, 5, 4]]]]),
        (lambda: expand_dims(small(), 1), ["int32 [3, None, None] by int32", [[[3, 1]], [[]], [[2, 5, 4]]]]),
        (lambda: expand_dims(small(), 2), ["int32 [3, None, 1] by int32", [[[3], [1]], [], [[2], [5], [4]]]]),
        (lambda: expand_dims(small_deep(), 2), ["int32 [3, None, None, None] by int32", [[[[1, 2]], [[3]]], [], [[[]], [[4, 5, 6]]]]]),
        (lambda: expand_dims(fed(), 0), ["int32 [1, None, None]", [[[3, 1], [], [2, 5, 4]]]]),
        (lambda: expand_dims(fed(), 1), ["int32 [None, None, None]", [[[3, 1]], [[]], [[2, 5, 4]]]]),
        (lambda: expand_dims(fed(), 2), ["int32 [None, None, 1]", [[[3], [1]], [], [[2], [5], [4]]]]),
        (lambda: expand_dims(fed_deep(), 1), ["int32 [None, None, None, None]", [[[[1, 2], [3]]], [[]], [[[], [4, 5, 6]]]]]),
        (lambda: expand_dims(formless(), 1), ["int32 None", [[[3, 1]], [[]], [[2, 5, 4]]]]),
        (lambda: expand_dims(formless(), 2), ["int32 None", [[[3], [1]], [], [[2], [5], [4]]]]),
        (lambda: expand_dims(wide(), 3), ["int32 [3, None, 2, 1]", [[[[1], [2]], [[3], [4]]], [], [[[5], [6]]]]]),
        (lambda: expand_dims(wide(), 2), ["int32 [3, None, 1, 2]", [[[[1, 2]], [[3, 4]]], [], [[[5, 6]]]]]),
        (lambda: expand_dims(wide(), -2), ["int32 [3, None, 1, 2]", [[[[1, 2]], [[3, 4]]], [], [[[5, 6]]]]]),
        (lambda: expand_dims(R.constant_value([[1], []]), 1), ["int64 [2, None, None]", [[[1]], [[]]]]),
        (lambda: expand_dims(R.constant([], ragged_rank=1, dtype=tf.int32), 1), ["int32 [0, None, None]", []]),
    ],
)
def test_dimensions_are_added(made, expected):
    assert described(made()) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: expand_dims(formless(), -1), "ValueError: axis may only be negative if ndims is statically known."),
        (lambda: expand_dims(rows(), -4), "ValueError: axis=-4 out of bounds: expected -3<=axis<3"),
        (lambda: expand_dims(rows(), 3), "ValueError: axis=3 out of bounds: expected -3<=axis<3"),
    ],
)
def test_dimensions_are_added_or_are_refused(made, expected):
    assert refused(lambda: described(made())).startswith(expected)


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: squeeze([[1], [2]], 1), ["int32 [2]", [1, 2]]),
        (lambda: squeeze([[1], [2]]), ["int32 [2]", [1, 2]]),
        (lambda: squeeze([[1, 2]], [0]), ["int32 [2]", [1, 2]]),
        (lambda: squeeze(R.constant([[1, 2]], row_splits_dtype=tf.int32), 0), ["int32 [2]", [1, 2]]),
        (lambda: squeeze(R.constant([[1], [2]], row_splits_dtype=tf.int32), 1), ["int32 [2]", [1, 2]]),
        (lambda: squeeze(RT.from_row_splits(unsized([1, 2]), unsized(np.array([0, 2]))), 0), ["int32 [None]", [1, 2]]),
        (lambda: squeeze(R.constant([[[1], [2]], [[3]]]), 2), ["int32 [2, None]", [[1, 2], [3]]]),
        (lambda: squeeze(R.constant([[[1], [2]], [[3]]]), -1), ["int32 [2, None]", [[1, 2], [3]]]),
        (lambda: squeeze(R.constant([[[1, 2]], [[3]]]), (1,)), ["int32 [2, None]", [[1, 2], [3]]]),
        (lambda: squeeze(R.constant([[[1]]]), [0, 1]), ["int32 [1]", [1]]),
        (lambda: squeeze(R.constant([[[1]]]), [0, 1, 2]), ["int32 []", 1]),
        (lambda: squeeze(R.constant([[[[1], [2]]], []], ragged_rank=1), 3), ["int32 [2, None, 2]", [[[1, 2]], []]]),
        (lambda: squeeze(R.constant([[[[1, 2]], [[3, 4]]], []], ragged_rank=1), [2]), ["int32 [2, None, 2]", [[[1, 2], [3, 4]], []]]),
        (lambda: squeeze(R.constant([[[[1]], [[3]]], []], ragged_rank=1), [2, 3]), ["int32 [2, None]", [[1, 3], []]]),
        (lambda: squeeze(R.constant([[[[1]]], [[[3]]]], ragged_rank=1), [3, 1]), ["int32 [2, 1]", [[1], [3]]]),
        (lambda: squeeze(R.constant([[1], [2]]), -1), ["int32 [2]", [1, 2]]),
        (lambda: squeeze(R.constant([[1], [2]]), []), ["int32 [2, None]", [[1], [2]]]),
        (lambda: squeeze(words()[:1], 0), ["string [2]", [b"a", b"b"]]),
    ],
)
def test_dimensions_are_taken_away(made, expected):
    assert described(made()) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: squeeze(fed(), 0), "InvalidArgumentError: assertion failed: [the given axis (axis = 0) is not squeezable!]"),
        (lambda: squeeze(fed(), 1), "InvalidArgumentError: assertion failed: [the given axis (axis = 1) is not squeezable!]"),
        (
            lambda: squeeze(R.constant([[[[1], [2]]], []], ragged_rank=1), [2]),
            "ValueError: Can not squeeze dim[1], expected a dimension of 1, got 2",
        ),
        (
            lambda: squeeze(R.constant([[[[1]], [[3]]], []], ragged_rank=1), [3, 1]),
            "InvalidArgumentError: assertion failed: [the given axis (axis = 1) is not squeezable!]",
        ),
        (lambda: squeeze(R.constant([[1], [2]]), -3), "ValueError: axis=-3 out of bounds: expected -2<=axis<2"),
        (lambda: squeeze(R.constant([[1], [2]]), "a"), "TypeError: Axis must be a list or tuple of integers."),
        (lambda: squeeze(R.constant([[1], [2]]), 1.0), "TypeError: Axis must be a list or tuple of integers."),
    ],
)
def test_dimensions_are_taken_away_or_are_refused(made, expected):
    assert refused(lambda: described(made())).startswith(expected)


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: R.boolean_mask(fed(), fed() > 2), ["int32 [None, None]", [[3], [], [5, 4]]]),
        (lambda: R.boolean_mask(small(), small() > 2), ["int32 [3, None] by int32", [[3], [], [5, 4]]]),
        (lambda: R.boolean_mask(small_deep(), small_deep() > 2), ["int32 [3, None, None] by int32", [[[], [3]], [], [[], [4, 5, 6]]]]),
        (lambda: R.boolean_mask(small(), [True, False, True]), ["int32 [None, None] by int32", [[3, 1], [2, 5, 4]]]),
        (lambda: R.boolean_mask(fed_deep(), unsized([True, False, True])), ["int32 [None, None, None]", [[[1, 2], [3]], [[], [4, 5, 6]]]]),
        (lambda: R.boolean_mask(unsized([[1, 2], [3, 4]]), unsized([[True, False], [False, False]])), ["int32 [None, None]", [[1], []]]),
        (lambda: R.boolean_mask([[[1, 2]], [[3, 4]]], [[True], [False]]), ["int32 [2, None, 2]", [[[1, 2]], []]]),
        (
            lambda: R.boolean_mask([[[1, 2], [3, 4]], [[5, 6], [7, 8]]], R.constant([[True, False], [True, True]])),
            ["int32 [2, None, 2]", [[[1, 2]], [[5, 6], [7, 8]]]],
        ),
        (
            lambda: R.boolean_mask(words(), R.constant_value([[True, False], [], [False, True, True]])),
            ["string [3, None]", [[b"a"], [], [b"d", b"e"]]],
        ),
        (lambda: R.boolean_mask([1, 2, 3], [False, False, True]), ["int32 [None]", [3]]),
        (lambda: R.boolean_mask(rows(), [False, False, False]), ["int32 [None, None]", []]),
    ],
)
def test_masks_pick(made, expected):
    assert described(made()) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (
            lambda: R.boolean_mask(small(), R.constant([[True], [], []], row_splits_dtype=tf.int64)),
            "ValueError: Input RaggedTensors have mismatched row_splits dtypes; use RaggedTensor.with_row_splits_",
        ),
        (
            lambda: R.boolean_mask(fed(), RT.from_row_splits(unsized([True, False, True, True, True]), unsized(np.array([0, 1, 2, 5])))),
            "InvalidArgumentError: assertion failed: [Inputs must have identical ragged splits]",
        ),
        (
            lambda: R.boolean_mask(rows(), R.constant([[1, 0], [], [1, 1, 1]])),
            "ValueError: Tensor conversion requested dtype bool for RaggedTensor with dtype int32: tf.RaggedTenso",
        ),
        (
            lambda: R.boolean_mask(rows(), [[True, False], [True, True], [False, False]]),
            "ValueError: Shapes (5,) and (6,) are incompatible",
        ),
        (lambda: R.boolean_mask(deep(), [[True], [True], [False]]), "ValueError: Shapes (4,) and (3,) are incompatible"),
    ],
)
def test_masks_pick_or_are_refused(made, expected):
    assert refused(lambda: described(made())).startswith(expected)


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: where(fed() > 2), ["int64 [None, 2]", [[0, 0], [2, 1], [2, 2]]]),
        (lambda: where(small() > 2), ["int64 [None, 2]", [[0, 0], [2, 1], [2, 2]]]),
        (lambda: where(small_deep() > 2), ["int64 [None, 3]", [[0, 1, 0], [2, 1, 0], [2, 1, 1], [2, 1, 2]]]),
        (lambda: where(wide() > 2), ["int64 [None, 3]", [[0, 1, 0], [0, 1, 1], [2, 0, 0], [2, 0, 1]]]),
        (lambda: where([True, False, True]), ["int64 [None, 1]", [[0], [2]]]),
        (lambda: where([True, False], [1, 2], [3, 4]), ["int32 [2]", [1, 4]]),
        (lambda: where(R.constant_value([[True], [False, True]])), ["int64 [None, 2]", [[0, 0], [1, 1]]]),
        (lambda: where(small() > 2, small(), -small()), ["int32 [3, None] by int32", [[3, -1], [], [-2, 5, 4]]]),
        (lambda: where(fed() > 2, fed(), -fed()), ["int32 [None, None]", [[3, -1], [], [-2, 5, 4]]]),
        (lambda: where(deep() > 2, deep(), -deep()), ["int32 [3, None, None]", [[[-1, -2], [3]], [], [[], [4, 5, 6]]]]),
        (lambda: where([True, False, True], small(), -small()), ["int32 [None, None] by int32", [[3, 1], [], [2, 5, 4]]]),
        (lambda: where(unsized([True, False, True]), fed(), -fed()), ["int32 [None, None]", [[3, 1], [], [2, 5, 4]]]),
        (lambda: where([True, False, True], deep(), deep()[::-1]), ["int32 [None, None, None]", [[[1, 2], [3]], [], [[], [4, 5, 6]]]]),
        (lambda: where([True, False, True], [[1], [2], [3]], rows()), ["int32 [None, None]", [[1], [], [3]]]),
        (lambda: where(rows()), ["int64 [None, 2]", [[0, 0], [0, 1], [2, 0], [2, 1], [2, 2]]]),
    ],
)
def test_conditions_choose(made, expected):
    assert described(made()) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: where(deep() > 2, rows(), rows()), "ValueError: Inputs must have identical ragged splits"),
        (
            lambda: where(rows() > 2, rows(), R.constant([[1], [2], [3, 4, 5]])),
            "InvalidArgumentError: Inputs must have identical ragged splits",
        ),
        (
            lambda: where(fed() > 2, R.constant([[1], [2], [3, 4, 5]]), fed()),
            "InvalidArgumentError: assertion failed: [Inputs must have identical ragged splits]",
        ),
        (
            lambda: where([True, False], rows(), rows()),
            "ValueError: Dimension 0 in both shapes must be equal, but are 2 and 3. Shapes are [2] and [3].",
        ),
        (lambda: where(rows() > 2, [[1]], [[2]]), "ValueError: Input shapes do not match."),
        (lambda: where(rows() > 2, None, rows()), "ValueError: x and y must be either both None or both non-None"),
        (
            lambda: where(rows(), rows(), rows()),
            "TypeError: Input 'condition' of 'Select' Op has type int32 that does not match expected type of bool",
        ),
        (
            lambda: where(words(), words(), words()),
            "TypeError: Input 'condition' of 'Select' Op has type string that does not match expected type of boo",
        ),
    ],
)
def test_conditions_choose_or_are_refused(made, expected):
    assert refused(lambda: described(made())).startswith(expected)


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: R.stack_dynamic_partitions(["a", "b", "c"], [0, 1, 0], 2), ["string [2, None] by int32", [[b"a", b"c"], [b"b"]]]),
        (
            lambda: R.stack_dynamic_partitions(["a", "b", "c"], tf.constant([0, 1, 0], tf.int64), 2),
            ["string [2, None]", [[b"a", b"c"], [b"b"]]],
        ),
        (
            lambda: R.stack_dynamic_partitions(unsized([1, 2, 3]), unsized([0, 1, 0]), unsized(2)),
            ["int32 [None, None] by int32", [[1, 3], [2]]],
        ),
        (lambda: R.stack_dynamic_partitions(small(), [0, 1, 0], 2), ["int32 [2, None, None] by int32", [[[3, 1], [2, 5, 4]], [[]]]]),
        (
            lambda: R.stack_dynamic_partitions(small(), tf.constant([0, 1, 0], tf.int64), 2),
            ["int32 [2, None, None] by int32", [[[3, 1], [2, 5, 4]], [[]]]],
        ),
        (
            lambda: R.stack_dynamic_partitions(small(), R.constant([[1, 0], [], [1, 1, 0]], row_splits_dtype=tf.int32), 2),
            ["int32 [2, None] by int32", [[1, 4], [3, 2, 5]]],
        ),
        (
            lambda: R.stack_dynamic_partitions(small_deep(), R.constant([[1, 0], [], [1, 1]], row_splits_dtype=tf.int32), 2),
            ["int32 [2, None, None] by int32", [[[3]], [[1, 2], [], [4, 5, 6]]]],
        ),
        (lambda: R.stack_dynamic_partitions([1, 2], [0, 1], 2), ["int32 [2, None] by int32", [[1], [2]]]),
        (lambda: R.stack_dynamic_partitions([[[1], [2]]], [[0, 1]], 2), ["int32 [2, None, 1] by int32", [[[1]], [[2]]]]),
        (lambda: R.stack_dynamic_partitions([[[1, 2], [3, 4]]], [[[0, 1], [1, 1]]], 2), ["int32 [2, None] by int32", [[1], [2, 3, 4]]]),
        (lambda: R.stack_dynamic_partitions(rows(), 1, 2), ["int32 [2, None, None, None]", [[], [[[3, 1], [], [2, 5, 4]]]]]),
        (lambda: R.stack_dynamic_partitions(["a", "b"], [0, 1], 2.0), ["string [2, None] by int32", [[b"a"], [b"b"]]]),
        (lambda: R.stack_dynamic_partitions(["a", "b", "c"], [2, 2, 0], 3), ["string [3, None] by int32", [[b"c"], [], [b"a", b"b"]]]),
        (
            lambda: R.stack_dynamic_partitions(tf.constant([], tf.int32), tf.constant([], tf.int32), 2),
            ["int32 [2, None] by int32", [[], []]],
        ),
    ],
)
def test_partitions_become_rows(made, expected):
    assert described(made()) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: R.stack_dynamic_partitions([1, 2], [0, -1], 2), "InvalidArgumentError: Input arr must be non-negative!"),
        (
            lambda: R.stack_dynamic_partitions([1, 2], [0, 2], 2),
            "InvalidArgumentError: assertion failed: [partitions must be less than num_partitions]",
        ),
        (lambda: R.stack_dynamic_partitions([1, 2], [[0, 1]], 2), "ValueError: Shapes (1, 2) and (2,) are incompatible"),
        (lambda: R.stack_dynamic_partitions([1, 2], [0.0, 1.0], 2), "ValueError: value_rowids must have dtype int32 or int64"),
        (lambda: R.stack_dynamic_partitions([1, 2, 3], [0, 1], 3), "ValueError: Shapes (2,) and (3,) are incompatible"),
    ],
)
def test_partitions_become_rows_or_are_refused(made, expected):
    assert refused(lambda: described(made())).startswith(expected)


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: size(rows()), ["int32 []", 5]),
        (lambda: size(small(), tf.int64), ["int64 []", 5]),
        (lambda: size([1, 2, 3]), ["int32 []", 3]),
        (lambda: size([1, 2, 3], out_type=tf.int64), ["int64 []", 3]),
        (lambda: size(R.constant_value([[1], [2, 3]])), ["int32 []", 3]),
        (lambda: size(words(), name="n").op.name, "n"),
        (lambda: rank(fed_deep()), ["int32 []", 3]),
        (lambda: rank([1, 2]), ["int32 []", 1]),
        (lambda: rank(wide()), ["int32 []", 3]),
        (lambda: rank(formless()), ["int32 []", 2]),
        (lambda: rank(rows(), name="n").op.name, "n/add"),
    ],
)
def test_sizes_are_counted(made, expected):
    assert described(made()) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (
            lambda: tf.one_hot(small(), 3),
            [
                "float32 [3, None, 3] by int32",
                [[[0.0, 0.0, 0.0], [0.0, 1.0, 0.0]], [], [[0.0, 0.0, 1.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]],
            ],
        ),
        (
            lambda: tf.one_hot(fed_deep(), 2),
            ["float32 [None, None, None, 2]", [[[[0.0, 1.0], [0.0, 0.0]], [[0.0, 0.0]]], [], [[], [[0.0, 0.0], [0.0, 0.0], [0.0, 0.0]]]]],
        ),
        (
            lambda: tf.one_hot(rows(), 2, True, False),
            ["bool [3, None, 2]", [[[False, False], [False, True]], [], [[False, False], [False, False], [False, False]]]],
        ),
        (
            lambda: tf.one_hot(rows(), 2, on_value=2.0),
            ["float32 [3, None, 2]", [[[0.0, 0.0], [0.0, 2.0]], [], [[0.0, 0.0], [0.0, 0.0], [0.0, 0.0]]]],
        ),
        (
            lambda: tf.one_hot(rows(), 2, off_value=3, dtype=tf.int32),
            ["int32 [3, None, 2]", [[[3, 3], [3, 1]], [], [[3, 3], [3, 3], [3, 3]]]],
        ),
        (lambda: tf.one_hot(formless(), 2), ["float32 None", [[[0.0, 0.0], [0.0, 1.0]], [], [[0.0, 0.0], [0.0, 0.0], [0.0, 0.0]]]]),
    ],
)
def test_numbers_become_vectors(made, expected):
    assert described(made()) == expected


@pytest.mark.parametrize(
    ("made", "expected"), [(lambda: tf.one_hot(rows(), 2, axis=-3), "ValueError: axis=-3 out of bounds: expected -2<=axis<2")]
)
def test_numbers_become_vectors_or_are_refused(made, expected):
    assert refused(lambda: described(made())).startswith(expected)


@pytest.mark.parametrize(("axis", "expected"), [(0, [[1, 2], [3, 4], [1, 2], [3, 4]]), (1, [[1, 2, 1, 2], [3, 4, 3, 4]])])
def test_tensors_of_unknown_rank_are_joined_as_rows(axis, expected):
    x = unknown([[1, 2], [3, 4]])
    assert computed(concat([x, x], axis)) == expected


@pytest.mark.parametrize(("axis", "of"), [(0, 0), (1, 1), (2, 2), ([0, 2], 2)])
def test_only_dimensions_of_one_element_are_squeezed(axis, of):
    squeezed = tf.squeeze(R.constant([[[1, 2], [3]], [[4]]]), axis)
    assert f"the given axis (axis = {of}) is not squeezable!" in refused(lambda: computed(squeezed))
