"""Slots: variables beside variables."""

import numpy as np
import pytest

import everflow as tf
from everflow.train import slots


@pytest.fixture(params=[False, True], ids=["reference", "resource"])
def use_resource(request):
    return request.param


def test_slots_are_named_below_their_variable_and_stand_beside_it(use_resource):
    v = tf.Variable([1.0, 2.0], name="v", use_resource=use_resource)
    with tf.name_scope("training"):
        first, second = slots.create_zeros_slot(v, "momentum"), slots.create_zeros_slot(v, "momentum")
    assert (first.name, second.name) == ("v/momentum:0", "v/momentum_1:0")
    assert first.op.type == v.op.type
    assert first.op.get_attr("_class") == [b"loc:@v"]
    assert not first.trainable
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        np.testing.assert_array_equal(session.run(first), [0, 0])


def test_a_slot_may_start_with_the_value_of_its_variable(use_resource):
    v = tf.Variable([1.0, 2.0], name="v", use_resource=use_resource)
    slot = slots.create_slot(v, v.initialized_value(), "average")
    with tf.Session() as session:
        session.run(slot.initializer)
        np.testing.assert_array_equal(session.run(slot), [1, 2])


def test_slots_of_tensors_with_unknown_shapes():
    t = tf.placeholder(tf.float32, [None], name="t")
    slot = slots.create_zeros_slot(t, "sum", dtype=tf.float64)
    assert slot.name == "t/sum:0" and slot.dtype.base_dtype == tf.float64
    with tf.Session() as session:
        session.run(slot.initializer, {t: [1, 2, 3]})
        np.testing.assert_array_equal(session.run(slot), [0, 0, 0])


def test_the_slot_of_a_part_is_a_part():
    with tf.variable_scope("", partitioner=tf.fixed_size_partitioner(2)):
        part = list(tf.get_variable("v", [5]))[1]
        slot = slots.create_zeros_slot(part, "m")
    info = slot._get_save_slice_info()
    assert (slot.name, info.full_name, info.spec) == ("v/part_1/m:0", "v/m", "5 3,2")
