"""Training ops, and losses and metrics under tf.contrib."""

import numpy as np
import pytest

import everflow as tf


def quadratic():
    w = tf.get_variable("w", initializer=tf.constant([3.0, 4.0]))
    return w, tf.reduce_sum(tf.square(w)) / 2


def test_losses_are_optimized_with_decay_and_clipping():
    with tf.Graph().as_default(), tf.Session() as session:
        w, loss = quadratic()
        step = tf.train.create_global_step()
        train = tf.contrib.layers.optimize_loss(
            loss,
            step,
            1.0,
            "SGD",
            clip_gradients=1.0,
            learning_rate_decay_fn=lambda rate, step: tf.train.exponential_decay(rate, step, 1, 0.5),
        )
        session.run(tf.global_variables_initializer())
        assert session.run(train) == 12.5
        assert np.allclose(session.run(w), [2.4, 3.2]) and session.run(step) == 1
        assert [s.op.name for s in tf.get_collection(tf.GraphKeys.SUMMARIES)] == [
            "OptimizeLoss/learning_rate_1",
            "OptimizeLoss/global_norm/gradient_norm",
            "OptimizeLoss/loss",
            "OptimizeLoss/global_norm/clipped_gradient_norm",
        ]
        with pytest.raises(ValueError, match="Optimizer name should be one of"):
            tf.contrib.layers.optimize_loss(loss, step, 0.1, "Unknown")


def test_train_ops_run_updates_and_multiply_gradients():
    with tf.Graph().as_default(), tf.Session() as session:
        w, loss = quadratic()
        counter = tf.Variable(0, trainable=False)
        tf.add_to_collection(tf.GraphKeys.UPDATE_OPS, tf.assign_add(counter, 1))
        train = tf.contrib.slim.learning.create_train_op(
            loss, tf.train.GradientDescentOptimizer(1.0), gradient_multipliers={"w": 0.5}, clip_gradient_norm=1.0
        )
        session.run(tf.global_variables_initializer())
        session.run(train)
        assert np.allclose(session.run(w), [2.4, 3.2]) and session.run([counter, tf.train.get_global_step()]) == [1, 1]
        with pytest.raises(ValueError, match="No variables to train"):
            tf.contrib.training.create_train_op(loss, tf.train.GradientDescentOptimizer(1.0), variables_to_train=[])


def test_contrib_losses_and_metrics_take_predictions_first():
    labels, guesses = np.float32([[1.0], [0.0]]), np.float32([[3.0], [1.0]])
    with tf.Graph().as_default(), tf.Session() as session:
        loss = tf.contrib.losses.mean_squared_error(guesses, labels, weights=np.float32([2.0, 0.0]))
        values, updates = tf.contrib.slim.metrics.aggregate_metric_map(
            {
                "error": tf.contrib.metrics.streaming_mean_absolute_error(guesses, labels),
                "right": tf.contrib.metrics.streaming_accuracy(guesses, labels),
            }
        )
        session.run(tf.local_variables_initializer())
        session.run(updates)
        assert session.run(loss) == 8 and tf.losses.get_losses() == [loss]
        assert session.run(values) == {"error": 1.5, "right": 0.0}


def test_models_are_analyzed(capsys):
    with tf.Graph().as_default():
        tf.contrib.layers.fully_connected(np.ones((2, 3), np.float32), 4)
        assert tf.contrib.slim.model_analyzer.analyze_vars(tf.trainable_variables(), print_info=True) == (16, 64)
        assert "fully_connected/weights:0 (float32_ref 3x4) [12, bytes: 48]" in capsys.readouterr().out


def test_batches_are_ready_before_they_are_needed():
    with tf.Graph().as_default(), tf.Session() as session:
        counter = tf.Variable(0)
        with tf.control_dependencies([tf.assign_add(counter, 1)]):
            queue = tf.contrib.slim.prefetch_queue.prefetch_queue({"x": tf.constant([1.0, 2.0])}, capacity=3)
        batch = queue.dequeue()
        session.run(tf.global_variables_initializer())
        coordinator = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(session, coordinator)
        assert session.run(batch)["x"].tolist() == [1, 2]
        coordinator.request_stop()
        coordinator.join(threads)
