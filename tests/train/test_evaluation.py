"""Checkpoints that are trained by slim's loop, and evaluated."""

import pytest

import everflow as tf

slim = tf.contrib.slim


@pytest.fixture
def trained(tmp_path):
    """A folder with a checkpoint of a model that gives the mean of its target."""
    with tf.Graph().as_default():
        loss = tf.losses.mean_squared_error(tf.constant([3.0]), model())
        train_op = slim.learning.create_train_op(loss, tf.train.GradientDescentOptimizer(0.5))
        last = slim.learning.train(train_op, str(tmp_path), number_of_steps=2, save_summaries_secs=0)
    assert last == pytest.approx(0.0)
    return str(tmp_path)


def model():
    return tf.get_variable("answer", initializer=[1.0])


def test_evaluate_once_runs_the_eval_ops_and_gives_the_final_ones(trained):
    with tf.Graph().as_default():
        mean, update = tf.metrics.mean(model())
        steps = tf.contrib.training.get_or_create_eval_step()
        found = tf.contrib.training.evaluate_once(
            tf.train.latest_checkpoint(trained),
            eval_ops=update,
            final_ops={"mean": mean, "steps": steps},
            hooks=[tf.contrib.training.StopAfterNEvalsHook(4)],
        )
    assert found == {"mean": pytest.approx(3.0), "steps": 4}


def test_without_a_limit_the_end_of_the_input_ends_the_evaluation(trained):
    with tf.Graph().as_default():
        model()
        value = tf.data.make_one_shot_iterator(tf.data.Dataset.range(5)).get_next()
        mean, update = tf.metrics.mean(value)
        found = tf.contrib.training.evaluate_once(
            tf.train.latest_checkpoint(trained), eval_ops=update, final_ops=mean, hooks=[tf.contrib.training.StopAfterNEvalsHook(None)]
        )
    assert found == 2.0


def test_slim_evaluates_new_checkpoints_and_writes_summaries(trained, tmp_path):
    with tf.Graph().as_default():
        tf.train.get_or_create_global_step()
        mean, update = tf.metrics.mean(model())
        tf.summary.scalar("mean", mean)
        folder = str(tmp_path / "evaluation")
        found = slim.evaluation.evaluation_loop(
            "", trained, folder, num_evals=2, eval_op=update, final_op=mean, max_number_of_evaluations=1, timeout=1
        )
    assert found == pytest.approx(3.0)
    (event,) = tf.contrib.testing.latest_summaries(folder)
    assert event.step == 2
    assert event.summary.value[0].simple_value == pytest.approx(3.0)


def test_contrib_training_needs_a_folder_to_save_to():
    with tf.Graph().as_default(), pytest.raises(ValueError, match="logdir cannot be None when save_summaries_steps"):
        tf.contrib.training.train(tf.no_op(), None)


def test_slim_checks_its_arguments():
    with tf.Graph().as_default():
        with pytest.raises(ValueError, match="train_op cannot be None"):
            slim.learning.train(None, None)
        with pytest.raises(ValueError, match="positive number"):
            slim.learning.train(tf.no_op(), None, number_of_steps=0)
        with pytest.raises(ValueError, match="trace_every_n_steps because logdir=None"):
            slim.learning.train(tf.no_op(), None, trace_every_n_steps=1)
