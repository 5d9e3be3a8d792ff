"""tf.train.ProximalAdagradOptimizer."""

from __future__ import annotations

from typing import Any

from everflow.api import public
from everflow.train.op_optimizer import filled_slot, numbers, updates_by_op
from everflow.train.optimizer import Optimizer


@public("train.ProximalAdagradOptimizer")
@updates_by_op
class ProximalAdagradOptimizer(Optimizer):
    """Adagrad, each step followed by the proximal step of L1 and L2 regularization."""

    _learning_rate_tensor: Any = None
    _l1_regularization_strength_tensor: Any = None
    _l2_regularization_strength_tensor: Any = None

    def __init__(
        self,
        learning_rate: Any,
        initial_accumulator_value: float = 0.1,
        l1_regularization_strength: Any = 0.0,
        l2_regularization_strength: Any = 0.0,
        use_locking: bool = False,
        name: str = "ProximalAdagrad",
    ) -> None:
        super().__init__(use_locking, name)
        if initial_accumulator_value <= 0.0:
            raise ValueError(f"initial_accumulator_value must be positive: {initial_accumulator_value}")
        self._learning_rate, self._initial_accumulator_value = learning_rate, initial_accumulator_value
        self._l1_regularization_strength, self._l2_regularization_strength = l1_regularization_strength, l2_regularization_strength

    def _create_slots(self, var_list: list[Any]) -> None:
        for var in var_list:
            filled_slot(self, var, self._initial_accumulator_value, "accumulator", self._name)

    def _prepare(self) -> None:
        (self._learning_rate_tensor, self._l1_regularization_strength_tensor, self._l2_regularization_strength_tensor) = numbers(
            self,
            learning_rate=self._learning_rate,
            l1_regularization_strength=self._l1_regularization_strength,
            l2_regularization_strength=self._l2_regularization_strength,
        )

    def _step(self, var: Any) -> Any:
        return (
            "ProximalAdagrad",
            {
                "accum": self.get_slot(var, "accumulator"),
                "lr": self._learning_rate_tensor,
                "l1": self._l1_regularization_strength_tensor,
                "l2": self._l2_regularization_strength_tensor,
            },
            {},
        )
