"""The global step of a graph."""

import pytest

import everflow as tf
from everflow.train import global_step


def test_there_is_one_for_each_graph(graph):
    assert tf.train.get_global_step() is None
    step = tf.train.create_global_step()
    assert (step.name, step.dtype.base_dtype, step.trainable) == ("global_step:0", tf.int64, False)
    assert tf.train.get_global_step() is step and tf.train.get_or_create_global_step() is step
    assert tf.get_collection(tf.GraphKeys.GLOBAL_STEP) == [step]
    assert tf.train.get_global_step(tf.Graph()) is None
    with pytest.raises(ValueError, match='"global_step" already exists'):
        tf.train.create_global_step()


def test_an_op_with_its_name_is_found():
    tf.Variable(1, name="global_step")
    assert tf.train.get_global_step().name == "global_step:0"


def test_its_value_in_a_session():
    step = tf.train.get_or_create_global_step()
    with tf.Session() as session:
        session.run(step.initializer)
        session.run(step.assign_add(3))
        assert tf.train.global_step(session, step) == 3


@pytest.mark.parametrize(
    "make, problem",
    [
        (lambda: tf.constant(1.0), "does not have integer type"),
        (lambda: tf.constant([1]), "is not scalar"),
        (lambda: 1, "must be a Variable or Tensor"),
    ],
)
def test_what_cannot_be_one(make, problem):
    with pytest.raises(TypeError, match=problem):
        tf.train.assert_global_step(make())


def test_the_read_comes_before_increments():
    step = tf.train.get_or_create_global_step()
    read = global_step.get_or_create_read()
    assert global_step.get_or_create_read() is read
    add = global_step.increment(5)
    with tf.Session() as session:
        session.run(step.initializer)
        assert session.run([add, read])[1] == 0
        assert session.run([add, read])[1] == 5
