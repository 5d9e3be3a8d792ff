"""tf.train.experimental: losses that are scaled so that gradients of half precision don't vanish."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import internal, public
from everflow.graph.indexed_slices import IndexedSlices
from everflow.graph.stacks import get_default_graph, in_eager_mode
from everflow.graph.trackable import Trackable, TrackableReference
from everflow.train.optimizer import Optimizer


@public("train.experimental.LossScale")
class LossScale(Trackable):
    """A scale: calling it gives the tensor, and `update(grads)` changes it after each step."""

    def __init__(self) -> None:
        self._weights: dict[tuple[str, Any], Any] = {}

    def __call__(self) -> Any:
        """The scale of now, a scalar."""
        raise NotImplementedError

    def update(self, grads: Any) -> tuple[Any, bool | Any]:
        """(an op that changes the scale, whether the gradients shall be applied)."""
        raise NotImplementedError

    def get_config(self) -> dict[str, Any]:
        """What the constructor takes."""
        raise NotImplementedError

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Any:
        """A scale of this class."""
        return cls(**config)

    def _add_weight(self, name: str, initial_value: Any, dtype: Any = None) -> Any:
        made = tf.Variable(
            initial_value,
            name=name,
            dtype=dtype,
            trainable=False,
            use_resource=True,
            synchronization=tf.VariableSynchronization.AUTO,
            aggregation=tf.VariableAggregation.NONE,
        )
        key = None if in_eager_mode() else get_default_graph()
        self._weights[name, key] = made
        self._handle_deferred_dependencies(name=name, trackable=made)
        return made

    @property
    def _checkpoint_dependencies(self) -> list[Any]:
        key = None if in_eager_mode() else get_default_graph()
        own = [
            TrackableReference(name=name, ref=made)
            for (name, graph), made in sorted(self._weights.items(), key=lambda i: i[0][0])
            if graph is key
        ]
        return [*super()._checkpoint_dependencies, *own]

    def _lookup_dependency(self, name: str) -> Any:
        found = super()._lookup_dependency(name)
        return found if found is not None else self._weights.get((name, None if in_eager_mode() else get_default_graph()))


@public("train.experimental.FixedLossScale")
class FixedLossScale(LossScale):
    """A scale that stays."""

    def __init__(self, loss_scale_value: float) -> None:
        super().__init__()
        if not isinstance(loss_scale_value, (int, float)):
            raise ValueError("loss_scale_value must be a Python int or float.")
        if loss_scale_value < 1:
            raise ValueError("loss_scale_value must be at least 1.")
        self._loss_scale_value = float(loss_scale_value)

    def __call__(self) -> Any:
        return tf.convert_to_tensor(self._loss_scale_value)

    def update(self, grads: Any) -> tuple[Any, bool | Any]:
        return tf.no_op(), True

    def __repr__(self) -> str:
        return f"FixedLossScale({self._loss_scale_value})"

    def get_config(self) -> dict[str, Any]:
        return {"loss_scale_value": self._loss_scale_value}


@internal("training.experimental.loss_scale._is_all_finite")
def all_finite(grads: Any) -> Any:
    """Whether no gradient has a number that is infinite or none."""
    flat = [g.values if isinstance(g, IndexedSlices) else g for g in tf.nest.flatten(grads) if g is not None]
    return tf.reduce_all([tf.reduce_all(tf.is_finite(g)) for g in flat])


def _finite_everywhere(grads: Any) -> Any:
    """The same of the gradients of all replicas."""
    if not (tf.distribute.has_strategy() and tf.distribute.in_cross_replica_context()):
        return all_finite(grads)
    strategy = tf.distribute.get_strategy()
    found = strategy.extended.call_for_each_replica(lambda own: tf.cast(all_finite(own), tf.float32), args=(grads,))
    return tf.equal(strategy.reduce(tf.distribute.ReduceOp.SUM, found, axis=None), float(strategy.num_replicas_in_sync))


@public("train.experimental.DynamicLossScale")
class DynamicLossScale(LossScale):
    """A scale that grows by `multiplier` after `increment_period` steps with finite gradients, and shrinks by it after others."""

    def __init__(self, initial_loss_scale: float = 32768, increment_period: int = 2000, multiplier: float = 2.0) -> None:
        super().__init__()
        self._initial_loss_scale, self._increment_period, self._multiplier = (
            float(initial_loss_scale),
            int(increment_period),
            float(multiplier),
        )
        self._current_loss_scale = self._add_weight("current_loss_scale", dtype=tf.float32, initial_value=self._initial_loss_scale)
        self._num_good_steps = self._add_weight("good_steps", dtype=tf.int64, initial_value=0)

    initial_loss_scale = property(lambda self: self._initial_loss_scale)
    increment_period = property(lambda self: self._increment_period)
    multiplier = property(lambda self: self._multiplier)

    def __call__(self) -> Any:
        return tf.convert_to_tensor(self._current_loss_scale)

    def update(self, grads: Any) -> tuple[Any, bool | Any]:
        """Gradients that are not finite are not to be applied."""
        finite, scale, steps = _finite_everywhere(grads), self._current_loss_scale, self._num_good_steps

        def good() -> Any:
            def grow() -> Any:
                grown = scale * self._multiplier
                kept = tf.where(tf.is_finite(grown), grown, scale.read_value())
                return tf.group(scale.assign(kept), steps.assign(0))

            return tf.cond(steps + 1 >= self._increment_period, grow, lambda: tf.group(steps.assign_add(1)))

        def bad() -> Any:
            return tf.group(steps.assign(0), scale.assign(tf.maximum(scale / self._multiplier, 1.0)))

        return tf.cond(finite, good, bad), finite

    def __repr__(self) -> str:
        given = f"initial_loss_scale={self.initial_loss_scale}, increment_period={self.increment_period}, multiplier={self.multiplier}"
        if not in_eager_mode():
            return f"DynamicLossScale({given})"
        now = f"current_loss_scale={self._current_loss_scale.numpy()}, num_good_steps={self._num_good_steps.numpy()}"
        return f"DynamicLossScale({now}, {given})"

    def get_config(self) -> dict[str, Any]:
        return {"initial_loss_scale": self.initial_loss_scale, "increment_period": self.increment_period, "multiplier": self.multiplier}


@internal("training.experimental.loss_scale.get")
def loss_scale_of(identifier: Any) -> Any:
    """The scale that a number, "dynamic", a configuration or None stands for."""
    if isinstance(identifier, (int, float)):
        return FixedLossScale(identifier)
    if identifier == "dynamic":
        return DynamicLossScale()
    if isinstance(identifier, LossScale) or identifier is None:
        return identifier
    raise ValueError(f"Could not interpret loss scale identifier: {identifier}")


@public("train.experimental.MixedPrecisionLossScaleOptimizer")
class MixedPrecisionLossScaleOptimizer(Optimizer):
    """Scales the loss of another optimizer, takes the scale out of the gradients, and leaves out steps where these are not finite."""

    def __init__(self, opt: Any, loss_scale: Any) -> None:
        if not isinstance(opt, Optimizer):
            raise ValueError(f'"opt" must be an instance of Optimizer, but got: {type(opt)}')
        self._optimizer = opt
        super().__init__(opt._use_locking, opt._name)
        self._loss_scale = loss_scale_of(loss_scale)
        if self._loss_scale is None:
            raise ValueError("loss_scale cannot be None")
        self._track_trackable(self._optimizer, "base_optimizer")
        self._track_trackable(self._loss_scale, "loss_scale")

    def compute_gradients(
        self,
        loss: Any,
        var_list: Any = None,
        gate_gradients: int = Optimizer.GATE_OP,
        aggregation_method: Any = None,
        colocate_gradients_with_ops: bool = False,
        grad_loss: Any = None,
    ) -> Any:
        scaled = self._scaled(loss)
        pairs = self._optimizer.compute_gradients(
            loss=scaled,
            var_list=var_list,
            gate_gradients=gate_gradients,
            aggregation_method=aggregation_method,
            colocate_gradients_with_ops=colocate_gradients_with_ops,
            grad_loss=grad_loss,
        )
        scale = 1 / self._loss_scale()
        return [(_times(grad, scale), var) for grad, var in pairs]

    def _scaled(self, loss: Any) -> Any:
        if callable(loss):

            def scaled() -> Any:
                value = loss()
                return value * tf.cast(self._loss_scale(), value.dtype)

            return scaled
        return loss * tf.cast(self._loss_scale(), loss.dtype)

    def apply_gradients(self, grads_and_vars: Any, global_step: Any = None, name: str | None = None) -> Any:
        """Applies gradients that are finite."""
        pairs = list(grads_and_vars)
        update, should_apply = self._loss_scale.update([grad for grad, _ in pairs])
        if isinstance(should_apply, bool):
            applied = self._optimizer.apply_gradients(pairs, global_step, name=name) if should_apply else tf.no_op()
        else:
            # Slots can't be made within one branch.
            if not in_eager_mode():
                self._optimizer._create_slots([var for grad, var in pairs if grad is not None])
            applied = tf.cond(should_apply, lambda: tf.group(self._optimizer.apply_gradients(pairs, global_step, name=name)), tf.no_op)
        return tf.group(applied, update)

    def get_slot(self, var: Any, name: str) -> Any:
        return self._optimizer.get_slot(var, name)

    def get_slot_names(self) -> list[str]:
        return self._optimizer.get_slot_names()

    def variables(self) -> list[Any]:
        return self._optimizer.variables()


def _times(grad: Any, scale: Any) -> Any:
    if grad is None:
        return None
    if isinstance(grad, IndexedSlices):
        return IndexedSlices(grad.values * tf.cast(scale, grad.values.dtype), grad.indices, dense_shape=grad.dense_shape)
    return grad * tf.cast(scale, grad.dtype)


class MixedPrecision:
    """Whether sessions are told to compute parts of graphs in half precision. Only GPUs do."""

    rewrites_graphs = False
    policy_is_set = False


@public("train.experimental.enable_mixed_precision_graph_rewrite")
@internal("training.experimental.mixed_precision.enable_mixed_precision_graph_rewrite")
def enable_mixed_precision_graph_rewrite(opt: Any, loss_scale: Any = "dynamic") -> Any:
    """The optimizer with a scaled loss; sessions on GPUs are told to use half precision where it is safe, on CPUs nothing else changes."""
    for kind in (MixedPrecisionLossScaleOptimizer, tf.keras.mixed_precision.experimental.LossScaleOptimizer):
        if isinstance(opt, kind):
            raise ValueError(
                f'"opt" must not already be an instance of a {kind.__name__}. `enable_mixed_precision_graph_rewrite` will automatically '
                f"wrap the optimizer with a {kind.__name__}."
            )
    if isinstance(opt, Optimizer):
        wrapped: Any = MixedPrecisionLossScaleOptimizer(opt, loss_scale)
    elif isinstance(opt, tf.keras.optimizers.Optimizer):
        wrapped = tf.keras.mixed_precision.experimental.LossScaleOptimizer(opt, loss_scale)
    else:
        raise ValueError(f'"opt" must be an instance of a tf.train.Optimizer or a tf.keras.optimizers.Optimizer, but got: {opt}')
    if MixedPrecision.policy_is_set:
        raise ValueError(
            "The mixed precision graph rewrite cannot be enabled, because a keras mixed precision Policy has been set. "
            "Call either tf.keras.mixed_precision.experimental.set_policy() (you called this first) or "
            "tf.train.experimental.enable_mixed_precision_graph_rewrite() (you called this second), not both."
        )
    tf.config.optimizer.set_experimental_options({"auto_mixed_precision": True})
    MixedPrecision.rewrites_graphs = True
    return wrapped


@public("train.experimental.disable_mixed_precision_graph_rewrite")
@internal("training.experimental.mixed_precision.disable_mixed_precision_graph_rewrite")
def disable_mixed_precision_graph_rewrite() -> None:
    """Takes back what `enable_mixed_precision_graph_rewrite` told sessions; optimizers stay as they are."""
    if not MixedPrecision.rewrites_graphs:
        tf.logging.warn("disable_mixed_precision_graph_rewrite() called when mixed precision is already disabled.")
    tf.config.optimizer.set_experimental_options({"auto_mixed_precision": False})
    MixedPrecision.rewrites_graphs = False
