"""How the fused batch normalizations and their gradients are computed: natively where channels come last, else by torch.

A following Relu may be part of either, and zeros around the result, which convolutions want there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from everflow._native import batch_norm, batch_norm_gradient
from everflow.errors import invalid_argument
from everflow.graph import dtypes, shapes
from everflow.lazy import torch
from everflow.ops.core import symbolic
from everflow.ops.core.node import Node
from everflow.ops.core.registry import fused_op
from everflow.ops.nn.windows import Layout
from everflow.ops.nn.zero_borders import Border, surrounded


class Normalization:
    """One op's attributes, and whether native code can do it."""

    def __init__(self, node: Node, rectify: bool = False) -> None:
        self.layout = Layout(node.attr("data_format"))
        self.epsilon: float = node.attr("epsilon")
        self.training: bool = node.attr("is_training")
        self.rectify = rectify
        self.is_native = self.layout.channels_last and all(v.dtype is dtypes.float32 for v in node.inputs[:5])

    def check(self, x: Any, channels: int, **vectors: Any) -> None:
        if x.dim() != 4:
            raise invalid_argument(f"input must be 4-dimensional{shapes.describe(x.shape)}")
        for name, vector in vectors.items():
            if vector.numel() != channels:
                raise invalid_argument(
                    f"{name} must have the same number of elements as the channels of x, got {vector.numel()} and {channels}"
                )


def pitches(x: Any) -> tuple[int, int]:
    """How far apart pictures and rows are."""
    return x.stride(0), x.stride(1)


def has_dense_rows(x: Any) -> bool:
    return x.stride(3) == 1 and x.stride(2) == x.shape[3]


def forward(node: Node, rectify: bool = False, border: Border | None = None, overwrite: bool = False) -> Callable[..., Any]:
    """The kernel of a FusedBatchNorm node; with a border, the result with zeros around it is returned last, as another output. The
    result may be written over x if that is asked for."""
    of = Normalization(node, rectify)
    with_third_reserve = len(node.outputs) - (border is not None) > 5

    def run(x: Any, scale: Any, offset: Any, mean: Any, variance: Any) -> Any:
        channels = x.shape[of.layout.channel] if x.dim() == 4 else 0
        of.check(x, channels, scale=scale, offset=offset)
        if of.training:
            if mean.numel() or variance.numel():
                name, given = ("estimated_mean", mean) if mean.numel() else ("estimated_variance", variance)
                raise invalid_argument(f"{name} must be empty for training{shapes.describe(given.shape)}")
        else:
            of.check(x, channels, mean=mean, variance=variance)
        if of.is_native and x.is_cpu and x.numel():
            found, whole = _native(of, x.contiguous(), scale.contiguous(), offset.contiguous(), mean, variance, border, overwrite)
        else:
            found, whole = _by_torch(of, x, scale, offset, mean, variance), None
            if border is not None:
                whole = torch.nn.functional.pad(found[0], (0, 0, border[2], border[3], border[0], border[1]))
        if with_third_reserve:
            found = (*found, scale.new_zeros(()))
        return found if border is None else (*found, whole)

    return run


def _native(of: Normalization, x: Any, scale: Any, offset: Any, mean: Any, variance: Any, border: Border | None, overwrite: bool) -> Any:
    y, whole = (x if overwrite else torch.empty_like(x), None) if border is None else surrounded(x.shape, border)
    statistics = torch.empty((3, x.shape[3])) if of.training else None
    if statistics is None:
        mean, variance = mean.contiguous(), variance.contiguous()
    batch_norm(
        x.data_ptr(),
        scale.data_ptr(),
        offset.data_ptr(),
        mean.data_ptr(),
        variance.data_ptr(),
        0 if statistics is None else statistics.data_ptr(),
        y.data_ptr(),
        x.shape,
        pitches(y),
        of.epsilon,
        of.training,
        of.rectify,
        torch.get_num_threads(),
    )
    if statistics is None:
        return (y, mean, variance, mean, variance), whole
    mean, unbiased, variance = statistics.unbind()
    return (y, mean, unbiased, mean, variance), whole


def _by_torch(of: Normalization, x: Any, scale: Any, offset: Any, mean: Any, variance: Any) -> Any:
    x = x.permute(of.layout.to_torch)
    count = x.numel() // max(x.shape[1], 1)
    if of.training and not count:
        nan = torch.full_like(scale, torch.nan)
        return x.permute(of.layout.from_torch).clone(), nan, nan, nan, nan
    if of.training:
        y, mean, inverse = torch.native_batch_norm(x, scale, offset, None, None, True, 0.0, of.epsilon)
        variance = inverse.pow(-2).sub_(of.epsilon).clamp_(min=0)
        statistics = (mean, variance * (count / max(count - 1, 1)), mean, variance)
    else:
        y = torch.native_batch_norm(x, scale, offset, mean, variance, False, 0.0, of.epsilon)[0]
        statistics = (mean, variance, mean, variance)
    return (y.relu_() if of.rectify else y).permute(of.layout.from_torch), *statistics


def backward(node: Node, rectify: bool = False, overwrite: bool = False) -> Callable[..., Any]:
    """The kernel of a FusedBatchNormGrad node: for (dx, dscale, doffset, nothing, nothing). A Relu that is part of it needs the offset,
    which comes after the scale. The gradient may be written over dy if that is asked for."""
    of = Normalization(node, rectify)
    native, by_torch = _native_gradient(of, overwrite), _gradient_by_torch(of)

    def run(dy: Any, x: Any, scale: Any, offset: Any, mean: Any, variance: Any) -> Any:
        if dy.shape != x.shape:
            raise invalid_argument(
                f"x and y_backprop must have same shape, but got {shapes.describe(x.shape)} and {shapes.describe(dy.shape)}"
            )
        channels = x.shape[of.layout.channel] if x.dim() == 4 else 0
        of.check(x, channels, scale=scale)
        nothing = scale.new_zeros(())
        if not x.numel():
            return torch.zeros_like(x), torch.zeros_like(scale), torch.zeros_like(scale), nothing, nothing
        of.check(x, channels, mean=mean, variance=variance)
        compute = native if of.is_native and x.is_cpu else by_torch
        return *compute(dy, x, scale, offset, mean, variance), nothing, nothing

    return run if rectify else lambda dy, x, scale, mean, variance, *_: run(dy, x, scale, None, mean, variance)


def _native_gradient(of: Normalization, overwrite: bool) -> Callable[..., Any]:
    def run(dy: Any, x: Any, scale: Any, offset: Any, mean: Any, variance: Any) -> Any:
        x, scale, mean, variance = x.contiguous(), scale.contiguous(), mean.contiguous(), variance.contiguous()
        offset = None if offset is None else offset.contiguous()
        if not has_dense_rows(dy):
            dy = dy.contiguous()
        dx = dy if overwrite and dy.is_contiguous() else torch.empty_like(x)
        sums = torch.empty((2, x.shape[3]))
        batch_norm_gradient(
            dy.data_ptr(),
            x.data_ptr(),
            scale.data_ptr(),
            0 if offset is None else offset.data_ptr(),
            mean.data_ptr(),
            variance.data_ptr(),
            dx.data_ptr(),
            sums.data_ptr(),
            x.shape,
            pitches(dy),
            of.epsilon,
            of.training,
            of.rectify,
            torch.get_num_threads(),
        )
        return dx, *sums.unbind()

    return run


def _gradient_by_torch(of: Normalization) -> Callable[..., Any]:
    backward = torch.ops.aten.native_batch_norm_backward.default

    def run(dy: Any, x: Any, scale: Any, offset: Any, mean: Any, variance: Any) -> Any:
        x, dy = x.permute(of.layout.to_torch), dy.permute(of.layout.to_torch)
        inverse = torch.rsqrt(variance + of.epsilon)
        if of.rectify:
            shape = (1, -1, 1, 1)
            passes = (x - mean.view(shape)) * (scale * inverse).view(shape) + offset.view(shape) > 0
            dy = torch.where(passes, dy, 0.0)
        if of.training:
            dx, dscale, doffset = backward(dy, x, scale, None, None, mean, inverse, True, of.epsilon, [True] * 3)
        else:
            dx, dscale, doffset = backward(dy, x, scale, mean, variance, None, None, False, of.epsilon, [True] * 3)
        return dx.permute(of.layout.from_torch), dscale, doffset

    return run


# What passes make of normalizations: with Relu, with zeros around the result, and over what they are given (`overwrite`).
fused_op(
    "_NormalizeRectify",
    kernel=lambda node: forward(node, rectify=True, overwrite=node.attr("overwrite")),
    symbolic=symbolic.like_first,
    surrounded=lambda node: "_NormalizeRectifySurrounded",
)
fused_op("_NormalizeSurrounded", kernel=lambda node: forward(node, border=node.attr("border")), symbolic=symbolic.like_first)
fused_op(
    "_NormalizeRectifySurrounded", kernel=lambda node: forward(node, rectify=True, border=node.attr("border")), symbolic=symbolic.like_first
)
fused_op("_NormalizeGradient", kernel=lambda node: backward(node, overwrite=node.attr("overwrite")), symbolic=symbolic.like_first)
fused_op(
    "_NormalizeRectifyGradient",
    kernel=lambda node: backward(node, rectify=True, overwrite=node.attr("overwrite")),
    symbolic=symbolic.like_first,
)
