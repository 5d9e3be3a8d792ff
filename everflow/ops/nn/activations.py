"""Activation functions, each with its gradient op."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import everflow as tf
from everflow.api import public
from everflow.graph.convert import convert_to_tensor
from everflow.graph.operation import Operation
from everflow.graph.scopes import name_scope
from everflow.lazy import torch
from everflow.ops.core.families import widened
from everflow.ops.core.node import Node
from everflow.ops.core.registry import apply, op
from everflow.ops.core.run_time_checks import alike
from everflow.ops.core.shape_rules import merged, same_as_input
from everflow.values.tensors import torch_dtype

Factory = Callable[[Node], Callable[..., Any]]

# The constants of self-normalizing networks: lambda, and lambda times alpha.
SELU_SCALE = 1.0507009873554804934193349852946
SELU_SLOPE = 1.7580993408473768599402175208123
# Beyond these, log(1 + exp(x)) is x in the type's precision.
SOFTPLUS_LINEAR = {"float16": 5.0, "bfloat16": 3.0, "float32": 13.9, "float64": 34.0}


def activation(op_type: str, kernel: Factory, gradient: Callable[..., Any], *names: str, **facts: Any) -> Callable[..., Any]:
    """An op on `features` with its public function; `gradient(x, y, dy)` gives dx."""
    op(op_type, kernel=widened(kernel), shape=same_as_input, gradient=lambda o, dy: gradient(o.inputs[0], o.outputs[0], dy), **facts)

    def function(features: Any, name: str | None = None) -> Any:
        return apply(op_type, features, name=name)

    if names:
        function.__name__ = function.__qualname__ = names[0].rpartition(".")[2]
    function.__doc__ = f"{op_type} of each element."
    return public(*names, owner=__name__)(function)


def rectifier_grad(name: str, kernel: Factory, *attrs: str, **facts: Any) -> None:
    """A gradient op (gradients, features) of a function made of straight pieces: its own second derivative is zero."""

    def differentiate(o: Operation, dy: Any) -> Any:
        features = o.inputs[1]
        return apply(name, dy, features, **{a: o.attr(a) for a in attrs}), tf.zeros(tf.shape(features), dtype=features.dtype)

    op(name, kernel=widened(kernel), shape=merged, gradient=differentiate, **facts)


def _relu_grad(node: Node) -> Callable[..., Any]:
    backward = torch.ops.aten.threshold_backward.default
    return lambda dy, x: backward(dy, x, 0)


relu = activation(
    "Relu",
    lambda n: torch.relu,
    lambda x, y, dy: apply("ReluGrad", dy, y),
    "nn.relu",
    kind="rectification",
    fresh=True,
    over={0: lambda n: torch.relu_},
)
rectifier_grad(
    "ReluGrad",
    _relu_grad,
    kind="gradient of rectification",
    fresh=True,
    over={0: lambda n: lambda dy, y: torch.ops.aten.threshold_backward.grad_input(dy, y, 0, grad_input=dy)},
)


def _relu6_grad(node: Node) -> Callable[..., Any]:
    if not node.inputs[0].dtype.is_floating:
        return lambda dy, x: dy * ((x > 0) & (x < 6))
    backward = torch.ops.aten.hardtanh_backward.default
    return lambda dy, x: backward(dy, x, 0, 6)


op(
    "Relu6",
    kernel=widened(lambda n: lambda x: torch.clamp(x, 0, 6)),
    shape=same_as_input,
    gradient=lambda o, dy: apply("Relu6Grad", dy, o.outputs[0]),
)
rectifier_grad("Relu6Grad", _relu6_grad)


@public("nn.relu6")
def relu6(features: Any, name: str | None = None) -> Any:
    """min(max(features, 0), 6)."""
    with name_scope(name, "Relu6", [features]) as scope:
        return apply("Relu6", convert_to_tensor(features, name="features"), name=scope)


def _slope(node: Node) -> float:
    """The slope as the features' type has it."""
    return torch.tensor(node.attr("alpha"), dtype=torch_dtype(node.inputs[0].dtype)).item()


def _leaky_relu(node: Node) -> Callable[..., Any]:
    alpha = _slope(node)
    leaky_relu = torch.nn.functional.leaky_relu
    return lambda x: leaky_relu(x, alpha)


def _leaky_relu_grad(node: Node) -> Callable[..., Any]:
    alpha = _slope(node)
    backward = torch.ops.aten.leaky_relu_backward.default
    return lambda dy, x: backward(dy, x, alpha, False)


op(
    "LeakyRelu",
    kernel=_leaky_relu,
    shape=same_as_input,
    gradient=lambda o, dy: apply("LeakyReluGrad", dy, o.inputs[0], alpha=o.attr("alpha")),
)
rectifier_grad("LeakyReluGrad", alike(_leaky_relu_grad), "alpha")


@public("nn.leaky_relu")
def leaky_relu(features: Any, alpha: Any = 0.2, name: str | None = None) -> Any:
    """The features where they are positive, alpha times the features elsewhere."""
    with name_scope(name, "LeakyRelu", [features, alpha]) as scope:
        features = convert_to_tensor(features, name="features")
        if features.dtype.is_integer:
            features = tf.cast(features, tf.float32)
        return apply("LeakyRelu", features, alpha=alpha, name=scope)


def _exponential_grad(name: str) -> Callable[..., Any]:
    """The second derivative of a unit that is exponential below zero; the op's inputs are (gradients, outputs)."""

    def differentiate(o: Operation, dy: Any) -> Any:
        gradients, outputs = o.inputs
        return apply(name, dy, outputs), tf.where(outputs < 0, dy * gradients, tf.zeros_like(outputs))

    return differentiate


def _elu_grad(node: Node) -> Callable[..., Any]:
    backward = torch.ops.aten.elu_backward.default
    return lambda dy, y: backward(dy, 1, 1, 1, True, y)


elu = activation("Elu", lambda n: torch.nn.functional.elu, lambda x, y, dy: apply("EluGrad", dy, y), "nn.elu")
op("EluGrad", kernel=alike(_elu_grad), shape=merged, gradient=_exponential_grad("EluGrad"))

selu = activation("Selu", lambda n: torch.selu, lambda x, y, dy: apply("SeluGrad", dy, y), "nn.selu")
op(
    "SeluGrad",
    kernel=alike(lambda n: lambda dy, y: dy * torch.where(y < 0, y + SELU_SLOPE, SELU_SCALE)),
    shape=merged,
    gradient=_exponential_grad("SeluGrad"),
)


def _softplus(node: Node) -> Callable[..., Any]:
    linear = SOFTPLUS_LINEAR[node.inputs[0].dtype.base_dtype.name]
    function = torch.nn.functional.softplus
    return lambda x: function(x, 1, linear)


def _softplus_grad_grad(o: Operation, dy: Any) -> Any:
    gradients, features = o.inputs
    with tf.control_dependencies([dy]):
        first = apply("SoftplusGrad", dy, features)
        return first, dy * gradients / (tf.exp(-features) + 2.0 + tf.exp(features))


softplus = activation("Softplus", _softplus, lambda x, y, dy: dy * tf.sigmoid(x), "nn.softplus", "math.softplus")
op("SoftplusGrad", kernel=alike(lambda n: lambda dy, x: dy * torch.sigmoid(x)), shape=merged, gradient=_softplus_grad_grad)

softsign = activation(
    "Softsign", lambda n: torch.nn.functional.softsign, lambda x, y, dy: apply("SoftsignGrad", dy, x), "nn.softsign", "math.softsign"
)
op("SoftsignGrad", kernel=alike(lambda n: lambda dy, x: dy / (1 + x.abs()).square()), shape=merged)


@public("nn.crelu")
def crelu(features: Any, name: str | None = None, axis: int = -1) -> Any:
    """The rectified features and the rectified negated features, side by side along an axis."""
    with name_scope(name, "CRelu", [features]) as scope:
        features = convert_to_tensor(features, name="features")
        both = tf.concat([features, -features], axis, name=scope)
        return tf.nn.relu(both)


@public("nn.swish")
def swish(features: Any) -> Any:
    """features * sigmoid(features); of what it computes, the gradient keeps nothing."""

    @tf.custom_gradient
    def compute(features: Any) -> Any:
        def differentiate(dy: Any) -> Any:
            sigmoid = tf.sigmoid(features)
            return dy * (sigmoid * (1.0 + features * (1.0 - sigmoid)))

        return features * tf.sigmoid(features), differentiate

    return compute(convert_to_tensor(features, name="features"))
