"""tf.summary.FileWriterCache: one writer for each folder."""

from __future__ import annotations

import threading
from typing import ClassVar

import everflow as tf
from everflow.api import public
from everflow.summary.writer import FileWriter


@public("summary.FileWriterCache")
class FileWriterCache:
    """The writers of folders, made at their first use."""

    _cache: ClassVar[dict[str, FileWriter]] = {}
    _lock = threading.RLock()

    @staticmethod
    def clear() -> None:
        """Closes and forgets all writers."""
        with FileWriterCache._lock:
            for writer in FileWriterCache._cache.values():
                writer.close()
            FileWriterCache._cache = {}

    @staticmethod
    def get(logdir: str) -> FileWriter:
        """The writer of a folder."""
        with FileWriterCache._lock:
            if logdir not in FileWriterCache._cache:
                FileWriterCache._cache[logdir] = FileWriter(logdir, graph=tf.get_default_graph())
            return FileWriterCache._cache[logdir]
