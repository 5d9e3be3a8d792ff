"""Resource variables: ops take the variable's handle, and every read is an op of its own, with a place in the order."""

from __future__ import annotations

import contextlib
import functools
import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import everflow as tf
from everflow.api import internal, public
from everflow.graph import dtypes
from everflow.graph.convert import convert_to_tensor
from everflow.graph.keys import GraphKeys
from everflow.graph.scopes import (
    add_to_collections,
    colocate_with,
    control_dependencies,
    device,
    init_scope,
    is_eager_outside,
    name_from_scope_name,
    name_scope,
    prepend_name_scope,
    strip_name_scope,
)
from everflow.graph.shapes import TensorShape, as_shape
from everflow.graph.stacks import TAPES, get_default_graph, in_eager_mode
from everflow.graph.tensor import Tensor
from everflow.ops.core.registry import apply
from everflow.ops.variables import variables
from everflow.ops.variables.handles import variable_handle, variable_handle_for
from everflow.ops.variables.initial_values import check_origin, guarded
from everflow.ops.variables.ref_variables import checked_slices
from everflow.ops.variables.variables import SaveSliceInfo, VariableV1

_creation_order = itertools.count()


@internal("ops.resource_variable_ops.variable_accessed")
def variable_accessed(variable: Any) -> None:
    """Tells the function that is being built, and the tapes, that a variable is read."""
    if not in_eager_mode():
        graph: Any = get_default_graph()
        while graph is not None and graph.building_function:
            watch = getattr(graph, "watch_variable", None)
            if watch is not None:
                watch(variable)
            graph = graph.outer_graph
    if TAPES and variable.trainable:
        TAPES[-1].variable_read(variable)


@internal("ops.resource_variable_ops.is_resource_variable")
def is_resource_variable(var: Any) -> bool:
    """Whether a variable is one that ops reach by a handle."""
    return isinstance(var, BaseResourceVariable) or hasattr(var, "_should_act_as_resource_variable")


@internal("ops.resource_variable_ops._handle_graph")
@contextlib.contextmanager
def graph_of_handle(handle: Tensor) -> Iterator[None]:
    """Makes a handle's graph the default one, unless a function is being built that can capture the handle."""
    current = get_default_graph()
    if handle.is_eager or handle.graph is current or current.building_function:
        yield
    else:
        with handle.graph.as_default():
            yield


def _not_in_place(operator: str, way_out: str) -> Any:
    def method(self: Any, other: Any) -> Any:
        raise RuntimeError(f"Variable {operator} value not supported. {way_out}")

    return method


def _assigned_instead(operator: str) -> str:
    return f"Use `var.assign(var {operator} value)` to modify the variable or `var = var {operator} value` to get a new Tensor object."


def _scattered(op_type: str) -> Any:
    """A method that changes rows as IndexedSlices say."""

    def method(self: BaseResourceVariable, sparse_delta: Any, use_locking: bool = False, name: str | None = None) -> Any:
        delta = checked_slices(sparse_delta)
        return self._lazy_read(apply(op_type, self.handle, delta.indices, convert_to_tensor(delta.values, self.dtype), name=name))

    method.__doc__ = f"{op_type} with IndexedSlices."
    return method


def _scattered_nd(op_type: str) -> Any:
    def method(self: BaseResourceVariable, indices: Any, updates: Any, name: str | None = None) -> Any:
        return self._lazy_read(apply(op_type, self.handle, indices, convert_to_tensor(updates, self.dtype), name=name))

    method.__doc__ = f"{op_type} of this variable."
    return method


@internal("ops.resource_variable_ops.BaseResourceVariable")
class BaseResourceVariable(VariableV1):
    """What resource variables do with their handle, however they came by it."""

    def __init__(
        self,
        trainable: Any = None,
        shape: Any = None,
        dtype: Any = None,
        handle: Any = None,
        constraint: Callable[..., Any] | None = None,
        synchronization: Any = None,
        aggregation: Any = None,
        distribute_strategy: Any = None,
        name: str | None = None,
        unique_id: str | None = None,
        handle_name: str | None = None,
        graph_element: Any = None,
        initial_value: Any = None,
        initializer_op: Any = None,
        is_initialized_op: Any = None,
        cached_value: Any = None,
        save_slice_info: Any = None,
        handle_deleter: Any = None,
        **_: Any,
    ) -> None:
        self._synchronization, self._aggregation, self._trainable = variables.checked_modes(synchronization, aggregation, trainable, name)
        self._constraint = constraint
        self._save_slice_info = save_slice_info
        self._shape = as_shape(shape)
        self._handle = self._tensor = handle
        self._graph_element = graph_element
        self._initial_value = initial_value
        self._cached_value = cached_value
        self._unique_id = unique_id
        self._creation_order = next(_creation_order)
        self._handle_name = handle_name + ":0" if handle_name is not None else "Variable:0"
        self._dtype = dtypes.as_dtype(dtype).base_dtype
        self._initializer_op = initializer_op
        self._is_initialized_op = is_initialized_op
        self._distribute_strategy = distribute_strategy

    # -- what it is

    @property
    def name(self) -> str:
        """The name of the variable."""
        return self._handle_name if self._handle.is_eager else self._tensor.name

    def __repr__(self) -> str:
        if not in_eager_mode() or not self._handle.is_eager:
            return super().__repr__()
        value = self.read_value().numpy() if self.is_initialized() else "<unavailable>"
        shown = repr(value) if isinstance(value, (np.ndarray, bytes)) else str(value)
        return f"<tf.Variable '{self.name}' shape={self.get_shape()} dtype={self.dtype.name}, numpy={shown}>"

    @property
    def handle(self) -> Tensor:
        """The tensor that names the storage."""
        return self._handle

    @property
    def distribute_strategy(self) -> Any:
        """The strategy that the variable was made under; None if there was none."""
        return self._distribute_strategy

    @property
    def dtype(self) -> Any:
        """The element type."""
        return self._dtype

    @property
    def shape(self) -> TensorShape:
        """The static shape."""
        return self._shape

    def _shape_as_list(self) -> list[int | None] | None:
        return None if self.shape.ndims is None else self.shape.as_list()

    def _shape_tuple(self) -> tuple[int | None, ...] | None:
        return self.shape.as_dims()

    @property
    def create(self) -> Any:
        """The op that initializes the variable."""
        return self._initializer_op

    def is_initialized(self, name: str | None = None) -> Tensor:
        """Whether the variable has a value yet."""
        return apply("VarIsInitializedOp", self.handle, name=name)

    def set_shape(self, shape: Any) -> None:
        """Not for resource variables: their shape is that of their handle."""
        raise NotImplementedError("ResourceVariable does not implement set_shape()")

    # -- reading

    def _as_graph_element(self) -> Tensor:
        return self._graph_element

    def _as_tensor(self, dtype: dtypes.DTypeLike, as_ref: bool) -> Tensor:
        variables.check_conversion(self, dtype)
        if as_ref and self._handle.is_eager:
            return self._handle
        return self.read_value().op.inputs[0] if as_ref else self.value()

    def _dense_var_to_tensor(self, dtype: Any = None, name: str | None = None, as_ref: bool = False) -> Tensor:
        return self._as_tensor(dtype, as_ref)

    def _read_variable_op(self) -> Tensor:
        variable_accessed(self)
        return apply("ReadVariableOp", self._handle, dtype=self._dtype)

    def value(self) -> Tensor:
        """A new read, or the cached one where the variable has a caching device."""
        if self._cached_value is not None:
            return self._cached_value
        if self._handle.is_eager and in_eager_mode():
            return self._read_variable_op()
        with colocate_with(None, ignore_existing=True), device(self._handle.device):
            return self._read_variable_op()

    def read_value(self) -> Tensor:
        """A new read of the variable."""
        with name_scope("Read"), device(self._handle.device):
            found = self._read_variable_op()
        return apply("Identity", found)

    def sparse_read(self, indices: Any, name: str | None = None) -> Tensor:
        """Rows of the variable."""
        with name_scope("Gather" if name is None else name) as scope:
            variable_accessed(self)
            found = apply("ResourceGather", self._handle, indices, dtype=self._dtype, name=scope)
        return apply("Identity", found)

    def gather_nd(self, indices: Any, name: str | None = None) -> Tensor:
        """Slices of the variable."""
        with name_scope("GatherNd" if name is None else name) as scope:
            variable_accessed(self)
            found = apply("ResourceGatherNd", self._handle, indices, dtype=self._dtype, name=scope)
        return apply("Identity", found)

    def numpy(self) -> Any:
        """The value as an array, where operations run at once."""
        if in_eager_mode():
            return self.read_value().numpy()
        raise NotImplementedError("numpy() is only available when eager execution is enabled.")

    def __bool__(self) -> bool:
        return bool(self.read_value())

    __nonzero__ = __bool__

    def __int__(self) -> int:
        if not self.dtype.is_integer:
            raise TypeError("Non-integer variable can't be converted to integer.")
        return int(self.numpy())

    def __copy__(self) -> Any:
        return self

    def _made_again(self, value: Any, name: str) -> dict[str, Any]:
        """The arguments that make a variable like this one."""
        same = {"trainable": self._trainable, "constraint": self._constraint, "dtype": self._dtype}
        return {"initial_value": value, "name": name, **same}

    def __deepcopy__(self, memo: Any) -> Any:
        if not in_eager_mode():
            raise NotImplementedError("__deepcopy__() is only available when eager execution is enabled.")
        twin = memo[id(self)] = ResourceVariable(**self._made_again(self.read_value(), self._shared_name + "_copy"))
        return twin

    def __reduce__(self) -> Any:
        if not in_eager_mode():
            raise NotImplementedError("__reduce__() is only available when eager execution is enabled.")
        return functools.partial(ResourceVariable, **self._made_again(self.numpy(), self._shared_name)), ()

    # -- writing

    @contextlib.contextmanager
    def _assign_dependencies(self) -> Iterator[None]:
        """Writes wait for the cached read, which is of the value before them."""
        if self._cached_value is None:
            yield
        else:
            with control_dependencies([self._cached_value]):
                yield

    def _lazy_read(self, op: Any) -> UnreadVariable:
        variable_accessed(self)
        if self._handle.is_eager and in_eager_mode():
            return EagerWritten(self)  # type: ignore[return-value]
        return UnreadVariable(self._handle, self._dtype, self._shape, op, self._unique_id)

    def assign(self, value: Any, use_locking: Any = None, name: str | None = None, read_value: bool = True) -> Any:
        """Gives the variable a new value; returns the variable as it is afterwards, or the op."""
        with graph_of_handle(self.handle):
            value = convert_to_tensor(value, self.dtype)
            self._shape.assert_is_compatible_with(value.get_shape())
            done = apply("AssignVariableOp", self.handle, value, name=name)
            return self._lazy_read(done) if read_value else done

    def assign_add(self, delta: Any, use_locking: Any = None, name: str | None = None, read_value: bool = True) -> Any:
        """Adds to the variable."""
        with graph_of_handle(self.handle), self._assign_dependencies():
            done = apply("AssignAddVariableOp", self.handle, convert_to_tensor(delta, self.dtype), name=name)
        return self._lazy_read(done) if read_value else done

    def assign_sub(self, delta: Any, use_locking: Any = None, name: str | None = None, read_value: bool = True) -> Any:
        """Subtracts from the variable."""
        with graph_of_handle(self.handle), self._assign_dependencies():
            done = apply("AssignSubVariableOp", self.handle, convert_to_tensor(delta, self.dtype), name=name)
        return self._lazy_read(done) if read_value else done

    scatter_add = _scattered("ResourceScatterAdd")
    scatter_sub = _scattered("ResourceScatterSub")
    scatter_mul = _scattered("ResourceScatterMul")
    scatter_div = _scattered("ResourceScatterDiv")
    scatter_min = _scattered("ResourceScatterMin")
    scatter_max = _scattered("ResourceScatterMax")
    scatter_update = _scattered("ResourceScatterUpdate")
    scatter_nd_add = _scattered_nd("ResourceScatterNdAdd")
    scatter_nd_sub = _scattered_nd("ResourceScatterNdSub")
    scatter_nd_update = _scattered_nd("ResourceScatterNdUpdate")

    def batch_scatter_update(self, sparse_delta: Any, use_locking: bool = False, name: str | None = None) -> Any:
        """Sets slices of each batch element, as IndexedSlices say."""
        delta = checked_slices(sparse_delta)
        return self._lazy_read(tf.batch_scatter_update(self, delta.indices, delta.values, use_locking=use_locking, name=name))

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
    ) -> Any:
        slices = {"begin_mask": begin_mask, "end_mask": end_mask, "ellipsis_mask": ellipsis_mask}
        axes = {"new_axis_mask": new_axis_mask, "shrink_axis_mask": shrink_axis_mask}
        with graph_of_handle(self.handle), self._assign_dependencies():
            new = convert_to_tensor(value, self.dtype)
            return self._lazy_read(apply("ResourceStridedSliceAssign", self.handle, begin, end, strides, new, name=name, **slices, **axes))

    def count_up_to(self, limit: int) -> Tensor:
        """Counts up; an OutOfRangeError at the limit."""
        return apply("ResourceCountUpTo", self.handle, limit=limit, T=self.dtype)

    __iadd__ = _not_in_place(
        "+=", "Use variable.assign_add(value) to modify the variable value and variable = variable + value to get a new Tensor object."
    )
    __isub__ = _not_in_place(
        "-=", "Use variable.assign_sub(value) to modify the variable value and variable = variable - value to get a new Tensor object."
    )
    __imul__ = _not_in_place("*=", _assigned_instead("*"))
    __idiv__ = __itruediv__ = _not_in_place("/=", _assigned_instead("/"))
    __irealdiv__ = __itruediv__
    __ipow__ = _not_in_place("**=", _assigned_instead("**"))

    # -- wire form

    def to_proto(self, export_scope: str | None = None) -> Any:
        """The VariableDef, or None where the variable is not in the scope that is exported."""
        if export_scope is not None and not self.handle.name.startswith(export_scope):
            return None
        from everflow.proto import variable_pb2

        proto = variable_pb2.VariableDef()
        proto.variable_name = strip_name_scope(self.handle.name, export_scope)
        if self._initial_value is not None:
            proto.initial_value_name = strip_name_scope(self._initial_value.name, export_scope)
        proto.initializer_name = strip_name_scope(self.initializer.name, export_scope)
        snapshot = self._graph_element if self._cached_value is None else self._cached_value
        proto.snapshot_name = strip_name_scope(snapshot.name, export_scope)
        proto.is_resource = True
        proto.trainable = self.trainable
        proto.synchronization = self.synchronization.value
        proto.aggregation = self.aggregation.value
        if self._save_slice_info is not None:
            proto.save_slice_info_def.MergeFrom(self._save_slice_info.to_proto(export_scope=export_scope))
        return proto

    @staticmethod
    def from_proto(variable_def: Any, import_scope: str | None = None) -> ResourceVariable:
        """The variable that a VariableDef describes in the default graph."""
        return ResourceVariable(variable_def=variable_def, import_scope=import_scope)


@public("contrib.eager.Variable")
@internal("ops.resource_variable_ops.ResourceVariable")
class ResourceVariable(BaseResourceVariable):
    """A variable that ops reach by its handle."""

    def __init__(
        self,
        initial_value: Any = None,
        trainable: Any = None,
        collections: Any = None,
        validate_shape: bool = True,
        caching_device: Any = None,
        name: str | None = None,
        dtype: Any = None,
        variable_def: Any = None,
        import_scope: str | None = None,
        constraint: Any = None,
        distribute_strategy: Any = None,
        synchronization: Any = None,
        aggregation: Any = None,
        shape: Any = None,
    ) -> None:
        if variable_def is None:
            if is_eager_outside():
                self._make_eagerly(
                    initial_value, trainable, name, dtype, constraint, synchronization, aggregation, distribute_strategy, shape
                )
                return
            self._make(
                initial_value,
                trainable,
                collections,
                caching_device,
                name,
                dtype,
                constraint,
                synchronization,
                aggregation,
                distribute_strategy,
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
        caching_device: Any,
        name: str | None,
        dtype: dtypes.DTypeLike,
        constraint: Callable[..., Any] | None,
        synchronization: Any,
        aggregation: Any,
        distribute_strategy: Any,
        shape: Any,
    ) -> None:
        modes = variables.checked_modes(synchronization, aggregation, trainable, name)
        if initial_value is None:
            raise ValueError("initial_value must be specified.")
        is_function = callable(initial_value)
        check_origin(initial_value, name)
        collections = variables.collections_for(collections, modes[2])
        variables.check_constraint(constraint)
        with init_scope(), name_scope(name, "Variable", [] if is_function else [initial_value]) as scope:
            own_name = name_from_scope_name(scope)
            with get_default_graph()._attr_scope(variables.colocation_attr(own_name)):
                with name_scope("Initializer"), device(None):
                    value = convert_to_tensor(initial_value() if is_function else initial_value, dtype, "initial_value")
                if shape is None:
                    shape = value.get_shape()
                elif not value.get_shape().is_compatible_with(shape):
                    raise ValueError(
                        f"The initial value's shape ({value.get_shape()}) is not compatible with the explicitly "
                        f"supplied `shape` argument ({shape})."
                    )
                handle = variable_handle_for(value, shape, own_name, scope)
            dtype = value.dtype.base_dtype
            with name_scope("IsInitialized"):
                is_initialized = apply("VarIsInitializedOp", handle)
            with name_scope("Assign") as assigning, colocate_with(None, ignore_existing=True), device(handle.device):
                initializer = apply("AssignVariableOp", handle, guarded(own_name, value), name=assigning)
            with name_scope("Read"):
                with device(handle.device):
                    read = apply("ReadVariableOp", handle, dtype=dtype)
                cached = None
                if caching_device is not None:
                    with colocate_with(None, ignore_existing=True), device(caching_device):
                        cached = apply("Identity", read)
        synchronization, aggregation, trainable = modes
        super().__init__(
            trainable=trainable,
            shape=shape,
            dtype=dtype,
            handle=handle,
            constraint=constraint,
            synchronization=synchronization,
            aggregation=aggregation,
            distribute_strategy=distribute_strategy,
            name=own_name,
            unique_id=own_name,
            handle_name=own_name,
            graph_element=read,
            initial_value=value,
            initializer_op=initializer,
            is_initialized_op=is_initialized,
            cached_value=cached,
        )
        with init_scope():
            add_to_collections(collections, self)

    def _make_eagerly(
        self,
        initial_value: Any,
        trainable: bool,
        name: str | None,
        dtype: dtypes.DTypeLike,
        constraint: Callable[..., Any] | None,
        synchronization: Any,
        aggregation: Any,
        distribute_strategy: Any,
        shape: Any,
    ) -> None:
        modes = variables.checked_modes(synchronization, aggregation, trainable, name)
        if initial_value is None:
            raise ValueError("initial_value must be specified.")
        is_function = callable(initial_value)
        if isinstance(initial_value, Tensor) and not initial_value.is_eager:
            raise ValueError(
                f"Tensor-typed variable initializers must either be wrapped in an init_scope or callable (e.g., "
                f"`tf.Variable(lambda : tf.truncated_normal([10, 40]))`) when building functions. Please file a feature request if "
                f"this restriction inconveniences you. Got: {initial_value}"
            )
        variables.check_constraint(constraint)
        from everflow.eager.variables import handle_for

        with init_scope(), name_scope(name, "Variable") as scope:
            own_name = name_from_scope_name(scope)
            with name_scope("Initializer"):
                value = convert_to_tensor(initial_value() if is_function else initial_value, dtype, "initial_value")
            if shape is not None and not value.get_shape().is_compatible_with(shape):
                raise ValueError(
                    f"The initial value's shape ({value.get_shape()}) is not compatible with the explicitly supplied `shape` argument "
                    f"({shape})."
                )
            handle, unique = handle_for(value, shape, own_name)
        synchronization, aggregation, trainable = modes
        super().__init__(
            trainable=trainable,
            shape=value.get_shape() if shape is None else shape,
            dtype=value.dtype.base_dtype,
            handle=handle,
            constraint=constraint,
            synchronization=synchronization,
            aggregation=aggregation,
            distribute_strategy=distribute_strategy,
            name=own_name,
            unique_id=unique,
            handle_name=own_name,
        )
        self._in_graph_mode = False

    def _find(self, proto: Any, import_scope: str | None) -> None:
        """Stands for ops that are in the graph already."""
        if not proto.is_resource:
            raise ValueError("Trying to restore Variable as ResourceVariable.")
        graph = get_default_graph()

        def found(name: str) -> Any:
            return graph.as_graph_element(prepend_name_scope(name, import_scope=import_scope))

        handle = found(proto.variable_name)
        cached, read = None, None
        snapshot = found(proto.snapshot_name) if proto.snapshot_name else None
        if snapshot is not None and snapshot.op.type != "ReadVariableOp":
            cached = snapshot
        else:
            read = snapshot
        if read is None:
            read = graph.get_tensor_by_name(f"{handle.op.name}/Read/ReadVariableOp:0")
        save_slice_info = None
        if proto.HasField("save_slice_info_def"):
            save_slice_info = SaveSliceInfo(save_slice_info_def=proto.save_slice_info_def, import_scope=import_scope)
        super().__init__(
            trainable=proto.trainable,
            shape=TensorShape.from_dims(handle.op.attr("shape")),
            dtype=handle.op.attr("dtype"),
            handle=handle,
            synchronization=variables.VariableSynchronization(proto.synchronization),
            aggregation=variables.VariableAggregation(proto.aggregation),
            name=proto.variable_name,
            unique_id=handle.op.name,
            handle_name=handle.op.name,
            graph_element=read,
            initializer_op=found(proto.initializer_name),
            initial_value=found(proto.initial_value_name) if proto.initial_value_name else None,
            cached_value=cached,
            save_slice_info=save_slice_info,
        )


@internal("ops.resource_variable_ops._UnreadVariable")
class UnreadVariable(BaseResourceVariable):
    """A variable after a write: reads of it come after that write."""

    def __init__(self, handle: Tensor, dtype: dtypes.DTypeLike, shape: Any, parent_op: Any, unique_id: Any) -> None:
        self._parent_op = parent_op
        read = None
        # A traced function reads where its program does.
        if not hasattr(get_default_graph(), "watch_variable"):
            with control_dependencies([parent_op]):
                read = apply("ReadVariableOp", handle, dtype=dtype)
        super().__init__(
            handle=handle,
            dtype=dtype,
            shape=shape,
            unique_id=unique_id,
            handle_name=handle.value.name if handle.is_eager else handle.op.name,
            graph_element=read,
        )

    @property
    def name(self) -> str:
        """The name of the op that wrote."""
        return self._parent_op.name

    @property
    def op(self) -> Any:
        """The op that wrote."""
        return self._parent_op

    def value(self) -> Tensor:
        """A read after the write."""
        with control_dependencies([self._parent_op]):
            return super().value()

    def read_value(self) -> Tensor:
        """A read after the write."""
        with control_dependencies([self._parent_op]):
            return super().read_value()

    def _read_variable_op(self) -> Tensor:
        with control_dependencies([self._parent_op]):
            return super()._read_variable_op()


class EagerWritten(BaseResourceVariable):
    """A variable after a write that is done: the same variable, under another name."""

    def __init__(self, variable: BaseResourceVariable) -> None:
        self.__dict__.update({k: v for k, v in variable.__dict__.items() if not k.startswith("_self_")})

    @property
    def name(self) -> str:
        """That of what was written."""
        return "UnreadVariable"

    @property
    def op(self) -> Any:
        """The op that wrote, which is done."""
        return None


@internal("ops.resource_variable_ops.UninitializedVariable")
class UninitializedVariable(BaseResourceVariable):
    """A variable without an initializer: something else gives it its first value."""

    def __init__(
        self,
        trainable: bool | None = None,
        caching_device: Any = None,
        name: str | None = None,
        shape: Any = None,
        dtype: Any = None,
        constraint: Callable[..., Any] | None = None,
        synchronization: Any = None,
        aggregation: Any = None,
        extra_handle_data: Any = None,
        distribute_strategy: Any = None,
        **_: Any,
    ) -> None:
        with init_scope(), name_scope(name, "Variable") as scope:
            own_name = unique = name_from_scope_name(scope)
            read = None
            handle: Any
            if in_eager_mode():
                from everflow.eager.variables import empty_handle

                handle, unique = empty_handle(dtypes.as_dtype(dtype), as_shape(shape).as_dims(), own_name)
            else:
                handle = variable_handle(shape, dtype, own_name, scope)
                with name_scope("Read"), device(handle.device):
                    read = apply("ReadVariableOp", handle, dtype=dtype)
                add_to_collections([GraphKeys.GLOBAL_VARIABLES], self)
        super().__init__(
            trainable=trainable,
            shape=shape,
            dtype=dtype,
            handle=handle,
            constraint=constraint,
            synchronization=synchronization,
            aggregation=aggregation,
            distribute_strategy=distribute_strategy,
            name=own_name,
            unique_id=unique,
            handle_name=own_name,
            graph_element=read,
        )
        self._in_graph_mode = not handle.is_eager


@internal("ops.resource_variable_ops.copy_to_graph_uninitialized")
def copy_to_graph_uninitialized(var: BaseResourceVariable) -> UninitializedVariable:
    """A variable like this one in the default graph, without an initializer."""
    return UninitializedVariable(
        trainable=var.trainable,
        constraint=var.constraint,
        shape=var.shape,
        dtype=var.dtype,
        name=var._shared_name,
        synchronization=var.synchronization,
        aggregation=var.aggregation,
    )
