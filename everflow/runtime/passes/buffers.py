"""Results are written over an input that nothing needs any more: large tensors cost most by the memory they touch."""
from __future__ import annotations

import functools
from typing import Any

from everflow.ops.core.node import Node
from everflow.ops.variables.variable_ops import TAKING
from everflow.runtime.passes.fusion import FLOATS, rewrite_nodes
from everflow.runtime.plan import Plan, fused
from everflow.runtime.symbols import Symbols


def _given(kernel: Any, node: Node) -> Any:
    return kernel


def take_restored(plan: Plan) -> None:
    """Hands restored values to their variables as they are: a copy would take as much time and memory as reading them."""
    def rule(node: Node, uses: Any) -> Node | None:
        kernel = TAKING.get(node.type)
        if kernel is None or uses[node.inputs[1]] != 1:
            return None
        source = node.inputs[1].node.meaning
        return fused(f"_{node.type}Restored", kernel, node, node.inputs, writes=True) if source is not None and source.restored else None

    rewrite_nodes(plan, rule)


def reuse_buffers(plan: Plan) -> None:
    """Overwrites inputs that were computed by an op with memory of its own, are used once, and have the shape of the result."""
    symbols = Symbols()

    def rule(node: Node, uses: Any) -> Node | None:
        output = symbols.of(node.outputs[0]) if node.outputs else None
        meaning = node.meaning
        if meaning is None or not meaning.over or node.reads or output is None:
            return None
        for i, factory in meaning.over.items():
            value = node.inputs[i]
            if value.node.is_fresh and uses[value] == 1 and value.dtype is node.outputs[0].dtype \
                    and value.dtype.name in FLOATS and symbols.of(value) == output and (kernel := factory(node)) is not None:
                return fused(f"_{node.type}Over", functools.partial(_given, kernel), node, node.inputs, fresh=True,
                             shape=meaning.shape, symbolic=meaning.symbolic)
        return None

    rewrite_nodes(plan, rule)
