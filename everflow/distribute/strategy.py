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
from everflow.distribute import strategy_context
from everflow.distribute.device_names import current
from everflow.distribute.multi_steps import run_steps
from everflow.distribute.reductions import ReduceOp, as_reduce_op
from everflow.distribute.strategy_context import (
    Standing,
    require_all_or_none,
    require_cross_replica_context,
    require_replica_context,
    require_strategy,
)
from everflow.distribute.values import DistributedValues, mapped, select_replica, value_container
from everflow.graph.conversion_status import control_status_ctx
from everflow.graph.scopes import device
from everflow.graph.stacks import get_default_graph
from everflow.losses.weighting import Reduction
from everflow.ops.variables.variables import VariableAggregation, VariableSynchronization
from everflow.platform import logging


@public("distribute.InputReplicationMode")
class InputReplicationMode(enum.Enum):
    """How inputs are dealt to workers."""

    PER_WORKER = "PER_WORKER"


@public("distribute.InputContext")
class InputContext:
    """What an input function is told of the pipelines around it."""

    def __init__(self, num_input_pipelines: int = 1, input_pipeline_id: int = 0, num_replicas_in_sync: int = 1) -> None:
        self._num_input_pipelines = num_input_pipelines
        self._input_pipeline_id = input_pipeline_id
        self._num_replicas_in_sync = num_replicas_in_sync

    @property
    def num_input_pipelines(self) -> int:
        """How many pipelines there are: one for each worker."""
        return self._num_input_pipelines

    @property
    def input_pipeline_id(self) -> int:
        """Which of them this one is."""
        return self._input_pipeline_id

    @property
    def num_replicas_in_sync(self) -> int:
        """How many replicas there are in all."""
        return self._num_replicas_in_sync

    def get_per_replica_batch_size(self, global_batch_size: int) -> int:
        """The part of a batch that each replica gets."""
        if global_batch_size % self._num_replicas_in_sync:
            raise ValueError(
                f"The `global_batch_size` {global_batch_size!r} is not divisible by `num_replicas_in_sync` {self._num_replicas_in_sync!r} "
            )
        return global_batch_size // self._num_replicas_in_sync


@public("distribute.get_loss_reduction", "contrib.distribute.get_loss_reduction")
@internal("distribute.distribute_lib.get_loss_reduction")
def get_loss_reduction() -> ReduceOp:
    """How the losses of replicas make one. Only Estimators take means, and only of losses that are no sums."""
    if not strategy_context.get_strategy()._scale_loss_for_estimator:
        return ReduceOp.SUM
    return ReduceOp.SUM if get_default_graph()._last_loss_reduction == Reduction.SUM else ReduceOp.MEAN


class StrategyScope:
    """`with strategy.scope():` makes a strategy hold, and its kind of variables; it can be entered again and again."""

    def __init__(self, strategy: Any) -> None:
        self._strategy = strategy
        # What each entry opened; nothing where the strategy held already.
        self._entries: list[list[tuple[str, Any]]] = []

    def __enter__(self) -> Any:
        strategy = self._strategy
        if strategy_context.has_strategy():
            require_cross_replica_context(strategy)
            self._entries.append([])
            return strategy
        opened: list[tuple[str, Any]] = [("", Standing(strategy))]
        if not tf.executing_eagerly():
            again = tf.get_variable_scope()
            partitioned: dict[str, Any] = {} if strategy.extended._allow_variable_partition() else {"custom_getter": _unpartitioned}
            scope = tf.variable_scope(again, use_resource=True, auxiliary_name_scope=False, **partitioned)
            opened.append(("Variable scope", scope))
        opened.append(("Variable creator scope", tf.variable_creator_scope(self._create)))
        where = strategy.extended._default_device
        if where is not None:
            opened.append(("Device scope", device(where)))
        for _, scope in opened:
            scope.__enter__()
        self._entries.append(opened)
        return strategy

    def _create(self, next_creator: Any, **kwargs: Any) -> Any:
        require_strategy(self._strategy)
        _check_modes(kwargs)
        return self._strategy.extended._create_variable(next_creator, **kwargs)

    def __exit__(self, *exc: Any) -> None:
        opened = self._entries[-1]
        while opened:
            what, scope = opened[-1]
            try:
                scope.__exit__(*exc)
            except RuntimeError as error:
                if not what or exc[0] is not None:
                    raise
                if what == "Variable scope":
                    # Its state can't be put right again; the strategy's can.
                    self._entries.pop()[0][1].__exit__(*exc)
                raise RuntimeError(f"{what} nesting error: move call to tf.distribute.set_strategy() out of `with` scope.") from error
            opened.pop()
        self._entries.pop()


def _unpartitioned(getter: Any, *args: Any, **kwargs: Any) -> Any:
    if kwargs.get("partitioner") is not None:
        logging.warning("Partitioned variables are disabled when using current tf.distribute.Strategy.")
        kwargs["partitioner"] = None
    return getter(*args, **kwargs)


def _check_modes(kwargs: dict[str, Any]) -> None:
    """Fills in and checks how a variable is kept the same everywhere."""
    defaults = {"synchronization": VariableSynchronization.AUTO, "aggregation": VariableAggregation.NONE}
    for key, default in defaults.items():
        given = kwargs.get(key)
        if given is None:
            kwargs[key] = default
        elif not isinstance(given, type(default)):
            raise ValueError(f"Invalid variable {key} mode: {given} for variable: {kwargs.get('name')}")


@internal("distribute.distribute_lib.Strategy")
@public("compat.v2.distribute.Strategy")
class StrategyV2:
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

    def _in_multi_worker_mode(self) -> bool:
        return self._extended._in_multi_worker_mode()

    @contextlib.contextmanager
    def _scale_loss_for_estimator_enabled(self) -> Iterator[None]:
        self._scale_loss_for_estimator = True
        try:
            yield
        finally:
            self._scale_loss_for_estimator = False

    def scope(self) -> Any:
        """Makes this the strategy, and makes its kind of variables."""
        return self._extended._scope(self)

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
            return self._extended._make_input_fn_iterator(input_fn, replication_mode=replication_mode)

    def experimental_make_numpy_dataset(self, numpy_input: Any) -> Any:
        """A dataset of arrays."""
        return self._extended.experimental_make_numpy_dataset(numpy_input, session=None)

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

    def reduce(self, reduce_op: Any, value: Any, axis: int | None) -> Any:
        """The replicas' values as one; with an axis, also over that axis of each."""
        require_all_or_none(self)
        reduce_op = as_reduce_op(reduce_op)
        if axis is None:
            return self._extended._reduce(reduce_op, value)
        sums = self._extended._reduce(ReduceOp.SUM, self._for_each(lambda v: tf.reduce_sum(v, axis), value))
        if reduce_op == ReduceOp.SUM:
            return sums
        # Replicas may have batches of different sizes: the mean is of all elements, not of the replicas' means.
        counts = self._for_each(lambda v: tf.cast(tf.shape(v, out_type=tf.int64)[axis], tf.convert_to_tensor(v).dtype), value)
        return tf.divide(sums, self._extended._reduce(ReduceOp.SUM, counts))

    def _for_each(self, change: Any, value: Any) -> Any:
        return self.experimental_run_v2(change, args=(value,))

    def unwrap(self, value: Any) -> tuple[Any, ...]:
        """The values of the replicas."""
        return self._extended._local_results(value)

    def experimental_local_results(self, value: Any) -> tuple[Any, ...]:
        """The values of this machine's replicas."""
        return self._extended._local_results(value)

    def group(self, value: Any, name: str | None = None) -> Any:
        """One op for what the replicas do."""
        return self._extended._group(value, name)

    # Configuration

    def configure(self, session_config: Any = None, cluster_spec: Any = None, task_type: Any = None, task_id: Any = None) -> None:
        """Tells a strategy of the cluster and the session it is used in."""
        return self._extended._configure(session_config, cluster_spec, task_type, task_id)

    def update_config_proto(self, config_proto: Any) -> Any:
        """A session configuration as the strategy needs it."""
        return self._extended._update_config_proto(config_proto)

    def __deepcopy__(self, memo: Any) -> Any:
        # The workers that one client runs each configure a strategy of their own.
        twin = memo[id(self)] = object.__new__(type(self))
        for name, value in vars(self).items():
            setattr(twin, name, copy.deepcopy(value, memo))
        return twin

    def __copy__(self) -> Any:
        raise RuntimeError("Must only deepcopy DistributionStrategy.")


@public("distribute.Strategy", "contrib.distribute.DistributionStrategy")
@internal("distribute.distribute_lib.StrategyV1")
class Strategy(StrategyV2):
    """The same, as 1.x has it."""

    def experimental_make_numpy_dataset(self, numpy_input: Any, session: Any = None) -> Any:
        """A dataset of arrays, which a session copies where the replicas are."""
        return self._extended.experimental_make_numpy_dataset(numpy_input, session)

    def reduce(self, reduce_op: Any, value: Any, axis: int | None = None) -> Any:
        """The replicas' values as one; with an axis, also over that axis of each."""
        return super().reduce(reduce_op, value, axis)


def _converted(fn: Callable[..., Any]) -> Any:
    """The function with Python's control flow on tensors, where it is called from such code."""
    return tf_convert(fn, control_status_ctx(), convert_by_default=False)


@public("distribute.ReplicaContext", "contrib.distribute.ReplicaContext")
@internal("distribute.distribute_lib.ReplicaContext")
class ReplicaContext:
    """What code that runs for one replica knows of the others."""

    def __init__(self, strategy: Any, replica_id_in_sync_group: Any) -> None:
        self._strategy = strategy
        self._replica_id_in_sync_group = replica_id_in_sync_group
        # Which of the replicas of this graph it is.
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
        return self._merge_call(_converted(merge_fn), args, kwargs or {})

    def _merge_call(self, merge_fn: Any, args: Any, kwargs: Any) -> Any:
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
                return list(self.merge_call(_all_reduced, args=(reduce_op, *dys)))

            return list(found), gradient

        found = reduced(*flat)
        return tf.nest.pack_sequence_as(value, found if isinstance(found, (list, tuple)) else [found])


def _all_reduced(strategy: Any, reduce_op: Any, *values: Any) -> Any:
    return strategy.extended.batch_reduce_to(reduce_op, [(v, v) for v in values])


@public("compat.v2.distribute.StrategyExtended")
@internal("distribute.distribute_lib.StrategyExtendedV2")
class StrategyExtendedV2:
    """What a strategy does in its own way: subclasses say how with the methods whose names begin with an underscore."""

    # Ops are put here where no device is asked for.
    _default_device: str | None = None
    _metrics_are_shared = False
    # Whether the batches that a dataset gives are those of all replicas together.
    _global_batch_size = True
    experimental_require_static_shapes = False
    experimental_enable_get_next_as_optional = False

    def __init__(self, container_strategy: Any) -> None:
        self._strategy = container_strategy

    def _container_strategy(self) -> Any:
        return self._strategy

    def _scope(self, strategy: Any) -> Any:
        return StrategyScope(strategy)

    def _allow_variable_partition(self) -> bool:
        return False

    def _in_multi_worker_mode(self) -> bool:
        return False

    @property
    def _num_replicas_in_sync(self) -> int:
        return len(self.worker_devices)

    @property
    def worker_devices(self) -> tuple[str, ...]:
        """The devices that compute."""
        raise NotImplementedError("must be implemented in descendants")

    @property
    def parameter_devices(self) -> tuple[str, ...]:
        """The devices that hold variables."""
        return self.worker_devices

    def _replica_context(self, replica: int, thread: Any = None) -> ReplicaContext:
        found = ReplicaContext(self._strategy, replica)
        found._thread = thread
        return found

    # Variables

    def _create_variable(self, next_creator: Any, **kwargs: Any) -> Any:
        raise NotImplementedError("must be implemented in descendants")

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
        return value_container(value)

    def colocate_vars_with(self, colocate_with_variable: Any) -> Any:
        """Puts variables beside another."""
        require_strategy(self._strategy)
        self._validate_colocate_with_variable(colocate_with_variable)

        def beside(next_creator: Any, **kwargs: Any) -> Any:
            require_strategy(self._strategy)
            kwargs["use_resource"] = True
            kwargs["colocate_with"] = colocate_with_variable
            return next_creator(**kwargs)

        return tf.variable_creator_scope(beside)

    def _validate_colocate_with_variable(self, colocate_with_variable: Any) -> None:
        """An error where variables can't be put beside this one."""

    # Reductions

    def reduce_to(self, reduce_op: Any, value: Any, destinations: Any) -> Any:
        """The replicas' values as one, on the devices of the destinations."""
        require_all_or_none(self._strategy)
        return self._reduce_to(as_reduce_op(reduce_op), value, destinations)

    def _reduce_to(self, reduce_op: Any, value: Any, destinations: Any) -> Any:
        raise NotImplementedError("must be implemented in descendants")

    def _reduce(self, reduce_op: Any, value: Any) -> Any:
        """One value, for code that speaks for all: a structure of them where the value is one."""
        where = current() or self._default_device or "/device:CPU:0"
        with self._strategy.scope():
            return mapped(value, lambda v: self._local_results(self._reduce_to(reduce_op, v, where))[0])

    def batch_reduce_to(self, reduce_op: Any, value_destination_pairs: Any) -> list[Any]:
        """The same for many values."""
        require_all_or_none(self._strategy)
        return self._batch_reduce_to(as_reduce_op(reduce_op), value_destination_pairs)

    def _batch_reduce_to(self, reduce_op: Any, value_destination_pairs: Any) -> list[Any]:
        return [self.reduce_to(reduce_op, value, destinations) for value, destinations in value_destination_pairs]

    # Updates

    def update(self, var: Any, fn: Callable[..., Any], args: Any = (), kwargs: Any = None, group: bool = True) -> Any:
        """Calls a function for each copy of a variable, with that copy and its part of the arguments."""
        require_all_or_none(self._strategy)
        with self._strategy.scope():
            return self._update(var, fn, args, kwargs or {}, group)

    def _update(self, var: Any, fn: Callable[..., Any], args: Any, kwargs: Any, group: bool) -> Any:
        raise NotImplementedError("must be implemented in descendants")

    def update_non_slot(self, colocate_with: Any, fn: Callable[..., Any], args: Any = (), kwargs: Any = None, group: bool = True) -> Any:
        """Calls a function where state that belongs to no single variable is kept."""
        require_all_or_none(self._strategy)
        with self._strategy.scope():
            return self._update_non_slot(colocate_with, fn, args, kwargs or {}, group)

    def _update_non_slot(self, colocate_with: Any, fn: Callable[..., Any], args: Any, kwargs: Any, group: bool) -> Any:
        raise NotImplementedError("must be implemented in descendants")

    def non_slot_devices(self, var_list: Any) -> Any:
        """Where state that belongs to no single variable is kept."""
        raise NotImplementedError("must be implemented in descendants")

    def _local_results(self, distributed_value: Any) -> tuple[Any, ...]:
        if isinstance(distributed_value, DistributedValues):
            return distributed_value.values
        if isinstance(distributed_value, (list, tuple, dict)):
            if any(isinstance(v, DistributedValues) for v in tf.nest.flatten(distributed_value)):
                count = next(len(v.values) for v in tf.nest.flatten(distributed_value) if isinstance(v, DistributedValues))
                return tuple(select_replica(i, distributed_value) for i in range(count))
        return (distributed_value,)

    def _group(self, value: Any, name: str | None = None) -> Any:
        values = [v for v in tf.nest.flatten(self._local_results(value)) if v is not None]
        return values[0] if len(values) == 1 and name is None else tf.group(*values, name=name)

    # Inputs

    def _make_dataset_iterator(self, dataset: Any) -> Any:
        raise NotImplementedError("must be implemented in descendants")

    def _make_input_fn_iterator(self, input_fn: Callable[..., Any], replication_mode: Any = InputReplicationMode.PER_WORKER) -> Any:
        raise NotImplementedError("must be implemented in descendants")

    def _experimental_distribute_dataset(self, dataset: Any) -> Any:
        raise NotImplementedError("must be implemented in descendants")

    def _experimental_distribute_datasets_from_function(self, dataset_fn: Any) -> Any:
        raise NotImplementedError("must be implemented in descendants")

    # Configuration

    def _configure(self, session_config: Any = None, cluster_spec: Any = None, task_type: Any = None, task_id: Any = None) -> None:
        """Nothing to tell a strategy of one machine."""

    def _update_config_proto(self, config_proto: Any) -> Any:
        return copy.deepcopy(config_proto)


@public("distribute.StrategyExtended")
@internal("distribute.distribute_lib.StrategyExtendedV1")
class StrategyExtended(StrategyExtendedV2):
    """The same, as 1.x has it."""

    _is_chief = True

    @property
    def experimental_between_graph(self) -> bool:
        """Whether each worker builds a graph of its own."""
        return False

    @property
    def experimental_should_init(self) -> bool:
        """Whether this worker initializes variables."""
        return True

    @property
    def should_checkpoint(self) -> bool:
        """Whether this worker writes checkpoints: the chief does."""
        return self._is_chief

    @property
    def should_save_summary(self) -> bool:
        """Whether this worker writes summaries: the chief does."""
        return self._is_chief

    def broadcast_to(self, tensor: Any, destinations: Any) -> Any:
        """A tensor on each of the destinations."""
        require_all_or_none(self._strategy)
        return self._broadcast_to(tensor, destinations)

    def _broadcast_to(self, tensor: Any, destinations: Any) -> Any:
        raise NotImplementedError("must be implemented in descendants")

    def call_for_each_replica(self, fn: Callable[..., Any], args: Any = (), kwargs: Any = None) -> Any:
        """Runs a function for each replica."""
        require_all_or_none(self._strategy)
        with self._strategy.scope():
            return self._call_for_each_replica(fn, args, kwargs or {})

    def _call_for_each_replica(self, fn: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        raise NotImplementedError("must be implemented in descendants")

    def read_var(self, v: Any) -> Any:
        """A variable's value for all replicas."""
        raise NotImplementedError("must be implemented in descendants")

    def experimental_make_numpy_dataset(self, numpy_input: Any, session: Any = None) -> Any:
        """A dataset of arrays."""
        require_all_or_none(self._strategy)
        return self._experimental_make_numpy_dataset(numpy_input, session)

    def _experimental_make_numpy_dataset(self, numpy_input: Any, session: Any) -> Any:
        raise NotImplementedError("must be implemented in descendants")

    def experimental_run_steps_on_iterator(
        self, fn: Callable[..., Any], iterator: Any, iterations: Any = 1, initial_loop_values: Any = None
    ) -> Any:
        """Runs several steps of an input in one."""
        require_all_or_none(self._strategy)
        with self._strategy.scope():
            return self._experimental_run_steps_on_iterator(fn, iterator, iterations, initial_loop_values)

    def _experimental_run_steps_on_iterator(self, fn: Callable[..., Any], iterator: Any, iterations: Any, initial_loop_values: Any) -> Any:
        return run_steps(fn, iterator, iterations, initial_loop_values)


@internal("keras.distribute.distributed_training_utils.global_batch_size_supported")
def global_batch_size_supported(distribution_strategy: Any) -> bool:
    """Whether the size of a batch is that of all replicas together."""
    return distribution_strategy.extended._global_batch_size
