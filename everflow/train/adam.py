"""tf.train.AdamOptimizer."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import everflow as tf
from everflow.api import public
from everflow.eager.context import executing_eagerly
from everflow.graph.scopes import colocate_with, control_dependencies, init_scope
from everflow.graph.stacks import get_default_graph
from everflow.ops.core.registry import apply
from everflow.train.op_optimizer import numbers, updates_by_op
from everflow.train.optimizer import Optimizer


@public("train.AdamOptimizer")
@updates_by_op
class AdamOptimizer(Optimizer):
    """Adam: running means of the gradient and of its square, corrected for having started at zero."""

    def __init__(
        self,
        learning_rate: Any = 0.001,
        beta1: Any = 0.9,
        beta2: Any = 0.999,
        epsilon: Any = 1e-08,
        use_locking: bool = False,
        name: str = "Adam",
    ) -> None:
        super().__init__(use_locking, name)
        self._lr = learning_rate
        self._beta1 = beta1
        self._beta2 = beta2
        self._epsilon = epsilon
        self._lr_t: Any = None
        self._beta1_t: Any = None
        self._beta2_t: Any = None
        self._epsilon_t: Any = None

    def _get_beta_accumulators(self) -> tuple[Any, Any]:
        """beta1 and beta2 to the power of the step, as variables."""
        with init_scope():
            graph = None if executing_eagerly() else get_default_graph()
            beta1_power = self._get_non_slot_variable("beta1_power", graph=graph)
            return beta1_power, self._get_non_slot_variable("beta2_power", graph=graph)

    def _powers(self) -> dict[str, Any]:
        """The variables that are multiplied by a number at each step, which they begin with."""
        return {"beta1_power": self._beta1, "beta2_power": self._beta2}

    def _create_slots(self, var_list: list[Any]) -> None:
        # With the first variable by name: processes that see the variables in another order agree on the device.
        first = min(var_list, key=lambda v: v.name)
        for power, beta in self._powers().items():
            self._create_non_slot_variable(beta, power, first)
        for var, slot in itertools.product(var_list, ("m", "v")):
            self._zeros_slot(var, slot, self._name)

    def _prepare(self) -> None:
        self._lr_t, self._beta1_t, self._beta2_t, self._epsilon_t = numbers(
            self, learning_rate=self._lr, beta1=self._beta1, beta2=self._beta2, epsilon=self._epsilon
        )

    def _step(self, var: Any) -> Any:
        beta1_power, beta2_power = self._get_beta_accumulators()
        return (
            "Adam",
            {
                "m": self.get_slot(var, "m"),
                "v": self.get_slot(var, "v"),
                "beta1_power": beta1_power,
                "beta2_power": beta2_power,
                "lr": self._lr_t,
                "beta1": self._beta1_t,
                "beta2": self._beta2_t,
                "epsilon": self._epsilon_t,
            },
            {},
        )

    # TensorFlow has no op for some rows: every row moves with its means, which decay where the gradient has no row.

    def _apply_sparse(self, grad: Any, var: Any) -> Any:
        return self._apply_sparse_shared(
            grad.values, var, grad.indices, lambda x, i, v: tf.scatter_add(x, i, v, use_locking=self._use_locking)
        )

    def _resource_apply_sparse(self, grad: Any, handle: Any, indices: Any) -> Any:
        return self._apply_sparse_shared(grad, handle, indices, self._resource_scatter_add)

    def _resource_scatter_add(self, x: Any, i: Any, v: Any) -> Any:
        with control_dependencies([apply("ResourceScatterAdd", x.handle, i, v)]):
            return x.value()

    def _apply_sparse_shared(self, grad: Any, var: Any, indices: Any, scatter_add: Callable[..., Any]) -> Any:
        dtype = var.dtype.base_dtype
        beta1_power, beta2_power, lr, beta1, beta2, epsilon = (
            tf.cast(number, dtype) for number in (*self._get_beta_accumulators(), self._lr_t, self._beta1_t, self._beta2_t, self._epsilon_t)
        )
        rate = lr * tf.sqrt(1 - beta2_power) / (1 - beta1_power)
        m, v = self.get_slot(var, "m"), self.get_slot(var, "v")
        m_step = grad * (1 - beta1)
        m_decayed = tf.assign(m, m * beta1, use_locking=self._use_locking)
        with control_dependencies([m_decayed]):
            m_new = scatter_add(m, indices, m_step)
        v_step = (grad * grad) * (1 - beta2)
        v_decayed = tf.assign(v, v * beta2, use_locking=self._use_locking)
        with control_dependencies([v_decayed]):
            v_new = scatter_add(v, indices, v_step)
        root = tf.sqrt(v_new)
        update = tf.assign_sub(var, rate * m_new / (root + epsilon), use_locking=self._use_locking)
        return tf.group(update, m_new, v_new)

    def _finish(self, update_ops: list[Any], name_scope: str) -> Any:
        with control_dependencies(update_ops):
            beta1_power, beta2_power = self._get_beta_accumulators()
            with colocate_with(beta1_power):
                powers = [
                    power.assign(power * beta, use_locking=self._use_locking)
                    for power, beta in ((beta1_power, self._beta1_t), (beta2_power, self._beta2_t))
                ]
        return tf.group(*update_ops, *powers, name=name_scope)
