"""Supervisors: sessions with threads that save and summarize, and loops over them."""

import time

import pytest

import everflow as tf


def counting():
    step = tf.train.get_or_create_global_step()
    return step, tf.assign_add(step, 1)


def wait_for(condition):
    end = time.time() + 300
    while not condition():
        assert time.time() < end
        time.sleep(0.02)


def test_a_managed_session_saves_and_goes_on_from_what_was_saved(tmp_path):
    step, train = counting()
    tf.summary.scalar("step", step)
    supervisor = tf.train.Supervisor(logdir=str(tmp_path), save_summaries_secs=0.05)
    with supervisor.managed_session() as session:
        for _ in range(3):
            session.run(train)
        # The first checkpoint is written as soon as the threads run.
        wait_for(lambda: tf.train.latest_checkpoint(str(tmp_path)))
        supervisor.saver.save(session, supervisor.save_path, global_step=step)
        wait_for(lambda: any(value.tag == "global_step/sec" for event in events(supervisor, tmp_path) for value in event.summary.value))
    assert supervisor.should_stop()
    with supervisor.managed_session(start_standard_services=False) as session:
        assert session.run(step) == 3


def events(supervisor, folder):
    supervisor.summary_writer.flush()
    return tf.contrib.testing.latest_summaries(str(folder))


def test_errors_of_the_block_come_out_and_the_end_of_the_input_does_not():
    supervisor = tf.train.Supervisor(logdir="")
    tf.get_default_graph()._unsafe_unfinalize()
    tf.constant(0)
    with pytest.raises(RuntimeError, match="mine"), supervisor.managed_session():
        raise RuntimeError("mine")
    with supervisor.managed_session():
        raise tf.errors.OutOfRangeError(None, None, "all read")
    assert supervisor.should_stop()


def test_errors_of_loops_come_out_of_the_block():
    tf.constant(0)
    supervisor = tf.train.Supervisor(logdir="")

    def fail():
        raise ValueError("of a loop")

    with pytest.raises(ValueError, match="of a loop"), supervisor.managed_session():
        supervisor.loop(None, fail)
        supervisor.wait_for_stop()


def test_only_chiefs_write():
    tf.constant(0)
    worker = tf.train.Supervisor(is_chief=False, logdir="unused")
    assert worker.save_path is None and worker.summary_writer is None
    session = worker.prepare_or_wait_for_session()
    with pytest.raises(RuntimeError, match="requires a summary writer"):
        worker.summary_computed(session, b"")
    with pytest.raises(RuntimeError, match="Only chief supervisor"):
        worker.start_standard_services(session)
    worker.stop()


def test_variables_of_workers_need_a_device():
    tf.Variable(1.0)
    with pytest.raises(ValueError, match="must have their device set"):
        tf.train.Supervisor(is_chief=False)


def test_the_basic_loop_stops_when_asked_and_starts_over_when_a_worker_is_lost():
    _, train = counting()
    supervisor = tf.train.Supervisor(logdir="")
    calls = []

    def step(session, limit, how):
        calls.append(int(session.run(train)))
        if len(calls) == 2:
            raise tf.errors.AbortedError(None, None, "gone")
        if calls[-1] == limit:
            supervisor.request_stop()

    tf.train.basic_train_loop(supervisor, step, args=(3,), kwargs={"how": "fast"})
    # Nothing was saved, so the second session counts from the start.
    assert calls == [1, 2, 1, 2, 3]
