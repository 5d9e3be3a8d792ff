"""Nodes that run bodies are told which of their results are used: bodies compute what these need, and nothing else."""
from __future__ import annotations

from collections import Counter

from everflow.runtime.plan import BODIES, Node, Plan, Value

LOOPS = frozenset(("While", "StatelessWhile"))


def ask_for_used_results(plan: Plan) -> None:
    """Notes the results of branches and loops that something uses, where not all are. What was asked for itself is run as it is."""
    if not any(n.type in BODIES for n in plan.nodes):
        return
    uses = plan.uses()
    # Backwards: what a loop does not need, earlier nodes need not give.
    for node in reversed(plan.nodes):
        if node.type in BODIES and not node.asked_for:
            used = tuple(i for i, v in enumerate(node.outputs) if uses[v])
            if len(used) < len(node.outputs):
                node.attrs = {**node.attrs, "_used": used}
                if node.type in LOOPS:
                    _leave_out_inputs(node, used, uses)


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
