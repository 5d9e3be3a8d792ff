"""Python's collector of cycles, where much is made that stays: graphs, plans, imported modules."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterator


@contextlib.contextmanager
def uncollected() -> Iterator[None]:
    """No cycles are looked for: all objects would be looked at again and again, which takes a tenth of an import's time and up to half of
    what a large graph takes."""
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
