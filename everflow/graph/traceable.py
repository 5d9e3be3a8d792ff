"""Where in the program something was said."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from typing import Any

from everflow.api import PACKAGE, internal

_INSIDE = str(PACKAGE) + os.sep


def user_site() -> tuple[str, int]:
    """The file and line of the program's code that called into Everflow."""
    frame: Any = sys._getframe(1)
    while frame.f_back is not None and (frame.f_code.co_filename.startswith(_INSIDE) or frame.f_globals.get("__name__") == "contextlib"):
        frame = frame.f_back
    return frame.f_code.co_filename, frame.f_lineno


@internal("framework.traceable_stack.TraceableObject")
class TraceableObject:
    """An object with the file and line where it comes from."""

    SUCCESS, HEURISTIC_USED, FAILURE = (0, 1, 2)

    def __init__(self, obj: Any, filename: str | None = None, lineno: int | None = None) -> None:
        self.obj = obj
        self.filename = filename
        self.lineno = lineno

    def set_filename_and_line_from_caller(self, offset: int = 0) -> int:
        """Takes the place from the stack: the caller, or `offset` frames further out."""
        frame: Any = sys._getframe(1)
        result = self.SUCCESS
        while offset:
            if frame.f_back is None:
                result = self.HEURISTIC_USED
                break
            frame = frame.f_back
            offset -= 1
        self.filename, self.lineno = frame.f_code.co_filename, frame.f_lineno
        return result

    def copy_metadata(self) -> TraceableObject:
        """The place alone."""
        return TraceableObject(None, self.filename, self.lineno)


@internal("framework.traceable_stack.TraceableStack")
class TraceableStack:
    """A stack of traceable objects."""

    def __init__(self, existing_stack: list[TraceableObject] | None = None) -> None:
        self._stack: list[TraceableObject] = list(existing_stack or ())

    def push_obj(self, obj: Any, offset: int = 0) -> int:
        """Adds an object; its place is the caller's."""
        entry = TraceableObject(obj)
        self._stack.append(entry)
        return entry.set_filename_and_line_from_caller(offset + 1)

    def pop_obj(self) -> Any:
        """Takes off the last object."""
        return self._stack.pop().obj

    def peek_top_obj(self) -> Any:
        """The last object."""
        return self._stack[-1].obj

    def peek_objs(self) -> Iterator[Any]:
        """The objects, last first."""
        return (entry.obj for entry in reversed(self._stack))

    def peek_traceable_objs(self) -> Iterator[TraceableObject]:
        """The objects with their places, last first."""
        return reversed(self._stack)

    def __len__(self) -> int:
        return len(self._stack)

    def copy(self) -> TraceableStack:
        """Another stack of the same objects."""
        return TraceableStack(self._stack)
