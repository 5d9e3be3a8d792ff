"""Convolutions of images that are resized and mirrored at their edges first, as optimize_for_inference makes them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from everflow.graph import dtypes, shapes
from everflow.graph.operation import Operation
from everflow.ops.core.node import Node, Value
from everflow.ops.core.registry import meaning, op


def _stage(node: Node, op_type: str, types: list[Any], **attrs: Any) -> Callable[..., Any]:
    """The kernel of one of the ops that are done together."""
    stage = Node(op_type, node.name, attrs, [], None, node.context)
    stage.inputs = [Value(stage, i, dtype, None) for i, dtype in enumerate(types)]
    stage.add_output(node.inputs[0].dtype, None)
    found = meaning(op_type)
    assert found is not None and found.kernel is not None
    return found.kernel(stage)


def _stages(node: Node) -> tuple[Callable[..., Any], Callable[..., Any]]:
    dtype = node.inputs[0].dtype
    pad = _stage(node, "MirrorPad", [dtype, dtypes.int32], mode=node.attr("mode"), T=dtype, Tpaddings=dtypes.int32)
    convolve = _stage(
        node,
        "Conv2D",
        [dtype, dtype],
        T=dtype,
        strides=node.attr("strides"),
        padding=node.attr("padding"),
        explicit_paddings=[],
        data_format="NHWC",
        dilations=[1, 1, 1, 1],
        use_cudnn_on_gpu=True,
    )
    return pad, convolve


def _padded_convolution(node: Node) -> Callable[..., Any]:
    pad, convolve = _stages(node)
    return lambda x, paddings, filter: convolve(pad(x, paddings), filter)


def _resized_convolution(node: Node) -> Callable[..., Any]:
    pad, convolve = _stages(node)
    dtype = node.inputs[0].dtype
    resize = _stage(
        node, "ResizeBilinear", [dtype, dtypes.int32], T=dtype, align_corners=node.attr("resize_align_corners"), half_pixel_centers=False
    )
    return lambda x, size, paddings, filter: convolve(pad(resize(x, size).to(x.dtype), paddings), filter)


def _shape(o: Operation) -> Any:
    image, filter = (shapes.with_rank(o.inputs[i].dims, 4) for i in (0, -1))
    shapes.with_rank(o.inputs[-2].dims, 2)
    if len(strides := o.get_attr("strides")) != 4:
        raise ValueError(f"Operation requires the stride attribute to contain 4 values, but got: {len(strides)}")
    return (image[0], None, None, filter[3])


op("FusedPadConv2D", kernel=_padded_convolution, shape=_shape)
op("FusedResizeAndPadConv2D", kernel=_resized_convolution, shape=_shape)
