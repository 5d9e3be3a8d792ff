"""Steps for shapes that are fed again and again.

A step takes any batch that its placeholders allow: it measures each one, and computes what follows from its size. After so many runs with
the same shapes, and the same truths (Keras feeds whether it trains), another step is made for just these. In it sizes are constants, and in
the place of a branch that a fed truth chooses are the ops of that branch.
"""

from __future__ import annotations

import threading
from typing import Any

import numpy as np

from everflow.graph import dtypes, shapes
from everflow.graph.tensor import Tensor
from everflow.runtime.codegen import Step
from everflow.values import tensors as values

# Making a step takes about as long as this many runs of it.
RUNS = 64
# So many steps are made for one that serves all shapes, and so many shapes are counted: where more come, they change all the time.
MOST_STEPS, MOST_SHAPES = 4, 64


class Specialization:
    """The steps for certain shapes beside the one that serves all."""

    __slots__ = ("_asked", "_context", "_counts", "_general", "_lock", "_shaped", "_steps", "_truths")

    def __init__(self, context: Any, general: Step, fetches: Any, targets: Any, feeds: list[Tensor]) -> None:
        self._context, self._general, self._asked = context, general, (fetches, targets, feeds)
        self._truths = [i for i, t in enumerate(feeds) if t.dtype is dtypes.bool and t.dims == ()]
        self._shaped = [i for i, t in enumerate(feeds) if values.is_numeric(t.dtype) and not shapes.is_fully_defined(t.dims)]
        self._steps: dict[Any, Step] = {}
        self._counts: dict[Any, int] = {}
        self._lock = threading.Lock()

    def steps(self) -> list[Step]:
        """Those that were made so far."""
        return list(self._steps.values())

    def step(self, arguments: list[Any]) -> Step:
        """The step that serves these arguments best."""
        key = (*[arguments[i].shape for i in self._shaped], *[bool(arguments[i]) for i in self._truths])
        found = self._steps.get(key)
        return self._counted(key) if found is None else found

    def _counted(self, key: tuple[Any, ...]) -> Step:
        if len(self._steps) == MOST_STEPS:
            return self._general
        if len(self._counts) == MOST_SHAPES and key not in self._counts:
            if not self._steps:
                self._general.special = None
            return self._general
        count = self._counts[key] = self._counts.get(key, 0) + 1
        if count >= RUNS and self._lock.acquire(blocking=False):
            # Other threads go on with the step that they have.
            try:
                if key not in self._steps:
                    self._steps[key] = self._made(key)
            finally:
                self._lock.release()
            return self._steps[key]
        return self._general

    def _made(self, key: tuple[Any, ...]) -> Step:
        count = len(self._shaped)
        dims = {i: tuple(shape) for i, shape in zip(self._shaped, key)}
        known = {i: np.array(truth) for i, truth in zip(self._truths, key[count:])}
        with self._context.graph._lock:
            # What the session takes without a copy may be a constant now.
            own = [i for i, fresh in enumerate(self._general.fetches_fresh) if fresh]
            made = self._context.step(*self._asked, dims=dims, known=known, own=own)
        # The same again would only have to be tuned again.
        return made if len(made.calls) < len(self._general.calls) else self._general


def specialize(context: Any, step: Step, fetches: Any, targets: Any, feeds: list[Tensor]) -> None:
    """Has a session's step watch what it is fed, where there is something to learn from that."""
    special = Specialization(context, step, fetches, targets, feeds)
    if special._shaped or special._truths:
        step.special = special
