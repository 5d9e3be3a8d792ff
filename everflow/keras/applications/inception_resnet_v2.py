"""Inception-ResNet V2: Inception blocks that add to what they are given."""

from __future__ import annotations

from typing import Any

from everflow.api import public
from everflow.keras.applications.building import CHOLLET, Application, channel_axis, kernel_files
from everflow.keras.applications.imagenet import BELOW, of_keras
from everflow.keras.layers.convolutional import Conv2D
from everflow.keras.layers.core import Activation, Lambda
from everflow.keras.layers.merging import Concatenate
from everflow.keras.layers.normalization import BatchNormalization
from everflow.keras.layers.pooling import AveragePooling2D, MaxPooling2D

# For each kind of block: the convolutions of its branches.
BRANCHES: dict[str, tuple[tuple[tuple[int, Any], ...], ...]] = {
    "block35": (((32, 1),), ((32, 1), (32, 3)), ((32, 1), (48, 3), (64, 3))),
    "block17": (((192, 1),), ((128, 1), (160, (1, 7)), (192, (7, 1)))),
    "block8": (((192, 1),), ((192, 1), (224, (1, 3)), (256, (3, 1)))),
}


def _conv(x: Any, filters: int, kernel: Any, strides: int = 1, padding: str = "same", name: str | None = None) -> Any:
    x = Conv2D(filters, kernel, strides=strides, padding=padding, use_bias=False, name=name)(x)
    x = BatchNormalization(axis=channel_axis(), scale=False, name=None if name is None else name + "_bn")(x)
    return Activation("relu", name=None if name is None else name + "_ac")(x)


def _chain(x: Any, *steps: tuple[int, Any]) -> Any:
    for filters, kernel in steps:
        x = _conv(x, filters, kernel)
    return x


def _block(x: Any, kind: str, number: int, scale: float, activation: str | None = "relu") -> Any:
    name = f"{kind}_{number}"
    mixed = Concatenate(axis=channel_axis(), name=name + "_mixed")([_chain(x, *steps) for steps in BRANCHES[kind]])
    width = int(x.shape[channel_axis()])
    up = Conv2D(width, 1, padding="same", use_bias=True, name=name + "_conv")(mixed)
    x = Lambda(
        lambda inputs, scale: inputs[0] + inputs[1] * scale,
        output_shape=tuple(x.shape[1:].as_list()),
        arguments={"scale": scale},
        name=name,
    )([x, up])
    return x if activation is None else Activation(activation, name=name + "_ac")(x)


def _mixed(branches: list[Any], name: str) -> Any:
    return Concatenate(axis=channel_axis(), name=name)(branches)


@public(BELOW + "InceptionResNetV2", BELOW + "inception_resnet_v2.InceptionResNetV2")
@of_keras
def InceptionResNetV2(
    include_top: bool = True,
    weights: Any = "imagenet",
    input_tensor: Any = None,
    input_shape: Any = None,
    pooling: Any = None,
    classes: int = 1000,
) -> Any:
    """Inception-ResNet V2, for images of 299 x 299."""
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
    x = _conv(application.x, 32, 3, 2, "valid")
    x = _conv(x, 32, 3, 1, "valid")
    x = _conv(x, 64, 3)
    x = MaxPooling2D(3, strides=2)(x)
    x = _conv(x, 80, 1, 1, "valid")
    x = _conv(x, 192, 3, 1, "valid")
    x = MaxPooling2D(3, strides=2)(x)
    branches = [_chain(x, (96, 1)), _chain(x, (48, 1), (64, 5)), _chain(x, (64, 1), (96, 3), (96, 3))]
    branches.append(_conv(AveragePooling2D(3, strides=1, padding="same")(x), 64, 1))
    x = _mixed(branches, "mixed_5b")
    for i in range(1, 11):
        x = _block(x, "block35", i, 0.17)
    branches = [_conv(x, 384, 3, 2, "valid"), _conv(_chain(x, (256, 1), (256, 3)), 384, 3, 2, "valid")]
    x = _mixed([*branches, MaxPooling2D(3, strides=2, padding="valid")(x)], "mixed_6a")
    for i in range(1, 21):
        x = _block(x, "block17", i, 0.1)
    branches = [_conv(_chain(x, (256, 1)), filters, 3, 2, "valid") for filters in (384, 288)]
    branches.append(_conv(_chain(x, (256, 1), (288, 3)), 320, 3, 2, "valid"))
    x = _mixed([*branches, MaxPooling2D(3, strides=2, padding="valid")(x)], "mixed_7a")
    for i in range(1, 10):
        x = _block(x, "block8", i, 0.2)
    x = _block(x, "block8", 10, 1.0, activation=None)
    x = _conv(x, 1536, 1, name="conv_7b")
    x = application.classified(x, "predictions")
    files = kernel_files("inception_resnet_v2", "e693bd0210a403b3192acc6073ad2e96", "d19885ff4a710c122648d3b5c3b684e4")
    return application.model(x, "inception_resnet_v2", CHOLLET + "v0.7/", files)
