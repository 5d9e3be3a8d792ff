"""Tensors that a session keeps between runs."""

from __future__ import annotations

import gc

import numpy as np
import pytest

import everflow as tf


def test_a_handle_leads_to_the_value_in_later_runs():
    with tf.Session() as session:
        h = session.run(tf.get_session_handle(tf.constant([1.0, 2.0])))
        np.testing.assert_array_equal(h.eval(), [1.0, 2.0])
        holder, x = tf.get_session_tensor(h.handle, tf.float32)
        np.testing.assert_array_equal(session.run(x * 2.0, {holder: h.handle}), [2.0, 4.0])


def test_a_handle_can_be_fed_for_any_tensor():
    with tf.Session() as session:
        a = tf.constant(10.0) * 5.0
        h = session.run(tf.get_session_handle(a))
        assert session.run([a, a + 1.0], {a: h}) == [50.0, 51.0]


def test_the_session_lets_go_of_what_is_deleted_or_forgotten():
    with tf.Session() as session:
        make = tf.get_session_handle(tf.constant(3))
        kept = session.run(make)
        raw = kept.get_raw_handle()
        holder, x = tf.get_session_tensor(raw, tf.int32)
        other, delete = tf.delete_session_tensor(raw)
        del kept
        gc.collect()
        assert session.run(x, {holder: raw}) == 3
        session.run(delete, {other: raw})
        with pytest.raises(tf.errors.InvalidArgumentError, match="is not in the session store"):
            session.run(x, {holder: raw})
        text = session.run(make).handle
        gc.collect()
        with pytest.raises(tf.errors.InvalidArgumentError, match="is not in the session store"):
            session.run(x, {holder: text})


def test_a_deleted_handle_says_so():
    with tf.Session() as session:
        h = session.run(tf.get_session_handle(tf.constant(3)))
        h.delete()
        with pytest.raises(TypeError, match="may have already been deleted"):
            h.eval()
    with pytest.raises(TypeError, match="must be of type Tensor"):
        tf.get_session_handle(3)
