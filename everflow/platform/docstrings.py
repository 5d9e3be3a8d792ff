"""What decorators do with docstrings and names (`tensorflow.python.util.decorator_utils`)."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from typing import Any

from everflow.api import internal

internal("util.decorator_utils")(sys.modules[__name__])


def get_qualified_name(function: Any) -> str:
    return function.__qualname__


def _normalize_docstring(docstring: str | None) -> str:
    """The text without the indentation that all lines but the first share."""
    return inspect.cleandoc(docstring) if docstring else ""


def add_notice_to_docstring(doc: str | None, instructions: str, no_doc_str: str, suffix_str: str, notice: list[str]) -> str:
    """Puts a suffix behind the first line of a docstring, and a notice below it."""
    notice = [f"Warning: {notice[0]}", *notice[1:], *([instructions] if instructions else [])]
    if not doc:
        return "\n".join([no_doc_str, "", *notice])
    first, *rest = _normalize_docstring(doc).splitlines()
    if rest and not rest[0].strip():
        rest = rest[1:]
    lines = [f"{first} {suffix_str}", "", *notice]
    return "\n".join([*lines, "", *rest] if rest else lines)


def validate_callable(func: Callable[..., Any], decorator_name: str) -> None:
    if not callable(func):
        raise ValueError(
            f"{func} is not a function. If this is a property, make sure @property appears before @{decorator_name} in "
            f"your source code:\n\n@property\n@{decorator_name}\ndef method(...)"
        )


class classproperty:
    """A property of a class rather than of its instances."""

    def __init__(self, func: Callable[[type], Any]) -> None:
        self._func = func

    def __get__(self, owner_self: Any, owner_cls: type) -> Any:
        return self._func(owner_cls)
