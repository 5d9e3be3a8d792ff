"""The exceptions of running graphs."""

import pickle
import types

import pytest

from everflow import api
from everflow.errors import (
    INVALID_ARGUMENT,
    InvalidArgumentError,
    OpError,
    OutOfRangeError,
    UnknownError,
    error_code_from_exception_type,
    exception_type_from_error_code,
    from_code,
    invalid_argument,
    out_of_range,
    raise_exception_on_not_ok_status,
)

CODES = (
    "OK CANCELLED UNKNOWN INVALID_ARGUMENT DEADLINE_EXCEEDED NOT_FOUND ALREADY_EXISTS PERMISSION_DENIED "
    "RESOURCE_EXHAUSTED FAILED_PRECONDITION ABORTED OUT_OF_RANGE "
    "UNIMPLEMENTED INTERNAL UNAVAILABLE DATA_LOSS UNAUTHENTICATED"
).split()


def operation(name, lines, original=None):
    trace = [("/home/me/train.py", line, "main", f"x = step{line}()") for line in lines]
    return types.SimpleNamespace(name=name, traceback=trace, node_def=f"node {name}", _original_op=original)


def test_codes_are_those_of_the_wire():
    assert [api.NAMES["errors." + name] for name in CODES] == list(range(17))


@pytest.mark.parametrize("code", range(1, 17))
def test_codes_and_classes_lead_to_each_other(code):
    cls = exception_type_from_error_code(code)
    assert error_code_from_exception_type(cls) == code
    assert api.NAMES["errors." + cls.__name__] is cls
    error = cls(None, None, "text")
    assert isinstance(error, OpError) and error.error_code == code and str(error) == error.message == "text"


def test_unknown_codes():
    with pytest.raises(KeyError, match="99"):
        exception_type_from_error_code(99)
    with pytest.warns(UserWarning, match="Unknown error code: 99"):
        error = from_code(None, None, "text", 99)
    assert type(error) is UnknownError and error.error_code == 99
    with pytest.warns(UserWarning, match="Unknown class exception"):
        assert isinstance(error_code_from_exception_type(ValueError), UnknownError)


def test_kernels_raise_without_an_operation():
    error = invalid_argument("bad shape")
    assert type(error) is InvalidArgumentError and str(error) == "bad shape"
    assert error.op is None and error.node_def is None
    assert type(out_of_range("end")) is OutOfRangeError


def test_the_text_says_where_the_operation_was_created():
    op = operation("layer/add", [3])
    error = InvalidArgumentError(op.node_def, op, "bad shape")
    assert error.op is op and error.node_def == "node layer/add" and error.error_code == INVALID_ARGUMENT
    assert str(error) == (
        "bad shape\n\nOriginal stack trace for 'layer/add':\n  File \"/home/me/train.py\", line 3, in main\n    x = step3()\n\n"
    )


def test_the_text_of_a_derived_operation_also_says_where_the_first_was_created():
    op = operation("gradients/add_grad/Sum", [1, 2, 9], original=operation("add", [1, 2, 5]))
    assert str(InvalidArgumentError(None, op, "bad")) == (
        "bad\n\nOriginal stack trace for 'gradients/add_grad/Sum':\n"
        '  File "/home/me/train.py", line 1, in main\n    x = step1()\n'
        '  File "/home/me/train.py", line 2, in main\n    x = step2()\n'
        '  File "/home/me/train.py", line 9, in main\n    x = step9()\n'
        "\n...which was originally created as op 'add', defined at:\n"
        "[elided 2 identical lines from previous traceback]\n"
        '  File "/home/me/train.py", line 5, in main\n    x = step5()\n\n'
    )


def test_errors_travel_between_processes():
    error = pickle.loads(pickle.dumps(InvalidArgumentError(None, operation("a", [1]), "bad")))
    assert type(error) is InvalidArgumentError and error.message == "bad" and error.op is None
    assert pickle.loads(pickle.dumps(UnknownError(None, None, "bad", 77))).error_code == 77


def test_a_status_that_is_not_ok_raises():
    with raise_exception_on_not_ok_status():
        pass
    with pytest.raises(InvalidArgumentError, match="bad"):
        with raise_exception_on_not_ok_status() as status:
            status.code, status.message = INVALID_ARGUMENT, "bad"
