"""Expressions over dumped tensors: Python, in which `name:0` in backticks is the array of that name."""

from __future__ import annotations

import re
import sys
from typing import Any

import numpy as np

from everflow.api import internal
from everflow.debug.dump import WatchKeyDoesNotExistInDebugDumpDirError

internal("debug.cli.evaluator")(sys.modules[__name__])

_DEFAULT_DEBUG_OP = "DebugIdentity"
_TENSOR = re.compile("`(.*?)`")
_DEVICE = re.compile(r"(/job:\w+/replica:\d+/task:\d+/(?:device:)?\w+:\d+):")
_EXEC_INDEX = re.compile(r"\[(\d*)\]$")


def _parse_debug_tensor_name(debug_tensor_name: str) -> tuple[str | None, str, int, str, int]:
    """The device (or None), node, output slot, debug op and number of the dump, of `[device:]node:slot[:debug op][[number]]`."""
    rest, device, exec_index = debug_tensor_name, None, 0
    if found := _DEVICE.match(rest):
        device, rest = found.group(1), rest[found.end() :]
    if found := _EXEC_INDEX.search(rest):
        exec_index, rest = int(found.group(1)), rest[: found.start()]
    node, *others = rest.split(":")
    if len(others) not in (1, 2):
        raise ValueError(f"The debug tensor name in the to-be-evaluated expression is malformed: '{debug_tensor_name}'")
    return device, node, int(others[0]), others[1] if len(others) > 1 else _DEFAULT_DEBUG_OP, exec_index


class ExpressionEvaluator:
    """Evaluates expressions over the tensors of a dump; what was loaded once is kept."""

    def __init__(self, dump: Any) -> None:
        self._dump = dump
        self._cached_tensor_values: dict[str, Any] = {}

    def evaluate(self, expression: str) -> Any:
        """The value of an expression, in which `np` is numpy."""
        names: dict[str, str] = {}

        def stand_in(found: re.Match[str]) -> str:
            return names.setdefault(found.group(1).strip(), f"_dumped_{len(names)}")

        code = _TENSOR.sub(stand_in, expression)
        known = {stand: self._value(name) for name, stand in names.items()}
        return eval(code, {"np": np, **known})

    def _value(self, name: str) -> Any:
        if name not in self._cached_tensor_values:
            device, node, slot, debug_op, exec_index = _parse_debug_tensor_name(name)
            try:
                dumps = self._dump.get_tensors(node, slot, debug_op, device_name=device)
            except WatchKeyDoesNotExistInDebugDumpDirError:
                raise ValueError(f"Eval failed due to the value of {node}:{slot}:{debug_op} being unavailable") from None
            self._cached_tensor_values[name] = dumps[exec_index]
        return self._cached_tensor_values[name]
