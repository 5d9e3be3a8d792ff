"""Edges of files: empty ones, unknown kinds, numbers that make no sense, snapshots, caches; values are those of TensorFlow 1.15.5."""

import gzip
import os
import tempfile
import zlib

import numpy as np
import pytest
from pipelines import fed, file, outcomes, shown

import everflow as tf
from everflow import internals

D, E, C = tf.data.Dataset, tf.data.experimental, tf.contrib.data
ds = internals.module("python.data.ops.dataset_ops")
distribute = internals.module("python.data.experimental.ops.distribute")
matching_files, snapshot = (internals.module(f"python.data.experimental.ops.{name}") for name in ("matching_files", "snapshot"))


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def csvs(content, *types, **given):
    return E.CsvDataset(file("r.csv", content), list(types), **given)


def column_types(dataset):
    return [t.name for t in tf.data.get_output_types(dataset).values()]


def snaps(make=lambda: D.range(5), **given):
    """What two programs read, and how many files there are in the folders of the snapshot."""
    path = tempfile.mkdtemp()
    found = [outcomes(make().apply(snapshot.snapshot(path, **given))) for _ in range(2)]
    return found, sorted(len(files) for _, _, files in os.walk(path))


def cached(counts):
    """What programs read, one after the other, that take so many elements of a cache (0: all)."""
    path = os.path.join(tempfile.mkdtemp(), "c")
    return [outcomes(D.range(3).map(lambda x: x + 1).cache(path).take(n or -1)) for n in counts]


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: E.make_csv_dataset("no*", 2), "ValueError: No files match no*."),
        (
            lambda: E.make_csv_dataset(file("z.csv", b"a,b\n1,2\n"), 2, num_epochs=0),
            "InvalidArgumentError: count must be greater than zero or equal to -1.",
        ),
        (
            lambda: column_types(
                E.make_csv_dataset(file("z.csv", b"a,b,c,d,e\n1,3000000000,1.5,1e300,x\n,,,,\n2,3,4,5,6\n"), 2, num_epochs=1)
            ),
            ["int32", "int64", "float32", "float64", "string"],
        ),
        (lambda: column_types(E.make_csv_dataset(file("z.csv", b"a,b\nx,1\n1,x\n"), 2, num_epochs=1)), ["string", "string"]),
        (
            lambda: E.CsvDataset([["a"]], [tf.int32]),
            "ValueError: Shape must be at most rank 1 but is rank 2 for 'CSVDataset' (op: 'CSVDataset') with input",
        ),
        (lambda: E.CsvDataset(fed([["a"]], tf.string), [tf.int32]), "InvalidArgumentError: `filenames` must be a scalar or a vector."),
        (lambda: csvs(b"1\n", tf.int32, buffer_size=0), "InvalidArgumentError: buffer_size should be positive"),
        (lambda: csvs(b"1,a\n2,b\n", tf.int32, tf.string), [[1, b"a"], [2, b"b"]]),
        (lambda: csvs(b"1,a\n2,b\n", tf.string, select_cols=[1]), [[b"a"], [b"b"]]),
        (lambda: csvs(b"NA,a\n2,b\n", [7], tf.string, na_value="NA"), [[7, b"a"], [2, b"b"]]),
        (
            lambda: tf.data.TextLineDataset([["a"]]),
            ["NotFoundError: a; No such file or directory", "NotFoundError: a; No such file or directory"],
        ),
        (
            lambda: tf.data.TextLineDataset(fed([["a"]], tf.string)),
            ["NotFoundError: a; No such file or directory", "NotFoundError: a; No such file or directory"],
        ),
        (
            lambda: tf.data.TFRecordDataset(fed([["a"]], tf.string)),
            ["NotFoundError: a; No such file or directory", "NotFoundError: a; No such file or directory"],
        ),
        (
            lambda: tf.data.FixedLengthRecordDataset(fed([["a"]], tf.string), 1),
            ["NotFoundError: a; No such file or directory", "NotFoundError: a; No such file or directory"],
        ),
        (lambda: tf.data.FixedLengthRecordDataset(file("f", b"abc"), 1, buffer_size=0), [b"a", b"b", b"c"]),
        (
            lambda: tf.data.FixedLengthRecordDataset(file("f", b"abc"), 1, buffer_size=-1),
            ["InvalidArgumentError: `buffer_size` must be >= 0"],
        ),
        (
            lambda: tf.data.FixedLengthRecordDataset(file("f.gz", gzip.compress(b"hab;cdf")), 3, 1, 0, compression_type="GZIP"),
            [b"ab;", b"cdf"],
        ),
        (
            lambda: tf.data.FixedLengthRecordDataset(file("f.z", zlib.compress(b"habcdff")), 2, 1, 2, compression_type="ZLIB"),
            [b"ab", b"cd"],
        ),
        (
            lambda: tf.data.FixedLengthRecordDataset(file("f", b"abc"), 1, compression_type="ZIP"),
            ["InvalidArgumentError: Unsupported compression_type."],
        ),
        (
            lambda: tf.data.FixedLengthRecordDataset(file("f", b"abc"), 2, 0, 0),
            [
                'InvalidArgumentError: Excluding the header (0 bytes) and footer (0 bytes), input file "f" has body length 3 byte',
                'InvalidArgumentError: Excluding the header (0 bytes) and footer (0 bytes), input file "f" has body length 3 byte',
            ],
        ),
        (lambda: tf.data.FixedLengthRecordDataset(file("f", b"abc"), 2, -1, 0), ["InvalidArgumentError: `header_bytes` must be >= 0"]),
        (lambda: tf.data.FixedLengthRecordDataset(file("f", b"abc"), 2, 0, -1), ["InvalidArgumentError: `footer_bytes` must be >= 0"]),
        (lambda: tf.data.FixedLengthRecordDataset(file("f", b"abc"), 0), ["InvalidArgumentError: `record_bytes` must be > 0"]),
        (
            lambda: tf.data.TextLineDataset([file("a", b"1\n2\r\n3"), file("b", b""), file("c", b"\n5\n")]).batch(2),
            [[b"1", b"2"], [b"3", b""], [b"5"]],
        ),
        (lambda: tf.data.TextLineDataset([file("a", b"1\n2\r\n3"), file("c", b"\n5\n")]).batch(9), [[b"1", b"2", b"3", b"", b"5"]]),
        (lambda: tf.data.TextLineDataset([file("a", b"1\n2\n3\n4\n5")]).skip(1).batch(2).take(1), [[b"2", b"3"]]),
        (lambda: tf.data.TextLineDataset(file("a.z", zlib.compress(b"1\n2")), "ZLIB"), [b"1", b"2"]),
        (lambda: tf.data.TextLineDataset(file("a", b"1\n2"), "ZIP"), ["InvalidArgumentError: Unsupported compression_type."]),
        (lambda: tf.data.TFRecordDataset(file("a", b""), "ZIP"), []),
        (
            lambda: tf.data.TextLineDataset(file("a", b"1\n2"), buffer_size=-1),
            ["InvalidArgumentError: `buffer_size` must be >= 0 (0 == default)"],
        ),
        (
            lambda: tf.data.TFRecordDataset(file("a", b"1\n2"), buffer_size=-1),
            ["InvalidArgumentError: `buffer_size` must be >= 0 (0 == no buffering)"],
        ),
        (
            lambda: ds.DatasetV1Adapter(matching_files.MatchingFilesDataset(["no*"])),
            ["NotFoundError: Don't find any matched files", "NotFoundError: Don't find any matched files"],
        ),
        (
            lambda: ds.DatasetV1Adapter(matching_files.MatchingFilesDataset(["/nowhere/at/all/x*"])),
            ["NotFoundError: /nowhere/at/all; No such file or directory", "NotFoundError: /nowhere/at/all; No such file or directory"],
        ),
        (lambda: D.list_files("no*"), "InvalidArgumentError: assertion failed: [No files matched pattern: no*]"),
    ],
)
def test_files_and_rows(made, expected):
    assert shown(made) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: snaps(), ([[0, 1, 2, 3, 4], [0, 1, 2, 3, 4]], [0, 1, 1])),
        (lambda: snaps(compression="GZIP"), ([[0, 1, 2, 3, 4], [0, 1, 2, 3, 4]], [0, 1, 1])),
        (
            lambda: snaps(make=lambda: D.from_tensor_slices((["a", "bb"], [[1.0], [2.0]]))),
            ([[[b"a", [1.0]], [b"bb", [2.0]]], [[b"a", [1.0]], [b"bb", [2.0]]]], [0, 1, 1]),
        ),
        (lambda: snaps(shard_size_bytes=16), "InvalidArgumentError: shard_size_bytes must be at least 1 MiB."),
        (lambda: snaps(make=lambda: D.range(0)), ([[], []], [0, 1, 1])),
        (lambda: snaps(compression="ZIP"), "InvalidArgumentError: compression must be either '' or 'GZIP'."),
        (lambda: cached([0, 0]), [[1, 2, 3], [1, 2, 3]]),
        (lambda: cached([2, 0, 0]), [[1, 2], [1, 2, 3], [1, 2, 3]]),
    ],
)
def test_snapshots_and_caches(made, expected):
    assert shown(made) == expected


def cols(**given):
    """The rows of a file with a column of numbers and one of texts, in which fields are missing."""
    return E.make_csv_dataset(file("x.csv", b"a,b\n1,x\n,y\n3,\n"), 2, num_epochs=1, shuffle=False, **given)


def example(**features):
    made = {k: tf.train.Feature(int64_list=tf.train.Int64List(value=v)) for k, v in features.items()}
    return tf.train.Example(features=tf.train.Features(feature=made)).SerializeToString()


def gen(values, types=tf.int32, shapes=None):
    return D.from_generator(lambda: iter(values), types, shapes)


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (
            lambda: cols(column_defaults=[7, "z"]),
            ["InvalidArgumentError: Field 0 is required but missing in record!", {"a": [b"3"], "b": [b"z"]}],
        ),
        (
            lambda: cols(column_defaults=[tf.int32, tf.string]),
            [
                "InvalidArgumentError: Field 0 is required but missing in record!",
                "InvalidArgumentError: Field 1 is required but missing in record!",
            ],
        ),
        (
            lambda: cols(column_defaults=[[7], tf.string]),
            [{"a": [1, 7], "b": [b"x", b"y"]}, "InvalidArgumentError: Field 1 is required but missing in record!"],
        ),
        (lambda: cols(column_defaults=[tf.constant([7]), "q"]), [{"a": [1, 7], "b": [b"x", b"y"]}, {"a": [3], "b": [b"q"]}]),
        (lambda: cols(label_name="b"), [[{"a": [1, 0]}, [b"x", b"y"]], [{"a": [3]}, [b""]]]),
        (lambda: cols(label_name="c"), "ValueError: `label_name` provided must be one of the columns."),
        (lambda: cols(select_columns=["b"]), [{"b": [b"x", b"y"]}, {"b": [b""]}]),
        (lambda: cols(select_columns=[1]), [{"b": [b"x", b"y"]}, {"b": [b""]}]),
        (
            lambda: cols(select_columns=["b"], column_defaults=[1, "z"]),
            "ValueError: If specified, column_defaults and select_columns must have same length.",
        ),
        (lambda: cols(column_names=["x", "y"]), [{"x": [1, 0], "y": [b"x", b"y"]}, {"x": [3], "y": [b""]}]),
        (lambda: cols(column_names=["x", "x"]), "ValueError: Cannot have duplicate column names."),
        (lambda: cols(header=False), "ValueError: Cannot infer column names without a header line."),
        (
            lambda: cols(header=False, column_names=["x", "y"]),
            [{"x": [b"a", b"1"], "y": [b"b", b"x"]}, {"x": [b"", b"3"], "y": [b"y", b""]}],
        ),
        (lambda: cols(num_rows_for_inference=1), [{"a": [1, 0], "b": [b"x", b"y"]}, {"a": [3], "b": [b""]}]),
        (lambda: cols(column_names=["x"]), "ValueError: Problem inferring types: CSV row has different number of fields than expected."),
        (lambda: cols(select_columns=[2]), "ValueError: Column index 2 specified in select_columns out of valid range."),
        (lambda: cols(select_columns=["a", 1]), [{"a": [1, 0], "b": [b"x", b"y"]}, {"a": [3], "b": [b""]}]),
        (lambda: cols(compression_type="ZLIB"), "ValueError: compression_type (ZLIB) is not supported for probing columns"),
        (lambda: cols(select_columns=["b", "a"]), [{"a": [1, 0], "b": [b"x", b"y"]}, {"a": [3], "b": [b""]}]),
        (lambda: cols(column_defaults=[tf.int32, tf.string], ignore_errors=True), [{"a": [1], "b": [b"x"]}]),
        (lambda: cols(na_value="x", column_defaults=[0, "none"]), [{"a": [1, 0], "b": [b"none", b"y"]}, {"a": [3], "b": [b"none"]}]),
        (lambda: cols(use_quote_delim=False), [{"a": [1, 0], "b": [b"x", b"y"]}, {"a": [3], "b": [b""]}]),
        (lambda: cols(field_delim=";"), [{"a,b": [b"1,x", b",y"]}, {"a,b": [b"3,"]}]),
        (lambda: cols(select_columns=["q"]), "ValueError: Value 'q' specified in select_columns not a valid column index or name."),
        (lambda: cols(select_columns=["b", "b"]), "ValueError: select_columns contains duplicate columns"),
    ],
)
def test_columns_are_chosen_and_filled(made, expected):
    assert shown(made) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (
            lambda: (
                D.from_tensor_slices([example(a=[1]), example(a=[2])])
                .batch(2)
                .apply(E.parse_example_dataset({"a": tf.FixedLenFeature([], tf.int64)}))
            ),
            [{"a": [1, 2]}],
        ),
        (
            lambda: D.from_tensor_slices([example(a=[1])]).batch(1).apply(E.parse_example_dataset(None)),
            "ValueError: Missing: features was None.",
        ),
        (
            lambda: D.from_tensor_slices([example(a=[1])]).apply(E.parse_example_dataset({"a": tf.FixedLenFeature([], tf.int64)})),
            "TypeError: Input dataset should be a dataset of vectors of strings",
        ),
        (
            lambda: D.from_tensor_slices([example(b=[1])]).batch(1).apply(E.parse_example_dataset({"a": tf.FixedLenFeature([], tf.int64)})),
            ["InvalidArgumentError: Name: <unknown>, Feature: a (data type: int64) is required but could not be found."],
        ),
        (
            lambda: D.range(2).batch(1).apply(E.parse_example_dataset({"a": tf.FixedLenFeature([], tf.int64)})),
            "TypeError: Input dataset should be a dataset of vectors of strings",
        ),
        (
            lambda: (
                D.from_tensor_slices([example(a=[1])]).batch(1).apply(E.parse_example_dataset({"a": tf.FixedLenFeature([], tf.int64)}, 0))
            ),
            "InvalidArgumentError: num_parallel_calls must be greater than zero.",
        ),
    ],
)
def test_serialized_examples(made, expected):
    assert shown(made) == expected


def test_a_key_is_of_one_kind():
    features = {"a": tf.FixedLenFeature([], tf.int64), "s": tf.SparseFeature("a", "v", tf.float32, 3)}
    with pytest.raises(ValueError, match="Dense and sparse keys must not intersect; intersection: {'a'}"):
        D.from_tensor_slices([example(a=[1])]).batch(1).apply(E.parse_example_dataset(features))


@pytest.mark.parametrize(
    ("further", "expected"),
    [
        (lambda d: d.take(4), [b"d", b"e", b"f"]),
        (lambda d: d.skip(1), [b"e", b"f"]),
        (lambda d: d.repeat(2), [b"d", b"e", b"f", b"d", b"e", b"f"]),
        (lambda d: d.batch(2), [[b"d", b"e"], [b"f"]]),
        (lambda d: d.map(lambda x: x + "!"), [b"d!", b"e!", b"f!"]),
        (lambda d: d.map(lambda x: x + "!", 2), [b"d!", b"e!", b"f!"]),
        (lambda d: d.filter(lambda x: tf.not_equal(x, "e")), [b"d", b"f"]),
        (lambda d: d.cache(), [b"d", b"e", b"f"]),
        (lambda d: d.prefetch(1), [b"d", b"e", b"f"]),
        (lambda d: d.shuffle(1), [b"d", b"e", b"f"]),
        (lambda d: d.apply(E.shuffle_and_repeat(1, 2)), [b"d", b"e", b"f", b"d", b"e", b"f"]),
        (lambda d: d.padded_batch(2, []), [[b"d", b"e"], [b"f"]]),
        (lambda d: d.window(2).flat_map(lambda w: w.batch(2)), [[b"c", b"d"]]),
        (lambda d: d.batch(2).apply(E.unbatch()), [b"b", b"d", b"f"]),
        (lambda d: d.apply(E.map_and_batch(lambda x: x, 2)), [[b"d", b"e"], [b"f"]]),
        (lambda d: d.enumerate(), [[1, b"b"], [3, b"d"], [5, b"f"]]),
        (lambda d: d.shard(2, 0), [b"d", b"f"]),
        (lambda d: d.flat_map(lambda x: D.from_tensors(x)), [b"b", b"d", b"f"]),
        (lambda d: d.interleave(lambda x: D.from_tensors(x), 1), [b"b", b"d", b"f"]),
        (lambda d: d.apply(E.take_while(lambda x: tf.not_equal(x, "f"))), [b"b", b"d"]),
        (lambda d: d.apply(E.unique()), [b"b", b"d", b"f"]),
        (lambda d: d.apply(E.scan(np.int64(0), lambda s, x: (s + 1, x))), [b"b", b"d", b"f"]),
        (lambda d: d.apply(E.ignore_errors()), [b"b", b"d", b"f"]),
        (lambda d: d.apply(E.group_by_window(lambda x: np.int64(0), lambda k, w: w.batch(2), 2)), [[b"c", b"d"]]),
        (lambda d: d.apply(E.latency_stats("x")), [b"b", b"d", b"f"]),
        (lambda d: d.apply(E.bytes_produced_stats("x")), [b"b", b"d", b"f"]),
        (lambda d: d.concatenate(d), [b"d", b"e", b"f", b"d", b"e", b"f"]),
        (lambda d: D.zip((d, d)), [[b"d", b"d"], [b"e", b"e"], [b"f", b"f"]]),
        (lambda d: distribute._RebatchDataset(d.batch(2), 2), [[b"b"], [b"d"], [b"f"]]),
        (lambda d: d.interleave(lambda x: D.from_tensors(x), 1, 1, 1), [b"b", b"d", b"f"]),
        (lambda d: d.apply(E.parallel_interleave(lambda x: D.from_tensors(x), 1)), [b"b", b"d", b"f"]),
    ],
)
def test_workers_share_files_out_where_that_is_the_same_and_elements_otherwise(further, expected):
    lines = tf.data.TextLineDataset([file("f0", b"a\nb\nc"), file("f1", b"d\ne\nf")])
    assert outcomes(distribute._AutoShardDataset(further(lines), 2, 1)) == expected
