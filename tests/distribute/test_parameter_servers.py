"""Programs of the parameter server years, as processes: a server or two that hold variables, and two workers."""

import json

from tasks import run_tasks

TASK = """
import json, os, sys
import numpy as np
import everflow as tf

config = json.loads(os.environ["TF_CONFIG"])
cluster, job, index = tf.train.ClusterSpec(config["cluster"]), config["task"]["type"], config["task"]["index"]
server = tf.train.Server(cluster, job_name=job, task_index=index)
if job == "ps":
    server.join()
own = "/job:worker/task:%d" % index
setter = tf.train.replica_device_setter(worker_device=own, cluster=cluster)
# Messages between workers, which have nothing else in common.
with tf.device("/job:ps/task:0"):
    flags = {name: tf.FIFOQueue(4, tf.int32, shared_name=name) for name in ("ready", "here", "first", "second", "third")}
    tell = {name: queue.enqueue(1) for name, queue in flags.items()}
    wait = {name: queue.dequeue() for name, queue in flags.items()}

# A worker that finds variables without values looks again after 30 seconds, as one of TensorFlow's does; and a queue that waits
# for gradients is not stopped before the grace period is over.
def after_the_chief():
    if index:
        with tf.Session(server.target) as session:
            session.run(wait["ready"])

def chief_is_ready(session):
    if not index:
        session.run(tell["ready"])

def tell_all(**found):
    print("found", json.dumps(found), flush=True)
"""


def found(printed):
    """What a task told."""
    (line,) = [line for line in printed.splitlines() if line.startswith("found ")]
    return json.loads(line.removeprefix("found "))


SYNCHRONOUS = (
    TASK
    + """
with tf.device(setter):
    w = tf.get_variable("w", [], initializer=tf.zeros_initializer())
    step = tf.train.get_or_create_global_step()
    loss = tf.square(w - 2.0)
    optimizer = tf.train.SyncReplicasOptimizer(tf.train.GradientDescentOptimizer(0.25), replicas_to_aggregate=2, total_num_replicas=2)
    train = optimizer.minimize(loss, global_step=step)
hook = optimizer.make_session_run_hook(index == 0, num_tokens=0)
after_the_chief()
with tf.train.MonitoredTrainingSession(server.target, is_chief=index == 0, hooks=[hook], stop_grace_period_secs=1) as session:
    raw = session._tf_sess()
    chief_is_ready(raw)
    for _ in range(6):
        session.run(train)
        # Neither takes the other's part in the next step.
        raw.run(tell[["first", "second"][index]])
        raw.run(wait[["second", "first"][index]])
    value, at = raw.run([w, step])
    tell_all(value=float(value), step=int(at))
    raw.run(tell[["third", "here"][index]])
    raw.run(wait[["here", "third"][index]])
"""
)


def test_synchronous_replicas_step_with_the_mean_of_their_gradients():
    # Two gradients that are alike make one step: half the way that is left, six times.
    for text in run_tasks(SYNCHRONOUS, ps=1, worker=2).values():
        assert found(text) == {"value": 2.0 - 2.0 * 0.5**6, "step": 6}


STALE = (
    TASK
    + """
with tf.device(setter):
    w = tf.get_variable("w", [], initializer=tf.zeros_initializer())
    step = tf.train.get_or_create_global_step()
    # The gradient of the first worker is 1, that of the second one 1000.
    loss = w * [1.0, 1000.0][index]
    optimizer = tf.train.SyncReplicasOptimizer(tf.train.GradientDescentOptimizer(1.0), replicas_to_aggregate=1, total_num_replicas=2)
    train = optimizer.minimize(loss, global_step=step)
after_the_chief()
with tf.train.MonitoredTrainingSession(
    server.target, is_chief=index == 0, hooks=[optimizer.make_session_run_hook(index == 0, num_tokens=0)], stop_grace_period_secs=1
) as session:
    raw = session._tf_sess()
    chief_is_ready(raw)
    if index == 0:
        raw.run(wait["here"])
        # The other is a backup: one gradient is enough for a step.
        while raw.run(step) < 3:
            session.run(train)
        before = raw.run([w, step])
        raw.run(tell["first"])
        raw.run(wait["second"])
        while raw.run(step) < before[1] + 2:
            session.run(train)
        after = raw.run([w, step])
        raw.run(tell["third"])
        tell_all(before=list(map(float, before)), after=list(map(float, after)))
    else:
        # It knows the step of the start; by the time that it says something, that is stale.
        raw.run(tell["here"])
        raw.run(wait["first"])
        pushes = [op for op in raw.graph.get_operations() if op.type.endswith("AccumulatorApplyGradient")]
        raw.run(pushes)
        tell_all(local=int(raw.run(optimizer._local_step)), pushed=len(pushes))
        raw.run(tell["second"])
        raw.run(wait["third"])
"""
)


def test_gradients_that_come_late_are_dropped_and_a_backup_replica_is_not_waited_for():
    printed = run_tasks(STALE, ps=1, worker=2)
    first, second = found(printed["worker 0"]), found(printed["worker 1"])
    assert second == {"local": 0, "pushed": 1}
    # Each step went by 1; a gradient of 1000 is in none of them.
    assert first["before"][1] >= 3 and first["after"][1] >= first["before"][1] + 2
    assert [-value for value, _ in first.values()] == [step for _, step in first.values()]


SUPERVISED = (
    TASK
    + """
with tf.device(setter):
    w = tf.get_variable("w", [2], initializer=tf.zeros_initializer())
    step = tf.train.get_or_create_global_step()
    train = tf.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_sum(tf.square(w - [1.0, 2.0])), global_step=step)
    init = tf.global_variables_initializer()
supervisor = tf.train.Supervisor(
    is_chief=index == 0, logdir=sys.argv[1], init_op=init, global_step=step, save_model_secs=0, save_summaries_secs=0, recovery_wait_secs=1
)
filters = tf.ConfigProto(device_filters=["/job:ps", own])
with supervisor.managed_session(server.target, config=filters) as session:
    while not supervisor.should_stop():
        _, at = session.run([train, step])
        if at >= 80:
            break
    value = session.run(w)
    if index == 0:
        supervisor.saver.save(session, supervisor.save_path, global_step=step)
tell_all(value=value.tolist(), step=int(at))
"""
)


def test_a_supervisor_has_workers_wait_for_the_chief_to_start_and_saves(tmp_path):
    printed = run_tasks(SUPERVISED, tmp_path, ps=1, worker=2)
    for text in printed.values():
        told = found(text)
        assert told["step"] >= 80 and max(abs(told["value"][0] - 1.0), abs(told["value"][1] - 2.0)) < 1e-3
    assert (tmp_path / "checkpoint").exists() and list(tmp_path.glob("model.ckpt-*.index"))


PARTITIONED = (
    TASK
    + """
with tf.device(setter):
    with tf.variable_scope("", partitioner=tf.fixed_size_partitioner(2)):
        table = tf.get_variable("table", [6, 2], initializer=tf.zeros_initializer())
    rows = tf.nn.embedding_lookup(table, [0, 1, 4] if index == 0 else [2, 5], partition_strategy="div")
    step = tf.train.get_or_create_global_step()
    train = tf.train.AdagradOptimizer(1.0, initial_accumulator_value=1e-6).minimize(tf.reduce_sum(rows), global_step=step)
    whole = tf.convert_to_tensor(table)
after_the_chief()
with tf.train.MonitoredTrainingSession(
    server.target, is_chief=index == 0, checkpoint_dir=sys.argv[1] if index == 0 else None, save_checkpoint_steps=1,
    save_summaries_steps=None, save_summaries_secs=None,
) as session:
    raw = session._tf_sess()
    chief_is_ready(raw)
    session.run(train)
    raw.run(tell[["first", "second"][index]])
    raw.run(wait[["second", "first"][index]])
    value = raw.run(whole)
    places = [part.device for part in table]
    if index == 0:
        raw.run(wait["third"])
        # Saved once more, with both workers' rows.
        tf.get_collection(tf.GraphKeys.SAVERS)[0].save(raw, sys.argv[1] + "/both", write_meta_graph=False)
    else:
        raw.run(tell["third"])
kept = tf.train.load_variable(sys.argv[1] + "/both", "table").tolist() if index == 0 else None
tell_all(value=value.tolist(), places=places, kept=kept)
"""
)


def test_partitions_lie_on_two_servers_and_are_trained_and_saved_as_one(tmp_path):
    printed = run_tasks(PARTITIONED, tmp_path, ps=2, worker=2)
    first, second = found(printed["worker 0"]), found(printed["worker 1"])
    assert first["places"] == ["/job:ps/task:0", "/job:ps/task:1"]
    # Adagrad's first step is the rate, whatever the gradient; row 3 is nobody's.
    expected = [[-1.0, -1.0]] * 3 + [[0.0, 0.0]] + [[-1.0, -1.0]] * 2
    for value in (first["value"], second["value"], first["kept"]):
        assert [[round(x, 5) for x in row] for row in value] == expected
