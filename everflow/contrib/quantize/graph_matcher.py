"""Patterns of ops: what an op is called, and what it takes."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

from everflow.api import internal

BELOW = "contrib.quantize.python.graph_matcher."


@internal(BELOW + "Pattern")
class Pattern:
    """Something that an op may look like."""

    def match(self, op: Any, tensor: Any) -> MatchResult | None:
        """What of the graph each pattern stands for, or None; `tensor` is the output of the op that is looked at."""
        raise NotImplementedError('Method "match" not implemented.')


@internal(BELOW + "OpTypePattern")
class OpTypePattern(Pattern):
    """An op of some types ("Add|AddV2", or "*") with inputs that look like patterns, which may come in any order."""

    def __init__(self, op_type: str, name: str | None = None, inputs: Any = None, ordered_inputs: bool = True) -> None:
        self._types = None if op_type == "*" else frozenset(op_type.split("|"))
        self._name = name
        self._inputs = [given if isinstance(given, Pattern) else OpTypePattern(given) for given in inputs or ()]
        self._ordered = ordered_inputs

    @property
    def name(self) -> str | None:
        """By what name results know it."""
        return self._name

    def match(self, op: Any, tensor: Any) -> MatchResult | None:
        if self._types is not None and op.type not in self._types:
            return None
        if self._inputs and len(self._inputs) != len(op.inputs):
            return None
        orders: Any = [self._inputs] if self._ordered else itertools.permutations(self._inputs)
        for patterns in orders:
            found = MatchResult()
            found.add(self, op, tensor)
            if all(found.merge_from(pattern.match(given.op, given)) for pattern, given in zip(patterns, op.inputs)):
                return found
        return None


@internal(BELOW + "OneofPattern")
class OneofPattern(Pattern):
    """The first of several patterns that fits."""

    def __init__(self, sub_patterns: Any) -> None:
        self._sub_patterns = sub_patterns

    def match(self, op: Any, tensor: Any) -> MatchResult | None:
        return next((found for pattern in self._sub_patterns if (found := pattern.match(op, tensor)) is not None), None)


@internal(BELOW + "MatchResult")
class MatchResult:
    """The op and the tensor that each pattern stands for; patterns are asked for themselves or by name."""

    def __init__(self) -> None:
        self._found: dict[Pattern, tuple[Any, Any]] = {}
        self._named: dict[str, Pattern] = {}

    def add(self, pattern: Any, op: Any, tensor: Any) -> None:
        """Says what a pattern stands for."""
        self._found[pattern] = op, tensor
        if pattern.name is not None:
            if self._named.setdefault(pattern.name, pattern) is not pattern:
                raise ValueError(f"Name {pattern.name} is already bound to another pattern")

    def merge_from(self, other_match_result: MatchResult | None) -> bool:
        """Takes over what another result knows; False where there is none."""
        if other_match_result is None:
            return False
        self._found.update(other_match_result._found)
        self._named.update(other_match_result._named)
        return True

    def _of(self, pattern_or_name: Any) -> tuple[Any, Any]:
        pattern = self._named.get(pattern_or_name) if isinstance(pattern_or_name, str) else pattern_or_name
        return self._found.get(pattern, (None, None)) if pattern is not None else (None, None)

    def get_op(self, pattern_or_name: Any) -> Any:
        """The op, or None."""
        return self._of(pattern_or_name)[0]

    def get_tensor(self, pattern_or_name: Any) -> Any:
        """The tensor, or None."""
        return self._of(pattern_or_name)[1]


@internal(BELOW + "GraphMatcher")
class GraphMatcher:
    """Finds ops that look like a pattern."""

    def __init__(self, pattern: Pattern) -> None:
        self._pattern = pattern

    def match_op(self, op: Any) -> MatchResult | None:
        """The result for one op."""
        return self._pattern.match(op, op.outputs[0] if op.outputs else None)

    def match_ops(self, ops: Any) -> Iterator[MatchResult]:
        """The results for those of the ops that fit."""
        return (found for op in ops if (found := self.match_op(op)) is not None)

    def match_graph(self, graph: Any) -> Iterator[MatchResult]:
        """The results for all ops of a graph, in the order in which they were made."""
        return self.match_ops(graph.get_operations())
