"""tf.train.GradientDescentOptimizer."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import public
from everflow.graph.indexed_slices import IndexedSlices
from everflow.ops.core.registry import apply
from everflow.train.op_optimizer import numbers, updates_by_op
from everflow.train.optimizer import Optimizer


@public("train.GradientDescentOptimizer")
@updates_by_op
class GradientDescentOptimizer(Optimizer):
    """A step is the gradient times the learning rate."""

    def __init__(self, learning_rate: Any, use_locking: bool = False, name: str = "GradientDescent") -> None:
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate
        self._learning_rate_tensor: Any = None

    def _prepare(self) -> None:
        (self._learning_rate_tensor,) = numbers(self, learning_rate=self._learning_rate)

    def _step(self, var: Any) -> Any:
        return "GradientDescent", {"alpha": self._learning_rate_tensor}, {}

    def _apply_sparse_duplicate_indices(self, grad: Any, var: Any) -> Any:
        # Subtracting one row after the other needs no sums.
        step = grad.values * tf.cast(self._learning_rate_tensor, var.dtype.base_dtype)
        return var.scatter_sub(IndexedSlices(step, grad.indices, grad.dense_shape), use_locking=self._use_locking)

    def _resource_apply_sparse_duplicate_indices(self, grad: Any, handle: Any, indices: Any) -> Any:
        return apply("ResourceScatterAdd", handle.handle, indices, -grad * self._learning_rate)
