"""`tf.gfile` and `tf.io.gfile`: files and folders on whatever file system their paths name."""
from __future__ import annotations

import fnmatch
import os
from collections.abc import Callable, Iterator
from typing import Any

from everflow.api import public
from everflow.errors import NotFoundError, already_exists, not_found, unimplemented
from everflow.io import file_io
from everflow.io.file_io import FileIO
from everflow.io.filesystems import errors_about, locate


@public("gfile.GFile", "gfile.Open", "io.gfile.GFile")
class GFile(FileIO):
    """A file: `with tf.gfile.GFile(path, "w") as f: f.write("text")`."""

    def __init__(self, name: Any, mode: str = "r") -> None:
        super().__init__(name, mode)


@public("gfile.FastGFile")
class FastGFile(FileIO):
    """The same as `GFile`."""

    def __init__(self, name: Any, mode: str = "r") -> None:
        super().__init__(name, mode)


@public("io.gfile.exists")
def file_exists_v2(path: Any) -> bool:
    if not os.fsdecode(path):
        return False
    filesystem, local = locate(path)
    return filesystem.exists(local)


@public("gfile.Exists")
def file_exists(filename: Any) -> bool:
    return file_exists_v2(filename)


@public("io.gfile.remove")
def delete_file_v2(path: Any) -> None:
    """Removes a file; NotFoundError if there is none."""
    filesystem, local = locate(path)
    with errors_about(os.fsdecode(path)):
        filesystem.remove(local)


@public("gfile.Remove")
def delete_file(filename: Any) -> None:
    """Removes a file; NotFoundError if there is none."""
    delete_file_v2(filename)


@public("io.gfile.mkdir")
def create_dir_v2(path: Any) -> None:
    """Makes a folder, whose parent must exist; a folder that is there already stays as it is."""
    filesystem, local = locate(path)
    if not filesystem.is_directory(local):
        with errors_about(os.fsdecode(path)):
            filesystem.make_directory(local)


@public("gfile.MkDir")
def create_dir(dirname: Any) -> None:
    """Makes a folder, whose parent must exist; a folder that is there already stays as it is."""
    create_dir_v2(dirname)


@public("io.gfile.makedirs")
def recursive_create_dir_v2(path: Any) -> None:
    """Makes a folder and those above it, as far as they are missing."""
    filesystem, local = locate(path)
    with errors_about(os.fsdecode(path)):
        filesystem.make_directories(local)


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
        raise not_found(f"{os.fsdecode(src)}; No such file or directory")
    with errors_about(os.fsdecode(dst)):
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
        raise unimplemented(f"Renaming {os.fsdecode(src)} to {os.fsdecode(dst)} not implemented")
    _refuse_existing(dst, overwrite)
    with errors_about(os.fsdecode(src)):
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
        raise not_found(f"{os.fsdecode(path)} not found")
    with errors_about(os.fsdecode(path)):
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
        raise not_found(f"Could not find directory {os.fsdecode(path)}")
    with errors_about(os.fsdecode(path)):
        return filesystem.list(local)


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
    top = os.fsdecode(top)
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
        return _matching(os.fsdecode(pattern))
    return [path for each in pattern for path in _matching(os.fsdecode(each))]


@public("gfile.Glob")
def get_matching_files(filename: Any) -> list[str]:
    """The paths that match a pattern, or any of several; `*`, `?` and `[...]` stay within one folder."""
    return get_matching_files_v2(filename)


def _has_wildcard(text: str) -> bool:
    return any(c in text for c in "*?[\\")


def _matching(pattern: str) -> list[str]:
    locate(pattern)
    scheme, colon, rest = pattern.rpartition("://")
    parts = rest.split("/")
    fixed = 0
    while fixed < len(parts) and not _has_wildcard(parts[fixed]):
        fixed += 1
    folder_of_all = scheme + colon + ("/".join(parts[:min(fixed, len(parts) - 1)]) or ("/" if rest.startswith("/") else "."))
    if not file_exists_v2(folder_of_all):
        raise not_found(f"{folder_of_all}; No such file or directory")
    if fixed == len(parts):
        return [pattern] if file_exists_v2(pattern) else []
    start = scheme + colon + "/".join(parts[:fixed])
    # A relative pattern that begins with a wildcard is looked up in, and answered from, the current folder.
    found = [start or ("/" if rest.startswith("/") else ".")]
    for part in parts[fixed:]:
        found = [
            f"{folder.rstrip('/')}/{name}"
            for folder in found
            if is_directory_v2(folder)
            for name in list_directory_v2(folder)
            if fnmatch.fnmatchcase(name, part)
        ]
    return found
