"""tf.train.FtrlOptimizer."""

from __future__ import annotations

from typing import Any

from everflow.api import public
from everflow.train.op_optimizer import filled_slot, numbers, updates_by_op
from everflow.train.optimizer import Optimizer


@public("train.FtrlOptimizer")
@updates_by_op
class FtrlOptimizer(Optimizer):
    """Follow the regularized leader: online learning with L1 and L2, and shrinkage of the weights themselves."""

    def __init__(
        self,
        learning_rate: Any,
        learning_rate_power: Any = -0.5,
        initial_accumulator_value: float = 0.1,
        l1_regularization_strength: float = 0.0,
        l2_regularization_strength: float = 0.0,
        use_locking: bool = False,
        name: str = "Ftrl",
        accum_name: str | None = None,
        linear_name: str | None = None,
        l2_shrinkage_regularization_strength: float = 0.0,
    ) -> None:
        super().__init__(use_locking, name)
        _check_not_negative("initial_accumulator_value", initial_accumulator_value)
        if not callable(learning_rate_power) and learning_rate_power > 0.0:
            raise ValueError(f"learning_rate_power {learning_rate_power:f} needs to be negative or zero")
        _check_not_negative("l1_regularization_strength", l1_regularization_strength)
        _check_not_negative("l2_regularization_strength", l2_regularization_strength)
        _check_not_negative("l2_shrinkage_regularization_strength", l2_shrinkage_regularization_strength)
        self._learning_rate = learning_rate
        self._learning_rate_power = learning_rate_power
        self._initial_accumulator_value = initial_accumulator_value
        self._l1_regularization_strength = l1_regularization_strength
        self._l2_regularization_strength = l2_regularization_strength
        self._l2_shrinkage_regularization_strength = l2_shrinkage_regularization_strength
        self._learning_rate_tensor: Any = None
        self._learning_rate_power_tensor: Any = None
        self._l1_regularization_strength_tensor: Any = None
        self._l2_regularization_strength_tensor: Any = None
        self._l2_shrinkage_regularization_strength_tensor: Any = None
        self._accum_name = accum_name
        self._linear_name = linear_name

    def _create_slots(self, var_list: list[Any]) -> None:
        for var in var_list:
            filled_slot(self, var, self._initial_accumulator_value, "accum", self._accum_name or self._name)
            self._zeros_slot(var, "linear", self._linear_name or self._name)

    def _prepare(self) -> None:
        (
            self._learning_rate_tensor,
            self._l1_regularization_strength_tensor,
            self._l2_regularization_strength_tensor,
            self._l2_shrinkage_regularization_strength_tensor,
            self._learning_rate_power_tensor,
        ) = numbers(
            self,
            learning_rate=self._learning_rate,
            l1_regularization_strength=self._l1_regularization_strength,
            l2_regularization_strength=self._l2_regularization_strength,
            l2_shrinkage_regularization_strength=self._l2_shrinkage_regularization_strength,
            learning_rate_power=self._learning_rate_power,
        )

    def _step(self, var: Any) -> Any:
        inputs = {
            "accum": self.get_slot(var, "accum"),
            "linear": self.get_slot(var, "linear"),
            "lr": self._learning_rate_tensor,
            "l1": self._l1_regularization_strength_tensor,
            "l2": self._l2_regularization_strength_tensor,
            "l2_shrinkage": self._l2_shrinkage_regularization_strength_tensor,
            "lr_power": self._learning_rate_power_tensor,
        }
        return "FtrlV2" if self._l2_shrinkage_regularization_strength > 0.0 else "Ftrl", inputs, {}


def _check_not_negative(name: str, value: float) -> None:
    if value < 0.0:
        raise ValueError(f"{name} {value:f} needs to be positive or zero")
