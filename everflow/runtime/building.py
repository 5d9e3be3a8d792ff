"""Ops that are computed while the graph is built, because static shapes follow from them."""

from __future__ import annotations

import numpy as np

from everflow.graph.operation import Operation
from everflow.ops.core.node import Node, constant_node
from everflow.ops.core.registry import meaning
from everflow.runtime.context import Context
from everflow.runtime.passes.constants import computed


def outputs_of(op: Operation, inputs: list[np.ndarray]) -> list[np.ndarray] | None:
    """What the kernel of an op makes of constants; None where it does more than compute, or what it computes may be fed."""
    known = meaning(op.type)
    if known is None or known.fed or any(spec.type == "func" for spec in op.op_def_.attrs.values()):
        return None
    context = Context(op.graph)
    constants = [constant_node(context, op.name, value, t.dtype).outputs[0] for value, t in zip(inputs, op.inputs)]
    node = Node(op.type, op.name, op.attrs, constants, op, context)
    for t in op.outputs:
        node.add_output(t.dtype, t.dims)
    return computed(node, strings=True)
