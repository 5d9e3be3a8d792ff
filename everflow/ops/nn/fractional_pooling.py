"""Pooling with ratios that are no integers: windows have two sizes, in an order that is drawn at random."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import everflow as tf
from everflow.api import internal, public
from everflow.errors import invalid_argument
from everflow.graph import shapes
from everflow.graph.constants import dims_of
from everflow.graph.operation import Operation
from everflow.lazy import torch
from everflow.ops.core.node import Node
from everflow.ops.core.registry import apply, op
from everflow.ops.core.shape_rules import ranked, same_as
from everflow.ops.nn.convolution_functions import per_axis
from everflow.values.philox import Philox, PhiloxWords


def _sizes(length: int, count: int, random: Philox, pseudo_random: bool) -> list[int]:
    """The sizes of `count` windows that together have this length. Numbers are drawn where all sizes are the same too, so that those of the
    columns come after those of the rows."""
    if not pseudo_random:
        sizes = [length // count + 1] * (length % count) + [length // count] * (count - length % count)
        words = PhiloxWords(*random.reserve(-(-count // 4)))
        for first in range(count - 1):
            other = first + words.uint32() % (count - first)
            sizes[first], sizes[other] = sizes[other], sizes[first]
        return sizes
    alpha = length / count
    k = int(alpha)
    largest = min((k + 2) / alpha - 1, (length + 1 - k) / alpha - (count - 1))
    offset = PhiloxWords(*random.reserve(1)).uniform() * largest
    edges = [1, *(math.ceil(alpha * (i + offset)) for i in range(1, count)), length + 1]
    return [b - a for a, b in zip(edges, edges[1:])]


def _edges(length: int, count: int, random: Philox, pseudo_random: bool) -> list[int]:
    found = [0]
    for size in _sizes(length, count, random, pseudo_random):
        found.append(found[-1] + size)
    return found


def _spans(edges: list[int], length: int, overlapping: bool) -> list[slice]:
    """The windows between edges; overlapping ones share the pixels at their edges."""
    return [slice(a, min(b + overlapping, length)) for a, b in zip(edges, edges[1:])]


def _maxima(x: Any, rows: list[slice], columns: list[slice]) -> tuple[Any, Any]:
    """Maxima of NHWC windows, and where each is in the flattened plane: the first in the order of reading."""
    width = x.shape[2]
    best = [x[:, :, c].max(2) for c in columns]
    values, at = torch.stack([b.values for b in best], 2), torch.stack([b.indices + c.start for b, c in zip(best, columns)], 2)
    found, positions = [], []
    for r in rows:
        top = values[:, r].max(1)
        found.append(top.values)
        positions.append((top.indices + r.start) * width + at[:, r].gather(1, top.indices.unsqueeze(1)).squeeze(1))
    return torch.stack(found, 1), torch.stack(positions, 1)


def _means(x: Any, rows: list[slice], columns: list[slice]) -> Any:
    if not x.is_floating_point():
        sums = torch.stack([x[:, :, c].sum(2) for c in columns], 2)
        sums = torch.stack([sums[:, r].sum(1) for r in rows], 1)
        sizes = torch.tensor([[(r.stop - r.start) * (c.stop - c.start) for c in columns] for r in rows], device=x.device)
        return torch.div(sums, sizes[..., None], rounding_mode="trunc").to(x.dtype)
    narrow = torch.stack([x[:, :, c].mean(2) for c in columns], 2)
    return torch.stack([narrow[:, r].mean(1) for r in rows], 1)


def _pool(reduce: Callable[..., Any]) -> Callable[[Any], Callable[..., Any]]:
    def make(node: Node) -> Callable[..., Any]:
        ratio, pseudo_random = node.attr("pooling_ratio"), node.attr("pseudo_random")
        overlapping, seeds = node.attr("overlapping"), (node.attr("seed"), node.attr("seed2"))
        if ratio[0] != 1.0 or ratio[3] != 1.0:
            raise invalid_argument("Fractional pooling is not yet supported on the batch nor channel dimension.")
        if not node.attr("deterministic") and seeds != (0, 0):
            raise invalid_argument("Both seed and seed2 should be 0 if deterministic is false.")
        if node.attr("deterministic") and seeds == (0, 0):
            seeds = node.context.state(node, lambda: (Philox().reserve(0)[0], 1))

        def run(x: Any) -> Any:
            if x.dim() != 4:
                raise invalid_argument("tensor_in must be 4-dimensional")
            counts = [math.floor(size / r) for size, r in zip(x.shape, ratio)]
            for axis, count in enumerate(counts):
                if count <= 0 and axis in (1, 2):
                    raise invalid_argument(
                        f"Pooling ratio is higher than input dimension size for dimension {axis}. Input dim size: "
                        f"{x.shape[axis]} pooling ratio: {ratio[axis]:g}"
                    )
            random = Philox(*seeds)
            edges = [_edges(x.shape[i], counts[i], random, pseudo_random) for i in (1, 2)]
            spans = [_spans(e, x.shape[i], overlapping) for i, e in zip((1, 2), edges)]
            return (reduce(x, *spans), *(torch.tensor(e, dtype=torch.int64, device=x.device) for e in edges))

        return run

    return make


def _max_gradient(node: Node) -> Callable[..., Any]:
    overlapping = node.attr("overlapping")

    def run(x: Any, y: Any, dy: Any, rows: Any, columns: Any) -> Any:
        spans = [_spans(e.tolist(), x.shape[i], overlapping) for i, e in ((1, rows), (2, columns))]
        positions = _maxima(x, *spans)[1]
        batch, channels = x.shape[0], x.shape[3]
        dx = dy.new_zeros((batch, x.shape[1] * x.shape[2], channels))
        count = positions.shape[1] * positions.shape[2]
        dx.scatter_add_(1, positions.reshape(batch, count, channels), dy.reshape(batch, count, channels))
        return dx.view(x.shape)

    return run


def _avg_gradient(node: Node) -> Callable[..., Any]:
    overlapping = node.attr("overlapping")

    def run(shape: Any, dy: Any, rows: Any, columns: Any) -> Any:
        for name, edges in (("Row", rows), ("Column", columns)):
            if bool((edges < 0).any()):
                raise invalid_argument(f"{name} sequence tensor values must not be negative, got {edges.tolist()}")
        if not dy.is_floating_point():
            return run(shape, dy.double(), rows, columns).to(dy.dtype)
        batch, height, width, channels = shape.tolist()
        wide = dy.new_zeros((batch, dy.shape[1], width, channels))
        for i, c in enumerate(_spans(columns.tolist(), width, overlapping)):
            wide[:, :, c] += dy[:, :, i : i + 1] / (c.stop - c.start)
        dx = dy.new_zeros((batch, height, width, channels))
        for i, r in enumerate(_spans(rows.tolist(), height, overlapping)):
            dx[:, r] += wide[:, i : i + 1] / (r.stop - r.start)
        return dx

    return run


def _shape(o: Operation) -> Any:
    dims, ratio = shapes.with_rank(o.inputs[0].dims, 4), o.attr("pooling_ratio")
    if len(ratio) != 4:
        raise ValueError("pooling_ratio field must specify 4 dimensions")
    output = tuple(None if size is None else math.floor(size / r) for size, r in zip(dims, ratio))
    if any(size is not None and size < 0 for size in output):
        raise ValueError("size computed for fractional pooling is negative")
    return [output, (None,), (None,)]


op(
    "FractionalMaxPool",
    kernel=_pool(lambda x, rows, columns: _maxima(x, rows, columns)[0]),
    shape=_shape,
    gradient=lambda o, dy, *_: apply(
        "FractionalMaxPoolGrad", o.inputs[0], o.outputs[0], dy, o.outputs[1], o.outputs[2], overlapping=o.attr("overlapping")
    ),
)
op("FractionalMaxPoolGrad", kernel=_max_gradient, shape=ranked(same_as(0), 4))
op(
    "FractionalAvgPool",
    kernel=_pool(_means),
    shape=_shape,
    gradient=lambda o, dy, *_: apply(
        "FractionalAvgPoolGrad", tf.shape(o.inputs[0], out_type=tf.int64), dy, o.outputs[1], o.outputs[2], overlapping=o.attr("overlapping")
    ),
)
op("FractionalAvgPoolGrad", kernel=_avg_gradient, shape=ranked(lambda o: dims_of(o.inputs[0]), 1))


def _published(op_type: str, name: str) -> None:
    def pool(
        value: Any,
        pooling_ratio: Any,
        pseudo_random: bool = False,
        overlapping: bool = False,
        deterministic: bool = False,
        seed: int = 0,
        seed2: int = 0,
        name: str | None = None,
    ) -> Any:
        return apply(
            op_type,
            value,
            pooling_ratio=pooling_ratio,
            pseudo_random=pseudo_random,
            overlapping=overlapping,
            deterministic=deterministic,
            seed=seed,
            seed2=seed2,
            name=name,
        )

    def pool_v2(
        value: Any, pooling_ratio: Any, pseudo_random: bool = False, overlapping: bool = False, seed: int = 0, name: str | None = None
    ) -> Any:
        ratio = per_axis(pooling_ratio, 2, 3, "pooling_ratio")
        if seed == 0:
            return pool(value, ratio, pseudo_random, overlapping, name=name)
        first, second = tf.get_seed(seed)
        return pool(value, ratio, pseudo_random, overlapping, True, first or 0, second or 0, name)

    pool.__name__ = pool.__qualname__ = name
    pool.__doc__ = f"{op_type}: (pooled images, the edges of windows along rows, and along columns)."
    public(f"nn.{name}", owner=__name__)(pool)
    internal(f"ops.nn_ops.{name}_v2")(pool_v2)


_published("FractionalMaxPool", "fractional_max_pool")
_published("FractionalAvgPool", "fractional_avg_pool")
