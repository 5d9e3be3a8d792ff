"""Inception, version 3."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.contrib.framework.arg_scopes import arg_scope
from everflow.contrib.layers.convolutional import convolution2d as conv2d
from everflow.contrib.layers.core import dropout, softmax
from everflow.contrib.layers.normalization import batch_norm
from everflow.contrib.layers.pooling import avg_pool2d, max_pool2d
from everflow.contrib.slim.nets.inception_blocks import (
    Conv,
    Depth,
    Fork,
    Mixed,
    Pool,
    depth_by,
    depth_checked,
    layers,
    logits_of,
    reduced_kernel_size,
)
from everflow.contrib.slim.nets.plain import trunc_normal
from everflow.contrib.slim.nets.publishing import inception_net
from everflow.ops.variables import variable_scope as scopes

_TWO = {"stride": 2}
_DOWN = {"stride": 2, "padding": "VALID"}
_MEAN = Pool("AvgPool_0a_3x3", mean=True)


def _mixed_5(name: str, pooled: int, first: str = "Conv2d_0a_1x1", second: str = "Conv2d_0b_5x5") -> Mixed:
    """A mixed layer with windows of 5 x 5."""
    return Mixed(
        name,
        [Conv("Conv2d_0a_1x1", 64)],
        [Conv(first, 48), Conv(second, 64, (5, 5))],
        [Conv("Conv2d_0a_1x1", 64), Conv("Conv2d_0b_3x3", 96, (3, 3)), Conv("Conv2d_0c_3x3", 96, (3, 3))],
        [_MEAN, Conv("Conv2d_0b_1x1", pooled)],
    )


def _mixed_6(name: str, inner: int) -> Mixed:
    """A mixed layer with windows of 1 x 7 and 7 x 1."""
    return Mixed(
        name,
        [Conv("Conv2d_0a_1x1", 192)],
        [Conv("Conv2d_0a_1x1", inner), Conv("Conv2d_0b_1x7", inner, (1, 7)), Conv("Conv2d_0c_7x1", 192, (7, 1))],
        [
            Conv("Conv2d_0a_1x1", inner),
            Conv("Conv2d_0b_7x1", inner, (7, 1)),
            Conv("Conv2d_0c_1x7", inner, (1, 7)),
            Conv("Conv2d_0d_7x1", inner, (7, 1)),
            Conv("Conv2d_0e_1x7", 192, (1, 7)),
        ],
        [_MEAN, Conv("Conv2d_0b_1x1", 192)],
    )


def _mixed_7(name: str, tall: str) -> Mixed:
    """A mixed layer whose branches fork."""
    return Mixed(
        name,
        [Conv("Conv2d_0a_1x1", 320)],
        [Conv("Conv2d_0a_1x1", 384), Fork(Conv("Conv2d_0b_1x3", 384, (1, 3)), Conv(tall, 384, (3, 1)))],
        [
            Conv("Conv2d_0a_1x1", 448),
            Conv("Conv2d_0b_3x3", 384, (3, 3)),
            Fork(Conv("Conv2d_0c_1x3", 384, (1, 3)), Conv("Conv2d_0d_3x1", 384, (3, 1))),
        ],
        [_MEAN, Conv("Conv2d_0b_1x1", 192)],
    )


_BEFORE = (
    Conv("Conv2d_1a_3x3", 32, (3, 3), options=_TWO),
    Conv("Conv2d_2a_3x3", 32, (3, 3)),
    Conv("Conv2d_2b_3x3", 64, (3, 3), options={"padding": "SAME"}),
    Pool("MaxPool_3a_3x3", options=_TWO),
    Conv("Conv2d_3b_1x1", 80),
    Conv("Conv2d_4a_3x3", 192, (3, 3)),
    Pool("MaxPool_5a_3x3", options=_TWO),
)
# Some names are out of the row; published checkpoints have them.
_MIXED = (
    _mixed_5("Mixed_5b", 32),
    _mixed_5("Mixed_5c", 64, "Conv2d_0b_1x1", "Conv_1_0c_5x5"),
    _mixed_5("Mixed_5d", 64),
    Mixed(
        "Mixed_6a",
        [Conv("Conv2d_1a_1x1", 384, (3, 3), options=_DOWN)],
        [Conv("Conv2d_0a_1x1", 64), Conv("Conv2d_0b_3x3", 96, (3, 3)), Conv("Conv2d_1a_1x1", 96, (3, 3), options=_DOWN)],
        [Pool("MaxPool_1a_3x3", options=_DOWN)],
    ),
    _mixed_6("Mixed_6b", 128),
    _mixed_6("Mixed_6c", 160),
    _mixed_6("Mixed_6d", 160),
    _mixed_6("Mixed_6e", 192),
    Mixed(
        "Mixed_7a",
        [Conv("Conv2d_0a_1x1", 192), Conv("Conv2d_1a_3x3", 320, (3, 3), options=_DOWN)],
        [
            Conv("Conv2d_0a_1x1", 192),
            Conv("Conv2d_0b_1x7", 192, (1, 7)),
            Conv("Conv2d_0c_7x1", 192, (7, 1)),
            Conv("Conv2d_1a_3x3", 192, (3, 3), options=_DOWN),
        ],
        [Pool("MaxPool_1a_3x3", options=_DOWN)],
    ),
    _mixed_7("Mixed_7b", "Conv2d_0b_3x1"),
    _mixed_7("Mixed_7c", "Conv2d_0c_3x1"),
)
_FIRST_NAMES = {layer.name for layer in _BEFORE}


@inception_net("inception_v3", "inception_v3_base")
def inception_v3_base(
    inputs: Any, final_endpoint: str = "Mixed_7c", min_depth: int = 16, depth_multiplier: float = 1.0, scope: Any = None
) -> Any:
    """(features, end points) up to a layer."""
    depth = depth_checked(depth_multiplier, min_depth)
    end_points: dict[str, Any] = {}
    every = [conv2d, max_pool2d, avg_pool2d]
    with scopes.variable_scope(scope, "InceptionV3", [inputs]):
        with arg_scope(every, stride=1, padding="VALID"):
            last = final_endpoint if final_endpoint in _FIRST_NAMES else _BEFORE[-1].name
            found = layers(inputs, _BEFORE, depth, last, end_points)
        if last == final_endpoint:
            return found, end_points
        with arg_scope(every, stride=1, padding="SAME"):
            return layers(found, _MIXED, depth, final_endpoint, end_points), end_points


def _auxiliary(features: Any, num_classes: int, spatial_squeeze: bool, depth: Depth) -> Any:
    """Logits of a layer in the middle, which training listens to as well."""
    with arg_scope([conv2d, max_pool2d, avg_pool2d], stride=1, padding="SAME"), scopes.variable_scope("AuxLogits"):
        found = avg_pool2d(features, [5, 5], stride=3, padding="VALID", scope="AvgPool_1a_5x5")
        found = conv2d(found, depth(128), [1, 1], scope="Conv2d_1b_1x1")
        size = reduced_kernel_size(found, [5, 5])
        found = conv2d(
            found, depth(768), size, weights_initializer=trunc_normal(0.01), padding="VALID", scope=f"Conv2d_2a_{size[0]}x{size[1]}"
        )
        found = conv2d(
            found,
            num_classes,
            [1, 1],
            activation_fn=None,
            normalizer_fn=None,
            weights_initializer=trunc_normal(0.001),
            scope="Conv2d_2b_1x1",
        )
        return tf.squeeze(found, [1, 2], name="SpatialSqueeze") if spatial_squeeze else found


@inception_net("inception_v3", "inception_v3")
def inception_v3(
    inputs: Any,
    num_classes: int = 1000,
    is_training: Any = True,
    dropout_keep_prob: float = 0.8,
    min_depth: int = 16,
    depth_multiplier: float = 1.0,
    prediction_fn: Any = softmax,
    spatial_squeeze: bool = True,
    reuse: Any = None,
    scope: Any = "InceptionV3",
) -> Any:
    """(logits, end points); for images of 299 x 299."""
    depth_checked(depth_multiplier, min_depth)
    with (
        scopes.variable_scope(scope, "InceptionV3", [inputs, num_classes], reuse=reuse) as own,
        arg_scope([batch_norm, dropout], is_training=is_training),
    ):
        found, end_points = inception_v3_base(inputs, scope=own, min_depth=min_depth, depth_multiplier=depth_multiplier)
        depth = depth_by(depth_multiplier, min_depth)
        end_points["AuxLogits"] = _auxiliary(end_points["Mixed_6e"], num_classes, spatial_squeeze, depth)
        with scopes.variable_scope("Logits"):
            size = reduced_kernel_size(found, [8, 8])
            found = avg_pool2d(found, size, padding="VALID", scope=f"AvgPool_1a_{size[0]}x{size[1]}")
            logits = logits_of(found, num_classes, dropout_keep_prob, spatial_squeeze, ("Dropout_1b", "Conv2d_1c_1x1"), end_points)
        end_points["Logits"] = logits
        end_points["Predictions"] = prediction_fn(logits, scope="Predictions")
    return logits, end_points


inception_v3.default_image_size = 299
