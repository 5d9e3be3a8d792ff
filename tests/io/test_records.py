"""Record files: framing, checksums, compression, damage."""

import struct

import pytest

import everflow as tf
from everflow import _native
from everflow.io import records

pytestmark = pytest.mark.processor

RECORDS = [b"", b"a", b"x" * 1000, b"\x00\xff" * 7]


def _write(path, compression=""):
    with records.RecordWriter(path, compression) as out:
        for record in RECORDS:
            out.write(record)
    return path


def test_checksum_is_crc32c():
    assert _native.crc32c(b"123456789") == 0xE3069283
    assert _native.crc32c(bytes(32)) == 0x8A9136AA


@pytest.mark.parametrize("compression", ["", "GZIP", "ZLIB"])
@pytest.mark.parametrize("buffer", [1, records.PIECE])
def test_what_is_written_is_read(tmp_path, compression, buffer):
    path = _write(tmp_path / "r", compression)
    assert list(records.read(path, compression, buffer)) == RECORDS


def test_a_record_may_be_longer_than_a_piece(tmp_path):
    with records.RecordWriter(tmp_path / "r") as out:
        out.write(b"y" * 100_000)
        out.write(b"z")
    assert [len(r) for r in records.read(tmp_path / "r", buffer=1)] == [100_000, 1]


def test_a_frame_is_length_checksum_data_checksum(tmp_path):
    data = _write(tmp_path / "r").read_bytes()
    assert struct.unpack("<Q", data[:8]) == (0,)
    assert struct.unpack("<I", data[8:12]) == (_native.masked_crc32c(bytes(8)),)
    assert len(data) == sum(len(r) + 16 for r in RECORDS)


def test_a_reader_goes_on_at_a_position(tmp_path):
    with records.RecordReader(_write(tmp_path / "r"), buffer=1) as reader:
        reader.seek(16)
        assert list(reader) == RECORDS[1:]


@pytest.mark.parametrize(("where", "message"), [(17, "corrupted record at 16"), (28, "corrupted record at 28")])
def test_damage_is_found_after_the_records_before_it(tmp_path, where, message):
    path = _write(tmp_path / "r")
    data = bytearray(path.read_bytes())
    data[where] ^= 1
    path.write_bytes(bytes(data))
    found = records.read(path)
    assert next(found) == b""
    with pytest.raises(tf.errors.DataLossError, match=message):
        next(found)


def test_a_record_that_is_cut_off_is_data_loss(tmp_path):
    path = _write(tmp_path / "r")
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(tf.errors.DataLossError, match="truncated record at 1049"):
        list(records.read(path))


def test_a_plain_file_is_no_compressed_one(tmp_path):
    with pytest.raises(tf.errors.DataLossError, match="inflate.. failed with error -3: incorrect header check"):
        list(records.read(_write(tmp_path / "r"), "GZIP"))


def test_python_io_reads_and_writes(tmp_path):
    path = str(tmp_path / "r")
    options = tf.python_io.TFRecordOptions(tf.python_io.TFRecordCompressionType.GZIP)
    with tf.python_io.TFRecordWriter(path, options) as writer:
        writer.write("text")
        writer.flush()
        writer.write(b"bytes")
    assert list(tf.python_io.tf_record_iterator(path, options)) == [b"text", b"bytes"]
    with pytest.raises(tf.errors.FailedPreconditionError, match="Writer not initialized or previously closed"):
        writer.write(b"more")
    with pytest.raises(ValueError, match='Not a valid compression_type: "BZ2"'):
        tf.python_io.TFRecordOptions("BZ2")
    with pytest.raises(tf.errors.NotFoundError, match="No such file"):
        tf.python_io.TFRecordWriter(str(tmp_path / "no" / "r"))
