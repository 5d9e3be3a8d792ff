"""Defaults of Inception's layers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import everflow as tf
from everflow.contrib.framework.arg_scopes import arg_scope
from everflow.contrib.layers.convolutional import convolution2d as conv2d
from everflow.contrib.layers.core import fully_connected
from everflow.contrib.layers.initializers import variance_scaling_initializer
from everflow.contrib.layers.normalization import batch_norm
from everflow.contrib.layers.regularizers import l2_regularizer
from everflow.contrib.slim.nets.publishing import inception_net


def _arg_scope(
    weight_decay: float,
    collection: str,
    use_batch_norm: bool = True,
    decay: float = 0.9997,
    epsilon: float = 0.001,
    updates_collections: Sequence[str] | str | None = tf.GraphKeys.UPDATE_OPS,
    **more: Any,
) -> Any:
    normalizer: dict[str, Any] = {"normalizer_fn": None, "normalizer_params": {}}
    if use_batch_norm:
        normalizer = {
            "normalizer_fn": batch_norm,
            "normalizer_params": {
                "decay": decay,
                "epsilon": epsilon,
                "updates_collections": updates_collections,
                **more,
                "variables_collections": {"beta": None, "gamma": None, "moving_mean": [collection], "moving_variance": [collection]},
            },
        }
    with (
        arg_scope([conv2d, fully_connected], weights_regularizer=l2_regularizer(weight_decay)),
        arg_scope([conv2d], weights_initializer=variance_scaling_initializer(), activation_fn=tf.nn.relu, **normalizer) as found,
    ):
        return found


@inception_net("inception_v1", "inception_v1_arg_scope")
def inception_v1_arg_scope(
    weight_decay: float = 0.00004, use_batch_norm: bool = True, batch_norm_var_collection: str = "moving_vars"
) -> Any:
    """Defaults of version 1."""
    return _arg_scope(weight_decay, batch_norm_var_collection, use_batch_norm)


@inception_net("inception_v2", "inception_v2_arg_scope")
def inception_v2_arg_scope(weight_decay: float = 0.00004, batch_norm_var_collection: str = "moving_vars") -> Any:
    """Defaults of version 2."""
    return _arg_scope(weight_decay, batch_norm_var_collection)


@inception_net("inception_v3", "inception_v3_arg_scope")
def inception_v3_arg_scope(
    weight_decay: float = 0.00004,
    batch_norm_var_collection: str = "moving_vars",
    batch_norm_decay: float = 0.9997,
    batch_norm_epsilon: float = 0.001,
    updates_collections: Sequence[str] | str | None = tf.GraphKeys.UPDATE_OPS,
    use_fused_batchnorm: bool = True,
) -> Any:
    """Defaults of version 3."""
    return _arg_scope(
        weight_decay,
        batch_norm_var_collection,
        decay=batch_norm_decay,
        epsilon=batch_norm_epsilon,
        updates_collections=updates_collections,
        fused=use_fused_batchnorm,
    )
