"""Values of arguments that are known while the graph is built, as tf.layers looks at them."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import internal
from everflow.graph.constants import constant_value as tensor_value
from everflow.graph.operation import Operation
from everflow.graph.tensor import Tensor
from everflow.keras.call_context import get_reachable_from_inputs
from everflow.ops.variables.variables import Variable
from everflow.runtime.smart_conditionals import smart_cond as _smart_cond


@internal("layers.utils.smart_cond", "keras.utils.tf_utils.smart_cond")
def smart_cond(pred: Any, true_fn: Any = None, false_fn: Any = None, name: str | None = None) -> Any:
    """One of two functions where the predicate is known, else tf.cond of both; variables are read."""
    if isinstance(pred, Variable):
        return tf.cond(pred, true_fn=true_fn, false_fn=false_fn, name=name)
    return _smart_cond(pred, true_fn=true_fn, false_fn=false_fn, name=name)


@internal("layers.utils.constant_value", "keras.utils.tf_utils.constant_value")
def constant_value(pred: Any) -> Any:
    """A predicate's value where it is known, else None."""
    if isinstance(pred, Variable):
        return None
    if isinstance(pred, bool) or type(pred) is int and pred in (0, 1):
        return bool(pred)
    if isinstance(pred, Tensor):
        return tensor_value(pred)
    raise TypeError(f"`pred` must be a Tensor, a Variable, or a Python bool. Found instead: {type(pred)}")


@internal("layers.utils.get_reachable_from_inputs")
def reachable_tensors(inputs: Any, targets: Any = None) -> set[Any]:
    """The tensors that follow from the inputs."""
    return {x for x in get_reachable_from_inputs(inputs, targets) if not isinstance(x, Operation)}
