"""How the values of replicas become one: cross-device ops, their algorithms, and the variables that replicas write to."""

import numpy as np
import pytest

import everflow as tf
from everflow.distribute import all_reduce
from everflow.distribute.device_maps import ReplicaDeviceMap, SingleDeviceMap, WorkerDeviceMap
from everflow.distribute.device_names import canonicalize, current, resolve
from everflow.distribute.reductions import MultiWorkerAllReduce, by_algorithm
from everflow.distribute.values import Mirrored, PerReplica, regroup, select_device_mirrored, select_replica

TWO = ["/cpu:0", "/cpu:1"]
THREE = [*TWO, "/cpu:2"]


def run(*fetches, count=3):
    with tf.Session(config=tf.ConfigProto(device_count={"CPU": count})) as session:
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        return [session.run(fetch) for fetch in fetches]


def per_replica(values, devices):
    return PerReplica(ReplicaDeviceMap(devices), [tf.constant(v) for v in values])


def test_names_of_devices_are_filled_in_from_the_scopes_around():
    assert canonicalize("/cpu:0") == "/replica:0/task:0/device:CPU:0"
    assert {canonicalize(name) for name in ("cpu:0", "CPU:0", "device:CPU:0")} == {"/replica:0/task:0/device:CPU:0"}
    assert canonicalize("job:a/device:CPU:1") == "/job:a/replica:0/task:0/device:CPU:1"
    assert canonicalize("/gpu:1", default="/job:worker/task:2/cpu:0") == "/job:worker/replica:0/task:2/device:GPU:1"
    assert current() == ""
    with tf.device("/job:worker"), tf.device("/cpu:1"):
        assert current() == "/job:worker/device:CPU:1" and resolve("/task:3") == "/job:worker/replica:0/task:3/device:CPU:1"


def test_device_maps_know_whose_a_value_is():
    devices = ReplicaDeviceMap(TWO)
    assert devices.select_for_device(["a", "b"], canonicalize("/cpu:1")) == "b"
    assert list(devices.devices_by_replica) == [(canonicalize(d),) for d in TWO]
    with pytest.raises(ValueError, match="Duplicate devices"):
        ReplicaDeviceMap(["/cpu:0", "/cpu:0"])
    with pytest.raises(ValueError, match="not indexed by replicas"):
        SingleDeviceMap("/cpu:0").replica_for_device("/cpu:0")
    assert repr(WorkerDeviceMap(("a",), 2)) == "WorkerDeviceMap(('a',), num_replicas_per_worker=2)"


def test_structures_of_replicas_are_regrouped_and_taken_apart_again():
    devices = ReplicaDeviceMap(TWO)
    same = object()
    found = regroup(devices, ([1, {"a": 2, "b": same}], [3, {"a": 4, "b": same}]))
    assert found[0].values == (1, 3) and found[1]["b"] is same
    assert select_replica(1, found) == [3, {"a": 4, "b": same}]
    with pytest.raises(TypeError, match="Expected value to be mirrored"):
        select_device_mirrored("/cpu:0", found)
    with pytest.raises(AssertionError, match="len"):
        regroup(devices, ([1], [1, 2]))


@pytest.mark.parametrize(
    "ops",
    [
        tf.distribute.ReductionToOneDevice(),
        tf.distribute.ReductionToOneDevice("/cpu:1", tf.accumulate_n),
        tf.distribute.NcclAllReduce(2),
        tf.distribute.HierarchicalCopyAllReduce(),
        tf.distribute.HierarchicalCopyAllReduce(0),
        tf.contrib.distribute.AllReduceCrossDeviceOps("hierarchical_copy", 0, 100, 2),
    ],
    ids=lambda ops: type(ops).__name__,
)
def test_cross_device_ops_agree(ops):
    """Sums and means of tensors of several shapes, in batches and alone, end up on every device."""
    devices = [canonicalize(d) for d in THREE]
    small = per_replica([1.0, 2.0, 6.0], devices)
    large = per_replica([np.full((2, 2), i, np.float32) for i in range(3)], devices)
    wanted = [9.0, np.full((2, 2), 3.0)]
    sums = ops.batch_reduce(tf.distribute.ReduceOp.SUM, [(small, small), (large, large)])
    mean = ops.reduce(tf.distribute.ReduceOp.MEAN, small, small)
    assert [v.device for v in sums[1].values] == devices
    found, means = run([s.values for s in sums], list(mean.values))
    for each, expected in zip(found, wanted):
        np.testing.assert_allclose(each, [expected] * 3)
    assert means == [3.0] * 3
    assert run(ops.reduce("SUM", small, "/cpu:0")) == [9.0]


def test_slices_are_put_together():
    rows = [tf.IndexedSlices(tf.constant([[i + 1.0]]), tf.constant([i]), tf.constant([3, 1])) for i in range(2)]
    value = PerReplica(ReplicaDeviceMap(TWO), rows)
    found = tf.distribute.ReductionToOneDevice().reduce("MEAN", value, "/cpu:0")
    assert run(tf.convert_to_tensor(found))[0].tolist() == [[0.5], [1.0], [0.0]]


def test_what_all_replicas_share_can_not_be_summed():
    strategy = tf.distribute.MirroredStrategy(TWO)
    with pytest.raises(ValueError, match="cannot be reduced with the given reduce op"):
        strategy.reduce("SUM", tf.constant(1.0))
    assert strategy.reduce("MEAN", 3.0) == 3.0


@pytest.mark.parametrize("alg", ["nccl", "xring", "nccl/xring", "nccl/rechd", "nccl/pscpu", "pscpu/pscpu", "pscpu"])
def test_algorithms_between_workers_add_up(alg):
    values = []
    for task in range(2):
        with tf.device(f"/replica:0/task:{task}/device:CPU:0"):
            values.append(tf.constant(np.arange(5, dtype=np.float32) + task))
    found = by_algorithm(alg, values, [f"/replica:0/task:{i}" for i in range(2)], 2)
    with tf.Session(config=tf.ConfigProto(allow_soft_placement=True)) as session, tf.device(None):
        for op in tf.get_default_graph().get_operations():
            op._set_device("")
        for total in session.run(found):
            assert total.tolist() == [1.0, 3.0, 5.0, 7.0, 9.0]


def test_unknown_algorithms_are_refused():
    with pytest.raises(ValueError, match="unsupported all_reduce alg: bogus"):
        by_algorithm("bogus", [tf.constant(1.0)], ["/task:0"], 1)
    assert MultiWorkerAllReduce(["/task:0"], 1, [("xring", 1, -1)])._all_reduce_spec[0].alg == "xring"


def test_rings_go_through_all_devices():
    before, places = all_reduce.ring_permutations(1, 2, [0, 1, 2, 3])
    assert before == [[3, 0, 1, 2]] * 2 and places == [[0, 1, 2, 3], [2, 3, 0, 1]]
    with pytest.raises(ValueError, match="must be <= num_gpus"):
        all_reduce.ring_permutations(1, 3, [0, 1])
    with pytest.raises(ValueError, match="statically known shape"):
        all_reduce.flattened([tf.placeholder(tf.float32, [None])])


def test_variables_that_are_read_together_refuse_what_has_no_meaning():
    strategy = tf.distribute.MirroredStrategy(TWO)
    with strategy.scope():
        total = tf.Variable(0.0, synchronization=tf.VariableSynchronization.ON_READ, aggregation=tf.VariableAggregation.SUM)
        alone = tf.Variable(0.0, synchronization=tf.VariableSynchronization.ON_READ)
    with pytest.raises(ValueError, match="does not support `assign_add` in cross-replica context"):
        total.assign_add(1.0)
    with pytest.raises(ValueError, match="Could not convert from"):
        alone.read_value()
    assert not total.trainable
    added = strategy.experimental_run_v2(lambda: total.assign_add(2.0))
    with tf.Session(config=tf.ConfigProto(device_count={"CPU": 2})) as session:
        session.run(tf.global_variables_initializer())
        session.run(list(strategy.experimental_local_results(added)))
        assert session.run(total.read_value()) == 4.0


def test_central_storage_keeps_one_variable_that_replicas_write_to_together():
    strategy = tf.distribute.experimental.CentralStorageStrategy(TWO)
    with strategy.scope():
        v = tf.get_variable("v", [], initializer=tf.zeros_initializer(), aggregation=tf.VariableAggregation.MEAN)
    assert type(v).__name__ == "AggregatingVariable" and tf.global_variables() == [v] and v.device == "/device:CPU:0"

    def step():
        return v.assign_add(tf.cast(tf.distribute.get_replica_context().replica_id_in_sync_group, tf.float32))

    done = strategy.group(strategy.experimental_run_v2(step))
    with tf.Session(config=tf.ConfigProto(device_count={"CPU": 2})) as session:
        session.run(tf.global_variables_initializer())
        session.run(done)
        assert session.run(v) == 0.5


def test_mirrored_values_stand_for_the_first_copy():
    both = Mirrored(ReplicaDeviceMap(TWO), [tf.constant(2.0), tf.constant(2.0)])
    assert run(both + 1.0, tf.square(both)) == [3.0, 4.0]


def test_keras_shares_batches_out_as_tensorflow_does():
    """The losses and weights of 1.15.5 for this program: each replica normalizes its own half of a batch."""
    x = np.linspace(0, 1, 16, dtype=np.float32).reshape(8, 2)
    y = x.sum(1, keepdims=True) + 1
    tf.keras.backend.set_session(tf.Session(config=tf.ConfigProto(device_count={"CPU": 2})))
    with tf.distribute.MirroredStrategy(TWO).scope():
        layers = tf.keras.layers
        model = tf.keras.Sequential([
            layers.Dense(
                3, input_shape=(2,), kernel_initializer="ones", activation="tanh", kernel_regularizer=tf.keras.regularizers.l2(0.1)
            ),
            layers.BatchNormalization(),
            layers.Dense(1, kernel_initializer="ones"),
        ])  # fmt: skip
        model.compile(tf.keras.optimizers.SGD(0.1, momentum=0.9), "mse", metrics=["mae"])
    history = model.fit(x, y, batch_size=4, epochs=3, verbose=0, shuffle=False).history
    np.testing.assert_allclose(history["loss"], [7.12236, 1.92924, 0.66329], atol=2e-4)
    np.testing.assert_allclose(history["mean_absolute_error"], [2.26811, 0.98827, 0.49894], atol=2e-4)
    np.testing.assert_allclose(model.evaluate(x, y, batch_size=4, verbose=0), [2.49451, 1.41063], atol=2e-3)
    np.testing.assert_allclose(model.predict(x, batch_size=4)[[0, 7], 0], [3.2138, 3.53614], atol=2e-3)


def test_inputs_of_workers_are_their_shares():
    context = tf.distribute.InputContext(2, 1, 4)
    assert (context.num_input_pipelines, context.input_pipeline_id, context.get_per_replica_batch_size(8)) == (2, 1, 2)
    with pytest.raises(ValueError, match="is not divisible"):
        context.get_per_replica_batch_size(6)
    strategy = tf.distribute.MirroredStrategy(TWO)
    iterator = strategy.make_dataset_iterator(tf.data.Dataset.range(8).batch(4))
    batch = iterator.get_next()
    with tf.Session(config=tf.ConfigProto(device_count={"CPU": 2})) as session:
        session.run(iterator.initialize())
        assert [part.tolist() for part in session.run(batch.values)] == [[0, 1], [2, 3]]
