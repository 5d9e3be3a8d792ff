"""Rows ranged, summed, cut from dense tensors and filled up, of known sizes and of unknown ones; values are those of TensorFlow 1.15.5."""

import numpy as np
import pytest
from plain import described, refused
from rows import RT, R, deep, fed, fed_deep, floats, formless, rows, small, small_deep, unknown, unsized, wide, words

import everflow as tf
from everflow.ragged.arrays import where
from everflow.ragged.conversions import from_tensor
from everflow.ragged.gathering import batch_gather, gather_nd
from everflow.ragged.math import reduce_all, reduce_any, reduce_mean, reduce_sum, segment_mean, segment_sqrt_n, segment_sum


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: gather_nd(rows(), [2]), ["int32 [None, None]", [[2, 5, 4]]]),
        (lambda: gather_nd(deep(), [2]), ["int32 [None, None, None]", [[[], [4, 5, 6]]]]),
        (lambda: gather_nd(deep(), [2, 1]), ["int32 [None]", [4, 5, 6]]),
        (lambda: gather_nd(wide(), [2]), ["int32 [None, None, 2]", [[[5, 6]]]]),
        (lambda: gather_nd(deep(), [2, 1, 0]), ["int32 []", 4]),
    ],
)
def test_single_places_are_gathered(made, expected):
    assert described(made()) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (
            lambda: batch_gather([[[1, 2], [3, 4]]], R.constant([[[0, 1]]], ragged_rank=1)),
            "ValueError: batch shape from indices does not match params shape",
        ),
        (
            lambda: batch_gather([[1, 2], [3, 4]], R.constant([[[0, 1]], [[1, 1]]], ragged_rank=1)),
            "ValueError: batch shape from indices does not match params shape",
        ),
    ],
)
def test_single_places_are_gathered_or_are_refused(made, expected):
    assert refused(lambda: described(made())).startswith(expected)


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: R.range(3), ["int32 [1, None]", [[0, 1, 2]]]),
        (lambda: R.range(3, 5), ["int32 [1, None]", [[3, 4]]]),
        (lambda: R.range([3, 5], row_splits_dtype=tf.int32), ["int32 [2, None] by int32", [[0, 1, 2], [0, 1, 2, 3, 4]]]),
        (lambda: R.range([3, 5], row_splits_dtype="int32"), ["int32 [2, None] by int32", [[0, 1, 2], [0, 1, 2, 3, 4]]]),
        (lambda: R.range(unsized([3, 5]), 7), ["int32 [None, None]", [[3, 4, 5, 6], [5, 6]]]),
        (lambda: R.range(unknown([3, 5]), 7), ["int32 [None, None]", [[3, 4, 5, 6], [5, 6]]]),
        (lambda: R.range(3, unsized([5, 7])), ["int32 [None, None]", [[3, 4], [3, 4, 5, 6]]]),
        (lambda: R.range([3, 5], unsized([5, 7])), ["int32 [2, None]", [[3, 4], [5, 6]]]),
        (lambda: R.range(unsized([3, 5]), unknown([5, 7])), ["int32 [None, None]", [[3, 4], [5, 6]]]),
        (lambda: R.range([3.0], [5]), ["float32 [1, None]", [[3.0, 4.0]]]),
        (lambda: R.range([3], [5], [0.5]), ["float32 [1, None]", [[3.0, 3.5, 4.0, 4.5]]]),
        (lambda: R.range([3], tf.constant([5.0], tf.float64)), ["float64 [1, None]", [[3.0, 4.0]]]),
        (lambda: R.range([3], [5], dtype=tf.int64), ["int64 [1, None]", [[3, 4]]]),
        (lambda: R.range([0.0], [1.0], [0.3]), ["float32 [1, None]", [[0.0, 0.3, 0.6, 0.9]]]),
        (lambda: R.range([1.0], [0.0], [-0.25]), ["float32 [1, None]", [[1.0, 0.75, 0.5, 0.25]]]),
        (lambda: R.range([0], [-3], [-1]), ["int32 [1, None]", [[0, -1, -2]]]),
        (lambda: R.range([0, 0], [-3, 3], [-2, 2]), ["int32 [2, None]", [[0, -2], [0, 2]]]),
        (lambda: R.range([2, 2], [2, 2], [1, -1]), ["int32 [2, None]", [[], []]]),
        (lambda: R.range([-5], [-1], [3]), ["int32 [1, None]", [[-5, -2]]]),
        (lambda: R.range([3, 5], name="n").flat_values.op.name, "n"),
        (lambda: R.range([]), ["float32 [0, None]", []]),
    ],
)
def test_ranges_have_rows(made, expected):
    assert described(made()) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (
            lambda: R.range([3, 5], row_splits_dtype=tf.float32),
            "TypeError: Value passed to parameter 'Tsplits' has DataType float32 not in list of allowed values: i",
        ),
        (lambda: R.range([3.5], dtype=tf.int32), "TypeError: Expected int32, got 3.5 of type 'float' instead."),
        (lambda: R.range([1, 2], [3, 4], [5, 6, 7]), "ValueError: Dimensions must be equal, but are 3 and 2"),
        (lambda: R.range([[1]], [2]), "ValueError: Shape must be at most rank 1 but is rank 2"),
        (lambda: R.range(unknown([[1]]), [2]), "InvalidArgumentError: starts must be a scalar or vector"),
        (lambda: R.range([1], unknown([[2]])), "InvalidArgumentError: limits must be a scalar or vector"),
        (lambda: R.range([1], [2], unknown([[2]])), "InvalidArgumentError: deltas must be a scalar or vector"),
        (lambda: R.range([1, 2], [3, 4], [1, 0]), "InvalidArgumentError: Requires delta != 0"),
    ],
)
def test_ranges_have_rows_or_are_refused(made, expected):
    assert refused(lambda: described(made())).startswith(expected)


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: segment_sum(small(), [1, 0, 1], 2), ["int32 [2, None] by int32", [[], [5, 6, 4]]]),
        (lambda: segment_sum(fed(), [1, 0, 1], 2), ["int32 [2, None]", [[], [5, 6, 4]]]),
        (lambda: segment_sum(fed_deep(), [1, 0, 1], 2), ["int32 [2, None, None]", [[], [[1, 2], [7, 5, 6]]]]),
        (lambda: segment_sum(small_deep(), [1, 0, 1], 2), ["int32 [2, None, None] by int32", [[], [[1, 2], [7, 5, 6]]]]),
        (lambda: segment_sum(wide(), [1, 0, 1], 2), ["int32 [2, None, 2]", [[], [[6, 8], [3, 4]]]]),
        (lambda: segment_sum(rows(), tf.constant([1, 0, 1], tf.int64), 2), ["int32 [2, None]", [[], [5, 6, 4]]]),
        (lambda: segment_sum(rows(), [1, 0, 1], tf.constant(2, tf.int64)), ["int32 [2, None]", [[], [5, 6, 4]]]),
        (lambda: segment_sum(rows(), [1, 0, 1], unsized(2)), ["int32 [None, None]", [[], [5, 6, 4]]]),
        (lambda: segment_sum([1, 2, 3], [1, 0, 1], 2), ["int32 [2]", [2, 4]]),
        (lambda: segment_sum([[1, 2], [3, 4]], [[1, 0], [0, 0]], 2), ["int32 [2]", [9, 1]]),
        (lambda: segment_sum(small(), R.constant([[0, 1], [], [1, 1, 0]], row_splits_dtype=tf.int32), 2), ["int32 [2]", [7, 8]]),
        (lambda: segment_sum(deep(), R.constant([[0, 1], [], [1, 1]]), 2), ["int32 [2, None]", [[1, 2], [7, 5, 6]]]),
        (lambda: segment_sum(deep(), R.constant([[[0, 1], [1]], [], [[], [1, 0, 0]]]), 2), ["int32 [2]", [12, 9]]),
        (lambda: segment_sum(R.constant_value([[1], [2, 3]]), [0, 0], 1), ["int64 [1, None]", [[3, 3]]]),
        (lambda: segment_sum(rows(), R.constant_value([[0, 1], [], [1, 1, 0]]), 2), ["int32 [2]", [7, 8]]),
        (lambda: segment_sum(rows(), [1, 0, 1], 2, name="n").flat_values.op.name, "n/UnsortedSegmentSum"),
    ],
)
def test_segments_are_summed(made, expected):
    assert described(made()) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: segment_sum(rows(), [1, 0], 2), "ValueError: Dimensions must be equal, but are 3 and 2"),
        (lambda: segment_sum(rows(), [1, 0, 5], 2), "InvalidArgumentError: segment_ids[2] = 5 is out of range [0, 2)"),
        (lambda: segment_sum(rows(), [1.0, 0.0, 1.0], 2), "ValueError: segment_ids must have dtype int32 or int64."),
        (lambda: segment_sum(rows(), [[1], [0], [1]], 2), "ValueError: Shape must be at least rank 2 but is rank 1"),
    ],
)
def test_segments_are_summed_or_are_refused(made, expected):
    assert refused(lambda: described(made())).startswith(expected)


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (
            lambda: segment_mean(R.constant([[1.0, 3.0], [], [2.0]], row_splits_dtype=tf.int32), [0, 0, 0], 2),
            ["float32 [2, None] by int32", [[1.5, 3.0], []]],
        ),
        (lambda: segment_mean(rows(), [1, 0, 1], 2), ["float64 [2, None]", [[], [2.5, 3.0, 4.0]]]),
        (lambda: segment_sqrt_n(floats(), [0, 0, 0], 1), ["float32 [1, None]", [[2.1213, 3.0]]]),
        (lambda: segment_sqrt_n(floats(), R.constant([[0, 0], [], [1]]), 2), ["float32 [2]", [2.8284, 2.0]]),
        (lambda: segment_mean(floats(), R.constant([[0, 0], [], [1]]), 2), ["float32 [2]", [2.0, 2.0]]),
        (lambda: segment_mean(R.constant([[[1.0], [2.0, 4.0]], [[3.0]]]), [0, 0], 1), ["float32 [1, None, None]", [[[2.0], [2.0, 4.0]]]]),
    ],
)
def test_segments_are_averaged(made, expected):
    assert described(made()) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: reduce_sum(small(), 0), ["int32 [3]", [5, 6, 4]]),
        (lambda: reduce_sum(small(), 1), ["int32 [3]", [4, 0, 11]]),
        (lambda: reduce_sum(small_deep(), 2), ["int32 [3, None] by int32", [[3, 3], [], [0, 15]]]),
        (lambda: reduce_sum(small_deep(), [0, 2]), ["int32 [2]", [3, 18]]),
        (lambda: reduce_sum(fed(), 0), ["int32 [None]", [5, 6, 4]]),
        (lambda: reduce_sum(fed(), 1), ["int32 [None]", [4, 0, 11]]),
        (lambda: reduce_sum(fed_deep(), 0), ["int32 [None, None]", [[1, 2], [7, 5, 6]]]),
        (lambda: reduce_sum(fed_deep(), 1), ["int32 [None, None]", [[4, 2], [], [4, 5, 6]]]),
        (lambda: reduce_sum(fed_deep(), [1, 0]), ["int32 [None]", [8, 7, 6]]),
        (lambda: reduce_sum(fed()), ["int32 []", 15]),
        (lambda: reduce_sum(formless(), 1), ["int32 None", [4, 0, 11]]),
        (lambda: reduce_sum(formless(), 0), ["int32 None", [5, 6, 4]]),
        (lambda: reduce_sum(formless(), [0, 1]), ["int32 None", 15]),
        (lambda: reduce_sum([[1, 2], [3, 4]], 1), ["int32 [2]", [3, 7]]),
        (lambda: reduce_sum([[1, 2], [3, 4]], 1, name="n").op.name, "n"),
        (lambda: reduce_sum([[1, 2], [3, 4]]), ["int32 []", 10]),
        (lambda: reduce_sum(R.constant_value([[1], [2, 3]]), 1), ["int64 [2]", [1, 5]]),
        (lambda: reduce_sum(R.constant_value([[1], [2, 3]])), ["int64 []", 6]),
        (lambda: reduce_sum(rows(), 1, False), ["int32 [3]", [4, 0, 11]]),
        (lambda: reduce_sum(rows(), []), ["int32 [3, None]", [[3, 1], [], [2, 5, 4]]]),
        (lambda: reduce_sum(rows(), tf.constant([], tf.int32)), ["int32 [3, None]", [[3, 1], [], [2, 5, 4]]]),
        (lambda: reduce_sum(rows(), 0, name="n").op.name, "n/UnsortedSegmentSum"),
        (lambda: reduce_sum(R.constant([], ragged_rank=1, dtype=tf.int32), 1), ["int32 [0]", []]),
        (lambda: reduce_sum(R.constant([[], []], dtype=tf.int32), 0), ["int32 [0]", []]),
    ],
)
def test_sums_go_along_dimensions(made, expected):
    assert described(made()) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: reduce_sum(formless(), -1), "ValueError: axis may only be negative if ndims is statically known."),
        (lambda: reduce_sum(formless(), [0, -1]), "ValueError: axis may only be negative if ndims is statically known."),
        (lambda: reduce_sum(rows(), [1, 1]), "ValueError: Invalid reduction dimension 1 for input with 1 dimensions."),
        (lambda: reduce_sum(rows(), [0, 5]), "ValueError: axis=5 out of bounds: expected -2<=axis<2"),
        (lambda: reduce_sum(rows(), np.array([0, 1])), "TypeError: axis must be an int; got ndarray"),
        (lambda: reduce_sum(rows(), "a"), "TypeError: axis must be an int; got str"),
    ],
)
def test_sums_go_along_dimensions_or_are_refused(made, expected):
    assert refused(lambda: described(made())).startswith(expected)


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: reduce_mean([[1.0, 2.0]], 1), ["float32 [1]", [1.5]]),
        (lambda: reduce_mean([[1.0, 2.0]]), ["float32 []", 1.5]),
        (lambda: reduce_mean(R.constant([[1.0, 3.0], [2.0]]), 1), ["float32 [2]", [2.0, 2.0]]),
        (lambda: reduce_mean(R.constant([[1.0, 3.0], [2.0]], row_splits_dtype=tf.int32), 0), ["float32 [2]", [1.5, 3.0]]),
        (lambda: reduce_mean(R.constant([[1, 4], [2]]), 1), ["float64 [2]", [2.5, 2.0]]),
        (lambda: reduce_mean(R.constant([[1, 4], [2]]), 0), ["float64 [2]", [1.5, 4.0]]),
        (lambda: reduce_mean(R.constant([[1, 4], [2]])), ["float64 []", 2.3333]),
        (lambda: reduce_mean(R.constant([[[1.0, 3.0], [2.0]], []]), 2), ["float32 [2, None]", [[2.0, 2.0], []]]),
        (lambda: reduce_mean(R.constant([[[1.0, 3.0], [2.0]], [[6.0]]]), [1, 2]), ["float32 [2]", [2.0, 6.0]]),
        (lambda: reduce_mean(R.constant_value([[1.0], [2.0, 3.0]]), 1), ["float64 [2]", [1.0, 2.5]]),
        (lambda: reduce_mean(R.constant_value([[1.0], [2.0, 3.0]])), ["float64 []", 2.0]),
    ],
)
def test_means_go_along_dimensions(made, expected):
    assert described(made()) == expected


@pytest.mark.parametrize(
    ("made", "expected"), [(lambda: reduce_mean(floats(), 1, True), "ValueError: keepdims=True is not supported for RaggedTensors.")]
)
def test_means_go_along_dimensions_or_are_refused(made, expected):
    assert refused(lambda: described(made())).startswith(expected)


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: reduce_any([[True, False]], 1), ["bool [1]", [True]]),
        (lambda: reduce_any([[True, False]]), ["bool []", True]),
        (lambda: reduce_all([[True, False]], 1), ["bool [1]", [False]]),
        (lambda: reduce_all([[True, True]], 0), ["bool [2]", [True, True]]),
        (lambda: reduce_any(rows() > 2, 0), ["bool [3]", [True, True, True]]),
        (lambda: reduce_all(rows() > 2, 0), ["bool [3]", [False, False, True]]),
        (lambda: reduce_any(deep() > 2, [0, 1]), ["bool [3]", [True, True, True]]),
        (lambda: reduce_all(rows() > 2), ["bool []", False]),
        (lambda: reduce_any(R.constant_value([[True], [False, False]]), 1), ["bool [2]", [True, False]]),
        (lambda: reduce_all(small() > 1, 1), ["bool [3]", [False, True, True]]),
        (lambda: reduce_any(rows(), 1), ["bool [3]", [True, False, True]]),
        (lambda: reduce_any(rows() > 2, name="n").op.name, "n/Cast_1"),
    ],
)
def test_truths_go_along_dimensions(made, expected):
    assert described(made()) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: reduce_any(rows() > 2, 1, True), "ValueError: keepdims=True is not supported for RaggedTensors."),
        (lambda: reduce_all(rows() > 2, 1, True), "ValueError: keepdims=True is not supported for RaggedTensors."),
    ],
)
def test_truths_go_along_dimensions_or_are_refused(made, expected):
    assert refused(lambda: described(made())).startswith(expected)


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: tf.reduce_max(R.constant([[1.5], []]), 1), ["float32 [2]", [1.5, -3.4028e38]]),
        (lambda: tf.reduce_min(R.constant([[1.5], []]), 1), ["float32 [2]", [1.5, 3.4028e38]]),
        (lambda: tf.reduce_prod(R.constant([[1.5], []]), 1), ["float32 [2]", [1.5, 1.0]]),
        (lambda: tf.reduce_max(small(), 0), ["int32 [3]", [3, 5, 4]]),
        (lambda: tf.reduce_min(small_deep(), 1), ["int32 [3, None] by int32", [[1, 2], [], [4, 5, 6]]]),
        (lambda: tf.reduce_prod(fed(), 1), ["int32 [None]", [3, 1, 40]]),
        (lambda: tf.reduce_max(deep(), [1, 2]), ["int32 [3]", [3, -2147483648, 6]]),
        (lambda: tf.reduce_min(deep(), [0, 1]), ["int32 [3]", [1, 2, 6]]),
        (lambda: tf.math.unsorted_segment_min(small(), [1, 0, 1], 2), ["int32 [2, None] by int32", [[], [2, 1, 4]]]),
        (lambda: tf.math.unsorted_segment_max(fed_deep(), [1, 0, 1], 2), ["int32 [2, None, None]", [[], [[1, 2], [4, 5, 6]]]]),
        (lambda: tf.math.unsorted_segment_prod(wide(), [1, 0, 1], 3), ["int32 [3, None, 2]", [[], [[5, 12], [3, 4]], []]]),
        (lambda: tf.math.unsorted_segment_prod(rows(), [1, 0, 1], 3, name="n").flat_values.op.name, "n_1/UnsortedSegmentProd"),
    ],
)
def test_extremes_go_along_dimensions(made, expected):
    assert described(made()) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: tf.reduce_max(rows(), 1, keepdims=True), "ValueError: keepdims=True is not supported for RaggedTensors."),
        (lambda: tf.reduce_min(rows(), 1, True), "ValueError: keepdims=True is not supported for RaggedTensors."),
        (lambda: tf.reduce_prod(rows(), 1, keep_dims=True), "ValueError: keepdims=True is not supported for RaggedTensors."),
    ],
)
def test_extremes_go_along_dimensions_or_are_refused(made, expected):
    assert refused(lambda: described(made())).startswith(expected)


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: RT.from_tensor(unsized([[1, 2], [3, 4]])), ["int32 [None, None]", [[1, 2], [3, 4]]]),
        (lambda: RT.from_tensor(unknown([[1, 2], [3, 4]])), ["int32 None", [[1, 2], [3, 4]]]),
        (lambda: RT.from_tensor(unsized([[1, 2], [3, 4]]), row_splits_dtype=tf.int32), ["int32 [None, None] by int32", [[1, 2], [3, 4]]]),
        (lambda: RT.from_tensor(unsized([[1, 2], [3, 4]]), lengths=[1, 2]), ["int32 [2, None]", [[1], [3, 4]]]),
        (lambda: RT.from_tensor(unsized([[1, 2], [3, 4]]), lengths=unsized([1, 2])), ["int32 [None, None]", [[1], [3, 4]]]),
        (
            lambda: RT.from_tensor(unsized([[1, 2], [3, 4]]), lengths=np.array([1, 2], np.int64), row_splits_dtype=tf.int32),
            ["int32 [2, None] by int32", [[1], [3, 4]]],
        ),
        (lambda: RT.from_tensor([[1, 2], [3, 4]], lengths=tf.constant([1, 2], tf.int32)), ["int32 [2, None]", [[1], [3, 4]]]),
        (
            lambda: RT.from_tensor([[1, 2], [3, 4]], lengths=tf.constant([1, 2], tf.int64), row_splits_dtype=tf.int32),
            ["int32 [2, None] by int32", [[1], [3, 4]]],
        ),
        (lambda: RT.from_tensor([[1, 2], [3, 4]], lengths=[[1, 2]]), ["int32 [2, None]", [[1], [3, 4]]]),
        (lambda: RT.from_tensor(unsized([[1, 0], [0, 0]]), padding=0), ["int32 [None, None]", [[1], []]]),
        (lambda: RT.from_tensor(unsized([[1, 0], [0, 0]]), padding=unsized(0)), ["int32 [None, None]", [[1], []]]),
        (lambda: RT.from_tensor(unknown([[1, 0], [0, 0]]), padding=0), ["int32 None", [[1], []]]),
        (
            lambda: RT.from_tensor(unsized([[1, 0], [0, 0]]), padding=0, row_splits_dtype=tf.int32),
            ["int32 [None, None] by int32", [[1], []]],
        ),
        (lambda: RT.from_tensor([[1.0, 0.0], [0.0, 0.0]], padding=0), ["float32 [2, None]", [[1.0], []]]),
        (lambda: RT.from_tensor([[[1, 0], [0, 0]], [[0, 1], [0, 0]]], padding=[0, 0]), ["int32 [2, None, 2]", [[[1, 0]], [[0, 1]]]]),
        (
            lambda: RT.from_tensor([[[1, 0], [0, 0]], [[0, 1], [0, 0]]], padding=0, ragged_rank=2),
            ["int32 [2, None, None]", [[[1], []], [[0, 1], []]]],
        ),
        (
            lambda: RT.from_tensor([[[1, 0], [0, 0]], [[0, 1], [0, 0]]], padding=0, ragged_rank=2, row_splits_dtype=tf.int32),
            ["int32 [2, None, None] by int32", [[[1], []], [[0, 1], []]]],
        ),
        (
            lambda: RT.from_tensor(unsized([[[1, 0], [0, 0]], [[0, 1], [0, 0]]]), ragged_rank=2),
            ["int32 [None, None, None]", [[[1, 0], [0, 0]], [[0, 1], [0, 0]]]],
        ),
        (
            lambda: RT.from_tensor(unknown([[[1, 0], [0, 0]], [[0, 1], [0, 0]]]), ragged_rank=2),
            ["int32 None", [[[1, 0], [0, 0]], [[0, 1], [0, 0]]]],
        ),
        (
            lambda: RT.from_tensor([[[1, 0], [0, 0]], [[0, 1], [0, 0]]], ragged_rank=2, row_splits_dtype=tf.int32),
            ["int32 [2, None, None] by int32", [[[1, 0], [0, 0]], [[0, 1], [0, 0]]]],
        ),
        (
            lambda: RT.from_tensor([[[1, 0], [0, 0]], [[0, 1], [0, 0]]], lengths=[1, 2, 0, 1], ragged_rank=2, row_splits_dtype=tf.int32),
            ["int32 [2, None, None] by int32", [[[1], [0, 0]], [[], [0]]]],
        ),
        (
            lambda: RT.from_tensor(np.ones((2, 2, 2, 2), int), lengths=([2, 1], [1, 2, 0], [1, 1, 2])),
            ["int64 [2, None, None, None]", [[[[1]], [[1], [1, 1]]], [[]]]],
        ),
        (
            lambda: RT.from_tensor(np.ones((2, 2, 2, 2), int), lengths=([2, 1], [1, 2, 0])),
            ["int64 [2, None, None, 2]", [[[[1, 1]], [[1, 1], [1, 1]]], [[]]]],
        ),
        (lambda: RT.from_tensor(tf.zeros([2, 0])), ["float32 [2, None]", [[], []]]),
        (lambda: RT.from_tensor(tf.zeros([0, 2])), ["float32 [0, None]", []]),
        (lambda: RT.from_tensor(tf.zeros([0, 2]), padding=0), ["float32 [0, None]", []]),
        (lambda: RT.from_tensor(tf.zeros([2, 0]), padding=0), ["float32 [2, None]", [[], []]]),
        (lambda: RT.from_tensor(tf.zeros([0, 2, 3]), ragged_rank=2), ["float32 [0, None, None]", []]),
        (lambda: RT.from_tensor([[1]], name="n").row_splits.op.name, "n/mul_1"),
    ],
)
def test_dense_tensors_are_cut(made, expected):
    assert described(made()) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: RT.from_tensor([[1, 2], [3, 4]], lengths=[1]), "ValueError: Shapes (2, 2) and (1, 2) are incompatible"),
        (lambda: RT.from_tensor([[1, 2], [3, 4]], lengths=[]), "ValueError: Shapes (2, 2) and (0, 2) are incompatible"),
        (lambda: RT.from_tensor([[1, 0], [0, 0]], padding=0.5), "TypeError: Expected int32, got 0.5 of type 'float' instead."),
        (lambda: RT.from_tensor([[1, 0], [0, 0]], padding="a"), "TypeError: Expected int32, got 'a' of type 'str' instead."),
        (lambda: RT.from_tensor([[[1, 0], [0, 0]], [[0, 1], [0, 0]]], padding=0), "ValueError: Shapes () and (2,) are incompatible"),
        (
            lambda: RT.from_tensor([[[1, 0], [0, 0]], [[0, 1], [0, 0]]], padding=[0, 0], ragged_rank=2),
            "ValueError: Shapes (2,) and () are incompatible",
        ),
        (lambda: RT.from_tensor([[1]], ragged_rank="a"), "TypeError: ragged_rank expected int, got 'a'"),
        (lambda: RT.from_tensor([[1]], ragged_rank=-1), "ValueError: ragged_rank must be greater than 0; got -1"),
        (lambda: RT.from_tensor(5), "ValueError: Shape () must have rank at least 2"),
        (lambda: RT.from_tensor(rows()), "TypeError: Failed to convert object of type"),
        (lambda: from_tensor(["a"]), "ValueError: Shape (1,) must have rank at least 2"),
    ],
)
def test_dense_tensors_are_cut_or_are_refused(made, expected):
    assert refused(lambda: described(made())).startswith(expected)


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: fed().to_tensor(), ["int32 [None, None]", [[3, 1, 0], [0, 0, 0], [2, 5, 4]]]),
        (
            lambda: fed_deep().to_tensor(),
            ["int32 [None, None, None]", [[[1, 2, 0], [3, 0, 0]], [[0, 0, 0], [0, 0, 0]], [[0, 0, 0], [4, 5, 6]]]],
        ),
        (lambda: formless().to_tensor(), ["int32 None", [[3, 1, 0], [0, 0, 0], [2, 5, 4]]]),
        (lambda: small().to_tensor(), ["int32 [3, 3]", [[3, 1, 0], [0, 0, 0], [2, 5, 4]]]),
        (lambda: small_deep().to_tensor(), ["int32 [3, 2, 3]", [[[1, 2, 0], [3, 0, 0]], [[0, 0, 0], [0, 0, 0]], [[0, 0, 0], [4, 5, 6]]]]),
        (lambda: small().to_tensor(7), ["int32 [3, 3]", [[3, 1, 7], [7, 7, 7], [2, 5, 4]]]),
        (lambda: small_deep().to_tensor(7), ["int32 [3, 2, 3]", [[[1, 2, 7], [3, 7, 7]], [[7, 7, 7], [7, 7, 7]], [[7, 7, 7], [4, 5, 6]]]]),
        (lambda: wide().to_tensor(), ["int32 [3, 2, 2]", [[[1, 2], [3, 4]], [[0, 0], [0, 0]], [[5, 6], [0, 0]]]]),
        (lambda: wide().to_tensor([7, 8]), ["int32 [3, 2, 2]", [[[1, 2], [3, 4]], [[7, 8], [7, 8]], [[5, 6], [7, 8]]]]),
        (lambda: fed().to_tensor(unsized(9)), ["int32 [None, None]", [[3, 1, 9], [9, 9, 9], [2, 5, 4]]]),
        (lambda: floats().to_tensor(7), ["float32 [3, 2]", [[1.0, 3.0], [7.0, 7.0], [2.0, 7.0]]]),
        (lambda: floats().to_tensor(), ["float32 [3, 2]", [[1.0, 3.0], [0.0, 0.0], [2.0, 0.0]]]),
        (lambda: words().to_tensor("z"), ["string [3, 3]", [[b"a", b"b", b"z"], [b"z", b"z", b"z"], [b"c", b"d", b"e"]]]),
        (lambda: words().to_tensor(), ["string [3, 3]", [[b"a", b"b", b""], [b"", b"", b""], [b"c", b"d", b"e"]]]),
        (lambda: R.constant([[], []], dtype=tf.int32).to_tensor(3), ["int32 [2, 0]", [[], []]]),
        (lambda: R.constant([[[]], []], dtype=tf.int32).to_tensor(), ["int32 [2, 1, 0]", [[[]], [[]]]]),
        (lambda: rows().to_tensor(name="n").op.name.split("/")[0], "n"),
    ],
)
def test_rows_are_filled_up(made, expected):
    assert described(made()) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: wide().to_tensor([[7, 8]]), "ValueError: Shape (1, 2) must have rank at most 1"),
        (lambda: deep().to_tensor([7]), "ValueError: Shape (1,) must have rank at most 0"),
        (lambda: rows().to_tensor(1.5), "TypeError: Expected int32, got 1.5 of type 'float' instead."),
    ],
)
def test_rows_are_filled_up_or_are_refused(made, expected):
    assert refused(lambda: described(made())).startswith(expected)


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (
            lambda: fed().to_sparse(),
            {"indices": [[0, 0], [0, 1], [2, 0], [2, 1], [2, 2]], "values": [3, 1, 2, 5, 4], "dense_shape": [3, 3]},
        ),
        (
            lambda: small().to_sparse(),
            {"indices": [[0, 0], [0, 1], [2, 0], [2, 1], [2, 2]], "values": [3, 1, 2, 5, 4], "dense_shape": [3, 3]},
        ),
        (
            lambda: small_deep().to_sparse(),
            {
                "indices": [[0, 0, 0], [0, 0, 1], [0, 1, 0], [2, 1, 0], [2, 1, 1], [2, 1, 2]],
                "values": [1, 2, 3, 4, 5, 6],
                "dense_shape": [3, 2, 3],
            },
        ),
        (lambda: RT.from_sparse(tf.SparseTensor([[0, 0], [2, 0], [2, 1]], [1, 2, 3], [4, 2])), ["int32 [4, None]", [[1], [], [2, 3], []]]),
        (
            lambda: RT.from_sparse(tf.SparseTensor([[0, 0], [2, 0], [2, 1]], [1, 2, 3], [4, 2]), row_splits_dtype=tf.int32),
            ["int32 [4, None] by int32", [[1], [], [2, 3], []]],
        ),
        (
            lambda: RT.from_sparse(tf.SparseTensorValue([[0, 0], [2, 0], [2, 1]], [1, 2, 3], [4, 2])),
            ["int32 [4, None]", [[1], [], [2, 3], []]],
        ),
        (
            lambda: RT.from_sparse(tf.SparseTensorValue(np.array([[0, 0], [2, 0], [2, 1]]), np.array([1, 2, 3]), np.array([4, 2]))),
            ["int64 [4, None]", [[1], [], [2, 3], []]],
        ),
        (
            lambda: RT.from_sparse(
                tf.SparseTensor(
                    tf.placeholder_with_default(np.array([[0, 0], [0, 1], [1, 0]]), [None, 2]),
                    unsized([1, 2, 3]),
                    unsized(np.array([4, 3])),
                )
            ),
            ["int32 [None, None]", [[1, 2], [3], [], []]],
        ),
        (
            lambda: RT.from_sparse(tf.SparseTensor(np.zeros((0, 2), np.int64), tf.constant([], tf.int32), [2, 2])),
            ["int32 [2, None]", [[], []]],
        ),
        (lambda: RT.from_sparse(tf.SparseTensor([[0, 0]], [1], [1, 1]), name="n").flat_values.op.name, "SparseTensor/values"),
    ],
)
def test_sparse_tensors_come_and_go(made, expected):
    assert described(made()) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (
            lambda: RT.from_sparse(
                tf.SparseTensor(unsized(np.array([[0, 0], [2, 0], [2, 1]])), unsized([1, 2, 3]), unsized(np.array([4, 2])))
            ),
            "ValueError: rank(st_input) must be 2",
        ),
        (lambda: RT.from_sparse(tf.SparseTensor([[0, 0, 0]], [1], [1, 1, 1])), "ValueError: rank(st_input) must be 2"),
    ],
)
def test_sparse_tensors_come_and_go_or_are_refused(made, expected):
    assert refused(lambda: described(made())).startswith(expected)


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: R.constant([[1, 2], [3, 4]], inner_shape=(2, 2)), ["int32 [2, 2]", [[1, 2], [3, 4]]]),
        (lambda: R.constant([1, 2], inner_shape=(2,)), ["int32 [2]", [1, 2]]),
        (lambda: R.constant([[[]]], inner_shape=(0,)), ["float32 [1, None, None, 0]", [[[]]]]),
        (lambda: R.constant([[[], []]], inner_shape=(0,)), ["float32 [1, None, None, 0]", [[[], []]]]),
        (lambda: R.constant([], inner_shape=(0,)), ["float32 [0]", []]),
    ],
)
def test_inner_shapes_are_kept_to(made, expected):
    assert described(made()) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: R.constant([[1, 2], [3, 4]], inner_shape=(2,)), "TypeError: Expected Tensor's shape: (2,), got (2, 2)."),
        (
            lambda: R.constant([[1, 2], [3, 4]], inner_shape=(2, 2), ragged_rank=0),
            "ValueError: Invalid pylist=[[1, 2], [3, 4]]: incompatible with ragged_rank=0 and dim(inner_shape)=2",
        ),
        (lambda: R.constant([[1, 2], [3, 4]], inner_shape=(2,), ragged_rank=0), "TypeError: Expected Tensor's shape: (2,), got (2, 2)."),
        (lambda: R.constant([1, 2], inner_shape=()), "TypeError: Expected Tensor's shape: (), got (2,)."),
        (lambda: R.constant_value([[[1, 2]], [[3, 4]]], inner_shape=(3,)), "ValueError: cannot reshape array of size 4 into shape (2,3)"),
        (lambda: R.constant_value([[1, 2], [3, 4]], inner_shape=(2,)), "ValueError: cannot reshape array of size 4 into shape (2,)"),
        (lambda: R.constant_value([], inner_shape=(2,)), "ValueError: cannot reshape array of size 0 into shape (2,)"),
    ],
)
def test_inner_shapes_are_kept_to_or_are_refused(made, expected):
    assert refused(lambda: described(made())).startswith(expected)


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: where(R.constant([[2, 0], [1]])), ["int64 [None, 2]", [[0, 0], [1, 0]]]),
        (lambda: where(R.constant([[0.5, 0], [-1]])), ["int64 [None, 2]", [[0, 0], [1, 0]]]),
        (lambda: where(R.constant([[True, False], [True]])), ["int64 [None, 2]", [[0, 0], [1, 0]]]),
    ],
)
def test_other_values_count_as_truths(made, expected):
    assert described(made()) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: reduce_mean(R.constant([[1.0, 4.0], [2.0]])), ["float32 []", 2.3333]),
        (lambda: reduce_mean(R.constant([[1, 4], [2]]), [0, 1]), ["float64 []", 2.3333]),
        (lambda: reduce_mean(R.constant([[1.0, 4.0], [2.0]], dtype=tf.float64)), ["float64 []", 2.3333]),
        (lambda: tf.reduce_mean(R.constant([[1.0, 4.0], [2.0]]), name="n").op.name, "n_1/truediv"),
        (lambda: tf.reduce_mean(R.constant([[1.0, 4.0], [2.0]]), 1, name="n").op.name, "n_1/truediv"),
    ],
)
def test_means_are_sums_by_counts(made, expected):
    assert described(made()) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [(lambda: R.range(3).row_splits.op.name, "RaggedRange"), (lambda: R.range([1], [2.0], name="n").flat_values.op.name, "n")],
)
def test_ranges_are_named(made, expected):
    assert described(made()) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: reduce_sum(rows(), 1.0), "TypeError: axis must be an int; got float"),
        (lambda: reduce_sum(rows(), [0.0]), "TypeError: axis must be an int; got float"),
        (lambda: reduce_sum(rows(), [0.0, 1.0]), "TypeError: axis must be an int; got float"),
        (lambda: reduce_sum(rows(), np.int64(1)), "TypeError: axis must be an int; got int64"),
        (lambda: reduce_sum(rows(), tf.constant(1.0)), "TypeError: axis must be an int; got float"),
    ],
)
def test_axes_are_whole_or_are_refused(made, expected):
    assert refused(lambda: described(made())).startswith(expected)


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (
            lambda: R.stack_dynamic_partitions([[1, 2], [3, 4]], unsized([[0, 1], [1, 1]]), 2),
            ["int32 [2, None] by int32", [[1], [2, 3, 4]]],
        ),
        (lambda: R.stack_dynamic_partitions([1, 2, 3], unsized([0, 1]), 2), ["int32 [2, None] by int32", [[1], [2]]]),
    ],
)
def test_partitions_fit_the_data(made, expected):
    assert described(made()) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (
            lambda: R.stack_dynamic_partitions([1, 2], [0, 5], 3),
            "InvalidArgumentError: assertion failed: [partitions must be less than num_partitions]",
        ),
        (lambda: R.stack_dynamic_partitions(rows(), [[0, 1], [1, 1], [1, 0]], 2), "ValueError: Shapes (6,) and (5,) are incompatible"),
        (lambda: R.stack_dynamic_partitions(rows(), [0, 1], 2), "ValueError: Shapes (2,) and (3,) are incompatible"),
    ],
)
def test_partitions_fit_the_data_or_are_refused(made, expected):
    assert refused(lambda: described(made())).startswith(expected)
