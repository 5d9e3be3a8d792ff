"""optimize_loss: a training op in one call, with clipping, decay and summaries."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import everflow as tf
from everflow.api import internal, public
from everflow.contrib.layers.publishing import layer
from everflow.graph.keys import GraphKeys
from everflow.ops.control_flow.ordering import with_dependencies
from everflow.train.moving_averages import assign_moving_average

OPTIMIZER_CLS_NAMES: dict[str, Callable[..., Any]] = layer("OPTIMIZER_CLS_NAMES")(
    {
        "Adagrad": tf.train.AdagradOptimizer,  # type: ignore[attr-defined]
        "Adam": tf.train.AdamOptimizer,  # type: ignore[attr-defined]
        "Ftrl": tf.train.FtrlOptimizer,  # type: ignore[attr-defined]
        "Momentum": lambda learning_rate: tf.train.MomentumOptimizer(learning_rate, momentum=0.9),  # type: ignore[attr-defined]
        "RMSProp": tf.train.RMSPropOptimizer,  # type: ignore[attr-defined]
        "SGD": tf.train.GradientDescentOptimizer,  # type: ignore[attr-defined]
    }
)
OPTIMIZER_SUMMARIES = layer("OPTIMIZER_SUMMARIES")(["learning_rate", "loss", "gradients", "gradient_norm", "global_gradient_norm"])


@layer("optimize_loss")
def optimize_loss(
    loss: Any,
    global_step: Any,
    learning_rate: Any,
    optimizer: Any,
    gradient_noise_scale: float | None = None,
    gradient_multipliers: Any = None,
    clip_gradients: Any = None,
    learning_rate_decay_fn: Any = None,
    update_ops: Any = None,
    variables: Any = None,
    name: str | None = None,
    summaries: Any = None,
    colocate_gradients_with_ops: bool = False,
    increment_global_step: bool = True,
) -> Any:
    """The loss, computed after a step of the optimizer."""
    loss = tf.convert_to_tensor(loss)
    tf.assert_scalar(loss)
    if global_step is None:
        global_step = tf.train.get_global_step()
    else:
        tf.train.assert_global_step(global_step)
    with tf.variable_scope(name, "OptimizeLoss", [loss, global_step]):
        updates = set(tf.get_collection(GraphKeys.UPDATE_OPS) if update_ops is None else update_ops)
        if updates:
            loss = with_dependencies(list(updates), loss)
        lr = _rate(learning_rate)
        summaries = ["loss", "learning_rate", "global_gradient_norm"] if summaries is None else summaries
        unknown = [wanted for wanted in summaries if wanted not in OPTIMIZER_SUMMARIES]
        if unknown:
            raise ValueError(f"Summaries should be one of [{', '.join(OPTIMIZER_SUMMARIES)}], you provided {unknown[0]}.")
        if not (learning_rate is None or learning_rate_decay_fn is None):
            if global_step is None:
                raise ValueError("global_step is required for learning_rate_decay_fn.")
            lr = learning_rate_decay_fn(lr, global_step)
            if "learning_rate" in summaries:
                tf.summary.scalar("learning_rate", lr)
        opt = _optimizer(optimizer, lr)
        if variables is None:
            variables = tf.trainable_variables()
        gradients = opt.compute_gradients(loss, variables, colocate_gradients_with_ops=colocate_gradients_with_ops)
        if gradient_noise_scale is not None:
            gradients = [(_with_noise(g, gradient_noise_scale), v) for g, v in gradients]
        if gradient_multipliers is not None:
            gradients = multiplied(gradients, gradient_multipliers)
            if not gradients:
                raise ValueError(
                    "Empty list of (gradient, var) pairs encountered. This is most likely to be caused by an improper value "
                    "of gradient_multipliers."
                )
        of_whole = "global_gradient_norm" in summaries or "gradient_norm" in summaries
        if of_whole:
            tf.summary.scalar("global_norm/gradient_norm", tf.global_norm([g for g, _ in gradients]))
        if isinstance(clip_gradients, float):
            clipped, _ = tf.clip_by_global_norm([g for g, _ in gradients], clip_gradients)
            gradients = list(zip(clipped, [v for _, v in gradients]))
        elif callable(clip_gradients):
            gradients = clip_gradients(gradients)
        elif clip_gradients is not None:
            raise ValueError(f"Unknown type {type(clip_gradients)} for clip_gradients")
        if "loss" in summaries:
            tf.summary.scalar("loss", loss)
        for gradient, variable in gradients:
            values = gradient.values if isinstance(gradient, tf.IndexedSlices) else gradient
            if values is not None:
                tag = variable.name.replace(":", "_")
                if "gradients" in summaries:
                    tf.summary.histogram(f"gradients/{tag}", values)
                if "gradient_norm" in summaries:
                    tf.summary.scalar(f"gradient_norm/{tag}", tf.global_norm([values]))
        if clip_gradients is not None and of_whole:
            tf.summary.scalar("global_norm/clipped_gradient_norm", tf.global_norm([g for g, _ in gradients]))
        step = opt.apply_gradients(gradients, global_step=global_step if increment_global_step else None, name="train")
        return with_dependencies([step], loss)


def _rate(learning_rate: Any) -> Any:
    if learning_rate is None:
        return None
    if isinstance(learning_rate, tf.Tensor) and learning_rate.get_shape().ndims == 0:
        return learning_rate
    if isinstance(learning_rate, float):
        if learning_rate < 0.0:
            raise ValueError("Invalid learning_rate %s.", learning_rate)
        return tf.get_variable("learning_rate", [], trainable=False, initializer=tf.constant_initializer(learning_rate))
    raise ValueError(f"Learning rate should be 0d Tensor or float. Got {learning_rate} of type {type(learning_rate)}")


def _optimizer(optimizer: Any, rate: Any) -> Any:
    if isinstance(optimizer, str):
        if rate is None:
            raise ValueError(f"Learning rate is None, but should be specified if optimizer is string ({optimizer}).")
        if optimizer not in OPTIMIZER_CLS_NAMES:
            raise ValueError(f"Optimizer name should be one of [{', '.join(OPTIMIZER_CLS_NAMES)}], you provided {optimizer}.")
        return OPTIMIZER_CLS_NAMES[optimizer](learning_rate=rate)
    if isinstance(optimizer, type) and issubclass(optimizer, tf.train.Optimizer):
        if rate is None:
            raise ValueError(f"Learning rate is None, but should be specified if optimizer is class ({optimizer}).")
        return optimizer(learning_rate=rate)  # type: ignore[call-arg]
    if isinstance(optimizer, tf.train.Optimizer):
        return optimizer
    if callable(optimizer):
        found = optimizer(rate) if rate is not None and inspect.signature(optimizer).parameters else optimizer()
        if not isinstance(found, tf.train.Optimizer):
            raise ValueError(f"Unrecognized optimizer: function should return subclass of Optimizer. Got {found}.")
        return found
    raise ValueError(
        f"Unrecognized optimizer: should be string, subclass of Optimizer, instance of subclass of Optimizer or function with "
        f"one argument. Got {optimizer}."
    )


def _with_noise(gradient: Any, scale: float) -> Any:
    if gradient is None:
        return None
    shape = gradient.dense_shape if isinstance(gradient, tf.IndexedSlices) else gradient.get_shape()
    return gradient + tf.truncated_normal(shape) * scale


def multiplied(gradients: Any, multipliers: Any) -> Any:
    """Gradients times the factor of their variable, or of its name."""
    if not isinstance(multipliers, dict):
        raise ValueError("gradient_multipliers is not a dict")
    found = []
    for gradient, variable in gradients:
        factor = multipliers.get(variable, multipliers.get(variable.name))
        if factor is not None and gradient is not None:
            if isinstance(gradient, tf.IndexedSlices):
                gradient = tf.IndexedSlices(gradient.values * factor, gradient.indices, gradient.dense_shape)
            else:
                gradient = gradient * tf.cast(factor, gradient.dtype)
        found.append((gradient, variable))
    return found


@public("contrib.slim.adaptive_clipping_fn")
@internal("contrib.layers.python.layers.optimizers.adaptive_clipping_fn")
def adaptive_clipping_fn(
    std_factor: float = 2.0,
    decay: Any = 0.95,
    static_max_norm: float | None = None,
    global_step: Any = None,
    report_summary: bool = False,
    epsilon: float = 1e-8,
    name: str | None = None,
) -> Callable[[Any], list[tuple[Any, Any]]]:
    """A function that scales gradients whose norm is far above what it has been: by `std_factor` deviations of its logarithm."""

    def clipped(grads_and_vars: Any) -> list[tuple[Any, Any]]:
        gradients, variables = zip(*grads_and_vars)
        norm = tf.global_norm(gradients)
        largest, mean = _usual_norm(norm, std_factor, decay, global_step, epsilon, name)
        if report_summary:
            tf.summary.scalar("global_norm/adaptive_max_gradient_norm", largest)
        # What is too large becomes usual, not the largest that is let through.
        factor = tf.where(tf.less(norm, largest), tf.ones_like(norm), tf.exp(mean) / norm)
        if static_max_norm is not None:
            factor = tf.minimum(static_max_norm / norm, factor)
        return list(zip(tuple(None if g is None else _scaled(g, factor) for g in gradients), variables))

    return clipped


def _usual_norm(norm: Any, std_factor: float, decay: Any, global_step: Any, epsilon: float, name: str | None) -> tuple[Any, Any]:
    """The largest norm that is usual, and the mean of its logarithm."""
    with tf.variable_scope(name, "AdaptiveMaxNorm", [norm]):
        logarithm = tf.log(norm + epsilon)
        if global_step is not None:
            number = tf.cast(global_step, "float32")
            decay = tf.minimum(decay, number / (number + 1.0))

        def average(name: str, value: Any) -> Any:
            variable = tf.get_variable(
                name, shape=value.get_shape(), dtype=value.dtype, initializer=tf.zeros_initializer(), trainable=False
            )
            return assign_moving_average(variable, value, decay, zero_debias=False)

        mean = average("mean", logarithm)
        variance = average("sq_mean", tf.square(logarithm)) - tf.square(mean)
        return tf.exp(mean + std_factor * tf.sqrt(tf.maximum(epsilon, variance))), mean


def _scaled(gradient: Any, factor: Any) -> Any:
    if isinstance(gradient, tf.IndexedSlices):
        return tf.IndexedSlices(gradient.values * factor, gradient.indices, gradient.dense_shape)
    return gradient * factor
