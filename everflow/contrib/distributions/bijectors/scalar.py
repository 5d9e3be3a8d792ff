"""Bijectors of single numbers."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np

import everflow as tf
from everflow.contrib.distributions.bijectors.publish import bijector
from everflow.distributions.bijectors import Bijector
from everflow.distributions.tensors import softplus_inverse
from everflow.graph.constants import constant_value
from everflow.graph.convert import convert_to_tensor
from everflow.graph.scopes import name_scope
from everflow.ops.control_flow.ordering import with_dependencies


def positive(x: Any, validate: bool, message: str) -> Any:
    """x, handed on where it is above zero if that is to be checked."""
    return with_dependencies([tf.assert_positive(x, message=message)], x) if validate else x


def not_negative(x: Any, validate: bool, message: str) -> Any:
    """x, handed on where it is not below zero if that is to be checked."""
    return with_dependencies([tf.assert_non_negative(x, message=message)], x) if validate else x


def _tensors(name: str, positive_ones: Collection[str] = (), **given: Any) -> list[Any]:
    """The parameters of a bijector as tensors of one floating type, if there are several; some are checked to be positive."""
    with name_scope(name), name_scope("init", values=list(given.values())):
        found = {which: convert_to_tensor(value, name=which) for which, value in given.items()}
        if len(found) > 1:
            tf.debugging.assert_same_float_dtype(list(found.values()))
        return [positive(t, which in positive_ones, f"Argument {which} was not positive") for which, t in found.items()]


def _probability(y: Any, validate: bool) -> Any:
    if not validate:
        return y
    return with_dependencies(
        [
            tf.assert_non_negative(y, message="Inverse transformation input must be greater than 0."),
            tf.assert_less_equal(y, tf.constant(1.0, y.dtype), message="Inverse transformation input must be less than or equal to 1."),
        ],
        y,
    )


@bijector("absolute_value")
class AbsoluteValue(Bijector):
    """y = |x|, which two points become: `inverse` returns both."""

    def __init__(self, validate_args: bool = False, name: str = "absolute_value") -> None:
        super().__init__(forward_min_event_ndims=0, is_constant_jacobian=True, validate_args=validate_args, name=name)

    @property
    def _is_injective(self) -> bool:
        return False

    def _forward(self, x: Any) -> Any:
        return tf.abs(x)

    def _inverse(self, y: Any) -> Any:
        y = not_negative(y, self.validate_args, "Argument y was negative")
        return -y, y

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        zero = tf.constant(0.0, dtype=y.dtype)
        if self.validate_args:
            zero = with_dependencies([tf.assert_non_negative(y, message="Argument y was negative")], zero)
        return zero, zero


@bijector("power_transform")
class PowerTransform(Bijector):
    """y = (1 + c x)^(1 / c), which is exp(x) for a power c of zero."""

    def __init__(self, power: Any = 0.0, validate_args: bool = False, name: str = "power_transform") -> None:
        [given] = _tensors(name, power=power)
        self._power = constant_value(given)
        if self._power is None or self._power < 0:
            raise ValueError("`power` must be a non-negative TF constant.")
        super().__init__(validate_args=validate_args, forward_min_event_ndims=0, name=name)

    @property
    def power(self) -> Any:
        """The power c."""
        return self._power

    def _forward(self, x: Any) -> Any:
        if self.power == 0.0:
            return tf.exp(x)
        return tf.exp(tf.log1p(self._valid_x(x) * self.power) / self.power)

    def _inverse(self, y: Any) -> Any:
        y = self._valid_y(y)
        return tf.log(y) if self.power == 0.0 else tf.expm1(tf.log(y) * self.power) / self.power

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        return (self.power - 1.0) * tf.log(self._valid_y(y))

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return x if self.power == 0.0 else (1.0 / self.power - 1.0) * tf.log1p(self._valid_x(x) * self.power)

    def _valid_x(self, x: Any) -> Any:
        if not self.validate_args:
            return x
        message = f"Forward transformation input must be at least {-1.0 / self.power}."
        return with_dependencies([tf.assert_non_negative(1.0 + self.power * x, message=message)], x)

    def _valid_y(self, y: Any) -> Any:
        return positive(y, self.validate_args, "Inverse transformation input must be greater than 0.")


@bijector("exp")
class Exp(PowerTransform):
    """y = exp(x)."""

    def __init__(self, validate_args: bool = False, name: str = "exp") -> None:
        super().__init__(validate_args=validate_args, name=name)


@bijector("square")
class Square(Bijector):
    """y = x^2 for numbers that are not negative."""

    def __init__(self, validate_args: bool = False, name: str = "square") -> None:
        super().__init__(forward_min_event_ndims=0, validate_args=validate_args, name=name)

    def _valid(self, t: Any) -> Any:
        return not_negative(t, self.validate_args, "All elements must be non-negative.")

    def _forward(self, x: Any) -> Any:
        return tf.square(self._valid(x))

    def _inverse(self, y: Any) -> Any:
        return tf.sqrt(self._valid(y))

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return np.log(2.0) + tf.log(self._valid(x))


@bijector("sigmoid")
class Sigmoid(Bijector):
    """y = 1 / (1 + exp(-x))."""

    def __init__(self, validate_args: bool = False, name: str = "sigmoid") -> None:
        super().__init__(forward_min_event_ndims=0, validate_args=validate_args, name=name)

    def _forward(self, x: Any) -> Any:
        return tf.sigmoid(x)

    def _inverse(self, y: Any) -> Any:
        return tf.log(y) - tf.log1p(-y)

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        return -tf.log1p(-y) - tf.log(y)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return -tf.nn.softplus(-x) - tf.nn.softplus(x)


@bijector("softplus")
class Softplus(Bijector):
    """y = c log(1 + exp(x / c)), where c is the softness of the bend at zero, 1 if not given."""

    def __init__(self, hinge_softness: Any = None, validate_args: bool = False, name: str = "softplus") -> None:
        with name_scope(name, values=[hinge_softness]):
            self._hinge_softness = None if hinge_softness is None else convert_to_tensor(hinge_softness, name="hinge_softness")
            if validate_args and self._hinge_softness is not None:
                zero = tf.zeros([], self._hinge_softness.dtype)
                check = tf.assert_none_equal(zero, self._hinge_softness, message="hinge_softness must be non-zero")
                self._hinge_softness = with_dependencies([check], self._hinge_softness)
        super().__init__(forward_min_event_ndims=0, validate_args=validate_args, name=name)

    @property
    def hinge_softness(self) -> Any:
        """The softness of the bend at zero, or None for 1."""
        return self._hinge_softness

    def _softness(self, like: Any) -> Any:
        return tf.cast(self._hinge_softness, like.dtype)

    def _forward(self, x: Any) -> Any:
        if self._hinge_softness is None:
            return tf.nn.softplus(x)
        return self._softness(x) * tf.nn.softplus(x / self._softness(x))

    def _inverse(self, y: Any) -> Any:
        if self._hinge_softness is None:
            return softplus_inverse(y)
        return self._softness(y) * softplus_inverse(y / self._softness(y))

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        # The derivative of the inverse is 1 / (1 - exp(-y)).
        return -tf.log(-tf.expm1(-(y if self._hinge_softness is None else y / self._softness(y))))

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return -tf.nn.softplus(-(x if self._hinge_softness is None else x / self._softness(x)))


@bijector("softsign")
class Softsign(Bijector):
    """y = x / (1 + |x|)."""

    def __init__(self, validate_args: bool = False, name: str = "softsign") -> None:
        super().__init__(forward_min_event_ndims=0, validate_args=validate_args, name=name)

    def _forward(self, x: Any) -> Any:
        return x / (1.0 + tf.abs(x))

    def _inverse(self, y: Any) -> Any:
        y = self._valid(y)
        return y / (1.0 - tf.abs(y))

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return -2.0 * tf.log1p(tf.abs(x))

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        return -2.0 * tf.log1p(-tf.abs(self._valid(y)))

    def _valid(self, y: Any) -> Any:
        if not self.validate_args:
            return y
        one = tf.ones([], y.dtype)
        return with_dependencies(
            [
                tf.assert_greater(y, -one, message="Inverse transformation input must be greater than -1."),
                tf.assert_less(y, one, message="Inverse transformation input must be less than 1."),
            ],
            y,
        )


@bijector("gumbel")
class Gumbel(Bijector):
    """y = exp(-exp(-(x - loc) / scale)): samples of Gumbel's distribution become uniform."""

    def __init__(self, loc: Any = 0.0, scale: Any = 1.0, validate_args: bool = False, name: str = "gumbel") -> None:
        self._loc, self._scale = _tensors(name, {"scale"} if validate_args else (), loc=loc, scale=scale)
        super().__init__(validate_args=validate_args, forward_min_event_ndims=0, name=name)

    @property
    def loc(self) -> Any:
        """Where the distribution is."""
        return self._loc

    @property
    def scale(self) -> Any:
        """How wide it is."""
        return self._scale

    def _forward(self, x: Any) -> Any:
        return tf.exp(-tf.exp((self.loc - x) / self.scale))

    def _inverse(self, y: Any) -> Any:
        return self.loc - self.scale * tf.log(-tf.log(_probability(y, self.validate_args)))

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        y = _probability(y, self.validate_args)
        return tf.log(self.scale / (-tf.log(y) * y))

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        z = (x - self.loc) / self.scale
        return -z - tf.exp(-z) - tf.log(self.scale)


@bijector("weibull")
class Weibull(Bijector):
    """y = 1 - exp(-(x / scale)^concentration): samples of Weibull's distribution become uniform."""

    def __init__(self, scale: Any = 1.0, concentration: Any = 1.0, validate_args: bool = False, name: str = "weibull") -> None:
        given = {"scale": scale, "concentration": concentration}
        self._scale, self._concentration = _tensors(name, given if validate_args else (), **given)
        super().__init__(validate_args=validate_args, forward_min_event_ndims=0, name=name)

    @property
    def scale(self) -> Any:
        """How wide the distribution is."""
        return self._scale

    @property
    def concentration(self) -> Any:
        """Its shape."""
        return self._concentration

    def _valid_x(self, x: Any) -> Any:
        return not_negative(x, self.validate_args, "Forward transformation input must be at least 0.")

    def _forward(self, x: Any) -> Any:
        return -tf.expm1(-((self._valid_x(x) / self.scale) ** self.concentration))

    def _inverse(self, y: Any) -> Any:
        return self.scale * (-tf.log1p(-_probability(y, self.validate_args))) ** (1 / self.concentration)

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        hazard = -tf.log1p(-_probability(y, self.validate_args))
        return hazard + (1 / self.concentration - 1) * tf.log(hazard) + tf.log(self.scale / self.concentration)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        x = self._valid_x(x)
        k = self.concentration
        return (k - 1) * tf.log(x) - (x / self.scale) ** k + tf.log(k) - k * tf.log(self.scale)


@bijector("kumaraswamy")
class Kumaraswamy(Bijector):
    """y = (1 - (1 - x)^(1 / b))^(1 / a): uniform samples become those of Kumaraswamy's distribution."""

    def __init__(
        self, concentration1: Any = None, concentration0: Any = None, validate_args: bool = False, name: str = "kumaraswamy"
    ) -> None:
        with name_scope(name), name_scope("init", values=[concentration1, concentration0]):
            message = "Concentration parameter must be positive."
            self._concentration1 = positive(convert_to_tensor(concentration1, name="concentration1"), validate_args, message)
            self._concentration0 = positive(convert_to_tensor(concentration0, name="concentration0"), validate_args, message)
        super().__init__(forward_min_event_ndims=0, validate_args=validate_args, name=name)

    @property
    def concentration1(self) -> Any:
        """a."""
        return self._concentration1

    @property
    def concentration0(self) -> Any:
        """b."""
        return self._concentration0

    def _forward(self, x: Any) -> Any:
        rest = tf.exp(tf.log1p(-self._valid(x)) / self.concentration0)
        return tf.exp(tf.log1p(-rest) / self.concentration1)

    def _inverse(self, y: Any) -> Any:
        rest = (1 - self._valid(y) ** self.concentration1) ** self.concentration0
        return tf.exp(tf.log1p(-rest))

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        y = self._valid(y)
        a, b = self.concentration1, self.concentration0
        return tf.log(a) + tf.log(b) + (a - 1) * tf.log(y) + (b - 1) * tf.log1p(-(y**a))

    def _valid(self, x: Any) -> Any:
        if not self.validate_args:
            return x
        one = tf.ones([], self.concentration0.dtype)
        return with_dependencies(
            [
                tf.assert_non_negative(x, message="sample must be non-negative"),
                tf.assert_less_equal(x, one, message="sample must be no larger than `1`."),
            ],
            x,
        )


@bijector("sinh_arcsinh")
class SinhArcsinh(Bijector):
    """y = sinh((arcsinh(x) + skewness) tailweight), which makes distributions skewed and their tails heavier or lighter."""

    def __init__(self, skewness: Any = None, tailweight: Any = None, validate_args: bool = False, name: str = "SinhArcsinh") -> None:
        with name_scope(name), name_scope("init", values=[skewness, tailweight]):
            self._skewness = convert_to_tensor(0.0 if skewness is None else skewness, name="skewness")
            self._tailweight = convert_to_tensor(1.0 if tailweight is None else tailweight, name="tailweight", dtype=self._skewness.dtype)
            tf.debugging.assert_same_float_dtype([self._skewness, self._tailweight])
            self._tailweight = positive(self._tailweight, validate_args, "Argument tailweight was not positive")
        super().__init__(forward_min_event_ndims=0, validate_args=validate_args, name=name)

    @property
    def skewness(self) -> Any:
        """How far it leans to the right."""
        return self._skewness

    @property
    def tailweight(self) -> Any:
        """How heavy tails become."""
        return self._tailweight

    def _forward(self, x: Any) -> Any:
        return tf.sinh((tf.asinh(x) + self.skewness) * self.tailweight)

    def _inverse(self, y: Any) -> Any:
        return tf.sinh(tf.asinh(y) / self.tailweight - self.skewness)

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        angle = tf.asinh(y) / self.tailweight - self.skewness
        return tf.log(tf.cosh(angle) / _hypotenuse(y)) - tf.log(self.tailweight)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        angle = (tf.asinh(x) + self.skewness) * self.tailweight
        return tf.log(tf.cosh(angle) / _hypotenuse(x)) + tf.log(self.tailweight)


def _hypotenuse(x: Any) -> Any:
    """sqrt(x^2 + 1), which is |x| where the square would overflow."""
    large = tf.abs(x) * np.sqrt(np.finfo(x.dtype.as_numpy_dtype).eps) > 1.0
    return tf.where(large, tf.abs(x), tf.sqrt(tf.square(tf.where(large, tf.ones_like(x), x)) + 1.0))
