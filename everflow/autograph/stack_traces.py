"""Which lines a program wrote the code of converted functions comes from."""

from __future__ import annotations

import threading
import types
from collections.abc import Iterator
from typing import Any

from everflow.api import internal, public

Location = tuple[str, int]
_entered = threading.local()


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _codes(constant)


def source_map(converted_fn: Any) -> dict[Location, tuple[str, int, str]]:
    """{(file, line) of a converted function: the file, the line and the function that they come from}: it keeps the lines it had."""
    name = converted_fn.__name__.removeprefix("tf__")
    found: dict[Location, tuple[str, int, str]] = {}
    for code in _codes(converted_fn.__code__):
        for _, _, line in code.co_lines():
            if line is not None:
                found[code.co_filename, line] = code.co_filename, line, name
    return found


@public("contrib.autograph.StackTraceMapper")
@internal("autograph.impl.api.StackTraceMapper")
class StackTraceMapper:
    """Within a block, says where the code of a converted function comes from, and that of the functions around it."""

    def __init__(self, converted_fn: Any) -> None:
        self._converted = converted_fn
        self._effective: dict[Location, tuple[str, int, str]] | None = None

    def __enter__(self) -> StackTraceMapper:
        self.reset()
        stack = _entered.__dict__.setdefault("stack", [])
        self._outer = stack[-1] if stack else None
        stack.append(self)
        return self

    def __exit__(self, *_: object) -> None:
        assert _entered.stack[-1] is self, "Concurrent access?"
        _entered.stack.pop()

    _outer: StackTraceMapper | None = None

    def get_effective_source_map(self) -> dict[Location, tuple[str, int, str]]:
        """{(file, line) as it runs: (file, line, function) as it was written}."""
        if self._effective is None:
            around = {} if self._outer is None else self._outer.get_effective_source_map()
            self._effective = {**around, **source_map(self._converted)}
        return self._effective

    def reset(self) -> None:
        """Forgets what was found out."""
        self._effective = None
