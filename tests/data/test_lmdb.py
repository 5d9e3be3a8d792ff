"""Datasets of LMDB databases."""

import pathlib

import pytest
from pipelines import elements, goes_on, shapes

import everflow as tf

FILE = str(pathlib.Path(__file__).parent.parent / "io" / "entries.mdb")
ENTRIES = [[b"key%02d" % i, b"%d " % i * (3000 if i == 7 else 30)] for i in range(60)]


def test_databases_are_read_one_after_the_other():
    dataset = tf.contrib.data.LMDBDataset([FILE, FILE])
    assert dataset.element_spec == (tf.TensorSpec([], tf.string), tf.TensorSpec([], tf.string))
    assert elements(dataset, 200) == ENTRIES * 2


def test_reading_goes_on_where_it_was_saved():
    assert goes_on(tf.contrib.data.LMDBDataset([FILE, FILE]).skip(50).take(20), (ENTRIES * 2)[50:70])


def test_a_missing_database_is_tried_again(tmp_path):
    missing = tf.contrib.data.LMDBDataset([FILE, str(tmp_path / "none")]).skip(59)
    assert elements(missing, 3) == [ENTRIES[59], "InvalidArgumentError", "InvalidArgumentError"]
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError, match="none; No such file or directory"):
        session.run(tf.data.make_one_shot_iterator(missing.skip(1)).get_next())


def test_entries_are_pairs_of_strings():
    assert shapes(tf.contrib.data.LMDBDataset(FILE)) == (tf.TensorShape([]), tf.TensorShape([]))
