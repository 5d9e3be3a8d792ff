"""CSV files field by field, their mistakes, and what readers of both versions take by default; values are those of TensorFlow 1.15.5."""

import gzip

import pytest

import everflow as tf

D, E = tf.data.Dataset, tf.data.experimental
E2, D2 = tf.compat.v2.data.experimental, tf.compat.v2.data
CSV = [E.CsvDataset, E2.CsvDataset]


def elements(dataset):
    """The elements, and the words of what went wrong in between."""
    following = tf.compat.v1.data.make_one_shot_iterator(dataset).get_next()
    found = []
    with tf.Session() as session:
        while len(found) < 20:
            try:
                value = session.run(following)
                found.append([v.item() if hasattr(v, "item") else v for v in value] if isinstance(value, tuple) else value)
            except tf.errors.OutOfRangeError:
                return found
            except tf.errors.InvalidArgumentError as error:
                found.append(error.message.splitlines()[0].replace("[[{{node IteratorGetNext}}]]", "").strip())
    return found


@pytest.fixture
def file(tmp_path):
    def write(content, name="a.csv", how=open):
        path = tmp_path / name
        with how(str(path), "wb") as out:
            out.write(content)
        return str(path)

    return write


@pytest.mark.parametrize("kind", CSV)
def test_rows_have_commas_and_quotes_by_default(file, kind):
    path = file(b'1,x\n"2","a ""b"", c"\n,\n4,"two\nlines"\n')
    assert elements(kind(path, [[9], [""]])) == [[1, b"x"], [2, b'a "b", c'], [9, b""], [4, b"two\nlines"]]


@pytest.mark.parametrize("kind", CSV)
def test_rows_as_they_are_told(file, kind):
    path = file(b'h;k\n1;"x\n2;?\n')
    told = {"header": True, "field_delim": ";", "use_quote_delim": False, "na_value": "?"}
    assert elements(kind(path, [[9], ["d"]], **told)) == [[1, b'"x'], [2, b"d"]]
    assert elements(kind(path, [["d"]], select_cols=[1], **told)) == [[b'"x'], [b"d"]]
    packed = file(b"1,2\n", "b.csv.gz", gzip.open)
    assert elements(kind(packed, [[0], [0]], compression_type="GZIP", buffer_size=1)) == [[1, 2]]


@pytest.mark.parametrize(
    ("content", "types", "expected"),
    [
        (b'"1"2,3\n4,5\n', (tf.int32, tf.int32), ["Quote inside a string has to be escaped by another quote"]),
        (b'1"2,3\n4,5\n', (tf.int32, tf.int32), ["Unquoted fields cannot have quotes inside", [4, 5]]),
        (b'1,"2\n4,5\n', (tf.int32, tf.int32), ["Reached end of file without closing quoted field in record"]),
        (b"1\n4,5\n", (tf.int32, tf.int32), ["Expect 2 fields but have 1 in record", [4, 5]]),
        (b"1,2,3\n4,5\n", (tf.int32, tf.int32), ["Expect 2 fields but have more in record", [4, 5]]),
        (b"1,\n4,5\n", (tf.int32, tf.int32), ["Field 1 is required but missing in record!", [4, 5]]),
        (b"1,x\n4,5\n", (tf.int32, tf.int32), ["Field 1 in record is not a valid int32: x", [4, 5]]),
        (b"1,x\n4,5\n", (tf.int64, tf.int64), ["Field 1 in record is not a valid int64: x", [4, 5]]),
        (b"1,x\n4,5\n", (tf.float32, tf.float32), ["Field 1 in record is not a valid float: x", [4.0, 5.0]]),
        (b"1,x\n4,5\n", (tf.float64, tf.float64), ["Field 1 in record is not a valid double: x", [4.0, 5.0]]),
        (b'"a","b"\r\n"c\rd",e\r"f",g', (tf.string, tf.string), [[b"a", b"b"], [b"c\rd", b"e"], [b"f", b"g"]]),
        (b'a,""\n"",b', (tf.string, tf.string), [f"Field {i} is required but missing in record!" for i in (1, 0)]),
    ],
)
def test_what_is_wrong_with_a_row_ends_that_row(file, content, types, expected):
    assert elements(E.CsvDataset(file(content), list(types))) == expected


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"select_cols": [1, 0]}, "select_cols should be strictly increasing indices"),
        ({"select_cols": [0, 0]}, "select_cols should be strictly increasing indices"),
        ({"select_cols": [-1, 0]}, "select_cols should be non-negative indices"),
        ({"select_cols": [0]}, "select_cols should match output size"),
        ({"field_delim": ";;"}, "field_delim should be only 1 char"),
        ({"buffer_size": 0}, "buffer_size should be positive"),
        ({"compression_type": "LZ"}, "Unsupported compression_type: LZ."),
    ],
)
def test_csv_datasets_are_told_what_makes_sense(file, given, message):
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError) as caught:
        session.run(E.CsvDataset(file(b"1,2\n"), [tf.int32, tf.int32], **given).make_initializable_iterator().initializer)
    assert caught.value.message.splitlines()[0] == message


def test_an_iterator_over_files_is_saved_in_the_middle(file, tmp_path):
    full, empty, more = file(b"h\n1\n2\n3\n", "a.csv"), file(b"", "e.csv"), file(b"4\n5\n", "b.csv")
    for paths, header in (([full, full], True), ([empty, more, empty, more], False)):
        whole = elements(E.CsvDataset(paths, [tf.int32], header=header))
        for before in range(len(whole)):
            with tf.Graph().as_default(), tf.Session() as session:
                iterator = E.CsvDataset(paths, [tf.int32], header=header).make_initializable_iterator()
                following = iterator.get_next()
                saver = tf.train.Saver({"i": E.make_saveable_from_iterator(iterator)})
                session.run(iterator.initializer)
                assert [[int(session.run(following)[0])] for _ in range(before)] == whole[:before]
                saver.save(session, str(tmp_path / "model"))
                session.run(iterator.initializer)
                saver.restore(session, str(tmp_path / "model"))
                assert [[int(session.run(following)[0])] for _ in range(len(whole) - before)] == whole[before:]


@pytest.mark.parametrize("which", [D2, tf.data])
def test_readers_take_plain_files_by_default(file, which):
    assert elements(which.TextLineDataset(file(b"a\nb\n", "t"))) == [b"a", b"b"]
    assert elements(which.TextLineDataset(file(b"a\nb\n", "t.gz", gzip.open), "GZIP", 3)) == [b"a", b"b"]
    path = file(b"HHaabbF", "f")
    assert elements(which.FixedLengthRecordDataset(path, 2, 2, 1)) == [b"aa", b"bb"]
    assert elements(which.FixedLengthRecordDataset(path, 7)) == [b"HHaabbF"]
    records = file(b"", "r")
    with tf.python_io.TFRecordWriter(records) as writer:
        writer.write(b"one")
        writer.write(b"two")
    assert elements(which.TFRecordDataset(records)) == [b"one", b"two"]
