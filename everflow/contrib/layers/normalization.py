"""Normalization of batches, layers, instances and groups."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import everflow as tf
from everflow.contrib.framework.arg_scopes import add_arg_scope
from everflow.contrib.framework.variables import model_variable
from everflow.contrib.layers.collecting import add_to_collections, collect_named_outputs, get_variable_collections, variable_getter
from everflow.contrib.layers.publishing import layer
from everflow.graph.dtypes import DTypeLike
from everflow.graph.keys import GraphKeys
from everflow.layers.arguments import constant_value, smart_cond
from everflow.layers.normalization import BatchNormalization
from everflow.train.moving_averages import assign_moving_average


@layer("batch_norm")
@add_arg_scope
def batch_norm(
    inputs: Any,
    decay: float = 0.999,
    center: bool = True,
    scale: bool = False,
    epsilon: float = 0.001,
    activation_fn: Any = None,
    param_initializers: Any = None,
    param_regularizers: Any = None,
    updates_collections: Sequence[str] | str | None = GraphKeys.UPDATE_OPS,
    is_training: Any = True,
    reuse: Any = None,
    variables_collections: Any = None,
    outputs_collections: Sequence[str] | str | None = None,
    trainable: bool = True,
    batch_weights: Any = None,
    fused: bool | None = None,
    data_format: str = "NHWC",
    zero_debias_moving_mean: bool = False,
    scope: Any = None,
    renorm: bool = False,
    renorm_clipping: Any = None,
    renorm_decay: float = 0.99,
    adjustment: Any = None,
) -> Any:
    """Brings channels to mean zero and variance one over a batch, and to what was so on average when not training."""
    if fused:
        if batch_weights is not None:
            raise ValueError("Weighted mean and variance is not currently supported for fused batch norm.")
        if renorm:
            raise ValueError("Renorm is not supported for fused batch norm.")
        if adjustment is not None:
            raise ValueError("adjustment is not supported for fused batch norm.")
    if renorm and zero_debias_moving_mean:
        raise ValueError("Renorm is not supported with zero_debias_moving_mean.")
    if data_format not in ("NCHW", "NHWC"):
        raise ValueError("data_format has to be either NCHW or NHWC.")
    inputs = tf.convert_to_tensor(inputs)
    rank = inputs.get_shape().ndims
    if fused is None:
        fused = batch_weights is None and not renorm and rank in (2, 4) and adjustment is None
    # What the layer below does not do: its update ops go to one collection, and it takes images.
    special = zero_debias_moving_mean or updates_collections is not GraphKeys.UPDATE_OPS
    if fused and (special or rank == 2):
        return _fused(
            inputs,
            decay,
            center,
            scale,
            epsilon,
            activation_fn,
            param_initializers,
            param_regularizers,
            updates_collections,
            is_training,
            reuse,
            variables_collections,
            outputs_collections,
            trainable,
            data_format,
            zero_debias_moving_mean,
            scope,
        )
    getter = variable_getter()
    with tf.variable_scope(scope, "BatchNorm", [inputs], reuse=reuse, custom_getter=getter) as sc:
        if batch_weights is None and not special:
            return _by_layer(
                inputs,
                sc,
                decay,
                center,
                scale,
                epsilon,
                activation_fn,
                param_initializers,
                param_regularizers,
                is_training,
                reuse,
                variables_collections,
                outputs_collections,
                trainable,
                fused,
                data_format,
                renorm,
                renorm_clipping,
                renorm_decay,
                adjustment,
            )
        return _by_moments(
            inputs,
            sc,
            decay,
            center,
            scale,
            epsilon,
            activation_fn,
            param_initializers or {},
            param_regularizers or {},
            updates_collections,
            is_training,
            variables_collections,
            outputs_collections,
            trainable,
            batch_weights,
            data_format,
            zero_debias_moving_mean,
        )


def _by_layer(
    inputs: Any,
    sc: Any,
    decay: float,
    center: bool,
    scale: bool,
    epsilon: float,
    activation_fn: Any,
    initializers: Any,
    regularizers: Any,
    is_training: Any,
    reuse: Any,
    variables_collections: Any,
    outputs_collections: Sequence[str] | str | None,
    trainable: bool,
    fused: Any,
    data_format: str,
    renorm: bool,
    renorm_clipping: Any,
    renorm_decay: float,
    adjustment: Any,
) -> Any:
    initializers, regularizers = initializers or {}, regularizers or {}
    normalization = BatchNormalization(
        axis=1 if data_format == "NCHW" else -1,
        momentum=decay,
        epsilon=epsilon,
        center=center,
        scale=scale,
        beta_initializer=initializers.get("beta", tf.zeros_initializer()),
        gamma_initializer=initializers.get("gamma", tf.ones_initializer()),
        moving_mean_initializer=initializers.get("moving_mean", tf.zeros_initializer()),
        moving_variance_initializer=initializers.get("moving_variance", tf.ones_initializer()),
        beta_regularizer=regularizers.get("beta"),
        gamma_regularizer=regularizers.get("gamma"),
        trainable=trainable,
        renorm=renorm,
        renorm_clipping=renorm_clipping,
        renorm_momentum=renorm_decay,
        adjustment=adjustment,
        name=sc.name,
        _scope=sc,
        _reuse=reuse,
        fused=fused,
    )
    outputs = normalization.apply(inputs, training=is_training)
    for name in ("moving_mean", "moving_variance", "beta", "gamma"):
        variable = getattr(normalization, name, None)
        if variable is not None:
            add_to_collections(variable, variables_collections, name)
    return collect_named_outputs(outputs_collections, sc.name, outputs if activation_fn is None else activation_fn(outputs))


class _Parameters:
    """The variables of a batch norm that is not a layer of tf.layers."""

    def __init__(
        self, depth: Any, dtype: DTypeLike, initializers: Any, regularizers: Any, variables_collections: Any, trainable: bool
    ) -> None:
        self._depth, self._dtype = depth, dtype
        self._initializers, self._regularizers = initializers or {}, regularizers or {}
        self._collections = variables_collections
        self._trainable = trainable

    def make(self, name: str, default: Any, is_parameter: bool = True) -> Any:
        """beta, gamma, or a moving average."""
        return model_variable(
            name,
            shape=self._depth,
            dtype=self._dtype,
            initializer=self._initializers.get(name, default),
            regularizer=self._regularizers.get(name) if is_parameter else None,
            collections=get_variable_collections(self._collections, name),
            trainable=self._trainable and is_parameter,
        )

    def moving(self) -> tuple[Any, Any]:
        """The moving averages of means and variances."""
        return self.make("moving_mean", tf.zeros_initializer(), False), self.make("moving_variance", tf.ones_initializer(), False)


def _updated(moving: tuple[Any, Any], batch: tuple[Any, Any], decay: float, zero_debias: bool) -> tuple[Any, Any]:
    return (
        assign_moving_average(moving[0], batch[0], decay, zero_debias=zero_debias),
        assign_moving_average(moving[1], batch[1], decay, zero_debias=False),
    )


def _fused(
    inputs: Any,
    decay: float,
    center: bool,
    scale: bool,
    epsilon: float,
    activation_fn: Any,
    initializers: Any,
    regularizers: Any,
    updates_collections: Sequence[str] | str | None,
    is_training: Any,
    reuse: Any,
    variables_collections: Any,
    outputs_collections: Sequence[str] | str | None,
    trainable: bool,
    data_format: str,
    zero_debias: bool,
    scope: Any,
) -> Any:
    with tf.variable_scope(scope, "BatchNorm", [inputs], reuse=reuse) as sc:
        original_shape = inputs.get_shape()
        rank = original_shape.ndims
        if rank not in (2, 4):
            raise ValueError(f"Inputs {inputs.name} has unsupported rank. Expected 2 or 4 but got {rank}")
        flat = inputs
        if rank == 2:
            channels = original_shape.as_list()[-1]
            if channels is None:
                raise ValueError(f"`C` dimension must be known but is None. {inputs.name}")
            inputs = tf.reshape(inputs, [-1, channels, 1, 1] if data_format == "NCHW" else [-1, 1, 1, channels])
        depth = inputs.get_shape()[1:2] if data_format == "NCHW" else inputs.get_shape()[-1:]
        if not depth.is_fully_defined():
            raise ValueError(f"Inputs {inputs.name} has undefined `C` dimension {depth}.")
        dtype = inputs.dtype.base_dtype if inputs.dtype != tf.float16 else tf.float32
        parameters = _Parameters(depth, dtype, initializers, regularizers, variables_collections, trainable)
        beta = parameters.make("beta", tf.zeros_initializer()) if center else tf.constant(0.0, dtype=dtype, shape=depth)
        gamma = parameters.make("gamma", tf.ones_initializer()) if scale else tf.constant(1.0, dtype=dtype, shape=depth)
        # Averages never are parts of a variable, whatever the scope says.
        partitioner = tf.get_variable_scope().partitioner
        try:
            tf.get_variable_scope().set_partitioner(None)
            moving = parameters.moving()
        finally:
            tf.get_variable_scope().set_partitioner(partitioner)

        def training() -> Any:
            return tf.nn.fused_batch_norm(inputs, gamma, beta, epsilon=epsilon, data_format=data_format)

        def inference() -> Any:
            return tf.nn.fused_batch_norm(
                inputs, gamma, beta, mean=moving[0], variance=moving[1], epsilon=epsilon, is_training=False, data_format=data_format
            )

        outputs, mean, variance = smart_cond(is_training, training, inference)
        if constant_value(is_training) is not False:
            if updates_collections is None:

                def forced() -> Any:
                    with tf.control_dependencies(_updated(moving, (mean, variance), decay, zero_debias)):
                        return tf.identity(outputs)

                outputs = smart_cond(is_training, forced, lambda: outputs)
            else:

                def delayed() -> Any:
                    return _updated(moving, (mean, variance), decay, zero_debias)

                for update in smart_cond(is_training, delayed, lambda: moving):
                    tf.add_to_collections(updates_collections, update)
        if rank == 2:
            outputs = tf.reshape(outputs, tf.shape(flat))
        outputs.set_shape(original_shape)
        return collect_named_outputs(outputs_collections, sc.name, outputs if activation_fn is None else activation_fn(outputs))


def _by_moments(
    inputs: Any,
    sc: Any,
    decay: float,
    center: bool,
    scale: bool,
    epsilon: float,
    activation_fn: Any,
    initializers: Any,
    regularizers: Any,
    updates_collections: Sequence[str] | str | None,
    is_training: Any,
    variables_collections: Any,
    outputs_collections: Sequence[str] | str | None,
    trainable: bool,
    batch_weights: Any,
    data_format: str,
    zero_debias: bool,
) -> Any:
    """Means and variances from separate ops: for weighted batches, and for updates in other collections at other ranks."""
    shape = inputs.get_shape()
    rank = shape.ndims
    if rank is None:
        raise ValueError(f"Inputs {inputs.name} has undefined rank.")
    channels_first = data_format == "NCHW"
    axes = [i for i in range(rank) if i != (1 if channels_first else rank - 1)]
    depth = shape[1:2] if channels_first else shape[-1:]
    if not depth.is_fully_defined():
        raise ValueError(f"Inputs {inputs.name} has undefined channels dimension {depth}.")
    dtype = inputs.dtype.base_dtype
    parameters = _Parameters(depth, dtype, initializers, regularizers, variables_collections, trainable)
    beta = parameters.make("beta", tf.zeros_initializer()) if center else None
    gamma = parameters.make("gamma", tf.ones_initializer()) if scale else None
    moving = parameters.moving()

    def of_batch() -> Any:
        if batch_weights is None:
            return tf.nn.moments(inputs, axes)
        weights = tf.reshape(tf.convert_to_tensor(batch_weights), [-1] + [1] * (rank - 1))
        return tf.nn.weighted_moments(inputs, axes, weights)

    def on_average() -> Any:
        return tf.identity(moving[0]), tf.identity(moving[1])

    def forced() -> Any:
        batch = of_batch()
        with tf.control_dependencies(_updated(moving, batch, decay, zero_debias)):
            return tf.identity(batch[0]), tf.identity(batch[1])

    if updates_collections is None:
        mean, variance = smart_cond(is_training, forced, on_average)
    elif constant_value(is_training) is False:
        mean, variance = on_average()
    else:
        batch = of_batch()
        for update in smart_cond(is_training, lambda: _updated(moving, batch, decay, zero_debias), lambda: moving):
            tf.add_to_collections(updates_collections, update)
        mean, variance = smart_cond(is_training, lambda: batch, on_average)
    if channels_first:
        spread = [1, -1] + [1] * (rank - 2)
        mean, variance = tf.reshape(mean, spread), tf.reshape(variance, spread)
        beta = None if beta is None else tf.reshape(beta, spread)
        gamma = None if gamma is None else tf.reshape(gamma, spread)
    outputs = tf.nn.batch_normalization(inputs, mean, variance, beta, gamma, epsilon)
    outputs.set_shape(shape)
    return collect_named_outputs(outputs_collections, sc.name, outputs if activation_fn is None else activation_fn(outputs))


@layer("layer_norm")
@add_arg_scope
def layer_norm(
    inputs: Any,
    center: bool = True,
    scale: bool = True,
    activation_fn: Any = None,
    reuse: Any = None,
    variables_collections: Any = None,
    outputs_collections: Sequence[str] | str | None = None,
    trainable: bool = True,
    begin_norm_axis: int = 1,
    begin_params_axis: int = -1,
    scope: Any = None,
) -> Any:
    """Brings each example to mean zero and variance one, over its dimensions from `begin_norm_axis` on."""
    with tf.variable_scope(scope, "LayerNorm", [inputs], reuse=reuse) as sc:
        inputs = tf.convert_to_tensor(inputs)
        shape = inputs.get_shape()
        rank = shape.ndims
        if rank is None:
            raise ValueError(f"Inputs {inputs.name} has undefined rank.")
        dtype = inputs.dtype.base_dtype
        if begin_norm_axis < 0:
            begin_norm_axis += rank
        if begin_params_axis >= rank or begin_norm_axis >= rank:
            raise ValueError(
                f"begin_params_axis ({begin_params_axis}) and begin_norm_axis ({begin_norm_axis}) must be < rank(inputs) ({rank})"
            )
        of_parameters = shape[begin_params_axis:]
        if not of_parameters.is_fully_defined():
            raise ValueError(f"Inputs {inputs.name}: shape(inputs)[{begin_params_axis}:] is not fully defined: {shape}")
        beta, gamma = _centered_and_scaled(of_parameters, dtype, center, scale, {}, variables_collections, trainable)
        mean, variance = tf.nn.moments(inputs, list(range(begin_norm_axis, rank)), keep_dims=True)
        outputs = tf.nn.batch_normalization(
            inputs, mean, variance, offset=beta, scale=gamma, variance_epsilon=1e-12 if dtype != tf.float16 else 1e-3
        )
        outputs.set_shape(shape)
        return collect_named_outputs(outputs_collections, sc.name, outputs if activation_fn is None else activation_fn(outputs))


def _centered_and_scaled(
    shape: Any, dtype: DTypeLike, center: bool, scale: bool, initializers: Any, variables_collections: Any, trainable: bool
) -> tuple[Any, Any]:
    beta = gamma = None
    if center:
        beta = model_variable(
            "beta",
            shape=shape,
            dtype=dtype,
            initializer=initializers.get("beta", tf.zeros_initializer()),
            collections=get_variable_collections(variables_collections, "beta"),
            trainable=trainable,
        )
    if scale:
        gamma = model_variable(
            "gamma",
            shape=shape,
            dtype=dtype,
            initializer=initializers.get("gamma", tf.ones_initializer()),
            collections=get_variable_collections(variables_collections, "gamma"),
            trainable=trainable,
        )
    return beta, gamma


@layer("instance_norm")
@add_arg_scope
def instance_norm(
    inputs: Any,
    center: bool = True,
    scale: bool = True,
    epsilon: float = 1e-6,
    activation_fn: Any = None,
    param_initializers: Any = None,
    reuse: Any = None,
    variables_collections: Any = None,
    outputs_collections: Sequence[str] | str | None = None,
    trainable: bool = True,
    data_format: str = "NHWC",
    scope: Any = None,
) -> Any:
    """Brings each channel of each example to mean zero and variance one."""
    inputs = tf.convert_to_tensor(inputs)
    shape = inputs.get_shape()
    rank = shape.ndims
    if rank is None:
        raise ValueError(f"Inputs {inputs.name} has undefined rank.")
    if data_format not in ("NCHW", "NHWC"):
        raise ValueError("data_format has to be either NCHW or NHWC.")
    with tf.variable_scope(scope, "InstanceNorm", [inputs], reuse=reuse) as sc:
        channel = 1 if data_format == "NCHW" else rank - 1
        size = shape.dims[channel].value
        if size is None:
            raise ValueError(f"Inputs {inputs.name} has undefined channels dimension {shape[channel : channel + 1]}.")
        beta, gamma = _centered_and_scaled(
            [size], inputs.dtype.base_dtype, center, scale, param_initializers or {}, variables_collections, trainable
        )
        if channel == 1:
            spread = [1, size] + [1] * (rank - 2)
            beta = None if beta is None else tf.reshape(beta, spread)
            gamma = None if gamma is None else tf.reshape(gamma, spread)
        mean, variance = tf.nn.moments(inputs, [i for i in range(1, rank) if i != channel], keep_dims=True)
        with tf.name_scope("instancenorm"):
            factor = tf.rsqrt(variance + epsilon)
            if gamma is not None:
                factor *= gamma
            offset = -mean * factor if beta is None else None
            first = inputs * factor
            outputs = first + (beta - mean * factor if offset is None else offset)
        outputs.set_shape(shape)
        return collect_named_outputs(outputs_collections, sc.name, outputs if activation_fn is None else activation_fn(outputs))


@layer("group_norm")
@add_arg_scope
def group_norm(
    inputs: Any,
    groups: int = 32,
    channels_axis: int = -1,
    reduction_axes: Any = (-3, -2),
    center: bool = True,
    scale: bool = True,
    epsilon: float = 1e-6,
    activation_fn: Any = None,
    param_initializers: Any = None,
    reuse: Any = None,
    variables_collections: Any = None,
    outputs_collections: Sequence[str] | str | None = None,
    trainable: bool = True,
    scope: Any = None,
    mean_close_to_zero: bool = False,
) -> Any:
    """Brings groups of channels of each example to mean zero and variance one."""
    inputs = tf.convert_to_tensor(inputs)
    shape = inputs.get_shape()
    rank = shape.ndims
    if rank is None:
        raise ValueError(f"Inputs {inputs.name} has undefined rank.")
    if any(axis >= rank or axis < -rank for axis in (channels_axis, *reduction_axes)):
        raise ValueError("Axis is out of bounds.")
    at, reduced = channels_axis % rank, [axis % rank for axis in reduction_axes]
    if at in reduced:
        raise ValueError("reduction_axis must be mutually exclusive with channels_axis")
    for axis in (at, *reduced):
        if shape.as_list()[axis] is None:
            what = "channel dimension:" if axis == at else "dimensions"
            raise ValueError(f"Inputs {inputs.name} has undefined {what} {axis}.")
    channels = shape.dims[at].value
    if groups > channels:
        raise ValueError(f"Invalid groups {groups} for {channels} channels.")
    if channels % groups:
        raise ValueError(f"{channels} channels is not commensurate with {groups} groups.")
    dynamic = tf.shape(inputs)
    sizes = [-1 if n is None else n for n in shape.as_list()]
    grouped: Any = [*sizes[:at], groups, channels // groups, *sizes[at + 1 :]]
    original: Any = sizes
    if sizes.count(-1) > 1:
        grouped, original = tf.concat([dynamic[:at], [groups, channels // groups], dynamic[at + 1 :]], 0), dynamic
    x = tf.reshape(inputs, grouped)
    with tf.variable_scope(scope, "GroupNorm", [inputs], reuse=reuse) as sc:
        beta, gamma = _centered_and_scaled(
            [channels], inputs.dtype.base_dtype, center, scale, param_initializers or {}, variables_collections, trainable
        )
        spread = [1] * (rank + 1)
        spread[at : at + 2] = [groups, channels // groups]
        beta = None if beta is None else tf.reshape(beta, spread)
        gamma = None if gamma is None else tf.reshape(gamma, spread)
        axes = [axis + (axis > at) for axis in reduced] + [at + 1]
        mean, variance = tf.nn.moments(x, axes, keep_dims=True)
        factor = tf.rsqrt(variance + epsilon)
        offset = -mean * factor
        if gamma is not None:
            factor *= gamma
            offset *= gamma
        if beta is not None:
            offset += beta
        outputs = tf.reshape(x * factor + offset, original)
        outputs.set_shape(shape)
        return collect_named_outputs(outputs_collections, sc.name, outputs if activation_fn is None else activation_fn(outputs))


@layer("unit_norm")
@add_arg_scope
def unit_norm(inputs: Any, dim: int, epsilon: float = 1e-7, scope: Any = None) -> Any:
    """Brings vectors along a dimension to length one."""
    with tf.variable_scope(scope, "UnitNorm", [inputs]):
        if not inputs.get_shape():
            raise ValueError("The input rank must be known.")
        if dim < 0 or dim >= len(inputs.get_shape()):
            raise ValueError(f"dim must be positive but smaller than the input rank: {dim}")
        lengths = tf.sqrt(epsilon + tf.reduce_sum(tf.square(inputs), dim, keepdims=True))
        # Division would broadcast, but the seeds of later ops count those that stand here.
        before = [tf.ones([dim], tf.int32)] if dim else []
        size = tf.strided_slice(tf.shape(inputs), [dim], [dim + 1])
        after = [tf.ones([len(inputs.shape) - 1 - dim], tf.int32)] if dim < len(inputs.shape) - 1 else []
        return tf.div(inputs, tf.tile(lengths, tf.concat([*before, size, *after], 0)))
