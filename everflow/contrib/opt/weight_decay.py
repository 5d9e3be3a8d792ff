"""Weight decay apart from the gradient: tf.contrib.opt.AdamWOptimizer, MomentumWOptimizer, and for any optimizer."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import public
from everflow.graph.convert import convert_to_tensor
from everflow.graph.scopes import control_dependencies
from everflow.ops.core.registry import apply
from everflow.train.adam import AdamOptimizer
from everflow.train.momentum import MomentumOptimizer
from everflow.train.optimizer import Optimizer


@public("contrib.opt.DecoupledWeightDecayExtension")
class DecoupledWeightDecayExtension(Optimizer):
    """Put before an optimizer in the bases of a class: it shrinks a variable before the optimizer's own step."""

    def __init__(self, weight_decay: Any, **kwargs: Any) -> None:
        self._decay_var_list: Any = None
        self._weight_decay = weight_decay
        self._weight_decay_tensor: Any = None
        super().__init__(**kwargs)

    def minimize(
        self,
        loss: Any,
        global_step: Any = None,
        var_list: Any = None,  # type: ignore[override]
        gate_gradients: int = Optimizer.GATE_OP,
        aggregation_method: Any = None,
        colocate_gradients_with_ops: bool = False,
        name: str | None = None,
        grad_loss: Any = None,
        decay_var_list: Any = None,
    ) -> Any:
        """As that of the optimizer; `decay_var_list` names the variables to shrink (all by default)."""
        self._decay_var_list = set(decay_var_list) if decay_var_list else False
        return super().minimize(
            loss,
            global_step=global_step,
            var_list=var_list,
            gate_gradients=gate_gradients,
            aggregation_method=aggregation_method,
            colocate_gradients_with_ops=colocate_gradients_with_ops,
            name=name,
            grad_loss=grad_loss,
        )

    def apply_gradients(self, grads_and_vars: Any, global_step: Any = None, name: str | None = None, decay_var_list: Any = None) -> Any:
        """As that of the optimizer; `decay_var_list` names the variables to shrink (all by default)."""
        self._decay_var_list = set(decay_var_list) if decay_var_list else self._decay_var_list
        return super().apply_gradients(grads_and_vars, global_step=global_step, name=name)

    def _decays(self, var: Any) -> bool:
        return not self._decay_var_list or var in self._decay_var_list

    def _decay_weights_op(self, var: Any) -> Any:
        if not self._decays(var):
            return tf.no_op()
        return var.assign_sub(self._weight_decay * var, self._use_locking)

    def _decay_weights_sparse_op(self, var: Any, indices: Any, scatter_add: Any) -> Any:
        if not self._decays(var):
            return tf.no_op()
        return scatter_add(var, indices, -self._weight_decay * tf.gather(var, indices), self._use_locking)

    def _prepare(self) -> None:
        self._weight_decay_tensor = convert_to_tensor(self._call_if_callable(self._weight_decay), name="weight_decay")
        super()._prepare()

    def _apply_dense(self, grad: Any, var: Any) -> Any:
        with control_dependencies([self._decay_weights_op(var)]):
            return super()._apply_dense(grad, var)

    def _resource_apply_dense(self, grad: Any, handle: Any) -> Any:
        with control_dependencies([self._decay_weights_op(handle)]):
            return super()._resource_apply_dense(grad, handle)

    def _apply_sparse(self, grad: Any, var: Any) -> Any:
        with control_dependencies([self._decay_weights_sparse_op(var, grad.indices, tf.scatter_add)]):
            return super()._apply_sparse(grad, var)

    def _resource_scatter_add(self, x: Any, i: Any, v: Any, _: Any = None) -> Any:
        with control_dependencies([apply("ResourceScatterAdd", x.handle, i, v)]):
            return x.value()

    def _resource_apply_sparse(self, grad: Any, handle: Any, indices: Any) -> Any:
        with control_dependencies([self._decay_weights_sparse_op(handle, indices, self._resource_scatter_add)]):
            return super()._resource_apply_sparse(grad, handle, indices)


@public("contrib.opt.extend_with_decoupled_weight_decay")
def extend_with_decoupled_weight_decay(base_optimizer: type) -> type:
    """A class like `base_optimizer` whose first argument is the weight decay."""

    class OptimizerWithDecoupledWeightDecay(DecoupledWeightDecayExtension, base_optimizer):  # type: ignore[misc]
        """The optimizer, which shrinks variables before each of its steps."""

        def __init__(self, weight_decay: Any, *args: Any, **kwargs: Any) -> None:
            super().__init__(weight_decay, *args, **kwargs)

    return OptimizerWithDecoupledWeightDecay


@public("contrib.opt.MomentumWOptimizer")
class MomentumWOptimizer(DecoupledWeightDecayExtension, MomentumOptimizer):
    """Momentum with weight decay."""

    def __init__(
        self,
        weight_decay: Any,
        learning_rate: Any,
        momentum: Any,
        use_locking: bool = False,
        name: str = "MomentumW",
        use_nesterov: bool = False,
    ) -> None:
        super().__init__(
            weight_decay, learning_rate=learning_rate, momentum=momentum, use_locking=use_locking, name=name, use_nesterov=use_nesterov
        )


@public("contrib.opt.AdamWOptimizer")
class AdamWOptimizer(DecoupledWeightDecayExtension, AdamOptimizer):
    """Adam with weight decay."""

    def __init__(
        self,
        weight_decay: Any,
        learning_rate: Any = 0.001,
        beta1: Any = 0.9,
        beta2: Any = 0.999,
        epsilon: Any = 1e-08,
        use_locking: bool = False,
        name: str = "AdamW",
    ) -> None:
        super().__init__(
            weight_decay, learning_rate=learning_rate, beta1=beta1, beta2=beta2, epsilon=epsilon, use_locking=use_locking, name=name
        )
