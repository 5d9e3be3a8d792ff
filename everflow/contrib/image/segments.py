"""Connected components of images, and matches of rows with columns."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import everflow as tf
from everflow.api import public
from everflow.errors import invalid_argument
from everflow.graph.convert import convert_to_tensor
from everflow.lazy import torch
from everflow.ops.core.node import Node
from everflow.ops.core.registry import apply, not_differentiable, op


def _components(node: Node) -> Callable[..., Any]:
    def run(images: Any) -> Any:
        pixels = images if isinstance(images, np.ndarray) else images.numpy()
        blank = b"" if pixels.dtype == object else pixels.dtype.type(0)
        filled = pixels != blank
        labels = np.where(filled, np.arange(pixels.size).reshape(pixels.shape), pixels.size)
        flat = np.append(labels.reshape(-1), pixels.size)
        alike = {axis: (np.take(pixels, range(1, pixels.shape[axis]), axis) == np.take(pixels, range(pixels.shape[axis] - 1), axis))
                 for axis in (1, 2)}  # fmt: skip
        # Each pixel takes the smallest label of its neighbours of the same value, then that of the pixel which it points to.
        while True:
            labels = flat[:-1].reshape(pixels.shape)
            least = labels.copy()
            for axis, same in alike.items():
                low, high = (tuple(slice(*part) if i == axis else slice(None) for i in range(3)) for part in ((0, -1), (1, None)))
                both = same & filled[low]
                smaller = np.where(both, np.minimum(labels[low], labels[high]), pixels.size)
                least[low] = np.minimum(least[low], smaller)
                least[high] = np.minimum(least[high], smaller)
            fresh = np.append(least.reshape(-1), pixels.size)
            fresh = np.minimum(fresh, fresh[fresh])
            if np.array_equal(fresh, flat):
                break
            flat = fresh
        roots = np.unique(flat[:-1][filled.reshape(-1)])
        numbers = np.searchsorted(roots, flat[:-1]) + 1
        return torch.from_numpy(np.where(filled, numbers.reshape(pixels.shape), 0))

    return run


op("ImageConnectedComponents", kernel=_components, shape=lambda o: o.inputs[0].dims, gradient=not_differentiable)


@public("contrib.image.connected_components")
def connected_components(images: Any) -> Any:
    """Numbers from 1 on for neighbouring pixels (above, below, beside) of the same value that is not 0, False or ""; 0 for others."""
    with tf.name_scope("connected_components"):
        images = convert_to_tensor(images, name="images")
        if images.shape.ndims == 2:
            return apply("ImageConnectedComponents", images[None])[0]
        if images.shape.ndims == 3:
            return apply("ImageConnectedComponents", images)
        raise TypeError(f"images should have rank 2 (HW) or 3 (NHW). Static shape is {images.shape}")


def _match(node: Node) -> Callable[..., Any]:
    top_k = node.attr("top_k")

    def run(distances: Any, valid: Any) -> tuple[Any, Any]:
        if distances.ndim != 2:
            raise invalid_argument("distance_mat should be 2-dimensional")
        if valid.numel() != 1:
            raise invalid_argument("num_valid_rows argument should be a single element tensor")
        rows, columns = distances.shape
        count = int(valid.reshape(-1)[0])
        count = rows if count < 0 else min(count, rows)
        to_column = torch.full((rows,), -1, dtype=torch.int32)
        to_row = torch.full((columns,), -1, dtype=torch.int32)
        left = min(count, columns) if top_k < 0 else min(count, columns, top_k)
        for place in torch.argsort(distances[:count].reshape(-1), stable=True).tolist():
            if not left:
                break
            row, column = divmod(place, columns)
            if to_column[row] < 0 and to_row[column] < 0:
                to_column[row], to_row[column] = column, row
                left -= 1
        return to_column, to_row

    return run


op(
    "BipartiteMatch",
    kernel=_match,
    shape=lambda o: [o.inputs[0].dims[:1], o.inputs[0].dims[1:]] if o.inputs[0].dims else [None, None],
    gradient=not_differentiable,
)


@public("contrib.image.bipartite_match")
def bipartite_match(distance_mat: Any, num_valid_rows: Any, top_k: int = -1, name: str = "bipartite_match") -> tuple[Any, Any]:
    """The closest pairs of rows and columns, each in one pair: the column of each row and the row of each column, -1 without one."""
    found = apply("BipartiteMatch", distance_mat, num_valid_rows, top_k=top_k, name=name)
    return found[0], found[1]
