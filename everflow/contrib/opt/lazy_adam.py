"""tf.contrib.opt.LazyAdamOptimizer."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import public
from everflow.graph.dtypes import DTypeLike
from everflow.ops.core.registry import apply
from everflow.train.adam import AdamOptimizer


@public("contrib.opt.LazyAdamOptimizer")
class LazyAdamOptimizer(AdamOptimizer):
    """Adam that leaves rows without a gradient as they are: quicker for large embeddings, and not quite the same."""

    def _rate(self, dtype: DTypeLike) -> tuple[Any, Any, Any, Any]:
        """The corrected learning rate, beta1, beta2 and epsilon."""
        beta1_power, beta2_power, lr, beta1, beta2, epsilon = (
            tf.cast(number, dtype) for number in (*self._get_beta_accumulators(), self._lr_t, self._beta1_t, self._beta2_t, self._epsilon_t)
        )
        return lr * tf.sqrt(1 - beta2_power) / (1 - beta1_power), beta1, beta2, epsilon

    def _apply_sparse(self, grad: Any, var: Any) -> Any:
        rate, beta1, beta2, epsilon = self._rate(var.dtype.base_dtype)
        m, v, rows = self.get_slot(var, "m"), self.get_slot(var, "v"), grad.indices
        m_changed = tf.scatter_update(m, rows, beta1 * tf.gather(m, rows) + (1 - beta1) * grad.values, use_locking=self._use_locking)
        v_changed = tf.scatter_update(
            v, rows, beta2 * tf.gather(v, rows) + (1 - beta2) * tf.square(grad.values), use_locking=self._use_locking
        )
        m_rows, v_rows = tf.gather(m_changed, rows), tf.gather(v_changed, rows)
        scale = tf.sqrt(v_rows) + epsilon
        changed = tf.scatter_sub(var, rows, rate * m_rows / scale, use_locking=self._use_locking)
        return tf.group(changed, m_changed, v_changed)

    def _resource_apply_sparse(self, grad: Any, handle: Any, indices: Any) -> Any:
        var = handle
        rate, beta1, beta2, epsilon = self._rate(var.dtype.base_dtype)
        m, v = self.get_slot(var, "m"), self.get_slot(var, "v")
        m_rows = beta1 * tf.gather(m, indices) + (1 - beta1) * grad
        m_changed = apply("ResourceScatterUpdate", m.handle, indices, m_rows)
        v_rows = beta2 * tf.gather(v, indices) + (1 - beta2) * tf.square(grad)
        v_changed = apply("ResourceScatterUpdate", v.handle, indices, v_rows)
        step = rate * m_rows / (tf.sqrt(v_rows) + epsilon)
        return tf.group(apply("ResourceScatterSub", var.handle, indices, step), m_changed, v_changed)
