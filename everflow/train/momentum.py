"""tf.train.MomentumOptimizer."""

from __future__ import annotations

from typing import Any

from everflow.api import public
from everflow.train.op_optimizer import numbers, updates_by_op
from everflow.train.optimizer import Optimizer


@public("train.MomentumOptimizer")
@updates_by_op
class MomentumOptimizer(Optimizer):
    """Steps along a decaying sum of gradients; with `use_nesterov`, along what that sum will be after this gradient."""

    def __init__(
        self, learning_rate: Any, momentum: Any, use_locking: bool = False, name: str = "Momentum", use_nesterov: bool = False
    ) -> None:
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate
        self._momentum = momentum
        self._use_nesterov = use_nesterov

    def _create_slots(self, var_list: list[Any]) -> None:
        for var in var_list:
            self._zeros_slot(var, "momentum", self._name)

    def _prepare(self) -> None:
        self._learning_rate_tensor, self._momentum_tensor = numbers(self, learning_rate=self._learning_rate, momentum=self._momentum)

    def _step(self, var: Any) -> Any:
        return (
            "Momentum",
            {"accum": self.get_slot(var, "momentum"), "lr": self._learning_rate_tensor, "momentum": self._momentum_tensor},
            {"use_nesterov": self._use_nesterov},
        )
