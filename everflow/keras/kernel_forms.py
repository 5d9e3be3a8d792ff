"""Kernels as CuDNN keeps them: each gate's matrix is that of Keras transposed, its numbers laid out in the shape that Keras has."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np


def from_cudnn(kernel: np.ndarray, recurrent: np.ndarray, gates: int) -> tuple[np.ndarray, np.ndarray]:
    """The kernels of an LSTM or GRU for those of a layer of CuDNN."""
    return _by_gate(kernel, gates, lambda k: k.reshape(k.shape[::-1]).T), _by_gate(recurrent, gates, lambda k: k.T)


def to_cudnn(kernel: np.ndarray, recurrent: np.ndarray, gates: int) -> tuple[np.ndarray, np.ndarray]:
    """The kernels of a layer of CuDNN for those of an LSTM or GRU."""
    return _by_gate(kernel, gates, lambda k: k.T.reshape(k.shape)), _by_gate(recurrent, gates, lambda k: k.T)


def _by_gate(kernels: np.ndarray, gates: int, change: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    return np.concatenate([change(kernel) for kernel in np.split(kernels, gates, axis=1)], axis=1)
