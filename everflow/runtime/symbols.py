"""Sizes that are not known before running, but known to be the same: a batch size keeps its identity through a graph."""

from __future__ import annotations

from typing import Any

from everflow.graph.shapes import is_fully_defined
from everflow.ops.core import symbolic
from everflow.ops.core.node import Value
from everflow.ops.core.shape_rules import broadcast, merged, same_as_input
from everflow.runtime.plan import Plan

# What the shape rules that most ops share say.
RULES: dict[Any, symbolic.Rule] = {
    merged: symbolic.all_alike,
    same_as_input: lambda symbols, node, value: symbols.of(node.inputs[0]),
    broadcast: lambda symbols, node, value: symbolic.broadcast(symbols.of(node.inputs[0]), symbols.of(node.inputs[1])),
}


class Symbols:
    """The sizes of values: an int where it is known, else a token that stands for one unknown size."""

    def __init__(self) -> None:
        self._found: dict[Value, symbolic.Sizes] = {}

    def of(self, value: Value) -> symbolic.Sizes:
        """A size or token for each axis; None where the rank is unknown."""
        if value not in self._found:
            self._find(value)
        return self._found[value]

    def stands_for(self, new: Value, old: Value) -> None:
        """Says that a new value has the sizes of one whose place it takes."""
        self._found[new] = self.of(old)

    def _find(self, value: Value) -> None:
        """Finds what comes before the value first: a chain of nodes may be longer than Python's stack is deep."""
        stack, seen = [value], set()
        while stack:
            last = stack[-1]
            if last in self._found:
                stack.pop()
            elif last in seen or is_fully_defined(last.dims) or _rule(last) is None:
                self._found[stack.pop()] = self._infer(last)
            else:
                seen.add(last)
                stack.extend(v for v in last.node.inputs if v not in self._found and v not in seen)

    def _infer(self, value: Value) -> symbolic.Sizes:
        dims = value.dims
        if is_fully_defined(dims):
            return dims
        rule = _rule(value)
        derived = None if rule is None else rule(self, value.node, value)
        if dims is None:
            return None if derived is None else tuple((value, i) if s is None else s for i, s in enumerate(derived))
        own = tuple((value, i) if d is None else d for i, d in enumerate(dims))
        if derived is None or len(derived) != len(dims):
            return own
        return tuple(s if d is None and s is not None else o for d, s, o in zip(dims, derived, own))

    def held(self, shape: Value) -> symbolic.Sizes:
        """The sizes that a vector of sizes, or a single size, holds."""
        node = shape.node
        if shape.constant is not None:
            return tuple(int(size) if size >= 0 else None for size in shape.constant.reshape(-1))
        rule = None if node.meaning is None else node.meaning.holds
        return None if rule is None else rule(self, node, shape)


def _rule(value: Value) -> symbolic.Rule | None:
    meaning = value.node.meaning
    return None if meaning is None else meaning.symbolic or RULES.get(meaning.shape)


def settle_dims(plan: Plan, dims: dict[int, Any]) -> None:
    """Tells a plan the shapes of some of its feeds, and all that follows from them."""
    for i, known in dims.items():
        plan.feeds[i].dims = known
    symbols = Symbols()
    for node in plan.nodes:
        for value in node.outputs:
            found = symbols.of(value)
            if found is not None:
                value.dims = tuple(s if isinstance(s, int) else None for s in found)


def forget_dims(plan: Plan) -> None:
    """Lets a plan take feeds of any shape: what the graph says of their shapes, and of all that comes of them, no longer counts."""
    unknown = set(plan.feeds)
    for node in plan.nodes:
        if node.is_feed or not unknown.isdisjoint(node.inputs):
            unknown.update(node.outputs)
            for value in node.outputs:
                value.dims = None
