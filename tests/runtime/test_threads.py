"""Steps find out by themselves how many threads serve them best, and the threads of a kernel do not wait for each other for long."""

import itertools
import os
import subprocess
import sys

import pytest

import everflow as tf
from everflow.runtime import threads


class Step:
    """A step whose runs take the time that a test says, by the number of threads."""

    def __init__(self, seconds, is_heavy=False):
        self.seconds = seconds
        self.tuning = threads.Tuning(2, is_heavy)
        self.threads = 1
        self.used = []
        self.calls = [None, None]


@pytest.fixture
def clock(monkeypatch):
    state = {"now": 0.0, "threads": 1}
    monkeypatch.setattr(threads.time, "perf_counter", lambda: state["now"])
    monkeypatch.setattr(threads, "use", lambda n: state.update(threads=n))
    return state


def runs(step, clock, count):
    def call():
        step.used.append(clock["threads"])
        clock["now"] += step.seconds[clock["threads"]]

    step.call = call
    for _ in range(count):
        if step.tuning is None:
            clock["threads"] = step.threads
            call()
        else:
            step.tuning.run(step, [])
    return step.used[-1]


def test_a_large_step_uses_what_is_faster(clock):
    assert runs(Step({1: 0.010, 2: 0.006}), clock, 20) == 2
    assert runs(Step({1: 0.010, 2: 0.0098}), clock, 20) == 1


def test_a_step_that_takes_long_is_not_run_on_one_thread_again(clock):
    step = Step({1: 2.0, 2: 1.1})
    assert runs(step, clock, 20) == 2 and step.used.count(1) == 1


def test_a_step_that_is_known_to_take_long_has_several_threads_in_its_first_run(clock):
    step = Step({1: 2.0, 2: 1.1}, is_heavy=True)
    assert runs(step, clock, 20) == 2 and set(step.used) == {2}
    step = Step({1: 2.0, 2: 9.0}, is_heavy=True)
    assert runs(step, clock, 60) == 1, "one thread is tried later"


def test_a_step_is_heavy_by_what_it_computes_in_memory_of_its_own():
    table = tf.get_variable("table", [1 << 14, 64])
    rows = tf.gather(table, tf.placeholder(tf.int32, [8]))
    y = tf.tanh(tf.matmul(table, tf.ones([64, 32])))
    with tf.Session() as session:
        assert threads.known_bytes(session._runner(rows, None).step) < 1 << 14, "the table is only looked at"
        assert threads.known_bytes(session._runner(y, {}).step) >= 2 * (1 << 14) * 32 * 4


def test_what_was_found_is_tried_again_soon_and_later_if_it_is_found_again(clock):
    # A disturbance while two threads are tried: they seem to be slower.
    step = Step({1: 0.010, 2: 0.015})
    runs(step, clock, 8)
    step.seconds = {1: 0.010, 2: 0.006}
    assert runs(step, clock, 60) == 2
    runs(step, clock, 2000)
    assert step.used[-1000:].count(1) <= 2 * threads.ROUNDS


def test_hours_of_the_same_choice_change_nothing(clock):
    step = Step({1: 0.02, 2: 0.01})
    step.tuning.times = dict(step.seconds)
    for _ in range(3000):
        step.tuning._choose(2, clock["now"])
    assert step.tuning.until == clock["now"] + threads.SECONDS


def test_a_small_step_stays_on_one_thread_and_is_not_watched(clock):
    step = Step({1: 1e-4, 2: 5e-5})
    assert runs(step, clock, 20) == 1 and set(step.used) == {1} and step.tuning is None


def test_threads_that_have_to_wait_for_others_are_given_up(clock):
    step = Step({1: 0.010, 2: 0.006})
    runs(step, clock, 10)
    step.seconds = {1: 0.011, 2: 0.100}
    assert runs(step, clock, 20) == 1


def test_what_was_given_up_is_tried_again(clock):
    step = Step({1: 0.010, 2: 0.100})
    assert runs(step, clock, 20) == 1
    step.seconds = {1: 0.010, 2: 0.006}
    total = itertools.count()
    while runs(step, clock, 1) == 1 and next(total) < 2000:
        pass
    assert runs(step, clock, 10) == 2


@pytest.mark.parametrize(("asked", "most"), [(1, None), (2, 2), (0, 4), (8, 4)])
def test_sessions_use_no_more_threads_than_they_are_configured_with(asked, most, monkeypatch):
    monkeypatch.setattr(threads, "available", lambda: 4)
    x = tf.placeholder(tf.float32, [None, 8])
    y = tf.nn.relu(tf.matmul(x, tf.ones([8, 8]))) @ tf.ones([8, 2])
    with tf.Session(config=tf.ConfigProto(intra_op_parallelism_threads=asked)) as session:
        step = session._runner(y, {x: None}).step
    assert (step.tuning and step.tuning.limit) == most and step.threads == 1


def test_what_runs_after_a_step_has_all_threads():
    code = """
import everflow as tf
from everflow.lazy import torch
torch.set_num_threads(3)
with tf.Session() as session:
    session.run(tf.constant(1) + 1)
found = [torch.get_num_threads()]
tf.config.threading.set_intra_op_parallelism_threads(2)
with tf.Session() as session:
    session.run(tf.constant(1) + 2)
print(*found, torch.get_num_threads())
"""
    assert printed(code) == "3 2"


# Prints how many times the processor time of one thread two of them take that have one processor, as if another program had the other.
CROWDED = """
import os, time
from everflow.lazy import torch
x = torch.randn(200000)
y = torch.empty_like(x)
def seconds(threads):
    torch.set_num_threads(threads)
    torch.tanh(x, out=y)
    start = time.process_time()
    for _ in range(50):
        torch.tanh(x, out=y)
    return time.process_time() - start
seconds(2)
for task in os.listdir("/proc/self/task"):
    os.sched_setaffinity(int(task), {min(os.sched_getaffinity(0))})
print(seconds(2) / min(seconds(1), seconds(1)))
"""


def printed(code, **said):
    """What a program prints whose environment says only this about how long threads wait."""
    silent = {name: value for name, value in os.environ.items() if name not in ("GOMP_SPINCOUNT", "OMP_WAIT_POLICY")}
    return subprocess.check_output([sys.executable, "-c", code], env={**silent, **said}, text=True).strip()


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity") or len(os.sched_getaffinity(0)) < 2, reason="needs Linux and two processors")
def test_threads_that_share_a_processor_do_not_spend_it_with_waiting():
    assert float(printed(CROWDED)) < 4


@pytest.mark.parametrize("said", [{"OMP_WAIT_POLICY": "active"}, {"GOMP_SPINCOUNT": "5"}])
def test_how_long_threads_wait_is_the_environments_choice(said):
    code = "import os, everflow.lazy as lazy; lazy.torch.ones(1); print(os.environ.get('GOMP_SPINCOUNT'))"
    assert printed(code, **said) == said.get("GOMP_SPINCOUNT", "None")
