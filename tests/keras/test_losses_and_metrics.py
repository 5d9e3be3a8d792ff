"""Losses and metrics against numpy."""

import numpy as np
import pytest

import everflow as tf

L, M, K = tf.keras.losses, tf.keras.metrics, tf.keras.backend
T = np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]], np.float32)
P = np.array([[0.1, 0.7, 0.2], [0.3, 0.6, 0.1]], np.float32)
SIGNS = np.array([[-1.0, 1.0, -1.0], [1.0, -1.0, -1.0]], np.float32)
unit = lambda x: x / np.linalg.norm(x, axis=-1, keepdims=True)


@pytest.mark.parametrize(
    ("name", "y", "p", "expected"),
    [
        ("mean_squared_error", T, P, ((T - P) ** 2).mean(1)),
        ("mean_absolute_error", T, P, np.abs(T - P).mean(1)),
        ("mean_absolute_percentage_error", T + 1, P, 100 * (np.abs(T + 1 - P) / (T + 1)).mean(1)),
        ("mean_squared_logarithmic_error", T, P, ((np.log1p(T) - np.log1p(P)) ** 2).mean(1)),
        ("hinge", SIGNS, P, np.maximum(1 - SIGNS * P, 0).mean(1)),
        ("hinge", T, P, np.maximum(1 - (2 * T - 1) * P, 0).mean(1)),
        ("squared_hinge", SIGNS, P, (np.maximum(1 - SIGNS * P, 0) ** 2).mean(1)),
        ("categorical_hinge", T, P, [max(0.2 - 0.7 + 1, 0), max(0.6 - 0.3 + 1, 0)]),
        ("logcosh", T, P, np.log(np.cosh(P - T)).mean(1)),
        ("kullback_leibler_divergence", T, P, -np.log([0.7, 0.3])),
        ("poisson", T, P, (P - T * np.log(P)).mean(1)),
        ("cosine_similarity", T, P, (unit(T) * unit(P)).sum(1)),
        ("categorical_crossentropy", T, P, -np.log([0.7, 0.3])),
        ("sparse_categorical_crossentropy", np.array([1, 0]), P, -np.log([0.7, 0.3])),
        ("binary_crossentropy", T, P, -(T * np.log(P) + (1 - T) * np.log(1 - P)).mean(1)),
    ],
)
def test_losses_are_their_formulas(name, y, p, expected):
    found = K.eval(getattr(L, name)(K.constant(y), K.constant(p)))
    np.testing.assert_allclose(found, expected, rtol=1e-3, atol=2e-6)


@pytest.mark.parametrize(
    ("loss", "each"),
    [
        (L.MeanSquaredError, ((T - P) ** 2).mean(1)),
        (L.MeanAbsoluteError, np.abs(T - P).mean(1)),
        (L.CategoricalCrossentropy, -np.log([0.7, 0.3])),
        (L.BinaryCrossentropy, -(T * np.log(P) + (1 - T) * np.log(1 - P)).mean(1)),
        (L.Poisson, (P - T * np.log(P)).mean(1)),
        (L.KLDivergence, -np.log([0.7, 0.3])),
        (L.LogCosh, np.log(np.cosh(P - T)).mean(1)),
        (L.CosineSimilarity, (unit(T) * unit(P)).sum(1)),
    ],
)
def test_loss_objects_weigh_and_reduce(loss, each):
    weights = np.array([2.0, 0.5])
    arguments = (K.constant(T), K.constant(P))
    near = dict(rtol=1e-3, atol=1e-5)
    np.testing.assert_allclose(K.eval(loss()(*arguments)), np.mean(each), **near)
    np.testing.assert_allclose(K.eval(loss()(*arguments, sample_weight=K.constant(weights))), np.mean(each * weights), **near)
    np.testing.assert_allclose(K.eval(loss(reduction="sum")(*arguments)), np.sum(each), **near)
    np.testing.assert_allclose(K.eval(loss(reduction="none")(*arguments, sample_weight=3.0)), np.multiply(each, 3), **near)
    with pytest.raises(ValueError, match="Invalid Reduction Key"):
        loss(reduction="most")


def test_losses_take_logits_smooth_labels_and_huber_bends():
    logits = np.array([[1.0, 2.0, 0.5]], np.float32)
    p = np.exp(logits) / np.exp(logits).sum()
    y = np.array([[0.0, 1.0, 0.0]], np.float32)
    smooth = y * 0.7 + 0.1
    np.testing.assert_allclose(
        K.eval(L.CategoricalCrossentropy(from_logits=True, label_smoothing=0.3)(K.constant(y), K.constant(logits))),
        -(smooth * np.log(p)).sum(),
        rtol=1e-5,
    )
    np.testing.assert_allclose(
        K.eval(L.SparseCategoricalCrossentropy(from_logits=True)(K.constant([1]), K.constant(logits))), -np.log(p[0, 1]), rtol=1e-5
    )
    s = 1 / (1 + np.exp(-logits))
    half = y * 0.5 + 0.25
    np.testing.assert_allclose(
        K.eval(L.BinaryCrossentropy(from_logits=True, label_smoothing=0.5)(K.constant(y), K.constant(logits))),
        -(half * np.log(s) + (1 - half) * np.log(1 - s)).mean(),
        rtol=1e-5,
    )
    np.testing.assert_allclose(
        K.eval(L.Huber(delta=0.5)(K.constant([[0.0, 0.0]]), K.constant([[0.25, 2.0]]))), (0.03125 + 0.5 * 2 - 0.125) / 2
    )


def test_names_stand_for_losses_and_metrics():
    assert L.get("mse") is L.mean_squared_error
    assert L.get(None) is None
    assert L.serialize(L.mean_squared_error) == "mean_squared_error"
    again = L.deserialize(L.serialize(L.Huber(delta=2.0)))
    assert again.get_config()["delta"] == 2.0
    assert M.get("binary_accuracy") is M.binary_accuracy
    with pytest.raises(ValueError, match="Unknown loss function"):
        L.get("none_such")
    with pytest.raises(ValueError, match="Could not interpret loss function identifier"):
        L.get(3)
    with pytest.raises(ValueError, match="Unknown metric function"):
        M.get("none_such")


def value_of(metric, *batches):
    """What a metric says after some batches."""
    with tf.Session() as session:
        updates = [metric.update_state(*batch) for batch in batches]
        result = metric.result()
        session.run([v.initializer for v in metric.variables])
        for update in updates:
            session.run(update)
        return session.run(result)


Y, S = [0.0, 1.0, 1.0, 0.0], [0.1, 0.8, 0.3, 0.6]


@pytest.mark.parametrize(
    ("make", "batches", "expected"),
    [
        (lambda: M.Mean(), [([1.0, 2.0],), ([6.0],)], 3.0),
        (lambda: M.Mean(), [([1.0, 5.0], [3.0, 1.0])], 2.0),
        (lambda: M.Sum(), [([1.0, 2.0], [2.0, 3.0])], 8.0),
        (lambda: M.Accuracy(), [([1, 2, 3], [1, 0, 3])], 2 / 3),
        (lambda: M.BinaryAccuracy(), [(Y, S)], 0.5),
        (lambda: M.BinaryAccuracy(threshold=0.7), [(Y, S)], 0.75),
        (lambda: M.CategoricalAccuracy(), [(T, P)], 0.5),
        (lambda: M.CategoricalAccuracy(), [(T, P, [0.2, 0.8])], 0.2),
        (lambda: M.SparseCategoricalAccuracy(), [([1, 0], P)], 0.5),
        (lambda: M.TopKCategoricalAccuracy(k=1), [(T, P)], 0.5),
        (lambda: M.TopKCategoricalAccuracy(k=2), [(T, P)], 1.0),
        (lambda: M.SparseTopKCategoricalAccuracy(k=2), [([2, 2], P)], 0.5),
        (lambda: M.Precision(), [(Y, S)], 0.5),
        (lambda: M.Recall(), [(Y, S)], 0.5),
        (lambda: M.Precision(thresholds=[0.2, 0.7]), [(Y, S)], [2 / 3, 1.0]),
        (lambda: M.Precision(top_k=1), [([[0, 1, 1]], [[0.5, 0.9, 0.1]])], 1.0),
        (lambda: M.Recall(class_id=1), [(T, P)], 1.0),
        (lambda: M.TruePositives(), [(Y, S)], 1),
        (lambda: M.TrueNegatives(), [(Y, S)], 1),
        (lambda: M.FalsePositives(), [(Y, S)], 1),
        (lambda: M.FalseNegatives(thresholds=0.9), [(Y, S)], 2),
        (lambda: M.FalsePositives(), [(Y, S, [1, 1, 1, 4.0])], 4),
        (lambda: M.MeanSquaredError(), [(T, P)], ((T - P) ** 2).mean()),
        (lambda: M.RootMeanSquaredError(), [(T, P)], np.sqrt(((T - P) ** 2).mean())),
        (lambda: M.MeanAbsoluteError(), [(T, P)], np.abs(T - P).mean()),
        (lambda: M.MeanRelativeError([1.0, 2.0]), [([1.0, 3.0], [2.0, 2.0])], 0.75),
        (lambda: M.CosineSimilarity(), [(T, P)], (unit(T) * unit(P)).sum(1).mean()),
        (lambda: M.MeanIoU(2), [([0, 0, 1, 1], [0, 1, 0, 1])], 1 / 3),
        (lambda: M.MeanTensor(), [([1.0, 2.0],), ([3.0, 6.0],)], [2.0, 4.0]),
        (lambda: M.AUC(), [(Y, S)], 0.75),
        (lambda: M.AUC(curve="PR", num_thresholds=3), [([0.0, 0.0, 1.0, 1.0], [0.0, 0.5, 0.3, 0.9])], 0.820699),
        (lambda: M.SensitivityAtSpecificity(0.5), [(Y, S)], 1.0),
        (lambda: M.SpecificityAtSensitivity(0.5), [(Y, S)], 0.5),
        (lambda: M.BinaryCrossentropy(), [([[1.0], [0.0]], [[0.2], [0.7]])], -np.log([0.2, 0.3]).mean()),
        (lambda: M.Hinge(), [(SIGNS, P)], np.maximum(1 - SIGNS * P, 0).mean()),
        (lambda: M.LogCoshError(), [(T, P)], np.log(np.cosh(P - T)).mean()),
        (lambda: M.CategoricalHinge(), [(T, P)], 0.9),
        (lambda: M.CategoricalCrossentropy(), [(T, P)], -np.log([0.7, 0.3]).mean()),
        (lambda: M.SparseCategoricalCrossentropy(), [([1, 0], P)], -np.log([0.7, 0.3]).mean()),
    ],
)
def test_metrics_add_up_batches(make, batches, expected):
    np.testing.assert_allclose(value_of(make(), *batches), expected, rtol=1e-3, atol=1e-5)


def test_metrics_start_again_and_are_made_from_configs():
    metric = M.Precision(thresholds=0.3, name="p")
    K.get_session().run([v.initializer for v in metric.variables])
    K.get_session().run(metric.update_state(Y, S))
    assert K.eval(metric.result()) == 0.5
    metric.reset_states()
    assert K.eval(metric.result()) == 0.0
    again = M.Precision.from_config(metric.get_config())
    assert (again.name, list(again.thresholds)) == ("p", [0.3])
    assert M.AUC.from_config(M.AUC(num_thresholds=7, curve="PR").get_config()).num_thresholds == 7


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: M.AUC(num_thresholds=1), "`num_thresholds` must be > 1"),
        (lambda: M.AUC(curve="XY"), "Invalid AUC curve value"),
        (lambda: M.Precision(thresholds=[2.0]), "Threshold values must be in"),
        (lambda: M.SensitivityAtSpecificity(2.0), "must be in the range"),
        (lambda: M.SpecificityAtSensitivity(0.5, num_thresholds=0), "must be > 0"),
    ],
)
def test_metrics_refuse_what_can_not_be(make, message):
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize("loss", [L.MeanSquaredError(), L.MeanAbsoluteError()])
def test_losses_of_whole_numbers_are_whole_numbers(loss):
    y, p = tf.constant([[4, 8, 12], [8, 1, 3]]), tf.constant([[4, 8, 9], [8, 1, 3]])
    found = loss(y, p)
    # The means of the rows are 3 (or 1) and 0, that of both 1.5 (or 0.5) is cut.
    assert found.dtype == tf.int32 and K.get_value(found) == {"MeanSquaredError": 1, "MeanAbsoluteError": 0}[type(loss).__name__]
    assert K.get_value(loss(y, y)) == 0


def test_scores_of_classes_keep_their_axis_where_ranks_are_known_late(session):
    t, p, w = (tf.placeholder(tf.float32) for _ in range(3))
    accuracy = M.SparseCategoricalAccuracy()
    found = accuracy(t, p, w)
    session.run([v.initializer for v in accuracy.variables])
    feeds = {t: [2, 1], p: [[0.1, 0.1, 0.8], [0.05, 0, 0.95]], w: [[0.5], [0.2]]}
    assert session.run(found, feeds) == pytest.approx(0.5 / 0.7)


@pytest.mark.parametrize(("weights", "mean"), [([[1], [2]], 3.0), ([[1, 2, 3]], 17 / 6), ([1, 2], 3.0), (1, 2.5)])
@pytest.mark.parametrize("dims", [None, [None, None]])
def test_weights_whose_rank_is_known_late_count_for_each_value(weights, mean, dims, session):
    values, w = tf.placeholder(tf.float32, dims), tf.placeholder(tf.float32)
    metric = M.Mean()
    found = metric(values, w)
    session.run([v.initializer for v in metric.variables])
    assert session.run(found, {values: np.arange(6).reshape(2, 3), w: weights}) == pytest.approx(mean)
