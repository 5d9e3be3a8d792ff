"""Queues that one step fills and empties."""

import pytest
from planning import compiled, types

import everflow as tf
from everflow.runtime.passes.pending_enqueues import begin_enqueues


def test_a_full_queue_is_emptied_by_the_step_that_fills_it(session):
    """As networks do that keep what they computed a while ago in queues."""
    queue = tf.FIFOQueue(2, tf.float32, shapes=[[]])
    x = tf.placeholder(tf.float32, [])
    session.run(queue.enqueue_many([[1.0, 2.0]]))
    old, push = queue.dequeue(), queue.enqueue(x)
    assert [session.run([old, push], {x: float(n)})[0] for n in (3, 4, 5)] == [1.0, 2.0, 3.0]
    assert session.run(queue.size()) == 2


def test_an_empty_queue_is_filled_by_the_step_that_empties_it(session):
    queue = tf.FIFOQueue(1, tf.float32, shapes=[[]])
    push, taken = queue.enqueue(7.0), queue.dequeue()
    assert session.run([taken, push])[0] == 7.0


def test_what_comes_after_an_enqueue_waits_for_it(session):
    queue = tf.FIFOQueue(1, tf.float32, shapes=[[]])
    session.run(queue.enqueue(1.0))
    old = queue.dequeue()
    with tf.control_dependencies([queue.enqueue(2.0)]):
        size = queue.size()
    assert session.run([old, size]) == [1.0, 1]


def test_a_step_that_fails_leaves_nothing_behind(session):
    queue = tf.FIFOQueue(1, tf.float32, shapes=[[]])
    session.run(queue.enqueue(1.0))
    with tf.control_dependencies([tf.Assert(False, ["no"])]):
        never = tf.FIFOQueue(1, tf.float32, shapes=[[]]).dequeue()
    with pytest.raises(tf.errors.InvalidArgumentError, match="assertion failed"):
        session.run([never, queue.enqueue(2.0)])
    assert session.run(queue.dequeue()) == 1.0
    assert session.run(queue.size()) == 0


def test_only_what_may_wait_for_each_other_is_parted():
    queue = tf.FIFOQueue(1, tf.float32, shapes=[[]])
    with tf.control_dependencies([queue.enqueue(1.0)]):
        after = queue.dequeue()
    assert "_Begin" not in types(compiled([after], [], [begin_enqueues]))
