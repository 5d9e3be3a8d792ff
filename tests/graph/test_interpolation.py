"""Where ops were made, in the text of errors."""

import everflow as tf
from everflow.graph.interpolation import interpolate


def line():
    import sys

    return sys._getframe(1).f_lineno


def test_nodes_are_named_with_their_lines(graph):
    one = line() + 1
    tf.constant(1, name="one")
    assert interpolate("at {{node one}}!", graph) == f"at node one (defined at {__file__}:{one}) !"
    assert interpolate("{{node two}} {{thing one}} text", graph) == "{{node two}} {{thing one}} text"


def test_where_the_inputs_come_from(graph):
    first = line() + 1
    a = tf.constant(1, name="a")
    tf.identity(tf.negative(a, name="b"), name="c")
    found = interpolate("{{node b}}", graph)
    assert found.endswith(f"Input Source operations connected to node b:\n a (defined at {__file__}:{first})")
    assert "Input Source" not in interpolate("{{node c}}", graph), "it was made on the same line"


def test_devices_and_colocations(graph):
    with tf.device("/cpu"):
        a = tf.constant(1, name="a")
    with tf.colocate_with(a):
        tf.constant(1, name="b")
    of_a, of_b = interpolate("{{colocation_node a}}", graph), interpolate("{{colocation_node b}}", graph)
    assert f"with tf.device(/cpu): <{__file__}:" in of_a and "No node-device colocations were active during op 'a' creation" in of_a
    assert f"with tf.colocate_with(a): <{__file__}:" in of_b
