"""Event files: written through a buffer, read record by record."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Iterator
from typing import Any

from everflow._native import framed_record
from everflow.api import internal, public
from everflow.compat import path_to_str
from everflow.io import gfile
from everflow.io.records import RecordWriter, read
from everflow.proto import event_pb2

# The first event of a file says how the others are written.
_FILE_VERSION = "brain.Event:2"


@internal("pywrap_tensorflow.EventsWriter")
class EventsWriter:
    """Writes events to a new file whose name starts with a path, then tells of what it is, when and where it was made."""

    def __init__(self, file_prefix: Any) -> None:
        self._prefix = os.fsdecode(file_prefix)
        self._suffix = ""
        self._name = ""
        self._out: RecordWriter | None = None

    def InitWithSuffix(self, suffix: Any) -> None:
        """Opens the file."""
        self._suffix = os.fsdecode(suffix)
        self._open()

    def _open(self) -> RecordWriter:
        if self._out is None:
            now = time.time()
            self._name = f"{self._prefix}.out.tfevents.{int(now):010d}.{socket.gethostname()}{self._suffix}"
            self._out = RecordWriter(self._name)
            self._out.write(event_pb2.Event(wall_time=now, file_version=_FILE_VERSION).SerializeToString())
            self._out.flush()
        return self._out

    def FileName(self) -> bytes:
        """The path of the file."""
        self._open()
        return self._name.encode()

    def WriteEvent(self, event: Any) -> None:
        """Writes one event."""
        if not hasattr(event, "SerializeToString"):
            raise TypeError(f"Expected an event_pb2.Event proto, but got {type(event)}")
        self._open().write(event.SerializeToString())

    def write_framed(self, record: bytes) -> None:
        """Writes an event that is a record of the file already."""
        (self._out or self._open()).write_framed(record)

    def Flush(self) -> bool:
        """Hands what was written to the file system; without an event there is no file yet."""
        if self._out is not None:
            self._out.flush()
        return True

    def Close(self) -> bool:
        """Writes everything and closes the file."""
        if self._out is not None:
            self._out.close()
            self._out = None
        return True


@internal("summary.writer.event_file_writer.EventFileWriter")
class EventFileWriter:
    """Writes events to a file in a folder. They wait in the file's buffer until it is full, for a time, or until somebody flushes: who
    adds an event does not wait for the disk."""

    def __init__(self, logdir: Any, max_queue: int = 10, flush_secs: float = 120, filename_suffix: str | None = None) -> None:
        self._logdir = str(path_to_str(logdir))
        if self._logdir and not gfile.is_directory(self._logdir):
            gfile.recursive_create_dir(self._logdir)
        self._writer = EventsWriter(os.path.join(self._logdir, "events"))
        self._flush_secs = flush_secs
        self._next_flush = time.monotonic() + flush_secs
        self._closed = False
        if filename_suffix:
            self._writer.InitWithSuffix(filename_suffix)

    def get_logdir(self) -> str:
        """The folder of the file."""
        return self._logdir

    def reopen(self) -> None:
        """Starts another file after `close`; before it, nothing happens."""
        self._closed = False

    def add_event(self, event: Any) -> None:
        """Writes an event."""
        self.add_record(framed_record(event.SerializeToString()))

    def add_record(self, record: bytes) -> None:
        """Writes an event that is a record of the file already."""
        if self._closed:
            return
        self._writer.write_framed(record)
        if time.monotonic() > self._next_flush:
            self._writer.Flush()
            self._next_flush = time.monotonic() + self._flush_secs

    def flush(self) -> None:
        """Hands everything that was added to the file system."""
        if not self._closed:
            self._writer.Flush()

    def close(self) -> None:
        """Writes everything and closes the file."""
        if not self._closed:
            self._closed = True
            self._writer.Close()


@public("train.summary_iterator")
def summary_iterator(path: Any) -> Iterator[Any]:
    """The events of a file."""
    for record in read(path):
        yield event_pb2.Event.FromString(record)
