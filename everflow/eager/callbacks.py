"""Callbacks that see each op that ran at once: for infinities and what is not a number."""

from __future__ import annotations

import contextlib
import enum
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import everflow as tf
from everflow.api import internal, public
from everflow.eager import execute


@public("contrib.eager.ExecutionCallback")
@internal("eager.execution_callbacks.ExecutionCallback")
class ExecutionCallback(enum.Enum):
    """What to do about infinities and NaNs."""

    IGNORE = "ignore"
    PRINT = "print"
    RAISE = "raise"
    WARN = "warn"


@internal("eager.execution_callbacks.InfOrNanError")
class InfOrNanError(Exception):
    """An op gave infinities or NaNs."""

    def __init__(self, op_type: str, op_name: str | None, output_index: int, num_outputs: int, value: np.ndarray) -> None:
        self._op_type, self._op_name, self._output_index, self._num_outputs, self._value = (
            op_type,
            op_name,
            output_index,
            num_outputs,
            value,
        )
        total = value.size
        shown = f"Output {output_index} of {num_outputs} of TFE operation {op_type} (name: {op_name}) contains"
        infinite, undefined = int(np.isinf(value).sum()), int(np.isnan(value).sum())
        parts = []
        if infinite:
            parts.append(f"{infinite} inf(s)")
        if undefined:
            parts.append(f"{undefined} nan(s)")
        super().__init__(f"{shown} {' and '.join(parts)} out of a total of {total} element(s). Tensor value: {value}")

    op_type = property(lambda self: self._op_type)
    op_name = property(lambda self: self._op_name)
    output_index = property(lambda self: self._output_index)
    num_outputs = property(lambda self: self._num_outputs)
    value = property(lambda self: self._value)


@public("contrib.eager.inf_nan_callback")
@internal("eager.execution_callbacks.inf_nan_callback")
def inf_nan_callback(
    op_type: str,
    inputs: Any,
    attrs: Any,
    outputs: Any,
    op_name: Any,
    check_inf: bool = True,
    check_nan: bool = True,
    action: Any = ExecutionCallback.PRINT,
) -> None:
    """Looks for infinities and NaNs in an op's outputs."""
    for index, output in enumerate(outputs):
        if not output.dtype.is_floating:
            continue
        value = output.numpy()
        if not ((check_inf and np.isinf(value).any()) or (check_nan and np.isnan(value).any())):
            continue
        error = InfOrNanError(op_type, op_name, index, len(outputs), np.asarray(value))
        chosen = ExecutionCallback(action)
        if chosen is ExecutionCallback.PRINT:
            print(f"Warning: {error}")
        elif chosen is ExecutionCallback.WARN:
            tf.logging.warn(str(error))
        elif chosen is ExecutionCallback.RAISE:
            raise error


@public("contrib.eager.inf_callback")
@internal("eager.execution_callbacks.inf_callback")
def inf_callback(op_type: str, inputs: Any, attrs: Any, outputs: Any, op_name: Any, action: Any = ExecutionCallback.PRINT) -> None:
    """Looks for infinities."""
    inf_nan_callback(op_type, inputs, attrs, outputs, op_name, check_nan=False, action=action)


@public("contrib.eager.nan_callback")
@internal("eager.execution_callbacks.nan_callback")
def nan_callback(op_type: str, inputs: Any, attrs: Any, outputs: Any, op_name: Any, action: Any = ExecutionCallback.PRINT) -> None:
    """Looks for NaNs."""
    inf_nan_callback(op_type, inputs, attrs, outputs, op_name, check_inf=False, action=action)


@public("contrib.eager.add_execution_callback")
@internal("eager.execution_callbacks.add_execution_callback")
def add_execution_callback(callback: Callable[..., Any]) -> None:
    """Has a function called with (op_type, inputs, attrs, outputs, op_name) after each op."""
    execute.CALLBACKS.append(callback)


@public("contrib.eager.clear_execution_callbacks")
@internal("eager.execution_callbacks.clear_execution_callbacks")
def clear_execution_callbacks() -> None:
    """Forgets all callbacks."""
    execute.CALLBACKS.clear()


@public("contrib.eager.seterr")
@internal("eager.execution_callbacks.seterr")
def seterr(inf_or_nan: Any = None) -> dict[str, Any]:
    """Says what happens when an op gives infinities or NaNs; returns what was set before."""
    actions = {a.value: a for a in ExecutionCallback}
    if inf_or_nan is not None and not isinstance(inf_or_nan, ExecutionCallback):
        if inf_or_nan not in actions:
            raise ValueError(f"{inf_or_nan!r} is not a valid ExecutionCallback")
        inf_or_nan = actions[inf_or_nan]
    before = {"inf_or_nan": ExecutionCallback.IGNORE}
    for callback in list(execute.CALLBACKS):
        action = getattr(callback, "everflow_action", None)
        if action is not None:
            before["inf_or_nan"] = action
            if inf_or_nan is not None:
                execute.CALLBACKS.remove(callback)
    if inf_or_nan not in (None, ExecutionCallback.IGNORE):

        def check(op_type: str, inputs: Any, attrs: Any, outputs: Any, op_name: Any) -> None:
            inf_nan_callback(op_type, inputs, attrs, outputs, op_name, action=inf_or_nan)

        check.everflow_action = inf_or_nan  # type: ignore[attr-defined]
        add_execution_callback(check)
    return before


@public("contrib.eager.errstate")
@internal("eager.execution_callbacks.errstate")
@contextlib.contextmanager
def errstate(inf_or_nan: Any = None) -> Iterator[None]:
    """The same, within a `with` block."""
    if not tf.executing_eagerly():
        yield
        return
    before = seterr(inf_or_nan=inf_or_nan)
    try:
        yield
    finally:
        seterr(**before)
