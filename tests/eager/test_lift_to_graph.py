"""Parts of one graph, copied into another."""

import pytest

import everflow as tf
from everflow.eager.lift_to_graph import UnliftableError, lift_to_graph
from everflow.graph.func_graph import FuncGraph


def test_what_a_tensor_is_computed_from_comes_along():
    with tf.Graph().as_default():
        with tf.control_dependencies([tf.constant(9.0, name="first")]):
            y = tf.add(tf.constant(1.0, name="a"), tf.constant(2.0, name="b"), name="sum")
        tf.constant(5.0, name="unused")
    target = tf.Graph()
    copies = lift_to_graph([y], target)
    assert [op.name for op in target.get_operations()] == ["first", "a", "b", "sum"]
    assert copies[y.op].control_inputs == []
    assert copies[y.op.inputs[0].op].control_inputs == [copies[y.graph.get_operation_by_name("first")]]
    with tf.Session(graph=target) as session:
        assert session.run(copies[y]) == 3.0


def test_what_is_there_already_is_used_again():
    with tf.Graph().as_default():
        x = tf.constant(2.0, name="x")
        y = tf.square(x, name="y")
    target = tf.Graph()
    copies = lift_to_graph([x], target)
    assert lift_to_graph([y], target, op_map=copies) is copies
    assert [op.name for op in target.get_operations()] == ["x", "y"]


def test_placeholders_are_refused_unless_they_are_sources():
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [2], name="x")
        y = tf.square(x, name="y")
    with pytest.raises(UnliftableError, match=r"depends transitively on placeholder .*y \(Square\) <- x \(Placeholder\)"):
        lift_to_graph([y], tf.Graph())
    for given in ({"sources": [x]}, {"add_sources": True}):
        target = tf.Graph()
        copies = lift_to_graph([y], target, **given)
        assert copies[x].op.type == "Placeholder" and copies[x].shape.as_list() == [2]
        with tf.Session(graph=target) as session:
            assert session.run(copies[y], {copies[x]: [2.0, 3.0]}).tolist() == [4.0, 9.0]


def test_any_tensor_can_be_a_source():
    with tf.Graph().as_default():
        y = tf.constant(2.0, name="y") + 1.0
        z = tf.square(y, name="z")
    target = tf.Graph()
    copies = lift_to_graph([z], target, sources=[y])
    with tf.Session(graph=target) as session:
        assert session.run(copies[z], {copies[y]: 5.0}) == 25.0


def test_captures_are_captured_anew_in_their_order():
    with tf.Graph().as_default():
        outside = [tf.constant(float(i)) for i in range(3)]
        body = FuncGraph("body")
        with body.as_default():
            total = outside[2] - outside[0] * outside[1]
        target = FuncGraph("target")
        lift_to_graph([total], target, add_sources=True, handle_captures=True)
    assert target.external_captures == body.external_captures
    assert target.inputs == target.internal_captures
