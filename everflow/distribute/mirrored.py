"""tf.distribute.MirroredStrategy: a replica on each device of a machine, and a copy of each variable beside it."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from typing import Any

import everflow as tf
from everflow.api import internal, public
from everflow.distribute.reductions import NcclAllReduce, ReduceOp, ReductionToOneDevice, canonicalize, copied_to, devices_of
from everflow.distribute.replica_threads import call_for_each_replica
from everflow.distribute.strategy import Strategy, StrategyExtended
from everflow.distribute.strategy_context import Standing, require_cross_replica_context
from everflow.distribute.values import DistributedValues, Mirrored, PerReplica, regroup, select_replica
from everflow.distribute.variables import DistributedVariable, MirroredVariable, SyncOnReadVariable
from everflow.graph.keys import GraphKeys
from everflow.graph.scopes import device, name_scope
from everflow.ops.variables.variables import VariableAggregation, VariableSynchronization


def machine_devices(num_gpus: int | None = None) -> list[str]:
    """The GPUs of this machine, or its processor where there are none."""
    found = [d.name for d in tf.config.experimental.list_logical_devices("GPU")]
    if num_gpus is not None:
        if num_gpus > len(found):
            raise ValueError(f"{num_gpus} GPUs were asked for, and this machine has {len(found)}")
        found = found[:num_gpus]
    return found or ["/cpu:0"]


@public("distribute.MirroredStrategy")
@internal("distribute.mirrored_strategy.MirroredStrategy")
class MirroredStrategy(Strategy):
    """Trains on several devices at once: each replica gets a part of a batch, and gradients are added up."""

    def __init__(self, devices: Any = None, cross_device_ops: Any = None) -> None:
        super().__init__(MirroredExtended(self, devices, cross_device_ops))


@public("contrib.distribute.MirroredStrategy")
class ContribMirroredStrategy(MirroredStrategy):
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
        if num_gpus is not None and num_gpus_per_worker is not None:
            raise ValueError("You cannot specify both `num_gpus` and `num_gpus_per_worker`.")
        if devices is not None and (num_gpus is not None or num_gpus_per_worker is not None):
            raise ValueError("You must only specify one of `devices` and `num_gpus`.")
        if devices is None:
            devices = machine_devices(num_gpus if num_gpus is not None else num_gpus_per_worker)
        if cross_device_ops is not None and cross_tower_ops is not None:
            raise ValueError("You must only specify one of `cross_device_ops` and `cross_tower_ops`.")
        super().__init__(devices, cross_device_ops or cross_tower_ops)

    def make_dataset_iterator(self, dataset: Any) -> Any:
        """An iterator that gives each replica a batch of its own."""
        return self.make_input_fn_iterator(lambda _: dataset)


class MirroredExtended(StrategyExtended):
    """How several devices do it."""

    def __init__(self, strategy: Strategy, devices: Any, cross_device_ops: Any) -> None:
        super().__init__(strategy)
        given = machine_devices() if devices is None else list(devices)
        if not given:
            raise ValueError("Got an empty `devices` list.")
        self._devices = tuple(canonicalize(d) for d in given)
        if len(set(self._devices)) != len(self._devices):
            raise AssertionError("No duplicates allowed in `devices` argument.")
        self._num_replicas_in_sync = len(self._devices)
        self._cross_device_ops = cross_device_ops or (NcclAllReduce() if all("GPU" in d for d in self._devices) else ReductionToOneDevice())

    @property
    def _default_device(self) -> str:  # type: ignore[override]
        return self._devices[0]

    @property
    def worker_devices(self) -> tuple[str, ...]:
        """The devices."""
        return self._devices

    parameter_devices = worker_devices

    def non_slot_devices(self, var_list: Any) -> Any:
        """All devices."""
        return self._devices

    # Variables

    def _create_variable(self, next_creator: Any, **kwargs: Any) -> Any:
        synchronization = kwargs.get("synchronization") or VariableSynchronization.AUTO
        aggregation = kwargs.get("aggregation") or VariableAggregation.NONE
        if synchronization == VariableSynchronization.NONE:
            raise ValueError(
                "`NONE` variable synchronization mode is not supported with `Mirrored` distribution strategy. Please change "
                f"the `synchronization` for variable: {kwargs.get('name')}"
            )
        if self._metrics_are_shared and GraphKeys.METRIC_VARIABLES in (kwargs.get("collections") or ()):
            with device(self._devices[0]):
                return next_creator(**{**kwargs, "use_resource": True})
        beside = kwargs.pop("colocate_with", None)
        devices = self._devices if beside is None else devices_of(beside)
        on_read = synchronization == VariableSynchronization.ON_READ
        if kwargs.get("trainable") is None:
            kwargs["trainable"] = not on_read
        collections = kwargs.pop("collections", None)
        if collections is None:
            collections = [GraphKeys.GLOBAL_VARIABLES]
        kwargs["collections"] = []
        kwargs["use_resource"] = True
        copies = self._copies(next_creator, devices, kwargs)
        kind = SyncOnReadVariable if on_read else MirroredVariable
        made = kind(self._strategy, copies, devices, aggregation)
        for copy in copies:
            copy._distribute_strategy = self._strategy
        if not tf.executing_eagerly():
            if kwargs["trainable"] and GraphKeys.TRAINABLE_VARIABLES not in collections:
                collections = [*collections, GraphKeys.TRAINABLE_VARIABLES]
            with tf.init_scope():
                if not tf.executing_eagerly():
                    graph = tf.get_default_graph()
                    trainable = graph.get_collection_ref(GraphKeys.TRAINABLE_VARIABLES)
                    trainable[:] = [v for v in trainable if not any(v is copy for copy in copies)]
                    graph.add_to_collections(collections, made)
        return made

    def _copies(self, next_creator: Any, devices: Sequence[str], kwargs: dict[str, Any]) -> list[Any]:
        """A variable on each device, all of which start with the value of the first."""
        copies: list[Any] = []
        for i, where in enumerate(devices):
            given = dict(kwargs)
            if i:
                first = copies[0]
                given["name"] = f"{first.name.partition(':')[0]}/replica_{i}"
                given["initial_value"] = lambda first=first: tf.identity(first.initial_value if first._in_graph_mode else first.value())
            with tf.init_scope(), tf.colocate_with(None, ignore_existing=True), device(where):
                with Standing(self._strategy, update_replica=0), name_scope(None) if i else contextlib.nullcontext():
                    copies.append(next_creator(**given))
        return copies

    def read_var(self, v: Any) -> Any:
        """The value for all replicas."""
        return v.read_value() if isinstance(v, SyncOnReadVariable) else tf.identity(v.primary if isinstance(v, DistributedValues) else v)

    # Running

    def _called(self, fn: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        return call_for_each_replica(self._strategy, self._devices, fn, args, kwargs)

    def _reduce_to(self, reduce_op: Any, value: Any, destinations: Any) -> Any:
        if isinstance(value, Mirrored) and reduce_op == ReduceOp.MEAN:
            return value
        if isinstance(value, PerReplica):
            return self._cross_device_ops.reduce(reduce_op, value, destinations)
        if isinstance(value, DistributedVariable):
            value = value.primary.value() if isinstance(value, Mirrored) else value.read_value()
        elif isinstance(value, Mirrored):
            value = value.values[0]
        if not hasattr(value, "dtype") and value == 0:
            return 0
        if reduce_op == ReduceOp.SUM and self._num_replicas_in_sync > 1:
            # The same value on every replica: each of them counts.
            value = tf.convert_to_tensor(value)
            value = value * tf.cast(self._num_replicas_in_sync, value.dtype)
        return copied_to(value, devices_of(destinations))

    def broadcast_to(self, tensor: Any, destinations: Any) -> Any:
        """A tensor on each of the destinations."""
        require_cross_replica_context(self._strategy)
        if isinstance(tensor, (float, int)):
            return tensor
        return self._cross_device_ops.broadcast(tensor, self._devices if destinations is None else destinations)

    def update(self, var: Any, fn: Callable[..., Any], args: Any = (), kwargs: Any = None, group: bool = True) -> Any:
        """Calls a function for each copy of a variable."""
        require_cross_replica_context(self._strategy)
        if not isinstance(var, DistributedVariable):
            return super().update(var, fn, args, kwargs, group)
        found = []
        for i, (copy, where) in enumerate(zip(var.values, var.devices)):
            with device(where), Standing(self._strategy, update_replica=i), name_scope(f"update_{i}"):
                found.append(fn(copy, *select_replica(i, args), **select_replica(i, kwargs or {})))
        return self._together(found, var.devices, group)

    def update_non_slot(self, colocate_with: Any, fn: Callable[..., Any], args: Any = (), kwargs: Any = None, group: bool = True) -> Any:
        """Calls a function on each device."""
        require_cross_replica_context(self._strategy)
        devices = devices_of(colocate_with)
        found = []
        for i, where in enumerate(devices):
            with device(where), Standing(self._strategy, update_replica=i), name_scope(f"update_{i}"):
                found.append(fn(*select_replica(i, args), **select_replica(i, kwargs or {})))
        return self._together(found, devices, group)

    def _together(self, found: list[Any], devices: Sequence[str], group: bool) -> Any:
        if not group:
            return regroup(found, devices, kind=Mirrored)
        if tf.executing_eagerly():
            return regroup(found, devices, kind=Mirrored)
        done = tf.group(*(op for op in tf.nest.flatten(found) if op is not None))
        results = [f for f in found if f is not None]
        if not results or not all(isinstance(f, tf.Tensor) or hasattr(f, "value") for f in results):
            return done
        copies = []
        for value, where in zip(results, devices):
            with tf.control_dependencies([done]), device(where):
                copies.append(tf.identity(value))
        return Mirrored(copies, devices)
