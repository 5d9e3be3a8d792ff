"""tf.contrib.opt.NadamOptimizer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import everflow as tf
from everflow.api import public
from everflow.graph.scopes import control_dependencies
from everflow.train.adam import AdamOptimizer


@public("contrib.opt.NadamOptimizer")
class NadamOptimizer(AdamOptimizer):
    """Adam that looks one step ahead, as Nesterov's momentum does."""

    def _step(self, var: Any) -> Any:
        family, inputs, attrs = super()._step(var)
        return family, inputs, {**attrs, "use_nesterov": True}

    def _apply_sparse_shared(self, grad: Any, var: Any, indices: Any, scatter_add: Callable[..., Any]) -> Any:
        beta1_power, beta2_power, lr, beta1, beta2, epsilon = (
            tf.cast(number, var.dtype.base_dtype)
            for number in (*self._get_beta_accumulators(), self._lr_t, self._beta1_t, self._beta2_t, self._epsilon_t)
        )
        rate = lr * tf.sqrt(1 - beta2_power) / (1 - beta1_power)
        m, v = self.get_slot(var, "m"), self.get_slot(var, "v")
        m_step = grad * (1 - beta1)
        m_decayed = tf.assign(m, m * beta1, use_locking=self._use_locking)
        with control_dependencies([m_decayed]):
            ahead = m_step + beta1 * tf.gather(scatter_add(m, indices, m_step), indices)
        v_step = (grad * grad) * (1 - beta2)
        v_decayed = tf.assign(v, v * beta2, use_locking=self._use_locking)
        with control_dependencies([v_decayed]):
            v_new = scatter_add(v, indices, v_step)
        root = tf.sqrt(tf.gather(v_new, indices))
        update = scatter_add(var, indices, -rate * ahead / (root + epsilon))
        return tf.group(update, ahead, v_new)
