"""What the ops of datasets are told, and what statistics, sizes and mistakes are; values are those of TensorFlow 1.15.5."""

import os
import tempfile

import numpy as np
import pytest
from pipelines import elements, size
from plain import plain, refused

import everflow as tf
from everflow import internals

D, E, C = tf.data.Dataset, tf.data.experimental, tf.contrib.data
values = internals.module("python.framework.tensor_util").constant_value


def shown(attr):
    kind = attr.WhichOneof("value")
    return "function" if kind == "func" else plain(getattr(attr, kind)) if kind in ("i", "b", "s", "f") else kind


def told(dataset):
    """The type of a dataset's op, the constants that it is given, and its attributes but for the types of elements."""
    op = dataset._variant_tensor.op
    given = [plain(values(t)) for t in op.inputs if t.dtype != tf.variant]
    attrs = {
        k: shown(v)
        for k, v in op.node_def.attr.items()
        if k not in ("output_types", "output_shapes", "Targuments", "Toutput_types", "use_inter_op_parallelism", "metadata")
        and k[0] != "_"
        and k[0] != "T"
    }
    return [op.type, given, dict(sorted(attrs.items()))]


def one():
    return D.range(3)


def one_of(x):
    return D.from_tensors(x)


def pairs():
    return D.from_tensor_slices({"a": [1, 2, 3], "b": [[1.0], [2.0], [3.0]]})


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: told(D.range(5)), ["RangeDataset", [0, 5, 1], {}]),
        (lambda: told(D.range(1, 9, 2)), ["RangeDataset", [1, 9, 2], {}]),
        (lambda: told(one().batch(2)), ["BatchDatasetV2", [2, False], {"parallel_copy": False}]),
        (lambda: told(one().batch(2, True)), ["BatchDatasetV2", [2, True], {"parallel_copy": False}]),
        (lambda: told(one().padded_batch(2, [])), ["PaddedBatchDatasetV2", [2, [], 0, False], {"N": 1, "parallel_copy": False}]),
        (
            lambda: told(pairs().padded_batch(2, {"a": [], "b": [4]}, {"a": 7, "b": -1.0}, True)),
            ["PaddedBatchDatasetV2", [2, [], [4], 7, -1.0, True], {"N": 2, "parallel_copy": False}],
        ),
        (
            lambda: told(D.from_tensors("a").padded_batch(2, [])),
            ["PaddedBatchDatasetV2", [2, [], b"", False], {"N": 1, "parallel_copy": False}],
        ),
        (lambda: told(one().prefetch(2)), ["PrefetchDataset", [2], {"legacy_autotune": True, "slack_period": 0}]),
        (
            lambda: told(one().prefetch(tf.data.experimental.AUTOTUNE)),
            ["PrefetchDataset", [-1], {"legacy_autotune": True, "slack_period": 0}],
        ),
        (lambda: told(one().repeat()), ["RepeatDataset", [-1], {}]),
        (lambda: told(one().repeat(4)), ["RepeatDataset", [4], {}]),
        (lambda: told(one().take(2)), ["TakeDataset", [2], {}]),
        (lambda: told(one().skip(2)), ["SkipDataset", [2], {}]),
        (lambda: told(one().shard(3, 1)), ["ShardDataset", [3, 1], {"require_non_empty": False}]),
        (lambda: told(one().cache()), ["CacheDataset", [b""], {}]),
        (lambda: told(one().cache("f")), ["CacheDataset", [b"f"], {}]),
        (lambda: told(one().shuffle(5, 3)), ["ShuffleDataset", [5, 87654321, None], {"reshuffle_each_iteration": True}]),
        (
            lambda: told(one().shuffle(5, 3, reshuffle_each_iteration=False)),
            ["ShuffleDataset", [5, 87654321, None], {"reshuffle_each_iteration": False}],
        ),
        (lambda: told(one().shuffle(5, 0)), ["ShuffleDataset", [5, 87654321, None], {"reshuffle_each_iteration": True}]),
        (lambda: told(one().window(3)), ["WindowDataset", [3, 3, 1, False], {}]),
        (lambda: told(one().window(3, 1, 2, True)), ["WindowDataset", [3, 1, 2, True], {}]),
        (lambda: told(one().map(lambda x: x)), ["MapDataset", [], {"f": "function", "preserve_cardinality": False}]),
        (
            lambda: told(one().map(lambda x: x, 4)),
            ["ParallelMapDataset", [4], {"f": "function", "preserve_cardinality": False, "sloppy": False}],
        ),
        (
            lambda: told(one().map(lambda x: tf.py_func(lambda y: y, [x], tf.int64))),
            ["MapDataset", [], {"f": "function", "preserve_cardinality": False}],
        ),
        (lambda: told(one().filter(lambda x: x > 1)), ["FilterDataset", [], {"predicate": "function"}]),
        (lambda: told(one().flat_map(one_of)), ["FlatMapDataset", [], {"f": "function"}]),
        (lambda: told(one().interleave(one_of)), ["InterleaveDataset", [-1, 1], {"f": "function"}]),
        (lambda: told(one().interleave(one_of, 3, 2, 4)), ["ParallelInterleaveDatasetV2", [3, 2, 4], {"f": "function", "sloppy": False}]),
        (lambda: told(D.zip((one(), one()))), ["ZipDataset", [], {"N": 2}]),
        (lambda: told(one().concatenate(one())), ["ConcatenateDataset", [], {}]),
        (lambda: told(D.list_files(["/nowhere/b", "/nowhere/a"], shuffle=False)), ["TensorSliceDataset", [None], {}]),
        (
            lambda: told(one().apply(E.map_and_batch(lambda x: x, 2))),
            ["MapAndBatchDataset", [2, 2, False], {"f": "function", "preserve_cardinality": True}],
        ),
        (
            lambda: told(one().apply(E.map_and_batch(lambda x: x, 2, num_parallel_batches=3, drop_remainder=True))),
            ["MapAndBatchDataset", [2, 6, True], {"f": "function", "preserve_cardinality": True}],
        ),
        (
            lambda: told(one().apply(E.map_and_batch(lambda x: x, 2, num_parallel_calls=5))),
            ["MapAndBatchDataset", [2, 5, False], {"f": "function", "preserve_cardinality": True}],
        ),
        (lambda: told(one().batch(2).apply(E.unbatch())), ["UnbatchDataset", [], {}]),
        (lambda: told(D.from_tensors([1]).apply(E.dense_to_sparse_batch(2, [4]))), ["DenseToSparseBatchDataset", [2, [4]], {}]),
        (
            lambda: told(one().apply(E.scan(np.int64(1), lambda s, x: (s, x)))),
            ["ScanDataset", [1], {"f": "function", "preserve_cardinality": True}],
        ),
        (lambda: told(one().apply(E.take_while(lambda x: x > 1))), ["TakeWhileDataset", [], {"predicate": "function"}]),
        (lambda: told(one().apply(E.unique())), ["UniqueDataset", [], {}]),
        (lambda: told(one().apply(E.ignore_errors())), ["IgnoreErrorsDataset", [], {}]),
        (lambda: told(one().apply(E.enumerate_dataset(4))), ["ZipDataset", [], {"N": 2}]),
        (lambda: told(one().apply(E.shuffle_and_repeat(5, seed=2))), ["ShuffleAndRepeatDataset", [5, 87654321, None, -1], {}]),
        (lambda: told(one().apply(E.shuffle_and_repeat(5, 3, 2))), ["ShuffleAndRepeatDataset", [5, 87654321, None, 3], {}]),
        (lambda: told(one().apply(C.sliding_window_batch(2))), ["SlidingWindowDataset", [2, 1, 1], {}]),
        (lambda: told(one().apply(C.sliding_window_batch(2, window_shift=3, window_stride=4))), ["SlidingWindowDataset", [2, 3, 4], {}]),
        (
            lambda: told(one().apply(E.parallel_interleave(one_of, 2))),
            ["ParallelInterleaveDataset", [2, 1, False, 2, 4], {"f": "function"}],
        ),
        (
            lambda: told(one().apply(E.parallel_interleave(one_of, 2, 3, True, 4, 5))),
            ["ParallelInterleaveDataset", [2, 3, True, 4, 5], {"f": "function"}],
        ),
        (lambda: told(one().apply(C.sloppy_interleave(one_of, 2))), ["ParallelInterleaveDataset", [2, 1, True, 2, 4], {"f": "function"}]),
        (lambda: told(E.choose_from_datasets([one(), one()], D.range(1))), ["DirectedInterleaveDataset", [], {"N": 2}]),
        (lambda: told(E.Counter()), ["ScanDataset", [0, 1], {"f": "function", "preserve_cardinality": True}]),
        (lambda: told(E.Counter(3, 2, tf.int32)), ["ScanDataset", [3, 2], {"f": "function", "preserve_cardinality": True}]),
        (lambda: told(E.RandomDataset(5)), ["RandomDataset", [87654321, None], {}]),
        (lambda: told(one().apply(E.latency_stats("late"))), ["LatencyStatsDataset", [b"late"], {}]),
        (lambda: told(one().apply(E.bytes_produced_stats("size"))), ["BytesProducedStatsDataset", [b"size"], {}]),
        (
            lambda: told(one().apply(E.prefetch_to_device("/cpu:0"))),
            ["PrefetchDataset", [-1], {"legacy_autotune": True, "slack_period": 0}],
        ),
        (
            lambda: told(one().apply(E.group_by_window(lambda x: x, lambda k, d: d.batch(2), 3))),
            ["GroupByWindowDataset", [], {"key_func": "function", "reduce_func": "function", "window_size_func": "function"}],
        ),
        (
            lambda: told(
                D.from_tensors(["x"]).apply(
                    E.parse_example_dataset({"a": tf.FixedLenFeature([2], tf.float32, [1.0, 2.0]), "b": tf.VarLenFeature(tf.int64)})
                )
            ),
            [
                "ParseExampleDataset",
                [1, None],
                {"dense_keys": "list", "dense_shapes": "list", "sloppy": False, "sparse_keys": "list", "sparse_types": "list"},
            ],
        ),
        (
            lambda: told(D.from_tensors(["x"]).apply(E.parse_example_dataset({"b": tf.VarLenFeature(tf.string)}, 4))),
            [
                "ParseExampleDataset",
                [4],
                {"dense_keys": "list", "dense_shapes": "list", "sloppy": False, "sparse_keys": "list", "sparse_types": "list"},
            ],
        ),
        (lambda: told(tf.data.TextLineDataset("f")), ["FlatMapDataset", [], {"f": "function"}]),
        (lambda: told(tf.data.TextLineDataset(["f", "g"], "GZIP", 7)), ["FlatMapDataset", [], {"f": "function"}]),
        (lambda: told(tf.data.TFRecordDataset("f")), ["FlatMapDataset", [], {"f": "function"}]),
        (lambda: told(tf.data.TFRecordDataset(["f"], "ZLIB", 7)), ["FlatMapDataset", [], {"f": "function"}]),
        (
            lambda: told(tf.data.TFRecordDataset(["f"], num_parallel_reads=2)),
            ["ParallelInterleaveDataset", [2, 1, False, 2, 4], {"f": "function"}],
        ),
        (lambda: told(tf.data.FixedLengthRecordDataset("f", 4)), ["FlatMapDataset", [], {"f": "function"}]),
        (lambda: told(tf.data.FixedLengthRecordDataset("f", 4, 1, 2, 3, "GZIP")), ["FlatMapDataset", [], {"f": "function"}]),
        (lambda: told(E.CsvDataset("f", [1, 2.0])), ["CSVDataset", [b"f", b"", 4194304, False, b",", True, b"", [], [], []], {}]),
        (
            lambda: told(E.CsvDataset("f", [tf.int32, "a"], "GZIP", 9, True, ";", False, "-", [1, 2])),
            ["CSVDataset", [b"f", b"GZIP", 9, True, b";", False, b"-", [1, 2], [], b"a"], {}],
        ),
        (lambda: told(E.SqlDataset("sqlite", "f", "q", (tf.int32,))), ["SqlDataset", [b"sqlite", b"f", b"q"], {}]),
        (
            lambda: told(internals.module("python.data.experimental.ops.snapshot").snapshot("/p")(one())),
            [
                "SnapshotDataset",
                [b"/p"],
                {
                    "compression": b"",
                    "num_reader_threads": -1,
                    "num_writer_threads": -1,
                    "pending_snapshot_expiry_seconds": -1,
                    "reader_buffer_size": -1,
                    "reader_path_prefix": b"",
                    "shard_size_bytes": -1,
                    "writer_buffer_size": -1,
                    "writer_path_prefix": b"",
                },
            ],
        ),
        (lambda: told(internals.module("python.data.experimental.ops.sleep").sleep(7)(one())), ["SleepDataset", [7], {}]),
        (
            lambda: told(internals.module("python.data.experimental.ops.distribute")._RebatchDataset(one().batch(4), 2)),
            ["RebatchDataset", [2], {"use_fallback": True}],
        ),
        (
            lambda: told(internals.module("python.data.experimental.ops.distribute")._AutoShardDataset(one(), 3, 1)),
            ["AutoShardDataset", [3, 1], {}],
        ),
        (
            lambda: told(
                internals.module("python.data.experimental.ops.threadpool").override_threadpool(
                    one(), internals.module("python.data.experimental.ops.threadpool").PrivateThreadPool(2, display_name="p")
                )
            ),
            ["ThreadPoolDataset", [None], {}],
        ),
    ],
)
def test_ops_are_told(made, expected):
    assert made() == expected


def many(spec):
    """The ops of a pipeline that a function makes of files, from its end on, with what they are told."""
    found, op = [], spec._variant_tensor.op
    while True:
        found.append([op.type, [plain(values(t)) for t in op.inputs if t.dtype != tf.variant and t.dtype not in (tf.string,)]])
        before = [t.op for t in op.inputs if t.dtype == tf.variant]
        if not before:
            return found
        op = before[0]


def rows(header="a,b", *lines):
    path = os.path.join(tempfile.mkdtemp(), "rows.csv")
    with open(path, "w") as file:
        file.write("\n".join([header, *lines, ""]))
    return path


FEATURES = {"a": tf.FixedLenFeature([], tf.int64)}


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (
            lambda: many(E.make_csv_dataset(rows("a,b", "1,2"), 2, num_epochs=1, shuffle_seed=3)),
            [
                ["PrefetchDataset", [-1]],
                ["MapDataset", []],
                ["BatchDatasetV2", [2, False]],
                ["ShuffleDataset", [10000, 87654321, None]],
                ["ParallelInterleaveDataset", [[0], [0], 1, 1, False, 2, 2]],
                ["ShuffleDataset", [1, 87654321, None]],
                ["TensorSliceDataset", []],
            ],
        ),
        (
            lambda: many(E.make_csv_dataset(rows("a,b", "1,x"), 3, shuffle=False, label_name="a", num_parallel_reads=2, sloppy=True)),
            [
                ["PrefetchDataset", [-1]],
                ["MapDataset", []],
                ["BatchDatasetV2", [3, True]],
                ["RepeatDataset", [-1]],
                ["ParallelInterleaveDataset", [[0], 2, 1, True, 2, 4]],
                ["TensorSliceDataset", []],
            ],
        ),
        (
            lambda: many(
                E.make_csv_dataset(rows("a,b", "1,x"), 3, num_epochs=2, shuffle_buffer_size=5, shuffle_seed=3, prefetch_buffer_size=4)
            ),
            [
                ["PrefetchDataset", [4]],
                ["MapDataset", []],
                ["BatchDatasetV2", [3, False]],
                ["ShuffleAndRepeatDataset", [5, 87654321, None, 2]],
                ["ParallelInterleaveDataset", [[0], 1, 1, False, 2, 2]],
                ["ShuffleDataset", [1, 87654321, None]],
                ["TensorSliceDataset", []],
            ],
        ),
        (
            lambda: many(E.make_batched_features_dataset("f", 2, FEATURES, shuffle_seed=3)),
            [
                ["PrefetchDataset", [-1]],
                ["ParseExampleDataset", [2, []]],
                ["BatchDatasetV2", [2, True]],
                ["ShuffleAndRepeatDataset", [10000, 87654321, None, -1]],
                ["ParallelInterleaveDataset", [1, 1, False, 2, 2]],
                ["ShuffleDataset", [None, 87654321, None]],
                ["TensorSliceDataset", []],
            ],
        ),
        (
            lambda: many(
                E.make_batched_features_dataset(
                    "f",
                    2,
                    FEATURES,
                    num_epochs=2,
                    shuffle=False,
                    reader_num_threads=3,
                    parser_num_threads=4,
                    sloppy_ordering=True,
                    drop_final_batch=True,
                )
            ),
            [
                ["PrefetchDataset", [-1]],
                ["ParseExampleDataset", [4, []]],
                ["BatchDatasetV2", [2, True]],
                ["RepeatDataset", [2]],
                ["ParallelInterleaveDataset", [3, 1, True, 2, 6]],
                ["TensorSliceDataset", []],
            ],
        ),
        (
            lambda: many(
                E.make_batched_features_dataset(
                    "f", 2, FEATURES, num_epochs=2, shuffle_buffer_size=9, shuffle_seed=3, prefetch_buffer_size=6
                )
            ),
            [
                ["PrefetchDataset", [6]],
                ["ParseExampleDataset", [2, []]],
                ["BatchDatasetV2", [2, False]],
                ["ShuffleAndRepeatDataset", [9, 87654321, None, 2]],
                ["ParallelInterleaveDataset", [1, 1, False, 2, 2]],
                ["ShuffleDataset", [None, 87654321, None]],
                ["TensorSliceDataset", []],
            ],
        ),
    ],
)
def test_files_become_pipelines(made, expected):
    assert made() == expected


def aggregated(dataset, runs):
    """What an aggregator holds after some elements: numbers, or all of a histogram."""
    aggregator, options = E.StatsAggregator(), tf.data.Options()
    options.experimental_stats.aggregator = aggregator
    iterator = tf.data.make_initializable_iterator(dataset.with_options(options))
    following, summary = iterator.get_next(), aggregator.get_summary()
    with tf.Session() as session:
        session.run(iterator.initializer)
        for _ in range(runs):
            session.run(following)
        found = tf.Summary.FromString(session.run(summary))
    return {
        v.tag: plain([v.histo.min, v.histo.max, v.histo.num, v.histo.sum, v.histo.sum_squares, [b for b in v.histo.bucket if b]], 4)
        for v in sorted(found.value, key=lambda v: v.tag)
        if v.HasField("histo")
    }


def feature(**kinds):
    made = {
        "int": lambda v: tf.train.Feature(int64_list=tf.train.Int64List(value=v)),
        "text": lambda v: tf.train.Feature(bytes_list=tf.train.BytesList(value=v)),
        "none": lambda v: tf.train.Feature(),
    }
    return tf.train.Example(features=tf.train.Features(feature={k: made[kind](v) for k, (kind, v) in kinds.items()})).SerializeToString()


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (
            lambda: aggregated(D.from_tensor_slices(["a" * n for n in (1, 3, 3, 50)]).apply(E.bytes_produced_stats("size")), 4),
            {"size": [9.0, 58.0, 4.0, 89.0, 3687.0, [1.0, 2.0, 1.0]]},
        ),
        (
            lambda: aggregated(D.from_tensor_slices(np.zeros((3, 2, 5), np.int16)).apply(E.bytes_produced_stats("size")), 2),
            {"size": [20.0, 20.0, 2.0, 40.0, 800.0, [2.0]]},
        ),
        (
            lambda: aggregated(
                D.from_tensor_slices(
                    [feature(a=("int", [1]), b=("int", [1, 2]), c=("text", [b"x"])), feature(a=("int", [1]), b=("none", []))]
                )
                .batch(1)
                .apply(E.parse_example_dataset({"a": tf.FixedLenFeature([], tf.int64), "b": tf.VarLenFeature(tf.int64)})),
                2,
            ),
            {
                "ParseExampleDataset/_7::feature_values_count": [1.0, 3.0, 2.0, 4.0, 10.0, [1.0, 1.0]],
                "ParseExampleDataset/_7::features_count": [2.0, 3.0, 2.0, 5.0, 13.0, [1.0, 1.0]],
            },
        ),
        (
            lambda: plain([tf.Session().run(size(d)) for d in sized()]),
            [-2, -2, -2, -2, 5, 5, 5, -2, -2, 0, -1, 0, 0, -1, 5, 5, 5, -1, -2, -1, -2, -2, -1, 0, 1, 0],
        ),
        (
            lambda: [briefly(made) for made in MISTAKES],
            [
                "InvalidArgumentError: There should only be 1 default per field but field 0 has 2",
                "InvalidArgumentError: Each record default should be at most rank 1",
                "InvalidArgumentError: field_delim should be only 1 char",
                "InvalidArgumentError: select_cols should be strictly increasing indices",
                "InvalidArgumentError: select_cols should be non-negative indices",
                "InvalidArgumentError: select_cols should match output size",
                "InvalidArgumentError: Unsupported compression_type: ZIP.",
                "InvalidArgumentError: Batch size must be greater than zero.",
                "InvalidArgumentError: Window size must be greater than zero.",
                "InvalidArgumentError: Window shift must be greater than zero.",
                "InvalidArgumentError: Window stride must be greater than zero.",
                "InvalidArgumentError: buffer_size must be greater than zero.",
                "InvalidArgumentError: buffer_size must be >= 0 or set buffer_size to be -1 for auto-tuning",
                "InvalidArgumentError: num_parallel_calls must be greater than zero.",
                "InvalidArgumentError: cycle_length must be greater than zero.",
                "InvalidArgumentError: block_length must be greater than zero.",
                "InvalidArgumentError: batch_size must be greater than zero.",
                "InvalidArgumentError: num_parallel_calls must be greater than zero.",
                "InvalidArgumentError: Index must be between 0 and 1 (currently index = 2).",
                "InvalidArgumentError: Number of shards must be greater than zero (currently num_shards = 0).",
                "InvalidArgumentError: step must be a non-zero integer.",
                "InvalidArgumentError: Window size must be greater than zero.",
                "no error, but ['InvalidArgumentError']",
                "no error, but ['InvalidArgumentError']",
                "no error, but ['InvalidArgumentError']",
                "no error, but ['InvalidArgumentError']",
                "no error, but ['InvalidArgumentError']",
                "no error, but ['InvalidArgumentError']",
                "no error, but ['InvalidArgumentError']",
            ],
        ),
    ],
)
def test_statistics_sizes_and_mistakes(made, expected):
    assert made() == expected


def briefly(made):
    return refused(made).split(" [[")[0].split(" <")[0]


def sized():
    return [
        D.from_tensor_slices(np.zeros((3, 4))).apply(E.unbatch()),
        D.from_tensor_slices(np.zeros((3, 4))).batch(2, True).apply(E.unbatch()),
        D.range(0).batch(2).apply(E.unbatch()),
        D.from_tensors([1, 2]).repeat().apply(E.unbatch()),
        D.range(5).apply(C.sliding_window_batch(2)),
        D.range(5).apply(E.ignore_errors()),
        D.range(5).apply(E.latency_stats("a")),
        D.range(5).apply(E.parallel_interleave(one_of, 2)),
        D.range(5).apply(E.group_by_window(lambda x: x, lambda k, d: d, 2)),
        D.range(5).repeat(0),
        D.range(5).repeat(-2),
        D.range(5).repeat().repeat(0),
        D.range(5).take(0),
        D.range(5).take(-1),
        D.range(5).skip(0),
        D.range(5).cache("x"),
        D.range(5).map(lambda x: x, num_parallel_calls=2),
        D.range(5).repeat().batch(2),
        D.range(5).filter(lambda x: x > 1).batch(2),
        D.range(5).filter(lambda x: x > 1).repeat(),
        D.range(5).filter(lambda x: x > 1).concatenate(D.range(3)),
        D.zip((D.range(5).filter(lambda x: x > 1), D.range(3))),
        D.range(5).repeat().shard(2, 1),
        D.range(5).shard(7, 6),
        D.range(4).batch(4),
        D.range(4).batch(5, True),
    ]


def csv(defaults, **kwargs):
    return lambda: elements(E.CsvDataset(rows("1,2"), defaults() if callable(defaults) else defaults, **kwargs))


MISTAKES = [
    csv(lambda: [tf.placeholder_with_default([1, 2], None), 1]),
    csv(lambda: [tf.placeholder_with_default([[1]], None), 1]),
    csv([1, 1], field_delim=";;"),
    csv([1, 1], select_cols=[1, 1]),
    csv([1, 1], select_cols=[-1, 1]),
    csv([1], select_cols=[0, 1]),
    csv([1, 1], compression_type="ZIP"),
    lambda: elements(D.range(3).batch(0)),
    lambda: elements(D.range(3).window(0)),
    lambda: elements(D.range(3).window(1, 0)),
    lambda: elements(D.range(3).window(1, 1, 0)),
    lambda: elements(D.range(3).shuffle(0)),
    lambda: elements(D.range(3).prefetch(-5)),
    lambda: elements(D.range(3).map(lambda x: x, num_parallel_calls=0)),
    lambda: elements(D.range(3).interleave(one_of, 0)),
    lambda: elements(D.range(3).interleave(one_of, 1, 0)),
    lambda: elements(D.range(3).apply(E.map_and_batch(lambda x: x, 0))),
    lambda: elements(D.range(3).apply(E.map_and_batch(lambda x: x, 1, num_parallel_calls=0))),
    lambda: elements(D.range(3).shard(2, 2)),
    lambda: elements(D.range(3).shard(0, 0)),
    lambda: elements(D.range(1, 2, 0)),
    lambda: elements(D.range(3).apply(C.sliding_window_batch(0))),
    lambda: elements(tf.data.FixedLengthRecordDataset(rows(), 0)),
    lambda: elements(tf.data.FixedLengthRecordDataset(rows(), 1, -1)),
    lambda: elements(tf.data.FixedLengthRecordDataset(rows(), 1, 0, -1)),
    lambda: elements(tf.data.FixedLengthRecordDataset(rows(), 1, 0, 0, -1)),
    lambda: elements(tf.data.TextLineDataset(rows(), buffer_size=-1)),
    lambda: elements(tf.data.TextLineDataset(rows(), "ZIP")),
    lambda: elements(tf.data.TFRecordDataset(rows(), buffer_size=-1)),
]
