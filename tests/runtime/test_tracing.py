"""RunOptions and RunMetadata: step traces, executed graphs, costs, time limits."""

import time

import pytest

import everflow as tf
from everflow import errors

FULL = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
CPU = "/job:localhost/replica:0/task:0/device:CPU:0"


def labels(metadata):
    return [n.timeline_label for d in metadata.step_stats.dev_stats for n in d.node_stats]


def test_a_trace_has_the_nodes_that_ran_with_their_times_and_sizes():
    x = tf.placeholder(tf.float32, [2, 2], name="x")
    v = tf.Variable([[1.0, 2.0], [3.0, 4.0]], name="v")
    y = tf.matmul(x, v, name="y")
    metadata = tf.RunMetadata()
    with tf.Session() as session:
        session.run(v.initializer)
        began = time.time()
        session.run(y, {x: [[1, 0], [0, 1]]}, options=FULL, run_metadata=metadata)
    (device,) = metadata.step_stats.dev_stats
    assert device.device == CPU
    assert "_arg_x_0_0 = _Arg()" in labels(metadata)
    (node,) = [n for n in device.node_stats if n.node_name == "y"]
    assert node.timeline_label.startswith("y = MatMul(_arg_x_0_0, v")
    assert began - 1 < node.all_start_micros / 1e6 < time.time() + 1
    assert node.all_end_rel_micros >= node.op_end_rel_micros >= 1
    output = node.output[0].tensor_description
    assert [d.size for d in output.shape.dim] == [2, 2] and output.dtype == tf.float32.as_datatype_enum
    assert output.allocation_description.allocated_bytes == 16 and output.allocation_description.allocator_name == "cpu"


def test_there_is_a_part_for_each_device():
    with tf.device("/cpu:0"):
        a = tf.placeholder(tf.float32, [], name="a")
    with tf.device("/cpu:1"):
        b = tf.tanh(a)
    metadata = tf.RunMetadata()
    with tf.Session(config=tf.ConfigProto(device_count={"CPU": 2})) as session:
        session.run(b, {a: 1.0}, options=FULL, run_metadata=metadata)
    assert {d.device[-5:] for d in metadata.step_stats.dev_stats} == {"CPU:0", "CPU:1"}


def test_metadata_without_a_trace_stays_empty_and_is_emptied():
    c = tf.constant(1.0)
    metadata = tf.RunMetadata()
    with tf.Session() as session:
        assert session.run(c, options=FULL) == 1
        session.run(c, run_metadata=metadata)
        assert not metadata.HasField("step_stats")
        session.run(c, options=FULL, run_metadata=metadata)
        assert len(metadata.step_stats.dev_stats) == 1
        session.run(c, run_metadata=metadata)
        assert not metadata.HasField("step_stats")
        for wrong in (dict(options=3), dict(run_metadata=3)):
            with pytest.raises(TypeError, match="must be a tf.Run"):
                session.run(c, **wrong)


def test_errors_in_traced_runs_name_the_op():
    x = tf.placeholder(tf.float32, name="x")
    with tf.Session() as session, pytest.raises(errors.InvalidArgumentError, match="placeholder tensor 'x'"):
        session.run(tf.tanh(x), options=FULL, run_metadata=tf.RunMetadata())


def test_the_executed_graph_has_what_was_needed():
    x = tf.placeholder(tf.float32, [], name="x")
    y = tf.tanh(x, name="y")
    tf.exp(x, name="unused")
    metadata = tf.RunMetadata()
    with tf.Session() as session:
        session.run(y, {x: 1.0}, options=tf.RunOptions(output_partition_graphs=True), run_metadata=metadata)
    (graph,) = metadata.partition_graphs
    assert {n.name: (n.op, list(n.input), n.device) for n in graph.node} == {
        "_arg_x_0_0": ("_Arg", [], CPU),
        "y": ("Tanh", ["_arg_x_0_0"], CPU),
        "_retval_y_0_0": ("_Retval", ["y"], CPU),
    }


def test_costs_are_told_once_after_as_many_runs_as_asked_for():
    x = tf.placeholder(tf.float32, [3], name="x")
    y = tf.tanh(x, name="y")
    config = tf.ConfigProto(graph_options=tf.GraphOptions(build_cost_model=3))
    with tf.Session(config=config) as session:
        told = []
        for _ in range(5):
            metadata = tf.RunMetadata()
            session.run(y, {x: [1, 2, 3]}, run_metadata=metadata)
            told.append(metadata.HasField("cost_graph"))
            if told[-1]:
                nodes = {n.name: n for n in metadata.cost_graph.node}
    assert told == [False, False, True, False, False]
    assert nodes["y"].device == CPU and nodes["y"].output_info[0].size == 12
    assert nodes["y"].input_info[0].preceding_node == nodes["_arg_x_0_0"].id


def test_a_time_limit():
    x = tf.placeholder(tf.float32, [], name="x")
    y = x
    for _ in range(200):
        y = tf.sin(y)
    with tf.Session() as session:
        assert session.run(y, {x: 0.0}, options=tf.RunOptions(timeout_in_ms=60000)) == 0
        runner = session._runner(y, {x: 0.0})
        with pytest.raises(errors.DeadlineExceededError, match="Timed out waiting for the step to finish"):
            from everflow.runtime import interpreter

            interpreter.run(runner.step, runner.prepared({x: 0.0}), deadline=time.monotonic() - 1)
