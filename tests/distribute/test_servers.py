import subprocess
import sys
import threading

import numpy as np
import pytest

import everflow as tf
from everflow.distribute.device_maps import ReplicaDeviceMap
from everflow.distribute.inputs import DatasetIterator, InputWorkers
from everflow.graph.defun import Defun
from everflow.ops.core.registry import apply


@pytest.fixture(scope="module")
def server():
    return tf.train.Server.create_local_server()


@pytest.fixture(scope="module")
def cluster():
    return tf.test.create_local_cluster(num_workers=2, num_ps=1)


def over_the_wire():
    config = tf.ConfigProto()
    config.rpc_options.use_rpc_for_inprocess_master = True
    return config


@pytest.fixture(params=["in this process", "over the wire"])
def config(request):
    return None if request.param == "in this process" else over_the_wire()


def test_sessions_of_a_server_share_variables(server, config):
    with tf.Graph().as_default():
        v = tf.Variable([1.0, 2.0], name="shared")
        more = v.assign_add([1.0, 1.0])
        with tf.Session(server.target, config=config) as one, tf.Session(server.target) as two:
            one.run(v.initializer)
            two.run(more)
            np.testing.assert_array_equal(one.run(v), [2.0, 3.0])
        with tf.Session() as elsewhere, pytest.raises(tf.errors.FailedPreconditionError, match="uninitialized value shared"):
            elsewhere.run(v)


def test_a_graph_may_grow_between_runs(server, config):
    with tf.Graph().as_default(), tf.Session(server.target, config=config) as session:
        x = tf.placeholder(tf.int32, [None], name="a/x")
        assert session.run(tf.reduce_sum(x), {x: [1, 2]}) == 3
        with tf.control_dependencies([tf.no_op()]):
            words = tf.as_string(x, name="a")
        assert session.run([words, x], {x: [4]})[0].tolist() == [b"4"]


def test_isolated_sessions_keep_to_themselves(server):
    config = tf.ConfigProto(isolate_session_state=True)
    with tf.Graph().as_default():
        v = tf.Variable(1.0, name="isolated")
        with tf.Session(server.target, config=config) as one, tf.Session(server.target, config=config) as two:
            one.run(v.initializer)
            with pytest.raises(tf.errors.FailedPreconditionError, match="uninitialized value isolated"):
                two.run(v)


def test_reset_clears_containers_and_ends_sessions(config):
    server = tf.train.Server.create_local_server()
    with tf.Graph().as_default():
        with tf.container("kept"):
            kept = tf.Variable(1.0, name="kept")
        lost = tf.Variable(2.0, name="lost")
        session = tf.Session(server.target, config=config)
        session.run(tf.global_variables_initializer())
        tf.Session.reset(server.target)
        with pytest.raises(tf.errors.AbortedError, match="is not found"):
            session.run(kept)
        with tf.Session(server.target, config=config) as session:
            assert session.run(kept) == 1.0
            with pytest.raises(tf.errors.FailedPreconditionError, match="uninitialized value lost"):
                session.run(lost)


def test_variables_live_in_the_task_they_are_placed_on(cluster):
    workers, _ = cluster
    with tf.Graph().as_default():
        with tf.device("/job:ps/task:0"):
            everyones = tf.Variable(1.0, name="everyones")
        with tf.device("/job:worker/task:1"):
            own = tf.get_variable("own", initializer=2.0, use_resource=True)
        with tf.Session(workers[0].target) as first, tf.Session(workers[1].target) as second:
            first.run(tf.global_variables_initializer())
            assert second.run([everyones, own]) == [1.0, 2.0]
        with tf.Session(workers[0].target, config=tf.ConfigProto(isolate_session_state=True)) as alone:
            with pytest.raises(tf.errors.FailedPreconditionError, match="Container: worker"):
                alone.run(own)


@pytest.mark.parametrize("device", [None, "/job:worker"])
def test_variables_and_queues_of_no_certain_task_are_shared(cluster, device):
    workers, _ = cluster
    with tf.Graph().as_default():
        with tf.device(device):
            v, queue = tf.Variable(1.0, name=f"common_{device is None}"), tf.FIFOQueue(3, tf.int32, shared_name=f"queue_{device is None}")
            table = tf.contrib.lookup.MutableHashTable(tf.int64, tf.int64, -1)
            filled = table.insert(tf.constant([1], tf.int64), tf.constant([2], tf.int64))
        found = table.lookup(tf.constant([1], tf.int64))
        with tf.Session(workers[0].target) as first, tf.Session(workers[1].target) as second:
            first.run([v.initializer, queue.enqueue(7), filled])
            assert second.run([v + 1, queue.dequeue(), found]) == [2.0, 7, 2]
            first.run(v.assign(5.0))
            assert second.run(v) == 5.0
        own = tf.ConfigProto(device_filters=["/job:worker/task:1"])
        with tf.Session(workers[1].target, config=own) as third:
            assert not third.run(tf.is_variable_initialized(v))


def test_devices_are_those_of_the_cluster(cluster):
    with tf.Graph().as_default():
        with tf.device("/job:worker/task:7"):
            tf.constant(1.0, name="lost")
        with tf.Session(cluster[0][1].target) as session:
            assert [d.name for d in session.list_devices()][0] == "/job:worker/replica:0/task:1/device:CPU:0"
            assert {d.name for d in session.list_devices() if d.device_type == "CPU"} == {
                f"/job:{task}/device:CPU:0" for task in ("worker/replica:0/task:0", "worker/replica:0/task:1", "ps/replica:0/task:0")
            }
            with pytest.raises(tf.errors.InvalidArgumentError, match="explicitly assigned to /job:worker/task:7 but available devices"):
                session.run(tf.constant(2.0))


def waiting(queue, started):
    """A step that says that it runs, then waits for an item of a queue."""
    with tf.control_dependencies([started.enqueue(True)]):
        return queue.dequeue()


def test_closing_a_session_ends_its_waiting_steps_only(server, config):
    with tf.Graph().as_default():
        queue = tf.FIFOQueue(2, [tf.float32], shared_name="waited for")
        started = tf.FIFOQueue(2, tf.bool, [[]], shared_name="those who wait")
        take, bring, arrived = waiting(queue, started), queue.enqueue(5.0), started.dequeue_many(2)
        leaving, staying = tf.Session(server.target, config=config), tf.Session(server.target)
        staying.run([queue.size()])
        results = {}

        def run(name, session):
            try:
                results[name] = session.run(take)
            except tf.errors.CancelledError as e:
                results[name] = e.message

        threads = [threading.Thread(target=run, args=a) for a in (("leaving", leaving), ("staying", staying))]
        for t in threads:
            t.start()
        staying.run(arrived)
        leaving.close()
        threads[0].join(300)
        assert "Session::Close" in results["leaving"]
        staying.run(bring)
        threads[1].join(300)
        assert results["staying"] == 5.0


@pytest.mark.parametrize(
    "arguments, error, match",
    [
        ((3,), TypeError, "Could not convert"),
        (({"a": ["localhost:0"], "b": ["localhost:0"]},), ValueError, "explicit `job_name`"),
        (({"a": ["localhost:0", "localhost:0"]},), ValueError, "explicit `task_index`"),
        (({"a": ["localhost"]},), tf.errors.InvalidArgumentError, "Could not parse port"),
        (({"a": ["localhost:0"]}, "a", 2), tf.errors.InvalidArgumentError, 'Task 2 was not defined in job "a"'),
        (({"a": ["localhost:0"]}, "a", -1), tf.errors.InvalidArgumentError, 'Task -1 was not defined in job "a"'),
        (({"a": ["localhost:0"]}, "b", 0), tf.errors.InternalError, 'Job "b" was not defined in cluster'),
        (({"a": ["localhost:0"]}, "a", 0, "pigeon"), tf.errors.NotFoundError, "No server factory registered"),
    ],
)
def test_servers_that_cannot_be(arguments, error, match):
    with pytest.raises(error, match=match):
        tf.train.Server(*arguments)


def test_two_servers_cannot_have_one_port(server):
    with pytest.raises(tf.errors.UnknownError, match="Could not start gRPC server"):
        tf.train.Server({"other": [server.target[len("grpc://") :]]})


def test_a_server_that_serves_may_be_started_again(server):
    server.start()
    with tf.Session(server.target) as session:
        assert session.run(tf.constant(1)) == 1


def test_targets_that_lead_nowhere():
    with tf.Graph().as_default():
        with pytest.raises(tf.errors.NotFoundError, match="No session factory registered"):
            tf.Session("pigeon")
        with tf.Session("grpc://localhost:1", config=tf.ConfigProto(operation_timeout_in_ms=100)) as session:
            with pytest.raises(tf.errors.DeadlineExceededError, match="Deadline Exceeded"):
                session.run(tf.constant(1))


CHILD = """
import sys
import everflow as tf
v = tf.Variable(0.0, name="between_processes")
with tf.Session(sys.argv[1]) as session:
    session.run(v.assign_add(41.0))
"""


def test_processes_share_variables_through_a_server(server):
    with tf.Graph().as_default(), tf.Session(server.target) as session:
        v = tf.Variable(1.0, name="between_processes")
        session.run(v.initializer)
        subprocess.run([sys.executable, "-c", CHILD, server.target], check=True, timeout=600)
        assert session.run(v) == 42.0


def test_sessions_without_a_configuration_have_the_servers():
    server = tf.train.Server.create_local_server(config=tf.ConfigProto(operation_timeout_in_ms=1000))
    with tf.Graph().as_default():
        taken = tf.FIFOQueue(1, tf.float32).dequeue()
        with tf.Session(server.target) as session, pytest.raises(tf.errors.DeadlineExceededError, match="Timed out waiting"):
            session.run(taken)


def test_iterators_without_a_name_to_share_are_each_sessions_own(server, config):
    def counting(*columns):
        return tf.data.make_initializable_iterator(tf.data.Dataset.from_tensor_slices(columns))

    with tf.Graph().as_default(), tf.Session(server.target, config=config) as one:
        iterator = counting([1, 2, 3])
        one.run(iterator.initializer)
        (element,) = iterator.get_next()
        assert one.run(element) == 1
        # An op of the same name, of another graph, whose elements are of another kind.
        with tf.Graph().as_default(), tf.Session(server.target, config=config) as two:
            other = counting(["a", "b"], [1.0, 2.0])
            assert other._iterator_resource.op.name == iterator._iterator_resource.op.name
            two.run(other.initializer)
            assert two.run(other.get_next()) == (b"a", 1.0)
        assert one.run(element) == 2
        handle = tf.placeholder(tf.string, [])
        again = tf.data.Iterator.from_string_handle(handle, (tf.int32,), ([],)).get_next()
        assert one.run(again, {handle: one.run(iterator.string_handle())}) == (3,)


def test_partial_runs_keep_their_state_on_the_server(server, config):
    with tf.Graph().as_default(), tf.Session(server.target, config=config) as session:
        fed, later = tf.placeholder(tf.float32, []), tf.placeholder(tf.float32, [])
        counted = tf.Variable(1.0, name="counted")
        more = tf.assign_add(counted, fed)
        product = more * later
        session.run(counted.initializer)
        handle = session.partial_run_setup([more, product], [fed, later])
        first = session.partial_run(handle, more, {fed: 2.0})
        assert first == 3.0
        # What was fetched before is not computed again.
        assert session.partial_run(handle, product, {later: 5.0}) == 15.0
        assert session.run(counted) == 3.0
        with pytest.raises(tf.errors.InvalidArgumentError, match="Must run 'setup'"):
            session.partial_run(handle, product, {later: 5.0})


def test_failures_over_the_wire_name_the_op_and_where_it_was_made(server):
    with tf.Graph().as_default(), tf.Session(server.target, config=over_the_wire()) as session:
        x = tf.placeholder(tf.int32, [None])
        picked = tf.gather([1, 2], x, name="picked")
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"node picked \(defined at .*test_servers.py") as caught:
            session.run(picked, {x: [7]})
        assert caught.value.op is picked.op


@pytest.mark.parametrize("is_shared", [True, False])
def test_each_worker_reads_its_share_or_all_where_a_dataset_says_so(cluster, is_shared):
    workers = [f"/job:worker/replica:0/task:{i}" for i in range(2)]
    options = tf.data.Options()
    options.experimental_distribute.auto_shard = is_shared
    devices = [worker + "/device:CPU:0" for worker in workers]
    strategy = tf.distribute.MirroredStrategy(devices)
    with strategy.scope():
        strategy.extended._input_workers = InputWorkers(ReplicaDeviceMap(devices), [(w, [d]) for w, d in zip(workers, devices)])
        strategy.extended.experimental_enable_get_next_as_optional = True
        dataset = tf.data.Dataset.range(4).with_options(options)
        iterator = DatasetIterator(dataset, strategy.extended._input_workers, strategy)
    found = []
    with tf.Session(cluster[0][0].target) as session:
        session.run(iterator.initialize())
        batch = strategy.experimental_local_results(iterator.get_next())
        with pytest.raises(tf.errors.OutOfRangeError, match="End of sequence"):
            while True:
                found.append(session.run(list(batch)))
    assert found == ([[0, 1], [2, 3]] if is_shared else [[i, i] for i in range(4)])


def test_resources_without_a_task_are_where_their_users_say(cluster):
    handle = tf.raw_ops.VarHandleOp(dtype=tf.float32, shape=[], shared_name="nowhere in particular")
    with tf.device("/job:worker/task:1"):
        written = tf.raw_ops.AssignVariableOp(resource=handle, value=tf.constant(2.0))
        read = tf.raw_ops.ReadVariableOp(resource=handle, dtype=tf.float32)
    with tf.Session(cluster[0][0].target) as session:
        session.run(written)
        assert session.run(read) == 2.0
    with tf.Session(cluster[0][1].target) as session:
        assert session.run(read) == 2.0


def test_a_function_is_called_where_an_iterator_is(cluster):
    here, there = "/job:worker/replica:0/task:0/cpu:0", "/job:worker/replica:0/task:1/cpu:0"

    @Defun(tf.string)
    def following(handle):
        return tf.data.Iterator.from_string_handle(handle, tf.int32, []).get_next()

    with tf.Graph().as_default(), tf.Session(cluster[0][0].target) as session:
        with tf.device(there):
            iterator = tf.data.make_one_shot_iterator(tf.data.Dataset.from_tensor_slices([1, 2, 3]))
            handle = iterator.string_handle()
        with tf.device(here):
            target = tf.placeholder(tf.string, [])
            called = apply("RemoteCall", target, [handle], Tout=[tf.int32], f=following)
        assert session.run(called, {target: there}) == [1]
        with pytest.raises(
            tf.errors.InvalidArgumentError, match='task:0/device:CPU:0" from handle defined on device .*task:1/device:CPU:0'
        ):
            session.run(called, {target: here})
        assert session.run(iterator.get_next()) == 2
        assert session.run(called, {target: there}) == [3]
