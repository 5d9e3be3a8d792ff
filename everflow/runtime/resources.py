"""What lives longer than a step: variables, queues, tables, iterators, random generators, by container and name."""
from __future__ import annotations

import threading
from typing import Any, Callable

from everflow.errors import OpError, failed_precondition
from everflow.graph import dtypes


class Slot:
    """A variable's storage: one for each session and name. `value` is None until it is assigned."""

    __slots__ = ("dims", "dtype", "lock", "name", "value", "is_ref")

    def __init__(self, name: str, dtype: dtypes.DType, dims: Any, is_ref: bool) -> None:
        self.name = name
        self.dtype = dtype
        self.dims = dims
        self.is_ref = is_ref
        self.value: Any = None
        self.lock = threading.RLock()

    def read(self) -> Any:
        """The value itself, not a copy."""
        value = self.value
        if value is None:
            raise self.uninitialized()
        return value

    def uninitialized(self) -> OpError:
        if self.is_ref:
            return failed_precondition(f"Attempting to use uninitialized value {self.name}")
        return failed_precondition(
            f"Error while reading resource variable {self.name} from Container: localhost. This could mean that the variable was "
            f"uninitialized. Not found: Container localhost does not exist. (Could not find resource: localhost/{self.name})"
        )

    def store(self, value: Any) -> None:
        """Takes a copy of the value (strings are arrays of immutable objects: copied too)."""
        current = self.value
        with self.lock:
            if current is not None and hasattr(current, "copy_") and current.shape == value.shape and current.dtype == value.dtype:
                current.copy_(value)
            elif hasattr(value, "clone"):
                self.value = value.clone()
            else:
                self.value = value.copy()


class Resources:
    """A session's containers."""

    def __init__(self) -> None:
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

    def of_kind(self, kind: str) -> list[Any]:
        return [v for (_, k, _), v in list(self._items.items()) if k == kind]

    def clear(self, containers: list[str] | None = None) -> None:
        """Forgets everything, or what is in the named containers (an empty name is the default container)."""
        with self._lock:
            for key in list(self._items):
                if containers is None or key[0] in containers or (key[0] == "" and "localhost" in containers):
                    item = self._items.pop(key)
                    close = getattr(item, "dispose", None)
                    if close is not None:
                        close()
