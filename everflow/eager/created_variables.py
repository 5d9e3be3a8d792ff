"""Variables that a function makes while it is traced: they are lifted out of it, or refused."""
from __future__ import annotations

import threading
import weakref
from collections.abc import Callable
from typing import Any

from everflow.eager.execute import CONTEXT
from everflow.eager.tensor import EagerTensor
from everflow.graph.scopes import is_eager_outside
from everflow.graph.stacks import get_default_graph, in_eager_mode
from everflow.graph.tensor import Tensor


class creating:
    """Variables made inside are made by this creator."""

    def __init__(self, creator: Callable[..., Any]) -> None:
        self._creator = creator

    def __enter__(self) -> None:
        _CREATOR.stack.append(self._creator)

    def __exit__(self, *_: Any) -> None:
        _CREATOR.stack.pop()


class _Creators(threading.local):
    def __init__(self) -> None:
        self.stack: list[Callable[..., Any]] = []


_CREATOR = _Creators()


def create_variable(make: Callable[..., Any], arguments: dict[str, Any]) -> Any:
    """Makes a variable, as the function that is being traced wants it."""
    return _CREATOR.stack[-1](make, arguments)


def is_tracing() -> bool:
    """Whether a function that says how variables are made is being traced."""
    return bool(_CREATOR.stack) and get_default_graph().building_function and not in_eager_mode()


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
