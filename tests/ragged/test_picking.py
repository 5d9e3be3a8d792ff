"""Rows and elements picked by number and by key, of known sizes and of unknown ones; values are those of TensorFlow 1.15.5."""

import numpy as np
import pytest
from plain import computed, described, refused
from rows import RT, R, deep, fed, fed_deep, formless, rows, small, small_deep, unknown, unsized, wide, words

import everflow as tf
from everflow.ragged.gathering import batch_gather, batch_gather_with_default, gather, gather_nd, repeat_ranges
from everflow.ragged.partitions import lengths_to_splits


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: gather([1, 2, 3], [2, 0]), ["int32 [2]", [3, 1]]),
        (lambda: gather([1, 2, 3], 2), ["int32 []", 3]),
        (lambda: gather(small(), [2, 0]), ["int32 [None, None] by int32", [[2, 5, 4], [3, 1]]]),
        (lambda: gather(small_deep(), [2, 0]), ["int32 [None, None, None] by int32", [[[], [4, 5, 6]], [[1, 2], [3]]]]),
        (lambda: gather(small_deep(), [[2, 0]]), ["int32 [None, None, None, None] by int32", [[[[], [4, 5, 6]], [[1, 2], [3]]]]]),
        (lambda: gather(small(), 2), ["int32 [None]", [2, 5, 4]]),
        (lambda: gather(fed(), unsized([2, 0])), ["int32 [None, None]", [[2, 5, 4], [3, 1]]]),
        (lambda: gather(fed(), [[2], [0]]), ["int32 [None, None, None]", [[[2, 5, 4]], [[3, 1]]]]),
        (lambda: gather(fed_deep(), [2]), ["int32 [None, None, None]", [[[], [4, 5, 6]]]]),
        (lambda: gather(formless(), [2, 0]), ["int32 None", [[2, 5, 4], [3, 1]]]),
        (lambda: gather(rows(), tf.constant([2], tf.int64)), ["int32 [None, None]", [[2, 5, 4]]]),
        (lambda: gather(small(), R.constant([[2], []], row_splits_dtype=tf.int32)), ["int32 [2, None, None] by int32", [[[2, 5, 4]], []]]),
        (
            lambda: gather([[1, 2], [3, 4]], R.constant([[1], [0, 1]], row_splits_dtype=tf.int32)),
            ["int32 [2, None, 2] by int32", [[[3, 4]], [[1, 2], [3, 4]]]],
        ),
        (
            lambda: gather(rows(), R.constant([[[2]], [], [[0, 0], []]])),
            ["int32 [3, None, None, None]", [[[[2, 5, 4]]], [], [[[3, 1], [3, 1]], []]]],
        ),
        (lambda: gather(R.constant_value([[1], [2, 3]]), [1]), ["int64 [None, None]", [[2, 3]]]),
        (lambda: gather([1, 2, 3], R.constant_value([[1], [2, 0]])), ["int32 [2, None]", [[2], [3, 1]]]),
        (lambda: gather(rows(), [0], axis=0), ["int32 [None, None]", [[3, 1]]]),
        (lambda: gather(rows(), [0], batch_dims=0), ["int32 [None, None]", [[3, 1]]]),
        (lambda: gather(words(), [[2, 0], [1, 1]]), ["string [None, None, None]", [[[b"c", b"d", b"e"], [b"a", b"b"]], [[], []]]]),
        (lambda: gather(wide(), [[2, 0], [1, 1]]), ["int32 [None, None, None, 2]", [[[[5, 6]], [[1, 2], [3, 4]]], [[], []]]]),
    ],
)
def test_rows_are_gathered(made, expected):
    assert described(made()) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (
            lambda: gather(rows(), []),
            "TypeError: Value passed to parameter 'indices' has DataType float32 not in list of allowed values: i",
        ),
        (
            lambda: gather(rows(), R.constant([[2], []], row_splits_dtype=tf.int32)),
            "ValueError: Input RaggedTensors have mismatched row_splits dtypes; use RaggedTensor.with_row_splits_",
        ),
        (lambda: gather(rows(), [-1]), "InvalidArgumentError: indices[0] = -1 is not in [0, 3)"),
        (
            lambda: gather(rows(), [1.0]),
            "TypeError: Value passed to parameter 'indices' has DataType float32 not in list of allowed values: i",
        ),
        (lambda: gather(rows(), unsized([[0, 2], [3, 0]])), "InvalidArgumentError: indices[1,0] = 3 is not in [0, 3)"),
        (lambda: gather(R.constant([], ragged_rank=1), [0]), "InvalidArgumentError: indices[0] = 0 is not in [0, 0)"),
    ],
)
def test_rows_are_gathered_or_are_refused(made, expected):
    assert refused(lambda: described(made())).startswith(expected)


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: gather_nd([[1, 2], [3, 4]], [[0, 1]]), ["int32 [1]", [2]]),
        (lambda: gather_nd(small(), [[0, 1], [2, 2]]), ["int32 [2]", [1, 4]]),
        (lambda: gather_nd(small_deep(), [[0, 1], [2, 1]]), ["int32 [None, None] by int32", [[3], [4, 5, 6]]]),
        (lambda: gather_nd(small_deep(), [[0, 1, 0], [2, 1, 2]]), ["int32 [2]", [3, 6]]),
        (lambda: gather_nd(small(), tf.constant([[0, 1]], tf.int64)), ["int32 [1]", [1]]),
        (lambda: gather_nd(fed(), [[0, 1], [2, 2]]), ["int32 [2]", [1, 4]]),
        (lambda: gather_nd(fed(), [0, 1]), ["int32 []", 1]),
        (lambda: gather_nd(fed(), [2]), ["int32 [None, None]", [[2, 5, 4]]]),
        (lambda: gather_nd(fed_deep(), [[[0, 1]], [[2, 1]]]), ["int32 [2, None, None]", [[[3]], [[4, 5, 6]]]]),
        (lambda: gather_nd(deep(), [[[0, 1, 0]], [[2, 1, 2]]]), ["int32 [2, 1]", [[3], [6]]]),
        (lambda: gather_nd(deep(), [[[[0, 1, 0]], [[2, 1, 2]]]]), ["int32 [1, 2, 1]", [[[3], [6]]]]),
        (lambda: gather_nd(small(), [[[0, 1]], [[2, 0]]]), ["int32 [2, 1]", [[1], [2]]]),
        (
            lambda: gather_nd(small(), R.constant([[[0, 1]], [[2, 0], [2, 2]]], ragged_rank=1, row_splits_dtype=tf.int32)),
            ["int32 [2, None] by int32", [[1], [2, 4]]],
        ),
        (
            lambda: gather_nd(rows(), R.constant([[[[0, 1]]], [[[2, 0]], [[2, 2]]]], ragged_rank=1)),
            ["int32 [2, None, 1]", [[[1]], [[2], [4]]]],
        ),
        (
            lambda: gather_nd(rows(), R.constant([[[[0, 1]], []], [[[2, 0], [2, 2]]]], ragged_rank=2)),
            ["int32 [2, None, None]", [[[1], []], [[2, 4]]]],
        ),
        (lambda: gather_nd(wide(), [[0], [2]]), ["int32 [None, None, 2]", [[[1, 2], [3, 4]], [[5, 6]]]]),
        (lambda: gather_nd(wide(), [[[0], [2]]]), ["int32 [1, None, None, 2]", [[[[1, 2], [3, 4]], [[5, 6]]]]]),
        (lambda: gather_nd(rows(), np.zeros((0, 2), np.int32)), ["int32 [0]", []]),
        (lambda: gather_nd(rows(), [[0, 1]], name="n").op.name, "n/RaggedGather/GatherV2"),
        (lambda: gather_nd(R.constant_value([[1], [2, 3]]), [[1, 0]]), ["int64 [1]", [2]]),
        (
            lambda: gather_nd([[1, 2], [3, 4]], R.constant([[[0]], [[1], [1]]], ragged_rank=1)),
            ["int32 [2, None, 2]", [[[1, 2]], [[3, 4], [3, 4]]]],
        ),
    ],
)
def test_elements_are_gathered(made, expected):
    assert described(made()) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: gather_nd(rows(), [[3]]), "InvalidArgumentError: indices[0] = 3 is not in [0, 3)"),
        (
            lambda: gather_nd(rows(), [[0, 2, 0]]),
            "ValueError: indices.shape[-1] must be <= params.rank, but saw indices shape: [1,2] and params shape:",
        ),
        (lambda: gather_nd(rows(), [[0]], batch_dims="a"), "ValueError: batch_dims != 0 is not supported for ragged gather yet."),
    ],
)
def test_elements_are_gathered_or_are_refused(made, expected):
    assert refused(lambda: described(made())).startswith(expected)


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: batch_gather([[1, 2], [3, 4]], [[0], [1]]), ["int32 [2, 1]", [[1], [4]]]),
        (
            lambda: batch_gather(small(), R.constant([[1], [], [2, 0]], row_splits_dtype=tf.int32)),
            ["int32 [3, None] by int32", [[1], [], [4, 2]]],
        ),
        (lambda: batch_gather(fed(), R.constant([[1], [], [2, 0]])), ["int32 [3, None]", [[1], [], [4, 2]]]),
        (
            lambda: batch_gather(fed(), RT.from_row_splits(unsized([1, 2, 0]), unsized(np.array([0, 1, 1, 3])))),
            ["int32 [None, None]", [[1], [], [4, 2]]],
        ),
        (
            lambda: batch_gather(small_deep(), R.constant([[1], [], [0, 1]], row_splits_dtype=tf.int32)),
            ["int32 [3, None, None] by int32", [[[3]], [], [[], [4, 5, 6]]]],
        ),
        (lambda: batch_gather(small(), [[0], [0], [0]]), ["int32 [3, 1]", [[3], [2], [2]]]),
        (
            lambda: batch_gather(R.constant([[1, 2], [3, 4, 5]], row_splits_dtype=tf.int32), [[0, 1], [2, 0]]),
            ["int32 [2, 2]", [[1, 2], [5, 3]]],
        ),
        (
            lambda: batch_gather(R.constant([[1, 2], [3, 4, 5]]), tf.constant([[0, 1], [2, 0]], tf.int64)),
            ["int32 [2, 2]", [[1, 2], [5, 3]]],
        ),
        (lambda: batch_gather(rows(), R.constant([[1], [0], [2, 0]])), ["int32 [3, None]", [[1], [2], [4, 2]]]),
        (lambda: batch_gather(rows(), R.constant([[2], [], [2, 0]])), ["int32 [3, None]", [[2], [], [4, 2]]]),
        (
            lambda: batch_gather([[1, 2], [3, 4]], R.constant([[1], [0, 1]], row_splits_dtype=tf.int32)),
            ["int32 [2, None] by int32", [[2], [3, 4]]],
        ),
        (
            lambda: batch_gather(R.constant([[[1, 2], [3]], [[4], [5, 6]]]), [[0, 0], [1, 0]]),
            ["int32 [None, None, None]", [[[1, 2], [1, 2]], [[5, 6], [4]]]],
        ),
        (
            lambda: batch_gather(R.constant([[[1, 2], [3]], [[4], [5, 6]]]), R.constant([[0], [1, 0]])),
            ["int32 [2, None, None]", [[[1, 2]], [[5, 6], [4]]]],
        ),
        (
            lambda: batch_gather(R.constant([[[1, 2], [3, 4]], [[5, 6]]], ragged_rank=1), R.constant([[0], [0, 0]])),
            ["int32 [2, None, 2]", [[[1, 2]], [[5, 6], [5, 6]]]],
        ),
        (
            lambda: batch_gather(R.constant([[[1, 2], [3, 4]], [[5, 6]]], ragged_rank=1), R.constant([[[1], [0]], [[0]]], ragged_rank=1)),
            ["int32 [2, None, 1]", [[[2], [3]], [[5]]]],
        ),
        (lambda: batch_gather(words(), R.constant_value([[1], [], [2]])), ["string [3, None]", [[b"b"], [], [b"e"]]]),
    ],
)
def test_elements_of_each_row_are_gathered(made, expected):
    assert described(made()) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: batch_gather(R.constant([[1, 2], [3]]), R.constant([[0]])), "ValueError: Dimensions 2 and 1 are not compatible"),
        (
            lambda: batch_gather(R.constant([[1, 2], [3, 4, 5]]), [[0, 1], [2, 0], [0, 0]]),
            "ValueError: Dimensions must be equal, but are 3 and 2",
        ),
        (
            lambda: batch_gather(R.constant([[1, 2], [3, 4, 5]]), unsized([[0, 1], [2, 0], [0, 0]])),
            "InvalidArgumentError: Incompatible shapes: [3,2] vs. [2,1]",
        ),
        (
            lambda: batch_gather([[[1, 2], [3, 4]]], R.constant([[[1], [0, 0]]])),
            "ValueError: batch shape from indices does not match params shape",
        ),
        (
            lambda: batch_gather(R.constant([[[1, 2], [3]], [[4], [5, 6]]]), [[[0], [0]], [[0], [1]]]),
            "ValueError: batch shape from indices does not match params shape",
        ),
        (lambda: batch_gather(rows(), [[[0]]]), "ValueError: batch shape from indices does not match params shape"),
    ],
)
def test_elements_of_each_row_are_gathered_or_are_refused(made, expected):
    assert refused(lambda: described(made())).startswith(expected)


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (
            lambda: repeat_ranges(tf.constant(["a", "b", "c"]), tf.constant([0, 2, 3]), tf.constant([2, 3])),
            ["string [None]", [b"a", b"b", b"a", b"b", b"c", b"c", b"c"]],
        ),
        (
            lambda: repeat_ranges(tf.constant(["a", "b", "c"]), tf.constant([0, 1, 3], tf.int64), tf.constant(2)),
            ["string [None]", [b"a", b"a", b"b", b"c", b"b", b"c"]],
        ),
        (lambda: lengths_to_splits(tf.constant([2, 0, 3])), ["int32 [4]", [0, 2, 2, 5]]),
        (lambda: lengths_to_splits(tf.constant([2, 0, 3], tf.int64)), ["int64 [4]", [0, 2, 2, 5]]),
    ],
)
def test_ranges_are_repeated(made, expected):
    assert described(made()) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (
            lambda: repeat_ranges(tf.constant(["a", "b", "c"]), tf.constant([[0, 1, 3]]), tf.constant(2)),
            "ValueError: Shape must be at most rank 1 but is rank 2",
        )
    ],
)
def test_ranges_are_repeated_or_are_refused(made, expected):
    assert refused(lambda: described(made())).startswith(expected)


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: fed()[0], ["int32 [None]", [3, 1]]),
        (lambda: fed()[2, 1], ["int32 []", 5]),
        (lambda: fed()[-1], ["int32 [None]", [2, 5, 4]]),
        (lambda: fed()[1:], ["int32 [None, None]", [[], [2, 5, 4]]]),
        (lambda: fed()[:-1], ["int32 [None, None]", [[3, 1], []]]),
        (lambda: fed()[::2], ["int32 [None, None]", [[3, 1], [2, 5, 4]]]),
        (lambda: fed()[::-1], ["int32 [None, None]", [[2, 5, 4], [], [3, 1]]]),
        (lambda: fed()[2:0:-1], ["int32 [None, None]", [[2, 5, 4], []]]),
        (lambda: fed()[5:], ["int32 [None, None]", []]),
        (lambda: fed()[-2:], ["int32 [None, None]", [[], [2, 5, 4]]]),
        (lambda: fed()[:, 1:], ["int32 [None, None]", [[1], [], [5, 4]]]),
        (lambda: fed()[:, :1], ["int32 [None, None]", [[3], [], [2]]]),
        (lambda: fed()[:, -1:], ["int32 [None, None]", [[1], [], [4]]]),
        (lambda: fed()[:, ::2], ["int32 [None, None]", [[3], [], [2, 4]]]),
        (lambda: fed()[:, 5:], ["int32 [None, None]", [[], [], []]]),
        (lambda: fed()[:, :5], ["int32 [None, None]", [[3, 1], [], [2, 5, 4]]]),
        (lambda: fed()[:, -5:], ["int32 [None, None]", [[3, 1], [], [2, 5, 4]]]),
        (lambda: fed()[:, :-5], ["int32 [None, None]", [[], [], []]]),
        (lambda: fed()[:, 1:2], ["int32 [None, None]", [[1], [], [5]]]),
        (lambda: fed()[:, 1:-1], ["int32 [None, None]", [[], [], [5]]]),
        (lambda: fed()[:, 0:3:2], ["int32 [None, None]", [[3], [], [2, 4]]]),
        (lambda: fed()[::2, ::2], ["int32 [None, None]", [[3], [2, 4]]]),
        (lambda: fed()[1:, 1:], ["int32 [None, None]", [[], [5, 4]]]),
        (lambda: fed()[..., 1:], ["int32 [None, None]", [[1], [], [5, 4]]]),
        (lambda: fed()[...], ["int32 [None, None]", [[3, 1], [], [2, 5, 4]]]),
        (lambda: fed()[:, ...], ["int32 [None, None]", [[3, 1], [], [2, 5, 4]]]),
        (lambda: fed()[0, ...], ["int32 [None]", [3, 1]]),
        (lambda: fed()[None], ["int32 [1, None, None]", [[[3, 1], [], [2, 5, 4]]]]),
        (lambda: fed()[:, None], ["int32 [None, None, None]", [[[3, 1]], [[]], [[2, 5, 4]]]]),
        (lambda: fed()[None, 1:], ["int32 [1, None, None]", [[[], [2, 5, 4]]]]),
        (lambda: fed()[None, None], ["int32 [1, None, None, None]", [[[[3, 1], [], [2, 5, 4]]]]]),
        (lambda: fed()[:, None, 1:], ["int32 [None, None, None]", [[[1]], [[]], [[5, 4]]]]),
        (lambda: fed()[:, :, None], ["int32 [None, None, 1]", [[[3], [1]], [], [[2], [5], [4]]]]),
        (lambda: fed()[:, 1:, None], ["int32 [None, None, 1]", [[[1]], [], [[5], [4]]]]),
        (lambda: fed()[1:, None], ["int32 [None, None, None]", [[[]], [[2, 5, 4]]]]),
    ],
)
def test_keys_pick_of_fed_tensors(made, expected):
    assert described(made()) == expected


@pytest.mark.parametrize(("made", "expected"), [(lambda: fed()[..., 0], "ValueError: Cannot index into an inner ragged dimension.")])
def test_keys_pick_of_fed_tensors_or_are_refused(made, expected):
    assert refused(lambda: described(made())).startswith(expected)


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: small()[0], ["int32 [2]", [3, 1]]),
        (lambda: small()[1:], ["int32 [2, None] by int32", [[], [2, 5, 4]]]),
        (lambda: small()[::2], ["int32 [2, None] by int32", [[3, 1], [2, 5, 4]]]),
        (lambda: small()[:, 1:], ["int32 [3, None] by int32", [[1], [], [5, 4]]]),
        (lambda: small()[:, None], ["int32 [3, None, None] by int32", [[[3, 1]], [[]], [[2, 5, 4]]]]),
        (lambda: small()[None], ["int32 [1, None, None] by int32", [[[3, 1], [], [2, 5, 4]]]]),
        (lambda: small()[2, 1], ["int32 []", 5]),
        (lambda: small_deep()[2], ["int32 [2, None] by int32", [[], [4, 5, 6]]]),
        (lambda: small_deep()[:, :, 1:], ["int32 [3, None, None] by int32", [[[2], []], [], [[], [5, 6]]]]),
    ],
)
def test_keys_pick_of_small_splits(made, expected):
    assert described(made()) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: rows()[0:2], ["int32 [2, None]", [[3, 1], []]]),
        (lambda: rows()[tf.constant(0) : tf.constant(2)], ["int32 [2, None]", [[3, 1], []]]),
        (lambda: rows()[:: tf.constant(2)], ["int32 [2, None]", [[3, 1], [2, 5, 4]]]),
        (lambda: rows()[:, :: tf.constant(2)], ["int32 [3, None]", [[3], [], [2, 4]]]),
        (lambda: rows()[:, tf.constant(1) :], ["int32 [3, None]", [[1], [], [5, 4]]]),
        (lambda: rows()[:, : tf.constant(-1)], ["int32 [3, None]", [[3], [], [2, 5]]]),
        (lambda: rows()[tf.constant(2, tf.int64)], ["int32 [3]", [2, 5, 4]]),
        (lambda: rows()[np.int32(2)], ["int32 [3]", [2, 5, 4]]),
        (lambda: rows()[np.array(2)], ["int32 [3]", [2, 5, 4]]),
        (lambda: rows()[unknown(2)], ["int32 [None]", [2, 5, 4]]),
    ],
)
def test_keys_may_be_numbers_and_tensors(made, expected):
    assert described(made()) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (
            lambda: rows()[np.array([2])],
            "TypeError: Only integers, slices (`:`), ellipsis (`...`), tf.newaxis (`None`) and scalar tf.int32/tf",
        ),
        (lambda: rows()[-4], "ValueError: slice index -1 of dimension 0 out of bounds."),
        (lambda: rows()[3], "ValueError: slice index 3 of dimension 0 out of bounds."),
        (lambda: rows()[0, 0, 0], "ValueError: Index out of range using input dim 1; input has only 1 dims"),
        (lambda: rows()[:, :, 0], "ValueError: Index out of range using input dim 1; input has only 1 dims"),
        (lambda: rows()[..., ..., 0], "ValueError: Cannot index into an inner ragged dimension."),
        (lambda: rows()[:, 0:1:0], "InvalidArgumentError: Requires delta != 0"),
        (lambda: rows()[::0], "ValueError: strides[0] must be non-zero"),
    ],
)
def test_keys_may_be_numbers_and_tensors_or_are_refused(made, expected):
    assert refused(lambda: described(made())).startswith(expected)


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: formless()[0], ["int32 None", [3, 1]]),
        (lambda: formless()[1:], ["int32 None", [[], [2, 5, 4]]]),
        (lambda: formless()[:, 1:], ["int32 None", [[1], [], [5, 4]]]),
        (lambda: formless()[None], ["int32 None", [[[3, 1], [], [2, 5, 4]]]]),
        (lambda: wide()[0, 1], ["int32 [2]", [3, 4]]),
        (lambda: wide()[0, 1, 1], ["int32 []", 4]),
        (lambda: wide()[0, :, 1], ["int32 [2]", [2, 4]]),
        (lambda: wide()[1:, :, 1], ["int32 [2, None]", [[], [6]]]),
        (lambda: wide()[:, :, None], ["int32 [3, None, 1, 2]", [[[[1, 2]], [[3, 4]]], [], [[[5, 6]]]]]),
        (lambda: wide()[:, :, 1:], ["int32 [3, None, 1]", [[[2], [4]], [], [[6]]]]),
        (lambda: wide()[:, :, ..., 0], ["int32 [3, None]", [[1, 3], [], [5]]]),
        (lambda: wide()[:, ..., 0], ["int32 [3, None]", [[1, 3], [], [5]]]),
        (lambda: wide()[..., None], ["int32 [3, None, 2, 1]", [[[[1], [2]], [[3], [4]]], [], [[[5], [6]]]]]),
        (lambda: wide()[:, None, :, 0], ["int32 [3, None, None]", [[[1, 3]], [[]], [[5]]]]),
        (lambda: deep()[2, 1, 1:], ["int32 [2]", [5, 6]]),
        (lambda: deep()[2, 1:], ["int32 [1, None]", [[4, 5, 6]]]),
        (lambda: deep()[2, :, 1:], ["int32 [2, None]", [[], [5, 6]]]),
        (lambda: deep()[0, None], ["int32 [1, None, None]", [[[1, 2], [3]]]]),
        (lambda: deep()[::2, 1:, :1], ["int32 [2, None, None]", [[[3]], [[4]]]]),
        (lambda: deep()[:, 1:, None], ["int32 [3, None, None, None]", [[[[3]]], [], [[[4, 5, 6]]]]]),
        (lambda: deep()[:, :, :, None], ["int32 [3, None, None, 1]", [[[[1], [2]], [[3]]], [], [[], [[4], [5], [6]]]]]),
        (lambda: deep()[..., None], ["int32 [3, None, None, 1]", [[[[1], [2]], [[3]]], [], [[], [[4], [5], [6]]]]]),
        (lambda: deep()[None, :, 1:], ["int32 [1, None, None, None]", [[[[3]], [], [[4, 5, 6]]]]]),
        (lambda: deep()[:, ...], ["int32 [3, None, None]", [[[1, 2], [3]], [], [[], [4, 5, 6]]]]),
        (lambda: deep()[1:, ..., 1:], ["int32 [2, None, None]", [[], [[], [5, 6]]]]),
        (lambda: deep()[..., :, :, 1:], ["int32 [3, None, None]", [[[2], []], [], [[], [5, 6]]]]),
        (lambda: words()[2], ["string [3]", [b"c", b"d", b"e"]]),
    ],
)
def test_keys_pick_of_inner_dimensions(made, expected):
    assert described(made()) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: formless()[...], "ValueError: Ellipsis not supported for unknown shape RaggedTensors"),
        (lambda: formless()[..., 1:], "ValueError: Ellipsis not supported for unknown shape RaggedTensors"),
        (lambda: formless()[:, ...], "ValueError: Ellipsis not supported for unknown shape RaggedTensors"),
        (lambda: wide()[:, 0], "ValueError: Cannot index into an inner ragged dimension."),
        (lambda: deep()[..., 0], "ValueError: Cannot index into an inner ragged dimension."),
    ],
)
def test_keys_pick_of_inner_dimensions_or_are_refused(made, expected):
    assert refused(lambda: described(made())).startswith(expected)


@pytest.mark.parametrize(
    ("params", "indices", "default", "expected"),
    [
        (lambda: words(), lambda: R.constant([[1, -1, 5], [0], [2, 3]]), "$", [[b"b", b"$", b"$"], [b"$"], [b"e", b"$"]]),
        (lambda: words(), lambda: [[1], [0], [2]], "$", [[b"b"], [b"$"], [b"e"]]),
        (lambda: [[1, 2], [3, 4]], lambda: [[1, -1], [0, 3]], 9, [[2, 9], [3, 9]]),
        (lambda: [[1, 2], [3, 4]], lambda: R.constant([[1, -1], [0]]), 9, [[2, 9], [3]]),
        (lambda: [[[1, 2], [3, 4]]], lambda: [[1, 2]], 9, [[[3, 4], [9, 9]]]),
        (lambda: [1, 2], lambda: [1, -1, 5], 9, [2, 9, 9]),
        (lambda: deep(), lambda: R.constant([[1, 7], [], [0]]), [9], [[[3], [9]], [], [[]]]),
        (lambda: deep(), lambda: R.constant([[[1], [-1]], [], [[0], [2]]]), 9, [[[2], [9]], [], [[9], [6]]]),
        (lambda: wide(), lambda: R.constant([[1, 2], [0], []]), [8, 9], [[[3, 4], [8, 9]], [[8, 9]], []]),
    ],
)
def test_numbers_that_no_element_has_give_the_default(params, indices, default, expected):
    assert computed(batch_gather_with_default(params(), indices(), default)) == expected


def test_the_default_must_look_like_an_element():
    assert "Shapes () and (2,) are incompatible" in refused(lambda: batch_gather_with_default(wide(), R.constant([[1], [0], []]), 9))


def test_a_key_of_truth_values_picks_elements():
    mask = R.constant([[True, False], [], [False, True, True]])
    assert computed(rows()[mask]) == [[3], [], [5, 4]]
    assert computed(rows()[tf.constant([True, False, True])]) == [[3, 1], [2, 5, 4]]


@pytest.mark.parametrize(
    ("key", "message"),
    [
        ((slice(None), slice(1, 3, 0.5)), "TypeError: slice strides must be integers or None"),
        ((slice(None), slice("a", None)), "TypeError: slice offsets must be integers or None"),
        ((Ellipsis, 0, 0, 0), "IndexError: Too many indices for RaggedTensor"),
        (True, "ValueError: mask cannot be scalar."),
    ],
)
def test_keys_that_pick_nothing(key, message):
    assert refused(lambda: rows()[key]) == message


def test_a_loop_over_rows_ends(eager):
    assert [row.numpy().tolist() for row in rows()] == [[3, 1], [], [2, 5, 4]]
    assert refused(lambda: rows()[3]) == "IndexError: Row key 3 out of bounds"
    assert repr(rows()) == str(rows()) == "<tf.RaggedTensor [[3, 1], [], [2, 5, 4]]>"


def test_partitions_of_rows():
    assert computed(list(tf.dynamic_partition(rows(), [1, 0, 1], 3))) == [[[]], [[3, 1], [2, 5, 4]], []]
    assert computed(list(tf.dynamic_partition(rows(), R.constant([[1, 0], [], [0, 1, 1]]), 2))) == [[1, 2], [3, 5, 4]]
    assert "num_partitions must be a non-negative integer" in refused(lambda: tf.dynamic_partition(rows(), [1, 0, 1], -1))
