"""Tensors handed on, fed, measured and given another shape: identity, placeholder, shape, reshape, ..."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable
from typing import Any

import numpy as np

import everflow as tf
from everflow.api import internal, public
from everflow.errors import invalid_argument
from everflow.graph import dtypes, shapes
from everflow.graph.constants import dims_of, known
from everflow.graph.convert import constant, convert_to_tensor
from everflow.graph.operation import Operation
from everflow.graph.scopes import name_scope
from everflow.graph.stacks import in_eager_mode
from everflow.lazy import torch
from everflow.ops.core import host_sizes, symbolic
from everflow.ops.core.node import Node
from everflow.ops.core.registry import apply, not_differentiable, op
from everflow.ops.core.shape_rules import from_attr, same_as_input, scalar, unchanged_shapes
from everflow.values.tensors import is_numeric, torch_dtype

Kernel = Callable[..., Any]


def is_text(node: Node, index: int = 0) -> bool:
    """Whether an input's values are numpy arrays of objects instead of torch tensors."""
    return not is_numeric(node.inputs[index].dtype)


def cast(x: Any, dtype: Any, name: str = "Cast") -> Any:
    """The tensor as another dtype; itself where it has that dtype already."""
    return x if x.dtype.base_dtype is dtype else apply("Cast", x, DstT=dtype, name=name)


# Bits move and wrap the same whether an integer is signed or not, and torch has more kernels for the signed ones.
_SIGNED = {"uint16": "int16", "uint32": "int32", "uint64": "int64"}


def as_signed(x: Any) -> Any:
    """Unsigned integers as the signed ones with the same bits; anything else as it is."""
    name = _SIGNED.get(str(x.dtype)[6:])
    return x if name is None else x.view(getattr(torch, name))


def flipped(x: Any, axes: Any) -> Any:
    """The tensor with the order of its elements reversed along these axes."""
    if isinstance(x, np.ndarray):
        return np.flip(x, axes)
    return x.flip(axes) if x.is_floating_point() else as_signed(x).flip(axes).view(x.dtype)


def shown(dims: Any) -> str:
    """A run-time shape as error messages have it: `[2,3]`."""
    return "[" + ",".join(map(str, dims)) + "]"


def handed_on(node: Node) -> Kernel:
    """The kernel that returns its input."""
    return lambda x: x


def _guaranteed(node: Node) -> Kernel:
    if node.inputs[0].dtype.base_dtype is not dtypes.resource:
        return handed_on(node)

    def run(x: Any) -> Any:
        raise invalid_argument(f"Input tensor cannot be a resource variable handle. [Input tensor name: {node.inputs[0].node.name}]")

    return run


def _prevented(o: Operation, dy: Any) -> Any:
    raise LookupError(f"Gradient explicitly disabled. Reason: {_text(o.attr('message'))!r}")


def _text(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else value


op("Identity", kernel=handed_on, shape=same_as_input, gradient=lambda o, dy: dy, view=True, folds=False, forwards=True, kind="identity")
op(
    "IdentityN",
    kernel=lambda node: (lambda *xs: xs) if len(node.outputs) != 1 else handed_on(node),
    shape=unchanged_shapes,
    gradient=lambda o, *dys: list(dys),
    view=True,
    forwards=True,
)
op(
    "StopGradient",
    kernel=handed_on,
    shape=same_as_input,
    gradient=not_differentiable,
    view=True,
    forwards=True,
    fed=True,
    kind="stop of gradients",
)
op("PreventGradient", kernel=handed_on, shape=same_as_input, gradient=_prevented, view=True, forwards=True, fed=True)
op("GuaranteeConst", kernel=_guaranteed, shape=same_as_input, view=True)
op("Snapshot", kernel=handed_on, shape=same_as_input, gradient=lambda o, dy: dy, view=True, forwards=True, fed=True)
op("DeepCopy", kernel=lambda node: (lambda x: x.copy()) if is_text(node) else torch.clone, shape=same_as_input)
op("DebugGradientIdentity", kernel=handed_on, shape=same_as_input, view=True)
op("RefIdentity", kernel=handed_on, shape=same_as_input, gradient=lambda o, dy: dy, view=True, kind="identity")
op("DebugGradientRefIdentity", kernel=handed_on, shape=same_as_input, view=True)


@public("identity", ragged="elements")
def identity(input: Any, name: str | None = None) -> Any:
    """A tensor with the same value, computed where the control dependencies around it allow."""
    if hasattr(type(input), "_type_spec"):
        return tf.nest.map_structure(identity, input, expand_composites=True)
    found = apply("Identity", input, name=name)
    if getattr(input, "handle_data", None) is not None:
        found.handle_data = input.handle_data
    return found


@public("identity_n")
def identity_n(input: Any, name: str | None = None) -> Any:
    """Tensors with the same values, all computed at once."""
    return apply("IdentityN", input, name=name)


@public("stop_gradient")
def stop_gradient(input: Any, name: str | None = None) -> Any:
    """The same value, which gradients take for a constant."""
    return apply("StopGradient", input, name=name)


@public("guarantee_const")
def guarantee_const(input: Any, name: str | None = None) -> Any:
    """The same value, which the program promises never changes."""
    return apply("GuaranteeConst", input, name=name)


def _unfed(node: Node) -> Kernel:
    dims = node.attrs.get("shape")
    proto_names = {"float32": "float", "float64": "double", "float16": "half"}
    dtype = node.outputs[0].dtype.base_dtype.name
    shape = f" and shape {shapes.describe(dims)}" if dims else ""
    dtype = proto_names.get(dtype, dtype)
    message = f"You must feed a value for placeholder tensor '{node.name}' with dtype {dtype}{shape}"

    def run() -> Any:
        raise invalid_argument(message)

    return run


def _default_shape(o: Operation) -> Any:
    dims = o.attr("shape")
    shapes.merge(o.inputs[0].dims, dims)
    return dims


op("Placeholder", kernel=_unfed, shape=from_attr(), pure=True, folds=False, fed=True)
op("PlaceholderV2", kernel=_unfed, shape=from_attr(), fed=True)
op("PlaceholderWithDefault", kernel=handed_on, shape=_default_shape, gradient=lambda o, dy: dy, view=True, forwards=True, fed=True)


@public("placeholder")
def placeholder(dtype: dtypes.DTypeLike, shape: Any = None, name: str | None = None) -> Any:
    """A tensor that has to be fed."""
    if in_eager_mode():
        raise RuntimeError("tf.placeholder() is not compatible with eager execution.")
    return apply("Placeholder", dtype=dtype, shape=shape, name=name)


@public("placeholder_with_default")
def placeholder_with_default(input: Any, shape: Any, name: str | None = None) -> Any:
    """A tensor that may be fed, and is `input` otherwise."""
    return apply("PlaceholderWithDefault", input, shape=shape, name=name)


def _shape(node: Node) -> Kernel:
    dtype = torch_dtype(node.attr("out_type"))
    return lambda x: torch.tensor(x.shape, dtype=dtype)


def _shape_n(node: Node) -> Kernel:
    one = _shape(node)
    return one if len(node.outputs) == 1 else lambda *xs: tuple([one(x) for x in xs])


def _size(node: Node) -> Kernel:
    dtype = torch_dtype(node.attr("out_type"))
    if is_text(node):
        return lambda x: torch.scalar_tensor(x.size, dtype=dtype)
    return lambda x: torch.scalar_tensor(x.numel(), dtype=dtype)


def _known_shapes(node: Node) -> list[np.ndarray] | None:
    if not all(shapes.is_fully_defined(v.dims) for v in node.inputs):
        return None
    dtype = node.attr("out_type").as_numpy_dtype
    return [np.array(v.dims, dtype) for v in node.inputs]


def _known_size(node: Node) -> list[np.ndarray] | None:
    dims = node.inputs[0].dims
    return [np.array(shapes.num_elements(dims), node.attr("out_type").as_numpy_dtype)] if shapes.is_fully_defined(dims) else None


def _known_rank(node: Node) -> list[np.ndarray] | None:
    """Of a variable, the rank is asked for to learn whether it is initialized."""
    dims = node.inputs[0].dims
    return None if dims is None or _reads_variable(node) else [np.array(len(dims), np.int32)]


def _reads_variable(node: Node) -> bool:
    while not node.reads and node.type in ("Rank", "Identity"):
        node = node.inputs[0].node
    return bool(node.reads) or node.type == "ReadVariableOp"


op(
    "Shape",
    strided=True,
    kernel=_shape,
    shape=lambda o: (None if o.inputs[0].dims is None else len(o.inputs[0].dims),),
    gradient=not_differentiable,
    host=host_sizes.shape_of,
    measures=True,
    holds=symbolic.holds_shape,
    known=_known_shapes,
)
op(
    "ShapeN",
    strided=True,
    kernel=_shape_n,
    shape=lambda o: [(None if t.dims is None else len(t.dims),) for t in o.inputs],
    gradient=not_differentiable,
    host=host_sizes.shape_of,
    measures=True,
    holds=symbolic.holds_shape,
    known=_known_shapes,
)
op("Size", kernel=_size, shape=scalar, gradient=not_differentiable, known=_known_size)
op(
    "Rank",
    kernel=lambda node: lambda x: torch.tensor(x.ndim, dtype=torch.int32),
    shape=scalar,
    gradient=not_differentiable,
    known=_known_rank,
)


@public("shape")
def shape(input: Any, name: str | None = None, out_type: dtypes.DTypeLike = dtypes.int32) -> Any:
    """The shape of a tensor, as an integer vector; a constant where it is known."""
    return shape_internal(input, name, True, out_type)


@internal("ops.array_ops.shape_internal")
def shape_internal(input: Any, name: str | None = None, optimize: bool = True, out_type: dtypes.DTypeLike = dtypes.int32) -> Any:
    """The same; `optimize=False` always adds the op."""
    out_type = dtypes.as_dtype(out_type)
    with name_scope(name, "Shape", [input]) as scope:
        if _is_sparse(input):
            return cast(convert_to_tensor(input.dense_shape), out_type)
        input = convert_to_tensor(input)
        if optimize and shapes.is_fully_defined(input.dims):
            return constant(np.array(input.dims, out_type.as_numpy_dtype), out_type, name=scope)
        return apply("Shape", input, out_type=out_type, name=scope)


def _is_sparse(value: Any) -> bool:
    return type(value).__name__ in ("SparseTensor", "SparseTensorValue")


@public("shape_n")
def shape_n(input: Any, out_type: dtypes.DTypeLike = dtypes.int32, name: str | None = None) -> Any:
    """The shapes of several tensors."""
    return apply("ShapeN", input, out_type=out_type, name=name)


@public("size", ragged="arrays.size")
def size(input: Any, name: str | None = None, out_type: dtypes.DTypeLike = dtypes.int32) -> Any:
    """How many elements a tensor has."""
    return size_internal(input, name, True, out_type)


@internal("ops.array_ops.size_internal")
def size_internal(input: Any, name: str | None = None, optimize: bool = True, out_type: dtypes.DTypeLike = dtypes.int32) -> Any:
    """The same; `optimize=False` always adds the op."""
    out_type = dtypes.as_dtype(out_type)
    with name_scope(name, "Size", [input]) as scope:
        if _is_sparse(input):
            return tf.reduce_prod(cast(convert_to_tensor(input.dense_shape), out_type), 0, name=scope)
        input = convert_to_tensor(input)
        if optimize and shapes.is_fully_defined(input.dims):
            return constant(shapes.num_elements(input.dims), out_type, name=scope)
        return apply("Size", input, out_type=out_type, name=scope)


@public("rank", ragged="arrays.rank")
def rank(input: Any, name: str | None = None) -> Any:
    """How many dimensions a tensor has."""
    return rank_internal(input, name, True)


@internal("ops.array_ops.rank_internal")
def rank_internal(input: Any, name: str | None = None, optimize: bool = True) -> Any:
    """The same; `optimize=False` always adds the op."""
    with name_scope(name, "Rank", [input]) as scope:
        if _is_sparse(input):
            return apply("Size", input.dense_shape, name=scope)
        input = convert_to_tensor(input)
        if optimize and input.dims is not None:
            return constant(len(input.dims), dtypes.int32, name=scope)
        return apply("Rank", input, name=scope)


def _reshape(node: Node) -> Kernel:
    def reshaped(x: Any, dims: Any) -> Any:
        try:
            return x.reshape(dims)
        except (RuntimeError, ValueError):
            if 0 in dims and 0 in x.shape and dims.count(-1) == 1:
                # Any size would do for the one left open: TensorFlow takes what remains of the sizes that are not 0.
                rest = math.prod(d for d in x.shape if d) // math.prod(d for d in dims if d > 0)
                return x.reshape([rest if d == -1 else d for d in dims])
            raise _cannot_reshape(x, dims) from None

    dims = node.constant(1)
    if dims is None:
        return lambda x, shape: reshaped(x, tuple(shape.tolist()))
    fixed = tuple(dims.tolist())
    return lambda x, shape: reshaped(x, fixed)


def _cannot_reshape(x: Any, dims: tuple[int, ...]) -> Exception:
    count = int(np.prod(x.shape))
    unknown = [i for i, d in enumerate(dims) if d == -1]
    if len(unknown) > 1:
        return invalid_argument(f"Only one input size may be -1, not both {unknown[0]} and {unknown[1]}")
    for i, d in enumerate(dims):
        if d < -1:
            return invalid_argument(f"Size {i} must be non-negative, not {d}")
    product = int(np.prod([d for d in dims if d != -1]))
    if unknown and product == 0:
        return invalid_argument(
            "reshape cannot infer the missing input size for an empty tensor unless all specified input sizes are non-zero"
        )
    if unknown:
        return invalid_argument(
            f"Input to reshape is a tensor with {count} values, but the requested shape requires a multiple of {product}"
        )
    return invalid_argument(f"Input to reshape is a tensor with {count} values, but the requested shape has {product}")


def _product(dims: Any) -> int:
    return int(np.prod([d for d in dims if d is not None], dtype=np.int64))


def _reshape_shape(o: Operation) -> Any:
    given = o.inputs[0].dims
    if o.inputs[1].dims is not None and len(o.inputs[1].dims) > 1:
        raise ValueError(f"Shape must be rank 1 but is rank {len(o.inputs[1].dims)}")
    wanted = known(o.inputs[1])
    dims: Any
    if wanted is None:
        dims = dims_of(o.inputs[1])
    else:
        dims = tuple(None if d == -1 else int(d) for d in wanted.reshape(-1))
        for d in dims:
            if d is not None and d < 0:
                raise ValueError(f"Invalid value in tensor used for shape: {d}")
    if dims is None or given is None:
        return dims
    missing, open_inputs = dims.count(None), given.count(None)
    if missing > 1 or open_inputs > 1:
        return dims
    have, want = _product(given), _product(dims)
    if not open_inputs and not missing:
        if have != want:
            raise ValueError(f"Cannot reshape a tensor with {have} elements to shape {shapes.describe(dims)} ({want} elements)")
    elif not open_inputs:
        if want == 0:
            if have:
                raise ValueError(f"Cannot reshape a tensor with {have} elements to shape {shapes.describe(dims)} ({want} elements)")
            return dims
        if have % want:
            raise ValueError(f"Dimension size must be evenly divisible by {want} but is {have}")
        return tuple(have // want if d is None else d for d in dims)
    return dims


op(
    "Reshape",
    kernel=_reshape,
    shape=_reshape_shape,
    gradient=lambda o, dy: [reshape(dy, shape(o.inputs[0])), None],
    kind="reshaping",
    view=True,
    sizes=(1,),
    symbolic=symbolic.reshaped,
)


@public("reshape", "manip.reshape")
def reshape(tensor: Any, shape: Any, name: str | None = None) -> Any:
    """The same elements in another shape; one size may be -1."""
    found = apply("Reshape", tensor, shape, name=name)
    if not shapes.is_fully_defined(found.dims):
        with contextlib.suppress(ValueError, TypeError):
            dims = dims_of(found.op.inputs[1])
            if dims is not None:
                found.dims = shapes.merge(found.dims, dims)
    return found


def _expand_dims(node: Node) -> Kernel:
    def expanded(x: Any, axis: int) -> Any:
        if not -x.ndim - 1 <= axis <= x.ndim:
            raise invalid_argument(f"Tried to expand dim index {axis} for tensor with {x.ndim} dimensions.")
        return np.expand_dims(x, axis) if text else x.unsqueeze(axis)

    text = is_text(node)
    axis = node.constant(1)
    if axis is None:
        return lambda x, axis: expanded(x, _only_axis(axis))
    fixed = int(axis.reshape(-1)[0])
    if node.inputs[0].dims is not None and not text:
        return lambda x, axis: x.unsqueeze(fixed)
    return lambda x, axis: expanded(x, fixed)


def _only_axis(axis: Any) -> int:
    if axis.numel() != 1:
        raise invalid_argument("'dim' must be a tensor with a single value")
    return int(axis)


def _expand_dims_shape(o: Operation) -> Any:
    dims, axis = o.inputs[0].dims, known(o.inputs[1])
    if dims is None:
        return None
    if axis is None:
        return (None,) * (len(dims) + 1)
    if axis.size != 1:
        raise ValueError("'dim' input must be a tensor with a single value")
    at = int(axis.reshape(-1)[0])
    if not -len(dims) - 1 <= at <= len(dims):
        raise ValueError(f"dim {at} not in the interval [{-len(dims) - 1}, {len(dims)}].")
    at += len(dims) + 1 if at < 0 else 0
    return dims[:at] + (1,) + dims[at:]


op(
    "ExpandDims",
    kernel=_expand_dims,
    shape=_expand_dims_shape,
    gradient=lambda o, dy: [reshape(dy, shape(o.inputs[0])), None],
    view=True,
    host=host_sizes.alone,
    holds=symbolic.holds_number,
    symbolic=symbolic.with_axis,
)


def renamed_argument(new_name: str, new: Any, old_name: str, old: Any) -> Any:
    """The value of an argument that has an older name too; only one of them may be given."""
    if old is None:
        return new
    if new is not None:
        raise ValueError(f"Cannot specify both '{old_name}' and '{new_name}'")
    return old


@public("expand_dims", ragged="arrays.expand_dims")
def expand_dims(input: Any, axis: Any = None, name: str | None = None, dim: Any = None) -> Any:
    """The tensor with a dimension of size 1 inserted before `axis`."""
    axis = renamed_argument("axis", axis, "dim", dim)
    if axis is None:
        raise ValueError("Must specify an axis argument to tf.expand_dims()")
    return apply("ExpandDims", input, axis, name=name)


def _squeeze(node: Node) -> Kernel:
    axes = tuple(node.attr("squeeze_dims") or ())
    text = is_text(node)
    if not axes:
        return lambda x: x.squeeze()

    def run(x: Any) -> Any:
        rank = x.ndim
        for axis in axes:
            if not -rank <= axis < rank:
                raise invalid_argument(f"Tried to squeeze dim index {axis} for tensor with {rank} dimensions.")
            if x.shape[axis] != 1:
                raise invalid_argument(f"Can not squeeze dim[{axis % rank}], expected a dimension of 1, got {x.shape[axis]}")
        return x.squeeze(axes)

    dims = node.inputs[0].dims
    if dims is not None and not text and all(dims[a] == 1 for a in axes):
        which = axes[0] if len(axes) == 1 else axes
        return lambda x: x.squeeze(which)
    return run


def _squeeze_shape(o: Operation) -> Any:
    dims, axes = o.inputs[0].dims, list(o.attr("squeeze_dims") or ())
    if dims is None:
        return None
    if not axes:
        return None if None in dims else tuple(d for d in dims if d != 1)
    gone = set()
    for i, axis in enumerate(axes):
        if not -len(dims) <= axis < len(dims):
            raise ValueError(f"squeeze_dims[{i}] not in [{-len(dims)},{len(dims)}).")
        axis %= len(dims)
        if dims[axis] not in (None, 1):
            raise ValueError(f"Can not squeeze dim[{axis}], expected a dimension of 1, got {dims[axis]}")
        gone.add(axis)
    return tuple(d for i, d in enumerate(dims) if i not in gone)


op(
    "Squeeze",
    kernel=_squeeze,
    shape=_squeeze_shape,
    gradient=lambda o, dy: reshape(dy, shape(o.inputs[0])),
    view=True,
    symbolic=symbolic.squeezed,
)


@public("squeeze", ragged="arrays.squeeze")
def squeeze(input: Any, axis: Any = None, name: str | None = None, squeeze_dims: Any = None) -> Any:
    """The tensor without dimensions of size 1: all of them, or those named."""
    axis = renamed_argument("axis", axis, "squeeze_dims", squeeze_dims)
    if np.isscalar(axis):
        axis = [axis]
    return apply("Squeeze", input, squeeze_dims=None if axis is None else [int(a) for a in axis], name=name)
