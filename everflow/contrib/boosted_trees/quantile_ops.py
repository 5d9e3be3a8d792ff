"""Ops that make buckets of numbers: sketches of their distribution, boundaries, and the bucket of each number."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from everflow import _native
from everflow.contrib.boosted_trees.stamped import Kernel, Stamped, attribute, handle, is_made, number, text
from everflow.errors import invalid_argument
from everflow.graph import shapes
from everflow.graph.operation import Operation
from everflow.lazy import torch
from everflow.ops.core.node import Node
from everflow.ops.core.registry import not_differentiable, op
from everflow.ops.core.shape_rules import same_as_input, scalar
from everflow.ops.trees.quantiles import as_numbers, summary_of
from everflow.proto.tensorflow.contrib.boosted_trees.proto import quantiles_pb2 as messages
from everflow.values.texts import text_array


class Sketch(Stamped):
    """A stream of numbers and the boundaries that were made of what came before."""

    kind = "quantile streams"

    def __init__(self) -> None:
        super().__init__()
        self.is_ready = False
        self.boundaries = np.zeros(0, np.float32)
        self.stream: Any = None

    def make(self, stamp: int, epsilon: float, max_elements: int, count: int, generates_quantiles: bool) -> None:
        """Starts anew."""
        self._epsilon, self._max_elements, self._count, self._generates = epsilon, max_elements, count, generates_quantiles
        self.is_ready, self.boundaries = False, np.zeros(0, np.float32)
        self.restart(stamp)

    def restart(self, stamp: int) -> None:
        """Forgets what was added, under another stamp."""
        self.stamp, self.stream = stamp, _native.QuantileStream(self._epsilon, self._max_elements)

    def finish(self) -> None:
        """Makes boundaries of what was added."""
        self.stream.finish()
        self.boundaries = self.stream.quantiles(self._count) if self._generates else self.stream.boundaries(self._count)
        self.is_ready = True


def _one_or_all(values: list[Any]) -> Any:
    """The results of an op whose number of outputs is an attribute."""
    return values[0] if len(values) == 1 else tuple(values)


def _create(node: Node) -> Kernel:
    # What the wheel keeps of the attribute is a float.
    epsilon = float(np.float32(node.attr("epsilon")))
    settings = (epsilon, node.attr("max_elements"), node.attr("num_quantiles"), node.attr("generate_quantiles"))

    def run(sketch: Sketch, stamp: Any) -> Any:
        if not epsilon > 0:
            raise invalid_argument("An epsilon value of zero is not allowed.")
        with sketch.lock:
            if sketch.stamp is None:
                sketch.make(int(stamp), *settings)
        return ()

    return run


def _add(node: Node) -> Kernel:
    count = node.attr("num_resource_handles")

    def run(*given: Any) -> Any:
        stamp = int(given[count])
        for sketch, summary in zip(given[:count], given[count + 1 :]):
            with sketch.made().lock:
                # What comes too late is dropped.
                if sketch.stamp == stamp:
                    sketch.stream.push_summary(_read(text(summary), "Unable to parse quantile summary."))
        return ()

    return run


def _read(message: bytes, complaint: str) -> Any:
    try:
        return _native.summary_of_message(message)
    except ValueError as e:
        raise invalid_argument(complaint) from e


def _flush(node: Node) -> Kernel:
    gives_summary = node.type == "QuantileAccumulatorFlushSummary"

    def run(sketch: Sketch, stamp: Any, next_stamp: Any) -> Any:
        with sketch.made().lock:
            sketch.check(stamp)
            if not gives_summary:
                sketch.finish()
                sketch.restart(int(next_stamp))
                return ()
            sketch.stream.finish()
            summary = _native.message_of_summary(sketch.stream.summary())
            sketch.restart(int(next_stamp))
            return text_array([summary], ())

    return run


def _buckets(node: Node) -> Kernel:
    count = node.attr("num_resource_handles")

    def run(*given: Any) -> Any:
        stamp = int(given[count])
        ready, found = [], []
        for sketch in given[:count]:
            with sketch.made().lock:
                is_ready = sketch.is_ready and sketch.stamp == stamp
                ready.append(torch.tensor(is_ready))
                found.append(torch.from_numpy(sketch.boundaries.copy() if is_ready else np.zeros(0, np.float32)))
        return (*ready, *found)

    return run


def _serialize(node: Node) -> Kernel:
    def run(sketch: Sketch) -> Any:
        with sketch.made().lock:
            state = messages.QuantileStreamState()
            for summary in sketch.stream.summaries():
                state.summaries.add().ParseFromString(_native.message_of_summary(summary))
            boundaries = sketch.boundaries.copy() if sketch.is_ready else np.zeros(0, np.float32)
            ready = torch.tensor(sketch.is_ready)
            return number(sketch.stamp or 0), text_array([state.SerializeToString()], ()), ready, torch.from_numpy(boundaries)

    return run


def _deserialize(node: Node) -> Kernel:
    complaint = "Unabnle to parse quantile stream state."

    def run(sketch: Sketch, stamp: Any, serialized: Any, is_ready: Any, boundaries: Any) -> Any:
        try:
            state = messages.QuantileStreamState.FromString(text(serialized))
        except Exception as e:
            raise invalid_argument(complaint) from e
        with sketch.made().lock:
            sketch.restart(int(stamp))
            if state.summaries:
                sketch.stream.restore([_read(summary.SerializeToString(), complaint) for summary in state.summaries])
            sketch.boundaries, sketch.is_ready = as_numbers(boundaries).copy(), bool(is_ready)
        return ()

    return run


class _Columns:
    """Dense and sparse columns among the inputs of an op: numbers, and the weight of each by its example."""

    def __init__(self, node: Node) -> None:
        self.dense, self.sparse = node.attr("num_dense_features"), node.attr("num_sparse_features")
        if self.dense + self.sparse == 0:
            raise invalid_argument("Please provide at least sparse or dense features.")

    def pairs(self, given: tuple[Any, ...]) -> tuple[list[Any], int]:
        """(Numbers, weights) of dense columns, then of sparse ones; and how many examples there are."""
        weights = as_numbers(given[-1])
        rest = given[self.dense : -1]
        indices, values, dense_shapes = (rest[i * self.sparse : (i + 1) * self.sparse] for i in range(3))
        found = []
        for column in given[: self.dense]:
            if column.numel() < len(weights):
                raise invalid_argument("Dense column has fewer values than there are weights.")
            found.append((as_numbers(column)[: len(weights)], weights))
        for index, value, shape in zip(indices, values, dense_shapes):
            if int(shape[0]) != len(weights):
                raise invalid_argument("Sparse column shape doesn't match the batch size.")
            found.append((as_numbers(value), weights[index[:, 0].cpu().numpy()]))
        return found, len(weights)


def _summaries(node: Node) -> Kernel:
    columns, epsilon = _Columns(node), float(np.float32(node.attr("epsilon")))

    def run(*given: Any) -> Any:
        pairs, batch = columns.pairs(given)
        found = [_native.message_of_summary(summary_of(values, weights, epsilon, batch + 1)) for values, weights in pairs]
        return _one_or_all([text_array([summary], ()) for summary in found])

    return run


def _configs(node: Node, name: str, count: int) -> list[Any]:
    try:
        found = [messages.QuantileConfig.FromString(attribute(config)) for config in node.attr(name + "_config")]
    except Exception as e:
        raise invalid_argument("Malformed QuantileConfig passed in.") from e
    if len(found) != count:
        raise invalid_argument(f"Mismatch in number of {name} quantile configs.")
    return found


def _boundaries(node: Node) -> Kernel:
    columns = _Columns(node)
    configs = [*_configs(node, "dense", columns.dense), *_configs(node, "sparse", columns.sparse)]

    def run(*given: Any) -> Any:
        pairs, batch = columns.pairs(given)
        found = []
        for pair, config in zip(pairs, configs):
            stream = _native.QuantileStream(config.eps, batch)
            stream.push(*pair)
            stream.finish()
            found.append(torch.from_numpy(stream.boundaries(config.num_quantiles)))
        return _one_or_all(found)

    return run


def _quantiles(node: Node) -> Kernel:
    columns = _Columns(node)
    dense, sparse = columns.dense, columns.sparse

    def run(*given: Any) -> Any:
        values, edges, indices = given[: dense + sparse], given[dense + sparse : 2 * (dense + sparse)], given[2 * (dense + sparse) :]
        found = []
        for i, (numbers, buckets) in enumerate(zip(values, edges)):
            if buckets.dim() != 1:
                raise invalid_argument(f"{'Dense' if i < dense else 'Sparse'} buckets should be flat vectors")
            flat = numbers.reshape(-1)[: numbers.shape[0]].contiguous()
            if len(flat) and not len(buckets):
                raise invalid_argument(f"Got empty buckets for feature {i}")
            place = torch.searchsorted(buckets.contiguous(), flat).clamp_(max=max(0, len(buckets) - 1))
            dimension = torch.zeros_like(place) if i < dense else indices[i - dense][:, 1]
            found.append(torch.stack([place, dimension], dim=1).to(torch.int32))
        return _one_or_all(found)

    return run


def _bucketize(node: Node) -> Kernel:
    def run(values: Any, boundaries: Any) -> Any:
        if (boundaries[1:] < boundaries[:-1]).any():
            raise invalid_argument("Expected sorted boundaries")
        # Boundaries become what the numbers are.
        return torch.searchsorted(boundaries.to(values.dtype).contiguous(), values.contiguous(), right=True).to(torch.int32)

    return run


def _no_shapes(o: Operation) -> list[Any]:
    return []


def _columns_shape(of: Any) -> Callable[[Operation], list[Any]]:
    def rule(o: Operation) -> list[Any]:
        dense, sparse = o.get_attr("num_dense_features"), o.get_attr("num_sparse_features")
        for i in range(dense):
            shapes.with_rank(o.inputs[i].dims, 2)
        return [of] * (dense + sparse)

    return rule


def _quantiles_shape(o: Operation) -> list[Any]:
    return [(dims[0] if (dims := o.inputs[i].dims) else None, 2) for i in range(len(o.outputs))]


def _buckets_shape(o: Operation) -> list[Any]:
    count = o.get_attr("num_resource_handles")
    return [()] * count + [(None,)] * count


op("QuantileStreamResourceHandleOp", kernel=handle(Sketch), shape=scalar, gradient=not_differentiable)
op("QuantileAccumulatorIsInitialized", kernel=is_made, shape=scalar, gradient=not_differentiable)
op("CreateQuantileAccumulator", kernel=_create, shape=_no_shapes, gradient=not_differentiable, writes=True)
op("QuantileAccumulatorAddSummaries", kernel=_add, shape=_no_shapes, gradient=not_differentiable, writes=True)
op("QuantileAccumulatorFlush", kernel=_flush, shape=_no_shapes, gradient=not_differentiable, writes=True)
op("QuantileAccumulatorFlushSummary", kernel=_flush, shape=lambda o: None, gradient=not_differentiable, writes=True)
op("QuantileAccumulatorGetBuckets", kernel=_buckets, shape=_buckets_shape, gradient=not_differentiable)
op("QuantileAccumulatorSerialize", kernel=_serialize, shape=lambda o: [None] * 4, gradient=not_differentiable)
op("QuantileAccumulatorDeserialize", kernel=_deserialize, shape=_no_shapes, gradient=not_differentiable, writes=True)
op("MakeQuantileSummaries", kernel=_summaries, shape=_columns_shape(()), gradient=not_differentiable)
op("QuantileBuckets", kernel=_boundaries, shape=lambda o: [None] * len(o.outputs), gradient=not_differentiable)
op("Quantiles", kernel=_quantiles, shape=_quantiles_shape, gradient=not_differentiable)
op("BucketizeWithInputBoundaries", kernel=_bucketize, shape=same_as_input, gradient=not_differentiable)
