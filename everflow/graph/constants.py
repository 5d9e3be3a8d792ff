"""What can be said of a tensor's value while the graph is built: constants, and shape vectors that are known in part."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from everflow.api import internal, public
from everflow.graph import shapes
from everflow.graph.operation import Operation
from everflow.graph.shapes import Dims
from everflow.graph.tensor import Tensor

LARGEST = 1 << 16
# How many ops a value is followed through.
DEEPEST = 32
# Nothing about shapes follows from more elements than these.
MOST = 1 << 22
# The ops whose values `constant_value` tells; programs take other values for ones that vary.
_OF_SHAPES = frozenset(("Const", "Shape", "Size", "Rank"))
_TOLD = frozenset(("Range", "Cast", "Concat", "ConcatV2", "Pack", "Fill", "Equal", "NotEqual"))


class _Memory(threading.local):
    """What was found on the way to one answer: values may be used more than once."""

    found: dict[tuple[Operation, int], np.ndarray | None] | None = None
    # Whether ops without a rule are computed: shape inference does so, what TensorFlow decides in Python does not.
    computes = False


_memory = _Memory()


def computing(rule: Callable[..., Any], *args: Any) -> Any:
    """Calls a function for which values follow from any op, as they do for shape inference."""
    before, _memory.computes = _memory.computes, True
    try:
        return rule(*args)
    finally:
        _memory.computes = before


def known(tensor: Any, depth: int = DEEPEST) -> np.ndarray | None:
    """The value of a tensor where it follows from constants and static shapes; None where it does not."""
    if tensor.is_eager:
        return tensor.numpy_value()
    op = tensor.op
    if op.type == "Const":
        value = op.attrs["value"]
        return value if value.size <= MOST else None
    if depth == 0:
        return None
    found = _memory.found
    if found is not None:
        key = op, tensor.value_index
        if key not in found:
            found[key] = _RULES.get(op.type, _by_kernel)(op, tensor.value_index, depth - 1)
        return found[key]
    _memory.found = {}
    try:
        return _RULES.get(op.type, _by_kernel)(op, tensor.value_index, depth - 1)
    finally:
        _memory.found = None


@internal("pywrap_tensorflow.TF_TryEvaluateConstant_wrapper")
def try_evaluate_constant(graph: Any, output: Any) -> np.ndarray | None:
    """The same, as programs ask for it who copied how tf.cond finds that its predicate does not vary."""
    return computing(known, output)


@public("contrib.util.constant_value", "get_static_value")
@internal("framework.tensor_util.constant_value")
def constant_value(tensor: Any, partial: bool = False) -> Any:
    """The constant value of a tensor as a numpy array, or None; what is no tensor is its own value.

    With `partial`, tensors that are stacked are known one by one, and None stands for those that are not.
    """
    if not isinstance(tensor, Tensor):
        handle = getattr(tensor, "_as_graph_element", None)
        if handle is None:
            return tensor
        tensor = handle()
    if tensor is None:
        return None
    if tensor.is_eager:
        return tensor.numpy()
    if partial and tensor.op.type == "Pack" and tensor.op.attr("axis") == 0:
        values = [constant_value(t, partial) for t in tensor.op.inputs]
        return np.array(values) if all(v is not None for v in values) else np.array(values, dtype=object)
    if not _is_told(tensor.op):
        return None
    found = tensor.op.attrs["value"] if tensor.op.type == "Const" else known(tensor)
    if found is not None:
        tensor.graph.prevent_feeding(tensor)
    return found


def _is_told(op: Operation) -> bool:
    if op.type in _OF_SHAPES or op.type == "Placeholder" and _small_value(op) is not None:
        return True
    return op.type in _TOLD and not (op.type == "Pack" and op.attr("axis") != 0) and all(_is_told(t.op) for t in op.inputs)


def dims_of(tensor: Any, depth: int = DEEPEST) -> tuple[int | None, ...] | None:
    """The dims that a shape vector stands for, unknown sizes as None; None where not even the rank is known."""
    if tensor.dims == ():
        value = known(tensor)
        return None if value is None or value != -1 else None
    value = None if _of_static_sizes(tensor) else known(tensor, depth)
    if value is not None:
        return tuple(None if d < 0 else int(d) for d in value.reshape(-1))
    length = tensor.dims[0] if tensor.dims is not None and len(tensor.dims) == 1 else None
    unknown = None if length is None else (None,) * length
    if depth == 0:
        return unknown
    op = tensor.op
    if op.type == "Shape":
        return op.inputs[0].dims
    if op.type == "ShapeN":
        return op.inputs[tensor.value_index].dims
    if op.type in ("Cast", "Identity"):
        return dims_of(op.inputs[0], depth - 1)
    if op.type == "Pack":
        return tuple(_size(t) for t in op.inputs)
    if op.type in ("ConcatV2", "Concat"):
        parts = op.inputs[:-1] if op.type == "ConcatV2" else op.inputs[1:]
        found: tuple[int | None, ...] = ()
        for part in parts:
            piece = dims_of(part, depth - 1)
            if piece is None:
                return unknown
            found += piece
        return found
    if op.type == "StridedSlice":
        piece = dims_of(op.inputs[0], depth - 1)
        bounds = [known(t) for t in op.inputs[1:]]
        if piece is not None and all(b is not None and b.size == 1 for b in bounds):
            start, stop, step = (int(b.reshape(-1)[0]) for b in bounds)  # type: ignore[union-attr]
            masks = [op.attr(m) for m in ("begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask")]
            if not any(masks[2:]):
                return piece[slice(None if masks[0] else start, None if masks[1] else stop, step)]
    if op.type in ("Mul", "Add", "AddV2", "Sub", "FloorDiv", "Maximum", "Minimum"):
        x, y = (dims_of(t, depth - 1) for t in op.inputs)
        if x is not None and y is not None and len(x) == len(y):
            compute = _BINARY[op.type]
            return tuple(None if a is None or b is None else int(compute(a, b)) for a, b in zip(x, y))
    return unknown


def _of_static_sizes(tensor: Any) -> bool:
    """Whether a shape vector is the shape of something, or pieces of such: then it says what is known of these, and nothing is computed."""
    if tensor.is_eager or not _memory.computes:
        return False
    op = tensor.op
    if op.type == "StridedSlice":
        return op.attr("shrink_axis_mask") == 0 and _of_static_sizes(op.inputs[0])
    if op.type in ("Concat", "ConcatV2"):
        return any(_of_static_sizes(t) for t in op.inputs)
    return op.type in ("Shape", "ShapeN")


def _size(tensor: Any) -> int | None:
    value = known(tensor, DEEPEST - 1)
    if value is not None:
        return None if value.reshape(-1)[0] < 0 else int(value.reshape(-1)[0])
    op = tensor.op
    while op.type in ("Cast", "Identity"):
        op = op.inputs[0].op
    if op.type == "StridedSlice" and op.attr("shrink_axis_mask") == 1:
        piece, index = dims_of(op.inputs[0], DEEPEST - 1), known(op.inputs[1])
        if piece is not None and index is not None and index.size == 1 and -len(piece) <= index.reshape(-1)[0] < len(piece):
            return piece[int(index.reshape(-1)[0])]
    return None


@public("contrib.util.constant_value_as_shape")
@internal("framework.tensor_util.constant_value_as_shape")
def constant_value_as_shape(tensor: Tensor) -> shapes.TensorShape:
    """The shape that an integer vector stands for, as far as it is known."""
    if tensor.dims == ():
        value = known(tensor)
        if value is None or value != -1:
            raise ValueError(
                "Received a scalar with unknown value as shape; require a statically known scalar with value '-1' to describe an "
                "unknown shape."
            )
        return shapes.unknown_shape()
    if tensor.dims is not None and len(tensor.dims) != 1:
        raise ValueError(f"Shape {tensor.get_shape()} must have rank 1")
    return shapes.TensorShape.from_dims(dims_of(tensor))


def _inputs(op: Operation, depth: int) -> list[np.ndarray] | None:
    found = []
    for t in op.inputs:
        value = known(t, depth)
        if value is None or value.size > LARGEST:
            return None
        found.append(value)
    return found


def _pure(compute: Callable[..., Any]) -> Callable[..., Any]:
    """A rule from a function (op, *input arrays) -> array."""

    def rule(op: Operation, index: int, depth: int) -> np.ndarray | None:
        found = _inputs(op, depth)
        if found is None:
            return None
        result = np.asarray(compute(op, *found))
        return result if result.size <= LARGEST else None

    return rule


def _dims(tensor: Tensor, depth: int) -> Dims:
    """The sizes of a tensor: its static ones, or those of its value where shape inference may compute it."""
    if _memory.computes and not shapes.is_fully_defined(tensor.dims):
        value = known(tensor, depth)
        return tensor.dims if value is None else value.shape
    return tensor.dims


def _shape(op: Operation, index: int, depth: int) -> np.ndarray | None:
    dims = _dims(op.inputs[index], depth)
    return np.array(dims, op.attr("out_type").as_numpy_dtype) if shapes.is_fully_defined(dims) else None


def _size_rule(op: Operation, index: int, depth: int) -> np.ndarray | None:
    dims = _dims(op.inputs[0], depth)
    return np.array(shapes.num_elements(dims), op.attr("out_type").as_numpy_dtype) if shapes.is_fully_defined(dims) else None


def _rank(op: Operation, index: int, depth: int) -> np.ndarray | None:
    dims = op.inputs[0].dims if op.inputs[0].dims is not None else _dims(op.inputs[0], depth)
    return None if dims is None else np.array(len(dims), np.int32)


def _unpack(op: Operation, index: int, depth: int) -> np.ndarray | None:
    found = _inputs(op, depth)
    return None if found is None else np.asarray(np.take(found[0], index, axis=op.attr("axis")))


def _zeros(op: Operation, index: int, depth: int) -> np.ndarray | None:
    dims = op.inputs[0].dims
    if not shapes.is_fully_defined(dims) or (shapes.num_elements(dims) or 0) > LARGEST or op.outputs[0].dtype.name == "string":
        return None
    maker = np.zeros if op.type == "ZerosLike" else np.ones
    return maker(dims, op.outputs[0].dtype.as_numpy_dtype)  # type: ignore[arg-type]


def _cast(op: Operation, x: np.ndarray) -> np.ndarray:
    with np.errstate(invalid="ignore"):
        return x.astype(op.attr("DstT").as_numpy_dtype)


def _strided_slice(op: Operation, index: int, depth: int) -> np.ndarray | None:
    bounds = [known(t, depth) for t in op.inputs[1:]]
    if any(b is None or b.size != 1 for b in bounds) or op.attr("ellipsis_mask") or op.attr("new_axis_mask"):
        return None
    x = known(op.inputs[0], depth)
    start, stop, step = (int(b.reshape(-1)[0]) for b in bounds)  # type: ignore[union-attr]
    shrink = op.attr("shrink_axis_mask")
    if x is None:
        # One size of a shape vector may be known where the others are not.
        source = op.inputs[0].op
        dims = dims_of(op.inputs[0], depth) if source.type in ("Shape", "Pack", "ConcatV2", "Cast") else None
        if dims is None:
            return None
        if shrink:
            chosen: Any = dims[start] if -len(dims) <= start < len(dims) else None
            return None if chosen is None else np.array(chosen, op.outputs[0].dtype.as_numpy_dtype)
        part = dims[slice(None if op.attr("begin_mask") & 1 else start, None if op.attr("end_mask") & 1 else stop, step)]
        return None if any(d is None for d in part) else np.array(part, op.outputs[0].dtype.as_numpy_dtype)
    if x.ndim == 0 or (shrink and not -x.shape[0] <= start < x.shape[0]):
        return None
    if shrink & 1:
        return np.asarray(x[start])
    return x[slice(None if op.attr("begin_mask") & 1 else start, None if op.attr("end_mask") & 1 else stop, step)]


def _by_kernel(op: Operation, index: int, depth: int) -> np.ndarray | None:
    """Any other op: what its kernel computes of known inputs."""
    if not _memory.computes or not op.inputs or op.op_def_.is_stateful:
        return None
    found = _inputs(op, depth)
    if found is None:
        return None
    from everflow.runtime.building import outputs_of

    outputs = outputs_of(op, found)
    return None if outputs is None else outputs[index]


def _same_type(compute: Callable[..., Any]) -> Callable[..., Any]:
    return _pure(lambda op, *xs: np.asarray(compute(*xs)).astype(xs[0].dtype))


_BINARY: dict[str, Callable[..., Any]] = {
    "Add": np.add,
    "AddV2": np.add,
    "Sub": np.subtract,
    "Mul": np.multiply,
    "Maximum": np.maximum,
    "Minimum": np.minimum,
    "FloorDiv": lambda x, y: np.floor_divide(x, np.where(y == 0, 1, y)),
}


def _integers(compute: Callable[..., Any]) -> Callable[..., Any]:
    """Arithmetic of shapes; that of other types is left to the kernels."""
    inner = _same_type(compute)

    def rule(op: Operation, index: int, depth: int) -> np.ndarray | None:
        return inner(op, index, depth) if op.outputs[0].dtype.is_integer else _by_kernel(op, index, depth)

    return rule


def _reduced(compute: Callable[..., Any]) -> Callable[..., Any]:
    """A reduction of integers; of nothing at all there may be no largest."""

    def rule(op: Operation, index: int, depth: int) -> np.ndarray | None:
        found = _inputs(op, depth)
        if found is None or not found[0].size:
            return None
        if not op.outputs[0].dtype.is_integer:
            return _by_kernel(op, index, depth)
        x, axes = found
        return np.asarray(compute(x, axis=tuple(axes.reshape(-1)), keepdims=op.attr("keep_dims"))).astype(x.dtype)

    return rule


def _small_value(op: Operation) -> np.ndarray | None:
    """What the body of a function captured where ops run at once, and is small."""
    values = getattr(op.graph, "small_values", None)
    found = values.get(op.outputs[0]) if values else None
    return None if found is None else found.numpy_value()


def _captured(op: Operation, index: int, depth: int) -> np.ndarray | None:
    """What a branch or the body of a loop takes from outside is as constant as it is there."""
    graph: Any = op.graph
    value = _small_value(op)
    if value is not None:
        return value
    if not getattr(graph, "rereads_variables", False) or graph.is_uncertain and depth < DEEPEST - 1:
        return None
    outside = graph.outside(op.outputs[0])
    return None if outside is op.outputs[0] or outside.is_eager else known(outside, depth)


_RULES: dict[str, Callable[..., Any]] = {
    "Placeholder": _captured,
    "Shape": _shape,
    "ShapeN": _shape,
    "Size": _size_rule,
    "Rank": _rank,
    "Unpack": _unpack,
    "ZerosLike": _zeros,
    "OnesLike": _zeros,
    "Cast": _pure(_cast),
    "StridedSlice": _strided_slice,
    "Identity": _pure(lambda op, x: x),
    "StopGradient": _pure(lambda op, x: x),
    "Range": _pure(lambda op, start, limit, delta: np.arange(start, limit, delta, dtype=start.dtype) if delta != 0 else None),
    "ConcatV2": _pure(lambda op, *xs: np.concatenate(xs[:-1], axis=int(xs[-1]))),
    "Concat": _pure(lambda op, axis, *xs: np.concatenate(xs, axis=int(axis))),
    "Pack": _pure(lambda op, *xs: np.stack(xs, axis=op.attr("axis"))),
    "Fill": _pure(lambda op, dims, value: np.full(dims, value) if np.prod(dims, dtype=float) <= LARGEST else None),
    "Reshape": _pure(lambda op, x, shape: x.reshape(shape)),
    "ExpandDims": _pure(lambda op, x, axis: np.expand_dims(x, int(axis.reshape(-1)[0]))),
    "Equal": _pure(lambda op, x, y: np.equal(x, y)),
    "NotEqual": _pure(lambda op, x, y: np.not_equal(x, y)),
    "Prod": _pure(lambda op, x, axis: np.prod(x, axis=tuple(axis.reshape(-1)), keepdims=op.attr("keep_dims")).astype(x.dtype)),
    "Max": _reduced(np.max),
    "Min": _reduced(np.min),
    "Sum": _reduced(np.sum),
    **{name: _integers(f) for name, f in _BINARY.items()},
}
