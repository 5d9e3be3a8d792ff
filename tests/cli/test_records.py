"""`everflow records FILE` tells what a record file holds."""

import pytest

import everflow as tf
from everflow.cli import main as cli


def example(label, values):
    return tf.train.Example(
        features=tf.train.Features(
            feature={
                "label": tf.train.Feature(int64_list=tf.train.Int64List(value=[label])),
                "name": tf.train.Feature(bytes_list=tf.train.BytesList(value=[b"n%d" % label])),
                "values": tf.train.Feature(float_list=tf.train.FloatList(value=values)),
            }
        )
    ).SerializeToString()


def written(path, compression=""):
    options = tf.python_io.TFRecordOptions(getattr(tf.python_io.TFRecordCompressionType, compression or "NONE"))
    with tf.python_io.TFRecordWriter(path, options) as writer:
        writer.write(example(3, [0.5]))
        writer.write(example(4, [1.0, 2.0, 3.0]))


@pytest.mark.parametrize("compression", ["", "GZIP", "ZLIB"])
def test_features_are_summed_up(tmp_path, capsys, compression):
    path = str(tmp_path / "x.tfrecord")
    written(path, compression)
    assert cli.main(["records", path]) == 0
    total, header, *rows = capsys.readouterr().out.splitlines()
    assert total.startswith(f"{path}: 2 records, ") and total.endswith("; 2 of them hold features")
    assert header.split() == ["feature", "type", "values", "records", "first", "value"]
    assert [row.split() for row in rows] == [
        ["label", "int64", "1", "2", "3"],
        ["name", "bytes", "1", "2", "b'n3'"],
        ["values", "float", "1..3", "2", "0.5"],
    ]


def test_records_can_be_printed(tmp_path, capsys):
    path = str(tmp_path / "x.tfrecord")
    written(path)
    cli.main(["records", path, "--print", "1", "--limit", "1"])
    out = capsys.readouterr().out
    assert "record 1 (" in out and "  values: 0.5\n" in out and "record 2" not in out and ": 1 records" in out


def test_records_without_features_are_counted(tmp_path, capsys):
    path = str(tmp_path / "x.tfrecord")
    with tf.python_io.TFRecordWriter(path) as writer:
        writer.write(b"\xff" * 5)
    assert cli.main(["records", path]) == 0
    assert capsys.readouterr().out == f"{path}: 1 records, 5 bytes each; none of them hold features\n"


def test_a_damaged_file_is_described_up_to_the_damage(tmp_path, capsys):
    path = tmp_path / "x.tfrecord"
    written(str(path))
    path.write_bytes(path.read_bytes()[:-3])
    assert cli.main(["records", str(path)]) == 1
    out, err = capsys.readouterr()
    assert ": 1 records" in out and "truncated record at" in err


def test_a_file_that_is_not_there_is_one_sentence(tmp_path, capsys):
    assert cli.main(["records", str(tmp_path / "none")]) == 1
    assert capsys.readouterr().err == f"everflow records: {tmp_path / 'none'}: {tmp_path / 'none'}; No such file or directory\n"
