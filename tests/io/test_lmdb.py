"""LMDB databases. entries.mdb was written by the lmdb library: two leaves below a branch, and a value on pages of its own."""

import pathlib
import struct

import pytest

import everflow as tf
from everflow.io import lmdb

FILE = pathlib.Path(__file__).with_name("entries.mdb")
ENTRIES = [(b"key%02d" % i, b"%d " % i * (3000 if i == 7 else 30)) for i in range(60)]


def test_entries_come_in_the_order_of_keys():
    assert list(lmdb.read(str(FILE))) == ENTRIES


def test_a_folder_stands_for_its_data_file(tmp_path):
    (tmp_path / "data.mdb").write_bytes(FILE.read_bytes())
    assert list(lmdb.read(str(tmp_path))) == ENTRIES


def test_reader_takes_databases_from_a_queue():
    queue = tf.FIFOQueue(2, [tf.string], shapes=[()])
    reader = tf.LMDBReader()
    one, several = reader.read(queue), reader.read_up_to(queue, 50)
    with tf.Session() as session:
        session.run(queue.enqueue(str(FILE)))
        session.run(queue.close())
        assert tuple(session.run(one)) == ENTRIES[0]
        assert list(session.run(several).keys) == [k for k, _ in ENTRIES[1:51]]
        assert len(session.run(several).values) == 9
        with pytest.raises(tf.errors.OutOfRangeError, match="is closed and has insufficient elements"):
            session.run(one)
        assert session.run([reader.num_records_produced(), reader.num_work_units_completed()]) == [60, 1]


def corrupted(tmp_path, at, content):
    path = tmp_path / "bad.mdb"
    data = bytearray(FILE.read_bytes())
    data[at : at + len(content)] = content
    path.write_bytes(data)
    return str(path)


ROOT = 4096 + 16 + 24 + 48 + 40


@pytest.mark.parametrize(
    "at, content, text",
    [
        (16, b"none", "MDB_INVALID: File is not an LMDB file"),
        (20, struct.pack("<I", 7), "MDB_VERSION_MISMATCH: Database environment version mismatch"),
        (ROOT, struct.pack("<Q", 999), "MDB_PAGE_NOTFOUND: Requested page not found"),
        (ROOT, struct.pack("<Q", 0), "MDB_CORRUPTED: Located page was wrong type"),
    ],
)
def test_damage_is_told_with_the_file(tmp_path, at, content, text):
    with pytest.raises(tf.errors.InvalidArgumentError, match=f"bad.mdb; {text}"):
        list(lmdb.read(corrupted(tmp_path, at, content)))
