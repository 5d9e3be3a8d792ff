"""What is the same in all iterations of a loop is computed once, before the first of them."""

from __future__ import annotations

from everflow.ops.core.node import FEED, Node, Value
from everflow.ops.core.registry import kind_of
from everflow.runtime import effects
from everflow.runtime.passes.host_sizes import host_kernel
from everflow.runtime.passes.patterns import FLOATS
from everflow.runtime.plan import Plan, fused, remade

HANDLES = ("resource", "variant")


def compute_ahead(plan: Plan) -> bool:
    """Takes nodes that depend on nothing that changes out of the body of a loop, into a plan of their own; their results are fed."""
    fixed = {v for v, after in zip(plan.feeds[: plan.carried], plan.fetches) if v is after and not _is_handle(v)}
    if not fixed:
        return False
    host = {plan.feeds[i] for i in plan.host_feeds}
    moved: list[Node] = []
    sizes: list[Node] = []
    for node in plan.nodes:
        if node.is_constant:
            fixed.update(node.outputs)
        elif not node.is_feed and all(v in fixed for v in node.inputs) and _may_move(node, plan):
            fixed.update(node.outputs)
            if host_kernel(node, host) is None:
                moved.append(node)
            else:
                host.update(node.outputs)
                sizes.append(node)
    gone = set(moved)
    left = [n for n in plan.nodes if n not in gone]
    grouped = {n: fused("_InGroups", n, [n.inputs[1]]) for n in left if _may_share(n, fixed)}
    for n, groups in grouped.items():
        groups.outputs = [Value(groups, 0, n.inputs[1].dtype, None)]
    needed = {*plan.fetches, *(v for n in left for v in n.inputs)}
    results = [v for n in moved for v in n.outputs if v in needed]
    if not results and not grouped:
        return False
    ahead = plan.ahead = Plan(plan.context)
    ahead.is_body, ahead.host_feeds = True, plan.host_feeds
    ahead.feeds = plan.feeds[: plan.carried]
    ahead.fetches = [*results, *(groups.outputs[0] for groups in grouped.values())]
    # Sizes are cheap in Python, and say more there than a tensor would: both plans compute them.
    again = {node: remade(node, list(node.inputs)) for node in sizes}
    given = {v.node for v in ahead.feeds}
    ahead.nodes = [again.get(n, n) for n in plan.nodes if n in given or n.is_constant or n in gone or n in again] + list(grouped.values())
    ahead.replace({before: after for n, copy in again.items() for before, after in zip(n.outputs, copy.outputs)})
    ahead.drop_unused()
    fed = {v: _feed(v, plan) for v in ahead.fetches}
    plan.feeds = [*plan.feeds, *fed.values()]
    products = {n: fused("_ProductInGroups", n, [n.inputs[0], fed[g.outputs[0]]], product=n) for n, g in grouped.items()}
    plan.nodes = [*(v.node for v in fed.values()), *(products.get(n, n) for n in left)]
    plan.replace({**fed, **{n.outputs[0]: new.outputs[0] for n, new in products.items()}})
    return True


def _is_handle(value: Value) -> bool:
    return value.dtype._is_ref_dtype or value.dtype.name in HANDLES


def _may_move(node: Node, plan: Plan) -> bool:
    """Whether nobody can tell how often, or when, a node runs."""
    if node.meaning is None or node.meaning.bodies or node.has_effects or node.reads or node.context is not plan.context:
        return False
    return not any(map(_is_handle, (*node.inputs, *node.outputs))) and not effects.called(plan.context, node.type, node.attrs)


def _may_share(node: Node, fixed: set[Value]) -> bool:
    """Whether a node multiplies matrices one by one with those of a batch that stays the same, where some may be alike."""
    if kind_of(node.type) != "product of batches" or node.reads or node.attr("adj_x") or node.inputs[1] not in fixed:
        return False
    return all(v.dtype.name in FLOATS and v.dims is not None and len(v.dims) == 3 for v in node.inputs)


def _feed(value: Value, plan: Plan) -> Value:
    return Node(FEED, value.node.name, {}, [], value.node.op, plan.context).add_output(value.dtype, value.dims)
