"""Inception V3: convolutions of several sizes side by side."""

from __future__ import annotations

from typing import Any

from everflow.api import public
from everflow.keras.applications.building import CHOLLET, Application, channel_axis, kernel_files
from everflow.keras.applications.imagenet import BELOW, of_keras
from everflow.keras.layers.convolutional import Conv2D
from everflow.keras.layers.core import Activation
from everflow.keras.layers.merging import Concatenate
from everflow.keras.layers.normalization import BatchNormalization
from everflow.keras.layers.pooling import AveragePooling2D, MaxPooling2D


def _conv(x: Any, filters: int, rows: int, columns: int, strides: int = 1, padding: str = "same") -> Any:
    x = Conv2D(filters, (rows, columns), strides=(strides, strides), padding=padding, use_bias=False)(x)
    x = BatchNormalization(axis=channel_axis(), scale=False)(x)
    return Activation("relu")(x)


def _chain(x: Any, *steps: tuple[int, int, int]) -> Any:
    for filters, rows, columns in steps:
        x = _conv(x, filters, rows, columns)
    return x


def _pooled(x: Any, filters: int) -> Any:
    return _conv(AveragePooling2D((3, 3), strides=(1, 1), padding="same")(x), filters, 1, 1)


def _mixed(branches: list[Any], name: str | None) -> Any:
    return Concatenate(axis=channel_axis(), name=name)(branches)


@public(BELOW + "InceptionV3", BELOW + "inception_v3.InceptionV3")
@of_keras
def InceptionV3(
    include_top: bool = True,
    weights: Any = "imagenet",
    input_tensor: Any = None,
    input_shape: Any = None,
    pooling: Any = None,
    classes: int = 1000,
) -> Any:
    """Inception V3, for images of 299 x 299."""
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
        75,
    )
    x = _conv(application.x, 32, 3, 3, 2, "valid")
    x = _conv(x, 32, 3, 3, 1, "valid")
    x = _conv(x, 64, 3, 3)
    x = MaxPooling2D((3, 3), strides=(2, 2))(x)
    x = _conv(x, 80, 1, 1, 1, "valid")
    x = _conv(x, 192, 3, 3, 1, "valid")
    x = MaxPooling2D((3, 3), strides=(2, 2))(x)
    for i, pool_filters in enumerate((32, 64, 64)):
        x = _mixed(
            [
                _chain(x, (64, 1, 1)),
                _chain(x, (48, 1, 1), (64, 5, 5)),
                _chain(x, (64, 1, 1), (96, 3, 3), (96, 3, 3)),
                _pooled(x, pool_filters),
            ],
            f"mixed{i}",
        )
    small = _conv(x, 384, 3, 3, 2, "valid")
    deep = _conv(_chain(x, (64, 1, 1), (96, 3, 3)), 96, 3, 3, 2, "valid")
    x = _mixed([small, deep, MaxPooling2D((3, 3), strides=(2, 2))(x)], "mixed3")
    for i, n in enumerate((128, 160, 160, 192), 4):
        x = _mixed(
            [
                _chain(x, (192, 1, 1)),
                _chain(x, (n, 1, 1), (n, 1, 7), (192, 7, 1)),
                _chain(x, (n, 1, 1), (n, 7, 1), (n, 1, 7), (n, 7, 1), (192, 1, 7)),
                _pooled(x, 192),
            ],
            f"mixed{i}",
        )
    small = _conv(_chain(x, (192, 1, 1)), 320, 3, 3, 2, "valid")
    deep = _conv(_chain(x, (192, 1, 1), (192, 1, 7), (192, 7, 1)), 192, 3, 3, 2, "valid")
    x = _mixed([small, deep, MaxPooling2D((3, 3), strides=(2, 2))(x)], "mixed8")
    for i in (0, 1):
        first = _chain(x, (320, 1, 1))
        start = _chain(x, (384, 1, 1))
        wide = _mixed([_chain(start, (384, 1, 3)), _chain(start, (384, 3, 1))], f"mixed9_{i}")
        start = _chain(x, (448, 1, 1), (384, 3, 3))
        deep = _mixed([_chain(start, (384, 1, 3)), _chain(start, (384, 3, 1))], None)
        x = _mixed([first, wide, deep, _pooled(x, 192)], f"mixed{9 + i}")
    x = application.classified(x, "predictions")
    files = kernel_files("inception_v3", "9a0d58056eeedaa3f26cb7ebd46da564", "bcbd6486424b2319ff4ef7d526e38f63")
    return application.model(x, "inception_v3", CHOLLET + "v0.5/", files)
