"""Optimizers around another one: VariableClippingOptimizer, DropStaleGradientOptimizer, MultitaskOptimizerWrapper."""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

import everflow as tf
from everflow.api import public
from everflow.graph.indexed_slices import IndexedSlices
from everflow.graph.scopes import colocate_with, control_dependencies, name_scope
from everflow.ops.core.registry import apply
from everflow.train.optimizer import Optimizer


class AroundOptimizer(Optimizer):
    """Leaves slots and gradients to the optimizer that it wraps."""

    def __init__(self, opt: Any, use_locking: bool, name: str) -> None:
        super().__init__(use_locking, name)
        self._opt = opt

    def compute_gradients(self, *args: Any, **kwargs: Any) -> Any:
        return self._opt.compute_gradients(*args, **kwargs)

    def get_slot(self, *args: Any, **kwargs: Any) -> Any:
        return self._opt.get_slot(*args, **kwargs)

    def get_slot_names(self, *args: Any, **kwargs: Any) -> Any:
        return self._opt.get_slot_names(*args, **kwargs)


@public("contrib.opt.VariableClippingOptimizer")
class VariableClippingOptimizer(AroundOptimizer):
    """Keeps the norms of variables small: `vars_to_clip_dims` says along which dimensions each is measured."""

    def __init__(
        self,
        opt: Any,
        vars_to_clip_dims: dict[Any, list[int]],
        max_norm: Any,
        use_locking: bool = False,
        colocate_clip_ops_with_vars: bool = False,
        name: str = "VariableClipping",
    ) -> None:
        super().__init__(opt, use_locking, name)
        # Variables may be equal without being the same.
        self._clipped = [(var, list(dims)) for var, dims in vars_to_clip_dims.items()]
        self._max_norm = max_norm
        self._colocates = colocate_clip_ops_with_vars

    def apply_gradients(self, grads_and_vars: Any, global_step: Any = None, name: str | None = None) -> Any:
        """Applies the gradients, then clips the variables that they changed."""
        pairs = list(grads_and_vars)
        with name_scope(name, self._name) as scope:
            update = self._opt.apply_gradients(pairs, global_step=global_step)
            with control_dependencies([update]):
                clipped = []
                for grad, var in pairs:
                    dims = next((dims for known, dims in self._clipped if known is var), None)
                    if grad is None or dims is None:
                        continue
                    with colocate_with(var) if self._colocates else name_scope(None):
                        clipped.append(self._clip_rows(grad, var, dims) if isinstance(grad, IndexedSlices) else self._clip(var, dims))
                with control_dependencies(clipped):
                    return tf.no_op(name=scope)

    def _clip(self, var: Any, dims: list[int]) -> Any:
        return tf.assign(var, tf.clip_by_norm(var.read_value(), self._max_norm, dims), use_locking=self._use_locking)

    def _clip_rows(self, grad: Any, var: Any, dims: list[int]) -> Any:
        if 0 in dims:
            tf.logging.warning(f"Clipping norm of sparse parameter {var.name} along the sparse dimension is slow: all of it is clipped.")
            return self._clip(var, dims)
        rows = tf.gather(var.read_value() if hasattr(var, "handle") else var, grad.indices)
        clipped = tf.clip_by_norm(rows, self._max_norm, dims)
        if hasattr(var, "handle"):
            return apply("ResourceScatterUpdate", var.handle, grad.indices, clipped)
        return tf.scatter_update(var, grad.indices, clipped, use_locking=self._use_locking)


@public("contrib.opt.DropStaleGradientOptimizer")
class DropStaleGradientOptimizer(AroundOptimizer):
    """Drops gradients that were computed more than `staleness` steps ago."""

    def __init__(self, opt: Any, staleness: int, use_locking: bool = False, name: str = "DropStaleGradient") -> None:
        super().__init__(opt, use_locking, name)
        self._staleness = staleness
        self._local_step: Any = None

    def compute_gradients(self, loss: Any, *args: Any, **kwargs: Any) -> Any:
        # The step that the gradients are computed in is read before the loss is.
        with colocate_with(loss):
            self._local_step = tf.train.get_global_step() + 0
        with control_dependencies([self._local_step]):
            loss = tf.identity(loss)
        return super().compute_gradients(loss, *args, **kwargs)

    def apply_gradients(self, grads_and_vars: Any, global_step: Any = None, name: str | None = None) -> Any:
        """Applies the gradients if they are fresh; else counts them in the variable `stale_counter`."""
        pairs = [(grad, var) for grad, var in grads_and_vars if grad is not None]
        if not pairs:
            raise ValueError("No gradients provided for any variable.")
        count = tf.get_variable("stale_counter", [], initializer=tf.zeros_initializer(), trainable=False)
        # Slots can't be made within one branch.
        variables = [var for _, var in pairs]
        self._opt._create_slots(variables)
        grads = [grad.values if isinstance(grad, IndexedSlices) else grad for grad, _ in pairs]
        with control_dependencies([*grads, self._local_step]):
            step = global_step.read_value() if hasattr(global_step, "read_value") else tf.identity(global_step)
            age = step - self._local_step

        def accept() -> Any:
            with control_dependencies([self._opt.apply_gradients(pairs, global_step)]):
                return tf.constant(True)

        def drop() -> Any:
            with control_dependencies([tf.assign_add(count, 1.0)]):
                return tf.constant(False)

        done = tf.cond(tf.less_equal(age, self._staleness), accept, drop)
        with control_dependencies([done]):
            tf.summary.scalar("Gradient staleness percentage", count / (tf.cast(global_step + 1, tf.float32)), collections=None)
        return tf.group(done, name=name or self._name)


@public("contrib.opt.MultitaskOptimizerWrapper")
class MultitaskOptimizerWrapper:
    """Has an optimizer leave variables, and their slots, alone in steps in which their gradient is all zeros."""

    def __init__(self, opt: Any) -> None:
        if not isinstance(opt, Optimizer):
            raise TypeError("Supplied optimizer must be an instance of tf.train.Optimizer")
        self._opt = opt
        for name in (
            "_apply_dense",
            "_resource_apply_dense",
            "_apply_sparse_duplicate_indices",
            "_resource_apply_sparse_duplicate_indices",
        ):
            setattr(opt, name, types.MethodType(_unless_zero(getattr(opt, name)), opt))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._opt, name)


def _unless_zero(method: Callable[..., Any]) -> Callable[..., Any]:
    def changed(_: Any, grad: Any, *args: Any, **kwargs: Any) -> Any:
        values = grad.values if isinstance(grad, IndexedSlices) else grad
        some = tf.greater(tf.count_nonzero(values), 0)
        return tf.cond(some, lambda: tf.group(method(grad, *args, **kwargs)), tf.no_op)

    return changed


@public("contrib.opt.clip_gradients_by_global_norm")
def clip_gradients_by_global_norm(gradients_variables: Any, clip_norm: Any = 20.0) -> tuple[Any, Any]:
    """(pairs of clipped gradients and variables, the norm before): the norm counts gradients that are not all zeros only."""
    gradients, variables = zip(*gradients_variables)

    def of(grad: Any) -> Any:
        return grad.values if isinstance(grad, IndexedSlices) else grad

    norm = tf.global_norm([of(grad) for grad in gradients if grad is not None])
    clipped, _ = tf.clip_by_global_norm(gradients, clip_norm, use_norm=norm)
    return list(zip(clipped, variables)), norm
