"""Where ops come from, in the text of errors: `{{node x}}` becomes `node x (defined at model.py:12) `."""

from __future__ import annotations

import os
import re
from typing import Any

from everflow.api import PACKAGE, internal
from everflow.graph.operation import Operation
from everflow.graph.places import colocations, device_assignments
from everflow.graph.traceable import TraceableObject

_TAG = re.compile(r"\{\{(\w+) ([^{}]*)\}\}")
_INSIDE = str(PACKAGE) + os.sep


def defining_line(op: Operation) -> tuple[str, int]:
    """The file and line of the program that made an op: the innermost call outside of Everflow."""
    calls = [(file, line) for file, line, *_ in op.traceback]
    outside = [(file, line) for file, line in calls if not file.startswith(_INSIDE)]
    return (outside or calls or [("<unknown>", 0)])[-1]


def described(op: Operation) -> str:
    """`node x (defined at model.py:12) `."""
    if op.graph.from_elsewhere:
        return f"{{{{node {op.name}}}}}"
    file, line = defining_line(op)
    return f"node {op.name} (defined at {file}:{line}) "


def inputs_described(ops: list[Operation]) -> str:
    """Where the inputs of ops come from, for those that were made on another line."""
    text = ""
    for op in dict.fromkeys(o for o in ops if not o.graph.from_elsewhere):
        sources = dict.fromkeys(_source(t.op) for t in op.inputs)
        lines = [
            f" {s.name} (defined at {file}:{line})"
            for s in sources
            for file, line in [defining_line(s)]
            if (file, line) != defining_line(op)
        ]
        if lines:
            text += (
                "\n\nErrors may have originated from an input operation.\nInput Source operations connected to node "
                f"{op.name}:\n" + "\n".join(lines)
            )
    return text


def _source(op: Operation) -> Operation:
    """What an op hands on: a variable's read stands for the variable."""
    while op.type in ("Identity", "ReadVariableOp") and op.inputs:
        op = op.inputs[0].op
    return op


@internal("framework.error_interpolation.interpolate")
def interpolate(error_message: str, graph: Any) -> str:
    """The message, with the nodes that it names described."""
    colocated: list[Operation] = []
    named: list[Operation] = []

    def replace(tag: re.Match[str]) -> str:
        kind, name = tag.groups()
        if kind == "function_node":
            return ""
        op = graph._by_name.get(name)
        if op is None or kind not in ("node", "colocation_node"):
            return tag.group()
        if kind == "node":
            named.append(op)
            return described(op)
        colocated.append(op)
        return f"{described(op)}placed on device {_device_summary(op)} "

    text = _TAG.sub(replace, error_message)
    for op in colocated:
        text += f"Additional information about colocations:{_colocation_summary(op)}\n{_device_summary(op)}"
    return text + inputs_described(named)


def _device_summary(op: Operation) -> str:
    return summarize_devices(op.name, list(reversed(device_assignments(op))))


def _colocation_summary(op: Operation) -> str:
    return summarize_colocations(op.name, colocations(op))


@internal("framework.error_interpolation._compute_device_summary_from_list")
def summarize_devices(name: str, device_assignment_list: list[TraceableObject], prefix: str = "") -> str:
    """The `tf.device` blocks that an op was made in."""
    if not device_assignment_list:
        return f"{prefix}No device assignments were active during op '{name}' creation."
    lines = [f"{prefix}Device assignments active during op '{name}' creation:"]
    lines += [f"{prefix}  with tf.device({d.obj}): <{d.filename}:{d.lineno}>" for d in device_assignment_list]
    return "\n".join(lines)


@internal("framework.error_interpolation._compute_colocation_summary_from_dict")
def summarize_colocations(name: str, colocation_dict: dict[str, TraceableObject], prefix: str = "") -> str:
    """The `colocate_with` blocks that an op was made in."""
    if not colocation_dict:
        return f"{prefix}No node-device colocations were active during op '{name}' creation."
    lines = [f"{prefix}Node-device colocations active during op '{name}' creation:"]
    lines += [f"{prefix}  with tf.colocate_with({other}): <{c.filename}:{c.lineno}>" for other, c in colocation_dict.items()]
    return "\n".join(lines)
