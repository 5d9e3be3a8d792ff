"""TensorFlow 2's behaviour as a whole: switched on and off by one call, and what is switched only that way."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import public
from everflow.eager.context import disable_eager_execution, enable_eager_execution
from everflow.graph import shapes
from everflow.graph.scopes import is_eager_outside
from everflow.graph.tensor import Tensor
from everflow.ops.control_flow import toggles
from everflow.ops.variables import variable_scope
from everflow.ops.variables.variables import Variable
from everflow.platform import version2_switch


@public("enable_v2_behavior")
def enable_v2_behavior() -> None:
    """Ops run at once, control flow and shapes are those of version 2, variables are resources, and `==` compares elements."""
    enable_eager_execution()
    version2_switch.enable()
    enable_tensor_equality()
    shapes.enable_v2_tensorshape()
    variable_scope.enable_resource_variables()
    toggles.enable_control_flow_v2()


@public("disable_v2_behavior")
def disable_v2_behavior() -> None:
    """All as in TensorFlow 1."""
    version2_switch.disable()
    disable_eager_execution()
    disable_tensor_equality()
    shapes.disable_v2_tensorshape()
    variable_scope.disable_resource_variables()
    toggles.disable_control_flow_v2()


@public("enable_tensor_equality")
def enable_tensor_equality() -> None:
    """From now on, `==` and `!=` of tensors and variables compare elements where ops run at once, and in functions called there.

    Tensors stay hashable, each as itself.
    """
    Tensor._USE_EQUALITY = True
    for kind in (Tensor, Variable):
        kind.__eq__, kind.__ne__ = _equals, _differs  # type: ignore[method-assign,assignment]


@public("disable_tensor_equality")
def disable_tensor_equality() -> None:
    """From now on, a tensor is equal to nothing but itself."""
    Tensor._USE_EQUALITY = False
    for kind in (Tensor, Variable):
        kind.__eq__, kind.__ne__ = _is_same, _is_other  # type: ignore[method-assign,assignment]


def _is_same(self: Any, other: Any) -> bool:
    return self is other


def _is_other(self: Any, other: Any) -> bool:
    return self is not other


def _equals(self: Any, other: Any) -> Any:
    return tf.equal(self, other) if is_eager_outside() else self is other


def _differs(self: Any, other: Any) -> Any:
    return tf.not_equal(self, other) if is_eager_outside() else self is not other
