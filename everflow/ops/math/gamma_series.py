"""The incomplete gamma and beta functions where torch has none: derivatives by the shape parameter, and Beta itself.

All run on whole tensors in float64: every element takes the steps of a series or continued fraction until all have converged.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from everflow.lazy import torch

STEPS = 2000
EPSILON = 1e-15


def _by_parameter(a: Any, x: Any) -> tuple[Any, Any]:
    """P(a, x), the regularized lower incomplete gamma function, and its derivative by a, for a > 0 and x > 0."""
    near = (x <= 1) | (x <= a)
    series = _series(torch.where(near, a, 1.0), torch.where(near, x, 0.5))
    fraction = _continued_fraction(torch.where(near, 1.0, a), torch.where(near, 2.0, x))
    return torch.where(near, series[0], fraction[0]), torch.where(near, series[1], fraction[1])


def _leading(a: Any, x: Any) -> tuple[Any, Any]:
    """x^a·e^-x / Γ(a), and the derivative of its logarithm by a."""
    return torch.exp(a * torch.log(x) - x - torch.lgamma(a)), torch.log(x) - torch.digamma(a)


def _series(a: Any, x: Any) -> tuple[Any, Any]:
    """P(a, x) = x^a·e^-x / Γ(a + 1) · (1 + x/(a+1) + x²/((a+1)(a+2)) + ...), differentiated term by term."""
    term, total = torch.ones_like(a), torch.ones_like(a)
    term_by_a, total_by_a = torch.zeros_like(a), torch.zeros_like(a)
    n = a
    for _ in range(STEPS):
        n = n + 1
        ratio = x / n
        term_by_a = term_by_a * ratio - term * ratio / n
        term = term * ratio
        total, total_by_a = total + term, total_by_a + term_by_a
        if bool((torch.abs(term_by_a) <= EPSILON * torch.abs(total_by_a)).all() and (term <= EPSILON * total).all()):
            break
    factor, slope = _leading(a, x)
    factor = factor / a
    slope = slope - 1 / a
    return factor * total, factor * (slope * total + total_by_a)


def _continued_fraction(a: Any, x: Any) -> tuple[Any, Any]:
    """1 - Q(a, x), with Lentz's method for Legendre's fraction; each quantity carries its derivative by a."""
    tiny = 1e-300
    b, b_by_a = x + 1 - a, -torch.ones_like(a)
    c, c_by_a = torch.full_like(a, 1 / tiny), torch.zeros_like(a)
    d = 1 / b
    d_by_a = -b_by_a * d * d
    h, h_by_a = d, d_by_a
    for i in range(1, STEPS):
        numerator, numerator_by_a = -i * (i - a), i * torch.ones_like(a)
        b = b + 2
        e = numerator * d + b
        e_by_a = numerator_by_a * d + numerator * d_by_a + b_by_a
        f_by_a = b_by_a + numerator_by_a / c - numerator * c_by_a / (c * c)
        c = b + numerator / c
        c = torch.where(torch.abs(c) < tiny, tiny, c)
        c_by_a = f_by_a
        e = torch.where(torch.abs(e) < tiny, tiny, e)
        d = 1 / e
        d_by_a = -e_by_a * d * d
        step = c * d
        step_by_a = c_by_a * d + c * d_by_a
        h_by_a = h_by_a * step + h * step_by_a
        h = h * step
        if bool((torch.abs(step - 1) <= EPSILON).all()) and bool((torch.abs(step_by_a) <= EPSILON).all()):
            break
    factor, slope = _leading(a, x)
    return 1 - factor * h, -factor * (slope * h + h_by_a)


def _in_float64(compute: Callable[..., Any], *inputs: Any) -> Any:
    kind = inputs[0].dtype
    return compute(*torch.broadcast_tensors(*[t.to(torch.float64) for t in inputs])).to(kind)


def igamma_by_a(a: Any, x: Any) -> Any:
    """The derivative of the regularized lower incomplete gamma function by its first argument."""

    def compute(a: Any, x: Any) -> Any:
        usable = (a > 0) & (x > 0)
        found = _by_parameter(torch.where(usable, a, 1.0), torch.where(usable, x, 1.0))[1]
        found = torch.where((x == 0) & (a > 0), 0.0, torch.where(usable, found, math.nan))
        return found

    return _in_float64(compute, a, x)


def sample_by_alpha(alpha: Any, sample: Any) -> Any:
    """The derivative of a gamma sample by its shape parameter: that which keeps P(alpha, sample) constant."""

    def compute(a: Any, x: Any) -> Any:
        by_a = _by_parameter(a, x)[1]
        density = torch.exp((a - 1) * torch.log(x) - x - torch.lgamma(a))
        return torch.where(x == 0, 0.0, -by_a / density)

    return _in_float64(compute, alpha, sample)


def betainc(a: Any, b: Any, x: Any) -> Any:
    """The regularized incomplete beta function."""

    def compute(a: Any, b: Any, x: Any) -> Any:
        usable = (a > 0) & (b > 0) & (x >= 0) & (x <= 1)
        inside = usable & (x > 0) & (x < 1)
        a, b, x_in = torch.where(inside, a, 1.0), torch.where(inside, b, 1.0), torch.where(inside, x, 0.5)
        # The fraction converges quickly on one side of the mean; the other side is its mirror image.
        mirrored = x_in > (a + 1) / (a + b + 2)
        p, q = torch.where(mirrored, b, a), torch.where(mirrored, a, b)
        u = torch.where(mirrored, 1 - x_in, x_in)
        log_factor = p * torch.log(u) + q * torch.log1p(-u) + torch.lgamma(p + q) - torch.lgamma(p) - torch.lgamma(q)
        part = torch.exp(log_factor) * _beta_fraction(p, q, u) / p
        found = torch.where(mirrored, 1 - part, part)
        return torch.where(inside, found, torch.where(usable, x, math.nan))

    return _in_float64(compute, a, b, x)


def _beta_fraction(a: Any, b: Any, x: Any) -> Any:
    """The continued fraction of the incomplete beta function, by Lentz's method."""
    tiny = 1e-300

    def away_from_zero(v: Any) -> Any:
        return torch.where(torch.abs(v) < tiny, tiny, v)

    c = torch.ones_like(x)
    d = 1 / away_from_zero(1 - (a + b) * x / (a + 1))
    h = d
    for m in range(1, STEPS):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        d = 1 / away_from_zero(1 + even * d)
        c = away_from_zero(1 + even / c)
        h = h * d * c
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        d = 1 / away_from_zero(1 + odd * d)
        c = away_from_zero(1 + odd / c)
        step = d * c
        h = h * step
        if bool((torch.abs(step - 1) <= EPSILON).all()):
            break
    return h
