"""MobileNetV2: narrow layers with wide ones between them."""

from __future__ import annotations

from typing import Any

from everflow.api import public
from everflow.keras.applications.building import Application, channel_axis
from everflow.keras.applications.imagenet import BELOW, of_keras
from everflow.keras.applications.mobilenet import square_size
from everflow.keras.layers.activations import ReLU
from everflow.keras.layers.borders import ZeroPadding2D
from everflow.keras.layers.convolutional import Conv2D
from everflow.keras.layers.merging import Add
from everflow.keras.layers.normalization import BatchNormalization
from everflow.keras.layers.separable import DepthwiseConv2D

BASE = "https://github.com/JonathanCMitchell/mobilenet_v2_keras/releases/download/v1.1/"
SIZES = (96, 128, 160, 192, 224)
ALPHAS = (0.35, 0.50, 0.75, 1.0, 1.3, 1.4)
# (filters, stride, how many) of each group of blocks; all but the first are six times as wide inside.
GROUPS = ((16, 1, 1), (24, 2, 2), (32, 2, 3), (64, 2, 4), (96, 1, 3), (160, 2, 3), (320, 1, 1))
WIDER = 6


def eighths(value: float, divisor: int = 8) -> int:
    """The multiple of `divisor` that is nearest, but not more than a tenth smaller."""
    found = max(divisor, int(value + divisor / 2) // divisor * divisor)
    return found + divisor if found < 0.9 * value else found


def padding_before(x: Any, kernel: int) -> tuple[tuple[int, int], tuple[int, int]]:
    """What a convolution with stride 2 needs around images, so that they come out at half the size."""
    sizes = x.shape.as_list()[2:4] if channel_axis() == 1 else x.shape.as_list()[1:3]
    adjust = (1, 1) if sizes[0] is None else tuple(1 - size % 2 for size in sizes)
    half = kernel // 2
    return (half - adjust[0], half), (half - adjust[1], half)


def _normalized(x: Any, name: str) -> Any:
    return BatchNormalization(axis=channel_axis(), epsilon=1e-3, momentum=0.999, name=name)(x)


def _block(x: Any, filters: int, stride: int, number: int) -> Any:
    """Widens, filters each channel, and narrows again."""
    name = f"block_{number}_" if number else "expanded_conv_"
    width = int(x.shape[channel_axis()])
    beside = x
    if number:
        x = Conv2D(WIDER * width, 1, padding="same", use_bias=False, name=name + "expand")(x)
        x = ReLU(6.0, name=name + "expand_relu")(_normalized(x, name + "expand_BN"))
    if stride == 2:
        x = ZeroPadding2D(padding_before(x, 3), name=name + "pad")(x)
    x = DepthwiseConv2D(3, strides=stride, use_bias=False, padding="same" if stride == 1 else "valid", name=name + "depthwise")(x)
    x = ReLU(6.0, name=name + "depthwise_relu")(_normalized(x, name + "depthwise_BN"))
    x = _normalized(Conv2D(filters, 1, padding="same", use_bias=False, name=name + "project")(x), name + "project_BN")
    return Add(name=name + "add")([beside, x]) if width == filters and stride == 1 else x


@public(BELOW + "MobileNetV2", BELOW + "mobilenet_v2.MobileNetV2")
@of_keras
def MobileNetV2(
    input_shape: Any = None,
    alpha: float = 1.0,
    include_top: bool = True,
    weights: Any = "imagenet",
    input_tensor: Any = None,
    pooling: Any = None,
    classes: int = 1000,
) -> Any:
    """MobileNetV2; `alpha` makes it narrower or wider."""
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
    if weights == "imagenet" and alpha not in ALPHAS:
        raise ValueError("If imagenet weights are being loaded, alpha can be one of `0.35`, `0.50`, `0.75`, `1.0`, `1.3` or `1.4` only.")
    x = ZeroPadding2D(padding_before(application.x, 3), name="Conv1_pad")(application.x)
    x = Conv2D(eighths(32 * alpha), 3, strides=(2, 2), padding="valid", use_bias=False, name="Conv1")(x)
    x = ReLU(6.0, name="Conv1_relu")(_normalized(x, "bn_Conv1"))
    number = 0
    for filters, stride, count in GROUPS:
        for i in range(count):
            x = _block(x, eighths(int(filters * alpha)), stride if i == 0 else 1, number)
            number += 1
    x = Conv2D(eighths(1280 * alpha) if alpha > 1.0 else 1280, 1, use_bias=False, name="Conv_1")(x)
    x = ReLU(6.0, name="out_relu")(_normalized(x, "Conv_1_bn"))
    x = application.classified(x, "Logits", pool_name=None)
    stem = f"mobilenet_v2_weights_tf_dim_ordering_tf_kernels_{alpha}_{size}"
    return application.model(x, f"mobilenetv2_{alpha:0.2f}_{size}", BASE, ((stem + ".h5", None), (stem + "_no_top.h5", None)))
