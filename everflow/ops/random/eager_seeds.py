"""The seeds of random ops that run at once."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

LARGEST = 2**31 - 1


class Seeds:
    """The global seed, and the op seeds that are drawn from it one after another."""

    def __init__(self) -> None:
        self.seed: int | None = None
        self._draws: Any = None
        # What is called at each new seed: kernels that hold generators begin anew.
        self.when_set: list[Callable[[], None]] = []

    def set(self, seed: int) -> None:
        """Starts again: the same ops give the same numbers."""
        self.seed = seed
        self._draws = random.Random(seed)
        for forget in self.when_set:
            forget()

    def next_op_seed(self) -> int:
        """A seed for an op that was given none."""
        return self._draws.randint(0, LARGEST)


SEEDS = Seeds()
