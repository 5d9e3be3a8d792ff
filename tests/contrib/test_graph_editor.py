"""Views of parts of graphs, rewiring, and copies."""

import pytest

import everflow as tf
from running import run

ge = tf.contrib.graph_editor


@pytest.fixture
def sums(graph):
    """a and b added, c and d added, and both added."""
    with tf.name_scope("foo"):
        a, b = tf.constant(1.0, name="a"), tf.constant(2.0, name="b")
        left = tf.add(a, b, name="left")
    with tf.name_scope("bar"):
        c, d = tf.constant(4.0, name="c"), tf.constant(8.0, name="d")
        right = tf.add(c, d, name="right")
    return {"a": a, "b": b, "c": c, "d": d, "left": left, "right": right, "top": tf.add(left, right, name="top")}


def names(things):
    return [t.name for t in things]


def test_ops_are_selected_by_name_scope_and_filter(graph, sums):
    assert names(ge.select_ops("^foo/", graph=graph)) == ["foo/a", "foo/b", "foo/left"]
    assert names(ge.get_name_scope_ops(graph, "bar/")) == ["bar/c", "bar/d", "bar/right"]
    assert names(ge.select_ops("", graph=graph, positive_filter=lambda op: op.type == "AddV2" or op.type == "Add")) == [
        "foo/left",
        "bar/right",
        "top",
    ]
    assert names(ge.select_ts("(?#ts)left", graph=graph)) == ["foo/left:0"]
    with pytest.raises(ValueError, match="keyword argument 'graph'"):
        ge.select_ops("foo")
    with pytest.raises(ValueError, match="Wrong keywords argument: colour"):
        ge.select_ops("foo", graph=graph, colour=1)


def test_walks_follow_edges_both_ways(sums):
    assert names(ge.get_forward_walk_ops(sums["a"].op)) == ["foo/a", "foo/left", "top"]
    assert names(ge.get_forward_walk_ops(sums["a"].op, inclusive=False, within_ops=[sums["a"].op, sums["left"].op])) == ["foo/left"]
    assert set(names(ge.get_walks_intersection_ops([sums["a"].op], [sums["top"].op]))) == {"foo/a", "foo/left", "top"}
    assert len(ge.get_walks_union_ops([sums["left"].op], [sums["left"].op])) == 4
    around = ge.get_within_boundary_ops(tf.get_default_graph(), [sums["a"].op], [sums["top"].op], inclusive=False)
    assert names(around) == ["foo/a", "foo/b", "foo/left"]


def test_control_edges_are_followed_where_asked_for(graph):
    first = tf.no_op("first")
    with tf.control_dependencies([first]):
        second = tf.no_op("second")
    waiting = ge.ControlOutputs(graph)
    assert list(waiting.get(first)) == [second]
    assert ge.get_forward_walk_ops(first) == [first]
    assert ge.get_forward_walk_ops(first, control_outputs=waiting) == [first, second]
    ge.remove_control_inputs(second, first)
    assert second.control_inputs == []
    with pytest.raises(ValueError, match="is not a control_input"):
        ge.remove_control_inputs(second, first)


def test_view_knows_what_goes_in_and_comes_out(sums):
    view = ge.sgv([sums["left"].op, sums["top"].op])
    assert names(view.inputs) == ["foo/a:0", "foo/b:0", "bar/right:0"]
    assert names(view.outputs) == ["top:0"]
    assert names(view.remap_inputs([2, 0]).inputs) == ["bar/right:0", "foo/a:0"]
    with pytest.raises(ValueError, match="repetition"):
        view.remap_inputs([0, 0])
    with pytest.raises(ValueError, match="Out of"):
        view.remap_outputs([3])
    assert view.find_op_by_name("top") is sums["top"].op
    assert "** ops[2]:\n  foo/left\n  top" in str(view)
    assert not ge.SubGraphView()


def test_tensors_swap_their_consumers(sums):
    assert ge.swap_ts([sums["a"]], [sums["c"]]) == 2
    assert run([sums["left"], sums["right"]]) == [6.0, 9.0]
    assert ge.reroute_ts(sums["b"], sums["d"]) == 1
    assert run(sums["right"]) == 3.0
    with pytest.raises(ValueError, match="different sizes"):
        ge.reroute_ts([sums["a"]], [])


def test_subgraphs_swap_places(sums):
    left, right = ge.sgv(sums["left"].op), ge.sgv(sums["right"].op)
    ge.swap_inputs(left, right)
    assert run([sums["left"], sums["right"]]) == [12.0, 3.0]
    assert names(left.inputs) == ["bar/c:0", "bar/d:0"]


def test_detached_subgraph_takes_placeholders(sums, session):
    view, placeholders = ge.detach_inputs(ge.sgv(sums["left"].op))
    assert names(placeholders) == ["foo/geph__a_0:0", "foo/geph__b_0:0"]
    assert session.run(sums["left"], dict(zip(placeholders, [10.0, 20.0]))) == 30.0
    ge.connect(ge.sgv(sums["c"].op, sums["d"].op), view)
    assert session.run(sums["left"]) == 12.0


def test_bypassed_op_is_gone_from_the_way(graph, session):
    x = tf.constant(3.0)
    y = tf.square(x)
    z = y + 1.0
    ge.bypass(ge.sgv(y.op))
    assert session.run(z) == 4.0


def test_copy_goes_to_another_graph_and_scope(sums):
    with tf.Graph().as_default() as other:
        copy, info = ge.copy(ge.sgv_scope("foo", sums["a"].graph), other, dst_scope="new")
        assert sorted(names(copy.ops)) == ["new/foo/a", "new/foo/b", "new/foo/left"]
        assert run(info.transformed(sums["left"])) == 3.0
        assert info.original(info.transformed(sums["left"])) is sums["left"]


def test_graph_is_replaced_from_some_tensors_on(sums):
    twice = ge.graph_replace({"it": sums["top"]}, {sums["a"]: tf.constant(100.0)})["it"]
    assert run([twice, sums["top"]]) == [114.0, 15.0]
    with pytest.raises(ValueError, match="not connected"):
        ge.graph_replace(sums["left"], {sums["c"]: sums["d"]})


def test_conditionals_and_loops_are_copied_with_their_bodies(graph):
    x = tf.constant(5, name="x")
    chosen = tf.cond(x > 3, lambda: x * 2, lambda: x)
    counted = tf.while_loop(lambda i: i < 10, lambda i: i + 3, [x])
    with tf.Graph().as_default() as other:
        _, info = ge.copy(graph, other)
        assert run([info.transformed(chosen), info.transformed(counted)]) == [10, 11]
    again = ge.graph_replace([chosen, counted], {x: tf.constant(1)})
    assert run(again) == [1, 10]
