"""What RunOptions ask to be watched, read and checked: {output: debug ops with their attributes and destinations}."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from everflow.debug import node_names
from everflow.debug.watches import EVERY_NODE
from everflow.errors import failed_precondition
from everflow.graph import opdefs
from everflow.graph.dtypes import DType
from everflow.ops.checks.debug_ops import LOOKS_AT

# What the debugger itself says of a debug op.
_OWN = ("T", "device_name", "debug_urls")


class DebugOp(NamedTuple):
    """A debug op on one output: its name there, its attributes, and where what it finds goes."""

    kind: str
    node_name: str
    attrs: dict[str, Any]
    urls: tuple[str, ...]

    @property
    def is_gated(self) -> bool:
        """Whether a server that listens must ask for it first."""
        return bool(self.attrs["gated_grpc"])


class Watch(NamedTuple):
    """All that looks at one output."""

    debug_ops: list[DebugOp]
    # As the node that copies the output tells it: `DebugIdentity;file:///dump;0`.
    specs: list[str]


class Watches:
    """The watches of RunOptions. What a watch of every node says holds for the outputs that have no watch of their own."""

    def __init__(self, debug_options: Any) -> None:
        self._asked: dict[tuple[str, int], Any] = {}
        self._every: Any = None
        for watch in debug_options.debug_tensor_watch_opts:
            if watch.output_slot < 0:
                if watch.node_name != EVERY_NODE:
                    raise failed_precondition(
                        "A negative output_slot in DebugTensorWatch is valid only for the wildcard node name "
                        f'("*"), but got node name {watch.node_name}'
                    )
                self._every = watch
            else:
                self._asked.setdefault((watch.node_name, watch.output_slot), watch)

    @property
    def urls(self) -> list[str]:
        """Where anything is to be sent."""
        asked = [*self._asked.values(), *([self._every] if self._every is not None else [])]
        return list(dict.fromkeys(url for watch in asked for url in watch.debug_urls))

    def of(self, node_name: str, slot: int, dtype: DType) -> Watch | None:
        """What looks at an output; None if nothing does."""
        asked = self._asked.get((node_name, slot), self._every)
        if asked is None:
            return None
        tensor = node_names.tensor_name(node_name, slot)
        debug_ops: list[DebugOp] = []
        specs: list[str] = []
        for text in asked.debug_ops:
            kind, given = _parsed(text, tensor)
            gated = _boolean(given["gated_grpc"], tensor) if "gated_grpc" in given else False
            specs.extend(f"{kind};{url};{int(gated)}" for url in asked.debug_urls)
        for place, text in enumerate(asked.debug_ops):
            kind, given = _parsed(text, tensor)
            name = node_names.debug_node_name(node_name, slot, place, kind)
            try:
                attrs = _attributes(kind, given, name, tensor, dtype)
            except ValueError as problem:
                if asked.tolerate_debug_op_creation_failures:
                    continue
                raise failed_precondition(f"Failed to create debug node {text} for tensor {tensor}, due to: {problem}") from None
            debug_ops.append(DebugOp(kind, name, attrs, tuple(asked.debug_urls)))
        return Watch(debug_ops, specs) if debug_ops else None


def _parsed(text: str, tensor: str) -> tuple[str, dict[str, str]]:
    """The debug op in `DebugNumericSummary(lower_bound=-1.0; gated_grpc=true)`, and its attributes as they are written."""
    kind, opening, rest = text.partition("(")
    problem = ""
    given: dict[str, str] = {}
    if bool(opening) != text.endswith(")") or ("(" in rest) or (")" in rest[:-1]) or (not opening and ")" in text):
        problem = f'Malformed debug op name "{text}"'
    for item in rest.removesuffix(")").split(";") if not problem else ():
        if not item.strip():
            continue
        key, equals, value = item.strip().partition("=")
        if not key or not equals or not value:
            problem = f'Malformed attributes in debug op name "{text}"'
        elif key in given:
            problem = f'Duplicate attribute name "{key}" found in the debug op: "{text}"'
        given[key] = value
    if problem:
        raise failed_precondition(f"Failed to create Copy/CopyHost node for tensor {tensor}, due to: {problem}")
    return kind, given


def _boolean(text: str, tensor: str) -> bool:
    if text.lower() in ("true", "t", "1", "yes", "y"):
        return True
    if text.lower() in ("false", "f", "0", "no", "n"):
        return False
    raise failed_precondition(f"Failed to create Copy/CopyHost node for tensor {tensor}, due to: Invalid string for bool value: {text}")


def _attributes(kind: str, given: dict[str, str], name: str, tensor: str, dtype: DType) -> dict[str, Any]:
    """All attributes of a debug op, or ValueError with what is wrong."""
    definition = opdefs.find(kind)
    if definition is None or not kind.startswith("Debug"):
        raise ValueError(f"Failed to create node definition for debug op {kind} on watched tensor {tensor}")
    if kind in LOOKS_AT and dtype.base_dtype not in LOOKS_AT[kind]:
        raise ValueError(f"Failed to find kernel definition for debug op {kind} on watched tensor {tensor}")
    found = {key: attr.default for key, attr in definition.attrs.items() if attr.has_default}
    found["tensor_name"] = tensor
    unknown = [key for key in given if key not in found or key in _OWN]
    if unknown:
        raise ValueError(f"{len(unknown)} attribute key(s) were not valid for debug node {name}: {', '.join(unknown)}")
    for key, text in given.items():
        kind_of_attr = definition.attrs[key].type
        readers: dict[str, Callable[[str], Any]] = {"bool": lambda t: _boolean(t, tensor), "float": float, "int": int}
        try:
            found[key] = readers.get(kind_of_attr, str)(text)
        except ValueError:
            raise ValueError(f'Invalid value string for {kind_of_attr}-type attribute {key}of debug node {name}: "{text}"') from None
    return found
