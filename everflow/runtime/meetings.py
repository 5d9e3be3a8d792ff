"""Ops of several devices that wait for each other: collectives. In a step, which is one line of code, those that meet are one node."""

from __future__ import annotations

import collections
from collections.abc import Iterable
from typing import Any

from everflow.graph.devices import DeviceSpec
from everflow.graph.operation import Operation
from everflow.ops.core.node import Node, Value
from everflow.ops.core.registry import meaning
from everflow.runtime.plan import Plan, fused


def members(ops: Iterable[Operation]) -> dict[Operation, list[Operation]]:
    """{an op that meets others: all of them, itself too}. What comes after one of them has to come after all."""
    groups: dict[Any, list[Operation]] = collections.defaultdict(list)
    for op in ops:
        known = meaning(op.type)
        if known is not None and known.meets is not None and (where := known.meets(op.attrs)) is not None:
            groups[where].append(op)
    return {op: group for group in groups.values() if len(group) > 1 for op in group}


def join_meetings(plan: Plan) -> None:
    """Makes one node of those that meet on different devices of a task, in the place of the last of them."""
    groups: dict[Any, list[Node]] = collections.defaultdict(list)
    for node in plan.nodes:
        if node.op is not None and node.meaning is not None and node.meaning.meets is not None:
            where = node.meaning.meets(node.attrs)
            if where is not None:
                groups[where, id(node.context)].append(node)
    table: dict[Value, Value] = {}
    for group in groups.values():
        if len({_device(node) for node in group}) == len(group) > 1:
            ordered = sorted(group, key=_device)
            joined = fused(group[0].meaning.meeting, group[0], [v for n in ordered for v in n.inputs], members=ordered)  # type: ignore[union-attr]
            joined.outputs = []
            joined.asked_for = True
            first = 0
            for n in ordered:
                joined.reads |= {first + place for place in n.reads}
                first += len(n.inputs)
                for v in n.outputs:
                    table[v] = joined.add_output(v.dtype, v.dims)
            plan.nodes[plan.nodes.index(group[-1])] = joined
            gone = set(group)
            plan.nodes = [n for n in plan.nodes if n not in gone]
    if table:
        plan.replace(table)


def _device(node: Node) -> Any:
    """Devices in the order of their names and numbers."""
    spec = DeviceSpec.from_string(node.context.placer.device_of(node.op))
    return spec.job, spec.replica, spec.task, spec.device_type, spec.device_index
