"""Regularizers: functions of weights that give a loss."""

from __future__ import annotations

import numbers
from collections.abc import Callable
from typing import Any

import everflow as tf
from everflow.contrib.layers.publishing import layer
from everflow.graph.keys import GraphKeys
from everflow.graph.scopes import name_scope
from everflow.platform import logging

Regularizer = Callable[..., Any]


def _checked(scale: Any, name: str) -> bool:
    """Whether a regularizer with this scale does anything; refuses scales that can't be."""
    if isinstance(scale, numbers.Integral):
        raise ValueError(f"scale cannot be an integer: {scale}")
    if isinstance(scale, numbers.Real):
        if scale < 0.0:
            raise ValueError(f"Setting a scale less than 0 on a regularizer: {scale:g}")
        if scale == 0.0:
            logging.info("Scale of 0 disables regularizer.")
            return False
    return True


@layer("l1_regularizer")
def l1_regularizer(scale: Any, scope: str | None = None) -> Regularizer:
    """The sum of magnitudes, times a scale."""
    if not _checked(scale, "l1"):
        return lambda _: None

    def l1(weights: Any, name: str | None = None) -> Any:
        with name_scope(scope, "l1_regularizer", [weights]) as inside:
            factor = tf.convert_to_tensor(scale, dtype=weights.dtype.base_dtype, name="scale")
            return tf.multiply(factor, tf.reduce_sum(tf.abs(weights)), name=inside)

    return l1


@layer("l2_regularizer")
def l2_regularizer(scale: Any, scope: str | None = None) -> Regularizer:
    """Half the sum of squares, times a scale."""
    if not _checked(scale, "l2"):
        return lambda _: None

    def l2(weights: Any) -> Any:
        with name_scope(scope, "l2_regularizer", [weights]) as inside:
            factor = tf.convert_to_tensor(scale, dtype=weights.dtype.base_dtype, name="scale")
            return tf.multiply(factor, tf.nn.l2_loss(weights), name=inside)

    return l2


@layer("l1_l2_regularizer")
def l1_l2_regularizer(scale_l1: Any = 1.0, scale_l2: Any = 1.0, scope: str | None = None) -> Regularizer:
    """Both, each with a scale."""
    for argument, scale in (("scale_l1", scale_l1), ("scale_l2", scale_l2)):
        if isinstance(scale, numbers.Integral):
            raise ValueError(f"{argument} cannot be an integer: {scale}")
    own = scope or "l1_l2_regularizer"
    if 0.0 in (scale_l1, scale_l2):
        return l2_regularizer(scale_l2, own) if scale_l1 == 0.0 else l1_regularizer(scale_l1, own)
    return sum_regularizer([l1_regularizer(scale_l1), l2_regularizer(scale_l2)], own)  # type: ignore[return-value]


@layer("sum_regularizer")
def sum_regularizer(regularizer_list: Any, scope: str | None = None) -> Regularizer | None:
    """The sum of several regularizers; those that are None count as nothing."""
    given = [r for r in regularizer_list if r is not None]
    if not given:
        return None

    def sum_reg(weights: Any) -> Any:
        with name_scope(scope, "sum_regularizer", [weights]) as inside:
            losses = [loss for loss in (r(weights) for r in given) if loss is not None]
            return tf.add_n(losses, name=inside) if losses else None

    return sum_reg


@layer("apply_regularization")
def apply_regularization(regularizer: Regularizer, weights_list: Any = None) -> Any:
    """The sum of a regularizer over tensors, by default those in tf.GraphKeys.WEIGHTS; each part is a regularization loss."""

    def penalty(weights: Any) -> Any:
        found = regularizer(weights)
        found = tf.constant(0.0) if found is None else found
        rank = found.get_shape().ndims
        if rank != 0:
            raise ValueError(f"regularizer must return a scalar Tensor instead of a Tensor with rank {rank}.")
        return found

    every = weights_list or tf.get_collection(GraphKeys.WEIGHTS)
    if not every:
        raise ValueError("No weights to regularize.")
    with name_scope(None, "get_regularization_penalty", every) as scope:
        total = tf.add_n([penalty(weights) for weights in every], name=scope)
        tf.add_to_collection(GraphKeys.REGULARIZATION_LOSSES, total)
        return total
