import numpy as np
import pytest

import everflow as tf

pytestmark = pytest.mark.usefixtures("eager")

metrics = tf.contrib.eager.metrics


def test_metrics_add_each_other_up():
    first, second = metrics.Mean(), metrics.Mean()
    first([1.0, 2.0])
    second([6.0], weights=[2.0])
    assert first.aggregate([second]) is None
    assert first.result().numpy() == 3.75
    with pytest.raises(TypeError, match="All metrics must be the same type"):
        first.aggregate([metrics.Accuracy()])
    other = metrics.Mean("other")
    other(1.0)
    with pytest.raises(ValueError, match="same order"):
        first.aggregate([other])


def test_what_goes_in_is_checked():
    for metric, labels, predictions in (
        (metrics.Accuracy(), [1, 2], [1, 2, 3]),
        (metrics.CategoricalAccuracy(), [[0, 1]], [[0.0, 1.0], [1.0, 0.0]]),
        (metrics.BinaryAccuracy(0.5), [0, 1], [0.1]),
    ):
        with pytest.raises(tf.errors.InvalidArgumentError, match="Shapes of labels and predictions are unequal"):
            metric(labels, predictions)
    with pytest.raises(tf.errors.InvalidArgumentError, match="First axis of labels and predictions is unequal"):
        metrics.SparseAccuracy()([0, 1], [[0.1, 0.2]])
    with pytest.raises(tf.errors.InvalidArgumentError, match="cannot compute Equal"):
        metrics.Accuracy()(tf.constant([1, 2]), tf.constant([1.0, 2.0]))
    with pytest.raises(NotImplementedError, match="build"):
        metrics.Metric()(1)


def test_accuracies():
    found = []
    for metric, labels, predictions in (
        (metrics.Accuracy(), [1, 2], [1, 3]),
        (metrics.CategoricalAccuracy(), [[0, 1], [1, 0]], [[0.1, 0.9], [0.2, 0.8]]),
        (metrics.BinaryAccuracy(threshold=0.7), [[1], [0]], [[0.9], [0.8]]),
        (metrics.SparseAccuracy(), [1, 0], [[0.1, 0.9], [0.2, 0.8]]),
    ):
        metric(labels, predictions)
        found.append(metric.result().numpy())
    np.testing.assert_array_equal(found, [0.5] * 4)


def test_checkpoints_make_their_folders(tmp_path):
    checkpoint = tf.train.Checkpoint(v=tf.Variable(2.0))
    path = checkpoint.save(str(tmp_path / "a" / "b" / "c"))
    assert path.endswith("/a/b/c-1") and tf.train.latest_checkpoint(str(tmp_path / "a" / "b")) == path
    manager = tf.train.CheckpointManager(checkpoint, str(tmp_path / "m" / "n"), max_to_keep=1)
    assert manager.save().endswith("/m/n/ckpt-2")
