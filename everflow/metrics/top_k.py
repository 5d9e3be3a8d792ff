"""Metrics of rankings: how many of the right classes are among the k that were thought most likely."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import everflow as tf
from everflow.api import internal, public
from everflow.graph import dtypes
from everflow.graph.scopes import name_scope
from everflow.graph.sparse_tensor import SparseTensor, convert_to_tensor_or_sparse_tensor
from everflow.metrics.streaming import collected, metric_variable, refuse_eager
from everflow.ops.math.reduction_gradients import reduced_shape
from everflow.ops.math.weights_broadcast import assert_broadcastable, broadcast_weights


def _at_k_name(name: str, k: int | None = None, class_id: int | None = None) -> str:
    name = f"{name}_at_k" if k is None else f"{name}_at_{k}"
    return name if class_id is None else f"{name}_class{class_id}"


def _rank(labels: Any) -> Any:
    return tf.size(labels.dense_shape) if isinstance(labels, SparseTensor) else tf.rank(labels)


def _as_matrix(labels: Any, predictions: Any) -> Any:
    """Labels with a last dimension of 1 where there is one label an example instead of several."""
    with name_scope(None, "expand_labels", (labels, predictions)) as scope:
        labels = convert_to_tensor_or_sparse_tensor(labels)
        if isinstance(labels, SparseTensor):

            def longer() -> Any:
                return tf.sparse_reshape(labels, shape=tf.concat((labels.dense_shape, (1,)), 0), name=scope)

            labels_rank = labels.dense_shape.get_shape().as_list()[0]
        else:

            def longer() -> Any:
                return tf.expand_dims(labels, -1, name=scope)

            labels_rank = labels.get_shape().ndims
        predictions_rank = predictions.get_shape().ndims
        if labels_rank is not None and predictions_rank is not None:
            if predictions_rank == labels_rank:
                return labels
            if predictions_rank == labels_rank + 1:
                return longer()
            raise ValueError(f"Unexpected labels shape {labels.get_shape()} for predictions shape {predictions.get_shape()}.")
        return tf.cond(tf.equal(tf.rank(predictions), _rank(labels) + 1), longer, lambda: labels)


def _of_class(ids: Any, class_id: int) -> SparseTensor:
    """The ids that are this one, in the same shape."""
    ids = convert_to_tensor_or_sparse_tensor(ids)
    if isinstance(ids, SparseTensor):
        return tf.sparse_retain(ids, tf.equal(ids.values, class_id))
    shape = tf.shape(ids, out_type=dtypes.int64)
    last = tf.size(shape) - 1
    one_each = reduced_shape(shape, tf.reshape(last, [1]))
    found = tf.sets.intersection(tf.fill(one_each, tf.cast(class_id, dtypes.int64)), ids)
    return SparseTensor(indices=found.indices, values=found.values, dense_shape=shape)


def _counted(
    name: str,
    combine: Callable[[Any, Any], Any],
    labels: Any,
    predictions_idx: Any,
    class_id: int | None,
    weights: Any,
    scope: str | None = None,
) -> Any:
    """For each example the size of what two sets of ids give together."""
    with name_scope(scope, name, (predictions_idx, labels, weights)):
        if class_id is not None:
            labels, predictions_idx = _of_class(labels, class_id), _of_class(predictions_idx, class_id)
        count = tf.cast(tf.sets.size(combine(predictions_idx, labels)), dtypes.float64)
        if weights is not None:
            with tf.control_dependencies((assert_broadcastable(weights, count),)):
                count = tf.multiply(count, tf.cast(weights, dtypes.float64))
        return count


def _true_positives(labels: Any, predictions_idx: Any, class_id: int | None = None, weights: Any = None, name: str | None = None) -> Any:
    return _counted("true_positives", tf.sets.intersection, labels, predictions_idx, class_id, weights, name)


def _false_positives(labels: Any, predictions_idx: Any, class_id: int | None = None, weights: Any = None) -> Any:
    return _counted("false_positives", tf.sets.difference, labels, predictions_idx, class_id, weights)


def _false_negatives(labels: Any, predictions_idx: Any, class_id: int | None = None, weights: Any = None) -> Any:
    return _counted("false_negatives", lambda a, b: tf.sets.difference(a, b, aminusb=False), labels, predictions_idx, class_id, weights)


def _streamed(
    name: str, count: Callable[..., Any], labels: Any, predictions_idx: Any, k: int | None, class_id: int | None, weights: Any
) -> tuple[Any, Any]:
    with name_scope(None, _at_k_name(name, k, class_id), (predictions_idx, labels, weights)) as scope:
        batch = tf.cast(tf.reduce_sum(count(labels, predictions_idx, class_id, weights)), dtypes.float64)
        total = metric_variable([], dtypes.float64, name=scope)
        return total, tf.assign_add(total, batch, name="update")


def _share(
    what: str,
    others: str,
    count_others: Callable[..., Any],
    labels: Any,
    predictions_idx: Any,
    k: int | None,
    class_id: int | None,
    weights: Any,
    metrics_collections: Sequence[str] | str | None,
    updates_collections: Sequence[str] | str | None,
    name: str | None,
) -> tuple[Any, Any]:
    """True positives as a part of them and of others."""
    with name_scope(name, _at_k_name(what, k, class_id), (predictions_idx, labels, weights)) as scope:
        labels = _as_matrix(labels, predictions_idx)
        top = tf.cast(predictions_idx, dtypes.int64)
        right, new_right = _streamed("true_positive", _true_positives, labels, top, k, class_id, weights)
        wrong, new_wrong = _streamed(others, count_others, labels, top, k, class_id, weights)
        value = tf.div(right, tf.add(right, wrong), name=scope)
        update_op = tf.div(new_right, tf.add(new_right, new_wrong), name="update")
        return collected(value, update_op, metrics_collections, updates_collections)


@public("metrics.recall_at_top_k")
def recall_at_top_k(
    labels: Any,
    predictions_idx: Any,
    k: int | None = None,
    class_id: int | None = None,
    weights: Any = None,
    metrics_collections: Sequence[str] | str | None = None,
    updates_collections: Sequence[str] | str | None = None,
    name: str | None = None,
) -> tuple[Any, Any]:
    """Which part of the labels is among the predictions."""
    return _share(
        "recall",
        "false_negative",
        _false_negatives,
        labels,
        predictions_idx,
        k,
        class_id,
        weights,
        metrics_collections,
        updates_collections,
        name,
    )


@public("metrics.recall_at_k")
def recall_at_k(
    labels: Any,
    predictions: Any,
    k: int,
    class_id: int | None = None,
    weights: Any = None,
    metrics_collections: Sequence[str] | str | None = None,
    updates_collections: Sequence[str] | str | None = None,
    name: str | None = None,
) -> tuple[Any, Any]:
    """Which part of the labels is among the k classes with the highest scores."""
    refuse_eager("recall_at_k")
    with name_scope(name, _at_k_name("recall", k, class_id), (predictions, labels, weights)) as scope:
        _, top = tf.nn.top_k(predictions, k)
        return recall_at_top_k(labels, top, k, class_id, weights, metrics_collections, updates_collections, scope)


@public("metrics.precision_at_top_k")
def precision_at_top_k(
    labels: Any,
    predictions_idx: Any,
    k: int | None = None,
    class_id: int | None = None,
    weights: Any = None,
    metrics_collections: Sequence[str] | str | None = None,
    updates_collections: Sequence[str] | str | None = None,
    name: str | None = None,
) -> tuple[Any, Any]:
    """Which part of the predictions is among the labels."""
    refuse_eager("precision_at_top_k")
    return _share(
        "precision",
        "false_positive",
        _false_positives,
        labels,
        predictions_idx,
        k,
        class_id,
        weights,
        metrics_collections,
        updates_collections,
        name,
    )


@public("metrics.precision_at_k")
def precision_at_k(
    labels: Any,
    predictions: Any,
    k: int,
    class_id: int | None = None,
    weights: Any = None,
    metrics_collections: Sequence[str] | str | None = None,
    updates_collections: Sequence[str] | str | None = None,
    name: str | None = None,
) -> tuple[Any, Any]:
    """Which part of the k classes with the highest scores is among the labels."""
    refuse_eager("precision_at_k")
    with name_scope(name, _at_k_name("precision", k, class_id), (predictions, labels, weights)) as scope:
        _, top = tf.nn.top_k(predictions, k)
        return precision_at_top_k(labels, top, k, class_id, weights, metrics_collections, updates_collections, scope)


@public("metrics.sparse_precision_at_k")
def sparse_precision_at_k(
    labels: Any,
    predictions: Any,
    k: int,
    class_id: int | None = None,
    weights: Any = None,
    metrics_collections: Sequence[str] | str | None = None,
    updates_collections: Sequence[str] | str | None = None,
    name: str | None = None,
) -> tuple[Any, Any]:
    """The first name of precision_at_k."""
    return precision_at_k(labels, predictions, k, class_id, weights, metrics_collections, updates_collections, name)


def _repeated(tensor: Any, multiple: int, dim: int, name: str) -> Any:
    """A tensor with a new dimension along which it is repeated."""
    with name_scope(name, "expand_and_tile", (tensor, multiple, dim)) as scope:
        tensor = convert_to_tensor_or_sparse_tensor(tensor)
        if isinstance(tensor, SparseTensor):
            at = tf.reshape(tf.size(tensor.dense_shape, out_type=dtypes.int32) + dim, [1])
            outer, inner = tf.slice(tensor.dense_shape, [0], at), tf.slice(tensor.dense_shape, at, [-1])
            shape = tf.concat((outer, [1], inner), 0, name="expanded_shape")
            longer = tf.sparse_reshape(tensor, shape=shape, name="expand")
            return longer if multiple == 1 else tf.sparse_concat(dim - 1, [longer] * multiple, name=scope)
        longer = tf.expand_dims(tensor, dim - 1, name="expand")
        if multiple == 1:
            return longer
        ones = tf.ones_like(tf.shape(tensor))
        return tf.tile(longer, tf.concat((ones[:dim], (multiple,), ones[dim:]), 0, name="multiples"), name=scope)


@internal("ops.metrics_impl._num_relevant")
def number_relevant(labels: Any, k: int) -> Any:
    """How many of k predictions can be right, for each example: as many as there are labels; negative ones are none."""
    if k < 1:
        raise ValueError(f"Invalid k={k}.")
    with name_scope(None, "num_relevant", (labels,)) as scope:
        labels = convert_to_tensor_or_sparse_tensor(labels)
        if isinstance(labels, SparseTensor):
            return tf.minimum(tf.sets.size(labels), k, name=scope)
        number = tf.reduce_sum(tf.where_v2(tf.greater_equal(labels, 0), tf.ones_like(labels), tf.zeros_like(labels)), axis=-1)
        return tf.minimum(number, k, name=scope)


@internal("ops.metrics_impl._sparse_average_precision_at_top_k")
def _average_precision(labels: Any, predictions_idx: Any) -> Any:
    """For each example the mean of the precisions at the ranks of the predictions that are right."""
    with name_scope(None, "average_precision", (predictions_idx, labels)) as scope:
        predictions_idx = tf.cast(predictions_idx, dtypes.int64, name="predictions_idx")
        shape = predictions_idx.get_shape()
        k = shape.as_list()[-1] if shape.ndims else None
        if k is None:
            wrong = "rank of predictions_idx must be at least 1" if shape.ndims == 0 else "last dimension of predictions_idx must be set"
            raise ValueError(f"The {wrong}.")
        labels = _as_matrix(labels, predictions_idx)
        each = tf.expand_dims(predictions_idx, -1, name="predictions_idx_per_k")
        relevant = _true_positives(_repeated(labels, k, -1, "labels_per_k"), each, name="relevant_per_k")
        right = tf.cumsum(relevant, axis=-1, name="tp_per_k")
        ranks = tf.cumsum(tf.ones_like(relevant), axis=-1, name="retrieved_per_k")
        precisions = tf.div(tf.cast(right, dtypes.float64), tf.cast(ranks, dtypes.float64), name="precision_per_k")
        precisions = tf.multiply(precisions, tf.cast(relevant, dtypes.float64), name="relevant_precision_per_k")
        total = tf.reduce_sum(precisions, axis=(-1,), name="precision_sum")
        return tf.div(total, tf.cast(number_relevant(labels, k), dtypes.float64), name=scope)


@internal("ops.metrics_impl._streaming_sparse_average_precision_at_top_k")
def streaming_average_precision(
    labels: Any,
    predictions_idx: Any,
    weights: Any = None,
    metrics_collections: Sequence[str] | str | None = None,
    updates_collections: Sequence[str] | str | None = None,
    name: str | None = None,
) -> tuple[Any, Any]:
    """The mean of average precisions, of predictions that are the numbers of classes."""
    with name_scope(name, "average_precision_at_top_k", (predictions_idx, labels, weights)) as scope:
        precision = _average_precision(labels, predictions_idx)
        if weights is not None:
            weights = broadcast_weights(tf.cast(weights, dtypes.float64), precision)
            precision = tf.multiply(precision, weights)
        with name_scope(None, "max", (precision,)) as max_scope:
            most = metric_variable([], dtypes.float64, name=max_scope)
            if weights is None:
                batch_most = tf.cast(tf.size(precision, name="batch_max"), dtypes.float64)
            else:
                batch_most = tf.reduce_sum(weights, name="batch_max")
            new_most = tf.assign_add(most, batch_most, name="update")
        with name_scope(None, "total", (precision,)) as total_scope:
            total = metric_variable([], dtypes.float64, name=total_scope)
            new_total = tf.assign_add(total, tf.reduce_sum(precision, name="batch_total"), name="update")
        value = tf.div_no_nan(total, most, name="mean")
        return collected(value, tf.div_no_nan(new_total, new_most, name=scope), metrics_collections, updates_collections)


def _without_unknown(labels: Any, number: Any) -> Any:
    """Labels that are no class become -1, which no prediction is."""

    def replaced(ids: Any) -> Any:
        unknown = tf.greater_equal(tf.reduce_max(ids), number)
        return tf.cond(unknown, lambda: tf.where_v2(tf.greater_equal(ids, number), -1 * tf.ones_like(ids), ids), lambda: ids)

    labels = convert_to_tensor_or_sparse_tensor(labels)
    if isinstance(labels, SparseTensor):
        return SparseTensor(labels.indices, replaced(labels.values), labels.dense_shape)
    return replaced(labels)


@public("metrics.average_precision_at_k")
def average_precision_at_k(
    labels: Any,
    predictions: Any,
    k: int,
    weights: Any = None,
    metrics_collections: Sequence[str] | str | None = None,
    updates_collections: Sequence[str] | str | None = None,
    name: str | None = None,
) -> tuple[Any, Any]:
    """The mean of the precisions at the ranks, up to k, of the classes that are right."""
    refuse_eager("average_precision_at_k")
    if k < 1:
        raise ValueError(f"Invalid k={k}.")
    with name_scope(name, _at_k_name("average_precision", k), (predictions, labels, weights)) as scope:
        _, top = tf.nn.top_k(predictions, k)
        labels = _without_unknown(labels, tf.cast(tf.shape(predictions)[-1], dtypes.int64))
        return streaming_average_precision(labels, top, weights, metrics_collections, updates_collections, scope)


@public("metrics.sparse_average_precision_at_k")
def sparse_average_precision_at_k(
    labels: Any,
    predictions: Any,
    k: int,
    weights: Any = None,
    metrics_collections: Sequence[str] | str | None = None,
    updates_collections: Sequence[str] | str | None = None,
    name: str | None = None,
) -> tuple[Any, Any]:
    """The first name of average_precision_at_k."""
    return average_precision_at_k(labels, predictions, k, weights, metrics_collections, updates_collections, name)
