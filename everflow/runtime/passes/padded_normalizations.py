"""Zeros around normalized pictures: where convolutions want more of them on one side than on the other, they are written along with
the pictures instead of into a copy for each convolution."""

from __future__ import annotations

from typing import Any

from everflow.ops.core.node import Node, Value
from everflow.runtime.plan import Plan, fused, remade


def pad_normalizations(plan: Plan) -> bool:
    """Gives batch normalizations another output, their result with zeros around it, for what would pad it."""
    sources = [(i, node) for i, node in enumerate(plan.nodes) if node.meaning is not None and node.meaning.surrounded is not None]
    if not sources:
        return False
    takers: dict[Value, list[Node | None]] = {}
    for node in plan.nodes:
        for i, v in enumerate(node.inputs):
            takers.setdefault(v, []).append(node if i == 0 and not node.reads else None)
    for v in plan.fetches:
        takers.setdefault(v, []).append(None)
    table: dict[Value, Value] = {}
    for i, node in sources:
        name = node.meaning.surrounded(node) if not node.reads else None  # type: ignore[union-attr,misc]
        border = None if name is None else _agreed(takers.get(node.outputs[0], []))
        if name is not None and border is not None:
            plan.nodes[i] = new = _surrounded(name, node, border)
            table.update(zip(node.outputs, new.outputs))
            _take_whole(plan, takers[node.outputs[0]], new, border, table)
    if table:
        plan.replace(table)
    return bool(table)


def _agreed(takers: list[Node | None]) -> Any:
    """The zeros that something wants, where all others can do with pictures that are not dense."""
    if any(node is None or node.meaning is None or not node.meaning.strided for node in takers):
        return None
    wanted = {border for node in takers if (border := _border(node)) is not None}
    return wanted.pop() if len(wanted) == 1 else None


def _border(node: Node | None) -> Any:
    """What a node pads its input with before it begins; None where it needs no copy for that."""
    if node is None or node.meaning is None or node.meaning.border is None:
        return None
    return node.meaning.border(node)


def _surrounded(name: str, node: Node, border: Any) -> Node:
    new = fused(name, node, list(node.inputs), border=border)
    dims = node.outputs[0].dims
    if dims is not None:
        high, wide = (None if size is None else size + more for size, more in zip(dims[1:3], (sum(border[:2]), sum(border[2:]))))
        dims = (dims[0], high, wide, dims[3])
    new.add_output(node.outputs[0].dtype, dims)
    return new


def _take_whole(plan: Plan, takers: list[Node | None], source: Node, border: Any, table: dict[Value, Value]) -> None:
    """Makes nodes that want this border use the pictures that have it."""
    whole = source.outputs[-1]
    for node in takers:
        if node is None or _border(node) != border:
            continue
        if "padding" not in node.attrs:
            # Padding was all that it did.
            table[node.outputs[0]] = whole
            continue
        new = remade(node, [whole, *node.inputs[1:]], padding="VALID", explicit_paddings=[])
        table.update(zip(node.outputs, new.outputs))
        plan.nodes[plan.nodes.index(node)] = new
