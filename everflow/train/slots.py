"""Slots: variables that an optimizer or an average keeps beside another variable, named below it (`w/Momentum`)."""

from __future__ import annotations

import contextlib
from typing import Any

import everflow as tf
from everflow import api
from everflow.api import internal
from everflow.graph.dtypes import DTypeLike
from everflow.graph.scopes import colocate_with
from everflow.graph.shapes import as_shape
from everflow.ops.variables.ref_variables import RefVariable
from everflow.ops.variables.resource_variables import is_resource_variable
from everflow.ops.variables.variable_scope import variable_scope
from everflow.ops.variables.variables import SaveSliceInfo, Variable


@internal("training.slot_creator.create_slot")
def create_slot(primary: Any, val: Any, name: str, colocate_with_primary: bool = True) -> Any:
    """A slot that starts with a given value."""
    return _slot(primary, val, name, colocate_with_primary, val.get_shape().is_fully_defined(), None, None)


@internal("training.slot_creator.create_slot_with_initializer")
def create_slot_with_initializer(
    primary: Any, initializer: Any, shape: Any, dtype: DTypeLike, name: str, colocate_with_primary: bool = True
) -> Any:
    """A slot with an initializer."""
    shape = as_shape(shape)
    return _slot(primary, initializer, name, colocate_with_primary, shape.is_fully_defined(), shape, dtype)


@internal("training.slot_creator.create_zeros_slot")
def create_zeros_slot(primary: Any, name: str, dtype: DTypeLike | None = None, colocate_with_primary: bool = True) -> Any:
    """A slot of the shape of its variable, full of zeros."""
    if dtype is None:
        dtype = primary.dtype
    shape = primary.get_shape()
    if shape.is_fully_defined():
        return create_slot_with_initializer(primary, api.find("zeros_initializer")(), shape, dtype, name, colocate_with_primary)
    value = primary.initialized_value() if isinstance(primary, Variable) else primary
    return create_slot(primary, api.find("zeros")(api.find("shape")(value), dtype=dtype), name, colocate_with_primary)


def _slot(primary: Any, value: Any, name: str, beside: bool, validate_shape: bool, shape: Any, dtype: Any) -> Any:
    prefix = primary._shared_name if isinstance(primary, Variable) else primary.op.name
    with variable_scope(None, f"{prefix}/{name}"), colocate_with(primary) if beside else contextlib.nullcontext():
        scope = tf.get_variable_scope()
        # A slot is cut where its variable is, not once more.
        partitioner = scope.partitioner
        scope.set_partitioner(None)
        use_resource = True if is_resource_variable(primary) else False if isinstance(primary, RefVariable) else None
        slot = tf.get_variable(
            "",
            initializer=value,
            trainable=False,
            use_resource=use_resource,
            shape=shape if callable(value) else None,
            dtype=dtype,
            validate_shape=validate_shape,
        )
        scope.set_partitioner(partitioner)
        whole = primary._get_save_slice_info() if isinstance(primary, Variable) else None
        if whole is not None:
            own_name = slot.name[len(primary.op.name + "/") : -len(":0")]
            slot._set_save_slice_info(
                SaveSliceInfo(f"{whole.full_name}/{own_name}", whole.full_shape[:], whole.var_offset[:], whole.var_shape[:])
            )
        return slot
