"""Staging areas and barriers."""

import threading

import pytest

import everflow as tf
from everflow.ops.queues.barriers import Barrier
from everflow.ops.queues.staging_functions import MapStagingArea, StagingArea

pytestmark = pytest.mark.usefixtures("session")


def test_a_staging_area_keeps_order(session):
    area = StagingArea([tf.int32, tf.float32], shapes=[[], [2]])
    x = tf.placeholder(tf.int32, [])
    put, get = area.put([x, tf.constant([1.0, 2.0])]), area.get()
    assert [t.shape.as_list() for t in get] == [[], [2]]
    for value in (3, 4):
        session.run(put, {x: value})
    assert session.run(area.size()) == 2
    assert session.run(area.peek(1))[0] == 4
    assert [session.run(get)[0] for _ in range(2)] == [3, 4]


def test_a_step_puts_and_takes(session):
    area = StagingArea([tf.int32])
    get, put = area.get(), area.put([tf.constant(5)])
    assert session.run([get, put])[0] == [5]


def test_a_full_staging_area_makes_steps_wait(session):
    area = StagingArea([tf.int32], capacity=1)
    put, get = area.put([tf.constant(1)]), area.get()
    session.run(put)
    with pytest.raises(tf.errors.DeadlineExceededError, match="Timed out waiting for notification"):
        session.run(put, options=tf.RunOptions(timeout_in_ms=10))
    thread = threading.Thread(target=lambda: session.run(put), daemon=True)
    thread.start()
    session.run(get)
    thread.join(300)
    assert not thread.is_alive()


def test_too_much_for_the_memory_is_refused(session):
    area = StagingArea([tf.int32], memory_limit=8)
    with pytest.raises(tf.errors.ResourceExhaustedError, match="combined size of '12' bytes"):
        session.run(area.put([tf.constant([1, 2, 3])]))


def test_components_are_checked():
    area = StagingArea([tf.int32], shapes=[[2]])
    with pytest.raises(ValueError, match="Unexpected number of inputs 2 vs 1"):
        area.put([tf.constant([1, 2]), tf.constant(1)])
    with pytest.raises(ValueError, match="incompatible"):
        area.put([tf.constant([1, 2, 3])])


def test_elements_are_found_by_key_and_put_in_parts(session):
    area = MapStagingArea([tf.int32, tf.float32], names=["a", "b"])
    key = tf.placeholder(tf.int64, [])
    first, second = area.put(key, {"a": tf.constant(1)}), area.put(key, {"b": tf.constant(2.0)})
    session.run(first, {key: 7})
    assert session.run([area.size(), area.incomplete_size()]) == [0, 1]
    session.run(second, {key: 7})
    assert session.run(area.peek(tf.constant(7, tf.int64))) == {"a": 1, "b": 2.0}
    assert session.run(area.get(key)[1], {key: 7}) == {"a": 1, "b": 2.0}


def test_an_ordered_map_gives_the_smallest_key(session):
    area = MapStagingArea([tf.int32], ordered=True)
    key = tf.placeholder(tf.int64, [])
    put, get = area.put(key, [tf.constant(1)], [0]), area.get()
    for k in (3, 1, 2):
        session.run(put, {key: k})
    assert [session.run(get)[0] for _ in range(3)] == [1, 2, 3]


def test_a_part_leaves_once(session):
    area = MapStagingArea([tf.int32, tf.int32])
    key = tf.constant(0, tf.int64)
    session.run(area.put(key, [tf.constant(1), tf.constant(2)], [0, 1]))
    part = area.get(key, indices=[0])[1]
    assert session.run(part) == [1]
    with pytest.raises(tf.errors.InvalidArgumentError, match="index '0' for key '0' has already been removed"):
        session.run(part)


def test_a_barrier_gives_complete_elements(session):
    barrier = Barrier((tf.float32, tf.int32), shapes=((), ()))
    session.run(barrier.insert_many(0, ["a", "b"], [1.0, 2.0]))
    session.run(barrier.insert_many(1, ["b"], [20]))
    assert session.run([barrier.ready_size(), barrier.incomplete_size()]) == [1, 1]
    found = session.run(barrier.take_many(1))
    assert found.keys.tolist() == [b"b"] and [v.tolist() for v in found.values] == [[2.0], [20]]
    with pytest.raises(tf.errors.InvalidArgumentError, match="Key a already has a value for component 0"):
        session.run(barrier.insert_many(0, ["a"], [1.0]))


def test_a_closed_barrier_takes_no_new_keys(session):
    barrier = Barrier((tf.float32, tf.int32), shapes=((), ()))
    session.run(barrier.insert_many(0, ["a"], [1.0]))
    session.run(barrier.close())
    with pytest.raises(tf.errors.CancelledError, match="is closed, but attempted to insert a brand new key: c"):
        session.run(barrier.insert_many(0, ["c"], [1.0]))
    session.run(barrier.insert_many(1, ["a"], [10]))
    with pytest.raises(tf.errors.OutOfRangeError, match=r"insufficient elements \(requested 2, total size 1\)"):
        session.run(barrier.take_many(2))
    assert session.run(barrier.take_many(2, allow_small_batch=True)).keys.tolist() == [b"a"]
