"""What passes do to a plan, in print: `EVERFLOW_DEBUG=passes python program.py`."""

from __future__ import annotations

import difflib
import os
import sys

from everflow.ops.core.node import Node, Value
from everflow.runtime.plan import Plan

# How many lines around a change are shown.
AROUND = 2


def is_asked_for() -> bool:
    """Whether the environment wants passes to be shown."""
    return "passes" in os.environ.get("EVERFLOW_DEBUG", "").split(",")


def show(title: str, lines: list[str]) -> None:
    """Prints some lines below a title, where warnings go."""
    print(f"-- {title}", *lines, sep="\n", file=sys.stderr, flush=True)


def listed(plan: Plan) -> list[str]:
    """A line for each node of a plan."""
    return [_line(node) for node in plan.nodes]


def changes(before: list[str], after: list[str]) -> list[str]:
    """The lines that went (-) and came (+), and those around them."""
    found: list[str] = []
    for part in difflib.SequenceMatcher(None, before, after, autojunk=False).get_grouped_opcodes(AROUND):
        if found:
            found.append("  ...")
        for kind, start, end, new_start, new_end in part:
            if kind == "equal":
                found += [f"  {line}" for line in before[start:end]]
            else:
                found += [f"- {line}" for line in before[start:end]] + [f"+ {line}" for line in after[new_start:new_end]]
    return found


def _line(node: Node) -> str:
    inputs = ", ".join(f"{_name(v)}.read()" if i in node.reads else _name(v) for i, v in enumerate(node.inputs))
    results = ", ".join(_type(v) for v in node.outputs)
    return f"{node.name} = {node.type}({_shown(node) if node.is_constant else inputs})" + (f": {results}" if results else "")


def _shown(node: Node) -> str:
    value = node.attrs["value"]
    return repr(value.tolist()) if value.size <= 4 else "..."


def _name(value: Value) -> str:
    return value.node.name if not value.index else f"{value.node.name}:{value.index}"


def _type(value: Value) -> str:
    sizes = "..." if value.dims is None else ", ".join("?" if d is None else str(d) for d in value.dims)
    return f"{value.dtype.name}[{sizes}]"
