"""Variables that a function makes while it is traced: they are lifted out of it, or refused."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

from everflow.eager.execute import CONTEXT
from everflow.eager.tensor import EagerTensor
from everflow.graph.scopes import is_eager_outside
from everflow.graph.tensor import Tensor


def lifted(made: list[Any], make: Callable[..., Any], arguments: dict[str, Any]) -> Any:
    initial = arguments.get("initial_value")
    if isinstance(initial, Tensor) and not initial.is_eager:
        arguments = {**arguments, "initial_value": _computed(initial)}
    variable = make(**arguments)
    made.append(weakref.ref(variable))
    return variable


def refused(make: Callable[..., Any], arguments: dict[str, Any]) -> Any:
    raise ValueError("tf.function-decorated function tried to create variables on non-first call.")


def _computed(tensor: Tensor) -> Any:
    """The value of a tensor of the function that is being traced; it may depend on no argument."""
    step = CONTEXT.step([tensor], [], [])
    return EagerTensor(step.call()[0], tensor.dtype.base_dtype) if is_eager_outside() else tensor
