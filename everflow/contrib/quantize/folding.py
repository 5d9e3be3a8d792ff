"""Batch normalizations that become part of the weights before them, as they do when a model is used.

While training, weights are scaled by the moving averages, which move less than batches do, and results are put right afterwards.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

import everflow as tf
from everflow.api import internal
from everflow.contrib.quantize.rewiring import NORMALIZATION, CreateOrGetQuantizationStep, RerouteTensor, context_of, of_type, within
from everflow.proto import attr_value_pb2

LAYERS = ("Conv2D", "MatMul", "DepthwiseConv2dNative")
_FUSED = ("FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3")
_ADDS = ("Add", "AddV2")
_GRADIENT = "FoldFusedBatchNormGrad"


@dataclasses.dataclass
class _Average:
    """A moving average: its value, and how much of it a step leaves behind."""

    value: Any
    decay: Any
    product: Any


@dataclasses.dataclass
class _Normalized:
    """A layer with its normalization: what is taken apart, and what takes its place."""

    layer: Any
    spread: Any
    output: Any
    context: str
    mean: Any
    variance: Any
    gamma: Any
    epsilon: Any
    # What weights are multiplied by and what is added to results; known already where the normalization is not fused.
    scale: Any = None
    shift: Any = None
    beta: Any = None
    fused: Any = None
    averages: tuple[_Average, _Average] | None = None


@internal("contrib.quantize.python.fold_batch_norms.FoldBatchNorms")
def FoldBatchNorms(graph: Any, is_training: bool, freeze_batch_norm_delay: int | None = None) -> None:
    """Folds the normalizations of a graph; from some step on, where it is told, the moving averages stand still and are used."""
    with graph.as_default(), tf.name_scope(None):
        for found in [*_fused(graph)]:
            _prepare_fused(found)
            _fold(found, within(found.context, "BatchNorm_Fold"), is_training, freeze_batch_norm_delay)
        for found in [*_unfused(graph)]:
            _fold(found, found.context, is_training, freeze_batch_norm_delay)


def _layer_of(tensor: Any) -> tuple[Any, Any]:
    """The layer that a tensor comes from, and the op that puts the batch back together for it, where there is one."""
    spread = tensor.op if tensor.op.type == "BatchToSpaceND" else None
    layer = (spread.inputs[0] if spread is not None else tensor).op
    return (layer, spread) if layer.type in LAYERS else (None, None)


def _average_of(value: Any) -> _Average | None:
    """The moving average of a value of each batch."""
    difference = of_type(value.consumers(), "Sub")
    if difference is None:
        return None
    product = of_type(difference.outputs[0].consumers(), "Mul")
    if product is None:
        return None
    return _Average(difference.inputs[0], product.inputs[1], product)


def _averages(mean: Any, variance: Any) -> tuple[_Average, _Average] | None:
    found = _average_of(mean), _average_of(variance)
    return None if found[0] is None or found[1] is None else (found[0], found[1])


def _fused(graph: Any) -> Iterator[_Normalized]:
    for norm in graph.get_operations():
        if norm.type not in _FUSED:
            continue
        given, output = norm.inputs[0], norm.outputs[0]
        # Rows of a matrix are normalized as pictures of one point.
        shaped = of_type(output.consumers(), "Reshape") if given.op.type == "Reshape" else None
        if shaped is not None:
            given, output = given.op.inputs[0], shaped.outputs[0]
        if given.op.type == "Identity":
            given = given.op.inputs[0]
        layer, spread = _layer_of(given)
        # What nobody takes has nothing to be put in its place.
        if layer is None or not output.consumers():
            continue
        trains = norm.get_attr("is_training")
        mean, variance = (norm.outputs[1], norm.outputs[2]) if trains else (norm.inputs[3], norm.inputs[4])
        yield _Normalized(
            layer,
            spread,
            output,
            context_of(layer),
            mean,
            variance,
            gamma=norm.inputs[1],
            beta=norm.inputs[2],
            epsilon=norm.get_attr("epsilon"),
            fused=norm,
            averages=_averages(mean, variance) if trains else None,
        )


def _prepare_fused(found: _Normalized) -> None:
    """The scale and the shift of a fused normalization, with the variance of the batch itself and not its estimate."""
    norm = found.fused
    if norm.get_attr("is_training"):
        norm._set_attr("_gradient_op_type", attr_value_pb2.AttrValue(s=_GRADIENT.encode()))
        with tf.name_scope(context_of(norm) + "/"):
            number = tf.cast(tf.size(norm.inputs[0]) / tf.size(found.mean), found.variance.dtype)
            found.variance = tf.multiply(found.variance, (number - 1) / number, name="Undo_Bessel_Correction")
    with tf.name_scope(within(found.context, "BatchNorm_Fold")):
        found.scale = found.gamma * tf.rsqrt(found.variance + found.epsilon)
        found.shift = tf.subtract(found.beta, found.mean * found.scale, name="bias")


@tf.RegisterGradient(_GRADIENT)
def _through_moments(op: Any, _: Any, of_mean: Any, of_variance: Any, *rest: Any) -> tuple[Any, ...]:
    """The gradient of a normalization of which only the mean and the variance are used."""
    x = op.inputs[0]
    number = tf.cast(tf.size(x) / tf.size(of_mean), of_mean.dtype)
    return of_mean / number + 2 * of_variance * (x - op.outputs[1]) / (number - 1), None, None, None, None


def _unfused(graph: Any) -> Iterator[_Normalized]:
    for total in graph.get_operations():
        named = NORMALIZATION.match(total.name)
        if named is None or total.type not in _ADDS:
            continue
        scaled, shift = total.inputs[0].op, total.inputs[1]
        if scaled.type != "Mul" or shift.op.type != "Sub" or shift.op.inputs[1].op.type != "Mul":
            continue
        layer, spread = _layer_of(scaled.inputs[0])
        scale = scaled.inputs[1]
        has_scaling = scale.op.type == "Mul"
        root = scale.op.inputs[0].op if has_scaling else scale.op
        if layer is None or root.type != "Rsqrt" or root.inputs[0].op.type not in _ADDS or not total.outputs[0].consumers():
            continue
        variance, epsilon = root.inputs[0].op.inputs
        mean = shift.op.inputs[1].op.inputs[0]
        if has_scaling:
            read = scale.op.inputs[1]
            gamma = read.op.inputs[0] if read.op.type == "Identity" else read
        else:
            gamma = tf.ones(mean.shape)
        yield _Normalized(
            layer,
            spread,
            total.outputs[0],
            named[1] or "",
            mean,
            variance,
            gamma,
            epsilon,
            scale=scale,
            shift=shift,
            averages=_averages(mean, variance),
        )


@dataclasses.dataclass
class _Correction:
    """What weights are multiplied by beside the scale, what undoes that in results, and what is added to them then."""

    scale: Any
    undone: Any
    offset: Any


def _corrected(found: _Normalized, scope: str, freeze_delay: int | None) -> _Correction:
    mean, variance = found.averages or (None, None)
    assert mean is not None and variance is not None
    with tf.name_scope(within(scope, "batch_norm_correction")):
        of_average = tf.rsqrt(variance.value + found.epsilon)
        of_batch = tf.rsqrt(found.variance + found.epsilon)
        scale = tf.identity(tf.divide(of_average, of_batch, name="scale_compute"), name="correction_scale")
        undone = tf.reciprocal(scale, name="reciprocal_compute")
        offset = tf.multiply(found.gamma, found.mean * of_batch - mean.value * of_average, name="offset_compute")
        if freeze_delay is None:
            return _Correction(scale, undone, tf.zeros(offset.shape))
        frozen = tf.greater_equal(CreateOrGetQuantizationStep(), freeze_delay, name="use_moving_average")
        for average, name in ((mean, "freeze_moving_mean"), (variance, "freeze_moving_var")):
            decay = tf.cond(frozen, lambda: tf.constant(0.0), lambda average=average: average.decay, name=name)  # type: ignore[misc]
            RerouteTensor(decay, average.decay, can_modify=[average.product])
        return _Correction(
            scale,
            tf.cond(frozen, lambda: tf.ones(scale.shape), lambda: undone, name="correction_recip"),
            tf.cond(frozen, lambda: offset, lambda: tf.zeros(offset.shape), name="correction_offset"),
        )


def _fold(found: _Normalized, scope: str, is_training: bool, freeze_delay: int | None) -> None:
    layer, weights, scale = found.layer, found.layer.inputs[1], found.scale
    correction = _corrected(found, scope, freeze_delay) if is_training and found.averages is not None else None
    factor = None if correction is None else correction.scale
    if layer.type == "DepthwiseConv2dNative":
        last = weights.shape.as_list()[2:]
        scale = tf.reshape(scale, last, name=within(scope, "scale_reshape"))
        if factor is not None:
            factor = tf.reshape(factor, last, name=within(scope, "correction_reshape"))
    if factor is not None:
        weights = tf.multiply(factor, weights, name=within(found.context, "correction_mult"))
    result = _again(layer, tf.multiply(weights, scale, name=within(found.context, "mul_fold")), found.spread)
    if correction is not None:
        result = tf.multiply(correction.undone, result, name=within(found.context, "post_conv_mul"))
        result = tf.add(result, correction.offset, name=within(found.context, "correction_add"))
    RerouteTensor(tf.add(result, found.shift, name=within(found.context, "add_fold")), found.output)


def _again(layer: Any, weights: Any, spread: Any) -> Any:
    """The layer once more, with other weights."""
    if layer.type == "DepthwiseConv2dNative":
        result = tf.nn.depthwise_conv2d(
            layer.inputs[0],
            weights,
            strides=layer.get_attr("strides"),
            padding=layer.get_attr("padding").decode(),
            data_format=layer.get_attr("data_format").decode(),
            dilations=layer.get_attr("dilations")[1:3],
            name=layer.name + "_Fold",
        )
    else:
        result = _copied(layer, [layer.inputs[0], weights])
    return result if spread is None else _copied(spread, [result, *spread.inputs[1:]])


def _copied(op: Any, inputs: list[Any]) -> Any:
    graph, attrs = op.graph, {name: value for name, value in op.node_def.attr.items() if not name.startswith("_")}
    return graph.create_op(op.type, inputs, [op.outputs[0].dtype], name=op.name + "_Fold", attrs=attrs, op_def=op.op_def).outputs[0]
