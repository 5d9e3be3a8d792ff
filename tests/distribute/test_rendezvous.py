import threading

import pytest

import everflow as tf
from everflow.distribute.dataflow import Dataflow
from everflow.distribute.rendezvous import Meetings, Parcel, Rendezvous, key_of
from everflow.distribute.wire import DaemonThreads
from everflow.graph.graph import Graph
from everflow.graph.importer import extend_graph
from everflow.runtime.context import Context
from everflow.values.tensors import from_numpy

HERE, THERE = "/job:ps/replica:0/task:0/device:CPU:0", "/job:worker/replica:0/task:0/device:CPU:0"


def test_who_comes_first_waits_for_the_other():
    meeting, found = Rendezvous(), []
    meeting.leave("early", Parcel(1, None))
    meeting.take("early", found.append)
    meeting.take("late", found.append)
    assert found == [Parcel(1, None)]
    meeting.leave("late", Parcel(2, None))
    assert found == [Parcel(1, None), Parcel(2, None)]


def test_steps_that_end_send_those_who_wait_away():
    meetings, found = Meetings(), []
    meetings.of(7).take("never", found.append)
    meetings.end(7)
    assert isinstance(found[0], tf.errors.AbortedError)
    # The number is free again.
    meetings.of(7).leave("again", Parcel(1, None))
    meetings.of(7).take("again", found.append)
    assert found[1] == Parcel(1, None)


def end(graph_def, kind, name, source, sender, receiver, *inputs, is_client=False):
    node = graph_def.node.add(name=name, op=kind, input=inputs)
    node.attr["tensor_type" if kind == "_Recv" else "T"].type = 1
    node.attr["tensor_name"].s = source.encode()
    node.attr["send_device"].s, node.attr["recv_device"].s = sender.encode(), receiver.encode()
    node.attr["send_device_incarnation"].i = 5
    node.attr["client_terminated"].b = is_client


def run(build, given, wanted):
    """Runs a part whose ends are keys of tensors; `given` come from elsewhere."""
    graph_def = tf.GraphDef()
    with tf.Graph().as_default() as program:
        more = build()
        graph_def.CopyFrom(program.as_graph_def())
        if more is not None:
            graph_def.node.extend(more.node)
    for name in given:
        placeholder = next(n for n in graph_def.node if n.name == name)
        graph_def.node.remove(placeholder)
        end(graph_def, "_Recv", name, name, THERE, HERE)
    for name in wanted:
        end(graph_def, "_Send", f"_send_{name}", name, HERE, THERE, name)
    graph = Graph()
    graph.from_elsewhere = True
    extend_graph(graph, graph_def)
    meeting, found = Rendezvous(), {}
    asked = []

    def fetch(device, key, dtype, done):
        asked.append(device)
        name = key.split(";")[3]
        value = given[name]
        done(Parcel(None, dtype, True) if value is None else Parcel(from_numpy(tf.make_ndarray(tf.make_tensor_proto(value)), dtype), dtype))
        return threading.Timer(0, None)

    flow = Dataflow(Context(graph), graph.get_operations())
    flow.run(meeting, fetch, lambda call: DaemonThreads().submit(call), lambda device: device == HERE)
    for name in wanted:
        attrs = {"send_device_incarnation": 5, "send_device": HERE, "recv_device": THERE, "tensor_name": name}
        meeting.take(key_of(attrs.__getitem__), lambda parcel, name=name: found.update({name: parcel}))
    assert asked == [THERE] * len(given)
    return {name: None if parcel.is_dead else parcel.value.item() for name, parcel in found.items()}


def test_parts_take_and_leave_tensors():
    def build():
        x = tf.placeholder(tf.float32, [], name="x")
        tf.add(x, 1.0, name="y")

    assert run(build, {"x": 2.0}, ["y"]) == {"y": 3.0}


@pytest.mark.parametrize(
    "pred, expected", [(2.0, {"then": 20.0, "else": None, "either": 20.0}), (-2.0, {"then": None, "else": 0.0, "either": 0.0})]
)
def test_what_is_not_taken_is_dead(pred, expected):
    def build():
        x = tf.placeholder(tf.float32, [], name="x")
        no, yes = tf.raw_ops.Switch(data=x, pred=x > 0.0)
        then = tf.multiply(yes, 10.0, name="then")
        other = tf.add(no, 2.0, name="else")
        tf.raw_ops.Merge(inputs=[other, then], name="either")

    assert run(build, {"x": pred}, ["then", "else", "either"]) == expected


def test_dead_tensors_that_come_kill_what_needs_them():
    def build():
        x = tf.placeholder(tf.float32, [], name="x")
        y = tf.placeholder(tf.float32, [], name="y")
        tf.add(x, y, name="sum")
        tf.raw_ops.Merge(inputs=[x + 1.0, y + 1.0], name="either")

    assert run(build, {"x": None, "y": 2.0}, ["sum", "either"]) == {"sum": None, "either": 3.0}


@pytest.mark.parametrize("start, expected", [(1.0, 16.0), (100.0, 100.0), (None, None)])
def test_loops_run_round_by_round_and_dead_ones_not_at_all(start, expected):
    def build():
        tf.placeholder(tf.float32, [], name="x")
        tf.constant(10.0, name="limit")
        loop = tf.GraphDef()
        for name, op, inputs in (
            ("enter", "Enter", ["x"]),
            ("bound", "Enter", ["limit"]),
            ("merge", "Merge", ["enter", "next"]),
            ("less", "Less", ["merge", "bound"]),
            ("condition", "LoopCond", ["less"]),
            ("switch", "Switch", ["merge", "condition"]),
            ("leave", "Exit", ["switch"]),
            ("twice", "Add", ["switch:1", "switch:1"]),
            ("next", "NextIteration", ["twice"]),
            ("found", "Identity", ["leave"]),
        ):
            node = loop.node.add(name=name, op=op, input=inputs)
            if op != "LoopCond":
                node.attr["T"].type = 1
            if op == "Enter":
                node.attr["frame_name"].s = b"loop"
                node.attr["is_constant"].b = name == "bound"
            if op == "Merge":
                node.attr["N"].i = 2
        return loop

    assert run(build, {"x": start}, ["found"]) == {"found": expected}
