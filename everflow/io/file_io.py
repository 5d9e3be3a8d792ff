"""A file as TensorFlow programs use it: opened at its first use, one position to read from and one to write to."""

from __future__ import annotations

import binascii
import uuid
from collections.abc import Iterator
from typing import Any, BinaryIO

from everflow.api import internal
from everflow.compat import as_bytes
from everflow.errors import OpError, invalid_argument, out_of_range, permission_denied
from everflow.io.filesystems import errors_about, locate, path_text

_MODES = ("r", "w", "a", "r+", "w+", "a+")


@internal("lib.io.file_io.FileIO")
class FileIO:
    """A file that is read as text, or as bytes if the mode has a `b`. Lengths and positions count bytes."""

    def __init__(self, name: str | None, mode: str) -> None:
        self.__name = name
        self.__mode = mode
        self._binary_mode = "b" in mode
        self._kind = mode.replace("b", "")
        if self._kind not in _MODES:
            raise invalid_argument("mode is not 'r' or 'w' or 'a' or 'r+' or 'w+' or 'a+'")
        self._reader: BinaryIO | None = None
        self._writer: BinaryIO | None = None

    @property
    def name(self) -> Any:
        return self.__name

    @property
    def mode(self) -> str:
        return self.__mode

    def _open(self, mode: str) -> BinaryIO:
        filesystem, path = locate(self.__name)
        with errors_about(path_text(self.__name)):
            return filesystem.open(path, mode)

    def _reading(self) -> BinaryIO:
        if self._reader is None:
            if self._kind not in ("r", "r+", "w+", "a+"):
                raise permission_denied("File isn't open for reading")
            self._reader = self._open("rb")
        return self._reader

    def _writing(self) -> BinaryIO:
        if self._writer is None:
            if self._kind == "r":
                raise permission_denied("File isn't open for writing")
            self._writer = self._open("ab" if self._kind[0] == "a" else "wb")
        return self._writer

    def _prepared(self, content: bytes) -> Any:
        return content if self._binary_mode else content.decode("utf-8")

    def size(self) -> int:
        return stat(self.__name).length

    def write(self, file_content: bytes | str) -> None:
        """Appends text (as UTF-8) or bytes to what was written before."""
        writer = self._writing()
        with errors_about(path_text(self.__name)):
            writer.write(as_bytes(file_content))

    def read(self, n: int = -1) -> Any:
        """The next `n` bytes, or the rest."""
        reader = self._reading()
        with errors_about(path_text(self.__name)):
            return self._prepared(reader.read(n))

    def seek(self, offset: int | None = None, whence: int = 0, position: int | None = None) -> None:
        """Moves the reading position; `position` is an older name of `offset`."""
        reader = self._reading()
        given = [place for place in (offset, position) if place is not None]
        if len(given) != 1:
            raise TypeError(f"seek(): {'offset and position may not be set simultaneously.' if given else 'offset argument required'}")
        (distance,) = given
        if whence not in (0, 1, 2):
            raise invalid_argument(f"Invalid whence argument: {whence}. Valid values are 0, 1, or 2.")
        size = self.size()
        target = distance + (0, reader.tell(), size)[whence]
        if target < 0:
            raise invalid_argument(f"Seeking to a negative position: {target}")
        reader.seek(min(target, size))
        if target > size:
            raise out_of_range("reached end of file")

    def readline(self) -> Any:
        """The next line with its newline; carriage returns are left out."""
        reader = self._reading()
        with errors_about(path_text(self.__name)):
            return self._prepared(reader.readline().replace(b"\r", b""))

    def readlines(self) -> list[Any]:
        return list(self)

    def tell(self) -> int:
        """The position of the next read, or, for a file that is only written, how much it holds."""
        if self._kind in ("r", "r+", "w+", "a+"):
            return self._reading().tell()
        writer = self._writing()
        writer.flush()
        return writer.tell()

    def __enter__(self) -> FileIO:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        line = self.readline()
        if not line:
            raise StopIteration
        return line

    def next(self) -> Any:
        return self.__next__()

    def flush(self) -> None:
        """Hands what was written to the file system, so that other readers see it."""
        if self._writer is not None:
            with errors_about(path_text(self.__name)):
                self._writer.flush()

    def close(self) -> None:
        """Ends reading and writing; using the file again opens it anew."""
        reader, writer, self._reader, self._writer = self._reader, self._writer, None, None
        if reader is not None:
            reader.close()
        if writer is not None:
            with errors_about(path_text(self.__name)):
                writer.close()

    def seekable(self) -> bool:
        return True


def stat(path: Any) -> Any:
    filesystem, local = locate(path)
    with errors_about(path_text(path)):
        return filesystem.stat(local)


@internal("lib.io.file_io.read_file_to_string")
def read_file_to_string(filename: Any, binary_mode: bool = False) -> Any:
    """All that is in a file."""
    with FileIO(filename, "rb" if binary_mode else "r") as f:
        return f.read()


@internal("lib.io.file_io.write_string_to_file")
def write_string_to_file(filename: Any, file_content: bytes | str) -> None:
    """Replaces what is in a file."""
    with FileIO(filename, "w") as f:
        f.write(file_content)


@internal("lib.io.file_io.atomic_write_string_to_file")
def atomic_write_string_to_file(filename: Any, contents: bytes | str, overwrite: bool = True) -> None:
    """The same, such that nobody ever sees a half-written file: it is written beside its place and renamed."""
    from everflow.io.gfile import delete_file, file_exists, rename

    filename = path_text(filename)
    beside = f"{filename}.tmp{uuid.uuid4().hex}"
    write_string_to_file(beside, contents)
    try:
        rename(beside, filename, overwrite)
    except OpError:
        if file_exists(beside):
            delete_file(beside)
        raise


@internal("lib.io.file_io.filecmp")
def filecmp(filename_a: Any, filename_b: Any) -> bool:
    """Whether two files hold the same."""
    if stat(filename_a).length != stat(filename_b).length:
        return False
    with FileIO(filename_a, "rb") as a, FileIO(filename_b, "rb") as b:
        while True:
            part = a.read(1 << 24)
            if part != b.read(1 << 24):
                return False
            if not part:
                return True


@internal("lib.io.file_io.file_crc32")
def file_crc32(filename: Any, block_size: int = 1 << 24) -> str:
    """The CRC-32 of a file's content, as hexadecimal text."""
    checksum = 0
    with FileIO(filename, "rb") as f:
        while part := f.read(block_size):
            checksum = binascii.crc32(part, checksum)
    return hex(checksum & 0xFFFFFFFF)
