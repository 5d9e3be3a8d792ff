"""Files of lines, records, rows and names, and the mistakes in them; values are those of TensorFlow 1.15.5."""

import gzip
import os
import sqlite3
import tempfile
import zlib

import numpy as np
import pytest
from pipelines import elements, goes_on, shapes, types
from plain import computed

import everflow as tf
from everflow import internals

D, E, C = tf.data.Dataset, tf.data.experimental, tf.contrib.data
readers = internals.module("python.data.experimental.ops.readers")
matching_files = internals.module("python.data.experimental.ops.matching_files")


def file(content, name="file", how=open, folder=None):
    path = os.path.join(folder or tempfile.mkdtemp(), name)
    with how(path, "wb") as f:
        f.write(content)
    return path


def text(*lines):
    return file("\n".join(lines).encode() + b"\n")


def records(*contents):
    path = os.path.join(tempfile.mkdtemp(), "records")
    with tf.io.TFRecordWriter(path) as writer:
        for c in contents:
            writer.write(c)
    return path


def folder(*names):
    path = tempfile.mkdtemp()
    for name in names:
        file(name.encode(), name, folder=path)
    return path


def base(dataset):
    return dataset.map(lambda p: tf.strings.regex_replace(p, ".*/", ""))


def database():
    path = os.path.join(tempfile.mkdtemp(), "data.sqlite")
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE t (name TEXT, age INTEGER, height REAL, fits INTEGER)")
        rows = [("a", 3, 1.5, 1), ("b", 4, 2.5, 0), (None, None, None, None), ("7", -5, 7, 2)]
        connection.executemany("INSERT INTO t VALUES (?, ?, ?, ?)", rows)
    return path


def sql(columns, types, where=""):
    return E.SqlDataset("sqlite", database(), f"SELECT {columns} FROM t {where}", types)


def csv(*lines, **kwargs):
    return E.make_csv_dataset(text(*lines), **dict(dict(batch_size=2, num_epochs=1, shuffle=False), **kwargs))


def many(n):
    return file(b"".join(b"line %d\n" % i for i in range(n)))


def tf_records(*contents, **kwargs):
    return readers.make_tf_record_dataset(records(*contents), **dict(dict(batch_size=2, num_epochs=1, shuffle=False), **kwargs))


def table(*lines, defaults=(tf.int32, tf.string), **kwargs):
    return E.CsvDataset(text(*lines), list(defaults), **kwargs)


# Some mistakes are made for ever.
MOST = 6
READ = [
    (lambda: tf.data.TextLineDataset([text("a", "b"), text(), text("c", "", "d")]), [b"a", b"b", b"", b"c", b"", b"d"]),
    (lambda: tf.data.TextLineDataset([text("a", "b", "c"), text("d", "e")]).batch(2), [[b"a", b"b"], [b"c", b"d"], [b"e"]]),
    (lambda: tf.data.TextLineDataset(file(b"a\r\nb\r\n\r\nc\r")), [b"a", b"b", b"", b"c"]),
    (lambda: tf.data.TextLineDataset(file(b"\n\na")), [b"", b"", b"a"]),
    (lambda: tf.data.TextLineDataset(many(40)).skip(37), [b"line 37", b"line 38", b"line 39"]),
    (
        lambda: tf.data.TextLineDataset(many(7)).batch(3),
        [[b"line 0", b"line 1", b"line 2"], [b"line 3", b"line 4", b"line 5"], [b"line 6"]],
    ),
    (lambda: tf.data.TextLineDataset(many(6)).shuffle(3, seed=5), [b"line 1", b"line 3", b"line 4", b"line 5", b"line 0", b"line 2"]),
    (
        lambda: tf.data.TextLineDataset([text("a"), "/none/such", text("b")]),
        [b"a", "NotFoundError", "NotFoundError", "NotFoundError", "NotFoundError", "NotFoundError"],
    ),
    (lambda: tf.data.FixedLengthRecordDataset([file(b"HabcdefF"), file(b"HghF")], 2, 1, 1), [b"ab", b"cd", b"ef", b"gh"]),
    (lambda: tf.data.FixedLengthRecordDataset([file(b"abcdef"), file(b""), file(b"gh")], 2).batch(3), [[b"ab", b"cd", b"ef"], [b"gh"]]),
    (lambda: tf.data.FixedLengthRecordDataset(file(b"ab"), 1, 1, 1), []),
    (lambda: tf.data.TFRecordDataset([records(b"a", b"b"), records(), records(b"c")]), [b"a", b"b", b"c"]),
    (lambda: tf.data.TFRecordDataset([records(b"a", b"b"), records(b"c", b"d", b"e")]).batch(2), [[b"a", b"b"], [b"c", b"d"], [b"e"]]),
    (lambda: tf.data.TFRecordDataset([records(b"a", b"b"), records(b"c")]).repeat(2).batch(4, True), [[b"a", b"b", b"c", b"a"]]),
    (lambda: table("1,a", "2,b", "3,c"), [[1, b"a"], [2, b"b"], [3, b"c"]]),
    (
        lambda: E.CsvDataset([text("h,h", "1,a"), text("h,h", "2,b", "3,c")], [tf.int32, tf.string], header=True),
        [[1, b"a"], [2, b"b"], [3, b"c"]],
    ),
    (lambda: table('1,"a', 'b"', '2,"c"', "3,d"), [[1, b"a\nb"], [2, b"c"], [3, b"d"]]),
    (lambda: table('1,"a""b"', '2,""""', '3,""', defaults=(tf.int32, "none")), [[1, b'a"b'], [2, b'"'], [3, b"none"]]),
    (lambda: table('1,"a"b', "2,c"), ["InvalidArgumentError"]),
    (lambda: table('1,a"b', "2,c"), ["InvalidArgumentError", [2, b"c"]]),
    (lambda: table('1,a"b"', "2,c", use_quote_delim=False), [[1, b'a"b"'], [2, b"c"]]),
    (lambda: table('"1","a"', "2,b"), [[1, b"a"], [2, b"b"]]),
    (lambda: table("1,a,x", "2,b,y", defaults=(tf.string, tf.int32), select_cols=[0, 2]), ["InvalidArgumentError", "InvalidArgumentError"]),
    (
        lambda: table("1,a,x", "2", "3,b", "4,c,z", defaults=(tf.int32, tf.string), select_cols=[0, 2]),
        [[1, b"x"], "InvalidArgumentError", "InvalidArgumentError", [4, b"z"]],
    ),
    (lambda: table("1,a", "x,b", "3,c"), [[1, b"a"], "InvalidArgumentError", [3, b"c"]]),
    (lambda: table(",a", "-,", "3,c", defaults=(5, "d"), na_value="-"), [[5, b"a"], [5, b"d"], [3, b"c"]]),
    (lambda: table(",a", "3,c", defaults=(tf.constant([], tf.int32), "d")), ["InvalidArgumentError", [3, b"c"]]),
    (
        lambda: table("1.5,2.5", "1e3,-inf", "x,1", defaults=(tf.float32, tf.float64)),
        [[1.5, 2.5], [1000.0, -np.inf], "InvalidArgumentError"],
    ),
    (lambda: table("9999999999,1", "1,9999999999", defaults=(tf.int64, tf.int32)), [[9999999999, 1], "InvalidArgumentError"]),
    (lambda: E.CsvDataset(file(b'1,"a"\r\n2,b\r\n'), [tf.int32, tf.string]), [[1, b"a"], [2, b"b"]]),
    (lambda: E.CsvDataset(file(b'1,"a"\r\n2,"b\r\nc"'), [tf.int32, tf.string]), [[1, b"a"], [2, b"b\r\nc"]]),
    (lambda: E.CsvDataset(file(b"1,a\r2,b\r"), [tf.int32, tf.string]), [[1, b"a"], [2, b"b"]]),
    (lambda: E.CsvDataset(file(b"1,a\n\n2,b\n"), [tf.int32, tf.string]), [[1, b"a"], "InvalidArgumentError", [2, b"b"]]),
    (lambda: E.CsvDataset(file(b"1;a\n2;b", how=gzip.open), [tf.int32, tf.string], "GZIP", field_delim=";"), [[1, b"a"], [2, b"b"]]),
    (lambda: E.CsvDataset(file(zlib.compress(b"h\n1\n2")), [tf.int32], "ZLIB", header=True), [[1], [2]]),
    (
        lambda: E.CsvDataset([text("1"), "/none/such"], [tf.int32]).take(2),
        [[1], "NotFoundError", "NotFoundError", "NotFoundError", "NotFoundError", "NotFoundError"],
    ),
    (lambda: sql("name, age, height", (tf.string, tf.int32, tf.float64)), [[b"a", 3, 1.5], [b"b", 4, 2.5], [b"", 0, 0.0], [b"7", -5, 7.0]]),
    (lambda: sql("age, age, age, age", (tf.int8, tf.int16, tf.int64, tf.string), "WHERE age > 0"), [[3, 3, 3, b"3"], [4, 4, 4, b"4"]]),
    (lambda: sql("age, age", (tf.uint8, tf.uint16), "WHERE age > 0"), [[3, 3], [4, 4]]),
    (lambda: sql("fits, name", (tf.bool, tf.string)), [[True, b"a"], [False, b"b"], [False, b""], [True, b"7"]]),
    (
        lambda: sql("height, height", (tf.float64, tf.string), "ORDER BY height DESC"),
        [[7.0, b"7.0"], [2.5, b"2.5"], [1.5, b"1.5"], [0.0, b""]],
    ),
    (lambda: sql("age", (tf.int32,), "WHERE age > 100"), []),
    (
        lambda: sql("age", (tf.int32, tf.int32)).take(1),
        [
            "InvalidArgumentError",
            "InvalidArgumentError",
            "InvalidArgumentError",
            "InvalidArgumentError",
            "InvalidArgumentError",
            "InvalidArgumentError",
        ],
    ),
    (lambda: base(matching_files.MatchingFilesDataset(folder("b", "a", "c") + "/*")), [b"a", b"b", b"c"]),
    (
        lambda: base(matching_files.MatchingFilesDataset((lambda f: [f + "/?.x", f + "/b*"])(folder("bc", "a.y", "c.x", "b.x")))),
        [b"b.x", b"c.x", b"b.x", b"bc"],
    ),
    (
        lambda: matching_files.MatchingFilesDataset("/none/such/*"),
        ["NotFoundError", "NotFoundError", "NotFoundError", "NotFoundError", "NotFoundError", "NotFoundError"],
    ),
    (
        lambda: matching_files.MatchingFilesDataset(folder() + "/*"),
        ["NotFoundError", "NotFoundError", "NotFoundError", "NotFoundError", "NotFoundError", "NotFoundError"],
    ),
]


@pytest.mark.parametrize(("made", "expected"), READ)
def test_files_give_their_elements_in_order(made, expected):
    assert elements(made(), MOST) == expected


@pytest.mark.parametrize(("made", "expected"), [(made, expected) for made, expected in READ if "Error" not in str(expected)])
def test_reading_goes_on_in_the_midst_of_files(made, expected):
    assert goes_on(made(), expected)


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (
            lambda: elements(csv("a,b", "1,x", "2,y", "3,z", num_epochs=None).take(3)),
            [{"a": [1, 2], "b": [b"x", b"y"]}, {"a": [3, 1], "b": [b"z", b"x"]}, {"a": [2, 3], "b": [b"y", b"z"]}],
        ),
        (
            lambda: elements(csv("a,b", "1,x", "2,y", "3,z", shuffle=True, shuffle_seed=3)),
            [{"a": [1, 2], "b": [b"x", b"y"]}, {"a": [3], "b": [b"z"]}],
        ),
        (
            lambda: elements(csv("a,b", "1,x", "2,y", "3,z", shuffle=True, shuffle_seed=3, num_epochs=2)),
            [{"a": [3, 1], "b": [b"z", b"x"]}, {"a": [2, 3], "b": [b"y", b"z"]}, {"a": [1, 2], "b": [b"x", b"y"]}],
        ),
        (
            lambda: elements(csv("a,b", "1,x", "2,y", "3,z", shuffle=True, shuffle_seed=3, shuffle_buffer_size=1)),
            [{"a": [1, 2], "b": [b"x", b"y"]}, {"a": [3], "b": [b"z"]}],
        ),
        (
            lambda: elements(csv("a,b", "1,x", "2.5,y", "x,z", num_rows_for_inference=2, ignore_errors=True)),
            [{"a": [1.0, 2.5], "b": [b"x", b"y"]}],
        ),
        (lambda: elements(csv("a,b", "1,x", "2.5,y", num_rows_for_inference=1), 2), ["InvalidArgumentError"]),
        (lambda: elements(csv('a,b"', '1,"x', use_quote_delim=False)), [{"a": [1], 'b"': [b'"x']}]),
        (lambda: elements(csv("a,b", '1,"x,y"')), [{"a": [1], "b": [b"x,y"]}]),
        (
            lambda: elements(
                E.make_csv_dataset(
                    (lambda f: [file(b"a,b\n1,x\n2,y\n", "1", folder=f), file(b"a,b\n3,z\n", "2", folder=f)])(tempfile.mkdtemp()),
                    2,
                    num_epochs=1,
                    shuffle=False,
                    num_parallel_reads=2,
                    prefetch_buffer_size=0,
                )
            ),
            [{"a": [1, 3], "b": [b"x", b"z"]}, {"a": [2], "b": [b"y"]}],
        ),
        (
            lambda: elements(
                E.make_csv_dataset(file(b"a,b\n1,x\n2,y\n", how=gzip.open), 2, num_epochs=1, shuffle=False, compression_type="GZIP")
            ),
            [{"a": [1, 2], "b": [b"x", b"y"]}],
        ),
        (
            lambda: elements(E.make_csv_dataset(text("1,x", "2,y"), 2, ["p", "q"], header=False, num_epochs=1, shuffle=False)),
            [{"p": [1, 2], "q": [b"x", b"y"]}],
        ),
        (lambda: elements(csv("a,b,c", "1,x,2", select_columns=["c", 0], column_defaults=[7, tf.int64])), [{"a": [b"1"], "c": [2]}]),
        (lambda: elements(csv("a,b,c", "1,x,2", select_columns=["c", "b"], label_name="c")), [[{"b": [b"x"]}, [2]]]),
        (
            lambda: types(csv("a,b,c,d,e,f", "1,,1e39,nan,2147483648,-2147483649")),
            {"a": "int32", "b": "string", "c": "float64", "d": "string", "e": "int64", "f": "int64"},
        ),
        (lambda: types(csv("a,b,c", "1,1,1", "2.5,9999999999,99999999999999999999")), {"a": "float32", "b": "int64", "c": "float32"}),
        (lambda: types(csv("a,b,c", "NA,1.5,NA", "3,1,NA", na_value="NA")), {"a": "int32", "b": "float32", "c": "string"}),
        (lambda: types(csv("a,b,c", "1.5,x,1e300", "1,1,1")), {"a": "float32", "b": "string", "c": "float64"}),
        (lambda: types(csv("a,b", "1,1", "1,1", "2.5,x", num_rows_for_inference=None)), {"a": "float32", "b": "string"}),
        (lambda: shapes(csv("a,b", "1,x", num_epochs=None, batch_size=3)), {"a": [3], "b": [3]}),
        (lambda: list(types(csv("b,a,c", "1,x,2.5"))), ["b", "a", "c"]),
        (lambda: elements(tf_records(b"a", b"b", b"c")), [[b"a", b"b"], [b"c"]]),
        (lambda: elements(tf_records(b"a", b"b", b"c", drop_final_batch=True)), [[b"a", b"b"]]),
        (lambda: elements(tf_records(b"a", b"b", b"c", num_epochs=None).take(3)), [[b"a", b"b"], [b"c", b"a"], [b"b", b"c"]]),
        (
            lambda: elements(tf_records(b"1", b"2", b"3", parser_fn=lambda x: tf.strings.to_number(x), prefetch_buffer_size=0)),
            [[1.0, 2.0], [3.0]],
        ),
        (
            lambda: elements(tf_records(b"1", b"2", b"3", num_epochs=2, num_parallel_reads=1, num_parallel_parser_calls=2)),
            [[b"1", b"2"], [b"3", b"1"], [b"2", b"3"]],
        ),
        (lambda: elements(tf_records(b"1", b"2", b"3", b"4", shuffle=True, shuffle_seed=3)), [[b"1", b"2"], [b"3", b"4"]]),
        (
            lambda: elements(tf_records(b"1", b"2", b"3", b"4", shuffle=True, shuffle_seed=3, shuffle_buffer_size=2, num_epochs=2)),
            [[b"2", b"3"], [b"1", b"4"], [b"2", b"1"], [b"3", b"4"]],
        ),
        (lambda: shapes(tf_records(b"a", num_epochs=None)), [2]),
        (lambda: types(E.CsvDataset("a", [tf.int32, "d", 2.5, np.float64(1)])), ["int32", "string", "float32", "float32"]),
        (lambda: shapes(sql("age, name", (tf.int32, tf.string))), [[], []]),
        (lambda: types(sql("age, name", (tf.int32, tf.string))), ["int32", "string"]),
        (lambda: elements(base(D.list_files(folder("b", "a", "c") + "/*", shuffle=False))), [b"a", b"b", b"c"]),
        (lambda: elements(base(D.list_files(folder("b", "a", "c", "d") + "/*", seed=4))), [b"d", b"b", b"c", b"a"]),
        (
            lambda: elements(base(D.list_files((lambda f: [f + "/b*", f + "/a"])(folder("a", "b", "bc", "d")), shuffle=False))),
            [b"a", b"b", b"bc"],
        ),
        (
            lambda: elements(tf.data.TFRecordDataset(D.from_tensor_slices([records(b"a"), records(b"b")]), num_parallel_reads=2)),
            [b"a", b"b"],
        ),
        (lambda: elements(tf.data.TextLineDataset(D.from_tensor_slices([text("a"), text("b")]))), [b"a", b"b"]),
        (lambda: elements(tf.data.FixedLengthRecordDataset(D.from_tensor_slices([file(b"ab"), file(b"cd")]), 1)), [b"a", b"b", b"c", b"d"]),
    ],
)
def test_files_become_batches_and_columns(made, expected):
    assert computed(made()) == expected


def reading(dataset):
    """Reads a dataset to its end; errors are raised."""
    following = tf.data.make_one_shot_iterator(dataset).get_next()
    with tf.Session() as session:
        for _ in range(9):
            session.run(following)


@pytest.mark.parametrize(
    ("made", "error", "message"),
    [
        (lambda: reading(tf.data.TextLineDataset([["a"]])), tf.errors.NotFoundError, "a; No such file or directory"),
        (
            lambda: reading(tf.data.TextLineDataset("a", buffer_size=-1)),
            tf.errors.InvalidArgumentError,
            "`buffer_size` must be >= 0 (0 == default)",
        ),
        (lambda: reading(tf.data.TextLineDataset("a", "none")), tf.errors.InvalidArgumentError, "Unsupported compression_type."),
        (lambda: reading(tf.data.TextLineDataset("/none/such")), tf.errors.NotFoundError, "/none/such; No such file or directory"),
        (
            lambda: reading(tf.data.TFRecordDataset("a", buffer_size=-1)),
            tf.errors.InvalidArgumentError,
            "`buffer_size` must be >= 0 (0 == no buffering)",
        ),
        (lambda: reading(tf.data.TFRecordDataset("a", "none")), tf.errors.NotFoundError, "a; No such file or directory"),
        (lambda: reading(tf.data.FixedLengthRecordDataset("a", 0)), tf.errors.InvalidArgumentError, "`record_bytes` must be > 0"),
        (lambda: reading(tf.data.FixedLengthRecordDataset("a", 1, -1)), tf.errors.InvalidArgumentError, "`header_bytes` must be >= 0"),
        (lambda: reading(tf.data.FixedLengthRecordDataset("a", 1, 0, -1)), tf.errors.InvalidArgumentError, "`footer_bytes` must be >= 0"),
        (lambda: reading(tf.data.FixedLengthRecordDataset("a", 1, 0, 0, -1)), tf.errors.InvalidArgumentError, "`buffer_size` must be >= 0"),
        (lambda: tf.data.TFRecordDataset(D.range(2)), TypeError, "`filenames` must be a `tf.data.Dataset` of `tf.string` elements."),
        (
            lambda: tf.data.TFRecordDataset(D.zip((D.from_tensors("a"), D.from_tensors("b")))),
            TypeError,
            "`filenames` must be a `tf.data.Dataset` of `tf.string` elements.",
        ),
        (
            lambda: reading(E.CsvDataset("a", [tf.int32], field_delim="::")),
            tf.errors.InvalidArgumentError,
            "field_delim should be only 1 char",
        ),
        (
            lambda: reading(E.CsvDataset("a", [tf.int32], select_cols=[-1])),
            tf.errors.InvalidArgumentError,
            "select_cols should be non-negative indices",
        ),
        (
            lambda: reading(E.CsvDataset("a", [tf.int32, tf.int32], select_cols=[1, 1])),
            tf.errors.InvalidArgumentError,
            "select_cols should be strictly increasing indices",
        ),
        (
            lambda: reading(E.CsvDataset("a", [tf.int32], select_cols=[0, 1])),
            tf.errors.InvalidArgumentError,
            "select_cols should match output size",
        ),
        (lambda: reading(E.CsvDataset("a", [tf.int32], buffer_size=-1)), tf.errors.InvalidArgumentError, "buffer_size should be positive"),
        (lambda: reading(E.CsvDataset("a", [tf.int32], "none")), tf.errors.InvalidArgumentError, "Unsupported compression_type: none."),
        (
            lambda: reading(E.CsvDataset("a", [tf.constant([1, 2])])),
            ValueError,
            "Shape of a default must be a length-0 or length-1 vector, or a scalar. for 'CSVDataset'",
        ),
        (
            lambda: E.CsvDataset("a", [tf.constant([[1]])]),
            ValueError,
            "Shape must be at most rank 1 but is rank 2 for 'CSVDataset' (op: 'CSVDataset') with input",
        ),
        (lambda: E.CsvDataset("a", [tf.uint8]), TypeError, "Failed to convert object of type <class '"),
        (
            lambda: reading(E.CsvDataset([["a"]], [tf.int32])),
            ValueError,
            "Shape must be at most rank 1 but is rank 2 for 'CSVDataset' (op: 'CSVDataset') with input",
        ),
        (lambda: reading(E.CsvDataset(file(b""), [tf.int32], header=True)), tf.errors.InvalidArgumentError, "Can't read header of file"),
        (lambda: reading(table("1")), tf.errors.InvalidArgumentError, "Expect 2 fields but have 1 in record"),
        (lambda: reading(table("1,2,3")), tf.errors.InvalidArgumentError, "Expect 2 fields but have more in record"),
        (lambda: reading(table("x,2")), tf.errors.InvalidArgumentError, "Field 0 in record is not a valid int32: x"),
        (
            lambda: reading(table("x,2", defaults=(tf.float32, tf.string))),
            tf.errors.InvalidArgumentError,
            "Field 0 in record is not a valid float: x",
        ),
        (
            lambda: reading(table("x,2", defaults=(tf.float64, tf.string))),
            tf.errors.InvalidArgumentError,
            "Field 0 in record is not a valid double: x",
        ),
        (
            lambda: reading(table("x,2", defaults=(tf.int64, tf.string))),
            tf.errors.InvalidArgumentError,
            "Field 0 in record is not a valid int64: x",
        ),
        (lambda: reading(table(",a")), tf.errors.InvalidArgumentError, "Field 0 is required but missing in record!"),
        (
            lambda: reading(table("1,a", defaults=(tf.int32, tf.string), select_cols=[0, 2])),
            tf.errors.InvalidArgumentError,
            "Expect 2 fields but have 1 in record",
        ),
        (lambda: reading(table('1,"a"b')), tf.errors.InvalidArgumentError, "Reached end of file without closing quoted field in record"),
        (lambda: reading(table('1,a"b')), tf.errors.InvalidArgumentError, "Unquoted fields cannot have quotes inside"),
        (lambda: reading(table('1,"a')), tf.errors.InvalidArgumentError, "Reached end of file without closing quoted field in record"),
        (lambda: csv("a,b", "1,x", select_columns=[2]), ValueError, "Column index 2 specified in select_columns out of valid range."),
        (lambda: csv("a,b", "1,x", select_columns=[-1]), ValueError, "Column index -1 specified in select_columns out of valid range."),
        (lambda: csv("a,b", "1,x,2"), ValueError, "Problem inferring types: CSV row has different number of fields than expected."),
        (
            lambda: csv("a,b", "1,x", select_columns=["a"], column_defaults=[1, 2]),
            ValueError,
            "If specified, column_defaults and select_columns must have same length.",
        ),
        (lambda: reading(D.list_files(folder() + "/*")), tf.errors.OutOfRangeError, "End of sequence"),
        (
            lambda: tf.data.TextLineDataset(D.from_tensors([text("a"), text("b")])),
            TypeError,
            "`filenames` must be a `tf.data.Dataset` of scalar `tf.string` elements.",
        ),
        (lambda: csv("a,b", "1,x", compression_type="ZLIB"), ValueError, "compression_type (ZLIB) is not supported for probing columns"),
        (lambda: csv("a,b", "1,x", header=False), ValueError, "Cannot infer column names without a header line."),
        (lambda: E.make_csv_dataset([], 2), ValueError, "File pattern is empty."),
        (lambda: E.make_csv_dataset(file(b""), 2), ValueError, "Received StopIteration when reading the header line of "),
        (
            lambda: E.make_csv_dataset([text("a,b", "1,x"), text("a,c", "3,z")], 2),
            ValueError,
            "Files have different column names in the header row.",
        ),
        (lambda: E.make_csv_dataset("/none/such", 2), tf.errors.NotFoundError, "/none; No such file or directory"),
        (
            lambda: reading(sql("age", (tf.int32, tf.int32))),
            tf.errors.InvalidArgumentError,
            "The number of columns in query (1) must match the number of elements in output_types (2).",
        ),
        (
            lambda: reading(sql("none", (tf.int32,))),
            tf.errors.UnknownError,
            "Prepare() failed: [1] no such column: none: SELECT none FROM t",
        ),
        (
            lambda: reading(matching_files.MatchingFilesDataset("/none/such/*")),
            tf.errors.NotFoundError,
            "/none/such; No such file or directory",
        ),
        (lambda: reading(D.list_files(["/none/such/*"])), tf.errors.NotFoundError, "/none/such; No such file or directory"),
        (
            lambda: E.make_batched_features_dataset("a", 2, {}, reader=tf.TFRecordReader),
            TypeError,
            "The `reader` argument must return a `Dataset` object. `tf.ReaderBase` subclasses are not",
        ),
    ],
)
def test_mistakes_are_refused(made, error, message):
    with pytest.raises(error) as caught:
        made()
    assert message in str(caught.value)
