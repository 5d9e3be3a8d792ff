"""Noise while training."""

from __future__ import annotations

from typing import Any

import numpy as np

import everflow as tf
from everflow.api import public
from everflow.keras.backend.learning_phase import in_train_phase
from everflow.keras.backend.random import random_normal, random_uniform
from everflow.keras.configured import ConfiguredLayer
from everflow.keras.shape_methods import of_tuples

# What the scaled exponential linear unit tends to: its scale by its alpha.
_SATURATED = -1.6732632423543772848170429916717 * 1.0507009873554804934193349852946


class _Noise(ConfiguredLayer):
    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.supports_masking = True

    def _does_something(self) -> bool:
        return "rate" not in self.__dict__ or 0 < self.rate < 1

    def _noisy(self, inputs: Any) -> Any:
        raise NotImplementedError

    def call(self, inputs: Any, training: Any = None) -> Any:  # type: ignore[override]
        return in_train_phase(lambda: self._noisy(inputs), inputs, training=training) if self._does_something() else inputs

    @of_tuples
    def compute_output_shape(self, input_shape: Any) -> Any:
        return input_shape


@public("keras.layers.GaussianNoise")
class GaussianNoise(_Noise):
    """Adds normal noise."""

    def __init__(self, stddev: Any, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._keep(locals())

    def _noisy(self, inputs: Any) -> Any:
        return inputs + random_normal(tf.shape(inputs), mean=0.0, stddev=self.stddev, dtype=inputs.dtype)


@public("keras.layers.GaussianDropout")
class GaussianDropout(_Noise):
    """Multiplies by normal noise around one."""

    def __init__(self, rate: Any, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._keep(locals())

    def _noisy(self, inputs: Any) -> Any:
        stddev = np.sqrt(self.rate / (1.0 - self.rate))
        return inputs * random_normal(tf.shape(inputs), mean=1.0, stddev=stddev, dtype=inputs.dtype)


@public("keras.layers.AlphaDropout")
class AlphaDropout(_Noise):
    """Dropout for self-normalizing units: mean and variance stay as they are."""

    def __init__(self, rate: Any, noise_shape: Any = None, seed: int | None = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._keep(locals(), "noise_shape", "seed")
        self.noise_shape, self.seed = noise_shape, seed

    def call(self, inputs: Any, training: Any = None) -> Any:  # type: ignore[override]
        if not self._does_something():
            return inputs
        shape = self.noise_shape or tf.shape(inputs)
        return in_train_phase(lambda: self._dropped(inputs, shape), inputs, training=training)

    def _dropped(self, inputs: Any, shape: Any) -> Any:
        kept = tf.cast(tf.greater_equal(random_uniform(shape, seed=self.seed), self.rate), inputs.dtype)
        # What is dropped goes to where the activation saturates; a line brings mean and variance back.
        factor = ((1 - self.rate) * (1 + self.rate * _SATURATED**2)) ** -0.5
        return factor * (inputs * kept + _SATURATED * (1 - kept)) - factor * _SATURATED * self.rate
