"""Inception, version 1 (GoogLeNet), with batch normalization."""

from __future__ import annotations

from typing import Any

from everflow.contrib.framework.arg_scopes import arg_scope
from everflow.contrib.layers.convolutional import convolution2d as conv2d
from everflow.contrib.layers.core import dropout, fully_connected, softmax
from everflow.contrib.layers.normalization import batch_norm
from everflow.contrib.layers.pooling import avg_pool2d, max_pool2d
from everflow.contrib.slim.nets.inception_blocks import Conv, Mixed, Pool, depth_by, layers, logits_of
from everflow.contrib.slim.nets.plain import trunc_normal
from everflow.contrib.slim.nets.publishing import inception_net
from everflow.ops.variables import variable_scope as scopes

_TWO = {"stride": 2}


def _mixed(name: str, one: int, three: tuple[int, int], double: tuple[int, int], pooled: int, second: str = "Conv2d_0b_3x3") -> Mixed:
    """A mixed layer by the depths of its branches."""
    return Mixed(
        name,
        [Conv("Conv2d_0a_1x1", one)],
        [Conv("Conv2d_0a_1x1", three[0]), Conv("Conv2d_0b_3x3", three[1], (3, 3))],
        [Conv("Conv2d_0a_1x1", double[0]), Conv(second, double[1], (3, 3))],
        [Pool("MaxPool_0a_3x3"), Conv("Conv2d_0b_1x1", pooled)],
    )


_LAYERS = (
    Conv("Conv2d_1a_7x7", 64, (7, 7), options=_TWO),
    Pool("MaxPool_2a_3x3", options=_TWO),
    Conv("Conv2d_2b_1x1", 64),
    Conv("Conv2d_2c_3x3", 192, (3, 3)),
    Pool("MaxPool_3a_3x3", options=_TWO),
    _mixed("Mixed_3b", 64, (96, 128), (16, 32), 32),
    _mixed("Mixed_3c", 128, (128, 192), (32, 96), 64),
    Pool("MaxPool_4a_3x3", options=_TWO),
    _mixed("Mixed_4b", 192, (96, 208), (16, 48), 64),
    _mixed("Mixed_4c", 160, (112, 224), (24, 64), 64),
    _mixed("Mixed_4d", 128, (128, 256), (24, 64), 64),
    _mixed("Mixed_4e", 112, (144, 288), (32, 64), 64),
    _mixed("Mixed_4f", 256, (160, 320), (32, 128), 128),
    Pool("MaxPool_5a_2x2", 2, options=_TWO),
    # The name that this layer has in published checkpoints.
    _mixed("Mixed_5b", 256, (160, 320), (32, 128), 128, second="Conv2d_0a_3x3"),
    _mixed("Mixed_5c", 384, (192, 384), (48, 128), 128),
)


@inception_net("inception_v1", "inception_v1_base")
def inception_v1_base(inputs: Any, final_endpoint: str = "Mixed_5c", scope: Any = "InceptionV1") -> Any:
    """(features, end points) up to a layer."""
    end_points: dict[str, Any] = {}
    with (
        scopes.variable_scope(scope, "InceptionV1", [inputs]),
        arg_scope([conv2d, fully_connected], weights_initializer=trunc_normal(0.01)),
        arg_scope([conv2d, max_pool2d], stride=1, padding="SAME"),
    ):
        return layers(inputs, _LAYERS, depth_by(1, 0), final_endpoint, end_points), end_points


@inception_net("inception_v1", "inception_v1")
def inception_v1(
    inputs: Any,
    num_classes: int = 1000,
    is_training: Any = True,
    dropout_keep_prob: float = 0.8,
    prediction_fn: Any = softmax,
    spatial_squeeze: bool = True,
    reuse: Any = None,
    scope: Any = "InceptionV1",
) -> Any:
    """(logits, end points); for images of 224 x 224."""
    with (
        scopes.variable_scope(scope, "InceptionV1", [inputs, num_classes], reuse=reuse) as own,
        arg_scope([batch_norm, dropout], is_training=is_training),
    ):
        found, end_points = inception_v1_base(inputs, scope=own)
        with scopes.variable_scope("Logits"):
            found = avg_pool2d(found, [7, 7], stride=1, scope="MaxPool_0a_7x7")
            logits = logits_of(found, num_classes, dropout_keep_prob, spatial_squeeze, ("Dropout_0b", "Conv2d_0c_1x1"))
            end_points["Logits"] = logits
            end_points["Predictions"] = prediction_fn(logits, scope="Predictions")
    return logits, end_points


inception_v1.default_image_size = 224
