"""Pictures of dots that show a relief to eyes which look through them, by Thimbleby, Inglis and Witten (1994)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from everflow.api import public
from everflow.errors import invalid_argument
from everflow.lazy import torch
from everflow.ops.core.node import Node
from everflow.ops.core.registry import apply, not_differentiable, op


def _channels(number_colors: int, shape: Any) -> int:
    return 3 if number_colors > 256 else shape[2]


def _relief(z: np.ndarray, node: Node) -> np.ndarray:
    """How near each point of the picture is, from 0 (far) to 1: the data in its window, the border around it."""
    width, height, _ = node.attr("output_image_shape")
    across, down = node.attr("output_data_window")
    if across > width or down > height:
        raise invalid_argument("output_data_window must be equal to or smaller than output_image_shape")
    if node.attr("normalize"):
        low, high = node.attr("normalize_min"), node.attr("normalize_max")
        if high < low:
            low, high = z.min(), z.max()
        z = (z - low) / (high - low) if high > low else np.zeros_like(z)
    found = np.full((height, width), node.attr("border_level"), np.float64)
    # In the middle, but off the dots at the bottom where there is room.
    top = min((height - down) // 2, max(height - down - node.attr("convergence_dots_size"), 0))
    left = (width - across) // 2
    rows, columns = (np.arange(n) * size // n for n, size in zip((down, across), z.shape))
    found[top : top + down, left : left + across] = z[np.ix_(rows, columns)]
    return np.clip(found, 0.0, 1.0)


def _visible(z: np.ndarray, x: int, mu: float, eyes: float) -> np.ndarray:
    """Of each row, whether nothing that is nearer hides the point in column x from either eye."""
    here = z[:, x]
    seen = np.ones(len(z), bool)
    t = 1
    while True:
        limit = here + 2 * (2 - mu * here) * t / (mu * eyes)
        if not (seen & (limit < 1)).any():
            return seen
        for side in (x - t, x + t):
            if 0 <= side < z.shape[1]:
                seen &= z[:, side] < limit
        t += 1


def _links(z: np.ndarray, mu: float, eyes: float, hides: bool) -> np.ndarray:
    """For each point the one to its right that must look the same, or itself."""
    height, width = z.shape
    same = np.tile(np.arange(width), (height, 1))
    separations = np.rint((1 - mu * z) * eyes / (2 - mu * z)).astype(int)
    for x in range(width):
        apart = separations[:, x]
        left = x - (apart + (apart & np.arange(height) & 1)) // 2
        right = left + apart
        open_rows = (left >= 0) & (right < width)
        if hides:
            open_rows &= _visible(z, x, mu, eyes)
        rows = np.flatnonzero(open_rows)
        left, right = left[rows], right[rows]
        # A point that is tied already ties the two others: the nearer one goes between.
        while rows.size:
            tied = same[rows, left]
            same[rows, left] = np.where(tied == left, right, np.minimum(tied, right))
            more = (tied != left) & (tied != right)
            rows, left, right = rows[more], np.minimum(tied, right)[more], np.maximum(tied, right)[more]
    return same


def _stereogram(node: Node) -> Callable[..., Any]:
    colors = node.attr("number_colors")
    channels = _channels(colors, node.attr("output_image_shape"))
    mu, eyes, dots = node.attr("mu"), round(node.attr("eye_separation") * node.attr("dots_per_inch")), node.attr("convergence_dots_size")
    hides = node.attr("hidden_surface_removal")

    def run(depth_values: Any) -> Any:
        z = depth_values.numpy().astype(np.float64)
        if z.ndim != 2:
            raise invalid_argument("depth_values must be 2-D")
        relief = _relief(z, node)
        height, width = relief.shape
        same = _links(relief, mu, eyes, hides)
        random = np.random.default_rng()
        if colors == 2:
            image = 255 * random.integers(0, 2, (height, width, 1))
        else:
            image = random.integers(0, 256, (height, width, 3 if colors > 256 else 1))
        image = np.repeat(image, channels, axis=2) if image.shape[2] == 1 else image
        rows = np.arange(height)
        for x in range(width - 1, -1, -1):
            image[:, x] = image[rows, same[:, x]]
        # Two marks as far apart as points at the back are: eyes that make three of them see the relief.
        far = round(eyes / 2)
        for middle in (width // 2 - far // 2, width // 2 + far // 2) if dots > 0 else ():
            first = max(middle - dots // 2, 0)
            image[max(height - dots, 0) :, first : first + dots] = 0
        return torch.from_numpy(image.astype(np.uint8))

    return run


def _shape(o: Any) -> Any:
    shape = o.get_attr("output_image_shape")
    sizes = [dim.size for dim in shape.dim]
    return sizes[1], sizes[0], _channels(o.get_attr("number_colors"), sizes)


op("SingleImageRandomDotStereograms", kernel=_stereogram, shape=_shape, gradient=not_differentiable)


@public("contrib.image.single_image_random_dot_stereograms")
def single_image_random_dot_stereograms(
    depth_values: Any,
    hidden_surface_removal: bool | None = None,
    convergence_dots_size: int | None = None,
    dots_per_inch: int | None = None,
    eye_separation: float | None = None,
    mu: float | None = None,
    normalize: bool | None = None,
    normalize_max: float | None = None,
    normalize_min: float | None = None,
    border_level: float | None = None,
    number_colors: int | None = None,
    output_image_shape: Any = None,
    output_data_window: Any = None,
) -> Any:
    """A picture of random dots in which depths are hidden; `output_image_shape` is [width, height, channels]."""
    given = {name: value for name, value in locals().items() if name != "depth_values" and value is not None}
    return apply("SingleImageRandomDotStereograms", depth_values, **given)
