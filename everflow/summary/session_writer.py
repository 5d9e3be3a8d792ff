"""Event files that a session writes, so that all who name the same folder share one."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import internal
from everflow.compat import path_to_str
from everflow.io import gfile
from everflow.ops.core.registry import apply
from everflow.summary.recording import create_file_writer


@internal("summary.writer.event_file_writer_v2.EventFileWriterV2")
class SessionEventFileWriter:
    """Writes events by ops of a session."""

    def __init__(self, session: Any, logdir: Any, max_queue: int = 10, flush_secs: float = 120, filename_suffix: str | None = None) -> None:
        self._session = session
        self._logdir = path_to_str(logdir)
        self._closed = False
        if not gfile.is_directory(self._logdir):
            gfile.recursive_create_dir(self._logdir)
        with session.graph.as_default(), tf.name_scope("filewriter"):
            writer = create_file_writer(self._logdir, max_queue, int(flush_secs * 1000), filename_suffix or "")
            self._event = tf.placeholder_with_default(tf.constant("unused", tf.string), shape=[])
            self._add = apply("ImportEvent", writer._resource, self._event)
            self._init_op, self._flush_op, self._close_op = writer.init(), writer.flush(), writer.close()
            session.run(self._init_op)

    def get_logdir(self) -> str:
        """The folder of the file."""
        return self._logdir

    def reopen(self) -> None:
        """Starts another file after `close`; before it, nothing happens."""
        if self._closed:
            self._closed = False
            self._session.run(self._init_op)

    def add_event(self, event: Any) -> None:
        """Writes an event."""
        if not self._closed:
            self._session.run(self._add, feed_dict={self._event: event.SerializeToString()})

    def flush(self) -> None:
        """Writes all events that wait."""
        self._session.run(self._flush_op)

    def close(self) -> None:
        """Writes everything and closes the file."""
        if not self._closed:
            self.flush()
            self._session.run(self._close_op)
            self._closed = True
