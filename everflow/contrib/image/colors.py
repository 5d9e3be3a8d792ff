"""Hue, saturation and value changed at once, in the colors of television (YIQ)."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

import everflow as tf
from everflow.api import internal
from everflow.errors import invalid_argument
from everflow.graph import shapes
from everflow.graph.convert import convert_to_tensor
from everflow.graph.operation import Operation
from everflow.graph.scopes import name_scope
from everflow.lazy import torch
from everflow.ops.core.node import Node
from everflow.ops.core.registry import apply, op

_OPS = "contrib.image.python.ops.distort_image_ops"
_YIQ = np.array([[0.299, 0.587, 0.114], [0.596, -0.274, -0.322], [0.211, -0.523, 0.312]])
_RGB = np.linalg.inv(_YIQ)


def _changing(hue: float, saturation: float, value: float) -> np.ndarray:
    """The matrix that turns the plane of colors by the hue, and scales."""
    along, across = (saturation * turn(hue) for turn in (math.cos, math.sin))
    turned = np.array([[1, 0, 0], [0, along, -across], [0, across, along]])
    return value * (_RGB @ turned @ _YIQ)


def _adjust(node: Node) -> Callable[..., Any]:
    def run(images: Any, hue: Any, saturation: Any, value: Any) -> Any:
        if images.shape[-1] != 3:
            raise invalid_argument(f"input must have 3 channels but instead has {images.shape[-1]} channels.")
        matrix = torch.from_numpy(_changing(float(hue), float(saturation), float(value))).to(images.device)
        wide = images if images.dtype == torch.float64 else images.to(torch.float32)
        return torch.matmul(wide, matrix.to(wide.dtype).t()).to(images.dtype)

    return run


def _shape(o: Operation) -> Any:
    for t in o.inputs[1:]:
        shapes.with_rank(t.dims, 0)
    return shapes.with_rank_at_least(o.inputs[0].dims, 3)


op("AdjustHsvInYiq", kernel=_adjust, shape=_shape)


@internal(f"{_OPS}.adjust_hsv_in_yiq")
def adjust_hsv_in_yiq(image: Any, delta_hue: Any = 0, scale_saturation: Any = 1, scale_value: Any = 1, name: str | None = None) -> Any:
    """A picture with its hue turned, in radians, and its saturation and value multiplied."""
    with name_scope(name, "adjust_hsv_in_yiq", [image]):
        image = convert_to_tensor(image, name="image")
        floats = tf.image.convert_image_dtype(image, tf.float32)
        changed = apply("AdjustHsvInYiq", floats, delta_hue, scale_saturation, scale_value)
        return tf.image.convert_image_dtype(changed, image.dtype)


@internal(f"{_OPS}.random_hsv_in_yiq")
def random_hsv_in_yiq(
    image: Any,
    max_delta_hue: float = 0,
    lower_saturation: float = 1,
    upper_saturation: float = 1,
    lower_value: float = 1,
    upper_value: float = 1,
    seed: int | None = None,
) -> Any:
    """The same by numbers that are drawn from these ranges."""
    if max_delta_hue < 0:
        raise ValueError("max_delta must be non-negative.")
    for name, low, high in (("saturation", lower_saturation, upper_saturation), ("value", lower_value, upper_value)):
        if low < 0:
            raise ValueError(f"lower_{name} must be non-negative.")
        if low > high:
            raise ValueError(f"lower_{name} must be < upper_{name}.")

    def drawn(low: float, high: float) -> Any:
        return tf.random_uniform([], low, high, seed=seed) if low < high else low

    hue = drawn(-max_delta_hue, max_delta_hue)
    return adjust_hsv_in_yiq(image, hue, drawn(lower_saturation, upper_saturation), drawn(lower_value, upper_value))
