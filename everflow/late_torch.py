"""torch, imported without the two thirds of it that few TensorFlow programs use: each of those modules is loaded when it is first touched.

This is for the torch that Everflow loads for itself. Where a program imports it before, it gets all of it, but for what is DATALESS.
"""

from __future__ import annotations

import _imp
import contextlib
import functools
import importlib
import logging
import os
import sys
import threading
import types
from collections.abc import Callable, Iterator
from importlib.machinery import ModuleSpec, PathFinder
from typing import Any

from everflow.cycles import uncollected

# How many seconds a thread waits for another to load.
PATIENCE = 60
# The release whose imports the tables below follow, and what asks for logs that torch's modules may write as they are loaded.
RELEASE = "2.13."
WATCHED = ("TORCH_LOGS", "TORCH_LOGS_OUT", "TORCH_TRACE")

# The kernels of tensors that have a shape and no data: only torch's compiler needs them, and a third of torch's import goes there.
DATALESS = "torch._meta_registrations"
COMPILER = {f"torch.{name}" for name in ("_dynamo", "_inductor", "_decomp", "_prims", "_refs", "utils._content_store")}

LATE = {"torchgen.model"} | {
    f"torch.{name}"
    for name in (
        "_higher_order_ops _lobpcg _logging _logging.structured _meta_registrations ao autograd.profiler compiler "
        "distributed._meta_registrations distributions export func fx fx.experimental fx.operator_schemas hub jit jit._builtins masked "
        "multiprocessing nested nn nn.functional nn.intrinsic nn.qat nn.quantizable nn.quantized optim package profiler quantization "
        "return_types testing utils.data xpu"
    ).split()
}
# Kernels for GPUs of NVIDIA, which take their places as this is imported.
WITHOUT_CUDA = "torch._native"
# Modules that need nothing of the packages they are in.
ALONE = {
    "torch.fx.experimental.sym_node",
    "torch.multiprocessing._atfork",
    "torch.nn.modules.utils",
    "torch.nn.parameter",
    "torch.package._mangling",
}
# This one and those which torch imports after it need each other, so that one is not loaded without all.
KNOT = "torch.export"

# What torch's own modules take from late ones as they are imported.
TAKEN = {
    "cond": "torch._higher_order_ops",
    "dtrace_structured": "torch._logging",
    "lobpcg": "torch._lobpcg",
    "vmap": "torch.func",
    "while_loop": "torch._higher_order_ops",
    "_SCHEMA_TO_SIGNATURE_CACHE": "torch.fx.operator_schemas",
}
# Who took it, where that is not torch itself.
TAKERS = {"dtrace_structured": "torch.fx.experimental.sym_node"}
# Functions that are told something as torch is imported and as ops are first used, and what they answer.
TOLD: dict[tuple[str, str], Any] = {
    ("torch._logging", "_init_logs"): lambda: None,
    ("torch._logging", "getArtifactLogger"): lambda module, kind: logging.getLogger(f"{module}.__{kind}"),
    ("torch.jit._builtins", "_register_builtin"): lambda op, name: None,
}


class Taken(dict[Any, Any]):
    """Stands for what was TAKEN, until it can be had; a dict, as the only one of them that is used right away is."""


# The dict of a module, even if the module is late.
names_of: Any = vars(types.ModuleType)["__dict__"].__get__  # type: ignore[attr-defined]


class LateModule(types.ModuleType):
    """Stands for a module until something is asked of it; then it is loaded and becomes that module."""

    def __init__(self, late: Late, found: ModuleSpec) -> None:
        super().__init__(found.name)
        names = names_of(self)
        del names["__doc__"]
        names |= {"__spec__": found, "__loader__": found.loader, "__package__": found.parent, "__file__": found.origin, "_late": late}
        if found.submodule_search_locations is not None:
            names["__path__"] = found.submodule_search_locations

    def __getattr__(self, name: str) -> Any:
        # Such names are asked of all modules there are, by who looks for something else.
        if name.startswith("__") and name not in ("__all__", "__doc__"):
            raise AttributeError(f"module '{self.__name__}' has no attribute '{name}'")
        return self._late.asked(self, name)

    def __dir__(self) -> list[str]:
        self._late.load(self)
        return sorted(types.ModuleType.__dir__(self))

    @property
    def __dict__(self) -> dict[str, Any]:  # type: ignore[override]
        self._late.load(self)
        return names_of(self)


class Stands:
    """Loads a name as the module that already stands for it."""

    def __init__(self, module: types.ModuleType) -> None:
        self.module = module

    def create_module(self, spec: ModuleSpec) -> None:
        return None

    def exec_module(self, module: types.ModuleType) -> None:
        sys.modules[module.__name__] = self.module


def keeping(module: types.ModuleType) -> ModuleSpec | None:
    """The spec of a module that has been loaded, by which an import that is under way gets that very module."""
    loader: Any = module.__spec__ and module.__spec__.loader
    loader.create_module = lambda spec: module
    loader.exec_module = lambda module: forget(loader)
    return module.__spec__


@contextlib.contextmanager
def handed_over(name: str) -> Iterator[None]:
    """For who is asked where a module is: lets go of the locks that Python holds meanwhile, that for all imports and that of the module.
    Who waits for another thread to load must not keep it from importing."""
    bootstrap: Any = importlib._bootstrap  # type: ignore[attr-defined]
    lock = bootstrap._get_module_lock(name)
    is_held = lock.owner == threading.get_ident()
    times = 0
    with contextlib.suppress(RuntimeError):
        while True:
            _imp.release_lock()
            times += 1
    if is_held:
        lock.release()
    try:
        yield
    finally:
        if is_held:
            lock.acquire()
        for _ in range(times):
            _imp.acquire_lock()


def forget(loader: Any) -> None:
    """Makes a loader one like any other."""
    del loader.create_module, loader.exec_module


class Late:
    """Finds torch's modules so that what can wait does: `sys.meta_path.insert(0, Late())`."""

    def __init__(self) -> None:
        # Whether it is Everflow that imports torch; a program may have use for all of it.
        self.ours = False
        # In the order in which torch imports them, which is the order to load them in.
        self._waiting: dict[str, LateModule] = {}
        self._told: list[tuple[str, str, tuple[Any, ...]]] = []
        # The threads that are importing torch or what waited, and whether it is torch.
        self._importing: set[int] = set()
        self._torch_is_underway = False
        self._turn = threading.RLock()
        # Makes torch what it would have been, when nothing waits any more.
        self._complete: Callable[[], None] = lambda: None

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if not name.startswith("torch"):
            return None
        waited = self._waiting.get(name)
        if name == "torch" or waited is not None and self._busy():
            return self._found(name, path)
        if waited is not None:
            # Another thread is about to load it.
            with handed_over(name):
                self.load(waited)
            return keeping(waited)
        if self._can_wait(name) and (found := PathFinder.find_spec(name, path)):
            self._waiting[name] = LateModule(self, found)
            return ModuleSpec(name, Stands(self._waiting[name]))  # type: ignore[arg-type]
        parent = self._waiting.get(name.rpartition(".")[0])
        if not self._busy() and (KNOT in self._waiting or name in COMPILER):
            # It takes for granted that torch has been imported, with all there is to it.
            with handed_over(name):
                self._load_all()
        elif parent is not None and name not in ALONE:
            with handed_over(name):
                self.load(parent)
        # What has just been loaded may have imported it.
        return keeping(sys.modules[name]) if name in sys.modules else None

    def _can_wait(self, name: str) -> bool:
        if not self._torch_is_underway or name not in LATE and name != WITHOUT_CUDA:
            return False
        version = sys.modules["torch.version"]
        if not self.ours or not version.__version__.startswith(RELEASE) or any(map(os.environ.get, WATCHED)):
            return name == DATALESS
        return name != WITHOUT_CUDA or version.cuda is None

    def _found(self, name: str, path: Any) -> ModuleSpec | None:
        """How to load torch, or a module of it that has been waiting."""
        spec = PathFinder.find_spec(name, path)
        if spec is not None:
            loader: Any = spec.loader
            if name == "torch":
                loader.exec_module = functools.partial(self._import_torch, loader.exec_module)
            else:
                waited = self._waiting[name]
                loader.create_module = lambda spec: waited
                loader.exec_module = functools.partial(self._end_waiting, loader.exec_module)
        return spec

    def _import_torch(self, execute: Any, torch: types.ModuleType) -> None:
        self._torch_is_underway = True
        try:
            with self._underway():
                execute(torch)
        finally:
            self._torch_is_underway = False
        self._hand_on(torch)
        self._complete_ops()
        if DATALESS in self._waiting and (give_metaclass := getattr(torch._C, "_set_generator_metaclass", None)):
            # Generators can't be made before, and it is what comes with these kernels that would do it.
            give_metaclass(sys.modules["torch._opaque_base"].OpaqueBaseMeta)

    def _hand_on(self, torch: types.ModuleType) -> None:
        """Has torch get what was taken from late modules when it is asked for."""
        names, before = vars(torch), torch.__getattr__
        late = {name: TAKEN[name] for name in TAKEN if isinstance(names.get(name), Taken)}
        for name in late:
            del names[name]

        def get(name: str) -> Any:
            if name in late:
                names[name] = getattr(importlib.import_module(late[name]), name)
            elif not self._busy() and PathFinder.find_spec(f"torch.{name}", torch.__path__):
                # A module that torch does not import, but others do.
                self._load_all()
            return names[name] if name in names else before(name)

        def complete() -> None:
            names.update({name: getattr(sys.modules[late[name]], name) for name in late}, __getattr__=before)
            names.pop("__dir__", None)

        if self._waiting:
            torch.__getattr__ = get  # type: ignore[method-assign]
            torch.__dir__ = lambda: sorted({*names, *(() if self._busy() else late)})  # type: ignore[method-assign]
            self._complete = complete

    def _complete_ops(self) -> None:
        """Has torch.ops find those ops which late modules define."""
        for kind in sys.modules["torch._ops"]._OpNamespace, sys.modules["torch._ops"]._HigherOrderNamespace:

            def get(namespace: Any, name: str, before: Any = kind.__getattr__) -> Any:
                with contextlib.suppress(AttributeError):
                    return before(namespace, name)
                if not self._busy():
                    self._load_all()
                return before(namespace, name)

            kind.__getattr__ = get

    def _end_waiting(self, execute: Any, module: types.ModuleType) -> None:
        name = module.__name__
        waited = self._waiting.pop(name)
        forget(module.__spec__ and module.__spec__.loader)
        try:
            execute(module)
        except BaseException:
            self._waiting = {name: waited, **self._waiting}
            raise
        if isinstance(module, LateModule):
            module.__class__ = types.ModuleType  # type: ignore[assignment]
        del module._late
        for taken, taker in TAKERS.items():
            if TAKEN[taken] == name and isinstance(vars(sys.modules[taker])[taken], Taken):
                setattr(sys.modules[taker], taken, getattr(module, taken))
        vars(module).setdefault("__doc__", None)

    def asked(self, module: LateModule, name: str) -> Any:
        """What a late module has by that name; it is loaded, unless torch asks while it is imported and can do without."""
        home = module.__name__
        if home in self._waiting:
            if (home, name) in TOLD:
                return functools.partial(self._tell, home, name)
            if self._torch_is_underway and TAKEN.get(name) == home:
                return Taken()
            if self._torch_is_underway and f"{home}.{name}" in LATE:
                return importlib.import_module(f"{home}.{name}")
        self.load(module)
        return types.ModuleType.__getattribute__(module, name)

    def _tell(self, home: str, name: str, *words: Any) -> Any:
        if home not in self._waiting:
            return getattr(sys.modules[home], name)(*words)
        self._told.append((home, name, words))
        return TOLD[home, name](*words)

    def load(self, module: LateModule) -> None:
        """Loads a module, after those that torch imports before it; if another thread is loading, waits for that."""
        name = module.__name__
        # Who holds the turn may wait for a module that this thread is importing: then it is better to fail than to hang.
        turn = self._turn.acquire(timeout=PATIENCE)
        names = self._due(name) if name in self._waiting else [name]
        for due in names:
            if due in self._waiting:
                sys.modules.pop(due, None)
        try:
            with uncollected(), self._underway():
                for due in names:
                    importlib.import_module(due)
            if not self._waiting and not self._busy():
                self._complete()
        finally:
            # Where one can't be loaded, the next who asks is told so too.
            for due in names:
                if due in self._waiting:
                    sys.modules[due] = self._waiting[due]
            if turn:
                self._turn.release()

    def _load_all(self) -> None:
        for module in [*self._waiting.values()][-1:]:
            self.load(module)

    def _busy(self) -> bool:
        """Whether this thread is importing what others wait for: that it finds as torch's own import would."""
        return threading.get_ident() in self._importing

    def _due(self, name: str) -> list[str]:
        names = list(self._waiting)
        if self._busy():
            return [one for one in names if one == name or name.startswith(one + ".")]
        last = names.index(name)
        return names if KNOT in names[: last + 1] else names[: last + 1]

    @contextlib.contextmanager
    def _underway(self) -> Iterator[None]:
        me = threading.get_ident()
        outermost = me not in self._importing
        self._importing.add(me)
        try:
            yield
        finally:
            if outermost:
                self._importing.discard(me)
                told, self._told = self._told, []
                for home, name, words in told:
                    self._tell(home, name, *words)


def put_off() -> None:
    """Has torch, if it is imported now, be imported without what can wait."""
    late = next((finder for finder in sys.meta_path if isinstance(finder, Late)), None)
    if late is None:
        late = Late()
        sys.meta_path.insert(0, late)
    late.ours = True
