"""The ops of ragged tensors by themselves: what they refuse, and what is known before a run."""

import numpy as np
import pytest
from plain import computed, described, plain, refused
from rows import RT, R, deep, rows, unsized, words

import everflow as tf

raw = tf.raw_ops


@pytest.mark.parametrize(
    ("splits", "message"),
    [
        ([[]], "ragged splits may not be empty."),
        ([[1, 3]], "First value of ragged splits must be 0."),
        ([[0, 2, 1, 3]], "Ragged splits should be non decreasing"),
        ([[0, 2]], "Final value of ragged splits must match the length"),
        ([[0, 1], [0, 1, 3]], "Final value of ragged splits must match the length"),
    ],
)
def test_splits_of_sparse_tensors_must_cut_the_values(splits, message):
    made = raw.RaggedTensorToSparse(rt_nested_splits=[unsized(np.array(s, np.int64)) for s in splits], rt_dense_values=[1, 2, 3])
    assert message in refused(lambda: computed(made.sparse_values))


def test_gathered_rows_have_as_many_splits_as_the_indices_ask_for():
    gather = lambda rank: raw.RaggedGather(
        params_nested_splits=[[0, 1, 2], [0, 2, 5]], params_dense_values=[3, 1, 2, 5, 4], indices=[1, 0], OUTPUT_RAGGED_RANK=rank
    )
    made = gather(2)
    assert computed(made.output_nested_splits) == [[0, 1, 2], [0, 3, 5]]
    assert computed(made.output_dense_values) == [2, 5, 4, 3, 1]
    assert "OUTPUT_RAGGED_RANK must be equal to" in refused(lambda: gather(1))


def test_places_of_numbers_outside_are_named():
    for indices, message in [([[0, 1], [3, 0]], "indices[1,0] = 3 is not in [0, 3)"), (-1, "indices = -1 is not in [0, 3)")]:
        assert message in refused(lambda indices=indices: computed(tf.gather(rows(), unsized(indices))))


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: RT._from_variant(words()._to_variant(), tf.string, 1), [[b"a", b"b"], [], [b"c", b"d", b"e"]]),
        (lambda: RT._from_variant(words()._to_variant(batched_input=True), tf.string, 1), [[b"a", b"b"], [], [b"c", b"d", b"e"]]),
        (lambda: RT._from_variant(words()[:0]._to_variant(batched_input=True), tf.string, 1), []),
        (lambda: RT._from_variant(rows()[:0]._to_variant(batched_input=True), tf.int32, 1), []),
        (lambda: RT._from_variant(tf.reshape(rows()._to_variant(batched_input=True), [3, 1]), tf.int32, 2), [[[3, 1]], [[]], [[2, 5, 4]]]),
        (lambda: RT._from_variant(deep()._to_variant(batched_input=True)[2:], tf.int32, 2), [[[], [4, 5, 6]]]),
        (lambda: RT._from_variant(deep()._to_variant(batched_input=True)[2], tf.int32, 1), [[], [4, 5, 6]]),
    ],
)
def test_variants_hold_rows(made, expected):
    assert computed(made()) == expected


def test_variants_must_be_as_deep_as_is_asked_for():
    rows_of_rows = deep()._to_variant(batched_input=True)
    message = "Encoded input RaggedTensorVariant has ragged_rank=1.  Expected ragged_rank=2."
    assert message in refused(lambda: computed(RT._from_variant(rows_of_rows, tf.int32, 3)))
    assert message in refused(lambda: computed(RT._from_variant(rows_of_rows[0], tf.int32, 2)))
    assert "output_ragged_rank must be equal to input_ragged_rank" in refused(
        lambda: raw.RaggedTensorFromVariant(
            encoded_ragged=rows_of_rows, input_ragged_rank=0, output_ragged_rank=2, Tvalues=tf.int32, Tsplits=tf.int64
        )
    )


def test_slices_with_negative_steps_turn_rows_round():
    # TensorFlow 1.15.5 gives empty rows.
    values = [[3, 1], [], [2, 5, 4]]
    for key in (
        slice(None, None, -1),
        slice(1, None, -1),
        slice(None, 0, -1),
        slice(-2, None, -1),
        slice(None, -3, -1),
        slice(None, None, -2),
    ):
        assert computed(rows()[:, key]) == [row[key] for row in values]
    assert described(deep()[:, ::-1, ::-1]) == ["int32 [3, None, None]", [[[3], [2, 1]], [], [[6, 5, 4], []]]]


@pytest.mark.usefixtures("eager")
def test_values_are_at_hand_in_eager_mode():
    assert rows().to_list() == [[3, 1], [], [2, 5, 4]]
    assert str(deep()) == "<tf.RaggedTensor [[[1, 2], [3]], [], [[], [4, 5, 6]]]>"
    assert (rows() * 2)[:, 1:].to_list() == [[2], [], [10, 8]]
    assert tf.reduce_sum(deep(), 2).to_list() == [[3, 3], [], [0, 15]]
    assert R.boolean_mask(rows(), rows() > 2).to_list() == [[3], [], [5, 4]]
    assert plain(rows().to_tensor().numpy()) == [[3, 1, 0], [0, 0, 0], [2, 5, 4]]
    with pytest.raises(tf.errors.InvalidArgumentError, match="Arguments to from_row_splits do not form a valid RaggedTensor"):
        RT.from_row_splits([1, 2], [0, 3])


def to_dense(shape, values, default, parts, types):
    parts = [np.array(p, np.int64) for p in parts]
    shape = np.array(shape, np.int64)
    return raw.RaggedTensorToTensor(
        shape=shape, values=values, default_value=default, row_partition_tensors=parts, row_partition_types=types
    )


SPLITS = ["ROW_SPLITS"]
ROWIDS = ["FIRST_DIM_SIZE", "VALUE_ROWIDS"]
VALUES = [1.0, 2.0, 3.0, 4.0]


@pytest.mark.parametrize(
    ("shape", "values", "default", "parts", "types", "expected"),
    [
        (-1, VALUES, 0.0, [[0, 1, 4]], SPLITS, [[1, 0, 0], [2, 3, 4]]),
        ([2, 2], VALUES, 9.0, [3, [0, 1, 1, 2]], ROWIDS, [[1, 9], [2, 3]]),
        ([4, -1], VALUES, 9.0, [3, [0, 1, 1, 2]], ROWIDS, [[1, 9], [2, 3], [4, 9], [9, 9]]),
        ([-1] * 3, VALUES, 9.0, [[0, 1, 3], [0, 1, 2, 4]], SPLITS * 2, [[[1, 9], [9, 9]], [[2, 9], [3, 4]]]),
        ([1, 3, 1], VALUES, 9.0, [2, [0, 1, 1], [0, 1, 2, 4]], [*ROWIDS, *SPLITS], [[[1], [9], [9]]]),
        ([-1, -1, 2], [[1.0, 2.0], [3.0, 4.0]], [7.0, 8.0], [[0, 2, 2]], SPLITS, [[[1, 2], [3, 4]], [[7, 8], [7, 8]]]),
        (-1, ["a", "bc"], "", [[0, 0, 2]], SPLITS, [[b"", b""], [b"a", b"bc"]]),
        ([0, 0], VALUES, 9.0, [[0, 1, 4]], SPLITS, []),
    ],
)
def test_rows_are_filled_up_and_cut_off_to_a_shape(shape, values, default, parts, types, expected):
    assert computed(to_dense(shape, values, default, parts, types)) == expected


def test_the_shape_of_dense_rows_is_known_as_far_as_it_is_asked_for():
    assert to_dense([2, -1], VALUES, 0.0, [[0, 1, 4]], SPLITS).shape.as_list() == [2, None]
    assert to_dense(-1, [[1.0, 2.0]], 0.0, [[0, 1]], SPLITS).shape.as_list() == [None, None, 2]


@pytest.mark.parametrize(
    ("shape", "default", "parts", "types", "message"),
    [
        ([-1], 0.0, [[0, 1, 4]], SPLITS, "ValueError: Value shape (dim {"),
        (3, 0.0, [[0, 1, 4]], SPLITS, "shape scalar with a static value that is not '-1'"),
        ([-3, 1], 0.0, [[0, 1, 4]], SPLITS, "Invalid value in tensor used for shape: -3"),
        (-1, 0.0, [[0, 1, 4]], ["ROW_SPLIT"], "Unknown string for partition info type: ROW_SPLIT"),
        (-1, 0.0, [[0, 1, 4]], ["ROW_STARTS"], "Unsupported partition type: ROW_STARTS"),
        (-1, 0.0, [[0, 1, 4]], ["VALUE_ROWIDS"], "VALUE_ROWIDS cannot be first"),
        (-1, 0.0, [3], ["FIRST_DIM_SIZE"], "FIRST_DIM_SIZE must be followed by VALUE_ROWIDS"),
        (-1, 0.0, [[0, 1, 4]], SPLITS * 2, "Number of row partition tensors (1) does not equal"),
        (-1, 0.0, [[0, 1, 7]], SPLITS, "Values and indices must be equal"),
        (-1, 0.0, [[0, 3, 2, 4]], SPLITS, "Values and indices must be equal"),
        (-1, 0.0, [3, [0, 2, 1, 0]], ROWIDS, "value_rowids must rise"),
    ],
)
def test_rows_that_no_dense_tensor_can_hold(shape, default, parts, types, message):
    assert message in refused(lambda: computed(to_dense(shape, VALUES, default, parts, types)))


def test_gradients_of_dense_rows_leave_out_what_was_cut_off():
    values, default = tf.constant([[1.0], [2.0], [3.0], [4.0]]), tf.constant([5.0])
    dense = to_dense([3, 2, -1], values, default, [[0, 1, 4]], SPLITS)
    assert computed(tf.gradients(dense * dense, [values, default])) == [[[2], [4], [6], [0]], [30]]
