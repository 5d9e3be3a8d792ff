"""Nested structures of Python values: lists, tuples, named tuples, dicts, attrs classes and composite tensors.

How a structure opens is decided once for each type and kept in a table, so that walking plain lists and tuples costs a
dictionary look-up for each element. Mappings open in the order of their sorted keys.
"""

from __future__ import annotations

import collections
import collections.abc
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from everflow.api import INTERNAL, public

Opener = Callable[[Any], "Iterable[Any] | None"]


def _published(*names: str) -> Callable[[Any], Any]:
    """Publishes a function of the calling module where programs look: `tf.contrib.framework.nest`, `util.nest`."""
    homes = ("contrib.framework.nest.", INTERNAL + "util.nest.")
    owner = sys._getframe(1).f_globals["__name__"]
    return public(*(home + name for name in names for home in homes), owner=owner)


# How types open.


def _sorted_keys(mapping: Any) -> list[Any]:
    try:
        return sorted(mapping)
    except TypeError:
        raise TypeError("nest only supports dicts with sortable keys.") from None


def _itself(structure: Any) -> Any:
    return structure


def _open_mapping(mapping: Any) -> list[Any]:
    return [mapping[key] for key in _sorted_keys(mapping)]


def _open_attrs(instance: Any) -> list[Any]:
    return [getattr(instance, attribute.name) for attribute in instance.__attrs_attrs__]


def _open_composite(tensor: Any) -> tuple[Any]:
    return (tensor._type_spec._to_components(tensor),)


def _open_spec(spec: Any) -> tuple[Any]:
    return (spec._component_specs,)


def _is_composite_type(kind: type) -> bool:
    return hasattr(kind, "_type_spec")


def _is_spec_type(kind: type) -> bool:
    """Specs of composite tensors; a TensorSpec or VariableSpec describes one tensor and stays whole."""
    if not (hasattr(kind, "_component_specs") and hasattr(kind, "_from_components")):
        return False
    return not any(base.__name__ in ("TensorSpec", "VariableSpec") for base in kind.__mro__)


def _is_proxy_type(kind: type) -> bool:
    """Proxies (wrapt, mock) say themselves what class they are, so their type does not tell how they open."""
    return any("__class__" in vars(base) for base in kind.__mro__[:-1])


class _Openers(dict):
    """How each type opens: None for a leaf, else a function to its children (which may still answer None: a leaf)."""

    def __init__(self, expand_composites: bool) -> None:
        super().__init__({list: _itself, tuple: _itself, dict: _open_mapping, str: None, bytes: None})
        self.expand_composites = expand_composites

    def __missing__(self, kind: type) -> Opener | None:
        self[kind] = opener = self._open_proxy if _is_proxy_type(kind) else self._decide(kind)
        return opener

    def _open_proxy(self, instance: Any) -> Iterable[Any] | None:
        opener = self._decide(instance.__class__)
        return None if opener is None else opener(instance)

    def _decide(self, kind: type) -> Opener | None:
        if self.expand_composites:
            if _is_composite_type(kind):
                return _open_composite
            if _is_spec_type(kind):
                return _open_spec
        if issubclass(kind, collections.abc.Mapping):
            return _open_mapping
        if hasattr(kind, "__attrs_attrs__"):
            return _open_attrs
        if issubclass(kind, collections.abc.MappingView):
            return _itself
        if issubclass(kind, collections.abc.Sequence) and not issubclass(kind, (str, bytes)):
            return _itself
        return None

    def children(self, structure: Any) -> Any:
        """The children of a structure, a sequence or a view; None for a leaf."""
        opener = self[type(structure)]
        return None if opener is None else opener(structure)

    def opens(self, structure: Any) -> bool:
        opener = self[type(structure)]
        if opener is None:
            return False
        return opener is _itself or opener is _open_mapping or opener(structure) is not None


_PLAIN = _Openers(expand_composites=False)
_EXPANDED = _Openers(expand_composites=True)


def _openers(expand_composites: bool) -> _Openers:
    return _EXPANDED if expand_composites else _PLAIN


@public("nest.is_nested")
def is_nested(seq: Any) -> bool:
    """Whether the value is a structure rather than a leaf."""
    return _PLAIN.opens(seq)


is_sequence = _published("is_sequence")(is_nested)
_published("is_nested")(is_nested)


@_published("is_sequence_or_composite")
def is_sequence_or_composite(o: Any) -> bool:
    return _EXPANDED.opens(o)


@_published("_is_mapping")
def _is_mapping(o: Any) -> bool:
    return isinstance(o, collections.abc.Mapping)


@_published("_is_mapping_view")
def _is_mapping_view(o: Any) -> bool:
    return isinstance(o, collections.abc.MappingView)


@_published("_is_attrs")
def _is_attrs(o: Any) -> bool:
    return hasattr(o.__class__, "__attrs_attrs__")


@_published("_is_composite_tensor")
def _is_composite_tensor(o: Any) -> bool:
    return _is_composite_type(o.__class__)


@_published("_is_type_spec")
def _is_type_spec(o: Any) -> bool:
    return _is_spec_type(o.__class__)


@_published("_is_namedtuple")
def _is_namedtuple(instance: Any, strict: bool = False) -> bool:
    """A tuple with named fields; `strict` asks for the named tuple's own class, not a subclass of it."""
    kind = instance.__class__
    if strict and (kind is tuple or kind.__base__ is not tuple):
        return False
    fields = getattr(kind, "_fields", None)
    return issubclass(kind, tuple) and isinstance(fields, tuple) and all(isinstance(f, str) for f in fields)


@_published("_same_namedtuples")
def _same_namedtuples(o1: Any, o2: Any) -> bool:
    """Named tuples made twice from the same description are the same kind of structure."""
    kind1, kind2 = o1.__class__, o2.__class__
    return kind1.__name__ == kind2.__name__ and kind1._fields == kind2._fields


# Flattening and packing.


@public("nest.flatten")
def flatten(structure: Any, expand_composites: bool = False) -> list[Any]:
    """The leaves of a structure, in order; a leaf alone gives a list of itself."""
    openers = _EXPANDED if expand_composites else _PLAIN
    opener = openers[type(structure)]
    children = None if opener is None else opener(structure)
    if children is None:
        return [structure]
    flat: list[Any] = []
    _flatten_onto(flat, children, openers)
    return flat


def _flatten_onto(flat: list[Any], children: Iterable[Any], openers: _Openers) -> None:
    for child in children:
        opener = openers[type(child)]
        inner = None if opener is None else opener(child)
        if inner is None:
            flat.append(child)
        else:
            _flatten_onto(flat, inner, openers)


@_published("_sequence_like")
def _sequence_like(instance: Any, args: Iterable[Any]) -> Any:
    """A structure of the same type as `instance` holding these children."""
    kind = type(instance)
    if kind is list:
        return list(args)
    if kind is tuple:
        return tuple(args)
    if kind is not instance.__class__:
        return kind(_sequence_like(instance.__wrapped__, args))
    if _is_mapping(instance):
        values = dict(zip(_sorted_keys(instance), args))
        pairs = [(key, values[key]) for key in instance]
        return kind(instance.default_factory, pairs) if issubclass(kind, collections.defaultdict) else kind(pairs)
    if _is_mapping_view(instance) or kind is range:
        return list(args)
    if _is_namedtuple(instance) or _is_attrs(instance):
        return kind(*args)
    if _is_composite_type(kind):
        (components,) = args
        return instance._type_spec._from_components(components)
    if _is_spec_type(kind):
        (components,) = args
        return instance._from_components(components)
    return kind(args)


@public("nest.pack_sequence_as")
def pack_sequence_as(structure: Any, flat_sequence: Any, expand_composites: bool = False) -> Any:
    """Puts the elements of `flat_sequence` in place of the leaves of `structure`."""
    openers = _EXPANDED if expand_composites else _PLAIN
    if not openers.opens(flat_sequence):
        raise TypeError("flat_sequence must be a sequence")
    children = openers.children(structure)
    if children is None:
        if len(flat_sequence) != 1:
            raise ValueError(f"Structure is a scalar but len(flat_sequence) == {len(flat_sequence)} > 1")
        return flat_sequence[0]
    count = _leaf_count(children, openers)
    if count != len(flat_sequence):
        raise ValueError(
            f"Could not pack sequence. Structure had {count} elements, but flat_sequence had {len(flat_sequence)} "
            f"elements.  Structure: {structure}, flat_sequence: {flat_sequence}."
        )
    return _pack(structure, children, iter(flat_sequence), openers)


def _leaf_count(children: Iterable[Any], openers: _Openers) -> int:
    count = 0
    for child in children:
        opener = openers[type(child)]
        inner = None if opener is None else opener(child)
        count += 1 if inner is None else _leaf_count(inner, openers)
    return count


def _pack(structure: Any, children: Iterable[Any], leaves: Iterator[Any], openers: _Openers) -> Any:
    packed = []
    for child in children:
        opener = openers[type(child)]
        inner = None if opener is None else opener(child)
        packed.append(next(leaves) if inner is None else _pack(child, inner, leaves, openers))
    return packed if type(structure) is list else _sequence_like(structure, packed)


_published("flatten")(flatten)
_published("pack_sequence_as")(pack_sequence_as)


# Comparing.


class _Dot:
    """Stands for a leaf when a structure is shown in an error."""

    def __repr__(self) -> str:
        return "."


_DOT = _Dot()


@public("nest.assert_same_structure")
def assert_same_structure(nest1: Any, nest2: Any, check_types: bool = True, expand_composites: bool = False) -> None:
    """Raises ValueError or TypeError unless both are nested alike (and, if asked, with the same types)."""
    difference = _difference(nest1, nest2, check_types, _openers(expand_composites))
    if difference is None:
        return
    error, detail = difference
    raise error(
        f"The two structures don't have the same nested structure.\n\nFirst structure: {_described(nest1)}\n\n"
        f"Second structure: {_described(nest2)}\n\nMore specifically: {detail}\n"
        f"Entire first structure:\n{map_structure(lambda _: _DOT, nest1)}\n"
        f"Entire second structure:\n{map_structure(lambda _: _DOT, nest2)}"
    )


_published("assert_same_structure")(assert_same_structure)


def _described(value: Any) -> str:
    return f"type={value.__class__.__name__} str={value}"


def _difference(a: Any, b: Any, check_types: bool, openers: _Openers) -> tuple[type[Exception], str] | None:
    """The first difference between two structures, as an error to raise; None if there is none."""
    inside_a, inside_b = openers.children(a), openers.children(b)
    if inside_a is None and inside_b is None:
        return None
    if inside_a is None or inside_b is None:
        opened, leaf = (a, b) if inside_b is None else (b, a)
        return ValueError, (f'Substructure "{_described(opened)}" is a sequence, while substructure "{_described(leaf)}" is not')
    if check_types and not _types_agree(a, b, openers):
        return TypeError, (
            f"The two namedtuples don't have the same sequence type. First structure {_described(a)} has type "
            f"{a.__class__.__name__}, while second structure {_described(b)} has type {b.__class__.__name__}"
        )
    if check_types and _is_mapping(a) and a.keys() != b.keys():
        return ValueError, (
            f"The two dictionaries don't have the same set of keys. First structure has keys {_described(list(a))}, "
            f"while second structure has keys {_described(list(b))}"
        )
    if openers.expand_composites and _spec_of(a) is not None and _spec_of(b) is not None:
        if _clash_of_specs(_spec_of(a), _spec_of(b)):
            return ValueError, (f"Incompatible CompositeTensor TypeSpecs: {_described(_spec_of(a))} vs. {_described(_spec_of(b))}")
    for child_a, child_b in zip(inside_a, inside_b):
        if openers[type(child_a)] is not None or openers[type(child_b)] is not None:
            difference = _difference(child_a, child_b, check_types, openers)
            if difference is not None:
                return difference
    if len(inside_a) != len(inside_b):
        return ValueError, (
            f"The two structures don't have the same number of elements. First structure: {_described(a)}. "
            f"Second structure: {_described(b)}"
        )
    return None


def _types_agree(a: Any, b: Any, openers: _Openers) -> bool:
    if a.__class__ is b.__class__:
        return True
    if _is_namedtuple(a) and _is_namedtuple(b):
        return _same_namedtuples(a, b)
    if _is_mapping(a) and _is_mapping(b) or isinstance(a, list) and isinstance(b, list):
        return True
    # A spec stands for the composite tensors that it describes; the specs themselves are compared apart.
    one_is_spec = openers.expand_composites and (_is_type_spec(a) or _is_type_spec(b))
    return one_is_spec and None not in (_spec_of(a), _spec_of(b))


def _spec_of(value: Any) -> Any:
    """The spec of a composite tensor, a spec itself, or None."""
    if _is_composite_tensor(value):
        return value._type_spec
    return value if _is_type_spec(value) else None


def _clash_of_specs(spec1: Any, spec2: Any) -> str | None:
    """Why no value could have both specs, or None."""
    try:
        spec1.most_specific_compatible_type(spec2)
    except (TypeError, ValueError) as error:
        return str(error)
    return None


# Mapping.


@public("nest.map_structure")
def map_structure(func: Callable[..., Any], *structure: Any, **kwargs: Any) -> Any:
    """Applies `func` to the leaves that stand at the same place, and nests the results as the first structure."""
    if not callable(func):
        raise TypeError(f"func must be callable, got: {func}")
    if not structure:
        raise ValueError("Must provide at least one structure")
    check_types = kwargs.pop("check_types", True)
    expand_composites = kwargs.pop("expand_composites", False)
    if kwargs:
        raise ValueError(f"Only valid keyword arguments are `check_types` and `expand_composites`, not: `{'`, `'.join(kwargs)}`")
    first, *others = structure
    for other in others:
        assert_same_structure(first, other, check_types=check_types, expand_composites=expand_composites)
    openers = _openers(expand_composites)
    children = openers.children(first)
    if children is None:
        return func(*structure)
    mapped = map(func, *(flatten(each, expand_composites) for each in structure))
    # A StopIteration from `func` would be taken for the end of the leaves, so all results are made first.
    return _pack(first, children, iter(list(mapped)), openers)


_published("map_structure")(map_structure)
