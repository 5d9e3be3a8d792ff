"""Nodes that run bodies are told which of their results are used: bodies compute what these need, and nothing else."""
from __future__ import annotations

from everflow.runtime.plan import BODIES, Plan


def ask_for_used_results(plan: Plan) -> None:
    """Notes the results of branches and loops that something uses, where not all are. What was asked for itself is run as it is."""
    if not any(n.type in BODIES for n in plan.nodes):
        return
    uses = plan.uses()
    for node in plan.nodes:
        if node.type in BODIES and not node.asked_for:
            used = tuple(i for i, v in enumerate(node.outputs) if uses[v])
            if len(used) < len(node.outputs):
                node.attrs = {**node.attrs, "_used": used}
