"""Losses over many classes that look at only a sample of them, and losses averaged over replicas."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import internal, public
from everflow.graph.dtypes import DTypeLike
from everflow.graph.scopes import name_scope


@internal("ops.nn_impl._sum_rows")
def sum_rows(x: Any) -> Any:
    """The sum of each row, as a product with ones: its gradient is cheaper than that of a reduction."""
    ones = tf.ones(tf.stack([tf.shape(x)[1], 1]), x.dtype)
    return tf.reshape(tf.matmul(x, ones), [-1])


@internal("ops.nn_impl._compute_sampled_logits")
def sampled_logits(
    weights: Any,
    biases: Any,
    labels: Any,
    inputs: Any,
    num_sampled: int,
    num_classes: int,
    num_true: int = 1,
    sampled_values: Any = None,
    subtract_log_q: bool = True,
    remove_accidental_hits: bool = False,
    partition_strategy: str = "mod",
    name: str | None = None,
    seed: int | None = None,
) -> tuple[Any, Any]:
    """(logits, labels) of each example's true classes and of the sampled ones."""
    if type(weights).__name__ == "PartitionedVariable":
        weights = list(weights)
    if not isinstance(weights, list):
        weights = [weights]
    with name_scope(name, "compute_sampled_logits", [*weights, biases, inputs, labels]):
        if labels.dtype != tf.int64:
            labels = tf.cast(labels, tf.int64)
        labels_flat = tf.reshape(labels, [-1])
        if sampled_values is None:
            sampled_values = tf.nn.log_uniform_candidate_sampler(
                true_classes=labels, num_true=num_true, num_sampled=num_sampled, unique=True, range_max=num_classes, seed=seed
            )
        sampled, true_expected, sampled_expected = (tf.stop_gradient(s) for s in sampled_values)
        sampled = tf.cast(sampled, tf.int64)
        all_ids = tf.concat([labels_flat, sampled], 0)
        all_weights = tf.nn.embedding_lookup(weights, all_ids, partition_strategy=partition_strategy)
        true_weights = tf.slice(all_weights, [0, 0], tf.stack([tf.shape(labels_flat)[0], -1]))
        sampled_weights = tf.slice(all_weights, tf.stack([tf.shape(labels_flat)[0], 0]), [-1, -1])
        of_sampled = tf.matmul(inputs, sampled_weights, transpose_b=True)
        all_biases = tf.nn.embedding_lookup(biases, all_ids, partition_strategy=partition_strategy)
        true_biases = tf.slice(all_biases, [0], tf.shape(labels_flat))
        sampled_biases = tf.slice(all_biases, tf.shape(labels_flat), [-1])
        width = tf.shape(true_weights)[1:2]
        shape = tf.concat([[-1, num_true], width], 0)
        products = tf.multiply(tf.expand_dims(inputs, 1), tf.reshape(true_weights, shape))
        products = tf.reshape(products, tf.concat([[-1], width], 0))
        of_true = tf.reshape(sum_rows(products), [-1, num_true])
        of_true += tf.reshape(true_biases, [-1, num_true])
        of_sampled += sampled_biases
        if remove_accidental_hits:
            of_sampled += _accidental_hits(labels, sampled, num_true, num_sampled, of_sampled.dtype)
        if subtract_log_q:
            of_true -= tf.log(true_expected)
            of_sampled -= tf.log(sampled_expected)
        logits = tf.concat([of_true, of_sampled], 1)
        # The true classes share one unit of probability.
        targets = tf.concat([tf.ones_like(of_true) / num_true, tf.zeros_like(of_sampled)], 1)
        return logits, targets


def _accidental_hits(labels: Any, sampled: Any, num_true: int, num_sampled: int, dtype: DTypeLike) -> Any:
    """A matrix that all but rules out sampled classes that are true ones."""
    rows, columns, weights = tf.nn.compute_accidental_hits(labels, sampled, num_true=num_true)
    rows = tf.reshape(rows, [-1, 1])
    columns = tf.reshape(tf.cast(columns, tf.int32), [-1, 1])
    indices = tf.concat([rows, columns], 1, "sparse_indices")
    shape = tf.concat([tf.shape(labels)[:1], tf.expand_dims(num_sampled, 0)], 0)
    if weights.dtype != dtype:
        weights = tf.cast(weights, dtype)
    return tf.sparse_to_dense(indices, shape, weights, default_value=0.0, validate_indices=False)


@public("nn.nce_loss")
def nce_loss(
    weights: Any,
    biases: Any,
    labels: Any,
    inputs: Any,
    num_sampled: int,
    num_classes: int,
    num_true: int = 1,
    sampled_values: Any = None,
    remove_accidental_hits: bool = False,
    partition_strategy: str = "mod",
    name: str | None = "nce_loss",
) -> Any:
    """Noise-contrastive estimation: is a class the true one, or a sample of noise?"""
    logits, targets = sampled_logits(
        weights,
        biases,
        labels,
        inputs,
        num_sampled,
        num_classes,
        num_true,
        sampled_values,
        subtract_log_q=True,
        remove_accidental_hits=remove_accidental_hits,
        partition_strategy=partition_strategy,
        name=name,
    )
    losses = tf.nn.sigmoid_cross_entropy_with_logits(labels=targets, logits=logits, name="sampled_losses")
    return sum_rows(losses)


@internal("ops.nn_impl.nce_loss_v2")
def _nce_loss_of_2(
    weights: Any,
    biases: Any,
    labels: Any,
    inputs: Any,
    num_sampled: int,
    num_classes: int,
    num_true: int = 1,
    sampled_values: Any = None,
    remove_accidental_hits: bool = False,
    name: str | None = "nce_loss",
) -> Any:
    return nce_loss(
        weights, biases, labels, inputs, num_sampled, num_classes, num_true, sampled_values, remove_accidental_hits, "div", name
    )


@public("nn.sampled_softmax_loss")
def sampled_softmax_loss(
    weights: Any,
    biases: Any,
    labels: Any,
    inputs: Any,
    num_sampled: int,
    num_classes: int,
    num_true: int = 1,
    sampled_values: Any = None,
    remove_accidental_hits: bool = True,
    partition_strategy: str = "mod",
    name: str | None = "sampled_softmax_loss",
    seed: int | None = None,
) -> Any:
    """The softmax cross-entropy over the true classes and a sample of the others."""
    logits, targets = sampled_logits(
        weights,
        biases,
        labels,
        inputs,
        num_sampled,
        num_classes,
        num_true,
        sampled_values,
        subtract_log_q=True,
        remove_accidental_hits=remove_accidental_hits,
        partition_strategy=partition_strategy,
        name=name,
        seed=seed,
    )
    targets = tf.stop_gradient(targets, name="labels_stop_gradient")
    return tf.nn.softmax_cross_entropy_with_logits_v2(labels=targets, logits=logits)


@internal("ops.nn_impl.sampled_softmax_loss_v2")
def _sampled_softmax_loss_of_2(
    weights: Any,
    biases: Any,
    labels: Any,
    inputs: Any,
    num_sampled: int,
    num_classes: int,
    num_true: int = 1,
    sampled_values: Any = None,
    remove_accidental_hits: bool = True,
    seed: int | None = None,
    name: str | None = "sampled_softmax_loss",
) -> Any:
    return sampled_softmax_loss(
        weights, biases, labels, inputs, num_sampled, num_classes, num_true, sampled_values, remove_accidental_hits, "div", name, seed
    )
