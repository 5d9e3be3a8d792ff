"""What lives longer than a step: variables, queues, tables, iterators, random generators, by container and name."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from everflow.errors import OpError, failed_precondition, not_found
from everflow.graph import dtypes
from everflow.graph.shapes import Dims


class Storage:
    """A variable's storage: one for each session and name. `value` is None until it is assigned."""

    __slots__ = ("__weakref__", "container", "dims", "dtype", "home", "is_ref", "lock", "name", "value")

    def __init__(
        self, name: str, dtype: dtypes.DType, dims: Dims, is_ref: bool, container: str = "", home: Resources | None = None
    ) -> None:
        self.name = name
        self.dtype = dtype
        self.dims = dims
        self.is_ref = is_ref
        self.container = container or (home.default_container if home is not None else "localhost")
        self.home = home
        self.value: Any = None
        self.lock = threading.RLock()

    def read(self) -> Any:
        """The value itself, not a copy."""
        value = self.value
        if value is None:
            raise self.uninitialized()
        return value

    def held(self) -> Any:
        """The same for an op that changes the variable or takes a part of it, which words its error differently."""
        value = self.value
        if value is None:
            raise self.uninitialized() if self.is_ref else not_found(self.missing())
        return value

    def dispose(self) -> None:
        """Lets go of the value, as the session ends: steps that still know the storage do not keep its memory."""
        self.value = None

    def uninitialized(self) -> OpError:
        """The error of a read that comes before the first assignment."""
        if self.is_ref:
            return failed_precondition(f"Attempting to use uninitialized value {self.name}")
        return failed_precondition(
            f"Error while reading resource variable {self.name} from Container: {self.container}. This could mean that "
            f"the variable was uninitialized. Not found: {self.missing()}"
        )

    def missing(self) -> str:
        """Why a handle leads nowhere."""
        if self.home is None or not self.home.has_container(self.container):
            return f"Container {self.container} does not exist. (Could not find resource: {self.container}/{self.name})"
        return f"Resource {self.container}/{self.name}/N10tensorflow3VarE does not exist."

    def store(self, value: Any) -> None:
        """Takes a copy of the value (strings are arrays of immutable objects: copied too)."""
        with self.lock:
            current = self.value
            fits = current is not None and current.shape == value.shape and current.dtype == value.dtype
            if fits and hasattr(current, "copy_"):
                current.copy_(value)
            else:
                self.value = copied(value)

    def take(self, value: Any) -> None:
        """Makes a value that nothing else holds the variable's own."""
        with self.lock:
            current = self.value
            if hasattr(current, "copy_") and current.device != value.device:
                self.store(value)
            else:
                self.value = value

    def begin(self, value: Any) -> None:
        """The same for the variable's first value. Later ones are copied to where it lies: who holds a reference sees them."""
        with self.lock:
            if self.value is None and value.is_contiguous():
                self.value = value
            else:
                self.store(value)

    def forget(self) -> None:
        """Makes the variable one that was never assigned."""
        self.value = None


def copied(value: Any) -> Any:
    """A copy of a run-time value; what is neither tensor nor array is shared."""
    if hasattr(value, "clone"):
        return value.clone()
    return value.copy() if hasattr(value, "copy") else value


class Resources:
    """The containers of a session, or of a server's task."""

    def __init__(self, default_container: str = "localhost") -> None:
        self.default_container = default_container
        self._items: dict[tuple[str, str, str], Any] = {}
        self._lock = threading.RLock()

    def get(self, container: str, kind: str, name: str, make: Callable[[], Any]) -> Any:
        """The resource of this name, made at its first use."""
        key = (container, kind, name)
        found = self._items.get(key)
        if found is None:
            with self._lock:
                found = self._items.get(key)
                if found is None:
                    found = self._items[key] = make()
        return found

    def find(self, container: str, kind: str, name: str) -> Any:
        """The resource of this name, or None."""
        return self._items.get((container, kind, name))

    def remove(self, container: str, kind: str, name: str) -> bool:
        """Forgets a resource; says whether there was one."""
        return self._items.pop((container, kind, name), None) is not None

    def remove_beginning(self, prefix: str) -> None:
        """Forgets the resources whose names begin so: those that are one session's own."""
        with self._lock:
            for key in [k for k in self._items if k[2].startswith(prefix)]:
                del self._items[key]

    def remove_from(self, container: str, item: Any) -> None:
        """Forgets a resource, whatever its name, if it is in a certain container."""
        with self._lock:
            for key in [k for k, v in self._items.items() if v is item and k[0] == container]:
                del self._items[key]

    def of_kind(self, kind: str) -> list[Any]:
        return [v for (_, k, _), v in list(self._items.items()) if k == kind]

    def has_container(self, name: str) -> bool:
        """Whether anything that ops reach by a handle is in a container."""
        for (container, _, _), item in list(self._items.items()):
            is_there = not item.is_ref and item.value is not None if isinstance(item, Storage) else True
            if is_there and (container or self.default_container) == name:
                return True
        return False

    def clear(self, containers: list[str] | None = None) -> None:
        """Forgets everything, or what is in the named containers (an empty name is the default container)."""
        with self._lock:
            for key in list(self._items):
                elsewhere = getattr(self._items[key], "clear_containers", None)
                if elsewhere is not None:
                    elsewhere(containers)
                elif containers is None or key[0] in containers or (key[0] == "" and self.default_container in containers):
                    item = self._items.pop(key)
                    close = getattr(item, "dispose", None)
                    if close is not None:
                        close()

    def wake(self) -> None:
        """Makes the steps that wait for a resource look again at what they wait for."""
        for item in list(self._items.values()):
            wake = getattr(item, "wake", None)
            if wake is not None:
                wake()
