"""What layers of tf.contrib.layers do with unusual arguments, and what they refuse."""

import numpy as np
import pytest

import everflow as tf
from everflow.contrib.layers.collecting import n_positive_integers
from everflow.contrib.layers.core import poincare_normalize
from everflow.contrib.layers.embeddings import embedding_lookup_sparse_with_distributed_aggregation
from everflow.contrib.layers.scattered_embeddings import sampled_scattered_embedding_lookup, sampled_scattered_embedding_lookup_sparse
from everflow.contrib.layers.target_columns import binary_svm_target

layers = tf.contrib.layers


def run(tensor, feed=None):
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        return sess.run(tensor, feed)


def test_long_vectors_are_brought_into_the_ball():
    found = run(poincare_normalize(tf.constant([[3.0, 4.0], [0.1, 0.2]])))
    np.testing.assert_allclose(found, [[0.599994, 0.799992], [0.1, 0.2]], rtol=1e-6)


def test_a_variable_says_whether_batch_norm_trains():
    training = tf.Variable(True)
    images = np.arange(8, dtype=np.float32).reshape([2, 2, 2, 1])
    outputs = layers.batch_norm(images, is_training=training, updates_collections=None)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        assert abs(sess.run(outputs).mean()) < 1e-6
        sess.run(training.assign(False))
        assert sess.run(outputs).mean() > 1


def test_groups_need_sizes_and_axes_of_their_own():
    with pytest.raises(ValueError, match="Axis is out of bounds"):
        layers.group_norm(tf.ones([2, 3, 3, 4]), groups=2, reduction_axes=(1, 9))
    with pytest.raises(ValueError, match="reduction_axis must be mutually exclusive with channels_axis"):
        layers.group_norm(tf.ones([2, 3, 3, 4]), groups=2, channels_axis=-2)
    with pytest.raises(ValueError, match="has undefined dimensions 2"):
        layers.group_norm(tf.placeholder(tf.float32, [None, 3, None, 4]), groups=2)
    with pytest.raises(ValueError, match="has undefined channel dimension: 3"):
        layers.group_norm(tf.placeholder(tf.float32, [2, 3, 3, None]), groups=2)


def test_legacy_layers_need_matrices():
    with pytest.raises(ValueError, match="rank of x must be at least 2 not: 1"):
        layers.legacy_fully_connected(tf.ones([3]), 2)


def test_sizes_are_positive_integers():
    assert n_positive_integers(3, 4) == (4, 4, 4) and n_positive_integers(2, tf.TensorShape([1, 2])) == (1, 2)
    with pytest.raises(ValueError, match=r"Expected sequence of 2 positive integers, but received \(1, None\)"):
        n_positive_integers(2, (1, None))
    with pytest.raises(ValueError, match="n must be a positive integer"):
        n_positive_integers("2", 1)


def test_labels_of_a_support_vector_machine_may_be_a_vector():
    loss = binary_svm_target().loss(tf.constant([[-0.5], [1.2]]), tf.constant([0, 1]), {})
    # The hinges are 0.5 and 0.
    np.testing.assert_allclose(run(loss), 0.25, rtol=1e-6)


def test_vectors_of_any_rank_are_combined_by_weights():
    ids = tf.SparseTensor([[0, 0], [0, 1], [1, 0]], [0, 1, 2], [2, 2])
    weights = tf.SparseTensor([[0, 0], [0, 1], [1, 0]], [1.0, 2.0, 3.0], [2, 2])
    params = tf.reshape(tf.range(12.0), [3, 2, 2])
    found = run(embedding_lookup_sparse_with_distributed_aggregation(params, ids, weights, combiner="sum"))
    assert found.tolist() == [[[8, 11], [14, 17]], [[24, 27], [30, 33]]]


def test_tables_and_weights_have_one_type():
    ids = tf.SparseTensor([[0, 0]], [0], [1, 1])
    with pytest.raises(ValueError, match="must be of the same type"):
        layers.safe_embedding_lookup_sparse([np.ones([2, 2], np.float32), np.ones([2, 2])], ids)


def test_scattered_vectors_at_some_places():
    params, values = tf.range(17.0), tf.constant(["foo", "bar"])
    # As 1.15.5 hashes them.
    assert run(sampled_scattered_embedding_lookup(params, values, dimension=3)).tolist() == [[2, 3, 14], [12, 9, 5]]
    some = sampled_scattered_embedding_lookup(params, values, sampled_candidates=[[0, 2], [1, 0]])
    assert some.shape == (2, 2) and run(some).tolist() == [[2, 14], [9, 12]]
    with pytest.raises(tf.errors.InvalidArgumentError, match="does not match the shape of values"):
        run(sampled_scattered_embedding_lookup(params, values, sampled_candidates=[[0, 1]]))
    bags = tf.SparseTensor([[0, 0], [0, 1], [1, 0], [3, 0]], ["foo", "bar", "foo", "foo"], [5, 2])
    summed = sampled_scattered_embedding_lookup_sparse(params, bags, dimension=3, with_sign_hash=True, hash_key=7)
    assert run(summed).tolist() == [[-4, -17, -6], [3, -9, 3], [0, 0, 0], [3, -9, 3], [0, 0, 0]]
    with pytest.raises(ValueError, match="You must specify either dimension or sampled_candidates"):
        sampled_scattered_embedding_lookup(params, values)


@pytest.mark.parametrize("zero_debias", [False, True])
def test_averages_of_batches_are_updated_where_a_variable_says_so(session, zero_debias):
    images = tf.reshape(tf.range(24.0), [2, 2, 2, 3])
    is_training = tf.Variable(True)
    tf.contrib.layers.batch_norm(
        images, decay=0.5, is_training=is_training, fused=False, zero_debias_moving_mean=zero_debias, updates_collections="mine"
    )
    session.run(tf.global_variables_initializer())
    (mean,) = tf.contrib.framework.get_variables("BatchNorm/moving_mean")[:1]
    session.run(tf.get_collection("mine"), {is_training: False})
    assert session.run(mean).tolist() == [0, 0, 0]
    session.run(tf.get_collection("mine"))
    # The average of one batch: half of its mean, or all of it where the start at zero is corrected for.
    assert session.run(mean).tolist() == pytest.approx(np.multiply([10.5, 11.5, 12.5], 1 if zero_debias else 0.5))
