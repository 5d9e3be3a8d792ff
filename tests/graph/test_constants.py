"""What is known of tensors before anything runs."""

import numpy as np

import everflow as tf
from everflow.graph.constants import try_evaluate_constant


def test_sizes_that_were_unpacked():
    _, columns = tf.unstack(tf.shape(tf.zeros([2, 3])))
    assert tf.range(columns).shape.as_list() == [3]


def test_predicates_that_do_not_vary():
    fixed = tf.equal(tf.shape(tf.zeros([2, 3]))[0] * 3, 6)
    assert try_evaluate_constant(fixed.graph._c_graph, fixed._as_tf_output()) == np.True_
    assert try_evaluate_constant(tf.get_default_graph()._c_graph, tf.placeholder(tf.bool, [])._as_tf_output()) is None


def test_sparse_tensors_are_taken_for_slices():
    sparse = tf.SparseTensor([[0]], [1.0], [2])
    assert tf.convert_to_tensor_or_indexed_slices(sparse, tf.float32) is sparse


def test_the_axis_of_softmax_may_be_a_number_of_numpys():
    assert tf.nn.log_softmax(tf.zeros([2, 3]), axis=np.int64(1)).op.type == "LogSoftmax"


def test_shapes_of_shapes(session):
    sizes = tf.placeholder(tf.int32, [None])
    shape = tf.shape(tf.ones(tf.concat([sizes, tf.shape(sizes)], 0)))
    assert session.run(tf.shape(shape), {sizes: [2, 3]}).tolist() == [3]
