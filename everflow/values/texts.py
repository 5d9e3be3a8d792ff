"""Arrays of strings at run time: numpy object arrays of bytes."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

# Bytes that go on with a character of UTF-8.
_CONTINUATION = bytes(range(0x80, 0xC0))


def text_array(values: Sequence[bytes], shape: Sequence[int]) -> np.ndarray:
    """An array of this shape of strings in row order."""
    found = np.empty(shape, object)
    found.reshape(-1)[:] = values
    return found


def mapped(function: Callable[[bytes], bytes], texts: np.ndarray) -> np.ndarray:
    """The array of the function of each string."""
    return text_array([function(text) for text in texts.ravel().tolist()], texts.shape)


def characters(text: bytes) -> int:
    """How many characters a string of UTF-8 has; bytes that start none are not counted."""
    return len(text.translate(None, _CONTINUATION))


def starts(text: bytes) -> list[int]:
    """Where the characters of a string of UTF-8 start, and where the string ends."""
    found = [i for i, byte in enumerate(text) if i == 0 or byte & 0xC0 != 0x80]
    return [*found, len(text)]
