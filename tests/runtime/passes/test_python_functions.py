"""Python functions that run side by side."""

import threading

import numpy as np
import pytest
from planning import compiled, same, types

import everflow as tf
from everflow.runtime.passes.python_functions import run_python_functions_together


def test_functions_may_wait_for_each_other(session):
    both = threading.Barrier(2, timeout=300)

    def meet():
        both.wait()
        return 1.0

    assert session.run([tf.py_func(meet, [], tf.float64) for _ in range(2)]) == [1.0, 1.0]


def test_functions_give_what_they_give_alone():
    x = tf.placeholder(tf.float32, [2])
    fetches = [*tf.py_func(lambda v: (v, v * 2), [x], [tf.float32, tf.float32]), tf.py_func(lambda v: v + 1, [x], tf.float32)]
    assert same(fetches, [x], run_python_functions_together, np.float32([1, 2])) == ["_PyFuncs"]


def test_a_function_of_another_ones_result_waits_for_it():
    x = tf.placeholder(tf.float32, [2])
    y = tf.py_func(lambda v: v + 1, [x], tf.float32)
    z = tf.py_func(lambda v: v * 2, [y], tf.float32)
    assert same([y, z], [x], run_python_functions_together, np.float32([1, 2])) == ["PyFunc", "PyFunc"]
    with tf.control_dependencies([y]):
        later = tf.py_func(lambda: np.float32(3), [], tf.float32)
    assert types(compiled([later], [x], (run_python_functions_together,))) == ["PyFunc", "PyFunc"]


def test_the_error_of_one_is_raised(session):
    def fail():
        raise ValueError("no such thing")

    with pytest.raises(tf.errors.InvalidArgumentError, match="no such thing"):
        session.run([tf.py_func(lambda: np.float32(1), [], tf.float32), tf.py_func(fail, [], tf.float32)])
