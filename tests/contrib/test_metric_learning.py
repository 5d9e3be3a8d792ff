"""Losses of embeddings; the numbers are those of TensorFlow 1.15.5."""

import numpy as np
import pytest

import everflow as tf
from everflow.contrib.losses import metric_learning
from running import run

LABELS = np.array([0, 0, 1, 1, 2, 2, 2, 0], np.int32)


@pytest.fixture
def rows():
    drawn = np.random.RandomState(3)
    return tf.constant(drawn.randn(8, 3).astype("f")), tf.constant(drawn.randn(8, 3).astype("f"))


def several_labels():
    return [tf.SparseTensor([[i % 3], [3 + i % 2]], [1, 1], [6]) for i in range(8)]


@pytest.mark.parametrize(
    "loss, value, gradient",
    [
        (lambda a, b: metric_learning.contrastive_loss([1, 0] * 4, a, b), 4.10584, 4.3259),
        (lambda a, b: metric_learning.triplet_semihard_loss(LABELS, a), 1.01696, 4.7010),
        (lambda a, b: metric_learning.npairs_loss(LABELS, a, b), 4.13580, 3.8175),
        (lambda a, b: metric_learning.lifted_struct_loss(LABELS, a, margin=2.0), 10.99882, 9.5757),
        (lambda a, b: metric_learning.npairs_loss_multilabel(several_labels(), a, b), 3.41912, 2.5421),
    ],
)
def test_losses_and_their_gradients(loss, value, gradient, rows):
    made = loss(*rows)
    found, slope = run([made, tf.gradients(made, rows[0])[0]])
    assert found == pytest.approx(value, abs=1e-5) and np.abs(slope).sum() == pytest.approx(gradient, abs=2e-4)


@pytest.mark.parametrize("arguments, value", [((1.0,), 3.99157), ((2.0, False, "ari"), 5.21397)])
def test_clusters(arguments, value, rows):
    pytest.importorskip("sklearn")
    loss = metric_learning.cluster_loss(LABELS, rows[0], *arguments)
    assert run(loss) == pytest.approx(value, abs=1e-5)
    assert np.abs(run(tf.gradients(loss, rows[0])[0])).sum() == pytest.approx(11.0117, abs=2e-4)
    with pytest.raises(ValueError, match="Unrecognized margin_type: other"):
        metric_learning.cluster_loss(LABELS, rows[0], 1.0, margin_type="other")


def test_distances_of_equal_rows_have_a_gradient():
    rows = tf.constant([[1.0, 2.0], [1.0, 2.0], [4.0, 6.0]])
    distances = metric_learning.pairwise_distance(rows)
    assert run(distances).tolist() == [[0, 0, 5], [0, 0, 5], [5, 5, 0]]
    assert np.isfinite(run(tf.gradients(distances, rows)[0])).all()


def test_labels_must_be_sparse_for_several(rows):
    with pytest.raises(TypeError, match="must be a list of SparseTensors"):
        metric_learning.npairs_loss_multilabel([1, 2], *rows)
