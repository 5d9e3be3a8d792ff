"""`tf.test.compute_gradient`: the gradient that a graph computes beside the one that finite differences give."""

from __future__ import annotations

from typing import Any

import numpy as np

import everflow as tf
from everflow.api import public
from everflow.graph import stacks
from everflow.test import jacobians

_TYPES = ("float16", "bfloat16", "float32", "float64", "complex64", "complex128")


def _with_feeds(extra: Any, new: dict[Any, Any]) -> dict[Any, Any]:
    return {**(extra or {}), **new}


def _gradient_ops(x: Any, y: Any, y_shape: Any) -> tuple[Any, Any]:
    """The gradient of y with respect to x, and the constant to feed the gradient of y in the place of."""
    with tf.device("/cpu:0"):
        dy = tf.constant(1.0, shape=y_shape, dtype=y.dtype)
    (dx,) = tf.gradients(y, x, tf.identity(dy))
    return dx, dy


def _start_value(x: Any, shape: Any, given: Any) -> np.ndarray:
    dtype = x.dtype.as_numpy_dtype
    if given is not None:
        value = np.asarray(given, dtype=dtype)
        assert list(shape) == list(value.shape), f"x_shape = {shape}, x_init_value's shape = {list(value.shape)}"
        return value
    value = np.random.random_sample(shape)
    if x.dtype.is_complex:
        value = value + 1j * np.random.random_sample(shape)
    return np.asarray(value, dtype=dtype)


def _jacobian_pair(
    x: Any, x_shape: Any, dx: Any, y: Any, y_shape: Any, dy: Any, start: Any, delta: float, extra_feeds: Any
) -> tuple[np.ndarray, np.ndarray]:
    assert x.dtype.base_dtype.name in _TYPES, f"x has unsupported type {x.dtype.name}"
    assert y.dtype.base_dtype.name in _TYPES, f"y has unsupported type {y.dtype.name}"
    assert dx is not None, "There is no gradient of y with respect to x"
    session = stacks.get_default_session()
    x_value = _start_value(x, x_shape, start)
    shapes = tuple(int(d) for d in x_shape), tuple(int(d) for d in y_shape)
    dtypes = x.dtype.as_numpy_dtype, y.dtype.as_numpy_dtype

    def gradient(dy_value: np.ndarray) -> Any:
        return session.run(jacobians.fetchable(dx), feed_dict=_with_feeds(extra_feeds, {x: x_value, dy: dy_value}))

    def value(moved: np.ndarray) -> np.ndarray:
        return session.run(y, feed_dict=_with_feeds(extra_feeds, {x: moved}))

    return (
        jacobians.theoretical(gradient, shapes[0], dtypes[0], shapes[1], dtypes[1]),
        jacobians.numeric(value, x_value, shapes[1], dtypes[1], delta),
    )


@public("test.compute_gradient")
def compute_gradient(
    x: Any,
    x_shape: Any,
    y: Any,
    y_shape: Any,
    x_init_value: Any = None,
    delta: float = 1e-3,
    init_targets: Any = None,
    extra_feed_dict: Any = None,
) -> Any:
    """The Jacobians (theoretical, numeric) of y with respect to x; for a list of xs, a list of such pairs.

    Runs in the default session, after `init_targets`.
    """
    if init_targets is not None:
        for op in init_targets if isinstance(init_targets, (list, tuple)) else [init_targets]:
            op.run()
    several = isinstance(x, list)
    xs, x_shapes = (x, x_shape) if several else ([x], [x_shape])
    starts = x_init_value if several and x_init_value is not None else [x_init_value] * len(xs)
    made = [_gradient_ops(each, y, y_shape) for each in xs]
    pairs = [
        _jacobian_pair(each, shape, dx, y, y_shape, dy, start, delta, extra_feed_dict)
        for each, shape, (dx, dy), start in zip(xs, x_shapes, made, starts)
    ]
    return pairs if several else pairs[0]


@public("test.compute_gradient_error")
def compute_gradient_error(
    x: Any,
    x_shape: Any,
    y: Any,
    y_shape: Any,
    x_init_value: Any = None,
    delta: float = 1e-3,
    init_targets: Any = None,
    extra_feed_dict: Any = None,
) -> float:
    """The largest difference between the gradient and finite differences."""
    found = compute_gradient(x, x_shape, y, y_shape, x_init_value, delta, init_targets, extra_feed_dict)
    return jacobians.largest_difference([found] if isinstance(found, tuple) else found)
