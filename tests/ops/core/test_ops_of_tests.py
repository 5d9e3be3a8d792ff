"""Ops that TensorFlow has for its tests, and programs for theirs."""

import pytest

import everflow as tf
from everflow.ops.core.registry import apply
from running import run


def test_an_op_may_have_kernels_for_some_types_only():
    assert run(apply("TestAttr", T=tf.float32)) == 1
    with pytest.raises(tf.errors.InvalidArgumentError, match="No OpKernel was registered to support Op 'TestAttr'"):
        run(apply("TestAttr", T=tf.float64))


def test_a_kernel_that_can_not_be_made_names_its_node():
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"Failure during construction.\n\t \[\[node failing"):
        run(apply("ConstructionFails", name="failing"))


def test_an_op_knows_where_it_runs():
    with tf.device("/cpu:0"):
        placed = apply("DevicePlacementOp")
    assert placed.shape == () and run(placed) == b"/job:localhost/replica:0/task:0/device:CPU:0"
