"""Checking the gradients of a Python function of tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import everflow as tf
from everflow.api import internal
from everflow.graph import stacks
from everflow.test import jacobians

_TYPES = ("float16", "bfloat16", "float32", "float64", "complex64", "complex128")


@internal("ops.gradient_checker_v2._to_numpy")
def to_numpy(a: Any) -> Any:
    """The value of a tensor, or of what can become one."""
    if hasattr(a, "numpy"):
        return a.numpy()
    if isinstance(a, tf.Tensor):
        return stacks.get_default_session().run(a)
    if isinstance(a, tf.IndexedSlices):
        values, indices, shape = stacks.get_default_session().run((a.values, a.indices, a.dense_shape))
        return jacobians.dense(jacobians.Slices(values, indices), shape, values.dtype)
    if isinstance(a, tf.IndexedSlicesValue):
        return jacobians.dense(jacobians.Slices(a.values, a.indices), a.dense_shape, a.values.dtype)  # type: ignore[attr-defined]
    return a


class _Traced:
    """A function built once as graph, with its gradients, to be called with arrays."""

    def __init__(self, f: Callable[..., Any], values: list[np.ndarray]) -> None:
        self.session = stacks.get_default_session()
        self.inputs = [tf.placeholder(value.dtype, shape=value.shape) for value in values]
        self.output = tf.convert_to_tensor(f(*self.inputs))
        self.dy = tf.placeholder(self.output.dtype)
        gradients = tf.gradients(self.output, self.inputs, tf.identity(self.dy))
        self.gradients = [jacobians.fetchable(each) for each in gradients]

    def __call__(self, values: list[np.ndarray]) -> np.ndarray:
        return self.session.run(self.output, dict(zip(self.inputs, values)))

    def gradient(self, which: int, values: list[np.ndarray], dy: np.ndarray) -> Any:
        if self.gradients[which] is None:
            return np.zeros(values[which].shape, values[which].dtype)
        return self.session.run(self.gradients[which], {**dict(zip(self.inputs, values)), self.dy: dy})


class _Eager:
    """A function that is executed at once, with its gradients."""

    def __init__(self, f: Callable[..., Any]) -> None:
        self._f = f

    def __call__(self, values: list[np.ndarray]) -> np.ndarray:
        return to_numpy(self._f(*[tf.constant(value) for value in values]))

    def gradient(self, which: int, values: list[np.ndarray], dy: np.ndarray) -> Any:
        inputs = [tf.constant(value) for value in values]
        with tf.GradientTape() as tape:
            tape.watch(inputs[which])
            y = self._f(*inputs)
        found = tape.gradient(y, inputs[which], output_gradients=tf.constant(dy))
        if found is None:
            return np.zeros(values[which].shape, values[which].dtype)
        return to_numpy(tf.convert_to_tensor(found))


@internal("ops.gradient_checker_v2.compute_gradient")
def compute_gradient(f: Callable[..., Any], x: list[Any], delta: float = 1e-3) -> tuple[tuple[Any, ...], ...]:
    """The Jacobians of `f` at the values `x`, a matrix for each argument: theoretical ones, numeric ones."""
    if not isinstance(x, list):
        raise ValueError(f"`x` must be a list of Tensors (arguments to `f`), not a {type(x)}")
    values = [np.asarray(to_numpy(tf.convert_to_tensor(each))) for each in x]
    traced: Any = _Eager(f) if tf.executing_eagerly() else _Traced(f, values)
    y = np.asarray(traced(values))
    for what, dtype in [*(("x", value.dtype) for value in values), ("y", y.dtype)]:
        assert dtype.name in _TYPES, f"{what} has unsupported type {dtype.name}"
    theoretical, numeric = [], []
    for i, value in enumerate(values):

        def with_value(moved: np.ndarray, i: int = i) -> np.ndarray:
            return traced([*values[:i], moved, *values[i + 1 :]])

        def gradient(dy: np.ndarray, i: int = i) -> Any:
            return traced.gradient(i, values, dy)

        theoretical.append(jacobians.theoretical(gradient, value.shape, value.dtype, y.shape, y.dtype))
        numeric.append(jacobians.numeric(with_value, value, y.shape, y.dtype, delta))
    return tuple(theoretical), tuple(numeric)


@internal("ops.gradient_checker_v2.max_error")
def max_error(grad1: Any, grad2: Any) -> float:
    """The largest difference between two lists of Jacobians."""
    return jacobians.largest_difference(zip(grad1, grad2))
