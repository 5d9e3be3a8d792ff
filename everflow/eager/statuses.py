"""Errors by their codes, for programs that turn one into the other."""

from __future__ import annotations

from everflow.api import internal
from everflow.errors import OpError, UnknownError, exception_type_from_error_code


@internal("eager.core._NotOkStatusException")
class NotOkStatus(Exception):
    """A code with its message."""

    def __init__(self, message: str, code: int) -> None:
        super().__init__(message, code)
        self.message = message
        self.code = code

    def __str__(self) -> str:
        return f"{type(self).__name__}: {self.message}"


@internal("eager.core._status_to_exception")
def error_of(code: int, message: str) -> OpError:
    """The error of `tf.errors` that a code stands for."""
    try:
        return exception_type_from_error_code(code)(None, None, message)  # type: ignore[call-arg]
    except KeyError:
        return UnknownError(None, None, message, code)
