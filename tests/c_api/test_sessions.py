"""Sessions in C: whole runs and runs in parts, by operations and by names; devices and servers."""

from ctypes import byref, c_char_p, c_size_t, c_void_p

import numpy as np
import pytest

import everflow as tf
from everflow.c_api.boundary import Output


@pytest.fixture
def options(c):
    made = c_void_p(c.TF_NewSessionOptions())
    yield made
    c.TF_DeleteSessionOptions(made)


@pytest.fixture
def named(c, options, status, ok):
    """A session with y = (x + 1) * 2, which knows operations by their names; more, and a way to run it."""
    session = c_void_p(c.TF_NewDeprecatedSession(options, status))
    ok()
    with tf.Graph().as_default() as source:
        x = tf.placeholder(tf.float32, [None], name="x")
        tf.multiply(tf.add(x, 1.0, name="more"), tf.placeholder_with_default(2.0, [], name="factor"), name="y")
        tf.no_op(name="nothing")
    written = source.as_graph_def().SerializeToString()

    def run(fetches, feeds=(), targets=()):
        outputs, values = (c_char_p * max(1, len(fetches)))(*fetches), (c_void_p * max(1, len(fetches)))()
        names, given = (
            (c_char_p * max(1, len(feeds)))(*[n for n, _ in feeds]),
            (c_void_p * max(1, len(feeds)))(*[v.value for _, v in feeds]),
        )
        ops = (c_char_p * max(1, len(targets)))(*targets)
        c.TF_Run(session, None, names, given, len(feeds), outputs, values, len(fetches), ops, len(targets), None, status)
        return (c.TF_GetCode(status), c.TF_Message(status)) if c.TF_GetCode(status) else list(values)[: len(fetches)]

    yield session, written, run
    c.TF_DeleteDeprecatedSession(session, status)


def test_sessions_that_know_names(c, named, status, ok, tensor, read):
    session, written, run = named
    assert run([b"y:0"]) == (3, b"Session was not created with a graph before Run()!")
    c.TF_ExtendGraph(session, written, c_size_t(len(written)), status)
    ok()
    x = (b"x:0", tensor(np.float32([1, 2])))
    found = run([b"y:0", b"more"], [x], [b"nothing"])
    assert [read(value, np.float32).tolist() for value in found] == [[4, 6], [2, 3]]
    c.TF_ExtendGraph(session, written, c_size_t(len(written)), status)
    assert c.TF_Message(status) == (
        b"GraphDef argument to Extend includes node 'x', which was created by a previous call to Create or Extend in this session."
    )
    code, message = run([b"y:0"])
    assert code == 3
    assert message.startswith(b"You must feed a value for placeholder tensor 'x' with dtype float")
    missing = b"Tensor absent:0, specified in either feed_devices or fetch_devices was not found in the Graph"
    assert run([b"absent:0"]) == (3, missing)
    assert run([b"y:5"], [x]) == (11, b"Node 'y' (type: 'Mul', num of outputs: 1) does not have output 5")
    assert run([], [], [b"absent"]) == (5, b"PruneForTargets: Some target nodes not found: absent ")
    assert run([]) == (3, b"Must specify at least one target to fetch or execute.")
    c.TF_ExtendGraph(session, b"\xff", c_size_t(1), status)
    assert (c.TF_GetCode(status), c.TF_Message(status)) == (3, b"Invalid GraphDef")
    c.TF_CloseDeprecatedSession(session, status)
    ok()
    assert run([b"y:0"], [x]) == (1, b"Session has been closed.")


def test_runs_in_parts_by_name(c, named, status, ok, tensor, read):
    session, written, _ = named
    c.TF_ExtendGraph(session, written, c_size_t(len(written)), status)
    handle, found = c_char_p(), (c_void_p * 1)()
    inputs, outputs = (c_char_p * 2)(b"x:0", b"factor:0"), (c_char_p * 2)(b"more:0", b"y:0")
    c.TF_PRunSetup(session, inputs, 2, outputs, 2, None, 0, byref(handle), status)
    ok()
    for name, fed, wanted, value in ((b"x:0", np.float32([1]), b"more:0", [2]), (b"factor:0", np.float32(5), b"y:0", [10])):
        given = (c_void_p * 1)(tensor(fed).value)
        c.TF_PRun(session, handle, (c_char_p * 1)(name), given, 1, (c_char_p * 1)(wanted), found, 1, None, 0, status)
        ok()
        assert read(found[0], np.float32).tolist() == value
    c.TF_DeletePRunHandle(handle)


def test_runs_in_parts_by_operation(c, graph, options, status, ok, add, tensor, read):
    x = add("Placeholder", "x", dtype=("TF_SetAttrType", 1))
    y = add("Placeholder", "y", dtype=("TF_SetAttrType", 1))
    first = add("Neg", "first", Output(x.value, 0))
    second = add("Add", "second", Output(first.value, 0), Output(y.value, 0))
    session = c_void_p(c.TF_NewSession(graph, options, status))
    handle, found = c_char_p(), (c_void_p * 1)()
    inputs, outputs = (Output * 2)(Output(x.value, 0), Output(y.value, 0)), (Output * 2)(Output(first.value, 0), Output(second.value, 0))
    c.TF_SessionPRunSetup(session, inputs, 2, outputs, 2, None, 0, byref(handle), status)
    ok()
    for i, (fed, value) in enumerate(((3, -3), (10, 7))):
        given, some, wanted = (c_void_p * 1)(tensor(np.float32(fed)).value), (Output * 1)(inputs[i]), (Output * 1)(outputs[i])
        c.TF_SessionPRun(session, handle, some, given, 1, wanted, found, 1, None, 0, status)
        ok()
        assert read(found[0], np.float32) == value
    c.TF_DeletePRunHandle(handle)
    c.TF_CloseSession(session, status)
    c.TF_SessionRun(session, None, None, None, 0, wanted, found, 1, None, 0, None, status)
    assert (c.TF_GetCode(status), c.TF_Message(status)) == (1, b"Session has been closed.")
    c.TF_DeleteSession(session, status)
    ok()


def test_devices_tell_what_they_are(c, named, status, ok):
    devices = c_void_p(c.TF_DeprecatedSessionListDevices(named[0], status))
    ok()
    assert c.TF_DeviceListName(devices, 0, status) == b"/job:localhost/replica:0/task:0/device:CPU:0"
    assert c.TF_DeviceListMemoryBytes(devices, 0, status) > 0
    assert c.TF_DeviceListIncarnation(devices, 0, status) != 0
    ok()
    c.TF_DeviceListMemoryBytes(devices, 9, status)
    assert c.TF_Message(status) == b"index out of bounds"
    c.TF_DeleteDeviceList(devices)


def test_options_are_messages(c, options, status, ok):
    config = tf.ConfigProto(device_count={"CPU": 2}).SerializeToString()
    c.TF_SetConfig(options, config, c_size_t(len(config)), status)
    ok()
    graph = c_void_p(c.TF_NewGraph())
    session = c_void_p(c.TF_NewSession(graph, options, status))
    devices = c_void_p(c.TF_SessionListDevices(session, status))
    assert c.TF_DeviceListCount(devices) >= 2
    c.TF_DeleteSession(session, status)
    c.TF_SetConfig(options, b"\xff", c_size_t(1), status)
    assert (c.TF_GetCode(status), c.TF_Message(status)) == (3, b"Unparseable ConfigProto")


def test_servers_are_started_and_sessions_connect(c, graph, options, status, ok, add, tensor, read):
    definition = tf.train.ServerDef(job_name="local", task_index=0, protocol="grpc")
    job = definition.cluster.job.add(name="local")
    job.tasks[0] = "localhost:0"
    written = definition.SerializeToString()
    server = c_void_p(c.TF_NewServer(written, c_size_t(len(written)), status))
    ok()
    c.TF_ServerStart(server, status)
    ok()
    target = c.TF_ServerTarget(server)
    assert target.startswith(b"grpc://localhost:")
    c.TF_SetTarget(options, target)
    c.TF_Reset(options, (c_char_p * 1)(b"somewhere"), 1, status)
    ok()
    x = add("Placeholder", "x", dtype=("TF_SetAttrType", 1))
    y = add("Neg", "y", Output(x.value, 0))
    session = c_void_p(c.TF_NewSession(graph, options, status))
    ok()
    found, given = (c_void_p * 1)(), (c_void_p * 1)(tensor(np.float32(4)).value)
    inputs, outputs = (Output * 1)(Output(x.value, 0)), (Output * 1)(Output(y.value, 0))
    c.TF_SessionRun(session, None, inputs, given, 1, outputs, found, 1, None, 0, None, status)
    ok()
    assert read(found[0], np.float32) == -4
    c.TF_DeleteSession(session, status)
    c.TF_ServerStop(server, status)
    assert (c.TF_GetCode(status), c.TF_Message(status)) == (12, b"Clean shutdown is not currently implemented")
    assert c.TF_NewServer(b"\xff", c_size_t(1), status) is None
    assert c.TF_GetCode(status) == 3
