"""tf.contrib.opt.RegAdagradOptimizer."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from everflow.api import public
from everflow.train.adagrad import AdagradOptimizer


@public("contrib.opt.RegAdagradOptimizer")
class RegAdagradOptimizer(AdagradOptimizer):
    """Adagrad whose accumulators can be left alone, as for the gradients of a regularizer."""

    def __init__(
        self, learning_rate: Any, initial_accumulator_value: float = 0.1, use_locking: bool = False, name: str = "RegAdagrad"
    ) -> None:
        super().__init__(learning_rate, initial_accumulator_value, use_locking, name)
        self._should_update_slots = True

    @contextlib.contextmanager
    def avoid_updating_slots(self) -> Iterator[None]:
        """Steps made inside do not change the accumulators."""
        old = self._should_update_slots
        self._should_update_slots = False
        try:
            yield
        finally:
            self._should_update_slots = old

    def _step(self, var: Any) -> Any:
        family, inputs, attrs = super()._step(var)
        return family, inputs, {**attrs, "update_slots": self._should_update_slots}
