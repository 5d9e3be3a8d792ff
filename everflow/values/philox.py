"""Random numbers: TensorFlow's generator, its positions and its conversions, so equal seeds give TensorFlow's numbers.

A random op's state is one `Philox`: a key made from the op's first seed and a position that starts at its second seed.
Each execution takes the numbers at the position and moves it on by a fixed amount per result, so what an execution
draws depends only on the executions before it.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from everflow import _native
from everflow.graph import dtypes
from everflow.graph.dtypes import DType
from everflow.lazy import torch

_WORD = 1 << 64
_POSITIONS = 1 << 128

# The stream's positions, each worth 128 bits, that TensorFlow gives to each result of a random op.
SAMPLES_PER_RESULT = 256

# Below this many results a second thread costs more than it brings.
_WORTH_THREADS = 1 << 14


# By type: the buffer's numpy type, how the native fills' names end, and the torch type whose bits the buffer holds.
_FLOATS: dict[DType, tuple[type, str, str | None]] = {
    dtypes.float16: (np.int16, "_half", "float16"),
    dtypes.bfloat16: (np.int16, "_bfloat16", "bfloat16"),
    dtypes.float32: (np.float32, "", None),
    dtypes.float64: (np.float64, "", None),
}
_INTEGERS: dict[DType, type] = {dtypes.int32: np.int32, dtypes.int64: np.int64}


class Philox:
    """The state of one random op; any number of threads may draw from it."""

    def __init__(self, seed: int = 0, seed2: int = 0) -> None:
        if seed == 0 and seed2 == 0:
            seed, seed2 = np.frombuffer(os.urandom(16), np.uint64).tolist()
        self._start(seed, seed2)

    @classmethod
    def stateless(cls, seed: int, seed2: int) -> Philox:
        """The generator of the stateless ops, whose seeds are mixed so that similar pairs have nothing in common."""
        words = np.empty(4, np.uint32)
        _native.fill_bits(words, 0x02461E293EC8F720, seed % _WORD, seed2 % _WORD, 1)
        key, position = words.view(np.uint64).tolist()
        self = cls.__new__(cls)
        self._start(key, position)
        return self

    def _start(self, key: int, position: int) -> None:
        self._key = key % _WORD
        self._position = (position % _WORD) * _WORD
        self._lock = threading.Lock()

    def reserve(self, samples: int) -> tuple[int, int, int]:
        """Takes a stretch of the stream: its key and the two halves of its first position."""
        with self._lock:
            first = self._position
            self._position = (first + samples) % _POSITIONS
        return self._key, first % _WORD, first // _WORD

    def uniform(self, shape: Sequence[int], dtype: DType) -> Any:
        """Floats in [0, 1)."""
        return self._floats(shape, dtype, "uniform")

    def mask(self, shape: Sequence[int], least: float) -> Any:
        """What `uniform` gives, compared: floats that are one where it is at least as large, else zero."""
        out = torch.empty(shape)
        count = out.numel()
        _native.fill_mask(out.data_ptr(), count, least, *self.reserve(count * SAMPLES_PER_RESULT), _threads(count))
        return out

    def normal(self, shape: Sequence[int], dtype: DType) -> Any:
        """Floats with mean 0 and standard deviation 1."""
        return self._floats(shape, dtype, "normal")

    def truncated_normal(self, shape: Sequence[int], dtype: DType) -> Any:
        """Normal floats, of which those further than 2 from 0 have been drawn again."""
        return self._floats(shape, dtype, "truncated_normal")

    def uniform_int(self, shape: Sequence[int], minval: int, maxval: int, dtype: DType) -> Any:
        """Integers in [minval, maxval)."""
        if dtype not in _INTEGERS:
            raise TypeError(f"Random integers are int32 or int64, not {dtype!r}.")
        return self._filled(shape, _INTEGERS[dtype], _native.fill_integers, minval, maxval)

    def uniform_bits(self, shape: Sequence[int], dtype: DType) -> Any:
        """Integers of the whole range of int32 or int64."""
        if dtype not in _INTEGERS:
            raise TypeError(f"Random integers are int32 or int64, not {dtype!r}.")
        return self._filled(shape, _INTEGERS[dtype], _native.fill_bits)

    def gamma(self, shape: Sequence[int], alpha: Any, dtype: DType) -> Any:
        """Gamma numbers with rate 1: `shape` of them for each alpha, with the dimensions of the tensor alpha last."""
        result = self._filled((*shape, *alpha.shape), np.float64, _native.fill_gamma, _doubles(alpha))
        return result.to(_torch_type(dtype))

    def poisson(self, shape: Sequence[int], rate: Any, dtype: DType) -> Any:
        """Poisson numbers: `shape` of them for each rate, with the dimensions of the tensor rate last."""
        result = self._filled((*shape, *rate.shape), np.float64, _native.fill_poisson, _doubles(rate), float(dtype.max))
        return result.to(_torch_type(dtype))

    def multinomial(self, logits: Any, num_samples: int, dtype: DType) -> Any:
        """Class numbers, `num_samples` a row, of which class c of row r has the log-probability logits[r, c]."""
        scores = logits.double()
        rows = scores.shape[0]
        # TensorFlow moves on by whole samples for each row, and by twice as many because it draws doubles.
        where = self.reserve(rows * 2 * -(-num_samples // 4) * 4 * SAMPLES_PER_RESULT)
        draws = np.empty((rows, num_samples), np.float64)
        _native.fill_uniform(draws, *where, _threads(draws.size))
        finite = scores.isfinite()
        highest = scores.masked_fill(~finite, torch.finfo(torch.float64).min).amax(1, keepdim=True)
        totals = (scores - highest).exp().masked_fill(~finite, 0.0).cumsum(1)
        targets = torch.from_numpy(draws).to(totals.device) * totals[:, -1:]
        return torch.searchsorted(totals, targets, right=True).to(_torch_type(dtype))

    def shuffle_permutation(self, n: int) -> Any:
        """The order in which `n` rows come out of a shuffle, as an int64 tensor."""
        order = np.arange(n, dtype=np.int64)
        if n > 1:
            words = np.empty(n - 1, np.uint32)
            _native.fill_bits(words, *self.reserve((n + 2) // 4), _threads(n))
            _native.shuffle(order, words)
        return torch.from_numpy(order)

    def words(self, samples: int = 0) -> PhiloxWords:
        """Takes a stretch of the stream to be read word by word."""
        return PhiloxWords(*self.reserve(samples))

    def _floats(self, shape: Sequence[int], dtype: DType, distribution: str) -> Any:
        if dtype not in _FLOATS:
            raise TypeError(f"Random floats are float16, bfloat16, float32 or float64, not {dtype!r}.")
        element, suffix, bits_of = _FLOATS[dtype]
        result = self._filled(shape, element, getattr(_native, f"fill_{distribution}{suffix}"))
        return result if bits_of is None else result.view(getattr(torch, bits_of))

    def _filled(self, shape: Sequence[int], element: type, fill: Callable[..., None], *parameters: Any) -> Any:
        out: np.ndarray = np.empty(shape, element)
        where = self.reserve(out.size * SAMPLES_PER_RESULT)
        fill(out, *parameters, *where, _threads(out.size))
        return torch.from_numpy(out)


class PhiloxWords:
    """The words of a stream one by one, for what draws a few numbers at a time, such as a shuffle buffer."""

    def __init__(self, key: int, low: int, high: int) -> None:
        self._key, self._position = key, high * _WORD + low
        self._samples = 1
        self._left: list[int] = []

    def uint32(self) -> int:
        if not self._left:
            words = np.empty(4 * self._samples, np.uint32)
            _native.fill_bits(words, self._key, self._position % _WORD, self._position // _WORD, 1)
            self._left = words[::-1].tolist()
            self._position = (self._position + self._samples) % _POSITIONS
            self._samples = min(2 * self._samples, 256)
        return self._left.pop()

    def several(self, count: int) -> list[int]:
        """The next `count` words."""
        found = self._left[::-1][:count]
        del self._left[len(self._left) - len(found) :]
        if len(found) < count:
            samples = (count - len(found) + 3) // 4
            words = np.empty(4 * samples, np.uint32)
            _native.fill_bits(words, self._key, self._position % _WORD, self._position // _WORD, 1)
            self._position = (self._position + samples) % _POSITIONS
            more = words.tolist()
            self._left = more[: count - len(found) - 1 : -1] if len(more) > count - len(found) else []
            found += more[: count - len(found)]
        return found

    def uint64(self) -> int:
        return self.uint32() | self.uint32() << 32

    def uniform(self) -> float:
        """A float in [0, 1) with 52 random bits."""
        return ((self.uint32() & 0xFFFFF) << 32 | self.uint32()) / (1 << 52)


def _doubles(parameters: Any) -> np.ndarray:
    return np.ascontiguousarray(parameters.detach().cpu().double().reshape(-1).numpy())


def _torch_type(dtype: DType) -> Any:
    return getattr(torch, dtype.name)


def _threads(results: int) -> int:
    return torch.get_num_threads() if results >= _WORTH_THREADS else 1
