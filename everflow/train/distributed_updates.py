"""Steps of optimizers under a strategy: replicas add up their gradients, then each copy of a variable is updated."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.distribute import strategy_context
from everflow.distribute.reductions import ReduceOp
from everflow.distribute.strategy import get_loss_reduction
from everflow.graph.scopes import control_dependencies, init_scope, name_scope


def apply_merged(optimizer: Any, pairs: Any, global_step: Any, name: str | None) -> Any:
    """Meets the other replicas, and takes the step with them."""
    context = strategy_context.get_replica_context()
    if context is None:
        raise RuntimeError("Use `_distributed_apply()` instead of `apply_gradients()` in a cross-replica context.")
    return context.merge_call(optimizer._distributed_apply, args=(pairs, global_step, name))


def apply_for_all(optimizer: Any, strategy: Any, pairs: Any, global_step: Any, name: str | None) -> Any:
    """The step, spoken for all replicas."""
    extended = strategy.extended
    pairs = [(gradient, var) for gradient, var in pairs if gradient is not None]
    variables = [var for _, var in pairs]
    gradients = extended.batch_reduce_to(ReduceOp.SUM, pairs)
    with init_scope():
        optimizer._create_slots(variables)

    def update(var: Any, gradient: Any) -> Any:
        scope = "update_" + var.name.partition(":")[0] if not tf.executing_eagerly() else "update_"
        with name_scope(scope):
            return optimizer._update_variable(gradient, var)

    with name_scope(name, optimizer.get_name()) as scope:
        optimizer._prepare()
        updates = [
            done
            for gradient, var in zip(gradients, variables)
            for done in tf.nest.flatten(extended.update(var, update, args=(gradient,), group=False))
        ]
        where = extended.non_slot_devices(variables)
        finished = extended.update_non_slot(where, lambda: optimizer._finish(updates, "update"), group=False)
        if global_step is None:
            return strategy.group(finished, name=scope)
        ready = [op for op in tf.nest.flatten(finished) if op is not None]
        with control_dependencies(ready if not tf.executing_eagerly() else []):
            return extended.update(global_step, lambda step: step.assign_add(1, read_value=False))


def scaled_loss(loss: Any) -> Any:
    """A replica's part of a loss that is a mean over replicas."""
    replicas = strategy_context.get_strategy().num_replicas_in_sync
    if replicas == 1 or get_loss_reduction() != ReduceOp.MEAN:
        return loss
    tf.get_default_graph()._is_loss_scaled_by_optimizer = True
    return loss * (1.0 / replicas)
