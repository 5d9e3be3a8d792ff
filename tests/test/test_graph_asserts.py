"""Comparing graphs."""

import pytest

import everflow as tf
from everflow.proto import graph_pb2
from everflow.test import graph_asserts


def graph_of(build):
    with tf.Graph().as_default() as graph:
        build()
    return graph


def test_the_order_of_nodes_does_not_matter():
    one = graph_of(lambda: (tf.constant(5, name="five"), tf.constant(7, name="seven")))
    two = graph_of(lambda: (tf.constant(7, name="seven"), tf.constant(5, name="five")))
    tf.test.assert_equal_graph_def(one.as_graph_def(), two.as_graph_def())


def test_differences_are_told():
    five = graph_of(lambda: tf.constant(5, name="five")).as_graph_def()
    empty = graph_of(lambda: None).as_graph_def()
    six = graph_of(lambda: tf.constant(6, name="five")).as_graph_def()
    identity = graph_of(lambda: tf.identity(tf.constant(5, name="five"), name="same")).as_graph_def()
    placed = graph_pb2.GraphDef.FromString(five.SerializeToString())
    placed.node[0].device = "/device:CPU:0"
    text = "{{node five}} = Const[dtype=DT_INT32, value=Tensor<type: int32 shape: [] values: 5>]()"
    for actual, expected, difference in (
        (five, empty, f"Found unexpected node '{text}'"),
        (empty, five, f"Did not find expected node '{text}'"),
        (
            five,
            six,
            "Node named 'five' has attr 'value' with value: Tensor<type: int32 shape: [] values: 5> that does "
            "not match expected: Tensor<type: int32 shape: [] values: 6>",
        ),
        (placed, five, "Node named 'five' has device '/device:CPU:0' that is not expected ''"),
    ):
        with pytest.raises(AssertionError) as raised:
            tf.test.assert_equal_graph_def(actual, expected)
        assert str(raised.value) == difference
    with pytest.raises(AssertionError, match="unexpected node '{{node same}} = Identity"):
        tf.test.assert_equal_graph_def(identity, five)
    with pytest.raises(TypeError, match="Expected tf.GraphDef for actual, got Graph"):
        tf.test.assert_equal_graph_def(tf.Graph(), five)


def test_internal_attributes_do_not_count():
    one = graph_of(lambda: tf.constant(5, name="five")).as_graph_def()
    two = graph_pb2.GraphDef.FromString(one.SerializeToString())
    two.node[0].attr["_hint"].i = 1
    tf.test.assert_equal_graph_def(one, two)


def test_ops_are_found_by_name_and_type():
    graph = graph_of(lambda: tf.constant(5, name="five"))
    assert graph_asserts.assert_ops_in_graph({"five": "Const"}, graph)["five"].op == "Const"
    with pytest.raises(ValueError, match="Expected op for node five is different. Add vs Const"):
        graph_asserts.assert_ops_in_graph({"five": "Add"}, graph)
    with pytest.raises(ValueError, match="Not all expected ops are present"):
        graph_asserts.assert_ops_in_graph({"six": "Const"}, graph)
    assert graph_asserts.get_node_def_from_graph("six", graph.as_graph_def()) is None
