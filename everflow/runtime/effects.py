"""Which variables a node writes when the function that it calls does."""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

from everflow.graph import opdefs
from everflow.graph.attrs import FunctionName
from everflow.graph.operation import Operation
from everflow.graph.tensor import Tensor
from everflow.ops.core.registry import meaning


class Effects(NamedTuple):
    """The arguments through which variables are written, and the variables that the body itself names."""

    arguments: frozenset[int]
    variables: frozenset[tuple[str, str]]


NONE = Effects(frozenset(), frozenset())


def called(context: Any, op_type: str, attrs: dict[str, Any]) -> list[str]:
    """The functions that a node calls."""
    found = [op_type] if context.is_function(op_type) else []
    for value in attrs.values():
        for item in value if type(value) is list else (value,):
            if type(item) is FunctionName:
                found.append(item.name)
    return found


def of_function(context: Any, name: str) -> Effects:
    """What a call of a library function writes."""
    found = context.effects.get(name)
    if found is None:
        # A function that calls itself adds nothing by that.
        context.effects[name] = NONE
        entry = context.library(name)
        found = context.effects[name] = NONE if entry is None else _of_body(context, entry.graph)
    return found


def of_call(context: Any, op_type: str, names: list[str]) -> Effects:
    """What a node that calls these functions writes, by its own inputs."""
    after = _after_captures(op_type)
    if after is not None:
        return _of_dataset(context, names, after)
    caller = meaning(op_type)
    first = caller.first_argument if caller is not None else 0
    parts = [of_function(context, name) for name in names]
    return Effects(frozenset(i + first for p in parts for i in p.arguments), frozenset(v for p in parts for v in p.variables))


@functools.cache
def _after_captures(op_type: str) -> int | None:
    """How many inputs of a dataset's op come after those that its function captured; None for other ops."""
    definition = opdefs.find(op_type)
    names = [arg.name for arg in definition.inputs] if definition is not None else []
    return len(names) - 1 - names.index("other_arguments") if "other_arguments" in names else None


def _of_dataset(context: Any, names: list[str], after: int) -> Effects:
    """The same for a function of elements: its last arguments are captures, counted from the end as the node's inputs are."""
    arguments: set[int] = set()
    variables: set[tuple[str, str]] = set()
    for name in names:
        found = of_function(context, name)
        variables |= found.variables
        if found.arguments:
            count = len(context.library(name).graph.inputs)
            arguments.update(i - count - after for i in found.arguments)
    return Effects(frozenset(arguments), frozenset(variables))


def _of_body(context: Any, body: Any) -> Effects:
    position = {t: i for i, t in enumerate(body.inputs)}
    arguments: set[int] = set()
    variables: set[tuple[str, str]] = set()

    def wrote(t: Tensor) -> None:
        op = _source(t.op)
        if _is_variable(op):
            variables.add((op.attrs.get("container") or "", op.attrs.get("shared_name") or op.name))
        elif op.outputs and op.outputs[0] in position:
            arguments.add(position[op.outputs[0]])

    for op in body.get_operations():
        names = called(context, op.type, op.attrs)
        if names:
            effects = of_call(context, op.type, names)
            variables |= effects.variables
            for i in effects.arguments:
                wrote(op.inputs[i])
            continue
        known = meaning(op.type)
        if known is None or known.writes:
            for t in op.inputs:
                if t.dtype._is_ref_dtype or t.dtype.name == "resource":
                    wrote(t)
    return Effects(frozenset(arguments), frozenset(variables))


def _is_variable(op: Operation) -> bool:
    known = meaning(op.type)
    return known is not None and known.variable


def _source(op: Operation) -> Operation:
    """The op that made a handle or reference that was handed on."""
    while op.inputs and not _is_variable(op):
        op = op.inputs[0].op
    return op
