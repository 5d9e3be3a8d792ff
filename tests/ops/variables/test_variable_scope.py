"""tf.variable_scope and tf.get_variable: names, sharing and defaults."""

import numpy as np
import pytest

import everflow as tf


def test_variables_are_named_by_variable_scopes_alone():
    with tf.name_scope("ops"), tf.variable_scope("a"), tf.variable_scope("b"):
        v = tf.get_variable("v", [1])
        c = tf.constant(1)
    assert v.name == "a/b/v:0"
    assert c.name == "ops/a/b/Const:0"


def test_a_variable_is_made_once_and_shared():
    with tf.variable_scope("a"):
        v = tf.get_variable("v", [2])
    with tf.variable_scope("a", reuse=True):
        assert tf.get_variable("v", [2]) is v
        with tf.variable_scope("b"):
            assert tf.get_variable_scope().reuse
    for _ in range(2):
        with tf.variable_scope("c", reuse=tf.AUTO_REUSE):
            w = tf.get_variable("w", [2])
    assert tf.global_variables() == [v, w]


def test_making_a_variable_twice_is_an_error_that_says_where_it_was_made():
    tf.get_variable("v", [2])
    with pytest.raises(
        ValueError,
        match="Variable v already exists, disallowed. Did you mean to set reuse=True or "
        "reuse=tf.AUTO_REUSE in VarScope\\? Originally defined "
        "at:\n\n.*test_variable_scope.py",
    ):
        tf.get_variable("v", [2])


@pytest.mark.parametrize(
    "name, shape, dtype, problem",
    [
        ("w", [2], None, r"Variable w does not exist, or was not created with tf.get_variable\(\)"),
        ("v", [3], None, r"Trying to share variable v, but specified shape \(3,\) and found shape \(2,\)"),
        ("v", [2], tf.int32, "Trying to share variable v, but specified dtype int32 and found dtype float32_ref"),
    ],
)
def test_sharing_needs_a_variable_that_fits(name, shape, dtype, problem):
    tf.get_variable("v", [2])
    with tf.variable_scope("", reuse=True), pytest.raises(ValueError, match=problem):
        tf.get_variable(name, shape, dtype)


@pytest.mark.parametrize(
    "arguments, problem",
    [
        ({"shape": [2], "initializer": 1.0}, "If initializer is a constant, do not specify shape"),
        ({"dtype": tf.int32, "initializer": 1.0}, "Initializer type .*float32.* and explicit dtype .*int32.* don't match"),
        ({"shape": [2], "dtype": tf.complex64}, "An initializer for variable v of .*complex64.* is required"),
        ({"shape": [None, 2]}, "The initializer passed is not valid"),
        ({"shape": [2], "custom_getter": 3}, "Passed a custom_getter which is not callable: 3"),
        ({"shape": [2], "partitioner": 3}, "Partitioner must be callable, but received: 3"),
    ],
)
def test_bad_arguments(arguments, problem):
    with pytest.raises(ValueError, match=problem):
        tf.get_variable("v", **arguments)


def test_default_initializers():
    weights, count, flag = tf.get_variable("w", [50, 50]), tf.get_variable("i", [2], tf.int32), tf.get_variable("b", [2], tf.bool)
    assert weights.initializer.inputs[1].op.name == "w/Initializer/random_uniform"
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        found = session.run(weights)
        assert 0.2 < abs(found).max() <= np.sqrt(6 / 100)
        np.testing.assert_array_equal(session.run(count), [0, 0])
        np.testing.assert_array_equal(session.run(flag), [False, False])


def test_defaults_are_inherited_and_overridden():
    with tf.variable_scope(
        "a", initializer=tf.constant_initializer(3.0), dtype=tf.float64, use_resource=True, regularizer=lambda v: tf.reduce_sum(v) * 2.0
    ):
        v = tf.get_variable("v", [2])
        with tf.variable_scope("b", initializer=tf.constant_initializer(4.0), regularizer=tf.no_regularizer):
            w = tf.get_variable("w", [2])
    assert v.dtype == tf.float64 and v.op.type == "VarHandleOp"
    (loss,) = tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES)
    assert loss.name == "a/v/Regularizer/mul:0"
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert session.run(loss) == 12
        np.testing.assert_array_equal(session.run(w), [4, 4])


def test_custom_getters_nest():
    def getter(factor):
        return lambda getter, *args, **kwargs: getter(*args, **kwargs) * factor

    with tf.variable_scope("a", custom_getter=getter(2.0)), tf.variable_scope("b", custom_getter=getter(5.0)):
        v = tf.get_variable("v", [1], initializer=tf.ones_initializer())
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        np.testing.assert_array_equal(session.run(v), [10])


def test_default_names_are_made_unique():
    found = []
    for _ in range(2):
        with tf.variable_scope(None, "layer") as outer:
            for _ in range(2):
                with tf.variable_scope(None, "part") as inner:
                    found.append((outer.name, inner.name))
    assert found == [("layer", "layer/part"), ("layer", "layer/part_1"), ("layer_1", "layer_1/part"), ("layer_1", "layer_1/part_1")]


def test_entering_a_scope_again():
    with tf.variable_scope("a") as scope:
        pass
    with tf.variable_scope("b"), tf.variable_scope(scope) as again:
        assert again.name == "a"
        assert again.original_name_scope == "a/"
        assert tf.constant(1).name == "b/a/Const:0"
        assert tf.get_variable("v", [1]).name == "a/v:0"


def test_without_an_auxiliary_name_scope_ops_keep_their_scope():
    with tf.variable_scope("a") as scope:
        with tf.name_scope(scope.original_name_scope), tf.variable_scope(scope, auxiliary_name_scope=False):
            assert tf.constant(1).name == "a/Const:0"


def test_scopes_must_nest():
    outer = tf.variable_scope("a")
    outer.__enter__()
    with tf.variable_scope("b"), pytest.raises(RuntimeError, match="Improper nesting of variable_scope"):
        outer.__exit__(None, None, None)
    outer.__exit__(None, None, None)
    assert tf.get_variable_scope().name == ""


@pytest.mark.parametrize(
    "arguments, kind, message",
    [
        ((None,), TypeError, "If default_name is None then name_or_scope is required"),
        ((3,), TypeError, "name_or_scope must be a string or VariableScope"),
        (("a", None, None, None, None, None, None, None, 3), ValueError, "The reuse parameter must be True or False or None"),
    ],
)
def test_bad_scopes(arguments, kind, message):
    with pytest.raises(kind, match=message), tf.variable_scope(*arguments):
        pass


def test_a_default_name_cannot_be_shared():
    with pytest.raises(ValueError, match="reuse=True cannot be used without a name_or_scope"):
        with tf.variable_scope(None, "a", reuse=True):
            pass


def test_local_variables():
    v = tf.get_local_variable("v", [1])
    assert tf.local_variables() == [v] and not tf.global_variables() and not v.trainable


def test_variables_of_a_scope():
    with tf.variable_scope("a") as scope:
        v = tf.get_variable("v", [1])
    tf.get_variable("ab", [1])
    assert scope.global_variables() == scope.trainable_variables() == [v]


def test_partitioned_variables_are_used_as_one():
    v = tf.get_variable("v", [5, 2], partitioner=tf.fixed_size_partitioner(2), initializer=tf.constant_initializer([0, 1, 2]))
    assert [part.name for part in v] == ["v/part_0:0", "v/part_1:0"]
    assert [part.shape.as_list() for part in v] == [[3, 2], [2, 2]]
    assert [part._get_save_slice_info().spec for part in v] == ["5 2 0,3:0,2", "5 2 3,2:0,2"]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        np.testing.assert_array_equal(session.run(tf.identity(v)), [[0, 1], [2, 2], [2, 2], [0, 1], [2, 2]])
        session.run(v.assign(np.ones([5, 2], np.float32)))
        np.testing.assert_array_equal(session.run(v.as_tensor()), np.ones([5, 2]))


def test_initial_values_are_cut_as_the_variable_is():
    v = tf.get_variable("v", initializer=tf.constant(np.arange(5.0)), partitioner=tf.fixed_size_partitioner(2), dtype=tf.float64)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        np.testing.assert_array_equal(session.run(v.as_tensor()), np.arange(5))


@pytest.mark.parametrize(
    "partitions, problem",
    [
        ([2, 2], "partition list that does not match the Variable's rank"),
        (2, "Partitioner must return a sequence"),
        ([0], "Partitioner returned zero partitions"),
    ],
)
def test_bad_partitions(partitions, problem):
    with pytest.raises(ValueError, match=problem):
        tf.get_variable("v", [4], partitioner=lambda shape, dtype: partitions)


@pytest.mark.parametrize(
    "partitioner, shape, dtype, expected",
    [
        (tf.fixed_size_partitioner(3), [10, 2], tf.float32, [3, 1]),
        (tf.fixed_size_partitioner(3, axis=1), [10, 2], tf.float32, [1, 2]),
        (tf.variable_axis_size_partitioner(20), [10, 2], tf.float32, [5, 1]),
        (tf.variable_axis_size_partitioner(20, max_shards=4), [10, 2], tf.float32, [4, 1]),
        (tf.variable_axis_size_partitioner(20), [10, 2], tf.string, [10, 1]),
        (tf.min_max_variable_partitioner(10, min_slice_size=40), [10, 2], tf.float32, [2, 1]),
        (tf.min_max_variable_partitioner(1, min_slice_size=40), [10, 2], tf.float32, [1, 1]),
    ],
)
def test_partitioners(partitioner, shape, dtype, expected):
    assert partitioner(shape=tf.TensorShape(shape), dtype=dtype) == expected


def test_create_partitioned_variables():
    parts = tf.create_partitioned_variables([4, 2], [2, 1], tf.zeros_initializer(), name="p")
    assert [p.name for p in parts] == ["p/part_0:0", "p/part_1:0"]


def test_a_scope_of_eager_mode_finds_what_functions_made_below_it(eager):
    with tf.variable_scope("s") as scope:
        pass
    assert scope.reuse is tf.AUTO_REUSE and scope.use_resource
    store = tf.contrib.eager.EagerVariableStore()

    def read():
        with tf.variable_scope(scope), store.as_default():
            return tf.get_variable("v", [], initializer=tf.random_normal_initializer())

    variable = read()
    assert variable.name == "s/v:0"
    assert tf.contrib.eager.defun(lambda: read() + 0)().numpy() == variable.numpy()
    with pytest.raises(NotImplementedError, match="Caching devices"):
        tf.VariableScope(None, caching_device="/cpu:0")


def test_creators_make_the_variables_of_loops_branches_and_functions_inside_too():
    made = []

    def noting(next_creator, **kwargs):
        variable = next_creator(**kwargs)
        made.append(variable.name)
        return variable

    with tf.variable_creator_scope(noting):
        tf.while_loop(lambda i: i < 1, lambda i: i + tf.layers.Dense(1, use_bias=False, name="a")(tf.ones([1, 1], tf.float32))[0, 0], [0.0])
        tf.cond(tf.constant(True), lambda: tf.get_variable("b", []) + 0.0, lambda: 0.0)
        with tf.Graph().as_default():
            tf.get_variable("of_another_graph", [])
    assert made == ["a/kernel:0", "b:0"]
