"""Prefetch makes as many elements ahead as it has room for; what need not be in order may overtake."""
import threading
import time

import everflow as tf

D = tf.data.Dataset


def test_prefetch_makes_no_more_than_it_has_room_for():
    calls = []
    dataset = D.range(100).map(lambda x: tf.py_func(lambda v: calls.append(v) or v, [x], tf.int64)).prefetch(3)
    with tf.Session() as session:
        following = dataset.make_one_shot_iterator().get_next()
        session.run(following)
        deadline = time.monotonic() + 5
        while len(calls) < 4 and time.monotonic() < deadline:
            time.sleep(0.005)
        time.sleep(0.05)
        assert len(calls) == 4


def test_elements_overtake_where_order_does_not_matter():
    first_may_go = threading.Event()

    def wait(x):
        if x == 0:
            first_may_go.wait(10)
        return x

    options = tf.data.Options()
    options.experimental_deterministic = False
    dataset = D.range(2).map(lambda x: tf.py_func(wait, [x], tf.int64), num_parallel_calls=2).with_options(options)
    with tf.Session() as session:
        following = dataset.make_one_shot_iterator().get_next()
        assert session.run(following) == 1
        first_may_go.set()
        assert session.run(following) == 0
