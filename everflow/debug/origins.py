"""Where the program created the nodes of a run, those of the bodies of loops and branches among them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from everflow.graph import opdefs
from everflow.runtime.lowering import is_lowered


class Origins:
    """The ops of a graph and of its bodies by the names that they have in runs.

    A loop's Enter, Switch and their like have no ops of their own in our graphs: they were created where the loop was.
    """

    def __init__(self, graph: Any) -> None:
        self._ops: dict[str, Any] = {}
        self._scopes: dict[str, Any] = {}
        graphs = [graph, *(function.graph for function in getattr(graph, "_functions", {}).values() if hasattr(function, "graph"))]
        for found in graphs:
            for op in found.get_operations():
                if is_lowered(op):
                    self._scopes.setdefault(op.name.rpartition("/")[0], op)
                else:
                    self._ops.setdefault(op.name, op)

    def _op(self, name: str) -> Any:
        return self._ops.get(name) or self._scopes.get(name.rpartition("/")[0])

    def traceback(self, name: str) -> tuple[tuple[Any, ...], ...] | None:
        """The calls that led to a node: tuples of file, line, function and text; None if the graph has no such node."""
        op = self._op(name)
        return tuple(map(tuple, op.traceback)) if op is not None else None

    def nodes(self, executed: dict[str, str]) -> Iterator[tuple[str, int]]:
        """The names of all nodes with the number of their outputs. `executed`: {name: op type} of those that ran."""
        inside = {op.name for op in self._ops.values() if hasattr(op.graph, "outer_graph") and op.graph.outer_graph is not None}
        for name, op in self._ops.items():
            if name not in inside:
                yield name, len(op.outputs)
        for name, op_type in executed.items():
            if (name in inside or name not in self._ops) and self._op(name) is not None:
                definition = opdefs.find(op_type)
                yield name, len(definition.outputs) if definition is not None else 1
