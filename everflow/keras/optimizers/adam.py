"""tf.keras.optimizers.Adam, Adamax and Nadam."""

from __future__ import annotations

from typing import Any

import numpy as np

import everflow as tf
from everflow.api import public
from everflow.graph.scopes import control_dependencies
from everflow.keras.config import epsilon as default_epsilon
from everflow.keras.optimizers.base import OptimizerV2
from everflow.ops.core.registry import apply


class _Moments(OptimizerV2):
    """What the three share: running means of gradients in `m`, of their size in `v`."""

    _in_config: tuple[str, ...] = ("learning_rate", "decay", "beta_1", "beta_2", "epsilon")

    def __init__(self, learning_rate: Any, beta_1: Any, beta_2: Any, epsilon: Any, name: str, **kwargs: Any) -> None:
        super().__init__(name, **kwargs)
        self._set_hypers(kwargs, learning_rate, beta_1=beta_1, beta_2=beta_2)
        self.epsilon = epsilon or default_epsilon()

    def _create_slots(self, var_list: Any) -> None:
        # All of a kind first: the order in which the weights are saved.
        for kind in ("m", "v"):
            for var in var_list:
                self.add_slot(var, kind)

    def _prepare_local(self, var_device: Any, var_dtype: Any, apply_state: Any) -> None:
        super()._prepare_local(var_device, var_dtype, apply_state)
        n = apply_state[(var_device, var_dtype)]
        n["step"] = tf.cast(self.iterations + 1, var_dtype)
        n["beta_1"] = tf.identity(self._get_hyper("beta_1", var_dtype))
        n["beta_2"] = tf.identity(self._get_hyper("beta_2", var_dtype))
        n["beta_1_power"] = tf.pow(n["beta_1"], n["step"])
        n["beta_2_power"] = tf.pow(n["beta_2"], n["step"])
        n["epsilon"] = tf.convert_to_tensor(self.epsilon, var_dtype)

    def _averaged(self, slot: Any, value: Any, beta: Any, indices: Any) -> Any:
        """The running mean in a slot after the values of some rows."""
        decayed = tf.assign(slot, slot * beta, use_locking=self._use_locking)
        with control_dependencies([decayed]):
            return self._resource_scatter_add(slot, indices, value * (1 - beta))


@public("keras.optimizers.Adam")
class Adam(_Moments):
    """Running means of the gradient and of its square, corrected for having started at zero."""

    _in_config = (*_Moments._in_config, "amsgrad")

    def __init__(
        self,
        learning_rate: Any = 0.001,
        beta_1: Any = 0.9,
        beta_2: Any = 0.999,
        epsilon: Any = 1e-07,
        amsgrad: bool = False,
        name: str = "Adam",
        **kwargs: Any,
    ) -> None:
        super().__init__(learning_rate, beta_1, beta_2, epsilon, name, **kwargs)
        self.amsgrad = amsgrad

    def _create_slots(self, var_list: Any) -> None:
        super()._create_slots(var_list)
        if self.amsgrad:
            for var in var_list:
                self.add_slot(var, "vhat")

    def set_weights(self, weights: Any) -> None:
        # Weights of the first Keras optimizers have an empty `vhat` for each variable where amsgrad is off.
        params = self.weights
        number = int((len(params) - 1) / 2)
        if len(weights) == 3 * number + 1:
            weights = weights[: len(params)]
        super().set_weights(weights)

    def _resource_apply_dense(self, grad: Any, var: Any, apply_state: Any = None) -> Any:  # type: ignore[override]
        n = self._numbers(var, apply_state)
        slots = [self.get_slot(var, s).handle for s in (("m", "v", "vhat") if self.amsgrad else ("m", "v"))]
        return apply(
            "ResourceApplyAdamWithAmsgrad" if self.amsgrad else "ResourceApplyAdam",
            var.handle,
            *slots,
            n["beta_1_power"],
            n["beta_2_power"],
            n["lr_t"],
            n["beta_1"],
            n["beta_2"],
            n["epsilon"],
            grad,
            use_locking=self._use_locking,
        )

    def _resource_apply_sparse(self, grad: Any, var: Any, indices: Any, apply_state: Any = None) -> Any:  # type: ignore[override]
        n = self._numbers(var, apply_state)
        rate = n["lr_t"] * (tf.sqrt(1 - n["beta_2_power"]) / (1 - n["beta_1_power"]))
        m = self._averaged(self.get_slot(var, "m"), grad, n["beta_1"], indices)
        v = self._averaged(self.get_slot(var, "v"), grad * grad, n["beta_2"], indices)
        kept = []
        if self.amsgrad:
            largest = self.get_slot(var, "vhat")
            v = tf.maximum(largest, v)
            kept = [tf.assign(largest, v, use_locking=self._use_locking)]
        update = tf.assign_sub(var, rate * m / (tf.sqrt(v) + n["epsilon"]), use_locking=self._use_locking)
        return tf.group(update, m, v, *kept)


@public("keras.optimizers.Adamax")
class Adamax(_Moments):
    """Adam with the largest gradient so far in place of the mean of squares."""

    def __init__(
        self, learning_rate: Any = 0.001, beta_1: Any = 0.9, beta_2: Any = 0.999, epsilon: Any = 1e-07, name: str = "Adamax", **kwargs: Any
    ) -> None:
        super().__init__(learning_rate, beta_1, beta_2, epsilon, name, **kwargs)

    def _resource_apply_dense(self, grad: Any, var: Any, apply_state: Any = None) -> Any:  # type: ignore[override]
        n = self._numbers(var, apply_state)
        m, v = (self.get_slot(var, s).handle for s in ("m", "v"))
        return apply(
            "ResourceApplyAdaMax",
            var.handle,
            m,
            v,
            n["beta_1_power"],
            n["lr_t"],
            n["beta_1"],
            n["beta_2"],
            n["epsilon"],
            grad,
            use_locking=self._use_locking,
        )

    def _resource_apply_sparse(self, grad: Any, var: Any, indices: Any, apply_state: Any = None) -> Any:  # type: ignore[override]
        n = self._numbers(var, apply_state)
        m, v = self.get_slot(var, "m"), self.get_slot(var, "v")
        mean = tf.gather(m, indices) * n["beta_1"] + grad * (1 - n["beta_1"])
        largest = tf.maximum(tf.gather(v, indices) * n["beta_2"], tf.abs(grad))
        kept = [self._resource_scatter_update(m, indices, mean), self._resource_scatter_update(v, indices, largest)]
        step = -n["lr_t"] / (1 - n["beta_1_power"]) * (mean / (largest + n["epsilon"]))
        return tf.group(self._resource_scatter_add(var, indices, step), *kept)


@public("keras.optimizers.Nadam")
class Nadam(_Moments):
    """Adam with Nesterov's look ahead; its momentum grows with the steps."""

    def __init__(
        self, learning_rate: Any = 0.001, beta_1: Any = 0.9, beta_2: Any = 0.999, epsilon: Any = 1e-07, name: str = "Nadam", **kwargs: Any
    ) -> None:
        kwargs["decay"] = kwargs.pop("schedule_decay", 0.004)
        if callable(learning_rate):
            raise ValueError("The Nadam optimizer does not support tf.keras.optimizers.LearningRateSchedules as the learning rate.")
        super().__init__(learning_rate, beta_1, beta_2, epsilon, name, **kwargs)
        self._m_cache: Any = None

    def _create_slots(self, var_list: Any) -> None:
        if self._m_cache is None:
            self._m_cache = self.add_weight(
                "momentum_cache", shape=[], dtype=var_list[0].dtype.base_dtype, initializer="ones", trainable=False
            )
            self._weights.append(self._m_cache)
        super()._create_slots(var_list)

    def set_weights(self, weights: Any) -> None:
        # Weights of the first Keras optimizers lack the product of momentums.
        if len(weights) == len(self.weights) - 1:
            weights = [weights[0], np.array(1.0), *weights[1:]]
        super().set_weights(weights)

    def _prepare_local(self, var_device: Any, var_dtype: Any, apply_state: Any) -> None:
        super()._prepare_local(var_device, var_dtype, apply_state)
        n = apply_state[(var_device, var_dtype)]
        n["lr_t"] = tf.identity(self._get_hyper("learning_rate", var_dtype))
        decay = tf.cast(0.96, var_dtype)
        momentum = lambda step: n["beta_1"] * (1.0 - 0.5 * tf.pow(decay, self._initial_decay * step))
        n["momentum"], n["next_momentum"] = momentum(n["step"]), momentum(n["step"] + 1)
        if "product" not in apply_state:
            product = tf.cast(self._m_cache, var_dtype) * n["momentum"]
            # The product is kept once a step, whatever the number of devices and types.
            apply_state["product"] = tf.assign(self._m_cache, tf.cast(product, self._m_cache.dtype.base_dtype))
        n["product"] = tf.cast(tf.identity(apply_state["product"]), var_dtype)
        n["next_product"] = n["product"] * n["next_momentum"]

    def _step(self, n: Any, grad: Any, m: Any, v: Any) -> Any:
        ahead = (1.0 - n["momentum"]) * grad / (1.0 - n["product"]) + n["next_momentum"] * m / (1.0 - n["next_product"])
        return n["lr_t"] * ahead / (tf.sqrt(v / (1.0 - n["beta_2_power"])) + n["epsilon"])

    def _resource_apply_dense(self, grad: Any, var: Any, apply_state: Any = None) -> Any:  # type: ignore[override]
        n = self._numbers(var, apply_state)
        m, v = self.get_slot(var, "m"), self.get_slot(var, "v")
        mean = tf.assign(m, n["beta_1"] * m + (1 - n["beta_1"]) * grad, use_locking=self._use_locking)
        square = tf.assign(v, n["beta_2"] * v + (1 - n["beta_2"]) * tf.square(grad), use_locking=self._use_locking)
        update = tf.assign_sub(var, self._step(n, grad, mean, square), use_locking=self._use_locking)
        return tf.group(update, mean, square)

    def _resource_apply_sparse(self, grad: Any, var: Any, indices: Any, apply_state: Any = None) -> Any:  # type: ignore[override]
        n = self._numbers(var, apply_state)
        mean = self._averaged(self.get_slot(var, "m"), grad, n["beta_1"], indices)
        square = self._averaged(self.get_slot(var, "v"), grad * grad, n["beta_2"], indices)
        step = self._step(n, grad, tf.gather(mean, indices), tf.gather(square, indices))
        return tf.group(self._resource_scatter_add(var, indices, -step), mean, square)
