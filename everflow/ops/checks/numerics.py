"""Watching for values that are not finite."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import internal, public
from everflow.graph import dtypes
from everflow.graph.convert import convert_to_tensor
from everflow.graph.scopes import colocate_with, control_dependencies, name_scope
from everflow.graph.stacks import get_default_graph
from everflow.ops.control_flow.ordering import with_dependencies

CONTROL_FLOW = frozenset(("If", "StatelessIf", "While", "StatelessWhile"))


@public("verify_tensor_all_finite", "debugging.assert_all_finite")
def verify_tensor_all_finite(
    t: Any = None, msg: str | None = None, name: str | None = None, x: Any = None, message: str | None = None
) -> Any:
    """The tensor, which fails to run with this message if it holds a NaN or an infinity."""
    if x is not None and t is not None or message is not None and msg is not None:
        raise ValueError("Cannot specify both 't' and 'x', or both 'msg' and 'message'")
    return verify_tensor_all_finite_v2(t if x is None else x, msg if message is None else message, name)


@internal("ops.numerics.verify_tensor_all_finite_v2")
def verify_tensor_all_finite_v2(x: Any, message: str | None, name: str | None = None) -> Any:
    """The same with the arguments' later names."""
    with name_scope(name, "VerifyFinite", [x]):
        x = convert_to_tensor(x, name="x")
        with colocate_with(x):
            return with_dependencies([tf.check_numerics(x, message=message)], x)


@public("add_check_numerics_ops")
def add_check_numerics_ops() -> Any:
    """An op that checks every floating-point tensor of the graph, in the order in which they were made."""
    check: list[Any] = []
    for op in get_default_graph().get_operations():
        for output in op.outputs:
            if output.dtype.base_dtype in (dtypes.float16, dtypes.float32, dtypes.float64):
                if op.type in CONTROL_FLOW or op._get_control_flow_context() is not None:
                    raise ValueError(
                        "`tf.add_check_numerics_ops() is not compatible with TensorFlow control flow operations such as `tf.cond()` "
                        "or `tf.while_loop()`."
                    )
                with control_dependencies(check):
                    check = [tf.check_numerics(output, message=f"{op.name}:{output.value_index}")]
    return tf.group(*check)
