"""Kernel maps: random Fourier features, whose products are about those of the Gaussian kernel."""

from __future__ import annotations

import abc
import math
from typing import Any

import numpy as np

import everflow as tf
from everflow.api import public

_MAPPER = "contrib.kernel_methods.python.mappers.dense_kernel_mapper."


@public(_MAPPER + "InvalidShapeError")
class InvalidShapeError(Exception):
    """A tensor has another shape than the map takes."""


@public(_MAPPER + "DenseKernelMapper")
class DenseKernelMapper(abc.ABC):
    """Maps rows of a matrix into another space."""

    @abc.abstractmethod
    def map(self, input_tensor: Any) -> Any:
        """The rows in the other space."""

    @property
    @abc.abstractmethod
    def name(self) -> str:
        """The name of the map."""

    @property
    @abc.abstractmethod
    def output_dim(self) -> int:
        """How many numbers a row has there."""


@public("contrib.kernel_methods.RandomFourierFeatureMapper")
class RandomFourierFeatureMapper(DenseKernelMapper):
    """Cosines of random projections. The same seed gives the same map."""

    def __init__(self, input_dim: int, output_dim: int, stddev: float = 1.0, seed: int = 1, name: str | None = None) -> None:
        self._input_dim, self._output_dim, self._stddev, self._seed, self._name = input_dim, output_dim, stddev, seed, name

    @property
    def name(self) -> str:
        """The name that was given, or one of its own."""
        return self._name or str(id(self))

    @property
    def input_dim(self) -> int:
        """How many numbers a row has."""
        return self._input_dim

    @property
    def output_dim(self) -> int:
        """How many numbers a mapped row has."""
        return self._output_dim

    def map(self, input_tensor: Any) -> Any:
        """The rows in the space of the kernel."""
        shape = input_tensor.get_shape()
        if len(shape) != 2:
            raise InvalidShapeError(f"The shape of the tensor should be 2. Got {len(shape)} instead.")
        if shape[1] != self._input_dim:
            raise InvalidShapeError(f"Invalid dimension: expected {self._input_dim} input features, got {shape[1]} instead.")
        # numpy's global generator, as in TensorFlow: the numbers are those of its models.
        np.random.seed(self._seed)
        directions = np.random.normal(scale=1.0 / self._stddev, size=[self._input_dim, self._output_dim])
        phases = np.random.uniform(low=0.0, high=2 * np.pi, size=[self._output_dim])
        projected = tf.add(tf.matmul(input_tensor, tf.constant(directions, tf.float32)), tf.constant(phases, tf.float32))
        return math.sqrt(2.0 / self._output_dim) * tf.cos(projected)
