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
    nodes: list[Node] = []
    waiting: list[tuple[Node, Node]] = []
    for node in plan.nodes:
        for pair in [pair for pair in waiting if depends(node, pair[0])]:
            nodes.append(pair[1])
            waiting.remove(pair)
        begins = node.meaning.begins if node.meaning is not None else None
        if begins is None or all(depends(taker, node) or depends(node, taker) for taker in takers):
            nodes.append(node)
            continue
        first = fused("_Begin", node, node.inputs, begins=begins)
        first.reads = node.reads
        pending = first.add_output(dtypes.variant, ())
        nodes.append(first)
        waiting.append((node, fused("_Finish", node, [pending])))
    if len(nodes) + len(waiting) == len(plan.nodes):
        return False
    plan.nodes = nodes + [last for _, last in waiting]
    return True
