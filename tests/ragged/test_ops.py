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
