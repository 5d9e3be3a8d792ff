"""tf.tpu on other devices: texts and assignments were measured on TensorFlow 1.15.5."""

from __future__ import annotations

import numpy as np
import pytest

import everflow as tf
from running import run

tpu = tf.contrib.tpu


@pytest.fixture
def topology():
    places = [[[x, y, c] for x in range(4) for y in range(4) for c in range(2)]]
    return tpu.Topology(mesh_shape=[4, 4, 2], device_coordinates=places)


def test_a_topology_names_its_devices(topology):
    assert (topology.mesh_rank, topology.num_tasks, topology.num_tpus_per_task) == (3, 1, 32)
    assert topology.tpu_device_name_at_coordinates([1, 2, 1]) == "/task:0/device:TPU:13"
    assert topology.cpu_device_name_at_coordinates([0, 0, 0], "w") == "/job:w/task:0/device:CPU:0"
    again = tpu.Topology(serialized=topology.serialized())
    assert again.mesh_shape.tolist() == [4, 4, 2] and again.tpu_device_ordinal_at_coordinates([1, 1, 0]) == 10
    with pytest.raises(ValueError, match="sequence of 3 positive entries"):
        tpu.Topology(mesh_shape=[4, 4, 0], device_coordinates=topology.device_coordinates)


@pytest.mark.parametrize(
    "options, assigned",
    [
        ({"num_replicas": 4}, [[[0, 0, 0]], [[0, 0, 1]], [[0, 1, 0]], [[0, 1, 1]]]),
        (
            {"computation_shape": [1, 1, 2], "num_replicas": 5},
            [[[x, y, 0], [x, y, 1]] for x, y in ((0, 0), (0, 1), (0, 2), (1, 0), (1, 1))],
        ),
        (
            {"computation_shape": [2, 2, 1], "num_replicas": 3},
            [[[x, y + dy, c] for x in (0, 1) for dy in (0, 1)] for y, c in ((0, 0), (0, 1), (2, 0))],
        ),
        (
            {"computation_shape": [2, 1, 1], "computation_stride": [2, 1, 1], "num_replicas": 6},
            [[[x, y, c], [x + 2, y, c]] for x, y, c in ((0, 0, 0), (0, 0, 1), (0, 1, 0), (0, 1, 1), (1, 0, 0), (1, 0, 1))],
        ),
    ],
)
def test_replicas_get_blocks_of_cores(topology, options, assigned):
    assignment = tpu.device_assignment(topology, **options)
    assert assignment.core_assignment.tolist() == assigned
    assert assignment.num_replicas == options["num_replicas"] and assignment.lookup_replicas(0, 0)[:2] == [0, 1]


def test_computations_that_do_not_fit_are_refused(topology):
    with pytest.raises(ValueError, match="requested 33 replicas but only 32 replicas"):
        tpu.device_assignment(topology, num_replicas=33)
    with pytest.raises(ValueError, match=r"computation footprint \[5 1 1\] does not fit"):
        tpu.device_assignment(topology, computation_shape=[5, 1, 1])
    with pytest.raises(ValueError, match=r"computation_shape must have shape \[3\]"):
        tpu.device_assignment(topology, computation_shape=[1, 1])


def test_computations_are_rewritten_replicated_and_sharded():
    assert [v.tolist() for v in run(tf.tpu.rewrite(lambda a: a + 1.0, [tf.ones([2])]))] == [[2, 2]]
    assert run(tf.tpu.rewrite(lambda a: {"x": a, "y": [2 * a]}, [3.0])) == {"x": 3, "y": [6]}
    assert tf.tpu.rewrite(lambda: None).type == "NoOp"
    assert run(tf.tpu.replicate(lambda a: a * 2, [[1.0], [2.0]])) == [[2], [4]]
    x = np.arange(8.0).reshape(4, 2)
    halves = tf.tpu.shard(lambda a: (tf.reduce_sum(a, 0, keepdims=True), a), [tf.constant(x)], num_shards=2)
    assert [v.tolist() for v in run(halves)] == [[[2, 4], [10, 12]], x.tolist()]
    (first,) = tf.tpu.shard(lambda a: a, [tf.constant(x)], num_shards=2, outputs_from_all_shards=False)
    assert run(first).tolist() == x[:2].tolist()
    assert run(tf.tpu.batch_parallel(lambda a: a + 1, [tf.constant(x)], num_shards=4))[0].tolist() == (x + 1).tolist()


def test_sums_join_the_replicas():
    sums = tf.tpu.replicate(lambda a: tf.tpu.cross_replica_sum(a) + 1, [[1.0], [2.0], [4.0]])
    assert run(sums) == [[8], [8], [8]]
    pairs = tf.tpu.replicate(lambda a: tf.tpu.cross_replica_sum(a, [[0, 2], [1, 3]]), [[1.0], [2.0], [4.0], [8.0]])
    assert run(pairs) == [[5], [10], [5], [10]]
    assert run(tf.tpu.cross_replica_sum(3.0)) == 3


@pytest.mark.parametrize(
    "call, error, what",
    [
        (lambda: tf.tpu.replicate(lambda a: a, 3), TypeError, "must be a list of lists/tuples"),
        (lambda: tf.tpu.replicate(lambda a: a, [[1.0], [1]]), ValueError, "Replicas must have matching input types"),
        (lambda: tf.tpu.replicate(lambda a: a, [[1.0], [1.0, 2.0]]), ValueError, "same nested structure"),
        (lambda: tf.tpu.shard(lambda a: a, [1.0], num_shards=0), ValueError, "num_shards must be a positive integer"),
        (lambda: tf.tpu.shard(lambda a: a, [[1.0]], input_shard_axes=[0, 1]), ValueError, "Length of input_shard_axes"),
        (lambda: tpu.infeed_dequeue(tf.string, [2]), TypeError, "is not a supported TPU infeed type"),
        (lambda: tf.tpu.CrossShardOptimizer(None, reduction="none"), ValueError, "Unsupported reduction: none"),
        (lambda: tf.tpu.experimental.AdamParameters(1.0, beta1=2.0), ValueError, "beta1 must be between 0. and 1; got 2.0"),
        (lambda: tf.tpu.experimental.AdagradParameters(1.0, initial_accumulator=0), ValueError, "initial_accumulator must be positive"),
        (lambda: tf.tpu.experimental.initialize_tpu_system(), tf.errors.NotFoundError, "no TPU system"),
    ],
)
def test_bad_arguments_are_refused(call, error, what):
    with pytest.raises(error, match=what):
        call()


def test_an_optimizer_takes_the_mean_over_shards(session):
    v = tf.get_variable("v", [], initializer=tf.zeros_initializer(), use_resource=True)

    def step(x):
        optimizer = tf.tpu.CrossShardOptimizer(tf.train.GradientDescentOptimizer(1.0))
        ((gradient, _),) = optimizer.compute_gradients(tf.reduce_sum(x) * v, [v])
        return tf.tpu.cross_replica_sum(gradient)

    found = tf.tpu.replicate(step, [[[1.0]], [[3.0]]])
    session.run(v.initializer)
    assert session.run(found) == [[2], [2]]


def test_an_optimizer_works_alone(session):
    v = tf.get_variable("v", [], initializer=tf.ones_initializer())
    optimizer = tf.contrib.tpu.CrossShardOptimizer(tf.train.MomentumOptimizer(0.5, 0.9))
    train = optimizer.minimize(3 * v)
    session.run(tf.global_variables_initializer())
    session.run(train)
    assert session.run(v) == -0.5 and optimizer.get_slot_names() == ["momentum"]


def test_bfloat16_variables_are_kept_as_float32(session):
    with tf.tpu.bfloat16_scope():
        read = tf.get_variable("w", [2], dtype=tf.bfloat16, initializer=tf.ones_initializer())
        plain = tf.get_variable("f", [2])
    assert read.dtype == tf.bfloat16 and plain.dtype.base_dtype == tf.float32
    assert {v.dtype.base_dtype for v in tf.global_variables()} == {tf.float32}


def test_loops_run_their_bodies():
    assert run(tpu.repeat(3, lambda a: a + 2.0, [1.0])) == [7]
    assert run(tpu.while_loop(lambda a: a < 3.0, lambda a: a + 1.0, [0.0])) == 3


def test_system_ops_are_built_for_their_device():
    assert tf.tpu.initialize_system(job="w").device == "/job:w/device:TPU_SYSTEM:0"
    assert tf.tpu.shutdown_system().type == "ShutdownDistributedTPU"
    assert tf.tpu.core(3) == "device:TPU_REPLICATED_CORE:3"
    assert tf.tpu.outside_compilation(lambda a, b=0: a + b, 1, b=2) == 3


def test_embedding_columns_work_elsewhere(session):
    column = tf.feature_column.categorical_column_with_identity("a", 10)
    embedded = tf.tpu.experimental.embedding_column(column, 4)
    assert embedded.name == "a_embedding"
    rows = tf.feature_column.input_layer({"a": [[1], [1]]}, [embedded])
    session.run(tf.global_variables_initializer())
    first, second = session.run(rows)
    assert first.tolist() == second.tolist() and len(first) == 4
    with pytest.raises(ValueError, match="Non zero max_seq_length=3 specified for non sequence column a"):
        tf.tpu.experimental.embedding_column(column, 4, max_sequence_length=3)
    with pytest.raises(TypeError, match="must be type IdentityCategoricalColumn or"):
        tf.tpu.experimental.embedding_column(tf.feature_column.categorical_column_with_hash_bucket("q", 3), 4)


def test_checkpoints_are_saved_in_the_background(tmp_path):
    step = tf.train.get_or_create_global_step()
    hook, advance = tpu.AsyncCheckpointSaverHook(str(tmp_path), save_steps=1), tf.assign_add(step, 1)
    with tf.train.SingularMonitoredSession(hooks=[hook]) as session:
        session.run(advance)
    assert tf.train.latest_checkpoint(str(tmp_path)).endswith("-1")
