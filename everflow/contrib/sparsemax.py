"""tf.contrib.sparsemax: a softmax whose small probabilities are 0, and its loss."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import public
from everflow.graph.convert import convert_to_tensor


@public("contrib.sparsemax.sparsemax")
def sparsemax(logits: Any, name: str | None = None) -> Any:
    """The projection of each row of logits [batch, classes] onto the simplex (arXiv:1602.02068)."""
    with tf.name_scope(name, "sparsemax", [logits]):
        logits = convert_to_tensor(logits, name="logits")
        shape = tf.shape(logits)
        batch, classes = shape[0], shape[1]
        ordered, _ = tf.nn.top_k(logits, k=classes)
        summed = tf.cumsum(ordered, axis=1)
        count = tf.range(1, tf.cast(classes, logits.dtype) + 1, dtype=logits.dtype)
        support = 1 + count * ordered > summed
        size = tf.reduce_sum(tf.cast(support, tf.int32), axis=1)
        # Rows of infinities or NaN have no support.
        last = tf.maximum(size, 1) - 1
        threshold = (tf.gather_nd(summed, tf.stack([tf.range(batch), last], axis=1)) - 1) / tf.cast(size, logits.dtype)
        found = tf.maximum(tf.cast(0, logits.dtype), logits - threshold[:, tf.newaxis])
        unknown = tf.logical_or(tf.equal(size, 0), tf.is_nan(summed[:, -1]))
        return tf.where(unknown, tf.fill([batch, classes], tf.cast(float("nan"), logits.dtype)), found)


@public("contrib.sparsemax.sparsemax_loss")
def sparsemax_loss(logits: Any, sparsemax: Any, labels: Any, name: str | None = None) -> Any:
    """The loss of each row that has sparsemax as its probabilities."""
    with tf.name_scope(name, "sparsemax_loss", [logits, sparsemax, labels]):
        logits, probabilities, labels = (convert_to_tensor(t) for t in (logits, sparsemax, labels))
        counts = tf.logical_or(probabilities > 0, tf.is_nan(probabilities))
        chosen = tf.where(counts, probabilities * (logits - 0.5 * probabilities), tf.zeros_like(logits))
        # Labels of 0 count for nothing, whatever the logit is.
        target = tf.where(tf.logical_and(tf.equal(labels, 0), tf.is_inf(logits)), tf.zeros_like(logits), labels * (0.5 * labels - logits))
        return tf.reduce_sum(chosen + target, axis=1)
