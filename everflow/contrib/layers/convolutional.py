"""Convolutions with their activation, normalization and collections in one call."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import everflow as tf
from everflow.contrib.framework.arg_scopes import add_arg_scope
from everflow.contrib.framework.variables import model_variable
from everflow.contrib.layers.collecting import (
    add_to_collections,
    collect_named_outputs,
    get_variable_collections,
    last_dimension,
    n_positive_integers,
    two_element_tuple,
    variable_getter,
)
from everflow.contrib.layers.initializers import xavier_initializer
from everflow.contrib.layers.publishing import layer
from everflow.graph.dtypes import DTypeLike
from everflow.layers import convolutional as layers

_FORMATS = (None, "NWC", "NCW", "NHWC", "NCHW", "NDHWC", "NCDHW")
_KERNEL_AND_BIAS = {"kernel": "weights", "bias": "biases"}


def finished(
    outputs: Any,
    scope_name: str,
    normalizer_fn: Any,
    normalizer_params: Any,
    activation_fn: Any,
    outputs_collections: Sequence[str] | str | None,
) -> Any:
    """What comes after a layer's product: normalization, activation, collections."""
    if normalizer_fn is not None:
        outputs = normalizer_fn(outputs, **(normalizer_params or {}))
    if activation_fn is not None:
        outputs = activation_fn(outputs)
    return collect_named_outputs(outputs_collections, scope_name, outputs)


def _layout(data_format: str | None) -> str:
    return "channels_first" if data_format and data_format.startswith("NC") else "channels_last"


def _convolution(
    kind: str,
    inputs: Any,
    num_outputs: int,
    kernel_size: Any,
    stride: Any,
    padding: str,
    data_format: str | None,
    rate: Any,
    activation_fn: Any,
    normalizer_fn: Any,
    normalizer_params: Any,
    weights_initializer: Any,
    weights_regularizer: Any,
    biases_initializer: Any,
    biases_regularizer: Any,
    reuse: Any,
    variables_collections: Any,
    outputs_collections: Sequence[str] | str | None,
    trainable: bool,
    scope: Any,
    conv_dims: int | None,
) -> Any:
    if data_format not in _FORMATS:
        raise ValueError(f"Invalid data_format: {data_format!r}")

    def chosen(inputs: Any) -> Any:
        rank = inputs.get_shape().ndims
        if conv_dims is not None and conv_dims + 2 != rank:
            raise ValueError(f"Convolution expects input with rank {conv_dims + 2}, got {rank}")
        if rank not in (3, 4, 5):
            raise ValueError("Convolution not supported for input with rank", rank)
        return {3: layers.Conv1D, 4: layers.Conv2D, 5: layers.Conv3D}[rank]

    return weighted(kind, inputs, chosen, window(kernel_size, stride, padding, data_format, rate, num_outputs), locals())


def window(kernel_size: Any, stride: Any, padding: str, data_format: str | None, rate: Any, num_outputs: int) -> dict[str, Any]:
    """The same as tf.layers calls it."""
    sizes = {"filters": num_outputs, "kernel_size": kernel_size, "strides": stride, "dilation_rate": rate}
    return {**sizes, "padding": padding, "data_format": _layout(data_format)}


def weighted(kind: str, inputs: Any, choose: Callable[[Any], Any], own: dict[str, Any], settings: dict[str, Any]) -> Any:
    """Applies a layer with weights and biases, in a scope of its own.

    `choose(inputs)` returns its class, `own` are the arguments that only it has, and `settings` those that all such functions have:
    normalization, activation, initializers, collections and so on.
    """
    getter = variable_getter(_KERNEL_AND_BIAS)
    with tf.variable_scope(settings["scope"], kind, [inputs], reuse=settings["reuse"], custom_getter=getter) as sc:
        inputs = tf.convert_to_tensor(inputs)
        made = choose(inputs)(
            **own,
            activation=None,
            use_bias=not settings["normalizer_fn"] and bool(settings["biases_initializer"]),
            kernel_initializer=settings["weights_initializer"],
            bias_initializer=settings["biases_initializer"],
            kernel_regularizer=settings["weights_regularizer"],
            bias_regularizer=settings["biases_regularizer"],
            activity_regularizer=None,
            trainable=settings["trainable"],
            name=sc.name,
            dtype=inputs.dtype.base_dtype,
            _scope=sc,
            _reuse=settings["reuse"],
        )
        outputs = made.apply(inputs)
        _collect(made, settings["variables_collections"])
        rest = (settings[what] for what in ("normalizer_fn", "normalizer_params", "activation_fn", "outputs_collections"))
        return finished(outputs, sc.name, *rest)


def _collect(made: Any, variables_collections: Any) -> None:
    add_to_collections(made.kernel, variables_collections, "weights")
    if made.use_bias:
        add_to_collections(made.bias, variables_collections, "biases")


@layer("convolution")
@add_arg_scope
def convolution(
    inputs: Any,
    num_outputs: int,
    kernel_size: Any,
    stride: Any = 1,
    padding: str = "SAME",
    data_format: str | None = None,
    rate: Any = 1,
    activation_fn: Any = tf.nn.relu,
    normalizer_fn: Any = None,
    normalizer_params: Any = None,
    weights_initializer: Any = xavier_initializer(),
    weights_regularizer: Any = None,
    biases_initializer: Any = tf.zeros_initializer(),
    biases_regularizer: Any = None,
    reuse: Any = None,
    variables_collections: Any = None,
    outputs_collections: Sequence[str] | str | None = None,
    trainable: bool = True,
    scope: Any = None,
    conv_dims: int | None = None,
) -> Any:
    """A convolution over one, two or three dimensions."""
    return _convolution(
        "Conv",
        inputs,
        num_outputs,
        kernel_size,
        stride,
        padding,
        data_format,
        rate,
        activation_fn,
        normalizer_fn,
        normalizer_params,
        weights_initializer,
        weights_regularizer,
        biases_initializer,
        biases_regularizer,
        reuse,
        variables_collections,
        outputs_collections,
        trainable,
        scope,
        conv_dims,
    )


@layer("convolution1d", "conv1d")
@add_arg_scope
def convolution1d(
    inputs: Any,
    num_outputs: int,
    kernel_size: Any,
    stride: Any = 1,
    padding: str = "SAME",
    data_format: str | None = None,
    rate: Any = 1,
    activation_fn: Any = tf.nn.relu,
    normalizer_fn: Any = None,
    normalizer_params: Any = None,
    weights_initializer: Any = xavier_initializer(),
    weights_regularizer: Any = None,
    biases_initializer: Any = tf.zeros_initializer(),
    biases_regularizer: Any = None,
    reuse: Any = None,
    variables_collections: Any = None,
    outputs_collections: Sequence[str] | str | None = None,
    trainable: bool = True,
    scope: Any = None,
) -> Any:
    """A convolution over sequences."""
    return convolution(
        inputs,
        num_outputs,
        kernel_size,
        stride,
        padding,
        data_format,
        rate,
        activation_fn,
        normalizer_fn,
        normalizer_params,
        weights_initializer,
        weights_regularizer,
        biases_initializer,
        biases_regularizer,
        reuse,
        variables_collections,
        outputs_collections,
        trainable,
        scope,
        conv_dims=1,
    )


@layer("convolution2d", "conv2d")
@add_arg_scope
def convolution2d(
    inputs: Any,
    num_outputs: int,
    kernel_size: Any,
    stride: Any = 1,
    padding: str = "SAME",
    data_format: str | None = None,
    rate: Any = 1,
    activation_fn: Any = tf.nn.relu,
    normalizer_fn: Any = None,
    normalizer_params: Any = None,
    weights_initializer: Any = xavier_initializer(),
    weights_regularizer: Any = None,
    biases_initializer: Any = tf.zeros_initializer(),
    biases_regularizer: Any = None,
    reuse: Any = None,
    variables_collections: Any = None,
    outputs_collections: Sequence[str] | str | None = None,
    trainable: bool = True,
    scope: Any = None,
) -> Any:
    """A convolution over images."""
    return convolution(
        inputs,
        num_outputs,
        kernel_size,
        stride,
        padding,
        data_format,
        rate,
        activation_fn,
        normalizer_fn,
        normalizer_params,
        weights_initializer,
        weights_regularizer,
        biases_initializer,
        biases_regularizer,
        reuse,
        variables_collections,
        outputs_collections,
        trainable,
        scope,
        conv_dims=2,
    )


@layer("convolution3d", "conv3d")
@add_arg_scope
def convolution3d(
    inputs: Any,
    num_outputs: int,
    kernel_size: Any,
    stride: Any = 1,
    padding: str = "SAME",
    data_format: str | None = None,
    rate: Any = 1,
    activation_fn: Any = tf.nn.relu,
    normalizer_fn: Any = None,
    normalizer_params: Any = None,
    weights_initializer: Any = xavier_initializer(),
    weights_regularizer: Any = None,
    biases_initializer: Any = tf.zeros_initializer(),
    biases_regularizer: Any = None,
    reuse: Any = None,
    variables_collections: Any = None,
    outputs_collections: Sequence[str] | str | None = None,
    trainable: bool = True,
    scope: Any = None,
) -> Any:
    """A convolution over volumes."""
    return convolution(
        inputs,
        num_outputs,
        kernel_size,
        stride,
        padding,
        data_format,
        rate,
        activation_fn,
        normalizer_fn,
        normalizer_params,
        weights_initializer,
        weights_regularizer,
        biases_initializer,
        biases_regularizer,
        reuse,
        variables_collections,
        outputs_collections,
        trainable,
        scope,
        conv_dims=3,
    )


def _transposed(
    made_by: Any,
    kind: str,
    formats: tuple[str, str],
    inputs: Any,
    num_outputs: int,
    kernel_size: Any,
    stride: Any,
    padding: str,
    data_format: str,
    activation_fn: Any,
    normalizer_fn: Any,
    normalizer_params: Any,
    weights_initializer: Any,
    weights_regularizer: Any,
    biases_initializer: Any,
    biases_regularizer: Any,
    reuse: Any,
    variables_collections: Any,
    outputs_collections: Sequence[str] | str | None,
    trainable: bool,
    scope: Any,
) -> Any:
    if data_format not in formats:
        raise ValueError(f"data_format has to be either {formats[0]} or {formats[1]}.")
    with tf.variable_scope(scope, kind, [inputs], reuse=reuse, custom_getter=variable_getter(_KERNEL_AND_BIAS)) as sc:
        inputs = tf.convert_to_tensor(inputs)
        made = made_by(
            filters=num_outputs,
            kernel_size=kernel_size,
            strides=stride,
            padding=padding,
            data_format=_layout(data_format),
            activation=None,
            use_bias=not normalizer_fn and bool(biases_initializer),
            kernel_initializer=weights_initializer,
            bias_initializer=biases_initializer,
            kernel_regularizer=weights_regularizer,
            bias_regularizer=biases_regularizer,
            activity_regularizer=None,
            trainable=trainable,
            name=sc.name,
            dtype=inputs.dtype.base_dtype,
            _scope=sc,
            _reuse=reuse,
        )
        outputs = made.apply(inputs)
        _collect(made, variables_collections)
        return finished(outputs, sc.name, normalizer_fn, normalizer_params, activation_fn, outputs_collections)


@layer("convolution2d_transpose", "conv2d_transpose")
@add_arg_scope
def convolution2d_transpose(
    inputs: Any,
    num_outputs: int,
    kernel_size: Any,
    stride: Any = 1,
    padding: str = "SAME",
    data_format: str = "NHWC",
    activation_fn: Any = tf.nn.relu,
    normalizer_fn: Any = None,
    normalizer_params: Any = None,
    weights_initializer: Any = xavier_initializer(),
    weights_regularizer: Any = None,
    biases_initializer: Any = tf.zeros_initializer(),
    biases_regularizer: Any = None,
    reuse: Any = None,
    variables_collections: Any = None,
    outputs_collections: Sequence[str] | str | None = None,
    trainable: bool = True,
    scope: Any = None,
) -> Any:
    """The transpose of a convolution over images."""
    return _transposed(
        layers.Conv2DTranspose,
        "Conv2d_transpose",
        ("NCHW", "NHWC"),
        inputs,
        num_outputs,
        kernel_size,
        stride,
        padding,
        data_format,
        activation_fn,
        normalizer_fn,
        normalizer_params,
        weights_initializer,
        weights_regularizer,
        biases_initializer,
        biases_regularizer,
        reuse,
        variables_collections,
        outputs_collections,
        trainable,
        scope,
    )


@layer("convolution3d_transpose", "conv3d_transpose")
@add_arg_scope
def convolution3d_transpose(
    inputs: Any,
    num_outputs: int,
    kernel_size: Any,
    stride: Any = 1,
    padding: str = "SAME",
    data_format: str = "NDHWC",
    activation_fn: Any = tf.nn.relu,
    normalizer_fn: Any = None,
    normalizer_params: Any = None,
    weights_initializer: Any = xavier_initializer(),
    weights_regularizer: Any = None,
    biases_initializer: Any = tf.zeros_initializer(),
    biases_regularizer: Any = None,
    reuse: Any = None,
    variables_collections: Any = None,
    outputs_collections: Sequence[str] | str | None = None,
    trainable: bool = True,
    scope: Any = None,
) -> Any:
    """The transpose of a convolution over volumes."""
    return _transposed(
        layers.Conv3DTranspose,
        "Conv3d_transpose",
        ("NCDHW", "NDHWC"),
        inputs,
        num_outputs,
        kernel_size,
        stride,
        padding,
        data_format,
        activation_fn,
        normalizer_fn,
        normalizer_params,
        weights_initializer,
        weights_regularizer,
        biases_initializer,
        biases_regularizer,
        reuse,
        variables_collections,
        outputs_collections,
        trainable,
        scope,
    )


@layer("convolution2d_in_plane", "conv2d_in_plane")
@add_arg_scope
def convolution2d_in_plane(
    inputs: Any,
    kernel_size: Any,
    stride: Any = 1,
    padding: str = "SAME",
    activation_fn: Any = tf.nn.relu,
    normalizer_fn: Any = None,
    normalizer_params: Any = None,
    weights_initializer: Any = xavier_initializer(),
    weights_regularizer: Any = None,
    biases_initializer: Any = tf.zeros_initializer(),
    biases_regularizer: Any = None,
    reuse: Any = None,
    variables_collections: Any = None,
    outputs_collections: Sequence[str] | str | None = None,
    trainable: bool = True,
    scope: Any = None,
) -> Any:
    """One kernel for all channels, each convolved alone."""
    with tf.variable_scope(scope, "ConvInPlane", [inputs], reuse=reuse) as sc:
        dtype = inputs.dtype.base_dtype
        height, width = two_element_tuple(kernel_size)
        stride_height, stride_width = two_element_tuple(stride)
        channels = last_dimension(inputs.get_shape(), min_rank=4)
        weights = model_variable(
            "weights",
            shape=[height, width, 1, 1],
            dtype=dtype,
            initializer=weights_initializer,
            regularizer=weights_regularizer,
            collections=get_variable_collections(variables_collections, "weights"),
            trainable=trainable,
        )
        outputs = tf.nn.depthwise_conv2d(inputs, tf.tile(weights, [1, 1, channels, 1]), [1, stride_height, stride_width, 1], padding)
        if normalizer_fn is None and biases_initializer is not None:
            outputs = tf.nn.bias_add(
                outputs, _biases(channels, dtype, biases_initializer, biases_regularizer, variables_collections, trainable)
            )
        return finished(outputs, sc.name, normalizer_fn, normalizer_params, activation_fn, outputs_collections)


def _biases(
    count: int, dtype: DTypeLike, initializer: Any, regularizer: Callable[..., Any] | None, variables_collections: Any, trainable: bool
) -> Any:
    return model_variable(
        "biases",
        shape=[count],
        dtype=dtype,
        initializer=initializer,
        regularizer=regularizer,
        trainable=trainable,
        collections=get_variable_collections(variables_collections, "biases"),
    )


@layer("separable_convolution2d", "separable_conv2d")
@add_arg_scope
def separable_convolution2d(
    inputs: Any,
    num_outputs: int | None,
    kernel_size: Any,
    depth_multiplier: int = 1,
    stride: Any = 1,
    padding: str = "SAME",
    data_format: str = "NHWC",
    rate: Any = 1,
    activation_fn: Any = tf.nn.relu,
    normalizer_fn: Any = None,
    normalizer_params: Any = None,
    weights_initializer: Any = xavier_initializer(),
    pointwise_initializer: Any = None,
    weights_regularizer: Any = None,
    biases_initializer: Any = tf.zeros_initializer(),
    biases_regularizer: Any = None,
    reuse: Any = None,
    variables_collections: Any = None,
    outputs_collections: Sequence[str] | str | None = None,
    trainable: bool = True,
    scope: Any = None,
) -> Any:
    """Each channel convolved alone, then all mixed at each point; without `num_outputs` not mixed."""
    if data_format not in ("NCHW", "NHWC"):
        raise ValueError("data_format has to be either NCHW or NHWC.")
    getter = variable_getter({"bias": "biases", "depthwise_kernel": "depthwise_weights", "pointwise_kernel": "pointwise_weights"})
    with tf.variable_scope(scope, "SeparableConv2d", [inputs], reuse=reuse, custom_getter=getter) as sc:
        inputs = tf.convert_to_tensor(inputs)
        if num_outputs is not None:
            made = layers.SeparableConv2D(
                filters=num_outputs,
                kernel_size=kernel_size,
                strides=stride,
                padding=padding,
                data_format=_layout(data_format),
                dilation_rate=two_element_tuple(rate),
                activation=None,
                depth_multiplier=depth_multiplier,
                use_bias=not normalizer_fn and bool(biases_initializer),
                depthwise_initializer=weights_initializer,
                pointwise_initializer=pointwise_initializer or weights_initializer,
                bias_initializer=biases_initializer,
                depthwise_regularizer=weights_regularizer,
                pointwise_regularizer=weights_regularizer,
                bias_regularizer=biases_regularizer,
                activity_regularizer=None,
                trainable=trainable,
                name=sc.name,
                dtype=inputs.dtype.base_dtype,
                _scope=sc,
                _reuse=reuse,
            )
            outputs = made.apply(inputs)
            add_to_collections(made.depthwise_kernel, variables_collections, "weights")
            add_to_collections(made.pointwise_kernel, variables_collections, "weights")
            if made.use_bias:
                add_to_collections(made.bias, variables_collections, "biases")
        else:
            outputs = _depthwise(
                inputs,
                kernel_size,
                depth_multiplier,
                stride,
                padding,
                data_format,
                rate,
                normalizer_fn,
                weights_initializer,
                weights_regularizer,
                biases_initializer,
                biases_regularizer,
                variables_collections,
                trainable,
            )
        return finished(outputs, sc.name, normalizer_fn, normalizer_params, activation_fn, outputs_collections)


def _depthwise(
    inputs: Any,
    kernel_size: Any,
    depth_multiplier: int,
    stride: Any,
    padding: str,
    data_format: str,
    rate: Any,
    normalizer_fn: Any,
    weights_initializer: Any,
    weights_regularizer: Any,
    biases_initializer: Any,
    biases_regularizer: Any,
    variables_collections: Any,
    trainable: bool,
) -> Any:
    dtype = inputs.dtype.base_dtype
    height, width = two_element_tuple(kernel_size)
    stride_height, stride_width = two_element_tuple(stride)
    channels_first = data_format == "NCHW"
    channels = inputs.get_shape().as_list()[1 if channels_first else -1]
    weights = model_variable(
        "depthwise_weights",
        shape=[height, width, channels, depth_multiplier],
        dtype=dtype,
        initializer=weights_initializer,
        regularizer=weights_regularizer,
        trainable=trainable,
        collections=get_variable_collections(variables_collections, "weights"),
    )
    strides = [1, 1, stride_height, stride_width] if channels_first else [1, stride_height, stride_width, 1]
    outputs = tf.nn.depthwise_conv2d(inputs, weights, strides, padding, rate=n_positive_integers(2, rate), data_format=data_format)
    if normalizer_fn is None and biases_initializer is not None:
        biases = _biases(depth_multiplier * channels, dtype, biases_initializer, biases_regularizer, variables_collections, trainable)
        outputs = tf.nn.bias_add(outputs, biases, data_format=data_format)
    return outputs
