"""Parts of tensors: slice, strided_slice and `tensor[...]`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import everflow as tf
from everflow.api import internal, public
from everflow.errors import invalid_argument
from everflow.graph import dtypes, shapes
from everflow.graph.constants import dims_of, known
from everflow.graph.convert import constant
from everflow.graph.operation import Operation
from everflow.graph.scopes import name_scope
from everflow.graph.tensor import Tensor
from everflow.ops.arrays.reshaping import cast, flipped, is_text, shown
from everflow.ops.core import host_sizes, symbolic
from everflow.ops.core.node import Node
from everflow.ops.core.registry import apply, fused_op, op
from everflow.values.sizes import Sizes

Kernel = Callable[..., Any]
MASKS = ("begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask")


class Part(NamedTuple):
    """What a strided slice does with one dimension: a range, or a single index that takes the dimension away."""

    begin: int | None
    end: int | None
    stride: int
    single: bool


class Layout(NamedTuple):
    """A slice spec for a rank: a part for each input dimension, and where the output has them or new axes (None)."""

    parts: list[Part]
    output: list[int | None]


# Stands in an index for a new dimension of size 1.
newaxis = public("newaxis")(None)
internal("ops.array_ops.newaxis")(newaxis)

WHOLE = Part(None, None, 1, False)


def laid_out(begin: Any, end: Any, strides: list[int], masks: list[int], input_rank: int) -> Layout:
    """Applies the masks of a strided slice to bounds that are as long as the strides."""
    begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_mask = masks
    if ellipsis_mask & (ellipsis_mask - 1):
        raise ValueError("Multiple ellipses in slice spec not allowed")
    count = len(strides)
    if not ellipsis_mask:
        ellipsis_mask, count = 1 << count, count + 1
    at = ellipsis_mask.bit_length() - 1
    taken = sum(1 for i in range(count) if i != at and not new_axis_mask >> i & 1)
    parts: list[Part] = []
    output: list[int | None] = []
    for i in range(count):
        bit = 1 << i
        if i == at:
            for _ in range(input_rank - taken):
                output.append(len(parts))
                parts.append(WHOLE)
        elif new_axis_mask & bit:
            output.append(None)
        else:
            if len(parts) == input_rank:
                raise ValueError(f"Index out of range using input dim {len(parts)}; input has only {input_rank} dims")
            if strides[i] == 0:
                raise ValueError(f"strides[{i}] must be non-zero")
            single = bool(shrink_mask & bit)
            if single:
                if strides[i] < 0:
                    raise ValueError("only stride 1 allowed on non-range indexing.")
                parts.append(Part(begin[i], None, strides[i], True))
            else:
                output.append(len(parts))
                parts.append(Part(None if begin_mask & bit else begin[i], None if end_mask & bit else end[i], strides[i], False))
    return Layout(parts, output)


def index_of(layout: Layout) -> tuple[tuple[Any, ...], tuple[int, ...]]:
    """The index expression, in which parts that go backwards stay parts, and the axes of its result to reverse."""
    index: list[Any] = []
    reverse = []
    at = 0
    for source in [*layout.output, len(layout.parts)]:
        if source is None:
            index.append(None)
            at += 1
            continue
        while len(index) - index.count(None) < source:
            index.append(layout.parts[len(index) - index.count(None)].begin)
        if source == len(layout.parts):
            break
        part = layout.parts[source]
        if part.stride < 0:
            reverse.append(at)
        index.append(slice(part.begin, part.end, part.stride) if part.stride > 0 else part)
        at += 1
    return tuple(index), tuple(reverse)


def forward(index: tuple[Any, ...], dims: Any) -> tuple[Any, ...]:
    """The index with its backward parts replaced by forward slices of the same elements."""
    sizes = iter(dims)
    found = []
    for i in index:
        size = None if i is None else next(sizes)
        if isinstance(i, Part):
            numbers = range(*slice(i.begin, i.end, i.stride).indices(size))  # type: ignore[arg-type]
            i = slice(numbers[-1], numbers[0] + 1, -i.stride) if numbers else slice(0, 0)
        found.append(i)
    return tuple(found)


def _check_singles(layout: Layout, dims: Any) -> None:
    for i, (part, size) in enumerate(zip(layout.parts, dims)):
        begin: Any = part.begin
        if part.single and not -size <= begin < size:
            at = begin + size if begin < 0 else begin
            raise invalid_argument(f"slice index {at} of dimension {i} out of bounds.")


def _taken(x: Any, layout: Layout, index: tuple[Any, ...], reverse: tuple[int, ...], text: bool) -> Any:
    """Indexes a tensor with a laid out slice."""
    if reverse:
        index = forward(index, x.shape)
    try:
        found = x[index]
    except IndexError:
        _check_singles(layout, x.shape)
        raise
    if text:
        return np.flip(found, reverse) if reverse else np.asarray(found, object)
    return flipped(found, reverse) if reverse else found


def _masks(node: Node | Operation) -> list[int]:
    return [node.attr(m) for m in MASKS]


def _plan(begin: Any, end: Any, strides: Any, masks: list[int], input_rank: int) -> Any:
    if not all(isinstance(x, list) for x in (begin, end, strides)) or not len(begin) == len(end) == len(strides):
        dims = " ".join(shown(np.shape(x)) + "," for x in (begin, end)) + " and " + shown(np.shape(strides))
        raise invalid_argument(f"Expected begin, end, and strides to be 1D equal size tensors, but got shapes {dims} instead.")
    try:
        layout = laid_out(begin, end, strides, masks, input_rank)
    except ValueError as e:
        raise invalid_argument(str(e)) from None
    return layout, *index_of(layout)


def _strided_slice(node: Node) -> Kernel:
    masks, text = _masks(node), is_text(node)
    begin, end, strides = (node.constant(i) for i in (1, 2, 3))
    dims = node.inputs[0].dims
    if begin is not None and end is not None and strides is not None and dims is not None:
        try:
            layout = laid_out(begin.tolist(), end.tolist(), strides.tolist(), masks, len(dims))
        except ValueError as e:
            return _failing(str(e))
        index, reverse = index_of(layout)
        while index and index[-1] == slice(None, None, 1):
            index = index[:-1]
        if reverse or text:
            return lambda x, begin, end, strides: _taken(x, layout, index, reverse, text)

        def run(x: Any, begin: Any, end: Any, strides: Any) -> Any:
            try:
                return x[index]
            except IndexError:
                _check_singles(layout, x.shape)
                raise

        return run

    def dynamic(x: Any, begin: Any, end: Any, strides: Any) -> Any:
        layout, index, reverse = _plan(begin.tolist(), end.tolist(), strides.tolist(), masks, x.ndim)
        return _taken(x, layout, index, reverse, text)

    return dynamic


def _failing(message: str) -> Kernel:
    def run(*_: Any) -> Any:
        raise invalid_argument(message)

    return run


def _part_size(part: Part, size: int | None, begin_known: bool, end_known: bool) -> int | None:
    whole = part.begin is None and part.end is None and begin_known and end_known
    if whole and size is not None:
        return -(-size // abs(part.stride))
    if not begin_known or not end_known:
        return None
    if size is not None:
        return len(range(*slice(part.begin, part.end, part.stride).indices(size)))
    # With both bounds on the same side the sizes of unknown dimensions can at most shrink, so nothing is certain.
    if part.begin is not None and part.end is not None and (part.begin < 0) == (part.end < 0):
        return 0 if (part.end - part.begin) * part.stride <= 0 else None
    return None


def _sliced_dims(dims: shapes.Dims, begin: Any, end: Any, strides: Any, masks: list[int]) -> Any:
    """The dims of a strided slice; bounds that are not known are None."""
    if dims is None or strides is None:
        return None
    count = len(strides)
    layout = laid_out(begin or [0] * count, end or [0] * count, strides, masks, len(dims))
    if begin is not None:
        for i, (part, size) in enumerate(zip(layout.parts, dims)):
            at: Any = part.begin
            if part.single and size is not None and not -size <= at < size:
                at = at + size if at < 0 else at
                raise ValueError(f"slice index {at} of dimension {i} out of bounds.")
    found: list[int | None] = []
    for source in layout.output:
        if source is None:
            found.append(1)
        else:
            part = layout.parts[source]
            found.append(_part_size(part, dims[source], begin is not None or part.begin is None, end is not None or part.end is None))
    return tuple(found)


def _bounds(tensor: Any) -> list[int] | None:
    value = known(tensor)
    if tensor.dims is not None and len(tensor.dims) != 1:
        raise ValueError(f"Shape must be rank 1 but is rank {len(tensor.dims)}")
    return None if value is None else value.tolist()


def _strided_slice_shape(o: Operation) -> Any:
    begin, end, strides = (_bounds(t) for t in o.inputs[1:4])
    shapes.merge(shapes.merge(o.inputs[1].dims, o.inputs[2].dims), o.inputs[3].dims)
    return _sliced_dims(o.inputs[0].dims, begin, end, strides, _masks(o))


def _mask_attrs(o: Operation) -> dict[str, Any]:
    return {m: o.attr(m) for m in MASKS}


def _strided_slice_gradient(o: Operation, dy: Any) -> Any:
    x, begin, end, strides = o.inputs
    sizes = tf.shape(x, out_type=begin.dtype)
    return apply("StridedSliceGrad", sizes, begin, end, strides, dy, **_mask_attrs(o)), None, None, None


op(
    "StridedSlice",
    kind="part by strides",
    kernel=_strided_slice,
    shape=_strided_slice_shape,
    gradient=_strided_slice_gradient,
    view=True,
    sizes=(1, 2, 3),
    host=host_sizes.part,
    holds=symbolic.holds_element,
)


def _row(node: Node) -> Kernel:
    """What a strided slice takes from i to i + 1, given the tensor and i."""
    general, text = _strided_slice(node.attr("slice")), is_text(node)

    def run(x: Any, index: Any) -> Any:
        at = index.tolist()
        try:
            return np.asarray(x[at], object) if text else x[at]
        except IndexError:
            return general(x, *(Sizes((n,)) for n in (at, at + 1, 1)))

    return run


fused_op("_Row", kernel=_row, view=True, sizes=(1,))


def _placed(into: Any, value: Any, plan: Any) -> None:
    """Writes a value into the part of a tensor that a slice names."""
    layout, index, reverse = plan
    if reverse:
        index = forward(index, into.shape)
        value = flipped(value, reverse)
    try:
        target = into[index]
    except IndexError:
        _check_singles(layout, into.shape)
        raise
    if 0 in target.shape:
        return
    if value.shape != target.shape and value.ndim:
        raise invalid_argument(f"shape of dy was {shown(value.shape)} instead of {shown(target.shape)}")
    if isinstance(into, np.ndarray):
        into[index] = value
    else:
        target.copy_(value)


def _empty_like(dy: Any, dims: Any) -> Any:
    return np.full(dims, b"", object) if isinstance(dy, np.ndarray) else dy.new_zeros(dims)


def _strided_slice_grad(node: Node) -> Kernel:
    masks = _masks(node)

    def run(sizes: Any, begin: Any, end: Any, strides: Any, dy: Any) -> Any:
        found = _empty_like(dy, sizes.tolist())
        _placed(found, dy, _plan(begin.tolist(), end.tolist(), strides.tolist(), masks, found.ndim))
        return found

    sizes, begin, end, strides = (node.constant(i) for i in range(4))
    if sizes is None or begin is None or end is None or strides is None:
        return run
    plan = _plan(begin.tolist(), end.tolist(), strides.tolist(), masks, len(sizes))
    dims = tuple(sizes.tolist())

    def fixed(sizes: Any, begin: Any, end: Any, strides: Any, dy: Any) -> Any:
        found = _empty_like(dy, dims)
        _placed(found, dy, plan)
        return found

    return fixed


def _strided_slice_grad_shape(o: Operation) -> Any:
    shapes.with_rank(o.inputs[0].dims, 1)
    return dims_of(o.inputs[0])


def _strided_slice_grad_gradient(o: Operation, dy: Any) -> Any:
    begin, end, strides = o.inputs[1:4]
    return None, None, None, None, apply("StridedSlice", dy, begin, end, strides, **_mask_attrs(o))


op(
    "StridedSliceGrad",
    kernel=_strided_slice_grad,
    shape=_strided_slice_grad_shape,
    gradient=_strided_slice_grad_gradient,
    sizes=(0, 1, 2, 3),
)


def _slice_assign(node: Node) -> Kernel:
    masks = _masks(node)

    def run(slot: Any, begin: Any, end: Any, strides: Any, value: Any) -> Any:
        with slot.lock:
            target = slot.held()
            _placed(target, value, _plan(begin.tolist(), end.tolist(), strides.tolist(), masks, target.ndim))
        return slot

    return run


def _resource_slice_assign(node: Node) -> Kernel:
    inner = _slice_assign(node)

    def run(*arguments: Any) -> None:
        inner(*arguments)

    return run


op("StridedSliceAssign", kernel=_slice_assign, shape=lambda o: o.inputs[0].dims, writes=True, rearranges=True)
op("ResourceStridedSliceAssign", kernel=_resource_slice_assign, shape=lambda o: [], writes=True, rearranges=True)


def _slice_update(node: Node) -> Kernel:
    masks = _masks(node)

    def run(x: Any, begin: Any, end: Any, strides: Any, value: Any) -> Any:
        found = x.copy() if isinstance(x, np.ndarray) else x.clone()
        _placed(found, value, _plan(begin.tolist(), end.tolist(), strides.tolist(), masks, found.ndim))
        return found

    return run


op("TensorStridedSliceUpdate", kernel=_slice_update, shape=lambda o: o.inputs[0].dims)


def _check_slice(begin: list[int], size: list[int], dims: Any) -> None:
    if len(begin) != len(dims) or len(size) != len(dims):
        raise invalid_argument(
            f"Expected begin and size arguments to be 1-D tensors of size {len(dims)}, but got shapes [{len(begin)}] "
            f"and [{len(size)}] instead."
        )
    for i, (b, s, d) in enumerate(zip(begin, size, dims)):
        if s == -1:
            s = d - b
        if not 0 <= b <= d:
            raise invalid_argument(f"Expected begin[{i}] in [0, {d}], but got {b}")
        if not 0 <= b + s <= d or s < 0:
            raise invalid_argument(f"Expected size[{i}] in [0, {d - b}], but got {s}")


def _slices(begin: list[int], size: list[int]) -> tuple[slice, ...]:
    return tuple(slice(b, None if s == -1 else b + s) for b, s in zip(begin, size))


def _slice(node: Node) -> Kernel:
    begin, size = node.constant(1), node.constant(2)
    if begin is not None and size is not None:
        begin, size = begin.tolist(), size.tolist()
        index = _slices(begin, size)
        dims = node.inputs[0].dims
        if shapes.is_fully_defined(dims) and all(0 <= b and (b <= d if s == -1 else 0 <= s <= d - b) for b, s, d in zip(begin, size, dims)):
            return lambda x, b, s: x[index]

        def fixed(x: Any, b: Any, s: Any) -> Any:
            _check_slice(begin, size, x.shape)
            return x[index]

        return fixed

    def run(x: Any, begin: Any, size: Any) -> Any:
        begin, size = begin.tolist(), size.tolist()
        _check_slice(begin, size, x.shape)
        return x[_slices(begin, size)]

    return run


def _slice_shape(o: Operation) -> Any:
    dims = o.inputs[0].dims
    for t in o.inputs[1:]:
        if t.dims is not None and len(t.dims) != 1:
            raise ValueError(f"Shape must be rank 1 but is rank {len(t.dims)}")
    count = next((t.dims[0] for t in o.inputs[1:] if t.dims is not None and t.dims[0] is not None), None)
    if dims is None:
        if count is None:
            return None
        dims = (None,) * count
    elif count is not None and count != len(dims):
        raise ValueError(f"Shape must be rank {count} but is rank {len(dims)}")
    begin, size = known(o.inputs[1]), known(o.inputs[2])
    if size is None:
        sizes = dims_of(o.inputs[2])
        return (None,) * len(dims) if sizes is None else sizes
    found: list[int | None] = []
    for i, s in enumerate(size.tolist()):
        d = dims[i]
        if s != -1:
            if s < -1:
                raise ValueError(f"Invalid value in tensor used for shape: {s}")
            found.append(int(s))
        elif begin is not None and d is not None:
            if begin[i] > d:
                raise ValueError(f"Negative dimension size caused by subtracting {begin[i]} from {d}")
            found.append(int(d - begin[i]))
        else:
            found.append(None)
    return tuple(found)


def _slice_gradient(o: Operation, dy: Any) -> Any:
    x, begin = o.inputs[0], o.inputs[1]
    column = tf.stack([tf.rank(x), 1])
    size = tf.shape(o.outputs[0])
    before = tf.reshape(begin, column)
    after = tf.reshape(tf.shape(x) - size - begin, column)
    return tf.pad(dy, tf.concat([before, after], 1)), None, None


op("Slice", kernel=_slice, shape=_slice_shape, gradient=_slice_gradient, view=True, sizes=(1, 2), symbolic=symbolic.sized_by(2))


@public("slice")
def slice_(input_: Any, begin: Any, size: Any, name: str | None = None) -> Any:
    """The part of a tensor that starts at `begin` and has this size (-1: the rest)."""
    return apply("Slice", input_, begin, size, name=name)


@public("strided_slice")
def strided_slice(
    input_: Any,
    begin: Any,
    end: Any,
    strides: Any = None,
    begin_mask: int = 0,
    end_mask: int = 0,
    ellipsis_mask: int = 0,
    new_axis_mask: int = 0,
    shrink_axis_mask: int = 0,
    var: Any = None,
    name: str | None = None,
) -> Any:
    """The part of a tensor between `begin` and `end`, in steps; the masks say which bounds not to take literally."""
    if strides is None:
        strides = tf.ones_like(begin)
    masks = dict(zip(MASKS, (begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask)))
    found = apply("StridedSlice", input_, begin, end, strides, name=name, **masks)
    parent_name = name

    def assign(value: Any, name: str | None = None) -> Any:
        """Writes into this part of the variable."""
        if var is None:
            raise ValueError("Sliced assignment is only supported for variables")
        if name is None:
            name = f"{parent_name}_assign"
        return var._strided_slice_assign(begin=begin, end=end, strides=strides, value=value, name=name, **masks)

    found.assign = assign
    return found


_WRONG_INDEX = internal("ops.array_ops._SLICE_TYPE_ERROR")(
    "Only integers, slices (`:`), ellipsis (`...`), tf.newaxis (`None`) and scalar tf.int32/tf.int64 tensors are valid indices"
)


def _check_index(index: Any) -> None:
    if isinstance(index, (int, shapes.Dimension)):
        return
    dtype = getattr(index, "dtype", None)
    wrong = dtype is None or dtypes.as_dtype(dtype).base_dtype not in (dtypes.int32, dtypes.int64)
    if wrong or index.shape and len(index.shape) == 1:
        raise TypeError(f"{_WRONG_INDEX}, got {index!r}")


@internal("ops.array_ops._slice_helper")
def getitem(tensor: Any, slice_spec: Any, var: Any = None) -> Any:
    """`tensor[slice_spec]`: integers, slices, `...`, `tf.newaxis`, scalar tensors, or a boolean mask."""
    if isinstance(slice_spec, bool) or _is_mask(slice_spec):
        return tf.boolean_mask(tensor=tensor, mask=slice_spec)
    if not isinstance(slice_spec, (list, tuple)):
        slice_spec = [slice_spec]
    begin: list[Any] = []
    end: list[Any] = []
    strides: list[Any] = []
    masks: dict[str, Any] = dict.fromkeys(MASKS, 0)
    for i, s in enumerate(slice_spec):
        bit = 1 << i
        if isinstance(s, slice):
            for part, found, mask in ((s.start, begin, "begin_mask"), (s.stop, end, "end_mask")):
                if part is not None:
                    _check_index(part)
                    found.append(part)
                else:
                    found.append(0)
                    masks[mask] |= bit
            if s.step is not None:
                _check_index(s.step)
            strides.append(1 if s.step is None else s.step)
        elif s is Ellipsis:
            begin.append(0)
            end.append(0)
            strides.append(1)
            masks["ellipsis_mask"] |= bit
        elif s is None:
            begin.append(0)
            end.append(0)
            strides.append(1)
            masks["new_axis_mask"] |= bit
        else:
            _check_index(s)
            begin.append(s)
            end.append(s + 1)
            strides.append(1)
            masks["shrink_axis_mask"] |= bit
    with name_scope(None, "strided_slice", [tensor, *begin, *end, *strides]) as scope:
        if begin:
            lower, upper, steps = tf.stack(begin), tf.stack(end), tf.stack(strides)
            if dtypes.int64 in (lower.dtype, upper.dtype, steps.dtype):
                lower, upper, steps = (cast(t, dtypes.int64) for t in (lower, upper, steps))
        else:
            lower = upper = steps = constant([], dtype=dtypes.int32)
        return strided_slice(tensor, lower, upper, steps, var=var, name=scope, **masks)


def _is_mask(spec: Any) -> bool:
    if isinstance(spec, np.ndarray):
        return spec.dtype == bool
    return isinstance(spec, Tensor) and spec.dtype.base_dtype is dtypes.bool
