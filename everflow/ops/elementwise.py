"""Ops that work on each element: one table a family, with kernel and gradient side by side."""
from __future__ import annotations

from typing import Any, Callable

from everflow import errors
from everflow.api import public
from everflow.lazy import torch
from everflow.ops.broadcasting import reduced_like
from everflow.ops.registry import apply, not_differentiable, op
from everflow.ops.shape_rules import broadcast, same_as_input

Factory = Callable[[Any], Callable[..., Any]]

WIDER = {"uint16": "int32", "uint32": "int64", "uint64": "int64"}


def widened(factory: Factory) -> Factory:
    """A kernel for unsigned types that torch can hold but not compute with: computes in the next signed type."""

    def make(node: Any) -> Callable[..., Any]:
        inner = factory(node)
        wide = WIDER.get(node.inputs[0].dtype.base_dtype.name)
        if wide is None:
            return inner
        compute = getattr(torch, wide)
        narrow = node.outputs[0].dtype.base_dtype.name
        result = getattr(torch, narrow)
        return lambda *xs: inner(*[x.to(compute) for x in xs]).to(result)

    return make


def unary(name: str, kernel: Factory, gradient: Any, *names: str) -> Callable[..., Any]:
    """An op of one tensor with its public function; `gradient(x, y, dy)` gives dx."""
    differentiate = gradient if gradient is not_differentiable else lambda o, dy: gradient(o.inputs[0], o.outputs[0], dy)
    op(name, kernel=widened(kernel), shape=same_as_input, gradient=differentiate)

    def function(x: Any, name: str | None = None) -> Any:
        return apply(op_type, x, name=name)

    op_type = name
    function.__name__ = function.__qualname__ = names[0].rpartition(".")[2] if names else name
    function.__doc__ = f"{name} of each element."
    return public(*names, owner=__name__)(function)


def binary(name: str, kernel: Factory, gradient: Any, *names: str) -> Callable[..., Any]:
    """An op of two tensors that broadcast; `gradient(x, y, dy)` gives (dx, dy), which are summed to the inputs' shapes."""
    if gradient is not_differentiable:
        differentiate = gradient
    else:
        def differentiate(o: Any, dy: Any) -> Any:
            x, y = o.inputs
            return reduced_like(x, y, *gradient(x, y, dy))
    op(name, kernel=widened(kernel), shape=broadcast, gradient=differentiate)

    def function(x: Any, y: Any, name: str | None = None) -> Any:
        return apply(op_type, x, y, name=name)

    op_type = name
    function.__name__ = function.__qualname__ = names[0].rpartition(".")[2] if names else name
    function.__doc__ = f"{name} of each pair of elements; shapes broadcast."
    return public(*names, owner=__name__)(function)


def is_integer(node: Any) -> bool:
    return node.inputs[0].dtype.is_integer


def conj(x: Any) -> Any:
    """The complex conjugate where the numbers are complex."""
    return apply("Conj", x) if x.dtype.is_complex else x


def checked_division(divide: Callable[..., Any]) -> Callable[..., Any]:
    """Integer division that says what went wrong."""

    def run(x: Any, y: Any) -> Any:
        try:
            return divide(x, y)
        except (RuntimeError, ZeroDivisionError):
            if bool((y == 0).any()):
                raise errors.invalid_argument("Integer division by zero") from None
            raise

    return run


negative = unary("Neg", lambda n: torch.neg, lambda x, y, dy: -dy, "negative", "math.negative")
unary("Abs", lambda n: torch.abs, lambda x, y, dy: dy * apply("Sign", x))
sign = unary("Sign", lambda n: torch.sgn, lambda x, y, dy: apply("ZerosLike", dy), "sign", "math.sign")
exp = unary("Exp", lambda n: torch.exp, lambda x, y, dy: dy * conj(y), "exp", "math.exp")
expm1 = unary("Expm1", lambda n: torch.expm1, lambda x, y, dy: dy * exp(conj(x)), "expm1", "math.expm1")
log = unary("Log", lambda n: torch.log, lambda x, y, dy: dy * reciprocal(conj(x)), "log", "math.log")
log1p = unary("Log1p", lambda n: torch.log1p, lambda x, y, dy: dy * reciprocal(1 + conj(x)), "log1p", "math.log1p")
square = unary("Square", lambda n: torch.square, lambda x, y, dy: dy * (2 * conj(x)), "square", "math.square")
sqrt = unary("Sqrt", lambda n: torch.sqrt, lambda x, y, dy: apply("SqrtGrad", y, dy), "sqrt", "math.sqrt")
rsqrt = unary("Rsqrt", lambda n: torch.rsqrt, lambda x, y, dy: apply("RsqrtGrad", y, dy), "rsqrt", "math.rsqrt")
sin = unary("Sin", lambda n: torch.sin, lambda x, y, dy: dy * cos(conj(x)), "sin", "math.sin")
cos = unary("Cos", lambda n: torch.cos, lambda x, y, dy: -dy * sin(conj(x)), "cos", "math.cos")


def _reciprocal(node: Any) -> Callable[..., Any]:
    return checked_division(lambda x, y=None: torch.div(1, x, rounding_mode="trunc").to(x.dtype)) if is_integer(node) else torch.reciprocal


reciprocal = unary("Reciprocal", _reciprocal, lambda x, y, dy: apply("ReciprocalGrad", y, dy), "reciprocal", "math.reciprocal")
op("Inv", kernel=_reciprocal, shape=same_as_input, gradient=lambda o, dy: apply("ReciprocalGrad", o.outputs[0], dy))

op("SqrtGrad", kernel=lambda n: lambda y, dy: dy * 0.5 / y.conj(), shape=same_as_input,
   gradient=lambda o, g: _sqrt_grad_grad(*o.inputs, g))
op("RsqrtGrad", kernel=lambda n: lambda y, dy: dy * -0.5 * (y.conj() ** 3), shape=same_as_input,
   gradient=lambda o, g: _rsqrt_grad_grad(*o.inputs, g))
op("ReciprocalGrad", kernel=lambda n: lambda y, dy: -dy * y.conj() * y.conj(), shape=same_as_input,
   gradient=lambda o, g: _reciprocal_grad_grad(*o.inputs, g))


def _sqrt_grad_grad(y: Any, dy: Any, g: Any) -> Any:
    per_y = g / y
    return -conj(per_y) * (0.5 * dy / conj(y) if y.dtype.is_complex else 0.5 * dy / y), 0.5 * per_y


def _rsqrt_grad_grad(y: Any, dy: Any, g: Any) -> Any:
    cg = conj(g)
    return -1.5 * cg * dy * square(y), apply("RsqrtGrad", conj(y), g)


def _reciprocal_grad_grad(y: Any, dy: Any, g: Any) -> Any:
    cy, cg = conj(y), conj(g)
    return -2.0 * cg * dy * cy, apply("ReciprocalGrad", cy, g)


def _add(node: Any) -> Callable[..., Any]:
    if node.inputs[0].dtype.base_dtype.name == "string":
        return lambda x, y: x + y
    return torch.add


binary("AddV2", _add, lambda x, y, dy: (dy, dy))
add = binary("Add", _add, lambda x, y, dy: (dy, dy), "add", "math.add")
subtract = binary("Sub", lambda n: torch.sub, lambda x, y, dy: (dy, -dy), "subtract", "math.subtract")
multiply = binary("Mul", lambda n: torch.mul, lambda x, y, dy: (dy * conj(y), conj(x) * dy), "multiply", "math.multiply")
