"""Learning rate schedules: functions of the step. Shared by `tf.train.exponential_decay` and its kin and by Keras."""

from __future__ import annotations

import math
from typing import Any

from everflow import api
from everflow.api import internal, public
from everflow.graph.convert import constant, convert_to_tensor
from everflow.graph.dtypes import DTypeLike
from everflow.graph.scopes import name_scope


def _find(name: str) -> Any:
    return api.find(name)


def _cast(value: Any, dtype: DTypeLike) -> Any:
    return api.find("cast")(value, dtype)


@public("keras.optimizers.schedules.LearningRateSchedule")
class LearningRateSchedule:
    """A learning rate that depends on the step: `schedule(step)`."""

    def __call__(self, step: Any) -> Any:
        raise NotImplementedError("Learning rate schedule must override __call__")

    def get_config(self) -> dict[str, Any]:
        """The arguments that make an equal schedule."""
        raise NotImplementedError("Learning rate schedule must override get_config")

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Any:
        """A schedule with these arguments."""
        return cls(**config)

    def _config(self, *names: str) -> dict[str, Any]:
        return {name: getattr(self, name) for name in names}


@public("keras.optimizers.schedules.ExponentialDecay")
class ExponentialDecay(LearningRateSchedule):
    """initial * rate ** (step / steps)."""

    def __init__(
        self, initial_learning_rate: Any, decay_steps: Any, decay_rate: Any, staircase: bool = False, name: str | None = None
    ) -> None:
        self.initial_learning_rate, self.decay_steps, self.decay_rate = initial_learning_rate, decay_steps, decay_rate
        self.staircase, self.name = staircase, name

    def __call__(self, step: Any) -> Any:
        with name_scope(self.name or "ExponentialDecay") as scope:
            initial = convert_to_tensor(self.initial_learning_rate, name="initial_learning_rate")
            steps, rate, step = (_cast(x, initial.dtype) for x in (self.decay_steps, self.decay_rate, step))
            p = step / steps
            if self.staircase:
                p = _find("floor")(p)
            return _find("multiply")(initial, _find("pow")(rate, p), name=scope)

    def get_config(self) -> dict[str, Any]:
        return self._config("initial_learning_rate", "decay_steps", "decay_rate", "staircase", "name")


@public("keras.optimizers.schedules.InverseTimeDecay")
class InverseTimeDecay(LearningRateSchedule):
    """initial / (1 + rate * step / steps)."""

    def __init__(
        self, initial_learning_rate: Any, decay_steps: Any, decay_rate: Any, staircase: bool = False, name: str | None = None
    ) -> None:
        self.initial_learning_rate, self.decay_steps, self.decay_rate = initial_learning_rate, decay_steps, decay_rate
        self.staircase, self.name = staircase, name

    def __call__(self, step: Any) -> Any:
        with name_scope(self.name or "InverseTimeDecay") as scope:
            initial = convert_to_tensor(self.initial_learning_rate, name="initial_learning_rate")
            steps, rate, step = (_cast(x, initial.dtype) for x in (self.decay_steps, self.decay_rate, step))
            p = step / steps
            if self.staircase:
                p = _find("floor")(p)
            one = _cast(constant(1), initial.dtype)
            return _find("divide")(initial, _find("add")(one, _find("multiply")(rate, p)), name=scope)

    def get_config(self) -> dict[str, Any]:
        return self._config("initial_learning_rate", "decay_steps", "decay_rate", "staircase", "name")


@public("keras.optimizers.schedules.PolynomialDecay")
class PolynomialDecay(LearningRateSchedule):
    """From the initial to the end rate along (1 - step / steps) ** power; with `cycle`, again in longer spans."""

    def __init__(
        self,
        initial_learning_rate: Any,
        decay_steps: Any,
        end_learning_rate: Any = 0.0001,
        power: Any = 1.0,
        cycle: bool = False,
        name: str | None = None,
    ) -> None:
        self.initial_learning_rate, self.end_learning_rate = initial_learning_rate, end_learning_rate
        self.decay_steps = decay_steps
        self.power, self.cycle, self.name = power, cycle, name

    def __call__(self, step: Any) -> Any:
        with name_scope(self.name or "PolynomialDecay") as scope:
            initial = convert_to_tensor(self.initial_learning_rate, name="initial_learning_rate")
            end, power, step, steps = (_cast(x, initial.dtype) for x in (self.end_learning_rate, self.power, step, self.decay_steps))
            if self.cycle:
                spans = _find("cond")(_find("equal")(step, 0), lambda: constant(1.0), lambda: _find("ceil")(step / self.decay_steps))
                steps = _find("multiply")(steps, spans)
            else:
                step = _find("minimum")(step, self.decay_steps)
            p = _find("divide")(step, steps)
            return _find("add")(_find("multiply")(initial - end, _find("pow")(1 - p, power)), end, name=scope)

    def get_config(self) -> dict[str, Any]:
        return self._config("initial_learning_rate", "decay_steps", "end_learning_rate", "power", "cycle", "name")


@public("keras.optimizers.schedules.PiecewiseConstantDecay")
class PiecewiseConstantDecay(LearningRateSchedule):
    """values[i] up to and including boundaries[i], and the last value afterwards."""

    def __init__(self, boundaries: Any, values: Any, name: str | None = None) -> None:
        if len(boundaries) != len(values) - 1:
            raise ValueError("The length of boundaries should be 1 less than the length of values")
        self.boundaries, self.values, self.name = boundaries, values, name

    def __call__(self, step: Any) -> Any:
        with name_scope(self.name or "PiecewiseConstant"):
            step = convert_to_tensor(step)
            boundaries = [_like(convert_to_tensor(b), step) for b in self.boundaries]
            return piecewise(step, boundaries, [convert_to_tensor(v) for v in self.values])

    def get_config(self) -> dict[str, Any]:
        return self._config("boundaries", "values", "name")


def _like(boundary: Any, step: Any) -> Any:
    kind = step.dtype.base_dtype
    return boundary if boundary.dtype.base_dtype == kind else _cast(boundary, kind)


def piecewise(step: Any, boundaries: list[Any], values: list[Any]) -> Any:
    """The value of the piece that a step is in; all are tensors."""
    pieces = [(step <= boundaries[0], lambda: values[0]), (step > boundaries[-1], lambda: values[-1])]
    for low, high, value in zip(boundaries[:-1], boundaries[1:], values[1:-1]):
        pieces.append(((step > low) & (step <= high), lambda value=value: value))  # type: ignore[misc]
    return _find("case")(pieces, lambda: values[0], exclusive=True)


@public("keras.experimental.CosineDecay")
@internal("keras.optimizer_v2.learning_rate_schedule.CosineDecay")
class CosineDecay(LearningRateSchedule):
    """Half a cosine from the initial rate down to `alpha` of it."""

    def __init__(self, initial_learning_rate: Any, decay_steps: Any, alpha: float = 0.0, name: str | None = None) -> None:
        self.initial_learning_rate, self.decay_steps = initial_learning_rate, decay_steps
        self.alpha, self.name = alpha, name

    def __call__(self, step: Any) -> Any:
        with name_scope(self.name or "CosineDecay"):
            initial = convert_to_tensor(self.initial_learning_rate, name="initial_learning_rate")
            steps, step = (_cast(x, initial.dtype) for x in (self.decay_steps, step))
            part = _find("minimum")(step, steps) / steps
            cosine = 0.5 * (1.0 + _find("cos")(constant(math.pi) * part))
            return _find("multiply")(initial, (1 - self.alpha) * cosine + self.alpha)

    def get_config(self) -> dict[str, Any]:
        return self._config("initial_learning_rate", "decay_steps", "alpha", "name")


@public("keras.experimental.CosineDecayRestarts")
@internal("keras.optimizer_v2.learning_rate_schedule.CosineDecayRestarts")
class CosineDecayRestarts(LearningRateSchedule):
    """Cosines one after the other, each `t_mul` times as long and `m_mul` times as high as the one before."""

    def __init__(
        self,
        initial_learning_rate: Any,
        first_decay_steps: Any,
        t_mul: float = 2.0,
        m_mul: float = 1.0,
        alpha: float = 0.0,
        name: str | None = None,
    ) -> None:
        self.initial_learning_rate, self.first_decay_steps = initial_learning_rate, first_decay_steps
        self._t_mul, self._m_mul, self.alpha, self.name = t_mul, m_mul, alpha, name

    def __call__(self, step: Any) -> Any:
        floor, log = _find("floor"), _find("log")
        with name_scope(self.name or "SGDRDecay") as scope:
            initial = convert_to_tensor(self.initial_learning_rate, name="initial_learning_rate")
            first, alpha, t_mul, m_mul, step = (
                _cast(x, initial.dtype) for x in (self.first_decay_steps, self.alpha, self._t_mul, self._m_mul, step)
            )
            part = step / first

            def even() -> Any:
                restarts = floor(part)
                return restarts, part - restarts

            def growing() -> Any:
                restarts = floor(log(1.0 - part * (1.0 - t_mul)) / log(t_mul))
                before = (1.0 - t_mul**restarts) / (1.0 - t_mul)
                return restarts, (part - before) / t_mul**restarts

            restarts, part = _find("cond")(_find("equal")(t_mul, 1.0), even, growing)
            cosine = 0.5 * m_mul**restarts * (1.0 + _find("cos")(constant(math.pi) * part))
            return _find("multiply")(initial, (1 - alpha) * cosine + alpha, name=scope)

    def get_config(self) -> dict[str, Any]:
        return {
            **self._config("initial_learning_rate", "first_decay_steps"),
            "t_mul": self._t_mul,
            "m_mul": self._m_mul,
            **self._config("alpha", "name"),
        }


@public("keras.experimental.LinearCosineDecay")
@internal("keras.optimizer_v2.learning_rate_schedule.LinearCosineDecay")
class LinearCosineDecay(LearningRateSchedule):
    """A line downwards times a cosine."""

    def __init__(
        self,
        initial_learning_rate: Any,
        decay_steps: Any,
        num_periods: float = 0.5,
        alpha: float = 0.0,
        beta: float = 0.001,
        name: str | None = None,
    ) -> None:
        self.initial_learning_rate, self.decay_steps, self.num_periods = initial_learning_rate, decay_steps, num_periods
        self.alpha, self.beta, self.name = alpha, beta, name

    def __call__(self, step: Any) -> Any:
        with name_scope(self.name or "LinearCosineDecay") as scope:
            initial = convert_to_tensor(self.initial_learning_rate, name="initial_learning_rate")
            steps, periods, alpha, beta, step = (
                _cast(x, initial.dtype) for x in (self.decay_steps, self.num_periods, self.alpha, self.beta, step)
            )
            step = _find("minimum")(step, steps)
            line = (steps - step) / steps
            return _line_times_cosine(initial, line, step, steps, periods, alpha, beta, scope)

    def get_config(self) -> dict[str, Any]:
        return self._config("initial_learning_rate", "decay_steps", "num_periods", "alpha", "beta", "name")


@public("keras.experimental.NoisyLinearCosineDecay")
@internal("keras.optimizer_v2.learning_rate_schedule.NoisyLinearCosineDecay")
class NoisyLinearCosineDecay(LearningRateSchedule):
    """A line downwards with noise that fades, times a cosine."""

    def __init__(
        self,
        initial_learning_rate: Any,
        decay_steps: Any,
        initial_variance: float = 1.0,
        variance_decay: float = 0.55,
        num_periods: float = 0.5,
        alpha: float = 0.0,
        beta: float = 0.001,
        name: str | None = None,
    ) -> None:
        self.initial_learning_rate, self.decay_steps = initial_learning_rate, decay_steps
        self.initial_variance, self.variance_decay = initial_variance, variance_decay
        self.num_periods, self.alpha, self.beta, self.name = num_periods, alpha, beta, name

    def __call__(self, step: Any) -> Any:
        with name_scope(self.name or "NoisyLinearCosineDecay") as scope:
            initial = convert_to_tensor(self.initial_learning_rate, name="initial_learning_rate")
            steps, variance, fading, periods, alpha, beta, step = (
                _cast(x, initial.dtype)
                for x in (self.decay_steps, self.initial_variance, self.variance_decay, self.num_periods, self.alpha, self.beta, step)
            )
            step = _find("minimum")(step, steps)
            line = (steps - step) / steps
            deviation = _find("sqrt")(variance / _find("pow")(1.0 + step, fading))
            line = line + _find("random_normal")(line.shape, stddev=deviation)
            return _line_times_cosine(initial, line, step, steps, periods, alpha, beta, scope)

    def get_config(self) -> dict[str, Any]:
        return self._config(
            "initial_learning_rate", "decay_steps", "initial_variance", "variance_decay", "num_periods", "alpha", "beta", "name"
        )


def _line_times_cosine(initial: Any, line: Any, step: Any, steps: Any, periods: Any, alpha: Any, beta: Any, scope: str) -> Any:
    done = step / steps
    part = 2.0 * periods * done
    cosine = 0.5 * (1.0 + _find("cos")(constant(math.pi) * part))
    return _find("multiply")(initial, (alpha + line) * cosine + beta, name=scope)
