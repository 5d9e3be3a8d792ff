"""MobileNet: separable convolutions for small machines."""

from __future__ import annotations

from typing import Any

from everflow.api import public
from everflow.keras.applications.building import CHOLLET, Application, channel_axis
from everflow.keras.applications.imagenet import BELOW, of_keras
from everflow.keras.config import image_data_format
from everflow.keras.layers.activations import ReLU
from everflow.keras.layers.borders import ZeroPadding2D
from everflow.keras.layers.convolutional import Conv2D
from everflow.keras.layers.core import Activation, Dropout, Reshape
from everflow.keras.layers.normalization import BatchNormalization
from everflow.keras.layers.pooling import GlobalAveragePooling2D
from everflow.keras.layers.separable import DepthwiseConv2D
from everflow.platform import logging

# (filters, stride) of each block.
BLOCKS = ((64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2), *[(512, 1)] * 5, (1024, 2), (1024, 1))
SIZES = (128, 160, 192, 224)
ALPHAS = {0.25: "2_5", 0.5: "5_0", 0.75: "7_5", 1.0: "1_0"}


def _active(x: Any, name: str) -> Any:
    x = BatchNormalization(axis=channel_axis(), name=name + "_bn")(x)
    return ReLU(6.0, name=name + "_relu")(x)


def square_size(options: dict[str, Any], sizes: tuple[int, ...]) -> int:
    """The side of the images, where it is one of those that weights were made for; else 224."""
    shape = options.get("input_shape")
    if shape is None:
        return 224
    rows, columns = shape[1:] if image_data_format() == "channels_first" else shape[:2]
    return rows if rows == columns and rows in sizes else 224


@public(BELOW + "MobileNet", BELOW + "mobilenet.MobileNet")
@of_keras
def MobileNet(
    input_shape: Any = None,
    alpha: float = 1.0,
    depth_multiplier: int = 1,
    dropout: float = 1e-3,
    include_top: bool = True,
    weights: Any = "imagenet",
    input_tensor: Any = None,
    pooling: Any = None,
    classes: int = 1000,
) -> Any:
    """MobileNet; `alpha` makes it narrower, `depth_multiplier` its depthwise convolutions wider."""
    options = {
        "include_top": include_top,
        "weights": weights,
        "input_tensor": input_tensor,
        "input_shape": input_shape,
        "pooling": pooling,
        "classes": classes,
    }
    size = square_size(options, SIZES)
    application = Application(options, size, 32)
    if weights == "imagenet":
        if depth_multiplier != 1:
            raise ValueError("If imagenet weights are being loaded, depth multiplier must be 1")
        if alpha not in ALPHAS:
            raise ValueError("If imagenet weights are being loaded, alpha can be one of`0.25`, `0.50`, `0.75` or `1.0` only.")
        if application.shape[1] not in SIZES:
            size = 224
            logging.warning(
                "`input_shape` is undefined or non-square, or `rows` is not in [128, 160, 192, 224]. Weights for input shape "
                "(224, 224) will be loaded as the default."
            )
    x = ZeroPadding2D(padding=((0, 1), (0, 1)), name="conv1_pad")(application.x)
    x = _active(Conv2D(int(32 * alpha), (3, 3), strides=(2, 2), use_bias=False, name="conv1")(x), "conv1")
    for i, (filters, stride) in enumerate(BLOCKS, 1):
        if stride > 1:
            x = ZeroPadding2D(((0, 1), (0, 1)), name=f"conv_pad_{i}")(x)
        x = _active(
            DepthwiseConv2D(
                (3, 3),
                padding="same" if stride == 1 else "valid",
                depth_multiplier=depth_multiplier,
                strides=(stride, stride),
                use_bias=False,
                name=f"conv_dw_{i}",
            )(x),
            f"conv_dw_{i}",
        )
        x = _active(Conv2D(int(filters * alpha), (1, 1), padding="same", use_bias=False, name=f"conv_pw_{i}")(x), f"conv_pw_{i}")
    if include_top:
        width = int(1024 * alpha)
        x = GlobalAveragePooling2D()(x)
        x = Reshape((width, 1, 1) if channel_axis() == 1 else (1, 1, width), name="reshape_1")(x)
        x = Dropout(dropout, name="dropout")(x)
        x = Conv2D(classes, (1, 1), padding="same", name="conv_preds")(x)
        x = Reshape((classes,), name="reshape_2")(x)
        x = Activation("softmax", name="act_softmax")(x)
    else:
        x = application.pooled(x)
    stem = f"mobilenet_{ALPHAS.get(alpha, '1_0')}_{size}_tf"
    return application.model(x, f"mobilenet_{alpha:0.2f}_{size}", CHOLLET + "v0.6/", ((stem + ".h5", None), (stem + "_no_top.h5", None)))
