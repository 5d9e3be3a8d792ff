"""Tensors as text whose elements can be found again: by the indices at which lines begin, or that they leave out."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from everflow.api import internal
from everflow.debug.cli.rich_text import RichLine, RichTextLines
from everflow.debug.dump_files import InconvertibleTensorProto

internal("debug.cli.tensor_format")(sys.modules[__name__])

# Annotations of a line: the indices of its first element, or the first indices that the dots on it stand for.
BEGIN_INDICES_KEY = "i0"
OMITTED_INDICES_KEY = "omitted"

DEFAULT_TENSOR_ELEMENT_HIGHLIGHT_FONT_ATTR = "bold"

_DOTS = "..."
# What numpy writes of an array: brackets, dots for what it leaves out, strings, and numbers (complex ones with spaces inside).
_TOKEN = re.compile(r"""\[|\]|\.\.\.(?=[,\s])|[bu]?'(?:\\.|[^'\\])*'|[bu]?"(?:\\.|[^"\\])*"|[^\s,\[\]][^,\[\]]*""")

# The label of a tensor with its debug op, and a slicing or number of the dump behind it.
_WATCHED = re.compile(r"([^\s`]*?:\d+):([A-Za-z].*)")


class HighlightOptions:
    """Which elements to highlight: `criterion(array)` says so for each. The description tells of it in the first line."""

    def __init__(
        self, criterion: Callable[[Any], Any], description: str | None = None, font_attr: Any = DEFAULT_TENSOR_ELEMENT_HIGHLIGHT_FONT_ATTR
    ) -> None:
        self.criterion, self.description, self.font_attr = criterion, description, font_attr


class _Place(NamedTuple):
    """Where something stands in an array's text: an element, or (`omitted`) dots for all from some indices on."""

    indices: tuple[int, ...]
    line: int
    start: int
    end: int
    omitted: bool


def _places(lines: list[str], shape: Sequence[int], edgeitems: int) -> Iterator[_Place]:
    """All elements in the text of an array, and the dots between them, in order."""
    counts: list[int] = []
    for number, line in enumerate(lines):
        for token in _TOKEN.finditer(line):
            text = token.group().rstrip()
            if text == "[":
                counts.append(0)
            elif text == "]":
                counts.pop()
                if not counts:
                    return
                counts[-1] += 1
            elif counts and (text == _DOTS or len(counts) == len(shape)):
                indices = (*counts, *[0] * (len(shape) - len(counts)))
                yield _Place(indices, number, token.start(), token.start() + len(text), text == _DOTS)
                counts[-1] = shape[len(counts) - 1] - edgeitems if text == _DOTS else counts[-1] + 1


def _label(tensor_label: str) -> RichLine:
    """The name of a tensor; the debug op behind it, as in "a:0:DebugIdentity", looks different."""
    watched = _WATCHED.fullmatch(tensor_label)
    name, debug_op = watched.groups() if watched else (tensor_label, "")
    line = RichLine('Tensor "') + RichLine(name, "bold")
    return (line + ":" + RichLine(debug_op, "yellow") if debug_op else line) + '":'


def format_tensor(
    tensor: Any,
    tensor_label: str | None,
    include_metadata: bool = False,
    auxiliary_message: RichTextLines | None = None,
    include_numeric_summary: bool = False,
    np_printoptions: dict[str, Any] | None = None,
    highlight_options: HighlightOptions | None = None,
) -> RichTextLines:
    """A tensor as text, with a line about it on top. The options of numpy's printing hold from here on."""
    is_array = isinstance(tensor, np.ndarray)
    text = RichTextLines([])
    if tensor_label is not None:
        first = _label(tensor_label) if is_array else RichLine(f'Tensor "{tensor_label}":')
        if is_array and highlight_options is not None:
            first += _summary_of_highlights(tensor, highlight_options)
        text.append_rich_line(first)
    if isinstance(tensor, InconvertibleTensorProto):
        text.extend(RichTextLines(["", *str(tensor).split("\n")] if tensor_label is not None else str(tensor).split("\n")))
        return text
    if not is_array:
        text.extend(RichTextLines(["", repr(tensor)] if tensor_label is not None else [repr(tensor)]))
        return text
    if include_metadata:
        text.extend(RichTextLines([f"  dtype: {tensor.dtype}", f"  shape: {tensor.shape}"]))
    if text.num_lines():
        text.append("")
    if auxiliary_message is not None:
        text.extend(auxiliary_message)
    if include_numeric_summary:
        text.append("Numeric summary:")
        text.extend(numeric_summary(tensor))
        text.append("")
    np.set_printoptions(**np_printoptions or {})
    text.extend(_array_lines(tensor, highlight_options))
    text.annotations["tensor_metadata"] = {"dtype": tensor.dtype, "shape": tensor.shape}
    return text


def _highlighted(tensor: np.ndarray[Any, Any], options: HighlightOptions) -> np.ndarray[Any, Any]:
    return np.broadcast_to(np.asarray(options.criterion(tensor), bool), tensor.shape)


def _summary_of_highlights(tensor: np.ndarray[Any, Any], options: HighlightOptions) -> str:
    count = int(_highlighted(tensor, options).sum())
    which = f"({options.description})" if options.description else ""
    share = 100 * count / tensor.size if tensor.size else 0.0
    return f" Highlighted{which}: {count} of {tensor.size} element(s) ({share:.2f}%)"


def _array_lines(tensor: np.ndarray[Any, Any], options: HighlightOptions | None) -> RichTextLines:
    lines = repr(tensor).split("\n")
    text = RichTextLines(lines)
    marked = _highlighted(tensor, options) if options is not None else None
    for place in _places(lines, tensor.shape, np.get_printoptions()["edgeitems"]):
        # Dots within a row stand beside elements.
        if not place.omitted or lines[place.line].strip(" ,") == _DOTS:
            key = OMITTED_INDICES_KEY if place.omitted else BEGIN_INDICES_KEY
            text.annotations.setdefault(place.line, {key: list(place.indices)})
        if marked is not None and options is not None and not place.omitted and marked[place.indices]:
            text.font_attr_segs.setdefault(place.line, []).append((place.start, place.end, options.font_attr))
    if tensor.ndim and not tensor.size:
        text.annotations[0] = {BEGIN_INDICES_KEY: [0] * tensor.ndim}
    return text


def locate_tensor_element(formatted: RichTextLines, indices: Any) -> tuple[Any, Any, Any, Any]:
    """Whether an element is left out in a tensor's text, the line where it is or would be, and from where to where in it.

    The columns are None if the line does not tell them: it has dots before the element. `indices` may be a list of
    several elements' indices in ascending order; then there are four lists.
    """
    many = bool(len(indices)) and isinstance(indices[0], (list, tuple))
    wanted = [list(one) for one in indices] if many else [list(indices)]
    if "tensor_metadata" not in formatted.annotations:
        raise AttributeError("tensor_metadata is not available in annotations.")
    shape = formatted.annotations["tensor_metadata"]["shape"]
    _check_indices(wanted, shape)
    begins = [
        (line, annotation.get(BEGIN_INDICES_KEY), annotation.get(OMITTED_INDICES_KEY))
        for line, annotation in sorted((k, v) for k, v in formatted.annotations.items() if isinstance(k, int))
        if BEGIN_INDICES_KEY in annotation or OMITTED_INDICES_KEY in annotation
    ]
    found = [_locate(formatted, begins, one, shape) for one in wanted]
    return (*map(list, zip(*found, strict=True)),) if many else found[0]  # type: ignore[return-value]


def _check_indices(wanted: list[list[int]], shape: Sequence[int]) -> None:
    for before, one in zip([None, *wanted], wanted, strict=False):
        if len(one) != len(shape):
            raise ValueError(f"Dimensions mismatch: requested: {len(one)}; actual: {len(shape)}")
        if any(i >= size for i, size in zip(one, shape, strict=True)):
            raise ValueError("Indices exceed tensor dimensions.")
        if any(i < 0 for i in one):
            raise ValueError("Indices contain negative value(s).")
        if before is not None and one < before:
            raise ValueError("Input indices sets are not in ascending order.")


def _locate(
    formatted: RichTextLines, begins: list[tuple[int, list[int] | None, list[int] | None]], wanted: list[int], shape: Sequence[int]
) -> tuple[bool, int, int | None, int | None]:
    if not shape:
        line = next(number for number, text in enumerate(formatted.lines) if text.startswith("array("))
        number = re.compile(r"array\((.*?)(, dtype=\w+)?\)$").match(formatted.lines[line])
        return False, line, *(number.span(1) if number else (None, None))
    line, begin, omitted = next(row for row in reversed(begins) if (row[1] or row[2] or []) <= wanted)
    if begin is None:
        return omitted is not None, line, None, None
    elements = [token for token in _TOKEN.finditer(formatted.lines[line]) if token.group() not in ("[", "]", "array(")]
    if elements[0].group() == _DOTS:
        del elements[0]
    ahead = int(np.ravel_multi_index(wanted, shape)) - int(np.ravel_multi_index(begin, shape))
    dots = next((i for i, token in enumerate(elements) if token.group() == _DOTS), len(elements))
    if ahead >= dots:
        return False, line, None, None
    return False, line, elements[ahead].start(), elements[ahead].start() + len(elements[ahead].group().rstrip())


def numeric_summary(tensor: Any) -> RichTextLines:
    """How many elements are negative, zero, infinite and so on; the least, greatest, mean and deviation of the finite ones."""
    if not isinstance(tensor, np.ndarray) or not tensor.size:
        return RichTextLines(["No numeric summary available due to empty tensor."])
    if tensor.dtype == np.bool_:
        counts = [("False", int((~tensor).sum())), ("True", int(tensor.sum()))]
        return _table_of_counts(counts, tensor.size)
    if tensor.dtype.name == "bfloat16":
        tensor = tensor.astype(np.float32)
    if not np.issubdtype(tensor.dtype, np.number):
        return RichTextLines([f"No numeric summary available due to tensor dtype: {tensor.dtype}."])
    if np.issubdtype(tensor.dtype, np.complexfloating):
        kinds = (("nan", np.isnan), ("inf", np.isinf), ("finite", np.isfinite))
        return _table_of_counts([(name, int(holds(tensor).sum())) for name, holds in kinds], tensor.size)
    counts = [
        ("nan", int(np.isnan(tensor).sum())),
        ("-inf", int(np.isneginf(tensor).sum())),
        ("-", int((np.isfinite(tensor) & (tensor < 0)).sum())),
        ("0", int((tensor == 0).sum())),
        ("+", int((np.isfinite(tensor) & (tensor > 0)).sum())),
        ("+inf", int(np.isposinf(tensor).sum())),
    ]
    text = _table_of_counts(counts, tensor.size)
    finite = tensor[np.isfinite(tensor)]
    if finite.size:
        found = [("min", np.min(finite)), ("max", np.max(finite)), ("mean", np.mean(finite)), ("std", np.std(finite))]
        text.extend(_table([(head, str(value)) for head, value in found]))
    return text


def _table_of_counts(counts: list[tuple[str, int]], total: int) -> RichTextLines:
    return _table([(head, str(count)) for head, count in counts if count], [("total", str(total))])


def _table(*groups: list[tuple[str, str]]) -> RichTextLines:
    """Two rows, heads above values. The columns of a group have one width, and a bar behind them."""

    def row(which: int) -> str:
        widths = [max(len(cell) for column in group for cell in column) for group in groups]
        parts = [" ".join(column[which].rjust(width) for column in group) for group, width in zip(groups, widths, strict=True)]
        return "| " + " | ".join(parts) + " |"

    return RichTextLines([row(0), row(1)])
