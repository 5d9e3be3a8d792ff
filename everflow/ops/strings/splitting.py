"""Strings taken apart at delimiters, and runs of strings put together as n-grams."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np

from everflow.api import internal, public
from everflow.errors import invalid_argument
from everflow.graph import dtypes, shapes
from everflow.graph.attrs import raw
from everflow.graph.convert import convert_to_tensor
from everflow.graph.operation import Operation
from everflow.graph.scopes import name_scope
from everflow.graph.sparse_tensor import SparseTensor
from everflow.lazy import torch
from everflow.ops.core.node import Node
from everflow.ops.core.registry import apply, not_differentiable, op
from everflow.platform.deprecation import deprecated_argument_lookup
from everflow.values.tensors import torch_dtype
from everflow.values.texts import text_array

Kernel = Callable[..., Any]
Split = Callable[[bytes], list[bytes]]


def _sparse(rows: list[list[bytes]]) -> Any:
    """The parts of many strings as indices, values and shape of a sparse matrix."""
    counts = np.array([len(row) for row in rows], np.int64)
    ends = np.cumsum(counts)
    indices = np.empty((int(counts.sum()), 2), np.int64)
    indices[:, 0] = np.repeat(np.arange(len(rows)), counts)
    indices[:, 1] = np.arange(len(indices)) - np.repeat(ends - counts, counts)
    values = text_array([part for row in rows for part in row], (len(indices),))
    shape = [len(rows), int(counts.max()) if len(rows) else 0]
    return torch.from_numpy(indices), values, torch.tensor(shape, dtype=torch.int64)


def _check_ranks(texts: Any, delimiter: Any, name: str) -> None:
    if texts.ndim != 1:
        raise invalid_argument(f"input must be a vector, got shape: {shapes.describe(texts.shape)}")
    if delimiter.ndim:
        raise invalid_argument(f"{name} must be a scalar, got shape: {shapes.describe(delimiter.shape)}")


def _at_any(delimiters: bytes, skip_empty: bool) -> Split:
    """Splits at each of several bytes, or into bytes where there are none."""
    if not delimiters:
        return lambda text: [text[i : i + 1] for i in range(len(text))]
    split: Split = re.compile(b"[" + re.escape(delimiters) + b"]").split
    if len(delimiters) == 1:

        def split(text: bytes) -> list[bytes]:
            return text.split(delimiters)

    # The empty text has no parts, not even an empty one.
    return (lambda text: [part for part in split(text) if part]) if skip_empty else lambda text: split(text) if text else []


def _string_split(node: Node) -> Kernel:
    skip_empty = node.attr("skip_empty")

    def run(texts: Any, delimiter: Any) -> Any:
        _check_ranks(texts, delimiter, "delimiter")
        split = _at_any(delimiter.item(), skip_empty)
        return _sparse([split(text) for text in texts.tolist()])

    return run


def _at_blanks(most: int) -> Split:
    if most < 0:
        return bytes.split
    if most == 0:
        return lambda text: [text]

    def split(text: bytes) -> list[bytes]:
        parts = text.split(None, most)
        # After the last split comes what is left, even if that is nothing.
        return [*parts, b""] if len(parts) == most else parts

    return split


def _string_split_v2(node: Node) -> Kernel:
    most = node.attr("maxsplit")
    at_blanks = _at_blanks(most)

    def run(texts: Any, separator: Any) -> Any:
        _check_ranks(texts, separator, "sep")
        sep = separator.item()
        return _sparse([text.split(sep, most) if sep else at_blanks(text) for text in texts.tolist()])

    return run


def _split_shape(o: Operation) -> Any:
    shapes.with_rank(o.inputs[0].dims, 1)
    shapes.with_rank(o.inputs[1].dims, 0)
    return [(None, 2), (None,), (2,)]


op("StringSplit", kernel=_string_split, shape=_split_shape, gradient=not_differentiable)
op("StringSplitV2", kernel=_string_split_v2, shape=_split_shape)


@internal("ops.string_ops.string_split")
def sparse_split(source: Any, delimiter: Any = " ", skip_empty: bool = True) -> SparseTensor:
    """A sparse matrix with the parts of each string; it is split at any of the delimiter's bytes."""
    delimiter = convert_to_tensor(delimiter, dtypes.string)
    source = convert_to_tensor(source, dtypes.string)
    indices, values, shape = apply("StringSplit", source, delimiter, skip_empty=skip_empty)
    return _shaped(indices, values, shape)


@internal("ops.string_ops.string_split_v2")
def sparse_split_v2(source: Any, sep: Any = None, maxsplit: int = -1) -> SparseTensor:
    """A sparse matrix with the parts of each string, split at the separator as Python's str.split does."""
    sep = convert_to_tensor("" if sep is None else sep, dtypes.string)
    source = convert_to_tensor(source, dtypes.string)
    indices, values, shape = apply("StringSplitV2", source, sep, maxsplit=maxsplit)
    return _shaped(indices, values, shape)


def _shaped(indices: Any, values: Any, shape: Any) -> SparseTensor:
    indices.set_shape([None, 2])
    values.set_shape([None])
    shape.set_shape([2])
    return SparseTensor(indices, values, shape)


@public("string_split")
def string_split(
    source: Any, sep: Any = None, skip_empty: bool = True, delimiter: Any = None, result_type: str = "SparseTensor", name: str | None = None
) -> Any:
    """The parts of the strings of a vector, split at any of the delimiter's bytes (blanks for None)."""
    from everflow.ops.strings.ragged import from_sparse_rows

    with name_scope(name, "StringSplit", [source]):
        found = sparse_split(source, _delimiter(sep, delimiter), skip_empty)
        if result_type == "SparseTensor":
            return found
        if result_type == "RaggedTensor":
            return from_sparse_rows(found)
        raise ValueError("result_type must be 'RaggedTensor' or 'SparseTensor'.")


def _delimiter(sep: Any, delimiter: Any) -> Any:
    found = deprecated_argument_lookup("sep", sep, "delimiter", delimiter)
    return " " if found is None else found


@public("strings.split")
def strings_split(
    input: Any = None, sep: Any = None, maxsplit: int = -1, result_type: str = "SparseTensor", source: Any = None, name: str | None = None
) -> Any:
    """The parts of strings, split at the separator as Python's str.split does; without one, at runs of blanks."""
    from everflow.ops.strings.ragged import as_text, ragged_split

    input = deprecated_argument_lookup("input", input, "source", source)
    with name_scope(name, "StringSplit", [input]):
        input = as_text(input)
        if result_type == "SparseTensor" and input.shape.rank == 1:
            return sparse_split_v2(input, sep, maxsplit)
        found = ragged_split(input, sep, maxsplit)
        if result_type == "SparseTensor":
            return found.to_sparse()
        if result_type == "RaggedTensor":
            return found
        raise ValueError("result_type must be 'RaggedTensor' or 'SparseTensor'.")


def _n_grams(node: Node) -> Kernel:
    separator, left, right = (raw(node.attr(name)) for name in ("separator", "left_pad", "right_pad"))
    widths, most_pad, keep_short = node.attr("ngram_widths"), node.attr("pad_width"), node.attr("preserve_short_sequences")
    dtype = torch_dtype(node.attr("Tsplits"))

    def padding(width: int) -> int:
        return width - 1 if most_pad < 0 else min(most_pad, width - 1)

    def grams(row: list[bytes]) -> list[bytes]:
        found: list[bytes] = []
        for width in widths:
            pad = max(0, padding(width))
            padded = [left] * pad + row + [right] * pad
            found += [separator.join(padded[i : i + width]) for i in range(len(padded) - width + 1)]
        if keep_short and not found and row:
            found.append(separator.join([left] * most_pad + row + [right] * most_pad))
        return found

    def run(data: Any, splits: Any) -> Any:
        texts, ends = data.tolist(), splits.tolist()
        for end in ends:
            if not 0 <= end <= len(texts):
                raise invalid_argument(f"Invalid split value {end}, must be in [0,{len(texts)}]")
        rows = [grams(texts[start:end]) for start, end in zip(ends, ends[1:])]
        places = [0]
        for row in rows:
            places.append(places[-1] + len(row))
        return text_array([gram for row in rows for gram in row], (places[-1],)), torch.tensor(places if ends else [], dtype=dtype)

    return run


op("StringNGrams", kernel=_n_grams, shape=lambda o: [(None,), o.inputs[1].dims])
