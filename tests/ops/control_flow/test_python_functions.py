"""Python functions as ops."""

from __future__ import annotations

import gc
import queue

import numpy as np
import pytest

import everflow as tf
from everflow.ops.control_flow.python_functions import FUNCTIONS
from running import run


def test_functions_take_arrays_and_plain_scalars():
    seen = []

    def note(*values):
        seen.extend(type(v) for v in values)
        return np.float32(values[0] + values[1].sum()), np.array(["é", "b"])

    total, text = run(tf.py_func(note, [tf.constant(1.0), tf.constant([2.0, 3.0]), tf.constant("s")], [tf.float32, tf.string]))
    assert seen == [np.float32, np.ndarray, bytes]
    assert total == 6.0 and text.tolist() == ["é".encode(), b"b"]


def test_what_a_function_keeps_stays_its_own():
    kept = np.array([1.0], np.float32)

    def grow(x):
        x += 1.0
        kept[0] += 1.0
        return kept

    x = tf.constant([5.0])
    y = tf.py_func(grow, [x], tf.float32)
    with tf.Session() as session:
        first = session.run(y)
        session.run(y)
        assert first == 2.0 and session.run(x) == 5.0


def raising(error):
    def function():
        raise error

    return function


@pytest.mark.parametrize(
    ("function", "error", "text"),
    [
        (raising(ValueError("blah")), tf.errors.InvalidArgumentError, r"ValueError: blah"),
        (raising(StopIteration()), tf.errors.OutOfRangeError, "StopIteration"),
        (raising(NotImplementedError("n")), tf.errors.UnimplementedError, "NotImplementedError: n"),
        (raising(KeyError("k")), tf.errors.UnknownError, "KeyError: 'k'"),
        (lambda: 1.0, tf.errors.InvalidArgumentError, r"0-th value returned by pyfunc_\d+ is double, but expects float"),
        (lambda: (1, 2), tf.errors.InvalidArgumentError, r"pyfunc_\d+ returns 2 values, but expects to see 1 values"),
        (lambda: {}, tf.errors.InternalError, "Unsupported object type dict"),
    ],
)
def test_failures_are_those_of_the_run(function, error, text):
    with pytest.raises(error, match=text):
        run(tf.py_func(function, [], tf.float32))


def test_functions_may_wait_for_each_other():
    q = queue.Queue(1)

    def put():
        q.put(42)
        q.join()
        return 1

    def get():
        value = q.get(timeout=300)
        q.task_done()
        return value

    assert run([tf.py_func(put, [], tf.int64), tf.py_func(get, [], tf.int64)]) == [1, 42]


def test_a_gradient_can_be_given():
    @tf.RegisterGradient("GradientOfCube")
    def _(op, dy):
        return dy * 3.0 * tf.square(op.inputs[0])

    x = tf.constant(2.0)
    with tf.get_default_graph().gradient_override_map({"PyFunc": "GradientOfCube"}):
        y = tf.py_func(lambda v: v * v * v, [x], tf.float32)
    assert run([y, tf.gradients(y, x)[0]]) == [8.0, 12.0]
    assert tf.gradients(tf.py_func(lambda v: v, [x], tf.float32), x) == [None]


def test_functions_of_eager_tensors_have_gradients():
    x = tf.constant(3.0)
    y = tf.py_function(lambda v: tf.square(v) * 2.0, [x], tf.float32)
    assert y.op.type == "EagerPyFunc"
    assert run([y, tf.gradients(y, x)[0]]) == [18.0, 12.0]


def count_in_a_graph():
    with tf.Graph().as_default():
        c = tf.constant([1.0])
        tf.py_func(lambda x: x + c.shape[0], [c], tf.float32)
        return FUNCTIONS.size()


def test_functions_go_with_their_graph():
    gc.collect()
    before = FUNCTIONS.size()
    assert count_in_a_graph() == before + 1
    gc.collect()
    assert FUNCTIONS.size() == before
