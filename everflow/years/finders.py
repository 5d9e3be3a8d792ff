"""Where imports meet the shims."""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import sys
import types
from collections.abc import Sequence
from typing import Any

from everflow.years import shims
from everflow.years.reporting import note


class Present(importlib.abc.MetaPathFinder):
    """Has others find a module that shims concern; they are put in place when it has been executed."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: types.ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        generated = fullname.endswith("_pb2")
        if not generated and not shims.concern(fullname):
            return None
        later = sys.meta_path[sys.meta_path.index(self) + 1 :]
        spec = next(filter(None, (finder.find_spec(fullname, path, target) for finder in later)), None)
        if spec is not None and spec.loader is not None and not isinstance(spec.loader, Given):
            spec.loader = Rebuilding(spec.loader) if generated else Mending(spec.loader)
        return spec


class Mending(importlib.abc.Loader):
    """Loads as another loader does, then puts the shims in place."""

    def __init__(self, loader: Any) -> None:
        self.loader = loader

    def __getattr__(self, name: str) -> Any:
        return getattr(self.loader, name)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType | None:
        return self.loader.create_module(spec)

    def exec_module(self, module: types.ModuleType) -> None:
        module.__loader__ = self.loader
        if module.__spec__ is not None:
            module.__spec__.loader = self.loader
        self.loader.exec_module(module)
        if shims.concern(module.__name__):
            shims.imported(module.__name__)


class Rebuilding(Mending):
    """Loads what protoc wrote before 3.19, which today's protobuf refuses; the serialized definition in it says all."""

    def exec_module(self, module: types.ModuleType) -> None:
        try:
            super().exec_module(module)
        except TypeError as error:
            if "Descriptors cannot be created directly" not in str(error) or not hasattr(module, "DESCRIPTOR"):
                raise
            from google.protobuf.internal import builder

            note(shims.OLD_PROTOC)
            builder.BuildMessageAndEnumDescriptors(module.DESCRIPTOR, module.__dict__)
            builder.BuildTopDescriptorsAndMessages(module.DESCRIPTOR, module.__name__, module.__dict__)


class Missing(importlib.abc.MetaPathFinder):
    """Answers for modules that are no longer there."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: types.ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        give = shims.former_module(fullname)
        return give and importlib.machinery.ModuleSpec(fullname, Given(fullname, give), is_package=True)


class Given(importlib.abc.Loader):
    """Gives an import the module that stands for the name."""

    def __init__(self, name: str, give: shims.Factory) -> None:
        self.name = name
        self.give = give

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> None:
        return None

    def exec_module(self, module: types.ModuleType) -> None:
        note(self.name)
        sys.modules[self.name] = self.give()
        shims.undoing(lambda: sys.modules.pop(self.name, None))
