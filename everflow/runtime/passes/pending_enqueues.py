"""What brings elements waits for room at the end: what takes elements in the same step may make that room."""

from __future__ import annotations

from everflow.graph import dtypes
from everflow.ops.core.node import Node
from everflow.runtime.plan import Plan, fused
from everflow.runtime.references import depends


def begin_enqueues(plan: Plan) -> bool:
    """Parts ops that bring elements, where ops that need not come after them take some: the second part waits until all are in."""
    takers = [node for node in plan.nodes if node.meaning is not None and node.meaning.waits]
    if not takers:
        return False
    nodes = _parted(plan.nodes, takers)
    changed = len(nodes) != len(plan.nodes)
    if changed:
        plan.nodes = nodes
    return changed


def _parted(nodes: list[Node], takers: list[Node]) -> list[Node]:
    """The nodes with what brings elements begun where it stands. What depends on these comes when all are in, after all else."""
    found: list[Node] = []
    begun: list[Node] = []
    finishes: list[Node] = []
    behind: list[Node] = []
    for node in nodes:
        begins = node.meaning.begins if node.meaning is not None else None
        if any(depends(node, first) for first in begun) or any(v.node in behind for v in node.inputs):
            behind.append(node)
        elif begins is None or all(depends(taker, node) or depends(node, taker) for taker in takers):
            found.append(node)
        else:
            first = fused("_Begin", node, node.inputs, begins=begins)
            first.reads = node.reads
            finishes.append(fused("_Finish", node, [first.add_output(dtypes.variant, ())]))
            found.append(first)
            begun.append(node)
    return found + finishes + (_parted(behind, takers) if begun else behind)
