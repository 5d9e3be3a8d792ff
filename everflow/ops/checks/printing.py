"""Showing values while a graph runs: tf.Print, tf.print, and the time."""

from __future__ import annotations

import datetime
import os
import pprint
import sys
import time
from collections.abc import Callable
from typing import Any

import everflow as tf
from everflow import nest
from everflow.api import public
from everflow.errors import invalid_argument
from everflow.graph import dtypes, shapes
from everflow.graph.operation import Operation
from everflow.graph.sparse_tensor import SparseTensor
from everflow.graph.tensor import TensorLike
from everflow.lazy import torch
from everflow.ops.core.node import Node
from everflow.ops.core.registry import apply, not_differentiable, op
from everflow.values.shown import summarize as summarized

# -- Print


def _print(node: Node) -> Callable[..., Any]:
    types = [v.dtype for v in node.inputs[1:]]
    message, limit = node.attr("message"), node.attr("summarize")
    left = node.attr("first_n")

    def run(value: Any, *data: Any) -> Any:
        nonlocal left
        if left:
            left -= left > 0
            print(message + "".join(f"[{summarized(v, t, limit)}]" for v, t in zip(data, types)), file=sys.stderr, flush=True)
        return value

    return run


op(
    "Print",
    kernel=_print,
    shape=lambda o: o.inputs[0].dims,
    view=True,
    gradient=lambda o, dy: [dy] + [None] * (len(o.inputs) - 1),
    folds=False,
)


@public("Print")
def Print(
    input_: Any, data: Any, message: str | None = None, first_n: int | None = None, summarize: int | None = None, name: str | None = None
) -> Any:
    """The input, handed on; when it is computed, the data are written to standard error."""
    return apply("Print", input_, data, message=message, first_n=first_n, summarize=summarize, name=name)


# -- PrintV2

_LEVELS = {"log(info)": "I", "log(warning)": "W", "log(error)": "E"}


def _written(stream: str, text: str, end: str) -> None:
    if stream.startswith("file://"):
        with open(stream.removeprefix("file://"), "a") as f:
            f.write(text + end)
    elif stream in _LEVELS:
        level = _LEVELS[stream]
        if "IWE".index(level) >= int(os.environ.get("TF_CPP_MIN_LOG_LEVEL") or 0):
            now = datetime.datetime.now()
            print(f"{now}: {level} {text}", file=sys.stderr, flush=True)
    else:
        print(text, end=end, file=sys.stdout if stream == "stdout" else sys.stderr, flush=True)


def _print_v2(node: Node) -> Callable[..., Any]:
    stream, end = node.attr("output_stream"), node.attr("end")

    def run(text: Any) -> None:
        if text.ndim:
            raise invalid_argument(f"Input is expected to be scalar, but got {list(text.shape)}")
        _written(stream, text.item().decode("utf-8", "replace"), end)

    return run


def _scalar(operation: Operation) -> list[Any]:
    shapes.with_rank(operation.inputs[0].dims, 0)
    return []


op("PrintV2", kernel=_print_v2, shape=_scalar, folds=False)


class _Placeholder:
    """Stands for a tensor in a structure that is shown."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __repr__(self) -> str:
        return self._text


def _stream_name(stream: Any) -> str:
    names = {
        sys.stdout: "stdout",
        sys.stderr: "stderr",
        tf.logging.INFO: "log(info)",
        tf.logging.info: "log(info)",
        tf.logging.WARN: "log(warning)",
        tf.logging.warning: "log(warning)",
        tf.logging.warn: "log(warning)",
        tf.logging.ERROR: "log(error)",
        tf.logging.error: "log(error)",
    }
    if isinstance(stream, str) and stream.startswith("file://"):
        return stream
    found = names.get(stream) if not isinstance(stream, str) else None
    if found is None:
        raise ValueError(
            f"Unsupported output stream, logging level, or file.{stream}. Supported streams are sys.stdout, sys.stderr, "
            "tf.logging.info, tf.logging.warning, tf.logging.error. File needs to be in the form of 'file://<filepath>'."
        )
    return found


def _is_tensor(value: Any) -> bool:
    return isinstance(value, TensorLike)


def _template(inputs: Any, separator: str, placeholder: str) -> tuple[str, list[Any]]:
    """The text to print, with placeholders for tensors, and these tensors."""
    tensors: list[Any] = []

    def shown(value: Any) -> Any:
        if isinstance(value, SparseTensor):
            tensors.extend([value.indices, value.values, value.dense_shape])
            return f"SparseTensor(indices={placeholder}, values={placeholder}, shape={placeholder})"
        if _is_tensor(value):
            tensors.append(value)
            return _Placeholder(placeholder)
        return value

    texts = []
    for given in inputs:
        if isinstance(given, SparseTensor) or nest.is_nested(given):
            texts.append(pprint.pformat(nest.map_structure(shown, given, expand_composites=False)))
        else:
            texts.append(str(shown(given)))
    return separator.join(texts), tensors


@public("print")
def print_v2(*inputs: Any, **kwargs: Any) -> Any:
    """An operation that writes its inputs when it runs: to standard error, or to `output_stream`.

    `sep` stands between inputs, `end` behind them; of each axis of a tensor the first and last `summarize` elements are shown.
    """
    stream = kwargs.pop("output_stream", sys.stderr)
    name = kwargs.pop("name", None)
    summarize = kwargs.pop("summarize", 3)
    separator = kwargs.pop("sep", " ")
    end = kwargs.pop("end", os.linesep)
    if kwargs:
        raise ValueError(f"Unrecognized keyword arguments for tf.print: {kwargs}")
    stream_name = _stream_name(stream)
    if summarize is None:
        summarize = 3
    if len(inputs) == 1 and _is_tensor(inputs[0]) and inputs[0].dtype == dtypes.string and inputs[0].shape.ndims == 0:
        text = inputs[0]
    else:
        placeholder = "{}"
        template, tensors = _template(inputs, separator, placeholder)
        number = 0
        while template.count(placeholder) != len(tensors):
            # The program's own text has it: take another one.
            placeholder = "{}" + str(number)
            number += 1
            template, tensors = _template(inputs, separator, placeholder)
        text = apply(
            "StringFormat",
            tensors,
            template=template,
            placeholder=placeholder,
            summarize=summarize,
            name=None if name is None else name + "_format",
        )
    return apply("PrintV2", text, output_stream=stream_name, end=end, name=name)


op("Timestamp", kernel=lambda n: lambda: torch.tensor(time.time(), dtype=torch.float64), shape=lambda o: (), gradient=not_differentiable)


@public("timestamp")
def timestamp(name: str | None = None) -> Any:
    """Seconds since 1970, when it is computed."""
    return apply("Timestamp", name=name)
