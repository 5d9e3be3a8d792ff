"""Nodes that hand their input on unchanged are left out."""
from __future__ import annotations

from everflow.runtime.plan import Plan, Value

FORWARDING = {"Identity", "StopGradient", "PreventGradient", "Snapshot", "PlaceholderWithDefault"}


def drop_identities(plan: Plan) -> None:
    """Uses of an Identity use its input. A read of a variable stays: when it happens matters."""
    table: dict[Value, Value] = {}
    for node in plan.nodes:
        if node.type in FORWARDING and not node.reads:
            table[node.outputs[0]] = node.inputs[0]
        elif node.type == "IdentityN" and not node.reads:
            table.update(zip(node.outputs, node.inputs))
    if table:
        plan.replace(table)
        plan.nodes = [n for n in plan.nodes if not n.outputs or n.outputs[0] not in table]
