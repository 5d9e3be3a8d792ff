"""How the items of collections are written to MetaGraphs: kinds that have protos of their own say so here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from everflow.api import internal


class ProtoForm(NamedTuple):
    """The proto of a collection's items, and the ways to and from it."""

    proto_type: Any
    to_proto: Callable[..., Any] | None
    from_proto: Callable[..., Any] | None


_forms: dict[str, ProtoForm] = {}


@internal("framework.ops.register_proto_function")
def register_proto_function(collection_name: str, proto_type: Any = None, to_proto: Any = None, from_proto: Any = None) -> None:
    """Says how items of a collection become protos: `to_proto(item, export_scope=...)`, `from_proto(proto, import_scope=...)`."""
    if to_proto and not callable(to_proto):
        raise TypeError("to_proto must be callable.")
    if from_proto and not callable(from_proto):
        raise TypeError("from_proto must be callable.")
    if collection_name in _forms:
        raise KeyError(f"Registering two proto_function with name '{collection_name}'!")
    _forms[collection_name] = ProtoForm(proto_type, to_proto, from_proto)


def _load() -> None:
    """The kinds that Everflow itself has are registered where they are defined."""
    import everflow.train.metagraphs.kinds  # noqa: F401


@internal("framework.ops.get_to_proto_function")
def get_to_proto_function(collection_name: str) -> Callable[..., Any] | None:
    """From an item of a collection to its proto, or None."""
    _load()
    form = _forms.get(collection_name)
    return form.to_proto if form else None


@internal("framework.ops.get_from_proto_function")
def get_from_proto_function(collection_name: str) -> Callable[..., Any] | None:
    """From a proto to an item of a collection, or None."""
    _load()
    form = _forms.get(collection_name)
    return form.from_proto if form else None


@internal("framework.ops.get_collection_proto_type")
def get_collection_proto_type(collection_name: str) -> Any:
    """The proto of a collection's items, or None."""
    _load()
    form = _forms.get(collection_name)
    return form.proto_type if form else None
