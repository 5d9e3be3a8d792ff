"""Placement: which device an op runs on, and when a device that does not exist is an error."""

import pytest

import everflow as tf
from everflow import errors


def config(**options):
    return tf.ConfigProto(**options)


def test_devices_of_the_session_may_be_asked_for_in_any_way():
    for device in ("/cpu:0", "/device:CPU:0", "/job:localhost/replica:0/task:0/cpu:0", "/cpu", ""):
        with tf.device(device):
            c = tf.constant(1)
        with tf.Session() as session:
            assert session.run(c) == 1


@pytest.mark.parametrize("device", ["/gpu:99", "/cpu:3", "/job:worker", "/job:localhost/task:1", "/device:TPU:0"])
def test_other_devices_are_an_error(device):
    with tf.device(device):
        c = tf.constant(1)
    with tf.Session() as session, pytest.raises(errors.InvalidArgumentError, match="Cannot assign a device for operation Const"):
        session.run(c)


def test_more_cpus_may_be_asked_for():
    with tf.device("/cpu:3"):
        c = tf.constant(1)
    with tf.Session(config=config(device_count={"CPU": 4})) as session:
        assert session.run(c) == 1


def test_soft_placement_takes_another_device_but_no_other_machine():
    with tf.device("/gpu:99"):
        c = tf.constant(1)
    with tf.Session(config=config(allow_soft_placement=True)) as session:
        assert session.run(c) == 1
        with tf.device("/job:worker"):
            far = tf.constant(1)
        with pytest.raises(errors.InvalidArgumentError, match="was explicitly assigned to /job:worker"):
            session.run(far)


def test_a_session_places_its_whole_graph_unless_told_otherwise():
    with tf.device("/gpu:99"):
        tf.constant(1)
    here = tf.constant(2)
    with tf.Session() as session:
        for _ in range(2):
            with pytest.raises(errors.InvalidArgumentError, match="was explicitly assigned to /device:GPU:99"):
                session.run(here)
    with tf.Session(config=config(graph_options=tf.GraphOptions(place_pruned_graph=True))) as session:
        assert session.run(here) == 2
    interactive = tf.InteractiveSession()
    try:
        assert here.eval() == 2
    finally:
        interactive.close()


def test_placement_is_told_once_for_each_op(capsys):
    x = tf.constant(1.0, name="x")
    with tf.Session(config=config(log_device_placement=True)) as session:
        session.run(tf.negative(x, name="y"))
        session.run(tf.negative(x, name="z"))
    told = capsys.readouterr().err.splitlines()
    assert told[0] == "Device mapping:"
    device = "/job:localhost/replica:0/task:0/device:CPU:0"
    assert [line for line in told if "(" in line] == [f"x: (Const): {device}", f"y: (Neg): {device}", f"z: (Neg): {device}"]
