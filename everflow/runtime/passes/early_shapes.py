"""Shapes are asked of the first value that has them: what was asked before is then free sooner, or need not be written down at all."""

from __future__ import annotations

from typing import Any

from everflow.graph import dtypes
from everflow.ops.core.node import Node, Value
from everflow.runtime.plan import Plan, remade
from everflow.runtime.symbols import Symbols


def measure_early(plan: Plan) -> bool:
    """Puts one node that tells a shape behind the first value that has it in the place of all that tell the same."""
    symbols = Symbols()
    asked = [node for node in plan.nodes if _tells_a_shape(node) and _depends(symbols.of(node.inputs[0]))]
    if not asked:
        return False
    wanted = {symbols.of(node.inputs[0]) for node in asked}
    first: dict[Any, Value] = {}
    for node in plan.nodes:
        for value in node.outputs:
            if value.dtype is not dtypes.resource and not value.dtype._is_ref_dtype and (sizes := symbols.of(value)) in wanted:
                first.setdefault(sizes, value)
    table: dict[Value, Value] = {}
    made: dict[Any, Node] = {}
    behind: dict[Node, list[Node]] = {}
    for node in asked:
        value = first[symbols.of(node.inputs[0])]
        new = made.get(key := (value, node.type, node.outputs[0].dtype))
        if new is None:
            new = made[key] = remade(node, [value])
            behind.setdefault(value.node, []).append(new)
        table[node.outputs[0]] = new.outputs[0]
    gone = set(asked)
    plan.nodes = [n for node in plan.nodes if node not in gone for n in (node, *behind.get(node, ()))]
    plan.replace(table)
    return True


def _tells_a_shape(node: Node) -> bool:
    return node.meaning is not None and node.meaning.measures and len(node.inputs) == 1 and not node.reads and not node.asked_for


def _depends(sizes: Any) -> bool:
    """Whether all sizes are known to be some, and not all before running."""
    return sizes is not None and None not in sizes and not all(isinstance(size, int) for size in sizes)
