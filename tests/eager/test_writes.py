"""Writes of eager variables."""

import pytest

import everflow as tf


def test_the_op_of_a_write_that_is_done_is_none(eager):
    variable = tf.Variable(1.0)
    assert variable.assign_add(2.0).op is None
    with pytest.raises(AttributeError, match="meaningless when eager"):
        _ = variable.op
