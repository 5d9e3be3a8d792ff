"""Summaries under the names of tensors, and what a model consists of."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import everflow as tf
from everflow.api import internal, public
from everflow.graph.graph import Graph


def _tag(tensor: Any, name: str | None, prefix: str | None) -> str:
    name = name or tensor.op.name
    return f"{prefix}/{name}" if prefix else name


def _collected(make: Callable[..., Any], tag: str, tensor: Any, print_summary: bool) -> Any:
    """A summary; what is collected of one that also prints is what prints."""
    if not print_summary:
        return make(tag, tensor)
    printing = tf.Print(make(tag, tensor, collections=[]), [tensor], tag)
    tf.add_to_collection(tf.GraphKeys.SUMMARIES, printing)
    return printing


@public("contrib.slim.summaries.add_histogram_summary")
@internal("contrib.slim.python.slim.summaries.add_histogram_summary")
def add_histogram_summary(tensor: Any, name: str | None = None, prefix: str | None = None) -> Any:
    """A histogram of a tensor."""
    return tf.summary.histogram(_tag(tensor, name, prefix), tensor)


@public("contrib.slim.summaries.add_image_summary")
@internal("contrib.slim.python.slim.summaries.add_image_summary")
def add_image_summary(tensor: Any, name: str | None = None, prefix: str | None = None, print_summary: bool = False) -> Any:
    """The images of a tensor."""
    return _collected(tf.summary.image, _tag(tensor, name, prefix), tensor, print_summary)


@public("contrib.slim.summaries.add_scalar_summary")
@internal("contrib.slim.python.slim.summaries.add_scalar_summary")
def add_scalar_summary(tensor: Any, name: str | None = None, prefix: str | None = None, print_summary: bool = False) -> Any:
    """A number."""
    return _collected(tf.summary.scalar, _tag(tensor, name, prefix), tensor, print_summary)


@public("contrib.slim.summaries.add_zero_fraction_summary")
@internal("contrib.slim.python.slim.summaries.add_zero_fraction_summary")
def add_zero_fraction_summary(tensor: Any, name: str | None = None, prefix: str | None = None, print_summary: bool = False) -> Any:
    """Which part of a tensor is zero."""
    tag = _tag(tensor, name, prefix) + "/Fraction_of_Zero_Values"
    return add_scalar_summary(tf.nn.zero_fraction(tensor), tag, print_summary=print_summary)


@public("contrib.slim.summaries.add_histogram_summaries")
@internal("contrib.slim.python.slim.summaries.add_histogram_summaries")
def add_histogram_summaries(tensors: Any, prefix: str | None = None) -> list[Any]:
    """A histogram of each tensor."""
    return [add_histogram_summary(tensor, prefix=prefix) for tensor in tensors]


@public("contrib.slim.summaries.add_image_summaries")
@internal("contrib.slim.python.slim.summaries.add_image_summaries")
def add_image_summaries(tensors: Any, prefix: str | None = None) -> list[Any]:
    """The images of each tensor."""
    return [add_image_summary(tensor, prefix=prefix) for tensor in tensors]


@public("contrib.slim.summaries.add_scalar_summaries")
@internal("contrib.slim.python.slim.summaries.add_scalar_summaries")
def add_scalar_summaries(tensors: Any, prefix: str | None = None, print_summary: bool = False) -> list[Any]:
    """Each number."""
    return [add_scalar_summary(tensor, prefix=prefix, print_summary=print_summary) for tensor in tensors]


@public("contrib.slim.summaries.add_zero_fraction_summaries")
@internal("contrib.slim.python.slim.summaries.add_zero_fraction_summaries")
def add_zero_fraction_summaries(tensors: Any, prefix: str | None = None) -> list[Any]:
    """Which part of each tensor is zero."""
    return [add_zero_fraction_summary(tensor, prefix=prefix) for tensor in tensors]


_ANALYZER = "contrib.slim.python.slim.model_analyzer."


@public("contrib.slim.model_analyzer.tensor_description")
@internal(_ANALYZER + "tensor_description")
def tensor_description(var: Any) -> str:
    """The type and the sizes of a tensor or variable, as in `(float32 1x8x8x1024)`."""
    return f"({var.dtype.name} {'x'.join(str(n) for n in var.get_shape())})"


def _size(tensor: Any) -> int:
    """How many elements a tensor has; 0 where that is not known."""
    return tensor.get_shape().num_elements() or 0


@public("contrib.slim.model_analyzer.analyze_ops")
@internal(_ANALYZER + "analyze_ops")
def analyze_ops(graph: Graph, print_info: bool = False) -> int:
    """How many elements the outputs of all ops of a graph have."""
    if print_info:
        print("---------\nOperations: name -> (type shapes) [size]\n---------")
    total = 0
    for op in graph.get_operations():
        size = sum(map(_size, op.outputs))
        total += size
        if print_info:
            print(op.name, "\t->", ", ".join(tensor_description(o) for o in op.outputs if o.get_shape().ndims is not None), f"[{size}]")
    return total


@public("contrib.slim.model_analyzer.analyze_vars")
@internal(_ANALYZER + "analyze_vars")
def analyze_vars(variables: Any, print_info: bool = False) -> tuple[int, int]:
    """(how many elements, how many bytes) variables have."""
    if print_info:
        print("---------\nVariables: name (type shape) [size]\n---------")
    total = total_bytes = 0
    for variable in variables:
        size = _size(variable)
        in_bytes = size * variable.dtype.size
        total += size
        total_bytes += in_bytes
        if print_info:
            print(variable.name, tensor_description(variable), f"[{size}, bytes: {in_bytes}]")
    if print_info:
        print(f"Total size of variables: {total}")
        print(f"Total bytes of variables: {total_bytes}")
    return total, total_bytes
