"""tf.contrib.resampler: images read at places between pixels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from everflow import errors
from everflow.api import internal, public
from everflow.errors import invalid_argument
from everflow.graph.operation import Operation
from everflow.lazy import torch
from everflow.ops.core.node import Node
from everflow.ops.core.registry import apply, not_differentiable, op


def _corners(data: Any, warp: Any) -> Any:
    """For each of four neighbouring pixels: its values (0 outside of the image), its place in a row of all pixels, and its weights."""
    count, height, width, channels = data.shape
    places = warp.reshape(count, -1, 2)
    x, y = places[..., 0], places[..., 1]
    inside = (x > -1) & (y > -1) & (x < width) & (y < height)
    left, top = torch.floor(x), torch.floor(y)
    right_weight, bottom_weight = x - left, y - top
    pixels = data.reshape(-1, channels)
    first = torch.arange(count, device=data.device)[:, None] * (height * width)
    for dy, wy in ((0, 1 - bottom_weight), (1, bottom_weight)):
        for dx, wx in ((0, 1 - right_weight), (1, right_weight)):
            column, row = (left + dx).nan_to_num().long(), (top + dy).nan_to_num().long()
            known = inside & (column >= 0) & (column < width) & (row >= 0) & (row < height)
            place = torch.where(known, first + row * width + column, 0)
            values = pixels[place] * known[..., None]
            yield values, place, known, wx, wy, (1 if dx else -1), (1 if dy else -1)


def _check(data: Any, warp: Any) -> None:
    if data.ndim != 4:
        raise errors.UnimplementedError(
            None,
            None,
            "Only bilinear interpolation is currently supported. The input data shape must be [batch_size, data_height, data_width, "
            f"data_num_channels], but is: {list(data.shape)}",
        )
    if warp.ndim < 2:
        raise invalid_argument(f"warp should be at least a matrix, got shape {list(warp.shape)}")
    if warp.shape[-1] != 2:
        raise errors.UnimplementedError(
            None,
            None,
            "Only bilinear interpolation is supported, warping coordinates must be 2D; warp shape last entry should be 2, but shape "
            f"vector is: {list(warp.shape)}",
        )
    if warp.shape[0] != data.shape[0]:
        shapes = f"{list(data.shape)}, {list(warp.shape)}"
        raise invalid_argument(f"Batch size of data and warp tensor must be the same, but input shapes are: {shapes}")


def _resample(node: Node) -> Callable[..., Any]:
    def run(data: Any, warp: Any) -> Any:
        _check(data, warp)
        total = 0
        for values, _, _, wx, wy, _, _ in _corners(data, warp):
            total = total + values * (wx * wy)[..., None]
        return total.reshape(*warp.shape[:-1], data.shape[-1])  # type: ignore[attr-defined]

    return run


def _resample_gradient(node: Node) -> Callable[..., Any]:
    def run(data: Any, warp: Any, dy: Any) -> tuple[Any, Any]:
        _check(data, warp)
        channels = data.shape[-1]
        flow = dy.reshape(data.shape[0], -1, channels)
        to_data = torch.zeros_like(data).reshape(-1, channels)
        to_x = to_y = torch.zeros_like(flow[..., 0])
        for values, place, known, wx, wy, sx, sy in _corners(data, warp):
            to_data.index_add_(0, place.reshape(-1), (flow * (wx * wy * known)[..., None]).reshape(-1, channels))
            along = (values * flow).sum(-1)
            to_x = to_x + sx * wy * along
            to_y = to_y + sy * wx * along
        return to_data.reshape(data.shape), torch.stack([to_x, to_y], -1).reshape(warp.shape)

    return run


def _shape(o: Operation) -> Any:
    data, warp = o.inputs[0].dims, o.inputs[1].dims
    if data is not None and len(data) != 4 or warp is None or data is None:
        return None
    return (*warp[:-1], data[-1])


op("Resampler", kernel=_resample, shape=_shape, gradient=lambda o, dy: apply("ResamplerGrad", *o.inputs, dy))
op("ResamplerGrad", kernel=_resample_gradient, shape=lambda o: [o.inputs[0].dims, o.inputs[1].dims], gradient=not_differentiable)


@public("contrib.resampler.resampler")
def resampler(data: Any, warp: Any, name: str = "resampler") -> Any:
    """Values of images [batch, height, width, channels] at places [batch, ..., 2] (x, y), interpolated; 0 outside."""
    return apply("Resampler", data, warp, name=name)


@internal("contrib.resampler.ops.gen_resampler_ops.resampler_grad")
def resampler_grad(data: Any, warp: Any, grad_output: Any, name: str | None = None) -> Any:
    """The gradients of resampler with respect to images and places."""
    return apply("ResamplerGrad", data, warp, grad_output, name=name)
