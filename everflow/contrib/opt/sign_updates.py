"""tf.contrib.opt.AddSignOptimizer and PowerSignOptimizer: larger steps where the gradient agrees with its mean."""

from __future__ import annotations

import math
from typing import Any

import everflow as tf
from everflow.api import public
from everflow.graph.convert import convert_to_tensor
from everflow.train.op_optimizer import numbers, updates_by_op
from everflow.train.optimizer import Optimizer


@updates_by_op
class SignOptimizer(Optimizer):
    """What both have in common: the mean of gradients, and the decay of the sign's influence."""

    _sign_decay_fn: Any = None
    _sign_decay_t: Any = None

    def apply_gradients(self, grads_and_vars: Any, global_step: Any = None, name: str | None = None) -> Any:
        if self._sign_decay_fn is not None:
            self._sign_decay_t = convert_to_tensor(self._sign_decay_fn(global_step), name="sign_decay")
        return super().apply_gradients(grads_and_vars, global_step=global_step, name=name)

    def _create_slots(self, var_list: list[Any]) -> None:
        for var in var_list:
            self._zeros_slot(var, "m", self._name)

    def _prepare_sign_decay(self) -> None:
        if self._sign_decay_fn is None:
            self._sign_decay_t = convert_to_tensor(1.0, name="sign_decay")

    def _agreement(self, grad: Any, var: Any, beta: Any) -> tuple[Any, Any]:
        """The mean's update, and for the gradient's rows: one where they agree with the mean, minus one elsewhere."""
        m = self.get_slot(var, "m")
        changed = tf.assign(m, (m * beta) + (grad * (1 - beta)), use_locking=self._use_locking)
        sign = tf.sign(grad.values)
        return changed, tf.gather(tf.sign(changed), grad.indices) * sign


@public("contrib.opt.AddSignOptimizer")
class AddSignOptimizer(SignOptimizer):
    """A step is the gradient times (alpha + sign decay · agreement of gradient and mean)."""

    def __init__(
        self,
        learning_rate: Any = 0.1,
        alpha: Any = 1.0,
        beta: Any = 0.9,
        sign_decay_fn: Any = None,
        use_locking: bool = False,
        name: str = "AddSignOptimizer",
    ) -> None:
        super().__init__(use_locking, name)
        self._lr = learning_rate
        self._alpha = alpha
        self._beta = beta
        self._sign_decay_fn = sign_decay_fn

    def _prepare(self) -> None:
        self._lr_t, self._beta_t, self._alpha_t = numbers(self, learning_rate=self._lr, beta=self._beta, alpha=self._alpha)
        self._prepare_sign_decay()

    def _step(self, var: Any) -> Any:
        return (
            "AddSign",
            {
                "m": self.get_slot(var, "m"),
                "lr": self._lr_t,
                "alpha": self._alpha_t,
                "sign_decay": self._sign_decay_t,
                "beta": self._beta_t,
            },
            {},
        )

    def _apply_sparse(self, grad: Any, var: Any) -> Any:
        lr, alpha, beta = (tf.cast(t, var.dtype.base_dtype) for t in (self._lr_t, self._alpha_t, self._beta_t))
        changed, agreement = self._agreement(grad, var, beta)
        decay = tf.cast(self._sign_decay_t, var.dtype.base_dtype)
        step = lr * (alpha + decay * agreement) * grad.values
        return tf.group(tf.scatter_sub(var, grad.indices, step, use_locking=self._use_locking), changed)

    def _resource_apply_sparse(self, grad: Any, handle: Any, indices: Any) -> Any:
        raise NotImplementedError


@public("contrib.opt.PowerSignOptimizer")
class PowerSignOptimizer(SignOptimizer):
    """A step is the gradient times base ** (sign decay · agreement of gradient and mean)."""

    def __init__(
        self,
        learning_rate: Any = 0.1,
        base: Any = math.e,
        beta: Any = 0.9,
        sign_decay_fn: Any = None,
        use_locking: bool = False,
        name: str = "PowerSignOptimizer",
    ) -> None:
        super().__init__(use_locking, name)
        self._lr = learning_rate
        self._beta = beta
        self._base = base
        self._sign_decay_fn = sign_decay_fn

    def _prepare(self) -> None:
        self._lr_t, self._beta_t, self._logbase_t = numbers(self, learning_rate=self._lr, beta=self._beta, logbase=math.log(self._base))
        self._prepare_sign_decay()

    def _step(self, var: Any) -> Any:
        return (
            "PowerSign",
            {
                "m": self.get_slot(var, "m"),
                "lr": self._lr_t,
                "logbase": self._logbase_t,
                "sign_decay": self._sign_decay_t,
                "beta": self._beta_t,
            },
            {},
        )

    def _apply_sparse(self, grad: Any, var: Any) -> Any:
        dtype = var.dtype.base_dtype
        lr, beta, logbase, e = (tf.cast(t, dtype) for t in (self._lr_t, self._beta_t, self._logbase_t, math.e))
        changed, agreement = self._agreement(grad, var, beta)
        power = tf.pow(e, logbase * tf.cast(self._sign_decay_t, dtype) * agreement)
        step = lr * power * grad.values
        return tf.group(tf.scatter_sub(var, grad.indices, step, use_locking=self._use_locking), changed)

    def _resource_apply_sparse(self, grad: Any, handle: Any, indices: Any) -> Any:
        raise NotImplementedError
