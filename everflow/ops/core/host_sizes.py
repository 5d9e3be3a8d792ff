"""Small integer arithmetic on shapes in Python: what `op(..., host=...)` says.

A rule takes the node and returns a function of Python's numbers and tuples of them (`Size`, `Sizes`), or None where the node is
not that simple.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from everflow.errors import invalid_argument
from everflow.lazy import torch
from everflow.ops.core.node import Node
from everflow.ops.core.registry import fused_op
from everflow.values.sizes import Size, Sizes
from everflow.values.tensors import torch_dtype


def elementwise(compute: Callable[[int, int], int]) -> Callable[[Node], Any]:
    """Arithmetic on sizes, which broadcast as tensors do."""

    def rule(node: Node) -> Any:
        x, y = (v.dims for v in node.inputs)
        if x == () and y == ():
            return lambda a, b: Size(compute(a, b))
        if x == ():
            return lambda a, b: Sizes([compute(a, n) for n in b])
        if y == ():
            return lambda a, b: Sizes([compute(m, b) for m in a])
        if x is None or y is None or len(x) != 1 or len(y) != 1:
            return None
        return lambda a, b: Sizes([compute(m, n) for m, n in _side_by_side(a, b)])

    return rule


def _side_by_side(a: Sizes, b: Sizes) -> Any:
    """The sizes at the same places of two vectors, of which one may be a single size for all places."""
    if len(a) == len(b):
        return zip(a, b)
    if 1 not in (len(a), len(b)):
        raise invalid_argument(f"Incompatible shapes: [{len(a)}] vs. [{len(b)}]")
    return [(m, b[0]) for m in a] if len(b) == 1 else [(a[0], n) for n in b]


def floor_quotient(a: int, b: int) -> int:
    if b == 0:
        raise invalid_argument("Integer division by zero")
    return a // b


def stitched(node: Node) -> Any:
    """Sizes, or vectors of them, whose places in the result are known; later ones win."""
    count = node.attr("N")
    places = [node.constant(i) for i in range(count)]
    if any(at is None or at.ndim > 1 or (at < 0).any() for at in places):
        return None
    order = [at.reshape(-1).tolist() for at in places]  # type: ignore[union-attr]
    single = [v.dims == () for v in node.inputs[count:]]
    if single != [at.ndim == 0 for at in places]:  # type: ignore[union-attr]
        return None
    length = max((i + 1 for at in order for i in at), default=0)

    def run(*xs: Any) -> Sizes:
        found = [0] * length
        for at, alone, sizes in zip(order, single, xs[count:]):
            for i, size in zip(at, (sizes,) if alone else sizes):
                found[i] = size
        return Sizes(found)

    return run


def product(node: Node) -> Any:
    """Of all sizes of a vector."""
    axes = node.constant(1)
    if axes is None or axes.reshape(-1).tolist() not in ([0], [-1]) or node.attr("keep_dims") or node.inputs[0].dims == ():
        return None
    return lambda x, axes: Size(math.prod(x))


def part(node: Node) -> Any:
    """Some sizes of a vector, or one of them."""
    bounds = [node.constant(i) for i in (1, 2, 3)]
    if any(b is None or b.size != 1 for b in bounds) or node.attr("ellipsis_mask") or node.attr("new_axis_mask"):
        return None
    start, stop, step = (int(b[0]) for b in bounds)  # type: ignore[index]
    size = node.inputs[0].dims[0] if node.inputs[0].dims else None
    if node.attr("shrink_axis_mask"):
        return (lambda x, *_: Size(x[start])) if size is not None and -size <= start < size else None
    part = slice(None if node.attr("begin_mask") else start, None if node.attr("end_mask") else stop, step)
    return lambda x, *_: Sizes(x[part])


def packed(node: Node) -> Any:
    """Single sizes as a vector."""
    return (lambda *xs: Sizes(xs)) if all(v.dims == () for v in node.inputs) else None


def alone(node: Node) -> Any:
    """A single size as a vector."""
    axis = node.constant(1)
    is_known = axis is not None and axis.reshape(-1).tolist() in ([0], [-1])
    return (lambda x, axis: Sizes([x])) if is_known and node.inputs[0].dims == () else None


def joined(node: Node) -> Any:
    """Vectors of sizes, one after another."""
    axis = node.constant(len(node.inputs) - 1)
    if axis is None or axis.reshape(-1).tolist() not in ([0], [-1]) or any(v.dims == () for v in node.inputs[:-1]):
        return None
    return lambda *xs: Sizes([n for x in xs[:-1] for n in x])


def gathered(node: Node) -> Any:
    """Chosen sizes of a vector."""
    indices, size = node.constant(1), node.inputs[0].dims[0] if node.inputs[0].dims else None
    if indices is None or size is None or not ((indices >= 0) & (indices < size)).all():
        return None
    if indices.ndim == 0:
        at = int(indices)
        return lambda x, *_: Size(x[at])
    wanted = indices.tolist()
    return lambda x, *_: Sizes([x[i] for i in wanted])


def comparison(compare: Callable[..., bool]) -> Callable[[Node], Any]:
    """Of two numbers: what conditions of loops are made of."""
    return lambda node: compare if all(v.dims == () for v in node.inputs) else None


def unchanged(node: Node) -> Any:
    """The sizes as they are: on the host, they have no type of their own."""
    return None if node.outputs[0].dtype.name == "bool" or node.inputs[0].dtype.name == "bool" else lambda x: x


def _shape_of(x: Any) -> Sizes:
    # Sizes that are on the host themselves have the shape of a list, or of a number.
    return Sizes([len(x)] if isinstance(x, Sizes) else x.shape if hasattr(x, "shape") else [])


def shape_of(node: Node) -> Any:
    """The shape of each input."""
    return _shape_of if len(node.outputs) == 1 else lambda *xs: [_shape_of(x) for x in xs]


def _as_tensor(node: Node) -> Any:
    """A tensor of such numbers, for kernels that take no others."""
    dtype = torch_dtype(node.outputs[0].dtype)
    return lambda value: torch.tensor(value, dtype=dtype)


fused_op("_AsTensor", kernel=_as_tensor)
