"""Updates of variables: restored values, and first ones, are taken as they are, a factor is applied while adding, and an optimizer's steps
on many variables are taken in one call."""

from __future__ import annotations

from collections import Counter
from typing import Any

from everflow.ops.core.node import Node, Value
from everflow.runtime.passes.patterns import FLOATS, Match, P, Rules, V, rewrite
from everflow.runtime.plan import Plan, fused


def _taking(node: Node) -> Node:
    return fused(node.meaning.taking, node, node.inputs)  # type: ignore[union-attr]


def _beginning(node: Node) -> Node:
    return fused(node.meaning.beginning, node, node.inputs)  # type: ignore[union-attr]


take_values = Rules(
    "take_values",
    "Variables keep the memory that restored values are in, and first ones: a copy would take as long as reading them, and as much memory.",
    (P((), V(), P(has="restored", once=True, output=None), has="taking"), _taking),
    (P((), V(), V(once=True, fresh=True), has="beginning"), _beginning),
)


def _scaled(node: Node, factor: Value, value: Value) -> Node | None:
    if _may_change(value.node):
        return None
    assert node.meaning is not None and factor.constant is not None
    return fused("_AssignScaled", node, [node.inputs[0], value], alpha=node.meaning.adds * float(factor.constant))


def _may_change(node: Node) -> bool:
    """Whether what a node gave may be a variable's memory, which can be written to before the update."""
    meaning = node.meaning
    if meaning is None or node.reads or meaning.forwards or meaning.views_variable:
        return True
    return meaning.view and any(_may_change(v.node) for v in node.inputs)


scale_updates = Rules(
    "scale_updates",
    "A value times a number that is added to a variable, as in `w.assign_sub(0.1 * gradient)`, needs no product.",
    (P((), V(), P("multiplication", V("factor", number=True), V("value"), once=True, dtype=FLOATS, swaps=True), has="adds"), _scaled),
)


POWER = P(
    "Pow", V("base"), P("conversion", P("addition", V("count", dtype=("int32", "int64")), V("more", number=True))), dtype=("float32",)
)


def take_counted_powers(plan: Plan) -> bool:
    """What steps correct their beginning by, `beta ** (count + 1)`, is a number in Python where nothing but steps needs it."""
    by_steps = Counter(v for n in plan.nodes if n.meaning is not None and n.meaning.batch is not None for v in n.inputs)

    def counted(node: Node, uses: Counter[Value]) -> Node | None:
        match = Match(uses)
        if not POWER.accepts(node) or not POWER.matches(node.outputs[0], match) or by_steps[node.outputs[0]] != uses[node.outputs[0]]:
            return None
        base, count, more = (match.found[name] for name in ("base", "count", "more"))
        return fused("_CountedPower", node, [base, count], more=int(more.constant)) if base.dims == count.dims == () else None

    return any(POWER.accepts(node) for node in plan.nodes) and rewrite(plan, counted)


def batch_optimizer_steps(plan: Plan) -> bool:
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
    joins = len(nodes) < len(plan.nodes)
    plan.nodes = nodes
    return joins


def _kind(node: Node, uses: Any) -> Any:
    """What two steps must share to be taken together; None for a node that is no such step."""
    meaning = node.meaning
    if meaning is None or meaning.batch is None or node.reads or any(uses[v] for v in node.outputs):
        return None
    return meaning.batch(node)


def _joined(group: list[Node]) -> Node:
    last = group[-1]
    node = fused(last.meaning.together, last, [v for step in group for v in step.inputs], steps=list(group))  # type: ignore[union-attr]
    node.outputs = []
    return node
