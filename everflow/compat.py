"""`tf.compat`: text and bytes, number types, and the date up to which a program promises forward compatibility."""

from __future__ import annotations

import collections.abc
import contextlib
import datetime
import numbers
import os
from collections.abc import Iterator
from typing import Any

import numpy as np

from everflow.api import internal, public

integral_types = public("compat.integral_types")((numbers.Integral, np.integer))
real_types = public("compat.real_types")((numbers.Real, np.integer, np.floating))
complex_types = public("compat.complex_types")((numbers.Complex, np.number))
bytes_or_text_types = public("compat.bytes_or_text_types")((bytes, str))

internal("util.compat.integral_types")(integral_types)
internal("util.compat.real_types")(real_types)
internal("util.compat.complex_types")(complex_types)
internal("util.compat.bytes_or_text_types")(bytes_or_text_types)
internal("util.compat.collections_abc")(collections.abc)


@public("compat.as_bytes")
def as_bytes(bytes_or_text: bytes | bytearray | str, encoding: str = "utf-8") -> bytes:
    if isinstance(bytes_or_text, bytearray):
        return bytes(bytes_or_text)
    if isinstance(bytes_or_text, str):
        return bytes_or_text.encode(encoding)
    if isinstance(bytes_or_text, bytes):
        return bytes_or_text
    raise TypeError(f"Expected binary or unicode string, got {bytes_or_text!r}")


@public("compat.as_text", "compat.as_str")
@internal("util.compat.as_str")
def as_text(bytes_or_text: bytes | str, encoding: str = "utf-8") -> str:
    if isinstance(bytes_or_text, str):
        return bytes_or_text
    if isinstance(bytes_or_text, bytes):
        return bytes_or_text.decode(encoding)
    raise TypeError(f"Expected binary or unicode string, got {bytes_or_text!r}")


as_str = as_text


@public("compat.as_str_any")
def as_str_any(value: Any) -> str:
    """Text of anything: bytes are decoded, the rest is shown as `str` shows it."""
    return as_text(value) if isinstance(value, bytes) else str(value)


@public("compat.path_to_str")
@internal("util.compat_internal.path_to_str")
def path_to_str(path: Any) -> Any:
    """Text of a path object; what is no path object is given back as it is."""
    return as_text(path.__fspath__()) if hasattr(path, "__fspath__") else path


# The day from which TensorFlow 1.15 no longer counts a change as forward compatible.
_HORIZON = datetime.date(2019, 8, 21)
_EXTRA_DAYS = "TF_FORWARD_COMPATIBILITY_DELTA_DAYS"
internal("compat.compat._FORWARD_COMPATIBILITY_HORIZON")(_HORIZON)
internal("compat.compat._FORWARD_COMPATIBILITY_DELTA_DAYS_VAR_NAME")(_EXTRA_DAYS)


def _horizon_now() -> datetime.date:
    return _HORIZON + datetime.timedelta(days=int(os.environ.get(_EXTRA_DAYS) or 0))


_horizon = _horizon_now()


@internal("compat.compat._update_forward_compatibility_date_number")
def _set_horizon(date_to_override: datetime.date | None = None) -> None:
    global _horizon
    _horizon = date_to_override or _horizon_now()


@public("compat.forward_compatible")
def forward_compatible(year: int, month: int, day: int) -> bool:
    """Whether programs may rely on what was added on this day."""
    return _horizon > datetime.date(year, month, day)


@public("compat.forward_compatibility_horizon")
@contextlib.contextmanager
def forward_compatibility_horizon(year: int, month: int, day: int) -> Iterator[None]:
    """Moves the horizon that `forward_compatible` looks at to another day."""
    before = _horizon
    _set_horizon(datetime.date(year, month, day))
    try:
        yield
    finally:
        _set_horizon(before)
