"""Variables with a copy for each replica: kept the same at each write, or brought together when they are read."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import everflow as tf
from everflow.api import internal
from everflow.distribute import strategy_context
from everflow.distribute.reductions import ReduceOp
from everflow.distribute.strategy_context import Standing
from everflow.distribute.values import VALUES, DistributedValues, Mirrored, _shown
from everflow.eager.context import executing_eagerly
from everflow.graph.scopes import device
from everflow.ops.core.registry import apply
from everflow.ops.variables.resource_variables import BaseResourceVariable
from everflow.ops.variables.variables import VariableAggregation
from everflow.train.checkpoints.saveable import SaveableObject, SaveSpec

NO_AGGREGATION = (
    "You must specify an aggregation method to update a {} in Replica Context. You can do so by passing an explicit value for argument "
    "`aggregation` to tf.Variable(..). e.g. `tf.Variable(..., aggregation=tf.VariableAggregation.SUM)``tf.VariableAggregation` lists the "
    "possible aggregation methods.This is required because {} should always be kept in sync. When updating them or assigning to them in a "
    "replica context, we automatically try to aggregate the values before updating the variable. For this aggregation, we need to know the "
    "aggregation method. "
)


def _of_copy(name: str) -> Any:
    """An attribute that is that of the copy of the replica that asks."""
    return property(lambda self: getattr(self.get(), name))


def _of_first(name: str) -> Any:
    return property(lambda self: getattr(self.primary, name), lambda self, value: setattr(self.primary, name, value))


@internal(VALUES + "DistributedVariable")
class DistributedVariable(DistributedValues, BaseResourceVariable):
    """What both kinds have in common: to an op, the variable is the copy of the replica that runs the op."""

    def __init__(self, strategy: Any, values: Sequence[Any], devices: Sequence[str], aggregation: Any) -> None:
        DistributedValues.__init__(self, values, devices)
        self._distribute_strategy = strategy
        self._aggregation = aggregation
        for copy in values:
            copy._mirrored_in = self

    _handle = _of_copy("_handle")
    _tensor = _of_copy("_tensor")
    _graph_element = _of_copy("_graph_element")
    _cached_value = _of_copy("_cached_value")
    _initial_value = _of_first("_initial_value")
    _unique_id = _of_first("_unique_id")
    _handle_name = _of_first("_handle_name")
    _dtype = _of_first("_dtype")
    _shape = _of_first("_shape")
    _constraint = _of_first("_constraint")
    _save_slice_info = _of_first("_save_slice_info")
    _synchronization = _of_first("_synchronization")
    _trainable = _of_first("_trainable")
    _in_graph_mode = _of_first("_in_graph_mode")
    name = _of_first("name")
    op = _of_first("op")
    graph = _of_first("graph")
    _shared_name = _of_first("_shared_name")
    device = _of_copy("device")
    create = property(lambda self: self._initializer_op)

    def _replica(self) -> int:
        written = strategy_context.update_replica()
        return super()._replica() if written is None else written

    @property
    def _initializer_op(self) -> Any:
        if not self._in_graph_mode:
            return self.primary._initializer_op
        if not hasattr(self, "_made_initializer"):
            self._made_initializer = tf.group(*(copy.initializer for copy in self._values))
        return self._made_initializer

    @_initializer_op.setter
    def _initializer_op(self, op: Any) -> None:
        self._made_initializer = op

    def is_initialized(self, name: str | None = None) -> Any:
        """Whether all copies have a value."""
        found = self.primary.is_initialized()
        for copy in self._values[1:-1]:
            found = tf.logical_and(found, copy.is_initialized())
        return tf.logical_and(found, self._values[-1].is_initialized(), name=name) if len(self._values) > 1 else found

    def __repr__(self) -> str:
        return _shown(type(self).__name__, self._values, self._devices)

    def __deepcopy__(self, memo: Any) -> Any:
        with self._distribute_strategy.scope():
            copied = tf.Variable(
                self.primary.numpy(),
                trainable=self._trainable,
                name=self._shared_name + "_copy",
                aggregation=self._aggregation,
                synchronization=self._synchronization,
            )
        memo[id(self)] = copied
        return copied

    @contextlib.contextmanager
    def _for_all(self) -> Iterator[Any]:
        """The strategy, spoken for as a whole."""
        if strategy_context.in_cross_replica_context():
            yield self._distribute_strategy
        else:
            with Standing(self._distribute_strategy):
                yield self._distribute_strategy

    def _written(self, how: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Writes to the copies: to one, where it is being updated or its replica runs; else to all."""
        raise NotImplementedError

    def _copies_written(self, how: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        def write(copy: Any, *args: Any) -> Any:
            return getattr(copy, how)(*args, **kwargs)

        with self._for_all() as strategy:
            return strategy.extended.update(self, write, args=args, group=False)


def _writer(how: str) -> Callable[..., Any]:
    def method(self: DistributedVariable, *args: Any, **kwargs: Any) -> Any:
        return self._written(how, args, kwargs)

    method.__name__ = how
    method.__doc__ = f"`{how}` on the copies of the variable."
    return method


for _how in (
    "assign",
    "assign_add",
    "assign_sub",
    "scatter_add",
    "scatter_sub",
    "scatter_mul",
    "scatter_div",
    "scatter_min",
    "scatter_max",
    "scatter_update",
    "batch_scatter_update",
):
    setattr(DistributedVariable, _how, _writer(_how))


@internal(VALUES + "MirroredVariable")
class MirroredVariable(DistributedVariable, Mirrored):
    """A variable whose copies are kept the same: replicas that write to it bring together what they write."""

    def _written(self, how: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if strategy_context.update_replica() is not None:
            return getattr(self.get(), how)(*args, **kwargs)
        context = strategy_context.get_replica_context()
        if context is None or not strategy_context.has_strategy():
            return self._copies_written(how, args, kwargs)
        if self._aggregation == VariableAggregation.NONE:
            raise ValueError(NO_AGGREGATION.format("MirroredVariable", "MirroredVariable"))

        def merge(strategy: Any, value: Any, *others: Any) -> Any:
            if self._aggregation == VariableAggregation.ONLY_FIRST_REPLICA:
                value = value.values[0] if isinstance(value, DistributedValues) else value
            else:
                value = strategy.extended.reduce_to(ReduceOp.from_variable_aggregation(self._aggregation), value, self)
            return self._copies_written(how, (value, *others), kwargs)

        return context.merge_call(merge, args=args)

    def _saveable(self, name: str) -> SaveableObject:
        return DistributedSaveable(self, name, lambda value: value)


@internal(VALUES + "SyncOnReadVariable")
class SyncOnReadVariable(DistributedVariable):
    """A variable whose copies go their own ways: replicas write to their own, and who reads for all gets the copies brought together."""

    def _written(self, how: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if (
            strategy_context.update_replica() is not None
            or strategy_context.get_replica_context() is not None
            and (strategy_context.has_strategy())
        ):
            return getattr(self.get(), how)(*args, **kwargs)
        if self._aggregation == VariableAggregation.SUM:
            if how in ("assign_add", "assign_sub"):
                # What is added to one copy is added to what they make together.
                return getattr(self.primary, how)(*args, **kwargs)
            args = (self._share(tf.convert_to_tensor(args[0], self._dtype)), *args[1:])
        return self._copies_written(how, args, kwargs)

    def _share(self, total: Any) -> Any:
        """What each copy holds of a total."""
        return total / tf.cast(len(self._values), total.dtype) if self._aggregation == VariableAggregation.SUM else total

    def _together(self) -> Any:
        """The copies brought together; None where the code here runs for one replica."""
        if len(self._values) == 1 or self._aggregation in (VariableAggregation.NONE, VariableAggregation.ONLY_FIRST_REPLICA):
            return None
        if (
            strategy_context.update_replica() is not None
            or strategy_context.has_strategy()
            and (not strategy_context.in_cross_replica_context())
        ):
            return None
        total = tf.add_n([copy.value() for copy in self._values])
        return total if self._aggregation == VariableAggregation.SUM else total / tf.cast(len(self._values), total.dtype)

    def value(self) -> Any:
        """The copy of the replica, or all copies brought together."""
        found = self._together()
        return super().value() if found is None else found

    def read_value(self) -> Any:
        """The same."""
        found = self._together()
        return super().read_value() if found is None else found

    def _as_graph_element(self) -> Any:
        if len(self._values) == 1:
            return super()._as_graph_element()
        if not hasattr(self, "_made_element"):
            with self.primary.graph.as_default():
                self._made_element = self.value()
        return self._made_element

    def _saveable(self, name: str) -> SaveableObject:
        return DistributedSaveable(self, name, self._share)


@internal(VALUES + "DistributedSaveable")
class DistributedSaveable(SaveableObject):
    """One value in a checkpoint for all copies of a variable."""

    def __init__(self, variable: DistributedVariable, name: str, share: Callable[[Any], Any]) -> None:
        self._variable, self._share = variable, share
        primary = variable.primary

        def value() -> Any:
            with variable._for_all(), device(primary.device):
                return apply("Identity", variable.read_value())

        tensor = value if executing_eagerly() else value()
        super().__init__(primary, [SaveSpec(tensor, "", name, dtype=variable.dtype, device=primary.device)], name)

    def restore(self, restored_tensors: Any, restored_shapes: Any) -> Any:
        """Gives each copy its share of the value."""
        value = restored_tensors[0] if restored_shapes is None else apply("Reshape", restored_tensors[0], restored_shapes[0])
        self._variable.shape.assert_is_compatible_with(value.get_shape())
        value = self._share(value)
        done = []
        for copy in self._variable.values:
            with device(copy.device):
                done.append(apply("AssignVariableOp", copy.handle, apply("Identity", value)))
        return None if executing_eagerly() else tf.group(*done)
