"""tf.gradients: values, and the graph that it builds, whose names programs and checkpoints depend on."""

import numpy as np
import pytest

import everflow as tf
from everflow.autodiff.gradients import gradients
from running import run


def added(count):
    """The names and types of the ops after the first ones."""
    return [(op.name, op.type) for op in tf.get_default_graph().get_operations()[count:]]


def count():
    return len(tf.get_default_graph().get_operations())


def test_sums_over_ys_and_over_ways():
    x = tf.constant(3.0)
    y = tf.square(x)
    assert run(tf.gradients([y, y * x], x)) == [6 + 27]
    assert run(tf.gradients(y + y, x)) == [12]
    assert run(tf.gradients([x, x], x)) == [2]


def test_one_y_may_depend_on_another():
    x = tf.constant(3.0)
    y = tf.square(x)
    z = tf.square(tf.square(y))
    assert run(tf.gradients([y, z], x)) == [17502]
    assert run(tf.gradients([y, z], y)) == [1 + 4 * 9.0**3]


def test_one_x_may_depend_on_another():
    x = tf.constant(1.0)
    y = 2 * x
    z = x + y
    assert run(tf.gradients(z, [x, y])) == [3, 1]
    assert run(tf.gradients(z, [x, y], stop_gradients=[x, y])) == [1, 1]
    assert run(tf.gradients(z, [x, y, z])) == [3, 1, 1]


def test_stop_gradients_are_constants_for_the_gradient():
    x = tf.constant(2.0)
    y = x * x
    z = y * x
    assert run(tf.gradients(z, x)) == [12]
    assert run(tf.gradients(z, x, stop_gradients=y)) == [4]


def test_what_has_no_way_to_y():
    x, other = tf.constant([1.0, 2.0]), tf.constant([[3.0]])
    v = tf.Variable([1.0, 2.0, 3.0], use_resource=True)
    assert tf.gradients(x * 2, [other, v]) == [None, None]
    assert tf.gradients(tf.cast(tf.cast(x, tf.int32), tf.float32), x) == [None]
    assert tf.gradients(tf.stop_gradient(x), x) == [None]
    zeros = run(tf.gradients(x * 2, [other, v, x], unconnected_gradients="zero"))
    assert [z.tolist() for z in zeros] == [[[0]], [0, 0, 0], [2, 2]]
    with pytest.raises(ValueError, match="Unknown value for unconnected_gradients: 'nonsense'"):
        tf.gradients(x, x, unconnected_gradients="nonsense")


def test_given_gradients_of_ys():
    x = tf.placeholder(tf.float32, [2])
    found = tf.gradients([x * x, x * 3], x, grad_ys=[np.array([1, 10], np.float32), None])
    assert run(found, {x: [1, 2]})[0].tolist() == [2 + 3, 40 + 3]
    names = [op.name for op in tf.get_default_graph().get_operations()]
    assert {"gradients/grad_y_0", "gradients/grad_ys_0", "gradients/grad_ys_1"} <= set(names)


def test_unused_outputs_have_zero_gradients():
    x = tf.constant([1.0, 2.0, 3.0, 4.0])
    first, second = tf.split(x, 2)
    assert run(tf.gradients(first * 2, x))[0].tolist() == [2, 2, 0, 0]
    assert run(tf.gradients(second * 2, x))[0].tolist() == [0, 0, 2, 2]


@pytest.mark.parametrize("use_resource", [False, True])
def test_variables(use_resource):
    v = tf.Variable([1.0, 2.0], use_resource=use_resource)
    assert run(tf.gradients(v * v + v, v))[0].tolist() == [3, 5]
    assert run(tf.gradients(v * v, [v, v]))[1].tolist() == [2, 4]


def test_higher_orders():
    x = tf.constant(2.0)
    y = x**4
    for expected in (32, 48, 48, 24):
        (y,) = tf.gradients(y, x)
        np.testing.assert_allclose(run(y), expected, rtol=1e-6)


def test_slices_stay_slices_until_something_dense_is_added():
    table = tf.constant(np.ones([5, 2], np.float32))
    two = tf.gather(table, [0, 3]) * 2 + tf.gather(table, [3, 4])
    (found,) = tf.gradients(two, table)
    assert isinstance(found, tf.IndexedSlices)
    slices = run(found)
    assert sorted(slices.indices.tolist()) == [0, 3, 3, 4] and slices.dense_shape.tolist() == [5, 2]
    (dense,) = tf.gradients([two, table], table)
    assert isinstance(dense, tf.Tensor)
    assert run(dense)[:, 0].tolist() == [3, 1, 1, 4, 2]


def test_indices_of_different_types_are_added():
    table = tf.constant(np.ones([3, 1], np.float32))
    both = tf.gather(table, tf.constant([0], tf.int32)) + tf.gather(table, tf.constant([2], tf.int64))
    found = run(tf.gradients(both, table)[0])
    assert found.indices.dtype == np.int64 and found.indices.tolist() == [0, 2]


def test_complex_numbers_need_a_gradient_to_start_with():
    x = tf.constant(1 + 2j)
    with pytest.raises(TypeError, match=r"Gradients of complex tensors must set grad_ys \(y.dtype = tf.complex128\)"):
        tf.gradients(x * x, x)
    assert run(tf.gradients(x * x, x, grad_ys=tf.constant(1 + 0j))) == [np.conj(2 * (1 + 2j))]


@pytest.mark.parametrize("build, error, text", [
    (lambda x: tf.gradients(x, x, grad_ys=[1.0, 2.0]), ValueError, "Passed 2 grad_ys for 1 ys"),
    (lambda x: tf.gradients(x, x, grad_ys=[tf.constant("a")]), TypeError, "must be real or integer"),
    (lambda x: tf.gradients(tf.complex(x, x), x, grad_ys=[tf.ones_like(x)]), TypeError, "Gradient type float32 generated for complex"),
    (lambda x: tf.gradients(x * x, x, aggregation_method=77), ValueError, "Invalid aggregation_method specified 77"),
    (lambda x: tf.gradients(tf.unique(x)[0], x), LookupError, r"No gradient defined for operation 'Unique' \(op type: Unique\)"),
])  # fmt: skip
def test_mistakes(build, error, text):
    with pytest.raises(error, match=text):
        build(tf.constant([1.0, 2.0]))


# -- the graph that is built


def test_names_are_those_of_the_forward_ops():
    x = tf.placeholder(tf.float32, [2], name="x")
    with tf.name_scope("sc"):
        y = tf.tanh(x, name="y")
        before = count()
        tf.gradients(y, x)
        tf.gradients(y, x, name="mine")
    names = [name for name, _ in added(before)]
    assert names == [
        "sc/gradients/Shape", "sc/gradients/grad_ys_0", "sc/gradients/Fill", "sc/gradients/sc/y_grad/TanhGrad",
        "sc/mine/Shape", "sc/mine/grad_ys_0", "sc/mine/Fill", "sc/mine/sc/y_grad/TanhGrad",
    ]  # fmt: skip


def test_several_gradients_are_added_beside_the_first():
    x = tf.placeholder(tf.float32, [2], name="x")
    (found,) = tf.gradients(tf.tanh(x) + tf.exp(x), x)
    assert (found.op.name, found.op.type) == ("gradients/AddN", "AddN")
    assert found.op.colocation_groups() == found.op.inputs[0].op.colocation_groups()


def test_other_ways_of_adding():
    x = tf.placeholder(tf.float32, [2], name="x")
    method = tf.AggregationMethod
    y = tf.tanh(x) + tf.exp(x) + tf.sin(x)
    (tree,) = tf.gradients(y, x, aggregation_method=method.EXPERIMENTAL_TREE)
    assert tree.op.name == "gradients/x_gradient_sum/AddN_1" and len(tree.op.inputs) == 2
    (one,) = tf.gradients(y, x, aggregation_method=method.EXPERIMENTAL_ACCUMULATE_N)
    assert one.op.type == "AccumulateNV2"
    expected = run(tf.gradients(y, x), {x: [0.5, 1]})[0]
    np.testing.assert_allclose(run(tree, {x: [0.5, 1]}), expected, rtol=1e-6)
    np.testing.assert_allclose(run(one, {x: [0.5, 1]}), expected, rtol=1e-6)


def test_gradients_beside_their_ops():
    x = tf.placeholder(tf.float32, [2], name="x")
    with tf.device("/cpu:1"):
        y = tf.tanh(x, name="y")
    before = count()
    tf.gradients(y, x, colocate_gradients_with_ops=True)
    ops = tf.get_default_graph().get_operations()[before:]
    assert {op.device for op in ops} == {"/device:CPU:1"}
    assert {tuple(op.colocation_groups()) for op in ops} == {(b"loc:@y",)}
    before = count()
    tf.gradients(y, x)
    assert {op.device for op in tf.get_default_graph().get_operations()[before:]} == {""}


def test_sums_are_made_on_each_device_first():
    x = tf.placeholder(tf.float32, [2], name="x")
    ways = []
    for device, function in (("/cpu:0", tf.tanh), ("/cpu:1", tf.exp), ("/cpu:1", tf.sin)):
        with tf.device(device):
            ways.append(function(x))
    (found,) = tf.gradients(tf.add_n(ways), x, colocate_gradients_with_ops=True)
    assert [len(found.op.inputs), found.op.inputs[1].op.type, found.op.inputs[1].op.device] == [2, "AddN", "/device:CPU:1"]


def test_gated_gradients_wait_for_each_other():
    x, w = tf.placeholder(tf.float32, [2, 2]), tf.placeholder(tf.float32, [2, 2])
    found = tf.gradients(tf.matmul(x, w), [x, w], gate_gradients=True)
    assert [t.op.type for t in found] == ["Identity", "Identity"]
    assert found[0].op.control_inputs == found[1].op.control_inputs != []


def test_new_ops_remember_the_op_they_belong_to():
    x = tf.placeholder(tf.float32, [2])
    y = tf.tanh(x)
    (found,) = tf.gradients(y, x)
    assert found.op._original_op is y.op


# -- inside functions


def test_gradients_inside_a_loop_of_what_is_outside():
    x = tf.constant([1.0, 2.0, 3.0])
    y = tf.square(x)
    total = tf.while_loop(lambda i, t: i < 3, lambda i, t: (i + 1, t + gradients(y[i], x)[0]), [0, tf.zeros([3])])[1]
    assert run(total).tolist() == [2, 4, 6]


@pytest.mark.parametrize("use_resource", [False, True])
def test_gradients_inside_a_branch_with_respect_to_a_variable_outside(use_resource):
    v = tf.Variable(3.0, use_resource=use_resource)
    found = tf.cond(tf.placeholder_with_default(True, []), lambda: gradients(v * v, v)[0], lambda: 0.0)
    assert run(found) == 6


def test_gradients_inside_a_function_of_its_argument():
    from everflow.graph.defun import Defun

    @Defun(tf.float32)
    def slope(x):
        return gradients(x * x * x, x)[0]

    assert run(slope(tf.constant(2.0))) == 12
