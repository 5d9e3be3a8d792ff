"""Pooling of images and volumes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import everflow as tf
from everflow.api import public
from everflow.contrib.framework.arg_scopes import add_arg_scope
from everflow.contrib.layers.collecting import collect_named_outputs
from everflow.contrib.layers.publishing import layer
from everflow.layers import pooling as layers


def _pooled(
    made_by: Any,
    kind: str,
    formats: tuple[str, str],
    inputs: Any,
    kernel_size: Any,
    stride: Any,
    padding: str,
    data_format: str,
    outputs_collections: Sequence[str] | str | None,
    scope: Any,
) -> Any:
    if data_format not in formats:
        raise ValueError(f"data_format has to be either {formats[0]} or {formats[1]}.")
    with tf.name_scope(scope, kind, [inputs]) as sc:
        inputs = tf.convert_to_tensor(inputs)
        layout = "channels_first" if data_format.startswith("NC") else "channels_last"
        outputs = made_by(pool_size=kernel_size, strides=stride, padding=padding, data_format=layout, _scope=sc).apply(inputs)
        return collect_named_outputs(outputs_collections, sc, outputs)


@layer("max_pool2d")
@add_arg_scope
def max_pool2d(
    inputs: Any,
    kernel_size: Any,
    stride: Any = 2,
    padding: str = "VALID",
    data_format: str = "NHWC",
    outputs_collections: Sequence[str] | str | None = None,
    scope: Any = None,
) -> Any:
    """The largest element of each window of images."""
    return _pooled(
        layers.MaxPooling2D, "MaxPool2D", ("NCHW", "NHWC"), inputs, kernel_size, stride, padding, data_format, outputs_collections, scope
    )


@layer("max_pool3d")
@add_arg_scope
def max_pool3d(
    inputs: Any,
    kernel_size: Any,
    stride: Any = 2,
    padding: str = "VALID",
    data_format: str = "NDHWC",
    outputs_collections: Sequence[str] | str | None = None,
    scope: Any = None,
) -> Any:
    """The largest element of each window of volumes."""
    return _pooled(
        layers.MaxPooling3D, "MaxPool3D", ("NCDHW", "NDHWC"), inputs, kernel_size, stride, padding, data_format, outputs_collections, scope
    )


@layer("avg_pool2d")
@add_arg_scope
def avg_pool2d(
    inputs: Any,
    kernel_size: Any,
    stride: Any = 2,
    padding: str = "VALID",
    data_format: str = "NHWC",
    outputs_collections: Sequence[str] | str | None = None,
    scope: Any = None,
) -> Any:
    """The mean of each window of images."""
    return _pooled(
        layers.AveragePooling2D,
        "AvgPool2D",
        ("NCHW", "NHWC"),
        inputs,
        kernel_size,
        stride,
        padding,
        data_format,
        outputs_collections,
        scope,
    )


@layer("avg_pool3d")
@add_arg_scope
def avg_pool3d(
    inputs: Any,
    kernel_size: Any,
    stride: Any = 2,
    padding: str = "VALID",
    data_format: str = "NDHWC",
    outputs_collections: Sequence[str] | str | None = None,
    scope: Any = None,
) -> Any:
    """The mean of each window of volumes."""
    return _pooled(
        layers.AveragePooling3D,
        "AvgPool3D",
        ("NCDHW", "NDHWC"),
        inputs,
        kernel_size,
        stride,
        padding,
        data_format,
        outputs_collections,
        scope,
    )


@public("contrib.layers.python.layers.layers.pool", "contrib.slim.pool")
@add_arg_scope
def pool(
    inputs: Any,
    kernel_size: Any,
    pooling_type: str,
    padding: str = "VALID",
    data_format: str | None = None,
    dilation_rate: Any = 1,
    stride: Any = 1,
    outputs_collections: Sequence[str] | str | None = None,
    scope: Any = None,
) -> Any:
    """Windows of any rank, with their largest elements ("MAX") or means ("AVG")."""
    with tf.name_scope(scope, f"{pooling_type.lower()}_pool", [inputs]) as sc:
        inputs = tf.convert_to_tensor(inputs)
        if inputs.get_shape().ndims is None:
            raise ValueError("Rank of inputs must be known")
        rank = inputs.get_shape().ndims - 2
        sizes = [[n] * rank if isinstance(n, int) else list(n) for n in (kernel_size, dilation_rate, stride)]
        outputs = tf.nn.pool(
            inputs, sizes[0], pooling_type, padding, dilation_rate=sizes[1], strides=sizes[2], data_format=data_format, name=sc
        )
        return collect_named_outputs(outputs_collections, sc, outputs)
