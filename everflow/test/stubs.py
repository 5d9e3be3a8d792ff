"""Replacing attributes for the time of a test."""

from __future__ import annotations

import inspect
from typing import Any

from everflow.api import internal, public


@public("test.StubOutForTesting")
@internal("platform.googletest.StubOutForTesting", "platform.test.StubOutForTesting")
class StubOutForTesting:
    """Sets attributes of objects and remembers what they were; `CleanUp`, or leaving a `with` block, puts all back."""

    def __init__(self) -> None:
        self._set: list[tuple[Any, str, Any]] = []
        self._smart: list[tuple[Any, str, Any]] = []

    def __del__(self) -> None:
        self.CleanUp()

    def __enter__(self) -> StubOutForTesting:
        return self

    def __exit__(self, *_: Any) -> None:
        self.CleanUp()

    def CleanUp(self) -> None:
        self.SmartUnsetAll()
        self.UnsetAll()

    def SmartSet(self, obj: Any, attr_name: str, new_attr: Any) -> None:
        """Replaces the attribute where it is defined: in the object, or in the class it comes from."""
        owner = None
        if inspect.ismodule(obj) or not inspect.isclass(obj) and attr_name in getattr(obj, "__dict__", ()):
            owner = obj
        else:
            kind = obj if inspect.isclass(obj) else type(obj)
            owner = next((base for base in kind.__mro__ if attr_name in vars(base)), None)
        if owner is None or not hasattr(owner, attr_name):
            raise AttributeError("Attribute not found.")
        # The raw entry keeps static and class methods what they are.
        old = vars(owner).get(attr_name, getattr(owner, attr_name))
        self._smart.append((owner, attr_name, old))
        setattr(owner, attr_name, new_attr)

    def SmartUnsetAll(self) -> None:
        while self._smart:
            setattr(*self._smart.pop())

    def Set(self, parent: Any, child_name: str, new_child: Any) -> None:
        old = getattr(parent, child_name)
        raw = vars(parent).get(child_name) if hasattr(parent, "__dict__") else None
        self._set.append((parent, child_name, raw if isinstance(raw, (staticmethod, classmethod)) else old))
        setattr(parent, child_name, new_child)

    def UnsetAll(self) -> None:
        while self._set:
            setattr(*self._set.pop())
