"""Results are written over an input that nothing needs any more: large tensors cost most by the memory they touch."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from everflow.lazy import torch
from everflow.ops.variables.variable_ops import TAKING
from everflow.runtime.passes.fusion import FLOATS, rewrite_nodes
from everflow.runtime.plan import Node, Plan, fused
from everflow.runtime.symbols import Symbols

# Ops whose kernels always put their result into memory of its own.
FRESH = frozenset((
    "MatMul", "_MatMulBias", "_SumOfProducts", "Conv2D", "_ConvBias", "_ConvAdded", "Conv2DBackpropInput", "_ConvInputGradientAdded",
    "BiasAdd", "Relu", "Tanh", "Sigmoid", "ReluGrad",
    "TanhGrad", "SigmoidGrad",
    "AddV2", "Add", "Sub", "Mul", "RealDiv", "Exp", "Neg", "Square", "_MaxPoolGradFromPositions", "MaxPool", "_ResizedPicture",
    "_ReluOver", "_TanhOver", "_SigmoidOver", "_BiasAddOver", "_AddV2Over", "_MulOver", "_SubOver", "_RealDivOver", "_ReluGradOver",
))

# For each op: which inputs may be overwritten, each with the kernel that does so.
OVER: dict[str, dict[int, Callable[[Node], Any]]] = {
    "Relu": {0: lambda n: torch.relu_},
    "Tanh": {0: lambda n: torch.tanh_},
    "Sigmoid": {0: lambda n: torch.sigmoid_},
    "BiasAdd": {0: lambda n: torch.Tensor.add_},
    "AddV2": {0: lambda n: torch.Tensor.add_, 1: lambda n: lambda x, y: y.add_(x)},
    "AddN": {0: lambda n: torch.Tensor.add_, 1: lambda n: lambda x, y: y.add_(x)},
    "Mul": {0: lambda n: torch.Tensor.mul_, 1: lambda n: lambda x, y: y.mul_(x)},
    "Sub": {0: lambda n: torch.Tensor.sub_},
    "RealDiv": {0: lambda n: torch.Tensor.div_},
    "ReluGrad": {0: lambda n: lambda dy, y: torch.ops.aten.threshold_backward.grad_input(dy, y, 0, grad_input=dy)},
}


# Ops whose results come from a file, into memory that is theirs alone.
RESTORES = frozenset(("RestoreV2", "Restore", "RestoreSlice"))


def take_restored(plan: Plan) -> None:
    """Hands restored values to their variables as they are: a copy would take as much time and memory as reading them."""
    def rule(node: Node, uses: Any) -> Node | None:
        kernel = TAKING.get(node.type)
        if kernel is None or node.inputs[1].node.type not in RESTORES or uses[node.inputs[1]] != 1:
            return None
        taking = fused(f"_{node.type}Restored", kernel, node, node.inputs)
        taking.fused.writes = True  # type: ignore[union-attr]
        return taking

    rewrite_nodes(plan, rule)


def reuse_buffers(plan: Plan) -> None:
    """Overwrites inputs that were computed by an op with memory of its own, are used once, and have the shape of the result."""
    symbols = Symbols()

    def rule(node: Node, uses: Any) -> Node | None:
        output = symbols.of(node.outputs[0]) if node.outputs else None
        ways = OVER.get(node.type)
        if ways is None or node.reads or output is None or (node.type == "BiasAdd" and node.attr("data_format") != "NHWC"):
            return None
        if node.type == "AddN" and len(node.inputs) != 2:
            return None
        for i, kernel in ways.items():
            value = node.inputs[i]
            if value.node.type in FRESH and uses[value] == 1 and value.dtype is node.outputs[0].dtype and value.dtype.name in FLOATS \
                    and symbols.of(value) == output:
                return fused(f"_{node.type}Over", kernel, node, node.inputs)
        return None

    rewrite_nodes(plan, rule)
