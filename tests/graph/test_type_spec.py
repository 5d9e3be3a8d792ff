"""Types of values before the values are there: equality, compatibility, and how values are made of tensors."""

import pickle

import numpy as np
import pytest

import everflow as tf
from everflow.graph.tensor_spec import BoundedTensorSpec
from everflow.graph.type_spec import register_type_spec_from_value_converter, type_spec_from_value


class Pair:
    def __init__(self, x, y, color="red"):
        self.x, self.y, self.color = tf.convert_to_tensor(x), tf.convert_to_tensor(y), color


class PairSpec(tf.TypeSpec):
    value_type = property(lambda self: Pair)

    def __init__(self, x, y, color="red"):
        self.x, self.y, self.color = tf.TensorShape(x), tf.TensorShape(y), color

    @property
    def _component_specs(self):
        return tf.TensorSpec(self.x, tf.int32), tf.TensorSpec(self.y, tf.float32)

    def _to_components(self, value):
        return value.x, value.y

    def _from_components(self, components):
        return Pair(*components, color=self.color)

    def _serialize(self):
        return self.x, self.y, self.color


def test_types_are_equal_by_what_they_say():
    assert PairSpec([5, None], [3]) == PairSpec([5, None], [3]) != PairSpec([5, 3], [3])
    assert PairSpec([5], [3], "red") != PairSpec([5], [3], "blue") and PairSpec([5], [3]) != 5
    arrays = [PairSpec([5], [3], np.array([1, n])) for n in (2, 2, 3)]
    assert arrays[0] == arrays[1] != arrays[2] and hash(arrays[0]) == hash(arrays[1])
    assert repr(PairSpec([5], None)) == f"PairSpec({tf.TensorShape([5])!r}, {tf.TensorShape(None)!r}, 'red')"


def test_compatible_types_and_the_narrowest_around_both():
    a, b = PairSpec([5, None], [8]), PairSpec([5, 3], [None])
    assert a.is_compatible_with(b) and b.is_compatible_with(a)
    assert not a.is_compatible_with(PairSpec([6, 3], [8])) and not a.is_compatible_with(PairSpec([5, 3], [8], "blue"))
    assert a.most_specific_compatible_type(b) == PairSpec([5, None], [None])
    assert PairSpec([5], [8]).most_specific_compatible_type(PairSpec([5, 1], [8])) == PairSpec(None, [8])
    with pytest.raises(ValueError, match="Types are not compatible"):
        a.most_specific_compatible_type(PairSpec([5, 3], [8], "blue"))


def test_values_as_lists_of_tensors():
    value = Pair([1, 2], [1.0], "green")
    spec = PairSpec([2], [1], "green")
    tensors = spec._to_tensor_list(value)
    assert tensors == [value.x, value.y]
    again = spec._from_tensor_list(tensors)
    assert (again.x, again.y, again.color) == (value.x, value.y, "green")
    for wrong in (tensors[::-1], tensors[:1], [tf.constant([1, 2, 3]), value.y]):
        with pytest.raises(ValueError, match="Incompatible input"):
            spec._from_tensor_list(wrong)


def test_the_type_of_a_value():
    register_type_spec_from_value_converter(Pair, lambda p: PairSpec(p.x.shape, p.y.shape, p.color))
    assert type_spec_from_value(Pair([1], [2.0])) == PairSpec([1], [1])
    assert type_spec_from_value(tf.constant([1, 2])) == type_spec_from_value(np.array([1, 2], np.int32)) == tf.TensorSpec([2], tf.int32)
    sparse = tf.SparseTensorValue(np.array([[0, 1]]), np.array([1.0], np.float32), np.array([2, 3]))
    assert type_spec_from_value(sparse) == tf.SparseTensorSpec([2, 3], tf.float32)
    with pytest.raises(TypeError, match="Could not build a TypeSpec"):
        type_spec_from_value(object())


def test_types_of_tensors():
    spec = tf.TensorSpec([2, None], tf.int64, "x")
    assert spec.is_compatible_with(tf.placeholder(tf.int64, [2, 3])) and not spec.is_compatible_with(tf.placeholder(tf.int64, [3, 3]))
    assert spec != tf.TensorSpec([2, None], tf.int64) and pickle.loads(pickle.dumps(spec)) == spec
    assert spec.most_specific_compatible_type(tf.TensorSpec([2, 3], tf.int64, "y")) == tf.TensorSpec([2, None], tf.int64)
    assert spec._batch(4) == tf.TensorSpec([4, 2, None], tf.int64) and spec._unbatch() == tf.TensorSpec([None], tf.int64)
    assert tf.TensorSpec.from_tensor(tf.constant(1, name="one")) == tf.TensorSpec([], tf.int32, "one")
    assert repr(spec) == "TensorSpec(shape=(2, ?), dtype=tf.int64, name='x')"


def test_bounds():
    spec = BoundedTensorSpec((1, 3), tf.float32, 0, (5, 5, 5))
    assert spec == BoundedTensorSpec((1, 3), tf.float32, (0, 0, 0), 5) != BoundedTensorSpec((1, 3), tf.float32, 1, 5)
    assert pickle.loads(pickle.dumps(spec)) == spec
    with pytest.raises(ValueError, match="read-only"):
        spec.maximum[0] = 7
    with pytest.raises(ValueError, match="minimum is not compatible with shape"):
        BoundedTensorSpec((3, 5), tf.uint8, (0, 0, 0), 1)
    assert BoundedTensorSpec.from_spec(tf.TensorSpec([2], tf.int32)).maximum == tf.int32.max


def test_types_of_slices_and_sparse_tensors():
    spec = tf.IndexedSlicesSpec([5, 10], dense_shape_dtype=tf.int32, indices_shape=[20])
    assert spec._component_specs == (tf.TensorSpec([20, 10]), tf.TensorSpec([20], tf.int64), tf.TensorSpec([2], tf.int32))
    value = spec._from_components((np.ones([1, 2]), np.array([3]), np.array([5, 2])))
    assert type(value).__name__ == "IndexedSlicesValue" and value.indices.tolist() == [3]
    assert tf.SparseTensorSpec([2, None])._batch(32) == tf.SparseTensorSpec([32, 2, None])
    assert tf.SparseTensorSpec([32, 2])._unbatch() == tf.SparseTensorSpec([2])
