"""AutoCastVariable: a variable that reads as another type while a layer with a policy computes."""

from __future__ import annotations

import functools
from typing import Any

import everflow as tf
from everflow.api import internal
from everflow.distribute.variables import DistributedVariable
from everflow.eager.context import executing_eagerly
from everflow.graph.stacks import get_default_graph
from everflow.ops.variables.resource_variables import BaseResourceVariable

_ROOM = "keras.mixed_precision.experimental.autocast_variable."


@internal(_ROOM + "AutoCastVariable")
class AutoCastVariable(BaseResourceVariable):
    """A variable that is read as the type that the graph says, where that is another float.

    It shares all that the variable keeps, so that both are one to optimizers, checkpoints and collections, and is written as that is.
    """

    _kind = "tf.ResourceVariable"
    _wraps: type[Any] = BaseResourceVariable

    def __new__(cls, variable: Any) -> Any:
        if not isinstance(variable, cls._wraps):
            raise ValueError(f"variable must be of type {cls._kind}, but got: {variable}")
        if not variable.dtype.is_floating:
            raise ValueError(f"variable must be a floating point variable but has type: {variable.dtype.name}")
        kind: Any = type(variable)
        return object.__new__(_mixed_with(cls, kind))

    def __init__(self, variable: Any) -> None:
        self.__dict__ = variable.__dict__

    @property
    def dtype(self) -> Any:
        """The type that the variable is read as."""
        reads = get_default_graph()._auto_cast_variable_read_dtype
        return reads if reads is not None and reads.is_floating else self._dtype

    @property
    def true_dtype(self) -> Any:
        """The type that the variable is kept in."""
        return self._dtype

    def _read(self, found: Any) -> Any:
        return tf.cast(found, self.dtype)

    def value(self) -> Any:
        return self._read(super().value())

    def read_value(self) -> Any:
        return self._read(super().read_value())

    def sparse_read(self, indices: Any, name: str | None = None) -> Any:
        return self._read(super().sparse_read(indices, name=name))

    def gather_nd(self, indices: Any, name: str | None = None) -> Any:
        return self._read(super().gather_nd(indices, name=name))

    def _as_tensor(self, dtype: Any, as_ref: bool) -> Any:
        if not as_ref:
            return super()._as_tensor(dtype, as_ref)
        with _as_kept():
            return super()._as_tensor(dtype, as_ref)

    def __repr__(self) -> str:
        value = ""
        if executing_eagerly() and self._handle.is_eager:
            value = f", numpy={self.read_value().numpy()!r}" if self.is_initialized() else ", numpy=<unavailable>"
        shown = f"dtype={self.dtype.name} true_dtype={self.true_dtype.name}"
        return f"<{type(self).__name__} '{self.name}' shape={self.shape} {shown}{value}>"

    __str__ = __repr__


def _as_kept() -> Any:
    """A `with` block in which variables are read as what they are kept in."""
    return get_default_graph()._enable_auto_casting_variables(None)


def _unread(name: str) -> Any:
    """A method of variables that has nothing to do with what they are read as."""

    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        with _as_kept():
            return getattr(super(AutoCastVariable, self), name)(*args, **kwargs)

    return functools.wraps(getattr(BaseResourceVariable, name))(method)


for _name in (
    "assign",
    "assign_add",
    "assign_sub",
    "batch_scatter_update",
    "count_up_to",
    "initialized_value",
    "scatter_add",
    "scatter_div",
    "scatter_max",
    "scatter_min",
    "scatter_mul",
    "scatter_nd_add",
    "scatter_nd_sub",
    "scatter_nd_update",
    "scatter_sub",
    "scatter_update",
    "to_proto",
    "_gather_saveables_for_checkpoint",
    "_strided_slice_assign",
):
    setattr(AutoCastVariable, _name, _unread(_name))


@internal(_ROOM + "AutoCastDistributedVariable")
class AutoCastDistributedVariable(AutoCastVariable):
    """The same of a variable with a copy for each replica."""

    _kind = "DistributedValues"
    _wraps = DistributedVariable


@functools.cache
def _mixed_with(cls: Any, kind: Any) -> Any:
    return type(cls)(cls.__name__, (cls, kind), {})


@internal(_ROOM + "create_autocast_variable")
def create_autocast_variable(variable: Any) -> AutoCastVariable:
    """An AutoCastVariable of the fitting kind."""
    return (AutoCastDistributedVariable if isinstance(variable, DistributedVariable) else AutoCastVariable)(variable)
