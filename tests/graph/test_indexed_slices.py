"""Some rows of a tensor: IndexedSlices."""

import warnings

import numpy as np
import pytest

import everflow as tf


def test_as_a_tensor_rows_with_one_index_are_added_and_others_are_zero():
    with tf.Graph().as_default(), tf.Session() as session:
        rows = tf.IndexedSlices(tf.constant([[1.0], [2.0], [4.0]]), tf.constant([3, 0, 3]), tf.constant([5, 1]))
        assert session.run(tf.convert_to_tensor(rows)).tolist() == [[2.0], [0.0], [0.0], [5.0], [0.0]]
        assert session.run(-rows).values.tolist() == [[-1.0], [-2.0], [-4.0]]


def test_a_dense_tensor_needs_the_dense_shape():
    with tf.Graph().as_default():
        rows = tf.IndexedSlices(tf.constant([[1.0]]), tf.constant([3]))
        with pytest.raises(ValueError, match="IndexedSlices without dense_shape"):
            tf.convert_to_tensor(rows)
        assert tf.convert_to_tensor_or_indexed_slices(rows) is rows
        with pytest.raises(ValueError, match="requested dtype int32"):
            tf.convert_to_tensor_or_indexed_slices(rows, dtype=tf.int32)


def test_an_unknown_dense_shape_is_worth_a_warning():
    with tf.Graph().as_default():
        sizes = tf.placeholder(tf.int32, [2])
        rows = tf.IndexedSlices(tf.constant([[1.0]]), tf.constant([3]), sizes)
        with pytest.warns(UserWarning, match="unknown shape"):
            tf.convert_to_tensor(rows)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            tf.convert_to_tensor(tf.IndexedSlices(tf.constant([[1.0]]), tf.constant([3]), tf.constant([5, 1])))


def test_they_are_fetched_and_fed_whole():
    with tf.Graph().as_default(), tf.Session() as session:
        rows = tf.IndexedSlices(tf.constant([[1.0]]), tf.constant([3]), tf.constant([5, 1]))
        found = session.run({"rows": rows})["rows"]
        assert found.values.tolist() == [[1.0]] and found.indices.tolist() == [3] and found.dense_shape.tolist() == [5, 1]
        fed = session.run(rows.values * 2.0, {rows: (np.array([[7.0]]), np.array([1]), np.array([5, 1]))})
        assert fed.tolist() == [[14.0]]


def test_the_spec_takes_them_apart_and_puts_them_together():
    with tf.Graph().as_default():
        rows = tf.IndexedSlices(tf.constant([[1.0]]), tf.constant([3]), tf.constant([5, 1]))
        parts = tf.nest.flatten(rows, expand_composites=True)
        assert parts == [rows.values, rows.indices, rows.dense_shape]
        again = tf.nest.pack_sequence_as(rows, parts, expand_composites=True)
        assert isinstance(again, tf.IndexedSlices) and again.indices is rows.indices
