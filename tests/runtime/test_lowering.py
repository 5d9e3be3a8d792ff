"""Loops and branches as TensorFlow runs them: names and edges are those of 1.15.5 for the same programs."""

import everflow as tf
from everflow.runtime.executed_graphs import executed_graphs
from everflow.runtime.lowering import Lowered


def nodes(session, fetches, targets=(), feeds=()):
    """{name: (op, inputs)} of what runs."""
    (graph,) = executed_graphs(Lowered(session._context, list(fetches), list(targets), list(feeds))).values()
    return {node.name: (node.op, list(node.input)) for node in graph.node}


def test_a_loop_has_the_nodes_of_its_frame(session):
    x = tf.placeholder(tf.int32, [], name="x")
    found = nodes(session, [tf.while_loop(lambda i: i < x, lambda i: i + 1, [0])], feeds=[x])
    assert found == {
        "_arg_x_0_0": ("_Arg", []),
        "while/Const": ("Const", []),
        "while/Enter": ("Enter", ["while/Const"]),
        "while/Less/Enter": ("Enter", ["_arg_x_0_0"]),
        "while/Merge": ("Merge", ["while/Enter", "while/NextIteration"]),
        "while/Less": ("Less", ["while/Merge", "while/Less/Enter"]),
        "while/LoopCond": ("LoopCond", ["while/Less"]),
        "while/Switch": ("Switch", ["while/Merge", "while/LoopCond"]),
        "while/Identity": ("Identity", ["while/Switch:1"]),
        "while/add/y": ("Const", ["^while/Identity"]),
        "while/add": ("AddV2", ["while/Identity", "while/add/y"]),
        "while/NextIteration": ("NextIteration", ["while/add"]),
        "while/Exit": ("Exit", ["while/Switch"]),
        "_retval_while/Exit_0_0": ("_Retval", ["while/Exit"]),
    }


def test_a_branch_has_a_switch_for_what_it_takes(session):
    x = tf.placeholder(tf.float32, [], name="x")
    p = tf.placeholder(tf.bool, [], name="p")
    found = nodes(session, [tf.cond(p, lambda: x + 1.0, lambda: tf.constant(2.0))], feeds=[x, p])
    assert found["cond/Switch"] == ("Switch", ["_arg_p_0_1", "_arg_p_0_1"])
    assert found["cond/switch_t"] == ("Identity", ["cond/Switch:1"])
    assert found["cond/pred_id"] == ("Identity", ["_arg_p_0_1"])
    assert found["cond/add/Switch"] == ("Switch", ["_arg_x_0_0", "cond/pred_id"])
    assert found["cond/add/y"] == ("Const", ["^cond/switch_t"])
    assert found["cond/add"] == ("AddV2", ["cond/add/Switch:1", "cond/add/y"])
    assert found["cond/Const"] == ("Const", ["^cond/switch_f"])
    assert found["cond/Merge"] == ("Merge", ["cond/Const", "cond/add"])


def test_variables_enter_loops_as_references(session):
    v = tf.Variable(1.0, name="v")

    def body(i):
        with tf.control_dependencies([tf.assign_add(v, 2.0)]):
            return i + 1

    loop = tf.while_loop(lambda i: i < 3, body, [0])
    found = nodes(session, [loop])
    assert found["v"] == ("VariableV2", [])
    assert found["while/AssignAdd/Enter"] == ("Enter", ["v"])
    assert found["while/AssignAdd"][1][:2] == ["while/AssignAdd/Enter", "while/AssignAdd/value"]


def test_only_what_is_needed_is_there_and_waits_as_in_the_graph(session):
    a = tf.constant(1.0, name="a")
    tf.constant(2.0, name="unused")
    with tf.control_dependencies([a]):
        done = tf.no_op(name="done")
    assert nodes(session, [], [done]) == {"a": ("Const", []), "done": ("NoOp", ["^a"])}


def test_devices_have_graphs_of_their_own():
    with tf.device("/cpu:1"):
        a = tf.constant(1.0, name="a")
    with tf.device("/cpu:0"):
        b = tf.negative(a, name="b")
    with tf.Session(config=tf.ConfigProto(device_count={"CPU": 2})) as session:
        graphs = executed_graphs(Lowered(session._context, [b], [], []))
    assert {device[-5:]: [n.name for n in graph.node] for device, graph in graphs.items()} == {
        "CPU:1": ["a"],
        "CPU:0": ["b", "_retval_b_0_0"],
    }
