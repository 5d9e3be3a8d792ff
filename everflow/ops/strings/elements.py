"""Strings element by element: numbers as text, joining, stripping, case, lengths and parts."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

import everflow as tf
from everflow.api import public
from everflow.errors import invalid_argument, out_of_range
from everflow.graph import dtypes, shapes
from everflow.graph.attrs import raw
from everflow.graph.constants import known
from everflow.graph.convert import constant, convert_to_tensor
from everflow.graph.operation import Operation
from everflow.graph.scopes import name_scope
from everflow.lazy import torch
from everflow.ops.core.node import Node
from everflow.ops.core.registry import apply, not_differentiable, op
from everflow.ops.core.shape_rules import ranked, same_as_input
from everflow.platform.deprecation import deprecated_argument_lookup
from everflow.values.texts import characters, mapped, starts, text_array

Kernel = Callable[..., Any]
BLANKS = b" \t\n\v\f\r"


def _as_string(node: Node) -> Kernel:
    dtype = node.inputs[0].dtype.base_dtype
    precision, width, fill = node.attr("precision"), node.attr("width"), node.attr("fill")
    scientific, shortest = node.attr("scientific"), node.attr("shortest")
    is_number = dtype.is_floating or dtype.is_complex
    if not is_number:
        if scientific or shortest:
            raise invalid_argument(f"scientific and shortest format not supported for datatype {dtype.name}")
        if precision >= 0:
            raise invalid_argument(f"precision not supported for datatype {dtype.name}")
    if len(fill) > 1:
        raise invalid_argument("Fill string must be one or fewer characters")
    if fill and fill not in " +-0#":
        raise invalid_argument(f'Fill argument not supported: "{fill}"')
    if scientific and shortest:
        raise invalid_argument("Cannot select both scientific and shortest notation")
    if dtype is dtypes.bool:
        return lambda x: text_array([b"true" if v else b"false" for v in x.reshape(-1).tolist()], x.shape)
    ending = f"{width if width > -1 else ''}{f'.{precision}' if precision > -1 else ''}"
    ending += ("e" if scientific else "g" if shortest else "f") if is_number else "d"
    form, endless = f"%{fill}{ending}", f"%{fill.replace('0', '')}{ending}"

    def shown(value: Any) -> str:
        # C never puts zeros before infinities.
        return (form if math.isfinite(value) else endless) % value

    if dtype.is_complex:

        def text(value: Any) -> str:
            return f"({shown(value.real)},{shown(value.imag)})"
    else:
        text = shown
    return lambda x: text_array([text(v).encode() for v in x.reshape(-1).tolist()], x.shape)


op("AsString", kernel=_as_string, shape=same_as_input, gradient=not_differentiable)


@public("as_string", "dtypes.as_string", "strings.as_string", ragged="elements")
def as_string(
    input: Any,
    precision: int = -1,
    scientific: bool = False,
    shortest: bool = False,
    width: int = -1,
    fill: Any = "",
    name: str | None = None,
) -> Any:
    """Each number as text, as C's printf writes it."""
    return apply("AsString", input, precision=precision, scientific=scientific, shortest=shortest, width=width, fill=fill, name=name)


def _string_join(node: Node) -> Kernel:
    separator = raw(node.attr("separator"))

    def run(*parts: Any) -> Any:
        shape = next((p.shape for p in parts if p.ndim), ())
        for p in parts:
            if p.ndim and p.shape != shape:
                raise invalid_argument(f"Input shapes do not match: {shapes.describe(shape)} vs. {shapes.describe(p.shape)}")
        count = math.prod(shape)
        columns = [p.ravel().tolist() if p.ndim else [p.item()] * count for p in parts]
        return text_array([separator.join(row) for row in zip(*columns)], shape)

    return run


def _string_join_shape(o: Operation) -> Any:
    dims: Any = ()
    for t in o.inputs:
        if t.dims is None:
            dims = None if dims == () else dims
        elif t.dims:
            dims = t.dims if not dims else shapes.merge(dims, t.dims)
    return dims


op("StringJoin", kernel=_string_join, shape=_string_join_shape, gradient=not_differentiable)


@public("string_join", "strings.join", ragged="elements")
def string_join(inputs: Any, separator: Any = "", name: str | None = None) -> Any:
    """The strings of several tensors, joined element by element; scalars are repeated."""
    return apply("StringJoin", inputs, separator=separator, name=name)


def _reduce_join(node: Node) -> Kernel:
    separator, keep = raw(node.attr("separator")), node.attr("keep_dims")

    def run(x: Any, indices: Any) -> Any:
        axes: list[int] = []
        for i in indices.reshape(-1).tolist():
            if not -x.ndim <= i < x.ndim:
                raise out_of_range(f"Invalid reduction dimension {i} for input with {x.ndim} dimension(s)")
            if i % x.ndim in axes:
                raise invalid_argument(f"Duplicate reduction dimension {i}")
            axes.append(i % x.ndim)
        kept = [i for i in range(x.ndim) if i not in axes]
        # The first of the axes is joined first, so that it varies fastest.
        rows = x.transpose(kept + axes[::-1]).reshape(math.prod(x.shape[i] for i in kept), math.prod(x.shape[i] for i in axes))
        shape = [1 if i in axes else n for i, n in enumerate(x.shape) if keep or i not in axes]
        return text_array([separator.join(row) for row in rows.tolist()], shape)

    return run


def _reduce_join_shape(o: Operation) -> Any:
    dims, indices, keep = o.inputs[0].dims, known(o.inputs[1]), o.attr("keep_dims")
    if dims is None:
        return None
    if indices is None:
        return (None,) * len(dims) if keep else None
    for i in indices.reshape(-1).tolist():
        if not -len(dims) <= i < len(dims):
            raise ValueError(f"Invalid reduction dimension {i} for input with {len(dims)} dimensions.")
    axes = {i % len(dims) for i in indices.reshape(-1).tolist()}
    return tuple(1 if i in axes else d for i, d in enumerate(dims) if keep or i not in axes)


op("ReduceJoin", kernel=_reduce_join, shape=_reduce_join_shape, gradient=not_differentiable)


@public("reduce_join", "strings.reduce_join", ragged="math.reduce_join")
def reduce_join(
    inputs: Any,
    axis: Any = None,
    keep_dims: bool | None = None,
    separator: Any = "",
    name: str | None = None,
    reduction_indices: Any = None,
    keepdims: bool | None = None,
) -> Any:
    """Joins the strings along axes, in the order of the axes; along all of them for None."""
    keepdims = deprecated_argument_lookup("keepdims", keepdims, "keep_dims", keep_dims)
    axis = deprecated_argument_lookup("axis", axis, "reduction_indices", reduction_indices)
    with name_scope(None, "ReduceJoin", [inputs, axis]):
        inputs = convert_to_tensor(inputs)
        return apply("ReduceJoin", inputs, _joined_axes(inputs, axis), keep_dims=bool(keepdims), separator=separator, name=name)


def _joined_axes(inputs: Any, axis: Any) -> Any:
    """The axes to join along; all of them from the last to the first for None."""
    if axis is not None:
        return axis
    if inputs.dims is not None:
        return constant(list(range(len(inputs.dims)))[::-1], dtypes.int32)
    return tf.range(tf.rank(inputs) - 1, -1, -1)


def _segment_join(node: Node) -> Kernel:
    separator = raw(node.attr("separator"))

    def run(x: Any, ids: Any, count: Any) -> Any:
        rows, depth = int(count), ids.ndim
        if rows < 0:
            raise invalid_argument("Number of segments must be positive")
        for i, size in enumerate(ids.shape):
            if i >= x.ndim or x.shape[i] != size:
                raise invalid_argument(f"Segment dimension is {size} while input dimension is {x.ndim} in rank {i}")
        rest = x.shape[depth:]
        width = math.prod(rest)
        joined = [b""] * (rows * width)
        elements = x.ravel().tolist()
        for place, row in enumerate(ids.reshape(-1).tolist()):
            if not 0 <= row < rows:
                raise invalid_argument("segment_ids are not allowed to exceed num_segments or to have negative values.")
            for k in range(width):
                # A separator comes after what there is: none after empty texts at the beginning.
                before = joined[row * width + k]
                joined[row * width + k] = (before + separator if before else before) + elements[place * width + k]
        return text_array(joined, (rows, *rest))

    return run


def _segment_join_shape(o: Operation) -> Any:
    x, ids, count = o.inputs[0].dims, o.inputs[1].dims, known(o.inputs[2])
    rows = None if count is None else int(count)
    if ids is None or x is None:
        return None
    if len(ids) > len(x):
        raise ValueError(f"Shape must be at least rank {len(ids)} but is rank {len(x)}")
    for a, b in zip(x, ids):
        if a is not None and b is not None and a != b:
            raise ValueError(f"Dimensions must be equal, but are {a} and {b}")
    return (rows, *x[len(ids) :])


op("UnsortedSegmentJoin", kernel=_segment_join, shape=ranked(_segment_join_shape, None, None, 0))


@public("strings.unsorted_segment_join")
def unsorted_segment_join(inputs: Any, segment_ids: Any, num_segments: Any, separator: Any = "", name: str | None = None) -> Any:
    """Joins the strings that have one segment id, in their order."""
    return apply("UnsortedSegmentJoin", inputs, segment_ids, num_segments, separator=separator, name=name)


op("StringStrip", kernel=lambda node: lambda x: mapped(lambda text: text.strip(BLANKS), x), shape=same_as_input)


@public("string_strip", "strings.strip", ragged="elements")
def string_strip(input: Any, name: str | None = None) -> Any:
    """Each string without the blanks at its ends."""
    return apply("StringStrip", input, name=name)


def _case(of_text: Callable[[str], str], of_bytes: Callable[[bytes], bytes]) -> Callable[[Any], Kernel]:
    def make(node: Node) -> Kernel:
        encoding = node.attr("encoding")
        if encoding not in ("", "utf-8"):
            raise invalid_argument(f"only utf-8 or '' (no encoding) is supported, received {encoding}")
        if encoding == "":
            return lambda x: mapped(of_bytes, x)
        return lambda x: mapped(lambda text: of_text(text.decode("utf-8", "replace")).encode(), x)

    return make


op("StringLower", kernel=_case(str.lower, bytes.lower), shape=same_as_input)
op("StringUpper", kernel=_case(str.upper, bytes.upper), shape=same_as_input)


@public("strings.lower")
def string_lower(input: Any, encoding: Any = "", name: str | None = None) -> Any:
    """Each string in lower case: the letters of ASCII, or all for the encoding "utf-8"."""
    return apply("StringLower", input, encoding=encoding, name=name)


@public("strings.upper")
def string_upper(input: Any, encoding: Any = "", name: str | None = None) -> Any:
    """Each string in upper case: the letters of ASCII, or all for the encoding "utf-8"."""
    return apply("StringUpper", input, encoding=encoding, name=name)


def _string_length(node: Node) -> Kernel:
    measure = len if node.attr("unit") == "BYTE" else characters
    return lambda x: torch.tensor([measure(text) for text in x.ravel().tolist()], dtype=torch.int32).reshape(x.shape)


op("StringLength", kernel=_string_length, shape=same_as_input)


@public("strings.length", ragged="elements")
def string_length(input: Any, name: str | None = None, unit: Any = "BYTE") -> Any:
    """How many bytes, or characters of UTF-8, each string has."""
    return apply("StringLength", input, unit=unit, name=name)


def _part_of_bytes(text: bytes, start: int, length: int, index: int) -> bytes:
    if not -len(text) <= start <= len(text):
        raise invalid_argument(f"pos {start} out of range for string b'{text.decode('utf-8', 'replace')}' at index {index}")
    start = start if start >= 0 else len(text) + start
    return text[start:] if length < 0 else text[start : start + length]


def _part_of_characters(text: bytes, start: int, length: int, index: int) -> bytes:
    places = starts(text)
    count = len(places) - 1
    if not -count <= start <= count:
        raise invalid_argument(f"pos {start} out of range for string at index {index}")
    start = start if start >= 0 else count + start
    return text[places[start] :] if length < 0 else text[places[start] : places[min(count, start + length)]]


def _substr(node: Node) -> Kernel:
    part = _part_of_bytes if node.attr("unit") == "BYTE" else _part_of_characters

    def run(x: Any, start: Any, length: Any) -> Any:
        if start.shape != length.shape:
            raise invalid_argument(
                f"pos and len should have the same shape, got: {shapes.describe(start.shape)} vs. {shapes.describe(length.shape)}"
            )
        try:
            texts, starts, lengths = np.broadcast_arrays(x, start.numpy(), length.numpy())
        except ValueError:
            raise invalid_argument(f"Incompatible shapes: {shapes.describe(x.shape)} vs. {shapes.describe(start.shape)}") from None
        rows = zip(texts.ravel().tolist(), starts.ravel().tolist(), lengths.ravel().tolist())
        return text_array([part(text, s, n, i) for i, (text, s, n) in enumerate(rows)], texts.shape)

    return run


def _substr_shape(o: Operation) -> Any:
    x, start, length = (t.dims for t in o.inputs)
    if start is not None and length is not None:
        if len(start) != len(length):
            raise ValueError(f"pos and len must have the same rank, got: {len(start)} vs. {len(length)}")
        if any(a is not None and b is not None and a != b for a, b in zip(start, length)):
            raise ValueError(f"pos and len shapes must match: {shapes.describe(start)} vs. {shapes.describe(length)}")
    return shapes.broadcast(x, start)


op("Substr", kernel=_substr, shape=_substr_shape)


@public("substr", "strings.substr", ragged="elements")
def substr(input: Any, pos: Any, len: Any, name: str | None = None, unit: Any = "BYTE") -> Any:
    """The part of each string that starts at `pos` (counted from the end where negative) and has at most `len` bytes or
    characters."""
    return apply("Substr", input, pos, len, unit=unit, name=name)
