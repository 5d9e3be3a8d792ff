"""Training ops: gradients that are clipped, multiplied and summarized on their way."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import everflow as tf
from everflow.api import public
from everflow.contrib.layers.optimizing import multiplied
from everflow.graph.keys import GraphKeys
from everflow.ops.control_flow.ordering import with_dependencies
from everflow.train.global_step import get_or_create_global_step


@public("contrib.training.create_train_op")
def create_train_op(
    total_loss: Any,
    optimizer: Any,
    global_step: Any = 0,
    update_ops: Any = None,
    variables_to_train: Any = None,
    transform_grads_fn: Any = None,
    summarize_gradients: bool = False,
    gate_gradients: int = 1,
    aggregation_method: Any = None,
    colocate_gradients_with_ops: bool = False,
    check_numerics: bool = True,
) -> Any:
    """An op that makes a step and gives the loss; it runs the graph's update ops first."""
    if isinstance(global_step, int) and global_step == 0:
        global_step = get_or_create_global_step()
    known = set(tf.get_collection(GraphKeys.UPDATE_OPS))
    updates = known if update_ops is None else set(update_ops)
    if not updates.issuperset(known):
        tf.logging.warning("update_ops in create_train_op does not contain all the update_ops in GraphKeys.UPDATE_OPS")
    if updates:
        with tf.control_dependencies(list(updates)):
            barrier = tf.no_op(name="update_barrier")
        total_loss = with_dependencies([barrier], total_loss)
    if variables_to_train is None:
        variables_to_train = tf.trainable_variables()
    if not variables_to_train:
        raise ValueError("No variables to train")
    gradients = optimizer.compute_gradients(
        total_loss,
        variables_to_train,
        gate_gradients=gate_gradients,
        aggregation_method=aggregation_method,
        colocate_gradients_with_ops=colocate_gradients_with_ops,
    )
    if transform_grads_fn:
        gradients = transform_grads_fn(gradients)
    if summarize_gradients:
        with tf.name_scope("summarize_grads"):
            add_gradients_summaries(gradients)
    step = optimizer.apply_gradients(gradients, global_step=global_step)
    with tf.name_scope("train_op"):
        if check_numerics:
            total_loss = tf.check_numerics(total_loss, "LossTensor is inf or nan")
        train_op = with_dependencies([step], total_loss)
    collection = tf.get_default_graph().get_collection_ref(GraphKeys.TRAIN_OP)
    if train_op not in collection:
        collection.append(train_op)
    return train_op


@public(
    "contrib.training.multiply_gradients",
    "contrib.slim.learning.multiply_gradients",
    "contrib.slim.python.slim.learning.multiply_gradients",
)
def multiply_gradients(grads_and_vars: Any, gradient_multipliers: Any) -> list[Any]:
    """Gradients times a factor of their variable."""
    if not isinstance(grads_and_vars, list):
        raise ValueError("`grads_and_vars` must be a list.")
    if not (gradient_multipliers and isinstance(gradient_multipliers, dict)):
        raise ValueError(f"`gradient_multipliers` {'must be a dict' if gradient_multipliers else 'is empty'}.")
    for gradient, variable in grads_and_vars:
        if gradient is None and (variable in gradient_multipliers or variable.op.name in gradient_multipliers):
            raise ValueError("Requested multiple of `None` gradient.")
    return multiplied(
        [(g, v) for g, v in grads_and_vars],
        {**{v: gradient_multipliers[v.op.name] for _, v in grads_and_vars if v.op.name in gradient_multipliers}, **gradient_multipliers},
    )


@public(
    "contrib.training.clip_gradient_norms",
    "contrib.slim.learning.clip_gradient_norms",
    "contrib.slim.python.slim.learning.clip_gradient_norms",
)
def clip_gradient_norms(gradients_to_variables: Any, max_norm: float) -> list[Any]:
    """Gradients of which none is longer than a norm."""
    found = []
    for gradient, variable in gradients_to_variables:
        if isinstance(gradient, tf.IndexedSlices):
            gradient = tf.IndexedSlices(tf.clip_by_norm(gradient.values, max_norm), gradient.indices, gradient.dense_shape)
        elif gradient is not None:
            gradient = tf.clip_by_norm(gradient, max_norm)
        found.append((gradient, variable))
    return found


@public(
    "contrib.training.add_gradients_summaries",
    "contrib.slim.learning.add_gradients_summaries",
    "contrib.slim.python.slim.learning.add_gradients_summaries",
)
def add_gradients_summaries(grads_and_vars: Any) -> list[Any]:
    """Summaries of gradients: histograms and norms."""
    found = []
    for gradient, variable in grads_and_vars:
        if gradient is None:
            tf.logging.info("Var %s has no gradient", variable.op.name)
            continue
        values = gradient.values if isinstance(gradient, tf.IndexedSlices) else gradient
        found.append(tf.summary.histogram(variable.op.name + "_gradient", values))
        found.append(tf.summary.scalar(variable.op.name + "_gradient_norm", tf.global_norm([values])))
    return found


@public("contrib.training.clip_gradient_norms_fn")
def clip_gradient_norms_fn(max_norm: float) -> Callable[[Any], list[Any]]:
    """A function of gradients that clips each to a norm."""
    return lambda gradients_to_variables: clip_gradient_norms(gradients_to_variables, max_norm)


@public("contrib.slim.learning.create_train_op", "contrib.slim.python.slim.learning.create_train_op")
def create_clipping_train_op(
    total_loss: Any,
    optimizer: Any,
    global_step: Any = 0,
    update_ops: Any = None,
    variables_to_train: Any = None,
    clip_gradient_norm: float = 0,
    summarize_gradients: bool = False,
    gate_gradients: int = 1,
    aggregation_method: Any = None,
    colocate_gradients_with_ops: bool = False,
    gradient_multipliers: Any = None,
    check_numerics: bool = True,
) -> Any:
    """The same with factors of gradients and a largest norm."""

    def transform(gradients: Any) -> Any:
        if gradient_multipliers:
            gradients = multiply_gradients(gradients, gradient_multipliers)
        return clip_gradient_norms(gradients, clip_gradient_norm) if clip_gradient_norm > 0 else gradients

    return create_train_op(
        total_loss=total_loss,
        optimizer=optimizer,
        global_step=global_step,
        update_ops=update_ops,
        variables_to_train=variables_to_train,
        transform_grads_fn=transform,
        summarize_gradients=summarize_gradients,
        gate_gradients=gate_gradients,
        aggregation_method=aggregation_method,
        colocate_gradients_with_ops=colocate_gradients_with_ops,
        check_numerics=check_numerics,
    )
