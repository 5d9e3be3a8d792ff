"""tf.assert_* and tf.debugging: checks that fail while the graph is built where they can, when it runs otherwise."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import everflow as tf
from everflow import errors
from everflow.api import public
from everflow.graph import dtypes
from everflow.graph.constants import constant_value
from everflow.graph.convert import convert_to_tensor
from everflow.graph.scopes import name_scope
from everflow.graph.stacks import in_eager_mode
from everflow.graph.tensor import Tensor, TensorLike
from everflow.ops.core.registry import apply


def _both(name: str) -> tuple[str, str]:
    return name, "debugging." + name


def _shown_value(part: Any) -> str:
    if isinstance(part, Tensor):
        value = constant_value(part)
        return str(part) if value is None else str(value)
    return str(part)


def _fail_now(data: Any) -> None:
    raise errors.InvalidArgumentError(None, None, "\n".join(_shown_value(part) for part in data))


def _all_true(condition: Tensor) -> Tensor:
    """Whether all elements are true."""
    if condition.dims is not None:
        axes = convert_to_tensor(np.arange(len(condition.dims), dtype=np.int32), name="Const")
    else:
        axes = apply("Range", 0, apply("Rank", condition), 1, name="range")
    return apply("All", condition, axes, name="All")


def _checked_at_once(symbol: str, op_type: str, x_tensor: Any, y_tensor: Any, summarize: int | None, message: str | None) -> None:
    """Fails unless a relation holds between values that are there; shows some of them."""
    holds = apply(op_type, x_tensor, y_tensor).numpy()
    if np.all(holds):
        return
    x, y = x_tensor.numpy(), y_tensor.numpy()
    count = 3 if summarize is None else summarize if summarize >= 0 else max(x.size, y.size)
    lines = [] if message is None else [message]
    lines.append(f"Condition x {symbol} y did not hold.")
    if symbol == "==":
        where = np.argwhere(np.logical_not(holds))[:count]
        first, second = (np.broadcast_to(v, holds.shape)[tuple(where.T)] for v in (x, y))
        lines += [
            f"Indices of first {len(where)} different values:",
            str(where),
            "Corresponding x values:",
            str(np.atleast_1d(first)),
            "Corresponding y values:",
            str(np.atleast_1d(second)),
        ]
    for label, values in (("x", x), ("y", y)):
        shown = np.reshape(values, -1)[:count]
        lines += [f"First {len(shown)} elements of {label}:", str(shown)]
    raise errors.InvalidArgumentError(None, None, "\n".join(lines))


def _shown(tensor: Any) -> str:
    """How a message calls a tensor."""
    return f"shape={tensor.shape} dtype={tensor.dtype.name}" if in_eager_mode() else tensor.name


def _plain_name(tensor: Any) -> str:
    return "tensor" if in_eager_mode() else tensor.name


def _binary(
    symbol: str, op_type: str, static: Callable[..., Any], x: Any, y: Any, data: Any, summarize: int | None, message: str | None, name: str
) -> Any:
    with name_scope(name, None, [x, y, data]):
        x = convert_to_tensor(x, name="x")
        y = convert_to_tensor(y, name="y")
        if in_eager_mode() and data is None:
            return _checked_at_once(symbol, op_type, x, y, summarize, message)
        if data is None:
            data = [f"Condition x {symbol} y did not hold element-wise:", f"x ({_shown(x)}) = ", x, f"y ({_shown(y)}) = ", y]
        if message is not None:
            data = [message, *data]
        condition = _all_true(apply(op_type, x, y))
        x_value, y_value = constant_value(x), constant_value(y)
        if x_value is not None and y_value is not None and not np.all(static(x_value, y_value)):
            _fail_now(data)
        return tf.Assert(condition, data, summarize=summarize)


@public(*_both("assert_equal"))
def assert_equal(
    x: Any, y: Any, data: Any = None, summarize: int | None = None, message: str | None = None, name: str | None = None
) -> Any:
    """Fails unless x and y are equal element by element."""
    name = name or "assert_equal"
    with name_scope(name, "assert_equal", [x, y, data]):
        if x is y:
            return tf.no_op()
    return _binary("==", "Equal", np.equal, x, y, data, summarize, message, name)


@public(*_both("assert_none_equal"))
def assert_none_equal(
    x: Any, y: Any, data: Any = None, summarize: int | None = None, message: str | None = None, name: str | None = None
) -> Any:
    """Fails where an element of x equals that of y."""
    return _binary("!=", "NotEqual", np.not_equal, x, y, data, summarize, message, name or "assert_none_equal")


@public(*_both("assert_less"))
def assert_less(x: Any, y: Any, data: Any = None, summarize: int | None = None, message: str | None = None, name: str | None = None) -> Any:
    """Fails unless x < y element by element."""
    return _binary("<", "Less", np.less, x, y, data, summarize, message, name or "assert_less")


@public(*_both("assert_less_equal"))
def assert_less_equal(
    x: Any, y: Any, data: Any = None, summarize: int | None = None, message: str | None = None, name: str | None = None
) -> Any:
    """Fails unless x <= y element by element."""
    return _binary("<=", "LessEqual", np.less_equal, x, y, data, summarize, message, name or "assert_less_equal")


@public(*_both("assert_greater"))
def assert_greater(
    x: Any, y: Any, data: Any = None, summarize: int | None = None, message: str | None = None, name: str | None = None
) -> Any:
    """Fails unless x > y element by element."""
    return _binary(">", "Greater", np.greater, x, y, data, summarize, message, name or "assert_greater")


@public(*_both("assert_greater_equal"))
def assert_greater_equal(
    x: Any, y: Any, data: Any = None, summarize: int | None = None, message: str | None = None, name: str | None = None
) -> Any:
    """Fails unless x >= y element by element."""
    return _binary(">=", "GreaterEqual", np.greater_equal, x, y, data, summarize, message, name or "assert_greater_equal")


@public(*_both("assert_negative"))
def assert_negative(x: Any, data: Any = None, summarize: int | None = None, message: str | None = None, name: str | None = None) -> Any:
    """Fails unless all elements are below zero."""
    message = message or ""
    with name_scope(name, "assert_negative", [x, data]):
        x = convert_to_tensor(x, name="x")
        data = data if data is not None else [message, "Condition x < 0 did not hold element-wise:", f"x ({_shown(x)}) = ", x]
        return assert_less(x, convert_to_tensor(0, dtype=x.dtype.base_dtype), data=data, summarize=summarize)


@public(*_both("assert_positive"))
def assert_positive(x: Any, data: Any = None, summarize: int | None = None, message: str | None = None, name: str | None = None) -> Any:
    """Fails unless all elements are above zero."""
    message = message or ""
    with name_scope(name, "assert_positive", [x, data]):
        x = convert_to_tensor(x, name="x")
        data = data if data is not None else [message, "Condition x > 0 did not hold element-wise:", f"x ({_shown(x)}) = ", x]
        return assert_less(convert_to_tensor(0, dtype=x.dtype.base_dtype), x, data=data, summarize=summarize)


@public(*_both("assert_non_negative"))
def assert_non_negative(x: Any, data: Any = None, summarize: int | None = None, message: str | None = None, name: str | None = None) -> Any:
    """Fails where an element is below zero."""
    message = message or ""
    with name_scope(name, "assert_non_negative", [x, data]):
        x = convert_to_tensor(x, name="x")
        data = data if data is not None else [message, "Condition x >= 0 did not hold element-wise:", f"x ({_shown(x)}) = ", x]
        return assert_less_equal(convert_to_tensor(0, dtype=x.dtype.base_dtype), x, data=data, summarize=summarize)


@public(*_both("assert_non_positive"))
def assert_non_positive(x: Any, data: Any = None, summarize: int | None = None, message: str | None = None, name: str | None = None) -> Any:
    """Fails where an element is above zero."""
    message = message or ""
    with name_scope(name, "assert_non_positive", [x, data]):
        x = convert_to_tensor(x, name="x")
        data = data if data is not None else [message, f"Condition x <= 0 did not hold element-wise:x ({_shown(x)}) = ", x]
        return assert_less_equal(x, convert_to_tensor(0, dtype=x.dtype.base_dtype), data=data, summarize=summarize)


@public(*_both("assert_near"))
def assert_near(
    x: Any,
    y: Any,
    rtol: Any = None,
    atol: Any = None,
    data: Any = None,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> Any:
    """Fails unless |x - y| <= atol + rtol * |y|; by default the tolerances are ten times the precision."""
    message = message or ""
    with name_scope(name, "assert_near", [x, y, rtol, atol, data]):
        x = convert_to_tensor(x, name="x")
        y = convert_to_tensor(y, dtype=x.dtype.base_dtype, name="y")
        kind = x.dtype.real_dtype if x.dtype.is_complex else x.dtype.base_dtype
        precision = 10 * np.finfo(kind.as_numpy_dtype).eps if kind is not dtypes.bfloat16 else 10 * 2.0**-7
        rtol = convert_to_tensor(precision if rtol is None else rtol, name="rtol", dtype=kind)
        atol = convert_to_tensor(precision if atol is None else atol, name="atol", dtype=kind)
        if data is None:
            data = [
                message,
                f"x and y not equal to tolerance rtol = {rtol}, atol = {atol}",
                f"x ({_shown(x)}) = ",
                x,
                f"y ({_shown(y)}) = ",
                y,
            ]
        magnitude = "ComplexAbs" if x.dtype.is_complex else "Abs"
        extra = {"Tout": kind} if x.dtype.is_complex else {}
        tolerance = apply("AddV2", atol, apply("Mul", rtol, apply(magnitude, y, **extra)))
        difference = apply(magnitude, apply("Sub", x, y), **extra)
        return tf.Assert(_all_true(apply("LessEqual", difference, tolerance)), data, summarize=summarize)


@public(*_both("assert_integer"))
def assert_integer(x: Any, message: str | None = None, name: str | None = None) -> Any:
    """Fails unless x has an integer dtype."""
    message = message or ""
    with name_scope(name, "assert_integer", [x]):
        x = convert_to_tensor(x, name="x")
        if not x.dtype.is_integer:
            raise TypeError(f'{message}  Expected "x" to be integer type.  Found: {_plain_name(x)} of dtype {x.dtype}')
        return tf.no_op("statically_determined_was_integer")


@public(*_both("assert_type"))
def assert_type(tensor: Any, tf_type: Any, message: str | None = None, name: str | None = None) -> Any:
    """Fails unless the tensor has this dtype."""
    message = message or ""
    with name_scope(name, "assert_type", [tensor]):
        if not (isinstance(tensor, TensorLike) and not isinstance(tensor, Tensor)):
            tensor = convert_to_tensor(tensor, name="tensor")
        if tensor.dtype != tf_type:
            raise TypeError(
                f"{message}  {tensor.op.name if not isinstance(tensor, Tensor) else _plain_name(tensor)} must be of type {tf_type}"
            )
        return tf.no_op("statically_determined_correct_type")


@public(*_both("assert_scalar"))
def assert_scalar(tensor: Any, name: str | None = None, message: str | None = None) -> Tensor:
    """The tensor; ValueError unless it is known to be a scalar."""
    with name_scope(name, "assert_scalar", [tensor]) as scope:
        tensor = convert_to_tensor(tensor, name=scope)
        if tensor.dims != ():
            of = "" if in_eager_mode() else f" for {tensor.name}"
            raise ValueError(f"{message or ''}Expected scalar shape{of}, saw shape: {tensor.get_shape()}.")
        return tensor


@public(*_both("assert_proper_iterable"))
def assert_proper_iterable(values: Any) -> None:
    """TypeError unless values can be iterated over and are no tensor, array or string."""
    if isinstance(values, (TensorLike, np.ndarray, bytes, str)):
        raise TypeError(f'Expected argument "values" to be a "proper" iterable.  Found: {type(values)}')
    if not hasattr(values, "__iter__"):
        raise TypeError(f'Expected argument "values" to be iterable.  Found: {type(values)}')


@public(*_both("assert_same_float_dtype"), "contrib.framework.assert_same_float_dtype")
def assert_same_float_dtype(tensors: Any = None, dtype: dtypes.DTypeLike | None = None) -> dtypes.DType:
    """The one floating point dtype that all tensors have; float32 where nothing says otherwise."""
    first = None
    for t in tensors or ():
        if t is None:
            continue
        if dtype is None:
            dtype, first = t.dtype.base_dtype, t
        elif t.dtype.base_dtype != dtypes.as_dtype(dtype).base_dtype:
            which = f" as {_name(first)}" if first is not None else ""
            raise ValueError(f"{_name(t)}, type={t.dtype}, must be of the same type ({dtypes.as_dtype(dtype)}){which}.")
    if dtype is None:
        return dtypes.float32
    dtype = dtypes.as_dtype(dtype)
    if not dtype.is_floating:
        raise ValueError(f"Expected floating point type, got {dtype}.")
    return dtype


def _name(tensor: Any) -> str:
    return tensor.name if hasattr(tensor, "name") else str(tensor)


@public(*_both("is_numeric_tensor"))
def is_numeric_tensor(tensor: Any) -> bool:
    """Whether this is a tensor of numbers."""
    is_tensor = isinstance(tensor, TensorLike)
    return is_tensor and (tensor.dtype.is_integer or tensor.dtype.is_floating or tensor.dtype.is_complex)


def _differences(x: Tensor) -> Tensor:
    """What each element of the flattened tensor has more than the one before it."""
    if not is_numeric_tensor(x):
        raise TypeError(f"Expected x to be numeric, instead found: {x}")
    size = apply("Size", x)
    length = apply("Maximum", apply("Sub", size, 1), 0)
    later = apply("Slice", x, [1], apply("Reshape", length, [1])) if x.dims != (0,) else x
    earlier = apply("Slice", x, [0], apply("Reshape", length, [1]))
    return apply("Sub", later, earlier)


@public("is_strictly_increasing", "debugging.is_strictly_increasing", "math.is_strictly_increasing")
def is_strictly_increasing(x: Any, name: str | None = None) -> Tensor:
    """Whether each element is larger than the one before it."""
    return _ordered(x, name, "is_strictly_increasing", "Less")


@public("is_non_decreasing", "debugging.is_non_decreasing", "math.is_non_decreasing")
def is_non_decreasing(x: Any, name: str | None = None) -> Tensor:
    """Whether no element is smaller than the one before it."""
    return _ordered(x, name, "is_non_decreasing", "LessEqual")


def _ordered(x: Any, name: str | None, default_name: str, comparison: str) -> Tensor:
    with name_scope(name, default_name, [x]):
        flat = apply("Reshape", convert_to_tensor(x, name="x"), [-1])
        steps = _differences(flat)
        zero = convert_to_tensor(0, dtype=steps.dtype.base_dtype)
        return _all_true(apply(comparison, zero, steps))
