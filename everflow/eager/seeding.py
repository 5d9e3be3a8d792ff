"""The seeds of random ops that run at once."""
from __future__ import annotations

import random
from typing import Any

LARGEST = 2**31 - 1


class Seeds:
    """The global seed, and the op seeds that are drawn from it one after another."""

    def __init__(self) -> None:
        self.seed: int | None = None
        self._draws: Any = None

    def set(self, seed: int) -> None:
        """Starts again: the same ops give the same numbers."""
        from everflow.eager.execute import forget_kernels

        self.seed = seed
        self._draws = random.Random(seed)
        forget_kernels()

    def next_op_seed(self) -> int:
        """A seed for an op that was given none."""
        return self._draws.randint(0, LARGEST)


SEEDS = Seeds()
