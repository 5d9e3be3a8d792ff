"""Everflow: TensorFlow 1.x programs, running on PyTorch's kernels. `import everflow as tf`.

Names are looked up in the index (everflow.api) when they are first used: importing this package imports nothing else.
"""

import importlib as _importlib
import os as _os
import sys as _sys
import types as _types
from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

__version__ = "1.15.5"
__git_version__ = "v1.15.5"


class _Root(_types.ModuleType):
    """The `tf` module itself. Where a folder of the package shares its name with a public module (as `layers` does),
    `tf.layers` is the public one, and `from everflow.layers.core import ...` still finds the folder."""

    def __getattr__(self, name: str) -> _Any:
        from everflow.api import has, is_namespace, member, members

        if name == "__all__":
            return sorted(members(""))
        if not has(name) and not is_namespace(name):
            if f"{__name__}.{name}" in _sys.modules:
                return _sys.modules[f"{__name__}.{name}"]
            path = _os.path.join(_os.path.dirname(__file__), name)
            if _os.path.isdir(path) or _os.path.isfile(path + ".py"):
                raise AttributeError(f"module '{__name__}.{name}' has not been imported", name=name)
        value = member("", name)
        self.__dict__[name] = value
        return value

    def __setattr__(self, name: str, value: _Any) -> None:
        # The import system binds each submodule here; __getattr__ decides who gets the name.
        if not isinstance(value, _types.ModuleType) or _sys.modules.get(f"{__name__}.{name}") is not value:
            super().__setattr__(name, value)

    def __dir__(self) -> list[str]:
        from everflow.api import members

        return sorted({*super().__dir__(), *members("")})


_sys.modules[__name__].__class__ = _Root


def load_ipython_extension(ipython: _Any) -> None:
    """`%load_ext everflow` makes `import tensorflow` find Everflow in a notebook."""
    _importlib.import_module("everflow.as_tensorflow")
    _importlib.import_module("everflow.alias").install()
    _importlib.import_module("everflow.years").install()


def unload_ipython_extension(ipython: _Any) -> None:
    """`%unload_ext everflow` undoes it."""
    _importlib.import_module("everflow.alias").remove()
    _importlib.import_module("everflow.years").remove()


# The environment may ask for version 2's behaviour, as it may of TensorFlow.
if _os.environ.get("TF2_BEHAVIOR", "0") != "0":
    _importlib.import_module("everflow.version2").enable_v2_behavior()

if _TYPE_CHECKING:

    def __getattr__(name: str) -> _Any:
        """Tells type checkers that the index has names which this file does not show."""
