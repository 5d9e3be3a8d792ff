"""Collectives between the devices of one process, in one step."""

import numpy as np
import pytest

import everflow as tf
from everflow.distribute.collective_ops import all_gather, all_reduce, broadcast_recv, broadcast_send


def run(fetches, devices=2, **kwargs):
    with tf.Session(config=tf.ConfigProto(device_count={"CPU": devices})) as session:
        session.run(tf.global_variables_initializer())
        return session.run(fetches, **kwargs)


def on(device, make, *args, **kwargs):
    with tf.device(f"/CPU:{device}"):
        return make(*args, **kwargs)


def reduced(values, merge="Add", final="Id", instance=1, **kwargs):
    return [
        on(i, lambda value: all_reduce(tf.convert_to_tensor(value), len(values), 1, instance, merge, final, **kwargs), value)
        for i, value in enumerate(values)
    ]


def test_values_are_merged():
    found = run(reduced([[1.0, 2.0], [3.0, 5.0]]) + reduced([[3, 4], [3, 5]], "Mul", instance=2))
    assert [value.tolist() for value in found] == [[4, 7], [4, 7], [9, 20], [9, 20]]
    found = run(reduced([1.0, 2.0, 9.0], final="Div", instance=3, communication_hint="nccl"), 3)
    assert found == [4, 4, 4]
    assert [value.tolist() for value in run(reduced([[-3, 4], [-4, 5]], final="Div", instance=4), 3)] == [[-3, 4]] * 2


def test_whoever_uses_a_result_waits_for_all_members():
    """What is made of the first member's result comes before the second member in the graph."""
    first = on(0, lambda: all_reduce(tf.constant([1.0]), 2, 1, 1, "Add", "Id"))
    used = first * 10
    noted = tf.Variable(0.0, use_resource=True)
    with tf.control_dependencies([first]):
        note = noted.assign_add(1)
    second = on(1, lambda: all_reduce(tf.constant([2.0]), 2, 1, 1, "Add", "Id"))
    assert [np.asarray(value).tolist() for value in run([used, second, note])] == [[30], [3], 1]


def test_one_result_may_be_fetched_if_the_other_member_runs():
    first, second = reduced([[1.0], [2.0]])
    with tf.control_dependencies([second]):
        after = tf.identity(first)
    assert run(after).tolist() == [3]
    with pytest.raises(tf.errors.FailedPreconditionError, match="A collective of 2 members"):
        run(first)


def test_each_member_has_its_result_to_itself():
    first, second = reduced([tf.random_uniform([4], seed=1), tf.random_uniform([4], seed=2)])
    # These may be computed in place.
    changed, kept, both = run([tf.nn.relu(first) * 0.0 - 1.0, second, first + second])
    assert changed.tolist() == [-1] * 4 and kept.min() > 0
    np.testing.assert_allclose(both, 2 * kept)


def test_values_are_gathered_in_the_order_of_devices():
    second = on(1, lambda: all_gather(tf.constant([[3, 4]]), 2, 1, 1))
    first = on(0, lambda: all_gather(tf.constant([[1, 2]]), 2, 1, 1))
    assert [value.tolist() for value in run([second, first])] == [[[1, 2], [3, 4]]] * 2
    # By number, not by letter.
    many = [on(i, all_gather, tf.constant([i]), 11, 2, 2) for i in range(11)]
    assert run(many, 11)[5].tolist() == list(range(11))


def test_one_sends_to_the_others():
    value = tf.get_variable("v", initializer=[1.0, 2.0])
    sent = on(1, lambda: broadcast_send(value.read_value(), [2], tf.float32, 3, 1, 1))
    received = [on(i, lambda: broadcast_recv([2], tf.float32, 3, 1, 1)) for i in (0, 2)]
    assert [found.tolist() for found in run([sent, *received], 3)] == [[1, 2]] * 3


def test_in_loops_and_functions():
    def body(i, a, b):
        return i + 1, *reduced([tf.identity(a), tf.identity(b)])

    _, a, b = tf.while_loop(lambda i, a, b: i < 3, body, [0, 1.0, 2.0])
    assert run([a, b]) == [12, 12]

    @tf.function
    def total(a, b):
        return reduced([a, b], instance=7)

    assert run(total(tf.constant(1.0), tf.constant(2.0))) == [3, 3]


def test_members_must_agree():
    wanted = r"Shape mismatch in the collective instance 1\. Op at device .*CPU:0 expected shape \[2\] but .* expected shape \[1\]"
    with pytest.raises(tf.errors.InvalidArgumentError, match=wanted):
        run(reduced([tf.placeholder_with_default([1.0, 2.0], None), tf.placeholder_with_default([1.0], None)]))
    gathered = [on(i, all_gather, tf.constant([1] * (i + 1)), 2, 1, 2) for i in range(2)]
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"Shape mismatch .* expected shape \[2\] but .* expected shape \[4\]"):
        run(gathered)
    with pytest.raises(tf.errors.InvalidArgumentError, match="values of different types"):
        run(reduced([1.0, 2], instance=3))
    with pytest.raises(tf.errors.InvalidArgumentError, match="2 members send"):
        run([on(i, lambda: broadcast_send(tf.constant([1.0]), [1], tf.float32, 2, 1, 4)) for i in range(2)])
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"Shape mismatch in the collective instance 5"):
        run(
            [
                on(0, lambda: broadcast_send(tf.constant([1.0]), [1], tf.float32, 2, 1, 5)),
                on(1, lambda: broadcast_recv([2], tf.float32, 2, 1, 5)),
            ]
        )


def test_members_that_wait_for_each_other_are_told():
    first = on(0, lambda: all_reduce(tf.constant(1.0), 2, 1, 1, "Add", "Id"))
    second = on(1, lambda: all_reduce(first + 1, 2, 1, 1, "Add", "Id"))
    with pytest.raises(tf.errors.InvalidArgumentError, match="contains a cycle"):
        run([first, second])
