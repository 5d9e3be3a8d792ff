"""tf.contrib.nn: alpha_dropout, scaled_softplus, losses with arguments the other way round, forward gradients."""

from __future__ import annotations

import numbers
from typing import Any

import everflow as tf
from everflow.api import public
from everflow.graph.constants import constant_value
from everflow.graph.convert import convert_to_tensor
from everflow.graph.scopes import name_scope


@public("contrib.nn.alpha_dropout")
def alpha_dropout(x: Any, keep_prob: Any, noise_shape: Any = None, seed: int | None = None, name: str | None = None) -> Any:
    """Dropout for self-normalizing networks: what is dropped takes SELU's lowest value, and mean and variance stay."""
    with name_scope(name, "alpha_dropout", [x]):
        x = convert_to_tensor(x, name="x")
        if isinstance(keep_prob, numbers.Real) and not 0 < float(keep_prob) <= 1.0:
            raise ValueError(f"keep_prob must be a scalar tensor or a float in the range (0, 1], got {keep_prob:g}")
        keep_prob = convert_to_tensor(keep_prob, dtype=x.dtype, name="keep_prob")
        keep_prob.shape.assert_has_rank(0)
        if constant_value(keep_prob) == 1:
            return x
        noise_shape = noise_shape if noise_shape is not None else tf.shape(x)
        kept = tf.cast(tf.floor(tf.random_uniform(noise_shape, seed=seed, dtype=x.dtype) + keep_prob), x.dtype)
        # The limit of SELU far below zero: minus its scale times its alpha.
        lowest = -1.7580993408473766
        a = tf.pow(keep_prob + tf.pow(convert_to_tensor(lowest, x.dtype), 2) * keep_prob * (1 - keep_prob), -0.5)
        b = -a * lowest * (1 - keep_prob)
        result = a * (x * kept + lowest * (1 - kept)) + b
        if not result.shape.is_compatible_with(x.shape):
            raise ValueError(f"noise_shape gives {result.shape}, which is not the shape {x.shape} of x")
        result.set_shape(x.shape)
        return result


@public("contrib.nn.scaled_softplus")
def scaled_softplus(x: Any, alpha: Any, clip: Any = None, name: str | None = None) -> Any:
    """`alpha * log(1 + exp(x / alpha))`, and at most `clip`."""
    with name_scope(name, "scaled_softplus", [x, alpha]):
        x = convert_to_tensor(x, name="x")
        alpha = convert_to_tensor(alpha, dtype=x.dtype, name="alpha")
        y = alpha * tf.nn.softplus(x / alpha)
        return y if clip is None else tf.minimum(y, convert_to_tensor(clip, dtype=x.dtype, name="clip"))


@public("contrib.nn.deprecated_flipped_softmax_cross_entropy_with_logits")
def deprecated_flipped_softmax_cross_entropy_with_logits(logits: Any, labels: Any, dim: int = -1, name: str | None = None) -> Any:
    """The function of tf.nn, with logits first."""
    return tf.nn.softmax_cross_entropy_with_logits(labels=labels, logits=logits, dim=dim, name=name)


@public("contrib.nn.deprecated_flipped_sparse_softmax_cross_entropy_with_logits")
def deprecated_flipped_sparse_softmax_cross_entropy_with_logits(logits: Any, labels: Any, name: str | None = None) -> Any:
    """The function of tf.nn, with logits first."""
    return tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits, name=name)


@public("contrib.nn.deprecated_flipped_sigmoid_cross_entropy_with_logits")
def deprecated_flipped_sigmoid_cross_entropy_with_logits(logits: Any, targets: Any, name: str | None = None) -> Any:
    """The function of tf.nn, with logits first."""
    return tf.nn.sigmoid_cross_entropy_with_logits(labels=targets, logits=logits, name=name)


@public("contrib.nn.python.ops.fwd_gradients.fwd_gradients")
def fwd_gradients(ys: Any, xs: Any, grad_xs: Any = None, assert_unused: bool = False) -> list[Any]:
    """How `ys` change as `xs` change by `grad_xs` (by ones, if none): the gradient of a gradient, taken with respect to its weights."""
    # Nothing of the result depends on the weights of a gradient, which is linear in them.
    weights = [tf.zeros_like(y) for y in ys]
    if assert_unused:
        with tf.control_dependencies([tf.Assert(False, ["The weights of a gradient are used"])]):
            weights = [tf.identity(w) for w in weights]
    backward = tf.gradients(ys, xs, grad_ys=weights)
    return tf.gradients(backward, weights, grad_ys=None if grad_xs is None else [convert_to_tensor(g) for g in grad_xs])
