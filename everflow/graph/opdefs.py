"""TensorFlow's op definitions, as data: what inputs, outputs and attributes each op has."""

from __future__ import annotations

import collections
import functools
import json
import pathlib
from typing import Any

import numpy as np

from everflow.graph import dtypes


class Arg:
    """An input or output of an op: one tensor, or a list of them."""

    __slots__ = ("is_ref", "name", "number_attr", "type", "type_attr", "type_list_attr")

    def __init__(self, fact: dict[str, Any]) -> None:
        self.name: str = fact["name"]
        self.type = dtypes.as_dtype(fact["type"]) if "type" in fact else None
        self.type_attr: str | None = fact.get("type_attr")
        self.number_attr: str | None = fact.get("number_attr")
        self.type_list_attr: str | None = fact.get("type_list_attr")
        self.is_ref: bool = fact.get("is_ref", False)

    @property
    def is_list(self) -> bool:
        return self.number_attr is not None or self.type_list_attr is not None


class Attr:
    """An attribute of an op: its type (as the wire spells it), default and limits."""

    __slots__ = ("allowed", "default", "has_default", "minimum", "name", "type")

    def __init__(self, fact: dict[str, Any]) -> None:
        self.name: str = fact["name"]
        self.type: str = fact["type"]
        self.minimum: int | None = fact.get("minimum")
        self.has_default = "default" in fact
        self.default = _attr_value(self.type, fact["default"]) if self.has_default else None
        allowed = fact.get("allowed")
        self.allowed: tuple[Any, ...] | None = None
        if allowed is not None:
            kind, values = next(iter(allowed.items()))
            self.allowed = tuple(dtypes.as_dtype(v) for v in values) if kind == "type" else tuple(values)


def _attr_value(kind: str, fact: dict[str, Any]) -> Any:
    """An attribute's value as the core holds it: dtypes, dims tuples, str, numbers, lists of these."""
    if kind.startswith("list("):
        inner = kind[5:-1]
        values = fact.get("list") or {}
        return [_attr_value(inner, {k: v}) for k, vs in values.items() for v in vs]
    if not fact:
        return None
    ((key, value),) = fact.items()
    if key == "type":
        return dtypes.as_dtype(value)
    if key == "shape":
        return None if value is None else tuple(None if size == -1 else size for size in value)
    if key == "f":
        return float(value)
    if key == "i":
        return int(value)
    if key == "tensor":
        ((dtype, elements),) = value.items()
        return np.array(elements, dtypes.as_dtype(dtype).as_numpy_dtype)
    return value


class OpDef:
    """One op definition, with what is derived from it once: which attributes follow from the inputs."""

    def __init__(self, name: str, fact: dict[str, Any]) -> None:
        self.name = name
        self.fact = fact
        self.inputs = [Arg(a) for a in fact["inputs"]]
        self.outputs = [Arg(a) for a in fact["outputs"]]
        self.attrs = {a["name"]: Attr(a) for a in fact["attrs"]}
        self.is_stateful: bool = fact.get("is_stateful", False)
        self.is_commutative: bool = fact.get("is_commutative", False)
        self.allows_uninitialized_input: bool = fact.get("allows_uninitialized_input", False)
        self.takes_refs = any(a.is_ref for a in self.inputs)
        inferred: dict[str, None] = {}
        for a in self.inputs:
            for attr in (a.type_attr, a.number_attr, a.type_list_attr):
                if attr:
                    inferred[attr] = None
        self.inferred = tuple(inferred)
        self.explicit = tuple(n for n in self.attrs if n not in inferred)
        self.parameters = self._parameters()

    def _parameters(self) -> list[tuple[str, bool]]:
        """(name, has default) of the generated function's parameters, in TensorFlow's order."""
        required = [n for n in self.explicit if not self.attrs[n].has_default]
        optional = [n for n in self.explicit if self.attrs[n].has_default]
        return [(a.name, False) for a in self.inputs] + [(n, False) for n in required] + [(n, True) for n in optional]

    @functools.cached_property
    def result_type(self) -> Any:
        """The tuple class that a call with several outputs returns."""
        return collections.namedtuple(self.name, [a.name for a in self.outputs], rename=True)  # type: ignore[misc]


@functools.cache
def _facts() -> dict[str, Any]:
    """The ops of TensorFlow itself, and those that libraries of tf.contrib bring along when they are imported."""
    folder = pathlib.Path(__file__).parent.parent / "facts"
    return {**json.loads((folder / "op_defs.json").read_text()), **json.loads((folder / "contrib_op_defs.json").read_text())}


_DEFS: dict[str, OpDef] = {}


def find(name: str) -> OpDef | None:
    """The definition of an op, or None where there is no such op."""
    found = _DEFS.get(name)
    if found is None:
        fact = _facts().get(name)
        if fact is None:
            return None
        found = _DEFS[name] = OpDef(name, fact)
    return found


def define(op_def: OpDef) -> None:
    """Adds a definition that TensorFlow does not have (a custom op)."""
    _DEFS[op_def.name] = op_def


def names() -> list[str]:
    """Every op that is defined."""
    return sorted({*_facts(), *_DEFS})
