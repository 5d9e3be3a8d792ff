"""What goes wrong when a graph runs: `tf.errors.*`, one class for each of TensorFlow's status codes.

Kernels raise with the small functions at the end (`raise invalid_argument("...")`); the runtime adds which operation it
was, and the text then shows where the program created that operation.
"""

from __future__ import annotations

import warnings
from typing import Any

from everflow.api import internal, public

# What Python raises, besides ValueError, where an op can't use what it is given.
MISTAKES = (TypeError, LookupError, ArithmeticError, AttributeError)


def _code(name: str, number: int) -> int:
    public("errors." + name, owner=__name__)(number)
    internal("framework.errors." + name, "framework.errors_impl." + name)(number)
    return number


OK = _code("OK", 0)
CANCELLED = _code("CANCELLED", 1)
UNKNOWN = _code("UNKNOWN", 2)
INVALID_ARGUMENT = _code("INVALID_ARGUMENT", 3)
DEADLINE_EXCEEDED = _code("DEADLINE_EXCEEDED", 4)
NOT_FOUND = _code("NOT_FOUND", 5)
ALREADY_EXISTS = _code("ALREADY_EXISTS", 6)
PERMISSION_DENIED = _code("PERMISSION_DENIED", 7)
RESOURCE_EXHAUSTED = _code("RESOURCE_EXHAUSTED", 8)
FAILED_PRECONDITION = _code("FAILED_PRECONDITION", 9)
ABORTED = _code("ABORTED", 10)
OUT_OF_RANGE = _code("OUT_OF_RANGE", 11)
UNIMPLEMENTED = _code("UNIMPLEMENTED", 12)
INTERNAL = _code("INTERNAL", 13)
UNAVAILABLE = _code("UNAVAILABLE", 14)
DATA_LOSS = _code("DATA_LOSS", 15)
UNAUTHENTICATED = _code("UNAUTHENTICATED", 16)


@public("OpError", "errors.OpError")
class OpError(Exception):
    """An operation failed while it ran."""

    def __init__(self, node_def: Any, op: Any, message: str, error_code: int) -> None:
        # The arguments stay out of `args`: the text is made by __str__.
        super().__init__()
        self._node_def = node_def
        self._op = op
        self._message = message
        self._error_code = error_code

    @property
    def message(self) -> str:
        """What went wrong."""
        return self._message

    @property
    def op(self) -> Any:
        """The operation that failed, or None if it is not one of the program's graph."""
        return self._op

    @property
    def node_def(self) -> Any:
        """The NodeDef of the operation that failed, or None."""
        return self._node_def

    @property
    def error_code(self) -> int:
        """The status code, one of the constants of `tf.errors`."""
        return self._error_code

    def __reduce__(self) -> Any:
        # Graphs do not travel between processes; what went wrong does.
        arguments = (self._node_def, None, self._message)
        return type(self), (*arguments, self._error_code) if type(self) in (OpError, UnknownError) else arguments

    def __str__(self) -> str:
        if self._op is None:
            return self._message
        return "".join([f"{self._message}\n\nOriginal stack trace for {self._op.name!r}:\n", *_origin(self._op)])


def _origin(op: Any) -> list[str]:
    """Where an operation was created, and where the operation was that it was derived from, if any."""
    lines: list[str] = []
    previous: list[str] = []
    while op is not None:
        trace = _trace_lines(op)
        shared = 0
        while shared < min(len(trace), len(previous)) and trace[shared] == previous[shared]:
            shared += 1
        # Saying "one line left out" would take a line as well.
        if shared > 1:
            lines.append(f"[elided {shared} identical lines from previous traceback]\n")
            lines += trace[shared:]
        else:
            lines += trace
        lines.append("\n")
        previous, op = trace, getattr(op, "_original_op", None)
        if op is not None:
            lines.append(f"...which was originally created as op {op.name!r}, defined at:\n")
    return lines


def _trace_lines(op: Any) -> list[str]:
    lines = []
    for file, line, function, text, *_ in op.traceback:
        lines.append(f'  File "{file}", line {line}, in {function}\n' + (f"    {text.strip()}\n" if text else ""))
    return lines


@public("errors.CancelledError")
class CancelledError(OpError):
    """The operation or the step was cancelled."""

    def __init__(self, node_def: Any, op: Any, message: str) -> None:
        super().__init__(node_def, op, message, CANCELLED)


@public("errors.InvalidArgumentError")
class InvalidArgumentError(OpError):
    """An operation got a value that it can't take."""

    def __init__(self, node_def: Any, op: Any, message: str) -> None:
        super().__init__(node_def, op, message, INVALID_ARGUMENT)


@public("errors.DeadlineExceededError")
class DeadlineExceededError(OpError):
    """The time limit passed before the end."""

    def __init__(self, node_def: Any, op: Any, message: str) -> None:
        super().__init__(node_def, op, message, DEADLINE_EXCEEDED)


@public("errors.NotFoundError")
class NotFoundError(OpError):
    """A file, a variable or another entity does not exist."""

    def __init__(self, node_def: Any, op: Any, message: str) -> None:
        super().__init__(node_def, op, message, NOT_FOUND)


@public("errors.AlreadyExistsError")
class AlreadyExistsError(OpError):
    """What was to be created exists."""

    def __init__(self, node_def: Any, op: Any, message: str) -> None:
        super().__init__(node_def, op, message, ALREADY_EXISTS)


@public("errors.PermissionDeniedError")
class PermissionDeniedError(OpError):
    """The caller may not do this."""

    def __init__(self, node_def: Any, op: Any, message: str) -> None:
        super().__init__(node_def, op, message, PERMISSION_DENIED)


@public("errors.UnauthenticatedError")
class UnauthenticatedError(OpError):
    """The caller did not say who it is."""

    def __init__(self, node_def: Any, op: Any, message: str) -> None:
        super().__init__(node_def, op, message, UNAUTHENTICATED)


@public("errors.ResourceExhaustedError")
class ResourceExhaustedError(OpError):
    """Memory, disk or a quota ran out."""

    def __init__(self, node_def: Any, op: Any, message: str) -> None:
        super().__init__(node_def, op, message, RESOURCE_EXHAUSTED)


@public("errors.FailedPreconditionError")
class FailedPreconditionError(OpError):
    """The state does not allow this, as when a variable is not initialized."""

    def __init__(self, node_def: Any, op: Any, message: str) -> None:
        super().__init__(node_def, op, message, FAILED_PRECONDITION)


@public("errors.AbortedError")
class AbortedError(OpError):
    """The operation was given up, typically because of a concurrent action."""

    def __init__(self, node_def: Any, op: Any, message: str) -> None:
        super().__init__(node_def, op, message, ABORTED)


@public("errors.OutOfRangeError")
class OutOfRangeError(OpError):
    """An operation went past the valid end, as of its input."""

    def __init__(self, node_def: Any, op: Any, message: str) -> None:
        super().__init__(node_def, op, message, OUT_OF_RANGE)


@public("errors.UnimplementedError")
class UnimplementedError(OpError):
    """The operation does not do this."""

    def __init__(self, node_def: Any, op: Any, message: str) -> None:
        super().__init__(node_def, op, message, UNIMPLEMENTED)


@public("errors.InternalError")
class InternalError(OpError):
    """An invariant of the system is broken."""

    def __init__(self, node_def: Any, op: Any, message: str) -> None:
        super().__init__(node_def, op, message, INTERNAL)


@public("errors.UnavailableError")
class UnavailableError(OpError):
    """The service can't be reached now."""

    def __init__(self, node_def: Any, op: Any, message: str) -> None:
        super().__init__(node_def, op, message, UNAVAILABLE)


@public("errors.DataLossError")
class DataLossError(OpError):
    """Data is lost or corrupt beyond recovery."""

    def __init__(self, node_def: Any, op: Any, message: str) -> None:
        super().__init__(node_def, op, message, DATA_LOSS)


@public("errors.UnknownError")
class UnknownError(OpError):
    """A failure without a more precise code."""

    def __init__(self, node_def: Any, op: Any, message: str, error_code: int = UNKNOWN) -> None:
        super().__init__(node_def, op, message, error_code)


@internal("framework.errors_impl.InaccessibleTensorError", "framework.errors.InaccessibleTensorError")
class InaccessibleTensorError(ValueError):
    """A tensor is used outside of the function or branch that it belongs to."""


@internal("framework.errors_impl.OperatorNotAllowedInGraphError", "framework.errors.OperatorNotAllowedInGraphError")
class OperatorNotAllowedInGraphError(TypeError):
    """Python asked a tensor for a value that only a run of the graph can give."""


_BY_CODE: dict[int, Any] = dict(
    enumerate(
        (
            *(CancelledError, UnknownError, InvalidArgumentError, DeadlineExceededError, NotFoundError, AlreadyExistsError),
            *(PermissionDeniedError, ResourceExhaustedError, FailedPreconditionError, AbortedError, OutOfRangeError),
            *(UnimplementedError, InternalError, UnavailableError, DataLossError, UnauthenticatedError),
        ),
        start=CANCELLED,
    )
)
_BY_CLASS = {cls: code for code, cls in _BY_CODE.items()}


@public("errors.exception_type_from_error_code")
def exception_type_from_error_code(error_code: int) -> type[OpError]:
    """The class that stands for a status code."""
    return _BY_CODE[error_code]


@public("errors.error_code_from_exception_type")
def error_code_from_exception_type(cls: type[OpError]) -> Any:
    """The status code that a class stands for."""
    try:
        return _BY_CLASS[cls]
    except KeyError:
        warnings.warn("Unknown class exception")
        return UnknownError(None, None, "Unknown class exception")


@internal("framework.errors_impl._make_specific_exception")
def from_code(node_def: Any, op: Any, message: str, error_code: int) -> OpError:
    """The exception for a status; an UnknownError for a code that has no class."""
    if error_code in _BY_CODE:
        return _BY_CODE[error_code](node_def, op, message)
    warnings.warn(f"Unknown error code: {error_code}")
    return UnknownError(node_def, op, message, error_code)


class Status:
    """A place for a status code and message."""

    def __init__(self) -> None:
        self.code = OK
        self.message = ""


@public("errors.raise_exception_on_not_ok_status")
class raise_exception_on_not_ok_status:
    """Gives a `with` block a status to set; raises the exception for it at the end."""

    def __enter__(self) -> Status:
        self.status = Status()
        return self.status

    def __exit__(self, type_arg: Any, value_arg: Any, traceback_arg: Any) -> None:
        if self.status.code != OK:
            raise from_code(None, None, self.status.message, self.status.code)


def cancelled(message: str) -> OpError:
    """The step was cancelled."""
    return CancelledError(None, None, message)


def unknown(message: str) -> OpError:
    """A failure without a more precise code."""
    return UnknownError(None, None, message)


def invalid_argument(message: str) -> OpError:
    """An operation got an argument that it can't take."""
    return InvalidArgumentError(None, None, message)


def deadline_exceeded(message: str) -> OpError:
    """The time limit passed."""
    return DeadlineExceededError(None, None, message)


def not_found(message: str) -> OpError:
    """Something asked for does not exist."""
    return NotFoundError(None, None, message)


def already_exists(message: str) -> OpError:
    """What was to be created exists."""
    return AlreadyExistsError(None, None, message)


def permission_denied(message: str) -> OpError:
    """The caller may not do this."""
    return PermissionDeniedError(None, None, message)


def resource_exhausted(message: str) -> OpError:
    """Memory, disk or a quota ran out."""
    return ResourceExhaustedError(None, None, message)


def failed_precondition(message: str) -> OpError:
    """The system is not in a state to run this."""
    return FailedPreconditionError(None, None, message)


def aborted(message: str) -> OpError:
    """The operation was given up."""
    return AbortedError(None, None, message)


def out_of_range(message: str) -> OpError:
    """An operation went past the valid end."""
    return OutOfRangeError(None, None, message)


def unimplemented(message: str) -> OpError:
    """The operation does not do this."""
    return UnimplementedError(None, None, message)


def internal_error(message: str) -> OpError:
    """An invariant of the system is broken."""
    return InternalError(None, None, message)


def unavailable(message: str) -> OpError:
    """The service can't be reached now."""
    return UnavailableError(None, None, message)


def data_loss(message: str) -> OpError:
    """Data is lost or corrupt."""
    return DataLossError(None, None, message)
