"""The normal distribution function, its logarithm and its inverse."""

from __future__ import annotations

from typing import Any

import numpy as np

import everflow as tf
from everflow.api import internal
from everflow.graph import dtypes
from everflow.graph.convert import convert_to_tensor
from everflow.graph.scopes import name_scope

# Between these bounds the logarithm of the distribution function is computed as such; below them by a series, above them it is -ndtr(-x).
LOGNDTR_FLOAT64_LOWER = internal("ops.distributions.special_math.LOGNDTR_FLOAT64_LOWER")(np.array(-20, np.float64))
LOGNDTR_FLOAT32_LOWER = internal("ops.distributions.special_math.LOGNDTR_FLOAT32_LOWER")(np.array(-10, np.float32))
LOGNDTR_FLOAT64_UPPER = internal("ops.distributions.special_math.LOGNDTR_FLOAT64_UPPER")(np.array(8, np.float64))
LOGNDTR_FLOAT32_UPPER = internal("ops.distributions.special_math.LOGNDTR_FLOAT32_UPPER")(np.array(5, np.float32))


def _checked(x: Any, name: str = "x") -> Any:
    x = convert_to_tensor(x, name=name)
    if x.dtype.as_numpy_dtype not in (np.float32, np.float64):
        raise TypeError(f"x.dtype={x.dtype} is not handled, see docstring for supported types.")
    return x


@internal("ops.distributions.special_math.ndtr")
def ndtr(x: Any, name: str = "ndtr") -> Any:
    """The probability that a standard normal number is not larger than x."""
    with name_scope(name, values=[x]):
        return _ndtr(_checked(x))


def _ndtr(x: Any) -> Any:
    half_sqrt_2 = tf.constant(0.5 * np.sqrt(2.0), dtype=x.dtype, name="half_sqrt_2")
    w = x * half_sqrt_2
    z = tf.abs(w)
    return 0.5 * tf.where(z < half_sqrt_2, 1.0 + tf.erf(w), tf.where(w > 0.0, 2.0 - tf.erfc(z), tf.erfc(z)))


# Rational approximations of the inverse: around 1/2, and by z = sqrt(-2 log p) for p down to exp(-32), and below.
_MIDDLE = (
    [-5.99633501014107895267e1, 9.80010754185999661536e1, -5.66762857469070293439e1, 1.39312609387279679503e1, -1.23916583867381258016e0],
    [
        1.0,
        1.95448858338141759834e0,
        4.67627912898881538453e0,
        8.63602421390890590575e1,
        -2.25462687854119370527e2,
        2.00260212380060660359e2,
        -8.20372256168333339912e1,
        1.59056225126211695515e1,
        -1.18331621121330003142e0,
    ],
)
_TAIL = (
    [
        4.05544892305962419923e0,
        3.15251094599893866154e1,
        5.71628192246421288162e1,
        4.40805073893200834700e1,
        1.46849561928858024014e1,
        2.18663306850790267539e0,
        -1.40256079171354495875e-1,
        -3.50424626827848203418e-2,
        -8.57456785154685413611e-4,
    ],
    [
        1.0,
        1.57799883256466749731e1,
        4.53907635128879210584e1,
        4.13172038254672030440e1,
        1.50425385692907503408e1,
        2.50464946208309415979e0,
        -1.42182922854787788574e-1,
        -3.80806407691578277194e-2,
        -9.33259480895457427372e-4,
    ],
)
_FAR_TAIL = (
    [
        3.23774891776946035970e0,
        6.91522889068984211695e0,
        3.93881025292474443415e0,
        1.33303460815807542389e0,
        2.01485389549179081538e-1,
        1.23716634817820021358e-2,
        3.01581553508235416007e-4,
        2.65806974686737550832e-6,
        6.23974539184983293730e-9,
    ],
    [
        1.0,
        6.02427039364742014255e0,
        3.67983563856160859403e0,
        1.37702099489081330271e0,
        2.16236993594496635890e-1,
        1.34204006088543189037e-2,
        3.28014464682127739104e-4,
        2.89247864745380683936e-6,
        6.79019408009981274425e-9,
    ],
)


def _ratio(x: Any, coefficients: tuple[list[float], list[float]]) -> Any:
    def value(ps: list[float]) -> Any:
        found = tf.ones_like(x) * ps[0]
        for p in ps[1:]:
            found = found * x + p
        return found

    return value(coefficients[0]) / value(coefficients[1])


@internal("ops.distributions.special_math.ndtri")
def ndtri(p: Any, name: str = "ndtri") -> Any:
    """The inverse of `ndtr`: Moshier's approximations in the Cephes library."""
    with name_scope(name, values=[p]):
        p = _checked(p, "p")
        small = np.exp(-2.0)
        # The approximations are for the lower half.
        lower = tf.where(p > 1.0 - small, 1.0 - p, p)
        kept = tf.where(lower <= 0.0, tf.fill(tf.shape(p), np.array(0.5, p.dtype.as_numpy_dtype)), lower)
        w = kept - 0.5
        square = w * w
        middle = (w + w * square * _ratio(square, _MIDDLE)) * -np.sqrt(2.0 * np.pi)
        z = tf.sqrt(-2.0 * tf.log(kept))
        first = z - tf.log(z) / z
        tail = first - _ratio(1.0 / z, _TAIL) / z
        far = first - _ratio(1.0 / z, _FAR_TAIL) / z
        found = tf.where(kept > small, middle, tf.where(z >= 8.0, far, tail))
        found = tf.where(p > 1.0 - small, found, -found)
        infinity = tf.fill(tf.shape(p), np.array(np.inf, p.dtype.as_numpy_dtype))
        return tf.where(tf.equal(p, 0.0), -infinity, tf.where(tf.equal(p, 1.0), infinity, found))


@internal("ops.distributions.special_math.log_ndtr")
def log_ndtr(x: Any, series_order: int = 3, name: str = "log_ndtr") -> Any:
    """The logarithm of `ndtr`, also where that is too small to be a number."""
    if not isinstance(series_order, int):
        raise TypeError("series_order must be a Python integer.")
    if not 0 <= series_order <= 30:
        raise ValueError(f"series_order must be {'non-negative' if series_order < 0 else '<= 30'}.")
    with name_scope(name, values=[x]):
        x = _checked(x)
        wide = x.dtype == dtypes.float64
        lower, upper = (LOGNDTR_FLOAT64_LOWER, LOGNDTR_FLOAT64_UPPER) if wide else (LOGNDTR_FLOAT32_LOWER, LOGNDTR_FLOAT32_UPPER)
        # Each branch sees values for which it has a finite gradient.
        return tf.where(
            x > upper,
            -_ndtr(-x),
            tf.where(x > lower, tf.log(_ndtr(tf.maximum(x, lower))), _log_ndtr_far_below(tf.minimum(x, lower), series_order)),
        )


def _log_ndtr_far_below(x: Any, order: int) -> Any:
    square = tf.square(x)
    return -0.5 * square - tf.log(-x) - 0.5 * np.log(2.0 * np.pi) + tf.log(_series(x, square, order))


def _series(x: Any, square: Any, order: int) -> Any:
    """1 - 1/x^2 + 3/x^4 - 15/x^6 ...: the factor of the density that the distribution function is far below zero."""
    total = tf.ones_like(x)
    power = tf.ones_like(x)
    factorial = 1.0
    for n in range(1, order + 1):
        factorial *= 2 * n - 1
        power = power * square
        total = total + (-1.0) ** n * factorial / power
    return total


@internal("ops.distributions.special_math.erfinv")
def erfinv(x: Any, name: str = "erfinv") -> Any:
    """The inverse of the error function."""
    with name_scope(name, values=[x]):
        x = _checked(x)
        return ndtri((x + 1.0) / 2.0) / np.sqrt(2.0)


@internal("ops.distributions.special_math.log_cdf_laplace")
def log_cdf_laplace(x: Any, name: str = "log_cdf_laplace") -> Any:
    """The logarithm of the distribution function of the standard Laplace distribution."""
    with name_scope(name, values=[x]):
        x = convert_to_tensor(x, name="x")
        below = -np.log(2.0) + x
        above = tf.log1p(-0.5 * tf.exp(-tf.abs(x)))
        return tf.where(x < 0.0, below, above)
