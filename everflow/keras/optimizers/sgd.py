"""tf.keras.optimizers.SGD."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import public
from everflow.keras.optimizers.base import OptimizerV2, has_momentum
from everflow.ops.core.registry import apply


@public("keras.optimizers.SGD")
class SGD(OptimizerV2):
    """Steps against the gradient, with momentum where it is asked for."""

    _in_config = ("learning_rate", "decay", "momentum", "nesterov")

    def __init__(self, learning_rate: Any = 0.01, momentum: Any = 0.0, nesterov: bool = False, name: str = "SGD", **kwargs: Any) -> None:
        super().__init__(name, **kwargs)
        self._momentum, self.nesterov = has_momentum(momentum), nesterov
        self._set_hypers(kwargs, learning_rate, momentum=momentum)

    def _create_slots(self, var_list: Any) -> None:
        if self._momentum:
            for var in var_list:
                self.add_slot(var, "momentum")

    def _prepare_local(self, var_device: Any, var_dtype: Any, apply_state: Any) -> None:
        super()._prepare_local(var_device, var_dtype, apply_state)
        apply_state[(var_device, var_dtype)]["momentum"] = tf.identity(self._get_hyper("momentum", var_dtype))

    def _resource_apply_dense(self, grad: Any, var: Any, apply_state: Any = None) -> Any:  # type: ignore[override]
        n = self._numbers(var, apply_state)
        if not self._momentum:
            return apply("ResourceApplyGradientDescent", var.handle, n["lr_t"], grad, use_locking=self._use_locking)
        return apply(
            "ResourceApplyKerasMomentum",
            var.handle,
            self.get_slot(var, "momentum").handle,
            n["lr_t"],
            grad,
            n["momentum"],
            use_locking=self._use_locking,
            use_nesterov=self.nesterov,
        )

    def _resource_apply_sparse_duplicate_indices(
        self,
        grad: Any,
        var: Any,
        indices: Any,  # type: ignore[override]
        apply_state: Any = None,
    ) -> Any:
        if self._momentum:
            return super()._resource_apply_sparse_duplicate_indices(grad, var, indices, apply_state=apply_state)
        return apply("ResourceScatterAdd", var.handle, indices, -grad * self._numbers(var, apply_state)["lr_t"])

    def _resource_apply_sparse(self, grad: Any, var: Any, indices: Any, apply_state: Any = None) -> Any:  # type: ignore[override]
        n = self._numbers(var, apply_state)
        return apply(
            "ResourceSparseApplyKerasMomentum",
            var.handle,
            self.get_slot(var, "momentum").handle,
            n["lr_t"],
            grad,
            indices,
            n["momentum"],
            use_locking=self._use_locking,
            use_nesterov=self.nesterov,
        )
