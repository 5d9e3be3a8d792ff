"""Ops that find the splits of a layer: sums of gradients and hessians by bucket, and the gains of splitting between buckets."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from everflow import _native
from everflow.errors import invalid_argument
from everflow.graph import shapes
from everflow.graph.operation import Operation
from everflow.lazy import torch
from everflow.ops.core.node import Node
from everflow.ops.core.registry import not_differentiable, op
from everflow.values.texts import text_array

Kernel = Callable[..., Any]


def _summed(nodes: Any, gradients: Any, hessians: Any, buckets: Any, max_splits: int, width: int) -> Any:
    """Sums of shape [nodes, columns, buckets, statistics]."""
    statistics = torch.cat([gradients, hessians], dim=1).float()
    sums = torch.zeros((max_splits, buckets.shape[1], width, statistics.shape[1]))
    try:
        _native.sum_by_bucket(
            nodes.cpu().to(torch.int32).contiguous().numpy(),
            statistics.cpu().contiguous().numpy(),
            buckets.cpu().to(torch.int32).contiguous().numpy(),
            sums.numpy(),
            torch.get_num_threads(),
        )
    except IndexError as e:
        raise invalid_argument(f"There is no {e} of that number.") from e
    return sums


def _make_summary(node: Node) -> Kernel:
    max_splits, width = node.attr("max_splits"), node.attr("num_buckets")

    def run(nodes: Any, gradients: Any, hessians: Any, *features: Any) -> Any:
        buckets = torch.stack([f.reshape(-1) for f in features], dim=1)
        sums = _summed(nodes, gradients, hessians, buckets, max_splits, width)
        return sums.permute(1, 0, 2, 3).contiguous().to(gradients.device)

    return run


def _aggregate(node: Node) -> Kernel:
    max_splits, width = node.attr("max_splits"), node.attr("num_buckets")

    def run(nodes: Any, gradients: Any, hessians: Any, feature: Any) -> Any:
        # The last bucket is for examples without a value.
        buckets = torch.where((feature < 0) | (feature >= width), width, feature)
        return _summed(nodes, gradients, hessians, buckets, max_splits, width + 1).to(gradients.device)

    return run


def _aggregate_sparse(node: Node) -> Kernel:
    max_splits, width = node.attr("max_splits"), node.attr("num_buckets")

    def run(nodes: Any, gradients: Any, hessians: Any, indices: Any, values: Any, shape: Any) -> Any:
        rows, columns = (int(n) for n in shape)
        buckets = torch.full((rows, columns), width, dtype=torch.int32)
        buckets[indices[:, 0].long().cpu(), indices[:, 1].long().cpu()] = values.cpu().to(torch.int32)
        sums = _summed(nodes, gradients, hessians, buckets, max_splits, width + 1)
        # Cells that no example is in are left out, whole.
        ones = torch.ones((rows, 1))
        counts = _summed(nodes, ones, torch.zeros((rows, 0)), buckets, max_splits, width + 1)[..., 0]
        cells = counts.nonzero()
        kinds = sums.shape[-1]
        every = cells.repeat_interleave(kinds, dim=0)
        places = torch.cat([every, torch.arange(kinds).repeat(len(cells))[:, None]], dim=1)
        found = sums[tuple(cells.T)].reshape(-1)
        return places.to(torch.int32), found, torch.tensor(sums.shape, dtype=torch.int32)

    return run


class _Scores:
    """What sums of gradients and hessians say: how much a leaf would gain, and what it would add to the logits."""

    def __init__(self, logits: int, l1: float, l2: float) -> None:
        # TensorFlow takes no notice of l1 where there are several logits.
        self._logits, self._l1, self._l2 = logits, l1 if logits == 1 else 0.0, l2

    def of(self, sums: Any) -> tuple[Any, Any]:
        """Gains and contributions of sums, whose last axis holds gradients, then hessians."""
        # Roundings are TensorFlow's: gains of splits are compared with each other, and stay in the trees.
        gradients, hessians = sums[..., : self._logits].astype(np.float32), sums[..., self._logits :].astype(np.float32)
        if self._l1:
            gradients = np.sign(gradients) * np.maximum(np.abs(gradients) - np.float32(self._l1), np.float32(0))
        if hessians.shape[-1] == self._logits:
            total = hessians + np.float32(self._l2)
            adds = np.divide(-gradients, total, out=np.zeros_like(gradients), where=total > 0)
        else:
            square = hessians.reshape((*hessians.shape[:-1], self._logits, self._logits)).astype(np.float64) + self._l2 * np.eye(
                self._logits
            )
            # Nodes without examples have no hessian to divide by.
            regular = np.abs(np.linalg.det(square)) > 0
            square = np.where(regular[..., None, None], square, np.eye(self._logits))
            adds = -np.linalg.solve(square, gradients[..., None])[..., 0] * regular[..., None]
        return -(gradients * adds).sum(-1), adds

    def weight(self, sums: Any) -> Any:
        """The weight of a node: the hessian, or its norm where it is a matrix."""
        hessians = sums[..., self._logits :]
        return hessians[..., 0] if hessians.shape[-1] == 1 else np.sqrt((hessians**2).sum(-1))


class _Chosen:
    """The best split of each node among candidates; the earliest of equals."""

    def __init__(self, scores: _Scores, count: int, complexity: float, least: float) -> None:
        self._scores, self._complexity, self._least = scores, complexity, least
        self.gain = np.full(count, -np.inf)
        self.labels: list[Any] = [None] * count
        self.left: list[Any] = [None] * count
        self.right: list[Any] = [None] * count

    def offer(self, left: Any, total: Any, labels: list[Any]) -> None:
        """Candidates along the second axis, with a label for each; a node must weigh enough before it is split, its parts need not."""
        right = total[:, None] - left
        gain_left, adds_left = self._scores.of(left)
        gain_right, adds_right = self._scores.of(right)
        gains = gain_left + gain_right - self._scores.of(total)[0][:, None]
        gains = np.where((self._scores.weight(total) >= self._least)[:, None], gains, -np.inf).astype(np.float32)
        best = gains.argmax(axis=1)
        for i, j in enumerate(best):
            if gains[i, j] > self.gain[i]:
                self.gain[i], self.labels[i] = gains[i, j], labels[j]
                self.left[i], self.right[i] = adds_left[i, j], adds_right[i, j]

    def found(self) -> list[int]:
        """The nodes for which there is a split."""
        return [i for i in range(len(self.gain)) if np.isfinite(self.gain[i])]

    def columns(self, first: int, logits: int) -> tuple[Any, ...]:
        """Node ids, gains, labels and contributions of the splits."""
        nodes = self.found()
        left = np.array([self.left[i] for i in nodes], dtype=np.float32).reshape(-1, logits)
        right = np.array([self.right[i] for i in nodes], dtype=np.float32).reshape(-1, logits)
        gains = np.array([self.gain[i] - self._complexity for i in nodes], dtype=np.float32)
        ids = np.array([first + i for i in nodes], dtype=np.int32)
        return ids, gains, [self.labels[i] for i in nodes], left, right


def _gains_per_feature(node: Node) -> Kernel:
    count = node.attr("num_features")

    def run(node_range: Any, *given: Any) -> Any:
        l1, l2, complexity, least = (float(x) for x in given[count:])
        first, last = (int(n) for n in node_range)
        scores = _Scores(1, l1, l2)
        # All features at once: they have as many buckets as each other.
        sums = np.stack([summary.cpu().numpy()[first:last] for summary in given[:count]])
        left = sums.cumsum(axis=2)
        total = left[:, :, -1:]
        right = total - left
        (gain_left, adds_left), (gain_right, adds_right) = scores.of(left), scores.of(right)
        gains = gain_left + gain_right - scores.of(total)[0]
        # As in TensorFlow 1.15, a node must weigh enough before it is split; what it is split into may weigh less.
        gains = np.where(scores.weight(total) >= least, gains, -np.inf).astype(np.float32)
        best = gains.argmax(axis=2)[..., None]
        best_gain = np.take_along_axis(gains, best, axis=2)[..., 0]
        best_left = np.take_along_axis(adds_left, best[..., None], axis=2)[:, :, 0].astype(np.float32)
        best_right = np.take_along_axis(adds_right, best[..., None], axis=2)[:, :, 0].astype(np.float32)
        lists: list[list[Any]] = [[], [], [], [], []]
        for feature in range(count):
            (nodes,) = np.nonzero(np.isfinite(best_gain[feature]))
            values = (
                (nodes + first).astype(np.int32),
                best_gain[feature, nodes] - np.float32(complexity),
                best[feature, nodes, 0].astype(np.int32),
                best_left[feature, nodes],
                best_right[feature, nodes],
            )
            for held, value in zip(lists, values):
                held.append(torch.from_numpy(value))
        return tuple(value for held in lists for value in held)

    return run


def _best_split(sums: Any, first: int, logits: int, kind: str, l1: float, l2: float, complexity: float, least: float) -> Any:
    """Of sums [nodes, columns, buckets and one for missing values, statistics]: the best split over all columns."""
    scores = _Scores(logits, l1, l2)
    total = sums[:, 0].sum(axis=1)
    chosen = _Chosen(scores, len(sums), complexity, least)
    for dimension in range(sums.shape[1]):
        present, missing = sums[:, dimension, :-1], sums[:, dimension, -1]
        width = present.shape[1]
        if kind == "equality":
            chosen.offer(present, total, [(dimension, b, b"EQUALITY_DEFAULT_RIGHT") for b in range(width)])
            continue
        below = present.cumsum(axis=1)
        for word, left in ((b"LEFT", below + missing[:, None]), (b"RIGHT", below)):
            labels = [(dimension, b, b"INEQUALITY_DEFAULT_" + word) for b in range(width)]
            chosen.offer(left, total, labels)
    ids, gains, labels, left, right = chosen.columns(first, logits)
    dimensions = np.array([label[0] for label in labels], dtype=np.int32)
    thresholds = np.array([label[1] for label in labels], dtype=np.int32)
    numbers = [torch.from_numpy(np.ascontiguousarray(x)) for x in (ids, gains, dimensions, thresholds, left, right)]
    return (*numbers, text_array([label[2] for label in labels], (len(labels),)))


def _split(node: Node) -> Kernel:
    logits, kind = node.attr("logits_dimension"), node.attr("split_type")
    kind = kind.decode() if isinstance(kind, bytes) else kind

    def run(node_range: Any, summary: Any, *given: Any) -> Any:
        first, last = (int(n) for n in node_range)
        return _best_split(summary.cpu().numpy()[first:last], first, logits, kind, *(float(x) for x in given))

    return run


def _sparse_split(node: Node) -> Kernel:
    logits = node.attr("logits_dimension")

    def run(node_range: Any, indices: Any, values: Any, shape: Any, *given: Any) -> Any:
        first, last = (int(n) for n in node_range)
        sums = np.zeros(tuple(int(n) for n in shape), dtype=np.float32)
        sums[tuple(indices.cpu().numpy().T)] = values.cpu().numpy()
        return _best_split(sums[first:last], first, logits, "inequality", *(float(x) for x in given))

    return run


def _per_feature_shape(o: Operation) -> Any:
    n = o.get_attr("num_features")
    return [(None,)] * (3 * n) + [(None, 1)] * (2 * n)


def _split_shape(o: Operation) -> Any:
    logits = o.get_attr("logits_dimension")
    return [(None,)] * 4 + [(None, logits)] * 2 + [(None,)]


def _summary_shape(o: Operation) -> Any:
    return (o.get_attr("num_features"), o.get_attr("max_splits"), o.get_attr("num_buckets"), 2)


def _aggregate_shape(o: Operation) -> Any:
    shapes.with_rank(o.inputs[0].dims, 1)
    *_, (_, features) = (shapes.with_rank(t.dims, 2) for t in o.inputs[1:4])
    return (o.get_attr("max_splits"), features, o.get_attr("num_buckets") + 1, None)


op("BoostedTreesMakeStatsSummary", kernel=_make_summary, shape=_summary_shape, gradient=not_differentiable)
op("BoostedTreesAggregateStats", kernel=_aggregate, shape=_aggregate_shape, gradient=not_differentiable)
op("BoostedTreesSparseAggregateStats", kernel=_aggregate_sparse, shape=lambda o: [(None, 4), (None,), (4,)], gradient=not_differentiable)
op("BoostedTreesCalculateBestGainsPerFeature", kernel=_gains_per_feature, shape=_per_feature_shape, gradient=not_differentiable)
op("BoostedTreesCalculateBestFeatureSplit", kernel=_split, shape=_split_shape, gradient=not_differentiable)
op("BoostedTreesSparseCalculateBestFeatureSplit", kernel=_sparse_split, shape=_split_shape, gradient=not_differentiable)
