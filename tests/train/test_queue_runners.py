"""Coordinators and the threads that fill queues."""

import threading
import time

import pytest

import everflow as tf


def test_threads_stop_together_and_the_first_error_is_raised():
    coord = tf.train.Coordinator()

    def work(fails):
        with coord.stop_on_exception():
            if fails:
                raise ValueError("first")
            coord.wait_for_stop()
            raise KeyError("second")

    threads = [threading.Thread(target=work, args=(fails,), daemon=True) for fails in (True, False)]
    for thread in threads:
        thread.start()
    with pytest.raises(ValueError, match="first"):
        coord.join(threads)
    assert coord.joined and coord.should_stop()


def test_running_out_of_elements_is_no_error():
    coord = tf.train.Coordinator()
    coord.request_stop(tf.errors.OutOfRangeError(None, None, "done"))
    coord.join([])


def test_threads_that_do_not_stop_are_named():
    coord = tf.train.Coordinator()
    end = threading.Event()
    thread = threading.Thread(target=end.wait, name="slow", daemon=True)
    thread.start()
    coord.register_thread(thread)
    coord.request_stop()
    with pytest.raises(RuntimeError, match="threads still running: slow"):
        coord.join(stop_grace_period_secs=0.01)
    end.set()


def test_a_looper_calls_until_the_stop():
    coord = tf.train.Coordinator()
    calls = []

    def target():
        calls.append(time.time())
        if len(calls) == 3:
            coord.request_stop()

    tf.train.LooperThread.loop(coord, 0.001, target)
    coord.join()
    assert len(calls) == 3


@pytest.fixture
def runner():
    """A runner that enqueues 0 to 4 and then closes its queue."""
    with tf.Graph().as_default():
        count = tf.Variable(0, trainable=False)
        queue = tf.FIFOQueue(10, tf.int32, shapes=[[]])
        yield tf.train.QueueRunner(queue, [queue.enqueue(tf.count_up_to(count, 5))])


def test_a_runner_fills_its_queue_and_closes_it(runner):
    tf.train.add_queue_runner(runner)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        coord = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(sess, coord)
        take = runner.queue.dequeue()
        assert sorted(sess.run(take) for _ in range(5)) == [0, 1, 2, 3, 4]
        with pytest.raises(tf.errors.OutOfRangeError, match="is closed"):
            sess.run(take)
        coord.request_stop()
        coord.join(threads)
        assert not any(thread.is_alive() for thread in threads)


def test_a_stop_ends_threads_that_wait_for_room():
    queue = tf.FIFOQueue(1, tf.int32)
    runner = tf.train.QueueRunner(queue, [queue.enqueue(1)] * 2)
    with tf.Session() as sess:
        coord = tf.train.Coordinator()
        threads = runner.create_threads(sess, coord, daemon=True, start=True)
        assert runner.create_threads(sess) == []
        sess.run(queue.dequeue())
        coord.request_stop()
        coord.join(threads, stop_grace_period_secs=10)


def test_runners_survive_as_protos(runner):
    proto = runner.to_proto()
    assert proto.queue_name == "fifo_queue" and list(proto.enqueue_op_name) == ["fifo_queue_enqueue"]
    assert tf.train.QueueRunner.from_proto(proto).to_proto() == proto


def test_a_session_is_needed(runner):
    tf.train.add_queue_runner(runner)
    with pytest.raises(ValueError, match="No default session is registered"):
        tf.train.start_queue_runners()
