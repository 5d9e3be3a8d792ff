"""Sums of many tensors, polynomials."""

import numpy as np
import pytest

import everflow as tf
from everflow.eager.context import eager_mode
from running import run


@pytest.mark.parametrize("add", [tf.add_n, tf.accumulate_n])
@pytest.mark.parametrize("count", [1, 2, 5])
def test_all_tensors_are_added_and_get_the_gradient(add, count):
    with tf.Graph().as_default(), tf.Session() as session:
        tensors = [tf.constant([float(i), 1.0]) for i in range(count)]
        total = add(tensors)
        assert session.run(total).tolist() == [sum(range(count)), count]
        assert all(session.run(g).tolist() == [3, 3] for g in tf.gradients(3 * total, tensors))


def test_adding_does_not_change_what_is_added():
    with tf.Graph().as_default(), tf.Session() as session:
        a, b, c = (tf.constant([v]) for v in (1.0, 2.0, 3.0))
        assert [v.tolist() for v in session.run([tf.add_n([a, b, c]), a, b, c])] == [[6], [1], [2], [3]]


def test_slices_are_added_as_the_rows_they_are():
    slices = lambda: tf.IndexedSlices(tf.constant([[1.0, 2.0]]), tf.constant([1]), tf.constant([3, 2]))
    assert run(tf.add_n([slices()])).tolist() == [[0, 0], [1, 2], [0, 0]]
    assert run(tf.add_n([slices(), tf.ones([3, 2])])).tolist() == [[1, 1], [2, 3], [1, 1]]


def test_lists_that_can_not_be_added():
    with pytest.raises(ValueError, match="inputs must be a list of at least one Tensor/IndexedSlices"):
        tf.add_n([])
    with pytest.raises(ValueError, match=r"are 1 and 2. Shapes are \[1\] and \[2\].\n\tFrom merging shape 0 with other shapes"):
        tf.add_n([tf.zeros([1]), tf.zeros([2])])
    with pytest.raises(TypeError, match="tensor_dtype is <dtype: 'int32'>, but input is of type <dtype: 'float32'>"):
        tf.accumulate_n([tf.constant([1.0])], tensor_dtype=tf.int32)


def test_polynomials_by_horners_rule():
    assert run(tf.math.polyval([2.0, -1.0, 3.0], 2.0)) == 9
    assert run(tf.math.polyval([], [1.0, 2.0])).tolist() == [0, 0]
    assert run(tf.math.polyval([np.float32([1, 2])], [5.0, 5.0])).tolist() == [1, 2]


def test_shapes_are_compared_when_it_runs():
    with tf.Graph().as_default(), tf.Session() as session:
        a, b, c = (tf.placeholder(tf.float32) for _ in range(3))
        total = tf.add_n([a, b, c], name="total")
        assert session.run(total, {a: [1.0], b: [2.0], c: [3.0]}).tolist() == [6.0]
        with pytest.raises(
            tf.errors.InvalidArgumentError,
            match=r"Inputs to operation total of type AddN must have the same size and shape"
            r".  Input 0: \[1\] != input 2: \[1,1\]",
        ):
            session.run(total, {a: [1.0], b: [2.0], c: [[3.0]]})


def test_shapes_are_compared_at_once():
    with eager_mode(), pytest.raises(tf.errors.InvalidArgumentError, match="must have the same size and shape"):
        tf.add_n([tf.ones([1]), tf.ones([2])])


def test_shapes_are_compared_where_a_sum_is_written_over_what_it_adds(session):
    a, b = tf.placeholder(tf.float32, [None]), tf.placeholder(tf.float32, [None])
    total = tf.add_n([tf.exp(a), tf.matmul([[1.0]], b[tf.newaxis])[0]])
    assert session.run(total, {a: [0.0], b: [1.0]}).tolist() == [2]
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"must have the same size and shape.  Input 0: \[1\] != input 1: \[2\]"):
        session.run(total, {a: [0.0], b: [1.0, 2.0]})
