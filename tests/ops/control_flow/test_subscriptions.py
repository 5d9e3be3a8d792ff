"""Side effects of whoever uses a tensor's value."""

import numpy as np
import pytest

import everflow as tf
from everflow.ops.control_flow.subscriptions import _is_subscribed_identity, subscribe


@pytest.fixture
def noted():
    return []


@pytest.fixture
def note(noted):
    return lambda t: tf.py_func(lambda value: noted.append(np.array(value).tolist()) or value, [t], [t.dtype])


def test_who_reads_a_tensor_or_waits_for_it_sets_effects_off(session, noted, note):
    c = tf.add(1, 2, name="c")
    with tf.control_dependencies([c]):
        d = tf.constant(42)
    n = tf.negative(c)
    copy = subscribe(c, note)
    assert copy.name == "c/subscription/Identity:0" and _is_subscribed_identity(copy) and not _is_subscribed_identity(c)
    assert n.op.inputs[0] is copy and d.op.control_inputs == [copy.op]
    assert [session.run(t) for t in (copy, n, d)] == [3, -3, 42]
    assert noted == [3, 3, 3]


def test_further_effects_join_the_first_copy(session, noted, note):
    c = tf.add(1, 2)
    first = subscribe(c, note)
    assert subscribe(first, note) is first and subscribe(c, [note, note]) is first
    session.run(first)
    assert noted == [3, 3, 3, 3]


def test_structures_and_all_outputs_of_an_op(session, noted, note):
    parts = tf.split(tf.constant([1, 2, 3]), 3)
    with tf.control_dependencies(parts):
        after = tf.constant(0)
    copies = subscribe({"all": tuple(parts)}, note)
    assert all(map(_is_subscribed_identity, copies["all"])) and isinstance(copies["all"], tuple)
    session.run(after)
    assert sorted(noted) == [[1], [2], [3]]


def test_variables_by_their_reads_and_resources_not_at_all(session, noted, note):
    v = tf.Variable(1.0)
    total = v + 1.0
    subscribe(v, note)
    session.run(v.initializer)
    assert noted == [] and session.run(total) == 2 and noted == [1]
    queue = tf.FIFOQueue(1, tf.float32)
    assert subscribe(queue.queue_ref, note) is queue.queue_ref
    with pytest.raises(TypeError, match="argument 'c' has invalid type <class 'str'>"):
        subscribe("c", note)


def test_effects_are_where_the_tensor_is(note):
    with tf.device("/cpu:1"):
        x = tf.add(1, 2)
    copy = subscribe(x, note)
    assert copy.device == x.device and all(op.device == x.device for op in copy.op.control_inputs)
