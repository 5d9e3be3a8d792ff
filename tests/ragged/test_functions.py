"""What functions make of ragged tensors; values are those of TensorFlow 1.15.5."""

import numpy as np
import pytest
from plain import computed

import everflow as tf

R = tf.ragged


def rows():
    return R.constant([[3, 1], [], [2, 5, 4]])


def deep():
    return R.constant([[[1, 2], [3]], [], [[], [4, 5, 6]]])


def wide():
    return R.constant([[[1, 2], [3, 4]], [], [[5, 6]]], ragged_rank=1)


def short():
    return R.constant([[1], [2]], row_splits_dtype=tf.int32)


def unknown(value):
    return tf.placeholder_with_default(value, None)


def unsized(value):
    return tf.placeholder_with_default(value, [None] * np.ndim(value))


def words():
    return R.constant([["a", "b"], [], ["c", "d", "e"]])


def phrases():
    return R.constant([[["a", "b"], ["c"]], [], [[], ["d", "e"]]])


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: tf.concat([rows(), rows()], axis=-1), [[3, 1, 3, 1], [], [2, 5, 4, 2, 5, 4]]),
        (lambda: tf.concat([deep(), deep()], axis=2), [[[1, 2, 1, 2], [3, 3]], [], [[], [4, 5, 6, 4, 5, 6]]]),
        (lambda: tf.concat([deep(), deep()], axis=1), [[[1, 2], [3], [1, 2], [3]], [], [[], [4, 5, 6], [], [4, 5, 6]]]),
        (lambda: tf.concat([deep(), deep()], axis=0), [[[1, 2], [3]], [], [[], [4, 5, 6]], [[1, 2], [3]], [], [[], [4, 5, 6]]]),
        (lambda: tf.concat([wide(), wide()], axis=2), [[[1, 2, 1, 2], [3, 4, 3, 4]], [], [[5, 6, 5, 6]]]),
        (lambda: tf.concat([wide(), wide()], axis=1), [[[1, 2], [3, 4], [1, 2], [3, 4]], [], [[5, 6], [5, 6]]]),
        (lambda: tf.concat([rows(), [[7], [8], [9]]], axis=1), [[3, 1, 7], [8], [2, 5, 4, 9]]),
        (lambda: tf.concat([[[7], [8], [9]], rows()], axis=1), [[7, 3, 1], [8], [9, 2, 5, 4]]),
        (lambda: tf.concat([rows()], axis=0), [[3, 1], [], [2, 5, 4]]),
        (lambda: tf.concat([rows(), rows()], axis=1).shape, [3, None]),
        (lambda: tf.concat([rows(), rows()], axis=0).shape, [6, None]),
        (lambda: tf.concat([rows(), unsized([[7], [8], [9]])], axis=1).shape, [3, None]),
        (lambda: tf.concat([deep(), wide()], axis=0), [[[1, 2], [3]], [], [[], [4, 5, 6]], [[1, 2], [3, 4]], [], [[5, 6]]]),
        (lambda: tf.stack([rows(), rows()], axis=2), [[[3, 3], [1, 1]], [], [[2, 2], [5, 5], [4, 4]]]),
        (lambda: tf.stack([rows(), rows()], axis=-1), [[[3, 3], [1, 1]], [], [[2, 2], [5, 5], [4, 4]]]),
        (lambda: tf.stack([rows(), rows()], axis=1).shape, [3, None, None]),
        (lambda: tf.stack([deep(), deep()], axis=0).shape, [2, None, None, None]),
        (lambda: tf.stack([deep(), deep()], axis=1), [[[[1, 2], [3]], [[1, 2], [3]]], [[], []], [[[], [4, 5, 6]], [[], [4, 5, 6]]]]),
        (lambda: tf.stack([deep(), deep()], axis=2), [[[[1, 2], [1, 2]], [[3], [3]]], [], [[[], []], [[4, 5, 6], [4, 5, 6]]]]),
        (lambda: R.stack([1, 2]), [1, 2]),
        (lambda: R.stack([[1, 2], [3, 4]]), [[1, 2], [3, 4]]),
        (lambda: R.stack([[1, 2], [3, 4]], axis=1), [[1, 3], [2, 4]]),
        (lambda: R.stack([[[1, 2]], [[3]]]), [[[1, 2]], [[3]]]),
        (lambda: R.stack([[[1, 2]], [[3, 4]]], axis=1), [[[1, 2], [3, 4]]]),
        (lambda: R.stack([[1, 2]]), [[1, 2]]),
        (lambda: R.stack([rows()]), [[[3, 1], [], [2, 5, 4]]]),
        (lambda: R.stack(rows()), [[[3, 1], [], [2, 5, 4]]]),
    ],
)
def test_tensors_are_joined_row_by_row(made, expected):
    assert computed(made()) == expected


@pytest.mark.parametrize(("made", "expected"), [(lambda: R.stack([unknown([[1]]), unknown([[1]])], axis=0), [[[1]], [[1]]])])
def test_join_mistakes(made, expected):
    assert computed(made()) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: tf.tile(deep(), [1, 1, 2]), [[[1, 2, 1, 2], [3, 3]], [], [[], [4, 5, 6, 4, 5, 6]]]),
        (lambda: tf.tile(deep(), [1, 2, 1]), [[[1, 2], [3], [1, 2], [3]], [], [[], [4, 5, 6], [], [4, 5, 6]]]),
        (lambda: tf.tile(deep(), [2, 1, 1]), [[[1, 2], [3]], [], [[], [4, 5, 6]], [[1, 2], [3]], [], [[], [4, 5, 6]]]),
        (lambda: tf.tile(wide(), [1, 1, 2]), [[[1, 2, 1, 2], [3, 4, 3, 4]], [], [[5, 6, 5, 6]]]),
        (
            lambda: tf.tile(wide(), [2, 2, 1]),
            [[[1, 2], [3, 4], [1, 2], [3, 4]], [], [[5, 6], [5, 6]], [[1, 2], [3, 4], [1, 2], [3, 4]], [], [[5, 6], [5, 6]]],
        ),
        (lambda: tf.tile(rows(), [0, 1]), []),
        (
            lambda: tf.tile(rows(), [2, 3]),
            [[3, 1, 3, 1, 3, 1], [], [2, 5, 4, 2, 5, 4, 2, 5, 4], [3, 1, 3, 1, 3, 1], [], [2, 5, 4, 2, 5, 4, 2, 5, 4]],
        ),
        (lambda: tf.tile(rows(), [1, 0]), [[], [], []]),
        (lambda: tf.tile(rows(), tf.constant([1, 2], tf.int64)), [[3, 1, 3, 1], [], [2, 5, 4, 2, 5, 4]]),
    ],
)
def test_rows_are_repeated(made, expected):
    assert computed(made()) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: tf.expand_dims(deep(), 0), [[[[1, 2], [3]], [], [[], [4, 5, 6]]]]),
        (lambda: tf.expand_dims(deep(), 1), [[[[1, 2], [3]]], [[]], [[[], [4, 5, 6]]]]),
        (lambda: tf.expand_dims(deep(), 2), [[[[1, 2]], [[3]]], [], [[[]], [[4, 5, 6]]]]),
        (lambda: tf.expand_dims(deep(), 3), [[[[1], [2]], [[3]]], [], [[], [[4], [5], [6]]]]),
        (lambda: tf.expand_dims(deep(), -1), [[[[1], [2]], [[3]]], [], [[], [[4], [5], [6]]]]),
        (lambda: tf.expand_dims(deep(), -4), [[[[1, 2], [3]], [], [[], [4, 5, 6]]]]),
        (lambda: tf.expand_dims(deep(), 1).shape, [3, None, None, None]),
        (lambda: tf.expand_dims(deep(), 0).shape, [1, None, None, None]),
        (lambda: tf.expand_dims(deep(), 3).shape, [3, None, None, 1]),
    ],
)
def test_dimensions_are_added(made, expected):
    assert computed(made()) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: tf.squeeze(R.constant([[1], [2]]), axis=1), [1, 2]),
        (lambda: tf.squeeze(R.constant([[1, 2]]), axis=0), [1, 2]),
        (lambda: tf.squeeze(R.constant([[1, 2]]), axis=[0]), [1, 2]),
        (lambda: tf.squeeze(R.constant([[[1], [2]]]), axis=[0, 2]), [1, 2]),
        (lambda: tf.squeeze(R.constant([[[1], [2]]]), axis=[0, -1]), [1, 2]),
        (lambda: tf.squeeze(R.constant([[[1, 2]], [[3]]]), axis=1), [[1, 2], [3]]),
        (lambda: tf.squeeze(R.constant([[[1], [2]], [[3]]], ragged_rank=1), axis=2), [[1, 2], [3]]),
    ],
)
def test_dimensions_of_one_element_are_taken_away(made, expected):
    assert computed(made()) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: R.boolean_mask(deep(), [True, False, True]), [[[1, 2], [3]], [[], [4, 5, 6]]]),
        (lambda: R.boolean_mask(deep(), R.constant([[True, False], [], [True, True]])), [[[1, 2]], [], [[], [4, 5, 6]]]),
        (
            lambda: R.boolean_mask(deep(), R.constant([[[True, False], [True]], [], [[], [False, True, True]]])),
            [[[1], [3]], [], [[], [5, 6]]],
        ),
        (lambda: R.boolean_mask(wide(), R.constant([[True, False], [], [True]])), [[[1, 2]], [], [[5, 6]]]),
        (
            lambda: R.boolean_mask(wide(), R.constant([[[True, False], [True, True]], [], [[False, True]]], ragged_rank=1)),
            [[[1], [3, 4]], [], [[6]]],
        ),
        (lambda: R.boolean_mask([[1, 2], [3, 4]], R.constant([[True, False], [False, True]])), [[1], [4]]),
        (lambda: R.boolean_mask([[1, 2], [3, 4]], [True, False]), [[1, 2]]),
        (lambda: R.boolean_mask([[[1, 2], [3, 4]]], [[[True, False], [True, True]]]), [[[1], [3, 4]]]),
        (lambda: R.boolean_mask([[1, 2], [3, 4]], [[True, False], [False, True]]).shape, [2, None]),
    ],
)
def test_masks_pick_elements_and_rows(made, expected):
    assert computed(made()) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: tf.where(deep() > 2), [[0, 1, 0], [2, 1, 0], [2, 1, 1], [2, 1, 2]]),
        (
            lambda: tf.where(R.constant([[True, False], [True]]), R.constant([["a", "b"], ["c"]]), R.constant([["d", "e"], ["f"]])),
            [[b"a", b"e"], [b"c"]],
        ),
        (lambda: tf.where([True, False, True], rows(), -rows()), [[3, 1], [], [2, 5, 4]]),
        (lambda: tf.where([True, False], R.constant([["a", "b"], ["c"]]), [["d"], ["e"]]), [[b"a", b"b"], [b"e"]]),
    ],
)
def test_conditions_choose_elements_and_rows(made, expected):
    assert computed(made()) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: R.stack_dynamic_partitions(rows(), [1, 0, 1], 3), [[[]], [[3, 1], [2, 5, 4]], []]),
        (lambda: R.stack_dynamic_partitions(rows(), R.constant([[1, 0], [], [1, 1, 0]]), 3), [[1, 4], [3, 2, 5], []]),
        (lambda: R.stack_dynamic_partitions([[1, 2], [3, 4]], [[0, 1], [1, 1]], 2), [[1], [2, 3, 4]]),
        (lambda: R.stack_dynamic_partitions([[1, 2], [3, 4]], [1, 1], 2), [[], [[1, 2], [3, 4]]]),
        (lambda: R.stack_dynamic_partitions([1, 2], 1, 3), [[], [[1, 2]], []]),
        (lambda: R.stack_dynamic_partitions(5, 1, 3), [[], [5], []]),
        (lambda: R.stack_dynamic_partitions(deep(), R.constant([[1, 0], [], [1, 1]]), 2), [[[3]], [[1, 2], [], [4, 5, 6]]]),
        (lambda: R.stack_dynamic_partitions(["a", "b"], [0, 1], tf.constant(2, tf.int64)), [[b"a"], [b"b"]]),
    ],
)
def test_partitions_become_rows(made, expected):
    assert computed(made()) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: tf.size(deep()), 6),
        (lambda: tf.size(deep(), out_type=tf.int64).dtype, "int64"),
        (lambda: tf.size(wide()), 6),
        (lambda: tf.rank(deep()), 3),
        (lambda: tf.rank(wide()), 3),
    ],
)
def test_sizes_count_what_is_there(made, expected):
    assert computed(made()) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: tf.one_hot(rows(), 3), [[[0.0, 0.0, 0.0], [0.0, 1.0, 0.0]], [], [[0.0, 0.0, 1.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]]),
        (
            lambda: tf.one_hot(rows(), 6, on_value=5, off_value=-1),
            [
                [[-1, -1, -1, 5, -1, -1], [-1, 5, -1, -1, -1, -1]],
                [],
                [[-1, -1, 5, -1, -1, -1], [-1, -1, -1, -1, -1, 5], [-1, -1, -1, -1, 5, -1]],
            ],
        ),
        (lambda: tf.one_hot(wide(), 2, axis=2), [[[[0.0, 1.0], [0.0, 0.0]], [[0.0, 0.0], [0.0, 0.0]]], [], [[[0.0, 0.0], [0.0, 0.0]]]]),
        (lambda: tf.one_hot(wide(), 2), [[[[0.0, 1.0], [0.0, 0.0]], [[0.0, 0.0], [0.0, 0.0]]], [], [[[0.0, 0.0], [0.0, 0.0]]]]),
        (lambda: tf.one_hot(rows(), 2, axis=1), [[[0.0, 0.0], [0.0, 1.0]], [], [[0.0, 0.0], [0.0, 0.0], [0.0, 0.0]]]),
        (lambda: tf.one_hot(rows(), 2, dtype=tf.int64).dtype, "int64"),
    ],
)
def test_numbers_become_vectors(made, expected):
    assert computed(made()) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: R.constant([[1, 2, 4], [3]]) + [[1], [5]], [[2, 3, 5], [8]]),
        (lambda: R.constant([[1, 2, 4], [3]]) + [[10]], [[11, 12, 14], [13]]),
        (lambda: R.constant([[1, 2, 4], [3]]) + [10], [[11, 12, 14], [13]]),
        (lambda: R.constant([[1, 2, 4]]) + [[10], [20]], [[11, 12, 14], [21, 22, 24]]),
        (lambda: [[10], [20]] * R.constant([[1, 2, 4]]), [[10, 20, 40], [20, 40, 80]]),
        (lambda: deep() + [[[10]], [[20]], [[30]]], [[[11, 12], [13]], [], [[], [34, 35, 36]]]),
        (lambda: deep() + [[[10]]], [[[11, 12], [13]], [], [[], [14, 15, 16]]]),
        (lambda: wide() + [10, 20], [[[11, 22], [13, 24]], [], [[15, 26]]]),
        (lambda: wide() + [[[10, 20]]], [[[11, 22], [13, 24]], [], [[15, 26]]]),
        (lambda: [10, 20] + wide(), [[[11, 22], [13, 24]], [], [[15, 26]]]),
        (lambda: tf.add(rows(), 1, name="plus").flat_values.name, "plus_1:0"),
        (lambda: tf.add(1, rows()), [[4, 2], [], [3, 6, 5]]),
        (lambda: tf.constant(2) * rows(), [[6, 2], [], [4, 10, 8]]),
        (lambda: R.constant([["a"], []]) + "b", [[b"ab"], []]),
        (lambda: "b" + R.constant([["a"], []]), [[b"ba"], []]),
        (lambda: tf.equal(rows(), 3), [[True, False], [], [False, False, False]]),
        (lambda: tf.not_equal(rows(), rows()), [[False, False], [], [False, False, False]]),
        (lambda: rows() == 3, False),
        (lambda: rows() <= 2, [[False, True], [], [True, False, False]]),
        (lambda: rows() >= 2, [[True, False], [], [True, True, True]]),
        (lambda: rows() < 2, [[False, True], [], [False, False, False]]),
        (lambda: rows() / 2, [[1.5, 0.5], [], [1.0, 2.5, 2.0]]),
        (lambda: rows() // 2, [[1, 0], [], [1, 2, 2]]),
        (lambda: 7 // (rows() + 1), [[1, 3], [], [2, 1, 1]]),
        (lambda: 7 % (rows() + 1), [[3, 1], [], [1, 1, 2]]),
        (lambda: 2 ** rows(), [[8, 2], [], [4, 32, 16]]),
        (lambda: rows() ** 2, [[9, 1], [], [4, 25, 16]]),
        (lambda: 1 - rows(), [[-2, 0], [], [-1, -4, -3]]),
        (lambda: 3 / rows(), [[1.0, 3.0], [], [1.5, 0.6, 0.75]]),
        (lambda: (rows() > 1) | (rows() < 1), [[True, False], [], [True, True, True]]),
        (lambda: (rows() > 1) ^ (rows() < 3), [[True, True], [], [False, True, True]]),
        (lambda: True & (rows() > 1), [[True, False], [], [True, True, True]]),
        (lambda: True ^ (rows() > 1), [[False, True], [], [False, False, False]]),
        (lambda: False | (rows() > 1), [[True, False], [], [True, True, True]]),
        (lambda: abs(-rows()), [[3, 1], [], [2, 5, 4]]),
        (lambda: ~(rows() > 3), [[True, True], [], [True, False, False]]),
    ],
)
def test_operators_repeat_what_is_single(made, expected):
    assert computed(made()) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: R.map_flat_values(tf.concat, [rows(), rows()], 0), [[3, 1], [], [2, 5, 4]]),
        (lambda: R.map_flat_values(tf.add, 1, 2), 3),
        (lambda: R.map_flat_values(lambda x, y: x * y, x=rows(), y=rows()), [[9, 1], [], [4, 25, 16]]),
        (lambda: R.map_flat_values(lambda a: a[0] + a[1], [rows(), rows()]), [[6, 2], [], [4, 10, 8]]),
        (lambda: R.map_flat_values(lambda x: x[:1], rows()), [[3], [], []]),
        (lambda: R.map_flat_values(tf.identity, R.constant_value([[1], [2, 3]])), [[1], [2, 3]]),
        (lambda: tf.add_n([rows(), rows()]), [[6, 2], [], [4, 10, 8]]),
        (lambda: tf.strings.join([R.constant([["a"], ["b"]]), R.constant([["c"], ["d"]])], "-"), [[b"a-c"], [b"b-d"]]),
        (lambda: tf.identity(rows()), [[3, 1], [], [2, 5, 4]]),
        (lambda: tf.cast(rows(), tf.float32), [[3.0, 1.0], [], [2.0, 5.0, 4.0]]),
        (lambda: tf.math.maximum(rows(), rows()), [[3, 1], [], [2, 5, 4]]),
        (lambda: tf.maximum(rows(), [[2], [2], [3]]), [[3, 2], [], [3, 5, 4]]),
        (lambda: tf.clip_by_value(rows(), 2, 3), [[3, 2], [], [2, 3, 3]]),
        (lambda: tf.dtypes.complex(tf.cast(rows(), tf.float32), 1.0).flat_values.dtype, "complex64"),
        (lambda: tf.strings.substr(R.constant([["abc"], ["def", "ghi"]]), 1, 1), [[b"b"], [b"e", b"h"]]),
        (lambda: tf.strings.to_hash_bucket_fast(R.constant([["a"], ["b"]]), 10), [[9], [2]]),
        (lambda: tf.strings.unicode_decode(["ab", "c"], "UTF-8"), [[97, 98], [99]]),
        (lambda: tf.strings.unicode_encode(R.constant([[97, 98], [99]]), "UTF-8"), [b"ab", b"c"]),
        (lambda: tf.strings.unicode_split(["ab", "c"], "UTF-8"), [[b"a", b"b"], [b"c"]]),
        (lambda: tf.strings.split(["a b", "c"], sep=" ", result_type="RaggedTensor"), [[b"a", b"b"], [b"c"]]),
        (lambda: tf.strings.reduce_join(R.constant([["a", "b"], ["c"]]), axis=1), [b"ab", b"c"]),
    ],
)
def test_functions_of_plain_tensors_see_the_innermost_values(made, expected):
    assert computed(made()) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: tf.strings.reduce_join(words()), b"abcde"),
        (lambda: tf.strings.reduce_join(words(), axis=0), [b"ac", b"bd", b"e"]),
        (lambda: tf.strings.reduce_join(words(), axis=1, separator="-"), [b"a-b", b"", b"c-d-e"]),
        (lambda: tf.strings.reduce_join(words(), axis=-1, separator="-"), [b"a-b", b"", b"c-d-e"]),
        (lambda: tf.strings.reduce_join(words(), 1), [b"ab", b"", b"cde"]),
        (lambda: tf.strings.reduce_join(words(), axis=[0, 1]), b"abcde"),
        (lambda: tf.strings.reduce_join(words(), axis=[1, 0], separator="+"), b"a+b++c+d+e"),
        (lambda: tf.strings.reduce_join(phrases(), axis=2), [[b"ab", b"c"], [], [b"", b"de"]]),
        (lambda: tf.strings.reduce_join(phrases(), axis=1), [[b"ac", b"b"], [], [b"d", b"e"]]),
        (lambda: tf.strings.reduce_join(phrases(), axis=0), [[b"a", b"b"], [b"cd", b"e"]]),
        (lambda: tf.reduce_join(words(), axis=1), [b"ab", b"", b"cde"]),
        (lambda: tf.compat.v2.strings.reduce_join(words(), axis=1), [b"ab", b"", b"cde"]),
        (lambda: tf.strings.unsorted_segment_join(["a", "b", "c"], [0, 2, 0], 3, "-"), [b"a-c", b"", b"b"]),
        (lambda: R.stack_dynamic_partitions(["a"], [0], 1).row_splits.dtype, "int32"),
        (lambda: R.stack_dynamic_partitions(rows(), [0, 1, 0], 2).row_splits.dtype, "int64"),
        (lambda: R.stack_dynamic_partitions(rows(), [0, 1, 0], 2).shape, [2, None, None]),
        (lambda: tf.gather(rows(), 2), [2, 5, 4]),
        (lambda: tf.gather(rows(), tf.constant(1)), []),
        (
            lambda: (
                tf.raw_ops.RaggedGather(
                    params_nested_splits=[[0, 2, 2, 5]], params_dense_values=[3, 1, 2, 5, 4], indices=2, OUTPUT_RAGGED_RANK=0
                ).output_dense_values
            ),
            [2, 5, 4],
        ),
        (
            lambda: tf.raw_ops.RaggedGather(
                params_nested_splits=[[0, 1, 2], [0, 2, 5]], params_dense_values=[3, 1, 2, 5, 4], indices=1, OUTPUT_RAGGED_RANK=1
            ),
            [[[0, 3]], [2, 5, 4]],
        ),
        (lambda: R.map_flat_values(lambda x: R.constant([[1], [2], [3], [4], [5, 6]]), rows()), [[[1], [2]], [], [[3], [4], [5, 6]]]),
        (lambda: rows() + R.constant([[1, 2], [], [3, 4, 5]]), [[4, 3], [], [5, 9, 9]]),
        (lambda: R.constant([[1]]) + R.constant([[1], [5], [2]]), [[2], [6], [3]]),
        (lambda: R.constant([[]]) + [[1], [2]], [[], []]),
    ],
)
def test_strings_are_joined_along_rows(made, expected):
    assert computed(made()) == expected


@pytest.mark.parametrize(
    ("made", "error", "message"),
    [
        (lambda: R.stack([[1, 2], [3]], axis=0), ValueError, "Dimension 0 in both shapes must be equal, but are 2 and 1. Shapes are"),
        (
            lambda: R.stack([tf.constant([1, 2]), tf.constant([3])]),
            ValueError,
            "Dimension 0 in both shapes must be equal, but are 2 and 1. Shapes are",
        ),
        (lambda: R.stack([]), ValueError, "rt_inputs may not be empty."),
        (lambda: tf.concat([rows(), rows()], axis=2), ValueError, "axis=2 out of bounds: expected -2<=axis<2"),
        (lambda: tf.concat([rows(), rows()], axis=tf.constant(0)), TypeError, "axis must be an int; got Tensor"),
        (lambda: R.stack([rows(), rows()], axis=tf.constant(0)), TypeError, "axis must be an int; got Tensor"),
        (lambda: R.stack([unknown([[1]]), rows()], axis=-1), tf.errors.InvalidArgumentError, "Incompatible shapes:"),
        (lambda: R.stack([unknown([[1]]), unknown([[1]])], axis=-1), ValueError, "axis may only be negative if ndims is statically known."),
        (
            lambda: tf.stack([rows(), rows()[:, :1]], axis=2),
            tf.errors.InvalidArgumentError,
            "assertion failed: [Inputs must have identical ragged splits]",
        ),
        (lambda: tf.concat([rows(), short()], axis=0), ValueError, "Input RaggedTensors have mismatched row_splits dtypes; use"),
        (lambda: tf.tile(rows(), [[1]]), ValueError, "Shape (1, 1) must have rank 1"),
        (lambda: tf.expand_dims(deep(), 4), ValueError, "axis=4 out of bounds: expected -4<=axis<4"),
        (lambda: tf.squeeze(R.constant([[1], [2]])), ValueError, "Ragged.squeeze must have an axis argument."),
        (
            lambda: tf.squeeze(R.constant([[1], [2, 3]]), axis=1),
            tf.errors.InvalidArgumentError,
            "assertion failed: [the given axis (axis = 1) is not squeezable!]",
        ),
        (
            lambda: tf.squeeze(R.constant([[1], [2, 3]]), axis=0),
            tf.errors.InvalidArgumentError,
            "assertion failed: [the given axis (axis = 0) is not squeezable!]",
        ),
        (lambda: tf.squeeze(R.constant([[1], [2, 3]]), axis=2), ValueError, "axis=2 out of bounds: expected -2<=axis<2"),
        (lambda: tf.squeeze(R.constant([[1]]), axis=["a"]), TypeError, "Axis must be a list or tuple of integers."),
        (lambda: R.boolean_mask(rows(), R.constant([[True, False], [True]])), ValueError, "Dimensions must be equal, but are"),
        (lambda: R.boolean_mask(rows(), True), ValueError, "mask cannot be scalar."),
        (lambda: R.boolean_mask([1, 2], [1, 0]), TypeError, "Expected bool, got 1 of type 'int' instead."),
        (lambda: R.boolean_mask(rows(), unknown([True, False, True])), ValueError, "mask.shape.ndims must be known statically."),
        (lambda: R.boolean_mask(rows(), [True, False]), ValueError, "Shapes (3,) and (2,) are incompatible"),
        (lambda: tf.where(rows() > 2, rows()), ValueError, "x and y must be either both None or both"),
        (lambda: tf.where(rows() > 2, [1, 2, 3, 4, 5], rows()), ValueError, "Input shapes do not match."),
        (
            lambda: tf.where([[True, True], [False, False]], R.constant([[1, 2], [3, 4]]), R.constant([[1, 2], [3, 4]])),
            ValueError,
            "Shape (2, 2) must have rank 1",
        ),
        (lambda: tf.where(True, rows(), rows()), ValueError, "Shape () must have rank 1"),
        (
            lambda: R.stack_dynamic_partitions(["a", "b"], [0, 5], 3),
            tf.errors.InvalidArgumentError,
            "assertion failed: [partitions must be less than num_partitions]",
        ),
        (lambda: R.stack_dynamic_partitions(["a", "b"], [0, 1], [3]), ValueError, "Shape (1,) must have rank 0"),
        (
            lambda: R.stack_dynamic_partitions(rows(), R.constant([[1], [], [1, 1, 0]]), 3),
            tf.errors.InvalidArgumentError,
            "data and partitions have incompatible ragged shapes",
        ),
        (lambda: R.stack_dynamic_partitions(["a", "b"], unknown([0, 1]), 2), ValueError, "partitions must have known rank"),
        (lambda: tf.one_hot(rows(), 6, axis=2), ValueError, "axis=2 out of bounds: expected -2<=axis<2"),
        (lambda: tf.one_hot(wide(), 2, axis=3), ValueError, "axis=3 out of bounds: expected -3<=axis<3"),
        (
            lambda: R.constant([[1, 2, 4], [3]]) + R.constant([[1], [5], [2]]),
            tf.errors.InvalidArgumentError,
            "assertion failed: [Unable to broadcast: dimension size mismatch in",
        ),
        (
            lambda: R.constant([[1, 2, 4], [3]]) + [[1], [5], [2]],
            tf.errors.InvalidArgumentError,
            "assertion failed: [Unable to broadcast: dimension size mismatch in",
        ),
        (lambda: rows() - 1.5, TypeError, "Input 'y' of 'Sub' Op has type float32 that does not match type int32"),
        (lambda: 3 & rows(), TypeError, "Input 'x' of 'LogicalAnd' Op has type int32 that does not match"),
        (lambda: rows() + short(), ValueError, "Input RaggedTensors have mismatched row_splits dtypes; use"),
        (
            lambda: R.map_flat_values(tf.add, rows(), R.constant([[1], [2], [3, 4, 5]])),
            tf.errors.InvalidArgumentError,
            "Inputs must have identical ragged splits",
        ),
        (lambda: R.map_flat_values(tf.add, rows(), deep()), ValueError, "Inputs must have identical ragged splits"),
        (lambda: R.map_flat_values(lambda x: tf.constant(1), rows()), ValueError, "Shape () must have rank at least 1"),
        (
            lambda: tf.add_n([rows(), R.constant([[1], [2], [3, 4, 5]])]),
            tf.errors.InvalidArgumentError,
            "Inputs must have identical ragged splits",
        ),
        (lambda: tf.nn.relu(-rows()), TypeError, "Failed to convert object of type <class"),
        (lambda: tf.strings.reduce_join(words(), axis=1, keepdims=True), ValueError, "keepdims=True is not supported for RaggedTensors."),
        (lambda: tf.strings.unsorted_segment_join(words(), [0, 0, 1], 2), TypeError, "Expected string passed to parameter 'inputs' of op"),
        (lambda: tf.gather(rows(), 5), tf.errors.InvalidArgumentError, "indices = 5 is not in [0, 3)"),
    ],
)
def test_mistakes_are_refused(made, error, message):
    with pytest.raises(error) as caught:
        computed(made())
    assert message in str(caught.value)


def test_a_loop_keeps_what_a_shape_says_of_its_rows():
    def looped(axis, shape):
        grown = lambda i, x: (i + 1, tf.concat([x, x], axis=axis))
        start = tf.ragged.constant([[1], [2, 3]])
        return tf.while_loop(lambda i, x: i < 1, grown, [tf.constant(0), start], [tf.TensorShape([]), tf.TensorShape(shape)])[1]

    longer, more = looped(1, [2, None]), looped(0, [None, None])
    assert longer.shape.as_list() == [2, None] and more.shape.as_list() == [None, None]
    assert computed(longer) == [[1, 1], [2, 3, 2, 3]] and computed(more) == [[1], [2, 3], [1], [2, 3]]
    with pytest.raises(ValueError, match=r"enters the loop with shape \(3,\), but has shape \(5,\) after one iteration"):
        looped(0, [2, None])
    with pytest.raises(ValueError, match=r"specified shape invariant is \(5,\)"):
        looped(1, [4, None])
