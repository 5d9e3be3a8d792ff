"""Sketches of the distribution of numbers, from which buckets are made."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from everflow.errors import failed_precondition
from everflow.graph import shapes
from everflow.lazy import torch
from everflow.ops.core.node import Node
from everflow.ops.core.registry import not_differentiable, op
from everflow.ops.core.shape_rules import scalar
from everflow.ops.trees.ensemble_ops import resource

Kernel = Callable[..., Any]
# A row of a summary: a value, its weight, and the weight of all that is less, and of all that is not more.
_EMPTY = np.zeros((0, 4), dtype=np.float32)


def summary_of(values: Any, weights: Any) -> Any:
    """The summary of numbers with weights, exactly."""
    order = np.argsort(values, kind="stable")
    found, starts = np.unique(values[order], return_index=True)
    if not len(found):
        return _EMPTY
    sums = np.add.reduceat(weights[order].astype(np.float64), starts)
    ends = sums.cumsum()
    return np.stack([found, sums, ends - sums, ends], axis=1).astype(np.float32)


def merged(a: Any, b: Any) -> Any:
    """The summary of what two summaries are of."""
    if not len(a) or not len(b):
        return a if len(a) else b

    def ranks(of: Any, at: Any) -> tuple[Any, Any]:
        """How much of a summary is surely less than values, and at most not more than them."""
        place = np.searchsorted(of[:, 0], at[:, 0])
        same = (place < len(of)) & (of[np.minimum(place, len(of) - 1), 0] == at[:, 0])
        # Surely less: all below the entry before, and that entry itself. At most: all that is not surely more.
        low = np.where(same, of[np.minimum(place, len(of) - 1), 2], np.where(place > 0, of[place - 1, 2] + of[place - 1, 1], 0))
        high = np.where(
            same,
            of[np.minimum(place, len(of) - 1), 3],
            np.where(place < len(of), of[np.minimum(place, len(of) - 1), 3] - of[np.minimum(place, len(of) - 1), 1], of[-1, 3]),
        )
        return low, high

    rows = []
    for one, other in ((a, b), (b, a)):
        low, high = ranks(other, one)
        rows.append(np.stack([one[:, 0], one[:, 1], one[:, 2] + low, one[:, 3] + high], axis=1))
    every = np.concatenate(rows)
    every = every[np.argsort(every[:, 0], kind="stable")]
    values, starts = np.unique(every[:, 0], return_index=True)
    weights = np.add.reduceat(every[:, 1], starts)
    return np.stack([values, weights, every[starts, 2], every[starts, 3]], axis=1).astype(np.float32)


def compressed(summary: Any, size: int) -> Any:
    """A summary with about so many rows: the first and the last, and between them one for each equal share of the weight."""
    if len(summary) <= size:
        return summary
    step = float(summary[-1, 3]) / size
    middle = (summary[:, 2] + summary[:, 3]) / 2
    kept = [0]
    goal = step
    for i in range(1, len(summary) - 1):
        if summary[i, 2] >= goal - 1e-6 * step or summary[i, 3] - summary[kept[-1], 2] > 2 * step:
            kept.append(i)
            goal = (np.floor(middle[i] / step) + 1) * step
    kept.append(len(summary) - 1)
    return summary[kept]


def boundaries_of(summary: Any, count: int) -> Any:
    """Boundaries of about so many buckets."""
    return np.unique(compressed(summary, count)[:, 0]) if len(summary) else np.zeros(0, dtype=np.float32)


def quantiles_of(summary: Any, count: int) -> Any:
    """So many numbers, of which each has an equal share of the weight below."""
    if not len(summary):
        return np.zeros(0, dtype=np.float32)
    ranks = np.arange(count) * float(summary[-1, 3]) / max(1, count - 1)
    place = np.searchsorted(summary[:, 3], ranks, side="right")
    return summary[np.minimum(place, len(summary) - 1), 0]


class QuantileStreams:
    """The sketches of features, and the boundaries that were made of them."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.is_made = False
        self.epsilon = 0.01
        self.summaries: list[Any] = []
        self.boundaries: list[Any] = []

    def make(self, epsilon: float, count: int) -> None:
        """Starts anew."""
        self.epsilon, self.is_made = epsilon, True
        self.summaries, self.boundaries = [_EMPTY] * count, [np.zeros(0, dtype=np.float32)] * count

    def limit(self) -> int:
        """The rows that a sketch keeps so that ranks are right up to a part epsilon."""
        return max(64, int(8.0 / max(self.epsilon, 1e-6)))

    def flush(self, count: int, generate_quantiles: bool) -> None:
        """Makes boundaries of what was added, and forgets it."""
        make = quantiles_of if generate_quantiles else boundaries_of
        self.boundaries = [make(summary, count).astype(np.float32) for summary in self.summaries]
        self.summaries = [_EMPTY] * len(self.summaries)


def _outputs(values: list[Any]) -> Any:
    """The results of an op whose number of outputs is an attribute."""
    return values[0] if len(values) == 1 else tuple(values)


def _made(streams: Any) -> Any:
    if not streams.is_made:
        raise failed_precondition("Resource of quantile streams was not initialized.")
    return streams


def _create(node: Node) -> Kernel:
    def run(streams: Any, epsilon: Any, count: Any) -> Any:
        with streams.lock:
            if not streams.is_made:
                streams.make(float(epsilon), int(count))
        return ()

    return run


def _summaries(node: Node) -> Kernel:
    count = node.attr("num_features")

    def run(*given: Any) -> Any:
        weights, epsilon = given[count].cpu().numpy().reshape(-1), float(given[count + 1])
        found = []
        for values in given[:count]:
            numbers = values.cpu().numpy().reshape(-1)
            own = np.broadcast_to(weights, numbers.shape) if len(weights) == 1 else weights
            found.append(torch.from_numpy(compressed(summary_of(numbers, own), max(64, int(8.0 / max(epsilon, 1e-6))))))
        return _outputs(found)

    return run


def _add(node: Node) -> Kernel:
    def run(streams: Any, *summaries: Any) -> Any:
        with _made(streams).lock:
            for i, summary in enumerate(summaries):
                streams.summaries[i] = compressed(merged(streams.summaries[i], summary.cpu().numpy().reshape(-1, 4)), streams.limit())
        return ()

    return run


def _flush(node: Node) -> Kernel:
    generate = node.attr("generate_quantiles")

    def run(streams: Any, count: Any) -> Any:
        with _made(streams).lock:
            streams.flush(int(count), generate)
        return ()

    return run


def _flush_summaries(node: Node) -> Kernel:
    def run(streams: Any) -> Any:
        with _made(streams).lock:
            found = [torch.from_numpy(summary.copy()) for summary in streams.summaries]
            streams.summaries = [_EMPTY] * len(streams.summaries)
            return _outputs(found)

    return run


def _boundaries(node: Node) -> Kernel:
    def run(streams: Any) -> Any:
        with _made(streams).lock:
            return _outputs([torch.from_numpy(b.copy()) for b in streams.boundaries])

    return run


def _deserialize(node: Node) -> Kernel:
    def run(streams: Any, *boundaries: Any) -> Any:
        with streams.lock:
            if not streams.is_made:
                streams.make(0.01, len(boundaries))
            streams.boundaries = [b.cpu().numpy().reshape(-1).astype(np.float32) for b in boundaries]
        return ()

    return run


def _bucketize(node: Node) -> Kernel:
    count = node.attr("num_features")

    def run(*given: Any) -> Any:
        found = []
        for values, boundaries in zip(given[:count], given[count:]):
            # The bucket of a number ends at the first boundary that is not less; what is greater than all is in the last.
            buckets = torch.searchsorted(boundaries, values.contiguous(), right=False).clamp_(max=max(0, boundaries.numel() - 1))
            found.append(torch.where(values.isnan(), 0, buckets).to(torch.int32))
        return _outputs(found)

    return run


def _list_of(shape: Any) -> Callable[[Any], Any]:
    return lambda o: [shape] * o.get_attr("num_features")


op(
    "BoostedTreesQuantileStreamResourceHandleOp",
    kernel=resource("quantile_streams", QuantileStreams),
    shape=scalar,
    gradient=not_differentiable,
)
op("BoostedTreesCreateQuantileStreamResource", kernel=_create, shape=lambda o: [], gradient=not_differentiable, writes=True)
op(
    "IsBoostedTreesQuantileStreamResourceInitialized",
    kernel=lambda node: lambda streams: torch.tensor(streams.is_made),
    shape=scalar,
    gradient=not_differentiable,
)
op("BoostedTreesMakeQuantileSummaries", kernel=_summaries, shape=_list_of((None, 4)), gradient=not_differentiable)
op("BoostedTreesQuantileStreamResourceAddSummaries", kernel=_add, shape=lambda o: [], gradient=not_differentiable, writes=True)
op("BoostedTreesQuantileStreamResourceFlush", kernel=_flush, shape=lambda o: [], gradient=not_differentiable, writes=True)
op("BoostedTreesFlushQuantileSummaries", kernel=_flush_summaries, shape=_list_of((None, 4)), gradient=not_differentiable, writes=True)
op("BoostedTreesQuantileStreamResourceGetBucketBoundaries", kernel=_boundaries, shape=_list_of((None,)), gradient=not_differentiable)
op("BoostedTreesQuantileStreamResourceDeserialize", kernel=_deserialize, shape=lambda o: [], gradient=not_differentiable, writes=True)
op(
    "BoostedTreesBucketize",
    kernel=_bucketize,
    shape=lambda o: [(shapes.with_rank(o.inputs[i].dims, 1)[0],) for i in range(o.get_attr("num_features"))],
    gradient=not_differentiable,
)
