"""Special functions: error function, gamma, beta, zeta and Bessel functions, and products that are 0 where a factor is."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

import everflow as tf
from everflow.api import public
from everflow.graph import shapes
from everflow.graph.convert import convert_to_tensor
from everflow.graph.operation import Operation
from everflow.graph.scopes import name_scope
from everflow.lazy import torch
from everflow.ops.core.broadcasting import sums_along, sums_to_inputs
from everflow.ops.core.families import binary, published, unary
from everflow.ops.core.registry import apply, op
from everflow.ops.core.run_time_checks import checked
from everflow.ops.math import gamma_series
from everflow.ops.math.division import zero_where


def _two_over_root_pi(x: Any, scale: float) -> Any:
    return tf.constant(scale * 2 / np.sqrt(np.pi), dtype=x.dtype.base_dtype)


def _digamma(x: Any) -> Any:
    """Poles are at +inf, as TensorFlow has them."""
    pole = (x <= 0) & (x == torch.floor(x))
    return torch.where(pole, torch.full_like(x, math.inf), torch.digamma(x))


def _bessel_i1e_gradient(x: Any, y: Any, dy: Any) -> Any:
    """i0e(x) - y·(sign(x) + 1/x), which is 1/2 at 0."""
    tiny = np.finfo(x.dtype.as_numpy_dtype).eps
    zeros = tf.zeros_like(x)
    away = tf.abs(x) > tiny
    safe = tf.where(away, x, tiny + zeros)
    slope = bessel_i0e(safe) - y * (tf.sign(safe) + tf.reciprocal(safe))
    return dy * tf.where(away, slope, 0.5 + zeros)


erf = unary(
    "Erf", lambda n: torch.erf, lambda x, y, dy: _two_over_root_pi(dy, 1.0) * dy * tf.exp(-tf.square(x)), "erf", "math.erf", sparse=True
)
erfc = unary("Erfc", lambda n: torch.erfc, lambda x, y, dy: _two_over_root_pi(dy, -1.0) * dy * tf.exp(-tf.square(x)), "erfc", "math.erfc")
lgamma = unary("Lgamma", lambda n: torch.lgamma, lambda x, y, dy: dy * tf.math.digamma(x), "lgamma", "math.lgamma")
digamma = unary(
    "Digamma",
    lambda n: _digamma,
    lambda x, y, dy: dy * tf.math.polygamma(tf.constant(1, dtype=x.dtype.base_dtype), x),
    "digamma",
    "math.digamma",
)
bessel_i0e = unary(
    "BesselI0e",
    lambda n: lambda x: _in_float32(torch.special.i0e, x),
    lambda x, y, dy: dy * (tf.math.bessel_i1e(x) - tf.sign(x) * y),
    "math.bessel_i0e",
    ragged=False,
    sparse=True,
)
bessel_i1e = unary(
    "BesselI1e", lambda n: lambda x: _in_float32(torch.special.i1e, x), _bessel_i1e_gradient, "math.bessel_i1e", ragged=False, sparse=True
)


def _in_float32(compute: Callable[..., Any], x: Any) -> Any:
    return compute(x) if x.dtype in (torch.float32, torch.float64) else compute(x.to(torch.float32)).to(x.dtype)


@public("math.bessel_i0")
def bessel_i0(x: Any, name: str | None = None) -> Any:
    """The modified Bessel function of order 0."""
    with name_scope(name, "bessel_i0", [x]):
        return tf.exp(tf.abs(x)) * bessel_i0e(x)


@public("math.bessel_i1")
def bessel_i1(x: Any, name: str | None = None) -> Any:
    """The modified Bessel function of order 1."""
    with name_scope(name, "bessel_i1", [x]):
        return tf.exp(tf.abs(x)) * bessel_i1e(x)


def _not_zero(x: Any) -> Any:
    return tf.cast(tf.not_equal(x, tf.cast(0.0, dtype=x.dtype)), dtype=x.dtype)


def _xlogy_gradient(o: Operation, dz: Any) -> Any:
    x, y = o.inputs
    to_x, to_y = sums_to_inputs(x, y)
    of_x, of_y = xlogy(_not_zero(x), y), xdivy(x, y)
    dx = to_x(of_x * dz)
    return dx, to_y(of_y * dz)


def _xdivy_gradient(o: Operation, dz: Any) -> Any:
    x, y = o.inputs
    to_x, to_y = sums_to_inputs(x, y)
    of_x, of_y = xdivy(_not_zero(x), y), xdivy(-x, y**2)
    dx = to_x(of_x * dz)
    return dx, to_y(of_y * dz)


xlogy = binary("Xlogy", zero_where(lambda x, y: x == 0, lambda x, y: x * torch.log(y)), _xlogy_gradient, "math.xlogy", ragged=False)
xdivy = binary("Xdivy", zero_where(lambda x, y: x == 0, lambda x, y: x / y), _xdivy_gradient, "math.xdivy", ragged=False)


def _igamma(a: Any, x: Any) -> Any:
    value = torch.where((a <= 0) | (x < 0), math.nan, torch.special.gammainc(a, x))
    return torch.where(x == 0, torch.zeros((), dtype=a.dtype), value)


def _igammac(a: Any, x: Any) -> Any:
    return torch.where((a <= 0) | (x < 0), math.nan, torch.special.gammaincc(a, x))


def _igamma_gradient(o: Operation, dz: Any) -> Any:
    a, x = o.inputs
    shape_a, shape_x = tf.shape(a), tf.shape(x)
    to_a, to_x = sums_along(shape_a, shape_x)
    of_a = apply("IgammaGradA", a, x)
    of_x = tf.exp(-x + (a - 1) * tf.log(x) - lgamma(a))
    da = to_a(of_a * dz)
    return da, to_x(of_x * dz)


def _igammac_gradient(o: Operation, dz: Any) -> Any:
    da, dx = _igamma_gradient(o, dz)
    return -da, -dx


igamma = binary("Igamma", lambda n: _igamma, _igamma_gradient, "igamma", "math.igamma", ragged=False)
igammac = binary("Igammac", lambda n: _igammac, _igammac_gradient, "igammac", "math.igammac", ragged=False)
binary("IgammaGradA", lambda n: gamma_series.igamma_by_a, None)
binary("RandomGammaGrad", lambda n: gamma_series.sample_by_alpha, None)


def _polygamma(n: Any, x: Any) -> Any:
    """(-1)^(n+1)·n!·ζ(n+1, x) for n = 1, 2, ...; the digamma function for n = 0."""
    derivative = torch.where(n % 2 == 0, -1.0, 1.0) * torch.exp(torch.lgamma(n + 1)) * torch.special.zeta(n + 1, x)
    value = torch.where(n == 0, _digamma(x), derivative)
    return torch.where((n < 0) | (n != torch.floor(n)), math.nan, value).to(x.dtype)


def _zeta_gradient(o: Operation, dz: Any) -> Any:
    x, q = o.inputs
    to_q = sums_to_inputs(x, q)[1]
    return None, to_q(-x * zeta(x + 1, q) * dz)


def _polygamma_gradient(o: Operation, dz: Any) -> Any:
    n, x = o.inputs
    to_x = sums_to_inputs(n, x)[1]
    return None, to_x(polygamma(n + 1, x) * dz)


zeta = binary("Zeta", lambda n: torch.special.zeta, _zeta_gradient, "zeta", "math.zeta", ragged=False)
polygamma = binary("Polygamma", lambda n: _polygamma, _polygamma_gradient, "polygamma", "math.polygamma", ragged=False)


def _betainc_shape(o: Operation) -> Any:
    dims = None
    for t in o.inputs:
        if t.dims != ():
            dims = shapes.merge(dims, t.dims)
    return dims if dims is not None or any(t.dims is None for t in o.inputs) else ()


def _betainc_gradient(o: Operation, dz: Any) -> Any:
    a, b, x = o.inputs
    to_x = sums_to_inputs(a, x)[1]
    log_beta = lgamma(a) + lgamma(b) - lgamma(a + b)
    of_x = tf.exp((b - 1) * tf.log(1 - x) + (a - 1) * tf.log(x) - log_beta)
    return None, None, to_x(of_x * dz)


def _inconsistent(a: Any, b: Any, x: Any) -> str | None:
    """Arguments are of one shape, scalars apart."""
    named = [(name, v.shape) for name, v in (("a", a), ("b", b), ("x", x)) if v.ndim]
    other = next((pair for pair in named if pair[1] != named[0][1]), None)
    if other is None:
        return None
    return f"Shapes of {named[0][0]} and {other[0]} are inconsistent: {shapes.describe(named[0][1])} vs. {shapes.describe(other[1])}"


op("Betainc", kernel=checked(lambda n: gamma_series.betainc, _inconsistent), shape=_betainc_shape, gradient=_betainc_gradient)
betainc = published("Betainc", ("betainc", "math.betainc"), __name__)


@public("lbeta", "math.lbeta")
def lbeta(x: Any, name: str | None = None) -> Any:
    """The logarithm of the beta function of the numbers along the last axis."""
    with name_scope(name, "lbeta", [x]):
        x = convert_to_tensor(x, name="x")
        logs = tf.reduce_sum(lgamma(x), axis=[-1])
        return logs - lgamma(tf.reduce_sum(x, axis=[-1]))
