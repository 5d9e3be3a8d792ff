"""Nodes that run bodies are told which of their results are used: bodies compute what these need, and nothing else."""

from __future__ import annotations

from collections import Counter

from everflow.ops.core.node import Node, Value
from everflow.runtime.plan import Plan


def ask_for_used_results(plan: Plan) -> bool:
    """Notes the results of branches and loops that something uses, where not all are. What was asked for itself is run as it is."""
    choosing = {n for n in plan.nodes if n.meaning is not None and n.meaning.bodies and not n.asked_for}
    if not choosing:
        return False
    uses = plan.uses()
    # Backwards: what a loop does not need, earlier nodes need not give.
    for node in reversed(plan.nodes):
        if node in choosing:
            used = tuple(i for i, v in enumerate(node.outputs) if uses[v])
            if len(used) < len(node.outputs):
                node.attrs = {**node.attrs, "_used": used}
                if node.meaning is not None and node.meaning.loops:
                    _leave_out_inputs(node, used, uses)
    return True


def _leave_out_inputs(node: Node, used: tuple[int, ...], uses: Counter[Value]) -> None:
    """Takes from a loop the inputs that its used results don't depend on; in their places stands one that it needs anyway."""
    from everflow.ops.control_flow.loops import needed_variables

    condition, body = (node.context.library(node.attr(part).name) for part in ("cond", "body"))
    if condition is None or body is None or len(body.graph.outputs) != len(node.outputs):
        return
    needed = needed_variables(condition.graph, body.graph, used)
    if not needed:
        return
    stand_in = node.inputs[needed[0]]
    dropped = frozenset(range(len(node.inputs))).difference(needed)
    for k in dropped:
        uses[node.inputs[k]] -= 1
        node.inputs[k] = stand_in
    node.reads = node.reads - dropped
