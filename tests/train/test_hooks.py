"""What each hook does around the steps."""

import logging

import pytest

import everflow as tf


@pytest.fixture
def logged(caplog):
    level = tf.logging.get_verbosity()
    tf.logging.set_verbosity(tf.logging.INFO)
    logger = logging.getLogger("tensorflow")
    logger.addHandler(caplog.handler)
    yield lambda: [record.getMessage() for record in caplog.records]
    logger.removeHandler(caplog.handler)
    tf.logging.set_verbosity(level)


def train(hooks, steps=None, **kwargs):
    step = tf.train.get_or_create_global_step()
    train_op = tf.assign_add(step, 1)
    if steps:
        hooks = [*hooks, tf.train.StopAtStepHook(num_steps=steps)]
    with tf.train.SingularMonitoredSession(hooks=hooks, **kwargs) as session:
        while not session.should_stop():
            session.run(train_op)


def test_logging_hook_writes_tags_in_order_with_seconds_after_the_first(logged, monkeypatch):
    monkeypatch.setattr("time.time", lambda: 10.0)
    hook = tf.train.LoggingTensorHook({"loss": tf.constant(0.25), "accuracy": tf.constant([1.0, 1e-7])}, every_n_iter=2)
    train([hook], 3)
    shown = [message for message in dict.fromkeys(logged()) if "loss" in message]
    assert shown == ["accuracy = [1.        0.0000001], loss = 0.25", "accuracy = [1.        0.0000001], loss = 0.25 (0.000 sec)"]


def test_logging_hook_formats_and_logs_at_the_end(logged):
    value = tf.constant(7, name="seven")
    train([tf.train.LoggingTensorHook(["seven"], at_end=True, formatter=lambda values: f"<{values['seven']}>")], 2)
    assert logged().count("<7>") >= 1
    with pytest.raises(ValueError, match="exactly one of"):
        tf.train.LoggingTensorHook([value], every_n_iter=1, every_n_secs=1)
    with pytest.raises(ValueError, match="invalid every_n_iter=0"):
        tf.train.LoggingTensorHook([value], every_n_iter=0)


def test_nan_hook_fails_or_stops():
    nan = tf.constant(float("nan"))
    with pytest.raises(tf.train.NanLossDuringTrainingError, match="NaN loss during training"):
        train([tf.train.NanTensorHook(nan)])
    train([tf.train.NanTensorHook(nan, fail_on_nan_loss=False)])


def test_timers_trigger_at_first_and_then_every_so_often():
    timer = tf.train.SecondOrStepTimer(every_steps=3)
    assert timer.should_trigger_for_step(1)
    assert timer.update_last_triggered_step(1) == (None, None)
    assert [timer.should_trigger_for_step(step) for step in (1, 2, 3, 4)] == [False, False, False, True]
    assert timer.update_last_triggered_step(5)[1] == 4
    for arguments in ({}, {"every_secs": 1, "every_steps": 1}):
        with pytest.raises(ValueError, match="every_secs"):
            tf.train.SecondOrStepTimer(**arguments)


def test_checkpoint_hook_saves_and_tells_listeners(tmp_path):
    calls = []

    class Listener(tf.train.CheckpointSaverListener):
        def begin(self):
            calls.append("begin")

        def before_save(self, session, global_step_value):
            calls.append(("before", int(global_step_value)))

        def after_save(self, session, global_step_value):
            calls.append(("after", int(global_step_value)))
            return global_step_value >= 4

        def end(self, session, global_step_value):
            calls.append(("end", int(global_step_value)))

    scaffold = tf.train.Scaffold()
    train([tf.train.CheckpointSaverHook(str(tmp_path), save_steps=2, scaffold=scaffold, listeners=[Listener()])], scaffold=scaffold)
    assert calls == ["begin", ("before", 0), ("after", 0), ("before", 2), ("after", 2), ("before", 4), ("after", 4), ("end", 4)]
    assert (tmp_path / "graph.pbtxt").exists()
    assert tf.train.load_variable(str(tmp_path), "global_step") == 4
    with pytest.raises(ValueError, match="both saver and scaffold"):
        tf.train.CheckpointSaverHook(str(tmp_path), save_steps=1, saver=tf.train.Saver([], allow_empty=True), scaffold=scaffold)


def test_summaries_and_step_counts_are_written(tmp_path):
    step = tf.train.get_or_create_global_step()
    tf.summary.scalar("twice", step * 2)
    folder = str(tmp_path)
    hooks = [
        tf.train.SummarySaverHook(save_steps=2, output_dir=folder, scaffold=tf.train.Scaffold()),
        tf.train.StepCounterHook(every_n_steps=2, output_dir=folder),
    ]
    hooks[0]._scaffold.finalize()
    tf.get_default_graph()._unsafe_unfinalize()
    train(hooks, 5)
    tf.summary.FileWriterCache.clear()
    tags = [value.tag for event in tf.contrib.testing.latest_summaries(folder) for value in event.summary.value]
    assert tags.count("twice") == 3
    assert tags.count("global_step/sec") == 2
    with pytest.raises(ValueError, match="Exactly one of scaffold or summary_op"):
        tf.train.SummarySaverHook(save_steps=1)


def test_profiler_hook_writes_timelines(tmp_path):
    train([tf.train.ProfilerHook(save_steps=2, output_dir=str(tmp_path))], 4)
    assert sorted(path.name for path in tmp_path.glob("*.json")) == ["timeline-2.json", "timeline-4.json"]
    tf.summary.FileWriterCache.clear()


def test_final_ops_and_feeds():
    x = tf.placeholder(tf.float32, shape=[])
    more = x + 1
    final = tf.train.FinalOpsHook({"double": x * 2}, {x: 21.0})
    with tf.train.SingularMonitoredSession(hooks=[final, tf.train.FeedFnHook(lambda: {x: 3.0})]) as session:
        assert session.run(more) == 4.0
    assert final.final_ops_values == {"double": 42.0}


def test_waiter_hook_lets_later_workers_in_when_the_step_is_there():
    step = tf.train.get_or_create_global_step()
    with tf.train.SingularMonitoredSession(
        hooks=[tf.train.GlobalStepWaiterHook(3)], scaffold=tf.train.Scaffold(init_fn=lambda scaffold, session: step.load(3, session))
    ) as session:
        assert session.run(step) == 3


def test_stop_hook_wants_one_kind_of_limit():
    for arguments in ({}, {"num_steps": 1, "last_step": 1}):
        with pytest.raises(ValueError, match="num_steps or last_step"):
            tf.train.StopAtStepHook(**arguments)
    with pytest.raises(RuntimeError, match="Global step should be created"):
        tf.train.MonitoredSession(hooks=[tf.train.StopAtStepHook(1)])
