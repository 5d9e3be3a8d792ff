"""tf.assign, tf.scatter_update and their kin: functions that change a variable, whichever kind it is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from everflow import api
from everflow.api import internal, public
from everflow.graph.convert import convert_to_tensor
from everflow.graph.dtypes import DTypeLike
from everflow.graph.scopes import colocate_with, name_scope
from everflow.graph.shapes import TensorShape
from everflow.graph.tensor import Tensor
from everflow.ops.core.registry import apply


@internal("ops.state_ops.variable_op_v2")
def variable_op_v2(shape: Any, dtype: DTypeLike, name: str = "Variable", container: str = "", shared_name: str = "") -> Tensor:
    """A reference to new storage: the op behind a reference variable."""
    return apply("VariableV2", shape=shape, dtype=dtype, name=name, container=container, shared_name=shared_name)


@internal("ops.state_ops.variable_op")
def variable_op(
    shape: Any, dtype: DTypeLike, name: str = "Variable", set_shape: bool = True, container: str = "", shared_name: str = ""
) -> Tensor:
    """The same by an older op, which can leave the static shape open."""
    if not set_shape:
        shape = TensorShape(None)
    known = shape if shape is not None else TensorShape(None)
    made = apply("Variable", shape=known, dtype=dtype, name=name, container=container, shared_name=shared_name)
    # To the op no sizes mean no known shape; who asks for a number says so.
    made.set_shape(known)
    return made


@internal("ops.state_ops.init_variable")
def init_variable(v: Any, init: Any, name: str = "init") -> Any:
    """An op that initializes a variable with a value, or with a function of shape and type."""
    with name_scope(None, v.op.name + "/", [v, init]), name_scope(name) as scope, colocate_with(v):
        if callable(init):
            if not v.get_shape().is_fully_defined():
                raise AssertionError("Variable shape unknown.")
            init = convert_to_tensor(init(v.get_shape().as_list(), v.dtype.base_dtype))
        return assign(v, init, name=scope)


@internal("ops.state_ops.is_variable_initialized")
def is_variable_initialized(ref: Any, name: str | None = None) -> Tensor:
    """Whether a variable has a value yet."""
    if ref.dtype._is_ref_dtype:
        return apply("IsVariableInitialized", ref, name=name)
    return ref.is_initialized(name=name)


@public("assign")
def assign(ref: Any, value: Any, validate_shape: bool | None = None, use_locking: bool | None = None, name: str | None = None) -> Any:
    """Gives a variable a new value."""
    if ref.dtype._is_ref_dtype:
        return apply("Assign", ref, value, validate_shape=validate_shape, use_locking=use_locking, name=name)
    return ref.assign(value, name=name)


@public("assign_add")
def assign_add(ref: Any, value: Any, use_locking: bool | None = None, name: str | None = None) -> Any:
    """Adds to a variable."""
    if ref.dtype._is_ref_dtype:
        return apply("AssignAdd", ref, value, use_locking=use_locking, name=name)
    return ref.assign_add(value)


@public("assign_sub")
def assign_sub(ref: Any, value: Any, use_locking: bool | None = None, name: str | None = None) -> Any:
    """Subtracts from a variable."""
    if ref.dtype._is_ref_dtype:
        return apply("AssignSub", ref, value, use_locking=use_locking, name=name)
    return ref.assign_sub(value)


@public("count_up_to")
def count_up_to(ref: Any, limit: int, name: str | None = None) -> Tensor:
    """Counts a variable up; an OutOfRangeError at the limit."""
    if ref.dtype._is_ref_dtype:
        return apply("CountUpTo", ref, limit=limit, name=name)
    return apply("ResourceCountUpTo", ref.handle, limit=limit, T=ref.dtype, name=name)


def _scatter(op_type: str, public_name: str, doc: str, locking: bool) -> Callable[..., Any]:
    """A public function that changes parts of a variable."""

    def function(ref: Any, indices: Any, updates: Any, use_locking: bool = locking, name: str | None = None) -> Any:
        if ref.dtype._is_ref_dtype:
            return apply(op_type, ref, indices, updates, use_locking=use_locking, name=name)
        rows = {"use_locking": use_locking} if op_type.startswith("ScatterNd") else {}
        updates = convert_to_tensor(updates, ref.dtype)
        return ref._lazy_read(apply("Resource" + op_type, ref.handle, indices, updates, name=name, **rows))

    function.__name__ = function.__qualname__ = public_name
    function.__doc__ = doc
    return public(public_name, owner=__name__)(function)


scatter_update = _scatter("ScatterUpdate", "scatter_update", "Sets rows of a variable.", True)
scatter_add = _scatter("ScatterAdd", "scatter_add", "Adds to rows of a variable.", False)
scatter_sub = _scatter("ScatterSub", "scatter_sub", "Subtracts from rows of a variable.", False)
scatter_mul = _scatter("ScatterMul", "scatter_mul", "Multiplies rows of a variable.", False)
scatter_div = _scatter("ScatterDiv", "scatter_div", "Divides rows of a variable.", False)
scatter_min = _scatter("ScatterMin", "scatter_min", "Takes the minimum of rows of a variable and the updates.", False)
scatter_max = _scatter("ScatterMax", "scatter_max", "Takes the maximum of rows of a variable and the updates.", False)
scatter_nd_update = _scatter("ScatterNdUpdate", "scatter_nd_update", "Sets slices of a variable.", True)
scatter_nd_add = _scatter("ScatterNdAdd", "scatter_nd_add", "Adds to slices of a variable.", False)
scatter_nd_sub = _scatter("ScatterNdSub", "scatter_nd_sub", "Subtracts from slices of a variable.", False)


@public("batch_scatter_update")
def batch_scatter_update(ref: Any, indices: Any, updates: Any, use_locking: bool = True, name: str | None = None) -> Any:
    """Sets slices of a variable where the leading axes of `indices` are batch axes."""
    with name_scope(name):
        indices = convert_to_tensor(indices, name="indices")
        sizes = api.find("shape")(indices)
        rank = indices.get_shape().ndims
        if rank is None:
            raise ValueError("batch_gather does not allow indices with unknown shape.")
        last = api.find("expand_dims")(indices, axis=-1)
        columns = []
        for axis in range(rank - 1):
            size = sizes[axis]
            shape = [1] * (rank + 1)
            shape[axis] = size
            batch = api.find("reshape")(api.find("range")(0, size, 1), shape)
            if batch.dtype is not last.dtype:
                batch = api.find("cast")(batch, last.dtype)
            columns.append(batch * api.find("ones_like")(last))
        found = api.find("concat")([*columns, last], axis=-1)
        return scatter_nd_update(ref, found, updates, use_locking)
