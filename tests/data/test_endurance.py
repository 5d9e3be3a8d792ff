"""Long pipelines keep their memory, and iterators that nobody wants any more leave no threads."""

import gc
import threading
import time

import pytest

import everflow as tf

D = tf.data.Dataset


def resident():
    """Megabytes that this process holds."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096 / 1e6


def threads():
    return [t.name for t in threading.enumerate() if t.name.startswith("everflow-")]


def without_threads(seconds=300.0):
    """Whether all threads of pipelines end soon."""
    end = time.monotonic() + seconds
    while threads() and time.monotonic() < end:
        gc.collect()
        time.sleep(0.01)
    return not threads()


def test_memory_stays_flat():
    pytest.importorskip("resource")
    with tf.Graph().as_default(), tf.Session() as session:
        dataset = D.range(80000).shuffle(1000).map(lambda x: (tf.cast(x, tf.float32) * 2.0, tf.fill([64], x)))
        step = session.make_callable(tf.group(*dataset.batch(128).prefetch(2).make_one_shot_iterator().get_next()))
        for _ in range(100):
            step()
        before = resident()
        for _ in range(500):
            step()
        assert resident() - before < 30


def slow(x):
    """What is worth a thread: it has state and takes its time."""
    return tf.py_func(lambda v: time.sleep(0.001) or v, [x], tf.int64)


PIPELINES = {
    "prefetch": lambda: D.range(10**9).map(slow).prefetch(4),
    "parallel map": lambda: D.range(10**9).map(slow, num_parallel_calls=3),
    "interleave": lambda: D.range(10**9).interleave(lambda x: D.from_tensors(x).map(slow), 4, num_parallel_calls=2),
    "map and batch": lambda: D.range(10**9).apply(tf.data.experimental.map_and_batch(slow, 4, num_parallel_calls=2)),
    "generator": lambda: D.from_generator(lambda: iter(range(10**9)), tf.int64).map(slow).prefetch(2),
}


@pytest.mark.parametrize("name", PIPELINES)
def test_an_abandoned_iterator_leaves_no_threads(name):
    assert without_threads()
    with tf.Graph().as_default():
        following = PIPELINES[name]().make_one_shot_iterator().get_next()
        with tf.Session() as session:
            for _ in range(6):
                session.run(following)
    assert without_threads(), threads()


def test_a_restarted_iterator_ends_the_threads_of_its_first_round():
    assert without_threads()
    with tf.Graph().as_default(), tf.Session() as session:
        iterator = PIPELINES["prefetch"]().make_initializable_iterator()
        following = iterator.get_next()
        for _ in range(5):
            session.run(iterator.initializer)
            for _ in range(6):
                session.run(following)
        deadline = time.monotonic() + 300
        while len(threads()) > 1 and time.monotonic() < deadline:
            time.sleep(0.01)
        assert len(threads()) == 1
    assert without_threads()
