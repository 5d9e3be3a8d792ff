"""Branches and loops of version 2: in functions effects always happen, nodes carry the scope's name."""

import numpy as np
import pytest

import everflow as tf
from everflow.ops.control_flow.version2 import cond_v2, while_loop
from running import run


@pytest.fixture
def enabled():
    tf.enable_control_flow_v2()
    yield
    tf.disable_control_flow_v2()


def test_the_node_has_the_name_of_the_scope():
    y = cond_v2(tf.constant(True), lambda: 1.0, lambda: 2.0, name="choice")
    node = y.op.inputs[0].op
    assert (node.name, node.type) == ("choice", "StatelessIf")
    assert node.get_attr("then_branch").name.startswith("choice_true_")
    z = while_loop(lambda i: i < 3, lambda i: i + 1, [0], name="loop")[0]
    node = z.op.inputs[0].op
    assert (node.name, node.type, len(node.outputs)) == ("loop", "StatelessWhile", 3)
    assert run([y, z]) == [1.0, 3]


def test_the_switch_chooses_version_2(enabled):
    assert tf.control_flow_v2_enabled()
    assert tf.cond(tf.constant(True), lambda: 1, lambda: 2).op.inputs[0].op.name == "cond"
    assert tf.while_loop(lambda i: i < 3, lambda i: i + 1, [0]).op.inputs[0].op.name == "while"


def counting(v):
    def branch():
        v.assign_add(1.0)
        return 7.0

    return cond_v2(tf.constant(True), branch, lambda: 0.0)


def test_effects_happen_without_being_asked_for_in_functions():
    v = tf.get_variable("v", initializer=0.0, use_resource=True)
    y = tf.function(lambda: counting(v))()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert session.run(y) == 7.0
        assert session.run(v) == 1.0


def test_effects_that_nothing_needs_do_not_happen_elsewhere():
    v = tf.get_variable("v", initializer=0.0, use_resource=True)
    y = counting(v)
    z = while_loop(lambda i: i < 3, lambda i: (v.assign_add(1.0), i + 1)[1], [0])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run([y, z])
        assert session.run(v) == 0.0


def test_branches_must_return_alike():
    with pytest.raises(TypeError, match="true_fn and false_fn arguments to tf.cond must have the same number, type"):
        cond_v2(tf.constant(True), lambda: {"a": 1}, lambda: {"b": 1})
    with pytest.raises(TypeError, match="true_fn and false_fn arguments to tf.cond must have the same number, type"):
        cond_v2(tf.constant(True), lambda: 1, lambda: 1.0)


def test_a_predicate_of_one_element_will_do():
    p = tf.placeholder(tf.bool)
    y = cond_v2(p, lambda: 1, lambda: 2)
    assert [run(y, {p: value}) for value in (True, [[True]], [False])] == [1, 1, 2]


def test_loops_differentiate_and_stop_at_their_limit():
    x = tf.constant(1.5)
    _, y = while_loop(lambda i, z: True, lambda i, z: (i + 1, z * x), [0, x], maximum_iterations=3)
    np.testing.assert_allclose(run([y, tf.gradients(y, x)[0]]), [1.5**4, 4 * 1.5**3])


def test_branches_of_a_traced_function_may_return_sparse_tensors(session):
    sparse = tf.SparseTensor([[0, 0], [1, 1]], [1.0, 2.0], [2, 2])

    def part(n):
        return tf.cond(n > 2, lambda: tf.sparse.slice(sparse, [0, 0], [1, 2]), lambda: tf.sparse.reset_shape(sparse, [3, 3]))

    found = tf.data.Dataset.from_tensor_slices([1, 3]).map(part).make_one_shot_iterator().get_next()
    assert session.run(found).dense_shape.tolist() == [3, 3]
    assert session.run(found).values.tolist() == [1]
