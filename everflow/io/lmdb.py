"""Reads LMDB databases: a B+ tree of pages in one file, of which the newer of two meta pages tells the root."""

from __future__ import annotations

import errno
import mmap
import os
import struct
from collections.abc import Iterator
from typing import Any

from everflow.errors import invalid_argument

MAGIC, VERSIONS = 0xBEEFC0DE, (1, 999)
BRANCH, LEAF, META = 0x01, 0x02, 0x08
# What a node's value is: on pages of its own; one of several values of its key.
ELSEWHERE, SEVERAL = 0x01, 0x04
NONE = 2**64 - 1
HEADER = 16
_page = struct.Struct("<QHHHH")
_node = struct.Struct("<HHHH")
# Size of pages or of keys, flags, depth, pages of branches, leaves and overflow, entries, root.
_tree = struct.Struct("<IHHQQQQQ")


def read(path: str) -> Iterator[tuple[bytes, bytes]]:
    """The keys and values of a database, in the order of the keys. `path` is its file, or the folder of data.mdb."""
    name = os.path.join(path, "data.mdb") if os.path.isdir(path) else path
    try:
        with open(name, "rb") as file:
            if not os.fstat(file.fileno()).st_size:
                raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
            content = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except OSError as error:
        raise invalid_argument(f"{path}; {error.strerror}") from None
    with content:
        try:
            size, root = _root(content, path)
            if root != NONE:
                yield from _entries(content, size, root)
        except struct.error:
            raise _damaged(path, "MDB_PAGE_NOTFOUND: Requested page not found") from None
        except _WrongPage as error:
            raise _damaged(path, str(error)) from None


class _WrongPage(Exception):
    """A page is not what a reader of plain keys and values expects."""


def _damaged(path: str, text: str) -> Exception:
    return invalid_argument(f"{path}; {text}")


def _root(content: Any, path: str) -> tuple[int, int]:
    """The size of pages and the root of the newest tree."""
    metas: list[tuple[int, int, int]] = []
    at = 0
    while len(metas) < 2:
        if len(content) < at + 152:
            raise _damaged(path, "MDB_INVALID: File is not an LMDB file")
        flags = _page.unpack_from(content, at)[2]
        magic, version = struct.unpack_from("<II", content, at + HEADER)
        if not flags & META or magic != MAGIC:
            raise _damaged(path, "MDB_INVALID: File is not an LMDB file")
        if version not in VERSIONS:
            raise _damaged(path, "MDB_VERSION_MISMATCH: Database environment version mismatch")
        trees = at + HEADER + 24
        size = _tree.unpack_from(content, trees)[0]
        main = _tree.unpack_from(content, trees + _tree.size)
        _, transaction = struct.unpack_from("<QQ", content, trees + 2 * _tree.size)
        metas.append((transaction, size, main[-1]))
        at += size
    _, size, root = max(metas)
    return size, root


def _entries(content: Any, size: int, root: int) -> Iterator[tuple[bytes, bytes]]:
    """What the leaves below a page hold, from left to right."""
    for at in _leaves(content, size, root):
        for node in _nodes(content, at):
            low, high, flags, key_size = _node.unpack_from(content, node)
            start = node + _node.size
            key = content[start : start + key_size]
            place = start + key_size
            length = low | high << 16
            if flags & SEVERAL:
                raise _WrongPage("MDB_INCOMPATIBLE: Operation and DB incompatible, or DB flags changed")
            if flags & ELSEWHERE:
                (page,) = struct.unpack_from("<Q", content, place)
                place = page * size + HEADER
            value = content[place : place + length]
            if len(value) < length:
                raise struct.error
            yield key, value


def _leaves(content: Any, size: int, root: int) -> Iterator[int]:
    """Where the leaves below a page begin, from left to right."""
    pages = [root]
    while pages:
        at = pages.pop() * size
        flags = _page.unpack_from(content, at)[2]
        if flags & LEAF:
            yield at
        elif flags & BRANCH:
            below = [_node.unpack_from(content, node) for node in _nodes(content, at)]
            pages.extend(low | high << 16 | top << 32 for low, high, top, _ in reversed(below))
        else:
            raise _WrongPage("MDB_CORRUPTED: Located page was wrong type")


def _nodes(content: Any, at: int) -> list[int]:
    """Where the nodes of a page begin."""
    lower = _page.unpack_from(content, at)[3]
    count = (lower - HEADER) // 2
    return [at + offset for offset in struct.unpack_from(f"<{count}H", content, at + HEADER)]
