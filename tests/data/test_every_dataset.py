"""Every dataset: its elements, what is known of them, and reading on from where it was saved; values are those of TensorFlow 1.15.5."""

import numpy as np
import pytest
from pipelines import elements, goes_on, shapes, size, types
from plain import computed

import everflow as tf

D, E, C = tf.data.Dataset, tf.data.experimental, tf.contrib.data


def rows(*lengths):
    return D.from_tensor_slices(list(lengths)).map(lambda n: tf.range(n))


def broken():
    return D.from_tensor_slices([1.0, 0.0, 2.0, 4.0]).map(lambda x: tf.check_numerics(1.0 / x, "bad"))


def pairs():
    return D.from_tensor_slices({"a": [1, 2, 3, 4, 5], "b": [[1.0], [2.0], [3.0], [4.0], [5.0]]})


def spread(x):
    return D.from_tensors(x).repeat(3)


def choices(*numbers):
    return D.from_tensor_slices(np.array(numbers, np.int64))


def reducer():
    return E.Reducer(
        lambda k: (np.int64(0), np.int64(0)),
        lambda s, x: (s[0] + x, s[1] + 1),
        lambda s, n: tf.cast(s, tf.float32) / tf.cast(n, tf.float32),
    )


PIPELINES = [
    (lambda: D.range(4), [0, 1, 2, 3]),
    (lambda: D.range(2, 9, 3), [2, 5, 8]),
    (lambda: D.range(5, 0, -2), [5, 3, 1]),
    (lambda: D.range(3, 3), []),
    (lambda: D.from_tensors(([1, 2], "a")), [[[1, 2], b"a"]]),
    (lambda: D.from_tensor_slices(([1, 2, 3], ["a", "b", "c"])), [[1, b"a"], [2, b"b"], [3, b"c"]]),
    (lambda: pairs(), [{"a": 1, "b": [1.0]}, {"a": 2, "b": [2.0]}, {"a": 3, "b": [3.0]}, {"a": 4, "b": [4.0]}, {"a": 5, "b": [5.0]}]),
    (lambda: D.zip((D.range(3), D.range(4, 6))), [[0, 4], [1, 5]]),
    (lambda: D.zip((D.range(3), (D.range(3), D.range(5, 8)))), [[0, [0, 5]], [1, [1, 6]], [2, [2, 7]]]),
    (lambda: D.zip({"x": D.range(2), "y": pairs()}), [{"x": 0, "y": {"a": 1, "b": [1.0]}}, {"x": 1, "y": {"a": 2, "b": [2.0]}}]),
    (lambda: D.range(3).concatenate(D.range(7, 9)), [0, 1, 2, 7, 8]),
    (lambda: D.range(0).concatenate(D.range(7, 9)), [7, 8]),
    (lambda: D.range(2).repeat(3), [0, 1, 0, 1, 0, 1]),
    (lambda: D.range(2).repeat().take(5), [0, 1, 0, 1, 0]),
    (lambda: D.range(0).repeat(3), []),
    (lambda: D.range(6).skip(2), [2, 3, 4, 5]),
    (lambda: D.range(3).skip(5), []),
    (lambda: D.range(6).take(4), [0, 1, 2, 3]),
    (lambda: D.range(3).take(9), [0, 1, 2]),
    (lambda: D.range(6).take(4).skip(1).repeat(2), [1, 2, 3, 1, 2, 3]),
    (lambda: D.range(10).shard(3, 0), [0, 3, 6, 9]),
    (lambda: D.range(10).shard(3, 2), [2, 5, 8]),
    (lambda: D.range(6).map(lambda x: x * x), [0, 1, 4, 9, 16, 25]),
    (lambda: D.range(6).map(lambda x: x * x, num_parallel_calls=3), [0, 1, 4, 9, 16, 25]),
    (lambda: pairs().map(lambda e: (e["b"], e["a"])), [[[1.0], 1], [[2.0], 2], [[3.0], 3], [[4.0], 4], [[5.0], 5]]),
    (lambda: D.range(9).filter(lambda x: x % 3 > 0), [1, 2, 4, 5, 7, 8]),
    (lambda: D.range(9).filter(lambda x: x > 100), []),
    (lambda: D.range(5).flat_map(lambda x: D.range(x)), [0, 0, 1, 0, 1, 2, 0, 1, 2, 3]),
    (lambda: D.range(4).flat_map(lambda x: D.range(x).map(lambda y: x * 10 + y)), [10, 20, 21, 30, 31, 32]),
    (lambda: D.range(4).interleave(spread, cycle_length=2), [0, 1, 0, 1, 0, 1, 2, 3, 2, 3, 2, 3]),
    (lambda: D.range(4).interleave(spread, cycle_length=2, block_length=2), [0, 0, 1, 1, 0, 1, 2, 2, 3, 3, 2, 3]),
    (lambda: D.range(4).interleave(spread, cycle_length=3, block_length=4), [0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3]),
    (lambda: D.range(4).interleave(spread, cycle_length=9), [0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3]),
    (lambda: D.range(4).interleave(lambda x: D.range(x), cycle_length=2), [0, 0, 1, 0, 1, 2]),
    (lambda: D.range(4).interleave(spread, cycle_length=2, block_length=2, num_parallel_calls=2), [0, 0, 1, 1, 0, 1, 2, 2, 3, 3, 2, 3]),
    (lambda: D.range(5).interleave(lambda x: D.range(x), cycle_length=3, num_parallel_calls=3), [0, 0, 0, 1, 1, 0, 2, 1, 2, 3]),
    (lambda: D.range(7).batch(3), [[0, 1, 2], [3, 4, 5], [6]]),
    (lambda: D.range(7).batch(3, drop_remainder=True), [[0, 1, 2], [3, 4, 5]]),
    (lambda: D.range(6).batch(3).repeat(2), [[0, 1, 2], [3, 4, 5], [0, 1, 2], [3, 4, 5]]),
    (lambda: D.range(2).batch(5), [[0, 1]]),
    (lambda: D.range(0).batch(5), []),
    (lambda: pairs().batch(2), [{"a": [1, 2], "b": [[1.0], [2.0]]}, {"a": [3, 4], "b": [[3.0], [4.0]]}, {"a": [5], "b": [[5.0]]}]),
    (lambda: rows(1, 3, 2).padded_batch(2, [None]), [[[0, 0, 0], [0, 1, 2]], [[0, 1]]]),
    (lambda: rows(1, 3, 2).padded_batch(2, [4], padding_values=-1), [[[0, -1, -1, -1], [0, 1, 2, -1]], [[0, 1, -1, -1]]]),
    (lambda: rows(1, 3, 2).padded_batch(2, [None], drop_remainder=True), [[[0, 0, 0], [0, 1, 2]]]),
    (
        lambda: D.zip((rows(1, 2), D.from_tensor_slices(["a", "b"]))).padded_batch(2, ([3], []), (7, "")),
        [[[[0, 7, 7], [0, 1, 7]], [b"a", b"b"]]],
    ),
    (lambda: rows(1, 2).map(lambda r: tf.as_string(r)).padded_batch(2, [None], "-"), [[[b"0", b"-"], [b"0", b"1"]]]),
    (
        lambda: rows(1, 2).map(lambda r: tf.ones([r[-1] + 1, 2])).padded_batch(2, [None, 3]),
        [[[[1.0, 1.0, 0.0], [0.0, 0.0, 0.0]], [[1.0, 1.0, 0.0], [1.0, 1.0, 0.0]]]],
    ),
    (lambda: D.range(5).prefetch(2), [0, 1, 2, 3, 4]),
    (lambda: D.range(5).prefetch(0), [0, 1, 2, 3, 4]),
    (lambda: D.range(4).cache(), [0, 1, 2, 3]),
    (lambda: D.range(4).cache().repeat(2), [0, 1, 2, 3, 0, 1, 2, 3]),
    (lambda: D.range(4).map(lambda x: x + 1).cache().skip(1), [2, 3, 4]),
    (lambda: D.range(7).window(3).flat_map(lambda w: w.batch(3)), [[0, 1, 2], [3, 4, 5], [6]]),
    (lambda: D.range(7).window(3, drop_remainder=True).flat_map(lambda w: w.batch(3)), [[0, 1, 2], [3, 4, 5]]),
    (lambda: D.range(7).window(2, shift=3).flat_map(lambda w: w.batch(3)), [[0, 1], [3, 4], [6]]),
    (
        lambda: D.range(7).window(3, shift=1, stride=2).flat_map(lambda w: w.batch(3)),
        [[0, 2, 4], [1, 3, 5], [2, 4, 6], [3, 5], [4, 6], [5], [6]],
    ),
    (lambda: D.range(7).window(3, shift=2, stride=2, drop_remainder=True).flat_map(lambda w: w.batch(3)), [[0, 2, 4], [2, 4, 6]]),
    (
        lambda: pairs().window(2).flat_map(lambda w: D.zip((w["a"].batch(2), w["b"].batch(2)))),
        [[[1, 2], [[1.0], [2.0]]], [[3, 4], [[3.0], [4.0]]], [[5], [[5.0]]]],
    ),
    (lambda: D.range(3).shuffle(1).repeat(2), [0, 1, 2, 0, 1, 2]),
    (lambda: D.range(12).shuffle(4, seed=3), [0, 3, 2, 1, 4, 7, 6, 9, 8, 5, 10, 11]),
    (lambda: D.range(6).shuffle(6, seed=3).repeat(3), [5, 4, 2, 0, 3, 1, 2, 3, 1, 5, 4, 0, 4, 5, 1, 3, 2, 0]),
    (lambda: D.range(6).shuffle(6, seed=3, reshuffle_each_iteration=False).repeat(2), [5, 4, 2, 0, 3, 1, 5, 4, 2, 0, 3, 1]),
    (lambda: D.range(6).apply(E.shuffle_and_repeat(4, 2, seed=5)), [3, 4, 2, 5, 1, 0, 1, 2, 0, 3, 5, 4]),
    (lambda: D.range(6).apply(E.shuffle_and_repeat(4, seed=5)).take(9), [3, 4, 2, 5, 1, 0, 1, 2, 0]),
    (lambda: D.range(6).batch(4).apply(E.unbatch()), [0, 1, 2, 3, 4, 5]),
    (
        lambda: pairs().batch(2).apply(E.unbatch()),
        [{"a": 1, "b": [1.0]}, {"a": 2, "b": [2.0]}, {"a": 3, "b": [3.0]}, {"a": 4, "b": [4.0]}, {"a": 5, "b": [5.0]}],
    ),
    (lambda: D.from_tensor_slices([["a", "b"], ["c", "d"]]).apply(E.unbatch()), [b"a", b"b", b"c", b"d"]),
    (lambda: D.range(3).apply(E.enumerate_dataset(7)), [[7, 0], [8, 1], [9, 2]]),
    (lambda: D.range(6).apply(E.scan(np.int64(1), lambda s, x: (s * 2, s + x))), [1, 3, 6, 11, 20, 37]),
    (lambda: D.range(4).apply(E.scan((np.int64(0), "a"), lambda s, x: ((s[0] + x, s[1] + "b"), s[1]))), [b"a", b"ab", b"abb", b"abbb"]),
    (lambda: D.range(9).apply(E.take_while(lambda x: x * x < 20)), [0, 1, 2, 3, 4]),
    (lambda: D.from_tensor_slices(["b", "a", "b", "c", "a"]).apply(E.unique()), [b"b", b"a", b"c"]),
    (lambda: D.from_tensor_slices([3, 1, 3, 2]).apply(E.unique()), [3, 1, 2]),
    (lambda: D.range(7).apply(E.map_and_batch(lambda x: x * 2, 3)), [[0, 2, 4], [6, 8, 10], [12]]),
    (
        lambda: D.range(7).apply(E.map_and_batch(lambda x: (x, x * 2), 3, num_parallel_calls=2, drop_remainder=True)),
        [[[0, 1, 2], [0, 2, 4]], [[3, 4, 5], [6, 8, 10]]],
    ),
    (lambda: D.range(7).apply(E.map_and_batch(lambda x: x * 2, 2, num_parallel_batches=2)), [[0, 2], [4, 6], [8, 10], [12]]),
    (
        lambda: D.range(8).apply(E.group_by_window(lambda x: x % 3, lambda k, w: w.batch(2), window_size=2)),
        [[0, 3], [1, 4], [2, 5], [6], [7]],
    ),
    (
        lambda: D.range(8).apply(
            E.group_by_window(lambda x: x % 2, lambda k, w: w.map(lambda x: x + k * 100).batch(9), window_size_func=lambda k: k + 2)
        ),
        [[0, 2], [101, 103, 105], [4, 6], [107]],
    ),
    (lambda: D.range(8).apply(E.group_by_reducer(lambda x: x % 3, reducer())), [3.0, 4.0, 3.5]),
    (
        lambda: rows(1, 5, 2, 7, 6, 3).apply(E.bucket_by_sequence_length(tf.size, [3, 6], [2, 2, 2])),
        [[[0, 0], [0, 1]], [[0, 1, 2, 3, 4, 5, 6], [0, 1, 2, 3, 4, 5, 0]], [[0, 1, 2, 3, 4], [0, 1, 2, 0, 0]]],
    ),
    (
        lambda: rows(1, 5, 2, 7, 6, 3).apply(E.bucket_by_sequence_length(tf.size, [4], [2, 2], padded_shapes=[9], padding_values=-1)),
        [
            [[0, -1, -1, -1, -1, -1, -1, -1, -1], [0, 1, -1, -1, -1, -1, -1, -1, -1]],
            [[0, 1, 2, 3, 4, -1, -1, -1, -1], [0, 1, 2, 3, 4, 5, 6, -1, -1]],
            [[0, 1, 2, -1, -1, -1, -1, -1, -1]],
            [[0, 1, 2, 3, 4, 5, -1, -1, -1]],
        ],
    ),
    (
        lambda: rows(1, 3, 2, 3).apply(E.bucket_by_sequence_length(tf.size, [4], [2, 2], pad_to_bucket_boundary=True)),
        [[[0, 0, 0], [0, 1, 2]], [[0, 1, 0], [0, 1, 2]]],
    ),
    (lambda: rows(2, 2, 1, 1).apply(E.bucket_by_sequence_length(tf.size, [2], [2, 2], no_padding=True)), [[[0, 1], [0, 1]], [[0], [0]]]),
    (lambda: rows(2, 2, 1, 2).apply(E.bucket_by_sequence_length(tf.size, [2], [2, 2], drop_remainder=True)), [[[0, 1], [0, 1]]]),
    (
        lambda: rows(1, 3).apply(E.dense_to_sparse_batch(2, [4])),
        [{"indices": [[0, 0], [1, 0], [1, 1], [1, 2]], "values": [0, 0, 1, 2], "dense_shape": [2, 4]}],
    ),
    (lambda: E.choose_from_datasets([D.range(3), D.range(10, 13)], choices(1, 0, 1, 1, 1, 0)), [10, 0, 11, 12, 1]),
    (lambda: E.choose_from_datasets([D.range(1), D.range(10, 13)], choices(0, 0, 1)), [0, 10]),
    (lambda: E.sample_from_datasets([D.range(0, 5), D.range(10, 15)], seed=4), [0, 10, 1, 2, 11, 12, 13, 3, 14, 4]),
    (lambda: E.sample_from_datasets([D.range(0, 5), D.range(10, 15)], [0.2, 0.8], seed=4), [10, 11, 0, 12, 13, 14, 1, 2, 3, 4]),
    (
        lambda: E.sample_from_datasets([D.range(0, 3), D.range(10, 15)], D.from_tensor_slices([[0.0, 1.0], [1.0, 0.0]]).repeat(), seed=4),
        [10, 0, 11, 1, 12, 2, 13, 14],
    ),
    (lambda: E.Counter(5, -2).take(3), [5, 3, 1]),
    (lambda: E.Counter(dtype=tf.int32).take(3), [0, 1, 2]),
    (lambda: E.RandomDataset(seed=3).take(3), [3534849767, 279844183, 888998500]),
    (lambda: D.range(4).apply(E.parallel_interleave(spread, 2)), [0, 1, 0, 1, 0, 1, 2, 3, 2, 3, 2, 3]),
    (lambda: D.range(4).apply(E.parallel_interleave(spread, 2, block_length=2)), [0, 0, 1, 1, 0, 1, 2, 2, 3, 3, 2, 3]),
    (
        lambda: D.range(4).apply(E.parallel_interleave(spread, 2, prefetch_input_elements=2, buffer_output_elements=2)),
        [0, 1, 0, 1, 0, 1, 2, 3, 2, 3, 2, 3],
    ),
    (lambda: broken(), [1.0, "InvalidArgumentError", 0.5, 0.25]),
    (lambda: broken().apply(E.ignore_errors()), [1.0, 0.5, 0.25]),
    (lambda: broken().map(lambda x: x * 2), [2.0, "InvalidArgumentError", 1.0, 0.5]),
    (lambda: broken().batch(2), ["InvalidArgumentError", [0.5, 0.25]]),
    (lambda: D.range(4).apply(C.sliding_window_batch(2)), [[0, 1], [1, 2], [2, 3]]),
    (lambda: D.range(9).apply(C.sliding_window_batch(3, window_shift=2, window_stride=2)), [[0, 2, 4], [2, 4, 6], [4, 6, 8]]),
    (lambda: D.range(5).apply(C.batch_and_drop_remainder(2)), [[0, 1], [2, 3]]),
    (lambda: rows(1, 2, 3).apply(C.padded_batch_and_drop_remainder(2, [None])), [[[0, 0], [0, 1]]]),
    (lambda: D.range(2).apply(C.assert_element_shape([])), [0, 1]),
    (lambda: rows(2, 3).apply(C.assert_element_shape([2])), [[0, 1], "InvalidArgumentError"]),
    (
        lambda: D.range(3).map(lambda x: tf.SparseTensor([[x]], [x], [4])).batch(2),
        [
            {"indices": [[0, 0], [1, 1]], "values": [0, 1], "dense_shape": [2, 4]},
            {"indices": [[0, 2]], "values": [2], "dense_shape": [1, 4]},
        ],
    ),
    (
        lambda: D.from_tensor_slices(tf.SparseTensor([[0, 1], [2, 0]], [5, 6], [3, 2])),
        [
            {"indices": [[1]], "values": [5], "dense_shape": [2]},
            {"indices": [], "values": [], "dense_shape": [2]},
            {"indices": [[0]], "values": [6], "dense_shape": [2]},
        ],
    ),
    (
        lambda: D.from_sparse_tensor_slices(tf.SparseTensor([[0, 1], [2, 0]], [5, 6], [3, 2])),
        [[[[1]], [5], [2]], [[], [], [2]], [[[0]], [6], [2]]],
    ),
    (lambda: D.from_generator(lambda: ([i] * i for i in range(3)), tf.int64, [None]), [[], [1], [2, 2]]),
    (lambda: D.from_generator(lambda: iter("ab"), tf.string).repeat(2), [b"a", b"b", b"a", b"b"]),
    (lambda: D.from_generator(lambda n, m: iter(range(n, m)), tf.int32, [], args=(2, 4)), [2, 3]),
    (lambda: D.range(3).map(lambda x: tf.py_func(lambda v: v + 1, [x], tf.int64)), [1, 2, 3]),
    (
        lambda: D.range(6).apply(E.rejection_resample(lambda x: tf.cast(x % 2, tf.int32), [0.0, 1.0], [0.5, 0.5], seed=1)),
        [[1, 1], [1, 3], [1, 5]],
    ),
    (lambda: D.range(5).apply(E.copy_to_device("/cpu:0")), [0, 1, 2, 3, 4]),
    (lambda: D.range(5).apply(E.prefetch_to_device("/cpu:0")), [0, 1, 2, 3, 4]),
]


@pytest.mark.parametrize(("made", "expected"), PIPELINES)
def test_elements_come_in_order(made, expected):
    assert elements(made()) == expected


@pytest.mark.parametrize(("made", "expected"), PIPELINES)
def test_reading_goes_on_where_it_was_saved(made, expected):
    assert goes_on(made(), expected)


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: shapes(D.range(3).batch(2)), [None]),
        (lambda: shapes(D.range(3).batch(2, drop_remainder=True)), [2]),
        (lambda: shapes(D.from_tensor_slices(np.zeros((6, 2))).batch(2, True).batch(3, True)), [3, 2, 2]),
        (lambda: shapes(rows(1, 2).padded_batch(2, [None])), [None, None]),
        (lambda: shapes(rows(1, 2).padded_batch(2, [5], drop_remainder=True)), [2, 5]),
        (lambda: shapes(D.from_tensors((1, [2, 3]))), [[], [2]]),
        (lambda: shapes(D.from_tensors([1, 2]).concatenate(D.from_tensors([1, 2, 3]))), [None]),
        (lambda: shapes(D.range(3).apply(E.map_and_batch(lambda x: [x, x], 2))), [[None], [None]]),
        (lambda: shapes(D.range(3).apply(E.map_and_batch(lambda x: [x, x], 2, drop_remainder=True))), [[2], [2]]),
        (lambda: shapes(D.from_tensors([[1, 2]]).apply(E.unbatch())), [2]),
        (lambda: shapes(D.range(4).apply(C.sliding_window_batch(2))), [None]),
        (lambda: shapes(D.from_generator(lambda: iter([1]), tf.int32)), None),
        (lambda: shapes(D.from_generator(lambda: iter([1]), (tf.int32, tf.int32), ([], [None]))), [[], [None]]),
        (lambda: shapes(rows(1).apply(E.dense_to_sparse_batch(2, [4]))), [None, 4]),
        (lambda: shapes(rows(2, 3).apply(C.assert_element_shape([2]))), [2]),
        (lambda: types(pairs()), {"a": "int32", "b": "float32"}),
        (lambda: types(D.from_tensors((1, (2.0, "a")))), ["int32", ["float32", "string"]]),
        (lambda: types(E.Counter(dtype=tf.int32)), "int32"),
        (lambda: types(D.range(2).apply(E.enumerate_dataset())), ["int64", "int64"]),
        (
            lambda: [c.__name__ for c in tf.data.get_output_classes(D.zip((D.range(2), D.from_tensors(tf.SparseTensor([[0]], [1], [2])))))],
            ["Tensor", "SparseTensor"],
        ),
        (lambda: size(D.range(10)), 10),
        (lambda: size(D.range(10, 0, -3)), 4),
        (lambda: size(D.range(10).batch(3)), 4),
        (lambda: size(D.range(10).batch(3, True)), 3),
        (lambda: size(rows(1, 2, 3).padded_batch(2, [None])), 2),
        (lambda: size(D.range(3).repeat(4)), 12),
        (lambda: size(D.range(3).repeat()), -1),
        (lambda: size(D.range(0).repeat()), 0),
        (lambda: size(D.range(3).take(2)), 2),
        (lambda: size(D.range(3).take(7)), 3),
        (lambda: size(D.range(3).repeat().take(7)), 7),
        (lambda: size(D.range(3).skip(2)), 1),
        (lambda: size(D.range(3).skip(7)), 0),
        (lambda: size(D.range(3).skip(-1)), 0),
        (lambda: size(D.range(3).repeat().skip(7)), -1),
        (lambda: size(D.zip((D.range(3), D.range(5)))), 3),
        (lambda: size(D.zip((D.range(3).repeat(), D.range(5)))), 5),
        (lambda: size(D.range(3).concatenate(D.range(5))), 8),
        (lambda: size(D.range(3).concatenate(D.range(5).repeat())), -1),
        (lambda: size(D.range(10).shard(3, 0)), 4),
        (lambda: size(D.range(10).shard(3, 2)), 3),
        (lambda: size(D.range(7).filter(lambda x: x > 1)), -2),
        (lambda: size(D.range(7).flat_map(lambda x: D.range(x))), -2),
        (lambda: size(D.range(7).interleave(lambda x: D.range(x))), -2),
        (lambda: size(D.range(7).map(lambda x: x).prefetch(1).cache().shuffle(3)), 7),
        (lambda: size(D.range(7).window(2)), 4),
        (lambda: size(D.range(7).window(2, shift=1)), 7),
        (lambda: size(D.range(7).window(2, shift=1, drop_remainder=True)), 6),
        (lambda: size(D.range(7).window(2, shift=2, stride=3, drop_remainder=True)), 2),
        (lambda: size(D.range(7).apply(E.map_and_batch(lambda x: x, 2))), 4),
        (lambda: size(D.range(7).apply(E.map_and_batch(lambda x: x, 2, drop_remainder=True))), 3),
        (lambda: size(D.range(7).batch(2).apply(E.unbatch())), -2),
        (lambda: size(D.range(7).apply(E.enumerate_dataset())), 7),
        (lambda: size(D.range(7).apply(E.scan(0, lambda s, x: (s, x)))), 7),
        (lambda: size(D.range(7).apply(E.take_while(lambda x: x < 2))), -2),
        (lambda: size(D.range(7).apply(E.unique())), -2),
        (lambda: size(D.range(7).apply(E.shuffle_and_repeat(2, 3))), 21),
        (lambda: size(D.range(7).apply(E.shuffle_and_repeat(2))), -1),
        (lambda: size(E.Counter()), -1),
        (lambda: size(E.RandomDataset()), -1),
        (lambda: size(D.from_tensors(1)), 1),
        (lambda: size(D.from_tensor_slices([1, 2])), 2),
        (lambda: size(D.from_generator(lambda: iter([1]), tf.int32)), -2),
        (lambda: size(E.choose_from_datasets([D.range(1), D.range(2)], choices(0, 1))), -2),
        (lambda: size(E.sample_from_datasets([D.range(1), D.range(2)])), -2),
        (lambda: size(rows(1).apply(E.dense_to_sparse_batch(2, [4]))), 1),
        (lambda: size(tf.data.TextLineDataset(["a"])), -2),
    ],
)
def test_structures_are_known_before_elements(made, expected):
    assert computed(made()) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: D.range(5).reduce(np.int64(0), lambda s, x: s + x), 10),
        (lambda: D.range(5).reduce((np.int64(0), np.int64(1)), lambda s, x: (s[0] + x, s[1] * 2)), [10, 32]),
        (lambda: D.range(0).reduce(np.int64(7), lambda s, x: s + x), 7),
        (lambda: pairs().reduce(0.0, lambda s, e: s + tf.reduce_sum(e["b"])), 15.0),
        (lambda: D.from_tensor_slices(["a", "b"]).reduce("", lambda s, x: s + x), b"ab"),
        (lambda: D.from_tensor_slices([1, 2]).reduce(tf.zeros([0], tf.int32), lambda s, x: tf.concat([s, [x]], 0)), [1, 2]),
        (lambda: E.get_single_element(D.from_tensors((1, "a"))), [1, b"a"]),
        (lambda: E.get_single_element(D.range(9).skip(3).take(1)), 3),
    ],
)
def test_datasets_are_reduced_to_one_value(made, expected):
    assert computed(made()) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: elements(rows(1, 2).batch(2)), ["InvalidArgumentError"]),
        (lambda: elements(rows(1, 3).padded_batch(2, [2])), ["DataLossError"]),
        (
            lambda: elements(D.range(2).apply(E.group_by_window(lambda x: x, lambda k, w: w, 0))),
            ["InvalidArgumentError", "InvalidArgumentError"],
        ),
        (lambda: D.range(2).apply(E.unique()) is None, False),
        (lambda: elements(E.choose_from_datasets([D.range(1)], choices(1))), ["InvalidArgumentError"]),
        (lambda: elements(D.from_generator(lambda: iter(["a"]), tf.int32)), ["InvalidArgumentError"]),
        (lambda: elements(D.from_generator(lambda: iter([[1, 2]]), tf.int32, [3])), ["InvalidArgumentError"]),
        (lambda: elements(D.from_generator(lambda: iter([1]), (tf.int32, tf.int32))), ["InvalidArgumentError"]),
        (lambda: elements(rows(3).apply(E.dense_to_sparse_batch(2, [2]))), ["DataLossError"]),
        (lambda: elements(D.range(1).apply(E.rejection_resample(lambda x: x, [1.0]))), [[0, 0]]),
    ],
)
def test_mistakes(made, expected):
    assert computed(made()) == expected


@pytest.mark.parametrize(
    ("made", "error", "message"),
    [
        (lambda: D.range(), ValueError, "Invalid arguments to RangeDataset: ()"),
        (lambda: D.range(1, 2, 3, 4), ValueError, "Invalid arguments to RangeDataset: (1, 2, 3, 4)"),
        (lambda: elements(D.range(1, 5, 0)), tf.errors.InvalidArgumentError, "step must be a non-zero integer."),
        (lambda: D.from_tensor_slices(1), ValueError, 'Value Tensor("normalize_element/component_0:0", shape=(),'),
        (lambda: D.zip([D.range(2), D.range(2)]), TypeError, "The argument to `Dataset.zip()` must be a nested structure of"),
        (lambda: D.zip(3), TypeError, "The argument to `Dataset.zip()` must be a nested structure of"),
        (
            lambda: D.range(2).concatenate(D.from_tensors("a")),
            TypeError,
            "Two datasets to concatenate have different types <dtype: 'int64'> and",
        ),
        (
            lambda: D.range(2).concatenate(D.zip((D.range(2), D.range(2)))),
            TypeError,
            "Two datasets to concatenate have different types <dtype: 'int64'> and",
        ),
        (lambda: elements(D.range(2).batch(0)), tf.errors.InvalidArgumentError, "Batch size must be greater than zero."),
        (lambda: elements(D.range(2).batch(-1)), tf.errors.InvalidArgumentError, "Batch size must be greater than zero."),
        (lambda: elements(D.range(2).shuffle(0)), tf.errors.InvalidArgumentError, "buffer_size must be greater than zero."),
        (
            lambda: elements(D.range(2).prefetch(-5)),
            tf.errors.InvalidArgumentError,
            "buffer_size must be >= 0 or set buffer_size to be -1 for auto-tuning",
        ),
        (
            lambda: elements(D.range(2).window(0).flat_map(lambda w: w.batch(2))),
            tf.errors.InvalidArgumentError,
            "Window size must be greater than zero.",
        ),
        (
            lambda: elements(D.range(2).window(2, shift=0).flat_map(lambda w: w.batch(2))),
            tf.errors.InvalidArgumentError,
            "Window shift must be greater than zero.",
        ),
        (
            lambda: elements(D.range(2).window(2, stride=0).flat_map(lambda w: w.batch(2))),
            tf.errors.InvalidArgumentError,
            "Window stride must be greater than zero.",
        ),
        (lambda: rows(1, 3).padded_batch(2, [2, 2]), ValueError, "The padded shape (2, 2) is not compatible with the corresponding"),
        (
            lambda: rows(1, 3).padded_batch(2, [None], padding_values="a"),
            TypeError,
            'Padding value tensor (Tensor("padding_value:0", shape=(),',
        ),
        (
            lambda: rows(1, 3).padded_batch(2, ([None], [])),
            ValueError,
            "Argument must be a dense tensor: ([None], []) - got shape [2], but",
        ),
        (lambda: rows(1, 3).padded_batch(2, [None], padding_values=[1, 2]), ValueError, "Padding value should be a scalar, but is not:"),
        (lambda: D.range(2).map(3), ValueError, "Argument must be callable"),
        (lambda: D.range(2).flat_map(lambda x: x), TypeError, "`map_func` must return a `Dataset` object. Got <class"),
        (lambda: D.range(2).interleave(lambda x: x, 1), TypeError, "`map_func` must return a `Dataset` object. Got <class"),
        (lambda: D.range(2).filter(lambda x: x), ValueError, "`predicate` return type must be convertible to a scalar boolean"),
        (
            lambda: elements(D.range(2).interleave(spread, cycle_length=0)),
            tf.errors.InvalidArgumentError,
            "cycle_length must be greater than zero.",
        ),
        (
            lambda: elements(D.range(2).interleave(spread, cycle_length=1, block_length=0)),
            tf.errors.InvalidArgumentError,
            "block_length must be greater than zero.",
        ),
        (
            lambda: elements(D.range(2).interleave(spread, cycle_length=2, num_parallel_calls=3)),
            tf.errors.InvalidArgumentError,
            "num_parallel_calls must less than or equal to cycle_length.",
        ),
        (lambda: D.range(2).apply(lambda d: 3), TypeError, "`transformation_func` must return a Dataset. Got 3."),
        (
            lambda: D.range(2).apply(E.scan(0, lambda s, x: (s, x, x))),
            TypeError,
            "The scan function must return a pair comprising the new state and the",
        ),
        (
            lambda: D.range(2).apply(E.scan(0, lambda s, x: ("a", x))),
            TypeError,
            "The element types for the new state must match the initial state.",
        ),
        (lambda: D.range(2).apply(E.take_while(lambda x: x)), ValueError, "`predicate` must return a scalar boolean tensor."),
        (
            lambda: D.range(2).apply(E.group_by_window(lambda x: x, lambda k, w: k, 1)),
            TypeError,
            "`reduce_func` must return a `Dataset` object.",
        ),
        (
            lambda: D.range(2).apply(E.group_by_window(lambda x: x, lambda k, w: w)),
            ValueError,
            "Must pass either window_size or window_size_func.",
        ),
        (
            lambda: D.range(2).apply(E.group_by_window(lambda x: x, lambda k, w: w, 1, lambda k: k)),
            ValueError,
            "Must pass either window_size or window_size_func.",
        ),
        (
            lambda: D.range(2).apply(E.group_by_reducer(lambda x: "a", reducer())),
            ValueError,
            "`key_func` must return a single tf.int64 tensor. Got type=<dtype:",
        ),
        (
            lambda: D.range(2).apply(E.map_and_batch(lambda x: x, 2, num_parallel_batches=1, num_parallel_calls=1)),
            ValueError,
            "The `num_parallel_batches` and `num_parallel_calls` arguments are",
        ),
        (
            lambda: elements(D.range(2).apply(E.map_and_batch(lambda x: x, 2, num_parallel_calls=0))),
            tf.errors.InvalidArgumentError,
            "num_parallel_calls must be greater than zero.",
        ),
        (
            lambda: D.from_tensors(([1], [1, 2])).apply(E.unbatch()),
            ValueError,
            "Cannot unbatch an input whose components have different batch sizes.",
        ),
        (
            lambda: D.zip((D.range(1), D.range(1))).apply(E.unique()),
            TypeError,
            "`tf.data.experimental.unique()` only supports inputs with a single",
        ),
        (
            lambda: E.choose_from_datasets([D.range(1)], D.from_tensors(1)),
            TypeError,
            "`choice_dataset` must be a dataset of scalar `tf.int64` tensors.",
        ),
        (
            lambda: E.choose_from_datasets([D.range(1)], D.from_tensors([np.int64(1)])),
            TypeError,
            "`choice_dataset` must be a dataset of scalar `tf.int64` tensors.",
        ),
        (lambda: E.sample_from_datasets([D.range(1)], [0.5, 0.5]), ValueError, "`weights` must be a vector of length `len(datasets)`."),
        (lambda: E.sample_from_datasets([D.range(1)], ["a"]), TypeError, "`weights` must be convertible to a tensor of `tf.float32` or"),
        (lambda: D.range(2).reduce(0, lambda s, x: x), TypeError, "The element types for the new state must match the initial state."),
        (lambda: E.get_single_element(D.range(2)), tf.errors.InvalidArgumentError, "Dataset had more than one element."),
        (lambda: E.get_single_element(D.range(0)), tf.errors.InvalidArgumentError, "Dataset was empty."),
        (lambda: E.get_single_element(3), TypeError, "`dataset` must be a `tf.data.Dataset` object."),
        (
            lambda: rows(1).apply(E.bucket_by_sequence_length(tf.size, [2], [2])),
            ValueError,
            "len(bucket_batch_sizes) must equal len(bucket_boundaries) + 1",
        ),
        (
            lambda: D.range(4).apply(C.sliding_window_batch(2, stride=1, window_shift=1)),
            ValueError,
            "Cannot specify both `stride` and `window_shift`",
        ),
        (
            lambda: elements(D.range(4).apply(C.sliding_window_batch(0))),
            tf.errors.InvalidArgumentError,
            "Window size must be greater than zero.",
        ),
        (lambda: D.from_generator(3, tf.int32), TypeError, "`generator` must be callable."),
        (lambda: D.from_tensors({1, 2}), TypeError, "Failed to convert object of type <class 'set'> to Tensor. Contents:"),
        (lambda: D.from_sparse_tensor_slices([1]), TypeError, "`sparse_tensor` must be a `tf.SparseTensor` object. Was [1]."),
    ],
)
def test_mistakes_are_refused(made, error, message):
    with pytest.raises(error) as caught:
        computed(made())
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("made", "shown"),
    [
        (lambda: D.from_tensor_slices([]), "shapes: (), types: tf.float32"),
        (lambda: D.range(2).shard(2, 2), "shapes: (), types: tf.int64"),
        (lambda: D.range(2).shard(0, 0), "shapes: (), types: tf.int64"),
        (lambda: D.range(2).shard(2, -1), "shapes: (), types: tf.int64"),
        (lambda: D.from_tensors([1]).apply(E.unique()), "shapes: (1,), types: tf.int32"),
    ],
)
def test_these_are_taken_until_elements_are_asked_for(made, shown):
    assert str(made()) == f"<DatasetV1Adapter {shown}>"
