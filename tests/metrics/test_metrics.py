"""Metrics over several batches: values by hand, variables, updates and collections."""

import numpy as np
import pytest

import everflow as tf
from everflow import internals
from running import run


def streamed(build, *batches):
    """(the value after all batches, what each update gave); `build` takes placeholders for the parts of a batch."""
    with tf.Graph().as_default(), tf.Session() as session:
        fed = [tf.placeholder(tf.as_dtype(np.asarray(part).dtype), np.asarray(part).shape) for part in batches[0]]
        value, update = build(*fed)
        session.run(tf.local_variables_initializer())
        updates = [session.run(update, dict(zip(fed, batch))) for batch in batches]
        return session.run(value), updates


LABELS = np.array([True, False, True, True])
SURE = np.array([0.9, 0.6, 0.4, 0.8], np.float32)
LATER = (np.array([False, False, True, False]), np.array([0.1, 0.7, 0.3, 0.2], np.float32))


def test_means_run_over_batches():
    value, updates = streamed(tf.metrics.mean, (np.float32([1, 2, 3]),), (np.float32([10, 10, 10]),))
    assert updates[0] == 2 and value == updates[1] == 6
    weighted, _ = streamed(tf.metrics.mean, (np.float32([[1, 2], [3, 4]]), np.float32([[1], [0]])))
    assert weighted == 1.5
    each, _ = streamed(tf.metrics.mean_tensor, (np.float32([1, 2]),), (np.float32([3, 6]),))
    assert each.tolist() == [2, 4]


@pytest.mark.parametrize(
    ("metric", "want"),
    [
        (tf.metrics.mean_absolute_error, 1.5),
        (tf.metrics.mean_squared_error, 2.5),
        (tf.metrics.root_mean_squared_error, np.sqrt(2.5)),
        (lambda a, b: tf.metrics.mean_relative_error(a, b, a), (1 / 1 + 2 / 4) / 2),
        (lambda a, b: tf.metrics.percentage_below(b, 3.0), 0.5),
        (lambda a, b: tf.metrics.mean_cosine_distance(a, b, 0), 1 - (2 + 24)),
    ],
)
def test_errors(metric, want):
    found, _ = streamed(metric, (np.float32([1, 4]), np.float32([2, 6])))
    assert np.isclose(found, want)


def test_accuracy_squeezes_and_weighs():
    found, _ = streamed(tf.metrics.accuracy, (np.int64([1, 2, 3]), np.int64([[1], [0], [3]]), np.float32([1, 2, 1])))
    assert found == 0.5


def test_counts_precision_and_recall():
    def said(metric):
        return streamed(lambda labels, sure: metric(labels, sure > 0.5), (LABELS, SURE), LATER)[0]

    assert [
        said(m) for m in (tf.metrics.true_positives, tf.metrics.false_positives, tf.metrics.true_negatives, tf.metrics.false_negatives)
    ] == [2, 2, 2, 2]
    assert said(tf.metrics.precision) == said(tf.metrics.recall) == 0.5
    nothing, _ = streamed(tf.metrics.precision, (np.zeros(2, bool), np.zeros(2, bool)))
    assert nothing == 0


def test_thresholds():
    def at(metric):
        return streamed(lambda labels, sure: metric(labels, sure, [0.35, 0.65]), (LABELS, SURE))[0]

    assert at(tf.metrics.true_positives_at_thresholds).tolist() == [3, 2]
    assert at(tf.metrics.false_positives_at_thresholds).tolist() == [1, 0]
    assert np.allclose(at(tf.metrics.precision_at_thresholds), [0.75, 1])
    assert np.allclose(at(tf.metrics.recall_at_thresholds), [1, 2 / 3])
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"predictions must be in \[0, 1\]"):
        streamed(lambda labels, sure: tf.metrics.recall_at_thresholds(labels, sure, [0.5]), (LABELS, 2 * SURE.astype(np.float64)))


def test_area_under_curves():
    # Of the three pairs (yes, no) two are in the right order.
    found, _ = streamed(tf.metrics.auc, (LABELS, SURE))
    assert np.isclose(found, 2 / 3, atol=1e-3)
    careful, _ = streamed(lambda a, b: tf.metrics.auc(a, b, curve="PR", summation_method="careful_interpolation"), (LABELS, SURE))
    assert 0.8 < careful < 1
    with pytest.raises(ValueError, match="curve must be either ROC or PR, x unknown"):
        tf.metrics.auc(tf.constant(LABELS), tf.constant(SURE), curve="x")


def test_rates_at_rates():
    assert np.isclose(streamed(lambda a, b: tf.metrics.sensitivity_at_specificity(a, b, 0.9), (LABELS, SURE))[0], 2 / 3)
    assert np.isclose(streamed(lambda a, b: tf.metrics.specificity_at_sensitivity(a, b, 0.6), (LABELS, SURE))[0], 1)


def test_classes():
    batch = (np.int64([0, 0, 1, 1]), np.int64([0, 1, 1, 1]))
    assert np.isclose(streamed(lambda a, b: tf.metrics.mean_iou(a, b, 3), batch)[0], (1 / 2 + 2 / 3) / 2)
    assert np.isclose(streamed(lambda a, b: tf.metrics.mean_per_class_accuracy(a, b, 2), batch)[0], 0.75)


SCORES = np.float32([[0.1, 0.5, 0.4, 0.2], [0.9, 0.1, 0.3, 0.2]])
RIGHT = np.int64([[2, 3], [1, 2]])


@pytest.mark.parametrize(
    ("metric", "want"),
    [
        (lambda a, b: tf.metrics.precision_at_k(a, b, 2), 2 / 4),
        (lambda a, b: tf.metrics.recall_at_k(a, b, 3), 3 / 4),
        (lambda a, b: tf.metrics.precision_at_k(a, b, 2, class_id=2), 1),
        (lambda a, b: tf.metrics.recall_at_k(a, b, 2, weights=[1.0, 0.0]), 1 / 2),
        (lambda a, b: tf.metrics.average_precision_at_k(a, b, 3), ((1 / 2 + 2 / 3) / 2 + (1 / 2) / 2) / 2),
    ],
)
def test_rankings(metric, want):
    assert np.isclose(streamed(metric, (RIGHT, SCORES))[0], want)


def test_variables_are_local_and_results_collected():
    with tf.Graph().as_default():
        value, update = tf.metrics.mean([1.0], metrics_collections="values", updates_collections=["updates"], name="loss")
        assert (
            [v.name for v in tf.local_variables()]
            == ["loss/total:0", "loss/count:0"]
            == [v.name for v in tf.get_collection(tf.GraphKeys.METRIC_VARIABLES)]
        )
        assert not tf.trainable_variables() and not tf.global_variables()
        assert tf.get_collection("updates") == [update]
        assert value.name == "loss/value:0" and update.name == "loss/update_op:0"


def test_quotients_of_scalars_are_zero_where_the_denominator_is():
    divide = internals.module("python.ops.metrics_impl")._safe_scalar_div
    assert run(divide(tf.constant(3.0), tf.constant(0.0), "q")) == 0
    assert run(divide(tf.constant(3.0), tf.constant(2.0), "q")) == 1.5


def test_a_variable_of_a_metric_is_read_and_collected():
    v = tf.metrics.mean([2.0, 4.0])[0].graph.get_collection("metric_variables")[0]
    read = internals.module("python.ops.metrics_impl")._aggregate_variable(v, ["read"])
    assert tf.get_collection("read") == [read]
    assert run(read) == 0
