"""Optimizers whose update of a variable is one op: a family of everflow.ops.variables.optimizer_updates."""

from __future__ import annotations

from typing import Any, TypeVar

import everflow as tf
from everflow.graph import dtypes, opdefs
from everflow.graph.convert import convert_to_tensor
from everflow.graph.scopes import colocate_with
from everflow.ops.core.registry import apply
from everflow.train.optimizer import Optimizer

Class = TypeVar("Class", bound=type[Optimizer])


def updates_by_op(optimizer: Class) -> Class:
    """Gives an optimizer the updates that it doesn't define itself, made of its `_step(var)`.

    `_step` says for a variable: the family of ops, its inputs by name (slots, and tensors of hyperparameters), attributes.
    """
    for method in (_apply_dense, _resource_apply_dense, _apply_sparse, _resource_apply_sparse):
        if method.__name__ not in vars(optimizer):
            setattr(optimizer, method.__name__, method)
    return optimizer


def numbers(optimizer: Any, **hyperparameters: Any) -> list[Any]:
    """Hyperparameters as tensors with these names; those that are functions are called first."""
    values = [optimizer._call_if_callable(value) for value in hyperparameters.values()]
    return [convert_to_tensor(value, name=name) for name, value in zip(hyperparameters, values)]


def filled_slot(optimizer: Any, var: Any, value: float, slot: str, op_name: str) -> Any:
    """A slot of a variable that starts with the same number everywhere."""
    with colocate_with(var):
        start = tf.constant(value, shape=var.get_shape(), dtype=var.dtype.base_dtype)
    return optimizer._get_or_make_slot(var, start, slot, op_name)


def _apply_dense(self: Any, grad: Any, var: Any) -> Any:
    return _update(self, "Apply", grad, var)


def _resource_apply_dense(self: Any, grad: Any, handle: Any) -> Any:
    return _update(self, "ResourceApply", grad, handle)


def _apply_sparse(self: Any, grad: Any, var: Any) -> Any:
    return _update(self, "SparseApply", grad.values, var, grad.indices)


def _resource_apply_sparse(self: Any, grad: Any, handle: Any, indices: Any) -> Any:
    return _update(self, "ResourceSparseApply", grad, handle, indices)


def _update(optimizer: Any, kind: str, grad: Any, var: Any, indices: Any = None) -> Any:
    family, inputs, attrs = optimizer._step(var)
    definition = opdefs.find(kind + family)
    inputs = {"var": var, "grad": grad, "delta": grad, "indices": indices, **inputs}
    arguments = []
    for arg in definition.inputs:  # type: ignore[union-attr]
        value = inputs[arg.name]
        if arg.type is dtypes.resource:
            value = value.handle
        elif arg.type_attr == "T" and not arg.is_ref and value is not grad:
            value = tf.cast(value, var.dtype.base_dtype)
        arguments.append(value)
    return apply(kind + family, *arguments, use_locking=optimizer._use_locking, **attrs)
