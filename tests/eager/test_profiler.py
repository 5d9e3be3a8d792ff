"""Profiles of what runs at once, in functions and in sessions."""

import os
import threading

import pytest

import everflow as tf
from everflow.eager import profiler, profiler_client
from everflow.eager.context import eager_mode
from everflow.platform.ports import free_ports
from everflow.proto import trace_events_pb2


def _names(serialized):
    trace = trace_events_pb2.Trace()
    trace.ParseFromString(serialized)
    return [event.name for event in trace.trace_events]


def test_ops_and_functions_are_in_the_trace():
    with eager_mode():
        double = tf.function(lambda x: x * 2.0)
        profiler.start()
        x = tf.constant(3.0)
        tf.matmul([[x]], [[x]])
        double(x)
        names = _names(profiler.stop())
        x + x
    assert "MatMul" in names
    assert any(name.startswith("__inference_") for name in names)
    assert "AddV2" not in names


def test_ops_of_sessions_are_in_the_trace():
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [2, 2])
        y = tf.linalg.inv(x)
        profiler.start()
        session.run(y, {x: [[1.0, 0.0], [0.0, 2.0]]})
        names = _names(profiler.stop())
        session.run(y, {x: [[1.0, 0.0], [0.0, 2.0]]})
    assert names.count("MatrixInverse") == 1


def test_there_is_one_profile_at_a_time():
    profiler.start()
    with pytest.raises(profiler.ProfilerAlreadyRunningError, match="Another profiler is running"):
        profiler.start()
    profiler.stop()
    with pytest.raises(profiler.ProfilerNotRunningError, match="No profiler is running"):
        profiler.stop()


def test_a_profile_is_written_where_tensorboard_looks(tmp_path):
    with eager_mode(), profiler.Profiler(str(tmp_path)):
        tf.constant(2.0) * tf.constant(3.0)
    (session,) = os.listdir(tmp_path / "plugins" / "profile")
    assert "Mul" in _names((tmp_path / "plugins" / "profile" / session / "local.trace").read_bytes())
    assert [name for name in os.listdir(tmp_path) if name.endswith(".profile-empty")]


def test_another_process_can_ask(tmp_path):
    port = free_ports()[0]
    address = f"localhost:{port}"
    profiler.start_profiler_server(port)
    done = threading.Event()

    def work():
        with eager_mode():
            while not done.wait(0.01):
                tf.constant(2.0) * tf.constant(3.0)

    thread = threading.Thread(target=work)
    thread.start()
    try:
        profiler_client.start_tracing(address, str(tmp_path), 1000)
    finally:
        done.set()
        thread.join()
    (session,) = os.listdir(tmp_path / "plugins" / "profile")
    assert "Mul" in _names((tmp_path / "plugins" / "profile" / session / "localhost.trace").read_bytes())
    with pytest.raises(tf.errors.UnimplementedError, match="unimplemented"):
        profiler_client.monitor(address, 100)
    with pytest.raises(tf.errors.NotFoundError, match="nowhere; No such file or directory"):
        profiler_client.start_tracing(address, str(tmp_path / "nowhere"), 100)
