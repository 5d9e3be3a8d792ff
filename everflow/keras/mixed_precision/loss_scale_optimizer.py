"""tf.keras.mixed_precision.experimental.LossScaleOptimizer."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import internal, public
from everflow.distribute import strategy_context
from everflow.keras.backend.session import track_variable
from everflow.keras.optimizers.base import OptimizerV2
from everflow.train.loss_scaling import DynamicLossScale, FixedLossScale, _times, loss_scale_of


@public("keras.mixed_precision.experimental.LossScaleOptimizer")
@internal("keras.mixed_precision.experimental.loss_scale_optimizer.LossScaleOptimizer")
class LossScaleOptimizer(OptimizerV2):
    """Scales the loss of another optimizer, takes the scale out of gradients, and leaves out steps where these are not finite."""

    def __init__(self, opt: Any, loss_scale: Any) -> None:
        if not isinstance(opt, OptimizerV2):
            raise ValueError(f'"opt" must be an instance of OptimizerV2, but got: {opt}')
        for name in ("clipnorm", "clipvalue"):
            if hasattr(opt, name):
                kept = f"Optimizer {opt} has {name} {getattr(opt, name)}"
                raise ValueError(f"LossScaleOptimizer does not support wrapping optimizers with a {name}. {kept}")
        super().__init__(opt._name)
        self._optimizer = opt
        self._loss_scale = loss_scale_of(loss_scale)
        if self._loss_scale is None:
            raise ValueError("loss_scale cannot be None.")
        for weight in self._loss_scale._weights.values():
            track_variable(weight)
        self._track_trackable(opt, "base_optimizer")
        self._track_trackable(self._loss_scale, "loss_scale")

    @property
    def loss_scale(self) -> Any:
        """The scale."""
        return self._loss_scale

    def get_scaled_loss(self, loss: Any) -> Any:
        """The loss (or a function that gives it) times the scale."""
        if callable(loss):
            return lambda: self.get_scaled_loss(loss())
        return loss * tf.cast(self._loss_scale(), loss.dtype)

    def get_unscaled_gradients(self, grads: Any) -> list[Any]:
        """Gradients of a scaled loss without the scale."""
        scale = 1.0 / self._loss_scale()
        return [_times(grad, scale) for grad in grads]

    def _compute_gradients(self, loss: Any, var_list: Any, grad_loss: Any = None) -> list[tuple[Any, Any]]:
        pairs = self._optimizer._compute_gradients(self.get_scaled_loss(loss), var_list, grad_loss)
        return list(zip(self.get_unscaled_gradients([g for g, _ in pairs]), [v for _, v in pairs]))

    def get_gradients(self, loss: Any, params: Any) -> list[Any]:
        return self.get_unscaled_gradients(self._optimizer.get_gradients(self.get_scaled_loss(loss), params))

    def apply_gradients(self, grads_and_vars: Any, name: str | None = None) -> Any:
        """Applies gradients that are finite."""
        pairs = list(grads_and_vars)
        replica = strategy_context.get_replica_context()
        if replica is None:
            raise ValueError("apply_gradients() must be called in a replica context.")
        # Whether to apply them is decided for all replicas at once.
        return replica.merge_call(self._apply_for_all, args=([g for g, _ in pairs], [v for _, v in pairs], name))

    def _apply_for_all(self, strategy: Any, grads: Any, variables: Any, name: str | None) -> Any:
        update, should_apply = self._loss_scale.update(grads)
        # What can't be made within one branch.
        _ = self._optimizer.iterations
        self._optimizer._create_hypers()
        self._optimizer._create_slots([var for grad, var in zip(grads, variables) if grad is not None])

        def apply(grads: Any, variables: Any) -> Any:
            return self._optimizer.apply_gradients(list(zip(grads, variables)), name=name)

        def applied() -> Any:
            return tf.group(strategy.extended.call_for_each_replica(apply, args=(grads, variables)))

        if isinstance(should_apply, bool):
            return tf.group(applied() if should_apply else tf.no_op(), update)
        return tf.group(tf.cond(should_apply, applied, tf.no_op), update)

    @property
    def iterations(self) -> Any:  # type: ignore[override]
        """How many steps were taken."""
        return self._optimizer.iterations

    @iterations.setter
    def iterations(self, variable: Any) -> None:
        self._optimizer.iterations = variable

    @property
    def learning_rate(self) -> Any:
        """The optimizer's learning rate."""
        return self._optimizer.learning_rate

    @learning_rate.setter
    def learning_rate(self, rate: Any) -> None:
        self._optimizer.learning_rate = rate

    lr = learning_rate

    def get_slot(self, var: Any, slot_name: str) -> Any:
        return self._optimizer.get_slot(var, slot_name)

    def variables(self) -> list[Any]:
        return self._optimizer.variables()

    @property
    def weights(self) -> list[Any]:
        """The optimizer's variables."""
        return self._optimizer.weights

    def get_weights(self) -> list[Any]:
        return self._optimizer.get_weights()

    def set_weights(self, weights: Any) -> None:
        self._optimizer.set_weights(weights)

    def get_config(self) -> dict[str, Any]:
        """The optimizer and the scale, each by its configuration."""
        scale = {"class_name": type(self._loss_scale).__name__, "config": self._loss_scale.get_config()}
        return {"optimizer": tf.keras.optimizers.serialize(self._optimizer), "loss_scale": scale}

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: Any = None) -> Any:
        """The optimizer with this configuration."""
        kinds = {"FixedLossScale": FixedLossScale, "DynamicLossScale": DynamicLossScale, **(custom_objects or {})}
        scale = config["loss_scale"]
        return cls(
            tf.keras.optimizers.deserialize(config["optimizer"], custom_objects=custom_objects),
            kinds[scale["class_name"]].from_config(scale["config"]),
        )
