"""LossScaleOptimizer of tf.contrib.mixed_precision, and the managers of its scale."""

from __future__ import annotations

import abc
from typing import Any

import numpy as np

import everflow as tf
from everflow.api import public
from everflow.graph.stacks import in_eager_mode
from everflow.train.loss_scaling import _times, all_finite
from everflow.train.optimizer import Optimizer


@public("contrib.mixed_precision.LossScaleManager")
class LossScaleManager(abc.ABC):
    """Decides how much a loss is scaled."""

    @abc.abstractmethod
    def get_loss_scale(self) -> Any:
        """The scale of now, a scalar tensor."""

    @abc.abstractmethod
    def update_loss_scale(self, finite_grads: Any) -> Any:
        """An op that changes the scale after a step, knowing whether its gradients were finite."""


@public("contrib.mixed_precision.FixedLossScaleManager")
class FixedLossScaleManager(LossScaleManager):
    """A scale that stays."""

    def __init__(self, loss_scale: float) -> None:
        if loss_scale < 1:
            raise ValueError("loss scale must be at least 1.")
        self._loss_scale = tf.convert_to_tensor(loss_scale, dtype=tf.float32)

    def get_loss_scale(self) -> Any:
        return self._loss_scale

    def update_loss_scale(self, finite_grads: Any) -> Any:
        return tf.no_op()


@public("contrib.mixed_precision.ExponentialUpdateLossScaleManager")
class ExponentialUpdateLossScaleManager(LossScaleManager):
    """A scale that grows by `incr_ratio` after so many good steps in a row, and shrinks by `decr_ratio` after so many bad ones."""

    def __init__(
        self,
        init_loss_scale: float,
        incr_every_n_steps: int,
        decr_every_n_nan_or_inf: int = 2,
        incr_ratio: float = 2,
        decr_ratio: float = 0.8,
    ) -> None:
        self._incr_every_n_steps, self._decr_every_n_nan_or_inf = incr_every_n_steps, decr_every_n_nan_or_inf
        self._incr_ratio, self._decr_ratio = incr_ratio, decr_ratio
        self._loss_scale = self._number("loss_scale", tf.convert_to_tensor(init_loss_scale, tf.float32), tf.float32)
        self._num_good_steps = self._number("good_steps", 0, tf.int32)
        self._num_bad_steps = self._number("bad_steps", 0, tf.int32)

    def _number(self, name: str, value: Any, dtype: Any) -> Any:
        return tf.Variable(value, name=name, dtype=dtype, trainable=False, use_resource=True)

    def get_loss_scale(self) -> Any:
        return tf.identity(self._loss_scale)

    def _scaled_by(self, ratio: float, lowest: float, highest: float) -> Any:
        # The product may be more than the type can hold.
        scale = tf.clip_by_value(self._loss_scale * ratio, lowest, highest)
        changed = tf.group(self._num_good_steps.assign(0), self._num_bad_steps.assign(0), self._loss_scale.assign(scale))
        return changed

    def update_loss_scale(self, finite_grads: Any) -> Any:
        def good() -> Any:
            return tf.cond(
                self._num_good_steps + 1 >= self._incr_every_n_steps,
                lambda: self._scaled_by(self._incr_ratio, 1.0, float(np.finfo(np.float32).max)),
                lambda: tf.group(self._num_good_steps.assign_add(1)),
            )

        def bad() -> Any:
            return tf.cond(
                self._num_bad_steps + 1 >= self._decr_every_n_nan_or_inf,
                lambda: self._scaled_by(self._decr_ratio, 1.0, float(np.finfo(np.float32).max)),
                lambda: tf.group(self._num_good_steps.assign(0), self._num_bad_steps.assign_add(1)),
            )

        return tf.cond(finite_grads, good, bad)


@public("contrib.mixed_precision.LossScaleOptimizer")
class LossScaleOptimizer(Optimizer):
    """Scales the loss of another optimizer as a manager says, and leaves out steps whose gradients are not finite."""

    def __init__(self, opt: Any, loss_scale_manager: LossScaleManager) -> None:
        super().__init__(False, "LossScaleOptimizer")
        self._opt = opt
        self._loss_scale_manager = loss_scale_manager

    def compute_gradients(
        self,
        loss: Any,
        var_list: Any = None,
        gate_gradients: int = Optimizer.GATE_OP,
        aggregation_method: Any = None,
        colocate_gradients_with_ops: bool = False,
        grad_loss: Any = None,
    ) -> Any:
        scale = self._loss_scale_manager.get_loss_scale()
        if callable(loss):

            def scaled() -> Any:
                value = loss()
                return value * tf.cast(scale, value.dtype.base_dtype)

        else:
            scaled = loss * tf.cast(scale, loss.dtype.base_dtype)
        pairs = self._opt.compute_gradients(scaled, var_list, gate_gradients, aggregation_method, colocate_gradients_with_ops, grad_loss)
        return [(_times(grad, 1 / tf.convert_to_tensor(scale)), var) for grad, var in pairs]

    def apply_gradients(self, grads_and_vars: Any, global_step: Any = None, name: str | None = None) -> Any:
        """Applies gradients that are finite, and tells the manager."""
        pairs = list(grads_and_vars)
        finite = all_finite([grad for grad, _ in pairs])
        if not in_eager_mode():
            # Slots can't be made within one branch.
            self._opt._create_slots([var for grad, var in pairs if grad is not None])
        applied = tf.cond(finite, lambda: tf.group(self._opt.apply_gradients(pairs, global_step, name=name)), tf.no_op)
        return tf.group(applied, self._loss_scale_manager.update_loss_scale(finite))
