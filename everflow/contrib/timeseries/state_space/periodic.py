"""Periods: effects of the places in a cycle, which sum to zero but for noise."""

from __future__ import annotations

from typing import Any

import numpy as np

import everflow as tf
from everflow.contrib.timeseries.publishing import published
from everflow.contrib.timeseries.state_space.configuration import StateSpaceModelConfiguration
from everflow.contrib.timeseries.state_space.model import StateSpaceModel
from everflow.graph.convert import convert_to_tensor

BELOW = "state_space_models.periodic."


def _after_ones(tensor: Any, size: Any, rank: Any) -> Any:
    """A vector as the last axis behind so many axes of size one."""
    return tf.reshape(tensor, tf.concat([tf.ones([rank], dtype=tf.int32), [size]], axis=0))


@published(BELOW + "CycleStateSpaceModel")
class CycleStateSpaceModel(StateSpaceModel):
    """State: the effects of all places in the cycle but one, which the others give. A step moves them on by one place."""

    def __init__(self, periodicity: Any, configuration: StateSpaceModelConfiguration | None = None) -> None:
        self._periodicity = periodicity
        super().__init__(configuration=StateSpaceModelConfiguration() if configuration is None else configuration)

    def get_state_transition(self) -> Any:
        return self.transition_to_powers(tf.ones([], dtype=tf.int32))

    def get_noise_transform(self) -> Any:
        return tf.pad(tf.ones([1], dtype=self.dtype), paddings=[(0, self._periodicity - 2)])[..., None]

    def get_observation_model(self, times: Any) -> Any:
        del times
        return tf.concat([tf.ones([1], dtype=self.dtype), tf.zeros([self._periodicity - 2], dtype=self.dtype)], axis=0)

    def transition_to_powers(self, powers: Any) -> Any:
        """Rotations; the row of the place that the state leaves out holds minus one everywhere."""
        powers %= self._periodicity
        places = _after_ones(tf.range(self._periodicity - 1, dtype=powers.dtype), self._periodicity - 1, tf.rank(powers))
        left_out = tf.equal(places + 1, powers[..., None])
        shape = tf.shape(left_out)
        minus_row = tf.where(left_out, -tf.ones(shape=shape, dtype=self.dtype), tf.zeros(shape, dtype=self.dtype))
        distance = places[..., None] - places[..., None, :]
        turned = tf.equal(distance % self._periodicity, powers[..., None, None])
        ones = tf.where(turned, tf.ones(tf.shape(turned), dtype=self.dtype), tf.zeros(tf.shape(turned), dtype=self.dtype))
        return tf.cast(ones + minus_row[..., None], self.dtype)

    def transition_power_noise_accumulator(self, num_steps: Any, noise_addition_coefficient: Any = 1) -> Any:
        """A tridiagonal matrix: how often noise came to each place in n steps, seen in the state's coordinates."""
        noise = tf.squeeze(self.state_transition_noise_covariance, axis=[-1, -2])
        period = self._periodicity
        places = _after_ones(tf.range(period, dtype=num_steps.dtype), period, tf.rank(num_steps))
        remaining = (places - (num_steps[..., None] - 1)) % period
        times = tf.cast((num_steps[..., None] + remaining) // period, dtype=self.dtype)
        added = convert_to_tensor(noise_addition_coefficient, self.dtype)[..., None] * noise * times
        diagonal = tf.matrix_diag(added)
        above = tf.concat([tf.zeros_like(diagonal[..., :-1, 0:1]), -diagonal[..., :-1, 0:-2]], axis=-1)
        below = tf.concat([tf.zeros_like(diagonal[..., 0:1, :-1]), -diagonal[..., 0:-2, :-1]], axis=-2)
        rotated = tf.concat([added[..., -1:], added[..., :-2]], axis=-1)
        return tf.matrix_diag(added[..., :-1] + rotated) + below + above


@published(BELOW + "ResolutionCycleModel")
class ResolutionCycleModel(CycleStateSpaceModel):
    """A cycle of any length, even of no whole number of steps, told by a few places that sines interpolate.

    Rotations by fractions of a place are fractional powers of the rotation matrix, which have a closed form.
    """

    def __init__(
        self,
        num_latent_values: int,
        periodicity: Any,
        near_integer_threshold: float = 1e-8,
        configuration: StateSpaceModelConfiguration | None = None,
    ) -> None:
        if num_latent_values % 2 != 1:
            raise ValueError("Only odd numbers of latent values are supported.")
        self._num_latent_values = num_latent_values
        self._true_periodicity = periodicity
        self._near_integer_threshold = near_integer_threshold
        super().__init__(periodicity=num_latent_values, configuration=configuration)

    def _close_to_integer(self, value: Any) -> Any:
        value = tf.cast(value, self.dtype)
        return tf.less(tf.abs(value - tf.round(value)), self._near_integer_threshold)

    def _latent(self) -> tuple[Any, Any]:
        """(How many places there are, how many of them a step goes on)."""
        count = tf.cast(self._num_latent_values, self.dtype)
        return count, count / tf.cast(self._true_periodicity, dtype=self.dtype)

    def transition_to_powers(self, powers: Any) -> Any:
        count, per_step = self._latent()
        turns = tf.cast(powers, self.dtype) * per_step
        coefficient = (tf.sin(turns * np.pi) / count)[..., None, None]
        size = self._num_latent_values - 1
        places = _after_ones(tf.range(size), size, tf.rank(turns))
        places_float = tf.cast(places, self.dtype)
        sign = tf.cast(1 - 2 * (places % 2), self.dtype)
        by_row = 1.0 / tf.sin(np.pi / count * (turns[..., None] - places_float - 1))
        column_minus_row = places_float[..., None, :] - places_float[..., None]
        by_place = sign[..., None, :] / tf.sin(np.pi / count * (turns[..., None, None] + column_minus_row))
        fractional = coefficient * sign[..., None] * (by_row[..., None] + by_place)
        # The closed form divides zero by zero at whole turns.
        whole = super().transition_to_powers(tf.cast(tf.round(turns), tf.int64))
        return tf.where(self._close_to_integer(turns), whole, fractional)

    def transition_power_noise_accumulator(self, num_steps: Any) -> Any:  # type: ignore[override]
        """Whole periods at once where a period is a whole number of steps, the rest by a table of sums."""
        whole_cycle = super().transition_power_noise_accumulator
        dtype, period, count = self.dtype, self._true_periodicity, self._num_latent_values

        def by_periods() -> tuple[Any, Any]:
            share = tf.cast(period, dtype) / tf.cast(count, dtype)
            full = whole_cycle(noise_addition_coefficient=share, num_steps=convert_to_tensor(count, dtype=num_steps.dtype))
            steps = tf.cast(period, num_steps.dtype)
            periods = tf.cast(num_steps // steps, dtype)
            shape = tf.concat([tf.ones([tf.rank(periods)], dtype=tf.int32), tf.shape(full)], axis=0)
            return num_steps % steps, periods[..., None, None] * tf.reshape(full, shape)

        def step_by_step() -> tuple[Any, Any]:
            return num_steps, tf.zeros(tf.concat([tf.shape(num_steps), [count - 1, count - 1]], axis=0), dtype=dtype)

        remaining, accumulated = tf.cond(self._whole_period_folding(), by_periods, step_by_step)
        sums = self._power_sum_array(tf.reduce_max(remaining))
        noise = tf.squeeze(self.state_transition_noise_covariance, axis=[-1, -2])
        return accumulated + noise * tf.gather(sums, indices=remaining)

    def _whole_period_folding(self) -> Any:
        whole = self._close_to_integer(self._true_periodicity)
        return tf.logical_and(whole, tf.greater_equal(self._true_periodicity, self._num_latent_values))

    def _power_sum_array(self, max_remaining_steps: Any) -> Any:
        """For n from 0 on: the covariance of noise that came in n steps, each part moved on by the steps after it."""
        count, per_step = self._latent()
        turns = tf.cast(tf.range(max_remaining_steps), self.dtype) * per_step
        places = tf.range(self._num_latent_values - 1)[None, ...]
        places_float = tf.cast(places, self.dtype)
        distance = turns[..., None] - places_float

        def cosecant(angle: Any) -> Any:
            return 1.0 / tf.sin(np.pi / count * angle)

        mesh = cosecant(distance) + cosecant(distance - 1.0)
        products = mesh[..., None, :] * mesh[..., None]
        sign = tf.cast(1 - 2 * ((places[..., None, :] + places[..., None]) % 2), self.dtype)

        def at_pole(value: Any) -> tuple[Any, Any]:
            """Whether a cosecant is infinite, and the sign of its limit."""
            turned = value / count
            return self._close_to_integer(turned), tf.cos(turned * np.pi)

        here, here_sign = at_pole(distance)
        before, before_sign = at_pole(turns[..., None] - places_float - 1)
        at_either = tf.logical_or(here, before)
        limit = tf.where(here, here_sign, before_sign)
        at_both = tf.logical_and(at_either[..., None], at_either[..., None, :])
        finite = tf.where(self._close_to_integer(turns), tf.zeros_like(products), products)
        coefficient = tf.sin(np.pi * turns) / count
        terms = tf.where(at_both, limit[..., None] * limit[..., None, :], finite * coefficient[..., None, None] ** 2)
        return tf.pad(tf.cumsum(sign * terms), [(1, 0), (0, 0), (0, 0)])
