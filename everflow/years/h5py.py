"""What h5py 3 dropped."""

from __future__ import annotations

import functools
import os
from typing import Any

import numpy as np

from everflow.years.reporting import note
from everflow.years.shims import TABLE, methods, patch, put

methods("h5py", "Dataset", "h5py 3.0", value=property(lambda dataset: dataset[()]))
methods("h5py", "File", "h5py 3.0", fid=property(lambda file: file.id))
ATTRIBUTES = "texts among attributes have decode()"
TABLE[ATTRIBUTES] = "h5py 3.0"


class Text(str):
    """A text that was bytes once, and that programs decode."""

    def decode(self, encoding: str = "utf-8", errors: str = "strict") -> str:
        note(ATTRIBUTES)
        return str(self)


@patch("h5py")
def _attributes(h5py: Any) -> None:
    real = h5py.AttributeManager.__getitem__

    @functools.wraps(real)
    def __getitem__(self: Any, name: Any) -> Any:
        value = real(self, name)
        if type(value) is str:
            return Text(value)
        if getattr(getattr(value, "dtype", None), "kind", "") == "O" and value.size and type(value.flat[0]) is str:
            value.flat[:] = [Text(text) for text in value.flat]
        return value

    put(h5py.AttributeManager, "__getitem__", __getitem__)


BYTES = "lists of bytes have a fixed length"
TABLE[BYTES] = "h5py 3.0"


@patch("h5py")
def _bytes(h5py: Any) -> None:
    """Attributes and datasets made of lists of bytes were arrays of bytes when read again; now they are objects."""

    def fixed(data: Any, dtype: Any) -> Any:
        if dtype is None and isinstance(data, (list, tuple)) and data and (made := np.array(data)).dtype.kind == "S":
            note(BYTES)
            return made
        return data

    create, create_dataset = h5py.AttributeManager.create, h5py.Group.create_dataset

    @functools.wraps(create)
    def create_fixed(self: Any, name: Any, data: Any, shape: Any = None, dtype: Any = None) -> Any:
        return create(self, name, fixed(data, dtype), shape, dtype)

    @functools.wraps(create_dataset)
    def create_fixed_dataset(self: Any, name: Any, shape: Any = None, dtype: Any = None, data: Any = None, **others: Any) -> Any:
        return create_dataset(self, name, shape, dtype, fixed(data, dtype), **others)

    put(h5py.AttributeManager, "create", create_fixed)
    put(h5py.Group, "create_dataset", create_fixed_dataset)


MODE = "h5py.File without a mode"
TABLE[MODE] = "h5py 3.0"


@patch("h5py")
def _default_mode(h5py: Any) -> None:
    """Without a mode, files are opened for writing where that is possible, else for reading; missing ones are made."""
    if int(h5py.__version__.partition(".")[0]) < 3:
        return
    init = h5py.File.__init__

    @functools.wraps(init)
    def __init__(self: Any, name: Any, mode: str | None = None, *args: Any, **others: Any) -> None:
        if mode is not None:
            return init(self, name, mode, *args, **others)
        note(MODE)
        if not isinstance(name, (str, bytes, os.PathLike)):
            # Objects that are read and written like files: an empty one is a missing file.
            if hasattr(name, "seek") and name.seek(0, os.SEEK_END) == 0:
                return init(self, name, "w", *args, **others)
        elif not os.path.exists(name):
            return init(self, name, "w-", *args, **others)
        try:
            return init(self, name, "r+", *args, **others)
        except OSError:
            return init(self, name, "r", *args, **others)

    put(h5py.File, "__init__", __init__)
