"""Losses, metrics, constraints, optimizers, texts and small tools of Keras by their results, as in TensorFlow 1.15.5."""

import numpy as np
import pytest
from plain import described, plain, refused

import everflow as tf

A, C, G = tf.keras.activations, tf.keras.constraints, tf.keras.regularizers
LO, M, O = tf.keras.losses, tf.keras.metrics, tf.keras.optimizers
S, X, U = tf.keras.preprocessing.sequence, tf.keras.preprocessing.text, tf.keras.utils

y = np.array([[0.0, 1.0], [1.0, 0.0]], np.float32)
p = np.array([[0.2, 0.6], [0.9, 0.3]], np.float32)
w = np.array([1.0, 3.0], np.float32)


def f32(*shape):
    return np.arange(1, 1 + np.prod(shape), dtype=np.float32).reshape(shape)


def t(*shape):
    return tf.constant(f32(*shape))


def measured(metric, *batches):
    """What a metric says after some batches."""
    updates = [metric.update_state(*batch) for batch in batches]
    with tf.Session() as session:
        session.run([v.initializer for v in metric.variables])
        for update in updates:
            session.run(update)
        return plain(session.run(metric.result()))


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (
            lambda: [
                LO.get(n)(tf.constant(y), tf.constant(p))
                for n in (
                    "mse",
                    "mae",
                    "mape",
                    "msle",
                    "kld",
                    "cosine_similarity",
                    "logcosh",
                    "hinge",
                    "squared_hinge",
                    "categorical_hinge",
                    "poisson",
                    "binary_crossentropy",
                    "categorical_crossentropy",
                )
            ],
            [
                [
                    "float32 [2]",
                    "float32 [2]",
                    "float32 [2]",
                    "float32 [2]",
                    "float32 [2]",
                    "float32 [2]",
                    "float32 [2]",
                    "float32 [2]",
                    "float32 [2]",
                    "float32 [2]",
                    "float32 [2]",
                    "float32 [2]",
                    "float32 [2]",
                ],
                [
                    [0.1, 0.05],
                    [0.3, 0.2],
                    [100000000.0, 150000000.0],
                    [0.041517, 0.035733],
                    [0.51082, 0.10536],
                    [0.94868, 0.94868],
                    [0.048911, 0.024666],
                    [0.8, 0.7],
                    [0.8, 0.85],
                    [0.6, 0.4],
                    [0.65541, 0.65268],
                    [0.36698, 0.23102],
                    [0.28768, 0.28768],
                ],
            ],
        ),
        (
            lambda: [LO.get(n)(y, p) for n in ("mean_squared_error", "mean_absolute_error", "MSE", "MAE")],
            [["float32 [2]", "float32 [2]", "float32 [2]", "float32 [2]"], [[0.1, 0.05], [0.3, 0.2], [0.1, 0.05], [0.3, 0.2]]],
        ),
        (
            lambda: [
                c()(y, p)
                for c in (
                    LO.MeanSquaredError,
                    LO.MeanAbsoluteError,
                    LO.MeanAbsolutePercentageError,
                    LO.MeanSquaredLogarithmicError,
                    LO.BinaryCrossentropy,
                    LO.CategoricalCrossentropy,
                    LO.Hinge,
                    LO.SquaredHinge,
                    LO.CategoricalHinge,
                    LO.Poisson,
                    LO.LogCosh,
                    LO.KLDivergence,
                    LO.Huber,
                    LO.CosineSimilarity,
                )
            ],
            [
                [
                    "float32 []",
                    "float32 []",
                    "float32 []",
                    "float32 []",
                    "float32 []",
                    "float32 []",
                    "float32 []",
                    "float32 []",
                    "float32 []",
                    "float32 []",
                    "float32 []",
                    "float32 []",
                    "float32 []",
                    "float32 []",
                ],
                [0.075, 0.25, 125000000.0, 0.038625, 0.299, 0.28768, 0.75, 0.825, 0.5, 0.65405, 0.036788, 0.30809, 0.0375, 0.94868],
            ],
        ),
        (
            lambda: [
                c()(y, p, w)
                for c in (LO.MeanSquaredError, LO.MeanAbsoluteError, LO.Hinge, LO.Poisson, LO.LogCosh, LO.Huber, LO.CosineSimilarity)
            ],
            [
                ["float32 []", "float32 []", "float32 []", "float32 []", "float32 []", "float32 []", "float32 []"],
                [0.125, 0.45, 1.45, 1.3067, 0.061455, 0.0625, 1.8974],
            ],
        ),
        (
            lambda: [LO.MeanSquaredError(reduction=r)(y, p, w) for r in ("sum", "none", "sum_over_batch_size", "auto")],
            [["float32 []", "float32 [2]", "float32 []", "float32 []"], [0.25, [0.1, 0.15], 0.125, 0.125]],
        ),
        (lambda: LO.MeanSquaredError()(y, p, [[1.0], [3.0]]), ["float32 []", 0.125]),
        (lambda: LO.MeanSquaredError()(y, p, 2.0), ["float32 []", 0.15]),
        (lambda: LO.Huber(0.1)(y, p), ["float32 []", 0.02]),
        (lambda: LO.Huber(2.0)(y * 5, p), ["float32 []", 3.2663]),
        (lambda: LO.BinaryCrossentropy(from_logits=True)(y, p), ["float32 []", 0.60778]),
        (lambda: LO.BinaryCrossentropy(label_smoothing=0.2)(y, p), ["float32 []", 0.41991]),
        (lambda: LO.CategoricalCrossentropy(label_smoothing=0.2)(y, p), ["float32 []", 0.39754]),
        (lambda: LO.CategoricalCrossentropy(from_logits=True)(y, p), ["float32 []", 0.47525]),
        (lambda: LO.SparseCategoricalCrossentropy(from_logits=True)([1, 0], p), ["float32 []", 0.47525]),
        (lambda: LO.CosineSimilarity(axis=0)(y, p), ["float32 []", 0.93531]),
        (lambda: LO.binary_crossentropy(y, p, True, 0.1), ["float32 [2]", [0.62781, 0.61275]]),
        (lambda: LO.categorical_crossentropy(y, p, True, 0.1), ["float32 [2]", [0.53302, 0.46749]]),
        (lambda: LO.sparse_categorical_crossentropy([1, 0], p, True), ["float32 [2]", [0.51302, 0.43749]]),
        (lambda: LO.cosine_similarity(y, p, 0), ["float32 [2]", [0.97619, 0.89443]]),
        (lambda: LO.get(LO.mse) is LO.mse, True),
        (
            lambda: LO.get({"class_name": "Huber", "config": {"delta": 2.0}}).get_config(),
            {"reduction": "auto", "name": "huber_loss", "delta": 2.0},
        ),
        (lambda: LO.serialize(LO.mse), "mean_squared_error"),
        (lambda: LO.serialize(LO.Huber(2.0)), {"class_name": "Huber", "config": {"reduction": "auto", "name": "huber_loss", "delta": 2.0}}),
        (lambda: LO.deserialize("mse").__name__, "mean_squared_error"),
        (lambda: LO.deserialize({"class_name": "MeanSquaredError", "config": {"reduction": "sum"}}).reduction, "sum"),
        (
            lambda: [
                c().get_config()
                for c in (
                    LO.MeanSquaredError,
                    LO.BinaryCrossentropy,
                    LO.SparseCategoricalCrossentropy,
                    LO.Huber,
                    LO.CosineSimilarity,
                    LO.CategoricalCrossentropy,
                )
            ],
            [
                {"reduction": "auto", "name": "mean_squared_error"},
                {"reduction": "auto", "name": "binary_crossentropy", "from_logits": False, "label_smoothing": 0},
                {"reduction": "auto", "name": "sparse_categorical_crossentropy", "from_logits": False},
                {"reduction": "auto", "name": "huber_loss", "delta": 1.0},
                {"reduction": "auto", "name": "cosine_similarity", "axis": -1},
                {"reduction": "auto", "name": "categorical_crossentropy", "from_logits": False, "label_smoothing": 0},
            ],
        ),
        (lambda: LO.Loss("sum", "n").name, "n"),
        (lambda: LO.Loss("sum", "n").get_config(), {"reduction": "sum", "name": "n"}),
        (lambda: LO.MeanSquaredError(name="n").name, "n"),
        (lambda: LO.MeanSquaredError.from_config({"reduction": "sum", "name": "q"}).name, "q"),
    ],
)
def test_losses_are_taken(made, expected):
    assert described(made()) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: LO.MeanSquaredError(reduction="mean"), "ValueError: Invalid Reduction Key mean."),
        (
            lambda: LO.MeanSquaredError()(y, p, [1.0, 2.0, 3.0]),
            "ValueError: weights can not be broadcast to values. Mismatch at dim 0. values.shape=[2] weights.shap",
        ),
        (lambda: LO.get(3), "ValueError: ('Could not interpret loss function identifier:', 3)"),
        (lambda: LO.get("x"), "ValueError: Unknown loss function:x"),
    ],
)
def test_losses_are_taken_or_are_refused(made, expected):
    assert refused(lambda: described(made())).startswith(expected)


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: measured(M.Mean(), ([1.0, 3.0],), ([8.0],)), 4.0),
        (lambda: measured(M.Mean(), ([1.0, 3.0], [1.0, 3.0])), 2.5),
        (lambda: measured(M.Sum(), ([1.0, 3.0],), ([8.0], 2.0)), 20.0),
        (lambda: measured(M.MeanTensor(), ([1.0, 3.0],), ([3.0, 5.0],)), [2.0, 4.0]),
        (lambda: measured(M.MeanTensor(), ([1.0, 3.0], [1.0, 0.0]), ([3.0, 5.0],)), [2.0, 5.0]),
        (lambda: measured(M.Accuracy(), ([1, 2, 3], [1, 2, 4])), 0.66667),
        (lambda: measured(M.Accuracy(), ([1, 2, 3], [1, 2, 4], [1.0, 0.0, 1.0])), 0.5),
        (lambda: measured(M.BinaryAccuracy(), (y, p)), 1.0),
        (lambda: measured(M.BinaryAccuracy(threshold=0.25), (y, p)), 0.75),
        (lambda: measured(M.CategoricalAccuracy(), (y, p, [0.5, 0.2])), 1.0),
        (lambda: measured(M.SparseCategoricalAccuracy(), ([1, 1], p)), 0.5),
        (lambda: measured(M.SparseCategoricalAccuracy(), ([[1], [1]], p)), 0.5),
        (lambda: measured(M.TopKCategoricalAccuracy(k=1), (y, p)), 1.0),
        (lambda: measured(M.SparseTopKCategoricalAccuracy(k=1), ([1, 1], p)), 0.5),
        (lambda: measured(M.TruePositives(), (y, p)), 2.0),
        (lambda: measured(M.TruePositives(0.7), (y, p)), 1.0),
        (lambda: measured(M.TruePositives([0.1, 0.7]), (y, p, [[1.0], [2.0]])), [3.0, 2.0]),
        (lambda: measured(M.TrueNegatives([0.1, 0.5]), (y, p)), [0.0, 2.0]),
        (lambda: measured(M.FalsePositives([0.1, 0.5]), (y, p)), [2.0, 0.0]),
        (lambda: measured(M.FalseNegatives([0.1, 0.7]), (y, p)), [0.0, 1.0]),
        (lambda: measured(M.Precision(), (y, p)), 1.0),
        (lambda: measured(M.Precision([0.1, 0.5]), (y, p)), [0.5, 1.0]),
        (lambda: measured(M.Precision(top_k=1), (y, p)), 1.0),
        (lambda: measured(M.Precision(class_id=1), (y, p)), 1.0),
        (lambda: measured(M.Precision(top_k=1, class_id=0), (y, p)), 1.0),
        (lambda: measured(M.Recall(), (y, p, [1.0, 2.0])), 1.0),
        (lambda: measured(M.Recall([0.1, 0.7]), (y, p)), [1.0, 0.5]),
        (lambda: measured(M.Recall(top_k=1), (y, p)), 1.0),
        (lambda: measured(M.Recall(class_id=1), (y, p)), 1.0),
        (lambda: measured(M.AUC(num_thresholds=5), ([0, 0, 1, 1], [0.0, 0.5, 0.3, 0.9])), 0.875),
        (lambda: measured(M.AUC(num_thresholds=5, curve="PR"), ([0, 0, 1, 1], [0.0, 0.5, 0.3, 0.9])), 0.88733),
        (lambda: measured(M.AUC(num_thresholds=5, summation_method="minoring"), ([0, 0, 1, 1], [0.0, 0.5, 0.3, 0.9])), 0.75),
        (
            lambda: measured(
                M.AUC(num_thresholds=5, summation_method="majoring"), ([0, 0, 1, 1], [0.0, 0.5, 0.3, 0.9], [1.0, 0.0, 0.5, 1.0])
            ),
            1.0,
        ),
        (lambda: measured(M.AUC(thresholds=[0.4, 0.6]), ([0, 0, 1, 1], [0.0, 0.5, 0.3, 0.9])), 0.625),
        (lambda: measured(M.SensitivityAtSpecificity(0.5, 5), ([0, 0, 1, 1], [0.0, 0.5, 0.3, 0.9])), 1.0),
        (lambda: measured(M.SpecificityAtSensitivity(0.5, 5), ([0, 0, 1, 1], [0.0, 0.5, 0.3, 0.9])), 1.0),
        (lambda: measured(M.MeanIoU(2), ([0, 0, 1, 1], [0, 1, 0, 1])), 0.33333),
        (lambda: measured(M.RootMeanSquaredError(), (y, p)), 0.27386),
        (lambda: measured(M.RootMeanSquaredError(), (y, p, w)), 0.25),
        (lambda: measured(M.CosineSimilarity(), (y, p)), 0.94868),
        (lambda: measured(M.KLDivergence(), (y, p)), 0.30809),
        (lambda: measured(M.LogCoshError(), (y, p, w)), 0.030727),
        (lambda: measured(M.Hinge(), (y, p)), 0.75),
        (lambda: measured(M.SquaredHinge(), (y, p)), 0.825),
        (lambda: measured(M.CategoricalHinge(), (y, p)), 0.5),
        (lambda: measured(M.Poisson(), (y, p)), 0.65405),
        (lambda: measured(M.BinaryCrossentropy(from_logits=True, label_smoothing=0.1), (y, p)), 0.62028),
        (lambda: measured(M.CategoricalCrossentropy(label_smoothing=0.1), (y, p)), 0.34261),
        (lambda: measured(M.SparseCategoricalCrossentropy(from_logits=True), ([1, 0], p)), 0.47525),
        (lambda: measured(M.MeanSquaredError(), (y, p, 2.0)), 0.075),
        (lambda: measured(M.MeanAbsolutePercentageError(), (y + 1, p)), 68.75),
        (lambda: measured(M.MeanSquaredLogarithmicError(), (y, p)), 0.038625),
        (
            lambda: [
                c().get_config()
                for c in (
                    M.Mean,
                    M.Accuracy,
                    M.BinaryAccuracy,
                    M.TopKCategoricalAccuracy,
                    M.Precision,
                    M.Recall,
                    M.TruePositives,
                    M.CosineSimilarity,
                    M.BinaryCrossentropy,
                    M.RootMeanSquaredError,
                )
            ],
            [
                {"name": "mean", "dtype": "float32"},
                {"name": "accuracy", "dtype": "float32"},
                {"name": "binary_accuracy", "dtype": "float32", "threshold": 0.5},
                {"name": "top_k_categorical_accuracy", "dtype": "float32", "k": 5},
                {"name": "precision", "dtype": "float32", "thresholds": None, "top_k": None, "class_id": None},
                {"name": "recall", "dtype": "float32", "thresholds": None, "top_k": None, "class_id": None},
                {"name": "true_positives", "dtype": "float32", "thresholds": None},
                {"name": "cosine_similarity", "dtype": "float32", "axis": -1},
                {"name": "binary_crossentropy", "dtype": "float32", "from_logits": False, "label_smoothing": 0},
                {"name": "root_mean_squared_error", "dtype": "float32"},
            ],
        ),
        (
            lambda: M.AUC(num_thresholds=5).get_config(),
            {
                "name": "auc",
                "dtype": "float32",
                "num_thresholds": 5,
                "curve": "ROC",
                "summation_method": "interpolation",
                "thresholds": [0.25, 0.5, 0.75],
            },
        ),
        (
            lambda: M.AUC(thresholds=[0.4, 0.6]).get_config(),
            {
                "name": "auc",
                "dtype": "float32",
                "num_thresholds": 4,
                "curve": "ROC",
                "summation_method": "interpolation",
                "thresholds": [0.4, 0.6],
            },
        ),
        (lambda: M.MeanIoU(3, "n").get_config(), {"name": "n", "dtype": "float32", "num_classes": 3}),
        (
            lambda: M.SensitivityAtSpecificity(0.5, 5).get_config(),
            {"name": "sensitivity_at_specificity", "dtype": "float32", "num_thresholds": 5, "specificity": 0.5},
        ),
        (
            lambda: M.SpecificityAtSensitivity(0.5, 5).get_config(),
            {"name": "specificity_at_sensitivity", "dtype": "float32", "num_thresholds": 5, "sensitivity": 0.5},
        ),
        (
            lambda: M.Precision([0.1], 2, 1).get_config(),
            {"name": "precision", "dtype": "float32", "thresholds": [0.1], "top_k": 2, "class_id": 1},
        ),
        (lambda: M.serialize(M.Mean())["class_name"], "Mean"),
        (lambda: M.deserialize({"class_name": "Precision", "config": {"top_k": 3}}).top_k, 3),
        (lambda: M.categorical_accuracy(y, p), ["float32 [2]", [1.0, 1.0]]),
        (lambda: M.binary_accuracy(y, p), ["float32 [2]", [1.0, 1.0]]),
        (lambda: M.binary_accuracy(y, p, 0.7), ["float32 [2]", [0.5, 1.0]]),
        (lambda: M.top_k_categorical_accuracy(y, p, 1), ["float32 [2]", [1.0, 1.0]]),
        (lambda: M.Mean("n").name, "n"),
        (lambda: M.Mean("n").dtype, "float32"),
        (lambda: M.Mean("n", "float64").dtype, "float64"),
    ],
)
def test_metrics_are_kept(made, expected):
    assert described(made()) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: M.AUC(num_thresholds=1), "ValueError: `num_thresholds` must be > 1."),
        (lambda: M.AUC(curve="x"), 'ValueError: Invalid AUC curve value "x".'),
        (lambda: M.AUC(summation_method="x"), 'ValueError: Invalid AUC summation method value "x".'),
        (lambda: M.SensitivityAtSpecificity(1.5), "ValueError: `specificity` must be in the range [0, 1]."),
        (lambda: M.SpecificityAtSensitivity(-0.5), "ValueError: `sensitivity` must be in the range [0, 1]."),
        (lambda: M.SensitivityAtSpecificity(0.5, 0), "ValueError: `num_thresholds` must be > 0."),
        (lambda: M.Precision(1.5), "ValueError: Threshold values must be in [0, 1]. Invalid values: [1.5]"),
        (lambda: M.TruePositives([0.5, 2.0]), "ValueError: Threshold values must be in [0, 1]. Invalid values: [2.0]"),
        (
            lambda: measured(M.MeanRelativeError(normalizer=[1.0, 2.0]), ([[1.0, 3.0]], [[2.0, 5.0]])),
            "ValueError: Can not squeeze dim[1], expected a dimension of 1, got 2",
        ),
        (lambda: M.get("acc").__name__, "ValueError: Unknown metric function:acc"),
        (lambda: M.get("x"), "ValueError: Unknown metric function:x"),
        (lambda: M.get(3), "ValueError: Could not interpret metric function identifier: 3"),
    ],
)
def test_metrics_are_kept_or_are_refused(made, expected):
    assert refused(lambda: described(made())).startswith(expected)


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: C.MaxNorm(1.0)(t(2, 2)), ["float32 [2, 2]", [[0.31623, 0.44721], [0.94868, 0.89443]]]),
        (lambda: C.MaxNorm(1.0, axis=1)(t(2, 2)), ["float32 [2, 2]", [[0.44721, 0.89443], [0.6, 0.8]]]),
        (lambda: C.MaxNorm()(t(2, 2)), ["float32 [2, 2]", [[0.63246, 0.89443], [1.8974, 1.7889]]]),
        (lambda: C.NonNeg()(t(2, 2) - 2), ["float32 [2, 2]", [[-0.0, 0.0], [1.0, 2.0]]]),
        (lambda: C.UnitNorm()(t(2, 2)), ["float32 [2, 2]", [[0.31623, 0.44721], [0.94868, 0.89443]]]),
        (lambda: C.UnitNorm(1)(t(2, 2)), ["float32 [2, 2]", [[0.44721, 0.89443], [0.6, 0.8]]]),
        (lambda: C.MinMaxNorm(0.5, 1.0, 0.5)(t(2, 2)), ["float32 [2, 2]", [[0.65811, 1.2236], [1.9743, 2.4472]]]),
        (lambda: C.MinMaxNorm()(t(2, 2)), ["float32 [2, 2]", [[0.31623, 0.44721], [0.94868, 0.89443]]]),
        (lambda: C.MinMaxNorm(axis=1)(t(2, 2)), ["float32 [2, 2]", [[0.44721, 0.89443], [0.6, 0.8]]]),
        (lambda: C.RadialConstraint()(t(3, 3, 1, 1)).shape, [3, 3, 1, 1]),
        (
            lambda: [c().get_config() for c in (C.MaxNorm, C.NonNeg, C.UnitNorm, C.MinMaxNorm)],
            [{"max_value": 2, "axis": 0}, {}, {"axis": 0}, {"min_value": 0.0, "max_value": 1.0, "rate": 1.0, "axis": 0}],
        ),
        (lambda: C.get("max_norm").get_config(), {"max_value": 2, "axis": 0}),
        (lambda: C.get({"class_name": "MaxNorm", "config": {"max_value": 3}}).get_config(), {"max_value": 3, "axis": 0}),
        (lambda: C.serialize(C.NonNeg()), {"class_name": "NonNeg", "config": {}}),
        (lambda: G.l1(0.1)(t(2, 2)), ["float32 []", 1.0]),
        (lambda: G.l2(0.1)(t(2, 2)), ["float32 []", 3.0]),
        (lambda: G.l1_l2(0.1, 0.2)(t(2, 2)), ["float32 []", 7.0]),
        (lambda: G.L1L2()(t(2, 2)), ["float32 []", 0.0]),
        (lambda: G.L1L2(0.1, 0.2).get_config(), {"l1": 0.1, "l2": 0.2}),
        (lambda: G.l1().get_config(), {"l1": 0.01, "l2": 0.0}),
        (lambda: G.l2().get_config(), {"l1": 0.0, "l2": 0.01}),
        (lambda: G.l1_l2().get_config(), {"l1": 0.01, "l2": 0.01}),
        (lambda: G.get("l2").get_config(), {"l1": 0.0, "l2": 0.01}),
        (lambda: G.serialize(G.l1(0.5)), {"class_name": "L1L2", "config": {"l1": 0.5, "l2": 0.0}}),
        (lambda: G.deserialize({"class_name": "L1L2", "config": {"l1": 0.5}}).get_config(), {"l1": 0.5, "l2": 0.0}),
        (
            lambda: [
                A.get(n)(t(2, 2) - 2)
                for n in (
                    "relu",
                    "tanh",
                    "sigmoid",
                    "softplus",
                    "softsign",
                    "elu",
                    "selu",
                    "hard_sigmoid",
                    "linear",
                    "exponential",
                    "softmax",
                )
            ],
            [
                [
                    "float32 [2, 2]",
                    "float32 [2, 2]",
                    "float32 [2, 2]",
                    "float32 [2, 2]",
                    "float32 [2, 2]",
                    "float32 [2, 2]",
                    "float32 [2, 2]",
                    "float32 [2, 2]",
                    "float32 [2, 2]",
                    "float32 [2, 2]",
                    "float32 [2, 2]",
                ],
                [
                    [[0.0, 0.0], [1.0, 2.0]],
                    [[-0.76159, 0.0], [0.76159, 0.96403]],
                    [[0.26894, 0.5], [0.73106, 0.8808]],
                    [[0.31326, 0.69315], [1.3133, 2.1269]],
                    [[-0.5, 0.0], [0.5, 0.66667]],
                    [[-0.63212, 0.0], [1.0, 2.0]],
                    [[-1.1113, 0.0], [1.0507, 2.1014]],
                    [[0.3, 0.5], [0.7, 0.9]],
                    [[-1.0, 0.0], [1.0, 2.0]],
                    [[0.36788, 1.0], [2.7183, 7.3891]],
                    [[0.26894, 0.73106], [0.26894, 0.73106]],
                ],
            ],
        ),
        (
            lambda: A.softmax(t(2, 2, 2)),
            ["float32 [2, 2, 2]", [[[0.26894, 0.73106], [0.26894, 0.73106]], [[0.26894, 0.73106], [0.26894, 0.73106]]]],
        ),
        (lambda: A.relu(t(3) - 2, 0.5, 1.5, 0.2), ["float32 [3]", [-0.6, -0.1, 1.0]]),
        (lambda: A.elu(t(3) - 2, 0.5), ["float32 [3]", [-0.31606, 0.0, 1.0]]),
        (lambda: A.get(None)(3), 3),
        (lambda: A.serialize(A.relu), "relu"),
        (lambda: A.deserialize("tanh")(t(2)), ["float32 [2]", [0.76159, 0.96403]]),
    ],
)
def test_constraints_and_penalties(made, expected):
    assert described(made()) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: C.get("x"), "ValueError: Unknown constraint: x"),
        (lambda: C.get(3), "ValueError: Could not interpret constraint identifier: 3"),
        (lambda: G.get("x"), "ValueError: Unknown regularizer:x"),
        (lambda: G.get(3), "ValueError: ('Could not interpret regularizer identifier:', 3)"),
        (lambda: A.softmax(t(3)), 'ValueError: Cannot apply softmax to a tensor that is 1D. Received input: Tensor("Const:0", shape=(3,'),
        (lambda: A.get("x"), "ValueError: Unknown activation function:x"),
        (lambda: A.get(3), "TypeError: Could not interpret activation function identifier: 3"),
    ],
)
def test_constraints_and_penalties_or_are_refused(made, expected):
    assert refused(lambda: described(made())).startswith(expected)


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (
            lambda: [c().get_config() for c in (O.SGD, O.RMSprop, O.Adagrad, O.Adadelta, O.Adam, O.Adamax, O.Nadam)],
            [
                {"name": "SGD", "learning_rate": 0.01, "decay": 0.0, "momentum": 0.0, "nesterov": False},
                {"name": "RMSprop", "learning_rate": 0.001, "decay": 0.0, "rho": 0.9, "momentum": 0.0, "epsilon": 1e-07, "centered": False},
                {"name": "Adagrad", "learning_rate": 0.001, "decay": 0.0, "initial_accumulator_value": 0.1, "epsilon": 1e-07},
                {"name": "Adadelta", "learning_rate": 0.001, "decay": 0.0, "rho": 0.95, "epsilon": 1e-07},
                {"name": "Adam", "learning_rate": 0.001, "decay": 0.0, "beta_1": 0.9, "beta_2": 0.999, "epsilon": 1e-07, "amsgrad": False},
                {"name": "Adamax", "learning_rate": 0.001, "decay": 0.0, "beta_1": 0.9, "beta_2": 0.999, "epsilon": 1e-07},
                {"name": "Nadam", "learning_rate": 0.001, "decay": 0.004, "beta_1": 0.9, "beta_2": 0.999, "epsilon": 1e-07},
            ],
        ),
        (
            lambda: O.SGD(0.1, 0.9, True, decay=0.01).get_config(),
            {"name": "SGD", "learning_rate": 0.1, "decay": 0.01, "momentum": 0.9, "nesterov": True},
        ),
        (
            lambda: O.Adam(0.1, 0.8, 0.9, 1e-3, True).get_config(),
            {"name": "Adam", "learning_rate": 0.1, "decay": 0.0, "beta_1": 0.8, "beta_2": 0.9, "epsilon": 0.001, "amsgrad": True},
        ),
        (
            lambda: O.RMSprop(0.1, 0.8, 0.5, 1e-3, True).get_config(),
            {"name": "RMSprop", "learning_rate": 0.1, "decay": 0.0, "rho": 0.8, "momentum": 0.5, "epsilon": 0.001, "centered": True},
        ),
        (lambda: O.get("sgd").get_config()["name"], "SGD"),
        (lambda: O.get({"class_name": "Adam", "config": {"learning_rate": 0.5}}).get_config()["learning_rate"], 0.5),
        (
            lambda: O.SGD(clipnorm=1.0).get_config(),
            {"name": "SGD", "clipnorm": 1.0, "learning_rate": 0.01, "decay": 0.0, "momentum": 0.0, "nesterov": False},
        ),
        (lambda: O.SGD(lr=0.5).get_config()["learning_rate"], 0.5),
        (lambda: O.serialize(O.SGD(0.5))["class_name"], "SGD"),
        (lambda: O.deserialize({"class_name": "sgd", "config": {"learning_rate": 0.5}}).get_config()["learning_rate"], 0.5),
        (
            lambda: O.SGD(tf.keras.optimizers.schedules.ExponentialDecay(0.1, 10, 0.5)).get_config()["learning_rate"]["class_name"],
            "ExponentialDecay",
        ),
    ],
)
def test_optimizers_keep_their_arguments(made, expected):
    assert described(made()) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: O.get("x"), "ValueError: Unknown optimizer: x"),
        (lambda: O.get(3), "ValueError: ('Could not interpret optimizer identifier:', 3)"),
        (lambda: O.SGD(momentum=2.0), "ValueError: `momentum` must be between [0, 1]."),
        (lambda: O.SGD(momentum=-1.0), "ValueError: `momentum` must be between [0, 1]."),
        (lambda: O.SGD(foo=1), "TypeError: Unexpected keyword argument passed to optimizer: foo"),
        (lambda: O.SGD(clipnorm=-1.0), "ValueError: Expected clipnorm >= 0, received: -1.0"),
        (lambda: O.Adagrad(initial_accumulator_value=-1.0), "ValueError: initial_accumulator_value must be non-negative: -1.0"),
    ],
)
def test_optimizers_keep_their_arguments_or_are_refused(made, expected):
    assert refused(lambda: described(made())).startswith(expected)


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: S.pad_sequences([[1], [2, 3], []]), [[0, 1], [2, 3], [0, 0]]),
        (lambda: S.pad_sequences([[1], [2, 3, 4]], 2), [[0, 1], [3, 4]]),
        (lambda: S.pad_sequences([[1], [2, 3, 4]], 2, truncating="post", padding="post"), [[1, 0], [2, 3]]),
        (lambda: S.pad_sequences([[1], [2, 3, 4]], 2, value=7, dtype="float32"), [[7.0, 1.0], [3.0, 4.0]]),
        (lambda: S.pad_sequences([[[1, 2]], [[3, 4], [5, 6]]]), [[[0, 0], [1, 2]], [[3, 4], [5, 6]]]),
        (lambda: S.pad_sequences([["a"], ["b", "c"]], dtype=object, value="z"), [["z", "a"], ["b", "c"]]),
        (lambda: S.pad_sequences([[], []]), [[], []]),
        (lambda: S.make_sampling_table(5), [0.0031522, 0.0031522, 0.005476, 0.0074156, 0.0091282]),
        (lambda: S.make_sampling_table(5, 1e-3), [0.031522, 0.031522, 0.05476, 0.074156, 0.091282]),
        (lambda: S.skipgrams([1, 2, 0, 3], 4, 1, 0.0, False), [[[1, 2], [2, 1]], [1, 1]]),
        (lambda: S.skipgrams([1, 2, 0, 3], 4, 2, 0.0, False, True), [[[1, 2], [2, 1], [2, 3], [3, 2]], [[0, 1], [0, 1], [0, 1], [0, 1]]]),
        (lambda: len(S.skipgrams([1, 2, 3], 4, 1, 1.0)[0]), 8),
        (lambda: len(S.skipgrams([1, 2, 3], 4, 1, 0.5)[1]), 6),
        (lambda: [sum(S.skipgrams([1, 2, 3], 4, 1, 1.0, seed=3)[1])], [4]),
        (lambda: S.skipgrams([1, 2, 3], 4, sampling_table=[0.0] * 4), [[], []]),
        (lambda: len(S.TimeseriesGenerator(np.arange(10), np.arange(10), 3, batch_size=2)), 4),
        (lambda: S.TimeseriesGenerator(np.arange(10), np.arange(10), 3, batch_size=2)[0], [[[0, 1, 2], [1, 2, 3]], [3, 4]]),
        (lambda: S.TimeseriesGenerator(np.arange(10), np.arange(10), 3, batch_size=2)[3], [[[6, 7, 8]], [9]]),
        (lambda: S.TimeseriesGenerator(np.arange(10), np.arange(10), 4, 2, 2, batch_size=2)[0], [[[0, 2], [2, 4]], [4, 6]]),
        (
            lambda: S.TimeseriesGenerator(np.arange(10), np.arange(10), 3, start_index=2, end_index=7, reverse=True)[0],
            [[[4, 3, 2], [5, 4, 3], [6, 5, 4]], [5, 6, 7]],
        ),
        (lambda: len(S.TimeseriesGenerator(np.arange(10), np.arange(10), 3, stride=3, batch_size=2)), 2),
        (
            lambda: S.TimeseriesGenerator([1, 2, 3], [1, 2, 3], 2).get_config(),
            {
                "data": "[1, 2, 3]",
                "targets": "[1, 2, 3]",
                "length": 2,
                "sampling_rate": 1,
                "stride": 1,
                "start_index": 2,
                "end_index": 2,
                "shuffle": False,
                "reverse": False,
                "batch_size": 128,
            },
        ),
        (lambda: X.text_to_word_sequence("Hello, World! a"), ["hello", "world", "a"]),
        (lambda: X.text_to_word_sequence("Hello, World! a", lower=False), ["Hello", "World", "a"]),
        (lambda: X.text_to_word_sequence("Hello, World! a", filters="l"), ["he", "o,", "wor", "d!", "a"]),
        (lambda: X.text_to_word_sequence("a-b-c", filters="", split="-"), ["a", "b", "c"]),
        (lambda: X.one_hot("a b a", 5) == X.one_hot("a b a", 5), True),
        (lambda: X.hashing_trick("a b a", 10, "md5"), [2, 5, 2]),
        (lambda: X.hashing_trick("A b", 10, lambda word: len(word) + 4), [6, 6]),
        (lambda: X.hashing_trick("A,b", 10, "md5", "", False, ","), [5, 5]),
        (
            lambda: (lambda k: (k.fit_on_texts(["a b a", "b c"]), k.word_index, dict(k.word_counts), dict(k.word_docs), k.document_count))(
                X.Tokenizer()
            ),
            [None, {"a": 1, "b": 2, "c": 3}, {"a": 2, "b": 2, "c": 1}, {"b": 2, "a": 1, "c": 1}, 2],
        ),
        (
            lambda: (lambda k: (k.fit_on_texts(["a b a", "b c"]), k.texts_to_sequences(["a c d"]), k.sequences_to_texts([[1, 3]])))(
                X.Tokenizer()
            ),
            [None, [[1, 3]], ["a c"]],
        ),
        (
            lambda: (lambda k: (k.fit_on_texts(["a b a", "b c"]), k.texts_to_sequences(["a c d"]), k.sequences_to_texts([[1, 3, 9]])))(
                X.Tokenizer(oov_token="?")
            ),
            [None, [[2, 4, 1]], ["? b ?"]],
        ),
        (
            lambda: (lambda k: (k.fit_on_texts(["a b a", "b c"]), k.texts_to_sequences(["a c d b"])))(X.Tokenizer(num_words=3)),
            [None, [[1, 2]]],
        ),
        (
            lambda: (lambda k: (k.fit_on_texts(["a b a", "b c"]), k.texts_to_sequences(["a c d b"])))(
                X.Tokenizer(num_words=3, oov_token="?")
            ),
            [None, [[2, 1, 1, 1]]],
        ),
        (lambda: (lambda k: (k.fit_on_texts(["ab a"]), k.word_index))(X.Tokenizer(char_level=True)), [None, {"a": 1, "b": 2, " ": 3}]),
        (lambda: (lambda k: (k.fit_on_texts(["A B"]), k.word_index))(X.Tokenizer(lower=False)), [None, {"A": 1, "B": 2}]),
        (
            lambda: (lambda k: (k.fit_on_texts([["A", "B"], ["b"]]), k.word_index, k.texts_to_sequences([["a", "b"]])))(X.Tokenizer()),
            [None, {"b": 1, "a": 2}, [[2, 1]]],
        ),
        (
            lambda: [
                (lambda k: (k.fit_on_texts(["a b a", "b c"]), k.texts_to_matrix(["a a b", "c"], m)))(X.Tokenizer())[1]
                for m in ("binary", "count", "freq", "tfidf")
            ],
            [
                [[0.0, 1.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]],
                [[0.0, 2.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]],
                [[0.0, 0.66667, 0.33333, 0.0], [0.0, 0.0, 0.0, 1.0]],
                [[0.0, 1.1736, 0.51083, 0.0], [0.0, 0.0, 0.0, 0.69315]],
            ],
        ),
        (
            lambda: (lambda k: (k.fit_on_sequences([[1, 2], [2]]), k.sequences_to_matrix([[1, 2, 2]], "tfidf")))(X.Tokenizer(num_words=4)),
            [None, [[0.0, 0.69315, 0.8649, 0.0]]],
        ),
        (lambda: X.Tokenizer(num_words=4).sequences_to_matrix([[1, 2, 2, 5]], "count"), [[0.0, 1.0, 2.0, 0.0]]),
        (
            lambda: X.Tokenizer().get_config(),
            {
                "num_words": None,
                "filters": '!"#$%&()*+,-./:;<=>?@[\\]^_`{|}~\t\n',
                "lower": True,
                "split": " ",
                "char_level": False,
                "oov_token": None,
                "document_count": 0,
                "word_counts": "{}",
                "word_docs": "{}",
                "index_docs": "{}",
                "index_word": "{}",
                "word_index": "{}",
            },
        ),
    ],
)
def test_texts_and_sequences_are_prepared(made, expected):
    assert described(made()) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: S.pad_sequences([["a"], ["b", "c"]], value="z"), "ValueError: `dtype` int32 is not compatible with `value`'s type:"),
        (lambda: S.pad_sequences([[1], [2]], padding="x"), 'ValueError: Padding type "x" not understood'),
        (lambda: S.pad_sequences([[1], [2]], truncating="x"), 'ValueError: Truncating type "x" not understood'),
        (lambda: S.pad_sequences([[1], 2]), "ValueError: `sequences` must be a list of iterables. Found non-iterable: 2"),
        (lambda: S.pad_sequences(5), "ValueError: `sequences` must be iterable."),
        (
            lambda: S.pad_sequences([[[1, 2]], [[3], [5]]]),
            "ValueError: Shape of sample (1,) of sequence at position 1 is different from expected shape (2,)",
        ),
        (
            lambda: S.TimeseriesGenerator(np.arange(10), np.arange(9), 3),
            "ValueError: Data and targets have to be of same length. Data length is 10 while target length is 9",
        ),
        (
            lambda: S.TimeseriesGenerator(np.arange(10), np.arange(10), 10),
            "ValueError: `start_index+length=10 > end_index=9` is disallowed, as no part of the sequence would be",
        ),
        (
            lambda: (lambda k: (k.fit_on_texts(["a b a", "b c"]), k.texts_to_matrix(["a"], "x")))(X.Tokenizer()),
            "ValueError: ('Unknown vectorization mode:', 'x')",
        ),
        (
            lambda: X.Tokenizer().sequences_to_matrix([[1]]),
            "ValueError: Specify a dimension (`num_words` argument), or fit on some text data first.",
        ),
        (
            lambda: X.Tokenizer(num_words=4).sequences_to_matrix([[1]], "tfidf"),
            "ValueError: Fit the Tokenizer on some data before using tfidf mode.",
        ),
        (lambda: X.Tokenizer(a=1), "TypeError: Unrecognized keyword arguments: {'a': 1}"),
    ],
)
def test_texts_and_sequences_are_prepared_or_are_refused(made, expected):
    assert refused(lambda: described(made())).startswith(expected)


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: U.to_categorical([0, 2]), [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]),
        (lambda: U.to_categorical([0, 2], 4), [[1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]]),
        (lambda: U.to_categorical([[0], [1]], dtype="int32"), [[1, 0], [0, 1]]),
        (lambda: U.to_categorical([[0, 1]]), [[[1.0, 0.0], [0.0, 1.0]]]),
        (lambda: U.normalize(f32(2, 2)), [[0.44721, 0.89443], [0.6, 0.8]]),
        (lambda: U.normalize(f32(2, 2), 0), [[0.31623, 0.44721], [0.94868, 0.89443]]),
        (lambda: U.normalize(f32(2, 2), order=1), [[0.33333, 0.66667], [0.42857, 0.57143]]),
        (lambda: U.get_custom_objects(), {}),
        (lambda: U.deserialize_keras_object("Dense", {"Dense": 3}), 3),
        (lambda: U.deserialize_keras_object("Dense", custom_objects={"Dense": 3}), 3),
        (lambda: tf.keras.backend.floatx(), "float32"),
        (lambda: tf.keras.backend.epsilon(), 1e-07),
        (lambda: tf.keras.backend.image_data_format(), "channels_last"),
    ],
)
def test_small_tools(made, expected):
    assert described(made()) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: U.serialize_keras_object(3), "ValueError: ('Cannot serialize', 3)"),
        (lambda: U.deserialize_keras_object("x", {}), "ValueError: Unknown object:x"),
        (lambda: U.deserialize_keras_object({"class_name": "x"}, {}), "ValueError: Improper config format: {'class_name': 'x'}"),
        (
            lambda: U.deserialize_keras_object({"class_name": "x", "config": {}}, {}, printable_module_name="thing"),
            "ValueError: Unknown thing: x",
        ),
        (lambda: tf.keras.backend.set_floatx("x"), "ValueError: Unknown floatx type: x"),
        (lambda: tf.keras.backend.set_image_data_format("x"), "ValueError: Unknown data_format: x"),
    ],
)
def test_small_tools_or_are_refused(made, expected):
    assert refused(lambda: described(made())).startswith(expected)
