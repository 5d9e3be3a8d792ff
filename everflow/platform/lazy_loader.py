"""Modules imported at their first use (`tensorflow.python.util.lazy_loader`)."""

from __future__ import annotations

import importlib
import types
from typing import Any

from everflow.api import internal
from everflow.platform import logging


@internal("util.lazy_loader.LazyLoader")
class LazyLoader(types.ModuleType):
    """Stands for a module in another module's globals until it is used; then the real module takes its place."""

    def __init__(self, local_name: str, parent_module_globals: dict[str, Any], name: str, warning: str | None = None) -> None:
        super().__init__(name)
        self._local_name, self._parent_module_globals, self._warning = local_name, parent_module_globals, warning

    def _load(self) -> types.ModuleType:
        loaded = self._parent_module_globals[self._local_name] = importlib.import_module(self.__name__)
        warning, self._warning = self._warning, None
        if warning:
            logging.warning(warning)
        vars(self).update(vars(loaded))
        return loaded

    def __getattr__(self, item: str) -> Any:
        return getattr(self._load(), item)

    def __dir__(self) -> list[str]:
        return dir(self._load())
