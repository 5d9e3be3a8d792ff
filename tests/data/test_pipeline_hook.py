"""CheckpointInputPipelineHook: a second training goes on with the elements that the first has not seen."""

import types

import everflow as tf


def seen(folder, steps):
    with tf.Graph().as_default():
        following = tf.data.Dataset.range(100).make_one_shot_iterator().get_next()
        step = tf.train.get_or_create_global_step()
        with tf.control_dependencies([following]):
            train = tf.assign_add(step, 1)
        config = types.SimpleNamespace(save_checkpoints_secs=None, save_checkpoints_steps=2, task_id=0, task_type="worker")
        estimator = types.SimpleNamespace(config=config, model_dir=folder)
        hook = tf.data.experimental.CheckpointInputPipelineHook(estimator)
        options = {"checkpoint_dir": folder, "save_checkpoint_steps": 2, "log_step_count_steps": None}
        with tf.train.MonitoredTrainingSession(hooks=[hook], **options) as session:
            return [int(session.run([following, train])[0]) for _ in range(steps)]


def test_training_goes_on_with_the_next_element(tmp_path):
    folder = str(tmp_path)
    assert seen(folder, 5) == [0, 1, 2, 3, 4]
    assert seen(folder, 2) == [5, 6]
    assert (tmp_path / "input").exists() and (tmp_path / "checkpoint").exists()
    assert "input.ckpt-7" in tf.train.latest_checkpoint(folder, latest_filename="input")
