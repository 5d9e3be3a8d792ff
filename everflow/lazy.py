"""Modules that are costly to import, loaded at their first use: `from everflow.lazy import torch`."""

from __future__ import annotations

import ctypes
import importlib
import importlib.util
import os
import threading
import types
from typing import TYPE_CHECKING, Any

from everflow import late_torch

# How often a thread of GNU's OpenMP looks whether the others came before it sleeps: some hundred microseconds, longer than what lies
# between two kernels of a step. Left alone it looks 300,000 times, and where another program has the other's processor, this one's time
# goes by with that at each kernel.
LOOKS = 6000


def _wait_briefly() -> None:
    """Limits how long torch's threads wait actively for each other, unless the environment says something about it. To be called before
    torch's libraries are loaded, as these look at the environment then.
    """
    if not {"GOMP_SPINCOUNT", "OMP_WAIT_POLICY"} & os.environ.keys():
        os.environ["GOMP_SPINCOUNT"] = str(LOOKS)


def link_ahead() -> None:
    """Has the system link torch's kernels, a quarter of torch's import, beside what Python does until it is imported.

    It links one library at a time, so what every program needs comes before.
    """
    for name in ("heapq", "numpy", "ml_dtypes", "google._upb._message"):
        importlib.import_module(name)
    _wait_briefly()
    found = importlib.util.find_spec("torch")
    for folder in (found and found.submodule_search_locations) or ():
        library = os.path.join(folder, "lib", "libtorch_cpu.so")
        if os.path.exists(library):
            # Called as a function of C it lets Python go on, which ctypes.CDLL(library) does not.
            linking = threading.Thread(target=ctypes.CDLL(None).dlopen, args=(os.fsencode(library), os.RTLD_NOW))
            linking.start()
            # A copy of the process would have half a library.
            os.register_at_fork(before=linking.join)


class LazyModule(types.ModuleType):
    """Stands for a module until something is asked of it; then it is loaded, and what it holds is held here as well.

    It is a plain module from then on: Python remembers where a plain module keeps a name, which costs a third of asking.
    """

    def __getattr__(self, name: str) -> Any:
        _wait_briefly()
        late_torch.put_off()
        with late_torch.uncollected():
            module = importlib.import_module(self.__name__)
        # What the module gets later is asked of it.
        self.__dict__.update({**module.__dict__, "__getattr__": lambda later: getattr(module, later)})
        self.__class__ = types.ModuleType  # type: ignore[assignment]
        return getattr(module, name)


if TYPE_CHECKING:
    import torch
else:
    torch = LazyModule("torch")

__all__ = ["LazyModule", "link_ahead", "torch"]
