"""Readers as they are at run time: they take names of work from a queue, and read records until the work ends."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from everflow.errors import invalid_argument, unimplemented
from everflow.io import lmdb, records
from everflow.io.file_io import read_file_to_string
from everflow.proto import reader_base_pb2
from everflow.values.locks import TurnLock
from everflow.values.texts import text_array

Record = tuple[bytes, bytes]


class Reader:
    """What all readers do. A subclass says which records a piece of work has."""

    kind = ""
    # Whether a piece of work is one record, so that a reader's state is which one it is at.
    has_state = False

    def __init__(self, name: str) -> None:
        self.name = name
        self.lock = TurnLock()
        self._start()

    def _start(self) -> None:
        self.work = b""
        self.work_started = self.work_finished = 0
        self.produced = 0
        self._records: Iterator[Record] | None = None

    def records(self, work: bytes) -> Iterator[Record]:
        """The keys and values of a piece of work."""
        raise NotImplementedError

    def _next(self, queue: Any, most: int) -> list[Record]:
        """At least one record, and not more than `most`; all of them belong to the same piece of work."""
        with self.lock:
            while True:
                if self._records is None:
                    self.work = queue.dequeue(1)[0][0].item()
                    self.work_started += 1
                    self._records = self.records(self.work)
                found: list[Record] = []
                for record in self._records:
                    found.append(record)
                    if len(found) == most and not self.has_state:
                        break
                else:
                    self._records = None
                    self.work_finished = self.work_started
                self.produced += len(found)
                if found:
                    return found

    def read(self, queue: Any) -> Any:
        """The next record: its key and its value."""
        key, value = self._next(queue, 1)[0]
        return text_array([key], ()), text_array([value], ())

    def read_up_to(self, queue: Any, most: int) -> Any:
        """The next records, as many as the piece of work still has."""
        found = self._next(queue, most)
        return text_array([key for key, _ in found], (len(found),)), text_array([value for _, value in found], (len(found),))

    def reset(self) -> None:
        """Forgets all work."""
        with self.lock:
            self._start()

    def state(self) -> bytes:
        """Where the reader is, as a ReaderBaseState."""
        if not self.has_state:
            raise unimplemented("Reader SerializeState")
        with self.lock:
            return reader_base_pb2.ReaderBaseState(
                work_started=self.work_started, work_finished=self.work_finished, num_records_produced=self.produced, current_work=self.work
            ).SerializeToString()

    def restore(self, state: bytes) -> None:
        """Goes on where a reader with this state was."""
        from google.protobuf.message import DecodeError

        if not self.has_state:
            raise unimplemented("Reader RestoreState")
        shown = state.decode("utf-8", "backslashreplace")
        try:
            found = reader_base_pb2.ReaderBaseState.FromString(state)
        except DecodeError:
            raise invalid_argument(f"Could not parse state for {self.kind} '{self.name}': {shown}") from None
        if min(found.work_started, found.work_finished, found.num_records_produced) < 0:
            raise invalid_argument(f"Unexpected negative value when restoring in {self.kind} '{self.name}': {shown}")
        if found.work_started > found.work_finished:
            raise invalid_argument(f"Inconsistent work started vs. finished when restoring in {self.kind} '{self.name}': {shown}")
        with self.lock:
            self._start()
            self.work_started, self.work_finished = found.work_started, found.work_finished
            self.produced, self.work = found.num_records_produced, found.current_work


class IdentityReader(Reader):
    """A piece of work is its own record."""

    kind = "IdentityReader"
    has_state = True

    def records(self, work: bytes) -> Iterator[Record]:
        yield work, work


class WholeFileReader(Reader):
    """A record is all that is in a file."""

    kind = "WholeFileReader"
    has_state = True

    def records(self, work: bytes) -> Iterator[Record]:
        yield work, read_file_to_string(os.fsdecode(work), binary_mode=True)


class TextLineReader(Reader):
    """A record is a line of a file. Its key is the file's name with the number of the line."""

    kind = "TextLineReader"

    def __init__(self, name: str, skipped: int) -> None:
        self.skipped = skipped
        super().__init__(name)

    def records(self, work: bytes) -> Iterator[Record]:
        stream = records.open_stream(os.fsdecode(work))
        try:
            for number, line in enumerate(stream, 1):
                if number > self.skipped:
                    yield b"%s:%d" % (work, number), line.removesuffix(b"\n").replace(b"\r", b"")
        finally:
            stream.close()


class RecordFileReader(Reader):
    """The records of record files. A key is the file's name with where in it the record begins."""

    kind = "TFRecordReader"

    def __init__(self, name: str, compression: str) -> None:
        self.compression = compression
        super().__init__(name)

    def records(self, work: bytes) -> Iterator[Record]:
        place = 0
        for record in records.read(os.fsdecode(work), self.compression):
            yield b"%s:%d" % (work, place), record
            place += len(record) + 16


class FixedLengthReader(Reader):
    """Records of one length, after a header and before a footer. A key is the file's name with the number of the record."""

    kind = "FixedLengthRecordReader"

    def __init__(self, name: str, length: int, header: int, footer: int, hop: int, encoding: str) -> None:
        self.length, self.header, self.footer, self.hop = length, header, footer, hop or length
        self.encoding = encoding
        super().__init__(name)

    def records(self, work: bytes) -> Iterator[Record]:
        stream = records.open_stream(os.fsdecode(work), self.encoding)
        try:
            content = bytearray()
            at_end, start, number = False, self.header, 0
            while True:
                # A record that reaches into the footer is none.
                while not at_end and len(content) < start + self.length + self.footer:
                    more = stream.read(records.PIECE)
                    at_end = not more
                    content += more
                if len(content) < start + self.length + self.footer:
                    return
                yield b"%s:%d" % (work, number), bytes(content[start : start + self.length])
                number += 1
                start += self.hop
                if start > records.PIECE:
                    del content[:start]
                    start = 0
        finally:
            stream.close()


class DatabaseReader(Reader):
    """The keys and values of LMDB databases."""

    kind = "LMDBReader"

    def records(self, work: bytes) -> Iterator[Record]:
        return lmdb.read(os.fsdecode(work))
