"""Dense layers, biases, dropout, and layers that are repeated."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import everflow as tf
from everflow.api import internal
from everflow.contrib.framework.arg_scopes import add_arg_scope
from everflow.contrib.framework.variables import model_variable
from everflow.contrib.layers.collecting import channel_dimension, collect_named_outputs, get_variable_collections, variable_getter
from everflow.contrib.layers.convolutional import finished, weighted
from everflow.contrib.layers.initializers import xavier_initializer
from everflow.contrib.layers.publishing import layer
from everflow.graph import dtypes
from everflow.layers import core as layers


@layer("fully_connected")
@add_arg_scope
def fully_connected(
    inputs: Any,
    num_outputs: int,
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
    """The product with a matrix of weights, over the last dimension."""
    if not isinstance(num_outputs, int):
        try:
            num_outputs = int(num_outputs)
        except (TypeError, ValueError):
            raise ValueError(f"num_outputs type should be one of int, got {type(num_outputs)}") from None
    return weighted("fully_connected", inputs, lambda _: layers.Dense, {"units": num_outputs}, locals())


elu = layer("elu")(functools.partial(fully_connected, activation_fn=tf.nn.elu))
relu = layer("relu")(functools.partial(fully_connected, activation_fn=tf.nn.relu))
relu6 = layer("relu6")(functools.partial(fully_connected, activation_fn=tf.nn.relu6))
linear = layer("linear")(functools.partial(fully_connected, activation_fn=None))


@layer("bias_add")
@add_arg_scope
def bias_add(
    inputs: Any,
    activation_fn: Any = None,
    initializer: Any = tf.zeros_initializer(),
    regularizer: Callable[..., Any] | None = None,
    reuse: Any = None,
    variables_collections: Any = None,
    outputs_collections: Sequence[str] | str | None = None,
    trainable: bool = True,
    data_format: str = "NHWC",
    scope: Any = None,
) -> Any:
    """Adds a variable to each channel."""
    if data_format not in ("NCHW", "NHWC"):
        raise ValueError("data_format has to be either NCHW or NHWC.")
    with tf.variable_scope(scope, "BiasAdd", [inputs], reuse=reuse) as sc:
        inputs = tf.convert_to_tensor(inputs)
        rank = inputs.get_shape().ndims
        if rank is None:
            raise ValueError("Dims of shape must be known but is None")
        if rank != 4 and data_format == "NCHW":
            raise ValueError("Data format NCHW only supports 4D Tensor")
        count = channel_dimension(inputs.get_shape(), data_format, min_rank=1)
        biases = model_variable(
            "biases",
            shape=[count],
            dtype=inputs.dtype.base_dtype,
            initializer=initializer,
            regularizer=regularizer,
            trainable=trainable,
            collections=get_variable_collections(variables_collections, "biases"),
        )
        outputs = tf.nn.bias_add(inputs, biases, data_format=data_format)
        return finished(outputs, sc.name, None, None, activation_fn, outputs_collections)


@layer("dropout")
@add_arg_scope
def dropout(
    inputs: Any,
    keep_prob: Any = 0.5,
    noise_shape: Any = None,
    is_training: Any = True,
    outputs_collections: Sequence[str] | str | None = None,
    scope: Any = None,
    seed: int | None = None,
) -> Any:
    """Sets elements to zero while training; each is kept with a probability."""
    with tf.variable_scope(scope, "Dropout", [inputs], custom_getter=variable_getter()) as sc:
        inputs = tf.convert_to_tensor(inputs)
        made = layers.Dropout(rate=1 - keep_prob, noise_shape=noise_shape, seed=seed, name=sc.name, _scope=sc)
        return collect_named_outputs(outputs_collections, sc.name, made.apply(inputs, training=is_training))


@layer("flatten")
@add_arg_scope
def flatten(inputs: Any, outputs_collections: Sequence[str] | str | None = None, scope: Any = None) -> Any:
    """Each example as a vector."""
    with tf.name_scope(scope, "Flatten", [inputs]) as sc:
        inputs = tf.convert_to_tensor(inputs)
        return collect_named_outputs(outputs_collections, sc, layers.flatten(inputs))


@layer("one_hot_encoding")
@add_arg_scope
def one_hot_encoding(
    labels: Any,
    num_classes: int,
    on_value: Any = 1.0,
    off_value: Any = 0.0,
    outputs_collections: Sequence[str] | str | None = None,
    scope: Any = None,
) -> Any:
    """A vector for each label, with one element that is on."""
    with tf.name_scope(scope, "OneHotEncoding", [labels, num_classes]) as sc:
        places = tf.convert_to_tensor(labels)
        places = tf.to_int64(places) if places.dtype == dtypes.int32 else places
        return collect_named_outputs(outputs_collections, sc, tf.one_hot(places, num_classes, on_value, off_value))


@layer("repeat")
@add_arg_scope
def repeat(inputs: Any, repetitions: int, layer: Any, *args: Any, **kwargs: Any) -> Any:
    """The same layer several times, each with variables of its own: in scopes that end in _1, _2, ..."""
    scope = kwargs.pop("scope", None)
    with tf.variable_scope(scope, "Repeat", [inputs]):
        outputs = tf.convert_to_tensor(inputs)
        if scope is None:
            scope = layer.__name__ if hasattr(layer, "__name__") else layer.func.__name__ if hasattr(layer, "func") else "repeat"
        for i in range(repetitions):
            kwargs["scope"] = f"{scope}_{i + 1}"
            outputs = layer(outputs, *args, **kwargs)
        return outputs


@layer("stack")
@add_arg_scope
def stack(inputs: Any, layer: Any, stack_args: Any, **kwargs: Any) -> Any:
    """The same layer with one set of arguments after the other: in scopes that end in _1, _2, ..."""
    scope = kwargs.pop("scope", None)
    if not isinstance(stack_args, (list, tuple)):
        raise ValueError("stack_args need to be a list or tuple")
    with tf.variable_scope(scope, "Stack", [inputs]):
        outputs = tf.convert_to_tensor(inputs)
        if scope is None:
            scope = layer.__name__ if hasattr(layer, "__name__") else layer.func.__name__ if hasattr(layer, "func") else "stack"
        for i, arguments in enumerate(stack_args):
            kwargs["scope"] = f"{scope}_{i + 1}"
            if not isinstance(arguments, (list, tuple)):
                arguments = [arguments]
            outputs = layer(outputs, *arguments, **kwargs)
        return outputs


@layer("softmax")
@add_arg_scope
def softmax(logits: Any, scope: Any = None) -> Any:
    """Softmax over the last dimension."""
    with tf.variable_scope(scope, "softmax", [logits]):
        classes = logits.get_shape().as_list()[-1]
        predictions = tf.nn.softmax(tf.reshape(logits, [-1, classes]))
        predictions = tf.reshape(predictions, tf.shape(logits))
        if not tf.executing_eagerly():
            predictions.set_shape(logits.get_shape())
        return predictions


@layer("maxout")
@add_arg_scope
def maxout(inputs: Any, num_units: int, axis: int = -1, scope: Any = None) -> Any:
    """The largest of each group of elements along a dimension, of which `num_units` are left."""
    with tf.variable_scope(scope, "MaxOut", [inputs]):
        inputs = tf.convert_to_tensor(inputs)
        sizes = inputs.get_shape().as_list()
        channels = sizes[axis]
        if channels % num_units:
            raise ValueError(f"number of features({channels}) is not a multiple of num_units({num_units})")
        sizes[axis] = num_units
        sizes += [channels // num_units]
        if None in sizes:
            dynamic = tf.shape(inputs)
            sizes = [dynamic[i] if n is None else n for i, n in enumerate(sizes)]
        outputs = tf.reshape(inputs, sizes)
        return tf.reduce_max(outputs, -1, keepdims=False)


@layer("legacy_fully_connected")
def legacy_fully_connected(
    x: Any,
    num_output_units: int,
    activation_fn: Any = None,
    weight_init: Any = xavier_initializer(),
    bias_init: Any = tf.zeros_initializer(),
    name: str | None = None,
    weight_collections: Any = ("weights",),
    bias_collections: Any = ("biases",),
    output_collections: Any = ("activations",),
    trainable: bool = True,
    weight_regularizer: Any = None,
    bias_regularizer: Any = None,
) -> Any:
    """The first form of fully_connected: its bias is named so, and collections are given one by one."""
    with tf.variable_scope(name, "fully_connected", [x]):
        x = tf.convert_to_tensor(x)
        if x.get_shape().ndims is None:
            raise ValueError("dims of x must be known but is None")
        sizes = x.get_shape().as_list()
        if len(sizes) < 2:
            raise ValueError(f"rank of x must be at least 2 not: {len(sizes)}")
        if sizes[-1] is None:
            raise ValueError("last dimension of x must be known but is None")
        weights = tf.get_variable(
            "weights",
            shape=[sizes[-1], num_output_units],
            dtype=x.dtype.base_dtype,
            initializer=weight_init,
            collections=[*weight_collections, tf.GraphKeys.GLOBAL_VARIABLES],
            regularizer=weight_regularizer,
            trainable=trainable,
        )
        flat = x if len(sizes) <= 2 else tf.reshape(x, [-1, sizes[-1]])
        y = tf.matmul(flat, weights)
        if bias_init is not None:
            bias = tf.get_variable(
                "bias",
                shape=[num_output_units],
                dtype=x.dtype.base_dtype,
                initializer=bias_init,
                collections=[*bias_collections, tf.GraphKeys.GLOBAL_VARIABLES],
                regularizer=bias_regularizer,
                trainable=trainable,
            )
            y = tf.nn.bias_add(y, bias)
        if len(sizes) > 2:
            y = tf.reshape(y, tf.concat([tf.shape(x)[:-1], [num_output_units]], 0))
            y.set_shape([*sizes[:-1], num_output_units])
        if activation_fn is not None:
            y = activation_fn(y)
        tf.add_to_collections(list(output_collections or ()), y)
        return y


legacy_linear = layer("legacy_linear")(legacy_fully_connected)
legacy_relu = layer("legacy_relu")(functools.partial(legacy_fully_connected, activation_fn=tf.nn.relu))


@internal("contrib.layers.python.layers.layers.poincare_normalize")
def poincare_normalize(x: Any, axis: Any = 1, epsilon: float = 1e-5, name: str | None = None) -> Any:
    """Vectors inside the unit ball: those that are too long are made 1 - `epsilon` long."""
    with tf.name_scope(name, "poincare_normalize", [x]) as scope:
        x = tf.convert_to_tensor(x, name="x")
        shorter = (1.0 - epsilon) * tf.rsqrt(tf.reduce_sum(tf.square(x), axis, keepdims=True))
        return tf.multiply(x, tf.minimum(shorter, tf.cast(1.0, x.dtype)), name=scope)


@layer("scale_gradient")
def scale_gradient(inputs: Any, gradient_multiplier: Any) -> Any:
    """The inputs themselves; their gradient is multiplied by a factor."""

    @tf.custom_gradient
    def identity(x: Any) -> Any:
        return tf.identity(x), lambda dy: dy * gradient_multiplier

    return identity(inputs)


@layer("spatial_softmax")
def spatial_softmax(
    features: Any,
    temperature: Any = None,
    name: str | None = None,
    variables_collections: Any = None,
    trainable: bool = True,
    data_format: str = "NHWC",
) -> Any:
    """Where each channel of images is active: the expected (x, y) of the softmax over its pixels, from -1 to 1."""
    with tf.variable_scope(name, "spatial_softmax"):
        sizes = features.get_shape().as_list()
        at = (2, 3, 1) if data_format == "NCHW" else (1, 2, 3)
        height, width = (sizes[i] if sizes[i] is not None else tf.shape(features)[i] for i in at[:2])
        channels = sizes[at[2]]
        if channels is None:
            raise ValueError("The num_channels dimension of the inputs to `spatial_softmax` should be defined. Found `None`.")
        if temperature is None:
            temperature = model_variable(
                "temperature",
                shape=(),
                dtype=dtypes.float32,
                initializer=tf.ones_initializer(),
                collections=get_variable_collections(variables_collections, "temperature"),
                trainable=trainable,
            )
        xs, ys = tf.meshgrid(tf.linspace(-1.0, 1.0, num=height), tf.linspace(-1.0, 1.0, num=width), indexing="ij")
        xs, ys = (tf.reshape(places, [1, height * width]) for places in (xs, ys))
        planes = features if data_format == "NCHW" else tf.transpose(features, [0, 3, 1, 2])
        weights = tf.nn.softmax(tf.reshape(planes, [-1, height * width]) / temperature)
        expected_x = tf.reduce_sum(xs * weights, [1], keepdims=True)
        expected_y = tf.reduce_sum(ys * weights, [1], keepdims=True)
        found = tf.reshape(tf.concat([expected_x, expected_y], 1), [-1, channels * 2])
        found.set_shape([sizes[0], channels * 2])
        return found
