"""Division in all its kinds, remainders, powers and magnitudes; and what `*`, `/`, `//`, `%` and `**` do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import everflow as tf
from everflow import _native
from everflow.api import internal, public
from everflow.errors import invalid_argument
from everflow.graph import dtypes
from everflow.graph.convert import convert_to_tensor
from everflow.graph.indexed_slices import IndexedSlices
from everflow.graph.operation import Operation
from everflow.graph.scopes import name_scope
from everflow.graph.sparse_tensor import SparseTensor
from everflow.lazy import torch
from everflow.ops.core import host_sizes
from everflow.ops.core.broadcasting import needed_sums_to_inputs, sums_to_inputs
from everflow.ops.core.families import binary, conj, is_sparse, of_values
from everflow.ops.core.node import Node
from everflow.ops.core.registry import apply, fused_op, not_differentiable
from everflow.ops.math.elementwise import is_integer

Kernel = Callable[[Node], Callable[..., Any]]


def guarded(divide: Callable[..., Any]) -> Callable[..., Any]:
    """Integer division that says what went wrong."""

    def run(x: Any, y: Any) -> Any:
        try:
            return divide(x, y)
        except RuntimeError as error:
            if "ZeroDivision" in str(error):
                raise invalid_argument("Integer division by zero") from None
            raise

    return run


def by_type(integers: Callable[[], Any], others: Callable[[], Any]) -> Kernel:
    """A kernel that does one thing to integers, where it watches for division by zero, and another to other numbers."""
    return lambda node: guarded(integers()) if is_integer(node) else others()


def _truncated(x: Any, y: Any) -> Any:
    return torch.div(x, y, rounding_mode="trunc")


def _floored(x: Any, y: Any) -> Any:
    return torch.div(x, y, rounding_mode="floor")


def _floored_quotient(x: Any, y: Any) -> Any:
    return torch.floor(torch.div(x, y))


def quotient_gradient(divide: Callable[..., Any]) -> tuple[Any, Any]:
    """The gradients of x / y, with the given division."""
    return (lambda x, y, dz: divide(dz, y)), (lambda x, y, dz: dz * divide(divide(-x, y), y))


def _floor_mod_gradient(o: Operation, dz: Any) -> Any:
    x, y = o.inputs
    to_x, to_y = sums_to_inputs(x, y)
    times = floor_div(x, y)
    dx = to_x(dz)
    return dx, to_y(dz * -times)


realdiv = binary(
    "RealDiv",
    by_type(lambda: _truncated, lambda: torch.div),
    quotient_gradient(lambda x, y: tf.realdiv(x, y)),
    "realdiv",
    kind="division",
    fresh=True,
    over={0: lambda n: torch.Tensor.div_},
)
# By a size, which is a plain number.
fused_op("_DivideBySize", kernel=lambda n: lambda x, size: torch.div(x, size))
binary("Div", by_type(lambda: _truncated, lambda: torch.div), quotient_gradient(lambda x, y: x / y))
truncatediv = binary("TruncateDiv", by_type(lambda: _truncated, lambda: torch.div), not_differentiable, "truncatediv")
floor_div = binary(
    "FloorDiv",
    by_type(lambda: _floored, lambda: _floored_quotient),
    not_differentiable,
    "floor_div",
    ragged=False,
    host=host_sizes.elementwise(host_sizes.floor_quotient),
)
binary("Mod", by_type(lambda: torch.fmod, lambda: torch.fmod), None)
truncatemod = binary("TruncateMod", by_type(lambda: torch.fmod, lambda: torch.fmod), None, "truncatemod")
floormod = binary(
    "FloorMod",
    by_type(lambda: torch.remainder, lambda: torch.remainder),
    _floor_mod_gradient,
    "floormod",
    "mod",
    "math.floormod",
    "math.mod",
)


def zero_where(zero: Callable[..., Any], compute: Callable[..., Any]) -> Kernel:
    """A kernel that is 0 where a test of the inputs holds, whatever the computation gives there."""

    def run(x: Any, y: Any) -> Any:
        if not x.ndim and not y.ndim and x.is_cpu:
            return torch.zeros_like(x) if zero(x.item(), y.item()) else compute(x, y)
        return torch.where(zero(x, y), torch.zeros((), dtype=x.dtype, device=x.device), compute(x, y))

    return lambda node: run


binary("DivNoNan", zero_where(lambda x, y: y == 0, lambda x, y: x / y), quotient_gradient(lambda x, y: tf.div_no_nan(x, y)))
binary(
    "MulNoNan",
    zero_where(lambda x, y: y == 0, lambda x, y: x * y),
    (lambda x, y, dz: apply("MulNoNan", dz, y), lambda x, y, dz: apply("MulNoNan", x, dz)),
)


def _power(node: Node) -> Callable[..., Any]:
    exponent = node.constant(1)
    if exponent is not None and exponent.ndim == 0 and not node.inputs[1].dtype.is_complex and exponent in (0.0, 0.5, 1.0, 2.0, 3.0):
        # Torch has quick ways to powers it sees as plain numbers: squares, cubes, roots.
        number = int(exponent) if is_integer(node) else float(exponent)
        return lambda x, _: torch.pow(x, number)
    if node.inputs[0].dtype is dtypes.float32:
        return _float_power
    if not is_integer(node):
        return torch.pow

    def run(x: Any, y: Any) -> Any:
        if bool((y < 0).any()):
            raise invalid_argument("Integers to negative integer powers are not allowed")
        return torch.pow(x, y)

    return run


def _float_power(x: Any, y: Any) -> Any:
    """Rounded as TensorFlow rounds them; torch's powers differ in the last digit of one in fifty."""
    if not x.is_cpu:
        return torch.pow(x, y)
    if not x.ndim and not y.ndim:
        z = torch.empty(())
        _native.power(1, 1, x.data_ptr(), 1, y.data_ptr(), 1, z.data_ptr())
        return z
    wide = torch.broadcast_tensors(x, y)
    # A number for all of them needs not be repeated.
    given = [v.reshape(1) if v.numel() == 1 else w.contiguous() for v, w in zip((x, y), wide)]
    z = torch.empty(wide[0].shape)
    (base, step), (exponent, other_step) = ((v.data_ptr(), int(v.numel() > 1)) for v in given)
    _native.power(torch.get_num_threads(), z.numel(), base, step, exponent, other_step, z.data_ptr())
    return z


def _power_gradient(o: Operation, dz: Any) -> Any:
    x, y = o.inputs
    z = o.outputs[0]
    to_x, to_y = needed_sums_to_inputs(x, y, dz)
    x, y, z = conj(x), conj(y), conj(z)
    dx = to_x(dz * y * power(x, y - 1))
    # The logarithm of what is not positive is taken as 0: such a base is a constant as far as the exponent is concerned.
    usable = tf.not_equal(x, 0) if x.dtype.is_complex else x > 0
    safe = tf.where(usable, x, tf.ones_like(x))
    logarithm = tf.where(usable, tf.log(safe), tf.zeros_like(x))
    return dx, to_y(dz * z * logarithm)


binary("Pow", _power, _power_gradient)


@public("pow", "math.pow", ragged="pairs")
def power(x: Any, y: Any, name: str | None = None) -> Any:
    """x to the power of y, for each pair of elements."""
    with name_scope(name, "Pow", [x]) as scope:
        return apply("Pow", x, y, name=scope)


@public("abs", "math.abs", ragged="elements")
def absolute(x: Any, name: str | None = None) -> Any:
    """The magnitude of each element; real for complex numbers."""
    if is_sparse(x):
        return of_values(absolute, "Abs", x, name)
    with name_scope(name, "Abs", [x]) as scope:
        x = convert_to_tensor(x, name="x")
        return apply("ComplexAbs", x, Tout=x.dtype.real_dtype, name=scope) if x.dtype.is_complex else apply("Abs", x, name=scope)


# What integers become before a true division.
_EXACT = {
    "uint8": dtypes.float32,
    "int8": dtypes.float32,
    "uint16": dtypes.float32,
    "int16": dtypes.float32,
    "int32": dtypes.float64,
    "int64": dtypes.float64,
    "bfloat16": None,
    "float16": None,
    "float32": None,
    "float64": None,
    "complex64": None,
    "complex128": None,
}


def truediv_dispatch(x: Any, y: Any, name: str | None = None) -> Any:
    """Division as Python has it: integers give floats."""
    with name_scope(name, "truediv", [x, y]) as scope:
        x = convert_to_tensor(x, name="x")
        y = convert_to_tensor(y, name="y")
        kind = x.dtype.base_dtype
        if kind is not y.dtype.base_dtype:
            raise TypeError(f"x and y must have the same dtype, got {kind!r} != {y.dtype.base_dtype!r}")
        if kind.name not in _EXACT:
            raise TypeError(f"Invalid dtype {kind!r} in __truediv__")
        exact = _EXACT[kind.name]
        if exact is not None:
            x, y = tf.cast(x, exact), tf.cast(y, exact)
        return realdiv(x, y, name=scope)


@public("truediv", "math.truediv", ragged="pairs")
def truediv(x: Any, y: Any, name: str | None = None) -> Any:
    """x / y, where integers give floats."""
    return truediv_dispatch(x, y, name)


def div_dispatch(x: Any, y: Any, name: str | None = None) -> Any:
    """Division as Python 2 had it: integers stay integers, rounded down."""
    with name_scope(name, "div", [x, y]) as scope:
        x = convert_to_tensor(x, name="x")
        y = convert_to_tensor(y, name="y", dtype=x.dtype.base_dtype)
        kind = x.dtype.base_dtype
        return realdiv(x, y, name=scope) if kind.is_floating or kind.is_complex else floor_div(x, y, name=scope)


@public("div")
def div(x: Any, y: Any, name: str | None = None) -> Any:
    """x / y, where integers stay integers, rounded down."""
    return div_dispatch(x, y, name)


@internal("ops.math_ops.DivideDelegateWithName")
class NamedQuotient:
    """A left operand that gives its `/` a name."""

    def __init__(self, x: Any, name: str) -> None:
        self.x, self.name = x, name

    def __truediv__(self, y: Any) -> Any:
        return truediv_dispatch(self.x, y, self.name)

    def __floordiv__(self, y: Any) -> Any:
        return floordiv(self.x, y, self.name)


@public("divide", "math.divide", ragged="pairs")
def divide(x: Any, y: Any, name: str | None = None) -> Any:
    """x / y with Python's meaning of `/`."""
    return NamedQuotient(x, name) / y if name is not None else x / y


@public("floordiv", "math.floordiv", ragged="pairs")
def floordiv(x: Any, y: Any, name: str | None = None) -> Any:
    """x / y rounded down, for integers and floats."""
    with name_scope(name, "floordiv", [x, y]) as scope:
        return floor_div(x, y, name=scope)


@public("div_no_nan", "math.divide_no_nan", ragged="pairs")
def div_no_nan(x: Any, y: Any, name: str | None = None) -> Any:
    """x / y, and 0 where y is 0."""
    with name_scope(name, "div_no_nan", [x, y]) as scope:
        x = convert_to_tensor(x, name="x")
        return apply("DivNoNan", x, convert_to_tensor(y, name="y", dtype=x.dtype.base_dtype), name=scope)


@public("math.multiply_no_nan")
def multiply_no_nan(x: Any, y: Any, name: str | None = None) -> Any:
    """x * y, and 0 where y is 0, even if x is not finite."""
    with name_scope(name, "multiply_no_nan", [x, y]) as scope:
        x = convert_to_tensor(x, name="x")
        y = convert_to_tensor(y, name="y", dtype=x.dtype.base_dtype)
        if x.dtype.base_dtype is not y.dtype.base_dtype:
            raise TypeError(f"x and y must have the same dtype, got {x.dtype.base_dtype!r} != {y.dtype.base_dtype!r}")
        return apply("MulNoNan", x, y, name=scope)


@public("math.reciprocal_no_nan")
def reciprocal_no_nan(x: Any, name: str | None = None) -> Any:
    """1 / x, and 0 where x is 0."""
    with name_scope(name, "reciprocal_no_nan", [x]) as scope:
        x = convert_to_tensor(x, name="x")
        one = tf.constant(1, dtype=x.dtype.base_dtype, name="one")
        return apply("DivNoNan", one, x, name=scope)


@internal("ops.math_ops._mul_dispatch")
def multiply_dispatch(x: Any, y: Any, name: str | None = None) -> Any:
    """`x * y`, where y may be sparse."""
    if is_sparse(y):
        values = apply("SparseDenseCwiseMul", y.indices, y.values, y.dense_shape, x, name=name)
        return SparseTensor(y.indices, values, y.dense_shape)
    return apply("Mul", x, y, name=name)


@public("scalar_mul", "math.scalar_mul")
def scalar_mul(scalar: Any, x: Any, name: str | None = None) -> Any:
    """A number times a tensor (or the values of IndexedSlices)."""
    scalar = convert_to_tensor(scalar, dtype=x.dtype.base_dtype, name="scalar")
    if scalar.dims is not None and len(scalar.dims) != 0:
        raise ValueError(f"Only scalar multiply works, got shape {scalar.get_shape()}")
    if isinstance(x, IndexedSlices):
        return IndexedSlices(apply("Mul", scalar, x.values, name=name), x.indices, x.dense_shape)
    return apply("Mul", scalar, x, name=name)
