"""Models whose inputs are declared to be sparse or ragged."""

import numpy as np
import pytest

import everflow as tf


class ToDense(tf.keras.layers.Layer):
    def call(self, x):
        dense = x.to_tensor(default_value=-1) if isinstance(x, tf.RaggedTensor) else tf.sparse_tensor_to_dense(x, -1)
        return tf.cast(dense, tf.float32)


class Own(tf.keras.Model):
    def __init__(self, given):
        super().__init__()
        self.dense = ToDense()
        self._set_inputs(given)

    def call(self, x):
        return self.dense(x)


def functional(given):
    return tf.keras.Model(given, ToDense()(given))


def sequential(given):
    model = tf.keras.Sequential()
    model.add(given)
    model.add(ToDense())
    return model


MODELS = [functional, sequential, Own]
SPARSE = ([[0, 0, 0], [1, 0, 0], [1, 0, 1]], [1, 2, 3], [2, 1, 3])
DENSE = np.array([[[1.0, -1, -1]], [[2, 3, -1]]])


def ragged():
    return tf.ragged.constant([[[1, 1]], [[2, 3], [2, 3]]], ragged_rank=1)


@pytest.mark.parametrize("make", MODELS)
def test_ragged_tensors_are_read_as_they_are(make):
    model = make(tf.keras.Input([None, 2], ragged=True, dtype=tf.int32))
    expected = [[[1, 1], [-1, -1]], [[2, 3], [2, 3]]]
    np.testing.assert_array_equal(model.predict(ragged()), expected)
    np.testing.assert_array_equal(model.predict(tf.data.Dataset.from_tensor_slices(ragged()).batch(2), steps=1), expected)


@pytest.mark.parametrize("make", MODELS)
def test_sparse_tensors_train_and_are_compared(make):
    model = make(tf.keras.Input([1, None], sparse=True, dtype=tf.int32))
    model.compile("sgd", "mse", metrics=["accuracy"])
    given = tf.SparseTensor(*SPARSE)
    np.testing.assert_array_equal(model.predict(given, steps=1), DENSE)
    assert model.evaluate(given, DENSE, steps=1, verbose=0) == [0.0, 1.0]
    assert model.fit(given, DENSE + 1, steps_per_epoch=1, verbose=0).history["loss"] == [1.0]


@pytest.mark.parametrize("make", MODELS)
def test_matrices_of_scipy_come_in_batches(make):
    scipy_sparse = pytest.importorskip("scipy.sparse")
    model = make(tf.keras.Input([3], sparse=True, dtype=tf.int64))
    matrix = scipy_sparse.coo_matrix(([1, 2, 3], ([0, 2, 2], [0, 0, 1])), shape=[3, 3])
    np.testing.assert_array_equal(model.predict(matrix, batch_size=2), [[1, -1, -1], [-1, -1, -1], [2, 3, -1]])


def test_eager_programs_cut_sparse_tensors_into_batches(eager):
    model = functional(tf.keras.Input([1, None], sparse=True, dtype=tf.int32))
    np.testing.assert_array_equal(model.predict(tf.SparseTensor(*SPARSE), batch_size=1), DENSE)
    np.testing.assert_array_equal(model.predict(tf.SparseTensor(*SPARSE), batch_size=5), DENSE)


@pytest.mark.parametrize("make", [functional, sequential])
def test_shapes_and_ranks_are_those_that_were_declared(make):
    with pytest.raises(ValueError, match=r"expected input_\d+ to have shape \(2, None\) but got array with shape \(1, 3\)"):
        make(tf.keras.Input([2, None], sparse=True, dtype=tf.int32)).predict(tf.SparseTensor(*SPARSE), steps=1)
    with pytest.raises(ValueError, match=r"to have shape \(None, 4\) but got array with shape \(None, 2\)"):
        make(tf.keras.Input([None, 4], ragged=True, dtype=tf.int32)).predict(ragged())
    with pytest.raises(ValueError, match="don't have the same nested structure"):
        make(tf.keras.Input([None, 2], ragged=True, dtype=tf.int32)).predict(tf.ragged.constant([[[1, 0]], [[2, 3]]]))


def test_what_was_not_declared_is_refused():
    with pytest.raises(ValueError, match="must be explicitly declared using a keras.Input"):
        tf.keras.Sequential([ToDense()]).predict(tf.SparseTensor(*SPARSE), steps=1)
    scipy_sparse = pytest.importorskip("scipy.sparse")
    with pytest.raises(ValueError, match="either a single array or a list of arrays"):
        tf.keras.Sequential([ToDense()]).predict(scipy_sparse.coo_matrix(([1], ([0], [0])), shape=[2, 3]))


def test_a_ragged_input_without_ragged_dimensions_is_dense():
    given = tf.keras.Input([1, 2], ragged=True)
    assert given.shape.as_list() == [None, 1, 2]


def test_metrics_are_called_as_they_are_asked_for_in_programs_for_version_2(monkeypatch):
    monkeypatch.setattr("everflow.platform.version2_switch._force_enable", True)
    model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=[2])])
    model.compile("sgd", "mse", metrics=["accuracy"])
    assert model.metrics_names == ["loss", "accuracy"]
