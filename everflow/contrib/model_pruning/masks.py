"""Masks of weights: variables of ones and zeros beside them, and the collections that hold both."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import public
from everflow.graph.scopes import add_to_collection
from everflow.ops.variables.variable_scope import variable_scope

MASKS, THRESHOLDS, MASKED, WEIGHTS = "masks", "thresholds", "masked_weights", "kernel"
MASKED_NAME = "weights/masked_weight"
_PRUNING = "contrib.model_pruning.python.pruning."
_LAYERS = "contrib.model_pruning.python.layers.core_layers."
for _name, _value in (
    ("MASK_COLLECTION", MASKS),
    ("THRESHOLD_COLLECTION", THRESHOLDS),
    ("MASKED_WEIGHT_COLLECTION", MASKED),
    ("WEIGHT_COLLECTION", WEIGHTS),
    ("MASKED_WEIGHT_NAME", MASKED_NAME),
):
    public(f"{_PRUNING}_{_name}", f"{_LAYERS}{_name}")(_value)


def collect(weights: Any, mask: Any, threshold: Any, masked: Any) -> None:
    """Adds weights and what masks them to the collections, once."""
    if any(mask is known for known in tf.get_collection(MASKS)):
        return
    for collection, value in ((MASKS, mask), (THRESHOLDS, threshold), (MASKED, masked), (WEIGHTS, weights)):
        add_to_collection(collection, value)


@public("contrib.model_pruning.apply_mask")
def apply_mask(x: Any, scope: Any = "") -> Any:
    """Weights times a mask of ones, of which pruning makes zeros."""
    with variable_scope(scope):
        mask = tf.get_variable("mask", x.get_shape(), initializer=tf.ones_initializer(), trainable=False, dtype=x.dtype.base_dtype)
        threshold = tf.get_variable(
            "threshold", [], initializer=tf.zeros_initializer(), trainable=False, dtype=x.dtype.base_dtype, partitioner=None
        )
    masked = tf.multiply(mask, x, MASKED_NAME)
    collect(x, mask, threshold, masked)
    return masked


@public("contrib.model_pruning.get_masked_weights")
def get_masked_weights() -> list[Any]:
    """All weights times their masks."""
    return tf.get_collection(MASKED)


@public("contrib.model_pruning.get_masks")
def get_masks() -> list[Any]:
    """All masks."""
    return tf.get_collection(MASKS)


@public("contrib.model_pruning.get_thresholds")
def get_thresholds() -> list[Any]:
    """For each mask, below what a weight is masked."""
    return tf.get_collection(THRESHOLDS)


@public("contrib.model_pruning.get_weights")
def get_weights() -> list[Any]:
    """All weights that have a mask."""
    return tf.get_collection(WEIGHTS)


@public("contrib.model_pruning.get_weight_sparsity")
def get_weight_sparsity() -> list[Any]:
    """For each mask, which part of it is zero."""
    return [tf.nn.zero_fraction(mask) for mask in get_masks()]
