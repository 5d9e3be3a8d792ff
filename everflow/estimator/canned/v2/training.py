"""What the models of version 2 share: their variables, and the step that trains them."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import internal
from everflow.estimator.heads.objects import BinaryClassHead, MultiClassHead
from everflow.estimator.mode_keys import ModeKeys
from everflow.feature_column.protocol import is_feature_column_v2
from everflow.train.global_step import get_global_step


def check_columns(feature_columns: Any) -> None:
    """Raises for feature columns of version 1."""
    if not is_feature_column_v2(feature_columns):
        raise ValueError(
            "Received a feature column from TensorFlow v1, but this is a TensorFlow v2 Estimator. Please either use v2 feature columns "
            "(accessible via tf.feature_column.* in TF 2.x) with this Estimator, or switch to a v1 Estimator for use with v1 feature "
            "columns (accessible via tf.compat.v1.estimator.* and tf.compat.v1.feature_column.*, respectively."
        )


class Built:
    """The logits that a function builds, with the variables and updates that came with them."""

    def __init__(self, build: Any) -> None:
        trainable, updates = tf.GraphKeys.TRAINABLE_VARIABLES, tf.GraphKeys.UPDATE_OPS
        before = {id(v) for kind in (trainable, updates) for v in tf.get_collection(kind)}
        self.logits = build()
        self.trainable_variables = [v for v in tf.get_collection(trainable) if id(v) not in before]
        self.updates = [op for op in tf.get_collection(updates) if id(op) not in before]


def with_global_step(optimizer: Any, mode: str) -> Any:
    """The optimizer, counting its steps in the global step while it trains."""
    if mode == ModeKeys.TRAIN:
        optimizer.iterations = get_global_step()
    return optimizer


@internal("estimator.head.head_utils.binary_or_multi_class_head")
def classification_head(n_classes: int, weight_column: Any, label_vocabulary: Any, loss_reduction: str) -> Any:
    """The head of a classifier with so many classes."""
    if n_classes == 2:
        return BinaryClassHead(weight_column=weight_column, label_vocabulary=label_vocabulary, loss_reduction=loss_reduction)
    return MultiClassHead(n_classes, weight_column=weight_column, label_vocabulary=label_vocabulary, loss_reduction=loss_reduction)
