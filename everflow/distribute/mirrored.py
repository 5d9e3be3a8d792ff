"""tf.distribute.MirroredStrategy: a replica on each device, and a copy of each variable beside it."""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Callable, Sequence
from typing import Any

import everflow as tf
from everflow.api import internal, public
from everflow.distribute.cluster_resolver.tf_config import TFConfigClusterResolver
from everflow.distribute.cluster_workers import normalize_cluster_spec
from everflow.distribute.device_maps import DeviceMap, ReplicaDeviceMap
from everflow.distribute.device_names import get_host_for_device, resolve
from everflow.distribute.inputs import FedByWorkers, InputWorkers
from everflow.distribute.reductions import (
    CrossDeviceOps,
    MultiWorkerAllReduce,
    ReduceOp,
    ReductionToOneDevice,
    choose_the_best,
    device_map_of,
    reduce_non_distributed_value,
)
from everflow.distribute.replica_threads import call_for_each_replica
from everflow.distribute.strategy import ReplicaContext, Strategy, StrategyExtended, StrategyV2
from everflow.distribute.strategy_context import Standing
from everflow.distribute.values import DistributedValues, Mirrored, select_replica, update_regroup, value_container
from everflow.distribute.variables import DistributedVariable, MirroredVariable, SyncOnReadVariable
from everflow.graph.devices import DeviceSpec
from everflow.graph.keys import GraphKeys
from everflow.graph.scopes import device, name_scope
from everflow.ops.variables.variables import VariableSynchronization

MIRRORED = "distribute.mirrored_strategy."


def machine_devices(num_gpus: int | None = None) -> list[str]:
    """The GPUs of this machine, or its processor where there are none."""
    found = [d.name for d in tf.config.experimental.list_logical_devices("GPU")]
    if num_gpus is not None:
        if num_gpus > len(found):
            raise ValueError(f"{num_gpus} GPUs were asked for, and this machine has {len(found)}")
        found = found[:num_gpus]
    return found or ["/device:CPU:0"]


@internal(MIRRORED + "all_local_devices")
def all_local_devices(num_gpus: int | None = None) -> tuple[str, ...]:
    """The devices of this machine that train: GPUs, or else the processor."""
    count = tf.contrib.eager.num_gpus() if num_gpus is None else num_gpus
    return tuple(f"/device:GPU:{i}" for i in range(count)) or ("/device:CPU:0",)


@internal(MIRRORED + "_cluster_spec_to_device_list")
def devices_of_cluster(cluster_spec: Any, num_gpus_per_worker: int) -> list[str]:
    """The devices of all workers of a cluster, the chief's first."""
    spec = normalize_cluster_spec(cluster_spec)
    tasks = [(job, i) for job in ("chief", "worker") if job in spec.jobs for i in spec.task_indices(job)]
    kinds = [f"/device:GPU:{i}" for i in range(num_gpus_per_worker)] or ["/device:CPU:0"]
    return [f"/job:{job}/task:{i}{kind}" for job, i in tasks for kind in kinds]


@internal(MIRRORED + "all_devices")
def all_devices() -> Sequence[str]:
    """The devices of the cluster that TF_CONFIG describes; without one, of this machine."""
    resolver = TFConfigClusterResolver()
    cluster = resolver.cluster_spec()
    count = tf.contrib.eager.num_gpus()
    return devices_of_cluster(cluster, count) if cluster.jobs else all_local_devices(count)


@internal(MIRRORED + "MirroredReplicaContext")
class MirroredReplicaContext(ReplicaContext):
    """A replica of MirroredStrategy, which runs in a thread of its own."""


@internal(MIRRORED + "MirroredStrategy")
@public("compat.v2.distribute.MirroredStrategy")
class MirroredStrategyV2(StrategyV2):
    """Trains on several devices at once: each replica gets a part of a batch, and gradients are added up."""

    def __init__(self, devices: Any = None, cross_device_ops: Any = None) -> None:
        super().__init__(MirroredExtended(self, devices, cross_device_ops))


@public("distribute.MirroredStrategy")
class MirroredStrategy(Strategy):
    """Trains on several devices at once: each replica gets a part of a batch, and gradients are added up."""

    def __init__(self, devices: Any = None, cross_device_ops: Any = None) -> None:
        super().__init__(MirroredExtended(self, devices, cross_device_ops))


@public("contrib.distribute.MirroredStrategy")
class ContribMirroredStrategy(Strategy):
    """The same, as it was before tf.distribute: it could be told a number of GPUs, and batches were those of a replica."""

    def __init__(
        self,
        devices: Any = None,
        num_gpus: Any = None,
        num_gpus_per_worker: Any = None,
        cross_device_ops: Any = None,
        auto_shard_dataset: bool = False,
        cross_tower_ops: Any = None,
    ) -> None:
        if cross_device_ops is not None and cross_tower_ops is not None:
            raise AssertionError("You must only specify one of `cross_device_ops` and `cross_tower_ops`.")
        extended = ContribMirroredExtended(
            self, devices, num_gpus, num_gpus_per_worker, cross_device_ops or cross_tower_ops, auto_shard_dataset
        )
        super().__init__(extended)


@internal(MIRRORED + "MirroredExtended")
class MirroredExtended(FedByWorkers, StrategyExtended):
    """How several devices do it."""

    _variable_kinds: tuple[Any, Any] = (MirroredVariable, SyncOnReadVariable)

    def __init__(self, container_strategy: Any, devices: Any = None, cross_device_ops: Any = None) -> None:
        super().__init__(container_strategy)
        if devices is None:
            devices = all_devices()
        if not devices:
            raise AssertionError("Got an empty `devices` list. Please specify at least one device.")
        self._cross_device_ops: CrossDeviceOps | None = cross_device_ops
        self._initialize_strategy(devices)

    def _initialize_strategy(self, devices: Sequence[str]) -> None:
        found = tuple(resolve(d) for d in devices)
        if len(set(found)) != len(found):
            raise AssertionError(f"No duplicates allowed in `devices` argument: {found}")
        self._device_map: DeviceMap = ReplicaDeviceMap(found)
        workers = _by_worker(found)
        self._input_workers = InputWorkers(self._device_map, workers)
        if len(workers) > 1:
            self._inferred_cross_device_ops: CrossDeviceOps = _between_workers(workers)
            # What nobody asked a device for is done by the first worker.
            self._default_device = _task_of(workers[0][0])
        else:
            self._inferred_cross_device_ops = choose_the_best(found)
            self._default_device = None

    def _get_cross_device_ops(self) -> CrossDeviceOps:
        return self._cross_device_ops or self._inferred_cross_device_ops

    @property
    def worker_devices(self) -> tuple[str, ...]:
        """The devices."""
        return self._device_map.all_devices

    @property
    def worker_devices_by_replica(self) -> Any:
        """The device of each replica."""
        return self._device_map.devices_by_replica

    @property
    def _num_replicas_in_sync(self) -> int:
        return self._device_map.num_replicas_in_graph

    def non_slot_devices(self, var_list: Any) -> Any:
        """All devices."""
        return self.worker_devices

    # Variables

    def _create_variable(self, next_creator: Any, **kwargs: Any) -> Any:
        synchronization = kwargs["synchronization"]
        aggregation = kwargs["aggregation"]
        if synchronization == VariableSynchronization.NONE:
            raise ValueError(
                "`NONE` variable synchronization mode is not supported with `Mirrored` distribution strategy. Please change "
                f"the `synchronization` for variable: {kwargs.get('name')}"
            )
        if self._metrics_are_shared and GraphKeys.METRIC_VARIABLES in (kwargs.get("collections") or ()):
            with device(self.worker_devices[0]):
                return next_creator(**{**kwargs, "use_resource": True})
        beside = kwargs.pop("colocate_with", None)
        where = self._device_map if beside is None else device_map_of(beside.device if hasattr(beside, "worker") else beside)[0]
        on_read = synchronization == VariableSynchronization.ON_READ
        if kwargs.get("trainable") is None:
            kwargs["trainable"] = not on_read
        collections = kwargs.pop("collections", None)
        if collections is None:
            collections = [GraphKeys.GLOBAL_VARIABLES]
        kwargs["collections"] = []
        kwargs["use_resource"] = True
        copies = self._copies(next_creator, where.all_devices, kwargs)
        made = self._variable_kinds[1 if on_read else 0](self._strategy, where, copies, aggregation)
        for one in copies:
            one._distribute_strategy = self._strategy
        if not tf.executing_eagerly():
            if kwargs["trainable"] and GraphKeys.TRAINABLE_VARIABLES not in collections:
                collections = [*collections, GraphKeys.TRAINABLE_VARIABLES]
            with tf.init_scope():
                if not tf.executing_eagerly():
                    graph = tf.get_default_graph()
                    trainable = graph.get_collection_ref(GraphKeys.TRAINABLE_VARIABLES)
                    trainable[:] = [v for v in trainable if not any(v is one for one in copies)]
                    graph.add_to_collections(collections, made)
        return made

    def _copies(self, next_creator: Any, devices: Sequence[str], kwargs: dict[str, Any]) -> list[Any]:
        """A variable on each device, all of which start with the value of the first."""
        copies: list[Any] = []
        for i, where in enumerate(devices):
            given = dict(kwargs)
            if i:
                given["name"] = f"{copies[0].name.partition(':')[0]}/replica_{i}"
            given["initial_value"] = self._initial_value(i, where, copies[0] if i else None, kwargs)
            with tf.init_scope(), tf.colocate_with(None, ignore_existing=True), device(where):
                with Standing(self._strategy, update_device=where), name_scope(None) if i else contextlib.nullcontext():
                    copies.append(next_creator(**given))
        return copies

    def _initial_value(self, replica: int, where: str, first: Any, kwargs: dict[str, Any]) -> Any:
        """What a copy starts with: the value of the first, whatever its initializer does."""
        if first is None:
            return kwargs["initial_value"]
        return lambda: tf.identity(first.initial_value if first._in_graph_mode else first.value())

    def _validate_colocate_with_variable(self, colocate_with_variable: Any) -> None:
        validate_colocate(colocate_with_variable, self)

    def value_container(self, value: Any) -> Any:
        """The variable that a copy belongs to."""
        return value_container(value)

    def read_var(self, v: Any) -> Any:
        """The value for all replicas."""
        if isinstance(v, SyncOnReadVariable):
            return v._get_cross_replica()
        return tf.identity(v._get_cross_replica() if isinstance(v, Mirrored) else v)

    # Running

    def _call_for_each_replica(self, fn: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        return call_for_each_replica(self._strategy, self._device_map, fn, args, kwargs)

    def _reduce_to(self, reduce_op: Any, value: Any, destinations: Any) -> Any:
        if isinstance(value, Mirrored) and reduce_op == ReduceOp.MEAN:
            return value
        if isinstance(value, Mirrored):
            raise AssertionError(f"{value} is the same on all replicas: it has no sum")
        if isinstance(value, SyncOnReadVariable):
            value = value._get_cross_replica()
        if not isinstance(value, DistributedValues):
            return reduce_non_distributed_value(reduce_op, self._device_map, value, destinations)
        return self._get_cross_device_ops().reduce(reduce_op, value, destinations=destinations)

    def _batch_reduce_to(self, reduce_op: Any, value_destination_pairs: Any) -> list[Any]:
        return self._get_cross_device_ops().batch_reduce(reduce_op, list(value_destination_pairs))

    def _broadcast_to(self, tensor: Any, destinations: Any) -> Any:
        if isinstance(tensor, (float, int)):
            return tensor
        if destinations is None:
            destinations = Mirrored(self._device_map, [tensor] * self._device_map.num_replicas_in_graph)
        return self._get_cross_device_ops().broadcast(tensor, destinations)

    def _update(self, var: Any, fn: Callable[..., Any], args: Any, kwargs: Any, group: bool) -> Any:
        if not isinstance(var, DistributedVariable):
            raise AssertionError(f"{var} is no variable of this strategy")
        found = []
        for i, (one, where) in enumerate(zip(var.values, var.devices)):
            with device(where), Standing(self._strategy, update_device=where), name_scope(f"update_{i}"):
                found.append(fn(one, *select_replica(i, args), **select_replica(i, kwargs)))
        return update_regroup(self, var.device_map, found, group)

    def _update_non_slot(self, colocate_with: Any, fn: Callable[..., Any], args: Any, kwargs: Any, group: bool) -> Any:
        if not isinstance(colocate_with, tuple):
            raise AssertionError(f"{colocate_with} are not the devices of this strategy")
        found = []
        for i, where in enumerate(colocate_with):
            with device(where), Standing(self._strategy, update_device=where), name_scope(f"update_{i}"):
                found.append(fn(*select_replica(i, args), **select_replica(i, kwargs)))
        return update_regroup(self, self._device_map, found, group)

    # Configuration

    def _configure(self, session_config: Any = None, cluster_spec: Any = None, task_type: Any = None, task_id: Any = None) -> None:
        if cluster_spec:
            count = sum("GPU" in d for d in self.worker_devices) // max(1, self._input_workers.num_workers)
            self._initialize_strategy(devices_of_cluster(cluster_spec, count))

    def _update_config_proto(self, config_proto: Any) -> Any:
        updated = copy.deepcopy(config_proto)
        updated.isolate_session_state = True
        return updated


def gpus_of(cluster_resolver: Any) -> int:
    """How many GPUs a worker has: as its resolver was told, or as it finds."""
    if cluster_resolver is None or isinstance(cluster_resolver, TFConfigClusterResolver):
        return tf.contrib.eager.num_gpus()
    return cluster_resolver.num_accelerators().get("GPU", 0)


@internal("distribute.values.validate_colocate")
def validate_colocate(v: Any, extended: Any) -> None:
    """An error where variables can't be put beside this one."""
    if not hasattr(v, "_distribute_strategy"):
        raise ValueError(f"`colocate_vars_with` must only be passed a variable created in this tf.distribute.Strategy.scope(), not: {v!r}")
    if v._distribute_strategy is None or v._distribute_strategy.extended is not extended:
        raise ValueError(
            "`colocate_vars_with` must only be passed a variable created in this tf.distribute.Strategy.scope(), not "
            f"{v} created in scope: {v._distribute_strategy}"
        )


@internal("distribute.values.validate_colocate_distributed_variable")
def validate_colocate_distributed_variable(v: Any, extended: Any) -> None:
    """The same, and it must be one with copies."""
    if not isinstance(v, DistributedVariable):
        raise ValueError(f"`colocate_vars_with` must only be passed a variable created in this tf.distribute.Strategy.scope(), not: {v!r}")
    validate_colocate(v, extended)


def _task_of(name: str) -> str:
    spec = DeviceSpec.from_string(name)
    return DeviceSpec(job=spec.job, replica=spec.replica, task=spec.task).to_string()


def _by_worker(devices: Sequence[str]) -> list[tuple[str, tuple[str, ...]]]:
    """The host of each task, with the devices of that task."""
    found: dict[str, list[str]] = {}
    for where in devices:
        found.setdefault(get_host_for_device(where), []).append(where)
    return [(host, tuple(own)) for host, own in found.items()]


def _between_workers(workers: Sequence[tuple[str, tuple[str, ...]]]) -> CrossDeviceOps:
    """What reduces between the workers of one graph: shards on each of their hosts."""
    gpus = sum("GPU" in where for where in workers[0][1])
    if gpus and any(len(own) != len(workers[0][1]) for _, own in workers):
        return ReductionToOneDevice()
    return MultiWorkerAllReduce([_task_of(host) for host, _ in workers], gpus) if gpus > 1 else ReductionToOneDevice()


class ContribMirroredExtended(MirroredExtended):
    """How the strategy of tf.contrib does it: a dataset gives batches of one replica."""

    _global_batch_size = False

    def __init__(
        self,
        container_strategy: Any,
        devices: Any = None,
        num_gpus_per_worker: Any = None,
        num_gpus: Any = None,
        cross_device_ops: Any = None,
        auto_shard_dataset: bool = False,
    ) -> None:
        if num_gpus is not None and num_gpus_per_worker is not None:
            raise ValueError("You cannot specify both `num_gpus` and `num_gpus_per_worker`.")
        count = num_gpus if num_gpus is not None else num_gpus_per_worker
        if devices is not None and count is not None:
            raise ValueError("Must only specify one of `devices` and `num_gpus`.")
        self._num_gpus_per_worker = count
        self._auto_shard_dataset = auto_shard_dataset
        super().__init__(container_strategy, all_local_devices(count) if devices is None else devices, cross_device_ops)

    def _configure(self, session_config: Any = None, cluster_spec: Any = None, task_type: Any = None, task_id: Any = None) -> None:
        if cluster_spec:
            self._initialize_strategy(devices_of_cluster(cluster_spec, self._num_gpus_per_worker or 0))
