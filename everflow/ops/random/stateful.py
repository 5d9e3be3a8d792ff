"""Random ops whose generator's state is a variable: [low and high half of the position, key] of Philox."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from everflow.errors import invalid_argument
from everflow.graph import dtypes, shapes
from everflow.graph.constants import dims_of
from everflow.graph.operation import Operation
from everflow.lazy import torch
from everflow.ops.core.node import Node
from everflow.ops.core.registry import not_differentiable, op
from everflow.values.philox import SAMPLES_PER_RESULT, Philox
from everflow.values.tensors import as_dims, torch_dtype

PHILOX = 1
STATE_SIZE = 3


class _VariablePhilox(Philox):
    """A generator that goes on from a variable's value."""

    def __init__(self, slot: Any) -> None:
        self._slot = slot
        low, high, key = (int(v) for v in slot.value[:STATE_SIZE].tolist())
        self._start(key, 0)
        self._position = (high % (1 << 64) << 64) + low % (1 << 64)

    def store(self) -> None:
        """Puts the position into the variable."""
        words = np.array([self._position % (1 << 64), self._position >> 64], np.uint64).view(np.int64)
        state = self._slot.value.clone()
        state[:2] = torch.from_numpy(words)
        self._slot.value = state


def _check(slot: Any, algorithm: Any) -> None:
    if algorithm.ndim:
        raise invalid_argument(f"algorithm must have shape [], not {shapes.describe(tuple(algorithm.shape))}")
    state = slot.held()
    if slot.dtype is not dtypes.int64:
        raise invalid_argument(f"dtype of RNG state variable must be int64, not {slot.dtype.name}")
    if state.ndim != 1:
        raise invalid_argument(f"RNG state must have one and only one dimension, not {state.ndim}")
    if int(algorithm) != PHILOX:
        raise invalid_argument(f"Unsupported algorithm id: {int(algorithm)}")
    if state.shape[0] < STATE_SIZE:
        raise invalid_argument(f"For the Philox algorithm, the size of state must be at least {STATE_SIZE}; got {state.shape[0]}")


def _drawn(draw: Callable[..., Any]) -> Callable[[Any], Any]:
    """A kernel that draws from a variable's generator: `draw(generator, dims, dtype, *others)`."""

    def make(node: Node) -> Callable[..., Any]:
        dtype = node.attr("dtype")

        def run(slot: Any, algorithm: Any, shape: Any, *others: Any) -> Any:
            with slot.lock:
                _check(slot, algorithm)
                generator = _VariablePhilox(slot)
                found = draw(generator, as_dims(shape), dtype, *others)
                generator.store()
            return found

        return run

    return make


def _bits(generator: Philox, dims: Any, dtype: dtypes.DType) -> Any:
    signed = dtypes.int32 if dtype in (dtypes.int32, dtypes.uint32) else dtypes.int64
    found = generator.uniform_bits(dims, signed)
    return found if dtype is signed else found.view(torch_dtype(dtype))


def _integers(generator: Philox, dims: Any, dtype: dtypes.DType, low: Any, high: Any) -> Any:
    for name, bound in (("minval", low), ("maxval", high)):
        if bound.ndim:
            raise invalid_argument(f"{name} must be 0-D, got shape {shapes.describe(tuple(bound.shape))}")
    first, last = int(low), int(high)
    if first >= last:
        raise invalid_argument(f"Need minval < maxval, got {first} >= {last}")
    if dtype in (dtypes.int32, dtypes.int64):
        return generator.uniform_int(dims, first, last, dtype)
    bits = _bits(generator, dims, dtype).numpy()
    return torch.from_numpy(bits % np.asarray(last - first, bits.dtype) + np.asarray(first, bits.dtype))


def _shape_input(index: int) -> Callable[[Any], Any]:
    def rule(o: Operation) -> Any:
        if index == 2:
            shapes.with_rank(o.inputs[1].dims, 0)
        return dims_of(o.inputs[index])

    return rule


_DRAWS: dict[str, Callable[..., Any]] = {
    "StatefulUniform": lambda g, dims, dtype: g.uniform(dims, dtype),
    "StatefulStandardNormalV2": lambda g, dims, dtype: g.normal(dims, dtype),
    "StatefulTruncatedNormal": lambda g, dims, dtype: g.truncated_normal(dims, dtype),
    "StatefulUniformFullInt": _bits,
    "StatefulUniformInt": _integers,
}
for _name, _draw in _DRAWS.items():
    op(_name, kernel=_drawn(_draw), shape=_shape_input(2), gradient=not_differentiable, writes=True)


def _old_normal(node: Node) -> Callable[..., Any]:
    """The first version takes the algorithm from the state itself."""
    run = _drawn(_DRAWS["StatefulStandardNormalV2"])(node)
    return lambda slot, shape: run(slot, torch.tensor(PHILOX), shape)


op("StatefulStandardNormal", kernel=_old_normal, shape=_shape_input(1), gradient=not_differentiable, writes=True)


def _binomial(generator: Philox, dims: Any, dtype: dtypes.DType, counts: Any, probabilities: Any) -> Any:
    """Numbers of successes; numpy's sampler, started from the stream."""
    key, low, high = generator.reserve(int(np.prod(dims, dtype=np.int64)) * SAMPLES_PER_RESULT)
    words = np.random.Generator(np.random.Philox(key=[key, low], counter=[0, 0, high, 0]))
    n = np.asarray(counts.double().numpy())
    p = np.asarray(probabilities.double().numpy())
    certain = np.isfinite(n) & (n >= 0) & (p >= 0) & (p <= 1)
    drawn = words.binomial(np.where(certain, n, 0).astype(np.int64), np.where(certain, p, 0), size=dims).astype(np.float64)
    if dtype.is_floating:
        drawn = np.where(certain, drawn, np.nan)
    return torch.from_numpy(np.asarray(drawn)).to(torch_dtype(dtype))


op("StatefulRandomBinomial", kernel=_drawn(_binomial), shape=_shape_input(2), gradient=not_differentiable, writes=True)


def _skip(node: Node) -> Callable[..., Any]:
    def run(slot: Any, algorithm: Any, delta: Any) -> None:
        if delta.ndim:
            raise invalid_argument(f"delta must have shape [], not {shapes.describe(tuple(delta.shape))}")
        with slot.lock:
            _check(slot, algorithm)
            generator = _VariablePhilox(slot)
            generator.reserve(int(delta) % (1 << 64) * SAMPLES_PER_RESULT)
            generator.store()

    return run


op("RngSkip", kernel=_skip, writes=True)


def _non_deterministic(node: Node) -> Callable[..., Any]:
    dtype = node.attr("dtype")
    return lambda shape: _bits(Philox(), as_dims(shape), dtype)


op("NonDeterministicInts", kernel=_non_deterministic, shape=lambda o: dims_of(o.inputs[0]), gradient=not_differentiable)
