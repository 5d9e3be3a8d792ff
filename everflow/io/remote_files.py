"""File systems beyond this machine, through fsspec: `gs://`, `s3://`, `hdfs://`, `memory://` and whatever else is installed for it."""

from __future__ import annotations

import datetime
import errno
import functools
import os
from typing import Any, BinaryIO

from everflow.errors import unimplemented
from everflow.io.filesystems import FileStatistics


class RemoteFileSystem:
    """The files of an fsspec file system, with the methods of `everflow.io.filesystems.LocalFileSystem`."""

    def __init__(self, files: Any) -> None:
        self.files = files

    def open(self, path: str, mode: str) -> BinaryIO:
        if self.is_directory(path):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
        return self.files.open(path, mode)

    def exists(self, path: str) -> bool:
        return self.files.exists(path)

    def is_directory(self, path: str) -> bool:
        return self.files.isdir(path)

    def list(self, path: str) -> list[str]:
        found = (name.rstrip("/").rpartition("/")[2] for name in self.files.ls(path, detail=False))
        return sorted(name for name in found if name)

    def stat(self, path: str) -> FileStatistics:
        found = self.files.info(path)
        is_directory = found["type"] == "directory"
        try:
            changed = self.files.modified(path)
        except (NotImplementedError, KeyError, FileNotFoundError):
            # Many stores know no time for folders, some for no file at all.
            changed = None
        nanoseconds = int(changed.timestamp() * 1e9) if isinstance(changed, datetime.datetime) else 0
        return FileStatistics(int(found.get("size") or 0), nanoseconds, is_directory)

    def make_directory(self, path: str) -> None:
        if self.exists(path):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), path)
        self.files.mkdir(path, create_parents=False)

    def make_directories(self, path: str) -> None:
        self.files.makedirs(path, exist_ok=True)

    def remove(self, path: str) -> None:
        self.files.rm_file(path)

    def remove_tree(self, path: str) -> None:
        self.files.rm(path, recursive=True)

    def rename(self, source: str, target: str) -> None:
        self.files.mv(source, target, recursive=self.is_directory(source))

    def link(self, source: str, target: str) -> None:
        raise OSError(errno.ENOTSUP, os.strerror(errno.ENOTSUP), target)

    def copy(self, source: str, target: str) -> None:
        if self.is_directory(source):
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL), target)
        self.files.cp_file(source, target)


@functools.cache
def remote(scheme: str) -> RemoteFileSystem | None:
    """The file system of a scheme that fsspec knows; None where it doesn't."""
    import fsspec

    if scheme not in fsspec.available_protocols():
        return None
    try:
        return RemoteFileSystem(fsspec.filesystem(scheme))
    except ImportError as error:
        raise unimplemented(f"File system scheme '{scheme}' not implemented: {error}") from None
