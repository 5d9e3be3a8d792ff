"""Short steps of several Python threads take turns; none waits for long, and steps that may wait for others take none."""

import threading
import time

import numpy as np
import pytest

import everflow as tf
from everflow import _native
from everflow.values.tensors import without_autograd

resource = pytest.importorskip("resource")


def at_once(count, work):
    failures = []

    def run(i):
        try:
            work(i)
        except Exception as e:
            failures.append(e)

    threads = [threading.Thread(target=run, args=(i,), daemon=True) for i in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not any(thread.is_alive() for thread in threads) and not failures


def test_every_thread_gets_its_results(session):
    x = tf.placeholder(tf.float32, [None, 4])
    y = tf.nn.relu(x @ tf.eye(4)) + 1.0
    done = [0] * 8

    def work(i):
        for k in range(200):
            assert (session.run(y, {x: np.full((1, 4), i + k, np.float32)}) == i + k + 1).all()
            done[i] += 1

    at_once(8, work)
    assert done == [200] * 8 and session._runner(y, {x: None}).step.pace is not None


def short():
    pace = _native.Pace()
    pace.usual = 0.0
    return pace


def test_whoever_has_the_turn_for_long_is_not_waited_for():
    inside, leave = threading.Event(), threading.Event()

    def hold():
        guard = without_autograd(short())
        inside.set()
        leave.wait(60)
        del guard

    holder = threading.Thread(target=hold)
    holder.start()
    inside.wait(60)

    def work(_):
        guard = without_autograd(short())
        del guard

    at_once(4, work)
    assert holder.is_alive()
    leave.set()
    holder.join()


def test_a_thread_that_does_not_come_back_loses_its_turn():
    def once(_):
        guard = without_autograd(short())
        del guard

    for _ in range(3):
        at_once(8, once)


@pytest.mark.skipif(not hasattr(resource, "RUSAGE_THREAD"), reason="the system does not count what a single thread does")
def test_whoever_waits_for_a_turn_sleeps_meanwhile():
    """A look at how things are takes the time of a step from the one whose turn it is, where both are on one processor."""
    woken, end = [], time.perf_counter() + 0.3

    def work(_):
        pace = short()
        before = resource.getrusage(resource.RUSAGE_THREAD).ru_nvcsw
        while time.perf_counter() < end:
            guard = without_autograd(pace)
            until = time.perf_counter() + 1e-4
            while time.perf_counter() < until:
                pass
            del guard
        woken.append(resource.getrusage(resource.RUSAGE_THREAD).ru_nvcsw - before)

    at_once(2, work)
    assert sum(woken) < 600, "once in a millisecond, and at each turn"


def test_a_step_within_a_step_has_its_turn_already():
    outer = without_autograd(short())
    inner = without_autograd(short())
    del inner, outer


def test_steps_that_may_wait_for_others_take_no_turns(session):
    queue = tf.FIFOQueue(1, tf.float32, [[]])
    v = tf.get_variable("v", initializer=1.0)

    def pace(fetch):
        return session._runner(fetch, None).step.pace

    assert pace(queue.dequeue()) is None and pace(queue.enqueue(1.0)) is None
    assert pace(tf.py_func(lambda: np.float32(1), [], tf.float32)) is None
    assert pace(tf.while_loop(lambda i: i < 3, lambda i: i + 1, [v])) is None
    assert pace(v * 2.0) is not None and pace(v.assign_add(1.0)) is not None and pace(tf.random_uniform([2])) is not None


@pytest.mark.parametrize("count", [2, 8])
def test_updates_are_all_made(session, count):
    v = tf.get_variable("v", initializer=0, use_resource=True)
    add = v.assign_add(1)
    session.run(tf.global_variables_initializer())
    at_once(count, lambda _: [session.run(add.op) for _ in range(100)])
    assert session.run(v) == 100 * count
