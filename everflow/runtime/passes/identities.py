"""Nodes that hand their input on unchanged are left out."""
from __future__ import annotations

from everflow.runtime.plan import Node, Plan, Value

FORWARDING = {"Identity", "StopGradient", "PreventGradient", "Snapshot", "PlaceholderWithDefault", "OptimizationBarrier"}


def drop_identities(plan: Plan) -> None:
    """Uses of an Identity use its input. A read of a variable stays: when it happens matters. So does an Identity that waits
    for other nodes."""
    table: dict[Value, Value] = {}
    gone: dict[Node, list[Node]] = {}
    fed = {v.node.op for v in plan.feeds if v.node.op is not None}
    for node in plan.nodes:
        if node.type in FORWARDING and not node.control and not node.reads and node.op not in fed:
            table[node.outputs[0]] = node.inputs[0]
            gone[node] = [node.inputs[0].node]
    if table:
        plan.replace_all(table, gone)
