"""Order without values: no_op, group, tuple, with_dependencies and Assert."""

import numpy as np
import pytest

import everflow as tf
from everflow import errors
from everflow.ops.control_flow.ordering import with_dependencies
from running import run


def test_a_group_waits_for_its_inputs():
    a, b = tf.constant(1), tf.no_op(name="b")
    found = tf.group(a, [b], name="G")
    assert (found.name, found.type) == ("G", "NoOp")
    assert found.control_inputs == [a.op, b]
    assert tf.group().name == "group_deps"


def test_a_group_over_devices_gathers_those_of_each_first():
    a = tf.constant(1)
    with tf.device("/cpu:0"):
        b = tf.constant(2)
    found = tf.group(a, b)
    assert [c.device for c in found.control_inputs] == ["", "/device:CPU:0"]


@pytest.mark.parametrize(
    "call, error, message",
    [
        (lambda: tf.group(3), TypeError, r"Expected tf.group\(\) expected Tensor arguments not '3'"),
        (lambda: tf.group(foo=1), ValueError, "Unknown keyword arguments: foo"),
        (lambda: tf.tuple([None]), ValueError, "Must have at least one Tensor"),
        (lambda: tf.tuple([tf.constant(1)], control_inputs=[3]), TypeError, "Control input must be Operation or Tensor: 3"),
        (lambda: tf.Assert(tf.constant(True), 3), TypeError, "values must be a sequence."),
    ],
)
def test_mistakes(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_a_tuple_hands_on_its_tensors_together():
    a, b = tf.constant(1), tf.constant(2.0)
    x, none, y = tf.tuple([a, None, b], name="t")
    assert none is None
    assert (x.name, y.name) == ("t/control_dependency:0", "t/control_dependency_1:0")
    assert x.op.control_inputs == y.op.control_inputs
    assert x.op.control_inputs[0].control_inputs == [a.op, b.op]
    assert run([x, y]) == [1, 2.0]


def test_a_dependency_runs_before_the_value_is_handed_on():
    check = tf.Assert(False, ["first"])
    with pytest.raises(errors.InvalidArgumentError, match="first"):
        run(with_dependencies([check], tf.constant(1)))


def test_an_assertion_holds_or_shows_its_data():
    assert run(tf.Assert(True, ["fine"])) is None
    data = [
        "msg:",
        tf.constant([1, 2, 3, 4]),
        tf.constant([[1.5, 2], [3, 4]]),
        tf.constant(["a", "b"]),
        tf.constant([True, False]),
        tf.constant(7),
        tf.zeros([0]),
    ]
    with pytest.raises(errors.InvalidArgumentError) as caught:
        run(tf.Assert(tf.constant(False), data))
    assert caught.value.message.startswith("assertion failed: [msg:] [1 2 3...] [[1.5 2][3...]...] [a b] [1 0] [7] []")


@pytest.mark.parametrize(
    "value, limit, text",
    [
        (np.zeros([2, 2, 2]), 4, "[[0 0][0 0]]..."),
        (np.zeros([2, 2, 2]), -1, "[[0 0][0 0]][[0 0][0 0]]"),
        (np.float32(1 / 3), 3, "0.333333343"),
        (np.float64(1 / 3), 3, "0.33333333333333331"),
        (np.float32(1e-10), 3, "1e-10"),
        (np.array([np.nan, np.inf]), 3, "nan inf"),
        (np.uint8(200), 3, "200"),
    ],
)
def test_numbers_are_shown_as_tensorflow_shows_them(value, limit, text):
    with pytest.raises(errors.InvalidArgumentError) as caught:
        run(tf.Assert(tf.constant(False), [tf.constant(value)], summarize=limit))
    assert caught.value.message.split("\n")[0] == f"assertion failed: [{text}]"


def test_an_assertion_shows_its_data_at_once_in_eager_mode(eager):
    with pytest.raises(errors.InvalidArgumentError) as failure:
        tf.Assert(tf.constant(False), ["so many:", [1, 2, 3, 4], 2.5])
    assert str(failure.value) == (
        "Expected 'tf.Tensor(False, shape=(), dtype=bool)' to be true. Summarized data: b'so many:'\n1, 2, 3, ...\n2.5"
    )
