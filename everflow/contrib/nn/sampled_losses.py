"""tf.contrib.nn.rank_sampled_softmax_loss and sampled_sparse_softmax_loss."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import public
from everflow.graph.convert import convert_to_tensor
from everflow.graph.scopes import name_scope
from everflow.ops.nn.sampled_losses import sampled_logits


@public("contrib.nn.rank_sampled_softmax_loss")
def rank_sampled_softmax_loss(
    weights: Any,
    biases: Any,
    labels: Any,
    inputs: Any,
    num_sampled: int,
    num_resampled: int,
    num_classes: int,
    num_true: int,
    sampled_values: Any,
    resampling_temperature: Any,
    remove_accidental_hits: bool,
    partition_strategy: str,
    name: str | None = None,
) -> Any:
    """The sampled softmax loss with those `num_resampled` of `num_sampled` classes that the batch finds likeliest.

    A class counts by the sum of exp(logit / temperature) over the batch.
    """
    if num_sampled > num_classes:
        raise ValueError(f"num_sampled ({num_sampled}) cannot be greater than num_classes ({num_classes})")
    if num_sampled <= num_resampled:
        raise ValueError(f"num_resampled ({num_resampled}) must be less than num_sampled ({num_sampled})")
    if partition_strategy not in ("div", "mod"):
        raise ValueError(f"unsupported partition_strategy ({partition_strategy})")
    with name_scope(name, "rank_sampled_softmax_loss", [labels, inputs]) as scope:
        if not sampled_values:
            sampled_values = tf.nn.log_uniform_candidate_sampler(
                true_classes=labels, num_true=num_true, num_sampled=num_sampled, unique=True, range_max=num_classes
            )
        sampled, true_expected, sampled_expected = (tf.stop_gradient(convert_to_tensor(s)) for s in sampled_values)
        best = _likeliest(weights, biases, inputs, sampled, num_resampled, resampling_temperature, partition_strategy)
        return tf.nn.sampled_softmax_loss(
            weights=weights,
            biases=biases,
            labels=labels,
            inputs=inputs,
            num_sampled=num_resampled,
            num_classes=num_classes,
            num_true=num_true,
            sampled_values=(tf.gather(sampled, best), true_expected, tf.gather(sampled_expected, best)),
            remove_accidental_hits=remove_accidental_hits,
            partition_strategy=partition_strategy,
            name=scope,
        )


def _likeliest(weights: Any, biases: Any, inputs: Any, sampled: Any, count: int, temperature: Any, partition_strategy: str) -> Any:
    """Where among the sampled classes the likeliest are."""
    w = tf.nn.embedding_lookup(weights, sampled, partition_strategy=partition_strategy)
    b = tf.nn.embedding_lookup(biases, sampled, partition_strategy=partition_strategy)
    logits = (tf.matmul(inputs, w, transpose_b=True) + b) / tf.cast(temperature, inputs.dtype)
    _, best = tf.nn.top_k(tf.reduce_logsumexp(logits, axis=0), k=count, sorted=False)
    return tf.stop_gradient(best)


@public("contrib.nn.sampled_sparse_softmax_loss")
def sampled_sparse_softmax_loss(
    weights: Any,
    biases: Any,
    labels: Any,
    inputs: Any,
    num_sampled: int,
    num_classes: int,
    sampled_values: Any = None,
    remove_accidental_hits: bool = True,
    partition_strategy: str = "mod",
    name: str = "sampled_sparse_softmax_loss",
) -> Any:
    """The sampled softmax loss of examples with one class each: `labels` of shape [batch, 1]."""
    logits, _ = sampled_logits(num_true=1, subtract_log_q=True, **locals())
    # The true class comes first.
    first = tf.zeros([tf.shape(labels)[0]], tf.int64)
    return tf.nn.sparse_softmax_cross_entropy_with_logits(labels=first, logits=logits)
