"""control_flow_util: which part an op plays in version 1 control flow, and whether a function is being built."""

from __future__ import annotations

from typing import Any

from everflow.api import internal
from everflow.graph.operation import Operation
from everflow.graph.stacks import get_default_graph
from everflow.ops.control_flow.frame_op_types import BACK_EDGES, ENTERS, EXITS, MERGES, SWITCHES


@internal("ops.control_flow_util.IsSwitch")
def is_switch(op: Operation) -> bool:
    """Whether an op is a Switch."""
    return op.type in SWITCHES


@internal("ops.control_flow_util.IsMerge")
def is_merge(op: Operation) -> bool:
    """Whether an op is a Merge."""
    return op.type in MERGES


@internal("ops.control_flow_util.IsLoopEnter")
def is_loop_enter(op: Operation) -> bool:
    """Whether an op is an Enter."""
    return op.type in ENTERS


@internal("ops.control_flow_util.IsLoopConstantEnter")
def is_loop_constant_enter(op: Operation) -> bool:
    """Whether an op hands the same value to all iterations of a loop."""
    return is_loop_enter(op) and bool(op.attr("is_constant"))


@internal("ops.control_flow_util.IsLoopExit")
def is_loop_exit(op: Operation) -> bool:
    """Whether an op is an Exit."""
    return op.type in EXITS


@internal("ops.control_flow_util.IsLoopMerge")
def is_loop_merge(op: Operation) -> bool:
    """Whether an op is the Merge of a loop variable."""
    return is_merge(op) and any(t.op.type in (*ENTERS, *BACK_EDGES) for t in op.inputs)


@internal("ops.control_flow_util.IsLoopSwitch")
def is_loop_switch(op: Operation) -> bool:
    """Whether an op is a Switch that goes by the condition of a loop."""
    return is_switch(op) and op.inputs[1].op.type == "LoopCond"


@internal("ops.control_flow_util.IsCondSwitch")
def is_cond_switch(op: Operation) -> bool:
    """Whether an op is a Switch of a conditional."""
    return is_switch(op) and not is_loop_switch(op)


@internal("ops.control_flow_util.IsCondMerge")
def is_cond_merge(op: Operation) -> bool:
    """Whether an op is the Merge of a conditional."""
    return is_merge(op) and not is_loop_merge(op)


@internal("ops.control_flow_util.GetLoopConstantEnter")
def loop_constant_enter(value: Any) -> Operation | None:
    """The Enter op of a value that a loop uses from outside, or None."""
    op = value.op
    while op.type in ("Switch", "RefSwitch", "Identity", "RefIdentity"):
        op = op.inputs[0].op
    return op if is_loop_constant_enter(op) else None


@internal("ops.control_flow_util_v2.in_defun")
def in_defun() -> bool:
    """Whether the body of a function is being built, in a branch or loop of it or not."""
    graph: Any = get_default_graph()
    while graph is not None and getattr(graph, "rereads_variables", False):
        graph = graph.outer_graph
    return bool(graph is not None and graph.building_function)
