"""Summing gradients of broadcast inputs back to the inputs' shapes."""
from __future__ import annotations

from typing import Any

import numpy as np

from everflow.graph import shapes
from everflow.lazy import torch
from everflow.ops.registry import apply, op


def reduced_like(x: Any, y: Any, dx: Any, dy: Any) -> list[Any]:
    """The gradients of two inputs that were broadcast against each other, each summed to its input's shape."""
    if x.dims is not None and x.dims == y.dims and shapes.is_fully_defined(x.dims):
        return [dx, dy]
    shape_x, shape_y = apply("Shape", x), apply("Shape", y)
    axes_x, axes_y = apply("BroadcastGradientArgs", shape_x, shape_y)
    return [_summed(dx, axes_x, shape_x, x, y), _summed(dy, axes_y, shape_y, y, x)]


def _summed(gradient: Any, axes: Any, shape: Any, like: Any, other: Any) -> Any:
    if gradient is None:
        return None
    if like.dims is not None and gradient.dims == like.dims and shapes.is_fully_defined(like.dims):
        return gradient
    return apply("Reshape", apply("Sum", gradient, axes), shape)


def _gradient_axes(a: list[int], b: list[int]) -> tuple[list[int], list[int]]:
    """The axes along which each of two shapes was broadcast to reach their common shape."""
    rank = max(len(a), len(b))
    a, b = [1] * (rank - len(a)) + a, [1] * (rank - len(b)) + b
    of_a, of_b = [], []
    for i, (m, n) in enumerate(zip(a, b)):
        if m == n:
            if m == 1:
                of_a.append(i)
                of_b.append(i)
        elif m == 1:
            of_a.append(i)
        elif n == 1:
            of_b.append(i)
    return of_a, of_b


def _broadcast_gradient_args(node: Any) -> Any:
    dtype = torch.int64 if node.inputs[0].dtype.base_dtype.name == "int64" else torch.int32

    def run(a: Any, b: Any) -> Any:
        of_a, of_b = _gradient_axes(a.tolist(), b.tolist())
        return torch.tensor(of_a, dtype=dtype), torch.tensor(of_b, dtype=dtype)

    return run


op("BroadcastGradientArgs", kernel=_broadcast_gradient_args, shape=lambda o: [(None,), (None,)])


def _broadcast_args(node: Any) -> Any:
    def run(a: Any, b: Any) -> Any:
        try:
            found = np.broadcast_shapes(tuple(a.tolist()), tuple(b.tolist()))
        except ValueError:
            from everflow import errors

            raise errors.invalid_argument(
                f"Incompatible shapes: [{','.join(map(str, a.tolist()))}] vs. [{','.join(map(str, b.tolist()))}]") from None
        return torch.tensor(found, dtype=a.dtype)

    return run


def _broadcast_args_shape(o: Any) -> Any:
    a, b = (t.dims for t in o.inputs)
    return (max(a[0], b[0]),) if a and b and a[0] is not None and b[0] is not None else (None,)


op("BroadcastArgs", kernel=_broadcast_args, shape=_broadcast_args_shape)
