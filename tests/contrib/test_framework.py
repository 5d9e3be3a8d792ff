"""tf.contrib.framework: argument scopes, variables of models, values from checkpoints."""

import numpy as np
import pytest

import everflow as tf
from everflow import internals

framework = tf.contrib.framework


@framework.add_arg_scope
def layer(x, size=1, activation="none"):
    return x, size, activation


def test_arguments_are_given_once_for_all_calls_within_a_block():
    assert layer(0) == (0, 1, "none")
    with framework.arg_scope([layer], size=3) as kept:
        assert layer(0) == (0, 3, "none") and layer(0, size=4) == (0, 4, "none")
        with framework.arg_scope([layer], activation="relu"):
            assert layer(0) == (0, 3, "relu")
        assert layer(0) == (0, 3, "none")
    assert layer(0) == (0, 1, "none")
    with framework.arg_scope(kept):
        assert layer(0) == (0, 3, "none")


def test_scopes_are_of_functions_that_allow_them():
    assert framework.has_arg_scope(layer) and not framework.has_arg_scope(len)
    assert framework.arg_scoped_arguments(layer) == ("size", "activation")
    with pytest.raises(ValueError, match="is not decorated with @add_arg_scope"), framework.arg_scope([np.sum], axis=1):
        pass
    with pytest.raises(TypeError, match="must either be a list/tuple or reused scope"), framework.arg_scope(layer, size=1):
        pass


def test_variables_are_found_again():
    with tf.Graph().as_default():
        with tf.variable_scope("s"):
            a = framework.model_variable("a", [3], initializer=tf.zeros_initializer())
            b = framework.variable("b", [3], collections=["mine", tf.GraphKeys.GLOBAL_VARIABLES])
        c = framework.local_variable(0, name="c")
        assert framework.get_model_variables() == [a] and framework.get_variables("s") == [a, b]
        assert framework.get_variables_by_suffix("b") == [b] == tf.get_collection("mine") and framework.get_variables_by_name("a") == [a]
        assert framework.get_variables_to_restore(exclude=["s/a"]) == [b] and framework.get_local_variables() == [c]
        assert framework.get_unique_variable("s/a") is a and framework.filter_variables([a, b], exclude_patterns=["a$"]) == [b]
        with pytest.raises(ValueError, match="Couldn't find variable zz"):
            framework.get_unique_variable("zz")


def test_values_come_from_checkpoints_and_arrays(tmp_path):
    with tf.Graph().as_default(), tf.Session() as session:
        a, b = (framework.model_variable(name, [2], initializer=tf.zeros_initializer()) for name in "ab")
        session.run(tf.global_variables_initializer())
        framework.assign_from_values_fn({"a": np.float32([1, 2])})(session)
        path = tf.train.Saver([a]).save(session, str(tmp_path / "model"))
        session.run(tf.global_variables_initializer())
        op, feed = framework.assign_from_checkpoint(path, {"a": b})
        session.run(op, feed)
        assert session.run([a, b])[0].tolist() == [0, 0] and session.run(b).tolist() == [1, 2]
        framework.assign_from_checkpoint_fn(path, [a, b], ignore_missing_vars=True)(session)
        assert session.run(a).tolist() == [1, 2]
        with pytest.raises(ValueError, match=r"Checkpoint is missing variable \[b\]"):
            framework.assign_from_checkpoint(path, [b])


def test_shapes_are_checked_now_or_later():
    with tf.Graph().as_default(), tf.Session() as session:
        fed = tf.placeholder(tf.float32)
        checked = framework.with_shape([2, -1], fed)
        assert checked.get_shape().as_list() == [2, None]
        assert session.run(checked, {fed: np.ones((2, 3))}).shape == (2, 3)
        with pytest.raises(tf.errors.InvalidArgumentError, match="Wrong shape"):
            session.run(checked, {fed: np.ones((3, 3))})
        with pytest.raises(ValueError, match="Wrong shape"):
            framework.with_shape([2], tf.zeros([3]))


def test_values_of_another_type_and_shape_are_assigned():
    tf.get_variable("v", [2, 1])
    op, feed = tf.contrib.framework.assign_from_values({"v": np.array([1.0, 2.0])})
    with tf.Session() as session:
        session.run(op, feed)
        assert session.run("v:0").tolist() == [[1], [2]]


def test_shapes_are_whole_numbers_in_a_row():
    fed = tf.placeholder(tf.float32)
    assert framework.with_shape(tf.TensorShape([None, 2]), fed).shape.as_list() == [None, 2]
    assert framework.with_shape([], tf.constant(1.0)).shape == ()
    with pytest.raises(ValueError, match=r"Invalid dtype float64 for shape \[1.1\] expected of tensor Placeholder:0"):
        framework.with_shape([1.1], fed)
    with pytest.raises(ValueError, match=r"Invalid rank 2 for shape \[\[1\]\] expected of tensor Placeholder:0"):
        framework.with_shape([[1]], fed)


def test_tensors_of_an_op_are_of_one_graph():
    here = tf.constant(1.0)
    with tf.Graph().as_default() as other:
        there = tf.constant(2.0)
    assert framework.get_graph_from_inputs([here]) is here.graph
    with pytest.raises(ValueError, match="must be from the same graph as"):
        framework.get_graph_from_inputs([here, there])
    with pytest.raises(ValueError, match="is not from the passed-in graph"):
        framework.get_graph_from_inputs([here], graph=other)


@pytest.mark.parametrize("use_resource", [False, True])
def test_only_variables_without_a_value_are_filled_with_zeros(session, use_resource):
    variable = tf.Variable(tf.ones([2]), use_resource=use_resource)
    filled = framework.zero_initializer(variable)
    session.run(filled)
    assert session.run(variable).tolist() == [0, 0]
    with pytest.raises(tf.errors.InvalidArgumentError, match="input is already initialized"):
        session.run(filled)


def test_tensors_say_what_they_are(session, capfd):
    print_op = internals.module("contrib.framework.python.ops.prettyprint_ops").print_op
    flags = tf.constant([False, True], name="flags")
    assert session.run(print_op(flags, message="now: ")).tolist() == [False, True]
    printed = "now: [Name: flags:0][Type: Tensor (bool)][Shape: [Dimension(2)]][First True in Boolean tensor at:][1][Value:][0 1]"
    assert printed in capfd.readouterr().err
    sparse = print_op(tf.SparseTensor([[0, 1]], [5], [2, 3]), print_tensor_type=False)
    assert session.run(sparse).values.tolist() == [5]
    assert "[Shape:][2 3][Sparse indices:][[0 1]][Sparse values:][5]" in capfd.readouterr().err
    array = tf.TensorArray(tf.int32, 2, clear_after_read=False).unstack([7, 8])
    assert session.run(print_op(array).stack()).tolist() == [7, 8]
    assert "[Type: TensorArray (int32)][Size:][2][Value:][7 8]" in capfd.readouterr().err
    with pytest.raises(ValueError, match="must be a Tensor, SparseTensor, TensorArray or Variable"):
        print_op([1])
