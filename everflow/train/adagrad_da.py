"""tf.train.AdagradDAOptimizer."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import public
from everflow.graph.scopes import colocate_with, device
from everflow.train.op_optimizer import numbers, updates_by_op
from everflow.train.optimizer import Optimizer


@public("train.AdagradDAOptimizer")
@updates_by_op
class AdagradDAOptimizer(Optimizer):
    """Adagrad with dual averaging: a variable follows from the sum of all gradients; sparse models stay sparse."""

    _learning_rate_tensor: Any = None
    _global_step_on_worker: Any = None

    def __init__(
        self,
        learning_rate: Any,
        global_step: Any,
        initial_gradient_squared_accumulator_value: float = 0.1,
        l1_regularization_strength: Any = 0.0,
        l2_regularization_strength: Any = 0.0,
        use_locking: bool = False,
        name: str = "AdagradDA",
    ) -> None:
        super().__init__(use_locking, name)
        self._learning_rate, self._global_step = learning_rate, global_step
        self._l1_regularization_strength, self._l2_regularization_strength = l1_regularization_strength, l2_regularization_strength
        self._initial_gradient_squared_accumulator_value = start = initial_gradient_squared_accumulator_value
        if start <= 0.0:
            raise ValueError(f"initial_gradient_squared_accumulator_value must be positive: {start}")

    def _create_slots(self, var_list: list[Any]) -> None:
        for var in var_list:
            dtype, shape = var.dtype.base_dtype, var.get_shape()
            with colocate_with(var):
                zeros = tf.constant(0.0, shape=shape, dtype=dtype)
                squares = tf.constant(self._initial_gradient_squared_accumulator_value, shape=shape, dtype=dtype)
            self._get_or_make_slot(var, zeros, "gradient_accumulator", self._name)
            self._get_or_make_slot(var, squares, "gradient_squared_accumulator", self._name)

    def _prepare(self) -> None:
        (self._learning_rate_tensor,) = numbers(self, learning_rate=self._learning_rate)
        with colocate_with(self._learning_rate_tensor):
            # The number of this step, counted from one.
            self._global_step_on_worker = tf.identity(self._global_step) + 1

    def _step(self, var: Any) -> Any:
        with device(var.device):
            step = tf.identity(self._global_step_on_worker)
        return (
            "AdagradDA",
            {
                "gradient_accumulator": self.get_slot(var, "gradient_accumulator"),
                "gradient_squared_accumulator": self.get_slot(var, "gradient_squared_accumulator"),
                "lr": self._learning_rate_tensor,
                "l1": self._l1_regularization_strength,
                "l2": self._l2_regularization_strength,
                "global_step": step,
            },
            {},
        )
