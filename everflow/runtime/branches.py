"""Branches that are known to be taken when a plan is made."""

from __future__ import annotations

import numpy as np

from everflow.graph.func_graph import function_targets
from everflow.ops.core.node import Node, Value, constant_node
from everflow.runtime.plan import Plan, make_plan


def fix_feeds(plan: Plan, known: dict[int, np.ndarray]) -> None:
    """Makes constants of some feeds. They are fed all the same."""
    table = {}
    for i, array in known.items():
        fed = plan.feeds[i]
        table[fed] = constant_node(plan.context, fed.node.name, array, fed.dtype).outputs[0]
    plan.nodes[:0] = [v.node for v in table.values()]
    plan.replace(table)


def take_known_branches(plan: Plan) -> None:
    """Puts the nodes of a branch in the place of the node that would choose it."""
    table: dict[Value, Value] = {}
    plan.nodes = _taken(plan.nodes, table)
    plan.replace(table)


def _taken(nodes: list[Node], table: dict[Value, Value]) -> list[Node]:
    found: list[Node] = []
    for node in nodes:
        node.inputs[:] = [table.get(v, v) for v in node.inputs]
        name = _branch(node)
        if name is None:
            found.append(node)
            continue
        body = node.context.library(name).graph
        inner = make_plan(node.context, body.outputs, function_targets(body), body.inputs)
        table.update(zip(inner.feeds, node.inputs[1:]))
        found.extend(_taken([n for n in inner.nodes if not n.is_feed], table))
        table.update((v, table.get(result, result)) for v, result in zip(node.outputs, inner.fetches))
    return found


def _branch(node: Node) -> str | None:
    """The function that a node is known to call, where what it hands on are values."""
    meaning = node.meaning
    if meaning is None or meaning.chosen is None or any(v.dtype._is_ref_dtype for v in node.inputs):
        return None
    index = node.constant(0)
    return None if index is None or index.ndim else meaning.chosen(node, index)
