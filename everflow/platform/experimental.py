"""Functions that say of themselves that they may change."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from everflow.api import internal, public
from everflow.platform import decorators, docstrings, logging


@public("contrib.slim.experimental")
@internal("contrib.framework.python.framework.experimental.experimental")
def experimental(func: Callable[..., Any]) -> Any:
    """Marks a function: each call warns that it is experimental."""
    docstrings.validate_callable(func, "experimental")

    @functools.wraps(func)
    def new_func(*args: Any, **kwargs: Any) -> Any:
        logging.warning(
            "%s (from %s) is experimental and may change or be removed at any time, and without warning.",
            docstrings.get_qualified_name(func),
            func.__module__,
        )
        return func(*args, **kwargs)

    doc = docstrings.add_notice_to_docstring(
        func.__doc__,
        "",
        "EXPERIMENTAL FUNCTION",
        "(experimental)",
        ["THIS FUNCTION IS EXPERIMENTAL. It may change or be removed at any time, and without warning."],
    )
    return decorators.make_decorator(func, new_func, "experimental", doc)
