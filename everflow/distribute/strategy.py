"""tf.distribute.Strategy: what all strategies can do; StrategyExtended: what each does in its own way."""

from __future__ import annotations

import contextlib
import copy
import enum
from collections.abc import Callable, Iterator
from typing import Any

import everflow as tf
from everflow.api import internal, public
from everflow.autograph.conversion_api import tf_convert
from everflow.data.dataset import DatasetV1
from everflow.distribute import strategy_context
from everflow.distribute.multi_steps import run_steps
from everflow.distribute.reductions import ReduceOp, as_reduce_op
from everflow.distribute.strategy_context import Standing, require_cross_replica_context, require_replica_context
from everflow.distribute.values import DistributedValues, PerReplica, _mapped, regroup, select_replica
from everflow.graph.conversion_status import control_status_ctx
from everflow.graph.scopes import device
from everflow.graph.stacks import get_default_graph
from everflow.losses.weighting import Reduction


@public("distribute.InputReplicationMode")
class InputReplicationMode(enum.Enum):
    """How inputs are dealt to workers."""

    PER_WORKER = "PER_WORKER"


@public("distribute.InputContext")
class InputContext:
    """What an input function is told of the pipelines around it."""

    def __init__(self, num_input_pipelines: int = 1, input_pipeline_id: int = 0, num_replicas_in_sync: int = 1) -> None:
        self.num_input_pipelines = num_input_pipelines
        self.input_pipeline_id = input_pipeline_id
        self.num_replicas_in_sync = num_replicas_in_sync

    def get_per_replica_batch_size(self, global_batch_size: int) -> int:
        """The part of a batch that each replica gets."""
        if global_batch_size % self.num_replicas_in_sync:
            raise ValueError(
                f"The `global_batch_size` {global_batch_size!r} is not divisible by `num_replicas_in_sync` {self.num_replicas_in_sync!r} "
            )
        return global_batch_size // self.num_replicas_in_sync


@public("distribute.get_loss_reduction")
@internal("distribute.distribute_lib.get_loss_reduction")
def get_loss_reduction() -> ReduceOp:
    """How the losses of replicas make one. Only Estimators take means, and only of losses that are no sums."""
    if not strategy_context.get_strategy()._scale_loss_for_estimator:
        return ReduceOp.SUM
    return ReduceOp.SUM if get_default_graph()._last_loss_reduction == Reduction.SUM else ReduceOp.MEAN


@public("distribute.Strategy", "contrib.distribute.DistributionStrategy")
@internal("distribute.distribute_lib.StrategyV1")
class Strategy:
    """How variables and computation are spread over devices.

    strategy = tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"])
    with strategy.scope():
        model = ...
    """

    def __init__(self, extended: Any) -> None:
        self._extended = extended
        # Whether Estimators divide losses by the number of replicas.
        self._scale_loss_for_estimator = False

    @property
    def extended(self) -> Any:
        """What only this kind of strategy knows."""
        return self._extended

    @property
    def num_replicas_in_sync(self) -> int:
        """How many replicas add up their gradients."""
        return self._extended._num_replicas_in_sync

    @contextlib.contextmanager
    def scope(self) -> Iterator[Any]:
        """Makes this the strategy, and makes its kind of variables."""
        entered = strategy_context.standing()
        if entered is not None and entered.strategy is self and entered.replica_context is None:
            yield self
            return
        if strategy_context.has_strategy():
            raise RuntimeError("Must not nest tf.distribute.Strategy scopes.")

        with contextlib.ExitStack() as inside:
            inside.enter_context(tf.variable_creator_scope(self._extended._create_variable))
            where = self._extended._default_device
            if where is not None:
                inside.enter_context(device(where))
            inside.enter_context(self._resources())
            inside.enter_context(Standing(self))
            yield self

    def _resources(self) -> Any:
        """Variables that tf.get_variable makes are reached by handles."""
        if tf.executing_eagerly():
            return contextlib.nullcontext()
        return tf.variable_scope(tf.get_variable_scope(), use_resource=True, auxiliary_name_scope=False)

    def colocate_vars_with(self, colocate_with_variable: Any) -> Any:
        """Puts variables beside another."""
        return self._extended.colocate_vars_with(colocate_with_variable)

    # Inputs

    def make_dataset_iterator(self, dataset: Any) -> Any:
        """An iterator whose batches are split among the replicas."""
        return self._extended._make_dataset_iterator(dataset)

    def make_input_fn_iterator(self, input_fn: Callable[..., Any], replication_mode: Any = InputReplicationMode.PER_WORKER) -> Any:
        """An iterator over what a function gives: a dataset, or a function that makes one batch for a replica."""
        if replication_mode != InputReplicationMode.PER_WORKER:
            raise ValueError(f"Input replication mode not supported: {replication_mode!r}")
        with self.scope():
            return self._extended._make_input_fn_iterator(input_fn)

    def experimental_make_numpy_dataset(self, numpy_input: Any, session: Any = None) -> Any:
        """A dataset of arrays."""
        return self._extended.experimental_make_numpy_dataset(numpy_input, session)

    def experimental_distribute_dataset(self, dataset: Any) -> Any:
        """A dataset whose batches are split among the replicas."""
        return self._extended._experimental_distribute_dataset(dataset)

    def experimental_distribute_datasets_from_function(self, dataset_fn: Any) -> Any:
        """A distributed dataset of what a function gives for each input pipeline."""
        return self._extended._experimental_distribute_datasets_from_function(dataset_fn)

    # Running

    def experimental_run(self, fn: Callable[..., Any], input_iterator: Any = None) -> Any:
        """Runs a function for each replica, with the next of an iterator."""
        with self.scope():
            batch = () if input_iterator is None else (input_iterator.get_next(),)
        return self.experimental_run_v2(fn, batch)

    def experimental_run_v2(self, fn: Callable[..., Any], args: Any = (), kwargs: Any = None) -> Any:
        """Runs a function for each replica."""
        with self.scope():
            return self._extended.call_for_each_replica(_converted(fn), args=args, kwargs=kwargs)

    def reduce(self, reduce_op: Any, value: Any, axis: int | None = None) -> Any:
        """The replicas' values as one; with an axis, also over that axis of each."""
        reduce_op = as_reduce_op(reduce_op)
        if axis is None:
            return self._reduced(reduce_op, value)
        if reduce_op == ReduceOp.SUM:
            return self._reduced(ReduceOp.SUM, self._for_each(lambda v: tf.reduce_sum(v, axis), value))
        sums = self._reduced(ReduceOp.SUM, self._for_each(lambda v: tf.reduce_sum(v, axis), value))
        count = self._reduced(ReduceOp.SUM, self._for_each(lambda v: tf.cast(tf.shape(v, out_type=tf.int64)[axis], v.dtype), value))
        return sums / count

    def _for_each(self, change: Any, value: Any) -> Any:
        return self.experimental_run_v2(change, args=(value,))

    def _reduced(self, reduce_op: Any, value: Any) -> Any:
        if not strategy_context.in_cross_replica_context() and strategy_context.has_strategy():
            raise RuntimeError("Method requires being in cross-replica context, use get_replica_context().merge_call()")
        with self.scope():
            return _mapped(value, lambda v: self._extended._reduced(reduce_op, v))

    def unwrap(self, value: Any) -> tuple[Any, ...]:
        """The values of the replicas."""
        return self.experimental_local_results(value)

    def experimental_local_results(self, value: Any) -> tuple[Any, ...]:
        """The values of this machine's replicas."""
        return self._extended._local_results(value)

    def group(self, value: Any, name: str | None = None) -> Any:
        """One op for what the replicas do."""
        values = self.experimental_local_results(value)
        return values[0] if len(values) == 1 and name is None else tf.group(*values, name=name)

    # Configuration

    def configure(self, session_config: Any = None, cluster_spec: Any = None, task_type: Any = None, task_id: Any = None) -> None:
        """Tells a strategy of the cluster and the session it is used in."""
        self._extended._configure(session_config, cluster_spec, task_type, task_id)

    def update_config_proto(self, config_proto: Any) -> Any:
        """A session configuration as the strategy needs it."""
        return self._extended._update_config_proto(config_proto)

    def __deepcopy__(self, memo: Any) -> Any:
        # Variables know their strategy, which must stay one.
        return self

    def __copy__(self) -> Any:
        raise RuntimeError("Must only deepcopy DistributionStrategy.")


def _converted(fn: Callable[..., Any]) -> Any:
    """The function with Python's control flow on tensors, where it is called from such code."""
    return tf_convert(fn, control_status_ctx(), convert_by_default=False)


@public("distribute.ReplicaContext")
@internal("distribute.distribute_lib.ReplicaContext")
class ReplicaContext:
    """What code that runs for one replica knows of the others."""

    def __init__(self, strategy: Any, replica_id_in_sync_group: Any) -> None:
        self._strategy = strategy
        self._replica_id_in_sync_group = replica_id_in_sync_group
        self._replica_id = replica_id_in_sync_group if isinstance(replica_id_in_sync_group, int) else 0
        self._thread: Any = None

    def __enter__(self) -> Any:
        self._standing = Standing(self._strategy, self)
        self._standing.__enter__()
        return self

    def __exit__(self, *exc: Any) -> None:
        self._standing.__exit__(*exc)

    @property
    def strategy(self) -> Any:
        """The strategy that the replica belongs to."""
        return self._strategy

    @property
    def num_replicas_in_sync(self) -> int:
        """How many replicas there are."""
        return self._strategy.num_replicas_in_sync

    @property
    def replica_id_in_sync_group(self) -> Any:
        """Which replica this is, as a tensor."""
        require_replica_context(self)
        found = self._replica_id_in_sync_group
        return tf.constant(found, tf.int32) if isinstance(found, int) else found

    @property
    def devices(self) -> tuple[str, ...]:
        """The devices of this replica."""
        require_replica_context(self)
        return (self._strategy.extended.worker_devices[self._replica_id],)

    def merge_call(self, merge_fn: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Calls a function once, for all replicas, with the arguments of each."""
        require_replica_context(self)
        kwargs = kwargs or {}
        if self._thread is not None:
            return self._thread.merged(merge_fn, args, kwargs)
        with Standing(self._strategy):
            return merge_fn(self._strategy, *args, **kwargs)

    def all_reduce(self, reduce_op: Any, value: Any) -> Any:
        """The sum or mean of the replicas' values, given to each of them; it can be differentiated."""
        reduce_op = as_reduce_op(reduce_op)
        flat = tf.nest.flatten(value)

        @tf.custom_gradient
        def reduced(*values: Any) -> Any:
            found = self.merge_call(_all_reduced, args=(reduce_op, *values))

            def gradient(*dys: Any) -> Any:
                back = self.merge_call(_all_reduced, args=(ReduceOp.SUM, *dys))
                if reduce_op == ReduceOp.MEAN:
                    back = [b / tf.cast(self.num_replicas_in_sync, b.dtype) for b in back]
                return list(back)

            return list(found), gradient

        found = reduced(*flat)
        return tf.nest.pack_sequence_as(value, found if isinstance(found, (list, tuple)) else [found])


def _all_reduced(strategy: Any, reduce_op: Any, *values: Any) -> Any:
    return strategy.extended.batch_reduce_to(reduce_op, [(v, v) for v in values])


@public("distribute.StrategyExtended")
@internal("distribute.distribute_lib.StrategyExtendedV1")
class StrategyExtended:
    """What a strategy does in its own way; the base is a strategy of one replica on one device."""

    # Ops are put here where no device is asked for.
    _default_device: str | None = None
    _num_replicas_in_sync = 1
    experimental_between_graph = False
    experimental_require_static_shapes = False
    experimental_should_init = True
    should_checkpoint = True
    _metrics_are_shared = False
    should_save_summary = True

    def __init__(self, container_strategy: Any) -> None:
        self._strategy = container_strategy

    def _container_strategy(self) -> Any:
        return self._strategy

    @property
    def worker_devices(self) -> tuple[str, ...]:
        """The devices that compute."""
        return ("",)

    @property
    def parameter_devices(self) -> tuple[str, ...]:
        """The devices that hold variables."""
        return ("",)

    def _replica_context(self, replica: int, thread: Any = None) -> ReplicaContext:
        found = ReplicaContext(self._strategy, replica)
        found._thread = thread
        return found

    def _create_variable(self, next_creator: Any, **kwargs: Any) -> Any:
        return next_creator(**kwargs)

    @contextlib.contextmanager
    def _one_variable_per_metric(self) -> Iterator[None]:
        """Makes one variable for the metrics of all replicas, which add to it."""
        before, self._metrics_are_shared = self._metrics_are_shared, True
        try:
            yield
        finally:
            self._metrics_are_shared = before

    def variable_created_in_scope(self, v: Any) -> bool:
        """Whether a variable was made by this strategy."""
        return v._distribute_strategy is self._strategy

    def value_container(self, value: Any) -> Any:
        """The variable that a copy belongs to; other values are their own."""
        return getattr(value, "_mirrored_in", value)

    def colocate_vars_with(self, colocate_with_variable: Any) -> Any:
        """Puts variables beside another."""
        return tf.colocate_with(colocate_with_variable)

    def call_for_each_replica(self, fn: Callable[..., Any], args: Any = (), kwargs: Any = None) -> Any:
        """Runs a function for each replica."""
        require_cross_replica_context(self._strategy)
        return self._called(fn, args, kwargs or {})

    def _called(self, fn: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        with contextlib.ExitStack() as inside:
            if self.worker_devices[0]:
                inside.enter_context(device(self.worker_devices[0]))
            inside.enter_context(Standing(self._strategy, self._replica_context(0)))
            return fn(*args, **kwargs)

    def reduce_to(self, reduce_op: Any, value: Any, destinations: Any) -> Any:
        """The replicas' values as one, on the devices of the destinations."""
        require_cross_replica_context(self._strategy)
        return self._reduce_to(as_reduce_op(reduce_op), value, destinations)

    def _reduce_to(self, reduce_op: Any, value: Any, destinations: Any) -> Any:
        return value

    def _reduced(self, reduce_op: Any, value: Any) -> Any:
        return self._reduce_to(reduce_op, value, self._default_device or "/cpu:0")

    def batch_reduce_to(self, reduce_op: Any, value_destination_pairs: Any) -> list[Any]:
        """The same for many values."""
        return [self.reduce_to(reduce_op, value, destinations) for value, destinations in value_destination_pairs]

    def broadcast_to(self, tensor: Any, destinations: Any) -> Any:
        """A tensor on each of the destinations."""
        require_cross_replica_context(self._strategy)
        return tensor

    def update(self, var: Any, fn: Callable[..., Any], args: Any = (), kwargs: Any = None, group: bool = True) -> Any:
        """Calls a function for each copy of a variable, with that copy and its part of the arguments."""
        require_cross_replica_context(self._strategy)
        with device(var.device), Standing(self._strategy, update_replica=0):
            result = fn(var, *args, **(kwargs or {}))
        return self._strategy.group(result) if group and not tf.executing_eagerly() else result

    def update_non_slot(self, colocate_with: Any, fn: Callable[..., Any], args: Any = (), kwargs: Any = None, group: bool = True) -> Any:
        """Calls a function where state that belongs to no single variable is kept."""
        require_cross_replica_context(self._strategy)
        with Standing(self._strategy, update_replica=0):
            result = fn(*args, **(kwargs or {}))
        return self._strategy.group(result) if group and not tf.executing_eagerly() else result

    def non_slot_devices(self, var_list: Any) -> Any:
        """Where state that belongs to no single variable is kept."""
        return self.parameter_devices[0]

    def read_var(self, v: Any) -> Any:
        """A variable's value for all replicas."""
        return tf.identity(v)

    def _local_results(self, value: Any) -> tuple[Any, ...]:
        if isinstance(value, DistributedValues):
            return value.values
        if isinstance(value, (list, tuple, dict)) and any(isinstance(v, DistributedValues) for v in tf.nest.flatten(value)):
            return tuple(select_replica(i, value) for i in range(self._num_replicas_in_sync))
        return (value,)

    # Inputs

    def _pipelines(self) -> InputContext:
        return InputContext(1, 0, self._num_replicas_in_sync)

    def _make_dataset_iterator(self, dataset: Any) -> Any:
        from everflow.distribute.inputs import DatasetIterator

        return DatasetIterator(self._strategy, dataset)

    def _make_input_fn_iterator(self, input_fn: Callable[..., Any]) -> Any:
        from everflow.distribute.inputs import InputFunctionIterator

        return InputFunctionIterator(self._strategy, input_fn, self._pipelines())

    def experimental_make_numpy_dataset(self, numpy_input: Any, session: Any = None) -> Any:
        """A dataset of arrays."""
        return DatasetV1.from_tensor_slices(numpy_input)

    def _experimental_distribute_dataset(self, dataset: Any) -> Any:
        from everflow.distribute.inputs import DistributedDataset

        return DistributedDataset(self._strategy, dataset, split=True)

    def _experimental_distribute_datasets_from_function(self, dataset_fn: Any) -> Any:
        from everflow.distribute.inputs import DistributedDataset

        return DistributedDataset(self._strategy, dataset_fn(self._pipelines()), split=False)

    def experimental_run_steps_on_iterator(
        self, fn: Callable[..., Any], iterator: Any, iterations: Any = 1, initial_loop_values: Any = None
    ) -> Any:
        """Runs several steps of an input in one."""
        require_cross_replica_context(self._strategy)
        return run_steps(fn, iterator, iterations, initial_loop_values)

    # Configuration

    def _configure(self, session_config: Any, cluster_spec: Any, task_type: Any, task_id: Any) -> None:
        """Nothing to tell a strategy of one machine."""

    def _update_config_proto(self, config_proto: Any) -> Any:
        return copy.deepcopy(config_proto)


def per_replica(values: Any, devices: Any) -> Any:
    """Values of replicas; of a single one, itself."""
    return values[0] if len(values) == 1 else regroup(values, devices, always_wrap=True, kind=PerReplica)
