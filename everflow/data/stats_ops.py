"""Statistics of pipelines: how long elements take and how large they are, gathered by aggregators."""
from __future__ import annotations

import itertools
import math
import threading
import time
from collections.abc import Callable
from typing import Any

from everflow.api import internal, public
from everflow.data.dataset import UnaryUnchangedStructureDataset
from everflow.data.elements import Element, size_in_bytes, text
from everflow.data.experimental import Transformation
from everflow.data.streams import Cursor, Reading, Stream, UnaryCursor, UnaryStream, dataset_op, signature
from everflow.data.wrappers import _SetStatsAggregatorDataset
from everflow.ops.registry import apply, op
from everflow.ops.shape_rules import scalar


class Aggregator:
    """Samples by name: histograms and latest values."""

    def __init__(self) -> None:
        self.histograms: dict[str, list[float]] = {}
        self.values: dict[str, float] = {}
        self.lock = threading.Lock()

    def add(self, name: str, sample: float) -> None:
        """Adds a sample to a histogram."""
        with self.lock:
            self.histograms.setdefault(name, []).append(sample)

    def set(self, name: str, value: float) -> None:
        """Sets a value."""
        with self.lock:
            self.values[name] = value

    def summary(self) -> bytes:
        """All statistics as a serialized Summary."""
        from everflow.proto import summary_pb2

        found = summary_pb2.Summary()
        with self.lock:
            for name, samples in self.histograms.items():
                histogram = found.value.add(tag=name).histo
                histogram.min, histogram.max = min(samples), max(samples)
                histogram.num, histogram.sum = len(samples), math.fsum(samples)
                histogram.sum_squares = math.fsum(s * s for s in samples)
                for limit, group in itertools.groupby(sorted(samples), _limit):
                    histogram.bucket_limit.append(limit)
                    histogram.bucket.append(len(list(group)))
            for name, value in self.values.items():
                found.value.add(tag=name, simple_value=value)
        return found.SerializeToString()


def _limit(sample: float) -> float:
    """The upper end of a sample's bucket: buckets grow by a tenth."""
    if sample <= 0:
        return 0.0
    return 1e-12 * 1.1 ** (math.floor(math.log(sample / 1e-12, 1.1)) + 1)


class Recorder:
    """What the cursors of an iterator tell an aggregator."""

    def __init__(self, aggregator: Aggregator, prefix: str) -> None:
        self.aggregator = aggregator
        self.prefix = f"{prefix}::" if prefix else ""

    def add(self, name: str, sample: float) -> None:
        """Adds a sample."""
        self.aggregator.add(self.prefix + name, sample)

    def buffer(self, name: str, size: int, capacity: int) -> None:
        """Tells how full a buffer is."""
        start = f"{name}/_1::"
        self.aggregator.set(f"{self.prefix}{start}buffer_capacity", capacity)
        self.aggregator.set(f"{self.prefix}{start}buffer_size", size)
        self.aggregator.add(f"{self.prefix}{start}buffer_utilization", size / max(capacity, 1))


def _handle(node: Any) -> Callable[[], Aggregator]:
    container, name = node.attr("container"), node.attr("shared_name") or node.name
    return lambda: node.context.resources.get(container, "statistics", name, Aggregator)


for _name in ("StatsAggregatorHandle", "StatsAggregatorHandleV2", "ExperimentalStatsAggregatorHandle"):
    op(_name, kernel=_handle, shape=scalar)
for _name in ("StatsAggregatorSummary", "ExperimentalStatsAggregatorSummary"):
    op(_name, kernel=lambda node: lambda aggregator: text(aggregator.summary()), shape=scalar)


class _RecordedStream(UnaryStream):
    """A pipeline whose statistics go to an aggregator."""

    def __init__(self, source: Stream, types: Any, dims: Any, aggregator: Aggregator, prefix: str) -> None:
        super().__init__(source, types, dims)
        self.aggregator, self.prefix = aggregator, prefix

    def open(self, reading: Reading) -> Cursor:
        reading.statistics = Recorder(self.aggregator, self.prefix)
        return self.source.open(reading)


@dataset_op("SetStatsAggregatorDataset", "ExperimentalSetStatsAggregatorDataset")
def _set_aggregator(node: Any) -> Callable[..., Stream]:
    types, dims = signature(node)
    return lambda source, aggregator, tag, _counter: _RecordedStream(source, types, dims, aggregator, tag.item().decode())


class _MeasuredStream(UnaryStream):
    """The same elements; each tells what `measure` makes of it and of the seconds that it took."""

    def __init__(self, source: Stream, types: Any, dims: Any, tag: str, measure: Callable[[Element, float], float]) -> None:
        super().__init__(source, types, dims)
        self.tag, self.measure = tag, measure

    def open(self, reading: Reading) -> Cursor:
        return _MeasuredCursor(self, self.source.open(reading), reading)


class _MeasuredCursor(UnaryCursor):
    def __init__(self, stream: _MeasuredStream, source: Cursor, reading: Reading) -> None:
        super().__init__(stream, source)
        self.reading = reading

    def next(self) -> Element | None:
        stream: Any = self.stream
        start = time.perf_counter()
        element = self.source.next()
        recorder = self.reading.statistics
        if element is not None and recorder is not None:
            recorder.add(stream.tag, stream.measure(element, time.perf_counter() - start))
        return element


def _measured(measure: Callable[[Element, float], float]) -> Callable[[Any], Callable[..., Stream]]:
    def factory(node: Any) -> Callable[..., Stream]:
        types, dims = signature(node)
        return lambda source, tag: _MeasuredStream(source, types, dims, tag.item().decode(), measure)

    return factory


dataset_op("LatencyStatsDataset", "ExperimentalLatencyStatsDataset")(_measured(lambda element, seconds: seconds * 1e6))
dataset_op("BytesProducedStatsDataset", "ExperimentalBytesProducedStatsDataset")(
    _measured(lambda element, seconds: sum(map(size_in_bytes, element))))


@public("data.experimental.StatsAggregator")
class StatsAggregator:
    """Gathers the statistics of the pipelines whose options name it."""

    def __init__(self) -> None:
        self._resource = apply("StatsAggregatorHandle")

    def get_summary(self) -> Any:
        """The statistics so far, as a serialized Summary."""
        return apply("StatsAggregatorSummary", self._resource)


class _StatsDataset(UnaryUnchangedStructureDataset):
    def __init__(self, op_type: str, input_dataset: Any, tag: Any) -> None:
        super().__init__(input_dataset, apply(op_type, input_dataset._variant_tensor, tag, **input_dataset._flat_structure))


@public("data.experimental.latency_stats")
def latency_stats(tag: Any) -> Transformation:
    """The same elements; how long each takes goes into the statistics."""
    return lambda dataset: _StatsDataset("LatencyStatsDataset", dataset, tag)


@public("data.experimental.bytes_produced_stats")
def bytes_produced_stats(tag: Any) -> Transformation:
    """The same elements; how large each is goes into the statistics."""
    return lambda dataset: _StatsDataset("BytesProducedStatsDataset", dataset, tag)


@internal("data.experimental.ops.stats_ops.set_stats_aggregator")
def set_stats_aggregator(stats_aggregator: Any, prefix: str = "", counter_prefix: str = "") -> Transformation:
    """The same elements, with statistics that go to an aggregator."""
    return lambda dataset: _SetStatsAggregatorDataset(dataset, stats_aggregator, prefix, counter_prefix)
