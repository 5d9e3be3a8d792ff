"""Which control flow `tf.cond` and `tf.while_loop` build: that of TensorFlow 1, or that of version 2."""

from __future__ import annotations

from typing import Any

from everflow.api import internal, public

_enabled = False


@public("enable_control_flow_v2")
def enable_control_flow_v2() -> None:
    """From now on, effects inside branches and loops happen in program order, and results are named as in version 2."""
    global _enabled
    _enabled = True


@public("disable_control_flow_v2")
def disable_control_flow_v2() -> None:
    """From now on, branches and loops are pruned and named as in TensorFlow 1."""
    global _enabled
    _enabled = False


@public("control_flow_v2_enabled")
def control_flow_v2_enabled() -> bool:
    """Whether `enable_control_flow_v2` is in force."""
    return _enabled


@internal("ops.control_flow_util.EnableControlFlowV2")
def enabled_in(graph: Any) -> bool:
    """Whether control flow in this graph is that of version 2: after `enable_control_flow_v2`, and in tf.function."""
    return _enabled or getattr(graph, "control_flow_v2", False)
