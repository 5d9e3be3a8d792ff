"""Noise while training."""

from __future__ import annotations

from typing import Any

import numpy as np

import everflow as tf
from everflow.api import public
from everflow.keras.backend.learning_phase import in_train_phase
from everflow.keras.backend.random import random_normal, random_uniform
from everflow.keras.layer import Layer


class _Noise(Layer):
    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.supports_masking = True

    def compute_output_shape(self, input_shape: Any) -> Any:
        return input_shape


@public("keras.layers.GaussianNoise")
class GaussianNoise(_Noise):
    """Adds normal noise."""

    def __init__(self, stddev: Any, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.stddev = stddev

    def call(self, inputs: Any, training: Any = None) -> Any:  # type: ignore[override]
        noised = lambda: inputs + random_normal(tf.shape(inputs), mean=0.0, stddev=self.stddev, dtype=inputs.dtype)
        return in_train_phase(noised, inputs, training=training)

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "stddev": self.stddev}


@public("keras.layers.GaussianDropout")
class GaussianDropout(_Noise):
    """Multiplies by normal noise around one."""

    def __init__(self, rate: Any, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.rate = rate

    def call(self, inputs: Any, training: Any = None) -> Any:  # type: ignore[override]
        if not 0 < self.rate < 1:
            return inputs

        def noised() -> Any:
            stddev = np.sqrt(self.rate / (1.0 - self.rate))
            return inputs * random_normal(tf.shape(inputs), mean=1.0, stddev=stddev, dtype=inputs.dtype)

        return in_train_phase(noised, inputs, training=training)

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "rate": self.rate}


@public("keras.layers.AlphaDropout")
class AlphaDropout(_Noise):
    """Dropout for self-normalizing units: mean and variance stay as they are."""

    def __init__(self, rate: Any, noise_shape: Any = None, seed: int | None = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.rate = rate
        self.noise_shape = noise_shape
        self.seed = seed

    def call(self, inputs: Any, training: Any = None) -> Any:  # type: ignore[override]
        if not 0.0 < self.rate < 1.0:
            return inputs
        shape = self.noise_shape or tf.shape(inputs)

        def dropped() -> Any:
            alpha = -1.6732632423543772848170429916717 * 1.0507009873554804934193349852946
            kept = tf.cast(tf.greater_equal(random_uniform(shape, seed=self.seed), self.rate), inputs.dtype)
            a = ((1 - self.rate) * (1 + self.rate * alpha**2)) ** -0.5
            return a * (inputs * kept + alpha * (1 - kept)) - a * alpha * self.rate

        return in_train_phase(dropped, inputs, training=training)

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "rate": self.rate}
