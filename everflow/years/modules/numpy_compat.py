"""`numpy.compat`: the differences between two Pythons."""

from __future__ import annotations

import os
import pathlib
import pickle as pickle
from typing import Any

basestring = str
unicode = str
long = int
bytes = bytes
integer_types = (int,)
strchar = "U"
# `import numpy.compat.py3k` asks for it.
__path__: list[str] = []
Path = pathlib.Path
os_PathLike = os.PathLike
os_fspath = os.fspath


def asbytes(s: Any) -> Any:
    return s if isinstance(s, bytes) else str(s).encode("latin1")


def asstr(s: Any) -> str:
    return s.decode("latin1") if isinstance(s, bytes) else str(s)


asunicode = asstr


def is_pathlib_path(obj: Any) -> bool:
    return isinstance(obj, pathlib.Path)
