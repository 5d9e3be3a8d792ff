"""tf.train.RMSPropOptimizer."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import public
from everflow.train.op_optimizer import numbers, updates_by_op
from everflow.train.optimizer import Optimizer


@public("train.RMSPropOptimizer")
@updates_by_op
class RMSPropOptimizer(Optimizer):
    """Divides each step by the root of a running mean of squared gradients; if `centered`, of their variance."""

    _learning_rate_tensor: Any = None
    _decay_tensor: Any = None
    _momentum_tensor: Any = None
    _epsilon_tensor: Any = None

    def __init__(
        self,
        learning_rate: Any,
        decay: Any = 0.9,
        momentum: Any = 0.0,
        epsilon: Any = 1e-10,
        use_locking: bool = False,
        centered: bool = False,
        name: str = "RMSProp",
    ) -> None:
        super().__init__(use_locking, name)
        self._learning_rate, self._decay, self._momentum, self._epsilon = learning_rate, decay, momentum, epsilon
        self._centered = centered

    def _create_slots(self, var_list: list[Any]) -> None:
        for var in var_list:
            dtype, shape = var.dtype.base_dtype, var.get_shape()
            ones = tf.ones_initializer(dtype=dtype) if shape.is_fully_defined() else tf.ones_like(var)
            self._get_or_make_slot_with_initializer(var, ones, shape, dtype, "rms", self._name)
            if self._centered:
                self._zeros_slot(var, "mg", self._name)
            self._zeros_slot(var, "momentum", self._name)

    def _prepare(self) -> None:
        self._learning_rate_tensor, self._decay_tensor, self._momentum_tensor, self._epsilon_tensor = numbers(
            self, learning_rate=self._learning_rate, decay=self._decay, momentum=self._momentum, epsilon=self._epsilon
        )

    def _step(self, var: Any) -> Any:
        inputs = {
            "ms": self.get_slot(var, "rms"),
            "mom": self.get_slot(var, "momentum"),
            "lr": self._learning_rate_tensor,
            "rho": self._decay_tensor,
            "momentum": self._momentum_tensor,
            "epsilon": self._epsilon_tensor,
        }
        if not self._centered:
            return "RMSProp", inputs, {}
        return "CenteredRMSProp", {**inputs, "mg": self.get_slot(var, "mg")}, {}
