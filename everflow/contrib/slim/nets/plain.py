"""AlexNet, OverFeat and VGG: one layer after another."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import everflow as tf
from everflow.contrib.framework.arg_scopes import arg_scope
from everflow.contrib.layers.collecting import convert_collection_to_dict
from everflow.contrib.layers.convolutional import convolution2d as conv2d
from everflow.contrib.layers.core import dropout, fully_connected, repeat
from everflow.contrib.layers.pooling import max_pool2d
from everflow.contrib.layers.regularizers import l2_regularizer
from everflow.contrib.slim.nets.publishing import net
from everflow.ops.variables import variable_scope as scopes


@net("alexnet.trunc_normal", "overfeat.trunc_normal", "inception_v1.trunc_normal", "inception_v2.trunc_normal", "inception_v3.trunc_normal")
def trunc_normal(stddev: float) -> Any:
    """Weights from a truncated normal distribution around zero."""
    return tf.truncated_normal_initializer(0.0, stddev)


def _arg_scope(weight_decay: float, biases: Any, pools: str | None = None) -> Any:
    with (
        arg_scope(
            [conv2d, fully_connected], activation_fn=tf.nn.relu, weights_regularizer=l2_regularizer(weight_decay), biases_initializer=biases
        ),
        arg_scope([conv2d], padding="SAME") as found,
    ):
        if pools is None:
            return found
        with arg_scope([max_pool2d], padding=pools) as with_pools:
            return with_pools


def _classifier(
    scope: str,
    default: str,
    inputs: Any,
    features: Callable[[Any], Any],
    fc6: tuple[int, int],
    num_classes: int,
    is_training: Any,
    dropout_keep_prob: float,
    spatial_squeeze: bool,
    head: dict[str, Any] | None = None,
) -> Any:
    """(logits, end points) of features and three fully connected layers, which are convolutions: `fc6` is (depth, size of the window)."""
    with scopes.variable_scope(scope, default, [inputs]) as own:
        collection = own.original_name_scope + "_end_points"
        with arg_scope([conv2d, fully_connected, max_pool2d], outputs_collections=[collection]):
            found = features(inputs)
            depth, size = fc6
            with arg_scope([conv2d], **(head or {})):
                found = conv2d(found, depth, [size, size], padding="VALID", scope="fc6")
                found = dropout(found, dropout_keep_prob, is_training=is_training, scope="dropout6")
                found = conv2d(found, 4096, [1, 1], scope="fc7")
                found = dropout(found, dropout_keep_prob, is_training=is_training, scope="dropout7")
                last = {"biases_initializer": tf.zeros_initializer()} if head else {}
                found = conv2d(found, num_classes, [1, 1], activation_fn=None, normalizer_fn=None, scope="fc8", **last)
            end_points = convert_collection_to_dict(collection)
            if spatial_squeeze:
                found = tf.squeeze(found, [1, 2], name="fc8/squeezed")
                end_points[own.name + "/fc8"] = found
            return found, end_points


def _small_start() -> dict[str, Any]:
    return {"weights_initializer": trunc_normal(0.005), "biases_initializer": tf.constant_initializer(0.1)}


@net("alexnet.alexnet_v2_arg_scope")
def alexnet_v2_arg_scope(weight_decay: float = 0.0005) -> Any:
    """Defaults of AlexNet's layers."""
    return _arg_scope(weight_decay, tf.constant_initializer(0.1), pools="VALID")


@net("alexnet.alexnet_v2")
def alexnet_v2(
    inputs: Any,
    num_classes: int = 1000,
    is_training: Any = True,
    dropout_keep_prob: float = 0.5,
    spatial_squeeze: bool = True,
    scope: str = "alexnet_v2",
) -> Any:
    """AlexNet as of "One weird trick for parallelizing convolutional neural networks"; for images of 224 x 224."""

    def features(images: Any) -> Any:
        found = conv2d(images, 64, [11, 11], 4, padding="VALID", scope="conv1")
        found = max_pool2d(found, [3, 3], 2, scope="pool1")
        found = conv2d(found, 192, [5, 5], scope="conv2")
        found = max_pool2d(found, [3, 3], 2, scope="pool2")
        for i, depth in enumerate((384, 384, 256), 3):
            found = conv2d(found, depth, [3, 3], scope=f"conv{i}")
        return max_pool2d(found, [3, 3], 2, scope="pool5")

    return _classifier(
        scope, "alexnet_v2", inputs, features, (4096, 5), num_classes, is_training, dropout_keep_prob, spatial_squeeze, _small_start()
    )


@net("overfeat.overfeat_arg_scope")
def overfeat_arg_scope(weight_decay: float = 0.0005) -> Any:
    """Defaults of OverFeat's layers."""
    return _arg_scope(weight_decay, tf.zeros_initializer(), pools="VALID")


@net("overfeat.overfeat")
def overfeat(
    inputs: Any,
    num_classes: int = 1000,
    is_training: Any = True,
    dropout_keep_prob: float = 0.5,
    spatial_squeeze: bool = True,
    scope: str = "overfeat",
) -> Any:
    """OverFeat, the fast one; for images of 231 x 231."""

    def features(images: Any) -> Any:
        found = conv2d(images, 64, [11, 11], 4, padding="VALID", scope="conv1")
        found = max_pool2d(found, [2, 2], scope="pool1")
        found = conv2d(found, 256, [5, 5], padding="VALID", scope="conv2")
        found = max_pool2d(found, [2, 2], scope="pool2")
        for i, depth in enumerate((512, 1024, 1024), 3):
            found = conv2d(found, depth, [3, 3], scope=f"conv{i}")
        return max_pool2d(found, [2, 2], scope="pool5")

    return _classifier(
        scope, "overfeat", inputs, features, (3072, 6), num_classes, is_training, dropout_keep_prob, spatial_squeeze, _small_start()
    )


@net("vgg.vgg_arg_scope")
def vgg_arg_scope(weight_decay: float = 0.0005) -> Any:
    """Defaults of VGG's layers."""
    return _arg_scope(weight_decay, tf.zeros_initializer())


def _vgg(layers: int, title: str, letter: str, counts: tuple[int, ...]) -> Any:
    def features(images: Any) -> Any:
        found = images
        for i, (count, depth) in enumerate(zip(counts, (64, 128, 256, 512, 512)), 1):
            found = repeat(found, count, conv2d, depth, [3, 3], scope=f"conv{i}")
            found = max_pool2d(found, [2, 2], scope=f"pool{i}")
        return found

    def vgg(
        inputs: Any,
        num_classes: int = 1000,
        is_training: Any = True,
        dropout_keep_prob: float = 0.5,
        spatial_squeeze: bool = True,
        scope: str = title,
    ) -> Any:
        return _classifier(scope, title, inputs, features, (4096, 7), num_classes, is_training, dropout_keep_prob, spatial_squeeze)

    vgg.__name__ = vgg.__qualname__ = title
    vgg.__doc__ = f"VGG with {layers} layers; for images of 224 x 224."
    return net(*dict.fromkeys((f"vgg.{title}", f"vgg.vgg_{letter}")))(vgg)


vgg_a = _vgg(11, "vgg_a", "a", (1, 1, 2, 2, 2))
vgg_16 = _vgg(16, "vgg_16", "d", (2, 2, 3, 3, 3))
vgg_19 = _vgg(19, "vgg_19", "e", (2, 2, 4, 4, 4))

for _function in (alexnet_v2, vgg_a, vgg_16, vgg_19):
    _function.default_image_size = 224
