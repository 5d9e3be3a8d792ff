"""Convolutions together with what is done to their results; see everflow.runtime.passes.

Such a node has the attributes of its convolution, and takes the pictures and the filter first, but for those that add to a tensor.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from everflow._native import convolve_and_pool
from everflow.graph import dtypes
from everflow.lazy import torch
from everflow.ops.core import symbolic
from everflow.ops.core.node import Node, kernel_of
from everflow.ops.core.registry import fused_op
from everflow.ops.nn.convolution_ops import convolution_with_bias, sizes_of, uneven_padding
from everflow.ops.nn.pointwise_convolutions import Pointwise, added_forward, added_input_gradient
from everflow.ops.nn.zero_borders import Border, surrounded

# First layers: the results of so many channels are computed side by side; with more input channels, general kernels are as good.
GROUP = 16
MOST_DEPTH = 4

fused_op("_ConvBias", kernel=convolution_with_bias, kind="convolution", fresh=True, border=uneven_padding, strided=True)


def normalized(node: Node, border: Border | None = None) -> Callable[..., Any]:
    """The kernel (x, filter, scale, offset, mean, variance, bias) of a convolution whose result is normalized and perhaps rectified; with
    a border, the result with zeros around it is returned as well. The filter is scaled, or the result where that has fewer numbers."""
    general, pointwise = convolution_with_bias(node), Pointwise.find(node)
    epsilon, rectify, stride = node.attr("epsilon"), node.attr("rectify"), math.prod(node.attr("strides"))

    def run(x: Any, filter: Any, scale: Any, offset: Any, mean: Any, variance: Any, bias: Any = None) -> Any:
        factor = torch.rsqrt(variance + epsilon).mul_(scale)
        offset = torch.addcmul(offset, mean if bias is None else mean - bias, factor, value=-1)
        if border is None and x.dim() == 4 and filter.numel() * stride > x[..., 0].numel() * filter.shape[-1]:
            y = general(x, filter).mul_(factor).add_(offset)
            return y.relu_() if rectify else y
        filter = filter * factor
        if pointwise is not None and pointwise.fits(x, pointwise.depth):
            y, whole = (None, None) if border is None else surrounded(pointwise.result_shape(x), border)
            y = pointwise.convolve(x, filter, offset, rectify, y)
        else:
            y = general(x, filter, offset)
            y = y.relu_() if rectify else y
            whole = None if border is None else torch.nn.functional.pad(y, (0, 0, border[2], border[3], border[0], border[1]))
        return y if border is None else (y, whole)

    return run


fused_op(
    "_ConvNormalized",
    kernel=normalized,
    border=uneven_padding,
    strided=True,
    surrounded=lambda node: "_ConvNormalizedSurrounded" if Pointwise.find(node) is not None else None,
)
fused_op("_ConvNormalizedSurrounded", kernel=lambda node: normalized(node, node.attr("border")), symbolic=symbolic.keeps_batch)


def pooled_sizes(convolution: Node, pool: Node) -> list[int] | None:
    """The sizes of a picture, of the filter, of the padding and of the result of a first layer; None where other kernels must do it."""
    picture, filter = convolution.inputs[0].dims, convolution.inputs[1].dims
    attr = convolution.attr
    if convolution.outputs[0].dtype is not dtypes.float32 or picture is None or filter is None or None in picture[1:] or None in filter:
        return None
    if attr("data_format") != "NHWC" or attr("padding") not in ("SAME", "VALID") or [*attr("strides"), *attr("dilations")] != [1] * 8:
        return None
    if pool.attr("data_format") != "NHWC" or pool.attr("ksize") != [1, 2, 2, 1] or pool.attr("strides") != [1, 2, 2, 1]:
        return None
    height, width, depth, rows, columns, taken, channels = (size or 0 for size in (*picture[1:], *filter))
    if depth > MOST_DEPTH or taken != depth or channels % GROUP:
        return None
    same = attr("padding") == "SAME"
    out = [height, width] if same else [height - rows + 1, width - columns + 1]
    if min(out) < 2 or (pool.attr("padding") == "SAME" and any(size % 2 for size in out)) or pool.attr("padding") not in ("SAME", "VALID"):
        return None
    top, left = ((rows - 1) // 2, (columns - 1) // 2) if same else (0, 0)
    return [height, width, depth, rows, columns, channels, top, left, out[0] // 2, out[1] // 2]


def _pooled(node: Node) -> Callable[..., Any]:
    """A first layer's convolution, perhaps with a bias, of which only the maxima of windows are kept, perhaps rectified."""
    convolve, reduce = kernel_of(node.attr("convolution")), kernel_of(node.attr("pool"))
    sizes, rectify = node.attr("sizes"), node.attr("rectify")
    channels, (height, width) = sizes[5], sizes[8:]

    def run(x: Any, filter: Any, bias: Any = None) -> Any:
        if not x.is_cpu:
            found = reduce(convolve(x, filter) if bias is None else convolve(x, filter, bias))
            return found.relu_() if rectify else found
        x, filter = x.contiguous(), filter.contiguous()
        bias = None if bias is None else bias.contiguous()
        out = torch.empty((x.shape[0], height, width, channels))
        convolve_and_pool(
            x.data_ptr(),
            filter.data_ptr(),
            0 if bias is None else bias.data_ptr(),
            out.data_ptr(),
            [x.shape[0], *sizes],
            rectify,
            torch.get_num_threads(),
        )
        return out

    return run


fused_op("_ConvPool", kernel=_pooled)


def _added(node: Node) -> Callable[..., Any]:
    convolution = node.attr("convolution")
    return added_forward(convolution, kernel_of(convolution))


def _added_gradient(node: Node) -> Callable[..., Any]:
    convolution = node.attr("convolution")
    return added_input_gradient(convolution, kernel_of(convolution), sizes_of(convolution, 0))


fused_op("_ConvAdded", kernel=_added, fresh=True, symbolic=symbolic.like_first)
fused_op("_ConvInputGradientAdded", kernel=_added_gradient, fresh=True, symbolic=symbolic.like_first, sizes=(1,))
