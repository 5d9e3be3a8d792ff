"""Nodes that compute the same thing are computed once."""

from __future__ import annotations

from typing import Any

import numpy as np

from everflow.runtime.plan import Node, Plan, Value

LARGEST = 64


def share_subexpressions(plan: Plan) -> bool:
    """Two stateless nodes with the same op, attributes and inputs become one."""
    table: dict[Value, Value] = {}
    seen: dict[Any, Node] = {}
    for node in plan.nodes:
        if table:
            node.inputs[:] = [table.get(v, v) for v in node.inputs]
        key = _key(node)
        if key is None:
            continue
        first = seen.setdefault(key, node)
        if first is not node:
            table.update(zip(node.outputs, first.outputs))
    if table:
        plan.replace(table)
    return bool(table)


def _key(node: Node) -> Any:
    if node.reads or not node.outputs or node.is_feed:
        return None
    if node.is_constant:
        array = node.attrs["value"]
        if array.size > LARGEST or array.dtype == object:
            return None
        return node.type, node.context, array.dtype.str, array.dtype.name, array.shape, array.tobytes()
    if node.op is None or node.op.op_def_.is_stateful or any(v.dtype._is_ref_dtype for v in (*node.inputs, *node.outputs)):
        return None
    if any(v.dtype.name in ("resource", "variant") for v in (*node.inputs, *node.outputs)):
        return None
    attrs = [(k, _frozen(v)) for k, v in sorted(node.attrs.items()) if k == "_kernel" or not k.startswith("_")]
    # Nodes in different tasks of a cluster have different contexts.
    return node.type, node.context, tuple(node.inputs), tuple(attrs)


def _frozen(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(_frozen(v) for v in value)
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape, value.tobytes()
    return value
