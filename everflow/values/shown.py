"""Run-time values as text, as Assert and Print show them."""

from __future__ import annotations

from typing import Any

import numpy as np

from everflow.graph import dtypes
from everflow.values.tensors import to_numpy


def element(value: Any, dtype: dtypes.DType) -> str:
    """One element as text."""
    if dtype is dtypes.string:
        return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
    if dtype is dtypes.bool:
        return "1" if value else "0"
    if dtype.is_integer:
        return str(int(value))
    if dtype.is_floating:
        return _number(np.float64(value), 15, 17) if dtype is dtypes.float64 else _number(np.float32(value), 6, 9)
    return "?"


_ESCAPES = {ord(c): "\\" + e for c, e in zip("\n\r\t\"'\\", "nrt\"'\\")}


def escaped(value: Any) -> str:
    """Bytes as C writes them: special characters and all that is not plain text behind backslashes."""
    data = value if isinstance(value, bytes) else str(value).encode()
    return "".join(_ESCAPES.get(b) or (chr(b) if 32 <= b < 127 else f"\\{b:03o}") for b in data)


def _number(value: Any, short: int, exact: int) -> str:
    """A number in few digits where these are enough to read it back, in all digits otherwise."""
    text = f"{value:.{short}g}"
    return text if type(value)(text) == value or value != value else f"{value:.{exact}g}"


def summarize(value: Any, dtype: dtypes.DType, limit: int) -> str:
    """The first `limit` elements (all of them for a negative limit), rows in brackets: `[1 2][3...]...`."""
    dtype = dtype.base_dtype
    if dtype in (dtypes.resource, dtypes.variant):
        return "?"
    array = np.asarray(to_numpy(value, dtype))
    if limit < 0:
        limit = array.size
    show = escaped if dtype is dtypes.string else lambda v: element(v, dtype)
    flat = [show(v) for v in array.reshape(-1)[:limit]]
    if array.ndim == 0:
        return " ".join(flat) + ("" if limit else "...")
    return _rows(flat, array.shape, limit, 0, is_outermost=True)[0] + ("..." if array.size > limit else "")


def _rows(flat: list[str], shape: tuple[int, ...], limit: int, start: int, is_outermost: bool) -> tuple[str, int]:
    """The text of one row of rows, beginning at an element, and the element after it."""
    if len(shape) == 1:
        shown = flat[start : start + shape[0]]
        cut = "..." if len(shown) < shape[0] and not is_outermost else ""
        return " ".join(shown) + cut, start + len(shown)
    found = ""
    for _ in range(shape[0]):
        if start >= limit:
            break
        inner, start = _rows(flat, shape[1:], limit, start, is_outermost=False)
        found += f"[{inner}]"
    return found, start
