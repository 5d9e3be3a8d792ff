"""Inception, version 2 (batch normalization)."""

from __future__ import annotations

from typing import Any

from everflow.contrib.framework.arg_scopes import arg_scope
from everflow.contrib.layers.convolutional import convolution2d as conv2d
from everflow.contrib.layers.convolutional import separable_convolution2d as separable_conv2d
from everflow.contrib.layers.core import dropout, softmax
from everflow.contrib.layers.normalization import batch_norm
from everflow.contrib.layers.pooling import avg_pool2d, max_pool2d
from everflow.contrib.slim.nets.inception_blocks import Conv, Depth, Mixed, Pool, depth_checked, layers, logits_of, reduced_kernel_size
from everflow.contrib.slim.nets.plain import trunc_normal
from everflow.contrib.slim.nets.publishing import inception_net
from everflow.ops.variables import variable_scope as scopes

_TWO = {"stride": 2}


class _First:
    """The first layer: each colour by itself, then all together."""

    name = "Conv2d_1a_7x7"

    def __call__(self, inputs: Any, depth: Depth) -> Any:
        return separable_conv2d(
            inputs,
            depth(64),
            [7, 7],
            depth_multiplier=min(int(depth(64) / 3), 8),
            stride=2,
            weights_initializer=trunc_normal(1.0),
            scope=self.name,
        )


def _mixed(name: str, one: int, three: tuple[int, int], double: tuple[int, int], pooled: int, mean: bool = True) -> Mixed:
    """A mixed layer by the depths of its branches."""
    return Mixed(
        name,
        [Conv("Conv2d_0a_1x1", one)],
        [Conv("Conv2d_0a_1x1", three[0], stddev=0.09), Conv("Conv2d_0b_3x3", three[1], (3, 3))],
        [Conv("Conv2d_0a_1x1", double[0], stddev=0.09), Conv("Conv2d_0b_3x3", double[1], (3, 3)), Conv("Conv2d_0c_3x3", double[1], (3, 3))],
        [Pool("AvgPool_0a_3x3" if mean else "MaxPool_0a_3x3", mean=mean), Conv("Conv2d_0b_1x1", pooled, stddev=0.1)],
    )


def _smaller(name: str, three: tuple[int, int], double: tuple[int, int]) -> Mixed:
    """A mixed layer that makes images smaller."""
    return Mixed(
        name,
        [Conv("Conv2d_0a_1x1", three[0], stddev=0.09), Conv("Conv2d_1a_3x3", three[1], (3, 3), options=_TWO)],
        [
            Conv("Conv2d_0a_1x1", double[0], stddev=0.09),
            Conv("Conv2d_0b_3x3", double[1], (3, 3)),
            Conv("Conv2d_1a_3x3", double[1], (3, 3), options=_TWO),
        ],
        [Pool("MaxPool_1a_3x3", options=_TWO)],
    )


_LAYERS = (
    _First(),
    Pool("MaxPool_2a_3x3", options=_TWO),
    Conv("Conv2d_2b_1x1", 64, stddev=0.1),
    Conv("Conv2d_2c_3x3", 192, (3, 3)),
    Pool("MaxPool_3a_3x3", options=_TWO),
    _mixed("Mixed_3b", 64, (64, 64), (64, 96), 32),
    _mixed("Mixed_3c", 64, (64, 96), (64, 96), 64),
    _smaller("Mixed_4a", (128, 160), (64, 96)),
    _mixed("Mixed_4b", 224, (64, 96), (96, 128), 128),
    _mixed("Mixed_4c", 192, (96, 128), (96, 128), 128),
    _mixed("Mixed_4d", 160, (128, 160), (128, 160), 96),
    _mixed("Mixed_4e", 96, (128, 192), (160, 192), 96),
    _smaller("Mixed_5a", (128, 192), (192, 256)),
    _mixed("Mixed_5b", 352, (192, 320), (160, 224), 128),
    _mixed("Mixed_5c", 352, (192, 320), (192, 224), 128, mean=False),
)


@inception_net("inception_v2", "inception_v2_base")
def inception_v2_base(
    inputs: Any, final_endpoint: str = "Mixed_5c", min_depth: int = 16, depth_multiplier: float = 1.0, scope: Any = None
) -> Any:
    """(features, end points) up to a layer."""
    depth = depth_checked(depth_multiplier, min_depth)
    end_points: dict[str, Any] = {}
    with (
        scopes.variable_scope(scope, "InceptionV2", [inputs]),
        arg_scope([conv2d, max_pool2d, avg_pool2d, separable_conv2d], stride=1, padding="SAME"),
    ):
        return layers(inputs, _LAYERS, depth, final_endpoint, end_points), end_points


@inception_net("inception_v2", "inception_v2")
def inception_v2(
    inputs: Any,
    num_classes: int = 1000,
    is_training: Any = True,
    dropout_keep_prob: float = 0.8,
    min_depth: int = 16,
    depth_multiplier: float = 1.0,
    prediction_fn: Any = softmax,
    spatial_squeeze: bool = True,
    reuse: Any = None,
    scope: Any = "InceptionV2",
) -> Any:
    """(logits, end points); for images of 224 x 224."""
    depth_checked(depth_multiplier, min_depth)
    with (
        scopes.variable_scope(scope, "InceptionV2", [inputs, num_classes], reuse=reuse) as own,
        arg_scope([batch_norm, dropout], is_training=is_training),
    ):
        found, end_points = inception_v2_base(inputs, scope=own, min_depth=min_depth, depth_multiplier=depth_multiplier)
        with scopes.variable_scope("Logits"):
            size = reduced_kernel_size(found, [7, 7])
            found = avg_pool2d(found, size, padding="VALID", scope=f"AvgPool_1a_{size[0]}x{size[1]}")
            logits = logits_of(found, num_classes, dropout_keep_prob, spatial_squeeze, ("Dropout_1b", "Conv2d_1c_1x1"))
        end_points["Logits"] = logits
        end_points["Predictions"] = prediction_fn(logits, scope="Predictions")
    return logits, end_points


inception_v2.default_image_size = 224
