"""Streams that change how elements are made, not what they are: threads, devices, shards among workers, statistics of batches."""

from __future__ import annotations

import copy
import math
import time
from collections.abc import Callable
from typing import Any

from everflow.data.elements import Element, dims_of, filled, rows_of, stack, zero
from everflow.data.sequence_ops import ShardStream
from everflow.data.streams import UNKNOWN, Cursor, Reading, Stream, UnaryCursor, UnaryStream, dataset_op, function_of, signature
from everflow.errors import OpError, invalid_argument
from everflow.graph import shapes
from everflow.graph.operation import Operation
from everflow.ops.core.node import Node
from everflow.ops.core.registry import op
from everflow.ops.core.shape_rules import scalar
from everflow.runtime.effects import called


class _LimitedStream(UnaryStream):
    """A pipeline whose functions use at most so many threads."""

    def __init__(self, source: Stream, types: Any, dims: Any, threads: int | None) -> None:
        super().__init__(source, types, dims)
        self.threads = threads

    def open(self, reading: Reading) -> Cursor:
        if self.threads is not None:
            reading.threads = self.threads
        return self.source.open(reading)


@dataset_op("MaxIntraOpParallelismDataset", "ExperimentalMaxIntraOpParallelismDataset")
def _max_parallelism(node: Node) -> Callable[..., Stream]:
    types, dims = signature(node)

    def make(source: Stream, limit: Any) -> Stream:
        if int(limit) < 0:
            raise invalid_argument("`max_intra_op_parallelism` must be >= 0")
        # Elements are made on one processor each anyway.
        return _LimitedStream(source, types, dims, None)

    return make


@dataset_op("PrivateThreadPoolDataset", "ExperimentalPrivateThreadPoolDataset")
def _private_pool(node: Node) -> Callable[..., Stream]:
    types, dims = signature(node)

    def make(source: Stream, threads: Any) -> Stream:
        if int(threads) < 1:
            raise invalid_argument("`num_threads` must be >= 1")
        return _LimitedStream(source, types, dims, int(threads))

    return make


class _ThreadPool:
    def __init__(self, threads: int) -> None:
        self.threads = threads


def _pool_handle(node: Node) -> Callable[..., Any]:
    threads = node.attr("num_threads")
    container, name = node.attr("container"), node.attr("shared_name") or node.name

    def make() -> _ThreadPool:
        if threads <= 0:
            raise invalid_argument("`num_threads` must be greater than zero.")
        return node.context.resources.get(container, "thread pool", name, lambda: _ThreadPool(threads))

    return make


for _name in ("ThreadPoolHandle", "ExperimentalThreadPoolHandle"):
    op(_name, kernel=_pool_handle, shape=scalar)


@dataset_op("ThreadPoolDataset", "ExperimentalThreadPoolDataset")
def _pool(node: Node) -> Callable[..., Stream]:
    types, dims = signature(node)
    return lambda source, pool: _LimitedStream(source, types, dims, pool.threads)


class _RebatchStream(UnaryStream):
    """Each batch cut into pieces for replicas."""

    def __init__(self, source: Stream, types: Any, dims: Any, replicas: int) -> None:
        super().__init__(source, types, dims)
        self.replicas = replicas

    def open(self, reading: Reading) -> Cursor:
        return _RebatchCursor(self, self.source.open(reading))

    def count(self) -> int:
        return UNKNOWN


class _RebatchCursor(UnaryCursor):
    def __init__(self, stream: _RebatchStream, source: Cursor) -> None:
        super().__init__(stream, source)
        self.ready: list[Element] = []

    def next(self) -> Element | None:
        if not self.ready:
            batch = self.source.next()
            if batch is None:
                return None
            replicas = self.stream.replicas  # type: ignore[attr-defined]
            sizes = [math.ceil(dims_of(c)[0] / replicas) for c in batch]
            self.ready = [tuple(c[i * n : (i + 1) * n] for c, n in zip(batch, sizes)) for i in range(replicas)][::-1]
        return self.ready.pop()

    def save(self) -> Any:
        return {"source": self.source.save(), "ready": self.ready}

    def restore(self, state: Any) -> None:
        super().restore(state)
        self.ready = list(state["ready"])


@dataset_op("RebatchDataset", "ExperimentalRebatchDataset")
def _rebatch(node: Node) -> Callable[..., Stream]:
    types, dims = signature(node)
    return lambda source, replicas: _RebatchStream(source, types, dims, int(replicas))


class _AssertNextStream(UnaryStream):
    """A stream that is to be read by these transformations."""

    def __init__(self, source: Stream, types: Any, dims: Any, wanted: list[str]) -> None:
        super().__init__(source, types, dims)
        self.wanted = wanted

    def open(self, reading: Reading) -> Cursor:
        return self.source.open(reading)

    def check(self, above: list[str]) -> None:
        if len(self.wanted) > len(above):
            raise invalid_argument(f"Asserted next {len(self.wanted)} transformations but encountered only {len(above)}.")
        for i, (wanted, found) in enumerate(zip(self.wanted, reversed(above))):
            if wanted != found:
                raise invalid_argument(f"Asserted {wanted} transformation at offset {i} but encountered {found} transformation instead.")
        super().check(above)


@dataset_op("AssertNextDataset", "ExperimentalAssertNextDataset")
def _assert_next(node: Node) -> Callable[..., Stream]:
    types, dims = signature(node)
    return lambda source, wanted: _AssertNextStream(source, types, dims, [w.decode() for w in wanted.reshape(-1).tolist()])


def _map_defun(node: Node) -> Callable[..., Any]:
    """A function of each row of tensors, stacked."""
    function = function_of(node, for_iterators=False)
    count = len(node.attr("Targuments"))
    types, dims = node.attr("output_types"), node.attr("output_shapes")
    entry = node.context.library(node.attr("f").name)
    actual = [t.dtype.base_dtype for t in entry.graph.outputs] if entry is not None else types

    def run(*inputs: Any) -> Any:
        for i, (found_type, wanted) in enumerate(zip(actual, types)):
            if found_type is not wanted.base_dtype:
                raise invalid_argument(f"Mismatch in function return type and expected output type for output: {i}")
        arguments, captured = inputs[:count], inputs[count:]
        for i, a in enumerate(arguments):
            if not dims_of(a):
                raise invalid_argument("All inputs must have rank at least 1. Input {} has a rank of 0.".replace("{}", str(i)))
            if dims_of(a)[0] != dims_of(arguments[0])[0]:
                raise invalid_argument(
                    f"All inputs must have the same dimension 0. Input {i} has leading dimension {dims_of(a)[0]}, while all previous "
                    f"inputs have leading dimension {dims_of(arguments[0])[0]}."
                )
        call = function(captured)
        found = []
        for row in zip(*(rows_of(a) for a in arguments)):
            element = call(*row)
            for value, want in zip(element, dims):
                if not shapes.is_compatible(want, dims_of(value)):
                    raise _other_shape(value, want)
            found.append(element)
        if not found:
            empty = tuple(filled((0, *(d or 0 for d in want or ())), zero(t)) for want, t in zip(dims, types))
            return empty[0] if len(empty) == 1 else empty
        first = [dims_of(v) for v in found[0]]
        for element in found:
            for value, want in zip(element, first):
                if dims_of(value) != want:
                    raise _other_shape(value, want)
        columns = stack(found, types)
        return columns[0] if len(columns) == 1 else columns

    return run


def _other_shape(value: Any, want: Any) -> OpError:
    return invalid_argument(
        f"Mismatch in function retval shape, {shapes.describe(dims_of(value))}, and expected output shape, {shapes.describe(want)}."
    )


def _map_defun_shapes(o: Operation) -> list[Any]:
    size = None
    for i, t in enumerate(o.inputs[: len(o.attr("Targuments"))]):
        if t.dims is not None and not t.dims:
            raise ValueError(f"Arguments must have rank at least 1. Input {i} has rank of 0.")
        first = t.dims[0] if t.dims else None
        if size is not None and first is not None and size != first:
            raise ValueError("Arguments must have the same dimension 0.")
        size = first if size is None else size
    return [None if d is None else (size, *d) for d in o.attr("output_shapes")]


# The function that it calls may have effects.
op("MapDefun", kernel=_map_defun, shape=_map_defun_shapes, folds=False)


@dataset_op("AutoShardDataset", "ExperimentalAutoShardDataset")
def _auto_shard(node: Node) -> Callable[..., Stream]:
    def make(source: Stream, workers: Any, index: Any) -> Stream:
        n, i = int(workers), int(index)
        if n <= 0:
            raise invalid_argument("num_workers must be greater than zero.")
        if not 0 <= i < n:
            raise invalid_argument(f"index must be between 0 and {n - 1}")
        return sharded(source, n, i)

    return make


# Ops whose result for a part of the files is a part of the result for all.
PASSED = (
    "BatchDataset",
    "BatchDatasetV2",
    "CacheDataset",
    "FilterDataset",
    "FixedLengthRecordDataset",
    "MapAndBatchDataset",
    "MapDataset",
    "MaxIntraOpParallelismDataset",
    "ModelDataset",
    "OptimizeDataset",
    "PaddedBatchDataset",
    "PaddedBatchDatasetV2",
    "ParallelMapDataset",
    "ParseExampleDataset",
    "PrefetchDataset",
    "PrivateThreadPoolDataset",
    "RepeatDataset",
    "ShardDataset",
    "ShuffleAndRepeatDataset",
    "ShuffleDataset",
    "ShuffleDatasetV2",
    "SkipDataset",
    "TakeDataset",
    "WindowDataset",
)
# Sources whose functions read files: their input, the names, is what is shared out.
READERS = ("FlatMapDataset", "InterleaveDataset", "ParallelInterleaveDataset", "ParallelInterleaveDatasetV2")


def sharded(stream: Stream, shards: int, index: int) -> Stream:
    """The shard of a stream: its files where it reads some, each n-th element otherwise."""

    def names(s: Stream) -> Stream:
        """The names are shared out where they come from, before they are shuffled."""
        if isinstance(s, UnaryStream):
            found: Any = copy.copy(s)
            found.source = names(s.source)
            return found
        return ShardStream(s, s.types, s.dims, shards, index, False)

    def files(s: Stream) -> Stream | None:
        if s.op_type in READERS and isinstance(s, UnaryStream) and _reads_files(s):
            found: Any = copy.copy(s)
            found.source = names(s.source)
            return found
        if isinstance(s, UnaryStream):
            # What no op made is a part of the transformation that reads it.
            inner = files(s.source) if s.op_type is None or s.op_type in PASSED else None
            if inner is None:
                return None
            found = copy.copy(s)
            found.source = inner
            return found
        parts = getattr(s, "parts", None)
        if parts:
            pieces = [files(p) for p in parts]
            if any(p is None for p in pieces):
                return None
            found = copy.copy(s)
            found.parts = pieces
            return found
        return None

    found = files(stream)
    return found if found is not None else ShardStream(stream, stream.types, stream.dims, shards, index, True)


def _reads_files(stream: Stream) -> bool:
    """Whether a stream's function makes a reader of files of what it is given."""
    if stream.made_by is None:
        return False
    node, _ = stream.made_by
    names = called(node.context, node.type, node.attrs)
    seen: set[str] = set()
    while names:
        name = names.pop()
        entry = node.context.library(name)
        if name in seen or entry is None:
            continue
        seen.add(name)
        for o in entry.graph.get_operations():
            if o.type in FILE_OPS:
                return True
            names.extend(called(node.context, o.type, o.attrs))
    return False


FILE_OPS = ("TFRecordDataset", "TextLineDataset", "FixedLengthRecordDataset", "FixedLengthRecordDatasetV2", "CSVDataset")


class _SleepStream(UnaryStream):
    """Waits before each element, for tests."""

    def __init__(self, source: Stream, types: Any, dims: Any, seconds: float) -> None:
        super().__init__(source, types, dims)
        self.seconds = seconds

    def open(self, reading: Reading) -> Cursor:
        return _SleepCursor(self, self.source.open(reading), reading)


class _SleepCursor(UnaryCursor):
    def __init__(self, stream: _SleepStream, source: Cursor, reading: Reading) -> None:
        super().__init__(stream, source)
        self.reading = reading

    def next(self) -> Element | None:
        end = time.monotonic() + self.stream.seconds  # type: ignore[attr-defined]
        while (left := end - time.monotonic()) > 0:
            self.reading.check()
            time.sleep(min(left, 0.01))
        return self.source.next()


@dataset_op("SleepDataset", "ExperimentalSleepDataset")
def _sleep(node: Node) -> Callable[..., Stream]:
    types, dims = signature(node)
    return lambda source, microseconds: _SleepStream(source, types, dims, int(microseconds) / 1e6)


@dataset_op("WrapDatasetVariant", "UnwrapDatasetVariant")
def _same(node: Node) -> Callable[..., Stream]:
    return lambda source: source


@dataset_op("ModelDataset", "NonSerializableDataset", "ExperimentalNonSerializableDataset")
def _unchanged(node: Node) -> Callable[..., Stream]:
    """Tuning of TensorFlow's that changes no element: what it is for, streams do anyway."""
    types, dims = signature(node)
    return lambda source: _LimitedStream(source, types, dims, None)
