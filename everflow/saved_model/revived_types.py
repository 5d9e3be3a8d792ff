"""Kinds of objects that SavedModels name, and how they come to life again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from everflow.api import internal
from everflow.proto import saved_object_graph_pb2, versions_pb2


@internal("saved_model.revived_types.VersionedTypeRegistration")
class VersionedTypeRegistration:
    """One version of a kind of object."""

    def __init__(
        self,
        object_factory: Callable[[Any], Any],
        version: int,
        min_producer_version: int,
        min_consumer_version: int,
        bad_consumers: Any = None,
        setter: Callable[..., Any] = setattr,
    ) -> None:
        self.setter = setter
        self.identifier: str | None = None
        self._object_factory = object_factory
        self.version = version
        self._min_consumer_version = min_consumer_version
        self._min_producer_version = min_producer_version
        self._bad_consumers = list(bad_consumers or [])

    def to_proto(self) -> Any:
        """What a SavedModel says of such an object."""
        return saved_object_graph_pb2.SavedUserObject(
            identifier=self.identifier,
            version=versions_pb2.VersionDef(
                producer=self.version, min_consumer=self._min_consumer_version, bad_consumers=self._bad_consumers
            ),
        )

    def from_proto(self, proto: Any) -> Any:
        """A new object."""
        return self._object_factory(proto)

    def should_load(self, proto: Any) -> bool:
        """Whether this version reads what was written."""
        if proto.identifier != self.identifier:
            return False
        return (
            self.version >= proto.version.min_consumer
            and proto.version.producer >= self._min_producer_version
            and self.version not in proto.version.bad_consumers
        )


_registered: dict[str, tuple[Callable[[Any], bool], list[VersionedTypeRegistration]]] = {}


@internal("saved_model.revived_types.register_revived_type")
def register_revived_type(identifier: str, predicate: Callable[[Any], bool], versions: list[VersionedTypeRegistration]) -> None:
    """Adds a kind of object: `predicate` knows its objects."""
    newest_first = sorted(versions, key=lambda registration: registration.version, reverse=True)
    if not newest_first:
        raise AssertionError("Need at least one version of a revived type.")
    numbers = [registration.version for registration in newest_first]
    if len(set(numbers)) != len(numbers):
        raise AssertionError(f"Got multiple registrations with version {numbers} for type {identifier}")
    if identifier in _registered:
        raise AssertionError(f"Duplicate registrations for type {identifier}")
    for registration in newest_first:
        registration.identifier = identifier
    _registered[identifier] = (predicate, newest_first)


@internal("saved_model.revived_types.serialize")
def serialize(obj: Any) -> Any:
    """What a SavedModel says of an object, or None where it is of no kind."""
    for predicate, versions in _registered.values():
        if predicate(obj):
            return versions[0].to_proto()
    return None


@internal("saved_model.revived_types.deserialize")
def deserialize(proto: Any) -> tuple[Any, Callable[..., Any]] | None:
    """(new object, function that sets its attributes), or None where nothing here can read it."""
    _, versions = _registered.get(proto.identifier, (None, []))
    for registration in versions:
        if registration.should_load(proto):
            return registration.from_proto(proto), registration.setter
    return None


@internal("saved_model.revived_types.registered_identifiers")
def registered_identifiers() -> list[str]:
    """The kinds that are known."""
    return list(_registered)
