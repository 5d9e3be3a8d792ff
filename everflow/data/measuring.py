"""Pipelines that tell how they fare: how full buffers are, how long functions take, what filters drop.

A pipeline with an aggregator is read through a copy of itself whose parts tell; all others pay nothing for statistics.
"""

from __future__ import annotations

import copy
import os
import threading
import time
from collections.abc import Callable
from typing import Any

from everflow.data.batch_ops import MapAndBatchStream
from everflow.data.choice_ops import FilterStream
from everflow.data.elements import Element
from everflow.data.interleave_ops import InterleaveStream
from everflow.data.map_ops import FlatMapStream, MapStream
from everflow.data.parallel_ops import ParallelMapStream, PrefetchStream
from everflow.data.rewriting import OptimizedStream
from everflow.data.streams import Cursor, Reading, Stream, UnaryCursor, UnaryStream
from everflow.proto import example_pb2


class Recorder:
    """What a pipeline tells an aggregator."""

    def __init__(self, aggregator: Any, prefix: str, stream: Stream) -> None:
        self.aggregator = aggregator
        self.prefix = f"{prefix}::" if prefix else ""
        optimized = _optimized(stream)
        self.times_each = optimized is not None and optimized.times_each
        self.names = node_numbers(optimized.original) if optimized is not None else {}

    def name(self, stream: Stream) -> str:
        """What a part of the pipeline is called: its node, numbered where TensorFlow rewrites graphs."""
        if stream.made_by is None:
            return "MapAndBatchDataset"
        node = stream.made_by[0]
        return self.names.get(id(node), node.name or node.type)

    def add(self, name: str, sample: float) -> None:
        """Adds a sample to a histogram."""
        self.aggregator.add(self.prefix + name, sample)

    def set(self, name: str, value: float) -> None:
        """Sets a value."""
        self.aggregator.set(self.prefix + name, value)


def _optimized(stream: Stream) -> OptimizedStream | None:
    while isinstance(stream, UnaryStream):
        if isinstance(stream, OptimizedStream):
            return stream
        stream = stream.source
    return None


def node_numbers(stream: Stream) -> dict[int, str]:
    """{id of a node: its name in the graph that describes the pipeline}."""
    found: dict[int, str] = {}
    count = 0

    def visit(part: Stream) -> None:
        nonlocal count
        if part.made_by is None or id(part.made_by[0]) in found:
            return
        node, values = part.made_by
        for value in values:
            if isinstance(value, Stream):
                visit(value)
            else:
                count += 1
        found[id(node)] = f"{node.type}/_{count}"
        count += 1

    visit(stream)
    return found


def measured(stream: Stream, recorder: Recorder) -> Stream:
    """The same pipeline, telling a recorder."""
    if isinstance(stream, MapAndBatchStream):
        mapped: Any = copy.copy(stream.source)
        mapped.source = measured(mapped.source, recorder)
        found: Any = copy.copy(stream)
        found.source = _timed_map(
            mapped, "MapAndBatch", _function_name(stream if stream.made_by is not None else stream.source), recorder.name(stream), recorder
        )
        return _timed(found, recorder)
    found = copy.copy(stream)
    if isinstance(stream, UnaryStream):
        found.source = measured(stream.source, recorder)
    elif getattr(stream, "parts", None):
        found.parts = [measured(p, recorder) for p in stream.parts]  # type: ignore[attr-defined]
    for kind, rule in RULES.items():
        if isinstance(stream, kind):
            found = rule(found, recorder)
            break
    return _timed(found, recorder)


WRAPPERS = ("ModelDataset", "MaxIntraOpParallelismDataset", "PrivateThreadPoolDataset")


def _timed(stream: Stream, recorder: Recorder) -> Stream:
    """Where each transformation is timed, one that tells how long its elements take."""
    if not recorder.times_each or stream.made_by is None and not isinstance(stream, MapAndBatchStream):
        return stream
    if isinstance(stream, OptimizedStream) or stream.op_type in WRAPPERS:
        return stream
    return MeasuredStream(stream, stream.types, stream.dims, f"record_latency::{recorder.name(stream)}", microseconds)


def microseconds(element: Element, seconds: float) -> float:
    """How long an element took."""
    return float(int(seconds * 1e6))


def _function_name(stream: Stream) -> str:
    assert stream.made_by is not None
    return stream.made_by[0].attr("f").name


def _prefetch(stream: Any, recorder: Recorder) -> Stream:
    name = recorder.name(stream)

    def tell(buffered: int, size: int) -> None:
        recorder.add(f"{name}::buffer_utilization", buffered / max(size, 1))
        recorder.set(f"{name}::buffer_capacity", size)
        recorder.set(f"{name}::buffer_size", buffered)

    stream.tell = tell
    return stream


def _filter(stream: Any, recorder: Recorder) -> Stream:
    name, predicate = recorder.name(stream), stream.predicate
    counts = {True: 0, False: 0}

    def tell(*element: Any) -> Element:
        found = predicate(*element)
        if not found[0].ndim:
            is_kept = bool(found[0])
            counts[is_kept] += 1
            recorder.set(f"{name}::{'filtered' if is_kept else 'dropped'}_elements", counts[is_kept])
        return found

    stream.predicate = tell
    return stream


def _calls_told(function: Callable[..., Element], name: str, most: int, recorder: Recorder) -> Callable[..., Element]:
    """A function that tells how many of the threads that may call it do so."""
    lock = threading.Lock()
    running = 0

    def call(*element: Any) -> Element:
        nonlocal running
        with lock:
            running += 1
            recorder.set(f"{name}::thread_utilization", min(running / most, 1.0))
        try:
            return function(*element)
        finally:
            with lock:
                running -= 1
                recorder.set(f"{name}::thread_utilization", running / most)

    return call


def _timed_map(stream: Any, kind: str, function_name: str, name: str, recorder: Recorder) -> Stream:
    calls = getattr(stream, "calls", 1)
    function = _calls_told(stream.function, name, calls if calls > 0 else os.cpu_count() or 1, recorder)

    def call(*element: Any) -> Element:
        start = time.perf_counter_ns()
        try:
            return function(*element)
        finally:
            recorder.add(f"{kind}::{function_name}::execution_time", time.perf_counter_ns() - start)

    # Elements that are computed together can't be timed one by one.
    stream.function, stream.batched = call, None
    return stream


def _parallel_map(stream: Any, recorder: Recorder) -> Stream:
    return _timed_map(stream, "ParallelMap", _function_name(stream), recorder.name(stream), recorder)


def _map(stream: Any, recorder: Recorder) -> Stream:
    if stream.op_type not in ("ParseExampleDataset", "ExperimentalParseExampleDataset"):
        return stream
    name, node = recorder.name(stream), stream.made_by[0]
    wanted = {*node.attr("sparse_keys"), *node.attr("dense_keys")}
    function = _calls_told(stream.function, name, max(int(stream.made_by[1][1]), 1), recorder)

    def call(serialized: Any) -> Element:
        found = function(serialized)
        for content in serialized.tolist():
            features = example_pb2.Example.FromString(content).features.feature
            recorder.add(f"{name}::features_count", len(features))
            values = (getattr(features[k], features[k].WhichOneof("kind") or "int64_list").value for k in wanted if k in features)
            recorder.add(f"{name}::feature_values_count", sum(map(len, values)))
        return found

    stream.function = call
    return stream


def _inner(stream: Any, recorder: Recorder) -> Stream:
    function = stream.function
    if stream.op_type == "ParallelInterleaveDatasetV2":
        function = _calls_told(function, recorder.name(stream), stream.cycle, recorder)

    def call(*element: Any) -> Element:
        return tuple(measured(part, recorder) if isinstance(part, Stream) else part for part in function(*element))

    stream.function = call
    return stream


RULES: dict[type, Callable[[Any, Recorder], Stream]] = {
    PrefetchStream: _prefetch,
    FilterStream: _filter,
    ParallelMapStream: _parallel_map,
    MapStream: _map,
    FlatMapStream: _inner,
    InterleaveStream: _inner,
}


class MeasuredStream(UnaryStream):
    """The same elements; each tells what `measure` makes of it and of the seconds that it took."""

    def __init__(self, source: Stream, types: Any, dims: Any, tag: str, measure: Callable[[Element, float], float]) -> None:
        super().__init__(source, types, dims)
        self.tag, self.measure = tag, measure

    def open(self, reading: Reading) -> Cursor:
        return _MeasuredCursor(self, self.source.open(reading), reading)


class _MeasuredCursor(UnaryCursor):
    def __init__(self, stream: MeasuredStream, source: Cursor, reading: Reading) -> None:
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
