"""Conditionals that are decided while the graph is built, where the predicate is known by then."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import internal, public
from everflow.graph import dtypes
from everflow.graph.constants import constant_value
from everflow.graph.operation import Operation
from everflow.graph.tensor import Tensor
from everflow.ops.core.registry import meaning
from everflow.runtime.context import Context

# Predicates that need more ops than this are left to tf.cond.
LARGEST = 1000


@public("contrib.framework.smart_cond")
@internal("framework.smart_cond.smart_cond")
def smart_cond(pred: Any, true_fn: Any = None, false_fn: Any = None, name: str | None = None) -> Any:
    """`true_fn()` or `false_fn()` where the predicate is known, `tf.cond` of both where it is not."""
    if not callable(true_fn):
        raise TypeError("`true_fn` must be callable.")
    if not callable(false_fn):
        raise TypeError("`false_fn` must be callable.")
    value = smart_constant_value(pred)
    if value is None:
        return tf.cond(pred, true_fn=true_fn, false_fn=false_fn, name=name)
    return true_fn() if value else false_fn()


@public("contrib.framework.smart_constant_value")
@internal("framework.smart_cond.smart_constant_value")
def smart_constant_value(pred: Any) -> bool | None:
    """The predicate as a bool where it is known, else None."""
    if isinstance(pred, Tensor):
        value = constant_value(pred)
        if value is None:
            value = _computed(pred)
        return None if value is None else bool(value)
    if isinstance(pred, bool):
        return pred
    if type(pred) is int and pred in (0, 1):
        return bool(pred)
    raise TypeError(f"`pred` must be a Tensor, or a Python bool, or 1 or 0. Found instead: {type(pred)}")


def _computed(tensor: Tensor) -> Any:
    """The value of a tensor that follows from constants alone, else None."""
    seen: set[Operation] = set()
    stack = [tensor.op]
    while stack:
        op = stack.pop()
        if op in seen:
            continue
        seen.add(op)
        known = meaning(op.type)
        if op.op_def_.is_stateful or known is not None and known.fed or len(seen) > LARGEST:
            return None
        if op.graph._is_function(op.type) or any(t.dtype._is_ref_dtype or t.dtype is dtypes.resource for t in op.outputs):
            return None
        stack.extend(t.op for t in op.inputs)
        stack.extend(op.control_inputs)
    return Context(tensor.graph).step([tensor], [], []).call()[0]


@public("contrib.framework.smart_case")
@internal("framework.smart_cond.smart_case")
def smart_case(pred_fn_pairs: Any, default: Any = None, exclusive: bool = False, name: str = "smart_case") -> Any:
    """Like `tf.case`, without the branches that are known not to be taken."""
    pairs = list(pred_fn_pairs.items() if isinstance(pred_fn_pairs, dict) else pred_fn_pairs)
    left: list[tuple[Any, Any]] = []
    for pred, function in pairs:
        value = smart_constant_value(pred)
        if value is None:
            left.append((pred, function))
        elif value:
            # Nothing after this one can be reached.
            if not left:
                return function()
            return tf.case(left, default=function, exclusive=exclusive, name=name)
    if not left:
        return (pairs[-1][1] if default is None else default)()
    return tf.case(left, default=default, exclusive=exclusive, name=name)
