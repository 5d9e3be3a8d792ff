"""Eager ops on the devices of servers in other processes."""

import gc
import subprocess
import sys
import time

import numpy as np
import pytest

import everflow as tf
import everflow.contrib.eager as tfe
from everflow.eager import devices, remote_devices
from everflow.eager.context import Context, eager_mode
from everflow.platform.ports import free_ports

SERVER = """
import sys
import everflow as tf
tf.train.Server({"far": sys.argv[1:2]}).join()
"""
LOCAL = "/job:localhost/replica:0/task:0/device:CPU:0"
REMOTE = "/job:worker/replica:0/task:0/device:CPU:0"


@pytest.fixture(scope="module")
def servers():
    """The addresses and processes of two servers."""
    addresses = [f"localhost:{port}" for port in free_ports(2)]
    found = [(a, subprocess.Popen([sys.executable, "-c", SERVER, a])) for a in addresses]
    yield found
    for _, process in found:
        process.kill()
        process.wait()


@pytest.fixture
def address(servers):
    return servers[0][0]


@pytest.fixture
def connected(address):
    with eager_mode():
        tf.config.experimental_connect_to_host(address)
        yield
    _disconnect()


def _disconnect():
    devices.REMOTE.clear()
    devices.CHOOSER.use(remote=None)
    devices.PLACEMENT.choose(local="/job:localhost/replica:0/task:0")


def test_ops_run_where_they_are_placed(connected):
    assert tfe.list_devices() == [LOCAL, REMOTE]
    with tf.device("/job:worker/replica:0/task:0/cpu:0"):
        x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
        y = tf.matmul(x, x)
        parts = tf.split(y, 2)
        text = tf.strings.join(["a", "b"])
    assert {t.device for t in (x, y, *parts, text)} == {REMOTE}
    np.testing.assert_array_equal(y.numpy(), [[7, 10], [15, 22]])
    np.testing.assert_array_equal(parts[1].numpy(), [[15, 22]])
    assert text.numpy() == b"ab"
    assert (y + 1.0).device == y.cpu().device == LOCAL
    with tf.device("/job:worker"):
        assert (x + 1.0).device == REMOTE


def test_an_op_really_runs_in_the_other_process(connected):
    with tf.device(REMOTE):
        tf.io.write_file("/dev/null", "")
        there = tf.io.read_file("/proc/self/cmdline").numpy()
    assert b"tf.train.Server" in there
    assert there != tf.io.read_file("/proc/self/cmdline").numpy()


def test_variables_live_on_the_server(connected):
    with tf.device(REMOTE):
        v = tf.Variable([1.0, 2.0])
        other = tf.Variable([5.0, 5.0])
    assert v.device == v.handle.device == v.value().device == REMOTE
    v.assign_add([1.0, 1.0])
    np.testing.assert_array_equal(v.numpy(), [2, 3])
    np.testing.assert_array_equal(other.numpy(), [5, 5])
    assert "numpy=array([2., 3.]" in repr(v)
    assert (v + 1.0).device == LOCAL
    tf.scatter_update(v, [0], [9.0])
    np.testing.assert_array_equal(v.numpy(), [9, 3])


def test_what_nobody_holds_is_let_go(connected):
    with tf.device(REMOTE):
        v = tf.Variable(1.0)
        server = devices.REMOTE[REMOTE]._server
        v.read_value()
        server.clean_up()
        proto = v.handle.value.proto
        del v
        gc.collect()
        assert server.over
        server.clean_up()
        assert not server.over
        handle = remote_devices.EagerTensor(remote_devices.RemoteObject(devices.REMOTE[REMOTE], proto, None), tf.resource)
        with pytest.raises(tf.errors.InvalidArgumentError, match="Unable to find the relevant tensor remote_handle"):
            for _ in range(10000):
                tf.raw_ops.ReadVariableOp(resource=handle, dtype=tf.float32)
                time.sleep(0.02)


def test_training_with_remote_variables_gives_the_numbers_of_local_ones(connected):
    def trained(device):
        with tf.device(device):
            w = tf.Variable([[0.5], [-0.5]])
            step = tf.Variable(0, dtype=tf.int64, trainable=False)
        optimizer = tf.train.AdamOptimizer(0.1)
        x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
        for _ in range(3):
            with tf.device(device), tf.GradientTape() as tape:
                loss = tf.reduce_sum(tf.square(tf.matmul(x, w) - 1.0))
            optimizer.apply_gradients([(tape.gradient(loss, w), w)], global_step=step)
        assert optimizer.get_slot(w, "m").device == w.device == device
        return w.numpy(), step.numpy()

    for far, near in zip(trained(REMOTE), trained(LOCAL)):
        np.testing.assert_allclose(far, near, rtol=1e-6)


def test_functions_run_there_and_have_gradients(connected):
    with tf.device(REMOTE):
        v = tf.Variable(3.0)

    @tf.function
    def squared(x):
        return tf.cond(x > 0.0, lambda: x * v * v, lambda: x)

    with tf.GradientTape() as tape, tf.device(REMOTE):
        y = squared(tf.constant(2.0))
    assert y.numpy() == 18 and y.device == REMOTE
    assert tape.gradient(y, v).numpy() == 12


def test_errors_of_ops_come_back(connected):
    with (
        tf.device(REMOTE),
        pytest.raises(tf.errors.InvalidArgumentError, match=r"(?s)Matrix size-incompatible: In\[0\]: \[2,3\].*\[Op:MatMul\]"),
    ):
        tf.matmul(tf.ones([2, 3]), tf.ones([2, 3]))
    for name in ("/job:nobody/cpu:0", "/job:worker/cpu:3", "/job:worker/task:1", "/cpu:7"):
        with pytest.raises(RuntimeError, match="unknown device"), tf.device(name):
            tf.constant(1.0)


def test_resources_without_a_name_are_apart(connected):
    with tf.device(REMOTE):
        first, second = (tf.raw_ops.FIFOQueueV2(component_types=[tf.float32]) for _ in range(2))
        tf.raw_ops.QueueEnqueueV2(handle=first, components=[tf.constant(4.0)])
    assert tf.raw_ops.QueueSizeV2(handle=first).numpy() == 1
    assert tf.raw_ops.QueueSizeV2(handle=second).numpy() == 0
    assert tf.raw_ops.QueueDequeueV2(handle=first, component_types=[tf.float32])[0].numpy() == 4


def test_clusters_and_server_definitions(address):
    with eager_mode():
        try:
            spec = tf.train.ClusterSpec({"worker": [address], "chief": ["localhost:1"]})
            tf.config.experimental_connect_to_cluster(spec, "chief", 0)
            assert tfe.list_devices() == ["/job:chief/replica:0/task:0/device:CPU:0", REMOTE]
            assert tf.constant(1.0).device == "/job:chief/replica:0/task:0/device:CPU:0"
            definition = tf.train.ServerDef(cluster=spec.as_cluster_def(), job_name="nobody", protocol="grpc")
            with pytest.raises(tf.errors.InvalidArgumentError, match='Job "nobody" was not defined in cluster'):
                tfe.set_server_def(definition)
            definition.job_name = "chief"
            tfe.set_server_def(definition)
            with tf.device(REMOTE):
                assert tf.add(1, 2).device == REMOTE
        finally:
            _disconnect()


def test_a_cluster_of_one_is_this_process():
    with eager_mode():
        try:
            cluster = tf.train.ClusterSpec({"solo": ["localhost:1"]})
            Context(server_def=tf.train.ServerDef(cluster=cluster.as_cluster_def(), job_name="solo"))
            assert tfe.list_devices() == ["/job:solo/replica:0/task:0/device:CPU:0"]
        finally:
            _disconnect()


def test_servers_that_are_not_there(monkeypatch):
    monkeypatch.setattr(remote_devices, "PATIENCE", 0.3)
    with eager_mode():
        with pytest.raises(tf.errors.UnavailableError, match="localhost:1 does not answer"):
            tfe.connect_to_remote_host("localhost:1")
        with pytest.raises(tf.errors.InvalidArgumentError, match='Could not interpret "somewhere" as a host-port pair'):
            tfe.connect_to_remote_host(["somewhere"])
        with pytest.raises(ValueError, match="Must provide at least one remote_host"):
            tfe.connect_to_remote_host()
        assert tfe.list_devices() == [LOCAL]


def test_a_server_that_goes_away_is_an_error(servers):
    found, process = servers[1]
    with eager_mode():
        try:
            tfe.connect_to_remote_host(found)
            with tf.device(REMOTE):
                assert tf.add(1, 2).numpy() == 3
                process.kill()
                process.wait()
                with pytest.raises(tf.errors.UnavailableError, match="failed to connect|Stream removed|Socket closed|[Cc]onnection reset"):
                    tf.add(1, 2)
        finally:
            _disconnect()
