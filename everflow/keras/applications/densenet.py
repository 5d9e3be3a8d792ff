"""DenseNet: each layer sees what all layers before it made."""

from __future__ import annotations

from typing import Any

from everflow.api import public
from everflow.keras.applications.building import KERAS_TEAM, Application, channel_axis, kernel_files
from everflow.keras.applications.imagenet import BELOW, of_keras
from everflow.keras.layers.borders import ZeroPadding2D
from everflow.keras.layers.convolutional import Conv2D
from everflow.keras.layers.core import Activation
from everflow.keras.layers.merging import Concatenate
from everflow.keras.layers.normalization import BatchNormalization
from everflow.keras.layers.pooling import AveragePooling2D, MaxPooling2D

GROWTH = 32
CHECKSUMS = {
    "densenet121": ("9d60b8095a5708f2dcce2bca79d332c7", "30ee3e1110167f948a6b9946edeeb738"),
    "densenet169": ("d699b8f76981ab1b30698df4c175e90b", "b8c4d4c20dd625c148057b9ff1c1176b"),
    "densenet201": ("1ceb130c1ea1b78c3bf6114dbdfd8807", "c13680b51ded0fb44dff2d8f86ac8bb1"),
}


def _ready(x: Any, name: str, normalization: str, activation: str) -> Any:
    x = BatchNormalization(axis=channel_axis(), epsilon=1.001e-5, name=name + normalization)(x)
    return Activation("relu", name=name + activation)(x)


def _densenet(name: str, depths: tuple[int, ...], options: dict[str, Any]) -> Any:
    application = Application(options, 224, 32)
    x = ZeroPadding2D(padding=((3, 3), (3, 3)))(application.x)
    x = Conv2D(64, 7, strides=2, use_bias=False, name="conv1/conv")(x)
    x = _ready(x, "conv1", "/bn", "/relu")
    x = ZeroPadding2D(padding=((1, 1), (1, 1)))(x)
    x = MaxPooling2D(3, strides=2, name="pool1")(x)
    for stage, depth in enumerate(depths, 2):
        for i in range(1, depth + 1):
            block = f"conv{stage}_block{i}"
            fresh = Conv2D(4 * GROWTH, 1, use_bias=False, name=block + "_1_conv")(_ready(x, block, "_0_bn", "_0_relu"))
            fresh = Conv2D(GROWTH, 3, padding="same", use_bias=False, name=block + "_2_conv")(_ready(fresh, block, "_1_bn", "_1_relu"))
            x = Concatenate(axis=channel_axis(), name=block + "_concat")([x, fresh])
        if stage < len(depths) + 1:
            pool = f"pool{stage}"
            x = _ready(x, pool, "_bn", "_relu")
            x = Conv2D(int(x.shape[channel_axis()]) // 2, 1, use_bias=False, name=pool + "_conv")(x)
            x = AveragePooling2D(2, strides=2, name=pool + "_pool")(x)
    x = _ready(x, "", "bn", "relu")
    x = application.classified(x, "fc1000")
    return application.model(x, name, KERAS_TEAM + "densenet/", kernel_files(name, *CHECKSUMS[name]))


def _published(name: str, depths: tuple[int, ...]) -> Any:
    @of_keras
    def build(
        include_top: bool = True,
        weights: Any = "imagenet",
        input_tensor: Any = None,
        input_shape: Any = None,
        pooling: Any = None,
        classes: int = 1000,
    ) -> Any:
        return _densenet(
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
    build.__doc__ = f"{name}: stages of {', '.join(map(str, depths))} layers."
    return public(BELOW + name, f"{BELOW}densenet.{name}")(build)


DenseNet121 = _published("DenseNet121", (6, 12, 24, 16))
DenseNet169 = _published("DenseNet169", (6, 12, 32, 32))
DenseNet201 = _published("DenseNet201", (6, 12, 48, 32))
