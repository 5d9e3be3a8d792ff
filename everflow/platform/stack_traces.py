"""Where a call comes from, as TensorFlow shows it (`tensorflow.python.util.tf_stack`)."""

from __future__ import annotations

import linecache
import sys
from typing import Any, NamedTuple

from everflow.api import internal

internal("util.tf_stack")(sys.modules[__name__])

# Positions in the tuples that `convert_stack` gives.
TB_FILENAME, TB_LINENO, TB_FUNCNAME, TB_CODEDICT = range(4)


class StackFrame(NamedTuple):
    """One call: the file, the line in it, the function, and the globals through which its source is found."""

    filename: str
    lineno: int
    name: str
    globals: Any
    func_start_lineno: int

    @property
    def line(self) -> str | None:
        linecache.checkcache(self.filename)
        return linecache.getline(self.filename, self.lineno, self.globals).strip() or None


def extract_stack(limit: int | None = -1) -> list[StackFrame]:
    """The calls that led here, outermost first; `limit` asks for that many of the innermost ones."""
    frames: list[StackFrame] = []
    frame: Any = sys._getframe(1)
    while frame is not None and (limit is None or limit < 0 or len(frames) < limit):
        code = frame.f_code
        frames.append(StackFrame(code.co_filename, frame.f_lineno, code.co_name, frame.f_globals, code.co_firstlineno))
        frame = frame.f_back
    return frames[::-1]


def convert_stack(stack: list[StackFrame], include_func_start_lineno: bool = False) -> tuple[Any, ...]:
    """The calls as tuples of file, line, function and source text, and, if asked for, where the function begins."""
    return tuple((f.filename, f.lineno, f.name, f.line, *((f.func_start_lineno,) if include_func_start_lineno else ())) for f in stack)
