"""Metrics that only tf.contrib has, against numpy."""

import numpy as np
import pytest

import everflow as tf

metrics = tf.contrib.metrics
RNG = np.random.RandomState(0)
LABELS = RNG.randint(0, 2, 40).astype(bool)
SCORES = np.clip(LABELS * 0.3 + RNG.rand(40) * 0.7, 0, 1).astype(np.float32)
WEIGHTS = RNG.rand(40).astype(np.float32)


def streamed(metric, *batches):
    """The value of a metric after all batches; each is a tuple of arrays."""
    with tf.Graph().as_default(), tf.Session() as sess:
        inputs = [tf.placeholder(tf.as_dtype(array.dtype), [None, *array.shape[1:]]) for array in batches[0]]
        value, update = metric(*inputs)
        sess.run(tf.local_variables_initializer())
        for batch in batches:
            sess.run(update, dict(zip(inputs, batch)))
        return sess.run(value)


def halves(*arrays):
    return [tuple(a[:15] for a in arrays), tuple(a[15:] for a in arrays)]


def test_covariance_and_correlation_of_batches_are_those_of_all():
    x = RNG.randn(40).astype(np.float32)
    y = (2 * x + RNG.randn(40)).astype(np.float32)
    np.testing.assert_allclose(streamed(metrics.streaming_covariance, *halves(x, y)), np.cov(x, y)[0, 1], rtol=1e-5)
    np.testing.assert_allclose(streamed(metrics.streaming_pearson_correlation, *halves(x, y)), np.corrcoef(x, y)[0, 1], rtol=1e-5)
    weighted = streamed(lambda a, b, w: metrics.streaming_covariance(a, b, weights=w), *halves(x, y, WEIGHTS))
    mx, my = np.average(x, weights=WEIGHTS), np.average(y, weights=WEIGHTS)
    np.testing.assert_allclose(weighted, (WEIGHTS * (x - mx) * (y - my)).sum() / (WEIGHTS.sum() - 1), rtol=1e-5)


def test_agreement_beyond_chance():
    a, b = RNG.randint(0, 3, 40), RNG.randint(0, 3, 40)
    table = np.zeros([3, 3])
    np.add.at(table, (a, b), 1 / 40)
    chance = (table.sum(0) * table.sum(1)).sum()
    kappa = streamed(lambda x, y: metrics.cohen_kappa(x, y, 3), *halves(a, b))
    np.testing.assert_allclose(kappa, (np.trace(table) - chance) / (1 - chance), rtol=1e-5)
    with pytest.raises(ValueError, match="`num_classes` must be >= 2"):
        metrics.cohen_kappa(tf.constant([0]), tf.constant([0]), 1)


def test_values_are_concatenated_up_to_a_number():
    x = RNG.rand(40, 3).astype(np.float32)
    np.testing.assert_array_equal(streamed(metrics.streaming_concat, *halves(x)), x)
    np.testing.assert_array_equal(streamed(lambda v: metrics.streaming_concat(v, max_size=20), *halves(x)), x[:20])
    with pytest.raises(ValueError, match=r"not in \[0, 2\)"):
        metrics.streaming_concat(tf.constant(x), axis=2)


def exact_area(labels, scores):
    pairs = np.sign(scores[labels][:, None] - scores[~labels][None])
    return ((pairs + 1) / 2).mean()


def test_exact_areas_under_curves():
    rounded = SCORES.round(1)
    np.testing.assert_allclose(streamed(metrics.streaming_dynamic_auc, *halves(LABELS, rounded)), exact_area(LABELS, rounded), rtol=1e-6)
    found = streamed(metrics.auc_with_confidence_intervals, *halves(LABELS, rounded))
    np.testing.assert_allclose(found.auc, exact_area(LABELS, rounded), rtol=1e-5)
    assert 0 < found.lower < found.auc < found.upper < 1
    assert streamed(metrics.streaming_dynamic_auc, (np.ones(3, bool), SCORES[:3])) == 0.0
    by_histogram = streamed(lambda a, b: metrics.auc_using_histogram(a, b, [0.0, 1.0], nbins=1000), *halves(LABELS, SCORES))
    np.testing.assert_allclose(by_histogram, exact_area(LABELS, SCORES), atol=0.01)


def test_rates_of_wrong_predictions():
    said = SCORES > 0.5
    fpr, fnr = said[~LABELS].mean(), (~said)[LABELS].mean()
    np.testing.assert_allclose(streamed(metrics.streaming_false_positive_rate, *halves(said, LABELS)), fpr, rtol=1e-5)
    np.testing.assert_allclose(streamed(metrics.streaming_false_negative_rate, *halves(said, LABELS)), fnr, rtol=1e-5)
    at = streamed(lambda p, t: metrics.streaming_false_positive_rate_at_thresholds(p, t, [0.0, 0.5]), *halves(SCORES, LABELS))
    np.testing.assert_allclose(at, [(SCORES > 0)[~LABELS].mean(), fpr], rtol=1e-5)
    at = streamed(lambda p, t: metrics.streaming_false_negative_rate_at_thresholds(p, t, [0.5]), *halves(SCORES, LABELS))
    np.testing.assert_allclose(at, [fnr], rtol=1e-5)


def rates(thresholds):
    yes = SCORES[None] > np.asarray(thresholds)[:, None]
    tp = (yes & LABELS).sum(1)
    return tp / np.maximum(yes.sum(1), 1e-7), tp / LABELS.sum()


def test_the_best_over_thresholds():
    precision, recall = rates(np.linspace(0, 1, 200) + np.array([-1e-7] + [0] * 198 + [1e-7]))
    np.testing.assert_allclose(
        streamed(metrics.f1_score, *halves(LABELS, SCORES)), (2 * precision * recall / (precision + recall + 1e-7)).max(), rtol=1e-4
    )
    found = streamed(lambda a, b: metrics.precision_at_recall(a, b, 0.7), *halves(LABELS, SCORES))
    np.testing.assert_allclose(found, precision[np.flatnonzero(recall >= 0.7)[-1]], rtol=1e-4)
    found = streamed(lambda a, b: metrics.recall_at_precision(a, b, 0.7), *halves(LABELS, SCORES))
    np.testing.assert_allclose(found, recall[np.abs(precision - 0.7).argmin()], rtol=1e-4)
    assert streamed(lambda a, b: metrics.recall_at_precision(a, b, 1.0, strict_mode=True), *halves(LABELS, np.zeros_like(SCORES))) == 0.0


def test_counts_at_even_thresholds():
    found = streamed(lambda a, b: metrics.precision_recall_at_equal_thresholds(a, b, num_thresholds=5), *halves(LABELS, SCORES))
    at_least = SCORES[None] >= found.thresholds[:, None]
    np.testing.assert_array_equal(found.tp, (at_least & LABELS).sum(1))
    np.testing.assert_array_equal(found.fp, (at_least & ~LABELS).sum(1))
    points = streamed(lambda a, b: metrics.streaming_curve_points(a, b, num_thresholds=5, curve="PR"), *halves(LABELS, SCORES))
    precision, recall = rates(np.linspace(0, 1, 5))
    np.testing.assert_allclose(points[1:4], np.stack([recall, precision], 1)[1:4], rtol=1e-4)


def test_the_right_class_among_the_best():
    scores, right = RNG.rand(40, 5).astype(np.float32), RNG.randint(0, 5, [40, 1])
    best = np.argsort(-scores)[:, :2]
    there = (best == right).any(1)
    found = streamed(lambda s, c: metrics.streaming_recall_at_k(s, c, 2), *halves(scores, right[:, 0]))
    np.testing.assert_allclose(found, there.mean(), rtol=1e-5)
    np.testing.assert_allclose(streamed(metrics.sparse_recall_at_top_k, *halves(right, best)), there.mean(), rtol=1e-5)
    np.testing.assert_allclose(streamed(metrics.streaming_sparse_precision_at_top_k, *halves(best, right)), there.mean() / 2, rtol=1e-5)
    ranks = ((best == right) / [1.0, 2.0]).sum(1).mean()
    np.testing.assert_allclose(streamed(metrics.streaming_sparse_average_precision_at_top_k, *halves(best, right)), ranks, rtol=1e-5)


def test_counts_at_thresholds_take_plain_numbers():
    value, update = tf.contrib.metrics.streaming_true_positives_at_thresholds((0.0, 1.0, 0.6), (0, 1, 1), thresholds=[0.5, 0.7])
    with tf.Session() as session:
        session.run(tf.local_variables_initializer())
        assert session.run(update).tolist() == [2, 1]
        assert session.run(value).tolist() == [2, 1]
    assert value.op.name == "true_positives"


def test_scores_need_not_lie_between_zero_and_one():
    value, update = tf.contrib.metrics.streaming_false_negatives_at_thresholds([-1.0, 3.0, 7.0], [1, 1, 1], [-2.0, 3.5])
    _, rate = metrics.streaming_false_positive_rate_at_thresholds([-1.0, 3.0, 7.0], [1, 0, 0], [3.5])
    with tf.Session() as session:
        session.run(tf.local_variables_initializer())
        assert session.run(update).tolist() == [0, 2]
        assert session.run(value).tolist() == [0, 2]
        np.testing.assert_allclose(session.run(rate), [0.5], rtol=1e-5)
