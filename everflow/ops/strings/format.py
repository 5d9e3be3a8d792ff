"""Text that shows tensors: tf.strings.format."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from everflow.api import public
from everflow.graph import dtypes
from everflow.graph.attrs import raw
from everflow.graph.operation import Operation
from everflow.graph.tensor import TensorLike
from everflow.ops.core.node import Node
from everflow.ops.core.registry import apply, op
from everflow.values.shown import element
from everflow.values.tensors import to_numpy
from everflow.values.texts import text_array

_ESCAPES = {ord("\n"): "\\n", ord("\r"): "\\r", ord("\t"): "\\t", ord('"'): '\\"', ord("'"): "\\'", ord("\\"): "\\\\"}


def _quoted(text: bytes) -> str:
    return '"' + "".join(_ESCAPES.get(b) or (chr(b) if 0x20 <= b < 0x7F else f"\\{b:03o}") for b in text) + '"'


def shown(value: Any, dtype: dtypes.DType, summarize: int) -> str:
    """A tensor as nested rows, of which the first and last `summarize` elements are shown; all of them for a negative number."""
    dtype = dtype.base_dtype
    if dtype in (dtypes.resource, dtypes.variant):
        return "?"

    def nested(part: np.ndarray, depth: int) -> str:
        if part.ndim == 0:
            return _quoted(part.item()) if dtype is dtypes.string else element(part[()], dtype)
        size = len(part)
        separator = " " if part.ndim == 1 else "\n" * (part.ndim - 1) + " " * (depth + 1)
        if summarize < 0 or size <= 2 * summarize:
            rows = [nested(np.asarray(part[i]), depth + 1) for i in range(size)]
        else:
            rows = [nested(np.asarray(part[i]), depth + 1) for i in range(summarize)] + ["..."]
            rows += [nested(np.asarray(part[i]), depth + 1) for i in range(size - summarize, size)]
        return f"[{separator.join(rows)}]"

    return nested(np.asarray(to_numpy(value, dtype)), 0)


def _string_format(node: Node) -> Callable[..., Any]:
    parts = node.attr("template").split(node.attr("placeholder"))
    summarize, types = node.attr("summarize"), [v.dtype for v in node.inputs]

    def run(*values: Any) -> Any:
        texts = [shown(value, dtype, summarize) for value, dtype in zip(values, types)]
        whole = "".join(part + text for part, text in zip(parts, texts)) + parts[-1]
        return text_array([raw(whole)], ())

    return run


def _string_format_shape(o: Operation) -> Any:
    count = raw(o.attr("template")).count(raw(o.attr("placeholder")))
    if count != len(o.inputs):
        raise ValueError(f"num placeholders in template and num inputs must match: {count} vs. {len(o.inputs)}")
    return ()


op("StringFormat", kernel=_string_format, shape=_string_format_shape)


@public("strings.format")
def string_format(template: str, inputs: Any, placeholder: str = "{}", summarize: int = 3, name: str | None = None) -> Any:
    """The template with tensors in the places of its placeholders."""
    if isinstance(inputs, TensorLike) or not isinstance(inputs, Sequence):
        inputs = [inputs]
    count = template.count(placeholder)
    if count != len(inputs):
        raise ValueError(f"{count} placeholder(s) in template does not match {len(inputs)} tensor(s) provided as input")
    return apply("StringFormat", inputs, template=template, placeholder=placeholder, summarize=summarize, name=name)
