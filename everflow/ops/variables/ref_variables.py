"""Reference variables: the variable's op hands out the storage itself, and `<name>/read` is its value."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import everflow as tf
from everflow.api import internal
from everflow.graph import convert
from everflow.graph.dtypes import DTypeLike
from everflow.graph.indexed_slices import IndexedSlices
from everflow.graph.scopes import (
    add_to_collections,
    colocate_with,
    device,
    init_scope,
    name_from_scope_name,
    name_scope,
    prepend_name_scope,
    strip_name_scope,
)
from everflow.graph.shapes import TensorShape
from everflow.graph.stacks import get_default_graph
from everflow.graph.tensor import Tensor
from everflow.ops.core.registry import apply
from everflow.ops.variables import variables
from everflow.ops.variables.initial_values import check_origin, guarded
from everflow.ops.variables.variables import SaveSliceInfo, VariableV1


def _scattered(op_type: str) -> Any:
    """A method that changes rows as IndexedSlices say."""

    def method(self: RefVariable, sparse_delta: Any, use_locking: bool = False, name: str | None = None) -> Tensor:
        delta = checked_slices(sparse_delta)
        return apply(op_type, self._variable, delta.indices, delta.values, use_locking=use_locking, name=name)

    method.__doc__ = f"{op_type} with IndexedSlices."
    return method


def _scattered_nd(op_type: str) -> Any:
    def method(self: RefVariable, indices: Any, updates: Any, name: str | None = None) -> Tensor:
        return apply(op_type, self._variable, indices, updates, use_locking=True, name=name)

    method.__doc__ = f"{op_type} of this variable."
    return method


def checked_slices(value: Any) -> Any:
    """The value, which must be IndexedSlices."""
    if not isinstance(value, IndexedSlices):
        raise TypeError(f"sparse_delta is not IndexedSlices: {value}")
    return value


@internal("ops.variables.RefVariable")
class RefVariable(VariableV1):
    """A variable whose op has a reference as its output."""

    def __init__(
        self,
        initial_value: Any = None,
        trainable: Any = None,
        collections: Any = None,
        validate_shape: bool = True,
        caching_device: Any = None,
        name: str | None = None,
        variable_def: Any = None,
        dtype: Any = None,
        expected_shape: Any = None,
        import_scope: str | None = None,
        constraint: Callable[..., Any] | None = None,
        synchronization: Any = None,
        aggregation: Any = None,
        shape: Any = None,
    ) -> None:
        if variable_def is None:
            self._make(
                initial_value,
                trainable,
                collections,
                validate_shape,
                caching_device,
                name,
                dtype,
                constraint,
                synchronization,
                aggregation,
                shape,
            )
            return
        if initial_value is not None:
            raise ValueError("variable_def and initial_value are mutually exclusive.")
        self._find(variable_def, import_scope)

    def _make(
        self,
        initial_value: Any,
        trainable: bool,
        collections: Any,
        validate_shape: bool,
        caching_device: Any,
        name: str | None,
        dtype: DTypeLike,
        constraint: Callable[..., Any] | None,
        synchronization: Any,
        aggregation: Any,
        shape: Any,
    ) -> None:
        if initial_value is None:
            raise ValueError("initial_value must be specified.")
        self._synchronization, self._aggregation, self._trainable = variables.checked_modes(synchronization, aggregation, trainable, name)
        collections = variables.collections_for(collections, self._trainable)
        variables.check_constraint(constraint)
        self._constraint = constraint
        is_function = callable(initial_value)
        check_origin(initial_value, name)
        with init_scope(), name_scope(name, "Variable", [] if is_function else [initial_value]) as scope:
            graph = get_default_graph()
            own_name = name_from_scope_name(scope)
            if is_function:
                # The ops of the initial value come before the variable's own, and name it by what it will be called.
                with graph._attr_scope(variables.colocation_attr(own_name)):
                    with name_scope("Initializer"), device(None):
                        value = convert.convert_to_tensor(initial_value(), dtype, "initial_value")
                    self._variable = self._tensor = self._storage(value, shape, validate_shape, scope)
            else:
                value = convert.convert_to_tensor(initial_value, dtype, "initial_value")
                self._variable = self._tensor = self._storage(value, shape, validate_shape, scope)
            self._initial_value = value
            if validate_shape and not value.get_shape().is_fully_defined():
                raise ValueError(f"initial_value must have a shape specified: {value}")
            self._initializer_op = tf.assign(self._variable, guarded(own_name, value), validate_shape=validate_shape).op
            if caching_device is not None:
                with device(caching_device):
                    self._snapshot = apply("Identity", self._variable, name="read")
            else:
                with colocate_with(self._variable.op):
                    self._snapshot = apply("Identity", self._variable, name="read")
        self._caching_device = caching_device
        add_to_collections(collections, self)

    @staticmethod
    def _storage(value: Tensor, shape: Any, validate_shape: bool, scope: str) -> Tensor:
        if shape is None:
            shape = value.get_shape() if validate_shape else TensorShape(None)
        return apply("VariableV2", shape=shape, dtype=value.dtype.base_dtype, name=scope)

    def _find(self, proto: Any, import_scope: str | None) -> None:
        """Stands for ops that are in the graph already."""
        graph = get_default_graph()

        def found(name: str) -> Any:
            return graph.as_graph_element(prepend_name_scope(name, import_scope=import_scope))

        self._variable = self._tensor = found(proto.variable_name)
        self._initializer_op = found(proto.initializer_name)
        self._initial_value = found(proto.initial_value_name) if proto.initial_value_name else None
        self._synchronization, self._aggregation, self._trainable = variables.checked_modes(
            variables.VariableSynchronization(proto.synchronization),
            variables.VariableAggregation(proto.aggregation),
            proto.trainable,
            proto.variable_name,
        )
        self._snapshot = found(proto.snapshot_name)
        if proto.HasField("save_slice_info_def"):
            self._save_slice_info = SaveSliceInfo(save_slice_info_def=proto.save_slice_info_def, import_scope=import_scope)
        self._caching_device = None
        self._constraint = None

    def _as_tensor(self, dtype: DTypeLike, as_ref: bool) -> Tensor:
        variables.check_conversion(self, dtype)
        return self._variable if as_ref else self._snapshot

    def value(self) -> Tensor:
        """The variable's `read`."""
        return self._snapshot

    def read_value(self) -> Tensor:
        """A new read of the variable."""
        return apply("Identity", self._variable, name="read")

    def _ref(self) -> Tensor:
        return self._variable

    def set_shape(self, shape: Any) -> None:
        """Narrows the static shape of the variable and of its value."""
        self._variable.set_shape(shape)
        self._snapshot.set_shape(shape)

    def assign(self, value: Any, use_locking: bool = False, name: str | None = None, read_value: bool = True) -> Any:
        """Gives the variable a new value; returns the variable as it is afterwards, or the op."""
        done = tf.assign(self._variable, value, use_locking=use_locking, name=name)
        return done if read_value else done.op

    def assign_add(self, delta: Any, use_locking: bool = False, name: str | None = None, read_value: bool = True) -> Any:
        """Adds to the variable."""
        done = tf.assign_add(self._variable, delta, use_locking=use_locking, name=name)
        return done if read_value else done.op

    def assign_sub(self, delta: Any, use_locking: bool = False, name: str | None = None, read_value: bool = True) -> Any:
        """Subtracts from the variable."""
        done = tf.assign_sub(self._variable, delta, use_locking=use_locking, name=name)
        return done if read_value else done.op

    scatter_add = _scattered("ScatterAdd")
    scatter_sub = _scattered("ScatterSub")
    scatter_mul = _scattered("ScatterMul")
    scatter_div = _scattered("ScatterDiv")
    scatter_min = _scattered("ScatterMin")
    scatter_max = _scattered("ScatterMax")
    scatter_update = _scattered("ScatterUpdate")
    scatter_nd_add = _scattered_nd("ScatterNdAdd")
    scatter_nd_sub = _scattered_nd("ScatterNdSub")
    scatter_nd_update = _scattered_nd("ScatterNdUpdate")

    def batch_scatter_update(self, sparse_delta: Any, use_locking: bool = False, name: str | None = None) -> Any:
        """Sets slices of each batch element, as IndexedSlices say."""
        delta = checked_slices(sparse_delta)
        return tf.batch_scatter_update(self, delta.indices, delta.values, use_locking=use_locking, name=name)

    def _strided_slice_assign(
        self,
        begin: Any,
        end: Any,
        strides: Any,
        value: Any,
        name: str | None,
        begin_mask: int,
        end_mask: int,
        ellipsis_mask: int,
        new_axis_mask: int,
        shrink_axis_mask: int,
    ) -> Tensor:
        return apply(
            "StridedSliceAssign",
            self._variable,
            begin,
            end,
            strides,
            value,
            name=name,
            begin_mask=begin_mask,
            end_mask=end_mask,
            ellipsis_mask=ellipsis_mask,
            new_axis_mask=new_axis_mask,
            shrink_axis_mask=shrink_axis_mask,
        )

    def count_up_to(self, limit: int) -> Tensor:
        """Counts up; an OutOfRangeError at the limit."""
        return apply("CountUpTo", self._variable, limit=limit)

    def to_proto(self, export_scope: str | None = None) -> Any:
        """The VariableDef, or None where the variable is not in the scope that is exported."""
        if not (export_scope is None or self._variable.name.startswith(export_scope)):
            return None
        from everflow.proto import variable_pb2

        named = {
            "variable": self._variable,
            "initial_value": self._initial_value,
            "initializer": self.initializer,
            "snapshot": self._snapshot,
        }
        proto = variable_pb2.VariableDef(
            trainable=self.trainable, synchronization=self.synchronization.value, aggregation=self.aggregation.value
        )
        for part, thing in named.items():
            if thing is not None:
                setattr(proto, part + "_name", strip_name_scope(thing.name, export_scope))
        if self._save_slice_info is not None:
            proto.save_slice_info_def.MergeFrom(self._save_slice_info.to_proto(export_scope=export_scope))
        return proto
