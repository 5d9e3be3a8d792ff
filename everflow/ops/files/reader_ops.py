"""Readers: records from the files whose names are in a queue."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from everflow.api import public
from everflow.errors import invalid_argument
from everflow.graph import dtypes, shapes
from everflow.graph.operation import Operation
from everflow.graph.stacks import in_eager_mode
from everflow.io.tf_record import TFRecordOptions
from everflow.lazy import torch
from everflow.ops.core.node import Node
from everflow.ops.core.registry import apply, not_differentiable, op
from everflow.ops.core.shape_rules import scalar
from everflow.ops.files.reader_objects import DatabaseReader, FixedLengthReader, RecordFileReader, WholeFileReader
from everflow.ops.files.reader_objects import IdentityReader as IdentityKind
from everflow.ops.files.reader_objects import Reader as ReaderKind
from everflow.ops.files.reader_objects import TextLineReader as TextLineKind
from everflow.ops.queues.queue_functions import QueueBase
from everflow.ops.queues.queue_ops import queue_of
from everflow.platform.deprecation import deprecated
from everflow.values.texts import text_array

Kernel = Callable[..., Any]


def _fixed_length(node: Node) -> ReaderKind:
    length, header, footer, hop = (node.attr(f"{part}_bytes") for part in ("record", "header", "footer", "hop"))
    if length <= 0:
        raise invalid_argument(f"record_bytes must be > 0, got {length}")
    for part, value in (("header", header), ("footer", footer), ("hop", hop)):
        if value < 0:
            raise invalid_argument(f"{part}_bytes must be >= 0, got {value}")
    encoding = node.attr("encoding") if node.type.endswith("V2") else ""
    if encoding not in ("", "ZLIB", "GZIP"):
        raise invalid_argument(f"encoding should be '', 'ZLIB' or 'GZIP', got {encoding}")
    return FixedLengthReader(node.name, length, header, footer, hop, encoding)


def _lines(node: Node) -> ReaderKind:
    skipped = node.attr("skip_header_lines")
    if skipped < 0:
        raise invalid_argument(f"skip_header_lines must be >= 0 not {skipped}")
    return TextLineKind(node.name, skipped)


_MAKERS: dict[str, Callable[[Any], ReaderKind]] = {
    "WholeFileReader": lambda node: WholeFileReader(node.name),
    "IdentityReader": lambda node: IdentityKind(node.name),
    "TextLineReader": _lines,
    "TFRecordReader": lambda node: RecordFileReader(node.name, node.attr("compression_type")),
    "FixedLengthRecordReader": _fixed_length,
}


def _maker(make: Callable[[Any], ReaderKind]) -> Callable[[Any], Kernel]:
    def factory(node: Node) -> Kernel:
        key = node.attr("container"), "reader", node.attr("shared_name") or node.name
        return lambda: node.context.resources.get(*key, lambda: make(node))

    return factory


for _name, _make in _MAKERS.items():
    op(_name, kernel=_maker(_make), shape=lambda o: (2,), gradient=not_differentiable)
    op(_name + "V2", kernel=_maker(_make), shape=scalar, gradient=not_differentiable)
op("LMDBReader", kernel=_maker(lambda node: DatabaseReader(node.name)), shape=lambda o: (2,), gradient=not_differentiable)


def _both(name: str, kernel: Callable[[Any], Kernel], shape: Callable[[Any], Any], **facts: Any) -> None:
    """An op for readers that are handles (V2), and for readers that are references."""
    for op_type in (name, name + "V2"):
        op(op_type, kernel=kernel, shape=shape, gradient=not_differentiable, **facts)


def _checked(queue: Any) -> Any:
    """The queue that work comes from."""
    queue = queue_of(queue)
    if queue.types != [dtypes.string]:
        raise invalid_argument(f"Expected queue of strings, got {', '.join(t.name for t in queue.types)}")
    return queue


def _read_up_to(node: Node) -> Kernel:
    def run(reader: Any, queue: Any, count: Any) -> Any:
        if int(count) <= 0:
            raise invalid_argument(f"num_records must be positive, got {int(count)}")
        return reader.read_up_to(_checked(queue), int(count))

    return run


def _restore(node: Node) -> Kernel:
    def run(reader: Any, state: Any) -> None:
        if state.ndim:
            raise invalid_argument(f"Reader state must be scalar, but had shape: {shapes.describe(state.shape)}")
        reader.restore(state.item())

    return run


def _restore_shape(o: Operation) -> Any:
    shapes.with_rank(o.inputs[1].dims, 0)
    return []


def _count(value: int) -> Any:
    return torch.tensor(value, dtype=torch.int64)


# Queues of one kind of handle, for readers of the other.
op("FakeQueue", kernel=lambda node: queue_of, shape=scalar, gradient=not_differentiable)
_both("ReaderRead", lambda node: lambda reader, queue: reader.read(_checked(queue)), lambda o: [(), ()], waits=True)
_both("ReaderReadUpTo", _read_up_to, lambda o: [(None,), (None,)], waits=True)
_both("ReaderNumRecordsProduced", lambda node: lambda reader: _count(reader.produced), scalar)
_both("ReaderNumWorkUnitsCompleted", lambda node: lambda reader: _count(reader.work_finished), scalar)
_both("ReaderSerializeState", lambda node: lambda reader: text_array([reader.state()], ()), scalar)
_both("ReaderRestoreState", _restore, _restore_shape)
_both("ReaderReset", lambda node: lambda reader: reader.reset(), lambda o: [])


@public("ReaderBase")
class ReaderBase:
    """Turns work, such as names of files, into records of a key and a value."""

    def __init__(self, reader_ref: Any, supports_serialize: bool = False) -> None:
        if in_eager_mode():
            raise RuntimeError(
                "Readers are not supported when eager execution is enabled. Instead, please use tf.data to get data into your model."
            )
        self._reader_ref = reader_ref
        self._supports_serialize = supports_serialize

    @property
    def reader_ref(self) -> Any:
        """The handle."""
        return self._reader_ref

    @property
    def supports_serialize(self) -> bool:
        """Whether the reader's state can be saved."""
        return self._supports_serialize

    def _queue(self, queue: Any) -> Any:
        """The handle of a queue, of the kind that goes with the reader's."""
        handle = queue.queue_ref if isinstance(queue, QueueBase) else queue
        is_reference = self._reader_ref.dtype != dtypes.resource and getattr(handle, "dtype", None) == dtypes.resource
        return apply("FakeQueue", handle) if is_reference else handle

    def _apply(self, name: str, *inputs: Any, label: str | None) -> Any:
        op_type = name + "V2" if self._reader_ref.dtype == dtypes.resource else name
        return apply(op_type, self._reader_ref, *inputs, name=label)

    def read(self, queue: Any, name: str | None = None) -> Any:
        """The next record; takes work from the queue when it needs some."""
        return self._apply("ReaderRead", self._queue(queue), label=name)

    def read_up_to(self, queue: Any, num_records: Any, name: str | None = None) -> Any:
        """The next records, up to so many."""
        return self._apply("ReaderReadUpTo", self._queue(queue), num_records, label=name)

    def num_records_produced(self, name: str | None = None) -> Any:
        """How many records were read."""
        return self._apply("ReaderNumRecordsProduced", label=name)

    def num_work_units_completed(self, name: str | None = None) -> Any:
        """How many pieces of work were read to their end."""
        return self._apply("ReaderNumWorkUnitsCompleted", label=name)

    def serialize_state(self, name: str | None = None) -> Any:
        """The reader's state as a string."""
        return self._apply("ReaderSerializeState", label=name)

    def restore_state(self, state: Any, name: str | None = None) -> Any:
        """Goes on at a state that `serialize_state` gave."""
        return self._apply("ReaderRestoreState", state, label=name)

    def reset(self, name: str | None = None) -> Any:
        """Makes the reader one that has read nothing."""
        return self._apply("ReaderReset", label=name)


@public("WholeFileReader")
class WholeFileReaderOp(ReaderBase):
    """A record is a whole file: its name and what it holds."""

    @deprecated(None, "Queue-based input pipelines have been replaced by `tf.data`. Use `tf.data.Dataset.map(tf.read_file)`.")
    def __init__(self, name: str | None = None) -> None:
        super().__init__(apply("WholeFileReaderV2", name=name), supports_serialize=True)


@public("TextLineReader")
class TextLineReader(ReaderBase):
    """A record is a line of a file."""

    @deprecated(None, "Queue-based input pipelines have been replaced by `tf.data`. Use `tf.data.TextLineDataset`.")
    def __init__(self, skip_header_lines: int | None = None, name: str | None = None) -> None:
        super().__init__(apply("TextLineReaderV2", skip_header_lines=skip_header_lines, name=name))


@public("FixedLengthRecordReader")
class FixedLengthRecordReader(ReaderBase):
    """Records are so many bytes each."""

    @deprecated(None, "Queue-based input pipelines have been replaced by `tf.data`. Use `tf.data.FixedLengthRecordDataset`.")
    def __init__(
        self,
        record_bytes: int,
        header_bytes: int | None = None,
        footer_bytes: int | None = None,
        hop_bytes: int | None = None,
        name: str | None = None,
        encoding: str | None = None,
    ) -> None:
        super().__init__(
            apply(
                "FixedLengthRecordReaderV2",
                record_bytes=record_bytes,
                header_bytes=header_bytes,
                footer_bytes=footer_bytes,
                hop_bytes=hop_bytes,
                encoding=encoding,
                name=name,
            )
        )


@public("TFRecordReader")
class TFRecordReader(ReaderBase):
    """Records are those of record files."""

    @deprecated(None, "Queue-based input pipelines have been replaced by `tf.data`. Use `tf.data.TFRecordDataset`.")
    def __init__(self, name: str | None = None, options: Any = None) -> None:
        compression = TFRecordOptions.get_compression_type_string(options)
        super().__init__(apply("TFRecordReaderV2", name=name, compression_type=compression))


@public("LMDBReader")
class LMDBReader(ReaderBase):
    """Records are the keys and values of LMDB databases."""

    @deprecated(None, "Queue-based input pipelines have been replaced by `tf.data`. Use `tf.contrib.data.LMDBDataset`.")
    def __init__(self, name: str | None = None, options: Any = None) -> None:
        super().__init__(apply("LMDBReader", name=name))


@public("IdentityReader")
class IdentityReader(ReaderBase):
    """Work is its own record."""

    @deprecated(None, "Queue-based input pipelines have been replaced by `tf.data`. Use `tf.data.Dataset.map(...)`.")
    def __init__(self, name: str | None = None) -> None:
        super().__init__(apply("IdentityReaderV2", name=name), supports_serialize=True)
