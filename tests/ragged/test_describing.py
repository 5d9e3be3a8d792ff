"""Specs, constants, operators and slopes of ragged tensors; values are those of TensorFlow 1.15.5."""

import numpy as np
import pytest
from plain import described, refused
from rows import RT, R, deep, fed, fed_deep, floats, formless, rows, slope, small, unsized, wide, words

import everflow as tf
from everflow.ragged.gathering import gather
from everflow.ragged.tensor import convert_to_tensor_or_ragged_tensor, is_ragged, match_row_splits_dtypes


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: [s.shape for s in tf.RaggedTensorSpec([None, None], tf.int32)._component_specs], [[None], [None]]),
        (lambda: [s.shape for s in tf.RaggedTensorSpec([4, None, None, 7], tf.int32, 2)._component_specs], [[None, 7], [5], [None]]),
        (
            lambda: [s.dtype for s in tf.RaggedTensorSpec([4, None, None, 7], tf.int32, 2, tf.int32)._component_specs],
            ["int32", "int32", "int32"],
        ),
        (lambda: tf.RaggedTensorSpec([2, None])._dtype, "float32"),
        (lambda: tf.RaggedTensorSpec([2, None])._row_splits_dtype, "int64"),
        (lambda: tf.RaggedTensorSpec([2, None], "int32", row_splits_dtype="int32")._row_splits_dtype, "int32"),
        (lambda: tf.RaggedTensorSpec([2, None]).value_type is RT, True),
        (lambda: tf.RaggedTensorSpec([2, None], ragged_rank=0).value_type is RT, False),
        (lambda: tf.RaggedTensorSpec([2, None], tf.int32, row_splits_dtype=tf.int32)._batch(3)._row_splits_dtype, "int64"),
        (lambda: tf.RaggedTensorSpec([2, None], tf.int32, row_splits_dtype=tf.int32)._unbatch()._row_splits_dtype, "int64"),
        (
            lambda: repr(tf.RaggedTensorSpec([2, None], tf.int32)._batch(None)),
            "RaggedTensorSpec(TensorShape([Dimension(None), Dimension(2), Dimension(None)]), tf.int32, 2, tf.int64)",
        ),
        (
            lambda: repr(tf.RaggedTensorSpec([5], tf.int32, 0)._batch(3)),
            "RaggedTensorSpec(TensorShape([Dimension(3), Dimension(5)]), tf.int32, 1, tf.int64)",
        ),
        (
            lambda: repr(tf.RaggedTensorSpec([5, 3, None], tf.int32, 1)._unbatch()),
            "RaggedTensorSpec(TensorShape([Dimension(3), Dimension(None)]), tf.int32, 0, tf.int64)",
        ),
        (lambda: repr(tf.RaggedTensorSpec(None, tf.int32, 1)._batch(3)), "RaggedTensorSpec(TensorShape(None), tf.int32, 2, tf.int64)"),
        (
            lambda: tf.RaggedTensorSpec([3, None], tf.int32)._to_components(rows()),
            [["int32 [5]", "int64 [4]"], [[3, 1, 2, 5, 4], [0, 2, 2, 5]]],
        ),
        (lambda: tf.RaggedTensorSpec([3, None], tf.int32)._to_components(R.constant_value([[1], [2]])), [[1, 2], [0, 1, 2]]),
        (lambda: tf.RaggedTensorSpec([3], tf.int32, 0)._to_components(tf.constant([1, 2, 3])), [["int32 [3]"], [[1, 2, 3]]]),
        (
            lambda: tf.RaggedTensorSpec([2, None], tf.int32)._from_components([tf.constant([1, 2]), tf.constant([0, 1, 2])]),
            ["int32 [2, None] by int32", [[1], [2]]],
        ),
        (
            lambda: type(tf.RaggedTensorSpec([2, None], tf.int32)._from_components([np.array([1, 2]), np.array([0, 1, 2])])).__name__,
            "RaggedTensorValue",
        ),
        (lambda: tf.RaggedTensorSpec([2], tf.int32, 0)._from_components([tf.constant([1, 2])]), ["int32 [2]", [1, 2]]),
        (lambda: tf.RaggedTensorSpec([3, None], tf.int32)._to_tensor_list(rows())[0].shape, []),
        (lambda: tf.RaggedTensorSpec([3, None], tf.int32)._to_batched_tensor_list(rows())[0].shape, [3]),
        (
            lambda: tf.RaggedTensorSpec([3, None], tf.int32)._from_compatible_tensor_list(
                tf.RaggedTensorSpec([3, None], tf.int32)._to_tensor_list(rows())
            ),
            ["int32 [3, None]", [[3, 1], [], [2, 5, 4]]],
        ),
        (
            lambda: tf.RaggedTensorSpec([None, None, 2], tf.int32, 1)._from_compatible_tensor_list(
                tf.RaggedTensorSpec([None, None, 2], tf.int32, 1)._to_tensor_list(wide())
            ),
            ["int32 [None, None, 2]", [[[1, 2], [3, 4]], [], [[5, 6]]]],
        ),
        (lambda: tf.RaggedTensorSpec([None, None], tf.int32).is_compatible_with(rows()), True),
        (lambda: tf.RaggedTensorSpec([None, None], tf.int32).is_compatible_with(small()), False),
        (lambda: tf.RaggedTensorSpec([None, None], tf.int32).is_compatible_with(deep()), False),
        (lambda: tf.RaggedTensorSpec([None, None], tf.int32).is_compatible_with(R.constant_value([[1]], dtype=np.int32)), True),
        (
            lambda: tf.RaggedTensorSpec([None, None], tf.int32) == tf.RaggedTensorSpec([None, None], tf.int32, row_splits_dtype=tf.int32),
            False,
        ),
    ],
)
def test_specs_know_their_parts(made, expected):
    assert described(made()) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (
            lambda: tf.RaggedTensorSpec([3], tf.int32, 0)._to_tensor_list(tf.constant([1, 2, 3])),
            "AttributeError: 'Tensor' object has no attribute '_to_variant'",
        ),
        (
            lambda: tf.RaggedTensorSpec([3, None], tf.int32)._to_tensor_list(tf.constant([1, 2, 3])),
            "AttributeError: 'Tensor' object has no attribute '_to_variant'",
        ),
        (lambda: tf.RaggedTensorSpec([None, 3], tf.int32, 2), "ValueError: ragged_rank must be less than rank."),
        (lambda: tf.RaggedTensorSpec([None, 3], tf.int32, 1.0), "TypeError: ragged_rank must be an int"),
        (lambda: tf.RaggedTensorSpec([], tf.int32, 0), "ValueError: ragged_rank must be less than rank."),
    ],
)
def test_specs_know_their_parts_or_are_refused(made, expected):
    assert refused(lambda: described(made())).startswith(expected)


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (
            lambda: repr(tf.RaggedTensorSpec.from_value(small())),
            "RaggedTensorSpec(TensorShape([Dimension(3), Dimension(None)]), tf.int32, 1, tf.int32)",
        ),
        (
            lambda: repr(tf.RaggedTensorSpec.from_value(R.constant_value([[[1]], []]))),
            "RaggedTensorSpec(TensorShape([Dimension(2), Dimension(None), Dimension(None)]), tf.int64, 2, tf.int64)",
        ),
        (
            lambda: repr(tf.data.experimental.RaggedTensorStructure(tf.int32, [2, None], 1)),
            "RaggedTensorSpec(TensorShape([Dimension(2), Dimension(None)]), tf.int32, 1, tf.int64)",
        ),
        (lambda: repr(fed()._type_spec), "RaggedTensorSpec(TensorShape([Dimension(None), Dimension(None)]), tf.int32, 1, tf.int64)"),
        (lambda: repr(small()._type_spec), "RaggedTensorSpec(TensorShape([Dimension(3), Dimension(None)]), tf.int32, 1, tf.int32)"),
        (lambda: repr(formless()._type_spec), "RaggedTensorSpec(TensorShape(None), tf.int32, 1, tf.int64)"),
        (
            lambda: repr(small()._shape_invariant_to_type_spec(tf.TensorShape([None, None]))),
            "RaggedTensorSpec(TensorShape([Dimension(None), Dimension(None)]), tf.int32, 1, tf.int32)",
        ),
    ],
)
def test_specs_are_found(made, expected):
    assert described(made()) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (
            lambda: repr(tf.data.Dataset.from_tensors(small()).element_spec),
            "RaggedTensorSpec(TensorShape([Dimension(3), Dimension(None)]), tf.int32, 1, tf.int32)",
        ),
        (
            lambda: repr(tf.data.Dataset.from_tensor_slices(deep()).element_spec),
            "RaggedTensorSpec(TensorShape([Dimension(None), Dimension(None)]), tf.int32, 1, tf.int64)",
        ),
        (
            lambda: repr(tf.data.Dataset.from_tensor_slices(rows()).batch(2).element_spec),
            "RaggedTensorSpec(TensorShape([Dimension(None), Dimension(None)]), tf.int32, 1, tf.int64)",
        ),
        (
            lambda: repr(tf.data.Dataset.from_tensor_slices(wide()).batch(2, drop_remainder=True).element_spec),
            "RaggedTensorSpec(TensorShape([Dimension(2), Dimension(None), Dimension(2)]), tf.int32, 1, tf.int64)",
        ),
        (
            lambda: tf.data.make_one_shot_iterator(tf.data.Dataset.from_tensor_slices(deep()).skip(2)).get_next(),
            ["int32 [None, None]", [[], [4, 5, 6]]],
        ),
        (
            lambda: tf.data.make_one_shot_iterator(tf.data.Dataset.from_tensors(deep())).get_next(),
            ["int32 [3, None, None]", [[[1, 2], [3]], [], [[], [4, 5, 6]]]],
        ),
        (
            lambda: tf.data.make_one_shot_iterator(tf.data.Dataset.from_tensors(words()).batch(1)).get_next(),
            ["string [None, None, None]", [[[b"a", b"b"], [], [b"c", b"d", b"e"]]]],
        ),
        (
            lambda: tf.data.make_one_shot_iterator(
                tf.data.Dataset.from_tensor_slices(deep()).map(lambda r: tf.reduce_sum(r, 1)).skip(2)
            ).get_next(),
            ["int32 [None]", [0, 15]],
        ),
        (
            lambda: tf.data.make_one_shot_iterator(tf.data.Dataset.range(3).map(lambda n: tf.ragged.range([n, 1])).batch(3)).get_next(),
            ["int64 [None, None, None]", [[[], [0]], [[0], [0]], [[0, 1], [0]]]],
        ),
    ],
)
def test_datasets_hold_rows(made, expected):
    assert described(made()) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (
            lambda: tf.data.make_one_shot_iterator(tf.data.Dataset.from_tensor_slices(deep()).batch(2).batch(2)).get_next(),
            "InvalidArgumentError: Cannot batch tensors with different shapes in component 0. First element had s",
        )
    ],
)
def test_datasets_hold_rows_or_are_refused(made, expected):
    assert refused(lambda: described(made())).startswith(expected)


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: R.constant([[1, 2], [3]], row_splits_dtype=tf.int32), ["int32 [2, None] by int32", [[1, 2], [3]]]),
        (lambda: R.constant([[1, 2], [3]], row_splits_dtype="int32"), ["int32 [2, None] by int32", [[1, 2], [3]]]),
        (lambda: R.constant([[[1, 2]], [[3, 4]]], inner_shape=(2,)), ["int32 [2, None, 2]", [[[1, 2]], [[3, 4]]]]),
        (lambda: R.constant([[[1, 2]], [[3, 4]]], inner_shape=()), ["int32 [2, None, None]", [[[1, 2]], [[3, 4]]]]),
        (lambda: R.constant([[[1, 2]], [[3, 4]]], ragged_rank=0), ["int32 [2, 1, 2]", [[[1, 2]], [[3, 4]]]]),
        (lambda: R.constant([[1, 2], [3, 4]], ragged_rank=0), ["int32 [2, 2]", [[1, 2], [3, 4]]]),
        (lambda: R.constant([[1, 2], [3]], ragged_rank=1, inner_shape=()), ["int32 [2, None]", [[1, 2], [3]]]),
        (lambda: R.constant([1, 2], ragged_rank=0), ["int32 [2]", [1, 2]]),
        (lambda: R.constant([], ragged_rank=0), ["float32 [0]", []]),
        (lambda: R.constant([[]], ragged_rank=0), ["float32 [1, 0]", [[]]]),
        (lambda: R.constant([[]], ragged_rank=1, inner_shape=(2,)), ["float32 [1, None, 2]", [[]]]),
        (lambda: R.constant([], ragged_rank=1, inner_shape=(2, 3)), ["float32 [0, None, 2, 3]", []]),
        (lambda: R.constant([[[]], []], ragged_rank=2), ["float32 [2, None, None]", [[[]], []]]),
        (lambda: R.constant([[[]], []], ragged_rank=3), ["float32 [2, None, None, None]", [[[]], []]]),
        (lambda: R.constant([[[]], []], ragged_rank=1), ["float32 [2, None, 0]", [[[]], []]]),
        (lambda: R.constant([[[], []], []], ragged_rank=1), ["float32 [2, None, 0]", [[[], []], []]]),
        (lambda: R.constant([[[]], [[], []]]), ["float32 [2, None, None]", [[[]], [[], []]]]),
        (lambda: R.constant([[[1]], []]), ["int32 [2, None, None]", [[[1]], []]]),
        (lambda: R.constant("a"), ["string []", b"a"]),
        (lambda: R.constant(["a", "b"]), ["string [2]", [b"a", b"b"]]),
        (lambda: R.constant(5, dtype=tf.int64), ["int64 []", 5]),
        (lambda: R.constant(5, ragged_rank=0), ["int32 []", 5]),
        (lambda: R.constant(np.array([[[1, 2]], [[3, 4]]])), ["int32 [2, None, None]", [[[1, 2]], [[3, 4]]]]),
        (lambda: R.constant(np.array([[1, 2], [3, 4]]), ragged_rank=0), ["int64 [2, 2]", [[1, 2], [3, 4]]]),
        (lambda: R.constant([np.array([[1, 2]]), np.zeros((0, 2), np.int64)]), ["int32 [2, None, None]", [[[1, 2]], []]]),
        (lambda: R.constant(np.array(3)), ["int64 []", 3]),
        (lambda: R.constant([np.array(1), np.array(2)]), ["int32 [2]", [1, 2]]),
        (lambda: R.constant([[np.int64(1)], []]), ["int32 [2, None]", [[1], []]]),
        (lambda: R.constant([(1, 2), [3]]), ["int32 [2, None]", [[1, 2], [3]]]),
        (lambda: R.constant([[1, 2], [3]], tf.float64), ["float64 [2, None]", [[1.0, 2.0], [3.0]]]),
        (lambda: R.constant_value([[1, 2], [3]], row_splits_dtype=tf.int32).row_splits.dtype.name, "int32"),
        (lambda: R.constant_value([[1, 2], [3]], dtype=tf.float32).dtype.name, "float32"),
        (lambda: R.constant_value([[1, 2], [3]], dtype="float32").dtype.name, "float32"),
        (lambda: R.constant_value([[[1, 2]], [[3, 4]]], inner_shape=(2,)).shape, [2, None, 2]),
        (lambda: R.constant_value([[[1, 2]], [[3, 4]]]).shape, [2, None, None]),
        (lambda: R.constant_value([[]], ragged_rank=1, inner_shape=(2,)).shape, [1, None, 2]),
        (lambda: R.constant_value([["a"], []]).dtype.kind, "U"),
        (lambda: R.constant_value(5, dtype=np.int8).dtype.name, "int8"),
        (lambda: R.constant_value([[1], [2]], ragged_rank=0).shape, [2, 1]),
        (lambda: R.constant_value([[1, 2], [3]]).row_splits.dtype.name, "int64"),
    ],
)
def test_lists_become_rows(made, expected):
    assert described(made()) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: R.constant([[1, 2], [3]], row_splits_dtype=tf.float32), "ValueError: row_splits must have dtype int32 or int64"),
        (lambda: R.constant([[[1, 2]], [[3, 4]]], inner_shape=(3,)), "TypeError: Expected Tensor's shape: (2, 3), got (2, 2)."),
        (
            lambda: R.constant([[[1, 2]], [[3, 4]]], inner_shape=(2,), ragged_rank=2),
            "ValueError: Invalid pylist=[[[1, 2]], [[3, 4]]]: incompatible with ragged_rank=2 and dim(inner_shape",
        ),
        (
            lambda: R.constant([[1, 2], [3]], ragged_rank=0),
            "ValueError: Argument must be a dense tensor: [[1, 2], [3]] - got shape [2], but wanted [2, 2].",
        ),
        (lambda: R.constant([[1], 2]), "ValueError: all scalar values must have the same nesting depth"),
        (lambda: R.constant([1, [2]]), "ValueError: all scalar values must have the same nesting depth"),
        (lambda: R.constant([[], 1]), "ValueError: Invalid pylist=[[], 1]: empty list nesting is greater than scalar value nesting"),
        (lambda: R.constant([[[1]], [2]]), "ValueError: all scalar values must have the same nesting depth"),
        (lambda: R.constant(5, ragged_rank=-1), "ValueError: Invalid pylist=5: incompatible with ragged_rank=-1"),
        (lambda: R.constant([[1.5], [2]], dtype=tf.int32), "TypeError: Expected int32, got 1.5 of type 'float' instead."),
        (lambda: R.constant([["a"], [1]]), "TypeError: Failed to convert object of type"),
        (lambda: R.constant(R.constant_value([[1]])), "TypeError: pylist may not be a RaggedTensor or RaggedTensorValue."),
        (lambda: R.constant_value(3, ragged_rank=1), "ValueError: Invalid pylist=3: incompatible with ragged_rank=1"),
        (
            lambda: R.constant_value([1], ragged_rank=1),
            "ValueError: pylist has scalar values depth 1, but ragged_rank=1 requires scalar value depth greater",
        ),
    ],
)
def test_lists_become_rows_or_are_refused(made, expected):
    assert refused(lambda: described(made())).startswith(expected)


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: R.placeholder(tf.int32, 1, []).shape, [None, None]),
        (lambda: R.placeholder(tf.int32, 1, [2, None]).shape, [None, None, 2, None]),
        (lambda: R.placeholder(tf.int32, 2, [2]).flat_values.shape, [None, 2]),
        (lambda: R.placeholder(tf.int32, 2).row_splits.shape, [None]),
        (lambda: R.placeholder(tf.int32, 2).row_splits.dtype, "int64"),
        (lambda: R.placeholder(tf.int32, 0, [2], name="p").op.name, "p"),
        (lambda: R.placeholder("int32", 1, []).dtype, "int32"),
        (lambda: R.placeholder(tf.int32, 1, [], name="p").row_splits.op.name, "p/row_splits_0"),
    ],
)
def test_placeholders_have_parts(made, expected):
    assert described(made()) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: R.row_splits_to_segment_ids(unsized(np.array([0, 2, 2, 3]))), ["int64 [None]", [0, 0, 2]]),
        (lambda: R.row_splits_to_segment_ids(tf.constant([0, 2, 2, 3])), ["int32 [None]", [0, 0, 2]]),
        (lambda: R.row_splits_to_segment_ids(tf.constant([0, 2, 2, 3]), out_type=tf.int64), ["int64 [None]", [0, 0, 2]]),
        (lambda: R.row_splits_to_segment_ids(tf.constant([0, 2, 2, 3], tf.int64), out_type="int32"), ["int32 [None]", [0, 0, 2]]),
        (lambda: R.segment_ids_to_row_splits(tf.constant([0, 0, 2])), ["int32 [4]", [0, 2, 2, 3]]),
        (lambda: R.segment_ids_to_row_splits(tf.constant([0, 0, 2], tf.int64)), ["int64 [4]", [0, 2, 2, 3]]),
        (lambda: R.segment_ids_to_row_splits([0, 0, 2], tf.constant(4)), ["int32 [5]", [0, 2, 2, 3, 3]]),
        (lambda: R.segment_ids_to_row_splits([0, 0, 2], tf.constant(4, tf.int64)), ["int64 [5]", [0, 2, 2, 3, 3]]),
        (lambda: R.segment_ids_to_row_splits([0, 0, 2], unsized(4)), ["int32 [None]", [0, 2, 2, 3, 3]]),
        (lambda: R.segment_ids_to_row_splits(unsized([0, 0, 2])), ["int32 [None]", [0, 2, 2, 3]]),
        (lambda: R.segment_ids_to_row_splits([0, 0, 2], 2), ["int64 [3]", [0, 2, 2]]),
        (lambda: R.segment_ids_to_row_splits([0, 0, 2], out_type=tf.int32), ["int32 [4]", [0, 2, 2, 3]]),
        (lambda: R.segment_ids_to_row_splits(tf.constant([0, 0, 2], tf.int64), out_type=tf.int32), ["int32 [4]", [0, 2, 2, 3]]),
        (lambda: R.segment_ids_to_row_splits([0, 1], name="n").op.name, "n/concat"),
    ],
)
def test_splits_and_row_numbers_agree(made, expected):
    assert described(made()) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: R.row_splits_to_segment_ids([[0, 1]]), "ValueError: Shape (1, 2) must have rank 1"),
        (lambda: R.segment_ids_to_row_splits([[0, 0, 2]]), "ValueError: Shape (1, 3) must have rank 1"),
    ],
)
def test_splits_and_row_numbers_agree_or_are_refused(made, expected):
    assert refused(lambda: described(made())).startswith(expected)


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: R.map_flat_values(tf.add, small(), 10), ["int32 [3, None] by int32", [[13, 11], [], [12, 15, 14]]]),
        (lambda: R.map_flat_values(tf.add, fed(), fed()), ["int32 [None, None]", [[6, 2], [], [4, 10, 8]]]),
        (lambda: R.map_flat_values(tf.add, fed_deep(), fed_deep()), ["int32 [None, None, None]", [[[2, 4], [6]], [], [[], [8, 10, 12]]]]),
        (lambda: R.map_flat_values(lambda x: x[:2], fed()), ["int32 [None, None]", [[3, 1], [], []]]),
        (lambda: R.map_flat_values(lambda x: tf.reshape(x, [-1, 1]), rows()), ["int32 [3, None, 1]", [[[3], [1]], [], [[2], [5], [4]]]]),
        (lambda: R.map_flat_values(lambda a, b: a * b[0], rows(), (rows(), 2)), ["int32 [3, None]", [[9, 1], [], [4, 25, 16]]]),
        (lambda: R.map_flat_values(lambda a, b: a * b, rows(), b=rows()), ["int32 [3, None]", [[9, 1], [], [4, 25, 16]]]),
        (lambda: R.map_flat_values(lambda: tf.constant(1)), ["int32 []", 1]),
    ],
)
def test_values_are_mapped(made, expected):
    assert described(made()) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (
            lambda: R.map_flat_values(tf.add, small(), rows()),
            "ValueError: Input RaggedTensors have mismatched row_splits dtypes; use RaggedTensor.with_row_splits_",
        ),
        (lambda: R.map_flat_values(tf.reduce_sum, rows()), "ValueError: Shape () must have rank at least 1"),
        (lambda: R.map_flat_values(lambda x: 5, rows()), "ValueError: Shape () must have rank at least 1"),
    ],
)
def test_values_are_mapped_or_are_refused(made, expected):
    assert refused(lambda: described(made())).startswith(expected)


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: convert_to_tensor_or_ragged_tensor(R.constant_value([[1], [2, 3]])), ["int64 [2, None]", [[1], [2, 3]]]),
        (lambda: convert_to_tensor_or_ragged_tensor(R.constant_value([[1], [2, 3]]), tf.int32), ["int32 [2, None]", [[1], [2, 3]]]),
        (lambda: convert_to_tensor_or_ragged_tensor(R.constant_value([[1], [2, 3]]), tf.int64), ["int64 [2, None]", [[1], [2, 3]]]),
        (
            lambda: convert_to_tensor_or_ragged_tensor(R.constant_value([[1], [2, 3]], row_splits_dtype=tf.int32)),
            ["int64 [2, None] by int32", [[1], [2, 3]]],
        ),
        (lambda: convert_to_tensor_or_ragged_tensor(rows(), tf.int32), ["int32 [3, None]", [[3, 1], [], [2, 5, 4]]]),
        (lambda: convert_to_tensor_or_ragged_tensor([1, 2], tf.float32), ["float32 [2]", [1.0, 2.0]]),
        (lambda: convert_to_tensor_or_ragged_tensor([1, 2], preferred_dtype=tf.float32), ["float32 [2]", [1.0, 2.0]]),
        (lambda: convert_to_tensor_or_ragged_tensor([1, 2], name="n").op.name, "n"),
        (lambda: convert_to_tensor_or_ragged_tensor(R.constant_value([[1]]), name="n").flat_values.op.name, "n/flat_values"),
        (lambda: match_row_splits_dtypes(rows(), rows())[1], ["int32 [3, None]", [[3, 1], [], [2, 5, 4]]]),
        (lambda: match_row_splits_dtypes(rows(), 5)[1], 5),
        (lambda: match_row_splits_dtypes(small(), return_dtype=True)[0], "int32"),
        (lambda: match_row_splits_dtypes(rows(), return_dtype=True)[0], "int64"),
        (lambda: match_row_splits_dtypes(return_dtype=True), ["int64", []]),
        (lambda: match_row_splits_dtypes(3, return_dtype=True), ["int64", [3]]),
        (lambda: match_row_splits_dtypes(), []),
        (lambda: [is_ragged(x) for x in (rows(), R.constant_value([[1]]), [[1]], None)], [True, True, False, False]),
    ],
)
def test_values_are_converted(made, expected):
    assert described(made()) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (
            lambda: convert_to_tensor_or_ragged_tensor(rows(), tf.float32),
            "ValueError: Tensor conversion requested dtype float32 for RaggedTensor with dtype int32: tf.RaggedTe",
        ),
        (
            lambda: match_row_splits_dtypes(rows(), small()),
            "ValueError: Input RaggedTensors have mismatched row_splits dtypes; use RaggedTensor.with_row_splits_",
        ),
        (lambda: match_row_splits_dtypes(rows(), other=1), "ValueError: Unexpected keyword args {'other': 1}"),
    ],
)
def test_values_are_converted_or_are_refused(made, expected):
    assert refused(lambda: described(made())).startswith(expected)


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: fed() + fed(), ["int32 [None, None]", [[6, 2], [], [4, 10, 8]]]),
        (lambda: fed() + [[1], [2], [3]], ["int32 [None, None]", [[4, 2], [], [5, 8, 7]]]),
        (lambda: fed() + unsized([[1], [2], [3]]), ["int32 [None, None]", [[4, 2], [], [5, 8, 7]]]),
        (lambda: fed() + unsized(5), ["int32 [None, None]", [[8, 6], [], [7, 10, 9]]]),
        (lambda: fed() + [5], ["int32 [None, None]", [[8, 6], [], [7, 10, 9]]]),
        (lambda: rows() + fed(), ["int32 [None, None]", [[6, 2], [], [4, 10, 8]]]),
        (lambda: R.constant([[1.0, 2.0], [3.0]]) + 1, ["float32 [2, None]", [[2.0, 3.0], [4.0]]]),
        (lambda: 1 + R.constant([[1.0, 2.0], [3.0]]), ["float32 [2, None]", [[2.0, 3.0], [4.0]]]),
        (lambda: R.constant([[1.0, 2.0], [3.0]]) + np.float64(1), ["float32 [2, None]", [[2.0, 3.0], [4.0]]]),
        (lambda: rows() % 2, ["int32 [3, None]", [[1, 1], [], [0, 1, 0]]]),
        (lambda: rows() != rows(), True),
        (lambda: tf.add(rows(), 1, name="n").flat_values.op.name, "n_1"),
    ],
)
def test_operators_take_rows(made, expected):
    assert described(made()) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: formless() + formless(), "ValueError: Unable to broadcast: unknown rank"),
        (
            lambda: R.constant([[1, 2], [3]]) + 1.5,
            "TypeError: Input 'y' of 'Add' Op has type float32 that does not match type int32 of argument 'x'.",
        ),
    ],
)
def test_operators_take_rows_or_are_refused(made, expected):
    assert refused(lambda: described(made())).startswith(expected)


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: tf.where(fed() > 2).shape, [None, 2]),
        (lambda: tf.concat([R.constant_value([[1, 2], [3]]), R.constant_value([[4], [5]])], 1), ["int64 [2, None]", [[1, 2, 4], [3, 5]]]),
        (lambda: tf.add_n([small(), small()]), ["int32 [3, None] by int32", [[6, 2], [], [4, 10, 8]]]),
        (lambda: tf.expand_dims(rows(), dim=1), ["int32 [3, None, None]", [[[3, 1]], [[]], [[2, 5, 4]]]]),
        (lambda: tf.squeeze(R.constant([[1], [2]]), squeeze_dims=[1]), ["int32 [2]", [1, 2]]),
        (lambda: tf.reduce_sum(rows(), keep_dims=False, axis=1), ["int32 [3]", [4, 0, 11]]),
        (lambda: tf.reduce_sum(rows(), reduction_indices=0), ["int32 [3]", [5, 6, 4]]),
        (lambda: tf.expand_dims(input=rows(), axis=0), ["int32 [1, None, None]", [[[3, 1], [], [2, 5, 4]]]]),
        (lambda: tf.reduce_join(words(), 1), ["string [3]", [b"ab", b"", b"cde"]]),
        (lambda: tf.strings.reduce_join(words(), 1, separator="-"), ["string [3]", [b"a-b", b"", b"c-d-e"]]),
        (lambda: tf.strings.reduce_join(words()), ["string []", b"abcde"]),
        (lambda: tf.strings.reduce_join(words(), [0, 1]), ["string []", b"abcde"]),
        (lambda: tf.strings.reduce_join(words(), name="n").op.name, "ReduceJoin_1/n"),
    ],
)
def test_public_functions_take_rows(made, expected):
    assert described(made()) == expected


@pytest.mark.parametrize(
    ("made", "expected"), [(lambda: tf.add_n([rows(), deep()]), "ValueError: Inputs must have identical ragged splits")]
)
def test_public_functions_take_rows_or_are_refused(made, expected):
    assert refused(lambda: described(made())).startswith(expected)


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: (lambda x: slope(gather(x, [2, 0, 0]).flat_values, x.flat_values))(floats()), ["float32 [3]", [2.0, 2.0, 1.0]]),
        (lambda: (lambda x: slope(gather(x, [[2, 0], [1, 0]]).flat_values * 3, x.flat_values))(floats()), ["float32 [3]", [6.0, 6.0, 3.0]]),
        (lambda: (lambda x: slope(x.to_sparse().values ** 2, x.flat_values))(floats()), ["float32 [3]", [2.0, 6.0, 4.0]]),
        (lambda: (lambda x: slope(x.to_tensor() ** 2, x.flat_values))(floats()), ["float32 [3]", [2.0, 6.0, 4.0]]),
        (lambda: (lambda x: slope(tf.reduce_sum(x, 1) ** 2, x.flat_values))(floats()), ["float32 [3]", [8.0, 8.0, 4.0]]),
        (lambda: (lambda x: slope(tf.reduce_max(x, 0), x.flat_values))(floats()), ["float32 [3]", [0.0, 1.0, 1.0]]),
        (lambda: (lambda x: slope(x[:, 1:].flat_values, x.flat_values))(floats()), ["float32 [3]", [0.0, 1.0, 0.0]]),
        (lambda: (lambda x: slope((x * [[2.0], [3.0], [4.0]]).flat_values, x.flat_values))(floats()), ["float32 [3]", [2.0, 2.0, 4.0]]),
        (
            lambda: (lambda x: slope(x.to_sparse().values, x.flat_values))(R.constant([[[1.0, 2.0]], [[3.0, 4.0]]], ragged_rank=1)),
            ["float32 [2, 2]", [[1.0, 1.0], [1.0, 1.0]]],
        ),
    ],
)
def test_slopes_reach_the_values(made, expected):
    assert described(made()) == expected
