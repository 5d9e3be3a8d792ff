"""The strategy where none was entered."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import everflow as tf
from everflow.api import internal
from everflow.data.dataset import DatasetV1, DatasetV2, make_initializable_iterator
from everflow.distribute.strategy import InputContext, InputReplicationMode, ReplicaContext, Strategy, StrategyExtended
from everflow.distribute.strategy_context import STANDINGS, Standing, require_strategy
from everflow.distribute.values import mapped


@internal("distribute.distribute_lib._DefaultDistributionStrategy")
class DefaultStrategy(Strategy):
    """One replica, on whatever devices ops are put."""

    def __init__(self) -> None:
        super().__init__(_DefaultExtended(self))

    def __deepcopy__(self, memo: Any) -> Any:
        raise RuntimeError("Should only get and set the default strategy.")


class _DefaultScope:
    """Changes nothing but that variables of another strategy can't be made here."""

    def __init__(self, strategy: Any) -> None:
        self._strategy = strategy
        self._opened: list[Any] = []

    def __enter__(self) -> Any:
        def refuse_others(next_creator: Any, **kwargs: Any) -> Any:
            require_strategy(self._strategy)
            return next_creator(**kwargs)

        if STANDINGS.stack:
            require_strategy(self._strategy)
        scope = tf.variable_creator_scope(refuse_others)
        scope.__enter__()
        self._opened.append(scope)
        return self._strategy

    def __exit__(self, *exc: Any) -> None:
        self._opened.pop().__exit__(*exc)


class _DefaultIterator:
    """Over a dataset, as it is."""

    def __init__(self, dataset: Any) -> None:
        self._dataset = dataset
        self._iterator = iter(dataset) if tf.executing_eagerly() else make_initializable_iterator(dataset)

    def get_next(self) -> Any:
        """The next element."""
        return self._iterator.get_next()

    def initialize(self) -> Any:
        """Starts from the beginning."""
        if tf.executing_eagerly():
            self._iterator = iter(self._dataset)
            return []
        return [self._iterator.initializer]


class _DefaultExtended(StrategyExtended):
    def __init__(self, strategy: Strategy) -> None:
        super().__init__(strategy)
        self.replica_context = self._replica_context(0)

    def _scope(self, strategy: Any) -> Any:
        return _DefaultScope(strategy)

    _num_replicas_in_sync = 1  # type: ignore[assignment]

    @property
    def worker_devices(self) -> tuple[str, ...]:
        """Nothing that could be said."""
        raise RuntimeError("worker_devices() method unsupported by default tf.distribute.Strategy.")

    @property
    def parameter_devices(self) -> tuple[str, ...]:
        """Nothing that could be said."""
        raise RuntimeError("parameter_devices() method unsupported by default tf.distribute.Strategy.")

    def non_slot_devices(self, var_list: Any) -> Any:
        """Where the first variable is."""
        return min(var_list, key=lambda v: v.name)

    def variable_created_in_scope(self, v: Any) -> bool:
        """Whether no strategy made the variable."""
        return v._distribute_strategy is None

    def colocate_vars_with(self, colocate_with_variable: Any) -> Any:
        """Puts variables beside another."""
        return tf.colocate_with(colocate_with_variable)

    def _create_variable(self, next_creator: Any, **kwargs: Any) -> Any:
        return next_creator(**kwargs)

    def _call_for_each_replica(self, fn: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        with ReplicaContext(self._strategy, 0):
            return fn(*args, **kwargs)

    def _broadcast_to(self, tensor: Any, destinations: Any) -> Any:
        return tensor

    def _reduce_to(self, reduce_op: Any, value: Any, destinations: Any) -> Any:
        return value

    def _update(self, var: Any, fn: Callable[..., Any], args: Any, kwargs: Any, group: bool) -> Any:
        return self._update_non_slot(var, fn, (var, *args), kwargs, group)

    def _update_non_slot(self, colocate_with: Any, fn: Callable[..., Any], args: Any, kwargs: Any, group: bool) -> Any:
        with tf.colocate_with(colocate_with), Standing(self._strategy, update_device=""):
            result = fn(*args, **kwargs)
        return result if group else mapped(result, self._local_results)

    def read_var(self, v: Any) -> Any:
        """The value."""
        return tf.identity(v)

    def _local_results(self, distributed_value: Any) -> tuple[Any, ...]:
        return (distributed_value,)

    def _experimental_make_numpy_dataset(self, numpy_input: Any, session: Any) -> Any:
        return DatasetV1.from_tensor_slices(numpy_input)

    def _experimental_distribute_dataset(self, dataset: Any) -> Any:
        return dataset

    def _experimental_distribute_datasets_from_function(self, dataset_fn: Any) -> Any:
        return dataset_fn(InputContext())

    def _make_dataset_iterator(self, dataset: Any) -> Any:
        return _DefaultIterator(dataset)

    def _make_input_fn_iterator(self, input_fn: Callable[..., Any], replication_mode: Any = InputReplicationMode.PER_WORKER) -> Any:
        given = input_fn(InputContext())
        if isinstance(given, DatasetV2):
            return _DefaultIterator(given)
        return given
