"""Hiding names that a module does not document (`tensorflow.python.util.all_util`)."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterable
from typing import Any

from everflow.api import internal, public

_REFERENCE = re.compile(r"^@@(\w+)$", re.MULTILINE)
_hidden: dict[str, tuple[Any, Any]] = {}


@public("contrib.slim.make_all")
@internal("util.all_util.make_all")
def make_all(module_name: str, doc_string_modules: Iterable[Any] | None = None) -> list[str]:
    """The names that docstrings list as `@@name` and that the module has."""
    module = sys.modules[module_name]
    modules = [module] if doc_string_modules is None else doc_string_modules
    listed = {name for each in modules if each.__doc__ for name in _REFERENCE.findall(each.__doc__)}
    return list(listed & {name for name, _ in inspect.getmembers(module)})


@internal("util.all_util.remove_undocumented")
def remove_undocumented(module_name: str, allowed_exception_list: Iterable[str] | None = None, doc_string_modules: Any = None) -> None:
    """Takes away the module's public names that are neither documented nor allowed."""
    module = sys.modules[module_name]
    keep = {*make_all(module_name, doc_string_modules), *(allowed_exception_list or ())}
    for name in dir(module):
        if not name.startswith("_") and name not in keep:
            _hidden[f"{module_name}.{name}"] = module, getattr(module, name)
            delattr(module, name)


@internal("util.all_util.reveal_undocumented")
def reveal_undocumented(symbol_name: str, target_module: Any = None) -> None:
    """Gives a name back that was taken away."""
    if symbol_name not in _hidden:
        raise LookupError(f"Symbol {symbol_name} is not a hidden symbol")
    module, value = _hidden[symbol_name]
    setattr(target_module or module, symbol_name.rpartition(".")[2], value)
