"""What `run` is asked for and given: fetch structures, and what may be fed for what."""

from __future__ import annotations

import collections.abc
from collections.abc import Callable
from typing import Any

from everflow.api import internal, public
from everflow.graph.graph import Graph
from everflow.graph.indexed_slices import IndexedSlices, IndexedSlicesValue
from everflow.graph.operation import Operation
from everflow.graph.sparse_tensor import SparseTensor, SparseTensorValue
from everflow.graph.tensor import Tensor

Build = Callable[[list[Any]], Any]


class Expansion:
    """How objects of a type are fetched (as which tensors, put together how) and fed."""

    def __init__(self, kind: type, fetch: Any, feed: Any = None, feed_keys: Any = None) -> None:
        self.kind = kind
        self.fetch = fetch
        self.feed = feed
        self.feed_keys = feed_keys


EXPANSIONS: list[Expansion] = []


@public("contrib.framework.register_session_run_conversion_functions")
@internal("client.session.register_session_run_conversion_functions")
def register_session_run_conversion_functions(
    tensor_type: type, fetch_function: Any, feed_function: Any = None, feed_function_for_partial_run: Any = None
) -> None:
    """Says how objects of a type are fetched and fed in `session.run`."""
    for e in EXPANSIONS:
        if issubclass(tensor_type, e.kind):
            raise ValueError(f"{tensor_type} has already been registered so ignore it.")
    EXPANSIONS.insert(0, Expansion(tensor_type, fetch_function, feed_function, feed_function_for_partial_run))


def expansion_of(value: Any) -> Expansion | None:
    for e in EXPANSIONS:
        if isinstance(value, e.kind):
            return e
    return None


class Fetches:
    """A fetch structure taken apart: its flat elements, and how to put their values together again."""

    def __init__(self, graph: Graph, fetches: Any) -> None:
        self.elements: list[Any] = []
        self._positions: dict[Any, int] = {}
        self._graph = graph
        self.build = self._plan(fetches)
        self.tensors = [e for e in self.elements if isinstance(e, Tensor)]
        self.operations = [e for e in self.elements if isinstance(e, Operation)]

    def _plan(self, fetch: Any) -> Build:
        if fetch is None:
            raise TypeError(f"Fetch argument {fetch!r} has invalid type {type(fetch)!r}")
        if isinstance(fetch, (list, tuple)):
            return self._sequence(fetch)
        if isinstance(fetch, collections.abc.Mapping):
            return self._mapping(fetch)
        if hasattr(type(fetch), "__attrs_attrs__"):
            names = [a.name for a in type(fetch).__attrs_attrs__]
            parts = [self._plan(getattr(fetch, n)) for n in names]
            kind: Any = type(fetch)
            return lambda values: kind(*[p(values) for p in parts])
        expansion = expansion_of(fetch)
        if expansion is not None:
            members, combine = expansion.fetch(fetch)
            positions = [self._position(m) for m in members]
            return lambda values: combine([values[p] for p in positions])
        position = self._position(fetch)
        return lambda values: values[position]

    def _sequence(self, fetch: Any) -> Build:
        parts = [self._plan(f) for f in fetch]
        kind = type(fetch)
        if hasattr(kind, "_fields"):
            return lambda values: kind(*[p(values) for p in parts])
        if kind is tuple:
            return lambda values: tuple([p(values) for p in parts])
        return lambda values: [p(values) for p in parts]

    def _mapping(self, fetch: Any) -> Build:
        keys = list(fetch.keys())
        parts = [self._plan(v) for v in fetch.values()]
        kind = type(fetch)
        if issubclass(kind, collections.defaultdict):
            return lambda values: kind(fetch.default_factory, {k: p(values) for k, p in zip(keys, parts)})
        return lambda values: kind((k, p(values)) for k, p in zip(keys, parts))

    def _position(self, fetch: Any) -> int:
        try:
            element = self._graph.as_graph_element(fetch, allow_tensor=True, allow_operation=True)
        except TypeError as e:
            raise TypeError(f"Fetch argument {fetch!r} has invalid type {type(fetch)}, must be a string or Tensor. ({e})") from None
        except ValueError as e:
            raise ValueError(f"Fetch argument {fetch!r} cannot be interpreted as a Tensor. ({e})") from None
        except KeyError as e:
            raise ValueError(f"Fetch argument {fetch!r} cannot be interpreted as a Tensor. ({e})") from None
        if not self._graph.is_fetchable(element):
            op = element.op if isinstance(element, Tensor) else element
            raise ValueError(f"Operation {op.name!r} has been marked as not fetchable.")
        found = self._positions.get(element)
        if found is None:
            found = self._positions[element] = len(self.elements)
            self.elements.append(element)
        return found


@internal("client.session._FetchHandler")
class FetchHandler:
    """A fetch structure as programs that look into a session's run take it apart, with what is fed left out."""

    def __init__(self, graph: Any, fetches: Any, feeds: Any, feed_handles: Any = None) -> None:
        self._wanted = Fetches(graph, fetches)
        self._fed = {tensor.experimental_ref(): value for tensor, value in feeds.items()}
        self._computed = [t for t in self._wanted.tensors if t.experimental_ref() not in self._fed]

    def fetches(self) -> list[Tensor]:
        """The tensors to compute, each once."""
        return self._computed

    def targets(self) -> list[Operation]:
        """The operations to run."""
        return self._wanted.operations

    def build_results(self, session: Any, tensor_values: Any) -> Any:
        """The structure again, from the values of `fetches()` in their order."""
        values = {**self._fed, **{t.experimental_ref(): v for t, v in zip(self._computed, tensor_values, strict=True)}}
        return self._wanted.build([values[e.experimental_ref()] if isinstance(e, Tensor) else None for e in self._wanted.elements])


def _sparse_members(x: Any) -> list[Any]:
    return [x.indices, x.values, x.dense_shape]


def _slices_members(x: Any) -> list[Any]:
    return [x.values, x.indices] if x.dense_shape is None else [x.values, x.indices, x.dense_shape]


def _fed_parts(members: list[Any], value: Any, names: tuple[str, ...]) -> list[tuple[Any, Any]]:
    parts = list(value) if isinstance(value, tuple) else [getattr(value, n) for n in names]
    return list(zip(members, parts))


def _register_composites() -> None:
    """Sparse tensors and indexed slices are fetched and fed as the tensors they are made of."""
    EXPANSIONS.append(
        Expansion(
            SparseTensor,
            lambda x: (_sparse_members(x), lambda parts: SparseTensorValue(*parts)),
            lambda x, value: _fed_parts(_sparse_members(x), value, ("indices", "values", "dense_shape")),
            _sparse_members,
        )
    )
    EXPANSIONS.append(
        Expansion(
            IndexedSlices,
            lambda x: (_slices_members(x), lambda parts: IndexedSlicesValue(*(*parts, None)[:3])),
            lambda x, value: _fed_parts(_slices_members(x), value, ("values", "indices", "dense_shape")),
            _slices_members,
        )
    )


_register_composites()
