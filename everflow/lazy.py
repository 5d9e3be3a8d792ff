"""Modules that are costly to import, loaded at their first use: `from everflow.lazy import torch`."""

from __future__ import annotations

import importlib
import sys
import types
from typing import TYPE_CHECKING, Any

# The kernels of tensors that have a shape and no data: only torch's compiler needs them, and a third of torch's import goes there.
DATALESS = "torch._meta_registrations"
COMPILER = {f"torch.{name}" for name in ("_dynamo", "_inductor", "_decomp", "_prims", "_refs", "utils._content_store")}


class Late:
    """Has torch be imported without what is DATALESS, until its compiler is: `sys.meta_path.insert(0, Late())`."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> None:
        if name == "torch":
            sys.modules[DATALESS] = types.ModuleType(DATALESS)
        elif name in COMPILER:
            sys.meta_path.remove(self)
            sys.modules.pop(DATALESS, None)
            vars(sys.modules["torch"]).pop("_meta_registrations", None)
            importlib.import_module(DATALESS)


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

__all__ = ["Late", "LazyModule", "torch"]
