"""tf.train.AdadeltaOptimizer."""

from __future__ import annotations

from typing import Any

from everflow.api import public
from everflow.train.op_optimizer import numbers, updates_by_op
from everflow.train.optimizer import Optimizer


@public("train.AdadeltaOptimizer")
@updates_by_op
class AdadeltaOptimizer(Optimizer):
    """Scales each step by the recent steps' size over the recent gradients' size."""

    def __init__(
        self, learning_rate: Any = 0.001, rho: Any = 0.95, epsilon: Any = 1e-08, use_locking: bool = False, name: str = "Adadelta"
    ) -> None:
        super().__init__(use_locking, name)
        self._lr = learning_rate
        self._rho = rho
        self._epsilon = epsilon
        self._lr_t: Any = None
        self._rho_t: Any = None
        self._epsilon_t: Any = None

    def _create_slots(self, var_list: list[Any]) -> None:
        for var in var_list:
            self._zeros_slot(var, "accum", self._name)
            self._zeros_slot(var, "accum_update", self._name)

    def _prepare(self) -> None:
        self._lr_t, self._rho_t, self._epsilon_t = numbers(self, lr=self._lr, rho=self._rho, epsilon=self._epsilon)

    def _step(self, var: Any) -> Any:
        return (
            "Adadelta",
            {
                "accum": self.get_slot(var, "accum"),
                "accum_update": self.get_slot(var, "accum_update"),
                "lr": self._lr_t,
                "rho": self._rho_t,
                "epsilon": self._epsilon_t,
            },
            {},
        )
