"""What kernels see: a node of a plan, with its attributes, inputs and outputs."""
from __future__ import annotations

from typing import Any

import numpy as np

from everflow.graph import dtypes
from everflow.graph.operation import Operation
from everflow.graph.shapes import TensorShape
from everflow.ops.core.registry import Meaning, meaning


class Value:
    """An output of a node."""

    __slots__ = ("dims", "dtype", "index", "node")

    def __init__(self, node: Node, index: int, dtype: dtypes.DType, dims: Any) -> None:
        self.node = node
        self.index = index
        self.dtype = dtype
        self.dims: tuple[int | None, ...] | None = dims

    @property
    def shape(self) -> Any:
        return TensorShape.from_dims(self.dims)


class Node:
    """An op of the plan. Kernels read `attr`, `inputs[i].dtype`, `inputs[i].dims`, `outputs`, `constant(i)` and `context`."""

    __slots__ = ("asked_for", "attrs", "context", "fused", "inputs", "name", "op", "outputs", "reads", "type")

    def __init__(self, type: str, name: str, attrs: dict[str, Any], inputs: list[Value], op: Operation | None, context: Any) -> None:
        self.type = type
        self.name = name
        self.attrs = attrs
        self.inputs = inputs
        self.outputs: list[Value] = []
        self.op = op
        self.context = context
        self.asked_for = False
        # What a node means that a pass made of several ops.
        self.fused: Meaning | None = None
        # Which inputs are variables whose value is read just before the node runs.
        self.reads: frozenset[int] = frozenset()

    def attr(self, name: str) -> Any:
        """An attribute as a plain value."""
        if name in self.attrs:
            return self.attrs[name]
        if self.op is not None:
            return self.op.attr(name)
        raise KeyError(f"{self.type} has no attribute {name}")

    def constant(self, index: int) -> np.ndarray | None:
        """The value of an input where it is known before running."""
        node = self.inputs[index].node
        return node.attrs["value"] if node.type == "Const" else None

    def add_output(self, dtype: dtypes.DType, dims: Any) -> Value:
        value = Value(self, len(self.outputs), dtype, dims)
        self.outputs.append(value)
        return value

    @property
    def meaning(self) -> Meaning | None:
        return self.fused or meaning(self.type)

    @property
    def is_fresh(self) -> bool:
        """Whether the result is always in memory of its own."""
        meaning = self.meaning
        return meaning is not None and meaning.fresh

    @property
    def has_effects(self) -> bool:
        """Whether running the node does more than compute its outputs."""
        if self.asked_for:
            return True
        meaning = self.meaning
        if meaning is None:
            return self.type != "_Feed"
        return meaning.writes or meaning.checks or (self.op is not None and self.op.op_def_.is_stateful and not meaning.pure)

    def __repr__(self) -> str:
        return f"<{self.type} {self.name}>"
