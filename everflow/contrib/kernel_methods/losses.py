"""The hinge loss of several classes."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import public
from everflow.graph.keys import GraphKeys


@public("contrib.kernel_methods.sparse_multiclass_hinge_loss")
def sparse_multiclass_hinge_loss(
    labels: Any,
    logits: Any,
    weights: Any = 1.0,
    scope: Any = None,
    loss_collection: Any = GraphKeys.LOSSES,
    reduction: str = "weighted_sum_by_nonzero_weights",
) -> Any:
    """By how much the best other class comes within 1 of the logit of the right one."""
    with tf.name_scope(scope, "sparse_multiclass_hinge_loss", (logits, labels)) as scope:
        rank = logits.get_shape().ndims
        if rank != 2:
            raise ValueError(f"logits should have rank 2 ([batch_size, num_classes]). Given rank is {rank}")
        classes = tf.shape(logits)[1]
        logits = tf.cast(logits, tf.float32)
        if labels.dtype not in (tf.int32, tf.int64):
            raise ValueError(f"Invalid dtype for labels: {labels.dtype}. Acceptable dtypes: int32 and int64")
        rank = labels.get_shape().ndims
        if rank not in (1, 2):
            raise ValueError(f"labels should have rank 1 ([batch_size]) or 2 ([batch_size, 1]). Given rank is {rank}")
        with tf.control_dependencies([tf.assert_less(labels, tf.cast(classes, labels.dtype))]):
            labels = tf.reshape(labels, shape=[-1])
        weights = tf.convert_to_tensor(weights)
        if weights.get_shape().ndims not in (0, 1, 2):
            raise ValueError(f"non-scalar weights should have rank 1 ([batch_size]) or 2 ([batch_size, 1]). Given rank is {rank}")
        if weights.get_shape().ndims > 0:
            weights = tf.reshape(weights, shape=[-1])
            weights.get_shape().assert_is_compatible_with(labels.get_shape())
        places = tf.stack([tf.range(tf.shape(logits)[0]), tf.cast(labels, tf.int32)], axis=1)
        right = tf.expand_dims(tf.gather_nd(logits, places), 1)
        others = tf.one_hot(labels, depth=classes, on_value=0.0, off_value=1.0)
        loss = tf.reduce_max(tf.nn.relu(logits - right + others), axis=1)
        return tf.losses.compute_weighted_loss(loss, weights, scope, loss_collection, reduction=reduction)
