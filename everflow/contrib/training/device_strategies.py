"""Which parameter server a variable goes to."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

import numpy as np

from everflow.api import public


@public("contrib.training.RandomStrategy")
class RandomStrategy:
    """Any of the tasks, with equal probability, by the name of the op."""

    def __init__(self, num_ps_tasks: int, seed: int | None = 0) -> None:
        self._num_tasks = num_ps_tasks
        self._seed = seed

    def __call__(self, op: Any) -> int:
        # A variable goes to the same task in every process: its name decides.
        digest = hashlib.md5(f"{op.name}_{self._seed}".encode(), usedforsecurity=False).hexdigest()
        return int(digest, 16) % self._num_tasks


@public("contrib.training.GreedyLoadBalancingStrategy")
class GreedyLoadBalancingStrategy:
    """The task that has the least so far, by a function that says how much an op is."""

    def __init__(self, num_tasks: int, load_fn: Callable[[Any], float]) -> None:
        self._num_tasks = num_tasks
        self._load_fn = load_fn
        self._ps_loads = np.zeros(num_tasks)

    def __call__(self, op: Any) -> int:
        task = int(np.argmin(self._ps_loads))
        self._ps_loads[task] += self._load_fn(op)
        return task


@public("contrib.training.byte_size_load_fn")
def byte_size_load_fn(op: Any) -> int:
    """How many bytes the only output of an op has."""
    if len(op.outputs) != 1:
        raise ValueError(f"Op {op} must have a single output")
    output = op.outputs[0]
    shape = output.get_shape()
    if not shape.is_fully_defined():
        # What is not known counts as one element.
        return output.dtype.size
    return output.dtype.size * shape.num_elements()
