"""tf.contrib.opt.AdaMaxOptimizer."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import everflow as tf
from everflow.api import public
from everflow.eager.context import executing_eagerly
from everflow.graph.scopes import colocate_with, control_dependencies
from everflow.graph.stacks import get_default_graph
from everflow.ops.core.registry import apply
from everflow.train.adam import AdamOptimizer


@public("contrib.opt.AdaMaxOptimizer")
class AdaMaxOptimizer(AdamOptimizer):
    """Adam with the largest recent gradient in place of the root of the mean square."""

    def __init__(
        self,
        learning_rate: Any = 0.001,
        beta1: Any = 0.9,
        beta2: Any = 0.999,
        epsilon: Any = 1e-08,
        use_locking: bool = False,
        name: str = "AdaMax",
    ) -> None:
        super().__init__(learning_rate, beta1, beta2, epsilon, use_locking, name)

    def _get_beta_accumulators(self) -> Any:
        """beta1 to the power of the step, as a variable."""
        graph = None if executing_eagerly() else get_default_graph()
        return self._get_non_slot_variable("beta1_power", graph=graph)

    def _powers(self) -> dict[str, Any]:
        return {"beta1_power": self._beta1}

    def _step(self, var: Any) -> Any:
        return (
            "AdaMax",
            {
                "m": self.get_slot(var, "m"),
                "v": self.get_slot(var, "v"),
                "beta1_power": self._get_beta_accumulators(),
                "lr": self._lr_t,
                "beta1": self._beta1_t,
                "beta2": self._beta2_t,
                "epsilon": self._epsilon_t,
            },
            {},
        )

    # Unlike in Adam, rows without a gradient stay as they are.

    def _apply_sparse(self, grad: Any, var: Any) -> Any:
        scatters = (functools.partial(scatter, use_locking=self._use_locking) for scatter in (tf.scatter_add, tf.scatter_update))
        return self._apply_sparse_shared(grad.values, var, grad.indices, *scatters)

    def _resource_apply_sparse(self, grad: Any, handle: Any, indices: Any) -> Any:
        return self._apply_sparse_shared(grad, handle, indices, self._resource_scatter_add, self._resource_scatter_update)

    def _resource_scatter_add(self, x: Any, i: Any, v: Any) -> Any:
        with control_dependencies([apply("ResourceScatterAdd", x.handle, i, v), v]):
            return x.value()

    def _resource_scatter_update(self, x: Any, i: Any, v: Any) -> Any:
        with control_dependencies([apply("ResourceScatterUpdate", x.handle, i, v), v]):
            return x.value()

    def _apply_sparse_shared(  # type: ignore[override]
        self, grad: Any, var: Any, indices: Any, scatter_add: Callable[..., Any], scatter_update: Callable[..., Any]
    ) -> Any:
        beta1_power, lr, beta1, beta2, epsilon = (
            tf.cast(number, var.dtype.base_dtype)
            for number in (self._get_beta_accumulators(), self._lr_t, self._beta1_t, self._beta2_t, self._epsilon_t)
        )
        m, v = self.get_slot(var, "m"), self.get_slot(var, "v")
        m_rows = tf.gather(m, indices) * beta1 + grad * (1 - beta1)
        m_changed = scatter_update(m, indices, m_rows)
        v_rows = tf.maximum(tf.gather(v, indices) * beta2, tf.abs(grad))
        v_changed = scatter_update(v, indices, v_rows)
        changed = scatter_add(var, indices, -lr / (1 - beta1_power) * (m_rows / (v_rows + epsilon)))
        return tf.group(changed, m_changed, v_changed)

    def _finish(self, update_ops: list[Any], name_scope: str) -> Any:
        with control_dependencies(update_ops):
            power = self._get_beta_accumulators()
            with colocate_with(power):
                raised = power.assign(power * self._beta1_t, use_locking=self._use_locking)
        return tf.group(*update_ops, raised, name=name_scope)
