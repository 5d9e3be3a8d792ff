"""Datasets of what files hold."""

import gzip

import numpy as np
import pytest

import everflow as tf


def elements(dataset):
    with tf.Session() as session:
        following = dataset.make_one_shot_iterator().get_next()
        found = []
        with pytest.raises(tf.errors.OutOfRangeError, match="End of sequence"):
            while True:
                found.append(session.run(following))
        return found


def test_lines_end_in_any_way(tmp_path):
    (tmp_path / "a").write_bytes(b"one\ntwo\r\n\nfour")
    (tmp_path / "b.gz").write_bytes(gzip.compress(b"five\n"))
    assert elements(tf.data.TextLineDataset(str(tmp_path / "a"))) == [b"one", b"two", b"", b"four"]
    assert elements(tf.data.TextLineDataset(str(tmp_path / "b.gz"), compression_type="GZIP")) == [b"five"]


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(tf.errors.NotFoundError, match="nowhere"):
        elements(tf.data.TextLineDataset(str(tmp_path / "nowhere")))


def test_fixed_length_records_stand_between_header_and_footer(tmp_path):
    (tmp_path / "a").write_bytes(b"HEADabcdefghFOOT")
    name = str(tmp_path / "a")
    assert elements(tf.data.FixedLengthRecordDataset(name, 4, 4, 4)) == [b"abcd", b"efgh"]
    with pytest.raises(tf.errors.InvalidArgumentError, match="body length 8 bytes, which is not an exact multiple"):
        elements(tf.data.FixedLengthRecordDataset(name, 3, 4, 4))


def test_records_are_read_and_damage_is_told(tmp_path):
    name = str(tmp_path / "records")
    with tf.python_io.TFRecordWriter(name) as out:
        out.write(b"first")
        out.write(b"second")
    assert elements(tf.data.TFRecordDataset(name)) == [b"first", b"second"]
    content = bytearray((tmp_path / "records").read_bytes())
    content[-6] ^= 1
    (tmp_path / "records").write_bytes(content)
    with tf.Session() as session:
        following = tf.data.TFRecordDataset(name).make_one_shot_iterator().get_next()
        assert session.run(following) == b"first"
        with pytest.raises(tf.errors.DataLossError, match="corrupted record"):
            session.run(following)
        with pytest.raises(tf.errors.OutOfRangeError, match="End of sequence"):
            session.run(following)


def test_examples_are_parsed_alike_one_by_one_and_in_batches(tmp_path):
    name = str(tmp_path / "examples")
    with tf.python_io.TFRecordWriter(name) as out:
        for i in range(7):
            features = {
                "x": tf.train.Feature(float_list=tf.train.FloatList(value=[i, i + 0.5])),
                "y": tf.train.Feature(int64_list=tf.train.Int64List(value=[i])),
            }
            out.write(tf.train.Example(features=tf.train.Features(feature=features)).SerializeToString())
    wanted = {"x": tf.FixedLenFeature([2], tf.float32), "y": tf.FixedLenFeature([], tf.int64)}
    single = tf.data.TFRecordDataset(name).map(lambda s: tf.parse_single_example(s, wanted)).batch(3)
    batch = tf.data.TFRecordDataset(name).batch(3).apply(tf.data.experimental.parse_example_dataset(wanted))
    for a, b in zip(elements(single), elements(batch), strict=True):
        np.testing.assert_array_equal(a["x"], b["x"])
        np.testing.assert_array_equal(a["y"], b["y"])


def test_csv_columns_have_types_and_defaults(tmp_path):
    (tmp_path / "a.csv").write_text('n,t\n1,"a,""b"\n,c\n')
    dataset = tf.data.experimental.CsvDataset(str(tmp_path / "a.csv"), [[7], tf.string], header=True)
    assert elements(dataset) == [(1, b'a,"b'), (7, b"c")]
    made = tf.data.experimental.make_csv_dataset(str(tmp_path / "a.csv"), 2, label_name="t", num_epochs=1, shuffle=False)
    features, label = elements(made)[0]
    assert features["n"].tolist() == [1, 0]
    assert label.tolist() == [b'a,"b', b"c"]


def test_snapshots_replace_their_input(tmp_path):
    from everflow.data.snapshot_ops import snapshot

    source = tmp_path / "lines"
    source.write_text("a\nb\n")
    folder = tmp_path / "snapshot"
    folder.mkdir()
    assert elements(tf.data.TextLineDataset(str(source)).apply(snapshot(str(folder)))) == [b"a", b"b"]
    source.unlink()
    with tf.Graph().as_default():
        assert elements(tf.data.TextLineDataset(str(source)).apply(snapshot(str(folder)))) == [b"a", b"b"]
