"""Ragged tensors in functions, conversions, masks and partitions, by hand."""

import numpy as np
import pytest

import everflow as tf

R = tf.ragged


def run(tensor, feed_dict=None):
    with tf.Session() as session:
        found = session.run(tensor, feed_dict)
    return found.to_list() if hasattr(found, "to_list") else found.tolist() if hasattr(found, "tolist") else found


def rows():
    return R.constant([[3, 1], [], [2, 5, 4]])


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda rt: tf.reduce_sum(rt, 1), [4, 0, 11]),
        (lambda rt: tf.reduce_prod(rt, 1), [3, 1, 40]),
        (lambda rt: tf.reduce_min(rt[::2], 1), [1, 2]),
        (lambda rt: tf.reduce_max(rt[::2], 1), [3, 5]),
        (lambda rt: tf.reduce_mean(tf.cast(rt[::2], tf.float32), 1), [2.0, np.float32(11 / 3)]),
        (lambda rt: tf.reduce_any(rt > 2, 1), [True, False, True]),
        (lambda rt: tf.reduce_all(rt > 1, 1), [False, True, True]),
        (lambda rt: tf.reduce_sum(rt), 15),
        (lambda rt: tf.reduce_sum(rt, [0, 1]), 15),
        (lambda rt: tf.reduce_sum(rt, 0), [5, 6, 4]),
        (lambda rt: tf.reduce_mean(tf.cast(rt, tf.float64), 0), [2.5, 3.0, 4.0]),
        (lambda rt: rt.row_lengths(), [2, 0, 3]),
        (lambda rt: rt.row_starts(), [0, 2, 2]),
        (lambda rt: rt.row_limits(), [2, 2, 5]),
        (lambda rt: rt.value_rowids(), [0, 0, 2, 2, 2]),
        (lambda rt: rt.nrows(), 3),
        (lambda rt: rt.nrows(out_type=tf.int32), 3),
        (lambda rt: rt.bounding_shape(), [3, 3]),
        (lambda rt: rt.bounding_shape(axis=1), 3),
        (lambda rt: rt.values, [3, 1, 2, 5, 4]),
        (lambda rt: rt.flat_values, [3, 1, 2, 5, 4]),
        (lambda rt: rt.to_tensor(), [[3, 1, 0], [0, 0, 0], [2, 5, 4]]),
        (lambda rt: rt.to_tensor(-1), [[3, 1, -1], [-1, -1, -1], [2, 5, 4]]),
        (lambda rt: rt.with_values(rt.values * 2), [[6, 2], [], [4, 10, 8]]),
        (lambda rt: rt[2], [2, 5, 4]),
        (lambda rt: rt[-1], [2, 5, 4]),
        (lambda rt: rt[1:], [[], [2, 5, 4]]),
        (lambda rt: rt[:, 1:], [[1], [], [5, 4]]),
        (lambda rt: rt[:, :-1], [[3], [], [2, 5]]),
        (lambda rt: rt[:, ::2], [[3], [], [2, 4]]),
        (lambda rt: rt[2, 1], 5),
        (lambda rt: rt[:, tf.newaxis], [[[3, 1]], [[]], [[2, 5, 4]]]),
        (lambda rt: rt[tf.newaxis], [[[3, 1], [], [2, 5, 4]]]),
        (lambda rt: rt[..., 1:], [[1], [], [5, 4]]),
        (lambda rt: tf.gather(rt, [[2], [0]]), [[[2, 5, 4]], [[3, 1]]]),
        (lambda rt: tf.gather_nd(rt, [[0, 1], [2, 2]]), [1, 4]),
        (lambda rt: tf.batch_gather(rt, R.constant([[1, 0], [], [2]])), [[1, 3], [], [4]]),
        (lambda rt: tf.gather([10, 20, 30, 40, 50, 60], rt), [[40, 20], [], [30, 60, 50]]),
        (lambda rt: R.boolean_mask(rt, [True, False, True]), [[3, 1], [2, 5, 4]]),
        (lambda rt: R.boolean_mask([[1, 2], [3, 4]], [[True, False], [True, True]]), [[1], [3, 4]]),
        (lambda rt: R.boolean_mask([1, 2, 3], [True, False, True]), [1, 3]),
        (lambda rt: R.stack([rt, rt]), [[[3, 1], [], [2, 5, 4]]] * 2),
        (lambda rt: tf.concat([rt, rt[:, :1]], 1), [[3, 1, 3], [], [2, 5, 4, 2]]),
        (lambda rt: tf.concat([rt, rt], 0), [[3, 1], [], [2, 5, 4]] * 2),
        (lambda rt: tf.tile(rt, [2, 1]), [[3, 1], [], [2, 5, 4]] * 2),
        (lambda rt: tf.tile(rt, [1, 3])[0], [3, 1] * 3),
        (lambda rt: tf.expand_dims(rt, 0), [[[3, 1], [], [2, 5, 4]]]),
        (lambda rt: tf.expand_dims(rt, 1), [[[3, 1]], [[]], [[2, 5, 4]]]),
        (lambda rt: tf.expand_dims(rt, 2), [[[3], [1]], [], [[2], [5], [4]]]),
        (lambda rt: tf.where(rt > 2), [[0, 0], [2, 1], [2, 2]]),
        (lambda rt: tf.where(rt > 2, rt, -rt), [[3, -1], [], [-2, 5, 4]]),
        (lambda rt: tf.size(rt), 5),
        (lambda rt: tf.rank(rt), 2),
        (lambda rt: tf.abs(-rt), [[3, 1], [], [2, 5, 4]]),
        (lambda rt: -rt, [[-3, -1], [], [-2, -5, -4]]),
        (lambda rt: rt // 2, [[1, 0], [], [1, 2, 2]]),
        (lambda rt: rt % 2, [[1, 1], [], [0, 1, 0]]),
        (lambda rt: 12 / rt, [[4.0, 12.0], [], [6.0, 2.4, 3.0]]),
        (lambda rt: rt**2, [[9, 1], [], [4, 25, 16]]),
        (lambda rt: (rt > 1) & (rt < 5), [[True, False], [], [True, False, True]]),
        (lambda rt: ~(rt > 1), [[False, True], [], [False, False, False]]),
        (lambda rt: tf.add_n([rt, rt, rt]), [[9, 3], [], [6, 15, 12]]),
        (lambda rt: tf.maximum(rt, 3), [[3, 3], [], [3, 5, 4]]),
        (lambda rt: tf.clip_by_value(rt, 2, 4), [[3, 2], [], [2, 4, 4]]),
        (lambda rt: tf.as_string(rt), [[b"3", b"1"], [], [b"2", b"5", b"4"]]),
        (lambda rt: tf.strings.length(tf.as_string(rt * 50)), [[3, 2], [], [3, 3, 3]]),
        (lambda rt: tf.zeros_like(rt), [[0, 0], [], [0, 0, 0]]),
        (lambda rt: tf.ones_like(rt), [[1, 1], [], [1, 1, 1]]),
        (lambda rt: R.map_flat_values(tf.add, rt, 10), [[13, 11], [], [12, 15, 14]]),
        (lambda rt: R.map_flat_values(tf.multiply, rt, rt), [[9, 1], [], [4, 25, 16]]),
        (lambda rt: R.range([3, 0, 2]), [[0, 1, 2], [], [0, 1]]),
        (lambda rt: R.range([1, 5], 7, 2), [[1, 3, 5], [5]]),
        (lambda rt: R.range([0.5], [2.0]), [[0.5, 1.5]]),
        (lambda rt: R.row_splits_to_segment_ids([0, 2, 2, 5]), [0, 0, 2, 2, 2]),
        (lambda rt: R.segment_ids_to_row_splits([0, 0, 2]), [0, 2, 2, 3]),
        (lambda rt: R.segment_ids_to_row_splits([0, 2], 5), [0, 1, 1, 2, 2, 2]),
        (lambda rt: R.stack_dynamic_partitions(["a", "b", "c"], [1, 0, 1], 3), [[b"b"], [b"a", b"c"], []]),
        (lambda rt: tf.RaggedTensor.from_tensor([[1, 2], [3, 4]], lengths=[1, 2]), [[1], [3, 4]]),
        (lambda rt: tf.RaggedTensor.from_tensor([[1, 0, 0], [0, 2, 0]], padding=0), [[1], [0, 2]]),
        (lambda rt: tf.RaggedTensor.from_tensor([[[1], [2]]], ragged_rank=2), [[[1], [2]]]),
        (lambda rt: tf.RaggedTensor.from_value_rowids([1, 2], [0, 2], nrows=4), [[1], [], [2], []]),
        (lambda rt: tf.RaggedTensor.from_nested_row_splits([1, 2, 3], [[0, 2], [0, 1, 3]]), [[[1], [2, 3]]]),
        (lambda rt: tf.RaggedTensor.from_nested_row_lengths([1, 2, 3], [[2], [1, 2]]), [[[1], [2, 3]]]),
        (lambda rt: tf.RaggedTensor.from_nested_value_rowids([1, 2, 3], [[0, 0], [0, 1, 1]]), [[[1], [2, 3]]]),
        (lambda rt: tf.cast(rt, tf.float32), [[3.0, 1.0], [], [2.0, 5.0, 4.0]]),
        (lambda rt: tf.unsorted_segment_max(rt[::2], [1, 1], 2), [[], [3, 5, 4]]),
        (lambda rt: tf.unsorted_segment_sum(rt, [0, 0, 1], 2), [[3, 1], [2, 5, 4]]),
    ],
)
def test_values_are_those_of_lists(made, expected):
    assert run(made(rows())) == expected


def test_sparse_tensors_hold_the_places():
    sparse = run(rows().to_sparse())
    assert sparse.indices.tolist() == [[0, 0], [0, 1], [2, 0], [2, 1], [2, 2]]
    assert sparse.values.tolist() == [3, 1, 2, 5, 4]
    assert sparse.dense_shape.tolist() == [3, 3]
    with pytest.raises(tf.errors.InvalidArgumentError, match="not right-ragged"):
        run(tf.RaggedTensor.from_sparse(tf.SparseTensor([[0, 1]], [1], [1, 2])))


def test_static_facts():
    rt = R.constant([[[1], [2, 3]], []])
    assert rt.ragged_rank == 2
    assert rt.dtype == tf.int32
    assert rt.shape.as_list() == [2, None, None]
    assert [s.shape.as_list() for s in rt.nested_row_splits] == [[3], [3]]
    assert [run(n) for n in rt.nested_row_lengths()] == [[2, 0], [1, 2]]
    assert run(rt.values) == [[1], [2, 3]]
    assert R.constant([[[1, 2]], []], ragged_rank=1).shape.as_list() == [2, None, 2]
    assert R.constant([[1.0]], dtype=tf.float64).dtype == tf.float64
    assert R.constant([], ragged_rank=1).shape.as_list() == [0, None]
    assert R.constant([[1]], row_splits_dtype=tf.int32).row_splits.dtype == tf.int32
    assert "RaggedTensor" in str(rt)


def test_values_outside_of_graphs():
    value = R.constant_value([[1, 2], []], dtype=np.int64)
    assert isinstance(value, R.RaggedTensorValue)
    assert (value.dtype, value.shape, value.ragged_rank) == (np.int64, (2, None), 1)
    assert value.to_list() == [[1, 2], []]
    assert value.row_splits.tolist() == [0, 2, 2]
    assert R.constant_value([[[1]], []], inner_shape=(1,)).to_list() == [[[1]], []]
    assert R.constant_value([[5]], row_splits_dtype="int32").row_splits.dtype == np.int32


def test_placeholders_and_sessions_take_values():
    rt = R.placeholder(tf.string, 2, [])
    assert rt.shape.as_list() == [None, None, None]
    assert run(tf.identity(rt), {rt: R.constant_value([[["a"], []], []], ragged_rank=2)}) == [[[b"a"], []], []]
    inner = R.placeholder(tf.int32, 1, [2])
    assert inner.flat_values.shape.as_list() == [None, 2]


def test_specs_describe_and_compare():
    spec = tf.RaggedTensorSpec([None, None, 2], tf.int32, ragged_rank=1)
    rt = tf.RaggedTensor.from_row_lengths([[1, 2], [3, 4]], [1, 1])
    assert spec.is_compatible_with(rt)
    assert not spec.is_compatible_with(rows())
    assert spec.value_type is tf.RaggedTensor
    assert spec == tf.RaggedTensorSpec([None, None, 2], tf.int32, 1)
    assert spec != tf.RaggedTensorSpec([None, None, 2], tf.int64, 1)
    assert hash(spec) == hash(tf.RaggedTensorSpec([None, None, 2], tf.int32, 1))
    again = spec._from_components(spec._to_components(rt))
    assert run(again) == [[[1, 2]], [[3, 4]]]
    assert spec._batch(4)._shape.as_list() == [4, None, None, 2]
    assert tf.RaggedTensorSpec([3, None, None], tf.int32, 2)._unbatch()._shape.as_list() == [None, None]


def test_datasets_hold_rows():
    batched = tf.data.Dataset.from_tensor_slices(rows()).batch(2)
    following = tf.data.make_one_shot_iterator(batched).get_next()
    with tf.Session() as session:
        assert session.run(following).to_list() == [[3, 1], []]
        assert session.run(following).to_list() == [[2, 5, 4]]


@pytest.mark.parametrize(
    ("made", "error", "message"),
    [
        (lambda: tf.RaggedTensor.from_row_splits([1], [[0, 1]]), ValueError, "must have rank 1"),
        (lambda: tf.RaggedTensor.from_row_splits([1], [0.0, 1.0]), ValueError, "int32 or int64"),
        (lambda: R.constant([1], ragged_rank=1), ValueError, "ragged_rank"),
        (lambda: R.constant([[1], [[2]]]), ValueError, "same nesting depth"),
        (lambda: R.constant(3, ragged_rank=1), ValueError, "Invalid pylist"),
        (lambda: tf.RaggedTensor.from_tensor([1, 2]), ValueError, "rank"),
        (lambda: tf.RaggedTensor.from_tensor([[1]], lengths=[1], padding=0), ValueError, "lengths or padding"),
        (lambda: R.boolean_mask([1], 1 > 0), (ValueError, TypeError), "scalar|rank|bool"),
        (lambda: tf.expand_dims(rows(), 5), ValueError, "axis"),
        (lambda: rows().with_values(tf.constant([1, 2, 3])), ValueError, "incompatible|not compatible"),
        (lambda: R.stack([[1, 2], [3]]), ValueError, "must be equal, but are 2 and 1"),
        (lambda: bool(rows()), TypeError, "may not be used as a boolean"),
    ],
)
def test_mistakes_are_named(made, error, message):
    with pytest.raises(error, match=message):
        made()
