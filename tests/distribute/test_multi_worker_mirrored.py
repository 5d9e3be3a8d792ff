"""MultiWorkerMirroredStrategy between processes: their variables start the same, and their gradients are added up."""

import json
import os
import subprocess
import sys

import pytest

import everflow as tf
from everflow.distribute.collective_reductions import CollectiveKeys
from everflow.platform.ports import free_ports

WORKER = """
import sys
import numpy as np
import everflow as tf

strategy = tf.distribute.experimental.MultiWorkerMirroredStrategy()
me = int(sys.argv[1])
assert strategy.num_replicas_in_sync == 2 and strategy.extended.should_checkpoint == (me == 0)
with strategy.scope():
    w = tf.get_variable("w", [2], initializer=tf.random_normal_initializer(seed=None))
    rows = tf.get_variable("rows", [3, 1], initializer=tf.zeros_initializer())
optimizer = tf.train.GradientDescentOptimizer(0.5)

def step():
    which = tf.distribute.get_replica_context().replica_id_in_sync_group
    x = tf.cast(which, tf.float32) + 1.0
    looked_up = tf.nn.embedding_lookup(rows, tf.range(which + 1))
    return optimizer.minimize(tf.reduce_sum(w * x) + tf.reduce_sum(looked_up)), which

with strategy.scope():
    done, which = strategy.experimental_run_v2(step)
    total = strategy.reduce("SUM", strategy.experimental_run_v2(lambda: tf.constant(float(me + 1))), axis=None)
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    before = session.run(w)
    session.run(strategy.experimental_local_results(done))
    after, table = session.run([w, rows])
    change, value = np.round(before - after, 4).tolist(), float(session.run(total))
    print("found", before.tolist(), change, table.ravel().tolist(), value, session.run(which), flush=True)
"""


def test_two_processes_train_as_one(tmp_path):
    program = tmp_path / "worker.py"
    program.write_text(WORKER)
    cluster = {"worker": [f"localhost:{port}" for port in free_ports(2)]}
    processes = []
    for index in range(2):
        config = json.dumps({"cluster": cluster, "task": {"type": "worker", "index": index}})
        environment = {**os.environ, "TF_CONFIG": config, "EVERFLOW_COLLECTIVE_TIMEOUT": "240"}
        processes.append(
            subprocess.Popen(
                [sys.executable, str(program), str(index)], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
            )
        )
    found = []
    for process in processes:
        out, err = process.communicate(timeout=300)
        assert process.returncode == 0, err
        found.append([line for line in out.splitlines() if line.startswith("found")][0].removeprefix("found ").rsplit(" ", 1))
    # Both start from the first one's random weights, take a step by the sum of both gradients, and see the sum of both values.
    assert found[0][0] == found[1][0] and found[0][0].endswith("[1.5, 1.5] [-1.0, -0.5, 0.0] 3.0")
    assert [number for _, number in found] == ["0", "1"]


def test_without_a_cluster_there_is_one_replica():
    strategy = tf.distribute.experimental.MultiWorkerMirroredStrategy()
    assert strategy.num_replicas_in_sync == 1 and strategy.extended.experimental_between_graph
    config = strategy.update_config_proto(tf.ConfigProto())
    assert list(config.graph_options.rewrite_options.scoped_allocator_opts.enable_op) == ["CollectiveReduce"]
    with pytest.raises(AssertionError, match="CollectiveCommunication"):
        tf.distribute.experimental.MultiWorkerMirroredStrategy("ring")


def test_keys_of_collectives_count_up():
    keys = CollectiveKeys(group_key_start=7)
    assert [keys.get_group_key([d]) for d in ("/cpu:0", "/cpu:1", "/cpu:0")] == [7, 8, 7]
    assert [keys.get_op_instance_key(), keys.get_op_instance_key(), keys.get_variable_instance_key()] == [100, 101, 1000000]


def test_collectives_need_a_cluster():
    reduced = tf.raw_ops.CollectiveReduce(
        input=tf.constant(1.0), group_size=2, group_key=1, instance_key=1, merge_op="Add", final_op="Id", subdiv_offsets=[0]
    )
    with tf.Session() as session, pytest.raises(tf.errors.FailedPreconditionError, match="collective of 2 members"):
        session.run(reduced)
