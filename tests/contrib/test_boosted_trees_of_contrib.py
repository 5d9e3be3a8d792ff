import numpy as np
import pytest

import everflow as tf
from everflow.contrib.boosted_trees import losses
from everflow.contrib.boosted_trees.accumulators import StatsAccumulator, run_handler_scheduled_ops
from running import run


def accumulator(*shapes):
    return StatsAccumulator(0, *(tf.TensorShape(shape) for shape in shapes or ([], [])))


def test_statistics_add_up_by_partition_feature_and_dimension(session):
    sums = accumulator()
    session.run(sums.initializer)
    session.run(sums.add(0, [1, 2, 1], [[2, 0], [3, 0], [2, 0]], [0.1, 0.3, 0.4], [0.2, 0.4, 1.0]))
    session.run(sums.add(0, [1], [[2, 1]], [1.0], [2.0]))
    updates, partitions, features, gradients, hessians = session.run(sums.flush(0, 1))
    assert updates == 2
    assert partitions.tolist() == [1, 1, 2]
    assert features.tolist() == [[2, 0], [2, 1], [3, 0]]
    assert np.allclose(gradients, [0.5, 1.0, 0.3])
    assert np.allclose(hessians, [1.2, 2.0, 0.4])


def test_what_has_an_old_stamp_is_dropped(session):
    sums = accumulator()
    session.run(sums.initializer)
    session.run(sums.add(7, [1], [[2, 0]], [1.0], [1.0]))
    assert session.run(sums.flush(0, 1))[0] == 0


def test_gradients_of_another_shape_are_refused(session):
    sums = accumulator([2], [2, 2])
    session.run(sums.initializer)
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"Gradients dimensions must match: \[3\], \[2\]"):
        session.run(sums.add(0, [1], [[2, 0]], [[1.0, 2.0, 3.0]], [[[1.0, 0.0], [0.0, 1.0]]]))


def test_a_checkpoint_holds_statistics(session, tmp_path):
    sums = accumulator([1], [1])
    session.run(sums.initializer)
    session.run(sums.add(0, [4], [[2, 0]], [[1.5]], [[2.5]]))
    path = tf.train.Saver().save(session, str(tmp_path / "sums"))
    session.run(sums.flush(0, 9))
    tf.train.Saver().restore(session, path)
    updates, partitions, _, gradients, _ = session.run(sums.flush(0, 1))
    assert (updates, partitions.tolist(), gradients.tolist()) == (1, [4], [[1.5]])


def test_scheduled_ops_run_together(session):
    both = [accumulator(), accumulator()]
    scheduled = {i: [sums.schedule_add([i], [[0, 0]], [1.0], [2.0])] for i, sums in enumerate(both)}
    results = run_handler_scheduled_ops(scheduled, 0, None)
    assert results[0][0] is results[1][0]
    session.run([sums.initializer for sums in both])
    session.run(results[0][0])
    assert [session.run(sums.flush(0, 1))[1].tolist() for sums in both] == [[0], [1]]


def test_losses_of_examples():
    labels, predictions = tf.constant([[1.0], [0.0]]), tf.constant([[2.0], [0.5]])
    squared, _ = losses.per_example_squared_loss(labels, 2.0, predictions)
    assert run(squared).tolist() == [[2.0], [0.5]]
    full, _ = losses.per_example_full_exp_loss(labels, 1.0, predictions)
    assert np.allclose(run(full), np.exp([[-2.0], [0.5]]))
    entropy, _ = losses.per_example_maxent_loss([1, 0], None, tf.constant([[0.0, 1.0], [0.0, 1.0]]), 2)
    assert np.allclose(run(entropy)[:, 0], [np.log1p(np.exp(-1)), np.log1p(np.exp(1))], atol=1e-5)
    quantile, _ = losses.per_example_quantile_regression_loss([[1.0], [0.0]], None, [[0.5], [0.5]], 0.9)
    assert np.allclose(run(quantile), [[0.45**2], [0.05**2]])
