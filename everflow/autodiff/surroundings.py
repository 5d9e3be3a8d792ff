"""Differentiation inside a function's body: from what the body uses of the graphs around it to where that comes from."""

from __future__ import annotations

from typing import Any

from everflow.graph.operation import Operation
from everflow.graph.tensor import Tensor


class Surroundings:
    """How tensors are connected across the bodies that are being built. Outside of bodies it adds nothing to the graph."""

    def __init__(self, graph: Any, xs: list[Tensor]) -> None:
        self._stops = set(xs)
        self._inside: dict[Tensor, list[Tensor]] = {}
        self._outside: dict[Tensor, Tensor] = {}
        while graph is not None and graph.building_function:
            for outside, inside in _shared(graph):
                if outside.is_eager:
                    continue
                self._inside.setdefault(outside, []).append(inside)
                self._outside[inside] = outside
            graph = graph.outer_graph

    def consumers(self, tensor: Tensor) -> list[Operation]:
        """The ops that use a tensor, in its own graph or in a body inside it."""
        captured = self._inside.get(tensor)
        if captured is None:
            return tensor._consumers
        return [*tensor._consumers, *(op for inside in captured for op in self.consumers(inside))]

    def inputs(self, op: Operation) -> Any:
        """The inputs of an op; what stands for a captured tensor is that tensor, unless it is differentiated by itself."""
        if not self._outside:
            return op.inputs
        return [self.source(t) for t in op.inputs]

    def source(self, tensor: Tensor) -> Tensor:
        """Where a tensor comes from, outside of the bodies that capture it."""
        while tensor in self._outside and tensor not in self._stops:
            tensor = self._outside[tensor]
        return tensor


def _shared(body: Any) -> list[tuple[Tensor, Tensor]]:
    """What a body shares with the graph around it: captured tensors, variables that it is given as arguments, and reference variables,
    which have a node in each."""
    variables = [(t, copy) for t, copy in getattr(body, "_copies", {}).items() if t.dtype._is_ref_dtype]
    return [*getattr(body, "captures", {}).items(), *getattr(body, "given", {}).items(), *variables]
