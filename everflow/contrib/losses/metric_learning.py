"""tf.contrib.losses.metric_learning: losses of embeddings, where those of one label should lie together."""

from __future__ import annotations

from typing import Any

import numpy as np

import everflow as tf
from everflow.api import public
from everflow.graph.scopes import name_scope

HOME = "contrib.losses.python.metric_learning.metric_loss_ops"
SHORT = "contrib.losses.metric_learning"


@public(f"{HOME}.pairwise_distance")
def pairwise_distance(feature: Any, squared: bool = False) -> Any:
    """The distances of all rows from each other."""
    lengths = tf.reduce_sum(tf.square(feature), axis=[1], keepdims=True)
    squares = lengths + tf.transpose(lengths) - 2.0 * tf.matmul(feature, feature, transpose_b=True)
    squares = tf.maximum(squares, 0.0)
    is_nothing = tf.less_equal(squares, 0.0)
    # The square root of zero has no gradient.
    distances = squares if squared else tf.sqrt(squares + tf.cast(is_nothing, tf.float32) * 1e-16)
    distances *= tf.cast(tf.logical_not(is_nothing), tf.float32)
    return distances * (1.0 - tf.eye(tf.shape(feature)[0]))


@public(f"{HOME}.masked_maximum")
def masked_maximum(data: Any, mask: Any, dim: int = 1) -> Any:
    """The largest of the elements whose mask is 1, or the least of all where there are none."""
    least = tf.reduce_min(data, dim, keepdims=True)
    return tf.reduce_max((data - least) * mask, dim, keepdims=True) + least


@public(f"{HOME}.masked_minimum")
def masked_minimum(data: Any, mask: Any, dim: int = 1) -> Any:
    """The least of the elements whose mask is 1, or the largest of all where there are none."""
    most = tf.reduce_max(data, dim, keepdims=True)
    return tf.reduce_min((data - most) * mask, dim, keepdims=True) + most


@public(f"{HOME}.contrastive_loss", f"{SHORT}.contrastive_loss")
def contrastive_loss(labels: Any, embeddings_anchor: Any, embeddings_positive: Any, margin: float = 1.0) -> Any:
    """Pairs of label 1 should be near, those of label 0 at least `margin` apart."""
    distances = tf.sqrt(tf.reduce_sum(tf.squared_difference(embeddings_anchor, embeddings_positive), 1))
    together = tf.cast(labels, distances.dtype)
    apart = tf.square(tf.maximum(margin - distances, 0.0))
    return tf.reduce_mean(together * tf.square(distances) + (1.0 - together) * apart, name="contrastive_loss")


def _same(labels: Any) -> Any:
    """Which pairs of rows have one label."""
    column = tf.reshape(labels, [-1, 1])
    assert tf.convert_to_tensor(labels).shape.ndims in (None, 1)
    return tf.equal(column, tf.transpose(column))


def _positives(same: Any) -> Any:
    """1 for pairs of one label, but for a row and itself."""
    return tf.cast(same, tf.float32) - tf.eye(tf.shape(same)[0])


@public(f"{HOME}.triplet_semihard_loss", f"{SHORT}.triplet_semihard_loss")
def triplet_semihard_loss(labels: Any, embeddings: Any, margin: float = 1.0) -> Any:
    """For each pair of one label, its distance against that of the nearest stranger beyond it, or of the farthest there is."""
    same = _same(labels)
    distances = pairwise_distance(embeddings, squared=True)
    strangers = tf.logical_not(same)
    # Of an anchor (rows), a positive (columns) and a negative (last axis).
    beyond = tf.logical_and(strangers[:, tf.newaxis, :], distances[:, tf.newaxis, :] > distances[:, :, tf.newaxis])
    outside = masked_minimum(tf.zeros_like(distances)[:, :, tf.newaxis] + distances[:, tf.newaxis, :], tf.cast(beyond, tf.float32), 2)
    inside = masked_maximum(distances, tf.cast(strangers, tf.float32)) + tf.zeros_like(distances)
    negatives = tf.where(tf.reduce_any(beyond, 2), tf.squeeze(outside, [2]), inside)
    positives = _positives(same)
    missing = tf.maximum((margin + distances - negatives) * positives, 0.0)
    return tf.truediv(tf.reduce_sum(missing), tf.reduce_sum(positives), name="triplet_semihard_loss")


def _pairs_loss(labels: Any, anchors: Any, positives: Any, reg_lambda: float, print_losses: bool) -> Any:
    lengths = [tf.reduce_mean(tf.reduce_sum(tf.square(part), 1)) for part in (anchors, positives)]
    l2loss = tf.multiply(0.25 * reg_lambda, lengths[0] + lengths[1], name="l2loss")
    similarity = tf.matmul(anchors, positives, transpose_b=True)
    wanted = labels / tf.reduce_sum(labels, 1, keepdims=True)
    entropy = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(logits=similarity, labels=wanted), name="xentropy")
    if print_losses:
        entropy = tf.Print(entropy, ["cross entropy:", entropy, "l2loss:", l2loss])
    return l2loss + entropy


@public(f"{HOME}.npairs_loss", f"{SHORT}.npairs_loss")
def npairs_loss(
    labels: Any, embeddings_anchor: Any, embeddings_positive: Any, reg_lambda: float = 0.002, print_losses: bool = False
) -> Any:
    """The cross entropy of the similarities of anchors and positives, against which of them have one label."""
    return _pairs_loss(tf.cast(_same(labels), tf.float32), embeddings_anchor, embeddings_positive, reg_lambda, print_losses)


@public(f"{HOME}.npairs_loss_multilabel", f"{SHORT}.npairs_loss_multilabel")
def npairs_loss_multilabel(
    sparse_labels: Any, embeddings_anchor: Any, embeddings_positive: Any, reg_lambda: float = 0.002, print_losses: bool = False
) -> Any:
    """`npairs_loss` for rows with several labels: pairs count by how many they have in common."""
    if not all(isinstance(labels, tf.SparseTensor) for labels in sparse_labels):
        raise TypeError(f"sparse_labels must be a list of SparseTensors, but got {sparse_labels}")
    with name_scope("NpairsLossMultiLabel"):
        common = [[tf.sparse_reduce_sum(tf.sparse_minimum(a, b)) for b in sparse_labels] for a in sparse_labels]
        return _pairs_loss(
            tf.cast(tf.stack([tf.stack(row) for row in common]), tf.float32),
            embeddings_anchor,
            embeddings_positive,
            reg_lambda,
            print_losses,
        )


@public(f"{HOME}.lifted_struct_loss", f"{SHORT}.lifted_struct_loss")
def lifted_struct_loss(labels: Any, embeddings: Any, margin: float = 1.0) -> Any:
    """For each pair of one label, its distance against those of all strangers of both."""
    same = _same(labels)
    distances = pairwise_distance(embeddings)
    strangers = tf.cast(tf.logical_not(same), tf.float32)
    missing = margin - distances
    hardest = masked_maximum(missing, strangers)
    most = tf.maximum(hardest, tf.transpose(hardest))
    # Of both rows of a pair; the largest is taken out of the exponents.
    sums = tf.reduce_sum(tf.exp(missing[:, tf.newaxis, :] - most[:, :, tf.newaxis]) * strangers[:, tf.newaxis, :], 2)
    loss = most + tf.log(sums + tf.transpose(sums)) + distances
    positives = _positives(same)
    total = 0.25 * tf.reduce_sum(tf.square(tf.maximum(loss * positives, 0.0)))
    return tf.truediv(total, tf.reduce_sum(positives) / 2.0, name="liftedstruct_loss")


def _score(margin_type: str) -> Any:
    """How well two clusterings agree, as a function of arrays."""
    try:
        from sklearn import metrics
    except ImportError:
        raise ImportError("Cluster loss depends on sklearn.") from None
    scores = {
        "nmi": metrics.normalized_mutual_info_score,
        "ami": metrics.adjusted_mutual_info_score,
        "ari": metrics.adjusted_rand_score,
        "vmeasure": metrics.v_measure_score,
        "const": lambda labels, found: float(np.array_equal(labels, found)),
    }
    if margin_type not in scores:
        raise ValueError(f"Unrecognized margin_type: {margin_type}")
    return lambda labels, found: np.float32(
        scores[margin_type](labels, found) if margin_type == "nmi" else max(0.0, scores[margin_type](labels, found))
    )


def _assigned(distances: np.ndarray, centers: list[int]) -> np.ndarray:
    """The nearest center of each row, and itself of each center."""
    found = distances[centers].argmin(0)
    found[centers] = np.arange(len(centers))
    return found


def _centers(distances: np.ndarray, labels: np.ndarray, multiplier: float, score: Any, rounds: int) -> np.ndarray:
    """Greedily chosen rows, one for each label, that are near to all others and cluster them badly; then exchanged for better ones."""

    def badness(centers: list[int]) -> Any:
        return np.float32(multiplier) * (1 - score(labels, _assigned(distances, centers)))

    chosen: list[int] = []
    for _ in np.unique(labels):
        candidates = [i for i in range(len(labels)) if i not in chosen]
        values = [badness([*chosen, i]) - distances[[*chosen, i]].min(0).sum() for i in candidates]
        chosen.append(candidates[int(np.argmax(values))])
    for _ in range(rounds):
        clusters = _assigned(distances, chosen)
        for at in range(len(chosen)):
            members = np.flatnonzero(clusters == at)
            values = [badness([*chosen[:at], i, *chosen[at + 1 :]]) - distances[np.ix_(members, [i])].sum() for i in members]
            chosen[at] = int(members[int(np.argmax(values))])
    return np.array(chosen, np.int32)


def _truth(distances: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """For each row the best center among those of its label."""
    centers = np.zeros(len(labels), np.int32)
    for label in np.unique(labels):
        members = np.flatnonzero(labels == label)
        centers[members] = members[distances[np.ix_(members, members)].sum(0).argmin()]
    return centers


@public(f"{HOME}.cluster_loss", f"{SHORT}.cluster_loss")
def cluster_loss(
    labels: Any,
    embeddings: Any,
    margin_multiplier: float,
    enable_pam_finetuning: bool = True,
    margin_type: str = "nmi",
    print_losses: bool = False,
) -> Any:
    """How much better the worst clustering of the embeddings is than that by labels."""
    score, labels = _score(margin_type), tf.squeeze(labels)
    distances = pairwise_distance(embeddings)
    rounds = 5 if enable_pam_finetuning else 0
    chosen = tf.py_func(lambda d, l: _centers(d, l, margin_multiplier, score, rounds), [distances, labels], tf.int32)
    agreement = tf.py_func(lambda d, l, c: score(l, _assigned(d, c.tolist())), [distances, labels, chosen], tf.float32, name=margin_type)
    best = tf.py_func(_truth, [distances, labels], tf.int32)
    found = -tf.reduce_sum(tf.reduce_min(tf.gather(distances, chosen), axis=0))
    truth = -tf.reduce_sum(tf.gather_nd(distances, tf.stack([tf.range(tf.size(best)), best], 1)))
    loss = tf.maximum(found + margin_multiplier * (1.0 - agreement) - truth, 0.0, name="clustering_loss")
    loss.set_shape([])
    if print_losses:
        loss = tf.Print(loss, ["clustering_loss: ", loss, tf.shape(loss)])
    tf.summary.scalar("losses/score_pred", found)
    tf.summary.scalar(f"losses/{margin_type}", agreement)
    tf.summary.scalar("losses/score_gt", truth)
    return loss
