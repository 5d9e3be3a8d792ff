"""tf.distribute.experimental.MultiWorkerMirroredStrategy: replicas in several processes, which all-reduce their gradients."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import everflow as tf
from everflow.api import internal, public
from everflow.distribute import collective_group
from everflow.distribute.cluster_resolver.resolvers import SimpleClusterResolver
from everflow.distribute.cluster_resolver.tf_config import TFConfigClusterResolver
from everflow.distribute.cluster_workers import collective_leader, id_in_cluster, is_chief, normalize_cluster_spec, worker_count
from everflow.distribute.collective_ops import broadcast_recv, broadcast_send
from everflow.distribute.collective_reductions import CollectiveAllReduce, CollectiveCommunication, CollectiveKeys
from everflow.distribute.device_maps import ReplicaDeviceMap
from everflow.distribute.device_names import canonicalize, get_host_for_device
from everflow.distribute.inputs import InputWorkers
from everflow.distribute.mirrored import MirroredExtended, gpus_of
from everflow.distribute.reductions import ReduceOp
from everflow.distribute.strategy import InputContext, ReplicaContext, Strategy, StrategyV2
from everflow.distribute.values import Mirrored
from everflow.eager.devices import PLACEMENT
from everflow.eager.execute import CONTEXT
from everflow.graph.scopes import device
from everflow.platform import logging
from everflow.runtime.tasks import HERE


def _is_own_task(task_type: str, task_id: int) -> bool:
    """Whether TF_CONFIG says that this process is the task."""
    own = TFConfigClusterResolver()
    return (own.task_type, own.task_id) == (task_type, task_id)


@internal("distribute.collective_all_reduce_strategy.CollectiveAllReduceExtended")
class CollectiveAllReduceExtended(MirroredExtended):
    """How several processes do it: each has its own graph, its own variables, and starts with the first one's values."""

    def __init__(self, container_strategy: Any, communication: Any = CollectiveCommunication.AUTO, cluster_resolver: Any = None) -> None:
        if not isinstance(communication, CollectiveCommunication):
            raise AssertionError(f"{communication!r} is no CollectiveCommunication")
        self._communication = communication
        self._collective_keys = CollectiveKeys()
        self._cluster_resolver = cluster_resolver or TFConfigClusterResolver()
        super().__init__(container_strategy, ["/device:CPU:0"])

    def _initialize_strategy(self, devices: Sequence[str]) -> None:
        resolver = self._cluster_resolver
        if resolver.cluster_spec().as_dict():
            self._initialize_multi_worker(resolver)
        else:
            self._initialize_local(resolver)

    def _initialize_local(self, cluster_resolver: Any, devices: Sequence[str] | None = None) -> None:
        self._num_workers = 1
        self._cluster_spec: Any = None
        self._task_type: str | None = None
        self._task_id: int | None = None
        gpus = gpus_of(cluster_resolver) if devices is None else sum("GPU" in d for d in devices)
        found = devices or [f"/device:GPU:{i}" for i in range(gpus)] or ["/device:CPU:0"]
        self._default_device = None
        self._use_devices([canonicalize(d) for d in found], gpus)

    def _initialize_multi_worker(self, cluster_resolver: Any, is_own: bool = True) -> None:
        """Becomes the strategy of a task: this process itself, unless it only drives that one."""
        cluster = normalize_cluster_spec(cluster_resolver.cluster_spec())
        task_type, task_id = cluster_resolver.task_type, cluster_resolver.task_id
        if task_type is None or task_id is None:
            raise ValueError("When `cluster_spec` is given, you must also specify `task_type` and `task_id`.")
        self._cluster_spec, self._task_type, self._task_id = cluster, task_type, task_id
        self._num_workers = worker_count(cluster, task_type)
        if not self._num_workers:
            raise ValueError("No `worker`, `chief` or `evaluator` tasks can be found in `cluster_spec`.")
        self._is_chief = is_chief(cluster, task_type, task_id)
        self._worker_device = f"/job:{task_type}/task:{task_id}"
        gpus = gpus_of(cluster_resolver)
        if is_own:
            HERE.job, HERE.index = task_type, task_id
        if is_own and tf.executing_eagerly():
            PLACEMENT.choose(local=f"/job:{task_type}/replica:0/task:{task_id}")
            (own,) = CONTEXT.placer.tasks
            own.job, own.index = task_type, task_id
        found = [f"{self._worker_device}/device:GPU:{i}" for i in range(gpus)] or [f"{self._worker_device}/device:CPU:0"]
        self._default_device = self._worker_device
        if is_own and task_type != "evaluator":
            collective_group.join(cluster, task_type, task_id)
        self._use_devices([canonicalize(d) for d in found], gpus)

    def _use_devices(self, devices: Sequence[str], gpus: int) -> None:
        if self._communication == CollectiveCommunication.NCCL and not gpus:
            logging.warning("Enabled NCCL communication but no GPUs detected/specified.")
        self._num_gpus_per_worker = gpus
        self._device_map = ReplicaDeviceMap(devices)
        self._input_workers = InputWorkers(self._device_map, [(get_host_for_device(devices[0]), self.worker_devices)])
        self._inferred_cross_device_ops = CollectiveAllReduce(self._num_workers, gpus, collective_keys=self._collective_keys)
        self._cross_device_ops = self._inferred_cross_device_ops

    def _in_multi_worker_mode(self) -> bool:
        return self._num_workers > 1

    def _first_replica(self) -> int:
        """The number of this worker's first replica among all."""
        if self._cluster_spec is None or self._task_type == "evaluator":
            return 0
        return id_in_cluster(self._cluster_spec, self._task_type, int(self._task_id or 0)) * self._device_map.num_replicas_in_graph

    def _replica_context(self, replica: int, thread: Any = None) -> ReplicaContext:
        found = ReplicaContext(self._strategy, self._first_replica() + replica)
        found._replica_id, found._thread = replica, thread
        return found

    @property
    def _num_replicas_in_sync(self) -> int:
        return self._device_map.num_replicas_in_graph * self._num_workers

    def _copies(self, next_creator: Any, devices: Sequence[str], kwargs: dict[str, Any]) -> list[Any]:
        if self._num_workers == 1:
            return super()._copies(next_creator, devices, kwargs)
        given, own = kwargs["initial_value"], []

        def noted() -> Any:
            own.append(tf.convert_to_tensor(given() if callable(given) else given, dtype=kwargs.get("dtype")))
            return own[0]

        copies = super()._copies(next_creator, devices, {**kwargs, "initial_value": noted})
        if own and copies[0]._in_graph_mode:
            # Who asks for an initial value later, worker by worker, gets the worker's own: nobody would be there to agree with.
            copies[0]._initial_value = own[0]
        return copies

    def _initial_value(self, replica: int, where: str, first: Any, kwargs: dict[str, Any]) -> Any:
        """What a copy starts with: the first worker's value."""
        if first is not None or self._num_workers == 1:
            return super()._initial_value(replica, where, first, kwargs)
        given = kwargs["initial_value"]

        def agreed() -> Any:
            with device(where):
                value = tf.convert_to_tensor(given() if callable(given) else given, dtype=kwargs.get("dtype"))
                keys: dict[str, Any] = {
                    "group_size": self._num_workers,
                    "group_key": self._collective_keys.get_group_key([where]),
                    "instance_key": self._collective_keys.get_variable_instance_key(),
                }
                if not value.dtype.is_floating and not value.dtype.is_integer:
                    # Text and truth values are what programs say, not what chance does.
                    return value
                if self._is_chief:
                    return broadcast_send(value, value.shape, value.dtype, **keys)
                return broadcast_recv(value.shape, value.dtype, **keys)

        return agreed

    def _input_context_of_worker(self) -> InputContext | None:
        return self._own_context() if self._num_workers > 1 else None

    def _own_context(self) -> InputContext:
        which = 0 if self._cluster_spec is None else id_in_cluster(self._cluster_spec, self._task_type, int(self._task_id or 0))
        return InputContext(self._num_workers, which, self._num_replicas_in_sync)

    def _input_contexts(self) -> list[InputContext]:
        return [self._own_context()]

    def _reduce_to(self, reduce_op: Any, value: Any, destinations: Any) -> Any:
        if isinstance(value, Mirrored) and reduce_op != ReduceOp.MEAN and self._num_workers == 1 and len(value.values) == 1:
            value = value.values[0]
        if not hasattr(value, "values") and self._num_workers > 1 and not isinstance(value, (int, float)):
            value = tf.convert_to_tensor(value)
            return self._get_cross_device_ops().reduce(reduce_op, value, destinations=destinations)
        return super()._reduce_to(reduce_op, value, destinations)

    def _configure(self, session_config: Any = None, cluster_spec: Any = None, task_type: Any = None, task_id: Any = None) -> None:
        if cluster_spec:
            self._cluster_resolver = SimpleClusterResolver(
                cluster_spec=normalize_cluster_spec(cluster_spec),
                task_type=task_type,
                task_id=task_id,
                num_accelerators={"GPU": self._num_gpus_per_worker},
            )
            # A client may configure the strategies of workers elsewhere.
            self._initialize_multi_worker(self._cluster_resolver, is_own=_is_own_task(task_type, task_id))
        if session_config:
            session_config.CopyFrom(self._update_config_proto(session_config))

    def _update_config_proto(self, config_proto: Any) -> Any:
        updated = copy.deepcopy(config_proto)
        rewrites = updated.graph_options.rewrite_options
        rewrites.scoped_allocator_optimization = type(rewrites).ON
        del rewrites.scoped_allocator_opts.enable_op[:]
        rewrites.scoped_allocator_opts.enable_op.append("CollectiveReduce")
        if self._communication == CollectiveCommunication.NCCL:
            updated.experimental.collective_nccl = True
        if not self._cluster_spec:
            return updated
        # A worker talks to the others by collectives alone.
        updated.experimental.collective_group_leader = collective_leader(self._cluster_spec, self._task_type, self._task_id)
        del updated.device_filters[:]
        updated.device_filters.append(f"/job:{self._task_type}/task:{self._task_id}")
        return updated

    @property
    def experimental_between_graph(self) -> bool:
        """Each worker builds its own graph."""
        return True

    @property
    def experimental_should_init(self) -> bool:
        """Each worker initializes its variables."""
        return True


@internal("distribute.collective_all_reduce_strategy.CollectiveAllReduceStrategy")
@public("compat.v2.distribute.experimental.MultiWorkerMirroredStrategy")
class MultiWorkerMirroredStrategyV2(StrategyV2):
    """Synchronous training in several processes: TF_CONFIG names them, and they all-reduce their gradients."""

    def __init__(self, communication: Any = CollectiveCommunication.AUTO) -> None:
        super().__init__(CollectiveAllReduceExtended(self, communication))

    @classmethod
    def _from_local_devices(cls, devices: Sequence[str]) -> Any:
        found = cls()
        found.extended._initialize_local(TFConfigClusterResolver(), devices=devices)
        return found


@public("distribute.experimental.MultiWorkerMirroredStrategy")
class MultiWorkerMirroredStrategy(Strategy):
    """Synchronous training in several processes: TF_CONFIG names them, and they all-reduce their gradients."""

    def __init__(self, communication: Any = CollectiveCommunication.AUTO) -> None:
        super().__init__(CollectiveAllReduceExtended(self, communication))


@public("contrib.distribute.CollectiveAllReduceStrategy")
class ContribCollectiveAllReduceStrategy(Strategy):
    """The same, as it was before tf.distribute: it is told how many GPUs a worker has."""

    def __init__(self, num_gpus_per_worker: int = 0, communication: Any = CollectiveCommunication.AUTO) -> None:
        given = TFConfigClusterResolver()
        resolver = SimpleClusterResolver(
            cluster_spec=given.cluster_spec(),
            task_type=given.task_type,
            task_id=given.task_id,
            num_accelerators={"GPU": num_gpus_per_worker},
        )
        super().__init__(CollectiveAllReduceExtended(self, communication, resolver))
