"""Convolutions of pictures with few channels whose results are only pooled: what is pooled away is never written."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from everflow._native import convolve_and_pool
from everflow.graph import dtypes
from everflow.lazy import torch
from everflow.runtime.codegen import kernel_of
from everflow.runtime.passes.fusion import rewrite_nodes
from everflow.runtime.plan import Node, Plan, fused

# The results of so many channels are computed side by side; with more input channels, general kernels are as good.
GROUP = 16
MOST_DEPTH = 4


def pool_first_layers(plan: Plan) -> None:
    """Conv2D with few channels, its bias, MaxPool over windows of two by two and Relu as one node."""
    rewrite_nodes(plan, _pooled)
    rewrite_nodes(plan, _rectified)


def _pooled(node: Node, uses: Any) -> Node | None:
    if node.type != "MaxPool" or node.inputs[0].node.type not in ("Conv2D", "_ConvBias") or uses[node.inputs[0]] != 1 or node.reads:
        return None
    convolution = node.inputs[0].node
    sizes = _sizes(convolution.attrs.get("convolution", convolution), node)
    if sizes is None or convolution.reads:
        return None
    return _joined(node, convolution, node, sizes, rectify=False)


def _rectified(node: Node, uses: Any) -> Node | None:
    source = node.inputs[0].node if node.type == "Relu" and not node.reads else None
    if source is None or source.type != "_ConvPool" or uses[node.inputs[0]] != 1:
        return None
    attrs = source.attrs
    return _joined(node, attrs["convolution"], attrs["pool"], attrs["sizes"], rectify=True)


def _joined(node: Node, convolution: Node, pool: Node, sizes: list[int], rectify: bool) -> Node:
    new = fused("_ConvPool", lambda _: _kernel(convolution, pool, sizes, rectify), node, list(convolution.inputs))
    new.attrs = {"convolution": convolution, "pool": pool, "sizes": sizes}
    return new


def _sizes(convolution: Node, pool: Node) -> list[int] | None:
    """The sizes of a picture, of the filter, of the padding and of the result; None where other kernels must do it."""
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


def _kernel(convolution: Node, pool: Node, sizes: list[int], rectify: bool) -> Callable[..., Any]:
    convolve, reduce = kernel_of(convolution), kernel_of(pool)
    channels, (height, width) = sizes[5], sizes[8:]

    def run(x: Any, filter: Any, bias: Any = None) -> Any:
        if x.is_cuda:
            found = reduce(convolve(x, filter) if bias is None else convolve(x, filter, bias))
            return found.relu_() if rectify else found
        x, filter = x.contiguous(), filter.contiguous()
        bias = None if bias is None else bias.contiguous()
        out = torch.empty((x.shape[0], height, width, channels))
        convolve_and_pool(x.data_ptr(), filter.data_ptr(), 0 if bias is None else bias.data_ptr(), out.data_ptr(),
                          [x.shape[0], *sizes], rectify, torch.get_num_threads())
        return out

    return run
