"""tf.contrib.learn.datasets.synthetic: points on circles and spirals."""

from __future__ import annotations

from typing import Any

import numpy as np

from everflow.contrib.learn.publishing import learn
from everflow.data.mnist import Dataset

_MODULE = "datasets.synthetic"


def _dataset(x: Any, y: Any, target: Any, noise: Any) -> Dataset:
    """Points in a random order, moved by noise."""
    points = np.stack([x, y], axis=1)
    order = np.random.permutation(len(points))
    if noise is not None:
        points += np.random.normal(scale=noise, size=points.shape)
    return Dataset(data=points[order], target=target[order])


@learn(_MODULE, "circles")
def circles(
    n_samples: int = 100, noise: Any = None, seed: Any = None, factor: float = 0.8, n_classes: int = 2, *args: Any, **kwargs: Any
) -> Dataset:
    """Circles around each other, each class smaller than the one before; what is left over lies on the first."""
    if seed is not None:
        np.random.seed(seed)
    each, extra = divmod(n_samples, n_classes)
    angles = np.linspace(0, 2 * np.pi, each)
    radii = np.repeat(factor ** np.arange(n_classes), each)
    # The cosines and the sines of the points left over are of different angles.
    left_x, left_y = np.cos(np.random.rand(extra) * 2 * np.pi), np.sin(np.random.rand(extra) * 2 * np.pi)
    x = np.append(radii * np.tile(np.cos(angles), n_classes), left_x)
    y = np.append(radii * np.tile(np.sin(angles), n_classes), left_y)
    target = np.append(np.repeat(np.arange(n_classes, dtype=np.int32), each), np.zeros(extra, np.int32))
    return _dataset(x, y, target, noise)


_RADII = {
    "archimedes": lambda theta, exp_scale: theta,
    "bernoulli": lambda theta, exp_scale: np.exp(exp_scale * theta),
    "fermat": lambda theta, exp_scale: np.sqrt(theta),
}


def _spiral(mode: str, theta: Any, offset: float = 0.0, exp_scale: float = 0.1) -> tuple[Any, Any]:
    radius = _RADII[mode](theta, exp_scale)
    x, y = radius * np.cos(theta + offset), radius * np.sin(theta + offset)
    return x / np.max(np.abs(x)), y / np.max(np.abs(y))


@learn(_MODULE, "spirals")
def spirals(
    n_samples: int = 100, noise: Any = None, seed: Any = None, mode: Any = "archimedes", n_loops: int = 2, *args: Any, **kwargs: Any
) -> Dataset:
    """Two spirals in each other, of Archimedes, Bernoulli or Fermat."""
    if mode not in _RADII:
        raise ValueError(f"Cannot generate spiral with mode {mode}")
    if seed is not None:
        np.random.seed(seed)
    each, extra = divmod(n_samples, 2)
    angles = np.linspace(0, 2 * n_loops * np.pi, each)
    parts = [_spiral(mode, angles, label * np.pi, **kwargs) for label in range(2)]
    if extra:
        parts.append(_spiral(mode, np.random.rand(extra) * 2 * np.pi, **kwargs))
    x, y = (np.concatenate(values) for values in zip(*parts))
    target = np.append(np.repeat(np.arange(2, dtype=np.int32), each), np.zeros(extra, np.int32))
    return _dataset(x, y, target, noise)
