"""Strategies that keep variables in one place: on the parameter servers of a cluster, or on one device of a machine."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any

import everflow as tf
from everflow.api import internal, public
from everflow.distribute.cluster_resolver.resolvers import SimpleClusterResolver
from everflow.distribute.cluster_resolver.tf_config import TFConfigClusterResolver
from everflow.distribute.cluster_workers import is_chief, normalize_cluster_spec, worker_count
from everflow.distribute.device_maps import DeviceMap, ReplicaDeviceMap
from everflow.distribute.device_names import canonicalize, get_host_for_device, resolve
from everflow.distribute.inputs import FedByWorkers, InputWorkers
from everflow.distribute.mirrored import gpus_of, validate_colocate
from everflow.distribute.reductions import ReductionToOneDevice, devices_of, reduce_non_distributed_value
from everflow.distribute.replica_devices import replica_device_setter
from everflow.distribute.replica_threads import call_for_each_replica
from everflow.distribute.strategy import InputContext, Strategy, StrategyExtended, StrategyV2
from everflow.distribute.strategy_context import Standing
from everflow.distribute.values import DistributedValues, PerReplica, mapped
from everflow.distribute.variables import AggregatingVariable
from everflow.graph.devices import DeviceSpec
from everflow.graph.keys import GraphKeys
from everflow.graph.scopes import colocate_with as _colocate_with
from everflow.graph.scopes import device
from everflow.ops.variables.variables import VariableAggregation, VariableSynchronization

_LOCAL_CPU = "/device:CPU:0"


@internal("distribute.parameter_server_strategy.ParameterServerStrategyExtended")
class ParameterServerExtended(FedByWorkers, StrategyExtended):
    """How it is done: variables lie elsewhere than the replicas, which bring together what they write."""

    def __init__(
        self, container_strategy: Any, cluster_resolver: Any = None, compute_devices: Any = None, parameter_device: str | None = None
    ) -> None:
        super().__init__(container_strategy)
        self._cluster_resolver = cluster_resolver
        self._initialize_strategy(cluster_resolver, compute_devices, parameter_device)
        # They bring values to one device that all of them reach fast.
        self._cross_device_ops = ReductionToOneDevice(reduce_to_device=_LOCAL_CPU)

    def _initialize_strategy(
        self, cluster_resolver: Any = None, compute_devices: Sequence[str] | None = None, parameter_device: str | None = None
    ) -> None:
        cluster = None if cluster_resolver is None else cluster_resolver.cluster_spec()
        if cluster is not None and cluster.as_dict():
            self._initialize_multi_worker(cluster_resolver)
        else:
            self._initialize_local(compute_devices, parameter_device, cluster_resolver)

    def _initialize_local(self, compute_devices: Sequence[str] | None, parameter_device: str | None, cluster_resolver: Any = None) -> None:
        host = canonicalize("/device:CPU:0")
        gpus = gpus_of(cluster_resolver)
        if compute_devices is None:
            compute_devices = [f"/device:GPU:{i}" for i in range(gpus)] or [_LOCAL_CPU]
        compute_devices = [resolve(d) for d in compute_devices]
        if parameter_device is None:
            # A single GPU keeps its variables; several share the processor's.
            parameter_device = compute_devices[0] if len(compute_devices) == 1 and "GPU" in compute_devices[0] else _LOCAL_CPU
        self._set_devices(compute_devices, host)
        self._variable_device: Any = parameter_device
        self._parameter_devices: tuple[str, ...] = (parameter_device,)
        self._cluster_spec: Any = None
        self._task_type: str | None = None
        self._task_id: int | None = None
        self._num_workers = 0
        self._default_device = None

    def _initialize_multi_worker(self, cluster_resolver: Any) -> None:
        cluster = cluster_resolver.cluster_spec()
        task_type, task_id = cluster_resolver.task_type, cluster_resolver.task_id
        if not task_type or task_id is None:
            raise ValueError("When `cluster_spec` is given, you must also specify `task_type` and `task_id`.")
        self._cluster_spec = normalize_cluster_spec(cluster)
        self._task_type, self._task_id = task_type, task_id
        worker = f"/job:{task_type}/task:{task_id}"
        self._default_device = worker
        gpus = gpus_of(cluster_resolver)
        devices = [f"{worker}/device:GPU:{i}" for i in range(gpus)] or [f"{worker}/device:CPU:0"]
        self._set_devices([canonicalize(d) for d in devices], canonicalize(f"{worker}/device:CPU:0"))
        servers = len(self._cluster_spec.as_dict().get("ps", ()))
        if not servers:
            raise ValueError("The cluster spec needs to have `ps` jobs.")
        self._variable_device = replica_device_setter(
            ps_tasks=servers, worker_device=worker, merge_devices=True, cluster=self._cluster_spec.as_dict()
        )
        self._parameter_devices = tuple(f"/job:ps/task:{i}" for i in range(servers))
        self._is_chief = is_chief(self._cluster_spec, task_type, task_id)
        # A parameter server makes a strategy too, since it runs the same program; it trains nothing.
        self._num_workers = 0 if task_type == "ps" else worker_count(self._cluster_spec, task_type)

    def _set_devices(self, devices: Sequence[str], host: str) -> None:
        self._compute_devices = tuple(devices)
        self._device_map: DeviceMap = ReplicaDeviceMap(self._compute_devices)
        self._input_workers = InputWorkers(self._device_map, [(get_host_for_device(host), self._compute_devices)])

    def _in_multi_worker_mode(self) -> bool:
        return self._cluster_spec is not None

    def _allow_variable_partition(self) -> bool:
        return not tf.executing_eagerly()

    def _input_contexts(self) -> list[InputContext]:
        workers = max(1, self._num_workers)
        which = 0
        if self._cluster_spec is not None:
            which = int(self._task_id or 0) + (self._task_type == "worker" and "chief" in self._cluster_spec.jobs)
        return [InputContext(workers, which, self._num_replicas_in_sync)]

    # Variables

    def _create_variable(self, next_creator: Any, **kwargs: Any) -> Any:
        synchronization, aggregation = kwargs["synchronization"], kwargs["aggregation"]
        if synchronization == VariableSynchronization.NONE and self._num_replicas_in_sync > 1:
            raise ValueError(
                "`NONE` variable synchronization mode is not supported with `ParameterServerStrategy`. Please change the "
                f"`synchronization` for variable: {kwargs.get('name')}"
            )
        beside = kwargs.pop("colocate_with", None)

        def made() -> Any:
            if beside is None:
                with _colocate_with(None, ignore_existing=True), device(self._variable_device):
                    return next_creator(**kwargs)
            with _colocate_with(None, ignore_existing=True):
                if isinstance(beside, str) or hasattr(beside, "worker"):
                    with device(getattr(beside, "device", beside)):
                        return next_creator(**kwargs)
                with _colocate_with(beside):
                    return next_creator(**kwargs)

        if self._num_replicas_in_sync == 1:
            found = made()
            found._distribute_strategy = self._strategy
            return found
        if aggregation not in (
            VariableAggregation.NONE,
            VariableAggregation.SUM,
            VariableAggregation.MEAN,
            VariableAggregation.ONLY_FIRST_REPLICA,
        ):
            raise ValueError(f"Invalid variable aggregation mode: {aggregation} for variable: {kwargs.get('name')}")
        collections = kwargs.pop("collections", None)
        if collections is None:
            collections = [GraphKeys.GLOBAL_VARIABLES]
        kwargs["collections"] = []
        if kwargs.get("trainable") is None:
            kwargs["trainable"] = synchronization != VariableSynchronization.ON_READ
        variable = made()
        variable._distribute_strategy = self._strategy
        wrapped = AggregatingVariable(self._strategy, variable, aggregation)
        if not tf.executing_eagerly():
            if kwargs["trainable"] and GraphKeys.TRAINABLE_VARIABLES not in collections:
                collections = [*collections, GraphKeys.TRAINABLE_VARIABLES]
            graph = tf.get_default_graph()
            trainable = graph.get_collection_ref(GraphKeys.TRAINABLE_VARIABLES)
            trainable[:] = [v for v in trainable if v is not variable]
            graph.add_to_collections(collections, wrapped)
        return wrapped

    def _validate_colocate_with_variable(self, colocate_with_variable: Any) -> None:
        validate_colocate(colocate_with_variable, self)

    def value_container(self, value: Any) -> Any:
        """The variable that replicas write to together."""
        container = getattr(value, "_mirrored_in", None)
        return container if isinstance(container, AggregatingVariable) and container.get() is value else value

    def read_var(self, v: Any) -> Any:
        """A fresh read of the variable."""
        return tf.identity(v)

    def non_slot_devices(self, var_list: Any) -> Any:
        """Where the first of the variables is."""
        return min(var_list, key=lambda v: v.name)

    # Running

    def _call_for_each_replica(self, fn: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        return call_for_each_replica(self._strategy, self._device_map, fn, args, kwargs)

    def _checked_destinations(self, destinations: Any) -> None:
        """Reductions stay on this worker or go to parameter servers."""
        if not self._cluster_spec or destinations is None:
            return
        for where in devices_of(destinations):
            spec = DeviceSpec.from_string(where)
            if spec.job == self._task_type and spec.task != self._task_id:
                raise ValueError(f"Cannot reduce to another worker: {spec.to_string()!r}, current worker is {self._default_device!r}")

    def _reduce_to(self, reduce_op: Any, value: Any, destinations: Any) -> Any:
        self._checked_destinations(destinations)
        if not isinstance(value, DistributedValues):
            return reduce_non_distributed_value(reduce_op, self._device_map, value, destinations)
        return self._cross_device_ops.reduce(reduce_op, value, destinations=destinations)

    def _batch_reduce_to(self, reduce_op: Any, value_destination_pairs: Any) -> list[Any]:
        for _, destinations in value_destination_pairs:
            self._checked_destinations(destinations)
        return self._cross_device_ops.batch_reduce(reduce_op, list(value_destination_pairs))

    def _broadcast_to(self, tensor: Any, destinations: Any) -> Any:
        if isinstance(tensor, (float, int)):
            return tensor
        if destinations is None:
            destinations = PerReplica(self._device_map, [tensor] * self._device_map.num_replicas_in_graph)
        if not devices_of(destinations):
            raise ValueError("destinations can not be empty")
        return self._cross_device_ops.broadcast(tensor, destinations)

    def _one_of(self, structured: Any) -> Any:
        """What an update of the one variable gets: replicas have brought their values together before."""

        def only(value: Any) -> Any:
            if not isinstance(value, DistributedValues):
                return value
            if len(value.values) == 1:
                return value.values[0]
            raise ValueError("You cannot update variable with a value of several replicas: reduce it first.")

        return mapped(structured, only)

    def _update(self, var: Any, fn: Callable[..., Any], args: Any, kwargs: Any, group: bool) -> Any:
        if isinstance(var, AggregatingVariable):
            var = var.get()
        with _colocate_with(var), Standing(self._strategy, update_device=var.device or _LOCAL_CPU):
            result = fn(var, *self._one_of(args), **self._one_of(kwargs))
        return result if group else mapped(result, self._local_results)

    def _update_non_slot(self, colocate_with: Any, fn: Callable[..., Any], args: Any, kwargs: Any, group: bool) -> Any:
        where = colocate_with if isinstance(colocate_with, str) else colocate_with.device
        with device(where), Standing(self._strategy, update_device=where or _LOCAL_CPU):
            result = fn(*args, **kwargs)
        return result if group else mapped(result, self._local_results)

    @property
    def worker_devices(self) -> tuple[str, ...]:
        """The devices of this worker."""
        return self._device_map.all_devices

    @property
    def worker_devices_by_replica(self) -> Any:
        """The device of each replica of this worker."""
        return self._device_map.devices_by_replica

    @property
    def parameter_devices(self) -> tuple[str, ...]:
        """The devices that hold variables."""
        return self._parameter_devices

    @property
    def _num_replicas_in_sync(self) -> int:
        # Workers train each at its own pace: in step are the devices of one.
        return self._device_map.num_replicas_in_graph

    # Configuration

    def _configure(self, session_config: Any = None, cluster_spec: Any = None, task_type: Any = None, task_id: Any = None) -> None:
        if cluster_spec:
            resolver = SimpleClusterResolver(
                cluster_spec=normalize_cluster_spec(cluster_spec),
                task_type=task_type,
                task_id=task_id,
                num_accelerators={"GPU": sum("GPU" in d for d in self._compute_devices)},
            )
            self._initialize_multi_worker(resolver)
        if session_config:
            session_config.CopyFrom(self._update_config_proto(session_config))

    def _update_config_proto(self, config_proto: Any) -> Any:
        updated = copy.deepcopy(config_proto)
        if not self._cluster_spec:
            updated.isolate_session_state = True
            return updated
        updated.isolate_session_state = False
        del updated.device_filters[:]
        if self._task_type in ("chief", "worker"):
            # A worker does not wait for the other workers to be there.
            updated.device_filters.extend([f"/job:{self._task_type}/task:{self._task_id}", "/job:ps"])
        elif self._task_type == "ps":
            updated.device_filters.extend(["/job:worker", "/job:chief", "/job:ps"])
        return updated

    @property
    def experimental_between_graph(self) -> bool:
        """Each worker builds its own graph."""
        return True

    @property
    def experimental_should_init(self) -> bool:
        """The chief initializes."""
        return self._is_chief


@internal("distribute.parameter_server_strategy.ParameterServerStrategy")
@public("compat.v2.distribute.experimental.ParameterServerStrategy")
class ParameterServerStrategyV2(StrategyV2):
    """Asynchronous training with parameter servers: variables lie on them, and workers each update them when they are done."""

    def __init__(self, cluster_resolver: Any = None) -> None:
        if cluster_resolver is None:
            cluster_resolver = TFConfigClusterResolver()
        super().__init__(ParameterServerExtended(self, cluster_resolver=cluster_resolver))


@public("distribute.experimental.ParameterServerStrategy")
class ParameterServerStrategy(Strategy):
    """Asynchronous training with parameter servers: variables lie on them, and workers each update them when they are done."""

    def __init__(self, cluster_resolver: Any = None) -> None:
        if cluster_resolver is None:
            cluster_resolver = TFConfigClusterResolver()
        super().__init__(ParameterServerExtended(self, cluster_resolver=cluster_resolver))


@public("contrib.distribute.ParameterServerStrategy")
class ContribParameterServerStrategy(Strategy):
    """The same, as it was before tf.distribute: it is told a number of GPUs, and datasets give the batches of one replica."""

    def __init__(self, num_gpus_per_worker: int = 0) -> None:
        super().__init__(ContribParameterServerExtended(self, num_gpus_per_worker))

    def initialize(self) -> Any:
        """Nothing to initialize."""
        return []


class ContribParameterServerExtended(ParameterServerExtended):
    """How the strategy of tf.contrib does it."""

    _global_batch_size = False

    def __init__(self, container_strategy: Any, num_gpus_per_worker: int) -> None:
        given = TFConfigClusterResolver()
        resolver = SimpleClusterResolver(
            cluster_spec=given.cluster_spec(),
            task_type=given.task_type,
            task_id=given.task_id,
            num_accelerators={"GPU": num_gpus_per_worker},
        )
        super().__init__(container_strategy, cluster_resolver=resolver)


@internal("distribute.central_storage_strategy.CentralStorageStrategy")
@public("compat.v2.distribute.experimental.CentralStorageStrategy")
class CentralStorageStrategyV2(StrategyV2):
    """Several devices of a machine, whose variables lie in one place."""

    def __init__(self, compute_devices: Any = None, parameter_device: str | None = None) -> None:
        super().__init__(ParameterServerExtended(self, compute_devices=compute_devices, parameter_device=parameter_device))

    @classmethod
    def _from_num_gpus(cls, num_gpus: int) -> Any:
        return cls([f"/device:GPU:{i}" for i in range(num_gpus)] or [_LOCAL_CPU])


@public("distribute.experimental.CentralStorageStrategy")
class CentralStorageStrategy(Strategy):
    """Several devices of a machine, whose variables lie in one place."""

    def __init__(self, compute_devices: Any = None, parameter_device: str | None = None) -> None:
        super().__init__(ParameterServerExtended(self, compute_devices=compute_devices, parameter_device=parameter_device))
