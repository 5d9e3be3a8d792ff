"""Arithmetic, exponentials, trigonometry and rounding of each element: kernel and gradient side by side."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

import everflow as tf
from everflow.api import public
from everflow.graph.convert import convert_to_tensor
from everflow.graph.operation import Operation
from everflow.graph.scopes import name_scope
from everflow.lazy import torch
from everflow.ops.core import host_sizes
from everflow.ops.core.broadcasting import needed_sums_to_inputs, sums_along
from everflow.ops.core.families import binary, conj, needed_gradient, unary
from everflow.ops.core.node import Node
from everflow.ops.core.registry import apply, not_differentiable, op
from everflow.ops.core.shape_rules import merged
from everflow.ops.math.elementwise_loops import looped


def like(x: Any, value: float) -> Any:
    """A number as a constant of a tensor's type."""
    if x.is_eager:
        return convert_to_tensor(value, x.dtype.base_dtype)
    return convert_to_tensor(np.array(value, x.dtype.base_dtype.as_numpy_dtype), name="Const")


def is_integer(node: Node) -> bool:
    return node.inputs[0].dtype.is_integer


negative = unary("Neg", lambda n: torch.neg, lambda x, y, dy: -dy, "negative", "math.negative", sparse=True, fresh=True)
unary("Abs", lambda n: torch.abs, lambda x, y, dy: dy * tf.sign(x))
sign = unary("Sign", lambda n: torch.sgn, lambda x, y, dy: tf.zeros(tf.shape(x), dtype=x.dtype), "sign", "math.sign", sparse=True)
exp = unary("Exp", looped("Exp", "exp"), lambda x, y, dy: dy * conj(y), "exp", "math.exp", fresh=True)
expm1 = unary("Expm1", lambda n: torch.expm1, lambda x, y, dy: dy * tf.exp(conj(x)), "expm1", "math.expm1")
log = unary("Log", lambda n: torch.log, lambda x, y, dy: dy * tf.reciprocal(conj(x)), "log", "math.log")
log1p = unary("Log1p", looped("Log1p", "log1p"), lambda x, y, dy: dy * tf.reciprocal(1 + conj(x)), "log1p", "math.log1p")
square = unary(
    "Square",
    lambda n: torch.square,
    lambda x, y, dy: tf.multiply(dy, tf.multiply(conj(x), like(x, 2.0))),
    "square",
    "math.square",
    sparse=True,
    fresh=True,
)
sqrt = unary("Sqrt", lambda n: torch.sqrt, lambda x, y, dy: apply("SqrtGrad", y, dy), "sqrt", "math.sqrt", sparse=True)
rsqrt = unary("Rsqrt", lambda n: torch.rsqrt, lambda x, y, dy: apply("RsqrtGrad", y, dy), "rsqrt", "math.rsqrt")


def _reciprocal(node: Node) -> Callable[..., Any]:
    if not is_integer(node):
        return torch.reciprocal
    return lambda x: torch.div(1, x, rounding_mode="trunc").to(x.dtype)


reciprocal = unary("Reciprocal", _reciprocal, lambda x, y, dy: apply("ReciprocalGrad", y, dy), "reciprocal", "math.reciprocal")
unary("Inv", _reciprocal, lambda x, y, dy: apply("ReciprocalGrad", y, dy))

sin = unary("Sin", lambda n: torch.sin, lambda x, y, dy: dy * tf.cos(conj(x)), "sin", "math.sin")
cos = unary("Cos", lambda n: torch.cos, lambda x, y, dy: -dy * tf.sin(conj(x)), "cos", "math.cos")
tan = unary("Tan", lambda n: torch.tan, lambda x, y, dy: tf.square(tf.reciprocal(tf.cos(conj(x)))) * dy, "tan", "math.tan")


def _hyperbolic(name: str) -> Callable[[Node], Callable[..., Any]]:
    """sinh and cosh up to where they end: half an exponential that is infinite itself may not be. Torch's vectors on CPUs end before."""

    def kernel(node: Node) -> Callable[..., Any]:
        function = getattr(torch, name)

        def whole(x: Any) -> Any:
            y = function(x)
            if x.is_cpu and x.is_floating_point() and (lost := y.isinf()).any():
                root = (x.abs() / 2).exp()
                large = root / 2 * root
                y = torch.where(lost, torch.copysign(large, x) if name == "sinh" else large, y)
            return y

        return whole

    return kernel


sinh = unary("Sinh", _hyperbolic("sinh"), lambda x, y, dy: dy * tf.cosh(conj(x)), "sinh", "math.sinh")
cosh = unary("Cosh", _hyperbolic("cosh"), lambda x, y, dy: dy * tf.sinh(conj(x)), "cosh", "math.cosh")
tanh = unary(
    "Tanh",
    looped("Tanh", "tanh"),
    lambda x, y, dy: apply("TanhGrad", conj(y), dy),
    "tanh",
    "math.tanh",
    "nn.tanh",
    sparse=True,
    ragged=False,
    fresh=True,
    over={0: looped("Tanh", "tanh_")},
)
asin = unary("Asin", lambda n: torch.asin, lambda x, y, dy: dy * _inverse_leg(x), "asin", "math.asin")
acos = unary("Acos", lambda n: torch.acos, lambda x, y, dy: _acos_gradient(x, dy), "acos", "math.acos")
atan = unary("Atan", lambda n: torch.atan, lambda x, y, dy: dy * _inverse(tf.add, x), "atan", "math.atan")
asinh = unary("Asinh", lambda n: torch.asinh, lambda x, y, dy: dy / tf.cosh(conj(y)), "asinh", "math.asinh")
acosh = unary("Acosh", lambda n: torch.acosh, lambda x, y, dy: dy / tf.sinh(conj(y)), "acosh", "math.acosh")
atanh = unary("Atanh", lambda n: torch.atanh, lambda x, y, dy: dy * _inverse(tf.subtract, x), "atanh", "math.atanh")


def _acos_gradient(x: Any, dy: Any) -> Any:
    inverse = _inverse_leg(x)
    return -dy * inverse


def _inverse(combine: Callable[..., Any], x: Any) -> Any:
    """1 / (1 ± x²)."""
    squared = square(conj(x))
    return reciprocal(combine(like(x, 1.0), squared))


def _inverse_leg(x: Any) -> Any:
    """1 / √(1 - x²)."""
    squared = square(conj(x))
    return reciprocal(sqrt(subtract(like(x, 1.0), squared)))


unary(
    "Sigmoid",
    looped("Sigmoid", "sigmoid"),
    lambda x, y, dy: apply("SigmoidGrad", conj(y), dy),
    fresh=True,
    over={0: looped("Sigmoid", "sigmoid_")},
)
floor = unary("Floor", lambda n: torch.floor, not_differentiable, "floor", "math.floor")
ceil = unary("Ceil", lambda n: torch.ceil, not_differentiable, "ceil", "math.ceil")
rint = unary("Rint", lambda n: torch.round, not_differentiable, "rint", "math.rint")
unary("Round", lambda n: torch.clone if is_integer(n) else torch.round, not_differentiable)


def grad_op(name: str, kernel: Any, gradient: Any, **facts: Any) -> None:
    """An op that computes a derivative from an op's output y and the gradient dy."""
    op(name, kernel=kernel, shape=merged, gradient=lambda o, g: gradient(*o.inputs, g), **facts)


def _backward(node: Node, name: str, formula: Any) -> Any:
    """Torch's own derivative in one pass over real numbers; it conjugates complex ones, which the formula does not."""
    if node.inputs[0].dtype.is_complex:
        return formula
    backward = getattr(torch.ops.aten, name).default
    return lambda y, dy: backward(dy, y)


def _backward_over(name: str) -> Any:
    """The same, written over what comes from behind."""

    def make(node: Node) -> Any:
        backward = getattr(torch.ops.aten, name).grad_input
        return lambda y, dy: backward(dy, y, grad_input=dy)

    return {1: make}


def _tanh_grad_grad(y: Any, dy: Any, g: Any) -> Any:
    y, dy = conj(y), conj(dy)
    return g * -2.0 * dy * y, apply("TanhGrad", y, g)


def _sigmoid_grad_grad(y: Any, dy: Any, g: Any) -> Any:
    y, dy = conj(y), conj(dy)
    scaled = g * dy
    return scaled - 2.0 * scaled * y, apply("SigmoidGrad", y, g)


def _sqrt_grad_grad(o: Operation, g: Any) -> Any:
    per_y = g / o.inputs[0]
    return -conj(per_y) * o.outputs[0], 0.5 * per_y


def _rsqrt_grad_grad(y: Any, dy: Any, g: Any) -> Any:
    cy = conj(y)
    return -1.5 * conj(g) * dy * square(cy), apply("RsqrtGrad", cy, g)


def _reciprocal_grad_grad(y: Any, dy: Any, g: Any) -> Any:
    cy, cg = conj(y), conj(g)
    return cg * -2.0 * dy * cy, apply("ReciprocalGrad", cy, g)


grad_op(
    "TanhGrad",
    lambda n: _backward(n, "tanh_backward", lambda y, dy: dy * (1 - y.square())),
    _tanh_grad_grad,
    fresh=True,
    over=_backward_over("tanh_backward"),
)
grad_op(
    "SigmoidGrad",
    lambda n: _backward(n, "sigmoid_backward", lambda y, dy: dy * (1 - y) * y),
    _sigmoid_grad_grad,
    fresh=True,
    over=_backward_over("sigmoid_backward"),
)
op("SqrtGrad", kernel=lambda n: lambda y, dy: dy * 0.5 / y.conj(), shape=merged, gradient=_sqrt_grad_grad)
grad_op("RsqrtGrad", lambda n: lambda y, dy: dy * -0.5 * y.conj() ** 3, _rsqrt_grad_grad)
grad_op("ReciprocalGrad", lambda n: lambda y, dy: -dy * y.conj().square(), _reciprocal_grad_grad)
grad_op("InvGrad", lambda n: lambda y, dy: -dy * y.conj().square(), _reciprocal_grad_grad)


def _add(node: Node) -> Callable[..., Any]:
    # numpy adds two scalars to a plain string: the result is made an array again.
    return (lambda x, y: np.asarray(x + y, object)) if node.inputs[0].dtype.base_dtype.name == "string" else torch.add


def times(x: Any, y: Any) -> Any:
    return apply("Mul", x, y)


add = binary(
    "Add",
    _add,
    needed_gradient(lambda x, y, dz: dz, lambda x, y, dz: dz),
    "add",
    "math.add",
    kind="addition",
    fresh=True,
    host=host_sizes.elementwise(operator.add),
)
binary(
    "AddV2",
    _add,
    needed_gradient(lambda x, y, dz: dz, lambda x, y, dz: dz),
    kind="addition",
    fresh=True,
    over={0: lambda n: torch.Tensor.add_, 1: lambda n: lambda x, y: y.add_(x)},
    host=host_sizes.elementwise(operator.add),
)
subtract = binary(
    "Sub",
    lambda n: torch.sub,
    needed_gradient(lambda x, y, dz: dz, lambda x, y, dz: -dz),
    "subtract",
    "math.subtract",
    kind="subtraction",
    fresh=True,
    over={0: lambda n: torch.Tensor.sub_},
    host=host_sizes.elementwise(operator.sub),
)
binary(
    "Mul",
    lambda n: torch.mul,
    needed_gradient(lambda x, y, dz: times(dz, conj(y)), lambda x, y, dz: times(conj(x), dz)),
    kind="multiplication",
    fresh=True,
    over={0: lambda n: torch.Tensor.mul_, 1: lambda n: lambda x, y: y.mul_(x)},
    host=host_sizes.elementwise(operator.mul),
)
maximum = binary(
    "Maximum",
    lambda n: torch.maximum,
    lambda o, dz: _extreme_gradient(o, dz, "GreaterEqual"),
    "maximum",
    "math.maximum",
    host=host_sizes.elementwise(max),
)
minimum = binary(
    "Minimum",
    lambda n: torch.minimum,
    lambda o, dz: _extreme_gradient(o, dz, "LessEqual"),
    "minimum",
    "math.minimum",
    host=host_sizes.elementwise(min),
)


def _extreme_gradient(o: Operation, dz: Any, compare: str) -> Any:
    """The gradient goes to the input that was chosen; to the first where they are equal."""
    x, y = o.inputs
    shape_x, shape_y, shape = tf.shape(x), tf.shape(y), tf.shape(dz)
    zeros = tf.zeros(shape, dz.dtype)
    chosen = apply(compare, x, y)
    to_x, to_y = sums_along(shape_x, shape_y)
    dx = to_x(apply("Select", chosen, dz, zeros))
    return dx, to_y(apply("Select", chosen, zeros, dz))


def _squared_difference_gradient(o: Operation, dz: Any) -> Any:
    x, y = o.inputs
    dx = tf.scalar_mul(2.0, dz) * (x - y)
    if x.dims == y.dims == dx.dims and x.dims is not None and None not in x.dims:
        return dx, -dx
    to_x, to_y = needed_sums_to_inputs(x, y, dz)
    return to_x(dx), -to_y(dx)


def _squared_difference(node: Node) -> Callable[..., Any]:
    if node.inputs[0].dtype.is_complex:
        return lambda x, y: torch.sub(x, y).abs().square().to(x.dtype)
    return lambda x, y: torch.sub(x, y).square_()


squared_difference = binary(
    "SquaredDifference", _squared_difference, _squared_difference_gradient, "squared_difference", "math.squared_difference"
)


def _atan2_gradient(o: Operation, dz: Any) -> Any:
    y, x = o.inputs
    scaled = dz / (square(x) + square(y))
    return x * scaled, -y * scaled


atan2 = binary("Atan2", lambda n: torch.atan2, _atan2_gradient, "atan2", "math.atan2")
nextafter = binary("NextAfter", lambda n: torch.nextafter, lambda o, dz: _next_after_gradient(o, dz), "math.nextafter", ragged=False)


def _next_after_gradient(o: Operation, dz: Any) -> Any:
    x, y = o.inputs
    shape_x, shape_y = tf.shape(x), tf.shape(y)
    to_x, to_y = sums_along(shape_x, shape_y)
    of_x, of_y = tf.ones(shape_x, dtype=x.dtype), tf.zeros(shape_y, dtype=x.dtype)
    dx = to_x(of_x * dz)
    return dx, to_y(of_y * dz)


is_nan = unary("IsNan", lambda n: torch.isnan, not_differentiable, "is_nan", "math.is_nan", "debugging.is_nan")
is_inf = unary("IsInf", lambda n: torch.isinf, not_differentiable, "is_inf", "math.is_inf", "debugging.is_inf")
is_finite = unary("IsFinite", lambda n: torch.isfinite, not_differentiable, "is_finite", "math.is_finite", "debugging.is_finite")


@public("multiply", "math.multiply", ragged="pairs")
def multiply(x: Any, y: Any, name: str | None = None) -> Any:
    """The product of corresponding elements; shapes broadcast."""
    return apply("Mul", x, y, name=name)


@public("sigmoid", "math.sigmoid", "nn.sigmoid")
def sigmoid(x: Any, name: str | None = None) -> Any:
    """1 / (1 + exp(-x))."""
    with name_scope(name, "Sigmoid", [x]) as scope:
        return apply("Sigmoid", convert_to_tensor(x, name="x"), name=scope)


@public("log_sigmoid", "math.log_sigmoid", ragged="elements")
def log_sigmoid(x: Any, name: str | None = None) -> Any:
    """The logarithm of the sigmoid, exact for large negative x."""
    with name_scope(name, "LogSigmoid", [x]) as scope:
        x = convert_to_tensor(x, name="x")
        return apply("Neg", apply("Softplus", negative(x)), name=scope)


@public("round", "math.round", ragged="elements")
def round(x: Any, name: str | None = None) -> Any:
    """The nearest integer, halves to the even one."""
    x = convert_to_tensor(x, name="x")
    return x if x.dtype.is_integer else apply("Round", x, name=name)
