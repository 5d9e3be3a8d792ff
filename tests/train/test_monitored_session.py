"""Sessions that initialize, recover, save and stop by themselves."""

import os
import random
import signal
import subprocess
import sys
import time

import pytest

import everflow as tf
from everflow.distribute.coordinator import WorkerContext


def counting():
    step = tf.train.get_or_create_global_step()
    return step, tf.assign_add(step, 1)


def test_a_restart_goes_on_from_the_last_checkpoint(tmp_path):
    step, train = counting()
    with tf.train.MonitoredTrainingSession(checkpoint_dir=str(tmp_path), hooks=[tf.train.StopAtStepHook(num_steps=3)]) as session:
        while not session.should_stop():
            session.run(train)
    with tf.train.MonitoredTrainingSession(checkpoint_dir=str(tmp_path), hooks=[tf.train.StopAtStepHook(last_step=5)]) as session:
        assert session.run(step) == 3
        while not session.should_stop():
            last = session.run(train)
    assert last == 5
    assert tf.train.latest_checkpoint(str(tmp_path)).endswith("model.ckpt-5")


def test_a_lost_worker_costs_the_steps_since_the_checkpoint_only(tmp_path):
    step, train = counting()

    class LoseWorkerOnce(tf.train.SessionRunHook):
        lost = False

        def after_run(self, run_context, run_values):
            if not self.lost and run_context.session.run(step) == 4:
                self.lost = True
                raise tf.errors.UnavailableError(None, None, "gone")

    seen = []
    hook = LoseWorkerOnce()
    with tf.train.MonitoredTrainingSession(
        checkpoint_dir=str(tmp_path), save_checkpoint_secs=None, save_checkpoint_steps=3, hooks=[hook, tf.train.StopAtStepHook(last_step=6)]
    ) as session:
        while not session.should_stop():
            seen.append(int(session.run(train)))
    assert hook.lost
    # Step 4 was lost; what was saved at step 3 is where the new session starts.
    assert seen == [1, 2, 3, 4, 5, 6]
    assert tf.train.latest_checkpoint(str(tmp_path)).endswith("model.ckpt-6")


def test_a_singular_session_does_not_recover():
    _, train = counting()

    class Lose(tf.train.SessionRunHook):
        def before_run(self, run_context):
            raise tf.errors.AbortedError(None, None, "gone")

    with pytest.raises(tf.errors.AbortedError, match="gone"), tf.train.SingularMonitoredSession(hooks=[Lose()]) as session:
        session.run(train)


def test_hooks_add_fetches_and_feeds():
    x = tf.placeholder(tf.float32, name="x")
    y = x * 2
    z = y + 1
    got = []

    class Watch(tf.train.SessionRunHook):
        def before_run(self, run_context):
            return tf.train.SessionRunArgs({"y": y}, feed_dict={x: 4.0})

        def after_run(self, run_context, run_values):
            got.append(run_values.results["y"])

    with tf.train.MonitoredSession(hooks=[Watch()]) as session:
        assert session.run(z) == 9.0
        with pytest.raises(RuntimeError, match=r"Same tensor is fed by a SessionRunHook and user. Conflict\(s\): "):
            session.run(y, feed_dict={x: 1.0})
    assert got == [8.0]


def test_the_end_of_the_input_ends_the_block_quietly_and_errors_do_not():
    value = tf.data.make_one_shot_iterator(tf.data.Dataset.range(2)).get_next()
    ended = []

    class End(tf.train.SessionRunHook):
        def end(self, session):
            ended.append(True)

    with tf.train.MonitoredSession(hooks=[End()]) as session:
        while not session.should_stop():
            session.run(value)
    assert ended == [True]
    with pytest.raises(KeyError, match="mine"), tf.train.MonitoredSession(hooks=[End()]):
        raise KeyError("mine")
    assert ended == [True]


def test_the_graph_can_be_changed_again_after_the_session(graph):
    tf.Variable(1)
    with tf.train.MonitoredSession():
        with pytest.raises(RuntimeError, match="Graph is finalized"):
            tf.constant(1)
    tf.constant(1)


def test_a_closed_session_can_not_be_closed_again():
    session = tf.train.MonitoredSession()
    session.close()
    assert session.should_stop()
    with pytest.raises(RuntimeError, match="already closed"):
        session.close()


def test_step_functions_run_with_and_without_hooks():
    step, train = counting()
    with tf.train.MonitoredSession(hooks=[tf.train.StopAtStepHook(last_step=2)]) as session:
        assert session.run_step_fn(lambda step_context: step_context.session.run(train)) == 1
        assert not session.should_stop()
        assert session.run_step_fn(lambda step_context: step_context.run_with_hooks(train)) == 2
        assert session.should_stop()
        with pytest.raises(ValueError, match="`step_fn` may either have one `step_context` argument"):
            session.run_step_fn(lambda context: None)


def test_what_a_thread_raises_is_raised_at_the_end():
    _, train = counting()

    class Thread(tf.train.SessionRunHook):
        def after_create_session(self, session, coord):
            self.coord = coord

        def after_run(self, run_context, run_values):
            self.coord.request_stop(ValueError("of a thread"))

    with pytest.raises(ValueError, match="of a thread"), tf.train.MonitoredSession(hooks=[Thread()]) as session:
        session.run(train)
        assert session.should_stop()


def test_session_managers_say_what_is_not_initialized():
    tf.Variable(1, name="v")
    w = tf.Variable(2, name="w")
    manager = tf.train.SessionManager(ready_op=tf.report_uninitialized_variables())
    with pytest.raises(RuntimeError, match="Init operations did not make model ready.*Variables not initialized: v"):
        manager.prepare_session("", init_op=w.initializer)
    with pytest.raises(RuntimeError, match="no init_op or init_fn or local_init_op was given"):
        manager.prepare_session("")
    waiting = tf.train.SessionManager(ready_op=tf.report_uninitialized_variables(), recovery_wait_secs=0.05)
    with pytest.raises(tf.errors.DeadlineExceededError, match="Session was not ready after waiting"):
        waiting.wait_for_session("", max_wait_secs=0.1)


def test_scaffolds_take_over_what_they_are_not_given():
    init = tf.no_op()
    first = tf.train.Scaffold(init_op=init, init_fn=lambda scaffold, session: None)
    second = tf.train.Scaffold(copy_from_scaffold=first, init_feed_dict={})
    assert second.init_op is init and second.init_fn is not None
    with pytest.raises(TypeError, match="copy_from_scaffold is not a Scaffold instance"):
        tf.train.Scaffold(copy_from_scaffold=3)


_PROGRAM = """
import sys, time
import everflow as tf
step = tf.train.get_or_create_global_step()
total = tf.get_variable("total", initializer=0)
with tf.control_dependencies([tf.assign_add(total, 2)]):
    train = tf.assign_add(step, 1)
with tf.train.MonitoredTrainingSession(checkpoint_dir=sys.argv[1], save_checkpoint_secs=None, save_checkpoint_steps=5,
                                       save_summaries_steps=None, log_step_count_steps=None,
                                       hooks=[tf.train.StopAtStepHook(last_step=40)]) as session:
    print("started", flush=True)
    while not session.should_stop():
        session.run(train)
        time.sleep(0.005)
"""


def test_a_killed_program_goes_on_where_it_was(tmp_path):
    program = subprocess.Popen([sys.executable, "-c", _PROGRAM, str(tmp_path)], stdout=subprocess.PIPE)
    assert program.stdout.readline() == b"started\n"
    time.sleep(random.uniform(0.0, 0.2))
    os.kill(program.pid, signal.SIGKILL)
    program.communicate()
    subprocess.run([sys.executable, "-c", _PROGRAM, str(tmp_path)], check=True, stdout=subprocess.DEVNULL)
    last = tf.train.latest_checkpoint(str(tmp_path))
    assert last.endswith("model.ckpt-40")
    reader = tf.train.load_checkpoint(last)
    assert reader.get_tensor("global_step") == 40
    assert reader.get_tensor("total") == 80


def test_a_worker_with_variables_of_its_own_saves_beside_the_chief(tmp_path):
    strategy = tf.contrib.distribute.CollectiveAllReduceStrategy()
    strategy.extended._is_chief = False
    step = tf.train.get_or_create_global_step()
    more = tf.assign_add(step, 1)
    with (
        WorkerContext(strategy, None, "worker", 1),
        tf.train.MonitoredTrainingSession(checkpoint_dir=str(tmp_path), save_checkpoint_steps=2) as session,
    ):
        for _ in range(2):
            session.run(more)
    assert tf.train.latest_checkpoint(str(tmp_path)) is None
    assert tf.train.load_variable(str(tmp_path / "tmp_worker_1"), "global_step") == 2
