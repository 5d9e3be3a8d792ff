"""Activation functions, each with its gradient op."""
from __future__ import annotations

import math
from typing import Any, Callable

import everflow as tf
from everflow.api import internal, public
from everflow.graph.convert import convert_to_tensor
from everflow.graph.scopes import name_scope
from everflow.lazy import torch
from everflow.ops.elementwise import unary, widened
from everflow.ops.registry import apply, op
from everflow.ops.shape_rules import merged

# The constants of self-normalizing networks: lambda, and lambda times alpha.
SELU_SCALE = 1.0507009873554804934193349852946
SELU_SLOPE = 1.7580993408473768599402175208123


def _zeros_of(x: Any) -> Any:
    return tf.zeros(tf.shape(x), dtype=x.dtype)


def _rectifier_grad(name: str, kernel: Callable[[Any], Callable[..., Any]], **attrs: Any) -> None:
    """A gradient op (gradients, features) of a function that is linear in pieces: its own second derivative is zero."""
    def differentiate(o: Any, dy: Any) -> Any:
        return apply(name, dy, o.inputs[1], **{a: o.attr(a) for a in attrs}), _zeros_of(o.inputs[1])

    op(name, kernel=widened(kernel), shape=merged, gradient=differentiate)


relu = unary("Relu", lambda n: torch.relu, lambda x, y, dy: apply("ReluGrad", dy, y), "nn.relu")
_rectifier_grad("ReluGrad", lambda n: lambda dy, x: torch.threshold_backward(dy, x, 0))
