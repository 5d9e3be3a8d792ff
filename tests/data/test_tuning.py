"""Datasets that say how elements are made: threads, shards, pieces for replicas; values are those of TensorFlow 1.15.5."""

import os
import tempfile
import time

import numpy as np
import pytest
from pipelines import elements, goes_on, shapes, size, types
from plain import computed

import everflow as tf
from everflow import internals

D, E = tf.data.Dataset, tf.data.experimental
distribute, map_defun, optimization, sleep, threadpool, prefetching = (
    internals.module(f"python.data.experimental.ops.{name}")
    for name in ("distribute", "map_defun", "optimization", "sleep", "threadpool", "prefetching_ops")
)
function = internals.module("python.eager.function")


def lines(count, each):
    """The names of files of lines."""
    folder = tempfile.mkdtemp()
    names = [os.path.join(folder, f"{i}") for i in range(count)]
    for i, name in enumerate(names):
        with open(name, "w") as out:
            out.write("".join(f"{i}{j}\n" for j in range(each)))
    return names


def text(names):
    return D.from_tensor_slices(names).flat_map(lambda name: tf.data.TextLineDataset(name))


def shards(dataset, count=2):
    return [elements(distribute._AutoShardDataset(dataset, count, i)) for i in range(count)]


def rebatch(dataset, replicas):
    return distribute._RebatchDataset(dataset, replicas)


def mapped(body, *columns, dtypes=(tf.int32,), dims=((),), specs=None):
    columns = [tf.convert_to_tensor(c) for c in columns]
    specs = specs or [tf.TensorSpec(c.shape[1:], c.dtype) for c in columns]
    traced = function.defun(body, input_signature=specs)
    return map_defun.map_defun(traced, columns, list(dtypes), [tf.TensorShape(d) for d in dims])


def sampled(dataset, rate, seed=3, seed2=5):
    variant = tf.raw_ops.SamplingDataset(
        input_dataset=dataset._variant_tensor,
        rate=rate,
        seed=tf.constant(seed, tf.int64),
        seed2=tf.constant(seed2, tf.int64),
        output_types=[tf.int64],
        output_shapes=[tf.TensorShape([])],
    )
    return internals.module("python.data.ops.dataset_ops")._VariantDataset(variant, tf.TensorSpec([], tf.int64))


SAME = [
    (lambda: sampled(D.range(12), 0.5), [0, 2, 9, 11]),
    (lambda: sampled(D.range(12), 0.0), []),
    (lambda: sampled(D.range(4), 1.0), [0, 1, 2, 3]),
    (lambda: sampled(D.range(12), 0.2, 7, 0), [1, 5, 8]),
    (lambda: D.range(3).apply(sleep.sleep(100)), [0, 1, 2]),
    (lambda: rebatch(D.range(8).batch(4), 2), [[0, 1], [2, 3], [4, 5], [6, 7]]),
    (lambda: rebatch(D.range(9).batch(4, drop_remainder=True), 2), [[0, 1], [2, 3], [4, 5], [6, 7]]),
    (lambda: rebatch(D.range(5).batch(5), 2), [[0, 1, 2], [3, 4]]),
    (
        lambda: rebatch(D.from_tensor_slices((np.arange(6), np.arange(12).reshape(6, 2))).batch(6), 3),
        [[[0, 1], [[0, 1], [2, 3]]], [[2, 3], [[4, 5], [6, 7]]], [[4, 5], [[8, 9], [10, 11]]]],
    ),
    (lambda: D.range(3).apply(optimization.model()), [0, 1, 2]),
    (lambda: D.range(3).apply(optimization.non_serializable()), [0, 1, 2]),
    (lambda: D.range(3).map(lambda x: x + 1).apply(optimization.optimize(["map_and_batch_fusion"])), [1, 2, 3]),
    (lambda: D.range(5).apply(optimization.assert_next(["Window", "Map", "Model"])).window(2).map(lambda w: 1), [1, 1, 1]),
    (
        lambda: D.zip((D.range(2), D.range(4).apply(optimization.assert_next(["Map", "Zip[1]", "Model"])).map(lambda x: x))),
        [[0, 0], [1, 1]],
    ),
    (lambda: D.range(3).apply(E.copy_to_device("/cpu:0", source_device="/cpu:0")).map(lambda x: x + 1), [1, 2, 3]),
    (lambda: D.range(3).apply(prefetching.prefetch_to_device("/cpu:0", 2)), [0, 1, 2]),
]


@pytest.mark.parametrize(("made", "expected"), SAME)
def test_elements_come_in_order(made, expected):
    assert elements(made()) == expected


@pytest.mark.parametrize(("made", "expected"), [row for i, row in enumerate(SAME) if i != 10])
def test_reading_goes_on_where_it_was_saved(made, expected):
    assert goes_on(made(), expected)


def threads(count):
    options = tf.data.Options()
    options.experimental_threading.private_threadpool_size = count
    return options


def parallelism(count):
    options = tf.data.Options()
    options.experimental_threading.max_intra_op_parallelism = count
    return options


def reading(dataset):
    following = tf.data.make_one_shot_iterator(dataset).get_next()
    with tf.Session() as session:
        session.run(following)


def pooled(threads):
    return threadpool.override_threadpool(
        D.range(6).map(lambda x: x * 2, num_parallel_calls=3), threadpool.PrivateThreadPool(threads, display_name="ours")
    )


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: shards(D.range(7)), [[0, 2, 4, 6], [1, 3, 5]]),
        (lambda: shards(D.range(7), 3), [[0, 3, 6], [1, 4], [2, 5]]),
        (lambda: shards(D.range(8).batch(2).map(lambda x: x + 1)), [[[1, 2], [5, 6]], [[3, 4], [7, 8]]]),
        (lambda: shards(text(lines(4, 2))), [[b"00", b"01", b"20", b"21"], [b"10", b"11", b"30", b"31"]]),
        (lambda: shards(text(lines(3, 2)).map(lambda x: x + "!").batch(2)), [[[b"00!", b"01!"], [b"20!", b"21!"]], [[b"10!", b"11!"]]]),
        (
            lambda: shards(text(lines(4, 2)).shuffle(1).repeat(2).prefetch(1)),
            [[b"00", b"01", b"20", b"21", b"00", b"01", b"20", b"21"], [b"10", b"11", b"30", b"31", b"10", b"11", b"30", b"31"]],
        ),
        (
            lambda: shards(D.from_tensor_slices(lines(4, 1)).shuffle(1).interleave(tf.data.TextLineDataset, cycle_length=1)),
            [[b"00", b"20"], [b"10", b"30"]],
        ),
        (
            lambda: shards(D.from_tensor_slices(lines(4, 1)).interleave(tf.data.TextLineDataset, cycle_length=2, num_parallel_calls=2)),
            [[b"00", b"20"], [b"10", b"30"]],
        ),
        (
            lambda: shards(D.from_tensor_slices(lines(4, 1)).apply(E.parallel_interleave(tf.data.TextLineDataset, 2))),
            [[b"00", b"20"], [b"10", b"30"]],
        ),
        (
            lambda: shards(D.from_tensor_slices(lines(2, 3)).flat_map(lambda n: tf.data.TextLineDataset(n).skip(1))),
            [[b"01", b"02"], [b"11", b"12"]],
        ),
        (lambda: shards(D.range(4).flat_map(lambda n: D.from_tensors(n).repeat(2))), [[0, 1, 2, 3], [0, 1, 2, 3]]),
        (
            lambda: shards(D.zip((text(lines(2, 2)), text(lines(2, 2))))),
            [[[b"00", b"00"], [b"01", b"01"]], [[b"10", b"10"], [b"11", b"11"]]],
        ),
        (lambda: shards(text(lines(2, 2)).concatenate(text(lines(2, 1)))), [[b"00", b"01", b"00"], [b"10", b"11", b"10"]]),
        (lambda: shards(tf.data.TextLineDataset(lines(4, 2))), [[b"00", b"01", b"20", b"21"], [b"10", b"11", b"30", b"31"]]),
        (lambda: shards(tf.data.FixedLengthRecordDataset(lines(2, 1), 3)), [[b"00\n"], [b"10\n"]]),
        (
            lambda: shards(tf.data.TextLineDataset(lines(2, 4)).apply(E.unique())),
            [[b"00", b"02", b"10", b"12"], [b"01", b"03", b"11", b"13"]],
        ),
        (lambda: size(distribute._AutoShardDataset(D.range(7), 2, 0)), 4),
        (lambda: shapes(distribute._AutoShardDataset(D.range(8).batch(2), 2, 0)), [None]),
        (lambda: types(distribute._AutoShardDatasetV1(text(lines(2, 1)), 2, 0)), "string"),
        (lambda: shapes(rebatch(D.range(8).batch(4), 2)), [None]),
        (lambda: shapes(rebatch(D.range(8).batch(4, drop_remainder=True), 2)), [2]),
        (lambda: shapes(rebatch(D.range(8).batch(3, drop_remainder=True), 2)), [None]),
        (lambda: shapes(rebatch(D.from_tensors(np.zeros((4, 3))).repeat(2), 2)), [2, 3]),
        (lambda: types(rebatch(D.from_tensors((np.zeros((4, 3)), ["a", "b"])), 2)), ["float64", "string"]),
        (lambda: size(D.range(5).apply(sleep.sleep(1))), 5),
        (lambda: size(D.range(5).apply(E.ignore_errors())), 5),
        (lambda: elements(pooled(2)), [0, 2, 4, 6, 8, 10]),
        (lambda: shapes(pooled(2)), []),
        (lambda: mapped(lambda x: x * 2, [1, 2, 3]), [[2, 4, 6]]),
        (
            lambda: mapped(lambda x: [x, x + 1], [[1, 2], [3, 4]], dtypes=[tf.int32] * 2, dims=[[2], [2]]),
            [[[1, 2], [3, 4]], [[2, 3], [4, 5]]],
        ),
        (lambda: mapped(lambda x, y: tf.stack([x, y]), [1, 2, 3], [4, 5, 6], dims=[[2]]), [[[1, 4], [2, 5], [3, 6]]]),
        (lambda: mapped(lambda s: s + "!", ["a", "b"], dtypes=[tf.string]), [[b"a!", b"b!"]]),
        (lambda: mapped(lambda s: tf.strings.length(s), ["a", "bcd"]), [[1, 3]]),
        (lambda: mapped(lambda x: x, tf.zeros([0], tf.int32)), [[]]),
        (lambda: mapped(lambda x: (x, x), tf.zeros([0, 3], tf.int32), dtypes=[tf.int32] * 2, dims=[[3], [3]])[1].shape, [0, 3]),
        (lambda: mapped(lambda x: x * 2, [1, 2, 3])[0].shape, [3]),
        (lambda: mapped(lambda x: x * 2, [[1, 2], [3, 4]], dims=[[2]])[0].shape, [2, 2]),
        (lambda: mapped(lambda x: x * 2, [[1, 2], [3, 4]], dims=[None])[0].shape, None),
        (lambda: (lambda c: mapped(lambda x: x * c, [1, 2, 3]))(tf.constant(5)), [[5, 10, 15]]),
        (lambda: elements(D.from_tensor_slices([[1, 2], [3, 4]]).map(lambda r: mapped(lambda x: x * x, r)[0])), [[1, 4], [9, 16]]),
    ],
)
def test_the_making_of_elements_is_shared_out(made, expected):
    assert computed(made()) == expected


@pytest.mark.parametrize(
    ("made", "error", "message"),
    [
        (lambda: elements(distribute._AutoShardDataset(D.range(7), 2, 2)), tf.errors.InvalidArgumentError, "index must be between 0 and 1"),
        (
            lambda: elements(distribute._AutoShardDataset(D.range(7), 2, -1)),
            tf.errors.InvalidArgumentError,
            "index must be between 0 and 1",
        ),
        (
            lambda: elements(distribute._AutoShardDataset(D.range(7), 0, 0)),
            tf.errors.InvalidArgumentError,
            "num_workers must be greater than zero.",
        ),
        (
            lambda: rebatch(D.range(8), 2),
            ValueError,
            "Input shape should have at least one dimension. Perhaps your input dataset is not batched?",
        ),
        (lambda: D.range(4).apply(optimization.assert_next(None)), ValueError, "At least one transformation should be specified"),
        (lambda: map_defun.map_defun(None, tf.constant([1]), [tf.int32], [()]), ValueError, "`elems` must be a list of tensors."),
        (
            lambda: map_defun.map_defun(None, [tf.constant([1])], tf.int32, [()]),
            ValueError,
            "`output_dtypes` must be a list of `tf.DType` objects.",
        ),
        (
            lambda: map_defun.map_defun(None, [tf.constant([1])], [tf.int32], ()),
            ValueError,
            "`output_shapes` must be a list of `tf.TensorShape` objects.",
        ),
        (lambda: computed(mapped(lambda x: x * 2, [1, 2], dtypes=[tf.float32])), tf.errors.InvalidArgumentError, "2 root error(s) found."),
        (lambda: computed(mapped(lambda x: x * 2, [1, 2], dims=[[3]])), tf.errors.InvalidArgumentError, "2 root error(s) found."),
        (
            lambda: computed(mapped(lambda x: tf.range(x), [1, 2], dims=[[None]])),
            tf.errors.InvalidArgumentError,
            "Mismatch in function retval shape, [2], and expected output shape, [1].",
        ),
        (
            lambda: mapped(lambda x, y: x + y, [1, 2], [1, 2, 3]),
            ValueError,
            "Arguments must have the same dimension 0. for 'MapDefun' (op: 'MapDefun') with input",
        ),
        (
            lambda: mapped(lambda x: x, 1, specs=[tf.TensorSpec([], tf.int32)]),
            ValueError,
            "Arguments must have rank at least 1. Input 0 has rank of 0. for 'MapDefun' (op:",
        ),
        (
            lambda: computed(
                mapped(
                    lambda x, y: x + y,
                    tf.placeholder_with_default([1, 2], None),
                    tf.placeholder_with_default([1, 2, 3], None),
                    specs=[tf.TensorSpec([], tf.int32)] * 2,
                )
            ),
            tf.errors.InvalidArgumentError,
            "All inputs must have the same dimension 0. Input 1 has leading dimension 3, while all",
        ),
        (
            lambda: computed(mapped(lambda x: x, tf.placeholder_with_default(1, None), specs=[tf.TensorSpec([], tf.int32)])),
            tf.errors.InvalidArgumentError,
            "All inputs must have rank at least 1. Input 0 has a rank of 0.",
        ),
        (lambda: elements(pooled(0)), tf.errors.InvalidArgumentError, "`num_threads` must be greater than zero."),
        (
            lambda: reading(D.range(2).apply(optimization.assert_next(["BatchV2", "Model", "Map"])).batch(2)),
            tf.errors.InvalidArgumentError,
            "Asserted next 3 transformations but encountered only 2.",
        ),
        (
            lambda: reading(D.range(2).apply(optimization.assert_next(["BatchV2", "Map"])).batch(2)),
            tf.errors.InvalidArgumentError,
            "Asserted Map transformation at offset 1 but encountered Model transformation instead.",
        ),
        (lambda: reading(D.range(2).with_options(threads(-1))), tf.errors.InvalidArgumentError, "`num_threads` must be >= 1"),
        (
            lambda: reading(D.range(2).with_options(parallelism(-1))),
            tf.errors.InvalidArgumentError,
            "`max_intra_op_parallelism` must be >= 0",
        ),
    ],
)
def test_mistakes_are_refused(made, error, message):
    with pytest.raises(error) as caught:
        made()
    assert message in str(caught.value)


def test_sleep_waits_before_each_element():
    begin = time.monotonic()
    assert elements(D.range(3).apply(sleep.sleep(30000))) == [0, 1, 2]
    # The end is waited for too.
    assert 0.11 < time.monotonic() - begin
