"""Xception: convolutions of space and of channels, apart from each other."""

from __future__ import annotations

from typing import Any

from everflow.api import public
from everflow.keras.applications.building import CHOLLET, Application, channel_axis, kernel_files
from everflow.keras.applications.imagenet import BELOW, of_keras
from everflow.keras.layers.convolutional import Conv2D
from everflow.keras.layers.core import Activation
from everflow.keras.layers.merging import Add
from everflow.keras.layers.normalization import BatchNormalization
from everflow.keras.layers.pooling import MaxPooling2D
from everflow.keras.layers.separable import SeparableConv2D


def _normalized(x: Any, name: str | None = None) -> Any:
    return BatchNormalization(axis=channel_axis(), name=name)(x)


def _separable(x: Any, filters: int, name: str) -> Any:
    return _normalized(SeparableConv2D(filters, (3, 3), padding="same", use_bias=False, name=name)(x), name + "_bn")


def _activated(x: Any, name: str) -> Any:
    return Activation("relu", name=name + "_act")(x)


def _shrinking_block(x: Any, number: int, sizes: tuple[int, int], starts_active: bool) -> Any:
    """Two separable convolutions and a pooling, beside a convolution with stride."""
    name = f"block{number}"
    beside = _normalized(Conv2D(sizes[1], (1, 1), strides=(2, 2), padding="same", use_bias=False)(x))
    if starts_active:
        x = _activated(x, name + "_sepconv1")
    x = _separable(x, sizes[0], name + "_sepconv1")
    x = _separable(_activated(x, name + "_sepconv2"), sizes[1], name + "_sepconv2")
    x = MaxPooling2D((3, 3), strides=(2, 2), padding="same", name=name + "_pool")(x)
    return Add()([x, beside])


@public(BELOW + "Xception", BELOW + "xception.Xception")
@of_keras
def Xception(
    include_top: bool = True,
    weights: Any = "imagenet",
    input_tensor: Any = None,
    input_shape: Any = None,
    pooling: Any = None,
    classes: int = 1000,
) -> Any:
    """Xception, for images of 299 x 299."""
    application = Application(
        {
            "include_top": include_top,
            "weights": weights,
            "input_tensor": input_tensor,
            "input_shape": input_shape,
            "pooling": pooling,
            "classes": classes,
        },
        299,
        71,
    )
    x = Conv2D(32, (3, 3), strides=(2, 2), use_bias=False, name="block1_conv1")(application.x)
    x = _activated(_normalized(x, "block1_conv1_bn"), "block1_conv1")
    x = Conv2D(64, (3, 3), use_bias=False, name="block1_conv2")(x)
    x = _activated(_normalized(x, "block1_conv2_bn"), "block1_conv2")
    for number, filters in ((2, 128), (3, 256), (4, 728)):
        x = _shrinking_block(x, number, (filters, filters), starts_active=number > 2)
    for number in range(5, 13):
        beside = x
        for i in (1, 2, 3):
            name = f"block{number}_sepconv{i}"
            x = _separable(_activated(x, name), 728, name)
        x = Add()([x, beside])
    x = _shrinking_block(x, 13, (728, 1024), starts_active=True)
    for i, filters in ((1, 1536), (2, 2048)):
        name = f"block14_sepconv{i}"
        x = _activated(_separable(x, filters, name), name)
    x = application.classified(x, "predictions")
    files = kernel_files("xception", "0a58e3b7378bc2990ea3b43d5981f1f6", "b0042744bf5b25fce3cb969f33bebb97")
    return application.model(x, "xception", CHOLLET + "v0.4/", files)
