"""Event files: written by a thread of their own, read record by record."""
from __future__ import annotations

import os
import queue
import socket
import threading
import time
from collections.abc import Iterator
from typing import Any

from everflow.api import internal, public
from everflow.compat import path_to_str
from everflow.io import gfile
from everflow.io.records import RecordWriter, read
from everflow.summary.messages import Event

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
            self._out.write(Event(wall_time=now, file_version=_FILE_VERSION).SerializeToString())
            self._out.flush()
        return self._out

    def FileName(self) -> bytes:
        """The path of the file."""
        self._open()
        return self._name.encode()

    def WriteEvent(self, event: Any) -> None:
        """Writes one event."""
        self._write(event.SerializeToString())

    def _write(self, serialized: bytes) -> None:
        self._open().write(serialized)

    def Flush(self) -> bool:
        """Hands what was written to the file system."""
        self._open().flush()
        return True

    def Close(self) -> bool:
        """Writes everything and closes the file."""
        if self._out is not None:
            self._out.close()
            self._out = None
        return True


class _Done:
    """Ends the thread that writes."""


@internal("summary.writer.event_file_writer.EventFileWriter")
class EventFileWriter:
    """Writes events to a file in a folder, from a queue, in a thread: who adds an event does not wait for the disk."""

    def __init__(self, logdir: Any, max_queue: int = 10, flush_secs: float = 120, filename_suffix: str | None = None) -> None:
        self._logdir = path_to_str(logdir)
        if self._logdir and not gfile.is_directory(self._logdir):
            gfile.recursive_create_dir(self._logdir)
        self._queue: queue.Queue[Any] = queue.Queue(max_queue)
        self._writer = EventsWriter(os.path.join(self._logdir, "events"))
        self._flush_secs = flush_secs
        self._closed = False
        self._failure: BaseException | None = None
        self._writer.InitWithSuffix(filename_suffix or "")
        self._start()

    def _start(self) -> None:
        self._thread = threading.Thread(target=self._write_all, daemon=True, name="event logger")
        self._thread.start()

    def _write_all(self) -> None:
        next_flush = time.monotonic() + self._flush_secs
        while True:
            event = self._queue.get()
            try:
                if isinstance(event, _Done):
                    return
                if self._failure is None:
                    self._writer.WriteEvent(event)
                    if time.monotonic() > next_flush:
                        self._writer.Flush()
                        next_flush = time.monotonic() + self._flush_secs
            except Exception as e:
                # Who flushes or closes hears of it; the others must not wait for room in the queue.
                self._failure = e
            finally:
                self._queue.task_done()

    def get_logdir(self) -> str:
        """The folder of the file."""
        return self._logdir

    def reopen(self) -> None:
        """Starts another file after `close`; before it, nothing happens."""
        if self._closed:
            self._start()
            self._closed = False

    def add_event(self, event: Any) -> None:
        """Queues an event."""
        if not self._closed:
            self._queue.put(event)

    def flush(self) -> None:
        """Waits until everything that was added is in the file."""
        if not self._closed:
            self._queue.join()
            self._raise_failure()
            self._writer.Flush()

    def _raise_failure(self) -> None:
        if self._failure is not None:
            failure, self._failure = self._failure, None
            raise failure

    def close(self) -> None:
        """Writes everything and closes the file."""
        if self._closed:
            return
        self._queue.put(_Done())
        self._thread.join()
        self._closed = True
        self._raise_failure()
        self._writer.Close()


@public("train.summary_iterator")
def summary_iterator(path: Any) -> Iterator[Any]:
    """The events of a file."""
    for record in read(path):
        yield Event.FromString(record)
