"""NASNet: cells that were found by search, normal ones and ones that make images smaller."""

from __future__ import annotations

from typing import Any

from everflow.api import public
from everflow.graph.shapes import dimension_value
from everflow.keras.applications.building import Application, channel_axis
from everflow.keras.applications.imagenet import BELOW, of_keras
from everflow.keras.applications.mobilenet_v2 import padding_before
from everflow.keras.layers.borders import Cropping2D, ZeroPadding2D
from everflow.keras.layers.convolutional import Conv2D
from everflow.keras.layers.core import Activation
from everflow.keras.layers.dense import Dense
from everflow.keras.layers.merging import Add, Concatenate
from everflow.keras.layers.normalization import BatchNormalization
from everflow.keras.layers.pooling import AveragePooling2D, GlobalAveragePooling2D, MaxPooling2D
from everflow.keras.layers.separable import SeparableConv2D

BASE = "https://github.com/titu1994/Keras-NASNet/releases/download/v1.2/"


def _joined_axis() -> int:
    return 1 if channel_axis() == 1 else -1


def _normalized(x: Any, name: str) -> Any:
    return BatchNormalization(axis=channel_axis(), momentum=0.9997, epsilon=1e-3, name=name)(x)


def _point_conv(x: Any, filters: int, name: str) -> Any:
    return Conv2D(filters, (1, 1), strides=(1, 1), padding="same", use_bias=False, kernel_initializer="he_normal", name=name)(x)


def _separable(x: Any, filters: int, kernel: int, block: str, stride: int = 1) -> Any:
    """Two separable convolutions, each after a relu."""
    options: dict[str, Any] = {"use_bias": False, "kernel_initializer": "he_normal"}
    x = Activation("relu")(x)
    if stride == 2:
        x = ZeroPadding2D(padding_before(x, kernel), name=f"separable_conv_1_pad_{block}")(x)
    x = SeparableConv2D(
        filters, kernel, strides=stride, padding="same" if stride == 1 else "valid", name=f"separable_conv_1_{block}", **options
    )(x)
    x = Activation("relu")(_normalized(x, f"separable_conv_1_bn_{block}"))
    x = SeparableConv2D(filters, kernel, padding="same", name=f"separable_conv_2_{block}", **options)(x)
    return _normalized(x, f"separable_conv_2_bn_{block}")


def _adjusted(p: Any, x: Any, filters: int, block: str) -> Any:
    """What came before, in the size and with the channels that a cell needs."""
    if p is None:
        return x
    rows = 2 if channel_axis() == 1 else 1
    if dimension_value(p.shape[rows]) != dimension_value(x.shape[rows]):
        p = Activation("relu", name=f"adjust_relu_1_{block}")(p)
        even = AveragePooling2D((1, 1), strides=(2, 2), padding="valid", name=f"adjust_avg_pool_1_{block}")(p)
        even = _point_conv(even, filters // 2, f"adjust_conv_1_{block}")
        odd = Cropping2D(cropping=((1, 0), (1, 0)))(ZeroPadding2D(padding=((0, 1), (0, 1)))(p))
        odd = AveragePooling2D((1, 1), strides=(2, 2), padding="valid", name=f"adjust_avg_pool_2_{block}")(odd)
        odd = _point_conv(odd, filters // 2, f"adjust_conv_2_{block}")
        return _normalized(Concatenate(axis=_joined_axis())([even, odd]), f"adjust_bn_{block}")
    if dimension_value(p.shape[channel_axis()]) != filters:
        p = _point_conv(Activation("relu")(p), filters, f"adjust_conv_projection_{block}")
        return _normalized(p, f"adjust_bn_{block}")
    return p


def _average(x: Any, name: str) -> Any:
    return AveragePooling2D((3, 3), strides=(1, 1), padding="same", name=name)(x)


def _normal_cell(x: Any, p: Any, filters: int, block: str) -> tuple[Any, Any]:
    p = _adjusted(p, x, filters, block)
    h = _normalized(_point_conv(Activation("relu")(x), filters, f"normal_conv_1_{block}"), f"normal_bn_1_{block}")

    def added(number: int, a: Any, b: Any) -> Any:
        return Add(name=f"normal_add_{number}_{block}")([a, b])

    x1 = added(1, _separable(h, filters, 5, f"normal_left1_{block}"), _separable(p, filters, 3, f"normal_right1_{block}"))
    x2 = added(2, _separable(p, filters, 5, f"normal_left2_{block}"), _separable(p, filters, 3, f"normal_right2_{block}"))
    x3 = added(3, _average(h, f"normal_left3_{block}"), p)
    x4 = added(4, _average(p, f"normal_left4_{block}"), _average(p, f"normal_right4_{block}"))
    x5 = added(5, _separable(h, filters, 3, f"normal_left5_{block}"), h)
    return Concatenate(axis=_joined_axis(), name=f"normal_concat_{block}")([p, x1, x2, x3, x4, x5]), x


def _reduction_cell(x: Any, p: Any, filters: int, block: str) -> tuple[Any, Any]:
    p = _adjusted(p, x, filters, block)
    h = _normalized(_point_conv(Activation("relu")(x), filters, f"reduction_conv_1_{block}"), f"reduction_bn_1_{block}")
    padded = ZeroPadding2D(padding_before(h, 3), name=f"reduction_pad_1_{block}")(h)

    def pooled(kind: Any, name: str) -> Any:
        return kind((3, 3), strides=(2, 2), padding="valid", name=f"reduction_{name}_{block}")(padded)

    left = _separable(h, filters, 5, f"reduction_left1_{block}", 2)
    right = _separable(p, filters, 7, f"reduction_right1_{block}", 2)
    x1 = Add(name=f"reduction_add_1_{block}")([left, right])
    x2 = Add(name=f"reduction_add_2_{block}")([pooled(MaxPooling2D, "left2"), _separable(p, filters, 7, f"reduction_right2_{block}", 2)])
    x3 = Add(name=f"reduction_add3_{block}")([pooled(AveragePooling2D, "left3"), _separable(p, filters, 5, f"reduction_right3_{block}", 2)])
    x4 = Add()([x2, _average(x1, f"reduction_left4_{block}")])
    x5 = Add(name=f"reduction_add4_{block}")([_separable(x1, filters, 3, f"reduction_left4_{block}"), pooled(MaxPooling2D, "right5")])
    return Concatenate(axis=_joined_axis(), name=f"reduction_concat_{block}")([x2, x3, x4, x5]), x


def _nasnet(
    kind: str,
    last_filters: int,
    blocks: int,
    stem_filters: int,
    skips_reduction: bool,
    size: int,
    checksums: tuple[str, str],
    options: dict[str, Any],
) -> Any:
    application = Application(options, size, 32)
    filters = last_filters // 24
    x = Conv2D(stem_filters, (3, 3), strides=(2, 2), padding="valid", use_bias=False, kernel_initializer="he_normal", name="stem_conv1")(
        application.x
    )
    x = _normalized(x, "stem_bn1")
    x, p = _reduction_cell(x, None, filters // 4, "stem_1")
    x, p = _reduction_cell(x, p, filters // 2, "stem_2")
    for stage in range(3):
        width = filters * 2**stage
        first = stage * blocks + (stage > 0)
        if stage:
            x, before = _reduction_cell(x, p, width, f"reduce_{stage * blocks}")
            p = p if skips_reduction else before
        for i in range(blocks):
            x, p = _normal_cell(x, p, width, str(first + i))
    x = Activation("relu")(x)
    if application.include_top:
        x = GlobalAveragePooling2D()(x)
        x = Dense(application.classes, activation="softmax", name="predictions")(x)
    else:
        x = application.pooled(x)
    stem = "NASNet-" + kind
    return application.model(
        x, "NASNet", BASE, ((stem + ".h5", checksums[0]), (stem + "-no-top.h5", checksums[1])), kept_as="nasnet_" + kind
    )


@public(BELOW + "NASNetMobile", BELOW + "nasnet.NASNetMobile")
@of_keras
def NASNetMobile(
    input_shape: Any = None,
    include_top: bool = True,
    weights: Any = "imagenet",
    input_tensor: Any = None,
    pooling: Any = None,
    classes: int = 1000,
) -> Any:
    """NASNet for phones, for images of 224 x 224."""
    return _nasnet(
        "mobile",
        1056,
        4,
        32,
        False,
        224,
        ("020fb642bf7360b370c678b08e0adf61", "1ed92395b5b598bdda52abe5c0dbfd63"),
        {
            "include_top": include_top,
            "weights": weights,
            "input_tensor": input_tensor,
            "input_shape": input_shape,
            "pooling": pooling,
            "classes": classes,
        },
    )


@public(BELOW + "NASNetLarge", BELOW + "nasnet.NASNetLarge")
@of_keras
def NASNetLarge(
    input_shape: Any = None,
    include_top: bool = True,
    weights: Any = "imagenet",
    input_tensor: Any = None,
    pooling: Any = None,
    classes: int = 1000,
) -> Any:
    """The large NASNet, for images of 331 x 331."""
    return _nasnet(
        "large",
        4032,
        6,
        96,
        True,
        331,
        ("11577c9a518f0070763c2b964a382f17", "d81d89dc07e6e56530c4e77faddd61b5"),
        {
            "include_top": include_top,
            "weights": weights,
            "input_tensor": input_tensor,
            "input_shape": input_shape,
            "pooling": pooling,
            "classes": classes,
        },
    )
