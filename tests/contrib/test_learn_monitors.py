"""Monitors of tf.contrib.learn, as they are and as hooks."""

from __future__ import annotations

import pytest

import everflow as tf

learn, monitors = tf.contrib.learn, tf.contrib.learn.monitors


class Counted(monitors.EveryN):
    """Notes the steps at which it acts."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.steps, self.after = [], []

    def every_n_step_begin(self, step):
        self.steps.append(step)
        return super().every_n_step_begin(step)

    def every_n_post_step(self, step, session):
        self.after.append(step)


def estimator(folder):
    def model_fn(features, labels, mode):
        weight = tf.get_variable("weight", initializer=4.0)
        train_op = tf.group(tf.assign_sub(weight, 1.0), tf.assign_add(tf.train.get_global_step(), 1))
        return learn.ModelFnOps(mode, predictions=weight, loss=tf.abs(weight), train_op=train_op)

    return learn.Estimator(model_fn, model_dir=str(folder), config=learn.RunConfig(save_checkpoints_steps=1))


def inputs():
    return tf.constant([1.0]), None


def test_monitors_act_at_the_first_steps_and_every_so_many_after(tmp_path):
    counted = Counted(every_n_steps=3, first_n_steps=2)
    estimator(tmp_path).fit(input_fn=inputs, steps=9, monitors=[counted])
    assert counted.steps == [1, 2, 5, 8]
    # At the end once more, as the last step was none of them.
    assert counted.after == [1, 2, 5, 8, 9]


def test_a_monitor_ends_training(tmp_path):
    trained = estimator(tmp_path).fit(input_fn=inputs, monitors=[monitors.StopAtStep(num_steps=4)])
    assert trained.get_variable_value("global_step") == 4


def test_values_are_captured_by_step(tmp_path):
    captured = monitors.CaptureVariable("weight:0", every_n=2, first_n=1)
    estimator(tmp_path).fit(input_fn=inputs, steps=4, monitors=[captured])
    assert sorted(captured.values) == [1, 3]


def test_training_stops_when_a_metric_is_best_for_too_long(tmp_path):
    validation = monitors.ValidationMonitor(
        input_fn=inputs, eval_steps=1, every_n_steps=1, early_stopping_rounds=2, check_interval_secs=None
    )
    trained = estimator(tmp_path).fit(input_fn=inputs, steps=50, monitors=[validation])
    assert validation.early_stopped
    assert trained.get_variable_value("global_step") < 50
    assert validation.best_value <= 1.0


def test_monitors_complain_of_calls_out_of_order():
    monitor = monitors.BaseMonitor()
    with pytest.raises(ValueError, match="end called without begin"):
        monitor.end()
    monitor.begin(max_steps=2)
    with pytest.raises(ValueError, match="begin called twice"):
        monitor.begin()
    with pytest.raises(ValueError, match="Invalid step 3"):
        monitor.step_begin(3)


def test_a_loss_that_is_no_number_raises():
    monitor = monitors.NanLoss("loss:0", every_n_steps=1)
    monitor.begin()
    monitor.step_begin(1)
    with pytest.raises(learn.NanLossDuringTrainingError, match="NaN loss during training"):
        monitor.step_end(1, {"loss:0": float("nan")})


def counting():
    """A weight that each step makes smaller."""
    step = tf.train.create_global_step()
    weight = tf.get_variable("weight", initializer=4.0)
    train_op = tf.group(tf.assign_sub(weight, 1.0), tf.assign_add(step, 1))
    return weight, train_op, tf.abs(weight, name="loss")


def test_graph_actions_train_evaluate_and_infer(tmp_path):
    with tf.Graph().as_default() as graph:
        _, train_op, loss = counting()
        learn.train(graph, str(tmp_path), train_op, loss, steps=3)
    path = tf.train.latest_checkpoint(str(tmp_path))
    assert path.endswith("-3")
    with tf.Graph().as_default() as graph:
        weight, _, loss = counting()
        results, at = learn.evaluate(graph, str(tmp_path / "eval"), path, {"size": loss}, max_steps=1)
        assert (results, at) == ({"size": 1.0}, 3)
    with tf.Graph().as_default():
        weight, _, _ = counting()
        assert learn.infer(path, {"weight": weight}) == {"weight": 1.0}
        assert learn.run_n({"weight": weight}, n=2, restore_checkpoint_path=path) == [{"weight": 1.0}] * 2
