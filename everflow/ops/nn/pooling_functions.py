"""Pooling as programs call it."""

from __future__ import annotations

from typing import Any

import numpy as np

import everflow as tf
from everflow.api import public
from everflow.graph.convert import convert_to_tensor
from everflow.graph.dtypes import DTypeLike
from everflow.graph.scopes import name_scope
from everflow.ops.core.registry import apply
from everflow.ops.nn.atrous_convolutions import SpaceToBatch, steps_of
from everflow.ops.nn.convolution_functions import channel_index, per_axis
from everflow.platform.deprecation import deprecated_argument_lookup as either


def _pool2d(op_type: str, value: Any, ksize: Any, strides: Any, padding: str, data_format: str | None, name: str | None) -> Any:
    data_format = "NHWC" if data_format is None else data_format
    channels = channel_index(data_format)
    return apply(
        op_type,
        value,
        ksize=per_axis(ksize, 2, channels, "ksize"),
        strides=per_axis(strides, 2, channels, "strides"),
        padding=padding,
        data_format=data_format,
        name=name,
    )


@public("nn.max_pool")
def max_pool(
    value: Any, ksize: Any, strides: Any, padding: str, data_format: str | None = "NHWC", name: str | None = None, input: Any = None
) -> Any:
    """The largest value of each window of an image."""
    value = either("input", input, "value", value)
    with name_scope(name, "MaxPool", [value]) as scope:
        if (np.isscalar(ksize) and ksize == 0) or (isinstance(ksize, (list, tuple, np.ndarray)) and any(k == 0 for k in ksize)):
            raise ValueError("ksize cannot be zero.")
        return _pool2d("MaxPool", value, ksize, strides, padding, data_format, scope)


@public("nn.max_pool2d")
def max_pool2d(input: Any, ksize: Any, strides: Any, padding: str, data_format: str | None = "NHWC", name: str | None = None) -> Any:
    """The largest value of each window of an image."""
    with name_scope(name, "MaxPool2d", [input]) as scope:
        return _pool2d("MaxPool", input, ksize, strides, padding, data_format, scope)


@public("nn.avg_pool", "nn.avg_pool2d")
def avg_pool(
    value: Any, ksize: Any, strides: Any, padding: str, data_format: str | None = "NHWC", name: str | None = None, input: Any = None
) -> Any:
    """The average of each window of an image; padding does not count."""
    value = either("input", input, "value", value)
    with name_scope(name, "AvgPool", [value]) as scope:
        return _pool2d("AvgPool", value, ksize, strides, padding, data_format, scope)


def _pool3d(op_type: str, input: Any, ksize: Any, strides: Any, padding: str, data_format: str | None, name: str | None) -> Any:
    with name_scope(name, op_type, [input]) as scope:
        data_format = "NDHWC" if data_format is None else data_format
        channels = channel_index(data_format)
        return apply(
            op_type,
            input,
            ksize=per_axis(ksize, 3, channels, "ksize"),
            strides=per_axis(strides, 3, channels, "strides"),
            padding=padding,
            data_format=data_format,
            name=scope,
        )


@public("nn.max_pool3d")
def max_pool3d(input: Any, ksize: Any, strides: Any, padding: str, data_format: str | None = "NDHWC", name: str | None = None) -> Any:
    """The largest value of each window of a volume."""
    return _pool3d("MaxPool3D", input, ksize, strides, padding, data_format, name)


@public("nn.avg_pool3d")
def avg_pool3d(input: Any, ksize: Any, strides: Any, padding: str, data_format: str | None = "NDHWC", name: str | None = None) -> Any:
    """The average of each window of a volume."""
    return _pool3d("AvgPool3D", input, ksize, strides, padding, data_format, name)


def _pool1d(
    op_type: str, default_name: str, input: Any, ksize: Any, strides: Any, padding: str, data_format: str | None, name: str | None
) -> Any:
    with name_scope(name, default_name, [input]) as scope:
        data_format = "NWC" if data_format is None else data_format
        channels = channel_index(data_format)
        ksize, strides = [1, *per_axis(ksize, 1, channels, "ksize")], [1, *per_axis(strides, 1, channels, "strides")]
        axis = 2 if channels == 1 else 1
        result = apply(
            op_type,
            tf.expand_dims(input, axis),
            ksize=ksize,
            strides=strides,
            padding=padding,
            data_format="NCHW" if channels == 1 else "NHWC",
            name=scope,
        )
        return tf.squeeze(result, [axis])


@public("nn.max_pool1d")
def max_pool1d(input: Any, ksize: Any, strides: Any, padding: str, data_format: str | None = "NWC", name: str | None = None) -> Any:
    """The largest value of each window of a sequence."""
    return _pool1d("MaxPool", "MaxPool1d", input, ksize, strides, padding, data_format, name)


@public("nn.avg_pool1d")
def avg_pool1d(input: Any, ksize: Any, strides: Any, padding: str, data_format: str | None = "NWC", name: str | None = None) -> Any:
    """The average of each window of a sequence."""
    return _pool1d("AvgPool", "AvgPool1D", input, ksize, strides, padding, data_format, name)


def _by_rank(
    functions: dict[int, Any], input: Any, ksize: Any, strides: Any, padding: str, data_format: str | None, name: str | None
) -> Any:
    if hasattr(input, "shape"):
        rank = len(input.shape) if not isinstance(input, tf.Tensor) else input.shape.ndims
    else:
        rank = np.ndim(input)
    if rank is None:
        if data_format is None:
            raise ValueError("Rank of input must be known or data_format must be given.")
        rank = len(data_format)
    n = rank - 2
    if not 1 <= n <= 3:
        raise ValueError(f"Input tensor must be of rank 3, 4 or 5 but was {rank}.")
    return functions[n](input, ksize=ksize, strides=strides, padding=padding, data_format=data_format, name=name)


@public("nn.max_pool_v2")
def max_pool_v2(input: Any, ksize: Any, strides: Any, padding: str, data_format: str | None = None, name: str | None = None) -> Any:
    """The largest value of each window, for inputs with one, two or three spatial axes."""
    return _by_rank({1: max_pool1d, 2: max_pool, 3: max_pool3d}, input, ksize, strides, padding, data_format, name)


@public("nn.avg_pool_v2")
def avg_pool_v2(input: Any, ksize: Any, strides: Any, padding: str, data_format: str | None = None, name: str | None = None) -> Any:
    """The average of each window, for inputs with one, two or three spatial axes."""
    return _by_rank({1: avg_pool1d, 2: avg_pool, 3: avg_pool3d}, input, ksize, strides, padding, data_format, name)


@public("nn.max_pool_with_argmax")
def max_pool_with_argmax(
    input: Any,
    ksize: Any,
    strides: Any,
    padding: str,
    data_format: str = "NHWC",
    Targmax: Any = None,
    name: str | None = None,
    output_dtype: DTypeLike | None = None,
    include_batch_in_index: bool = False,
) -> Any:
    """The largest value of each window, and where it is in the flattened image."""
    if data_format != "NHWC":
        raise ValueError("Data formats other than 'NHWC' are not yet supported")
    targmax = either("output_dtype", output_dtype, "Targmax", Targmax)
    for argument, value in (("ksize", ksize), ("strides", strides)):
        if not isinstance(value, (list, tuple)):
            raise TypeError(f"Expected list for '{argument}' argument to 'max_pool_with_argmax' Op, not {value}.")
    return apply(
        "MaxPoolWithArgmax",
        input,
        ksize=ksize,
        strides=strides,
        padding=padding,
        Targmax=tf.int64 if targmax is None else targmax,
        include_batch_in_index=include_batch_in_index,
        name=name,
    )


@public("nn.pool")
def pool(
    input: Any,
    window_shape: Any,
    pooling_type: str,
    padding: str,
    dilation_rate: Any = None,
    strides: Any = None,
    name: str | None = None,
    data_format: str | None = None,
    dilations: Any = None,
) -> Any:
    """Pooling ("MAX" or "AVG") with windows that may be strided or spread out."""
    dilation_rate = either("dilations", dilations, "dilation_rate", dilation_rate)
    with name_scope(name, f"{pooling_type.lower()}_pool", [input]) as scope:
        input = convert_to_tensor(input, name="input")
        n = len(window_shape)
        if n not in (1, 2, 3):
            raise ValueError("It is required that 1 <= num_spatial_dims <= 3.")
        input.get_shape().with_rank(n + 2)
        strides, dilation_rate = steps_of(n, strides, dilation_rate)
        if padding == "SAME" and max(dilation_rate) > 1:
            raise ValueError("pooling with SAME padding is not implemented for dilation_rate > 1")
        if any(step > size for step, size in zip(strides, window_shape)):
            raise ValueError("strides > window_shape not supported due to inconsistency between CPU and GPU implementations")
        kind = {
            ("MAX", 1): "MaxPool",
            ("MAX", 2): "MaxPool",
            ("MAX", 3): "MaxPool3D",
            ("AVG", 1): "AvgPool",
            ("AVG", 2): "AvgPool",
            ("AVG", 3): "AvgPool3D",
        }.get((pooling_type, n))
        if kind is None:
            raise ValueError(f"{n}-D {pooling_type} pooling is not supported.")
        first = channel_index(data_format) == 1
        ksize, steps = ([1, 1, *v] if first else [1, *v, 1] for v in ([int(w) for w in window_shape], [int(s) for s in strides]))
        if n == 1:
            ksize, steps = [1, *ksize], [1, *steps]
        op_format = {1: "NCHW" if first else "NHWC", 2: "NCHW" if first else "NHWC", 3: "NCDHW" if first else "NDHWC"}[n]

        def build_op(_: int, padding: str) -> Any:
            def run(inp: Any, __: Any) -> Any:
                if n > 1:
                    return apply(kind, inp, ksize=ksize, strides=steps, padding=padding, data_format=op_format, name=scope)
                axis = 2 if first else 1
                pooled = apply(
                    kind, tf.expand_dims(inp, axis), ksize=ksize, strides=steps, padding=padding, data_format=op_format, name=scope
                )
                return tf.squeeze(pooled, [axis])

            return run

        spatial = range(2, n + 2) if first else range(1, n + 1)
        return SpaceToBatch(
            input.get_shape(),
            dilation_rate,
            padding,
            build_op,
            filter_shape=np.asarray(window_shape, np.int32),
            spatial_dims=spatial,
            data_format=data_format,
        )(input, None)
