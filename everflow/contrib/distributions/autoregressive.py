"""Distributions of vectors whose elements depend on those before them."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from everflow.api import public
from everflow.distributions.base import Distribution
from everflow.distributions.making import scoped
from everflow.distributions.tensors import gen_new_seed


def _steps(distribution: Any, given: Any) -> Any:
    """How many steps a sample takes: one for each element, if not said otherwise."""
    steps = distribution.event_shape.num_elements() if given is None else given
    if steps is None:
        raise ValueError("distribution_fn must generate a distribution with fully known `event_shape`.")
    if steps < 1:
        raise ValueError(f"num_steps ({steps}) must be at least 1.")
    return steps


@public("contrib.distributions.Autoregressive")
class Autoregressive(Distribution):
    """What `distribution_fn` says of samples, where element i of what it says depends on the elements before i only."""

    @scoped()
    def __init__(
        self,
        distribution_fn: Callable[..., Any],
        sample0: Any = None,
        num_steps: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Autoregressive",
    ) -> None:
        self._distribution_fn, self._sample0 = distribution_fn, sample0
        first = distribution_fn(*(() if sample0 is None else (sample0,)))
        self._distribution0, self._num_steps = first, _steps(first, num_steps)
        kind, parents = first.reparameterization_type, first._graph_parents
        super().__init__(first.dtype, kind, validate_args, allow_nan_stats, graph_parents=parents, name=name)

    @property
    def distribution_fn(self) -> Callable[..., Any]:
        """Makes the distribution of samples."""
        return self._distribution_fn

    @property
    def sample0(self) -> Any:
        """What the first step sees."""
        return self._sample0

    @property
    def num_steps(self) -> Any:
        """How many steps a sample takes."""
        return self._num_steps

    @property
    def distribution0(self) -> Any:
        """The distribution of the first step."""
        return self._distribution0

    def _batch_shape(self) -> Any:
        return self.distribution0.batch_shape

    def _batch_shape_tensor(self) -> Any:
        return self.distribution0.batch_shape_tensor()

    def _event_shape(self) -> Any:
        return self.distribution0.event_shape

    def _event_shape_tensor(self) -> Any:
        return self.distribution0.event_shape_tensor()

    def _sample_n(self, n: Any, seed: Any = None) -> Any:
        # All steps draw the same numbers, so that elements that are right already stay as they are.
        shared = gen_new_seed(np.random.randint(2**32 - 1, dtype=np.int64), "autoregressive") if seed is None else seed

        def better(drawn: Any, _: int) -> Any:
            return self.distribution_fn(drawn).sample(seed=shared)

        return functools.reduce(better, range(self.num_steps), self.distribution0.sample(n, seed=shared))

    def _log_prob(self, value: Any) -> Any:
        return self.distribution_fn(value).log_prob(value)

    def _prob(self, value: Any) -> Any:
        return self.distribution_fn(value).prob(value)
