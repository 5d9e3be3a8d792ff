"""Selecting ops and tensors of graphs."""

import pytest

import everflow as tf
from everflow.graph import selection


@pytest.fixture
def chain():
    with tf.Graph().as_default():
        a, b = tf.constant(1, name="a"), tf.constant(2, name="b")
        c = tf.add(a, b, name="c")
        with tf.control_dependencies([b]):
            d = tf.negative(c, name="d")
        yield a, b, c, d


def names(ops):
    return {o.name for o in ops}


def test_lists_of_ops_and_tensors(chain):
    a, b, _, _ = chain
    assert names(selection.make_list_of_op(a.graph)) == {"a", "b", "c", "d"}
    assert selection.make_list_of_t((a, b.op), ignore_ops=True) == [a]
    with pytest.raises(TypeError, match="Expected a type in"):
        selection.make_list_of_op((a,))


def test_makers_and_takers(chain):
    a, b, c, d = chain
    assert names(selection.get_generating_ops([a, c])) == {"a", "c"}
    assert names(selection.get_consuming_ops([a, b])) == {"c"}
    assert selection.get_consuming_ops(d) == []


def test_walks_backward_end_at_limits(chain):
    _, b, c, d = chain
    assert names(selection.get_backward_walk_ops(d)) == {"a", "b", "c", "d"}
    assert names(selection.get_backward_walk_ops(d, stop_at_ts=[c])) == {"d"}
    assert names(selection.get_backward_walk_ops(d, stop_at_ts=[c], control_inputs=True)) == {"b", "d"}
    assert names(selection.get_backward_walk_ops(d.op, inclusive=False, within_ops_fn=lambda o: o is not b.op)) == {"a", "c"}


def test_ops_of_two_graphs_do_not_mix(chain):
    a, *_ = chain
    with tf.Graph().as_default():
        other = tf.constant(1)
    with pytest.raises(ValueError, match="does not belong to given graph"):
        selection.get_unique_graph([a, other])
    with pytest.raises(ValueError, match=r"args\[1\] does not belong"):
        selection.check_graphs(a, other)
