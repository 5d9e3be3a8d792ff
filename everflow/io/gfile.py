"""`tf.gfile` and `tf.io.gfile`: files and folders on whatever file system their paths name."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from typing import Any

from everflow.api import public
from everflow.errors import NotFoundError, already_exists, not_found, unimplemented
from everflow.io import file_io
from everflow.io.file_io import FileIO
from everflow.io.filesystems import errors_about, locate, path_text


@public("gfile.GFile", "gfile.Open", "io.gfile.GFile")
class GFile(FileIO):
    """A file: `with tf.gfile.GFile(path, "w") as f: f.write("text")`."""

    def __init__(self, name: str | None, mode: str = "r") -> None:
        super().__init__(name, mode)


@public("gfile.FastGFile")
class FastGFile(FileIO):
    """The same as `GFile`."""

    def __init__(self, name: str | None, mode: str = "r") -> None:
        super().__init__(name, mode)


@public("io.gfile.exists")
def file_exists_v2(path: Any) -> bool:
    filesystem, local = locate(path)
    return filesystem.exists(local)


@public("gfile.Exists")
def file_exists(filename: Any) -> bool:
    return file_exists_v2(filename)


@public("io.gfile.remove")
def delete_file_v2(path: Any) -> None:
    """Removes a file; NotFoundError if there is none."""
    filesystem, local = locate(path)
    with errors_about(path_text(path)):
        filesystem.remove(local)


@public("gfile.Remove")
def delete_file(filename: Any) -> None:
    """Removes a file; NotFoundError if there is none."""
    delete_file_v2(filename)


@public("io.gfile.mkdir")
def create_dir_v2(path: Any) -> None:
    """Makes a folder, whose parent must exist; what is there already stays as it is."""
    filesystem, local = locate(path)
    if local and not filesystem.exists(local):
        with errors_about(path_text(path)):
            filesystem.make_directory(local)


@public("gfile.MkDir")
def create_dir(dirname: Any) -> None:
    """Makes a folder, whose parent must exist; what is there already stays as it is."""
    create_dir_v2(dirname)


@public("io.gfile.makedirs")
def recursive_create_dir_v2(path: Any) -> None:
    """Makes a folder and those above it, as far as they are missing; "", where a path has no folder, is none to make."""
    filesystem, local = locate(path)
    if local:
        try:
            filesystem.make_directories(local)
        except OSError as error:
            with errors_about(path_text(error.filename or path)):
                raise


@public("gfile.MakeDirs")
def recursive_create_dir(dirname: Any) -> None:
    """Makes a folder and those above it, as far as they are missing."""
    recursive_create_dir_v2(dirname)


def _refuse_existing(path: Any, overwrite: bool) -> None:
    if not overwrite and file_exists_v2(path):
        raise already_exists("file already exists")


@public("io.gfile.copy")
def copy_v2(src: Any, dst: Any, overwrite: bool = False) -> None:
    """Copies a file, also from one file system to another."""
    _refuse_existing(dst, overwrite)
    source_system, source = locate(src)
    target_system, target = locate(dst)
    if not source_system.exists(source):
        raise not_found(f"{path_text(src)}; No such file or directory")
    with errors_about(path_text(dst)):
        if source_system is target_system:
            source_system.copy(source, target)
            return
    with FileIO(src, "rb") as reader, FileIO(dst, "wb") as writer:
        writer.write(b"")
        while part := reader.read(1 << 24):
            writer.write(part)


@public("gfile.Copy")
def copy(oldpath: Any, newpath: Any, overwrite: bool = False) -> None:
    """Copies a file, also from one file system to another."""
    copy_v2(oldpath, newpath, overwrite)


@public("io.gfile.rename")
def rename_v2(src: Any, dst: Any, overwrite: bool = False) -> None:
    """Renames or moves a file or folder within a file system."""
    source_system, source = locate(src)
    target_system, target = locate(dst)
    if source_system is not target_system:
        raise unimplemented(f"Renaming {path_text(src)} to {path_text(dst)} not implemented")
    _refuse_existing(dst, overwrite)
    with errors_about(path_text(src)):
        source_system.rename(source, target)


@public("gfile.Rename")
def rename(oldname: Any, newname: Any, overwrite: bool = False) -> None:
    """Renames or moves a file or folder within a file system."""
    rename_v2(oldname, newname, overwrite)


@public("io.gfile.rmtree")
def delete_recursively_v2(path: Any) -> None:
    """Removes a folder and all that is in it."""
    filesystem, local = locate(path)
    if not filesystem.exists(local):
        raise not_found(f"{path_text(path)} not found")
    with errors_about(path_text(path)):
        filesystem.remove_tree(local)


@public("gfile.DeleteRecursively")
def delete_recursively(dirname: Any) -> None:
    """Removes a folder and all that is in it."""
    delete_recursively_v2(dirname)


@public("io.gfile.isdir")
def is_directory_v2(path: Any) -> bool:
    filesystem, local = locate(path)
    return filesystem.is_directory(local)


@public("gfile.IsDirectory")
def is_directory(dirname: Any) -> bool:
    return is_directory_v2(dirname)


@public("io.gfile.listdir")
def list_directory_v2(path: Any) -> list[str]:
    """The names in a folder."""
    filesystem, local = locate(path)
    if not filesystem.is_directory(local):
        raise not_found(f"Could not find directory {path_text(path)}")
    return _names(path)


@public("gfile.ListDirectory")
def list_directory(dirname: Any) -> list[str]:
    """The names in a folder."""
    return list_directory_v2(dirname)


@public("io.gfile.stat")
def stat_v2(path: Any) -> Any:
    """The length, time of change and kind of a file."""
    return file_io.stat(path)


@public("gfile.Stat")
def stat(filename: Any) -> Any:
    """The length, time of change and kind of a file."""
    return file_io.stat(filename)


@public("io.gfile.walk")
def walk_v2(
    top: Any, topdown: bool = True, onerror: Callable[[Exception], Any] | None = None
) -> Iterator[tuple[str, list[str], list[str]]]:
    """For each folder below `top`: its path, the folders and the files in it. Errors go to `onerror`, or nowhere."""
    top = path_text(top)
    try:
        listing = list_directory_v2(top)
    except NotFoundError as error:
        if onerror is not None:
            onerror(error)
        return
    folders: list[str] = []
    files: list[str] = []
    for name in listing:
        (folders if is_directory_v2(os.path.join(top, name)) else files).append(name)
    here = (top, folders, files)
    if topdown:
        yield here
    for name in folders:
        yield from walk_v2(os.path.join(top, name), topdown, onerror)
    if not topdown:
        yield here


@public("gfile.Walk")
def walk(top: Any, in_order: bool = True) -> Iterator[tuple[str, list[str], list[str]]]:
    """For each folder below `top`: its path, the folders and the files in it."""
    return walk_v2(top, in_order)


@public("io.gfile.glob")
def get_matching_files_v2(pattern: Any) -> list[str]:
    """The paths that match a pattern, or any of several; `*`, `?` and `[...]` stay within one folder."""
    if isinstance(pattern, (str, bytes, os.PathLike)):
        return _matching(path_text(pattern))
    return [path for each in pattern for path in _matching(path_text(each))]


@public("gfile.Glob")
def get_matching_files(filename: Any) -> list[str]:
    """The paths that match a pattern, or any of several; `*`, `?` and `[...]` stay within one folder."""
    return get_matching_files_v2(filename)


_WILDCARD = re.compile(r"[*?\[\\]")
_PIECES = re.compile(r"\\(?P<escaped>.)|\[(?P<negated>[!^]?)(?P<set>\]?(?:\\.|[^\]\\])*)\]|(?P<any>[*?])|(?P<plain>.)", re.DOTALL)


def _expression(piece: re.Match[str]) -> str:
    if piece["any"]:
        return ".*" if piece["any"] == "*" else "."
    if piece["set"]:
        return f"[{'^' if piece['negated'] else ''}{piece['set'].replace('[', chr(92) + '[')}]"
    return re.escape(piece["escaped"] or piece["plain"])


def _matches(pattern: str, name: str) -> bool:
    """Whether one part of a path is what the C library's fnmatch takes a pattern for: `*`, `?`, `[a-c]`, `[!a-c]`, `[^a-c]`, `\\*`."""
    return re.fullmatch(_PIECES.sub(_expression, pattern), name, re.DOTALL) is not None


def _matching(pattern: str) -> list[str]:
    scheme, colon, path = pattern.rpartition("://")
    wildcard = _WILDCARD.search(path)
    above = os.path.dirname(path[: wildcard.start()] if wildcard else path)
    parts = path[len(above) :].removeprefix("/").split("/")
    # A relative pattern whose first part may be any name is looked up in, and answered from, the current folder.
    found = [scheme + colon + (above or ("" if scheme else "."))]
    for depth, part in enumerate(parts):
        found = [
            os.path.join(folder, name)
            for folder in found
            if depth == 0 or is_directory_v2(folder)
            for name in _names(folder)
            if _matches(part, name)
        ]
    return found


def _names(folder: str) -> list[str]:
    filesystem, local = locate(folder)
    with errors_about(folder):
        return filesystem.list(local)
