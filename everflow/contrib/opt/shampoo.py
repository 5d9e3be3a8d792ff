"""tf.contrib.opt.ShampooOptimizer."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import public
from everflow.contrib.opt.matrix_functions import matrix_inverse_pth_root
from everflow.graph.scopes import control_dependencies
from everflow.ops.core.registry import apply
from everflow.train.optimizer import Optimizer


@public("contrib.opt.python.training.shampoo.GetParam")
def at_step(parameter: Any, timestep: Any) -> Any:
    """A hyperparameter, which may be a function of the step."""
    return parameter(timestep) if callable(parameter) and not hasattr(parameter, "dtype") else parameter


@public("contrib.opt.ShampooOptimizer")
class ShampooOptimizer(Optimizer):
    """Shampoo (Gupta, Koren and Singer, 2018): for each dimension of a variable, a matrix of the gradients' products evens out its steps.

    Dimensions of more than `max_matrix_size` have but the diagonal of it. `gbar_*` average the gradients, `mat_gbar_*` the matrices, which
    count every `precond_update_interval` steps and are raised to their power every `svd_interval` steps.
    """

    def __init__(
        self,
        global_step: Any = 0,
        max_matrix_size: int = 768,
        gbar_decay: Any = 0.0,
        gbar_weight: Any = 1.0,
        mat_gbar_decay: Any = 1.0,
        mat_gbar_weight: Any = 1.0,
        learning_rate: Any = 1.0,
        svd_interval: Any = 1,
        precond_update_interval: Any = 1,
        epsilon: float = 0.0001,
        alpha: float = 0.5,
        use_iterative_root: bool = False,
        use_locking: bool = False,
        name: str = "Shampoo",
    ) -> None:
        super().__init__(use_locking, name)
        self._global_step = tf.cast(global_step, tf.float32)
        self._max_matrix_size = max_matrix_size
        self._gbar = gbar_decay, gbar_weight
        self._mat_gbar = mat_gbar_decay, mat_gbar_weight
        self._learning_rate = learning_rate
        self._svd_interval, self._precond_update_interval = svd_interval, precond_update_interval
        self._epsilon, self._alpha = epsilon, alpha
        self._use_iterative_root = use_iterative_root

    def _create_slots(self, var_list: list[Any]) -> None:
        for var in var_list:
            shape = var.shape.as_list()
            if callable(self._gbar[0]) or self._gbar[0]:
                self._zeros_slot(var, "gbar", self._name)
            for k, size in enumerate(shape):
                is_matrix = size <= self._max_matrix_size
                self._get_or_make_slot(var, tf.zeros([size, size] if is_matrix else [size], var.dtype.base_dtype), f"mat_g_{k}", self._name)
                if is_matrix and self._svd_interval != 1:
                    self._get_or_make_slot(var, tf.eye(size, dtype=var.dtype.base_dtype), f"H_{k}", self._name)

    def _apply_dense(self, grad: Any, var: Any) -> Any:
        return self._apply_gradient(grad, var)

    def _resource_apply_dense(self, grad: Any, handle: Any) -> Any:
        return self._apply_gradient(grad, handle)

    def _apply_sparse(self, grad: Any, var: Any) -> Any:
        return self._apply_rows(grad.values, var, grad.indices)

    def _resource_apply_sparse(self, grad: Any, handle: Any, indices: Any) -> Any:
        return self._apply_rows(grad, handle, indices)

    def _apply_rows(self, values: Any, var: Any, indices: Any) -> Any:
        shape = var.shape.as_list()
        averages = callable(self._gbar[0]) or self._gbar[0]
        if shape[0] <= self._max_matrix_size or averages:
            # The first dimension has a matrix, or all rows go on moving: the gradient is needed whole.
            whole = tf.scatter_nd(tf.expand_dims(indices, 1), values, shape)
            return self._apply_gradient(whole, var)
        return self._apply_gradient(values, var, indices)

    def _apply_gradient(self, grad: Any, var: Any, indices: Any = None) -> Any:
        step = self._global_step + 1
        shape, dtype = var.shape.as_list(), var.dtype.base_dtype
        decay, weight = (at_step(p, self._global_step) for p in self._gbar)
        moved = grad * tf.cast(weight, dtype)
        if "gbar" in self._slots and self._slots["gbar"]:
            slot = self.get_slot(var, "gbar")
            moved = tf.assign(slot, tf.cast(decay, dtype) * slot + moved, use_locking=self._use_locking)
        every = at_step(self._precond_update_interval, self._global_step)
        updates = []
        alpha = self._alpha / len(shape)
        for k, size in enumerate(shape):
            is_matrix = size <= self._max_matrix_size
            slot = self.get_slot(var, f"mat_g_{k}")
            rows = indices if k == 0 else None
            statistics = self._statistics(slot, grad, k, is_matrix, every, rows, step)
            updates.append(statistics)
            if is_matrix:
                moved = tf.tensordot(moved, self._matrix_power(var, statistics, size, -alpha, k, step), axes=([0], [0]))
            else:
                counted = tf.gather(statistics, rows) if rows is not None else statistics
                small = self._epsilon if rows is not None else 0.0
                scale = tf.reshape(tf.pow(counted + small, -alpha), [-1, *([1] * (len(shape) - 1))])
                # The dimension goes last, as a product with a matrix would put it.
                moved = tf.transpose(moved * scale, [*range(1, len(shape)), 0]) if len(shape) > 1 else moved * scale
        rate = tf.cast(at_step(self._learning_rate, self._global_step), dtype)
        with control_dependencies(updates):
            if indices is None:
                return tf.assign_sub(var, rate * moved, use_locking=self._use_locking)
            if hasattr(var, "handle"):
                return apply("ResourceScatterSub", var.handle, indices, rate * moved)
            return tf.scatter_sub(var, indices, rate * moved, use_locking=self._use_locking)

    def _statistics(self, slot: Any, grad: Any, dim: int, is_matrix: bool, every: Any, rows: Any, step: Any) -> Any:
        return self._now_and_then(every, step, lambda: self._count(slot, grad, dim, is_matrix, every, rows), lambda: _value(slot))

    def _now_and_then(self, interval: Any, step: Any, do: Any, leave: Any) -> Any:
        if not hasattr(interval, "dtype") and interval == 1:
            return do()
        return tf.cond(tf.equal(tf.mod(step, tf.cast(interval, tf.float32)), 0), do, leave)

    def _count(self, slot: Any, grad: Any, dim: int, is_matrix: bool, every: Any, rows: Any) -> Any:
        """Adds a gradient's products to what is known of a dimension."""
        others = [k for k in range(grad.shape.rank) if k != dim]
        decay, weight = (tf.cast(at_step(p, self._global_step), grad.dtype) for p in self._mat_gbar)
        if is_matrix:
            new = tf.tensordot(grad, grad, axes=(others, others)) / tf.cast(tf.shape(grad)[dim], grad.dtype)
        else:
            new = tf.reduce_sum(grad * grad, axis=others)
            if rows is None and others:
                new = new / tf.cast(tf.shape(grad)[dim], grad.dtype)
        if not hasattr(every, "dtype") and every == 1:
            scale = weight
        else:
            scale = weight * tf.cast(every, grad.dtype)
        if rows is not None:
            if hasattr(slot, "handle"):
                with control_dependencies([apply("ResourceScatterAdd", slot.handle, rows, new * scale)]):
                    return slot.read_value()
            return tf.scatter_add(slot, rows, new * scale, use_locking=self._use_locking)
        return tf.assign(slot, slot * decay + scale * new, use_locking=self._use_locking)

    def _matrix_power(self, var: Any, matrix: Any, size: int, alpha: float, dim: int, step: Any) -> Any:
        if self._svd_interval == 1:
            return self._power(matrix, size, alpha)
        kept = self.get_slot(var, f"H_{dim}")
        with control_dependencies([matrix]):
            every = at_step(self._svd_interval, self._global_step)
            return self._now_and_then(
                every, step, lambda: tf.assign(kept, self._power(matrix, size, alpha), use_locking=self._use_locking), lambda: _value(kept)
            )

    def _power(self, matrix: Any, size: int, alpha: float) -> Any:
        damped = matrix + tf.eye(size, dtype=matrix.dtype) * self._epsilon
        if self._use_iterative_root:
            # Floats are too coarse for matrices whose eigenvalues differ much.
            root = matrix_inverse_pth_root(tf.cast(damped, tf.float64), size, alpha, iter_count=100, epsilon=1e-6, ridge_epsilon=0.0)
            return tf.cast(root, damped.dtype)
        values, vectors = tf.self_adjoint_eig(damped)
        # What is below the ridge is rounding.
        values = tf.maximum(values, self._epsilon)
        return tf.matmul(vectors * tf.pow(values, alpha), vectors, transpose_b=True)


def _value(variable: Any) -> Any:
    return variable.read_value() if hasattr(variable, "read_value") else tf.identity(variable)
