"""Summaries of tensors, collections and activations by their own names."""

from __future__ import annotations

import functools
import re
from typing import Any

import everflow as tf
from everflow.api import public
from everflow.contrib.layers.publishing import layer
from everflow.graph.keys import GraphKeys


@layer("summarize_tensor")
def summarize_tensor(tensor: Any, tag: str | None = None) -> Any:
    """A number, or a histogram, under the name of the tensor."""
    name = tensor.op.name if tag is None else tag
    if tag is None:
        name = f"{tensor.op.name}_summary"
    return (tf.summary.scalar if tensor.get_shape().ndims == 0 else tf.summary.histogram)(name, tensor)


@layer("summarize_activation")
def summarize_activation(op: Any) -> Any:
    """A histogram of an activation, and which part of it is zero (or at a bound) for activations that have one."""
    if op.op.type in ("Relu", "Softplus", "Relu6"):
        zeros = tf.less(op, tf.cast(0.0, op.dtype))
        tf.summary.scalar(f"{op.op.name}/zeros", tf.reduce_mean(tf.to_float(zeros)))
    if op.op.type == "Relu6":
        tf.summary.scalar(f"{op.op.name}/sixes", tf.reduce_mean(tf.to_float(tf.greater(op, tf.cast(6.0, op.dtype)))))
    return tf.summary.histogram(f"{op.op.name}/activation", op)


@layer("summarize_tensors")
def summarize_tensors(tensors: Any, summarizer: Any = summarize_tensor) -> list[Any]:
    """A summary of each tensor."""
    return [summarizer(tensor) for tensor in tensors]


@layer("summarize_collection")
def summarize_collection(collection: Any, name_filter: str | None = None, summarizer: Any = summarize_tensor) -> list[Any]:
    """A summary of each tensor of a collection whose name matches."""
    tensors = []
    for tensor in tf.get_collection(collection):
        if name_filter is None or re.match(name_filter, tensor.op.name):
            tensors.append(tensor)
    return summarize_tensors(tensors, summarizer)


@layer("summarize_activations")
def summarize_activations(name_filter: str | None = None, summarizer: Any = summarize_activation) -> list[Any]:
    """A summary of each activation of the graph."""
    return summarize_collection(GraphKeys.ACTIVATIONS, name_filter, summarizer)


for _kind, _collection in (("variables", GraphKeys.GLOBAL_VARIABLES), ("weights", GraphKeys.WEIGHTS), ("biases", GraphKeys.BIASES)):
    public(f"contrib.layers.python.layers.summaries.summarize_{_kind}", f"contrib.slim.summarize_{_kind}", owner=__name__)(
        functools.partial(summarize_collection, _collection)
    )
