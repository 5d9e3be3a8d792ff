"""tf.TensorArray: elements by index, in and out of loops, with gradients."""

from __future__ import annotations

import numpy as np
import pytest

import everflow as tf
from running import run


def array(**options):
    return tf.TensorArray(tf.float32, **{"size": 3, "tensor_array_name": "foo", "infer_shape": False, **options})


def test_elements_are_read_as_they_were_written():
    ta = array().write(0, [[4.0, 5.0]]).write(1, [[1.0]]).write(2, -3.0)
    first, second, third = run([ta.read(0), ta.read(1), ta.read(2)])
    np.testing.assert_array_equal(first, [[4.0, 5.0]])
    np.testing.assert_array_equal(second, [[1.0]])
    assert third == -3.0


def test_rows_go_in_and_out_in_one_piece():
    x = np.arange(6.0, dtype=np.float32).reshape(3, 2)
    ta = array(clear_after_read=False).unstack(x)
    np.testing.assert_array_equal(run(ta.stack()), x)
    np.testing.assert_array_equal(run(ta.gather([2, 0])), x[[2, 0]])
    np.testing.assert_array_equal(run(ta.concat()), x.reshape(-1))
    np.testing.assert_array_equal(run(array().split(x.reshape(-1), [1, 2, 3]).read(1)), [1.0, 2.0])
    np.testing.assert_array_equal(run(array().scatter([2, 0], [7.0, 8.0]).read(0)), 8.0)


def test_text_can_be_an_element():
    ta = tf.TensorArray(tf.string, size=2).unstack([b"a", b"b"])
    assert run(ta.stack()).tolist() == [b"a", b"b"]


def test_what_is_not_written_reads_as_zeros_where_the_shape_is_known():
    ta = array(infer_shape=True).write(1, [1.0, 2.0])
    np.testing.assert_array_equal(run(ta.stack()), [[0.0, 0.0], [1.0, 2.0], [0.0, 0.0]])


def test_static_shapes_come_from_writes():
    ta = tf.TensorArray(tf.float32, size=3).write(0, tf.zeros([2, 4]))
    assert ta.read(0).shape == [2, 4]
    assert ta.stack().shape.as_list() == [None, 2, 4]
    assert ta.concat().shape.as_list() == [None, 4]
    with pytest.raises(ValueError, match=r"Inconsistent shapes: saw \(3,\) but expected \(2, 4\)"):
        ta.write(1, tf.zeros([3]))


def test_a_dynamic_array_grows():
    ta = array(size=0, dynamic_size=True).write(4, 1.0)
    assert run(ta.size()) == 5
    assert run(array(size=1, dynamic_size=True).unstack([1.0, 2.0]).size()) == 2


def read_after_read(ta):
    first = ta.read(0)
    with tf.control_dependencies([first]):
        return ta.read(0)


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: array(size=-1).flow, "Size should be >= 0"),
        (lambda: array().write(3, 1.0).flow, "Tried to write to index 3 but array is not resizeable and size is: 3"),
        (
            lambda: array().write(0, 1.0).write(0, 1.0).flow,
            r"TensorArray foo_\d+: Could not write to TensorArray index 0 because it has already been written to",
        ),
        (lambda: array().write(0, tf.constant(1)).flow, "TensorArray dtype is float but Op is trying to write dtype int32"),
        (lambda: array().read(-1), "Tried to read from index -1 but array size is: 3"),
        (lambda: array().read(0), "Furthermore, the element shape is not fully defined"),
        (lambda: read_after_read(array().write(0, 1.0)), "Could not read index 0 twice"),
        (lambda: array().write(0, 1.0).write(1, [1.0]).gather([0, 1]), "inconsistent shapes"),
        (lambda: array(size=1).write(0, 1.0).concat(), "Concat saw a scalar shape at index 0"),
        (lambda: array(size=1).split([1.0, 2.0], [1]).flow, "sum of lengths is 1"),
        (lambda: array(size=2).unstack([1.0, 2.0, 3.0]).flow, r"Max scatter index must be < array size \(2 vs. 2\)"),
        (lambda: array().grad("x").write(0, 1.0).write(0, [1.0]).flow, "Could not aggregate to TensorArray index 0"),
    ],
)
def test_mistakes_are_told_when_the_array_is_used(make, text):
    with pytest.raises(tf.errors.InvalidArgumentError, match=text):
        run(make())


def test_gradients_go_through_writes_and_reads():
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    ta = tf.TensorArray(tf.float32, size=2, clear_after_read=False).unstack(x)
    y = ta.read(0) * ta.read(0) + ta.read(1)
    np.testing.assert_allclose(run(tf.gradients(y, x)[0]), [[2.0, 4.0], [1.0, 1.0]])
    parts = tf.TensorArray(tf.float32, size=2, infer_shape=False).split(x[0], [1, 1])
    np.testing.assert_allclose(run(tf.gradients(parts.concat() * [2.0, 3.0], x)[0]), [[2.0, 3.0], [0.0, 0.0]])


def test_an_array_in_a_loop_has_gradients():
    x = tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    w = tf.Variable(0.5)
    rows = tf.TensorArray(tf.float32, size=3).unstack(x)

    def body(i, state, results):
        state = state * w + rows.read(i)
        return i + 1, state, results.write(i, state)

    _, _, results = tf.while_loop(lambda i, *_: i < 3, body, (0, tf.zeros([2]), tf.TensorArray(tf.float32, size=3)))
    d_x, d_w = run(tf.gradients(tf.reduce_sum(results.stack()), [x, w]))
    np.testing.assert_allclose(d_x, [[1.75, 1.75], [1.5, 1.5], [1.0, 1.0]])
    # states: x0; x0 w + x1; x0 w^2 + x1 w + x2
    np.testing.assert_allclose(d_w, (1 + 2) + 2 * 0.5 * (1 + 2) + (3 + 4))


@pytest.mark.parametrize("version_2", [False, True])
def test_an_array_may_be_read_and_written_in_one_loop(version_2):
    if version_2:
        tf.enable_control_flow_v2()
    try:
        ta = tf.TensorArray(tf.float32, size=4, clear_after_read=False).write(0, 1.0)
        x = tf.constant(3.0)
        _, ta = tf.while_loop(lambda i, _: i < 4, lambda i, a: (i + 1, a.write(i, a.read(i - 1) * x)), (1, ta))
        np.testing.assert_allclose(run(ta.stack()), [1.0, 3.0, 9.0, 27.0])
        assert run(tf.gradients(ta.read(3), x)[0]) == 27.0
    finally:
        tf.disable_control_flow_v2()


def test_the_array_of_gradients_adds_up():
    ta = array().write(0, [1.0])
    total = ta.grad("mine").write(0, [1.0]).write(0, [2.0]).write(0, [4.0])
    np.testing.assert_array_equal(run(total.read(0)), [7.0])


def test_a_write_keeps_its_value_when_the_variable_changes_later():
    v = tf.Variable([1.0, 2.0], use_resource=True)
    ta = tf.TensorArray(tf.float32, size=1).write(0, v)
    with tf.control_dependencies([ta.flow]):
        change = v.assign([5.0, 6.0])
    with tf.control_dependencies([change]):
        later = tf.identity(ta.read(0))
    np.testing.assert_array_equal(run(later), [1.0, 2.0])


def test_arguments_that_exclude_each_other():
    ta = array()
    with pytest.raises(ValueError, match="Size must be provided"):
        tf.TensorArray(tf.float32)
    with pytest.raises(ValueError, match="both a handle and size"):
        tf.TensorArray(tf.float32, size=1, handle=ta.handle, flow=ta.flow)


def test_types_of_arrays():
    spec = tf.TensorArraySpec([None, 2], tf.float32)
    ta = tf.TensorArray(tf.float32, size=2).write(0, [[1.0, 2.0]]).write(1, [[3.0, 4.0]])
    assert tf.TensorArraySpec.from_value(ta) == tf.TensorArraySpec([1, 2], tf.float32)
    assert spec.is_compatible_with(ta) and not spec.is_compatible_with(tf.TensorArraySpec([2], tf.float32))
    assert spec.most_specific_compatible_type(tf.TensorArraySpec([1, 2])) == spec
    with pytest.raises(ValueError, match="Types are not compatible"):
        spec.most_specific_compatible_type(tf.TensorArraySpec([1, 2], tf.int32))
    again = spec._from_components(spec._to_components(ta))
    np.testing.assert_array_equal(run(again.stack()), [[[1.0, 2.0]], [[3.0, 4.0]]])


def test_what_is_gathered_as_it_lies_is_nobody_elses_to_change():
    """An array that was filled with a whole tensor gives it back without a copy: programs must not see that."""

    def through(t):
        return tf.TensorArray(tf.float32, 3).unstack(t).stack()

    x, v = tf.placeholder(tf.float32, [3, 4]), tf.Variable(np.ones((3, 4), np.float32))
    y = through(v)
    with tf.control_dependencies([y]):
        change = tf.assign_add(v, tf.ones([3, 4]))
    with tf.control_dependencies([change]):
        twice = y * 2.0
    with tf.Session() as sess:
        fed = np.zeros((3, 4), np.float32)
        found = sess.run(through(x), {x: fed})
        fed += 5
        assert not found.any()
        sess.run(v.initializer)
        before, doubled = sess.run([y, twice])
        assert (before == 1).all() and (doubled == 2).all()
        kept = sess.run(y)
        sess.run(change)
        assert (kept == 2).all() and (sess.run(v) == 3).any()
