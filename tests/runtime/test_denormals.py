"""Numbers too small to have all their digits: steps take them for zero, as TensorFlow's do, and programs' own arithmetic does not."""

import threading

import numpy as np
import pytest

import everflow as tf

TINY = np.float32(1e-40)


@pytest.mark.parametrize("count", [4, 1_000_000])
def test_steps_take_them_for_zero(session, count):
    x = tf.placeholder(tf.float32, [None])
    small, roots = np.full(count, TINY), np.full(count, 1e-20, np.float32)
    assert not session.run(x * 2.0, {x: small}).any()
    assert not session.run(tf.square(x), {x: roots}).any()
    # What is only handed on stays as it is.
    assert (session.run(tf.identity(x), {x: small}) == TINY).all()


def test_threads_that_worked_for_the_program_before_take_them_for_zero_too(session):
    x = tf.placeholder(tf.float32, [None])
    y, small = tf.sqrt(tf.abs(x * 3.0) + x), np.full(4_000_000, TINY)
    for _ in range(12):
        assert not session.run(y, {x: small}).any()


def test_the_programs_own_arithmetic_goes_on_as_before(session):
    x = tf.placeholder(tf.float32, [])
    session.run(x * 2.0, {x: 1.0})
    assert TINY * np.float32(2.0) > 0
    with pytest.raises(tf.errors.InvalidArgumentError):
        session.run(tf.check_numerics(x, "bad"), {x: np.nan})
    assert TINY * np.float32(2.0) > 0


def test_a_python_function_within_a_step_computes_as_the_step_does(session):
    assert session.run(tf.py_func(lambda: np.float32(1e-20) * np.float32(1e-20), [], tf.float32)) == 0


def test_functions_take_them_for_zero_and_ops_that_run_at_once_do_not(eager):
    x = tf.constant([1e-40])
    assert (x * 2.0).numpy() > 0
    assert tf.function(lambda x: x * 2.0)(x).numpy() == 0
    assert (x * 2.0).numpy() > 0


def test_each_thread_has_its_own_way(session):
    x = tf.placeholder(tf.float32, [])
    inside, leave, found = threading.Event(), threading.Event(), []

    def wait():
        inside.set()
        leave.wait(30)
        return np.float32(1.0)

    y = tf.py_func(wait, [], tf.float32) * x
    thread = threading.Thread(target=lambda: found.append(session.run(y, {x: TINY})))
    thread.start()
    inside.wait(30)
    assert TINY * np.float32(2.0) > 0
    leave.set()
    thread.join()
    assert found == [0]
