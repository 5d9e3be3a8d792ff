"""A worker in this process and a parameter server in another."""

import subprocess
import sys
import threading

import numpy as np
import pytest

import everflow as tf
from everflow.platform.ports import free_ports
from everflow.proto import tensor_pb2

PARAMETER_SERVER = """
import sys
import everflow as tf
tf.train.Server({"ps": [sys.argv[1]], "worker": [sys.argv[2]]}, job_name="ps", task_index=0).join()
"""


@pytest.fixture(scope="module")
def cluster():
    return {job: [f"localhost:{port}"] for job, port in zip(("ps", "worker"), free_ports(2))}


@pytest.fixture(scope="module")
def worker(cluster):
    process = subprocess.Popen([sys.executable, "-c", PARAMETER_SERVER, *cluster["ps"], *cluster["worker"]])
    yield tf.train.Server(cluster, job_name="worker", task_index=0)
    process.kill()
    process.wait()


def test_a_worker_trains_what_the_parameter_server_holds(cluster, worker):
    with tf.Graph().as_default():
        with tf.device(tf.train.replica_device_setter(cluster=cluster)):
            x, y = tf.placeholder(tf.float32, [None, 2]), tf.placeholder(tf.float32, [None, 1])
            w = tf.Variable(tf.zeros([2, 1]), name="w")
            b = tf.get_variable("b", [1], initializer=tf.zeros_initializer(), use_resource=True)
            step = tf.train.get_or_create_global_step()
            loss = tf.reduce_mean(tf.square(tf.matmul(x, w) + b - y))
            train = tf.train.MomentumOptimizer(0.1, 0.9).minimize(loss, global_step=step)
            init = tf.global_variables_initializer()
        points = np.random.RandomState(0).rand(32, 2).astype(np.float32)
        feeds = {x: points, y: points @ np.array([[1.0], [2.0]], np.float32) + 0.5}
        with tf.Session(worker.target) as session, tf.Session("grpc://" + cluster["ps"][0]) as direct:
            with pytest.raises(tf.errors.FailedPreconditionError, match="uninitialized value w"):
                session.run(w)
            session.run(init)
            for _ in range(20):
                session.run(train, feeds)
            assert direct.run(step) == 20
        with tf.Graph().as_default():
            # The same program on one machine.
            tf.train.import_meta_graph(tf.train.export_meta_graph(graph=w.graph), clear_devices=True)
            with tf.Session() as local:
                local.run(init.name)
                for _ in range(20):
                    local.run(train.name, {t.name: v for t, v in feeds.items()})
                expected = local.run([w.name, loss.name], {t.name: v for t, v in feeds.items()})
        with tf.Session(worker.target, graph=w.graph) as session:
            for found, wanted in zip(session.run([w, loss], feeds), expected):
                np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-6)


def test_texts_and_effects_cross_processes_in_order(worker):
    with tf.Graph().as_default():
        with tf.device("/job:ps/task:0"):
            kept = tf.Variable("", name="kept")
            there = kept.assign(tf.strings.join(["a", "b"]))
        with tf.control_dependencies([there]):
            here = tf.strings.join([kept.read_value(), "c"])
        with tf.Session(worker.target) as session:
            assert session.run(here) == b"abc"


def test_failures_name_the_task(worker):
    with tf.Graph().as_default():
        x = tf.placeholder(tf.int32, [None])
        with tf.device("/job:ps/task:0"):
            picked = tf.gather([1, 2], x)
        with tf.Session(worker.target) as session:
            with pytest.raises(tf.errors.InvalidArgumentError, match=r"From /job:ps/replica:0/task:0:\n.*indices\[0\] = 7 is not in"):
                session.run(picked, {x: [7]})
            assert session.run(picked, {x: [1]}).tolist() == [2]


def test_closing_a_session_ends_what_waits_in_another_process(worker):
    with tf.Graph().as_default():
        with tf.device("/job:ps/task:0"):
            queue, started = tf.FIFOQueue(2, [tf.float32], shared_name="far away"), tf.FIFOQueue(9, tf.bool, shared_name="who waits there")
            with tf.control_dependencies([started.enqueue(True)]):
                take = queue.dequeue()
            bring, arrived = queue.enqueue(5.0), started.dequeue()
        leaving, messages = tf.Session(worker.target), []

        def run():
            try:
                leaving.run(take)
            except tf.errors.CancelledError as e:
                messages.append(e.message)

        thread = threading.Thread(target=run)
        thread.start()
        with tf.Session(worker.target) as watching:
            watching.run(arrived)
        leaving.close()
        thread.join(300)
        assert messages and "Session::Close" in messages[0]
        with tf.Session(worker.target) as session:
            session.run(bring)
            # Who left takes nothing any more.
            assert session.run(take) == 5.0
            with pytest.raises(tf.errors.DeadlineExceededError, match="Deadline Exceeded"):
                session.run(take, options=tf.RunOptions(timeout_in_ms=200))


def test_texts_may_come_as_one_run_of_bytes():
    proto = tensor_pb2.TensorProto(dtype=7, tensor_content=b"\x02\xc8\x01" + b"ab" + b"c" * 200)
    proto.tensor_shape.dim.add(size=2)
    assert tf.make_ndarray(proto).tolist() == [b"ab", b"c" * 200]


def test_what_uses_a_variable_is_with_it_whatever_its_device(worker):
    with tf.Graph().as_default():
        with tf.device("/job:ps/task:0"):
            kinds = [tf.get_variable(f"kept_{use}", initializer=3.0, use_resource=use) for use in (False, True)]
        with tf.device("/job:worker/task:0/cpu:0"):
            missing = tf.report_uninitialized_variables(kinds)
            more = [v.assign_add(1.0) for v in kinds]
        with tf.Session(worker.target) as session:
            assert session.run(missing).tolist() == [b"kept_False", b"kept_True"]
            session.run([v.initializer for v in kinds])
            assert session.run(more) == [4.0, 4.0]
            assert session.run(missing).tolist() == []


@pytest.mark.parametrize("use_resource", [False, True])
def test_branches_and_loops_reach_variables_of_another_process(worker, use_resource):
    with tf.Graph().as_default():
        with tf.device("/job:ps/task:0"):
            there = tf.get_variable(f"there_{use_resource}", initializer=3.0, use_resource=use_resource)
        with tf.device("/job:worker/task:0"):
            here = tf.get_variable(f"here_{use_resource}", initializer=1.0, use_resource=use_resource)
            chosen = tf.placeholder(tf.bool, [])
            either = tf.cond(chosen, lambda: tf.assign_add(there, 2.0) + here, lambda: tf.assign_add(here, 10.0) + there)
            nested = tf.cond(chosen, lambda: tf.cond(here > 0, there.read_value, lambda: 0.0), lambda: -1.0)
            _, total = tf.while_loop(lambda i, _: i < 3, lambda i, total: (i + 1, total + there.read_value()), [0, 0.0])
        with tf.Session(worker.target) as session:
            session.run([there.initializer, here.initializer])
            assert session.run(nested, {chosen: True}) == 3.0
            assert session.run(either, {chosen: True}) == 6.0
            assert session.run(either, {chosen: False}) == 16.0
            assert session.run([there, here, total]) == [5.0, 11.0, 15.0]
