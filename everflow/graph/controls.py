"""Blocks of control dependencies: which ops the ops made inside must wait for."""

from __future__ import annotations

from typing import Any

from everflow.graph.operation import Operation
from everflow.graph.tensor import Tensor


class Controls:
    """One `control_dependencies` block: the ops it adds, and which ops were made inside it."""

    __slots__ = ("graph", "inputs", "is_new_stack", "old_context", "old_stack", "seen")

    def __init__(self, graph: Any, inputs: list[Operation] | None) -> None:
        self.graph = graph
        self.is_new_stack = inputs is None
        self.inputs = inputs or []
        self.seen: set[Operation] = set()
        self.old_stack: list[Controls] = []
        self.old_context: Any = None

    def __enter__(self) -> None:
        graph = self.graph
        if self.is_new_stack:
            self.old_stack = graph._controls
            graph._controls = []
            self.old_context = graph._get_control_flow_context()
            graph._set_control_flow_context(None)
        graph._controls.append(self)

    def __exit__(self, *_: Any) -> None:
        graph = self.graph
        if self in graph._controls:
            graph._controls.remove(self)
        if self.is_new_stack:
            graph._controls = self.old_stack
            graph._set_control_flow_context(self.old_context)


def control_inputs_for(blocks: list[Controls], inputs: tuple[Tensor, ...]) -> list[Operation]:
    """The ops that a new op must wait for beside its inputs."""
    input_ops = {t.op for t in inputs}
    found: list[Operation] = []
    for block in blocks:
        # A block whose ops already lead to one of the inputs needs no further edge.
        if any(op in block.seen for op in input_ops):
            continue
        for c in block.inputs:
            if c not in input_ops and c not in found:
                found.append(c)
    return found
