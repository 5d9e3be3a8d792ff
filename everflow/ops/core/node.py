"""What kernels see: a node of a plan, with its attributes, inputs and outputs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from everflow import errors
from everflow.graph import dtypes
from everflow.graph.operation import Operation
from everflow.graph.shapes import Dims, TensorShape
from everflow.ops.core.registry import Meaning, meaning

# The type of nodes that stand for what is fed.
FEED = "_Feed"


class Value:
    """An output of a node."""

    __slots__ = ("dims", "dtype", "index", "node")

    def __init__(self, node: Node, index: int, dtype: dtypes.DType, dims: Dims) -> None:
        self.node = node
        self.index = index
        self.dtype = dtype
        self.dims: tuple[int | None, ...] | None = dims

    @property
    def shape(self) -> Any:
        return TensorShape.from_dims(self.dims)

    @property
    def constant(self) -> np.ndarray | None:
        """What the value is, where that is known before running."""
        node = self.node
        return node.attrs["value"] if node.type == "Const" else None


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
        # What this node means, where that is neither an op nor declared with fused_op.
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
        return self.inputs[index].constant

    def add_output(self, dtype: dtypes.DType, dims: Dims) -> Value:
        value = Value(self, len(self.outputs), dtype, dims)
        self.outputs.append(value)
        return value

    @property
    def meaning(self) -> Meaning | None:
        return self.fused or meaning(self.type)

    @property
    def is_constant(self) -> bool:
        return self.type == "Const"

    @property
    def is_feed(self) -> bool:
        return self.type == FEED

    @property
    def is_identity(self) -> bool:
        """Whether the node hands on its one input, be it a value or a reference."""
        meaning = self.meaning
        return meaning is not None and meaning.kind == "identity"

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
            return self.type != FEED
        # Ops of accumulators that are held by reference are not stateful by their definitions.
        if meaning.writes or meaning.checks or meaning.brings or meaning.waits:
            return True
        return self.op is not None and self.op.op_def_.is_stateful and not meaning.pure

    def __repr__(self) -> str:
        return f"<{self.type} {self.name}>"


def constant_node(context: Any, name: str, value: np.ndarray, dtype: dtypes.DType) -> Node:
    """A node whose output is known."""
    node = Node("Const", name, {"value": value, "dtype": dtype}, [], None, context)
    node.add_output(dtype, value.shape)
    return node


def kernel_of(node: Node) -> Callable[..., Any]:
    """The function that computes a node."""
    meaning = node.meaning
    if meaning is not None and meaning.kernel is not None:
        return meaning.kernel(node)
    if node.context.is_function(node.type):
        from everflow.ops.control_flow.calls import call_function

        return call_function(node, node.type)
    raise errors.UnimplementedError(
        node.op.node_def if node.op is not None else None, node.op, f"Everflow has no kernel for the op {node.type} (node {node.name}) yet."
    )
