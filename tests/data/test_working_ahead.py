"""Prefetch makes as many elements ahead as it has room for; what need not be in order may overtake."""

import subprocess
import sys
import threading
import time

import everflow as tf

D = tf.data.Dataset


def test_prefetch_makes_no_more_than_it_has_room_for():
    calls, fourth = [], threading.Event()

    def counted(v):
        calls.append(v)
        if len(calls) == 4:
            fourth.set()
        return v

    dataset = D.range(100).map(lambda x: tf.py_func(counted, [x], tf.int64)).prefetch(3)
    with tf.Session() as session:
        following = dataset.make_one_shot_iterator().get_next()
        session.run(following)
        assert fourth.wait(300)
        # A fifth one would come at once.
        time.sleep(0.05)
        assert len(calls) == 4


def test_elements_overtake_where_order_does_not_matter():
    first_may_go = threading.Event()

    def wait(x):
        if x == 0:
            first_may_go.wait(300)
        return x

    options = tf.data.Options()
    options.experimental_deterministic = False
    dataset = D.range(2).map(lambda x: tf.py_func(wait, [x], tf.int64), num_parallel_calls=2).with_options(options)
    with tf.Session() as session:
        following = dataset.make_one_shot_iterator().get_next()
        assert session.run(following) == 1
        first_may_go.set()
        assert session.run(following) == 0


def test_a_program_may_end_while_threads_work():
    program = """
import everflow as tf
slow = tf.data.Dataset.range(10**6).map(lambda x: tf.reduce_sum(tf.random.normal([200, 200])), num_parallel_calls=4)
both = tf.data.Dataset.range(2).interleave(lambda _: slow.prefetch(2), 2, num_parallel_calls=2).prefetch(2)
session = tf.Session()
session.run(tf.data.make_one_shot_iterator(both).get_next())
import threading
from everflow.data import workers
assert any(t.name.startswith("everflow-") for t in threading.enumerate())
# Other programs may keep the processors busy for a while.
workers.PATIENCE = 300.0
workers._end_all()
assert not any(t.name.startswith("everflow-") for t in threading.enumerate())
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
