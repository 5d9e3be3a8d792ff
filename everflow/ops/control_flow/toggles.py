"""Which control flow `tf.cond` and `tf.while_loop` build: that of TensorFlow 1, or that of version 2."""

from __future__ import annotations

from typing import Any

from everflow import internals
from everflow.api import internal, public
from everflow.graph.graph import Graph

FLAG = "ENABLE_CONTROL_FLOW_V2"


def _home() -> dict[str, Any]:
    """Where the flag lives: in the module in which programs look for it, and set it."""
    module = internals.module("python.ops.control_flow_util")
    assert module is not None
    module.__dict__.setdefault(FLAG, False)
    return module.__dict__


@public("enable_control_flow_v2")
@internal("ops.control_flow_util.enable_control_flow_v2")
def enable_control_flow_v2() -> None:
    """From now on, effects inside branches and loops always happen, and results are named as in version 2."""
    _home()[FLAG] = True


@public("disable_control_flow_v2")
@internal("ops.control_flow_util.disable_control_flow_v2")
def disable_control_flow_v2() -> None:
    """From now on, branches and loops are pruned and named as in TensorFlow 1."""
    _home()[FLAG] = False


@public("control_flow_v2_enabled")
def control_flow_v2_enabled() -> bool:
    """Whether `enable_control_flow_v2` is in force."""
    return bool(_home()[FLAG])


internal("ops.control_flow_util.ENABLE_CONTROL_FLOW_V2")(False)

OVERRIDE = "_EXPERIMENTAL_OUTPUT_ALL_INTERMEDIATES_OVERRIDE"
internal(f"ops.control_flow_util_v2.{OVERRIDE}")(None)


@public("experimental.output_all_intermediates")
def output_all_intermediates(state: bool | None) -> None:
    """Notes a wish that needs no help here: gradients may be asked for at any time, after runs too."""
    module = internals.module("python.ops.control_flow_util_v2")
    assert module is not None
    module.__dict__[OVERRIDE] = state


@internal("ops.control_flow_util.EnableControlFlowV2")
def enabled_in(graph: Graph) -> bool:
    """Whether control flow in this graph is that of version 2: after `enable_control_flow_v2`, and in tf.function."""
    return control_flow_v2_enabled() or getattr(graph, "control_flow_v2", False)
