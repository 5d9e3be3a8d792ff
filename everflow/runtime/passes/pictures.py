"""Single pictures that are resized: the ops that make a batch of one picture and take it apart again go."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from everflow import _native
from everflow.graph import dtypes
from everflow.lazy import torch
from everflow.ops.image_resizing import RESIZES, checked_size, native_axes, resizing
from everflow.runtime.passes.fusion import rewrite_nodes
from everflow.runtime.plan import Node, Plan, fused


def resize_single_pictures(plan: Plan) -> None:
    """ExpandDims of a picture of bytes, its resizing and Squeeze as one node."""
    rewrite_nodes(plan, _resized)


def _resized(node: Node, uses: Any) -> Node | None:
    if node.type != "Squeeze" or node.attr("squeeze_dims") != [0] or node.reads or uses[node.inputs[0]] != 1:
        return None
    resize = node.inputs[0].node
    if resize.type not in RESIZES or resize.reads or uses[resize.inputs[0]] != 1:
        return None
    expand = resize.inputs[0].node
    if expand.type != "ExpandDims" or expand.reads:
        return None
    axis, picture = expand.constant(1), expand.inputs[0]
    if axis is None or axis.item() != 0 or picture.dtype is not dtypes.uint8 or picture.dims is None or len(picture.dims) != 3:
        return None
    return fused("_ResizedPicture", lambda _: _kernel(resize), node, [picture, resize.inputs[1]])


def _kernel(resize: Node) -> Callable[..., Any]:
    whole, axes = resizing(RESIZES[resize.type])(resize), native_axes(resize)

    def run(picture: Any, size: Any) -> Any:
        height, width = checked_size(size)
        tall, wide, depth = picture.shape
        if picture.device.type != "cpu" or not picture.numel() or (height, width) == (tall, wide):
            return whole(picture[None], size)[0]
        out = torch.empty((1, height, width, depth), dtype=torch.float32).numpy()
        _native.resample(picture.contiguous().numpy()[None], out, *axes(tall, height), *axes(wide, width), torch.get_num_threads())
        return torch.from_numpy(out[0])

    return run
