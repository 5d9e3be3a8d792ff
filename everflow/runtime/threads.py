"""How many threads a step uses: small steps run faster on one, and waiting for a second costs most on a busy machine. And which steps of
several Python threads take turns (native/turns.cpp)."""

from __future__ import annotations

import functools
import math
import time
from typing import Any

from everflow import _native
from everflow.lazy import torch
from everflow.ops.core.node import Node

# One thread is kept unless several are faster by this factor.
WORTH = 0.9
ROUNDS = 4
# A run on several threads that takes this many times as long ends the trial: threads that wait for each other can cost seconds.
HOPELESS = 4
# A step that takes less than this on one thread stays there for good, and one that takes more than that has several at once.
SMALL, LARGE = 3e-4, 0.25
# Whose results have so many bytes takes more than that: it has several at once in its first run too.
HEAVY = 1 << 30
# How long a choice holds before it is tried again: for so many runs at first, as what was tried may have been disturbed, for twice as many
# each time that the same is found, in the end for some seconds. So many slow runs end it early: other programs come and go.
FIRST_RUNS, LAST_RUNS = 32, 256
SECONDS = 5.0
PATIENCE = 3


@functools.cache
def available() -> int:
    """The number of threads that torch started with."""
    return torch.get_num_threads()


def use(count: int) -> None:
    """Sets the number of threads for what this thread runs next."""
    torch.set_num_threads(count)


class Tuning:
    """Tries a step on one thread and on several while it does its work, and keeps what was faster."""

    __slots__ = ("choice", "found", "hold", "limit", "runs", "slow", "times", "until")

    def __init__(self, limit: int, is_heavy: bool = False) -> None:
        self.limit = limit
        self.found: int | None = None
        self.hold = FIRST_RUNS
        self.start()
        if is_heavy:
            self.runs = ROUNDS

    def start(self) -> None:
        self.runs = 0
        self.slow = 0
        self.until = 0.0
        self.choice: int | None = None
        self.times = {1: float("inf"), self.limit: float("inf")}

    def run(self, step: Any, arguments: list[Any]) -> Any:
        """Calls the step and learns from how long it took."""
        threads = self.choice or (1 if self.runs < ROUNDS else self.limit)
        use(threads)
        _native.flush_in_workers(threads)
        start = time.perf_counter()
        result = step.call(*arguments)
        end = time.perf_counter()
        if self.choice is None:
            self._try(step, threads, end - start, end)
        else:
            self._watch(end - start, end)
        return result

    def _try(self, step: Any, threads: int, seconds: float, now: float) -> None:
        # The first run of each kind does not count: caches are cold.
        if self.runs % ROUNDS:
            self.times[threads] = min(self.times[threads], seconds)
        self.runs += 1
        if self.runs == ROUNDS and self.times[1] < SMALL:
            step.tuning = None
        if threads == 1 and seconds > LARGE:
            self.times[1] = min(self.times[1], seconds)
            self.runs = ROUNDS
        if threads != 1 and seconds > HOPELESS * self.times[1]:
            self._choose(1, now)
        elif self.runs == 2 * ROUNDS:
            self._choose(self.limit if self.times[self.limit] < WORTH * self.times[1] else 1, now)

    def _choose(self, threads: int, now: float) -> None:
        seconds = min(self.times.values())
        longest = max(SECONDS, LAST_RUNS * seconds)
        if threads != self.found:
            self.hold = FIRST_RUNS
        elif self.hold * seconds < longest:
            self.hold *= 2
        self.choice = self.found = threads
        self.until = now + min(self.hold * seconds, longest)

    def _watch(self, seconds: float, now: float) -> None:
        self.slow = self.slow + 1 if seconds > self.times[1] else 0
        if now > self.until or (self.slow >= PATIENCE and self.choice != 1):
            self.start()


def tuned(step: Any, limit: int | None = None) -> None:
    """Prepares a step: with one processor, or where nothing can run in parallel, there is nothing to find out."""
    most = available() if not limit else min(limit, available())
    step.threads = 1
    step.tuning = Tuning(most, known_bytes(step) > HEAVY) if most > 1 and len(step.calls) > 1 else None
    step.pace = None if any(may_wait(call.node) for call in step.calls) else _native.Pace()


def known_bytes(step: Any) -> int:
    """The bytes of the step's results whose sizes are known."""
    made = (value for call in step.calls if call.node.is_fresh for value in call.node.outputs)
    return sum(value.dtype.size * math.prod(value.dims) for value in made if value.dims is not None and None not in value.dims)


def may_wait(node: Node) -> bool:
    """Whether a node may wait for what another thread does: the step then takes no turns with that thread's."""
    meaning = node.meaning
    if meaning is None or meaning.bodies or meaning.waits or meaning.brings or meaning.meets is not None:
        return True
    if node.op is None or meaning.pure or not node.op.op_def_.is_stateful:
        return False
    return not meaning.module.startswith(("everflow.ops.variables.", "everflow.ops.random."))
