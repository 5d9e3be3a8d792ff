"""Nodes that hand their input on unchanged are left out."""

from __future__ import annotations

from everflow.graph.shapes import is_fully_defined
from everflow.ops.core.node import Node, Value
from everflow.runtime.passes.patterns import P, Rules, V
from everflow.runtime.plan import Plan


def drop_identities(plan: Plan) -> bool:
    """Uses of an Identity use its input. A read of a variable stays: when it happens matters; and so does what begins a second computation,
    which would else be the first one, kept all along."""
    table: dict[Value, Value] = {}
    for node in plan.nodes:
        if node.meaning is not None and node.meaning.forwards and not node.reads and not (begins_again(node) and _waits(node)):
            table.update(zip(node.outputs, node.inputs))
    if table:
        plan.replace(table)
        plan.nodes = [n for n in plan.nodes if not n.outputs or n.outputs[0] not in table]
    return bool(table)


def begins_again(node: Node) -> bool:
    """Whether a node of a plan hands on what was there before to what is computed a second time."""
    return node.meaning is not None and node.meaning.kind == "stop of gradients"


def _waits(node: Node) -> bool:
    """Whether a node hands on its input after others, by control or beside them: so `recompute_grad` begins."""
    source = node.inputs[0].node
    beside = len(source.outputs) > 1 and source.meaning is not None and source.meaning.forwards
    return beside or (node.op is not None and bool(node.op.control_inputs))


def _first(node: Node) -> Value:
    return node.inputs[0]


def _keeps_shape(node: Node) -> bool:
    return is_fully_defined(node.outputs[0].dims) and node.inputs[0].dims == node.outputs[0].dims


drop_reshapes = Rules("drop_reshapes", "What has a shape already is not given it again.", (P("reshaping", where=_keeps_shape), _first))


# What functions of random numbers ask for by default: a standard deviation of one, a mean or a minimum of zero. None of these gives -0.0.
drop_default_scales = Rules(
    "drop_default_scales",
    "Random numbers are neither multiplied by one, nor is zero added to them.",
    (P("multiplication", P("random numbers"), V(number=1.0)), _first),
    (P("addition", P("random numbers"), V(number=0.0)), _first),
)
