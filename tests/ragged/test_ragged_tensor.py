"""Ragged tensors: made, taken apart, sliced, reduced, fetched and fed."""

import numpy as np
import pytest

import everflow as tf
from everflow import nest


def run(tensor, feed_dict=None):
    with tf.Session() as session:
        found = session.run(tensor, feed_dict)
    return found.to_list() if hasattr(found, "to_list") else found


@pytest.mark.parametrize(
    "maker, partition",
    [
        ("from_row_splits", [0, 2, 2, 3]),
        ("from_row_lengths", [2, 0, 1]),
        ("from_row_starts", [0, 2, 2]),
        ("from_row_limits", [2, 2, 3]),
        ("from_value_rowids", [0, 0, 2]),
    ],
)
def test_the_same_rows_are_made_from_every_partition(maker, partition):
    rt = getattr(tf.RaggedTensor, maker)([7, 8, 9], partition)
    assert run(rt) == [[7, 8], [], [9]]
    assert run(rt.row_lengths()).tolist() == [2, 0, 1]
    assert run(rt.value_rowids()).tolist() == [0, 0, 2]
    assert rt.shape.as_list() == [3, None]


def test_rows_that_do_not_fit_the_values_are_refused():
    partition = tf.placeholder(tf.int64, [None])
    rt = tf.RaggedTensor.from_row_splits([1, 2, 3], partition)
    with pytest.raises(tf.errors.InvalidArgumentError, match="do not form a valid RaggedTensor"):
        run(rt, {partition: [0, 2]})


def test_nested_lists_become_nested_rows():
    rt = tf.ragged.constant([[[1], []], [[2, 3]]])
    assert rt.ragged_rank == 2
    assert run(rt) == [[[1], []], [[2, 3]]]
    assert run(rt.bounding_shape()).tolist() == [2, 2, 2]
    with pytest.raises(ValueError, match="same nesting depth"):
        tf.ragged.constant([[1], 2])


@pytest.mark.parametrize(
    "key, expected",
    [
        (0, [1, 2, 3]),
        (slice(1, None), [[], [4]]),
        (slice(None, None, 2), [[1, 2, 3], [4]]),
        ((slice(None), slice(0, 2)), [[1, 2], [], [4]]),
        # TensorFlow 1.15.5 has no values here: steps back end before they begin.
        ((slice(None), slice(None, None, -1)), [[3, 2, 1], [], [4]]),
        ((slice(None), slice(-1, None)), [[3], [], [4]]),
        ((0, 1), 2),
    ],
)
def test_parts_are_those_of_the_lists(key, expected):
    found = run(tf.ragged.constant([[1, 2, 3], [], [4]])[key])
    assert (found if isinstance(found, list) else found.tolist()) == expected


def test_there_is_no_index_into_a_ragged_dimension():
    with pytest.raises(ValueError, match="Cannot index into an inner ragged dimension"):
        tf.ragged.constant([[1, 2], [3]])[:, 0]


def test_dense_and_sparse_tensors_come_and_go():
    rt = tf.RaggedTensor.from_tensor([[1, 2, 0], [0, 3, 0]], padding=0)
    assert run(rt) == [[1, 2], [0, 3]]
    rt = tf.ragged.constant([["a"], [], ["b", "c"]])
    assert run(rt.to_tensor("-")).tolist() == [[b"a", b"-"], [b"-", b"-"], [b"b", b"c"]]
    assert run(tf.RaggedTensor.from_sparse(rt.to_sparse())) == [[b"a"], [], [b"b", b"c"]]


def test_a_ragged_placeholder_is_fed_with_a_value():
    rt = tf.ragged.placeholder(tf.int32, 1, [])
    assert run(rt, {rt: tf.ragged.constant_value([[5], [6, 7]], dtype=np.int32)}) == [[5], [6, 7]]


def test_it_is_a_composite_of_values_and_splits():
    rt = tf.ragged.constant([[1], [2, 3]])
    parts = nest.flatten(rt, expand_composites=True)
    assert len(parts) == 2
    again = nest.pack_sequence_as(rt, parts, expand_composites=True)
    assert run(again) == [[1], [2, 3]]
    assert tf.RaggedTensorSpec([2, None], tf.int32).is_compatible_with(rt)
    assert not tf.RaggedTensorSpec([3, None], tf.int32).is_compatible_with(rt)


def test_ranges_may_go_backwards_and_be_empty():
    assert run(tf.ragged.range([0, 5, 8], [3, 3, 8], [1, -1, 1])) == [[0, 1, 2], [5, 4], []]
    with pytest.raises(tf.errors.InvalidArgumentError, match="Requires delta != 0"):
        run(tf.ragged.range([0], [3], 0))


def test_variants_keep_the_rows():
    rt = tf.ragged.constant([[[1], []], [[2, 3]]])
    again = tf.RaggedTensor._from_variant(rt._to_variant(batched_input=True), tf.int32, 2, 1)
    assert run(again) == [[[1], []], [[2, 3]]]


@pytest.mark.parametrize(
    "made, expected",
    [
        (lambda rt: rt + 1, [[2, 3], [], [4]]),
        (lambda rt: 10 - rt, [[9, 8], [], [7]]),
        (lambda rt: rt * rt, [[1, 4], [], [9]]),
        (lambda rt: rt + [[10], [20], [30]], [[11, 12], [], [33]]),
        (lambda rt: tf.cast(rt, tf.bool), [[True, True], [], [True]]),
        (lambda rt: tf.concat([rt, rt], axis=1), [[1, 2, 1, 2], [], [3, 3]]),
        (lambda rt: tf.concat([rt, [[9]]], axis=0), [[1, 2], [], [3], [9]]),
        (lambda rt: tf.stack([rt, rt], axis=1), [[[1, 2], [1, 2]], [[], []], [[3], [3]]]),
        (lambda rt: tf.gather(rt, [2, 0]), [[3], [1, 2]]),
        (lambda rt: tf.tile(rt, [1, 2]), [[1, 2, 1, 2], [], [3, 3]]),
        (lambda rt: tf.expand_dims(rt, -1), [[[1], [2]], [], [[3]]]),
        (lambda rt: tf.ragged.boolean_mask(rt, rt > 1), [[2], [], [3]]),
        (lambda rt: tf.where([True, False, False], rt, rt + 5), [[1, 2], [], [8]]),
    ],
)
def test_public_functions_take_ragged_tensors(made, expected):
    assert run(made(tf.ragged.constant([[1, 2], [], [3]]))) == expected


def test_reductions_go_along_ragged_dimensions():
    rt = tf.ragged.constant([[1.0, 2.0], [], [3.0]])
    assert run(tf.reduce_sum(rt, axis=0)).tolist() == [4, 2]
    assert run(tf.reduce_sum(rt, axis=1)).tolist() == [3, 0, 3]
    assert run(tf.reduce_max(rt)) == 3
    (slope,) = tf.gradients(tf.reduce_sum(tf.gather(rt, [2, 0, 2]).flat_values ** 2), [rt.flat_values])
    assert run(tf.convert_to_tensor(slope)).tolist() == [2, 4, 12]


def test_tensors_that_are_cut_differently_are_not_broadcast():
    # TensorFlow 1.15.5 adds the values without a look at the rows.
    with pytest.raises(tf.errors.InvalidArgumentError, match="Unable to broadcast"):
        run(tf.ragged.constant([[1, 2], [3]]) + tf.ragged.constant([[1], [2, 3]]))


def test_public_functions_pass_the_name_on_to_ragged_tensors():
    x = tf.ragged.constant([[1.0, 2.0], [3.0]])
    assert tf.stack([x, x], name="pile").flat_values.op.name == "pile/concat"
    # The attempt with plain tensors has taken the name up.
    assert tf.concat([x, x], 0, name="chain").flat_values.op.name == "chain_1/concat"


def test_old_names_of_arguments_reach_ragged_tensors():
    x = tf.ragged.constant([[1.0, 2.0], [3.0]])
    assert run(tf.reduce_sum(x, reduction_indices=1)).tolist() == [3, 3]
    assert run(tf.expand_dims(x, axis=None, dim=0)) == [[[1, 2], [3]]]


def test_functions_that_take_no_ragged_tensors_refuse_them():
    x = tf.ragged.constant([[1.0, 2.0], [3.0]])
    for function in (tf.tanh, tf.math.bessel_i0e):
        with pytest.raises(TypeError, match="RaggedTensor"):
            function(x)
    with pytest.raises(TypeError, match="RaggedTensor"):
        tf.math.xlogy(x, x)
