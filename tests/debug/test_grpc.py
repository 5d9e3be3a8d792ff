"""Runs that are sent to debug servers, and what servers ask for."""

import socket

import numpy as np
import pytest

import everflow as tf
from everflow import errors
from everflow.debug import destinations
from everflow.debug.dump import DebugDumpDir
from everflow.debug.events import Seen, split, tensor_event
from everflow.debug.grpc_server import EventListenerBaseStreamHandler
from everflow.debug.grpc_sessions import GrpcDebugWrapperSession, TensorBoardDebugWrapperSession
from everflow.debug.grpc_test_server import start_server_on_separate_thread
from everflow.debug.hooks import GrpcDebugHook, TensorBoardDebugHook
from everflow.debug.watches import add_debug_tensor_watch, watch_graph
from everflow.graph import dtypes


@pytest.fixture
def server():
    _, _, _, thread, server = start_server_on_separate_thread(dump_to_filesystem=False, poll_server=True)
    yield server
    server.stop_server(grace=0).wait()
    thread.join()


@pytest.fixture
def url(server):
    return f"grpc://localhost:{server._server_port}"


def test_a_server_takes_graphs_and_tensors(session, server, url):
    y = tf.negative(tf.constant([1.0, 2.0], name="x"), name="y")
    assert GrpcDebugWrapperSession(session, url.removeprefix("grpc://"), log_usage=False).run(y).tolist() == [-1, -2]
    assert server.debug_tensor_values["y:0:DebugIdentity"][0].tolist() == [-1, -2]
    (graph,) = server.partition_graph_defs
    assert {"x", "y", "__dbg_y:0_0_DebugIdentity"} <= {node.name for node in graph.node}
    assert len(server.core_metadata_json_strings) == 1
    assert server.gated_grpc_debug_watches() == []


def test_servers_choose_among_gated_ops(session, server, url):
    y = tf.negative(tf.constant(1.0, name="x"), name="y")
    options = tf.RunOptions()
    watch_graph(options, session.graph, debug_ops="DebugIdentity(gated_grpc=true)", debug_urls=url)
    seen = []
    for ask in (None, server.request_watch, None, server.request_unwatch):
        server.clear_data()
        if ask is not None:
            ask("x", 0, "DebugIdentity")
        session.run(y, options=options)
        seen.append(sorted(server.debug_tensor_values))
    assert seen == [[], ["x:0:DebugIdentity"], ["x:0:DebugIdentity"], []]
    assert ("y", 0, "DebugIdentity") in server.gated_grpc_debug_watches()


def test_runs_wait_at_breakpoints_until_the_server_answers(session, server, url):
    y = tf.negative(tf.constant(1.0, name="x"), name="y")
    wrapper = TensorBoardDebugWrapperSession(session, url, send_traceback_and_source_code=False)
    server.request_watch("x", 0, "DebugIdentity", breakpoint=True)
    assert wrapper.run(y) == -1
    assert server.breakpoints == {("x", 0, "DebugIdentity")}
    assert list(server.debug_tensor_values) == ["x:0:DebugIdentity"]
    server.request_unwatch("x", 0, "DebugIdentity")
    wrapper.run(y)
    assert server.breakpoints == set()


def test_stacks_and_sources_are_sent_once_for_a_graph(session, server, url):
    y = tf.constant(1.0, name="y")
    wrapper = TensorBoardDebugWrapperSession(session, url)
    wrapper.run(y)
    assert any(call[0] == __file__ for call in server.query_op_traceback("y"))
    with open(__file__) as file:
        assert server.query_source_file_line(__file__, 1) == file.readline().rstrip("\n")
    server.clear_data()
    wrapper.run(y)
    with pytest.raises(ValueError, match="Op 'y' does not exist in the tracebacks"):
        server.query_op_traceback("y")
    with pytest.raises(ValueError, match="has not received any source file contents"):
        server.query_source_file_line(__file__, 1)


def test_hooks_send_runs_too(server, url):
    y = tf.constant(1.0, name="y")
    server.request_watch("y", 0, "DebugIdentity")
    with tf.train.MonitoredSession(hooks=[TensorBoardDebugHook([url])]) as session:
        server.clear_data()
        session.run(y)
    assert list(server.debug_tensor_values) == ["y:0:DebugIdentity"]
    assert GrpcDebugHook(["there:1", "grpc://here:2"])._grpc_debug_server_urls == ["grpc://there:1", "grpc://here:2"]


def test_a_server_may_write_dumps(session):
    port, url, folder, thread, server = start_server_on_separate_thread(poll_server=True)
    y = tf.negative(tf.constant(1.0, name="x"), name="y")
    options = tf.RunOptions()
    watch_graph(options, session.graph, debug_urls=f"{url}/below")
    session.run(y, options=options)
    server.stop_server(grace=0).wait()
    thread.join()
    dump = DebugDumpDir(f"{folder}/below")
    assert dump.get_tensors("y", 0, "DebugIdentity") == [-1]
    assert dump.loaded_partition_graphs() and dump.core_metadata.output_names == ["y:0"]


def test_large_tensors_go_in_parts(session, server, url):
    numbers = np.arange(1200 * 1024, dtype=np.float32)
    x = tf.placeholder(tf.float32, name="x")
    options = tf.RunOptions()
    add_debug_tensor_watch(options, "y", 0, debug_urls=url)
    session.run(tf.identity(x, name="y"), {x: numbers}, options=options)
    np.testing.assert_array_equal(server.debug_tensor_values["y:0:DebugIdentity"][0], numbers)


def test_texts_are_parted_between_them():
    seen = Seen(np.array([b"", b"ab", b"cde", b"f"], object), dtypes.string, "")
    parts = split(tensor_event(seen, "a", 0, "DebugIdentity", "/cpu", 5), "/cpu", 3)
    assert [list(part.summary.value[0].tensor.string_val) for part in parts] == [[b"", b"ab"], [b"cde"], [b"f"]]


def test_servers_start_and_stop_once(server):
    with pytest.raises(ValueError, match="Server has already started running"):
        server.run_server()
    _, _, _, thread, other = start_server_on_separate_thread(dump_to_filesystem=False, poll_server=True, blocking=False)
    thread.join()
    other.stop_server(grace=0).wait()
    for call in (other.stop_server, other.run_server):
        with pytest.raises(ValueError, match="Server has already stopped"):
            call()


def test_addresses_are_texts(session):
    with pytest.raises(TypeError, match="Expected type str or list in grpc_debug_server_addresses"):
        GrpcDebugWrapperSession(session, 1337)
    with pytest.raises(TypeError, match="Expected type str in list grpc_debug_server_addresses"):
        GrpcDebugWrapperSession(session, ["localhost:1", 2])


def test_handlers_say_what_they_do_with_events():
    handler = EventListenerBaseStreamHandler()
    with pytest.raises(NotImplementedError, match=r"on_value_event\(\) is not implemented"):
        handler.on_value_event(None)


def test_a_server_that_is_not_there(session, monkeypatch):
    monkeypatch.setattr(destinations, "PATIENCE", 0.1)
    y = tf.constant(1.0, name="y")
    options = tf.RunOptions()
    with socket.socket() as nobody:
        nobody.bind(("localhost", 0))
        add_debug_tensor_watch(options, "y", 0, debug_urls=f"grpc://localhost:{nobody.getsockname()[1]}")
        with pytest.raises(errors.FailedPreconditionError, match="gRPC stream URL is not ready: grpc://localhost:"):
            session.run(y, options=options)
