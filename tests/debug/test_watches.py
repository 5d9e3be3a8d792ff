"""Which outputs `watch_graph` and its like ask for, in RunOptions."""

import pytest

import everflow as tf
from everflow.debug.watches import add_debug_tensor_watch, watch_graph, watch_graph_with_blacklists


@pytest.fixture
def program():
    v = tf.Variable(1.0, name="v")
    tf.unique([1, 2], name="unique")
    tf.matmul([[1.0]], [[2.0]], name="product")
    return v.graph


def asked(options):
    return [(watch.node_name, watch.output_slot) for watch in options.debug_options.debug_tensor_watch_opts]


def test_a_watch_says_what_where_and_when():
    options = tf.RunOptions()
    add_debug_tensor_watch(options, "a", 1, debug_ops=["DebugNanCount", "DebugIdentity"], debug_urls="file:///x", global_step=4)
    (watch,) = options.debug_options.debug_tensor_watch_opts
    assert (watch.node_name, watch.output_slot, list(watch.debug_ops)) == ("a", 1, ["DebugNanCount", "DebugIdentity"])
    assert list(watch.debug_urls) == ["file:///x"] and not watch.tolerate_debug_op_creation_failures
    assert options.debug_options.global_step == 4


def test_all_outputs_and_those_that_the_runtime_adds(program):
    options = tf.RunOptions()
    watch_graph(options, program, debug_urls=["file:///x", "file:///y"])
    names = asked(options)
    assert names[-1] == ("*", -1)
    assert [("unique", 0), ("unique", 1)] == [name for name in names if name[0] == "unique"]
    assert list(options.debug_options.debug_tensor_watch_opts[0].debug_urls) == ["file:///x", "file:///y"]


@pytest.mark.parametrize(
    ("expressions", "expected"),
    [
        ({"node_name_regex_whitelist": "v$|product"}, {"v", "product/a", "product/b", "product"}),
        ({"op_type_regex_whitelist": "(Variable|MatMul)"}, {"v", "product"}),
        ({"tensor_dtype_regex_whitelist": ".*_ref"}, {"v", "v/Assign"}),
        ({"node_name_regex_whitelist": "^v", "tensor_dtype_regex_whitelist": "float32$"}, {"v/initial_value", "v/read"}),
        ({"op_type_regex_whitelist": "Nothing"}, set()),
    ],
)
def test_expressions_choose(program, expressions, expected):
    options = tf.RunOptions()
    watch_graph(options, program, debug_urls="file:///x", **expressions)
    assert {name for name, _ in asked(options)} == expected


@pytest.mark.parametrize(
    ("expressions", "expected"),
    [
        ({"node_name_regex_blacklist": "v|unique"}, {"product/a", "product/b", "product"}),
        ({"op_type_regex_blacklist": "(Const|Variable|Assign|Identity)"}, {"unique", "product"}),
        ({"node_name_regex_blacklist": "product|unique", "tensor_dtype_regex_blacklist": ".*_ref"}, {"v/initial_value", "v/read"}),
    ],
)
def test_expressions_leave_out(program, expressions, expected):
    options = tf.RunOptions()
    watch_graph_with_blacklists(options, program, debug_urls="file:///x", reset_disk_byte_usage=True, **expressions)
    assert {name for name, _ in asked(options)} == expected
    assert options.debug_options.reset_disk_byte_usage
