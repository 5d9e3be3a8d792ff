"""Lines of the program that is run, as opposed to those of Everflow."""

from __future__ import annotations

import functools
import linecache
import os
import re
import sys
import sysconfig
import types
from typing import Any, NamedTuple

from everflow.api import PACKAGE

# What is inside the innermost scope of gradients, whose names are those of the ops that they are gradients of.
_GRADIENT = re.compile(r"(?:^|.*/)gradients(?:_\d+)?/(.+?)_grad/")


class Place(NamedTuple):
    """A line of the program."""

    file: str
    line: int
    function: str

    def __str__(self) -> str:
        return f"{os.path.basename(self.file)}:{self.line}"

    @property
    def text(self) -> str:
        """What the line says."""
        return linecache.getline(self.file, self.line).strip()


_LIBRARY = sysconfig.get_path("stdlib") + os.sep
_INSTALLED = sysconfig.get_path("purelib") + os.sep


@functools.cache
def is_program(file: str) -> bool:
    """Whether a file is the program's, or of a package that it uses: neither Everflow's (but for its demo) nor Python's."""
    if file.startswith("<"):
        return file in ("<string>", "<stdin>") or file.startswith("<ipython")
    if file.startswith(str(PACKAGE) + os.sep):
        return file.startswith(str(PACKAGE / "demo") + os.sep)
    return not file.startswith(_LIBRARY) or file.startswith(_INSTALLED)


def calling_place() -> Place | None:
    """The line of the program that is being run in this thread; None in a thread that Everflow runs."""
    frame: types.FrameType | None = sys._getframe(1)
    while frame is not None:
        if is_program(frame.f_code.co_filename):
            return Place(frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name)
        frame = frame.f_back
    return None


def place_of_op(op: Any) -> Place | None:
    """The line of the program that made an op; for what `tf.gradients` made, the line of the op whose gradient it is."""
    forward = _GRADIENT.match(op.name)
    if forward and (origin := op.graph._nodes_by_name.get(forward[1])) is not None:
        op = origin
    lines = [Place(file, line, function) for file, line, function, _ in op.traceback if is_program(file)]
    return lines[-1] if lines else None
