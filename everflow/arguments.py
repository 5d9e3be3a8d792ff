"""What a function was called with, for those that hand most of it on."""

from __future__ import annotations

from typing import Any

_NO_ARGUMENTS = ("self", "cls", "kwargs", "__class__")


def arguments(scope: dict[str, Any]) -> dict[str, Any]:
    """A function's arguments by name, those of its `**kwargs` among them. Its first line asks, with its `locals()`.

    class Conv1D(Conv):
        def __init__(self, filters, kernel_size, strides=1, **kwargs):
            super().__init__(rank=1, **arguments(locals()))
    """
    return {name: value for name, value in scope.items() if name not in _NO_ARGUMENTS} | scope.get("kwargs", {})
