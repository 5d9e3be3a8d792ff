"""Variables with a copy for each replica: kept the same at each write, or brought together when they are read."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import everflow as tf
from everflow.api import internal
from everflow.distribute import strategy_context
from everflow.distribute.device_maps import DeviceMap
from everflow.distribute.reductions import ReduceOp
from everflow.distribute.strategy_context import Standing
from everflow.distribute.values import VALUES, DistributedDelegate, DistributedValues, Mirrored, PerReplica
from everflow.eager.context import executing_eagerly
from everflow.graph.scopes import device
from everflow.ops.core.registry import apply
from everflow.ops.variables.resource_variables import BaseResourceVariable
from everflow.ops.variables.variables import VariableAggregation, check_conversion
from everflow.train.checkpoints.saveable import SaveableObject, SaveSpec

NO_AGGREGATION = (
    "You must specify an aggregation method to update a {} in Replica Context. You can do so by passing an explicit value for argument "
    "`aggregation` to tf.Variable(..). e.g. `tf.Variable(..., aggregation=tf.VariableAggregation.SUM)``tf.VariableAggregation` lists the "
    "possible aggregation methods.This is required because {} should always be kept in sync. When updating them or assigning to them in a "
    "replica context, we automatically try to aggregate the values before updating the variable. For this aggregation, we need to know the "
    "aggregation method. Another alternative is to not try to update such {} in replica context, but in cross replica context. You can "
    "enter cross replica context by calling `tf.distribute.get_replica_context().merge_call(merge_fn, ..)`.Inside `merge_fn`, you can then "
    "update the {} using `tf.distribute.StrategyExtended.update()`."
)


def _of_copy(name: str) -> Any:
    """An attribute that is that of the copy of the replica that asks."""
    return property(lambda self: getattr(self._copy_here(), name))


def _of_first(name: str) -> Any:
    return property(lambda self: getattr(self.primary, name), lambda self, value: setattr(self.primary, name, value))


_OF_COPY = ("_handle", "_tensor", "_graph_element", "_cached_value", "device")
_OF_FIRST = (
    "_initial_value",
    "_unique_id",
    "_handle_name",
    "_dtype",
    "_shape",
    "_constraint",
    "_save_slice_info",
    "_synchronization",
    "_trainable",
    "_in_graph_mode",
    "name",
    "op",
    "graph",
    "_shared_name",
)


def _as_its_copies(kind: Any) -> Any:
    """Makes attributes of a variable those of its copies."""
    for name in _OF_COPY:
        setattr(kind, name, _of_copy(name))
    for name in _OF_FIRST:
        setattr(kind, name, _of_first(name))
    return kind


@internal(VALUES + "DistributedVariable")
@_as_its_copies
class DistributedVariable(DistributedDelegate, BaseResourceVariable):
    """What both kinds have in common: to an op, the variable is the copy of the replica that runs the op."""

    def __init__(
        self,
        strategy: Any,
        device_map: DeviceMap,
        values: Sequence[Any],
        aggregation: Any = VariableAggregation.NONE,
        logical_device: int | None = None,
    ) -> None:
        DistributedValues.__init__(self, device_map, values, logical_device)
        self._distribute_strategy = strategy
        self._aggregation = aggregation
        for copy in values:
            copy._mirrored_in = self

    create = property(lambda self: self._initializer_op)

    def get(self, device: Any = None) -> Any:
        """The copy on a device; without one, the copy that is being updated, that of the replica that runs, or one that speaks for all."""
        if device is None and strategy_context.get_replica_context() is None:
            written = strategy_context.get_update_device()
            if written in self.devices:
                device = written
        return super().get(device)

    def _copy_here(self) -> Any:
        """The copy that ops of the code here use."""
        return self.get()

    def _get_as_operand(self) -> Any:
        return tf.convert_to_tensor(self)

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

    __repr__ = DistributedValues.__repr__
    __str__ = DistributedValues.__repr__

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
        strategy = self._distribute_strategy
        if strategy is None or strategy_context.in_cross_replica_context():
            yield strategy
        elif strategy_context.has_strategy():
            with Standing(strategy):
                yield strategy
        else:
            with strategy.scope():
                yield strategy

    def _is_being_updated(self) -> bool:
        return strategy_context.get_update_device() is not None

    def _written(self, how: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Writes to the copies: to one, where it is being updated or its replica runs; else to all."""
        raise NotImplementedError

    def _copies_written(self, how: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        def write(copy: Any, *args: Any) -> Any:
            return getattr(copy, how)(*args, **kwargs)

        with self._for_all() as strategy:
            return strategy.extended.update(self, write, args=args)


def _writer(how: str) -> Callable[..., Any]:
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        return self._written(how, args, kwargs)

    method.__name__ = how
    method.__doc__ = f"`{how}` on the copies of the variable."
    return method


_WRITES = (
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
)
for _how in _WRITES:
    setattr(DistributedVariable, _how, _writer(_how))


@internal(VALUES + "MirroredVariable")
class MirroredVariable(DistributedVariable, Mirrored):
    """A variable whose copies are kept the same: replicas that write to it bring together what they write."""

    def _written(self, how: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if self._is_being_updated():
            return getattr(self.get(), how)(*args, **kwargs)
        context = strategy_context.get_replica_context()
        if context is None or not strategy_context.has_strategy():
            return self._copies_written(how, args, kwargs)
        refuse_without_aggregation(self)
        return context.merge_call(functools.partial(_aggregated_write, self, how, kwargs), args=args)

    def _saveable(self, name: str) -> SaveableObject:
        return DistributedSaveable(self, name, lambda value: value)


def refuse_without_aggregation(variable: Any) -> None:
    """Replicas can't write to a variable that does not say how what they write becomes one value."""
    if variable.aggregation == VariableAggregation.NONE:
        kind = type(variable).__name__
        raise ValueError(NO_AGGREGATION.format(kind, kind, kind, kind))


def aggregated(strategy: Any, value: Any, aggregation: Any, destinations: Any) -> Any:
    """What replicas bring together to write."""
    if aggregation == VariableAggregation.ONLY_FIRST_REPLICA:
        first = value.values[0] if isinstance(value, DistributedValues) else value
        return strategy.extended.broadcast_to(first, destinations)
    return strategy.extended.reduce_to(ReduceOp.from_variable_aggregation(aggregation), value, destinations)


def _aggregated_write(variable: Any, how: str, kwargs: Any, strategy: Any, value: Any, *others: Any) -> Any:
    value = aggregated(strategy, value, variable.aggregation, variable)
    return strategy.extended.update(variable, lambda copy, *args: getattr(copy, how)(*args, **kwargs), args=(value, *others))


@internal(VALUES + "SyncOnReadVariable")
class SyncOnReadVariable(DistributedVariable):
    """A variable whose copies go their own ways: replicas write to their own, and who reads for all gets the copies brought together."""

    def _written(self, how: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if not self._speaks_for_all():
            return getattr(self.get(), how)(*args, **kwargs)
        if self._aggregation == VariableAggregation.SUM:
            if how in ("assign_add", "assign_sub"):
                raise ValueError(
                    f"SyncOnReadVariable does not support `{how}` in cross-replica context when aggregation is set to "
                    "`tf.VariableAggregation.SUM`."
                )
            args = (self._share(tf.convert_to_tensor(args[0], self._dtype)), *args[1:])
        done = [getattr(copy, how)(*args, **kwargs) for copy in self._values]
        return None if executing_eagerly() else tf.group(*done)

    def _share(self, total: Any) -> Any:
        """What each copy holds of a total."""
        return total / tf.cast(len(self._values), total.dtype) if self._aggregation == VariableAggregation.SUM else total

    def _speaks_for_all(self) -> bool:
        if self._is_being_updated():
            return False
        return strategy_context.in_cross_replica_context() or not strategy_context.has_strategy()

    def _get_cross_replica(self) -> Any:
        """The copies brought together."""
        if self._aggregation == VariableAggregation.ONLY_FIRST_REPLICA:
            return self.primary.value()
        how = ReduceOp.from_variable_aggregation(self._aggregation)
        with self._for_all() as strategy:
            if strategy is None:
                copies = [copy.value() for copy in self._values]
                return tf.add_n(copies) if how == ReduceOp.SUM else tf.add_n(copies) / tf.cast(len(copies), copies[0].dtype)
            return strategy.reduce(how, PerReplica(self._device_map, [copy.value() for copy in self._values]), axis=None)

    def value(self) -> Any:
        """The copy of the replica, or all copies brought together."""
        return self._get_cross_replica() if self._speaks_for_all() else self.get().value()

    def read_value(self) -> Any:
        """The same."""
        return tf.identity(self._get_cross_replica()) if self._speaks_for_all() else self.get().read_value()

    def _as_tensor(self, dtype: Any, as_ref: bool) -> Any:
        check_conversion(self, dtype)
        return self.value()

    def get(self, device: Any = None) -> Any:
        """The copy on a device, or of the replica; who speaks for all gets the copies brought together."""
        if device is None and not strategy_context.has_strategy():
            return self.primary
        return super().get(device)

    def _copy_here(self) -> Any:
        return self.primary if self._speaks_for_all() else self.get()

    def _as_graph_element(self) -> Any:
        if len(self._values) == 1:
            return super()._as_graph_element()
        if not hasattr(self, "_made_element"):
            with self.primary.graph.as_default():
                self._made_element = self.value()
        return self._made_element

    def _saveable(self, name: str) -> SaveableObject:
        return DistributedSaveable(self, name, self._share)


@internal(VALUES + "TPUVariableMixin")
class TPUVariableMixin:
    """Marks the variables of TPUStrategy, whose cores are replicas on processors here."""


@internal(VALUES + "TPUMirroredVariable")
class TPUMirroredVariable(TPUVariableMixin, MirroredVariable):
    """A mirrored variable of TPUStrategy."""


@internal(VALUES + "TPUSyncOnReadVariable")
class TPUSyncOnReadVariable(TPUVariableMixin, SyncOnReadVariable):
    """A variable of TPUStrategy whose copies are brought together when it is read."""


@internal(VALUES + "AggregatingVariable")
@_as_its_copies
class AggregatingVariable(BaseResourceVariable):
    """One variable that several replicas write to: what they write is brought together first."""

    def __init__(self, strategy: Any, v: Any, aggregation: Any) -> None:
        self._distribute_strategy = strategy
        self._v = v
        self._aggregation = aggregation
        v._mirrored_in = self

    primary = property(lambda self: self._v)
    values = property(lambda self: (self._v,))
    _initializer_op = _of_first("_initializer_op")
    _is_initialized_op = _of_first("_is_initialized_op")

    def get(self) -> Any:
        """The variable itself."""
        return self._v

    def __getattr__(self, name: str) -> Any:
        if name == "_v":
            raise AttributeError(name)
        return getattr(self._v, name)

    def __repr__(self) -> str:
        return repr(self._v)

    def _written(self, how: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        strategy = self._distribute_strategy
        with strategy.scope() if not strategy_context.has_strategy() else contextlib.nullcontext():
            if strategy_context.in_cross_replica_context():
                if strategy_context.get_update_device() is not None:
                    return getattr(self._v, how)(*args, **kwargs)
                return strategy.extended.update(self, lambda v, *args: getattr(v, how)(*args, **kwargs), args=args)
            refuse_without_aggregation(self)
            context = strategy_context.get_replica_context()
            return context.merge_call(functools.partial(_aggregated_write, self, how, kwargs), args=args)


for _how in _WRITES:
    setattr(AggregatingVariable, _how, _writer(_how))


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
