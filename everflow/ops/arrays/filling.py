"""Tensors made from a shape or a range: fill, zeros, ones, range, linspace."""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

import everflow as tf
from everflow.api import internal, public
from everflow.errors import OpError, invalid_argument, resource_exhausted
from everflow.graph import dtypes, shapes
from everflow.graph.constants import known
from everflow.graph.convert import constant, convert_to_tensor
from everflow.graph.operation import Operation
from everflow.graph.scopes import name_scope
from everflow.graph.tensor import Tensor
from everflow.lazy import torch
from everflow.ops.arrays.reshaping import cast, shape_internal, shown
from everflow.ops.core import rows, symbolic
from everflow.ops.core.node import Node
from everflow.ops.core.registry import apply, not_differentiable, op
from everflow.ops.core.run_time_checks import checked
from everflow.ops.core.shape_rules import from_shape_input, same_as_input
from everflow.values.tensors import is_numeric, torch_dtype

# TensorFlow stores zeros and ones of fewer elements than this as constants.
SMALL = 1000


def _sizes(dims: Any) -> list[int]:
    if dims.ndim != 1:
        raise invalid_argument(f"dims must be a vector, got shape {shown(dims.shape)}")
    found = dims.tolist()
    for size in found:
        if size < 0:
            raise invalid_argument(f"Dimension {size} must be >= 0")
    return found


def _fill(node: Node) -> Callable[..., Any]:
    dtype = node.inputs[1].dtype.base_dtype
    if not is_numeric(dtype):

        def filled(dims: shapes.Dims, value: Any) -> Any:
            found = np.empty(_sizes(dims), object)
            found.fill(value[()])
            return found

        return filled
    known, value = node.constant(0), node.constant(1)
    # A compiler sees tensors that have no numbers, and lie where the value does.
    fixed = _sizes(known) if known is not None else None
    if value is not None and value.dtype.kind in "bifc":
        number = value.item()
        return lambda dims, value: value.new_full(_sizes(dims) if fixed is None else fixed, number)
    return lambda dims, value: value.new_empty(_sizes(dims) if fixed is None else fixed).fill_(value)


def _fill_shape(o: Operation) -> Any:
    dims = o.inputs[0].dims
    if dims is not None and len(dims) != 1:
        raise ValueError(f"Shape must be rank 1 but is rank {len(dims)}")
    if o.inputs[1].dims not in (None, ()):
        raise ValueError(f"Shape must be rank 0 but is rank {len(o.inputs[1].dims)}")
    sizes = known(o.inputs[0])
    if sizes is not None and (sizes < 0).any():
        raise ValueError("Fill dimensions must be >= 0")
    return from_shape_input(0)(o)


def _no_scalar(_: Any, value: Any) -> str | None:
    return f"value must be a scalar, got shape {shown(value.shape)}" if getattr(value, "ndim", 0) else None


op(
    "Fill",
    kernel=checked(_fill, _no_scalar),
    shape=_fill_shape,
    gradient=lambda o, dy: [None, _summed(dy)],
    sizes=(0,),
    fills=1,
    symbolic=symbolic.sized_by(0),
)


def _summed(x: Any) -> Any:
    return tf.reduce_sum(x)


def _empty(node: Node) -> Callable[..., Any]:
    dtype = node.attr("dtype")
    if not is_numeric(dtype):
        return lambda dims: np.full(dims.tolist(), b"", object)
    kind = torch_dtype(dtype)
    return lambda dims: torch.zeros(dims.tolist(), dtype=kind)


# A step holds the values of its constants; there is nothing to run.
op("Const", shape=lambda o: o.attr("value").shape, gradient=not_differentiable, kind="constant", by_runtime=True)
op("Empty", kernel=_empty, shape=from_shape_input(0))


def _zeros_like(node: Node) -> Callable[..., Any]:
    if is_numeric(node.inputs[0].dtype):
        return torch.zeros_like
    if node.inputs[0].dtype is dtypes.variant:
        return lambda items: items.zeros()
    return lambda x: np.full(x.shape, b"", object)


def _zeros_like_shape(o: Operation) -> Any:
    o.outputs[0].handle_data = o.inputs[0].handle_data if o.inputs[0].dtype is dtypes.variant else None
    return o.inputs[0].dims


op("ZerosLike", kernel=_zeros_like, shape=_zeros_like_shape, gradient=not_differentiable, symbolic=symbolic.like_first, rows=rows.zeros)
op("OnesLike", kernel=lambda node: torch.ones_like, shape=same_as_input, gradient=not_differentiable)


@public("fill")
def fill(dims: Any, value: Any, name: str | None = None) -> Any:
    """A tensor of this shape, full of one value."""
    found = apply("Fill", dims, value, name=name)
    return found


def _filled(value: Any, shape: Any, dtype: dtypes.DTypeLike, name: str) -> Any:
    """A constant where the shape is known and small, else a Fill."""
    if not isinstance(shape, Tensor):
        small = _small_constant(value, shape, dtype, name)
        if small is not None:
            return small
        try:
            shape = _shape_constant(shapes.TensorShape(shape))
        except (TypeError, ValueError):
            shape = convert_to_tensor(shape, dtype=dtypes.int32)
    if not shape.dims:
        shape = tf.reshape(shape, [-1])
    return fill(shape, constant(value, dtype=dtype), name=name)


def _shape_constant(shape: shapes.TensorShape) -> Any:
    if not shape.is_fully_defined():
        raise ValueError(f"Cannot convert a partially known TensorShape to a Tensor: {shape}")
    sizes: list[Any] = shape.as_list()
    dtype = dtypes.int64 if any(s > 2**31 - 1 for s in sizes) else dtypes.int32
    return constant(sizes, dtype, name="shape_as_tensor")


def _small_constant(value: Any, shape: Any, dtype: dtypes.DTypeLike, name: str) -> Any:
    if isinstance(shape, shapes.TensorShape):
        if not shape.is_fully_defined():
            return None
        sizes: list[Any] = shape.as_list()
    elif isinstance(shape, np.ndarray) and shape.ndim == 1:
        sizes = shape.tolist()
    elif isinstance(shape, (list, tuple)):
        sizes = list(shape)
    else:
        return None
    if not all(isinstance(s, (int, np.integer)) for s in sizes):
        if any(isinstance(s, Tensor) for s in sizes) and not any(isinstance(s, (list, tuple)) for s in sizes):
            # TensorFlow compares the product with the limit though it can't know the answer: later names depend on it.
            functools.reduce(operator.mul, sizes) < SMALL  # noqa: B015
            return None
        sizes = [shapes.dimension_value(s) for s in sizes]
        if not all(isinstance(s, (int, np.integer)) for s in sizes):
            return None
    sizes = [int(s) for s in sizes]
    if any(s < 0 for s in sizes) or math.prod(sizes) >= SMALL:
        return None
    return constant(value, dtype=dtype, shape=sizes, name=name)


def _nought(dtype: dtypes.DType) -> Any:
    return False if dtype is dtypes.bool else "" if dtype is dtypes.string else 0


@public("zeros")
def zeros(shape: Any, dtype: dtypes.DTypeLike = dtypes.float32, name: str | None = None) -> Any:
    """A tensor of zeros (False, or empty strings)."""
    dtype = dtypes.as_dtype(dtype).base_dtype
    with name_scope(name, "zeros", [shape]) as scope:
        return _filled(_nought(dtype), shape, dtype, scope)


@public("ones")
def ones(shape: Any, dtype: dtypes.DTypeLike = dtypes.float32, name: str | None = None) -> Any:
    """A tensor of ones (True)."""
    dtype = dtypes.as_dtype(dtype).base_dtype
    with name_scope(name, "ones", [shape]) as scope:
        return _filled(True if dtype is dtypes.bool else 1, shape, dtype, scope)


@public("zeros_like", ragged="elements")
def zeros_like(tensor: Any, dtype: dtypes.DTypeLike | None = None, name: str | None = None, optimize: bool = True) -> Any:
    """Zeros in the shape of a tensor, and of its dtype unless another is asked for."""
    with name_scope(name, "zeros_like", [tensor]) as scope:
        tensor = convert_to_tensor(tensor, name="tensor")
        wanted = tensor.dtype.base_dtype if dtype is None else dtypes.as_dtype(dtype).base_dtype
        if optimize and shapes.is_fully_defined(tensor.dims) and tensor.dtype != dtypes.variant:
            return zeros(tensor.shape, wanted, name=scope)
        if dtype is not None and wanted is not tensor.dtype.base_dtype and tensor.dtype != dtypes.variant:
            return zeros(shape_internal(tensor, None, optimize), wanted, name=scope)
        return apply("ZerosLike", tensor, name=scope)


@public("ones_like", ragged="elements")
def ones_like(tensor: Any, dtype: dtypes.DTypeLike | None = None, name: str | None = None, optimize: bool = True) -> Any:
    """Ones in the shape of a tensor, and of its dtype unless another is asked for."""
    with name_scope(name, "ones_like", [tensor]) as scope:
        tensor = convert_to_tensor(tensor, name="tensor")
        sizes = shape_internal(tensor, None, optimize)
        found = ones(sizes, tensor.dtype if dtype is None else dtype, name=scope)
        if tensor.dims is not None:
            found.dims = tensor.dims
        return found


internal("ops.array_ops.ones_like_impl")(ones_like)
internal("ops.array_ops.zeros_like_impl")(zeros_like)


def _count(start: Any, limit: Any, delta: Any, integer: bool) -> int:
    if delta == 0:
        raise invalid_argument(f"Requires delta != 0: {_shown(delta)}")
    if delta > 0 and start > limit:
        raise invalid_argument(f"Requires start <= limit when delta > 0: {_shown(start)}/{_shown(limit)}")
    if delta < 0 and start < limit:
        raise invalid_argument(f"Requires start >= limit when delta < 0: {_shown(start)}/{_shown(limit)}")
    if integer:
        return (abs(int(limit) - int(start)) + abs(int(delta)) - 1) // abs(int(delta))
    return math.ceil(abs((limit - start) / delta))


def _shown(value: Any) -> str:
    return f"{value:g}" if isinstance(value, (float, np.floating)) else str(value)


def _range(node: Node) -> Callable[..., Any]:
    dtype = node.outputs[0].dtype.base_dtype
    kind = torch_dtype(dtype)
    if dtype.is_integer:

        def run(start: Any, limit: Any, delta: Any) -> Any:
            start, limit, delta = start.item(), limit.item(), delta.item()
            count = _count(start, limit, delta, True)
            if count >= 1 << 48:
                raise resource_exhausted(f"OOM when allocating tensor with shape[{count}] and type {dtype.name}")
            return torch.arange(start, limit, delta, dtype=kind)

        return run
    number = np.float64 if dtype is dtypes.float64 else np.float16 if dtype is dtypes.float16 else np.float32

    def accumulated(start: Any, limit: Any, delta: Any) -> Any:
        start, limit, delta = number(start.item()), number(limit.item()), number(delta.item())
        count = _count(start, limit, delta, False)
        steps = np.full(count, delta, number)
        steps[:1] = start
        # Each number is the one before plus delta, rounded, as TensorFlow has it; start + i * delta rounds differently.
        return torch.from_numpy(np.add.accumulate(steps, dtype=number)).to(kind)

    return accumulated


def _range_shape(o: Operation) -> Any:
    for t in o.inputs:
        if t.dims not in (None, ()):
            raise ValueError(f"Shape must be rank 0 but is rank {len(t.dims)}")
    values: list[Any] = [known(t) for t in o.inputs]
    if any(v is None for v in values):
        return (None,)
    start, limit, delta = (v.reshape(())[()] for v in values)
    if delta == 0:
        raise ValueError("Requires delta != 0")
    try:
        return (_count(start, limit, delta, o.outputs[0].dtype.is_integer),)
    except OpError as e:
        raise ValueError(e.message) from None


op("Range", kernel=_range, shape=_range_shape, gradient=not_differentiable)

_WIDENING = (dtypes.int32, dtypes.int64, dtypes.float32, dtypes.float64)


@public("range")
def range(start: Any, limit: Any = None, delta: Any = 1, dtype: Any = None, name: str = "range") -> Any:
    """The numbers from `start` (0 unless given) up to `limit`, in steps of `delta`."""
    if limit is None:
        start, limit = 0, start
    with name_scope(name, "Range", [start, limit, delta]) as scope:
        start, limit, delta = (
            v if isinstance(v, Tensor) and dtype is None else _converted(v, dtype, n)
            for v, n in ((start, "start"), (limit, "limit"), (delta, "delta"))
        )
        if dtype is None:
            found = [t.dtype.base_dtype for t in (start, limit, delta)]
            assert all(t in _WIDENING for t in found), f"Range of {', '.join(t.name for t in found)}"
            widest = max(found, key=_WIDENING.index)
            start, limit, delta = cast(start, widest), cast(limit, widest), cast(delta, widest)
        return apply("Range", start, limit, delta, name=scope)


def _converted(value: Any, dtype: dtypes.DTypeLike, name: str) -> Any:
    if isinstance(value, Tensor):
        return cast(value, dtypes.as_dtype(dtype))
    return convert_to_tensor(value, dtype=dtype, name=name)


def _linspace(node: Node) -> Callable[..., Any]:
    kind = torch_dtype(node.outputs[0].dtype)
    number: Any = np.float64 if node.outputs[0].dtype is dtypes.float64 else np.float32

    def run(start: Any, stop: Any, num: Any) -> Any:
        count = int(num)
        if count <= 0:
            raise invalid_argument(f"Requires num > 0: {count}")
        first, last = number(start.item()), number(stop.item())
        if count == 1:
            return torch.tensor([first], dtype=kind)
        found = first + (last - first) / number(count - 1) * np.arange(count, dtype=number)
        found[0], found[-1] = first, last
        return torch.from_numpy(found).to(kind)

    return run


def _linspace_shape(o: Operation) -> Any:
    for t in o.inputs:
        if t.dims not in (None, ()):
            raise ValueError(f"Shape must be rank 0 but is rank {len(t.dims)}")
    count = known(o.inputs[2])
    if count is None:
        return (None,)
    if int(count) <= 0:
        raise ValueError(f"Requires num > 0: {int(count)}")
    return (int(count),)


op("LinSpace", kernel=_linspace, shape=_linspace_shape, gradient=not_differentiable)


@public("linspace", "lin_space")
def linspace(start: Any, stop: Any, num: Any, name: str | None = None) -> Any:
    """`num` numbers from `start` to `stop`, evenly spaced."""
    return apply("LinSpace", start, stop, num, name=name)
