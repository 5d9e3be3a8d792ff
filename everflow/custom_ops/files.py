"""File systems written in C++: `tf.load_file_system_library` has `tf.gfile`, readers and savers know their schemes."""

from __future__ import annotations

import ctypes
import io
from typing import Any, BinaryIO, cast

from everflow.custom_ops import framework
from everflow.errors import NotFoundError, from_code, unimplemented
from everflow.io import filesystems
from everflow.io.filesystems import FileStatistics

_registered: set[str] = set()


def register_new() -> None:
    """Makes the schemes known that libraries brought."""
    schemes: list[bytes] = []
    framework.functions().everflow_files_schemes(ctypes.CFUNCTYPE(None, ctypes.c_char_p)(schemes.append))
    for scheme in (s.decode() for s in schemes):
        if scheme not in ("", "file", *_registered):
            _registered.add(scheme)
            filesystems.register(scheme, CustomFileSystem())


def _call(name: str, *arguments: Any) -> None:
    """Calls a function of the library; raises the error of its status."""
    message = ctypes.create_string_buffer(framework.LONGEST)
    code = getattr(framework.functions(), name)(*arguments, message, ctypes.c_int64(framework.LONGEST))
    if code:
        raise from_code(None, None, message.value.decode(errors="replace"), code)


class CustomFileSystem:
    """The file systems of C++, with the methods of `everflow.io.filesystems.LocalFileSystem`."""

    def _do(self, kind: bytes, path: str, other: str = "") -> None:
        _call("everflow_files_do", kind, path.encode(), other.encode())

    def open(self, path: str, mode: str) -> BinaryIO:
        if mode == "rb":
            return cast(BinaryIO, io.BufferedReader(_Reader(path)))
        return cast(BinaryIO, io.BufferedWriter(_Writer(path, mode == "ab")))

    def exists(self, path: str) -> bool:
        try:
            self._do(b"exists", path)
        except NotFoundError:
            return False
        return True

    def is_directory(self, path: str) -> bool:
        try:
            return self.stat(path).is_directory
        except NotFoundError:
            return False

    def list(self, path: str) -> list[str]:
        names: list[bytes] = []
        _call("everflow_files_list", path.encode(), ctypes.CFUNCTYPE(None, ctypes.c_char_p)(names.append))
        return sorted(name.decode().rstrip("/") for name in names)

    def stat(self, path: str) -> FileStatistics:
        found = (ctypes.c_int64 * 3)()
        _call("everflow_files_stat", path.encode(), found)
        return FileStatistics(found[0], found[1], bool(found[2]))

    def make_directory(self, path: str) -> None:
        self._do(b"make_directory", path)

    def make_directories(self, path: str) -> None:
        self._do(b"make_directories", path)

    def remove(self, path: str) -> None:
        self._do(b"remove", path)

    def remove_tree(self, path: str) -> None:
        self._do(b"remove_tree", path)

    def rename(self, source: str, target: str) -> None:
        self._do(b"rename", source, target)

    def link(self, source: str, target: str) -> None:
        raise unimplemented(f"{target}: file systems in C++ give files one name")

    def copy(self, source: str, target: str) -> None:
        self._do(b"copy", source, target)


class _Reader(io.RawIOBase):
    def __init__(self, path: str) -> None:
        self._file = ctypes.c_void_p()
        _call("everflow_reader_open", path.encode(), ctypes.byref(self._file))
        self._path, self._at = path, 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        start = {io.SEEK_SET: 0, io.SEEK_CUR: self._at}.get(whence)
        self._at = offset + (CustomFileSystem().stat(self._path).length if start is None else start)
        return self._at

    def readinto(self, buffer: Any) -> int:
        to = (ctypes.c_char * len(buffer)).from_buffer(buffer)
        count = ctypes.c_int64(len(buffer))
        _call("everflow_reader_read", self._file, ctypes.c_int64(self._at), to, ctypes.byref(count))
        self._at += count.value
        return count.value

    def close(self) -> None:
        file, self._file = self._file, ctypes.c_void_p()
        framework.functions().everflow_reader_free(file)
        super().close()


class _Writer(io.RawIOBase):
    def __init__(self, path: str, append: bool) -> None:
        self._file = ctypes.c_void_p()
        self._at = CustomFileSystem().stat(path).length if append and CustomFileSystem().exists(path) else 0
        _call("everflow_writer_open", path.encode(), ctypes.c_bool(append), ctypes.byref(self._file))

    def writable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def write(self, data: Any) -> int:
        content = bytes(data)
        _call("everflow_writer_append", self._file, content, ctypes.c_int64(len(content)))
        self._at += len(content)
        return len(content)

    def flush(self) -> None:
        if self._file:
            _call("everflow_writer_flush", self._file)

    def close(self) -> None:
        file, self._file = self._file, ctypes.c_void_p()
        try:
            if file:
                _call("everflow_writer_close", file)
        finally:
            framework.functions().everflow_writer_free(file)
            super().close()
