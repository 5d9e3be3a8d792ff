"""tf.contrib.opt.LARSOptimizer."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import public
from everflow.ops.core.registry import apply
from everflow.train.op_optimizer import numbers, updates_by_op
from everflow.train.optimizer import Optimizer


@public("contrib.opt.LARSOptimizer")
@updates_by_op
class LARSOptimizer(Optimizer):
    """Momentum with a learning rate for each layer, in proportion to its weights' norm over its gradient's."""

    def __init__(
        self,
        learning_rate: Any,
        momentum: Any = 0.9,
        weight_decay: float = 0.0001,
        eeta: float = 0.001,
        epsilon: float = 0.0,
        name: str = "LARSOptimizer",
        skip_list: Any = None,
        use_nesterov: bool = False,
    ) -> None:
        for number, value in {"momentum": momentum, "weight_decay": weight_decay}.items():
            if value < 0.0:
                raise ValueError(f"{number} should be positive: {value}")
        super().__init__(use_locking=False, name=name)
        self._learning_rate, self._momentum, self._use_nesterov = learning_rate, momentum, use_nesterov
        self._weight_decay, self._eeta, self._epsilon = weight_decay, eeta, epsilon
        self._skip_list = skip_list

    def _create_slots(self, var_list: list[Any]) -> None:
        for var in var_list:
            self._zeros_slot(var, "momentum", self._name)

    def compute_lr(self, grad: Any, var: Any) -> tuple[Any, Any]:
        """The learning rate of a variable, and its gradient with weight decay."""
        if self._skip_list is not None and any(part in var.name for part in self._skip_list):
            return self._learning_rate, grad
        weight_norm, gradient_norm = tf.norm(var), tf.norm(grad)
        has_weights, has_gradient = weight_norm > 0, gradient_norm > 0
        ratio = self._eeta * weight_norm / (gradient_norm + self._weight_decay * weight_norm + self._epsilon)
        trust = tf.where(has_weights, tf.where(has_gradient, ratio, 1.0), 1.0)
        scaled = self._learning_rate * trust
        return scaled, grad + self._weight_decay * var

    def _prepare(self) -> None:
        self._learning_rate_tensor, self._momentum_tensor = numbers(self, learning_rate=self._learning_rate, momentum=self._momentum)

    def _step(self, var: Any) -> Any:
        return (
            "Momentum",
            {"accum": self.get_slot(var, "momentum"), "lr": self._learning_rate_tensor, "momentum": self._momentum_tensor},
            {"use_nesterov": self._use_nesterov},
        )

    def _apply_dense(self, grad: Any, var: Any) -> Any:
        return self._apply_scaled("ApplyMomentum", grad, var, var, self.get_slot(var, "momentum"))

    def _resource_apply_dense(self, grad: Any, handle: Any) -> Any:
        return self._apply_scaled("ResourceApplyMomentum", grad, handle, handle.handle, self.get_slot(handle, "momentum").handle)

    def _apply_scaled(self, op_type: str, grad: Any, var: Any, target: Any, slot: Any) -> Any:
        rate, grad = self.compute_lr(grad, var)
        # The rate goes into the gradient, so that the accumulated steps keep the rates they were made with.
        one = tf.cast(1.0, var.dtype.base_dtype)
        return apply(op_type, target, slot, one, grad * rate, self._momentum, use_locking=False, use_nesterov=self._use_nesterov)
