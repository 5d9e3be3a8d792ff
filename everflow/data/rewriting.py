"""Rewrites of pipelines that TensorFlow makes before reading them, as far as they can be seen in the elements."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

from everflow.data.batch_ops import BatchStream, MapAndBatchStream
from everflow.data.map_ops import MapStream
from everflow.data.parallel_ops import PrefetchStream
from everflow.data.sequence_ops import RepeatStream
from everflow.data.shuffle_ops import ShuffleStream
from everflow.data.streams import Cursor, Reading, Stream, Table, UnaryStream, dataset_op
from everflow.errors import invalid_argument

Rule = Callable[[Stream], Stream]


def fused_shuffle(stream: Stream) -> Stream:
    """Shuffle followed by repeat draws otherwise than each alone; programs that set seeds see it."""
    if isinstance(stream, RepeatStream) and isinstance(stream.source, ShuffleStream):
        return stream.source.repeated(stream.times) or stream
    return stream


def fused_map(stream: Stream) -> Stream:
    """Map followed by batch loses a whole batch to an error."""
    if type(stream) is BatchStream and isinstance(stream.source, MapStream):
        return MapAndBatchStream(stream.source, stream.types, stream.dims, stream.size, stream.drops_rest)
    return stream


def out_of_order(stream: Stream) -> Stream:
    """What works on several elements at once gives whichever is ready first."""
    if getattr(stream, "is_sloppy", True):
        return stream
    changed: Any = copy.copy(stream)
    changed.is_sloppy = True
    return changed


RULES: dict[bytes, Rule] = {b"shuffle_and_repeat_fusion": fused_shuffle, b"map_and_batch_fusion": fused_map, b"make_sloppy": out_of_order}


def rewritten(stream: Stream, rules: list[Rule]) -> Stream:
    """The pipeline with rules applied to each of its streams."""
    for rule in rules:
        stream = rule(stream)
    if isinstance(stream, UnaryStream):
        source = rewritten(stream.source, rules)
        if source is not stream.source:
            stream = copy.copy(stream)
            stream.source = source  # type: ignore[attr-defined]
        return stream
    parts = getattr(stream, "parts", None)
    if parts:
        found = [rewritten(p, rules) for p in parts]
        if any(a is not b for a, b in zip(parts, found)):
            stream = copy.copy(stream)
            stream.parts = found  # type: ignore[attr-defined]
    return stream


class OptimizedStream(UnaryStream):
    """A pipeline after its rewriting. `original` is what it was; `times_each` whether statistics time each transformation."""

    def __init__(self, source: Stream, original: Stream, times_each: bool) -> None:
        super().__init__(source, source.types, source.dims)
        self.original, self.times_each = original, times_each

    def open(self, reading: Reading) -> Cursor:
        return self.source.open(reading)

    def table(self) -> Table | None:
        return self.source.table()

    def check(self, above: list[str]) -> None:
        self.source.check(above)


def _check_slack(stream: Stream) -> None:
    """Slack is for the prefetch at the end of a pipeline; after it only a few kinds of streams may come."""
    if isinstance(stream, PrefetchStream):
        return
    if stream.op_type not in PASSES_SLACK:
        raise invalid_argument(
            f'Encountered unsupported op "{stream.op_type}" when rewriting the input pipeline graph to use slack in its final prefetch '
            "transformation."
        )
    for source in stream.inputs():
        _check_slack(source)


PASSES_SLACK = (
    "CacheDataset",
    "CacheDatasetV2",
    "ConcatenateDataset",
    "FilterDataset",
    "MapDataset",
    "MaxIntraOpParallelismDataset",
    "ModelDataset",
    "ParallelMapDataset",
    "PrivateThreadPoolDataset",
    "RepeatDataset",
    "ShardDataset",
    "ShuffleAndRepeatDataset",
    "ShuffleDataset",
    "ShuffleDatasetV2",
    "SkipDataset",
    "TakeDataset",
    "ZipDataset",
)


@dataset_op("OptimizeDataset")
def _optimize(node: Any) -> Callable[..., Stream]:
    """Of the rewrites only these change what comes out; what the others are for, streams do anyway."""

    def make(source: Stream, optimizations: Any) -> Stream:
        wanted = optimizations.tolist()
        if b"slack" in wanted:
            _check_slack(source)
        found = rewritten(source, [RULES[name] for name in wanted if name in RULES])
        return OptimizedStream(found, source, b"latency_all_edges" in wanted)

    return make
