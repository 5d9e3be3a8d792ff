"""Nodes that hand their input on unchanged are left out."""

from __future__ import annotations

from everflow.ops.core.node import Node, Value
from everflow.runtime.passes.patterns import P, Rules, V
from everflow.runtime.plan import Plan


def drop_identities(plan: Plan) -> bool:
    """Uses of an Identity use its input. A read of a variable stays: when it happens matters."""
    table: dict[Value, Value] = {}
    for node in plan.nodes:
        if node.meaning is not None and node.meaning.forwards and not node.reads:
            table.update(zip(node.outputs, node.inputs))
    if table:
        plan.replace(table)
        plan.nodes = [n for n in plan.nodes if not n.outputs or n.outputs[0] not in table]
    return bool(table)


def _first(node: Node) -> Value:
    return node.inputs[0]


# What functions of random numbers ask for by default: a standard deviation of one, a mean or a minimum of zero. None of these gives -0.0.
drop_default_scales = Rules(
    "drop_default_scales",
    "Random numbers are neither multiplied by one, nor is zero added to them.",
    (P("multiplication", P("random numbers"), V(number=1.0)), _first),
    (P("addition", P("random numbers"), V(number=0.0)), _first),
)
