"""Structures of dataset elements: tuples, named tuples, dicts and attrs classes. Lists are tensors here, not structures."""

from __future__ import annotations

import collections.abc
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from everflow.api import internal
from everflow.graph.sparse_tensor import SparseTensorValue
from everflow.nest import _sequence_like


def _children(structure: Any) -> list[Any] | None:
    """The parts of a structure in order; None for a leaf."""
    if isinstance(structure, tuple):
        return None if isinstance(structure, SparseTensorValue) or _is_ragged_value(structure) else list(structure)
    if isinstance(structure, collections.abc.Mapping):
        return [structure[key] for key in sorted(structure)]
    if hasattr(type(structure), "__attrs_attrs__"):
        return [getattr(structure, a.name) for a in structure.__attrs_attrs__]
    return None


def _is_ragged_value(structure: Any) -> bool:
    return type(structure).__name__ == "RaggedTensorValue"


@internal("data.util.nest.is_sequence")
def is_sequence(o: Any) -> bool:
    """Whether this is a structure rather than a leaf."""
    return _children(o) is not None


@internal("data.util.nest.flatten")
def flatten(nested: Any) -> list[Any]:
    """The leaves in order."""
    children = _children(nested)
    return [nested] if children is None else [leaf for child in children for leaf in flatten(child)]


@internal("data.util.nest.pack_sequence_as")
def pack_sequence_as(structure: Any, flat_sequence: Any) -> Any:
    """Puts the elements of a list in the places of the leaves."""
    if not isinstance(flat_sequence, (list, tuple)) and not isinstance(flat_sequence, collections.abc.Sequence):
        raise TypeError("flat_sequence must be a sequence")
    count = len(flatten(structure))
    if _children(structure) is None:
        if len(flat_sequence) != 1:
            raise ValueError(f"Structure is a scalar but len(flat_sequence) == {len(flat_sequence)} > 1")
        return flat_sequence[0]
    if count != len(flat_sequence):
        raise ValueError(
            f"Could not pack sequence. Structure had {count} elements, but flat_sequence had {len(flat_sequence)} elements.  Structure: "
            f"{structure}, flat_sequence: {flat_sequence}."
        )
    return _pack(structure, iter(flat_sequence))


def _pack(structure: Any, leaves: Iterator[Any]) -> Any:
    children = _children(structure)
    return next(leaves) if children is None else _sequence_like(structure, [_pack(child, leaves) for child in children])


def _kind(structure: Any) -> Any:
    return dict if isinstance(structure, collections.abc.Mapping) else type(structure)


@internal("data.util.nest.assert_same_structure")
def assert_same_structure(nest1: Any, nest2: Any, check_types: bool = True) -> None:
    """Raises where two structures differ: ValueError in nesting, TypeError in types."""
    problem = _difference(nest1, nest2, check_types)
    if problem is not None:
        kind, text = problem
        raise kind(
            "The two structures don't have the same nested structure.\n\n"
            f"First structure: {_described(nest1)}\n\nSecond structure: {_described(nest2)}\n\nMore specifically: {text}"
        )


def _described(value: Any) -> str:
    return f"type={type(value).__name__} str={value}"


def _difference(a: Any, b: Any, check_types: bool) -> tuple[type[Exception], str] | None:
    x, y = _children(a), _children(b)
    if (x is None) != (y is None):
        one, other = (a, b) if x is not None else (b, a)
        return ValueError, f'Substructure "{_described(one)}" is a sequence, while substructure "{_described(other)}" is not'
    if x is None or y is None:
        return None
    if len(x) != len(y):
        return ValueError, f"The two structures don't have the same number of elements: {a} has {len(x)}, {b} has {len(y)}"
    if check_types and _kind(a) is not _kind(b):
        return TypeError, f"The two structures don't have the same sequence type. First: {type(a)}, second: {type(b)}"
    if isinstance(a, collections.abc.Mapping) and isinstance(b, collections.abc.Mapping) and sorted(a) != sorted(b):
        return ValueError, f"The two dictionaries don't have the same set of keys: {sorted(a)} and {sorted(b)}"
    for one, other in zip(x, y):
        found = _difference(one, other, check_types)
        if found is not None:
            return found
    return None


@internal("data.util.nest.map_structure")
def map_structure(func: Callable[..., Any], *structure: Any, **check_types_dict: Any) -> Any:
    """A structure of the function's values for the leaves of others, which must have the same structure."""
    if not callable(func):
        raise TypeError(f"func must be callable, got: {func}")
    if not structure:
        raise ValueError("Must provide at least one structure")
    check_types = check_types_dict.pop("check_types", True)
    if check_types_dict:
        raise ValueError("Only valid keyword argument is check_types")
    for other in structure[1:]:
        assert_same_structure(structure[0], other, check_types=check_types)
    return pack_sequence_as(structure[0], [func(*leaves) for leaves in zip(*map(flatten, structure))])


@internal("data.util.nest.assert_shallow_structure")
def assert_shallow_structure(shallow_tree: Any, input_tree: Any, check_types: bool = True) -> None:
    """Raises where the second structure does not begin as the first does."""
    shallow = _children(shallow_tree)
    if shallow is None:
        return
    deep = _children(input_tree)
    if deep is None:
        raise TypeError(f"If shallow structure is a sequence, input must also be a sequence. Input has type: {type(input_tree)}.")
    if check_types and not issubclass(_kind(input_tree), _kind(shallow_tree)):
        raise TypeError(
            "The two structures don't have the same sequence type. Input structure has type "
            f"'{type(input_tree).__name__}', while shallow structure has type '{type(shallow_tree).__name__}'."
        )
    if len(deep) != len(shallow):
        raise ValueError(
            "The two structures don't have the same sequence length. Input structure has length "
            f"{len(deep)}, while shallow structure has length {len(shallow)}."
        )
    if check_types and isinstance(shallow_tree, collections.abc.Mapping) and set(input_tree) != set(shallow_tree):
        raise ValueError(
            f"The two structures don't have the same keys. Input structure has keys {list(input_tree)}, while shallow structure has keys "
            f"{list(shallow_tree)}."
        )
    for a, b in zip(shallow, deep):
        assert_shallow_structure(a, b, check_types)


def _up_to(shallow: Any, deep: Any) -> Iterable[Any]:
    children = _children(shallow)
    if children is None:
        yield deep
    else:
        for a, b in zip(children, _children(deep) or ()):
            yield from _up_to(a, b)


@internal("data.util.nest.flatten_up_to")
def flatten_up_to(shallow_tree: Any, input_tree: Any) -> list[Any]:
    """What stands in the second structure where the first has its leaves."""
    assert_shallow_structure(shallow_tree, input_tree)
    return list(_up_to(shallow_tree, input_tree))


@internal("data.util.nest.map_structure_up_to")
def map_structure_up_to(shallow_tree: Any, func: Callable[..., Any], *inputs: Any) -> Any:
    """The first structure with the function's values of what the others have where it has its leaves."""
    if not inputs:
        raise ValueError("Cannot map over no sequences")
    for tree in inputs:
        assert_shallow_structure(shallow_tree, tree)
    return pack_sequence_as(shallow_tree, [func(*found) for found in zip(*(flatten_up_to(shallow_tree, tree) for tree in inputs))])
