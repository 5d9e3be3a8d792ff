"""Ops that run at once: values, errors, variables, seeds."""

import copy

import numpy as np
import pytest

import everflow as tf

pytestmark = pytest.mark.usefixtures("eager")


def test_tensors_have_values():
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    np.testing.assert_array_equal(tf.matmul(x, x).numpy(), [[7, 10], [15, 22]])
    assert tf.executing_eagerly() and x.shape == (2, 2) and len(x) == 2 and float(tf.reduce_sum(x)) == 10.0
    np.testing.assert_array_equal(x[1].numpy(), [3, 4])
    assert [int(v) for v in tf.range(3)] == [0, 1, 2]
    assert str(tf.constant([1.5, 2.0])) == "tf.Tensor([1.5 2. ], shape=(2,), dtype=float32)"
    assert tf.constant("a").numpy() == b"a" and "numpy=b'a'>" in repr(tf.constant("a"))


def test_numpy_gives_a_copy():
    x = tf.constant([1.0, 2.0])
    x.numpy()[0] = 9.0
    assert x.numpy()[0] == 1.0


def test_what_only_graphs_have_is_refused():
    x = tf.constant(1.0)
    for name in ("op", "graph", "name"):
        with pytest.raises(AttributeError, match=f"Tensor.{name} is meaningless when eager execution is enabled"):
            getattr(x, name)
    with pytest.raises(RuntimeError, match="tf.placeholder"):
        tf.placeholder(tf.float32)
    with pytest.raises(RuntimeError, match="Use tf.GradientTape instead"):
        tf.gradients(x, x)


@pytest.mark.parametrize(
    "run, message",
    [
        (lambda: tf.ones([2]) + tf.ones([3]), r"Incompatible shapes: \[2\] vs. \[3\] \[Op:AddV2\] name: add/"),
        (lambda: tf.ones([2]) + tf.constant(1), "was expected to be a float tensor but is a int32 tensor"),
        (lambda: tf.gather(tf.ones([2]), [7]), r"indices\[0\] = 7 is not in \[0, 2\) \[Op:GatherV2\]"),
    ],
)
def test_errors_name_the_op(run, message):
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        run()


def test_what_was_read_of_a_variable_stays_when_it_is_written():
    v = tf.Variable([1.0, 2.0])
    before, part = v.read_value(), v[0]
    v.assign_add([1.0, 1.0])
    tf.train.GradientDescentOptimizer(1.0).apply_gradients([(tf.ones([2]), v)])
    np.testing.assert_array_equal(before.numpy(), [1, 2])
    assert float(part) == 1.0
    np.testing.assert_array_equal(v.numpy(), [1, 2])


def test_a_variable_that_nobody_looks_at_is_written_in_place():
    v = tf.Variable([1.0, 2.0])
    storage = v.handle.value.value.data_ptr()
    v.assign_add([1.0, 1.0])
    assert v.handle.value.value.data_ptr() == storage


def test_variables_are_copied_deeply():
    v = tf.Variable(1.0)
    w = copy.deepcopy(v)
    w.assign(2.0)
    assert v.numpy() == 1.0 and w.numpy() == 2.0


def test_get_variable_makes_a_new_one_each_time():
    assert tf.get_variable("w", [2]) is not tf.get_variable("w", [2])


def test_seeds_start_again():
    tf.set_random_seed(1)
    first = tf.random_uniform([2]).numpy()
    second = tf.random_uniform([2]).numpy()
    # What TensorFlow 1.15 draws.
    np.testing.assert_allclose(first, [0.16513085, 0.9014813], rtol=1e-6)
    np.testing.assert_allclose(second, [0.51010704, 0.44353175], rtol=1e-6)
    tf.set_random_seed(1)
    np.testing.assert_array_equal(tf.random_uniform([2]).numpy(), first)


def test_control_flow_is_pythons():
    assert int(tf.while_loop(lambda i: i < 5, lambda i: i + 1, [tf.constant(0)])) == 5
    assert tf.cond(tf.constant(False), lambda: 1, lambda: 2) == 2
    assert int(tf.case([(tf.constant(False), lambda: tf.constant(1))], default=lambda: tf.constant(3))) == 3
    with pytest.raises(tf.errors.InvalidArgumentError, match="to be true"):
        tf.Assert(tf.constant(False), [tf.constant(1)])


def test_graphs_can_still_be_built():
    with tf.Graph().as_default(), tf.Session() as sess:
        assert not tf.executing_eagerly()
        assert sess.run(tf.constant(1.0) + 1.0) == 2.0


def test_functions_among_control_inputs_are_called():
    called = []
    with tf.control_dependencies([tf.constant(1), lambda: called.append(1)]):
        assert called == [1]
