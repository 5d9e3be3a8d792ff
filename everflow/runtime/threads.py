"""How many threads a step uses: small steps run faster on one, and waiting for a second costs most on a busy machine."""
from __future__ import annotations

import functools
import time
from typing import Any

from everflow.lazy import torch

# One thread is kept unless several are faster by this factor.
WORTH = 0.9
ROUNDS = 4


@functools.cache
def available() -> int:
    """The number of threads that torch started with."""
    return torch.get_num_threads()


def use(count: int) -> None:
    """Sets the number of threads for what this thread runs next."""
    torch.set_num_threads(count)


class Tuning:
    """Tries a step on one thread and on several while it does its work, and keeps what was faster."""

    __slots__ = ("limit", "runs", "times")

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.runs = 0
        self.times = {1: float("inf"), limit: float("inf")}

    def run(self, step: Any, arguments: list[Any]) -> Any:
        """Calls the step and learns from how long it took. The first run of each kind does not count: caches are cold."""
        threads = 1 if self.runs < ROUNDS else self.limit
        use(threads)
        start = time.perf_counter()
        result = step.call(*arguments)
        seconds = time.perf_counter() - start
        if self.runs % ROUNDS:
            self.times[threads] = min(self.times[threads], seconds)
        self.runs += 1
        if self.runs == 2 * ROUNDS:
            step.threads = self.limit if self.times[self.limit] < WORTH * self.times[1] else 1
            step.tuning = None
        return result


def tuned(step: Any, limit: int | None = None) -> None:
    """Prepares a step: with one processor, or where nothing can run in parallel, there is nothing to find out."""
    most = available() if not limit else min(limit, available())
    step.threads = 1
    step.tuning = Tuning(most) if most > 1 and len(step.calls) > 1 else None
