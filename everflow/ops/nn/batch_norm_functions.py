"""Batch normalization: the fused ops, and the same thing from its parts."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import internal, public
from everflow.graph import shapes
from everflow.graph.convert import convert_to_tensor
from everflow.graph.operation import Operation
from everflow.graph.scopes import name_scope
from everflow.ops.core import symbolic
from everflow.ops.core.registry import apply, op
from everflow.ops.nn.batch_norm_ops import backward, forward
from everflow.ops.nn.windows import Layout
from everflow.platform.deprecation import deprecated_argument_lookup as either

NAMES = ("FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3")


def batch_norm_shapes(o: Operation) -> Any:
    """The shapes of a fused batch normalization's outputs."""
    layout = Layout(o.attr("data_format"))
    dims = shapes.with_rank(o.inputs[0].dims, 4)
    channels = dims[layout.channel]
    for t in o.inputs[1:3] if o.attr("is_training") else o.inputs[1:5]:
        channels = shapes.merge_size(channels, shapes.with_rank(t.dims, 1)[0])
    y = (*dims[: layout.channel], channels, *dims[layout.channel + 1 :])
    return [y] + [(channels,)] * 4 + [None] * (len(o.outputs) - 5)


def _fused_gradient(o: Operation, dy: Any, *others: Any) -> Any:
    """In training the statistics come from the op itself, otherwise from its inputs."""
    x, scale, _, mean, variance = o.inputs
    training = o.attr("is_training")
    reserves = list(o.outputs[3:5]) if training else [mean, variance]
    if o.type == "FusedBatchNormV3":
        reserves.append(o.outputs[5])
    name = o.type.replace("Norm", "NormGrad")
    found = apply(name, dy, x, scale, *reserves, epsilon=o.attr("epsilon"), data_format=o.attr("data_format"), is_training=training)
    return found[0], found[1], found[2], None, None


def _fused_grad_shape(o: Operation) -> Any:
    layout = Layout(o.attr("data_format"))
    dims: Any = shapes.merge(shapes.with_rank(o.inputs[0].dims, 4), shapes.with_rank(o.inputs[1].dims, 4))
    channels = shapes.merge_size(dims[layout.channel], shapes.with_rank(o.inputs[2].dims, 1)[0])
    return [dims, (channels,), (channels,), None, None]


def _fused_grad_gradient(o: Operation, d_dx: Any, d_dscale: Any, d_doffset: Any, *_: Any) -> Any:
    """Writes the first gradient out with plain ops, and differentiates that."""
    dy, x, scale, mean, variance = o.inputs[:5]
    first = first_gradients(dy, x, scale, mean, variance, o.attr("epsilon"), o.attr("data_format"), o.attr("is_training"))
    with tf.name_scope(None, "second", list(first)):
        found = tf.gradients(first, [dy, x, scale], [d_dx, d_dscale, d_doffset])
    return (*found, *[None] * (len(o.inputs) - 3))


@internal("ops.nn_grad._BatchNormGrad")
def first_gradients(dy: Any, x: Any, scale: Any, mean: Any, variance: Any, epsilon: float, data_format: str, training: bool = True) -> Any:
    """The gradients of a fused batch normalization with respect to (x, scale, offset), made of plain ops."""
    axes = [0, 2, 3] if data_format == "NCHW" else [0, 1, 2]
    shape = [1, -1, 1, 1] if data_format == "NCHW" else [1, 1, 1, -1]
    half = x.dtype.base_dtype != tf.float32
    if half:
        x, dy = tf.cast(x, tf.float32), tf.cast(dy, tf.float32)

    def wide(v: Any) -> Any:
        return tf.reshape(v, shape)

    if training:
        mean = tf.reduce_mean(x, axes, keepdims=True)
        centered = x - mean
        inverse = tf.rsqrt(tf.reduce_mean(tf.square(centered), axes, keepdims=True) + epsilon)
        normal = centered * inverse
        dx = (
            wide(scale)
            * inverse
            * (dy - tf.reduce_mean(dy, axes, keepdims=True) - normal * tf.reduce_mean(dy * normal, axes, keepdims=True))
        )
    else:
        inverse = tf.rsqrt(wide(variance) + epsilon)
        normal = (x - wide(mean)) * inverse
        dx = wide(scale) * inverse * dy
    return [tf.cast(dx, tf.float16) if half else dx, tf.reduce_sum(dy * normal, axes), tf.reduce_sum(dy, axes)]


for _name in NAMES:
    op(
        _name,
        kernel=forward,
        shape=batch_norm_shapes,
        gradient=_fused_gradient,
        kind="normalization",
        symbolic=symbolic.like_first,
        surrounded=lambda node: "_NormalizeSurrounded",
    )
    op(
        _name.replace("Norm", "NormGrad"),
        kernel=backward,
        shape=_fused_grad_shape,
        gradient=_fused_grad_gradient,
        kind="gradient of normalization",
        symbolic=symbolic.like_first,
    )


@public("nn.fused_batch_norm")
def fused_batch_norm(
    x: Any,
    scale: Any,
    offset: Any,
    mean: Any = None,
    variance: Any = None,
    epsilon: float = 0.001,
    data_format: str = "NHWC",
    is_training: bool = True,
    name: str | None = None,
) -> Any:
    """Normalizes images channel by channel; returns (result, mean, variance)."""
    if is_training and (mean is not None or variance is not None):
        raise ValueError("Both 'mean' and 'variance' must be None if is_training is True.")
    x = convert_to_tensor(x, name="input")
    scale = convert_to_tensor(scale, name="scale")
    offset = convert_to_tensor(offset, name="offset")
    if mean is None:
        mean = tf.constant([], dtype=tf.float32)
    if variance is None:
        variance = tf.constant([], dtype=tf.float32)
    # A smaller epsilon is not safe in the precision that GPUs compute this in.
    epsilon = max(epsilon, 1.001e-5)
    found = apply(
        "FusedBatchNormV3", x, scale, offset, mean, variance, epsilon=epsilon, data_format=data_format, is_training=is_training, name=name
    )
    return found[0], found[1], found[2]


@public("nn.batch_normalization")
def batch_normalization(x: Any, mean: Any, variance: Any, offset: Any, scale: Any, variance_epsilon: Any, name: str | None = None) -> Any:
    """(x - mean) / sqrt(variance + epsilon), scaled and shifted where `scale` and `offset` are given."""
    with name_scope(name, "batchnorm", [x, mean, variance, scale, offset]):
        slope = tf.rsqrt(variance + variance_epsilon)
        slope = slope if scale is None else slope * scale
        scaled = x * tf.cast(slope, x.dtype)
        shift = -mean * slope if offset is None else offset - mean * slope
        return scaled + tf.cast(shift, x.dtype)


@public("nn.batch_norm_with_global_normalization")
def batch_norm_with_global_normalization(
    t: Any = None,
    m: Any = None,
    v: Any = None,
    beta: Any = None,
    gamma: Any = None,
    variance_epsilon: Any = None,
    scale_after_normalization: Any = None,
    name: str | None = None,
    input: Any = None,
    mean: Any = None,
    variance: Any = None,
) -> Any:
    """Batch normalization with the arguments of long ago."""
    t = either("input", input, "t", t)
    m = either("mean", mean, "m", m)
    v = either("variance", variance, "v", v)
    return batch_normalization(t, m, v, beta, gamma if scale_after_normalization else None, variance_epsilon, name)
