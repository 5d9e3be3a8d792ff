"""Cross entropies, of probabilities or of logits."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import public
from everflow.graph.convert import convert_to_tensor
from everflow.graph.tensor import Tensor
from everflow.keras.config import epsilon


def _logits_behind(output: Any, kind: str) -> Any:
    """The input of the activation op that made probabilities in a graph: its logits need no logarithm of a rounded number."""
    if isinstance(output, Tensor) and not output.is_eager and output.op.type == kind:
        return output.op.inputs[0]
    return None


def _clipped(output: Any) -> Any:
    low = convert_to_tensor(epsilon(), output.dtype.base_dtype)
    return tf.clip_by_value(output, low, 1.0 - low)


@public("keras.backend.categorical_crossentropy")
def categorical_crossentropy(target: Any, output: Any, from_logits: bool = False, axis: int = -1) -> Any:
    """The cross entropy of two distributions along an axis."""
    if not from_logits:
        logits = _logits_behind(output, "Softmax")
        if logits is None:
            output = output / tf.reduce_sum(output, axis, True)
            return -tf.reduce_sum(target * tf.log(_clipped(output)), axis)
        output = logits
    return tf.nn.softmax_cross_entropy_with_logits_v2(labels=target, logits=output, axis=axis)


@public("keras.backend.sparse_categorical_crossentropy")
def sparse_categorical_crossentropy(target: Any, output: Any, from_logits: bool = False, axis: int = -1) -> Any:
    """The cross entropy where the true distribution is one class, given by its number."""
    if not from_logits:
        logits = _logits_behind(output, "Softmax")
        output = tf.log(_clipped(output)) if logits is None else logits
    rank = output.shape.ndims
    axis %= rank or 1
    if rank is not None and axis != rank - 1:
        output = tf.transpose(output, [*range(axis), *range(axis + 1, rank), axis])
    target = tf.cast(target, "int64")
    shape = tf.shape(output)
    # Labels of a further dimension of one are those without it.
    flat = tf.reshape(target, [-1])
    known = output.shape.as_list() if rank is not None else []
    size = known[-1] if known else None
    found = tf.nn.sparse_softmax_cross_entropy_with_logits(
        labels=flat, logits=tf.reshape(output, [-1, shape[-1] if size is None else size])
    )
    if rank is not None and rank >= 3:
        return tf.reshape(found, shape[:-1])
    return found


@public("keras.backend.binary_crossentropy")
def binary_crossentropy(target: Any, output: Any, from_logits: bool = False) -> Any:
    """The cross entropy of each number on its own."""
    if not from_logits:
        logits = _logits_behind(output, "Sigmoid")
        if logits is None:
            output = _clipped(output)
            return -(target * tf.log(output + epsilon()) + (1 - target) * tf.log(1 - output + epsilon()))
        output = logits
    return tf.nn.sigmoid_cross_entropy_with_logits(labels=target, logits=output)
