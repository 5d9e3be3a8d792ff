"""Single pictures that are resized: the ops that make a batch of one picture and take it apart again go."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from everflow import _native
from everflow.graph import dtypes
from everflow.lazy import torch
from everflow.ops.image.resizing import RESIZES, checked_size, native_axes, resizing
from everflow.runtime.passes.fusion import rewrite_nodes
from everflow.runtime.plan import Node, Plan, fused


def resize_single_pictures(plan: Plan) -> None:
    """ExpandDims of a picture of bytes, its resizing, Squeeze, and what all pixels are divided or multiplied by as one node."""
    rewrite_nodes(plan, lambda node, uses: _resized(node, uses) or _scaled(node, uses))


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
    return _node(node, [picture, resize.inputs[1]], resize, 1.0, 1.0)


def _scaled(node: Node, uses: Any) -> Node | None:
    if node.type not in ("RealDiv", "Mul") or node.reads:
        return None
    picture, number = node.inputs[0].node, node.constant(1)
    if picture.type != RESIZED or uses[node.inputs[0]] != 1 or number is None or number.ndim or picture.attrs["factor"] != 1:
        return None
    divisor, factor = (float(number), 1.0) if node.type == "RealDiv" else (1.0, float(number))
    if divisor != 1 and picture.attrs["divisor"] != 1:
        return None
    return _node(node, picture.inputs, picture.attrs["resize"], picture.attrs["divisor"] * divisor, factor)


RESIZED = "_ResizedPicture"


def _node(of: Node, inputs: list[Any], resize: Node, divisor: float, factor: float) -> Node:
    new = fused(RESIZED, lambda _: _kernel(resize, divisor, factor), of, inputs, fresh=True)
    new.attrs = {"resize": resize, "divisor": divisor, "factor": factor}
    return new


def _kernel(resize: Node, divisor: float, factor: float) -> Callable[..., Any]:
    whole, axes = resizing(RESIZES[resize.type])(resize), native_axes(resize)

    def run(picture: Any, size: Any) -> Any:
        height, width = checked_size(size)
        tall, wide, depth = picture.shape
        if picture.device.type != "cpu" or not picture.numel() or (height, width) == (tall, wide):
            found = whole(picture[None], size)[0]
            found = found / divisor if divisor != 1 else found
            return found * factor if factor != 1 else found
        out = torch.empty((1, height, width, depth), dtype=torch.float32).numpy()
        _native.resample(picture.contiguous().numpy()[None], out, *axes(tall, height), *axes(wide, width), torch.get_num_threads(),
                         divisor, factor)
        return torch.from_numpy(out[0])

    return run
