"""Nodes that hand their input on unchanged are left out."""
from __future__ import annotations

from everflow.runtime.plan import Plan, Value

# What functions of random numbers ask for by default: a standard deviation of one, a mean or a minimum of zero. None of these gives -0.0.
RANDOM = {"RandomStandardNormal", "TruncatedNormal", "RandomUniform"}
NEUTRAL = {"Mul": 1.0, "Add": 0.0, "AddV2": 0.0}


def drop_identities(plan: Plan) -> None:
    """Uses of an Identity use its input. A read of a variable stays: when it happens matters."""
    table: dict[Value, Value] = {}
    for node in plan.nodes:
        if node.meaning is not None and node.meaning.forwards and not node.reads:
            table.update(zip(node.outputs, node.inputs))
    if table:
        plan.replace(table)
        plan.nodes = [n for n in plan.nodes if not n.outputs or n.outputs[0] not in table]


def drop_default_scales(plan: Plan) -> None:
    """Random numbers are neither multiplied by one, nor is zero added to them."""
    table: dict[Value, Value] = {}
    for node in plan.nodes:
        if node.type in NEUTRAL and not node.reads:
            numbers, by = (table.get(value, value) for value in node.inputs)
            if numbers.node.type in RANDOM and by.node.type == "Const" and by.dims == () and by.node.attrs["value"] == NEUTRAL[node.type]:
                table[node.outputs[0]] = numbers
    if table:
        plan.replace(table)
        plan.nodes = [n for n in plan.nodes if not n.outputs or n.outputs[0] not in table]
