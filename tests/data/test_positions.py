"""Reading goes on where it was saved, at every position of every kind of dataset, and batches hold what single elements are."""

import numpy as np
import pytest
from pipelines import elements, read
from plain import plain

import everflow as tf

D, E, C = tf.data.Dataset, tf.data.experimental, tf.contrib.data


def lengths(x):
    return tf.fill([x + 1], x)


def words():
    return D.from_tensor_slices(["b c", "a", "", "d e f"])


DATASETS = {
    "take": lambda: D.range(5).take(3),
    "take more": lambda: D.range(3).take(5),
    "take filtered": lambda: D.range(9).filter(lambda x: x % 2 < 1).take(3),
    "skip": lambda: D.range(6).skip(2),
    "skip filtered": lambda: D.range(9).filter(lambda x: x % 2 < 1).skip(2),
    "skip all": lambda: D.range(3).skip(-1),
    "repeat": lambda: D.range(2).repeat(3),
    "repeat filtered": lambda: D.range(3).filter(lambda x: x > 0).repeat(2),
    "repeat nothing": lambda: D.range(2).filter(lambda x: x > 5).repeat(),
    "concatenate": lambda: D.range(2).concatenate(D.range(0)).concatenate(D.range(5, 7)),
    "zip": lambda: D.zip((D.range(4).filter(lambda x: x > 0), D.range(10, 20))),
    "zip tables": lambda: D.zip((D.from_tensor_slices([1, 2, 3]), D.from_tensor_slices(["a", "b"]))),
    "shard": lambda: D.range(7).shard(3, 1),
    "shard filtered": lambda: D.range(9).filter(lambda x: x != 4).shard(3, 2),
    "shard late": lambda: D.range(2).shard(3, 2),
    "flat_map": lambda: D.range(4).flat_map(lambda x: D.range(x)),
    "interleave": lambda: D.range(4).interleave(lambda x: D.range(10 * x, 10 * x + x), 2, 2),
    "interleave wide": lambda: D.range(3).interleave(lambda x: D.range(10 * x, 10 * x + 2), 5),
    "parallel interleave": lambda: D.range(4).interleave(lambda x: D.range(10 * x, 10 * x + x), 2, 1, 2),
    "old interleave": lambda: D.range(3).apply(E.parallel_interleave(lambda x: D.range(10 * x, 10 * x + 2), 2, 2)),
    "group_by_window": lambda: D.range(7).apply(E.group_by_window(lambda x: x % 2, lambda k, w: w.batch(2), 3)),
    "group_by_reducer": lambda: D.range(5).apply(
        E.group_by_reducer(lambda x: x % 2, E.Reducer(lambda k: np.int64(0), lambda s, x: s + x, lambda s: s))
    ),
    "bucket": lambda: D.range(6).map(lengths).apply(E.bucket_by_sequence_length(tf.size, [3], [2, 2])),
    "window": lambda: D.range(5).window(2, 1, drop_remainder=True).flat_map(lambda w: w.batch(2)),
    "window stride": lambda: D.range(7).window(2, 3, 2).flat_map(lambda w: w.batch(2)),
    "slide": lambda: D.range(6).apply(C.sliding_window_batch(3, window_shift=2)),
    "scan": lambda: D.range(5).apply(E.scan(np.int64(1), lambda s, x: (s + x, s * 10 + x))),
    "take_while": lambda: D.range(9).apply(E.take_while(lambda x: x < 4)),
    "unique": lambda: D.from_tensor_slices([1, 2, 1, 3, 2]).apply(E.unique()),
    "unbatch": lambda: D.range(5).batch(2).apply(E.unbatch()),
    "padded": lambda: D.range(5).map(lengths).padded_batch(2, [None]),
    "dense_to_sparse": lambda: D.range(3).map(lengths).apply(E.dense_to_sparse_batch(2, [4])).map(tf.sparse.to_dense),
    "drop": lambda: D.range(5).batch(2, drop_remainder=True),
    "texts": lambda: words().batch(3),
    "map_and_batch": lambda: D.range(5).apply(E.map_and_batch(lambda x: x * x, 2, drop_remainder=True)),
    "parallel map": lambda: D.range(5).map(lambda x: x * x, 2),
    "prefetch": lambda: D.range(4).prefetch(2),
    "cache": lambda: D.range(3).cache().repeat(2),
    "enumerate": lambda: words().enumerate(5),
    "choose": lambda: E.choose_from_datasets([D.range(2), D.range(10, 15)], D.from_tensor_slices(np.int64([0, 1, 1, 0, 0, 1]))),
    "sample": lambda: E.sample_from_datasets([D.range(3), D.range(10, 13)], seed=3),
    "random": lambda: E.RandomDataset(5).take(4),
    "counter": lambda: E.Counter(3, -2).take(4),
    "ignore_errors": lambda: (
        D.from_tensor_slices([1.0, 0.0, 2.0]).map(lambda x: tf.check_numerics(1.0 / x, "bad")).apply(E.ignore_errors())
    ),
    "resample": lambda: D.range(12).apply(E.rejection_resample(lambda x: tf.cast(x % 2, tf.int32), [0.8, 0.2], [0.5, 0.5], seed=2)).take(3),
    "sparse": lambda: D.from_tensor_slices(tf.SparseTensor([[0, 1], [2, 0]], [1, 2], [3, 2])).map(tf.sparse.to_dense),
}


@pytest.mark.parametrize("name", DATASETS)
def test_reading_goes_on_at_every_position(name):
    dataset = DATASETS[name]()
    first, second = (tf.data.make_initializable_iterator(dataset) for _ in range(2))
    reading, going_on = first.get_next(), second.get_next()
    position = tf.raw_ops.SerializeIterator(resource_handle=first._iterator_resource)
    restored = tf.raw_ops.DeserializeIterator(resource_handle=second._iterator_resource, serialized=position)
    with tf.Session() as session:
        session.run(first.initializer)
        whole = read(session, reading)
        assert len(whole) < 30
        for count in range(len(whole) + 1):
            session.run([first.initializer, second.initializer])
            read(session, reading, count)
            session.run(restored)
            assert read(session, going_on) == whole[count:]
            # What was restored does not disturb where it came from.
            assert read(session, reading) == whole[count:]


SINGLE = sorted(set(DATASETS) - {"padded", "bucket", "dense_to_sparse", "texts", "group_by_window", "window stride"})


@pytest.mark.parametrize("name", SINGLE)
@pytest.mark.parametrize("size", [1, 2, 4])
def test_batches_hold_what_single_elements_are(name, size):
    alone = elements(DATASETS[name]())
    together = elements(DATASETS[name]().batch(size))
    if isinstance(tf.data.get_output_types(DATASETS[name]()), tuple):
        together = [list(row) for batch in together for row in zip(*batch)]
    else:
        together = [row for batch in together for row in batch]
    assert together == plain(alone)


@pytest.mark.parametrize(
    ("name", "count"),
    [
        ("take", 3),
        ("take more", 3),
        ("zip tables", 2),
        ("skip", 4),
        ("skip all", 0),
        ("repeat", 6),
        ("concatenate", 4),
        ("zip", -2),
        ("shard", 2),
        ("shard late", 0),
        ("take filtered", -2),
        ("skip filtered", -2),
        ("repeat filtered", -2),
        ("repeat nothing", -1),
        ("flat_map", -2),
        ("drop", 2),
        ("texts", 2),
        ("parallel map", 5),
        ("cache", 6),
        ("counter", 4),
        ("random", 4),
        ("unbatch", -2),
        ("enumerate", 4),
    ],
)
def test_how_many_elements_are_known(name, count):
    with tf.Session() as session:
        assert session.run(E.cardinality(DATASETS[name]())) == count
