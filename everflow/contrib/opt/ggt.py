"""tf.contrib.opt.GGTOptimizer."""

from __future__ import annotations

import math
from typing import Any

import everflow as tf
from everflow.api import public
from everflow.contrib.optimizer_v2.base import OptimizerState, OptimizerV2
from everflow.graph.scopes import control_dependencies
from everflow.graph.stacks import get_default_graph, in_eager_mode


@public("contrib.opt.GGTOptimizer")
class GGTOptimizer(OptimizerV2):
    """GGT (Agarwal and others, 2018): full-matrix adaptive steps, from the mean gradients of the last `window` steps.

    What is held are three tensors for all variables together: the mean gradient, a row of it for each step of the window, and the gradient.
    """

    def __init__(
        self,
        learning_rate: Any = 0.001,
        beta1: Any = 0.9,
        use_locking: bool = False,
        name: str = "GGT",
        window: int = 10,
        eps: float = 0.0001,
        svd_eps: float = 1e-06,
        sigma_eps: float = 0.01,
    ) -> None:
        super().__init__(use_locking, name)
        self._set_hyper("learning_rate", learning_rate)
        self._set_hyper("beta1", beta1)
        self._window, self._eps, self._svd_eps, self._sigma_eps = window, eps, svd_eps, sigma_eps
        self._places: list[tuple[Any, int, int]] = []

    def _held(self, name: str) -> Any:
        return self._get_non_slot_variable(name, graph=None if in_eager_mode() else get_default_graph())

    def _get_global_step(self, state: Any = None) -> Any:
        return self._held("global_step")

    def _get_moment1(self, state: Any = None) -> Any:
        return self._held("moment1")

    def _get_grad_buffer(self, state: Any = None) -> Any:
        return self._held("grad_buffer")

    def _get_flat_grad(self, state: Any = None) -> Any:
        return self._held("flat_grad")

    def _create_vars(self, var_list: list[Any], state: OptimizerState) -> None:
        types = {var.dtype.base_dtype for var in var_list}
        if len(types) > 1:
            raise ValueError("GGT does not support variables of different types.")
        ordered = sorted(var_list, key=lambda v: v.name)
        self._places, at = [], 0
        for var in ordered:
            size = math.prod(var.shape.as_list())
            self._places.append((var, at, size))
            at += size
        first, dtype = ordered[0], types.pop()
        for name, shape in (("moment1", [at]), ("grad_buffer", [self._window, at]), ("flat_grad", [at])):
            state.create_non_slot(initial_value=tf.zeros(shape, dtype), name=name, colocate_with=first)
        state.create_non_slot(initial_value=tf.zeros([], dtype), name="global_step", colocate_with=first)

    def _apply_dense(self, grad: Any, var: Any, state: OptimizerState) -> Any:  # type: ignore[override]
        start, size = next((start, size) for known, start, size in self._places if known is var)
        return tf.scatter_update(self._get_flat_grad(), tf.range(start, start + size), tf.reshape(grad, [-1]))

    def _resource_apply_dense(self, grad: Any, var: Any, state: OptimizerState) -> Any:  # type: ignore[override]
        return self._apply_dense(grad, var, state)

    def _apply_sparse(self, grad: Any, var: Any, state: OptimizerState) -> Any:  # type: ignore[override]
        raise NotImplementedError("Sparse gradient updates are not supported.")

    def _resource_apply_sparse(self, grad: Any, handle: Any, indices: Any, state: OptimizerState) -> Any:  # type: ignore[override]
        raise NotImplementedError("Sparse gradient updates are not supported.")

    def _finish(self, state: OptimizerState) -> Any:  # type: ignore[override]
        flat, mean, buffer, count = self._get_flat_grad(), self._get_moment1(), self._get_grad_buffer(), self._get_global_step()
        rate, beta = (state.get_hyper(name, flat.dtype.base_dtype) for name in ("learning_rate", "beta1"))
        step = tf.assign_add(count, 1.0)
        m = tf.assign(mean, mean * beta + (1 - beta) * _value(flat))
        with control_dependencies([m, step]):
            step, m = tf.identity(step), tf.identity(m)
            row = tf.cast(tf.mod(step - 1, self._window), tf.int32)
            kept = tf.scatter_update(buffer, tf.expand_dims(row, 0), tf.expand_dims(m, 0))
        with control_dependencies([kept]):
            columns = tf.transpose(_value(buffer)) / tf.sqrt(tf.minimum(step, tf.cast(self._window, step.dtype)))
            products = tf.matmul(columns, columns, transpose_a=True) + tf.eye(self._window, dtype=m.dtype) * self._svd_eps
            sigma, u, _ = tf.svd(products)
            root = tf.sqrt(sigma)
            small = tf.reduce_min(root)
            along = tf.expand_dims(m, 1)
            seen = tf.matmul(u, tf.matmul(columns, along, transpose_a=True), transpose_a=True)

            def back(scale: Any) -> Any:
                return tf.matmul(columns, tf.matmul(u, tf.expand_dims(scale, 1) * seen))

            whole = back(tf.pow(root + self._sigma_eps, -3))
            rest = (along - back(1.0 / sigma)) * (1.0 / small)
            change = tf.reshape(tf.where(small > self._eps, whole + rest, whole), [-1])
            updates = [
                tf.assign_sub(var, rate * tf.reshape(change[start : start + size], var.shape.as_list()), use_locking=self._use_locking)
                for var, start, size in self._places
            ]
        return tf.group(*updates, kept)


def _value(variable: Any) -> Any:
    return variable.read_value() if hasattr(variable, "read_value") else tf.identity(variable)
