import numpy as np
import pytest

import everflow as tf

metrics = tf.contrib.eager.metrics


class Total(metrics.Metric):
    """One of a user's own, whose calls have no result."""

    def build(self, x):
        self.total = self.add_variable("total", (), tf.float32, tf.zeros_initializer())

    def call(self, x):
        self.total.assign_add(x)

    def result(self):
        return self.total.read_value()


def test_a_call_is_one_op_of_a_graph(session):
    mean, total = metrics.Mean("a mean"), Total()
    x = tf.placeholder(tf.float32)
    update, add = mean(x), total(3.0)
    assert update.op.type == add.type == "StatefulPartitionedCall"
    assert [v.name for v in mean.variables + total.variables] == ["a_mean/numer:0", "a_mean/denom:0", "Total/total:0"]
    session.run([mean.init_variables(), total.init_variables()])
    for values in ([1, 2], [6]):
        session.run([update, add], {x: values})
    assert session.run([mean.result(), total.result()]) == [3, 6]
    weighted = mean([1.0, 2.0], weights=[1.0, 3.0])
    assert [found.tolist() for found in session.run(weighted)] == [[1, 6], [1, 3]]


def test_metrics_of_a_graph_take_what_others_return(session):
    first, second = metrics.Mean("first"), metrics.Mean("second")
    update = second(first([2.0, 4.0]))
    session.run([first.init_variables(), second.init_variables()])
    session.run(update)
    assert session.run([first.result(), second.result()]) == [3, 6]
    with pytest.raises(ValueError, match="Variable first/numer already exists"):
        metrics.Mean("first")(1.0)


def test_metrics_that_were_built_by_hand_keep_their_variables(session):
    mean = metrics.Mean()
    mean.build()
    known = mean.numer
    update = mean([2.0, 4.0])
    session.run(mean.init_variables())
    session.run(update)
    assert mean.numer is known and len(mean.variables) == 2 and session.run(mean.result()) == 3


def test_metrics_add_each_other_up(eager):
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


def test_what_goes_in_is_checked(eager):
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


def test_accuracies(eager):
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


def test_checkpoints_make_their_folders(tmp_path, eager):
    checkpoint = tf.train.Checkpoint(v=tf.Variable(2.0))
    path = checkpoint.save(str(tmp_path / "a" / "b" / "c"))
    assert path.endswith("/a/b/c-1") and tf.train.latest_checkpoint(str(tmp_path / "a" / "b")) == path
    manager = tf.train.CheckpointManager(checkpoint, str(tmp_path / "m" / "n"), max_to_keep=1)
    assert manager.save().endswith("/m/n/ckpt-2")
