"""LMDB databases. entries.mdb was written by the lmdb library: two leaves below a branch, and a value on pages of its own."""

import pathlib
import struct

import pytest

import everflow as tf
from everflow.io import lmdb

FILE = pathlib.Path(__file__).with_name("entries.mdb")
ENTRIES = [(b"key%02d" % i, b"%d " % i * (3000 if i == 7 else 30)) for i in range(60)]


def elements(dataset):
    with tf.Session() as session:
        following = tf.compat.v1.data.make_one_shot_iterator(dataset).get_next()
        found = []
        while True:
            try:
                found.append(session.run(following))
            except tf.errors.OutOfRangeError:
                return found


def test_entries_come_in_the_order_of_keys():
    assert list(lmdb.read(str(FILE))) == ENTRIES


def test_a_folder_stands_for_its_data_file(tmp_path):
    (tmp_path / "data.mdb").write_bytes(FILE.read_bytes())
    assert list(lmdb.read(str(tmp_path))) == ENTRIES


def test_dataset_reads_databases_one_after_the_other():
    dataset = tf.contrib.data.LMDBDataset([str(FILE), str(FILE)])
    assert dataset.element_spec == (tf.TensorSpec([], tf.string), tf.TensorSpec([], tf.string))
    assert elements(dataset) == ENTRIES * 2


def test_position_in_a_database_survives(tmp_path):
    iterator = tf.compat.v1.data.make_initializable_iterator(tf.contrib.data.LMDBDataset(str(FILE)))
    saveable = tf.data.experimental.make_saveable_from_iterator(iterator)
    tf.add_to_collection(tf.GraphKeys.SAVEABLE_OBJECTS, saveable)
    saver, following = tf.train.Saver(), iterator.get_next()
    with tf.Session() as session:
        session.run(iterator.initializer)
        for _ in range(40):
            session.run(following)
        saver.save(session, str(tmp_path / "at"))
    with tf.Session() as session:
        session.run(iterator.initializer)
        saver.restore(session, str(tmp_path / "at"))
        assert session.run(following) == ENTRIES[40]


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


def test_missing_database(tmp_path):
    with pytest.raises(tf.errors.InvalidArgumentError, match="none; No such file or directory"):
        elements(tf.contrib.data.LMDBDataset(str(tmp_path / "none")))
