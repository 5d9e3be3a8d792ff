"""Modules that are costly to import, loaded at their first use: `from everflow.lazy import torch`."""

from __future__ import annotations

import contextlib
import ctypes
import gc
import importlib
import importlib.util
import os
import sys
import threading
import types
from collections.abc import Iterator
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


def link_ahead() -> None:
    """Has the system link torch's kernels, a quarter of torch's import, beside what Python does until it is imported.

    It links one library at a time, so what every program needs comes before.
    """
    for name in ("heapq", "numpy", "ml_dtypes", "google._upb._message"):
        importlib.import_module(name)
    found = importlib.util.find_spec("torch")
    for folder in (found and found.submodule_search_locations) or ():
        library = os.path.join(folder, "lib", "libtorch_cpu.so")
        if os.path.exists(library):
            # Called as a function of C it lets Python go on, which ctypes.CDLL(library) does not.
            linking = threading.Thread(target=ctypes.CDLL(None).dlopen, args=(os.fsencode(library), os.RTLD_NOW))
            linking.start()
            # A copy of the process would have half a library.
            os.register_at_fork(before=linking.join)


@contextlib.contextmanager
def uncollected() -> Iterator[None]:
    """No garbage is looked for: an import makes much that stays, and looking through it again and again takes a tenth of its time."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


class LazyModule(types.ModuleType):
    """Stands for a module until something is asked of it; then it is loaded, and what it holds is held here as well.

    It is a plain module from then on: Python remembers where a plain module keeps a name, which costs a third of asking.
    """

    def __getattr__(self, name: str) -> Any:
        with uncollected():
            module = importlib.import_module(self.__name__)
        # What the module gets later is asked of it.
        self.__dict__.update({**module.__dict__, "__getattr__": lambda later: getattr(module, later)})
        self.__class__ = types.ModuleType  # type: ignore[assignment]
        return getattr(module, name)


if TYPE_CHECKING:
    import torch
else:
    torch = LazyModule("torch")

__all__ = ["Late", "LazyModule", "link_ahead", "torch", "uncollected"]
