"""The files of checkpoints, wherever they are: problems with them are errors of `tf.errors`."""

from __future__ import annotations

import contextlib
import fnmatch
import itertools
import os
from collections.abc import Iterator
from typing import BinaryIO

from everflow.io.filesystems import errors_about, locate

_serial = itertools.count()


def index_path(prefix: str) -> str:
    """The index of a checkpoint."""
    return prefix + ".index"


def data_path(prefix: str, shard: int, shards: int) -> str:
    """One of a checkpoint's data files."""
    return f"{prefix}.data-{shard:05d}-of-{shards:05d}"


def open_file(path: str, mode: str) -> BinaryIO:
    """Opens a file wherever it is; problems are errors of `tf.errors`."""
    filesystem, local = locate(path)
    with errors_about(path):
        return filesystem.open(local, mode)


def read_whole(path: str) -> bytes:
    """All that is in a file."""
    with open_file(path, "rb") as file, errors_about(path):
        return file.read()


def exists(path: str) -> bool:
    """Whether there is a file."""
    filesystem, local = locate(path)
    return filesystem.exists(local)


def rename(source: str, target: str) -> None:
    """Gives a file its name, in one step."""
    filesystem, local = locate(source)
    with errors_about(target):
        filesystem.rename(local, locate(target)[1])


def matching_files(pattern: str) -> list[str]:
    """The files whose name matches the last part of a pattern; NotFoundError where their folder is not there."""
    folder, name = os.path.split(pattern)
    filesystem, local = locate(folder or ".")
    with errors_about(folder or "."):
        names = filesystem.list(local)
    return [
        os.path.join(folder, found)
        for found in sorted(names)
        if fnmatch.fnmatchcase(found, name) and not filesystem.is_directory(locate(os.path.join(folder, found))[1])
    ]


def make_folder_of(prefix: str) -> None:
    """Makes the folder that a checkpoint will be in, but not those above it."""
    folder = os.path.dirname(prefix)
    filesystem, local = locate(folder)
    if folder and not filesystem.exists(local):
        with errors_about(folder):
            filesystem.make_directory(local)


def remove(path: str) -> None:
    """Deletes a file, if it is there."""
    filesystem, local = locate(path)
    with contextlib.suppress(OSError):
        filesystem.remove(local)


def duplicate(source: str, target: str) -> None:
    """Puts the contents of a file in the place of another one, in one step; where the file system can, without copying them."""
    beside = _beside(target)
    filesystem, local = locate(source)
    with errors_about(target):
        try:
            filesystem.link(local, locate(beside)[1])
        except (AttributeError, OSError):
            filesystem.copy(local, locate(beside)[1])
    rename(beside, target)


def _beside(path: str) -> str:
    return f"{path}.tempstate{os.getpid()}_{next(_serial)}"


@contextlib.contextmanager
def temporary(path: str) -> Iterator[tuple[BinaryIO, str]]:
    """A file beside the path that it is meant for, and its name; it does not outlive an error."""
    beside = _beside(path)
    file = open_file(beside, "wb")
    try:
        with errors_about(path), file:
            yield file, beside
    except BaseException:
        remove(beside)
        raise


@contextlib.contextmanager
def written_beside(path: str) -> Iterator[BinaryIO]:
    """A file that takes its name only when it is complete."""
    with temporary(path) as (file, beside):
        yield file
    rename(beside, path)
