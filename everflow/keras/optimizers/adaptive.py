"""tf.keras.optimizers.Adagrad, Adadelta, RMSprop and Ftrl: each number has a learning rate of its own."""

from __future__ import annotations

from typing import Any

import numpy as np

import everflow as tf
from everflow.api import internal, public
from everflow.arguments import arguments
from everflow.keras.config import epsilon as default_epsilon
from everflow.keras.optimizers.base import OptimizerV2, has_momentum
from everflow.ops.core.registry import apply


@public("keras.optimizers.Adagrad")
class Adagrad(OptimizerV2):
    """Divides each step by the root of the sum of all squared gradients."""

    _in_config = ("learning_rate", "decay", "initial_accumulator_value", "epsilon")

    def __init__(
        self, learning_rate: Any = 0.001, initial_accumulator_value: float = 0.1, epsilon: Any = 1e-07, name: str = "Adagrad", **kwargs: Any
    ) -> None:
        if initial_accumulator_value < 0.0:
            raise ValueError(f"initial_accumulator_value must be non-negative: {initial_accumulator_value}")
        super().__init__(name, **kwargs)
        self._set_hypers(kwargs, learning_rate)
        self._initial_accumulator_value = initial_accumulator_value
        self.epsilon = epsilon or default_epsilon()

    def _create_slots(self, var_list: Any) -> None:
        for var in var_list:
            self.add_slot(var, "accumulator", tf.constant_initializer(self._initial_accumulator_value))

    def set_weights(self, weights: Any) -> None:
        # Weights of the first Keras optimizers lack the counter.
        if len(self.weights) == len(weights) + 1:
            weights = [np.array(0), *weights]
        super().set_weights(weights)

    @classmethod
    def from_config(cls, config: Any, custom_objects: dict[str, Any] | None = None) -> Any:
        return super().from_config({"initial_accumulator_value": 0.0, **config}, custom_objects)

    def _resource_apply_dense(self, grad: Any, var: Any, apply_state: Any = None) -> Any:  # type: ignore[override]
        rate = self._numbers(var, apply_state)["lr_t"]
        return apply(
            "ResourceApplyAdagradV2",
            var.handle,
            self.get_slot(var, "accumulator").handle,
            rate,
            tf.convert_to_tensor(self.epsilon, rate.dtype),
            grad,
            use_locking=self._use_locking,
        )

    def _resource_apply_sparse(self, grad: Any, var: Any, indices: Any, apply_state: Any = None) -> Any:  # type: ignore[override]
        rate = self._numbers(var, apply_state)["lr_t"]
        return apply(
            "ResourceSparseApplyAdagradV2",
            var.handle,
            self.get_slot(var, "accumulator").handle,
            rate,
            tf.convert_to_tensor(self.epsilon, rate.dtype),
            grad,
            indices,
            use_locking=self._use_locking,
        )


@public("keras.optimizers.Adadelta")
class Adadelta(OptimizerV2):
    """Steps of the size of the steps so far, divided by the root of a running mean of squared gradients."""

    _in_config = ("learning_rate", "decay", "rho", "epsilon")

    def __init__(self, learning_rate: Any = 0.001, rho: Any = 0.95, epsilon: Any = 1e-07, name: str = "Adadelta", **kwargs: Any) -> None:
        super().__init__(name, **kwargs)
        self._set_hypers(kwargs, learning_rate, rho=rho)
        self.epsilon = epsilon or default_epsilon()

    def _create_slots(self, var_list: Any) -> None:
        for kind in ("accum_grad", "accum_var"):
            for var in var_list:
                self.add_slot(var, kind)

    def set_weights(self, weights: Any) -> None:
        if len(self.weights) == len(weights) + 1:
            weights = [np.array(0), *weights]
        super().set_weights(weights)

    def _prepare_local(self, var_device: Any, var_dtype: Any, apply_state: Any) -> None:
        super()._prepare_local(var_device, var_dtype, apply_state)
        n = apply_state[(var_device, var_dtype)]
        n["epsilon"] = tf.convert_to_tensor(self.epsilon, var_dtype)
        n["rho"] = tf.identity(self._get_hyper("rho", var_dtype))

    def _resource_apply_dense(self, grad: Any, var: Any, apply_state: Any = None) -> Any:  # type: ignore[override]
        n = self._numbers(var, apply_state)
        slots = [self.get_slot(var, s).handle for s in ("accum_grad", "accum_var")]
        return apply("ResourceApplyAdadelta", var.handle, *slots, n["lr_t"], n["rho"], n["epsilon"], grad, use_locking=self._use_locking)

    def _resource_apply_sparse(self, grad: Any, var: Any, indices: Any, apply_state: Any = None) -> Any:  # type: ignore[override]
        n = self._numbers(var, apply_state)
        slots = [self.get_slot(var, s).handle for s in ("accum_grad", "accum_var")]
        return apply(
            "ResourceSparseApplyAdadelta",
            var.handle,
            *slots,
            n["lr_t"],
            n["rho"],
            n["epsilon"],
            grad,
            indices,
            use_locking=self._use_locking,
        )


@public("keras.optimizers.RMSprop")
@internal("keras.optimizer_v2.rmsprop.RMSprop")
class RMSprop(OptimizerV2):
    """Divides each step by the root of a running mean of squared gradients."""

    _in_config = ("learning_rate", "decay", "rho", "momentum", "epsilon", "centered")

    def __init__(
        self,
        learning_rate: Any = 0.001,
        rho: Any = 0.9,
        momentum: Any = 0.0,
        epsilon: Any = 1e-07,
        centered: bool = False,
        name: str = "RMSprop",
        **kwargs: Any,
    ) -> None:
        super().__init__(name, **kwargs)
        self._momentum, self.centered, self.epsilon = has_momentum(momentum), centered, epsilon or default_epsilon()
        self._set_hypers(kwargs, learning_rate, rho=rho, momentum=momentum)

    def _create_slots(self, var_list: Any) -> None:
        for kind, wanted in (("rms", True), ("momentum", self._momentum), ("mg", self.centered)):
            for var in var_list if wanted else ():
                self.add_slot(var, kind)

    def set_weights(self, weights: Any) -> None:
        if len(self.weights) == len(weights) + 1:
            weights = [np.array(0), *weights]
        super().set_weights(weights)

    def _prepare_local(self, var_device: Any, var_dtype: Any, apply_state: Any) -> None:
        super()._prepare_local(var_device, var_dtype, apply_state)
        n = apply_state[(var_device, var_dtype)]
        n["rho"] = tf.identity(self._get_hyper("rho", var_dtype))
        n["momentum"] = tf.identity(self._get_hyper("momentum", var_dtype))
        n["epsilon"] = tf.convert_to_tensor(self.epsilon, var_dtype)

    def _with_momentum(self, var: Any, n: Any, grad: Any, indices: Any) -> Any:
        names = ("mg", "rms", "momentum") if self.centered else ("rms", "momentum")
        kind = ("Sparse" if indices is not None else "") + "Apply" + ("Centered" if self.centered else "") + "RMSProp"
        rows = () if indices is None else (indices,)
        return apply(
            "Resource" + kind,
            var.handle,
            *(self.get_slot(var, s).handle for s in names),
            n["lr_t"],
            n["rho"],
            n["momentum"],
            n["epsilon"],
            grad,
            *rows,
            use_locking=self._use_locking,
        )

    def _resource_apply_dense(self, grad: Any, var: Any, apply_state: Any = None) -> Any:  # type: ignore[override]
        n = self._numbers(var, apply_state)
        if self._momentum:
            return self._with_momentum(var, n, grad, None)
        rms = self.get_slot(var, "rms")
        square = tf.assign(rms, n["rho"] * rms + (1 - n["rho"]) * tf.square(grad), use_locking=self._use_locking)
        kept, spread = [square], square
        if self.centered:
            mg = self.get_slot(var, "mg")
            mean = tf.assign(mg, n["rho"] * mg + (1 - n["rho"]) * grad, use_locking=self._use_locking)
            kept.append(mean)
            spread = square - tf.square(mean)
        update = tf.assign_sub(var, n["lr_t"] * grad / (tf.sqrt(spread) + n["epsilon"]), use_locking=self._use_locking)
        return tf.group(update, *kept)

    def _resource_apply_sparse(self, grad: Any, var: Any, indices: Any, apply_state: Any = None) -> Any:  # type: ignore[override]
        n = self._numbers(var, apply_state)
        if self._momentum:
            return self._with_momentum(var, n, grad, indices)

        def averaged(slot: Any, value: Any) -> Any:
            decayed = tf.assign(slot, slot * n["rho"], use_locking=self._use_locking)
            with tf.control_dependencies([decayed]):
                return self._resource_scatter_add(slot, indices, value * (1 - n["rho"]))

        square = averaged(self.get_slot(var, "rms"), tf.square(grad))
        kept, spread = [square], tf.gather(square, indices)
        if self.centered:
            mean = averaged(self.get_slot(var, "mg"), grad)
            kept.append(mean)
            spread = spread - tf.square(tf.gather(mean, indices))
        update = self._resource_scatter_add(var, indices, -n["lr_t"] * grad / (tf.sqrt(spread) + n["epsilon"]))
        return tf.group(update, *kept)


internal("keras.optimizer_v2.rmsprop.RMSProp")(RMSprop)


@public("keras.optimizers.Ftrl")
class Ftrl(OptimizerV2):
    """Follows the regularized leader: many weights become exactly zero."""

    _in_config = (
        "learning_rate",
        "decay",
        "initial_accumulator_value",
        "learning_rate_power",
        "l1_regularization_strength",
        "l2_regularization_strength",
        "l2_shrinkage_regularization_strength",
    )

    def __init__(
        self,
        learning_rate: Any = 0.001,
        learning_rate_power: float = -0.5,
        initial_accumulator_value: float = 0.1,
        l1_regularization_strength: float = 0.0,
        l2_regularization_strength: float = 0.0,
        name: str = "Ftrl",
        l2_shrinkage_regularization_strength: float = 0.0,
        **kwargs: Any,
    ) -> None:
        given = arguments(locals())
        super().__init__(name, **kwargs)
        for number in self._in_config[2:]:
            wrong, sign = (1, "negative") if number == "learning_rate_power" else (-1, "positive")
            if given[number] * wrong > 0:
                raise ValueError(f"{number} {given[number]:f} needs to be {sign} or zero")
        hypers = ("learning_rate_power", "l1_regularization_strength", "l2_regularization_strength")
        self._set_hypers(kwargs, learning_rate, **{number: given[number] for number in hypers})
        self._initial_accumulator_value = initial_accumulator_value
        self._l2_shrinkage_regularization_strength = l2_shrinkage_regularization_strength

    def _create_slots(self, var_list: Any) -> None:
        for var in var_list:
            self.add_slot(var, "accumulator", tf.constant_initializer(self._initial_accumulator_value))
            self.add_slot(var, "linear")

    def _prepare_local(self, var_device: Any, var_dtype: Any, apply_state: Any) -> None:
        super()._prepare_local(var_device, var_dtype, apply_state)
        n = apply_state[(var_device, var_dtype)]
        for short, name in (("l1", "l1_regularization_strength"), ("l2", "l2_regularization_strength"), ("power", "learning_rate_power")):
            n[short] = tf.identity(self._get_hyper(name, var_dtype))
        n["shrinkage"] = tf.cast(self._l2_shrinkage_regularization_strength, var_dtype)

    def _apply_ftrl(self, grad: Any, var: Any, indices: Any, apply_state: Any) -> Any:
        n = self._numbers(var, apply_state)
        shrinks = self._l2_shrinkage_regularization_strength > 0.0
        slots = [self.get_slot(var, s).handle for s in ("accumulator", "linear")]
        rows = () if indices is None else (indices,)
        extra = (n["shrinkage"],) if shrinks else ()
        kind = "Resource" + ("Sparse" if rows else "") + "ApplyFtrl" + ("V2" if shrinks else "")
        return apply(kind, var.handle, *slots, grad, *rows, n["lr_t"], n["l1"], n["l2"], *extra, n["power"], use_locking=self._use_locking)

    def _resource_apply_dense(self, grad: Any, var: Any, apply_state: Any = None) -> Any:  # type: ignore[override]
        return self._apply_ftrl(grad, var, None, apply_state)

    def _resource_apply_sparse(self, grad: Any, var: Any, indices: Any, apply_state: Any = None) -> Any:  # type: ignore[override]
        return self._apply_ftrl(grad, var, indices, apply_state)
