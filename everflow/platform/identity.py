"""Collections that tell objects apart by identity, not by equality (`tensorflow.python.util.object_identity`)."""

from __future__ import annotations

import collections.abc
import sys
import weakref
from collections.abc import Iterable, Iterator
from typing import Any

from everflow.api import internal

internal("util.object_identity")(sys.modules[__name__])


class _ObjectIdentityWrapper:
    """Stands for an object as a key."""

    __slots__ = ("__weakref__", "_wrapped")

    def __init__(self, wrapped: Any) -> None:
        self._wrapped = wrapped

    @property
    def unwrapped(self) -> Any:
        return self._wrapped

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, _ObjectIdentityWrapper):
            raise TypeError("Cannot compare wrapped object with unwrapped object")
        return self.unwrapped is other.unwrapped

    def __hash__(self) -> int:
        return id(self._wrapped)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} wrapping {self.unwrapped!r}>"


class _WeakObjectIdentityWrapper(_ObjectIdentityWrapper):
    """The same, without keeping the object alive."""

    __slots__ = ("_hash",)

    def __init__(self, wrapped: Any) -> None:
        super().__init__(weakref.ref(wrapped))
        self._hash = id(wrapped)

    @property
    def unwrapped(self) -> Any:
        return self._wrapped()

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        return self.unwrapped is not None and super().__eq__(other)

    def __hash__(self) -> int:
        return self._hash


class Reference(_ObjectIdentityWrapper):
    """A reference that can be hashed even where the object can't: `ref.deref()` is the object."""

    __slots__ = ()

    def deref(self) -> Any:
        return self._wrapped


class ObjectIdentityDictionary(collections.abc.MutableMapping):
    """A dict whose keys need no hash."""

    def __init__(self) -> None:
        self._storage: dict[_ObjectIdentityWrapper, Any] = {}

    def _wrap_key(self, key: Any) -> _ObjectIdentityWrapper:
        return _ObjectIdentityWrapper(key)

    def __getitem__(self, key: Any) -> Any:
        return self._storage[self._wrap_key(key)]

    def __setitem__(self, key: Any, value: Any) -> None:
        self._storage[self._wrap_key(key)] = value

    def __delitem__(self, key: Any) -> None:
        del self._storage[self._wrap_key(key)]

    def __len__(self) -> int:
        return len(self._storage)

    def __iter__(self) -> Iterator[Any]:
        for key in self._storage:
            yield key.unwrapped

    def __repr__(self) -> str:
        return f"ObjectIdentityDictionary({self._storage!r})"


def _drop_dead(storage: Any) -> list[Any]:
    """Removes keys whose objects are gone; returns the others."""
    living = [(key, key.unwrapped) for key in list(storage)]
    for key, value in living:
        if value is None:
            storage.pop(key, None) if isinstance(storage, dict) else storage.discard(key)
    return [value for _, value in living if value is not None]


class ObjectIdentityWeakKeyDictionary(ObjectIdentityDictionary):
    """The same, without keeping its keys alive."""

    def _wrap_key(self, key: Any) -> _ObjectIdentityWrapper:
        return _WeakObjectIdentityWrapper(key)

    def __len__(self) -> int:
        return len(_drop_dead(self._storage))

    def __iter__(self) -> Iterator[Any]:
        return iter(_drop_dead(self._storage))


class ObjectIdentitySet(collections.abc.MutableSet):
    """A set whose elements need no hash."""

    def __init__(self, *args: Iterable[Any]) -> None:
        self._storage = {self._wrap_key(each) for each in (args[0] if args else ())}

    @classmethod
    def _from_storage(cls, storage: set[_ObjectIdentityWrapper]) -> ObjectIdentitySet:
        result = cls()
        result._storage = storage
        return result

    def _wrap_key(self, key: Any) -> _ObjectIdentityWrapper:
        return _ObjectIdentityWrapper(key)

    def __contains__(self, key: object) -> bool:
        return self._wrap_key(key) in self._storage

    def discard(self, key: Any) -> None:
        self._storage.discard(self._wrap_key(key))

    def add(self, key: Any) -> None:
        self._storage.add(self._wrap_key(key))

    def update(self, items: Iterable[Any]) -> None:
        self._storage.update(self._wrap_key(each) for each in items)

    def intersection(self, items: Iterable[Any]) -> ObjectIdentitySet:
        return type(self)._from_storage(self._storage & {self._wrap_key(each) for each in items})

    def difference(self, items: Iterable[Any]) -> ObjectIdentitySet:
        return type(self)._from_storage(self._storage - {self._wrap_key(each) for each in items})

    def __len__(self) -> int:
        return len(self._storage)

    def __iter__(self) -> Iterator[Any]:
        for key in list(self._storage):
            yield key.unwrapped


class ObjectIdentityWeakSet(ObjectIdentitySet):
    """The same, without keeping its elements alive."""

    def _wrap_key(self, key: Any) -> _ObjectIdentityWrapper:
        return _WeakObjectIdentityWrapper(key)

    def __len__(self) -> int:
        return len(_drop_dead(self._storage))

    def __iter__(self) -> Iterator[Any]:
        return iter(_drop_dead(self._storage))
