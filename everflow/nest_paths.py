"""Walks over nested structures that keep the path of each leaf, or stop where a shallower structure has its leaves."""

from __future__ import annotations

import collections.abc
from collections.abc import Callable, Iterator
from typing import Any

from everflow.api import INTERNAL, public
from everflow.nest import (
    _clash_of_specs,
    _is_attrs,
    _is_composite_tensor,
    _is_mapping,
    _is_namedtuple,
    _is_type_spec,
    _Openers,
    _openers,
    _published,
    _same_namedtuples,
    _sequence_like,
    _sorted_keys,
    _spec_of,
    flatten,
    is_nested,
    is_sequence_or_composite,
    pack_sequence_as,
)

_WRONG_KEYS = (
    "The shallow_tree's keys are not a subset of the input_tree's keys. The shallow_tree has the following keys that "
    "are not in the input_tree: {}."
)
_WRONG_TYPES = (
    "The two structures don't have the same sequence type. Input structure has type {input_type}, while shallow "
    "structure has type {shallow_type}."
)
_WRONG_LENGTHS = (
    "The two structures don't have the same sequence length. Input structure has length {input_length}, while shallow "
    "structure has length {shallow_length}."
)
_TOO_FEW = (
    "The input_tree has fewer elements than the shallow_tree. Input structure has length {input_size}, while shallow "
    "structure has length {shallow_size}."
)
_NOT_OPEN = "If shallow structure is a sequence, input must also be a sequence. Input has type: {}."

for _name, _text in (
    ("_SHALLOW_TREE_HAS_INVALID_KEYS", _WRONG_KEYS),
    ("_STRUCTURES_HAVE_MISMATCHING_TYPES", _WRONG_TYPES),
    ("_STRUCTURES_HAVE_MISMATCHING_LENGTHS", _WRONG_LENGTHS),
    ("_INPUT_TREE_SMALLER_THAN_SHALLOW_TREE", _TOO_FEW),
    ("_IF_SHALLOW_IS_SEQ_INPUT_MUST_BE_SEQ", _NOT_OPEN),
):
    public(INTERNAL + "util.nest." + _name, owner=__name__)(_text)


def _items(structure: Any, openers: _Openers) -> Iterator[tuple[Any, Any]]:
    """The children of a structure with the part of a path that leads to each."""
    children = openers.children(structure)
    if openers.expand_composites and _is_composite_tensor(structure):
        keys: Any = (type(structure).__name__,)
    elif openers.expand_composites and _is_type_spec(structure):
        keys = (structure.value_type.__name__,)
    elif _is_mapping(structure):
        keys = _sorted_keys(structure)
    elif _is_namedtuple(structure):
        keys = structure._fields
    elif _is_attrs(structure):
        keys = [attribute.name for attribute in structure.__attrs_attrs__]
    else:
        keys = range(len(children))
    return zip(keys, children)


def _side_by_side(shallow: Any, deep: Any, openers: _Openers) -> Iterator[tuple[Any, Any, Any]]:
    """Path parts with the children that two structures have there; mappings pair by key, others by position."""
    if _is_mapping(shallow) and _is_mapping(deep):
        for key, child in _items(shallow, openers):
            yield key, child, deep[key]
    else:
        for (key, child), (_, deep_child) in zip(_items(shallow, openers), _items(deep, openers)):
            yield key, child, deep_child


def _walk(structure: Any, openers: _Openers, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Any]]:
    if not openers.opens(structure):
        yield path, structure
        return
    for key, child in _items(structure, openers):
        yield from _walk(child, openers, (*path, key))


def _walk_up_to(shallow: Any, deep: Any, openers: _Openers, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Any]]:
    if not openers.opens(shallow):
        yield path, deep
        return
    for key, child, deep_child in _side_by_side(shallow, deep, openers):
        yield from _walk_up_to(child, deep_child, openers, (*path, key))


@_published("yield_flat_paths")
def yield_flat_paths(nest: Any, expand_composites: bool = False) -> Iterator[tuple[Any, ...]]:
    """The path of each leaf, as a tuple of keys, field names and positions."""
    for path, _ in flatten_with_tuple_paths(nest, expand_composites):
        yield path


@_published("flatten_with_tuple_paths")
def flatten_with_tuple_paths(structure: Any, expand_composites: bool = False) -> list[tuple[tuple[Any, ...], Any]]:
    return list(_walk(structure, _openers(expand_composites)))


@_published("flatten_with_joined_string_paths")
def flatten_with_joined_string_paths(structure: Any, separator: str = "/", expand_composites: bool = False) -> list[tuple[str, Any]]:
    return [(separator.join(map(str, path)), leaf) for path, leaf in flatten_with_tuple_paths(structure, expand_composites)]


@_published("assert_shallow_structure")
def assert_shallow_structure(
    shallow_tree: Any, input_tree: Any, check_types: bool = True, expand_composites: bool = False, check_subtrees_length: bool = True
) -> None:
    """Raises ValueError or TypeError unless `input_tree` is nested like `shallow_tree` as far as that one goes."""
    openers = _openers(expand_composites)
    if not openers.opens(shallow_tree):
        return
    if not openers.opens(input_tree):
        raise TypeError(_NOT_OPEN.format(type(input_tree)))
    if check_types:
        _assert_types_fit(shallow_tree, input_tree, openers)
    sizes = len(openers.children(shallow_tree)), len(openers.children(input_tree))
    if check_subtrees_length and sizes[0] != sizes[1]:
        raise ValueError(_WRONG_LENGTHS.format(input_length=sizes[1], shallow_length=sizes[0]))
    if sizes[1] < sizes[0]:
        raise ValueError(_TOO_FEW.format(input_size=sizes[1], shallow_size=sizes[0]))
    if _is_mapping(shallow_tree) and _is_mapping(input_tree):
        unknown = set(shallow_tree) - set(input_tree)
        if unknown:
            raise ValueError(_WRONG_KEYS.format(sorted(unknown)))
    for _, shallow, deep in _side_by_side(shallow_tree, input_tree, openers):
        assert_shallow_structure(shallow, deep, check_types, expand_composites, check_subtrees_length)


def _assert_types_fit(shallow: Any, deep: Any, openers: _Openers) -> None:
    specs = (_spec_of(shallow), _spec_of(deep)) if openers.expand_composites else (None, None)
    if None not in specs:
        clash = _clash_of_specs(*specs)
        if clash:
            raise ValueError(f"Incompatible CompositeTensor TypeSpecs: {specs[0]} vs. {specs[1]} -- {clash}")
        return
    if isinstance(deep, shallow.__class__):
        return
    if _is_namedtuple(shallow) and _is_namedtuple(deep):
        fits = _same_namedtuples(shallow, deep)
    else:
        fits = _is_mapping(shallow) and _is_mapping(deep)
    if not fits:
        raise TypeError(_WRONG_TYPES.format(input_type=type(deep), shallow_type=type(shallow)))


@_published("flatten_with_tuple_paths_up_to")
def flatten_with_tuple_paths_up_to(
    shallow_tree: Any, input_tree: Any, check_types: bool = True, expand_composites: bool = False, check_subtrees_length: bool = True
) -> list[tuple[tuple[Any, ...], Any]]:
    assert_shallow_structure(shallow_tree, input_tree, check_types, expand_composites, check_subtrees_length)
    return list(_walk_up_to(shallow_tree, input_tree, _openers(expand_composites)))


@_published("flatten_up_to")
def flatten_up_to(
    shallow_tree: Any, input_tree: Any, check_types: bool = True, expand_composites: bool = False, check_subtrees_length: bool = True
) -> list[Any]:
    """What `input_tree` holds where `shallow_tree` has its leaves."""
    found = flatten_with_tuple_paths_up_to(shallow_tree, input_tree, check_types, expand_composites, check_subtrees_length)
    return [part for _, part in found]


@_published("_yield_flat_up_to")
def _yield_flat_up_to(
    shallow_tree: Any, input_tree: Any, is_seq: Callable[[Any], bool], path: tuple[Any, ...] = ()
) -> Iterator[tuple[tuple[Any, ...], Any]]:
    return _walk_up_to(shallow_tree, input_tree, _openers(is_seq is is_sequence_or_composite), path)


@_published("map_structure_up_to")
def map_structure_up_to(shallow_tree: Any, func: Callable[..., Any], *inputs: Any, **kwargs: Any) -> Any:
    """Applies `func` to what the inputs hold where `shallow_tree` has its leaves."""
    return map_structure_with_tuple_paths_up_to(shallow_tree, lambda _, *parts, **rest: func(*parts, **rest), *inputs, **kwargs)


@_published("map_structure_with_tuple_paths_up_to")
def map_structure_with_tuple_paths_up_to(shallow_tree: Any, func: Callable[..., Any], *inputs: Any, **kwargs: Any) -> Any:
    """Like `map_structure_up_to`, with the tuple path as first argument of `func`."""
    if not inputs:
        raise ValueError("Cannot map over no sequences")
    check_types = kwargs.pop("check_types", True)
    expand_composites = kwargs.pop("expand_composites", False)
    check_subtrees_length = kwargs.pop("check_subtrees_length", True)
    for each in inputs:
        assert_shallow_structure(shallow_tree, each, check_types, expand_composites, check_subtrees_length)
    openers = _openers(expand_composites)
    walks = [list(_walk_up_to(shallow_tree, each, openers)) for each in inputs]
    results = [func(places[0][0], *(part for _, part in places), **kwargs) for places in zip(*walks)]
    return pack_sequence_as(shallow_tree, results, expand_composites)


@_published("map_structure_with_tuple_paths")
def map_structure_with_tuple_paths(func: Callable[..., Any], *structure: Any, **kwargs: Any) -> Any:
    return map_structure_with_tuple_paths_up_to(structure[0], func, *structure, **kwargs)


@_published("map_structure_with_paths")
def map_structure_with_paths(func: Callable[..., Any], *structure: Any, **kwargs: Any) -> Any:
    """Like `map_structure`, with the path (`"a/0/b"`) as first argument of `func`."""

    def with_joined_path(path: tuple[Any, ...], *parts: Any, **rest: Any) -> Any:
        return func("/".join(map(str, path)), *parts, **rest)

    return map_structure_with_tuple_paths(with_joined_path, *structure, **kwargs)


@_published("flatten_dict_items")
def flatten_dict_items(dictionary: Any) -> dict[Any, Any]:
    """Opens nested keys: `{("a", "b"): (1, 2)}` becomes `{"a": 1, "b": 2}`."""
    if not isinstance(dictionary, (dict, collections.abc.Mapping)):
        raise TypeError("input must be a dictionary")
    flat: dict[Any, Any] = {}
    for nested_key, nested_value in dictionary.items():
        keys, values = flatten(nested_key), flatten(nested_value)
        if not is_nested(nested_key):
            values = [nested_value]
        if len(keys) != len(values):
            raise ValueError(
                f"Could not flatten dictionary. Key had {len(keys)} elements, but value had {len(values)} elements. "
                f"Key: {keys}, value: {values}."
            )
        for key, value in zip(keys, values):
            if key in flat:
                raise ValueError(f"Could not flatten dictionary: key {key} is not unique.")
            flat[key] = value
    return flat


@_published("get_traverse_shallow_structure")
def get_traverse_shallow_structure(traverse_fn: Callable[[Any], Any], structure: Any, expand_composites: bool = False) -> Any:
    """A structure of booleans that goes as deep as `traverse_fn` says; use it with `flatten_up_to`."""
    openers = _openers(expand_composites)
    answer = traverse_fn(structure)
    if not openers.opens(structure):
        if not isinstance(answer, bool):
            raise TypeError(f"traverse_fn returned structure: {answer} for non-structure: {structure}")
        return answer
    if openers.opens(answer):
        assert_shallow_structure(answer, structure, expand_composites=expand_composites)
        answers = openers.children(answer)
    elif isinstance(answer, bool):
        if not answer:
            return False
        answers = None
    else:
        raise TypeError(f"traverse_fn returned a non-bool scalar: {answer} for input: {structure}")
    children = openers.children(structure)
    level = []
    for position, child in enumerate(children):
        if answers is None:
            level.append(get_traverse_shallow_structure(traverse_fn, child, expand_composites))
            continue
        chosen = answers[position]
        if not isinstance(chosen, bool):
            raise TypeError(f"traverse_fn didn't return a depth=1 structure of bools.  saw: {answer}  for structure: {structure}")
        level.append(chosen and get_traverse_shallow_structure(traverse_fn, child, expand_composites))
    return _sequence_like(structure, level)
