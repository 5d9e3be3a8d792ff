"""The bodies that a function was traced into, by what they were traced for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from everflow import nest
from everflow.eager.concrete_functions import ConcreteFunction
from everflow.graph.shapes import Dims, TensorShape
from everflow.graph.tensor import Tensor
from everflow.graph.tensor_spec import TensorSpec

Key = tuple[Any, ...]


class FunctionCache:
    """Bodies by exact types and shapes and, where shapes may be relaxed, by types and ranks.

    A key is where the function is called from, the structure of its arguments, and a part for each of them.
    """

    def __init__(self) -> None:
        self.primary: dict[Key, ConcreteFunction] = {}
        self.arg_relaxed: dict[Key, ConcreteFunction] = {}
        self.arg_relaxed_shapes: dict[Key, list[TensorShape]] = {}
        # From where a call was not found before: shapes are relaxed from the second such call on.
        self.missed: set[Any] = set()

    def all_values(self) -> list[ConcreteFunction]:
        """All bodies, each once."""
        return list(dict.fromkeys([*self.primary.values(), *self.arg_relaxed.values()]))

    def find_relaxed(self, key: Key, args: Any, trace: Callable[[Any], ConcreteFunction]) -> ConcreteFunction:
        """A body for arguments of these ranks; sizes that vary are left open in it."""
        where, structure, parts = key
        by_rank = where, structure, tuple((p[0], p[1], p[2] if p[2] is None else len(p[2])) if p[0] == "tensor" else p for p in parts)
        shapes = [p[2] for p in parts if p[0] == "tensor"]
        known = self.arg_relaxed_shapes.get(by_rank)
        if known is None:
            self.arg_relaxed_shapes[by_rank] = [TensorShape(s) for s in shapes]
            found = self.arg_relaxed[by_rank] = trace(args)
            return found
        if all(_is_within(s, k.as_dims()) for s, k in zip(shapes, known)):
            return self.arg_relaxed[by_rank]
        relaxed = [_common(s, k.as_dims()) for s, k in zip(shapes, known)]
        self.arg_relaxed_shapes[by_rank] = [TensorShape(s) for s in relaxed]
        rest = iter(relaxed)

        def as_spec(value: Any) -> Any:
            if isinstance(value, TensorSpec):
                return TensorSpec(next(rest), value.dtype, value.name)
            if isinstance(value, Tensor):
                dims = next(rest)
                return TensorSpec(dims, value.dtype.base_dtype) if value.handle_data is None else value
            if hasattr(value, "__array_interface__"):
                return TensorSpec(next(rest), value.dtype)
            return value

        found = self.arg_relaxed[by_rank] = trace(nest.map_structure(as_spec, args, expand_composites=True))
        return found


def _is_within(dims: Dims, outer: Any) -> bool:
    return outer is None or dims is not None and all(o is None or d == o for d, o in zip(dims, outer))


def _common(a: Any, b: Any) -> Any:
    if a is None or b is None:
        return None
    return tuple(m if m == n else None for m, n in zip(a, b))
