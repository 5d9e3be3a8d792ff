"""Nodes whose inputs are all known before running are computed once, when the plan is made."""

from __future__ import annotations

import numpy as np

from everflow import errors
from everflow.errors import MISTAKES
from everflow.graph import shapes
from everflow.ops.core.node import Node, Value, constant_node, kernel_of
from everflow.runtime.plan import Plan
from everflow.values import tensors as values

LARGEST = 1 << 16


def fold_constants(plan: Plan) -> bool:
    """Replaces computable nodes by Const nodes, in order, so that whole chains fold."""
    table: dict[Value, Value] = {}
    nodes: list[Node] = []
    for node in plan.nodes:
        node.inputs[:] = [table.get(v, v) for v in node.inputs]
        meaning = node.meaning
        found = meaning.known(node) if meaning is not None and meaning.known is not None else None
        if found is None:
            found = computed(node)
        if found is None:
            nodes.append(node)
            continue
        for value, array in zip(node.outputs, found):
            constant = constant_node(plan.context, node.name, array, value.dtype)
            table[value] = constant.outputs[0]
            nodes.append(constant)
    if table:
        plan.nodes = nodes
        plan.fetches = [table.get(v, v) for v in plan.fetches]
    return bool(table)


def computed(node: Node, strings: bool = False) -> list[np.ndarray] | None:
    """The outputs of a node whose inputs are all constant, where it does nothing but compute them: numbers, or strings too."""
    return _computed(node) if _foldable(node, strings) else None


def _foldable(node: Node, strings: bool) -> bool:
    if not node.outputs or not node.inputs or node.op is None or node.op.op_def_.is_stateful:
        return False
    meaning = node.meaning
    if meaning is None or meaning.kernel is None or meaning.writes or not meaning.folds:
        return False
    if any(v.constant is None for v in node.inputs):
        return False
    for v in (*node.inputs, *node.outputs):
        if v.dtype._is_ref_dtype or not (values.is_numeric(v.dtype) or strings and v.dtype.name == "string"):
            return False
    return all((shapes.num_elements(v.dims) or 0) <= LARGEST for v in (*node.inputs, *node.outputs))


def _computed(node: Node) -> list[np.ndarray] | None:
    try:
        result = kernel_of(node)(*[node.context.constant(v.node) for v in node.inputs])
    except (errors.OpError, RuntimeError, ValueError, *MISTAKES):
        return None  # the error belongs to the run, where it names the op
    outputs = result if len(node.outputs) > 1 else (result,)
    arrays = [np.array(values.to_numpy(r, v.dtype)) for r, v in zip(outputs, node.outputs)]
    return arrays if all(a.size <= LARGEST for a in arrays) else None
