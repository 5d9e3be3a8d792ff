"""Errors of graphs and models that are not what they should be.

A damaged file shows in many ways: a name that is not there, a number out of range, a type that does not fit. Whoever loads files
waits for `tf.errors`; programs written for TensorFlow wait for the Python exceptions that it raised. These errors are both.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from google.protobuf.message import DecodeError

from everflow.errors import DataLossError, InvalidArgumentError, OpError

_KINDS: tuple[type[Exception], ...] = (
    OSError,
    KeyError,
    IndexError,
    ValueError,
    TypeError,
    AttributeError,
    NotImplementedError,
    RuntimeError,
    AssertionError,
    ArithmeticError,
    MemoryError,
    DecodeError,
    Exception,
)
_MALFORMED = {kind: type(f"Malformed{kind.__name__}", (InvalidArgumentError, kind), {"__module__": __name__}) for kind in _KINDS}


class UnreadableFileError(DataLossError, OSError):
    """A file that is there but can't be parsed."""


@contextlib.contextmanager
def well_formed() -> Iterator[None]:
    """Within a `with` block, what goes wrong with a graph is an `InvalidArgumentError` as well as what it was."""
    try:
        yield
    except OpError:
        raise
    except _KINDS as error:
        kind = next(k for k in _KINDS if isinstance(error, k))
        text = str(error.args[0]) if isinstance(error, KeyError) and error.args else str(error)
        raise _MALFORMED[kind](None, None, text).with_traceback(error.__traceback__) from error.__cause__


def unreadable(path: str, reason: object) -> UnreadableFileError:
    """The error for a file that can't be parsed."""
    return UnreadableFileError(None, None, f"Cannot parse file {path}: {reason}.")
