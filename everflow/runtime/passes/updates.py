"""An optimizer's steps on many variables are taken in one call."""
from __future__ import annotations

from typing import Any

from everflow.runtime.plan import Node, Plan, fused

# The families whose formula works on lists at once.
FAMILIES = ("Adam", "Momentum", "Adagrad")


def _kind(node: Node, uses: Any) -> Any:
    """What two steps must share to be taken together; None for a node that is no such step."""
    name = node.type.removeprefix("Resource")
    if not name.startswith("Apply") or name[5:] not in FAMILIES:
        return None
    if node.reads or node.attr("use_locking") or any(uses[v] for v in node.outputs):
        return None
    from everflow.ops.training import FAMILIES as known
    from everflow.ops.training import Arguments

    where = Arguments(node.type, known[name[5:]].slots)
    numbers = tuple(node.inputs[i] for i in where.numbers)
    return node.type, numbers, node.inputs[where.gradient].dtype, tuple(sorted((k, str(v)) for k, v in node.attrs.items() if k[0] != "_"))


def batch_updates(plan: Plan) -> None:
    """Joins steps that follow each other in the plan. What comes between them may be anything that touches no variable."""
    uses = plan.uses()
    nodes: list[Node] = []
    group: list[Node] = []
    kind: Any = None

    def finish() -> None:
        nonlocal group, kind
        if len(group) > 1:
            nodes.append(_joined(group))
        else:
            nodes.extend(group)
        group, kind = [], None

    for node in plan.nodes:
        found = _kind(node, uses)
        if found is not None:
            if found != kind:
                finish()
                kind = found
            group.append(node)
            continue
        if group and (node.has_effects or node.reads or any(v.dtype._is_ref_dtype or v.dtype.name == "resource" for v in node.inputs)):
            finish()
        nodes.append(node)
    finish()
    plan.nodes = nodes


def _joined(group: list[Node]) -> Node:
    from everflow.ops.training import together

    members = list(group)
    node = fused("_" + members[-1].type + "Together", lambda n: together(members), members[-1], [v for m in members for v in m.inputs])
    node.outputs = []
    assert node.fused is not None
    node.fused.writes = True
    return node
