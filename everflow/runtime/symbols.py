"""Sizes that are not known before running, but known to be the same: a batch size keeps its identity through a graph."""
from __future__ import annotations

import math
from typing import Any

from everflow.ops.core.shape_rules import broadcast, merged, same_as_input
from everflow.runtime.plan import Node, Plan, Value

# Ops whose first input has the shape of their output, beyond those whose shape rule says so.
LIKE_FIRST = {
    "BiasAdd", "Relu", "Softmax", "LogSoftmax", "Select",
    "_ReluOver", "_TanhOver", "_SigmoidOver", "_BiasAddOver", "_ReluGradOver", "_ConvAdded", "_ConvInputGradientAdded",
}

# Ops of which that holds for the first output alone.
FIRST_LIKE_FIRST = {
    "FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3", "FusedBatchNormGrad", "FusedBatchNormGradV2", "FusedBatchNormGradV3",
    "_NormalizeRectify", "_NormalizeRectifySurrounded", "_NormalizeGradient", "_NormalizeRectifyGradient",
}

# Ops that work on each element of a batch by itself.
KEEP_BATCH = {"Conv2D", "Conv3D", "DepthwiseConv2dNative", "MaxPool", "AvgPool", "MaxPool3D", "AvgPool3D", "LRN"}


def _agreed(found: list[tuple[Any, ...] | None]) -> tuple[Any, ...] | None:
    """The sizes of values that have the same shape: what is known of one holds for all."""
    known = [sizes for sizes in found if sizes is not None]
    if not known or any(len(sizes) != len(known[0]) for sizes in known):
        return None
    return tuple(next((s for s in sizes if isinstance(s, int)), sizes[0]) for sizes in zip(*known))


class Symbols:
    """The sizes of values: an int where it is known, else a token that stands for one unknown size."""

    def __init__(self) -> None:
        self._found: dict[Value, tuple[Any, ...] | None] = {}

    def of(self, value: Value) -> tuple[Any, ...] | None:
        """A size or token for each axis; None where the rank is unknown. Call it in the order in which nodes run."""
        if value not in self._found:
            self._found[value] = self._infer(value)
        return self._found[value]

    def _infer(self, value: Value) -> tuple[Any, ...] | None:
        dims = value.dims
        if dims is not None and None not in dims:
            return dims
        if dims is None:
            derived = self._derived(value.node, value)
            return None if derived is None else tuple((value, i) if s is None else s for i, s in enumerate(derived))
        own = tuple((value, i) if d is None else d for i, d in enumerate(dims))
        derived = self._derived(value.node, value)
        if derived is None or len(derived) != len(dims):
            return own
        return tuple(s if d is None and s is not None else o for d, s, o in zip(dims, derived, own))

    def _derived(self, node: Node, value: Value) -> tuple[Any, ...] | None:
        rule = node.meaning.shape if node.meaning is not None else None
        if node.type == "MatMul":
            return self._product(node)
        if rule is merged or node.type == "AddN":
            return _agreed([self.of(v) for v in node.inputs])
        if rule is same_as_input or node.type in LIKE_FIRST:
            return self.of(node.inputs[0])
        if node.type in FIRST_LIKE_FIRST:
            return self.of(node.inputs[0]) if value.index == 0 else None
        if node.type == "Conv2DBackpropInput":
            return self.held(node.inputs[0])
        if node.type == "Slice":
            return self.held(node.inputs[2])
        if rule is broadcast:
            return self._broadcast(self.of(node.inputs[0]), self.of(node.inputs[1]))
        if node.type in ("Split", "SplitV"):
            source, axis = node.inputs[1 if node.type == "Split" else 0], node.constant(0 if node.type == "Split" else 2)
            return self._without(source, axis)
        if node.type == "ConcatV2":
            return self._joined(node)
        if node.type == "Unpack":
            dims = self.of(node.inputs[0])
            axis = node.attr("axis")
            return None if dims is None else tuple(s for i, s in enumerate(dims) if i != axis % len(dims))
        if node.type in KEEP_BATCH:
            dims = self.of(node.inputs[0])
            return None if not dims or value.dims is None else (dims[0], *[None] * (len(value.dims) - 1))
        if node.type == "SparseSoftmaxCrossEntropyWithLogits":
            dims = self.of(node.inputs[0])
            return dims[:1] if dims is not None and value.index == 0 else dims
        if node.type in ("Sum", "Mean", "Max", "Min"):
            return self._reduced(node)
        if node.type == "Fill":
            return self.held(node.inputs[0])
        if node.type == "Reshape":
            return self._reshaped(node, value)
        return None

    def _reduced(self, node: Node) -> tuple[Any, ...] | None:
        dims, axes = self.of(node.inputs[0]), node.constant(1)
        if dims is None or axes is None:
            return None
        gone = {int(a) % len(dims) for a in axes.reshape(-1)} if dims else set()
        if node.attr("keep_dims"):
            return tuple(1 if i in gone else s for i, s in enumerate(dims))
        return tuple(s for i, s in enumerate(dims) if i not in gone)

    def _reshaped(self, node: Node, value: Value) -> tuple[Any, ...] | None:
        held = self.held(node.inputs[1])
        if held is not None and None not in held:
            return held
        # The one unknown size stays the same where the known ones have the same product.
        before, after = self.of(node.inputs[0]), value.dims
        if before is None or after is None or after.count(None) != 1:
            return held
        unknown = [s for s in before if not isinstance(s, int)]
        if len(unknown) != 1 or math.prod(s for s in before if isinstance(s, int)) != math.prod(d for d in after if d is not None):
            return held
        return tuple(unknown[0] if d is None else d for d in after)

    def _product(self, node: Node) -> tuple[Any, ...] | None:
        a, b = self.of(node.inputs[0]), self.of(node.inputs[1])
        if a is None or b is None or len(a) != 2 or len(b) != 2:
            return None
        return a[1 if node.attr("transpose_a") else 0], b[0 if node.attr("transpose_b") else 1]

    def _broadcast(self, a: Any, b: Any) -> tuple[Any, ...] | None:
        if a is None or b is None:
            return None
        rank = max(len(a), len(b))
        a, b = (1,) * (rank - len(a)) + a, (1,) * (rank - len(b)) + b
        found = []
        for m, n in zip(a, b):
            if m == n or n == 1:
                found.append(m)
            elif m == 1:
                found.append(n)
            else:
                found.append(m if isinstance(m, int) else n if isinstance(n, int) else None)
        return tuple(found)

    def _without(self, source: Value, axis: Any) -> tuple[Any, ...] | None:
        dims = self.of(source)
        if dims is None or axis is None:
            return None
        at = int(axis.reshape(-1)[0]) % len(dims)
        return tuple(None if i == at else s for i, s in enumerate(dims))

    def _joined(self, node: Node) -> tuple[Any, ...] | None:
        # But for the axis, all parts have the same sizes.
        return _agreed([self._without(v, node.constant(len(node.inputs) - 1)) for v in node.inputs[:-1]])

    def held(self, shape: Value) -> tuple[Any, ...] | None:
        """The sizes that a shape vector holds."""
        node = shape.node
        if node.type in ("Shape", "ShapeN"):
            return self.of(node.inputs[shape.index])
        if node.type == "Pack":
            return tuple(self._single(v) for v in node.inputs)
        if node.type == "BroadcastArgs":
            return self._broadcast(self.held(node.inputs[0]), self.held(node.inputs[1]))
        if node.type == "Const":
            return tuple(int(size) if size >= 0 else None for size in node.attrs["value"].reshape(-1))
        return None

    def _single(self, size: Value) -> Any:
        node = size.node
        if node.type == "Const":
            found = int(node.attrs["value"].reshape(-1)[0])
            return found if found >= 0 else None
        if node.type == "StridedSlice" and node.attr("shrink_axis_mask") == 1 and node.inputs[0].node.type == "Shape":
            at, dims = node.constant(1), self.of(node.inputs[0].node.inputs[0])
            if at is not None and dims is not None and -len(dims) <= at.reshape(-1)[0] < len(dims):
                return dims[int(at.reshape(-1)[0])]
        return None


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
