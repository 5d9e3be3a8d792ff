"""Values of arguments that are known while the graph is built, as tf.layers looks at them."""
from __future__ import annotations

from typing import Any

from everflow.api import internal
from everflow.ops.smart_conditionals import smart_cond as _smart_cond
from everflow.ops.smart_conditionals import smart_constant_value
from everflow.ops.variables import Variable


@internal("layers.utils.smart_cond", "keras.utils.tf_utils.smart_cond")
def smart_cond(pred: Any, true_fn: Any = None, false_fn: Any = None, name: str | None = None) -> Any:
    """One of two functions where the predicate is known, else tf.cond of both; variables are read."""
    if isinstance(pred, Variable):
        from everflow.ops.conditionals import cond

        return cond(pred, true_fn=true_fn, false_fn=false_fn, name=name)
    return _smart_cond(pred, true_fn=true_fn, false_fn=false_fn, name=name)


@internal("layers.utils.constant_value", "keras.utils.tf_utils.constant_value")
def constant_value(pred: Any) -> Any:
    """A predicate's value where it is known, else None."""
    if isinstance(pred, int):
        # Programs pass 0 and 1 for false and true.
        if pred == 1:
            pred = True
        elif pred == 0:
            pred = False
    if isinstance(pred, Variable):
        return None
    return smart_constant_value(pred)
