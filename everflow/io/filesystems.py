"""Where files are: a path's scheme (`gs` in `gs://bucket/x`) chooses the file system; a path without one is local.

    register("gs", MyFileSystem())

teaches `tf.gfile`, and all that reads and writes through it, a new scheme. Others are looked up with fsspec.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import shutil
from collections.abc import Iterator
from typing import Any, BinaryIO, NamedTuple, cast

from everflow.api import internal
from everflow.errors import (
    already_exists,
    failed_precondition,
    invalid_argument,
    not_found,
    permission_denied,
    resource_exhausted,
    unimplemented,
    unknown,
)

_KINDS = {
    errno.ENOENT: not_found,
    errno.EEXIST: already_exists,
    errno.EACCES: permission_denied,
    errno.EPERM: permission_denied,
    errno.EROFS: permission_denied,
    errno.EISDIR: failed_precondition,
    errno.ENOTDIR: failed_precondition,
    errno.ENOTEMPTY: failed_precondition,
    errno.EBUSY: failed_precondition,
    errno.EBADF: failed_precondition,
    errno.EINVAL: invalid_argument,
    errno.ENAMETOOLONG: invalid_argument,
    errno.ENOSPC: resource_exhausted,
    errno.EMFILE: resource_exhausted,
    errno.EDQUOT: resource_exhausted,
    errno.ENOTSUP: unimplemented,
}


# What errors without a number mean: not every file system gives them one.
_NUMBERS = {
    FileNotFoundError: errno.ENOENT,
    FileExistsError: errno.EEXIST,
    PermissionError: errno.EACCES,
    IsADirectoryError: errno.EISDIR,
    NotADirectoryError: errno.ENOTDIR,
}


@contextlib.contextmanager
def errors_about(path: str) -> Iterator[None]:
    """An OSError inside becomes the error of `tf.errors` that TensorFlow gives, naming the path."""
    try:
        yield
    except OSError as error:
        number = error.errno or next((n for kind, n in _NUMBERS.items() if isinstance(error, kind)), 0)
        message = f"{path}; {os.strerror(number) if number else error}"
        raise _KINDS.get(number, unknown)(message) from None


@internal("pywrap_tensorflow.FileStatistics", "lib.io.file_io.FileStatistics")
class FileStatistics(NamedTuple):
    """How long a file is, when it was last changed, and whether it is a folder."""

    length: int
    mtime_nsec: int
    is_directory: bool


class LocalFileSystem:
    """The files of this machine. Another file system has the same methods, and raises OSErrors like these."""

    def open(self, path: str, mode: str) -> BinaryIO:
        """Opens a file to read (`rb`), to write anew (`wb`) or to append (`ab`)."""
        if os.path.isdir(path):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
        return cast(BinaryIO, open(path, mode))

    def exists(self, path: str) -> bool:
        return os.path.exists(path)

    def is_directory(self, path: str) -> bool:
        return os.path.isdir(path)

    def list(self, path: str) -> list[str]:
        """The names in a folder."""
        return sorted(os.listdir(path))

    def stat(self, path: str) -> FileStatistics:
        found = os.stat(path)
        return FileStatistics(found.st_size, found.st_mtime_ns, os.path.isdir(path))

    def make_directory(self, path: str) -> None:
        os.mkdir(path)

    def make_directories(self, path: str) -> None:
        if not os.path.exists(path):
            os.makedirs(path, exist_ok=True)

    def remove(self, path: str) -> None:
        os.remove(path)

    def remove_tree(self, path: str) -> None:
        shutil.rmtree(path)

    def rename(self, source: str, target: str) -> None:
        os.replace(source, target)

    def link(self, source: str, target: str) -> None:
        """Gives a file a second name."""
        os.link(source, target)

    def copy(self, source: str, target: str) -> None:
        if os.path.isdir(source):
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL), target)
        with contextlib.suppress(shutil.SameFileError):
            shutil.copyfile(source, target)


_SCHEMES: dict[str, Any] = {"": LocalFileSystem(), "file": LocalFileSystem()}
_SCHEME = re.compile(r"([a-zA-Z][a-zA-Z0-9+.\-]*)://")


def register(scheme: str, filesystem: Any) -> None:
    """Paths that begin with `scheme://` belong to this file system, which gets them whole."""
    _SCHEMES[scheme] = filesystem


def path_text(path: Any) -> str:
    """A path (text, bytes or a path object) as text."""
    try:
        return os.fsdecode(path)
    except TypeError:
        raise TypeError(f"Expected binary or unicode string, got {path!r}") from None


def locate(path: Any) -> tuple[Any, str]:
    """The file system of a path, and the path as it takes it. Where it is local, `d/` and `d/./` are `d`; "" names nothing."""
    text = path_text(path)
    match = _SCHEME.match(text)
    scheme = match.group(1) if match else ""
    if scheme not in _SCHEMES:
        from everflow.io.remote_files import remote

        if (found := remote(scheme)) is not None:
            return found, text
        raise unimplemented(f"File system scheme '{scheme}' not implemented (file: '{text}')")
    if scheme == "file":
        rest = text[len("file://") :]
        # file://host/path and file:///path both name /path.
        text = rest[rest.find("/") :] if "/" in rest else ""
    return _SCHEMES[scheme], os.path.normpath(text) if text and scheme in ("", "file") else text
