"""What the ops of datasets and what they are given are called in the graph, as in TensorFlow 1.15.5."""

import pytest

import everflow as tf

D, E, C = tf.data.Dataset, tf.data.experimental, tf.contrib.data


def one():
    return D.range(3)


def words():
    return D.from_tensors("a")


MADE = {
    "range": lambda: D.range(5),
    "tensors": lambda: D.from_tensors((1, "a")),
    "slices": lambda: D.from_tensor_slices({"a": [1], "b": [2]}),
    "sparse": lambda: D.from_tensors(tf.SparseTensor([[0]], [1], [1])),
    "generator": lambda: D.from_generator(lambda: iter([1]), tf.int32),
    "zip": lambda: D.zip((one(), one())),
    "concatenate": lambda: one().concatenate(one()),
    "batch": lambda: one().batch(2),
    "padded": lambda: one().padded_batch(2, []),
    "prefetch": lambda: one().prefetch(2),
    "repeat": lambda: one().repeat(),
    "take": lambda: one().take(2),
    "skip": lambda: one().skip(2),
    "shard": lambda: one().shard(3, 1),
    "cache": lambda: one().cache(),
    "cache file": lambda: one().cache("f"),
    "shuffle": lambda: one().shuffle(3),
    "map": lambda: one().map(lambda x: x),
    "parallel map": lambda: one().map(lambda x: x, 2),
    "flat_map": lambda: one().flat_map(D.from_tensors),
    "interleave": lambda: one().interleave(D.from_tensors, 2),
    "parallel interleave": lambda: one().interleave(D.from_tensors, 2, 1, 2),
    "filter": lambda: one().filter(lambda x: x > 0),
    "window": lambda: one().window(2),
    "enumerate": lambda: one().enumerate(),
    "lines": lambda: tf.data.TextLineDataset("f"),
    "records": lambda: tf.data.TFRecordDataset("f"),
    "many records": lambda: tf.data.TFRecordDataset(["f", "g"], num_parallel_reads=2),
    "fixed": lambda: tf.data.FixedLengthRecordDataset("f", 2),
    "list_files": lambda: D.list_files("/etc/host*"),
    "csv": lambda: E.CsvDataset("f", [1]),
    "sql": lambda: E.SqlDataset("sqlite", "f", "q", tf.int32),
    "random": lambda: E.RandomDataset(),
    "counter": lambda: E.Counter(),
    "shuffle_and_repeat": lambda: one().apply(E.shuffle_and_repeat(2)),
    "map_and_batch": lambda: one().apply(E.map_and_batch(lambda x: x, 2)),
    "scan": lambda: one().apply(E.scan(0, lambda s, x: (s, x))),
    "group_by_window": lambda: one().apply(E.group_by_window(lambda x: x, lambda k, d: d.batch(2), 2)),
    "ignore_errors": lambda: one().apply(E.ignore_errors()),
    "unbatch": lambda: one().batch(2).apply(E.unbatch()),
    "unique": lambda: one().apply(E.unique()),
    "take_while": lambda: one().apply(E.take_while(lambda x: x < 2)),
    "old interleave": lambda: one().apply(E.parallel_interleave(D.from_tensors, 2)),
    "choose": lambda: E.choose_from_datasets([one(), one()], one()),
    "sample": lambda: E.sample_from_datasets([one(), one()]),
    "reject": lambda: one().apply(E.rejection_resample(lambda x: x % 2, [0.5, 0.5], [0.5, 0.5])),
}


def found(name):
    op = MADE[name]()._variant_tensor.op
    return [op.name, *(t.op.name for t in op.inputs)]


NAMES = {
    "range": ["RangeDataset", "start", "stop", "step"],
    "tensors": ["TensorDataset", "normalize_element/component_0", "normalize_element/component_1"],
    "slices": ["TensorSliceDataset", "normalize_element/component_0", "normalize_element/component_1"],
    "sparse": ["TensorDataset", "SerializeSparse"],
    "generator": ["FlatMapDataset", "TensorDataset"],
    "zip": ["ZipDataset", "RangeDataset", "RangeDataset_1"],
    "concatenate": ["ConcatenateDataset", "RangeDataset", "RangeDataset_1"],
    "batch": ["BatchDatasetV2", "RangeDataset", "batch_size", "drop_remainder"],
    "padded": ["PaddedBatchDatasetV2", "RangeDataset", "batch_size", "Const", "padding_value", "drop_remainder"],
    "prefetch": ["PrefetchDataset", "RangeDataset", "buffer_size"],
    "repeat": ["RepeatDataset", "RangeDataset", "count"],
    "take": ["TakeDataset", "RangeDataset", "count"],
    "skip": ["SkipDataset", "RangeDataset", "count"],
    "shard": ["ShardDataset", "RangeDataset", "num_shards", "index"],
    "cache": ["CacheDataset", "RangeDataset", "filename"],
    "cache file": ["CacheDataset", "RangeDataset", "filename"],
    "shuffle": ["ShuffleDataset", "RangeDataset", "buffer_size", "seed", "seed2"],
    "map": ["MapDataset", "RangeDataset"],
    "parallel map": ["ParallelMapDataset", "RangeDataset", "num_parallel_calls"],
    "flat_map": ["FlatMapDataset", "RangeDataset"],
    "interleave": ["InterleaveDataset", "RangeDataset", "cycle_length", "block_length"],
    "parallel interleave": ["ParallelInterleaveDatasetV2", "RangeDataset", "cycle_length", "block_length", "num_parallel_calls"],
    "filter": ["FilterDataset", "RangeDataset"],
    "window": ["WindowDataset", "RangeDataset", "size", "shift", "stride", "drop_remainder"],
    "enumerate": ["ZipDataset", "RangeDataset_1", "RangeDataset"],
    "lines": ["FlatMapDataset", "TensorSliceDataset"],
    "records": ["FlatMapDataset", "TensorSliceDataset"],
    "many records": [
        "ParallelInterleaveDataset",
        "TensorSliceDataset",
        "cycle_length",
        "block_length",
        "sloppy",
        "buffer_output_elements",
        "prefetch_input_elements",
    ],
    "fixed": ["FlatMapDataset", "TensorSliceDataset"],
    "list_files": [
        "list_files/ShuffleDataset",
        "list_files/TensorSliceDataset",
        "list_files/Maximum",
        "list_files/seed",
        "list_files/seed2",
    ],
    "csv": [
        "CSVDataset",
        "filenames",
        "compression_type",
        "buffer_size",
        "header",
        "field_delim",
        "use_quote_delim",
        "na_value",
        "select_cols",
        "Const",
    ],
    "sql": ["SqlDataset", "driver_name", "data_source_name", "query"],
    "random": ["RandomDataset", "seed", "seed2"],
    "counter": ["counter/ScanDataset", "counter/RepeatDataset", "counter/start", "counter/step"],
    "shuffle_and_repeat": ["ShuffleAndRepeatDataset", "RangeDataset", "buffer_size", "seed", "seed2", "count"],
    "map_and_batch": ["MapAndBatchDataset", "RangeDataset", "batch_size", "num_parallel_calls", "drop_remainder"],
    "scan": ["ScanDataset", "RangeDataset", "normalize_element/component_0"],
    "group_by_window": ["GroupByWindowDataset", "RangeDataset"],
    "ignore_errors": ["IgnoreErrorsDataset", "RangeDataset"],
    "unbatch": ["UnbatchDataset", "MapDataset"],
    "unique": ["UniqueDataset", "RangeDataset"],
    "take_while": ["TakeWhileDataset", "RangeDataset"],
    "old interleave": [
        "ParallelInterleaveDataset",
        "RangeDataset",
        "cycle_length",
        "block_length",
        "sloppy",
        "buffer_output_elements",
        "prefetch_input_elements",
    ],
    "choose": ["DirectedInterleaveDataset", "RangeDataset_2", "RangeDataset", "RangeDataset_1"],
    "sample": ["DirectedInterleaveDataset", "MapDataset", "RangeDataset", "RangeDataset_1"],
    "reject": ["ZipDataset_2", "MapDataset", "RangeDataset"],
}


@pytest.mark.parametrize("name", sorted(MADE))
def test_ops_of_datasets_have_the_names_of_tensorflow(name):
    assert found(name) == NAMES[name]
