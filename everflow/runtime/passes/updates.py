"""Updates of variables: a factor is applied while adding, and an optimizer's steps on many variables are taken in one call."""
from __future__ import annotations

from typing import Any

from everflow.ops.variables.variable_ops import updating
from everflow.runtime.passes.fusion import FLOATS, rewrite_nodes
from everflow.runtime.plan import Node, Plan, Value, fused

# The families whose formula works on lists at once.
FAMILIES = ("Adam", "Momentum", "Adagrad")

# What adds to a variable, and the sign.
_ADDITIONS = {"AssignAdd": 1.0, "AssignAddVariableOp": 1.0, "AssignSub": -1.0, "AssignSubVariableOp": -1.0}


def scale_updates(plan: Plan) -> None:
    """A value times a number that is added to a variable, as in `w.assign_sub(0.1 * gradient)`, needs no product of its own."""
    rewrite_nodes(plan, _scaled)


def _scaled(node: Node, uses: Any) -> Node | None:
    sign = _ADDITIONS.get(node.type)
    if sign is None or node.reads:
        return None
    product = node.inputs[1].node
    if product.type != "Mul" or product.reads or uses[node.inputs[1]] != 1 or node.inputs[1].dtype.name not in FLOATS:
        return None
    for i in (0, 1):
        factor, value = product.constant(i), product.inputs[1 - i]
        if factor is not None and factor.ndim == 0 and not _may_change(value.node):
            return _adding(node, value, sign * float(factor))
    return None


def _adding(node: Node, value: Value, alpha: float) -> Node:
    kernel = updating(lambda v, x: v.add_(x, alpha=alpha), is_apart=True)
    return fused("_AssignScaled", kernel, node, [node.inputs[0], value], writes=True)


def _may_change(node: Node) -> bool:
    """Whether what a node gave may be a variable's memory, which can be written to before the update."""
    if node.meaning is None or node.reads or node.type in ("ReadVariableOp", "Identity"):
        return True
    return node.meaning.view and any(_may_change(v.node) for v in node.inputs)


def _kind(node: Node, uses: Any) -> Any:
    """What two steps must share to be taken together; None for a node that is no such step."""
    name = node.type.removeprefix("Resource")
    if not name.startswith("Apply") or name[5:] not in FAMILIES:
        return None
    if node.reads or any(uses[v] for v in node.outputs):
        return None
    from everflow.ops.variables.optimizer_updates import FAMILIES as known
    from everflow.ops.variables.optimizer_updates import Arguments

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
    from everflow.ops.variables.optimizer_updates import together

    members = list(group)
    inputs = [v for m in members for v in m.inputs]
    node = fused("_" + members[-1].type + "Together", lambda n: together(members), members[-1], inputs, writes=True)
    node.outputs = []
    return node
