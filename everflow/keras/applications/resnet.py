"""ResNet and ResNet V2: deep networks of blocks that add to what they are given."""

from __future__ import annotations

from typing import Any

from everflow.api import public
from everflow.keras.applications.building import KERAS_TEAM, Application, channel_axis, kernel_files
from everflow.keras.applications.imagenet import BELOW, of_keras
from everflow.keras.layers.borders import ZeroPadding2D
from everflow.keras.layers.convolutional import Conv2D
from everflow.keras.layers.core import Activation
from everflow.keras.layers.merging import Add
from everflow.keras.layers.normalization import BatchNormalization
from everflow.keras.layers.pooling import MaxPooling2D

CHECKSUMS = {
    "resnet50": ("2cb95161c43110f7111970584f804107", "4d473c1dd8becc155b73f8504c6f6626"),
    "resnet101": ("f1aeb4b969a6efcfb50fad2f0c20cfc5", "88cf7a10940856eca736dc7b7e228a21"),
    "resnet152": ("100835be76be38e30d865e96f2aaae62", "ee4c566cf9a93f14d82f913c2dc6dd0c"),
    "resnet50v2": ("3ef43a0b657b3be2300d5770ece849e0", "fac2f116257151a9d068a22e544a4917"),
    "resnet101v2": ("6343647c601c52e1368623803854d971", "c0ed64b8031c3730f411d2eb4eea35b5"),
    "resnet152v2": ("a49b44d1979771252814e80f8ec446f9", "ed17cf2e0169df9d443503ef94b23b33"),
}
FILTERS = (64, 128, 256, 512)


def _normalized(x: Any, name: str) -> Any:
    return BatchNormalization(axis=channel_axis(), epsilon=1.001e-5, name=name)(x)


def _activated(x: Any, name: str) -> Any:
    return Activation("relu", name=name)(x)


def _block(x: Any, filters: int, stride: int, widens: bool, name: str) -> Any:
    """1 x 1, 3 x 3 and 1 x 1 convolutions, each normalized afterwards."""
    shortcut = x
    if widens:
        shortcut = _normalized(Conv2D(4 * filters, 1, strides=stride, name=name + "_0_conv")(x), name + "_0_bn")
    x = _normalized(Conv2D(filters, 1, strides=stride, name=name + "_1_conv")(x), name + "_1_bn")
    x = _activated(x, name + "_1_relu")
    x = _normalized(Conv2D(filters, 3, padding="same", name=name + "_2_conv")(x), name + "_2_bn")
    x = _activated(x, name + "_2_relu")
    x = _normalized(Conv2D(4 * filters, 1, name=name + "_3_conv")(x), name + "_3_bn")
    return _activated(Add(name=name + "_add")([shortcut, x]), name + "_out")


def _block_v2(x: Any, filters: int, stride: int, widens: bool, name: str) -> Any:
    """The same, normalized before."""
    ready = _activated(_normalized(x, name + "_preact_bn"), name + "_preact_relu")
    if widens:
        shortcut = Conv2D(4 * filters, 1, strides=stride, name=name + "_0_conv")(ready)
    else:
        shortcut = MaxPooling2D(1, strides=stride)(x) if stride > 1 else x
    x = Conv2D(filters, 1, strides=1, use_bias=False, name=name + "_1_conv")(ready)
    x = _activated(_normalized(x, name + "_1_bn"), name + "_1_relu")
    x = ZeroPadding2D(padding=((1, 1), (1, 1)), name=name + "_2_pad")(x)
    x = Conv2D(filters, 3, strides=stride, use_bias=False, name=name + "_2_conv")(x)
    x = _activated(_normalized(x, name + "_2_bn"), name + "_2_relu")
    x = Conv2D(4 * filters, 1, name=name + "_3_conv")(x)
    return Add(name=name + "_out")([shortcut, x])


def _resnet(name: str, depths: tuple[int, ...], options: dict[str, Any]) -> Any:
    application = Application(options, 224, 32)
    is_v2 = name.endswith("v2")
    x = ZeroPadding2D(padding=((3, 3), (3, 3)), name="conv1_pad")(application.x)
    x = Conv2D(64, 7, strides=2, name="conv1_conv")(x)
    if not is_v2:
        x = _activated(_normalized(x, "conv1_bn"), "conv1_relu")
    x = ZeroPadding2D(padding=((1, 1), (1, 1)), name="pool1_pad")(x)
    x = MaxPooling2D(3, strides=2, name="pool1_pool")(x)
    for stack, (depth, filters) in enumerate(zip(depths, FILTERS), 2):
        for i in range(1, depth + 1):
            block = f"conv{stack}_block{i}"
            if is_v2:
                # The last block of a stack makes images smaller, except in the last stack.
                x = _block_v2(x, filters, 2 if i == depth and stack < 5 else 1, i == 1, block)
            else:
                x = _block(x, filters, 2 if i == 1 and stack > 2 else 1, i == 1, block)
    if is_v2:
        x = _activated(_normalized(x, "post_bn"), "post_relu")
    x = application.classified(x, "probs")
    return application.model(x, name, KERAS_TEAM + "resnet/", kernel_files(name, *CHECKSUMS[name]))


def _published(name: str, depths: tuple[int, ...], *modules: str) -> Any:
    @of_keras
    def build(
        include_top: bool = True,
        weights: Any = "imagenet",
        input_tensor: Any = None,
        input_shape: Any = None,
        pooling: Any = None,
        classes: int = 1000,
    ) -> Any:
        return _resnet(
            name.lower(),
            depths,
            {
                "include_top": include_top,
                "weights": weights,
                "input_tensor": input_tensor,
                "input_shape": input_shape,
                "pooling": pooling,
                "classes": classes,
            },
        )

    build.__name__ = build.__qualname__ = name
    build.__doc__ = f"{name}, with {3 * sum(depths) + 2} layers of weights."
    return public(BELOW + name, *(f"{BELOW}{module}.{name}" for module in modules))(build)


ResNet50 = _published("ResNet50", (3, 4, 6, 3), "resnet", "resnet50")
ResNet101 = _published("ResNet101", (3, 4, 23, 3), "resnet")
ResNet152 = _published("ResNet152", (3, 8, 36, 3), "resnet")
ResNet50V2 = _published("ResNet50V2", (3, 4, 6, 3), "resnet_v2")
ResNet101V2 = _published("ResNet101V2", (3, 4, 23, 3), "resnet_v2")
ResNet152V2 = _published("ResNet152V2", (3, 8, 36, 3), "resnet_v2")
