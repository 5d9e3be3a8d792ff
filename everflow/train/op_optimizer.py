"""Optimizers whose update of a variable is one op: a family of everflow.ops.variables.optimizer_updates."""
from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.graph import dtypes, opdefs
from everflow.graph.convert import convert_to_tensor
from everflow.ops.core.registry import apply
from everflow.train.optimizer import Optimizer


class OpOptimizer(Optimizer):
    """Base of the optimizers that have an op of their own."""

    def _step(self, var: Any) -> tuple[str, dict[str, Any], dict[str, Any]]:
        """For a variable: the family of ops, its inputs by name (slots, and tensors of hyperparameters), attributes."""
        raise NotImplementedError

    def _numbers(self, **hyperparameters: Any) -> list[Any]:
        """Hyperparameters as tensors with these names; those that are functions are called first."""
        values = [self._call_if_callable(value) for value in hyperparameters.values()]
        return [convert_to_tensor(value, name=name) for name, value in zip(hyperparameters, values)]

    def _apply_dense(self, grad: Any, var: Any) -> Any:
        return self._op("Apply", grad, var)

    def _resource_apply_dense(self, grad: Any, handle: Any) -> Any:
        return self._op("ResourceApply", grad, handle)

    def _apply_sparse(self, grad: Any, var: Any) -> Any:
        return self._op("SparseApply", grad.values, var, grad.indices)

    def _resource_apply_sparse(self, grad: Any, handle: Any, indices: Any) -> Any:
        return self._op("ResourceSparseApply", grad, handle, indices)

    def _op(self, kind: str, grad: Any, var: Any, indices: Any = None) -> Any:
        family, inputs, attrs = self._step(var)
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
        return apply(kind + family, *arguments, use_locking=self._use_locking, **attrs)
