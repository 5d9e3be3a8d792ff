"""RecordInput: batches of the records of many files, in random order, for ever."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Iterator
from typing import Any

import everflow as tf
from everflow.api import internal, public
from everflow.errors import NotFoundError, not_found
from everflow.io import records
from everflow.io.gfile import get_matching_files
from everflow.io.tf_record import TFRecordOptions
from everflow.ops.core.node import Node
from everflow.ops.core.registry import apply, op
from everflow.values.texts import text_array

Kernel = Callable[..., Any]


class _Records:
    """The records of all files, epoch after epoch. A buffer of them is what the next one is chosen from."""

    def __init__(self, pattern: str, seed: int, shift: float, buffer: int, compression: str) -> None:
        self.pattern, self.shift, self.buffer, self.compression = pattern, shift, buffer, compression
        self.choice = random.Random(seed)
        self.lock = threading.Lock()
        self.stream = self._stream()

    def _stream(self) -> Iterator[bytes]:
        try:
            files = sorted(get_matching_files(self.pattern))
        except NotFoundError:
            # The folder itself is missing.
            files = []
        if not files:
            raise not_found(f"Found no files at {self.pattern}")
        start = 0
        while True:
            order = files[:]
            self.choice.shuffle(order)
            # Each epoch begins a part of the files further.
            at = start % len(order)
            yield from self._shuffled(order[at:] + order[:at])
            start += int(self.shift * len(files))

    def _shuffled(self, files: list[str]) -> Iterator[bytes]:
        waiting: list[bytes] = []
        for name in files:
            for record in records.read(name, self.compression):
                waiting.append(record)
                if len(waiting) >= self.buffer:
                    yield self._chosen(waiting)
        while waiting:
            yield self._chosen(waiting)

    def _chosen(self, waiting: list[bytes]) -> bytes:
        at = self.choice.randrange(len(waiting))
        waiting[at], waiting[-1] = waiting[-1], waiting[at]
        return waiting.pop()

    def take(self, count: int) -> list[bytes]:
        with self.lock:
            try:
                return [next(self.stream) for _ in range(count)]
            except BaseException:
                # A generator that has failed gives nothing more: the next run tries again.
                self.stream = self._stream()
                raise


def _record_input(node: Node) -> Kernel:
    count = node.attr("batch_size")
    settings = (
        node.attr("file_pattern"),
        node.attr("file_random_seed"),
        node.attr("file_shuffle_shift_ratio"),
        node.attr("file_buffer_size"),
        node.attr("compression_type"),
    )

    def run() -> Any:
        return text_array(node.context.state(node, lambda: _Records(*settings)).take(count), (count,))

    return run


op("RecordInput", kernel=_record_input, shape=lambda o: None)


@public("contrib.framework.RecordInput")
@internal("ops.data_flow_ops.RecordInput")
class RecordInput:
    """Gives records of the files that match a pattern, `batches` batches at a time."""

    def __init__(
        self,
        file_pattern: str,
        batch_size: int = 1,
        buffer_size: int = 1,
        parallelism: int = 1,
        shift_ratio: float = 0,
        seed: int = 0,
        name: str | None = None,
        batches: int | None = None,
        compression_type: Any = None,
    ) -> None:
        self._batch_size = batch_size * (batches or 1)
        self._batches = batches
        self._settings = {
            "file_pattern": file_pattern,
            "file_buffer_size": buffer_size,
            "file_parallelism": parallelism,
            "file_shuffle_shift_ratio": shift_ratio,
            "file_random_seed": seed,
            "compression_type": TFRecordOptions.get_compression_type_string(TFRecordOptions(compression_type)),
        }
        self._name = name

    def get_yield_op(self) -> Any:
        """The op that gives the next records: a vector, or a list of records for each batch."""
        found = apply("RecordInput", batch_size=self._batch_size, name=self._name, **self._settings)
        if self._batches is None:
            return found
        with tf.name_scope(self._name):
            batches: list[list[Any]] = [[] for _ in range(self._batches)]
            for i, record in enumerate(tf.split(found, self._batch_size, 0)):
                batches[i % self._batches].append(tf.reshape(record, []))
            return batches
