"""tf.contrib.opt.AdamGSOptimizer and LazyAdamGSOptimizer: Adam whose corrections follow from the global step."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import public
from everflow.contrib.opt.lazy_adam import LazyAdamOptimizer
from everflow.graph.stacks import in_eager_mode
from everflow.train.adam import AdamOptimizer
from everflow.train.op_optimizer import updates_by_op


@public("contrib.opt.AdamGSOptimizer")
@updates_by_op
class AdamGSOptimizer(AdamOptimizer):
    """Adam without variables for the powers of its betas: variables that start later are corrected like the first ones."""

    def __init__(
        self,
        global_step: Any = 0,
        learning_rate: Any = 0.001,
        beta1: Any = 0.9,
        beta2: Any = 0.999,
        epsilon: Any = 1e-08,
        use_locking: bool = False,
        name: str = "Adam",
    ) -> None:
        super().__init__(learning_rate, beta1, beta2, epsilon, use_locking, name)
        self._global_step = global_step
        # In eager mode the step may have been counted before a variable is updated.
        self._global_step_on_worker: Any = None

    def _get_beta_accumulators(self) -> tuple[Any, Any]:
        return tf.pow(self._beta1_t, self._global_step_on_worker), tf.pow(self._beta2_t, self._global_step_on_worker)

    def _create_slots(self, var_list: list[Any]) -> None:
        for var in var_list:
            self._zeros_slot(var, "m", self._name)
            self._zeros_slot(var, "v", self._name)

    def _prepare(self) -> None:
        super()._prepare()
        step = self._global_step() if callable(self._global_step) and not hasattr(self._global_step, "dtype") else self._global_step
        if in_eager_mode() and not hasattr(step, "dtype"):
            step = tf.constant(step)
        self._global_step_on_worker = tf.cast(tf.identity(step) + 1, tf.float32)

    def _apply_sparse(self, grad: Any, var: Any) -> Any:
        return AdamOptimizer._apply_sparse(self, grad, var)

    def _resource_apply_sparse(self, grad: Any, handle: Any, indices: Any) -> Any:
        return AdamOptimizer._resource_apply_sparse(self, grad, handle, indices)

    def _finish(self, update_ops: list[Any], name_scope: str) -> Any:
        return tf.group(*update_ops, name=name_scope)


@public("contrib.opt.LazyAdamGSOptimizer")
class LazyAdamGSOptimizer(AdamGSOptimizer):
    """The same, leaving rows without a gradient as they are."""

    _rate = LazyAdamOptimizer._rate
    _apply_sparse = LazyAdamOptimizer._apply_sparse
    _resource_apply_sparse = LazyAdamOptimizer._resource_apply_sparse
