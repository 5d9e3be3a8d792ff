"""The optimizers of tf.contrib.optimizer_v2, which update as those of tf.train do."""

from __future__ import annotations

import types
from typing import Any

import everflow as tf
from everflow.api import public
from everflow.contrib.optimizer_v2.base import OptimizerState, OptimizerV2
from everflow.ops.core.registry import apply
from everflow.train.adam import AdamOptimizer as FirstAdam
from everflow.train.op_optimizer import _update


class _ByOp(OptimizerV2):
    """An optimizer whose update of a variable is one op: `_step(var, state)` says the family, its inputs by name, and attributes."""

    def _step(self, var: Any, state: OptimizerState) -> Any:
        raise NotImplementedError

    def _by_op(self, kind: str, state: OptimizerState, *arguments: Any) -> Any:
        asked = types.SimpleNamespace(_step=lambda var: self._step(var, state), _use_locking=self._use_locking)
        return _update(asked, kind, *arguments)

    def _apply_dense(self, grad: Any, var: Any, state: OptimizerState) -> Any:  # type: ignore[override]
        return self._by_op("Apply", state, grad, var)

    def _resource_apply_dense(self, grad: Any, handle: Any, state: OptimizerState) -> Any:  # type: ignore[override]
        return self._by_op("ResourceApply", state, grad, handle)

    def _apply_sparse(self, grad: Any, var: Any, state: OptimizerState) -> Any:  # type: ignore[override]
        return self._by_op("SparseApply", state, grad.values, var, grad.indices)

    def _resource_apply_sparse(self, grad: Any, handle: Any, indices: Any, state: OptimizerState) -> Any:  # type: ignore[override]
        return self._by_op("ResourceSparseApply", state, grad, handle, indices)


@public("contrib.optimizer_v2.GradientDescentOptimizer")
class GradientDescentOptimizer(_ByOp):
    """Steps against the gradient."""

    def __init__(self, learning_rate: Any, use_locking: bool = False, name: str = "GradientDescent") -> None:
        super().__init__(use_locking, name)
        self._set_hyper("learning_rate", learning_rate)

    def _step(self, var: Any, state: OptimizerState) -> Any:
        return "GradientDescent", {"alpha": state.get_hyper("learning_rate")}, {}

    def _apply_sparse_duplicate_indices(self, grad: Any, var: Any, state: OptimizerState) -> Any:  # type: ignore[override]
        step = grad.values * state.get_hyper("learning_rate", var.dtype.base_dtype)
        return tf.scatter_sub(var, grad.indices, step, use_locking=self._use_locking)

    def _resource_apply_sparse_duplicate_indices(  # type: ignore[override]
        self, grad: Any, handle: Any, indices: Any, state: OptimizerState
    ) -> Any:
        return apply("ResourceScatterAdd", handle.handle, indices, -grad * state.get_hyper("learning_rate", handle.dtype.base_dtype))


@public("contrib.optimizer_v2.MomentumOptimizer")
class MomentumOptimizer(_ByOp):
    """Steps along a decaying sum of gradients."""

    def __init__(
        self, learning_rate: Any, momentum: Any, use_locking: bool = False, name: str = "Momentum", use_nesterov: bool = False
    ) -> None:
        super().__init__(use_locking, name)
        self._set_hyper("learning_rate", learning_rate)
        self._set_hyper("momentum", momentum)
        self._use_nesterov = use_nesterov

    def _create_vars(self, var_list: list[Any], state: OptimizerState) -> None:
        for var in var_list:
            state.zeros_slot(var, "momentum")

    def _step(self, var: Any, state: OptimizerState) -> Any:
        inputs = {"accum": state.get_slot(var, "momentum"), "lr": state.get_hyper("learning_rate"), "momentum": state.get_hyper("momentum")}
        return "Momentum", inputs, {"use_nesterov": self._use_nesterov}


@public("contrib.optimizer_v2.AdagradOptimizer")
class AdagradOptimizer(_ByOp):
    """Steps that shrink with the sum of squared gradients."""

    def __init__(
        self, learning_rate: Any, initial_accumulator_value: float = 0.1, use_locking: bool = False, name: str = "Adagrad"
    ) -> None:
        if initial_accumulator_value <= 0.0:
            raise ValueError(f"initial_accumulator_value must be positive: {initial_accumulator_value}")
        super().__init__(use_locking, name)
        self._set_hyper("learning_rate", learning_rate)
        self._initial_accumulator_value = initial_accumulator_value

    def _create_vars(self, var_list: list[Any], state: OptimizerState) -> None:
        for var in var_list:
            dtype = var.dtype.base_dtype
            if var.get_shape().is_fully_defined():
                start = tf.constant_initializer(self._initial_accumulator_value, dtype=dtype)
                state.create_slot_with_initializer(var, start, var.get_shape(), dtype, "accumulator")
            else:
                state.create_slot(var, tf.ones_like(var) * tf.cast(self._initial_accumulator_value, dtype), "accumulator")

    def _step(self, var: Any, state: OptimizerState) -> Any:
        return "Adagrad", {"accum": state.get_slot(var, "accumulator"), "lr": state.get_hyper("learning_rate")}, {}


@public("contrib.optimizer_v2.AdadeltaOptimizer")
class AdadeltaOptimizer(_ByOp):
    """Steps in the proportion of past steps to past gradients."""

    def __init__(
        self, learning_rate: Any = 0.001, rho: Any = 0.95, epsilon: Any = 1e-08, use_locking: bool = False, name: str = "Adadelta"
    ) -> None:
        super().__init__(use_locking, name)
        for hyper, value in (("learning_rate", learning_rate), ("rho", rho), ("epsilon", epsilon)):
            self._set_hyper(hyper, value)

    def _create_vars(self, var_list: list[Any], state: OptimizerState) -> None:
        for var in var_list:
            state.zeros_slot(var, "accum")
            state.zeros_slot(var, "accum_update")

    def _step(self, var: Any, state: OptimizerState) -> Any:
        inputs = {name: state.get_slot(var, name) for name in ("accum", "accum_update")}
        return "Adadelta", {**inputs, "lr": state.get_hyper("learning_rate"), **_hypers(state, "rho", "epsilon")}, {}


def _hypers(state: OptimizerState, *names: str) -> dict[str, Any]:
    return {name: state.get_hyper(name) for name in names}


@public("contrib.optimizer_v2.RMSPropOptimizer")
class RMSPropOptimizer(_ByOp):
    """Steps that are divided by the root of a mean of squared gradients, which starts with epsilon."""

    def __init__(
        self,
        learning_rate: Any,
        decay: Any = 0.9,
        momentum: Any = 0.0,
        epsilon: Any = 1e-10,
        use_locking: bool = False,
        centered: bool = False,
        name: str = "RMSProp",
    ) -> None:
        super().__init__(use_locking, name)
        for hyper, value in (("learning_rate", learning_rate), ("decay", decay), ("momentum", momentum), ("epsilon", epsilon)):
            self._set_hyper(hyper, value)
        self._centered = centered

    def _create_vars(self, var_list: list[Any], state: OptimizerState) -> None:
        for var in var_list:
            # Epsilon is where the mean starts, and is not added again.
            state.create_slot(var, tf.ones_like(var) * tf.cast(self._call_if_callable(self._hyper["epsilon"]), var.dtype.base_dtype), "rms")
            if self._centered:
                state.zeros_slot(var, "mg")
            state.zeros_slot(var, "momentum")

    def _step(self, var: Any, state: OptimizerState) -> Any:
        inputs = {"ms": state.get_slot(var, "rms"), "mom": state.get_slot(var, "momentum"), "mg": state.get_slot(var, "mg")}
        inputs.update(lr=state.get_hyper("learning_rate"), rho=state.get_hyper("decay"), momentum=state.get_hyper("momentum"), epsilon=0.0)
        return "CenteredRMSProp" if self._centered else "RMSProp", inputs, {}


@public("contrib.optimizer_v2.AdamOptimizer")
class AdamOptimizer(_ByOp):
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
        for hyper, value in (("learning_rate", learning_rate), ("beta1", beta1), ("beta2", beta2), ("epsilon", epsilon)):
            self._set_hyper(hyper, value)

    def _get_beta_accumulators(self, state: OptimizerState | None = None) -> tuple[Any, Any]:
        state = state or OptimizerState(self)
        return state.get_non_slot("beta1_power"), state.get_non_slot("beta2_power")

    def _create_vars(self, var_list: list[Any], state: OptimizerState) -> None:
        near = min(var_list, key=lambda v: v.name)
        for beta in ("beta1", "beta2"):
            value = self._hyper[beta]
            start = value() if callable(value) and not hasattr(value, "dtype") else value
            state.create_non_slot(initial_value=start, name=f"{beta}_power", colocate_with=near)
        for var in var_list:
            state.zeros_slot(var, "m")
            state.zeros_slot(var, "v")

    def _step(self, var: Any, state: OptimizerState) -> Any:
        powers = dict(zip(("beta1_power", "beta2_power"), self._get_beta_accumulators(state)))
        slots = {name: state.get_slot(var, name) for name in ("m", "v")}
        return "Adam", {**slots, **powers, "lr": state.get_hyper("learning_rate"), **_hypers(state, "beta1", "beta2", "epsilon")}, {}

    def _as_first(self, state: OptimizerState) -> Any:
        """What Adam of tf.train needs to update some rows."""
        adam = FirstAdam(use_locking=self._use_locking, name=self._name)
        adam._lr_t, adam._beta1_t = state.get_hyper("learning_rate"), state.get_hyper("beta1")
        adam._beta2_t, adam._epsilon_t = state.get_hyper("beta2"), state.get_hyper("epsilon")
        adam._slots, adam._non_slot_dict = self._slots, self._non_slot_dict
        return adam

    def _apply_sparse(self, grad: Any, var: Any, state: OptimizerState) -> Any:  # type: ignore[override]
        return self._as_first(state)._apply_sparse(grad, var)

    def _resource_apply_sparse(self, grad: Any, handle: Any, indices: Any, state: OptimizerState) -> Any:  # type: ignore[override]
        return self._as_first(state)._resource_apply_sparse(grad, handle, indices)

    def _finish(self, state: OptimizerState) -> Any:  # type: ignore[override]
        powers = zip(self._get_beta_accumulators(state), ("beta1", "beta2"))
        return tf.group(*(power.assign(power * state.get_hyper(beta), use_locking=self._use_locking) for power, beta in powers))
