"""Context managers made of generators, seen by `tf_inspect` (`tensorflow.python.util.tf_contextlib`)."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable
from typing import Any

from everflow.api import internal
from everflow.platform import decorators

internal("util.tf_contextlib")(sys.modules[__name__])


def contextmanager(target: Callable[..., Any]) -> Callable[..., Any]:
    """Like `contextlib.contextmanager`; the result keeps the signature of `target`."""
    return decorators.make_decorator(target, contextlib.contextmanager(target), "contextmanager")
