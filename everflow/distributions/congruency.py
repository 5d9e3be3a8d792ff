"""Checks that distributions and bijectors agree with themselves, for tests."""

from __future__ import annotations

from typing import Any

import numpy as np

import everflow as tf
from everflow.api import internal
from everflow.distributions.uniform import Uniform

BIJECTORS = "ops.distributions.bijector_test_util"


@internal(f"{BIJECTORS}.assert_finite")
def assert_finite(array: Any) -> None:
    """Fails where an array holds what is not a number."""
    if not np.isfinite(array).all():
        raise AssertionError(f"array was not all finite. {array[:15]}")


@internal(f"{BIJECTORS}.assert_strictly_increasing")
def assert_strictly_increasing(array: Any) -> None:
    """Fails where an element is not above the one before."""
    np.testing.assert_array_less(0.0, np.diff(array))


@internal(f"{BIJECTORS}.assert_strictly_decreasing")
def assert_strictly_decreasing(array: Any) -> None:
    """Fails where an element is not below the one before."""
    np.testing.assert_array_less(np.diff(array), 0.0)


@internal(f"{BIJECTORS}.assert_strictly_monotonic")
def assert_strictly_monotonic(array: Any) -> None:
    """Fails where elements go up and down."""
    (assert_strictly_increasing if array[0] < array[-1] else assert_strictly_decreasing)(array)


@internal(f"{BIJECTORS}.assert_scalar_congruency")
def assert_scalar_congruency(bijector: Any, lower_x: Any, upper_x: Any, n: int = 10000, rtol: float = 0.01, sess: Any = None) -> None:
    """Fails unless a bijector of numbers is monotonic, its two ways undo each other, and its determinants fit."""
    sess = tf.get_default_session() if sess is None else sess
    dtype = np.float32 if bijector.dtype is None else bijector.dtype.as_numpy_dtype
    assert_strictly_monotonic(sess.run(bijector.forward(np.linspace(lower_x, upper_x, num=10).astype(dtype))))
    low, high = sorted(sess.run([bijector.forward(lower_x), bijector.forward(upper_x)]))
    x = Uniform(low=lower_x, high=upper_x).sample(n, seed=0)
    y = Uniform(low=low, high=high).sample(n, seed=1)
    inverse = bijector.inverse(y)
    found = sess.run(
        {
            "x": x,
            "y": y,
            "x again": bijector.inverse(bijector.forward(x)),
            "y again": bijector.forward(inverse),
            "dx/dy": tf.exp(bijector.inverse_log_det_jacobian(y, event_ndims=0)),
            "dy/dx": tf.exp(bijector.forward_log_det_jacobian(inverse, event_ndims=0)),
        }
    )
    for which in ("x", "y"):
        np.testing.assert_allclose(found[f"{which} again"], found[which], atol=1e-5, rtol=1e-3)
    np.testing.assert_allclose(found["dx/dy"], 1.0 / found["dy/dx"], atol=1e-5, rtol=1e-3)
    # The integral of dx/dy over all y is the way from the first x to the last.
    np.testing.assert_allclose(upper_x - lower_x, (high - low) * found["dx/dy"].mean(), atol=0, rtol=rtol)


@internal(f"{BIJECTORS}.assert_bijective_and_finite")
def assert_bijective_and_finite(
    bijector: Any, x: Any, y: Any, event_ndims: int, atol: float = 0, rtol: float = 1e-5, sess: Any = None
) -> None:
    """Fails unless both ways undo each other at these points, with determinants that fit and are finite."""
    sess = tf.get_default_session() if sess is None else sess
    assert_finite(x)
    assert_finite(y)
    forward, inverse = bijector.forward(x), bijector.inverse(y)
    found = sess.run(
        {
            "forward": forward,
            "inverse": inverse,
            "x": bijector.inverse(forward),
            "y": bijector.forward(inverse),
            "of x": bijector.forward_log_det_jacobian(x, event_ndims=event_ndims),
            "back to x": bijector.inverse_log_det_jacobian(forward, event_ndims=event_ndims),
            "of y": bijector.inverse_log_det_jacobian(y, event_ndims=event_ndims),
            "back to y": bijector.forward_log_det_jacobian(inverse, event_ndims=event_ndims),
        }
    )
    for array in found.values():
        assert_finite(array)
    np.testing.assert_allclose(found["x"], x, atol=atol, rtol=rtol)
    np.testing.assert_allclose(found["y"], y, atol=atol, rtol=rtol)
    np.testing.assert_allclose(-found["back to x"], found["of x"], atol=atol, rtol=rtol)
    np.testing.assert_allclose(-found["of y"], found["back to y"], atol=atol, rtol=rtol)
