"""Rows and slices of variables: gathered and changed in place."""

import numpy as np
import pytest

import everflow as tf
from everflow.ops.core.registry import apply


@pytest.fixture(params=[False, True], ids=["reference", "resource"])
def use_resource(request):
    return request.param


def changed(initial, change, use_resource, dtype=None):
    """What a variable holds after a change."""
    v = tf.Variable(np.array(initial, dtype), use_resource=use_resource)
    done = change(v)
    with tf.Session() as session:
        session.run(v.initializer)
        returned = session.run(done)
        held = session.run(v)
    np.testing.assert_array_equal(returned, held)
    return held


@pytest.mark.parametrize(
    "name, expected",
    [
        ("update", [[7, 8], [3, 4], [9, 9]]),
        ("add", [[8, 10], [3, 4], [14, 15]]),
        ("sub", [[-6, -6], [3, 4], [-4, -3]]),
        ("mul", [[7, 16], [3, 4], [45, 54]]),
        ("min", [[1, 2], [3, 4], [5, 6]]),
        ("max", [[7, 8], [3, 4], [9, 9]]),
    ],
)
@pytest.mark.parametrize("dtype", ["float32", "float16", "int32", "int64"])
def test_rows_are_changed(name, expected, dtype, use_resource):
    function = getattr(tf, "scatter_" + name)
    found = changed([[1, 2], [3, 4], [5, 6]], lambda v: function(v, [0, 2], np.array([[7, 8], [9, 9]], dtype)), use_resource, dtype)
    np.testing.assert_array_equal(found, np.array(expected, dtype))


def test_rows_of_unsigned_numbers_wrap(use_resource):
    found = changed([1, 2], lambda v: tf.scatter_sub(v, [0], np.array([3], np.uint8)), use_resource, "uint8")
    np.testing.assert_array_equal(found, [254, 2])


def test_division_of_rows(use_resource):
    found = changed([8.0, 9.0], lambda v: tf.scatter_div(v, [0, 1], [2.0, 3.0]), use_resource)
    np.testing.assert_array_equal(found, [4, 3])


def test_rows_named_twice_are_changed_twice(use_resource):
    np.testing.assert_array_equal(changed([1.0, 1.0], lambda v: tf.scatter_add(v, [1, 1], [2.0, 3.0]), use_resource), [1, 6])
    np.testing.assert_array_equal(changed([1.0, 1.0], lambda v: tf.scatter_mul(v, [1, 1], [2.0, 3.0]), use_resource), [1, 6])


def test_one_number_updates_every_named_row(use_resource):
    found = changed([[1.0, 2.0], [3.0, 4.0]], lambda v: tf.scatter_add(v, [1], 10.0), use_resource)
    np.testing.assert_array_equal(found, [[1, 2], [13, 14]])


def test_indexed_slices_update_rows(use_resource):
    found = changed([1.0, 2.0], lambda v: v.scatter_sub(tf.IndexedSlices([5.0], [1])), use_resource)
    np.testing.assert_array_equal(found, [1, -3])


def test_rows_of_strings():
    v = tf.Variable(["a", "b", "c"], use_resource=True)
    with tf.Session() as session:
        session.run(v.initializer)
        session.run(v.scatter_update(tf.IndexedSlices(["x"], [1])))
        assert session.run(v.sparse_read([1, 0])).tolist() == [b"x", b"a"]


@pytest.mark.parametrize("name, expected", [("update", [[1, 9], [8, 4]]), ("add", [[1, 11], [11, 4]]), ("sub", [[1, -7], [-5, 4]])])
def test_elements_are_changed(name, expected, use_resource):
    function = getattr(tf, "scatter_nd_" + name)
    found = changed([[1, 2], [3, 4]], lambda v: function(v, [[0, 1], [1, 0]], [9, 8]), use_resource)
    np.testing.assert_array_equal(found, expected)


def test_slices_are_changed(use_resource):
    found = changed([[1, 2], [3, 4]], lambda v: tf.scatter_nd_update(v, [[1]], [[7, 8]]), use_resource)
    np.testing.assert_array_equal(found, [[1, 2], [7, 8]])


def test_slices_of_each_batch_element_are_set(use_resource):
    found = changed([[1, 2, 3], [4, 5, 6]], lambda v: tf.batch_scatter_update(v, [[0, 2], [1, 0]], [[7, 8], [9, 10]]), use_resource)
    np.testing.assert_array_equal(found, [[7, 2, 8], [10, 9, 6]])


def test_updates_may_come_from_the_variable_itself(use_resource):
    found = changed([1.0, 2.0, 3.0], lambda v: tf.scatter_update(v, [0, 1, 2], tf.reverse(v, [0])), use_resource)
    np.testing.assert_array_equal(found, [3, 2, 1])


@pytest.mark.parametrize(
    "indices, updates, problem",
    [
        ([0, 2], [1, 2], r"indices\[1\] = 2 is not in \[0, 2\)"),
        ([[0, -1]], [[1, 2]], r"indices\[0,1\] = -1 is not in \[0, 2\)"),
        (3, 1, r"indices = 3 is not in \[0, 2\)"),
        ([0, 1], [1, 2, 3], r"updates"),
    ],
)
def test_bad_rows(indices, updates, problem, use_resource):
    v = tf.Variable([1.0, 2.0], use_resource=use_resource)
    i, u = tf.placeholder(tf.int32), tf.placeholder(tf.float32)
    with tf.Session() as session:
        session.run(v.initializer)
        with pytest.raises(tf.errors.InvalidArgumentError, match=problem):
            session.run(tf.scatter_add(v, i, u), {i: indices, u: updates})


@pytest.mark.parametrize(
    "indices, updates, problem",
    [
        ([[0], [2]], [1, 2], r"indices\[1\] = \[2\] does not index into shape \[2\]"),
        ([[0], [1]], [1, 2, 3], "outermost dimension of updates and indices must match"),
        ([[0, 1]], [1], "slice_dim: 2, and batch_dim: 1"),
        (0, 1, "slice_dim: 1, and batch_dim: 1"),
        ([[]], [[1, 2]], "Indices and updates specified for empty output"),
    ],
)
def test_bad_slices(indices, updates, problem, use_resource):
    v = tf.Variable([1.0, 2.0], use_resource=use_resource)
    i, u = tf.placeholder(tf.int32), tf.placeholder(tf.float32)
    with tf.Session() as session:
        session.run(v.initializer)
        with pytest.raises(tf.errors.InvalidArgumentError, match=problem):
            session.run(tf.scatter_nd_add(v, i, u), {i: indices, u: updates})


def test_shapes_that_do_not_fit_are_found_when_the_graph_is_built(use_resource):
    v = tf.Variable(tf.zeros([2, 3]), use_resource=use_resource)
    with pytest.raises(ValueError, match=r"Shapes are \[1,2\] and \[1,3\]"):
        tf.scatter_add(v, [0], [[1.0, 2.0]])
    with pytest.raises(ValueError, match="The inner 1 dimensions of input.shape"):
        tf.scatter_nd_add(v, [[0]], [[1.0, 2.0]])


def test_gathering_from_a_resource():
    v = tf.Variable([[1, 2], [3, 4]], use_resource=True)
    with tf.Session() as session:
        session.run(v.initializer)
        np.testing.assert_array_equal(session.run(v.sparse_read([[1], [0]])), [[[3, 4]], [[1, 2]]])
        np.testing.assert_array_equal(session.run(v.gather_nd([[0, 1], [1, 0]])), [2, 3])
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"indices\[0\] = 2 is not in \[0, 2\)"):
            session.run(v.sparse_read([2]))


def test_temporary_variables_live_for_one_step():
    from everflow.ops.core.registry import apply

    temporary = apply("TemporaryVariable", shape=[2], dtype=tf.float32, var_name="t")
    value = apply("DestroyTemporaryVariable", tf.assign_add(tf.assign(temporary, [1.0, 2.0]), [3.0, 3.0]), var_name="t")
    with tf.Session() as session:
        for _ in range(2):
            np.testing.assert_array_equal(session.run(value), [4, 5])


def test_destroying_a_temporary_variable_that_is_not_there_is_an_error():
    from everflow.ops.core.registry import apply

    temporary = apply("TemporaryVariable", shape=[2], dtype=tf.float32, var_name="t")
    value = apply("DestroyTemporaryVariable", tf.assign(temporary, [1.0, 2.0]), var_name="another")
    with tf.Session() as session, pytest.raises(tf.errors.NotFoundError, match="Could not find temporary variable another"):
        session.run(value)


@pytest.mark.parametrize("name, expected", [("Mul", [6, 40000]), ("Div", [1, 40000]), ("Max", [3, 40000]), ("Min", [2, 40000])])
def test_rows_of_words_without_sign_change(name, expected):
    var = tf.Variable(np.array([3, 40000], np.uint16), use_resource=True)
    change = apply(f"ResourceScatter{name}", var.handle, [0], np.array([2], np.uint16))
    with tf.Session() as session:
        session.run(var.initializer)
        session.run(change)
        assert session.run(var).tolist() == expected
