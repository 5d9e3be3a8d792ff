"""functional_ops over functions that Defun made, and calls through PartitionedCall."""

import numpy as np
import pytest

import everflow as tf
from everflow import errors
from everflow.graph.defun import Defun
from everflow.ops.core.functional_calls import For, Gradient, If, While, partitioned_call
from everflow.ops.core.registry import apply
from running import run


def counting():
    condition = Defun(tf.float32, tf.float32)(lambda n, x: n > 0)
    body = Defun(tf.float32, tf.float32)(lambda n, x: (n - 1, x + n))
    return condition, body


def test_a_choice_between_functions():
    x = tf.placeholder(tf.float32)
    twice, thrice = Defun(tf.float32)(lambda x: x * 2), Defun(tf.float32)(lambda x: x * 3)
    (y,) = If(x > 0, [x], twice, thrice)
    assert [run(y, {x: value}) for value in (9.0, -8.0)] == [18.0, -24.0]


def test_a_loop_over_functions():
    assert run(While([20.0, 0.0], *counting())) == [0.0, 210.0]


def test_a_loop_hands_on_what_its_body_captures():
    v = tf.Variable(1.0)
    condition = Defun(tf.float32, tf.float32)(lambda n, x: n < 10)
    body = Defun(tf.float32, tf.float32)(lambda n, x: (n + 1, x + n + v))
    assert run(While([1.0, 0.0], condition, body)) == [10.0, 54.0]


@pytest.mark.parametrize("rewrite", [False, True])
@pytest.mark.parametrize("limits, total", [((1, 21, 1), 210), ((100, 0, -1), 5050), ((0, 10, 3), 18)])
def test_a_range_of_calls(limits, total, rewrite):
    body = Defun(tf.int32, tf.float32)(lambda n, x: x + tf.cast(n, tf.float32))
    assert run(For(*limits, [0.0], body, rewrite_with_while=rewrite)) == [total]


def test_loops_that_do_not_fit_together():
    condition, body = counting()
    both = Defun(tf.float32, tf.float32)(lambda n, x: (n > 0, x))
    with pytest.raises(errors.InvalidArgumentError, match="Expected a single scalar.*got 2 tensors."):
        run(While([5.0, 0.0], both, body))
    three = Defun(tf.float32, tf.float32)(lambda n, x: (n, x, x))
    with pytest.raises(errors.InvalidArgumentError, match="While loop body returned 3 arguments. Expected: 2"):
        run(While([5.0, 0.0], condition, three))
    add = Defun(tf.int32, tf.float32)(lambda n, x: x)
    with pytest.raises(errors.InvalidArgumentError, match="Invalid start/limit/delta"):
        run(For(0, 10, -1, [0.0], add))
    with pytest.raises(errors.InvalidArgumentError, match="must be a scalar"):
        run(For([0], 10, 1, [0.0], add))


def test_the_gradient_of_a_function():
    cubed = Defun(tf.float32)(lambda x: x * x * x)
    assert run(Gradient([tf.constant(2.0), 1.0], cubed)) == [12.0]


def test_a_call_by_name():
    double = Defun(tf.float32)(lambda x: x * 2)
    (y,) = partitioned_call([tf.constant([1.0, 2.0])], double)
    assert y.op.type == "PartitionedCall"
    np.testing.assert_array_equal(run(y), [2, 4])
    noise = Defun()(lambda: tf.random_uniform([2]))
    assert partitioned_call([], noise)[0].op.type == "StatefulPartitionedCall"


def test_a_call_without_results_runs_for_its_effect():
    v = tf.get_variable("v", initializer=1.0, use_resource=True)

    @Defun()
    def add():
        v.assign_add(1.0)

    call = partitioned_call(add.captured_inputs, add)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(call)
        assert session.run(v) == 2.0


def test_a_function_runs_on_the_device_that_a_run_names():
    @Defun(tf.string)
    def following(handle):
        return tf.data.Iterator.from_string_handle(handle, tf.int32, []).get_next()

    with tf.device("/cpu:1"):
        handle = tf.data.make_one_shot_iterator(tf.data.Dataset.range(3).map(lambda i: tf.cast(i, tf.int32))).string_handle()
    target = tf.placeholder(tf.string, [])
    called = apply("RemoteCall", target, [handle], Tout=[tf.int32], f=following)
    with tf.Session(config=tf.ConfigProto(device_count={"CPU": 3})) as session:
        assert [session.run(called, {target: name})[0] for name in ("/cpu:1", "/job:localhost/replica:0/task:0/device:CPU:1")] == [0, 1]
        with pytest.raises(tf.errors.InvalidArgumentError, match='on device ".*CPU:2" from handle defined on device ".*CPU:1"'):
            session.run(called, {target: "/cpu:2"})
        with pytest.raises(tf.errors.InternalError, match="instantiating functions on device: .*task:0/device:CPU:7"):
            session.run(called, {target: "/cpu:7"})
        with pytest.raises(tf.errors.InvalidArgumentError, match="Could not parse nonsense into a device specification"):
            session.run(called, {target: "nonsense"})
