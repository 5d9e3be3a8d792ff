"""Python functions that do not wait for each other run side by side: one may wait for what another one does."""

from __future__ import annotations

from everflow.ops.core.node import Node, Value
from everflow.runtime.plan import Plan, fused


def run_python_functions_together(plan: Plan) -> bool:
    """Joins neighbouring nodes that call Python functions, and that no edge connects, into one that starts them all."""
    if not plan.context.runs_side_by_side:
        return False
    nodes: list[Node] = []
    table: dict[Value, Value] = {}
    group: list[Node] = []

    def close() -> None:
        if len(group) > 1:
            nodes.append(_joined(list(group), table))
        else:
            nodes.extend(group)
        group.clear()

    for node in plan.nodes:
        calls = node.meaning is not None and node.meaning.kind == "python function" and not node.reads
        if not calls or any(_waits(node, other) for other in group):
            close()
        if calls:
            group.append(node)
        else:
            nodes.append(node)
    close()
    if table:
        plan.nodes = nodes
        plan.replace(table)
    return bool(table)


def _waits(node: Node, other: Node) -> bool:
    if any(v.node is other for v in node.inputs):
        return True
    return node.op is not None and other.op in node.op.control_inputs


def _joined(group: list[Node], table: dict[Value, Value]) -> Node:
    node = fused("_PyFuncs", group[0], [v for n in group for v in n.inputs], calls=group)
    node.outputs = []
    node.asked_for = True
    for n in group:
        for v in n.outputs:
            table[v] = node.add_output(v.dtype, v.dims)
    return node
