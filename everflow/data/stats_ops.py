"""Statistics of pipelines: how long elements take and how large they are, gathered by aggregators."""

from __future__ import annotations

import math
import tempfile
import threading
import time
from collections.abc import Callable
from typing import Any

from everflow.api import internal, public
from everflow.data.dataset import UnaryUnchangedStructureDataset
from everflow.data.elements import Element, size_in_bytes, text
from everflow.data.experimental import Transformation
from everflow.data.measuring import MeasuredStream, Recorder, measured, microseconds
from everflow.data.streams import Cursor, Reading, Stream, UnaryStream, dataset_op, signature
from everflow.data.wrappers import _SetStatsAggregatorDataset
from everflow.ops.core.node import Node
from everflow.ops.core.registry import apply, op
from everflow.ops.core.shape_rules import scalar
from everflow.proto import event_pb2, summary_pb2
from everflow.summary.writing import create_file_writer


class _Histogram:
    """Samples counted in buckets that grow by a tenth."""

    def __init__(self) -> None:
        self.least, self.most = math.inf, -math.inf
        self.count = 0
        self.sum = self.squares = 0.0
        self.buckets: dict[float, int] = {}

    def add(self, sample: float) -> None:
        self.least, self.most = min(self.least, sample), max(self.most, sample)
        self.count += 1
        self.sum += sample
        self.squares += sample * sample
        limit = 1e-12 * 1.1 ** (math.floor(math.log(sample / 1e-12, 1.1)) + 1) if sample > 0 else 0.0
        self.buckets[limit] = self.buckets.get(limit, 0) + 1

    def describe(self, proto: Any) -> None:
        """Fills a HistogramProto."""
        proto.min, proto.max, proto.num = self.least, self.most, self.count
        proto.sum, proto.sum_squares = self.sum, self.squares
        for limit in sorted(self.buckets):
            proto.bucket_limit.append(limit)
            proto.bucket.append(self.buckets[limit])


class Aggregator:
    """Statistics by name: histograms and latest values. With a writer, each change becomes an event."""

    def __init__(self) -> None:
        self.histograms: dict[str, _Histogram] = {}
        self.values: dict[str, float] = {}
        self.lock = threading.Lock()
        self.writer: Any = None
        self.step = 0

    def add(self, name: str, sample: float) -> None:
        """Adds a sample to a histogram."""
        with self.lock:
            histogram = self.histograms.setdefault(name, _Histogram())
            histogram.add(sample)
            self._write(name, lambda value: histogram.describe(value.histo))

    def set(self, name: str, value: float) -> None:
        """Sets a value."""
        with self.lock:
            self.values[name] = value
            self._write(name, lambda found: setattr(found, "simple_value", value))

    def _write(self, name: str, fill: Callable[[Any], Any]) -> None:
        if self.writer is None:
            return
        event = event_pb2.Event(wall_time=time.time(), step=self.step)
        self.step += 1
        fill(event.summary.value.add(tag=name))
        self.writer.add(event)

    def summary(self) -> bytes:
        """All statistics as a serialized Summary."""
        found = summary_pb2.Summary()
        with self.lock:
            for name, histogram in self.histograms.items():
                histogram.describe(found.value.add(tag=name).histo)
            for name, value in self.values.items():
                found.value.add(tag=name, simple_value=value)
        return found.SerializeToString()


def _handle(node: Node) -> Callable[[], Aggregator]:
    container, name = node.attr("container"), node.attr("shared_name") or node.name
    return lambda: node.context.resources.get(container, "statistics", name, Aggregator)


for _name in ("StatsAggregatorHandle", "StatsAggregatorHandleV2", "ExperimentalStatsAggregatorHandle"):
    op(_name, kernel=_handle, shape=scalar)
for _name in ("StatsAggregatorSummary", "ExperimentalStatsAggregatorSummary"):
    op(_name, kernel=lambda node: lambda aggregator: text(aggregator.summary()), shape=scalar)


def _set_writer(node: Node) -> Callable[..., None]:
    def run(aggregator: Aggregator, writer: Any) -> None:
        aggregator.writer = writer

    return run


op("StatsAggregatorSetSummaryWriter", kernel=_set_writer, shape=lambda o: [])


class _RecordedStream(UnaryStream):
    """A pipeline whose statistics go to an aggregator."""

    def __init__(self, source: Stream, types: Any, dims: Any, aggregator: Aggregator, prefix: str) -> None:
        super().__init__(source, types, dims)
        self.aggregator, self.prefix = aggregator, prefix

    def open(self, reading: Reading) -> Cursor:
        recorder = reading.statistics = Recorder(self.aggregator, self.prefix, self.source)
        return measured(self.source, recorder).open(reading)


@dataset_op("SetStatsAggregatorDataset", "ExperimentalSetStatsAggregatorDataset")
def _set_aggregator(node: Node) -> Callable[..., Stream]:
    types, dims = signature(node)
    return lambda source, aggregator, tag, _counter: _RecordedStream(source, types, dims, aggregator, tag.item().decode())


def _measured(measure: Callable[[Element, float], float]) -> Callable[[Any], Callable[..., Stream]]:
    def factory(node: Node) -> Callable[..., Stream]:
        types, dims = signature(node)
        return lambda source, tag: MeasuredStream(source, types, dims, tag.item().decode(), measure)

    return factory


dataset_op("LatencyStatsDataset", "ExperimentalLatencyStatsDataset")(_measured(microseconds))
dataset_op("BytesProducedStatsDataset", "ExperimentalBytesProducedStatsDataset")(
    _measured(lambda element, seconds: sum(map(size_in_bytes, element)))
)


@public("data.experimental.StatsAggregator")
@internal("data.experimental.ops.stats_aggregator.StatsAggregatorV1")
class StatsAggregator:
    """Gathers the statistics of the pipelines whose options name it."""

    def __init__(self) -> None:
        self._resource = apply("StatsAggregatorHandle")

    def get_summary(self) -> Any:
        """The statistics so far, as a serialized Summary."""
        return apply("StatsAggregatorSummary", self._resource)


@internal("data.experimental.ops.stats_aggregator.StatsAggregatorV2")
class StatsAggregatorV2:
    """Writes the statistics of the pipelines whose options name it as events."""

    def __init__(self) -> None:
        self._logdir = tempfile.mkdtemp()
        self._resource = apply("StatsAggregatorHandleV2")
        self._summary_writer = create_file_writer(self._logdir, max_queue=0)
        apply("StatsAggregatorSetSummaryWriter", self._resource, self._summary_writer._resource)


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
