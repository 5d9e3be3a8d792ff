"""Timelines: step traces as files for chrome://tracing."""

import json

import everflow as tf
from everflow.proto import step_stats_pb2
from everflow.runtime.timeline import Timeline

CPU = "/job:localhost/replica:0/task:0/device:CPU:0"


def add(device, name, start, length, label, size=16):
    node = device.node_stats.add(
        node_name=name,
        all_start_micros=start,
        op_start_rel_micros=1,
        op_end_rel_micros=length,
        all_end_rel_micros=length + 2,
        timeline_label=label,
    )
    allocation = node.output.add(slot=0).tensor_description.allocation_description
    allocation.allocated_bytes, allocation.allocator_name = size, "cpu"


def example():
    stats = step_stats_pb2.StepStats()
    device = stats.dev_stats.add(device=CPU)
    add(device, "a", 1000, 5, "a = Const()")
    add(device, "b", 1002, 5, "b = Const()")
    add(device, "c", 1010, 7, "c = Add(a, b, ^a)")
    add(device, "RecvTensor", 1018, 3, "[1024B] edge_160_read from /job:ps/task:3/cpu:0 to /job:worker/task:0/cpu:0")
    add(stats.dev_stats.add(device="/device:GPU:0/stream:all"), "c:Add", 1011, 2, "c:Add")
    return stats


def events(text, kind):
    return [e for e in json.loads(text)["traceEvents"] if e["ph"] == kind]


def test_ops_are_blocks_in_lanes_in_which_none_overlap():
    text = Timeline(example()).generate_chrome_trace_format()
    assert [e["args"]["name"] for e in events(text, "M")] == [
        "Allocators",
        f"{CPU} Compute",
        f"{CPU} Tensors",
        "/device:GPU:0/stream:all Compute",
        "/device:GPU:0/stream:all Tensors",
    ]
    blocks = {(e["args"]["name"], e["pid"]): (e["name"], e["tid"], e["ts"], e["dur"]) for e in events(text, "X")}
    assert blocks == {
        ("a", 1): ("Const", 0, 1000, 7),
        ("b", 1): ("Const", 1, 1002, 7),
        ("c", 1): ("Add", 0, 1010, 9),
        ("RecvTensor", 1): ("RecvTensor", 1, 1018, 5),
        ("c", 3): ("Add", 0, 1011, 4),
    }
    (c,) = [e for e in events(text, "X") if e["args"]["name"] == "c" and e["pid"] == 1]
    assert c["args"] == {"name": "c", "op": "Add", "input0": "a", "input1": "b", "input2": "^a"}


def test_arrows_lead_from_ops_in_other_lanes():
    text = Timeline(example()).generate_chrome_trace_format()
    assert [(e["name"], e["tid"], e["ts"]) for e in events(text, "s")] == [("b", 1, 1009)]
    assert [(e["name"], e["tid"], e["ts"]) for e in events(text, "t")] == [("b", 0, 1010)]
    assert not events(Timeline(example()).generate_chrome_trace_format(show_dataflow=False), "s")


def test_memory_is_counted():
    text = Timeline(example()).generate_chrome_trace_format(show_memory=True)
    counts = [(e["ts"], e["args"]["cpu"]) for e in events(text, "C")]
    assert counts[:3] == [(1000, 16), (1002, 32), (1010, 48)] and counts[-1][1] == 0
    assert {e["name"] for e in events(text, "N")} == {e["name"] for e in events(text, "D")} == {"a", "b", "c", "RecvTensor", "c:Add"}
    assert not events(Timeline(example()).generate_chrome_trace_format(), "C")


def test_the_analysis_tells_the_most_memory_held():
    analysis = Timeline(example()).analyze_step_stats()
    most = analysis.allocator_maximums["cpu"]
    assert (most.timestamp, most.num_bytes, most.tensors) == (1011, 64, {"a", "b", "c", "c:Add"})
    assert "traceEvents" in json.loads(analysis.chrome_trace.format_to_string())


def test_a_traced_run():
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [2])
        metadata = tf.RunMetadata()
        session.run(tf.tanh(x, name="y"), {x: [1, 2]}, options=tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE), run_metadata=metadata)
    ops = {e["args"]["name"]: e["name"] for e in events(Timeline(metadata.step_stats).generate_chrome_trace_format(), "X")}
    assert ops["y"] == "Tanh"
