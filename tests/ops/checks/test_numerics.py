"""Values that are not finite."""

import numpy as np
import pytest

import everflow as tf


def test_a_tensor_that_must_be_finite():
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32)
        checked = tf.verify_tensor_all_finite(x, "the loss")
        assert session.run(checked, {x: [1, 2]}).tolist() == [1, 2]
        for bad in (np.nan, np.inf, -np.inf):
            with pytest.raises(tf.errors.InvalidArgumentError, match="the loss"):
                session.run(checked, {x: [1, bad]})


def test_a_check_of_everything_names_the_first_tensor_that_is_not_finite():
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, name="x")
        y = tf.log(x, name="y")
        tf.multiply(y, 2.0, name="z")
        check = tf.add_check_numerics_ops()
        session.run(check, {x: 1.0})
        with pytest.raises(tf.errors.InvalidArgumentError, match="y:0 : Tensor had Inf"):
            session.run(check, {x: 0.0})
