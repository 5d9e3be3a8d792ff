"""Names of what the debugger adds to graphs, and graphs without it."""

import pytest
from dump_making import CPU, graph_def

from everflow.debug.graph_walk import DFSGraphTracer, GraphTracingReachedDestination
from everflow.debug.node_names import (
    get_node_name,
    get_output_slot,
    is_copy_node,
    is_debug_node,
    parse_debug_node_name,
    parse_node_or_tensor_name,
)
from everflow.debug.partition_graphs import DebugGraph, device_of_graph, reconstruct_non_debug_graph_def


@pytest.mark.parametrize(
    ("name", "node", "slot"), [("a/b", "a/b", None), ("a/b:3", "a/b", 3), ("a:1:2", "a:1", 2), ("a:", "a:", None), ("^a", "^a", None)]
)
def test_names_of_nodes_and_tensors(name, node, slot):
    assert parse_node_or_tensor_name(name) == (node, slot)
    assert (get_node_name(name), get_output_slot(name)) == (node, slot or 0)


def test_names_of_debug_nodes():
    assert parse_debug_node_name("__dbg_ns_a/node_c:1_12_DebugNanCount") == ("ns_a/node_c", 1, 12, "DebugNanCount")
    assert is_debug_node("__dbg_a:0_0_DebugIdentity") and not is_debug_node("_dbg_a:0_0_DebugIdentity")
    assert is_copy_node("__copy_a_0") and not is_copy_node("copy_a_0")
    with pytest.raises(ValueError, match="Invalid prefix in debug node name: '__copy_a:0_0_D'"):
        parse_debug_node_name("__copy_a:0_0_D")
    with pytest.raises(ValueError, match="Invalid debug node name: '__dbg_a:0_D'"):
        parse_debug_node_name("__dbg_a:0_D")
    with pytest.raises(ValueError, match="Invalid tensor name in debug node name: '__dbg_a_0_D'"):
        parse_debug_node_name("__dbg_a_0_D")


def test_inputs_are_listed_depth_first_with_their_distance():
    data = {"a": ["b", "c:1"], "b": ["d", "a"], "c": ["d"], "d": []}
    tracer = DFSGraphTracer([data, {"d": ["e"]}])
    tracer.trace("a:0")
    assert list(zip(tracer.inputs(), tracer.depth_list())) == [("b", 1), ("d", 2), ("e", 3), ("c:1", 1)]


def test_a_walk_goes_not_past_what_it_skips_and_ends_at_its_destination():
    data = {"a": ["b"], "b": ["c"], "c": ["d"]}
    tracer = DFSGraphTracer([data], skip_node_names=["c"])
    tracer.trace("a")
    assert tracer.inputs() == ["b", "c"]
    tracer = DFSGraphTracer([data], destination_node_name="b")
    with pytest.raises(GraphTracingReachedDestination):
        tracer.trace("a")
    assert tracer.inputs() == ["b"]


def test_copies_and_debug_ops_are_taken_out_of_a_graph():
    text = """
    s = Split
    n = Neg(__copy_s_1, ^__dbg_s:1_0_DebugIdentity, ^s)
    __copy_s_1 = Copy(s:1)
    __dbg_s:1_0_DebugIdentity = DebugIdentity(__copy_s_1)
    """
    graph = graph_def(text)
    graph.versions.producer = 134
    plain = reconstruct_non_debug_graph_def(graph)
    assert [(n.name, list(n.input), n.device) for n in plain.node] == [("s", [], CPU), ("n", ["s:1", "^s"], CPU)]
    assert plain.versions.producer == 134
    assert DebugGraph(graph).watches == {"s": {1: ["DebugIdentity"]}}
    assert reconstruct_non_debug_graph_def(plain) == plain


def test_the_device_is_that_of_the_first_node_which_has_one(caplog):
    graph = graph_def("a = Const\nb = Const")
    graph.node[0].device = ""
    assert device_of_graph(graph) == CPU
    assert DebugGraph(graph).node_devices == {"a": {CPU}, "b": {CPU}}
    graph.node[1].device = ""
    assert device_of_graph(graph) is None
