"""Moments, norms and dropout: what layers do to the scale of their inputs."""

from __future__ import annotations

import numbers
from collections.abc import Callable
from typing import Any

import everflow as tf
from everflow.api import internal, public
from everflow.graph import shapes
from everflow.graph.constants import known
from everflow.graph.convert import convert_to_tensor
from everflow.graph.dtypes import DTypeLike
from everflow.graph.scopes import name_scope
from everflow.lazy import torch
from everflow.ops.core import symbolic
from everflow.ops.core.node import Node
from everflow.ops.core.registry import apply, op
from everflow.ops.core.run_time_checks import checked
from everflow.ops.core.shape_rules import merged, scalar
from everflow.platform.deprecation import deprecated_argument_lookup as either


def _keep(keepdims: bool, keep_dims: bool) -> bool:
    return bool(either("keepdims", keepdims, "keep_dims", keep_dims))


@public("nn.moments")
def moments(x: Any, axes: Any, shift: Any = None, name: str | None = None, keep_dims: Any = None, keepdims: Any = None) -> Any:
    """Mean and variance over axes. `shift` has no effect."""
    keep = _keep(keepdims, keep_dims)
    with name_scope(name, "moments", [x, axes]):
        y = tf.cast(x, tf.float32) if x.dtype == tf.float16 else x
        mean = tf.reduce_mean(y, axes, keepdims=True, name="mean")
        variance = tf.reduce_mean(tf.squared_difference(y, tf.stop_gradient(mean)), axes, keepdims=True, name="variance")
        if not keep:
            mean, variance = tf.squeeze(mean, axes), tf.squeeze(variance, axes)
        return (tf.cast(mean, tf.float16), tf.cast(variance, tf.float16)) if x.dtype == tf.float16 else (mean, variance)


@public("nn.weighted_moments")
def weighted_moments(
    x: Any, axes: Any, frequency_weights: Any, name: str | None = None, keep_dims: Any = None, keepdims: Any = None
) -> Any:
    """Mean and variance over axes, each element counted as often as its weight says."""
    keep = _keep(keepdims, keep_dims)
    with name_scope(name, "weighted_moments", [x, frequency_weights, axes]):
        x = convert_to_tensor(x, name="x")
        weights = convert_to_tensor(frequency_weights, name="frequency_weights")
        half = x.dtype == tf.float16
        if half:
            x = tf.cast(x, tf.float32)
        if weights.dtype != x.dtype:
            weights = tf.cast(weights, x.dtype)
        input_sum = tf.reduce_sum(weights * x, axes, name="weighted_input_sum", keepdims=True)
        sum_of_weights = tf.reduce_sum(weights + tf.zeros_like(x), axes, name="sum_of_weights", keepdims=True)
        divisor = tf.reciprocal(sum_of_weights, name="inv_weight_sum")
        mean = tf.multiply(input_sum, divisor)
        squares = tf.reduce_sum(weights * tf.squared_difference(x, mean), axes, name="weighted_distsq", keepdims=True)
        variance = tf.multiply(squares, divisor)
        if not keep:
            mean, variance = tf.squeeze(mean, axis=axes), tf.squeeze(variance, axis=axes)
        return (tf.cast(mean, tf.float16), tf.cast(variance, tf.float16)) if half else (mean, variance)


@public("nn.sufficient_statistics")
def sufficient_statistics(
    x: Any, axes: Any, shift: Any = None, keep_dims: Any = None, name: str | None = None, keepdims: Any = None
) -> Any:
    """(count, sum, sum of squares, shift): what `normalize_moments` needs."""
    keep = _keep(keepdims, keep_dims)
    axes = list(set(axes))
    with name_scope(name, "sufficient_statistics", [x, shift]):
        x = convert_to_tensor(x, name="x")
        dims = x.dims
        if dims is not None and all(dims[d] is not None for d in axes):
            count = 1
            for d in axes:
                count *= dims[d]
            counts = tf.constant(count, dtype=x.dtype)
        else:
            counts = tf.reduce_prod(tf.gather(tf.cast(tf.shape(x), x.dtype), axes), name="count")
        if shift is not None:
            shift = convert_to_tensor(shift, name="shift")
            sums, squares = tf.subtract(x, shift), tf.squared_difference(x, shift)
        else:
            sums, squares = x, tf.square(x)
        sums = tf.reduce_sum(sums, axes, keepdims=keep, name="mean_ss")
        squares = tf.reduce_sum(squares, axes, keepdims=keep, name="var_ss")
        return counts, sums, squares, shift


@public("nn.normalize_moments")
def normalize_moments(counts: Any, mean_ss: Any, variance_ss: Any, shift: Any, name: str | None = None) -> Any:
    """Mean and variance from sufficient statistics."""
    with name_scope(name, "normalize", [counts, mean_ss, variance_ss, shift]):
        share = tf.reciprocal(counts, name="divisor")
        centre = tf.multiply(mean_ss, share, name="mean" if shift is None else "shifted_mean")
        mean = centre if shift is None else tf.add(centre, shift, name="mean")
        return mean, tf.subtract(tf.multiply(variance_ss, share), tf.square(centre), name="variance")


def _lrn_windows(x: Any, radius: int) -> Any:
    """The sum over each channel's neighbours, for rows of channels."""
    if not x.numel():
        return x
    rows = x.reshape(-1, 1, x.shape[-1])
    width = 2 * radius + 1
    return (torch.nn.functional.avg_pool1d(rows, width, 1, radius) * width).reshape(x.shape)


def _lrn(node: Node) -> Callable[..., Any]:
    radius, bias, alpha, beta = (node.attr(a) for a in ("depth_radius", "bias", "alpha", "beta"))

    def run(x: Any) -> Any:
        wide = x.float()
        return (wide * (bias + alpha * _lrn_windows(wide.square(), radius)).pow_(-beta)).to(x.dtype)

    return run


def _lrn_grad(node: Node) -> Callable[..., Any]:
    radius, bias, alpha, beta = (node.attr(a) for a in ("depth_radius", "bias", "alpha", "beta"))

    def run(dy: Any, x: Any, y: Any) -> Any:
        result = x.dtype
        dy, x, y = dy.float(), x.float(), y.float()
        norm = bias + alpha * _lrn_windows(x.square(), radius)
        return (dy * norm.pow(-beta) - (2 * alpha * beta) * x * _lrn_windows(dy * y / norm, radius)).to(result)

    return run


_LRN_ATTRS = ("depth_radius", "bias", "alpha", "beta")
op(
    "LRN",
    kernel=checked(_lrn, lambda x: None if x.ndim == 4 else "in must be 4-dimensional"),
    shape=lambda o: shapes.with_rank(o.inputs[0].dims, 4),
    gradient=lambda o, dy: apply("LRNGrad", dy, o.inputs[0], o.outputs[0], **{a: o.attr(a) for a in _LRN_ATTRS}),
    symbolic=symbolic.keeps_batch,
)
op("LRNGrad", kernel=_lrn_grad, shape=merged)


@public("nn.local_response_normalization", "nn.lrn")
def local_response_normalization(
    input: Any, depth_radius: int = 5, bias: float = 1, alpha: float = 1, beta: float = 0.5, name: str | None = None
) -> Any:
    """Divides each activation by a power of the squares of its neighbouring channels."""
    return apply("LRN", input, depth_radius=depth_radius, bias=bias, alpha=alpha, beta=beta, name=name)


@public("nn.l2_normalize", "math.l2_normalize", "linalg.l2_normalize")
def l2_normalize(x: Any, axis: Any = None, epsilon: float = 1e-12, name: str | None = None, dim: Any = None) -> Any:
    """x scaled to length one along axes."""
    axis = either("axis", axis, "dim", dim)
    with name_scope(name, "l2_normalize", [x]) as scope:
        x = convert_to_tensor(x, name="x")
        inverse = tf.rsqrt(tf.maximum(tf.reduce_sum(tf.square(x), axis, keepdims=True), epsilon))
        return tf.multiply(x, inverse, name=scope)


@public("linalg.normalize")
def normalize(tensor: Any, ord: Any = "euclidean", axis: Any = None, name: str | None = None) -> Any:
    """(tensor / norm, norm), for a norm along axes."""
    with name_scope(name, "normalize", [tensor]):
        tensor = convert_to_tensor(tensor)
        norm = tf.norm(tensor, ord=ord, axis=axis, keepdims=True)
        norm = tf.cast(norm, tensor.dtype)
        return tensor / norm, norm


def _l2_loss(node: Node) -> Callable[..., Any]:
    def run(x: Any) -> Any:
        flat = x.reshape(-1)
        return torch.dot(flat, flat) * 0.5

    return run


op("L2Loss", kernel=_l2_loss, shape=scalar, gradient=lambda o, dy: o.inputs[0] * dy)


@public("nn.l2_loss")
def l2_loss(t: Any, name: str | None = None) -> Any:
    """Half the sum of squares."""
    return apply("L2Loss", t, name=name)


def _count_nonzero(x: Any, dtype: DTypeLike) -> Any:
    with name_scope("count_nonzero", values=[x]):
        zero = tf.zeros([], dtype=x.dtype)
        return tf.reduce_sum(tf.cast(tf.not_equal(x, zero), dtype), name="nonzero_count")


@public("nn.zero_fraction", "math.zero_fraction")
def zero_fraction(value: Any, name: str | None = None) -> Any:
    """The share of elements that are zero."""
    with name_scope(name, "zero_fraction", [value]):
        value = convert_to_tensor(value, name="value")
        size = tf.size(value, out_type=tf.int64)
        nonzero = tf.cond(
            size <= tf.int32.max,
            true_fn=lambda: tf.cast(_count_nonzero(value, tf.int32), tf.int64),
            false_fn=lambda: _count_nonzero(value, tf.int64),
        )
        with name_scope("counts_to_fraction"):
            zeros = size - nonzero
            fraction = tf.cast(zeros, tf.float32) / tf.cast(size, tf.float32)
        return tf.identity(fraction, "fraction")


@internal("ops.nn_ops._get_noise_shape")
def noise_shape_of(x: Any, noise_shape: Any) -> Any:
    """The shape of dropout's mask: that of x, or the one given with x's sizes where it has None."""
    if noise_shape is None:
        return tf.shape(x)
    try:
        given = shapes.as_shape(noise_shape)
    except (TypeError, ValueError):
        return noise_shape
    if x.dims is not None and given.ndims == len(x.dims):
        return shapes.TensorShape([of_x if n is None else n for of_x, n in zip(x.dims, given.as_list())])
    return noise_shape


@public("nn.dropout")
def dropout(
    x: Any, keep_prob: Any = None, noise_shape: Any = None, seed: int | None = None, name: str | None = None, rate: Any = None
) -> Any:
    """Sets elements to zero with probability `rate` (or 1 - keep_prob), and scales the others to keep the sum."""
    try:
        dropped = 1.0 - keep_prob if isinstance(keep_prob, float) else None if keep_prob is None else 1 - keep_prob
    except TypeError:
        raise ValueError(f"keep_prob must be a floating point number or Tensor (got {keep_prob!r})") from None
    rate = either("rate", rate, "keep_prob", dropped)
    if rate is None:
        raise ValueError("You must provide a rate to dropout.")
    return dropout_v2(x, rate, noise_shape, seed, name)


@internal("ops.nn_ops.dropout_v2")
def dropout_v2(x: Any, rate: Any, noise_shape: Any = None, seed: int | None = None, name: str | None = None) -> Any:
    """Sets elements to zero with probability `rate`, and scales the others to keep the sum."""
    with name_scope(name, "dropout", [x]):
        x = convert_to_tensor(x, name="x")
        if not x.dtype.is_floating:
            raise ValueError(f"x has to be a floating point tensor since it's going to be scaled. Got a {x.dtype!r} tensor instead.")
        if isinstance(rate, numbers.Real):
            rate = float(rate)
            if not 0 <= rate < 1:
                raise ValueError(f"rate must be a scalar tensor or a float in the range [0, 1), got {rate:g}")
            if rate > 0.5:
                tf.logging.log_first_n(
                    tf.logging.WARN,
                    "Large dropout rate: %g (>0.5). In TensorFlow 2.x, dropout() uses dropout rate instead of "
                    "keep_prob. Please ensure that this is intended.",
                    5,
                    rate,
                )
            if rate == 0:
                return x
        rate = convert_to_tensor(rate, dtype=x.dtype, name="rate")
        rate.get_shape().assert_has_rank(0)
        value = known(rate)
        if value is not None and value == 0:
            return x
        random = tf.random_uniform(noise_shape_of(x, noise_shape), seed=seed, dtype=x.dtype)
        scale = 1 / (1 - rate)
        is_kept = random >= rate
        kept = x * scale * tf.cast(is_kept, x.dtype)
        kept.set_shape(x.get_shape())
        return kept
