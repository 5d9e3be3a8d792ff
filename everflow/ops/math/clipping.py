"""Keeping values and gradients within bounds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import everflow as tf
from everflow.api import public
from everflow.errors import invalid_argument
from everflow.graph import shapes
from everflow.graph.convert import convert_to_tensor
from everflow.graph.indexed_slices import IndexedSlices
from everflow.graph.scopes import colocate_with, name_scope
from everflow.lazy import torch
from everflow.ops.core.families import widened
from everflow.ops.core.node import Node
from everflow.ops.core.registry import apply, op
from everflow.ops.core.shape_rules import same_as_input


def _clip(node: Node) -> Callable[..., Any]:
    def run(t: Any, low: Any, high: Any) -> Any:
        if any(bound.ndim and bound.shape != t.shape for bound in (low, high)):
            raise invalid_argument(
                "clip_value_min and clip_value_max must be either of the same shape as input, or a scalar. input shape: "
                f"{shapes.describe(tuple(t.shape))}clip_value_min shape: {shapes.describe(tuple(low.shape))}clip_value_max shape: "
                f"{shapes.describe(tuple(high.shape))}"
            )
        return torch.maximum(torch.minimum(t, high), low)

    return run


op("ClipByValue", kernel=widened(_clip), shape=same_as_input)


def _like(t: Any, values: Any) -> Any:
    """Clipped values as what was given: a tensor, or IndexedSlices."""
    return IndexedSlices(values, t.indices, t.dense_shape) if isinstance(t, IndexedSlices) else values


@public("clip_by_value", ragged="elements")
def clip_by_value(t: Any, clip_value_min: Any, clip_value_max: Any, name: str | None = None) -> Any:
    """Values below the minimum become the minimum, those above the maximum become the maximum."""
    with name_scope(name, "clip_by_value", [t, clip_value_min, clip_value_max]) as scope:
        values = convert_to_tensor(t.values if isinstance(t, IndexedSlices) else t, name="t")
        below = tf.minimum(values, clip_value_max)
        values.shape.assert_is_compatible_with(below.shape)
        inside = tf.maximum(below, clip_value_min, name=scope)
        values.shape.assert_is_compatible_with(inside.shape)
        return _like(t, inside)


@public("clip_by_norm")
def clip_by_norm(t: Any, clip_norm: Any, axes: Any = None, name: str | None = None) -> Any:
    """Scales a tensor down where its length (along the axes) is more than clip_norm."""
    with name_scope(name, "clip_by_norm", [t, clip_norm]) as scope:
        values: Any = convert_to_tensor(t.values if isinstance(t, IndexedSlices) else t, name="t")
        squared = tf.reduce_sum(values * values, axes, keepdims=True)
        # The root has no derivative at 0: it is taken of 1 there, and the result put back to 0.
        positive = squared > 0
        safe = tf.where(positive, squared, tf.ones_like(squared))
        norm = tf.where(positive, tf.sqrt(safe), squared)
        scaled = values * clip_norm
        values.shape.assert_is_compatible_with(scaled.shape)
        return _like(t, tf.identity(scaled / tf.maximum(norm, clip_norm), name=scope))


def _gradients(t_list: Any) -> list[Any]:
    """The tensors of a list, None where there is none; IndexedSlices as their values."""
    if not isinstance(t_list, (list, tuple)):
        raise TypeError("t_list should be a sequence")
    found = []
    for i, t in enumerate(t_list):
        if isinstance(t, IndexedSlices):
            t = t.values
        found.append(None if t is None else convert_to_tensor(t, name=f"t_{i}"))
    return found


@public("global_norm", "linalg.global_norm")
def global_norm(t_list: Any, name: str | None = None) -> Any:
    """The length of the vector that all tensors of a list make together."""
    if not isinstance(t_list, (list, tuple)):
        raise TypeError("t_list should be a sequence")
    with name_scope(name, "global_norm", list(t_list)):
        halves = []
        for value in _gradients(t_list):
            if value is not None:
                with colocate_with(value):
                    halves.append(apply("L2Loss", value))
        half = tf.reduce_sum(tf.stack(halves))
        return tf.sqrt(half * tf.constant(2.0, dtype=half.dtype), name="global_norm")


@public("clip_by_global_norm")
def clip_by_global_norm(t_list: Any, clip_norm: Any, use_norm: Any = None, name: str | None = None) -> Any:
    """Scales all tensors of a list by one number, so that their global norm is at most clip_norm; also returns that norm."""
    if not isinstance(t_list, (list, tuple)):
        raise TypeError("t_list should be a sequence")
    t_list = list(t_list)
    if use_norm is None:
        use_norm = global_norm(t_list, name)
    with name_scope(name, "clip_by_global_norm", [*t_list, clip_norm]) as scope:
        kind = use_norm.dtype.base_dtype
        scale = clip_norm * tf.minimum(1.0 / use_norm, tf.constant(1.0, dtype=kind) / clip_norm)
        # Where the norm is not finite the result says so, instead of being 0.
        scale = tf.where(tf.is_finite(use_norm), scale, tf.constant(float("nan"), dtype=kind))
        clipped: list[Any] = []
        for i, value in enumerate(_gradients(t_list)):
            if value is None:
                clipped.append(None)
                continue
            with colocate_with(value):
                clipped.append(_like(t_list[i], tf.identity(value * scale, name=f"{scope}_{i}")))
        return clipped, use_norm


@public("clip_by_average_norm")
def clip_by_average_norm(t: Any, clip_norm: Any, name: str | None = None) -> Any:
    """Scales a tensor down where its length per element is more than clip_norm."""
    with name_scope(name, "clip_by_average_norm", [t, clip_norm]) as scope:
        t = convert_to_tensor(t, name="t")
        count = tf.cast(tf.size(t), tf.float32)
        inverse_norm = tf.rsqrt(tf.reduce_sum(t * t, tf.range(tf.rank(t))))
        scaled = t * clip_norm * tf.minimum(inverse_norm * count, tf.constant(1.0) / clip_norm)
        return tf.identity(scaled, name=scope)
