"""Sketches of the distribution of numbers, from which buckets are made."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from everflow import _native
from everflow.errors import failed_precondition, invalid_argument
from everflow.graph import shapes
from everflow.lazy import torch
from everflow.ops.core.node import Node
from everflow.ops.core.registry import not_differentiable, op
from everflow.ops.core.shape_rules import scalar
from everflow.ops.trees.ensemble_ops import resource

Kernel = Callable[..., Any]


class QuantileStreams:
    """The sketches of features, and the boundaries that were made of them."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.is_made = False
        self.streams: list[_native.QuantileStream] = []
        self.boundaries: list[Any] = []

    def make(self, epsilon: float, max_elements: int, count: int) -> None:
        """Starts anew."""
        self._epsilon, self._max_elements, self.is_made = epsilon, max_elements, True
        self.boundaries = [np.zeros(0, dtype=np.float32)] * count
        self.clear()

    def clear(self) -> None:
        """Forgets what was added."""
        self.streams = [_native.QuantileStream(self._epsilon, self._max_elements) for _ in self.boundaries]

    def flush(self, count: int, generate_quantiles: bool) -> None:
        """Makes boundaries of what was added, and forgets it."""
        for stream in self.streams:
            stream.finish()
        self.boundaries = [stream.quantiles(count - 1) if generate_quantiles else stream.boundaries(count) for stream in self.streams]
        self.clear()


def as_numbers(tensor: Any) -> Any:
    """The numbers of a tensor in a row, for sketches."""
    return np.ascontiguousarray(tensor.cpu().numpy().reshape(-1), dtype=np.float32)


def summary_of(values: Any, weights: Any, epsilon: float, max_elements: int) -> Any:
    """Rows of a value, its weight, and the least and the most weight of all that is not more."""
    stream = _native.QuantileStream(epsilon, max_elements)
    stream.push(values, weights)
    stream.finish()
    return stream.summary()


def _outputs(values: list[Any]) -> Any:
    """The results of an op whose number of outputs is an attribute."""
    return values[0] if len(values) == 1 else tuple(values)


def _made(streams: Any) -> Any:
    if not streams.is_made:
        raise failed_precondition("Resource of quantile streams was not initialized.")
    return streams


def _create(node: Node) -> Kernel:
    max_elements = node.attr("max_elements")

    def run(streams: Any, epsilon: Any, count: Any) -> Any:
        with streams.lock:
            if not float(epsilon) > 0:
                raise invalid_argument("An epsilon value of zero is not allowed.")
            if not streams.is_made:
                streams.make(float(epsilon), max_elements, int(count))
        return ()

    return run


def _summaries(node: Node) -> Kernel:
    count = node.attr("num_features")

    def run(*given: Any) -> Any:
        weights, epsilon = as_numbers(given[count]), float(given[count + 1])
        size = given[0].numel() if count else 0
        if len(weights) not in (1, size):
            raise invalid_argument("Weights should be a single value or same size as features.")
        return _outputs([torch.from_numpy(summary_of(as_numbers(values), weights, epsilon, size + 1)) for values in given[:count]])

    return run


def _add(node: Node) -> Kernel:
    def run(streams: Any, *summaries: Any) -> Any:
        with _made(streams).lock:
            for stream, summary in zip(streams.streams, summaries):
                stream.push_summary(as_numbers(summary).reshape(-1, 4))
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
            for stream in streams.streams:
                stream.finish()
            found = [torch.from_numpy(stream.summary()) for stream in streams.streams]
            streams.clear()
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
            _made(streams).boundaries = [b.cpu().numpy().reshape(-1).astype(np.float32) for b in boundaries]
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
