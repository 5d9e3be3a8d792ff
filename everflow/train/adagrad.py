"""tf.train.AdagradOptimizer."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import public
from everflow.graph.dtypes import DTypeLike
from everflow.ops.core.registry import apply
from everflow.train.op_optimizer import numbers, updates_by_op
from everflow.train.optimizer import Optimizer


@public("train.AdagradOptimizer")
@updates_by_op
class AdagradOptimizer(Optimizer):
    """Divides each step by the root of the sum of all squared gradients so far."""

    def __init__(
        self, learning_rate: Any, initial_accumulator_value: float = 0.1, use_locking: bool = False, name: str = "Adagrad"
    ) -> None:
        if initial_accumulator_value <= 0.0:
            raise ValueError(f"initial_accumulator_value must be positive: {initial_accumulator_value}")
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate
        self._initial_accumulator_value = initial_accumulator_value
        self._learning_rate_tensor: Any = None

    def _create_slots(self, var_list: list[Any]) -> None:
        for var in var_list:
            dtype, shape = var.dtype.base_dtype, var.get_shape()
            if shape.is_fully_defined():
                initializer = tf.constant_initializer(self._initial_accumulator_value, dtype=dtype)
            else:
                initializer = self._filled_like(var, dtype)
            self._get_or_make_slot_with_initializer(var, initializer, shape, dtype, "accumulator", self._name)

    def _filled_like(self, var: Any, dtype: DTypeLike) -> Any:
        """What initializes the slot of a variable whose shape is not known yet."""
        return lambda: tf.cast(apply("Fill", tf.shape(var), self._initial_accumulator_value), dtype)

    def _prepare(self) -> None:
        (self._learning_rate_tensor,) = numbers(self, learning_rate=self._learning_rate)

    def _step(self, var: Any) -> Any:
        return "Adagrad", {"accum": self.get_slot(var, "accumulator"), "lr": self._learning_rate_tensor}, {}
