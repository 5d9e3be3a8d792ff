"""Modules that are costly to import, loaded at their first use: `from everflow.lazy import torch`."""

from __future__ import annotations

import importlib
import types
from typing import TYPE_CHECKING, Any


class LazyModule(types.ModuleType):
    """Stands for a module until something is asked of it; then it is loaded, and what it holds is held here as well.

    It is a plain module from then on: Python remembers where a plain module keeps a name, which costs a third of asking.
    """

    def __getattr__(self, name: str) -> Any:
        module = importlib.import_module(self.__name__)
        # What the module gets later is asked of it.
        self.__dict__.update({**module.__dict__, "__getattr__": lambda later: getattr(module, later)})
        self.__class__ = types.ModuleType  # type: ignore[assignment]
        return getattr(module, name)


if TYPE_CHECKING:
    import torch
else:
    torch = LazyModule("torch")

__all__ = ["LazyModule", "torch"]
