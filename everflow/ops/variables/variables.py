"""tf.Variable: what all variables have in common, and how a call of tf.Variable finds the class that it makes."""

from __future__ import annotations

import enum
import functools
import inspect
from collections.abc import Callable
from typing import Any

import everflow as tf
from everflow import api
from everflow.api import internal, public
from everflow.graph import dtypes
from everflow.graph.convert import register_dense_tensor_like_type, register_tensor_conversion_function
from everflow.graph.keys import GraphKeys
from everflow.graph.scopes import init_scope, prepend_name_scope, strip_name_scope
from everflow.graph.shapes import TensorShape
from everflow.graph.stacks import get_default_graph, get_default_session, in_eager_mode
from everflow.graph.tensor import OPERATORS, Tensor, TensorLike
from everflow.graph.trackable import VARIABLE_VALUE_KEY, Trackable
from everflow.ops.arrays import slicing
from everflow.ops.core import operators as _operators  # noqa: F401  (defines the operators that variables take over)

Creator = Callable[..., Any]
internal("ops.variables.dtypes")(dtypes)


@public("VariableSynchronization")
@internal("ops.variables.VariableSynchronization")
class VariableSynchronization(enum.Enum):
    """When a variable that several devices hold is brought in line."""

    AUTO = 0
    NONE = 1
    ON_WRITE = 2
    ON_READ = 3


@public("VariableAggregation")
@internal("ops.variables.VariableAggregation", "ops.variables.VariableAggregationV2")
class VariableAggregation(enum.Enum):
    """How values from several devices become one value of a variable."""

    NONE = 0
    SUM = 1
    MEAN = 2
    ONLY_FIRST_REPLICA = 3
    ONLY_FIRST_TOWER = 3

    def __hash__(self) -> int:
        return hash(self.value)


@public("variable_creator_scope")
@internal("ops.variable_scope.variable_creator_scope_v1", "ops.variable_scope.variable_creator_scope")
def variable_creator_scope(variable_creator: Creator) -> Any:
    """Lets `variable_creator(next_creator, **arguments)` make the variables of a `with` block."""
    return get_default_graph()._variable_creator_scope(variable_creator)


def created(default: Creator, arguments: dict[str, Any]) -> Any:
    """A variable, made by the innermost creator, which may ask the next one, and so on down to the default."""
    create: Creator = lambda next_creator=None, **kwargs: default(None, **kwargs)
    for _, creator in get_default_graph()._variable_creator_stack:
        create = _after(creator, create)
    return create(**arguments)


def _after(creator: Creator, following: Creator) -> Creator:
    return lambda **kwargs: creator(following, **kwargs)


@internal("ops.variables.VariableMetaclass")
class VariableMetaclass(type):
    """Makes `tf.Variable(...)` a variable of the kind that the scopes around ask for."""

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        default = cls.__dict__.get("_created_by")
        if default is None:
            return super().__call__(*args, **kwargs)
        arguments = _arguments(cls, args, kwargs)
        if arguments["aggregation"] is None:
            arguments["aggregation"] = VariableAggregation.NONE
        return created(default, arguments)


def _arguments(cls: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    """What a call gives, by name, with the defaults of the class."""
    bound = _signature(cls).bind(*args, **kwargs)
    bound.apply_defaults()
    return bound.arguments


@functools.cache
def _signature(cls: Any) -> inspect.Signature:
    return inspect.signature(functools.partial(cls.__init__, None))


def _default_creator(next_creator: Any = None, **kwargs: Any) -> Any:
    from everflow.ops.variables.variable_scope import default_variable_creator

    return default_variable_creator(next_creator, **kwargs)


def _default_creator_v2(next_creator: Any = None, **kwargs: Any) -> Any:
    from everflow.ops.variables.variable_scope import default_variable_creator_v2

    return default_variable_creator_v2(next_creator, **kwargs)


class SaveSliceInfo:
    """Which part of a larger, partitioned variable a variable holds."""

    def __init__(
        self,
        full_name: str | None = None,
        full_shape: Any = None,
        var_offset: Any = None,
        var_shape: Any = None,
        save_slice_info_def: Any = None,
        import_scope: str | None = None,
    ) -> None:
        if save_slice_info_def is not None:
            self.full_name: Any = prepend_name_scope(save_slice_info_def.full_name, import_scope)
            self.full_shape = list(save_slice_info_def.full_shape)
            self.var_offset = list(save_slice_info_def.var_offset)
            self.var_shape = list(save_slice_info_def.var_shape)
        else:
            self.full_name, self.full_shape = full_name, full_shape
            self.var_offset, self.var_shape = var_offset, var_shape

    @property
    def spec(self) -> str:
        """How checkpoints spell the slice: the full shape, then offset and length along each axis."""
        slices = ":".join(f"{offset},{length}" for offset, length in zip(self.var_offset, self.var_shape))
        return " ".join(str(size) for size in self.full_shape) + " " + slices

    def to_proto(self, export_scope: str | None = None) -> Any:
        """The SaveSliceInfoDef, or None where the variable is not in the scope that is exported."""
        if export_scope is not None and not self.full_name.startswith(export_scope):
            return None
        from everflow.proto import variable_pb2

        return variable_pb2.SaveSliceInfoDef(
            full_name=strip_name_scope(self.full_name, export_scope),
            full_shape=[int(d) for d in self.full_shape],
            var_offset=[int(d) for d in self.var_offset],
            var_shape=[int(d) for d in self.var_shape],
        )


@internal("ops.variables.Variable")
class Variable(TensorLike, Trackable, metaclass=VariableMetaclass):
    """State that a session keeps between runs. Subclasses say where: `_tensor` is a reference to it, or its handle."""

    __array_priority__ = 100
    SaveSliceInfo = SaveSliceInfo
    _created_by = staticmethod(_default_creator_v2)
    _trainable: bool
    _synchronization: VariableSynchronization
    _aggregation: VariableAggregation
    _constraint: Any
    _initial_value: Any
    _initializer_op: Any
    _tensor: Tensor
    _save_slice_info: Any = None
    _distribute_strategy: Any = None
    _in_graph_mode = True

    def __init__(
        self,
        initial_value: Any = None,
        trainable: bool | None = None,
        validate_shape: bool = True,
        caching_device: Any = None,
        name: str | None = None,
        variable_def: Any = None,
        dtype: dtypes.DTypeLike | None = None,
        import_scope: str | None = None,
        constraint: Callable[..., Any] | None = None,
        synchronization: Any = VariableSynchronization.AUTO,
        aggregation: Any = VariableAggregation.NONE,
        shape: Any = None,
    ) -> None:
        """Only says how a variable is asked for; the classes below make it."""

    @property
    def name(self) -> str:
        """The name of the variable's tensor."""
        return self._tensor.name

    @property
    def device(self) -> str:
        """The device of the variable's op."""
        return self._tensor.device

    @property
    def op(self) -> Any:
        """The op that holds the variable."""
        return self._tensor.op

    @property
    def graph(self) -> Any:
        """The graph that holds the variable."""
        return self._tensor.graph

    @property
    def _graph_key(self) -> str:
        return self.graph._graph_key

    @property
    def dtype(self) -> Any:
        """The element type."""
        return self._tensor.dtype

    @property
    def shape(self) -> TensorShape:
        """The static shape."""
        return self._tensor.get_shape()

    @property
    def initializer(self) -> Any:
        """The op that assigns the initial value."""
        return self._initializer_op

    def _as_graph_element(self) -> Tensor:
        return self._tensor

    # What each kind of variable does in its own way.

    def value(self) -> Tensor:
        """The tensor that operators and functions use in the variable's place."""
        raise NotImplementedError

    def read_value(self) -> Tensor:
        """A new read of the variable, in its place among the control dependencies."""
        raise NotImplementedError

    def set_shape(self, shape: Any) -> None:
        """Narrows the static shape with what the caller knows."""
        raise NotImplementedError

    def assign(self, value: Any, use_locking: bool = False, name: str | None = None, read_value: bool = True) -> Any:
        """Gives the variable a new value; returns the variable as it is afterwards, or the op."""
        raise NotImplementedError

    def assign_add(self, delta: Any, use_locking: bool = False, name: str | None = None, read_value: bool = True) -> Any:
        """Adds to the variable."""
        raise NotImplementedError

    def assign_sub(self, delta: Any, use_locking: bool = False, name: str | None = None, read_value: bool = True) -> Any:
        """Subtracts from the variable."""
        raise NotImplementedError

    def scatter_update(self, sparse_delta: Any, use_locking: bool = False, name: str | None = None) -> Any:
        """Sets rows as IndexedSlices say."""
        raise NotImplementedError

    def scatter_add(self, sparse_delta: Any, use_locking: bool = False, name: str | None = None) -> Any:
        """Adds to rows."""
        raise NotImplementedError

    def scatter_sub(self, sparse_delta: Any, use_locking: bool = False, name: str | None = None) -> Any:
        """Subtracts from rows."""
        raise NotImplementedError

    def scatter_mul(self, sparse_delta: Any, use_locking: bool = False, name: str | None = None) -> Any:
        """Multiplies rows."""
        raise NotImplementedError

    def scatter_div(self, sparse_delta: Any, use_locking: bool = False, name: str | None = None) -> Any:
        """Divides rows."""
        raise NotImplementedError

    def scatter_min(self, sparse_delta: Any, use_locking: bool = False, name: str | None = None) -> Any:
        """Takes the minimum of rows and the updates."""
        raise NotImplementedError

    def scatter_max(self, sparse_delta: Any, use_locking: bool = False, name: str | None = None) -> Any:
        """Takes the maximum of rows and the updates."""
        raise NotImplementedError

    def batch_scatter_update(self, sparse_delta: Any, use_locking: bool = False, name: str | None = None) -> Any:
        """Sets slices of each batch element."""
        raise NotImplementedError

    def scatter_nd_update(self, indices: Any, updates: Any, name: str | None = None) -> Any:
        """Sets slices at index vectors."""
        raise NotImplementedError

    def scatter_nd_add(self, indices: Any, updates: Any, name: str | None = None) -> Any:
        """Adds to slices at index vectors."""
        raise NotImplementedError

    def scatter_nd_sub(self, indices: Any, updates: Any, name: str | None = None) -> Any:
        """Subtracts from slices at index vectors."""
        raise NotImplementedError

    def count_up_to(self, limit: int) -> Tensor:
        """Counts up; an OutOfRangeError at the limit."""
        raise NotImplementedError

    def to_proto(self, export_scope: str | None = None) -> Any:
        """The VariableDef, or None where the variable is not in the scope that is exported."""
        raise NotImplementedError

    def initialized_value(self) -> Tensor:
        """The value, or what the variable will be initialized with if it is not yet."""
        with init_scope():
            return api.find("cond")(tf.is_variable_initialized(self), self.read_value, lambda: self.initial_value)

    def eval(self, session: Any = None) -> Any:
        """Computes the value in a session (the default one unless given)."""
        if in_eager_mode():
            raise RuntimeError("Trying to eval in EAGER mode")
        return self._as_graph_element().eval(session=session)

    def load(self, value: Any, session: Any = None) -> None:
        """Sets the variable in a session, without adding to the graph."""
        if in_eager_mode():
            self.assign(value)
            return
        session = session or get_default_session()
        if session is None:
            raise ValueError("Either session argument should be provided or default session should be established")
        session.run(self.initializer, {self.initializer.inputs[1]: value})

    def sparse_read(self, indices: Any, name: str | None = None) -> Any:
        """Rows of the variable."""
        raise AttributeError

    def gather_nd(self, indices: Any, name: str | None = None) -> Any:
        """Slices of the variable."""
        raise AttributeError

    def get_shape(self) -> TensorShape:
        """The static shape."""
        return self.shape

    @property
    def trainable(self) -> bool:
        """Whether optimizers change the variable unless told otherwise."""
        return self._trainable

    @property
    def synchronization(self) -> VariableSynchronization:
        """When copies on several devices are brought in line."""
        return self._synchronization

    @property
    def aggregation(self) -> VariableAggregation:
        """How values of several devices are combined."""
        return self._aggregation

    @property
    def constraint(self) -> Any:
        """The function that optimizers pass the variable through after an update, or None."""
        return self._constraint

    @property
    def initial_value(self) -> Any:
        """The tensor that the initializer assigns."""
        if in_eager_mode():
            raise RuntimeError("initial_value not supported in EAGER mode.")
        return self._initial_value

    @property
    def _shared_name(self) -> str:
        return self.name[: self.name.index(":")]

    def _set_save_slice_info(self, save_slice_info: Any) -> None:
        self._save_slice_info = save_slice_info

    def _get_save_slice_info(self) -> Any:
        return self._save_slice_info

    @staticmethod
    def from_proto(variable_def: Any, import_scope: str | None = None) -> Variable:
        """The variable that a VariableDef describes in the default graph."""
        if variable_def.is_resource:
            from everflow.ops.variables.resource_variables import ResourceVariable

            return ResourceVariable(variable_def=variable_def, import_scope=import_scope)
        from everflow.ops.variables.ref_variables import RefVariable

        return RefVariable(variable_def=variable_def, import_scope=import_scope)

    def _gather_saveables_for_checkpoint(self) -> dict[str, Any]:
        return {VARIABLE_VALUE_KEY: self}

    def experimental_ref(self) -> Any:
        """A hashable stand-in for this variable."""
        from everflow.platform.identity import Reference

        return Reference(self)

    def __iter__(self) -> Any:
        raise TypeError("'Variable' object is not iterable.")

    def __hash__(self) -> int:
        return id(self)

    def __eq__(self, other: object) -> bool:
        return self is other

    def __ne__(self, other: object) -> bool:
        return self is not other

    def __repr__(self) -> str:
        return f"<tf.Variable '{self.name}' shape={self.get_shape()} dtype={self.dtype.name}>"

    def __str__(self) -> str:
        return self.__repr__()


def _as_tensor_does(operator: str) -> Any:
    """An operator of variables: that of tensors, on the variable's value."""

    compute = getattr(Tensor, operator)

    @functools.wraps(compute)
    def method(self: Any, *args: Any) -> Any:
        return compute(self.value(), *args)

    return method


@functools.wraps(slicing.getitem)
def _getitem(self: Any, index: Any) -> Any:
    return slicing.getitem(self.value(), index, self)


for _operator in OPERATORS:
    setattr(Variable, _operator, _as_tensor_does(_operator))
setattr(Variable, "__getitem__", _getitem)  # noqa: B010


@public("Variable")
@internal("ops.variables.VariableV1")
class VariableV1(Variable):
    """State that a session keeps between runs: `w = tf.Variable(tf.zeros([10]), name="w")`."""

    _created_by = staticmethod(_default_creator)

    def __init__(
        self,
        initial_value: Any = None,
        trainable: bool | None = None,
        collections: Any = None,
        validate_shape: bool = True,
        caching_device: Any = None,
        name: str | None = None,
        variable_def: Any = None,
        dtype: dtypes.DTypeLike | None = None,
        expected_shape: Any = None,
        import_scope: str | None = None,
        constraint: Callable[..., Any] | None = None,
        use_resource: bool | None = None,
        synchronization: Any = VariableSynchronization.AUTO,
        aggregation: Any = VariableAggregation.NONE,
        shape: Any = None,
    ) -> None:
        """Only says how a variable is asked for; the classes below make it."""


def checked_modes(synchronization: Any, aggregation: Any, trainable: bool, name: str | None) -> tuple[Any, Any, bool]:
    """Synchronization, aggregation and whether the variable is trainable, with their defaults filled in."""
    if aggregation is None:
        aggregation = VariableAggregation.NONE
    elif not isinstance(aggregation, VariableAggregation):
        raise ValueError(f"Invalid variable aggregation mode: {aggregation} for variable: {name}")
    if synchronization is None:
        synchronization = VariableSynchronization.AUTO
    elif not isinstance(synchronization, VariableSynchronization):
        raise ValueError(f"Invalid variable synchronization mode: {synchronization} for variable: {name}")
    if trainable is None:
        trainable = synchronization is not VariableSynchronization.ON_READ
    return synchronization, aggregation, trainable


internal("ops.variables.validate_synchronization_aggregation_trainable")(checked_modes)


def collections_for(collections: Any, trainable: bool) -> list[Any]:
    """The collections that a new variable goes into."""
    if collections is None:
        collections = [GraphKeys.GLOBAL_VARIABLES]
    if not isinstance(collections, (list, tuple, set)):
        raise ValueError(
            f"collections argument to Variable constructor must be a list, tuple, or set. Got {collections} of type {type(collections)}"
        )
    if trainable and GraphKeys.TRAINABLE_VARIABLES not in collections:
        collections = [*collections, GraphKeys.TRAINABLE_VARIABLES]
    return list(collections)


def check_constraint(constraint: Callable[..., Any] | None) -> None:
    if constraint is not None and not callable(constraint):
        raise ValueError("The `constraint` argument must be a callable.")


def colocation_attr(name: str) -> dict[str, Any]:
    """The attribute that places ops made before the variable's own op beside it: not as a message, for which protobuf would be loaded."""
    return {"_class": [f"loc:@{name}"]}


def _to_tensor(variable: Any, dtype: dtypes.DTypeLike | None = None, name: str | None = None, as_ref: bool = False) -> Any:
    return variable._as_tensor(dtype, as_ref)


def check_conversion(variable: Variable, dtype: Any) -> None:
    """Raises where a variable can't stand for a tensor of this type."""
    if dtype is not None and not dtype.is_compatible_with(variable.dtype):
        raise ValueError(f"Incompatible type conversion requested to type {dtype.name!r} for variable of type {variable.dtype.name!r}")


register_tensor_conversion_function(Variable, _to_tensor)
register_dense_tensor_like_type(Variable)
