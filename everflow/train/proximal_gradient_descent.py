"""tf.train.ProximalGradientDescentOptimizer."""

from __future__ import annotations

from typing import Any

from everflow.api import public
from everflow.train.op_optimizer import numbers, updates_by_op
from everflow.train.optimizer import Optimizer


@public("train.ProximalGradientDescentOptimizer")
@updates_by_op
class ProximalGradientDescentOptimizer(Optimizer):
    """Gradient descent, each step followed by the proximal step of L1 and L2 regularization."""

    def __init__(
        self,
        learning_rate: Any,
        l1_regularization_strength: Any = 0.0,
        l2_regularization_strength: Any = 0.0,
        use_locking: bool = False,
        name: str = "ProximalGradientDescent",
    ) -> None:
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate
        self._l1_regularization_strength = l1_regularization_strength
        self._l2_regularization_strength = l2_regularization_strength
        self._learning_rate_tensor: Any = None
        self._l1_regularization_strength_tensor: Any = None
        self._l2_regularization_strength_tensor: Any = None

    def _prepare(self) -> None:
        (self._learning_rate_tensor, self._l1_regularization_strength_tensor, self._l2_regularization_strength_tensor) = numbers(
            self,
            learning_rate=self._learning_rate,
            l1_regularization_strength=self._l1_regularization_strength,
            l2_regularization_strength=self._l2_regularization_strength,
        )

    def _step(self, var: Any) -> Any:
        return (
            "ProximalGradientDescent",
            {
                "alpha": self._learning_rate_tensor,
                "l1": self._l1_regularization_strength_tensor,
                "l2": self._l2_regularization_strength_tensor,
            },
            {},
        )
