"""Clusters in which some tasks are Everflow and some are TensorFlow 1.15, and sessions of one on servers of the other."""

import json
import os
import subprocess
import sys

import pytest

from everflow.platform.ports import free_ports

OURS = [sys.executable, "-m", "everflow", "run"]
SERVER = """
import sys
import tensorflow as tf
cluster = {"ps": [sys.argv[2]], "worker": [sys.argv[3]]}
server = tf.train.Server(cluster, job_name=sys.argv[1], task_index=0)
print("serving", flush=True)
server.join()
"""
# Each `case_` of what follows answers with something that JSON can hold.
PRELUDE = """
import json, os, sys, tempfile
import numpy as np
import tensorflow as tf
cluster = {"ps": [sys.argv[1]], "worker": [sys.argv[2]]}
PS, WORKER = "/job:ps/task:0", "/job:worker/task:0"
"""
RUN_CASES = """
found = {}
for name, case in list(globals().items()):
    if name.startswith("case_"):
        with tf.Graph().as_default():
            try:
                found[name[5:]] = case()
                print(name, file=sys.stderr)
            except tf.errors.OpError as e:
                found[name[5:]] = "%s: %s" % (type(e).__name__, e.message)
print("found", json.dumps(found), flush=True)
os._exit(0)
"""

ON_A_SERVER = """
target = "grpc://" + sys.argv[1]

def case_graphs_grow():
    v = tf.Variable([1.0, 2.0], name="grows")
    x = tf.placeholder(tf.float32, [2])
    with tf.Session(target) as session:
        session.run(tf.global_variables_initializer())
        first = session.run([v.assign_add(x), x * 2], {x: [3, 4]})
        return [a.tolist() for a in first], float(session.run(tf.reduce_sum(v)))

def case_devices():
    tf.constant(1)
    with tf.Session(target) as session:
        return [d.name for d in session.list_devices() if d.device_type == "CPU"]

def case_partial_runs():
    a, b = tf.placeholder(tf.float32, []), tf.placeholder(tf.float32, [])
    kept = tf.Variable(1.0, name="fed")
    c = kept + a
    d = c * b
    with tf.Session(target) as session:
        session.run(kept.initializer)
        handle = session.partial_run_setup([c, d], [a, b])
        first = session.partial_run(handle, c, {a: 1})
        return float(first), float(session.partial_run(handle, d, {b: first * 17}))

def case_callables():
    a = tf.placeholder(tf.float32, [2], name="a")
    c = tf.multiply(a, 3, name="c")
    from tensorflow.core.protobuf import config_pb2
    wanted = config_pb2.CallableOptions(feed=["a:0"], fetch=["c:0"])
    with tf.Session(target) as session:
        plain, made = session.make_callable(c, [a]), session._make_callable_from_options(wanted)
        return [plain([1, 2]).tolist(), made(np.array([3, 4], np.float32))[0].tolist()]

def case_texts():
    a = tf.placeholder(tf.string, [2])
    with tf.Session(target) as session:
        return [t.decode() for t in session.run(tf.strings.join([a, ["x", "y"]]), {a: ["one", "two"]})]

def case_types():
    found = {}
    with tf.Session(target) as session:
        for d in (tf.float16, tf.float64, tf.int8, tf.uint8, tf.int16, tf.uint16, tf.int64, tf.bool, tf.bfloat16, tf.uint32, tf.uint64):
            p = tf.placeholder(d, [2])
            found[d.name] = [float(x) for x in session.run(tf.identity(p), {p: np.array([1, 0], d.as_numpy_dtype)})]
    return found

def case_control_flow():
    v = tf.get_variable("branches", initializer=3.0, use_resource=True)
    p = tf.placeholder(tf.bool, [])
    y = tf.cond(p, lambda: v * 2, lambda: v - 1)
    _, w = tf.while_loop(lambda i, _: i < 5, lambda i, t: (i + 1, t * v), [0, 1.0])
    g, = tf.gradients(w, v)
    with tf.Session(target) as session:
        session.run(v.initializer)
        return [float(x) for x in session.run([y, w, g], {p: True})]

def case_datasets():
    iterator = tf.data.make_initializable_iterator(tf.data.Dataset.range(5).map(lambda x: x * 2).batch(2))
    element = iterator.get_next()
    found = []
    with tf.Session(target) as session:
        session.run(iterator.initializer)
        try:
            while True:
                found.append(session.run(element).tolist())
        except tf.errors.OutOfRangeError:
            return found

def case_failures_name_the_op():
    x = tf.placeholder(tf.int32, [None])
    y = tf.gather([1, 2], x, name="picked")
    with tf.Session(target) as session:
        try:
            session.run(y, {x: [7]})
        except tf.errors.InvalidArgumentError as e:
            return ["indices[0] = 7 is not in [0, 2)" in e.message, "node picked (defined at" in e.message, e.op.name]

def case_limits():
    taken = tf.FIFOQueue(5, tf.float32).dequeue()
    with tf.Session(target) as session:
        try:
            session.run(taken, options=tf.RunOptions(timeout_in_ms=200))
        except tf.errors.DeadlineExceededError:
            return "ended"

def case_traces():
    y = tf.constant([1.0, 2.0]) * 2
    metadata = tf.RunMetadata()
    with tf.Session(target) as session:
        session.run(y, options=tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE), run_metadata=metadata)
    return len(metadata.step_stats.dev_stats) > 0

def case_monitored_training():
    step = tf.train.get_or_create_global_step()
    v = tf.Variable(0.0, name="trained")
    train = tf.train.GradientDescentOptimizer(0.1).minimize(tf.square(v - 1), global_step=step)
    with tf.train.MonitoredTrainingSession(master=target, hooks=[tf.train.StopAtStepHook(5)]) as session:
        while not session.should_stop():
            session.run(train)
    with tf.Session(target) as session:
        return [int(session.run(step)), round(float(session.run(v)), 4)]

def case_reset():
    v = tf.Variable(1.0, name="lost")
    session = tf.Session(target)
    session.run(v.initializer)
    tf.Session.reset(target)
    try:
        session.run(v)
    except tf.errors.AbortedError:
        pass
    with tf.Session(target) as session:
        try:
            session.run(v)
        except tf.errors.FailedPreconditionError:
            return "gone"
"""
ANSWERED = {
    "graphs_grow": [[[4.0, 6.0], [6.0, 8.0]], 10.0],
    "devices": ["/job:ps/replica:0/task:0/device:CPU:0", "/job:worker/replica:0/task:0/device:CPU:0"],
    "partial_runs": [2.0, 68.0],
    "callables": [[3.0, 6.0], [9.0, 12.0]],
    "texts": ["onex", "twoy"],
    "types": dict.fromkeys(
        ("float16", "float64", "int8", "uint8", "int16", "uint16", "int64", "bool", "bfloat16", "uint32", "uint64"), [1.0, 0.0]
    ),
    "control_flow": [6.0, 243.0, 405.0],
    "datasets": [[0, 2], [4, 6], [8]],
    "failures_name_the_op": [True, True, "picked"],
    "limits": "ended",
    "traces": True,
    "monitored_training": [5, round(1 - 0.8**5, 4)],
    "reset": "gone",
}

IN_A_FLEET = """
server = tf.train.Server(cluster, job_name="worker", task_index=0)
target = server.target

def case_back_and_forth():
    with tf.device(PS):
        p = tf.placeholder(tf.float32, [2])
        a = p + 1
    with tf.device(WORKER):
        b = a * 2
    with tf.device(PS):
        c = b + 1
    with tf.device(WORKER):
        d = c * a
    with tf.Session(target) as session:
        return [x.tolist() for x in session.run([c, d], {p: [1, 2]})]

def case_texts():
    with tf.device(PS):
        a = tf.strings.join([tf.constant(["a", "b"]), "x"])
    with tf.device(WORKER):
        b = tf.strings.join([a, "y"])
    with tf.Session(target) as session:
        return [t.decode() for t in session.run(b)]

def case_large_tensors():
    with tf.device(PS):
        v = tf.Variable(tf.ones([1000, 1000]), name="large") * 2
    with tf.device(WORKER):
        total = tf.reduce_sum(v)
    with tf.Session(target) as session:
        session.run(tf.global_variables_initializer())
        return float(session.run(total))

def case_training():
    with tf.device(tf.train.replica_device_setter(cluster=cluster)):
        x, y = tf.placeholder(tf.float32, [None, 2]), tf.placeholder(tf.float32, [None, 1])
        w = tf.Variable(tf.zeros([2, 1]), name="w")
        b = tf.get_variable("b", [1], initializer=tf.zeros_initializer(), use_resource=True)
        step = tf.train.get_or_create_global_step()
        loss = tf.reduce_mean(tf.square(tf.matmul(x, w) + b - y))
        train = tf.train.MomentumOptimizer(0.1, 0.9).minimize(loss, global_step=step)
    points = np.random.RandomState(0).rand(32, 2).astype(np.float32)
    feeds = {x: points, y: points.dot(np.array([[1.0], [2.0]], np.float32)) + 0.5}
    with tf.Session(target) as session:
        session.run(tf.global_variables_initializer())
        for _ in range(20):
            session.run(train, feeds)
        return int(session.run(step)), round(float(session.run(loss, feeds)), 5)

def case_embeddings():
    with tf.device(PS):
        table = tf.get_variable("table", initializer=tf.ones([10, 2]))
    with tf.device(WORKER):
        train = tf.train.AdagradOptimizer(0.5).minimize(tf.reduce_sum(tf.nn.embedding_lookup(table, [1, 3])))
    with tf.Session(target) as session:
        session.run(tf.global_variables_initializer())
        session.run(train)
        return [round(float(x), 4) for x in session.run(table)[:4, 0]]

def case_queues():
    with tf.device(PS):
        queue = tf.FIFOQueue(5, tf.float32, shared_name="between")
        bring, take = queue.enqueue(1.0), queue.dequeue()
    with tf.device(WORKER):
        more = take + 1
    with tf.Session(target) as session:
        session.run(bring)
        return float(session.run(more))

def case_datasets():
    with tf.device(PS):
        iterator = tf.data.make_initializable_iterator(tf.data.Dataset.range(5).map(lambda x: x * 2).batch(2))
        element = iterator.get_next()
    with tf.device(WORKER):
        more = element + 1
    with tf.Session(target) as session:
        session.run(iterator.initializer)
        return [session.run(more).tolist() for _ in range(2)]

def case_branches():
    with tf.device(PS):
        v = tf.get_variable("v", initializer=3.0, use_resource=False)
        r = tf.get_variable("r", initializer=3.0, use_resource=True)
    p = tf.placeholder(tf.bool, [])
    with tf.device(WORKER):
        y = tf.cond(p, lambda: tf.assign_add(v, 2.0) * 1.0, lambda: v - 1)
        z = tf.cond(p, lambda: r * 2.0, lambda: r.assign_add(1.0) - 1)
    with tf.Session(target) as session:
        session.run(tf.global_variables_initializer())
        return [float(session.run(t, {p: taken})) for t in (y, z) for taken in (True, False)]

def case_loops():
    with tf.device(PS):
        v = tf.get_variable("factor", initializer=2.0, use_resource=True)

    def body(i, t):
        with tf.device(PS):
            u = t * v
        with tf.device(WORKER):
            return i + 1, u + 1.0

    with tf.device(WORKER):
        _, w = tf.while_loop(lambda i, _: i < 4, body, [0, 1.0])
        g, = tf.gradients(w, v)
    with tf.Session(target) as session:
        session.run(tf.global_variables_initializer())
        return [float(x) for x in session.run([w, g])]

def case_partial_runs():
    a, b = tf.placeholder(tf.float32, []), tf.placeholder(tf.float32, [])
    with tf.device(PS):
        c = a + 1
    with tf.device(WORKER):
        d = c * b
    with tf.Session(target) as session:
        handle = session.partial_run_setup([c, d], [a, b])
        first = session.partial_run(handle, c, {a: 1})
        return float(first), float(session.partial_run(handle, d, {b: first * 17}))

def case_states_of_their_own():
    with tf.device(PS):
        v = tf.Variable(5.0, name="isolated")
    with tf.device(WORKER):
        more = v + 1
    with tf.Session(target, config=tf.ConfigProto(isolate_session_state=True)) as session:
        session.run(v.initializer)
        found = float(session.run(more))
    with tf.Session(target) as session:
        try:
            session.run(more)
        except tf.errors.FailedPreconditionError:
            return found

def case_checkpoints():
    with tf.device(PS):
        v = tf.Variable([1.0, 2.0], name="saved")
    saver = tf.train.Saver()
    with tf.Session(target) as session:
        session.run(v.initializer)
        path = saver.save(session, os.path.join(tempfile.mkdtemp(), "model"))
        session.run(v.assign([0.0, 0.0]))
        saver.restore(session, path)
        return session.run(v).tolist()

def case_failures_name_task_and_op():
    x = tf.placeholder(tf.int32, [None])
    with tf.device(PS):
        y = tf.gather([1, 2], x, name="picked")
    with tf.device(WORKER):
        z = y + 1
    with tf.Session(target) as session:
        try:
            session.run(z, {x: [7]})
        except tf.errors.InvalidArgumentError as e:
            # The task that waits for the other's result may be the first to tell.
            told = [e.message.startswith("From /job:"), "indices[0] = 7 is not in [0, 2)" in e.message, e.op.name]
        return told, session.run(z, {x: [1]}).tolist()

def case_limits():
    with tf.device(PS):
        taken = tf.FIFOQueue(5, tf.float32, shared_name="empty").dequeue()
    with tf.device(WORKER):
        more = taken + 1
    with tf.Session(target) as session:
        try:
            session.run(more, options=tf.RunOptions(timeout_in_ms=300))
        except tf.errors.DeadlineExceededError:
            return "ended"

def case_synchronous_replicas():
    with tf.device(tf.train.replica_device_setter(cluster=cluster)):
        w = tf.Variable(0.0, name="together")
        step = tf.train.get_or_create_global_step()
        optimizer = tf.train.SyncReplicasOptimizer(tf.train.GradientDescentOptimizer(0.1), 1, 1)
        train = optimizer.minimize(tf.square(w - 1.0), global_step=step)
    with tf.train.MonitoredTrainingSession(
        master=target, hooks=[optimizer.make_session_run_hook(True)], stop_grace_period_secs=1
    ) as session:
        for _ in range(5):
            session.run(train)
        # A worker may be a step ahead of what the chief has applied.
        return bool(0.5 < session.run(w) < 1.0)
"""
EXCHANGED = {
    "back_and_forth": [[5.0, 7.0], [10.0, 21.0]],
    "texts": ["axy", "bxy"],
    "large_tensors": 2e6,
    # As the real one alone trains it.
    "training": [20, 0.20757],
    "embeddings": [1.0, round(1 - 0.5 / 1.1**0.5, 4), 1.0, round(1 - 0.5 / 1.1**0.5, 4)],
    "queues": 2.0,
    "datasets": [[1, 3], [5, 7]],
    "branches": [5.0, 4.0, 6.0, 3.0],
    # ((((1 v + 1) v + 1) v + 1) v + 1), and its derivative, at v = 2.
    "loops": [31.0, 49.0],
    "partial_runs": [2.0, 68.0],
    "states_of_their_own": 6.0,
    "checkpoints": [1.0, 2.0],
    "failures_name_task_and_op": [[True, True, "picked"], [3]],
    "limits": "ended",
    "synchronous_replicas": True,
}


@pytest.fixture(scope="module")
def real():
    """The command that runs a program with TensorFlow 1.15."""
    python = os.environ.get("EVERFLOW_REAL_TENSORFLOW_1")
    if not python:
        pytest.skip("TensorFlow 1.15 needs Python 3.7: EVERFLOW_REAL_TENSORFLOW_1 is to name one that has it")
    return [python]


@pytest.fixture
def start(tmp_path):
    """Starts programs; those that still run at the end are killed."""
    running = []

    def run(command, code, *arguments):
        script = tmp_path / f"program{len(running)}.py"
        script.write_text(code)
        own = [os.path.dirname(os.path.dirname(os.path.dirname(__file__)))] if command is OURS else []
        environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "PYTHONPATH": os.pathsep.join(own)}
        errors = open(tmp_path / f"program{len(running)}.txt", "w")
        process = subprocess.Popen([*command, script, *arguments], stdout=subprocess.PIPE, stderr=errors, text=True, env=environment)
        running.append(process)
        return process

    yield run
    for process in running:
        process.kill()
        process.wait()
        process.stdout.close()


def addresses(count):
    return [f"localhost:{port}" for port in free_ports(count)]


def answers(process):
    output, _ = process.communicate(timeout=300)
    assert "found " in output, "the program ended without an answer"
    return json.loads(output.rsplit("found ", 1)[1])


@pytest.mark.parametrize("server_is_ours", [True, False], ids=["theirs on ours", "ours on theirs"])
def test_sessions_of_one_run_on_servers_of_the_other(real, start, server_is_ours):
    ps, worker = addresses(2)
    for job in ("ps", "worker"):
        server = start(OURS if server_is_ours else real, SERVER, job, ps, worker)
        assert server.stdout.readline() == "serving\n"
    client = start(real if server_is_ours else OURS, PRELUDE + ON_A_SERVER + RUN_CASES, ps, worker)
    assert answers(client) == ANSWERED


@pytest.mark.parametrize("ps_is_ours", [True, False], ids=["their worker, our ps", "our worker, their ps"])
def test_fleets_may_be_mixed(real, start, ps_is_ours):
    ps, worker = addresses(2)
    server = start(OURS if ps_is_ours else real, SERVER, "ps", ps, worker)
    assert server.stdout.readline() == "serving\n"
    client = start(real if ps_is_ours else OURS, PRELUDE + IN_A_FLEET + RUN_CASES, ps, worker)
    assert answers(client) == EXCHANGED
