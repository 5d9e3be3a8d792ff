"""Tables: filling, looking up, changing, exporting, saving."""

import numpy as np
import pytest

import everflow as tf

pytestmark = pytest.mark.usefixtures("session")

lookup, contrib = tf.lookup, tf.contrib.lookup


@pytest.fixture
def vocabulary(tmp_path):
    path = tmp_path / "words.txt"
    path.write_text("brain\nsalad\nsurgery\n")
    return str(path)


def _words(*words):
    return tf.constant(words)


def test_a_static_table_gives_values_and_the_default(session):
    table = lookup.StaticHashTable(lookup.KeyValueTensorInitializer(["a", "b"], [1, 2]), -1)
    found = table.lookup(tf.constant([["b", "x"], ["a", "a"]]))
    assert found.shape.as_list() == [2, 2]
    with pytest.raises(tf.errors.FailedPreconditionError, match="Table not initialized."):
        session.run(found)
    session.run(tf.tables_initializer())
    assert session.run(found).tolist() == [[2, -1], [1, 1]]
    assert session.run(table.size()) == 2
    keys, values = session.run(table.export())
    assert dict(zip(keys, values)) == {b"a": 1, b"b": 2}


def test_sparse_keys_give_sparse_values(session):
    table = lookup.StaticHashTable(lookup.KeyValueTensorInitializer(["a"], [1]), -1)
    session.run(table.initializer)
    found = session.run(table.lookup(tf.SparseTensor([[0, 1], [2, 0]], ["x", "a"], [3, 2])))
    assert found.values.tolist() == [-1, 1]
    assert found.dense_shape.tolist() == [3, 2]


def test_contradicting_entries_are_refused(session):
    table = contrib.HashTable(contrib.KeyValueTensorInitializer(["a", "a"], [1, 2]), -1)
    with pytest.raises(tf.errors.FailedPreconditionError, match="different value for same key. Key a has 1 and trying to add value 2"):
        session.run(table.init)


def test_tables_of_one_name_are_one_table(session):
    first = contrib.HashTable(contrib.KeyValueTensorInitializer(["a"], [1]), -1, shared_name="t")
    second = contrib.HashTable(contrib.KeyValueTensorInitializer(["a", "b"], [1, 2]), -1, shared_name="t")
    session.run(first.init)
    assert session.run(second.size()) == 1
    with pytest.raises(tf.errors.FailedPreconditionError, match="already initialized with different data"):
        session.run(second.init)


def test_types_are_checked():
    table = lookup.StaticHashTable(lookup.KeyValueTensorInitializer(["a"], [1]), -1)
    with pytest.raises(TypeError, match="Keys must be dtype <dtype: 'string'>, got <dtype: 'int32'>"):
        table.lookup(tf.constant([1]))
    with pytest.raises(ValueError, match="Values must be dtype <dtype: 'int64'>"):
        lookup.TextFileInitializer("f", tf.string, -2, tf.string, lookup.TextFileIndex.LINE_NUMBER)


def test_a_vocabulary_file_numbers_its_words(session, vocabulary):
    table = contrib.index_table_from_file(vocabulary, default_value=-9)
    session.run(tf.tables_initializer())
    assert session.run(table.lookup(_words("surgery", "brain", "tarkus"))).tolist() == [2, 0, -9]
    assert [t.op.name for t in tf.get_collection(tf.GraphKeys.ASSET_FILEPATHS)] == ["string_to_index/hash_table/asset_path"]


def test_columns_of_a_file_are_keys_and_values(session, tmp_path):
    (tmp_path / "t").write_text("a|10\nb|20\n")
    init = lookup.TextFileInitializer(str(tmp_path / "t"), tf.string, 0, tf.float32, 1, delimiter="|")
    table = lookup.StaticHashTable(init, 0.5)
    session.run(table.initializer)
    assert session.run(table.lookup(_words("b", "c"))).tolist() == [20, 0.5]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"vocab_size": 9}, "Invalid vocab_size in .*: expected 9 but got 3"),
        ({"value_column_index": 1}, r"Invalid number of columns in .* line 0 \(brain\) : expected 1 got 1"),
    ],
)
def test_what_is_wrong_with_a_file_is_said(session, vocabulary, settings, message):
    contrib.index_table_from_file(vocabulary, **settings)
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        session.run(tf.tables_initializer())


def test_unknown_words_get_buckets_behind_the_vocabulary(session, vocabulary):
    init = lookup.TextFileInitializer(vocabulary, tf.string, lookup.TextFileIndex.WHOLE_LINE, tf.int64, lookup.TextFileIndex.LINE_NUMBER)
    table = lookup.StaticVocabularyTable(init, 2)
    session.run(table.initializer)
    ids, buckets = session.run([table.lookup(_words("salad", "x", "y")), tf.strings.to_hash_bucket_fast(["x", "y"], 2)])
    assert ids.tolist() == [1, *(3 + buckets)]
    assert session.run(table.size()) == 5


def test_ids_become_words_again(session):
    words = contrib.index_to_string_table_from_tensor(["a", "b"], default_value="?")
    session.run(tf.tables_initializer())
    assert session.run(words.lookup(tf.constant([1, 7], tf.int64))).tolist() == [b"b", b"?"]


def test_a_mutable_table_is_changed(session):
    table = contrib.MutableHashTable(tf.string, tf.int64, -1)
    session.run(table.insert(_words("a", "b"), [1, 2]))
    session.run(table.insert(_words("b", "c"), [5, 6]))
    session.run(table.remove(_words("a", "nothing")))
    assert session.run(table.lookup(_words("a", "b", "c"))).tolist() == [-1, 5, 6]
    assert session.run(table.size()) == 2
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"Expected shape \[2\] for value, got \[3\]"):
        session.run(table.insert(_words("a", "b"), [1, 2, 3]))


def test_values_may_be_vectors(session):
    table = contrib.MutableHashTable(tf.int64, tf.float32, [0.0, -1.0])
    session.run(table.insert(tf.constant([7], tf.int64), [[1.0, 2.0]]))
    assert session.run(table.lookup(tf.constant([7, 8], tf.int64))).tolist() == [[1, 2], [0, -1]]


def test_a_dense_table_lays_entries_where_tensorflow_does(session):
    table = lookup.experimental.DenseHashTable(tf.int64, tf.int64, -1, empty_key=0, deleted_key=-1, initial_num_buckets=4)
    session.run(table.insert([1, 9, 10], [4, 5, 6]))
    keys, values = session.run(table.export())
    assert keys.tolist() == [[0], [1], [9], [10]]
    assert values.tolist() == [[0], [4], [5], [6]]
    session.run(table.erase(tf.constant([9], tf.int64)))
    assert session.run(table.lookup(tf.constant([9, 10], tf.int64))).tolist() == [-1, 6]
    with pytest.raises(tf.errors.InvalidArgumentError, match="Using the empty_key as a table key is not allowed"):
        session.run(table.insert([0], [1]))


def test_checkpoints_hold_mutable_tables(session, tmp_path):
    table = contrib.MutableHashTable(tf.string, tf.int64, -1)
    saver = tf.train.Saver()
    session.run(table.insert(_words("a"), [3]))
    path = saver.save(session, str(tmp_path / "model"))
    with tf.Session() as other:
        saver.restore(other, path)
        assert np.array_equal(other.run(table.lookup(_words("a", "b"))), [3, -1])
