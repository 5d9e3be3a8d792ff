"""Runs whose tensors are watched: files, values and errors as TensorFlow 1.15.5 has them."""

import json
import shutil
import threading

import numpy as np
import pytest
from dump_making import CPU, CPU_FOLDER

import everflow as tf
from everflow import errors
from everflow.debug.dump import DebugDumpDir
from everflow.debug.dump_files import InconvertibleTensorProto, read_event
from everflow.debug.watches import add_debug_tensor_watch, watch_graph


def watched(session, fetches, root, feed_dict=None, node=None, ops="DebugIdentity", **arguments):
    """Runs with all outputs watched, or one; returns what was fetched and the dump."""
    options, metadata = tf.RunOptions(output_partition_graphs=True), tf.RunMetadata()
    url = f"file://{root}"
    if node is None:
        watch_graph(options, session.graph, debug_ops=ops, debug_urls=url, **arguments)
    else:
        name, _, slot = node.partition(":")
        add_debug_tensor_watch(options, name, int(slot or 0), debug_ops=ops, debug_urls=url, **arguments)
    found = session.run(fetches, feed_dict, options=options, run_metadata=metadata)
    return found, DebugDumpDir(str(root), partition_graphs=metadata.partition_graphs)


def test_every_output_of_a_run_is_dumped(session, tmp_path):
    x = tf.placeholder(tf.float32, [2], name="ns/x")
    u = tf.Variable([1.0, 2.0], name="u")
    w = tf.multiply(x, u, name="w")
    session.run(u.initializer)
    found, dump = watched(session, w, tmp_path, {x: [3.0, 4.0]}, global_step=5)
    assert found.tolist() == [3, 8]
    assert {datum.watch_key for datum in dump.dumped_tensor_data} == {
        "_arg_ns/x_0_0:0:DebugIdentity",
        "u:0:DebugIdentity",
        "u/read:0:DebugIdentity",
        "w:0:DebugIdentity",
    }
    assert dump.get_tensors("w", 0, "DebugIdentity")[0].tolist() == [3, 8]
    assert dump.node_inputs("w") == ["_arg_ns/x_0_0", "u/read"]
    metadata = dump.core_metadata
    assert (metadata.global_step, metadata.executor_step_index) == (5, 0)
    assert (metadata.input_names, metadata.output_names, metadata.target_nodes) == (["ns/x:0"], ["w:0"], [])


def test_the_files_are_those_of_tensorflow(session, tmp_path):
    a = tf.constant([1.0, 2.0], name="ns/a")
    watched(session, [a.op], tmp_path)
    (metadata,) = tmp_path.glob("_tfdbg_core_metadata_sessionrun00000000000001_*")
    assert json.loads(read_event(str(metadata)).log_message.message)["target_nodes"] == ["ns/a"]
    (graph,) = (tmp_path / CPU_FOLDER).glob("_tfdbg_graph_hash*_*")
    (tensor,) = (tmp_path / CPU_FOLDER / "ns").iterdir()
    assert tensor.name.startswith("a_0_DebugIdentity_")
    event = read_event(str(tensor))
    assert event.wall_time == int(tensor.name.rpartition("_")[2])
    (value,) = event.summary.value
    assert (value.tag, value.node_name) == ("ns/a", "ns/a:0:DebugIdentity")
    assert value.tensor.tensor_content == np.float32([1, 2]).tobytes()
    assert json.loads(value.metadata.plugin_data.content) == {"device": CPU, "outputSlot": 0, "numChunks": 1, "chunkIndex": 0}


def test_the_graph_shows_copies_and_debug_ops(session, tmp_path):
    v = tf.Variable(1.0, name="v")
    w = tf.negative(v, name="w")
    session.run(v.initializer)
    options, metadata = tf.RunOptions(output_partition_graphs=True), tf.RunMetadata()
    ops = ["DebugNumericSummary(gated_grpc=True)", "DebugIdentity"]
    for name in ("v", "v/read"):
        add_debug_tensor_watch(options, name, 0, debug_ops=ops, debug_urls=f"file://{tmp_path}")
    session.run(w, options=options, run_metadata=metadata)
    (graph,) = metadata.partition_graphs
    nodes = {node.name: node for node in graph.node}
    assert [spec.decode() for spec in nodes["__copy_v_0"].attr["debug_ops_spec"].list.s] == [
        f"DebugNumericSummary;file://{tmp_path};1",
        f"DebugIdentity;file://{tmp_path};0",
    ]
    # Variables are taken as they are, everything else as its copy.
    assert list(nodes["v/read"].input) == ["v", "^__dbg_v:0_0_DebugNumericSummary", "^__dbg_v:0_1_DebugIdentity"]
    assert list(nodes["w"].input)[0] == "__copy_v/read_0"
    assert nodes["__dbg_v:0_0_DebugNumericSummary"].attr["gated_grpc"].b


def test_one_output_may_be_watched_and_none_of_the_others(session, tmp_path):
    x = tf.constant([2, 2, 3], name="x")
    unique, _ = tf.unique(x, name="unique")
    _, dump = watched(session, tf.identity(unique), tmp_path, node="unique:1")
    assert [datum.tensor_name for datum in dump.dumped_tensor_data] == ["unique:1"]
    assert dump.get_tensors("unique", 1, "DebugIdentity")[0].tolist() == [0, 0, 1]


def test_loops_are_dumped_an_iteration_at_a_time(session, tmp_path):
    loop = tf.while_loop(lambda i: i < 16, lambda i: i + 2, [tf.constant(10, name="i")])
    found, dump = watched(session, loop, tmp_path)
    assert found == 16 and dump.size == 39
    assert dump.get_tensors("while/NextIteration", 0, "DebugIdentity") == [12, 14, 16]
    assert dump.get_tensors("while/Exit", 0, "DebugIdentity") == [16]
    dump.set_python_graph(session.graph)
    assert any(call[2] == "<lambda>" for call in dump.node_traceback("while/add"))
    assert any(call[2] == "test_loops_are_dumped_an_iteration_at_a_time" for call in dump.node_traceback("while/NextIteration"))


def test_variables_are_dumped_as_they_are_at_each_moment(session, tmp_path):
    v = tf.Variable([1.0, 2.0], name="v")
    _, dump = watched(session, v.initializer, tmp_path / "first")
    nothing = dump.get_tensors("v", 0, "DebugIdentity")[0]
    assert isinstance(nothing, InconvertibleTensorProto) and not nothing.initialized
    assert "size: 2" in str(nothing)
    assert dump.get_tensors("v/Assign", 0, "DebugIdentity")[0].tolist() == [1, 2]
    add = tf.assign_add(v, [1.0, 1.0], name="add")
    _, dump = watched(session, add, tmp_path / "second")
    assert dump.get_tensors("v", 0, "DebugIdentity")[0].tolist() == [1, 2]
    assert dump.get_tensors("add", 0, "DebugIdentity")[0].tolist() == [2, 3]


def test_what_is_no_number(session, tmp_path):
    text = tf.constant([b"a", b"bc"], name="text")
    queue = tf.FIFOQueue(3, tf.float32, name="queue")
    variable = tf.get_variable("variable", initializer=1.0, use_resource=True)
    session.run(variable.initializer)
    _, dump = watched(session, [text, queue.enqueue(1.0), variable.read_value()], tmp_path)
    assert dump.get_tensors("text", 0, "DebugIdentity")[0].tolist() == [b"a", b"bc"]
    for name in ("queue", "variable"):
        (handle,) = dump.get_tensors(name, 0, "DebugIdentity")
        assert isinstance(handle, InconvertibleTensorProto) and handle.initialized
    assert "variable" in str(handle)


def test_empty_tensors_are_not_uninitialized_ones(session, tmp_path):
    x = tf.placeholder(tf.float32, [2, None], name="x")
    _, dump = watched(session, tf.identity(x, name="y"), tmp_path, {x: np.zeros((2, 0))}, ops=["DebugIdentity", "DebugNumericSummary"])
    assert dump.get_tensors("y", 0, "DebugIdentity")[0].shape == (2, 0)
    summary = dump.get_tensors("y", 0, "DebugNumericSummary")[0]
    np.testing.assert_array_equal(summary, [1, 0, 0, 0, 0, 0, 0, 0, np.inf, -np.inf, np.nan, np.nan, 1, 2, 2, 0])


# Measured with TensorFlow 1.15.5 for [-5, 0, 3, nan, -inf, inf].
@pytest.mark.parametrize(
    ("debug_op", "expected"),
    [
        ("DebugNumericSummary", [1, 6, 1, 1, 1, 1, 1, 1, -5, 3, -2 / 3, 98 / 9, 1, 1, 6]),
        ("DebugNumericSummary(lower_bound=-1;upper_bound=2)", [1, 6, 1, 2, 0, 1, 0, 2, -5, 3, -2 / 3, 98 / 9, 1, 1, 6]),
        ("DebugNumericSummary( lower_bound=-1.0; upper_bound=2.0 )", [1, 6, 1, 2, 0, 1, 0, 2, -5, 3, -2 / 3, 98 / 9, 1, 1, 6]),
        ("DebugNanCount", [1]),
    ],
)
def test_debug_ops_look_at_tensors(session, tmp_path, debug_op, expected):
    x = tf.placeholder(tf.float32, name="x")
    values = [-5.0, 0.0, 3.0, np.nan, -np.inf, np.inf]
    _, dump = watched(session, tf.identity(x, name="y"), tmp_path, {x: values}, node="y", ops=debug_op)
    np.testing.assert_allclose(dump.get_tensors("y", 0, debug_op.partition("(")[0])[0], expected)


def test_summaries_of_healthy_tensors_may_be_muted(session, tmp_path):
    x = tf.placeholder(tf.float32, name="x")
    op = "DebugNumericSummary(mute_if_healthy=true; upper_bound=11.0)"
    for name, value, size in (("well", 10.0, 0), ("ill", 11.0, 1)):
        _, dump = watched(session, tf.identity(x, name=name), tmp_path / name, {x: value}, node=name, ops=op)
        assert dump.size == size


# The words of TensorFlow 1.15.5.
@pytest.mark.parametrize(
    ("debug_op", "message"),
    [
        ("Foo", "Failed to create node definition for debug op Foo on watched tensor y:0"),
        ("DebugNumericSummary(foo=1.0)", r"1 attribute key\(s\) were not valid for debug node __dbg_y:0_0_DebugNumericSummary: foo"),
        ("DebugNumericSummary(lower_bound=abc)", 'Invalid value string for float-type attribute lower_bound.*: "abc"'),
        ("DebugNumericSummary(lower_bound=", r'Malformed debug op name "DebugNumericSummary\(lower_bound="'),
        ("DebugNumericSummary)", r'Malformed debug op name "DebugNumericSummary\)"'),
        ("DebugNumericSummary(foo)", "Malformed attributes in debug op name"),
        ("DebugNumericSummary(a=1;a=2)", 'Duplicate attribute name "a" found in the debug op'),
        ("DebugNumericSummary(gated_grpc=maybe)", "Invalid string for bool value: maybe"),
    ],
)
def test_debug_ops_that_can_not_be(session, tmp_path, debug_op, message):
    y = tf.constant(1.0, name="y")
    with pytest.raises(errors.FailedPreconditionError, match=message):
        watched(session, y, tmp_path, node="y", ops=debug_op)


def test_debug_ops_may_fail_where_that_is_tolerated(session, tmp_path):
    y = tf.constant("text", name="y")
    with pytest.raises(errors.FailedPreconditionError, match="kernel definition for debug op DebugNanCount on watched tensor y:0"):
        watched(session, y, tmp_path, node="y", ops=["DebugNanCount", "DebugIdentity"])
    _, dump = watched(session, y, tmp_path, node="y", ops=["DebugNanCount", "DebugIdentity"], tolerate_debug_op_creation_failures=True)
    assert [datum.watch_key for datum in dump.dumped_tensor_data] == ["y:0:DebugIdentity"]


def test_slots_and_urls_that_can_not_be(session, tmp_path):
    y = tf.constant(1.0, name="y")
    options = tf.RunOptions()
    add_debug_tensor_watch(options, "y", -1, debug_urls=f"file://{tmp_path}")
    with pytest.raises(errors.FailedPreconditionError, match=r'A negative output_slot .* wildcard node name \("\*"\), but got node name y'):
        session.run(y, options=options)
    options = tf.RunOptions()
    add_debug_tensor_watch(options, "y", 0, debug_urls="ftp://somewhere")
    with pytest.raises(errors.InvalidArgumentError, match="debug URL ftp://somewhere"):
        session.run(y, options=options)


def test_what_ran_before_an_error_is_dumped(session, tmp_path):
    x = tf.placeholder(tf.float32, name="x")
    y = tf.matmul(tf.constant([[1.0, 2.0]], name="m"), x, name="y")
    with pytest.raises(errors.OpError):
        watched(session, y, tmp_path, {x: [[1.0]]})
    dump = DebugDumpDir(str(tmp_path))
    assert dump.loaded_partition_graphs()
    assert dump.get_tensors("m", 0, "DebugIdentity")[0].tolist() == [[1, 2]]
    assert dump.debug_watch_keys("y") == []


def test_runs_are_numbered(session, tmp_path):
    a, b = tf.constant(1.0, name="a"), tf.constant(2.0, name="b")
    numbers = []
    for fetch in (a, a, b):
        metadata = watched(session, fetch, tmp_path / "dump")[1].core_metadata
        numbers.append((metadata.session_run_index, metadata.executor_step_index))
        shutil.rmtree(tmp_path / "dump")
    assert numbers == [(1, 0), (2, 1), (3, 0)]


def test_other_runs_of_the_same_fetches_use_the_step_they_had(session, tmp_path):
    x = tf.placeholder(tf.float32, [], name="x")
    y = tf.tanh(x) * 2.0
    assert session.run(y, {x: 0.0}) == 0
    step = session._runner(y, {x: 0.0}).step
    watched(session, y, tmp_path, {x: 1.0})
    assert session._runner(y, {x: 0.0}).step is step
    assert len(list((tmp_path / CPU_FOLDER).iterdir())) > 1
    before = sorted(tmp_path.rglob("*"))
    session.run(y, {x: 1.0})
    assert sorted(tmp_path.rglob("*")) == before


def test_runs_in_several_threads(session, tmp_path):
    v = tf.Variable(0.0, name="v")
    adds = [tf.assign_add(v, 1.0, use_locking=True, name=f"add{i}") for i in range(3)]
    session.run(v.initializer)

    def work(i):
        for _ in range(5):
            watched(session, adds[i], tmp_path / str(i))

    threads = [threading.Thread(target=work, args=(i,)) for i in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert session.run(v) == 15
    metadata = [m for i in range(3) for m in DebugDumpDir(str(tmp_path / str(i))).core_metadata]
    assert sorted(m.session_run_index for m in metadata) == list(range(1, 16))


def test_a_limit_to_what_is_dumped(session, tmp_path, monkeypatch):
    monkeypatch.setenv("TFDBG_DISK_BYTES_LIMIT", "10")
    y = tf.constant(1.0, name="y")
    watched(session, y, tmp_path, reset_disk_byte_usage=True)
    watched(session, y, tmp_path)
    with pytest.raises(ValueError, match="TFDBG_DISK_BYTES_LIMIT"):
        watched(session, y, tmp_path)
    watched(session, y, tmp_path, reset_disk_byte_usage=True)


def test_traces_and_watches_in_one_run(session, tmp_path):
    options, metadata = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE), tf.RunMetadata()
    y = tf.negative(tf.constant(1.0, name="x"), name="y")
    watch_graph(options, session.graph, debug_urls=f"file://{tmp_path}")
    assert session.run(y, options=options, run_metadata=metadata) == -1
    assert [stats.node_name for device in metadata.step_stats.dev_stats for stats in device.node_stats] == ["x", "y"]


def test_callables_can_be_watched(session, tmp_path):
    y = tf.constant(4.0, name="y")
    options = tf.RunOptions()
    watch_graph(options, session.graph, debug_urls=f"file://{tmp_path}")
    assert session.make_callable(y, accept_options=True)(options=options) == 4
    assert DebugDumpDir(str(tmp_path)).get_tensors("y", 0, "DebugIdentity") == [4]
