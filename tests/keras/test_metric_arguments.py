"""Losses and metrics: defaults, names, weights of several shapes, ragged values, configs, resets; values are those of 1.15.5."""

import numpy as np
import pytest
from plain import plain, refused

import everflow as tf

M, L, K, keras = tf.keras.metrics, tf.keras.losses, tf.keras.backend, tf.keras
T = np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]], np.float32)
P = np.array([[0.1, 0.7, 0.2], [0.3, 0.6, 0.1]], np.float32)
Y, S = np.array([0.0, 1.0, 1.0, 0.0]), np.array([0.1, 0.8, 0.3, 0.6])


def told(metric, *batches, kwargs=None):
    """What a metric says after each batch, and after a reset."""
    found = []
    for batch in batches:
        update = metric.update_state(*batch, **(kwargs or {}))
        K.get_session()
        K.get_session().run([v.initializer for v in metric.variables] if not found else [])
        K.get_session().run(update)
        found.append(K.get_value(metric.result()))
    metric.reset_states()
    return [*found, [float(np.abs(K.get_value(v)).sum()) for v in metric.variables], [v.name for v in metric.variables][:2]]


def described(thing):
    again = type(thing).from_config(thing.get_config())
    assert plain(again.get_config()) == plain(thing.get_config())
    return thing.get_config()


def defaults(module, *names):
    return [[n, getattr(module, n)().name, plain(getattr(module, n)().get_config(), 4)] for n in names]


def losses(loss, *args):
    return [K.get_value(loss(*args[:2])), K.get_value(loss(*args))]


def three(loss, y=T, p=P):
    """The loss alone, weighted, summed up, and of each sample."""
    weights = np.array([2.0, 0.5], np.float32)
    made = [loss(), loss(reduction="sum"), loss(reduction="none")]
    return [K.get_value(made[0](y, p, sample_weight=weights)), *[K.get_value(m(y, p)) for m in made], made[0].name]


RAGGED = lambda *rows: tf.ragged.constant(rows, dtype=tf.float32)
CUBE = np.arange(12.0).reshape(2, 3, 2)


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: told(M.Mean(), (CUBE,), (CUBE[0], 2.0)), [5.5, 4.0, [0.0, 0.0], ["total:0", "count:0"]]),
        (lambda: told(M.Mean("m", "float64"), (CUBE, np.array([1.0, 3.0]))), [7.0, [0.0, 0.0], ["total:0", "count:0"]]),
        (lambda: told(M.Mean(), (CUBE, np.array([[1.0], [3.0]]))), [7.0, [0.0, 0.0], ["total:0", "count:0"]]),
        (lambda: told(M.Mean(), (CUBE, np.ones((2, 3, 1)) * [[[1.0], [2.0], [0.0]]])), [4.833, [0.0, 0.0], ["total:0", "count:0"]]),
        (lambda: told(M.Sum(), (CUBE, np.array([1.0, 3.0])), (CUBE,)), [168.0, 234.0, [0.0], ["total:0"]]),
        (lambda: told(M.Sum(), (5.0, 2.0)), [10.0, [0.0], ["total:0"]]),
        (
            lambda: told(M.MeanTensor(), (CUBE[0],), (CUBE[1], np.array([1.0, 0.0, 3.0])), (CUBE[1], 0.5)),
            [
                [[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]],
                [[3.0, 4.0], [2.0, 3.0], [8.5, 9.5]],
                [[3.6, 4.6], [4.0, 5.0], [8.667, 9.667]],
                [0.0, 0.0],
                ["total:0", "count:0"],
            ],
        ),
        (
            lambda: told(M.MeanTensor(), (CUBE[0], np.array([[1.0], [0.0], [3.0]]))),
            [[[0.0, 1.0], [0.0, 0.0], [4.0, 5.0]], [0.0, 0.0], ["total:0", "count:0"]],
        ),
        (lambda: [M.MeanTensor().total, M.MeanTensor().count, M.MeanTensor().reset_states()], [None, None, None]),
        (
            lambda: told(M.MeanRelativeError(np.array([1.0, 3.0])), (np.array([1.0, 3.0]), np.array([2.0, 5.0]), np.array([1.0, 0.5]))),
            [0.8889, [0.0, 0.0], ["total:0", "count:0"]],
        ),
        (lambda: described(M.MeanRelativeError([1.0, 0.0], name="r")), {"name": "r", "dtype": "float32", "normalizer": [1.0, 0.0]}),
        (lambda: told(M.MeanRelativeError([0.0, 2.0]), ([1.0, 3.0], [2.0, 5.0])), [0.5, [0.0, 0.0], ["total:0", "count:0"]]),
        (
            lambda: told(M.RootMeanSquaredError(), (Y, S, np.array([1.0, 0.0, 2.0, 1.0])), (Y, Y)),
            [0.5809, 0.4108, [0.0, 0.0], ["total:0", "count:0"]],
        ),
        (
            lambda: told(M.MeanSquaredLogarithmicError(), (T, P), (T, P, np.array([1.0, 0.0]))),
            [0.08072, 0.06145, [0.0, 0.0], ["total:0", "count:0"]],
        ),
        (
            lambda: told(M.Accuracy(), ([[1.0], [2.0]], [1.0, 3.0]), ([1, 2], [1, 2], [0.0, 3.0])),
            [0.5, 0.8, [0.0, 0.0], ["total:0", "count:0"]],
        ),
        (
            lambda: told(M.BinaryAccuracy(), (Y[:, None], S[:, None]), (Y[:, None], S[:, None], [1.0, 2.0, 3.0, 4.0])),
            [0.5, 0.3571, [0.0, 0.0], ["total:0", "count:0"]],
        ),
        (
            lambda: told(M.SparseCategoricalAccuracy(), ([[1], [0]], P), ([1, 1], P, [0.5, 1.0])),
            [0.5, 0.7143, [0.0, 0.0], ["total:0", "count:0"]],
        ),
        (lambda: told(M.SparseCategoricalAccuracy(), (np.array([[1, 0]]), P[None])), [0.5, [0.0, 0.0], ["total:0", "count:0"]]),
        (lambda: told(M.CategoricalAccuracy(), (T[None], P[None], [[1.0, 3.0]])), [0.25, [0.0, 0.0], ["total:0", "count:0"]]),
        (lambda: told(M.TopKCategoricalAccuracy(1), (T, P, [1.0, 4.0])), [0.2, [0.0, 0.0], ["total:0", "count:0"]]),
        (lambda: told(M.SparseTopKCategoricalAccuracy(1), ([[1], [2]], P)), [0.5, [0.0, 0.0], ["total:0", "count:0"]]),
        (lambda: told(M.Accuracy(), (RAGGED([1.0, 2.0], [3.0]), RAGGED([1.0, 2.0], [4.0]))), [0.6667, [0.0, 0.0], ["total:0", "count:0"]]),
        (
            lambda: told(M.MeanAbsoluteError(), (RAGGED([1.0, 2.0], [3.0]), RAGGED([1.0, 3.0], [5.0])))[1:],
            [[0.0, 0.0], ["total:0", "count:0"]],
        ),
        (
            lambda: told(M.Precision(), (Y, S), (Y, S, [0.0, 1.0, 1.0, 1.0])),
            [0.5, 0.5, [0.0, 0.0], ["true_positives:0", "false_positives:0"]],
        ),
        (lambda: told(M.Precision([0.2, 0.5, 0.7]), (Y, S)), [[0.6667, 0.5, 1.0], [0.0, 0.0], ["true_positives:0", "false_positives:0"]]),
        (lambda: told(M.Precision(top_k=2, class_id=1), (T, P)), [0.5, [0.0, 0.0], ["true_positives:0", "false_positives:0"]]),
        (lambda: told(M.Precision(thresholds=0.25, class_id=0), (T, P)), [1.0, [0.0, 0.0], ["true_positives:0", "false_positives:0"]]),
        (lambda: told(M.Recall(top_k=1), (T, P, [1.0, 3.0])), [0.25, [0.0, 0.0], ["true_positives:0", "false_negatives:0"]]),
        (lambda: told(M.Recall(0.65), (Y, S, [1.0, 1.0, 3.0, 1.0])), [0.25, [0.0, 0.0], ["true_positives:0", "false_negatives:0"]]),
        (
            lambda: told(M.TruePositives([0.2, 0.5]), (Y, S, [1.0, 2.0, 3.0, 4.0]), (Y, S)),
            [[5.0, 2.0], [7.0, 3.0], [0.0], ["accumulator:0"]],
        ),
        (lambda: told(M.FalsePositives(), (T, P, [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])), [5.0, [0.0], ["accumulator:0"]]),
        (lambda: told(M.TrueNegatives(0.15), (T, P, [2.0, 3.0])), [5.0, [0.0], ["accumulator:0"]]),
        (lambda: told(M.FalseNegatives(), (T, P, [[2.0], [3.0]])), [3.0, [0.0], ["accumulator:0"]]),
        (
            lambda: told(M.AUC(), (Y, S), (Y, S, [1.0, 2.0, 1.0, 2.0])),
            [0.75, 0.76, [0.0, 0.0, 0.0, 0.0], ["true_positives:0", "true_negatives:0"]],
        ),
        (lambda: told(M.AUC(3), (Y, S)), [0.5, [0.0, 0.0, 0.0, 0.0], ["true_positives:0", "true_negatives:0"]]),
        (lambda: told(M.AUC(7, "PR", "minoring"), (Y, S)), [0.25, [0.0, 0.0, 0.0, 0.0], ["true_positives:0", "true_negatives:0"]]),
        (lambda: told(M.AUC(7, "pr", "majoring"), (Y, S)), [0.8333, [0.0, 0.0, 0.0, 0.0], ["true_positives:0", "true_negatives:0"]]),
        (
            lambda: told(M.AUC(7, summation_method="majoring"), (Y, S)),
            [0.75, [0.0, 0.0, 0.0, 0.0], ["true_positives:0", "true_negatives:0"]],
        ),
        (lambda: told(M.AUC(thresholds=[0.7, 0.2]), (Y, S)), [0.875, [0.0, 0.0, 0.0, 0.0], ["true_positives:0", "true_negatives:0"]]),
        (
            lambda: described(M.AUC(thresholds=[0.7, 0.2], curve="PR", summation_method="minoring", name="a")),
            {"name": "a", "dtype": "float32", "num_thresholds": 4, "curve": "PR", "summation_method": "minoring", "thresholds": [0.2, 0.7]},
        ),
        (
            lambda: told(M.SensitivityAtSpecificity(0.4, 5), (Y, S), (Y, S, [1.0, 3.0, 1.0, 1.0])),
            [1.0, 1.0, [0.0, 0.0, 0.0, 0.0], ["true_positives:0", "true_negatives:0"]],
        ),
        (lambda: told(M.SensitivityAtSpecificity(0.4, 1), (Y, S)), [0.5, [0.0, 0.0, 0.0, 0.0], ["true_positives:0", "true_negatives:0"]]),
        (lambda: told(M.SpecificityAtSensitivity(0.9, 5), (Y, S)), [0.0, [0.0, 0.0, 0.0, 0.0], ["true_positives:0", "true_negatives:0"]]),
        (lambda: told(M.SpecificityAtSensitivity(0.9, 2), (Y, S)), [0.0, [0.0, 0.0, 0.0, 0.0], ["true_positives:0", "true_negatives:0"]]),
        (
            lambda: [described(M.SpecificityAtSensitivity(0.9, 5)), described(M.SensitivityAtSpecificity(0.3))],
            [
                {"name": "specificity_at_sensitivity", "dtype": "float32", "num_thresholds": 5, "sensitivity": 0.9},
                {"name": "sensitivity_at_specificity", "dtype": "float32", "num_thresholds": 200, "specificity": 0.3},
            ],
        ),
        (
            lambda: told(
                M.MeanIoU(3),
                (K.constant([0, 1, 2, 2]), K.constant([0, 2, 2, 1])),
                (K.constant([0, 1]), K.constant([0, 1]), K.constant([3, 1])),
            ),
            [0.4444, 0.5556, [0.0], ["total_confusion_matrix:0"]],
        ),
        (lambda: told(M.MeanIoU(2, "i", "float64"), ([[0, 1]], [[0, 0]])), [0.25, [0.0], ["total_confusion_matrix:0"]]),
        (
            lambda: [described(M.MeanIoU(3)), described(M.TruePositives([0.2, 0.5])), described(M.FalseNegatives())],
            [
                {"name": "mean_io_u", "dtype": "float32", "num_classes": 3},
                {"name": "true_positives", "dtype": "float32", "thresholds": [0.2, 0.5]},
                {"name": "false_negatives", "dtype": "float32", "thresholds": None},
            ],
        ),
        (
            lambda: [described(M.Precision(top_k=3, class_id=1)), described(M.Recall(0.3, name="r"))],
            [
                {"name": "precision", "dtype": "float32", "thresholds": None, "top_k": 3, "class_id": 1},
                {"name": "r", "dtype": "float32", "thresholds": 0.3, "top_k": None, "class_id": None},
            ],
        ),
        (
            lambda: defaults(M, "Mean", "Sum", "MeanTensor", "RootMeanSquaredError", "Accuracy", "BinaryAccuracy", "CategoricalAccuracy"),
            [
                ["Mean", "mean", {"name": "mean", "dtype": "float32"}],
                ["Sum", "sum", {"name": "sum", "dtype": "float32"}],
                ["MeanTensor", "mean_tensor", {"name": "mean_tensor", "dtype": "float32"}],
                ["RootMeanSquaredError", "root_mean_squared_error", {"name": "root_mean_squared_error", "dtype": "float32"}],
                ["Accuracy", "accuracy", {"name": "accuracy", "dtype": "float32"}],
                ["BinaryAccuracy", "binary_accuracy", {"name": "binary_accuracy", "dtype": "float32", "threshold": 0.5}],
                ["CategoricalAccuracy", "categorical_accuracy", {"name": "categorical_accuracy", "dtype": "float32"}],
            ],
        ),
        (
            lambda: defaults(M, "SparseCategoricalAccuracy", "TopKCategoricalAccuracy", "SparseTopKCategoricalAccuracy", "AUC")[:3],
            [
                ["SparseCategoricalAccuracy", "sparse_categorical_accuracy", {"name": "sparse_categorical_accuracy", "dtype": "float32"}],
                [
                    "TopKCategoricalAccuracy",
                    "top_k_categorical_accuracy",
                    {"name": "top_k_categorical_accuracy", "dtype": "float32", "k": 5},
                ],
                [
                    "SparseTopKCategoricalAccuracy",
                    "sparse_top_k_categorical_accuracy",
                    {"name": "sparse_top_k_categorical_accuracy", "dtype": "float32", "k": 5},
                ],
            ],
        ),
        (
            lambda: defaults(M, "MeanSquaredError", "MeanAbsoluteError", "MeanAbsolutePercentageError", "MeanSquaredLogarithmicError"),
            [
                ["MeanSquaredError", "mean_squared_error", {"name": "mean_squared_error", "dtype": "float32"}],
                ["MeanAbsoluteError", "mean_absolute_error", {"name": "mean_absolute_error", "dtype": "float32"}],
                [
                    "MeanAbsolutePercentageError",
                    "mean_absolute_percentage_error",
                    {"name": "mean_absolute_percentage_error", "dtype": "float32"},
                ],
                [
                    "MeanSquaredLogarithmicError",
                    "mean_squared_logarithmic_error",
                    {"name": "mean_squared_logarithmic_error", "dtype": "float32"},
                ],
            ],
        ),
        (
            lambda: defaults(M, "Hinge", "SquaredHinge", "CategoricalHinge", "LogCoshError", "Poisson", "KLDivergence", "CosineSimilarity"),
            [
                ["Hinge", "hinge", {"name": "hinge", "dtype": "float32"}],
                ["SquaredHinge", "squared_hinge", {"name": "squared_hinge", "dtype": "float32"}],
                ["CategoricalHinge", "categorical_hinge", {"name": "categorical_hinge", "dtype": "float32"}],
                ["LogCoshError", "logcosh", {"name": "logcosh", "dtype": "float32"}],
                ["Poisson", "poisson", {"name": "poisson", "dtype": "float32"}],
                ["KLDivergence", "kullback_leibler_divergence", {"name": "kullback_leibler_divergence", "dtype": "float32"}],
                ["CosineSimilarity", "cosine_similarity", {"name": "cosine_similarity", "dtype": "float32", "axis": -1}],
            ],
        ),
        (
            lambda: defaults(M, "BinaryCrossentropy", "CategoricalCrossentropy", "SparseCategoricalCrossentropy"),
            [
                [
                    "BinaryCrossentropy",
                    "binary_crossentropy",
                    {"name": "binary_crossentropy", "dtype": "float32", "from_logits": False, "label_smoothing": 0},
                ],
                [
                    "CategoricalCrossentropy",
                    "categorical_crossentropy",
                    {"name": "categorical_crossentropy", "dtype": "float32", "from_logits": False, "label_smoothing": 0},
                ],
                [
                    "SparseCategoricalCrossentropy",
                    "sparse_categorical_crossentropy",
                    {"name": "sparse_categorical_crossentropy", "dtype": "float32", "from_logits": False, "axis": -1},
                ],
            ],
        ),
        (
            lambda: defaults(M, "TruePositives", "FalsePositives", "TrueNegatives", "FalseNegatives", "Precision", "Recall"),
            [
                ["TruePositives", "true_positives", {"name": "true_positives_1", "dtype": "float32", "thresholds": None}],
                ["FalsePositives", "false_positives", {"name": "false_positives_1", "dtype": "float32", "thresholds": None}],
                ["TrueNegatives", "true_negatives", {"name": "true_negatives_1", "dtype": "float32", "thresholds": None}],
                ["FalseNegatives", "false_negatives", {"name": "false_negatives_1", "dtype": "float32", "thresholds": None}],
                [
                    "Precision",
                    "precision",
                    {"name": "precision_1", "dtype": "float32", "thresholds": None, "top_k": None, "class_id": None},
                ],
                ["Recall", "recall", {"name": "recall_1", "dtype": "float32", "thresholds": None, "top_k": None, "class_id": None}],
            ],
        ),
        (
            lambda: [M.AUC().name, M.AUC().num_thresholds, len(M.AUC().thresholds), M.AUC().thresholds[:2], M.MeanIoU(2).name],
            ["auc", 200, 200, [-1e-07, 0.005025], "mean_io_u"],
        ),
        (
            lambda: [M.SensitivityAtSpecificity(0.5).num_thresholds, M.SpecificityAtSensitivity(0.5).name, M.MeanRelativeError(1.0).name],
            [200, "specificity_at_sensitivity", "mean_relative_error"],
        ),
        (lambda: told(M.BinaryCrossentropy(from_logits=True), (T, P)), [0.7137, [0.0, 0.0], ["total:0", "count:0"]]),
        (
            lambda: told(M.CategoricalCrossentropy(from_logits=True, label_smoothing=0.2), (T, P)),
            [0.994, [0.0, 0.0], ["total:0", "count:0"]],
        ),
        (
            lambda: told(M.SparseCategoricalCrossentropy(from_logits=True, axis=-1), ([1, 0], P)),
            [0.9606, [0.0, 0.0], ["total:0", "count:0"]],
        ),
        (lambda: told(M.CosineSimilarity(axis=0), (T, P)), [0.5693, [0.0, 0.0], ["total:0", "count:0"]]),
        (
            lambda: [described(M.BinaryCrossentropy(from_logits=True, label_smoothing=0.3)), described(M.CosineSimilarity(axis=1))],
            [
                {"name": "binary_crossentropy", "dtype": "float32", "from_logits": True, "label_smoothing": 0.3},
                {"name": "cosine_similarity", "dtype": "float32", "axis": 1},
            ],
        ),
        (
            lambda: [described(M.SparseCategoricalCrossentropy(axis=1)), described(M.CategoricalCrossentropy(label_smoothing=0.5))],
            [
                {"name": "sparse_categorical_crossentropy", "dtype": "float32", "from_logits": False, "axis": 1},
                {"name": "categorical_crossentropy", "dtype": "float32", "from_logits": False, "label_smoothing": 0.5},
            ],
        ),
        (
            lambda: defaults(L, "MeanSquaredError", "MeanAbsoluteError", "MeanAbsolutePercentageError", "MeanSquaredLogarithmicError"),
            [
                ["MeanSquaredError", "mean_squared_error", {"reduction": "auto", "name": "mean_squared_error"}],
                ["MeanAbsoluteError", "mean_absolute_error", {"reduction": "auto", "name": "mean_absolute_error"}],
                [
                    "MeanAbsolutePercentageError",
                    "mean_absolute_percentage_error",
                    {"reduction": "auto", "name": "mean_absolute_percentage_error"},
                ],
                [
                    "MeanSquaredLogarithmicError",
                    "mean_squared_logarithmic_error",
                    {"reduction": "auto", "name": "mean_squared_logarithmic_error"},
                ],
            ],
        ),
        (
            lambda: defaults(L, "BinaryCrossentropy", "CategoricalCrossentropy", "SparseCategoricalCrossentropy", "Hinge", "SquaredHinge"),
            [
                [
                    "BinaryCrossentropy",
                    "binary_crossentropy",
                    {"reduction": "auto", "name": "binary_crossentropy", "from_logits": False, "label_smoothing": 0},
                ],
                [
                    "CategoricalCrossentropy",
                    "categorical_crossentropy",
                    {"reduction": "auto", "name": "categorical_crossentropy", "from_logits": False, "label_smoothing": 0},
                ],
                [
                    "SparseCategoricalCrossentropy",
                    "sparse_categorical_crossentropy",
                    {"reduction": "auto", "name": "sparse_categorical_crossentropy", "from_logits": False},
                ],
                ["Hinge", "hinge", {"reduction": "auto", "name": "hinge"}],
                ["SquaredHinge", "squared_hinge", {"reduction": "auto", "name": "squared_hinge"}],
            ],
        ),
        (
            lambda: defaults(L, "CategoricalHinge", "Poisson", "LogCosh", "KLDivergence", "Huber", "CosineSimilarity"),
            [
                ["CategoricalHinge", "categorical_hinge", {"reduction": "auto", "name": "categorical_hinge"}],
                ["Poisson", "poisson", {"reduction": "auto", "name": "poisson"}],
                ["LogCosh", "logcosh", {"reduction": "auto", "name": "logcosh"}],
                ["KLDivergence", "kullback_leibler_divergence", {"reduction": "auto", "name": "kullback_leibler_divergence"}],
                ["Huber", "huber_loss", {"reduction": "auto", "name": "huber_loss", "delta": 1.0}],
                ["CosineSimilarity", "cosine_similarity", {"reduction": "auto", "name": "cosine_similarity", "axis": -1}],
            ],
        ),
        (
            lambda: [three(L.SquaredHinge), three(L.CategoricalHinge), three(L.MeanAbsolutePercentageError, T + 1, P)],
            [
                [1.268, 1.167, 2.333, [0.9133, 1.42], "squared_hinge"],
                [0.825, 0.9, 1.8, [0.5, 1.3], "categorical_hinge"],
                [96.25, 75.0, 150.0, [78.33, 71.67], "mean_absolute_percentage_error"],
            ],
        ),
        (
            lambda: [three(L.MeanSquaredLogarithmicError), three(L.Hinge), three(L.Huber), three(L.CosineSimilarity)],
            [
                [0.05754, 0.08072, 0.1614, [0.02291, 0.1385], "mean_squared_logarithmic_error"],
                [1.15, 1.0, 2.0, [0.8667, 1.133], "hinge"],
                [0.05917, 0.08333, 0.5, [[0.005, 0.045, 0.02], [0.245, 0.18, 0.005]], "huber_loss"],
                [1.063, 0.6975, 1.395, [0.9526, 0.4423], "cosine_similarity"],
            ],
        ),
        (
            lambda: [described(L.SparseCategoricalCrossentropy(True, reduction="sum")), described(L.CategoricalCrossentropy(True, 0.5))],
            [
                {"reduction": "sum", "name": "sparse_categorical_crossentropy", "from_logits": True},
                {"reduction": "auto", "name": "categorical_crossentropy", "from_logits": True, "label_smoothing": 0.5},
            ],
        ),
        (lambda: losses(L.MeanSquaredError(), T[..., None], P[..., None], np.array([1.0, 3.0])), [0.1667, 0.4533]),
        (lambda: losses(L.MeanSquaredError(), T[..., None], P[..., None], np.array([[1.0, 3.0, 0.0], [1.0, 1.0, 0.0]])), [0.1667, 0.1883]),
        (lambda: losses(L.MeanAbsoluteError(reduction="sum_over_batch_size"), T, P, np.array([[1.0], [3.0]])), [0.3333, 0.8]),
        (lambda: losses(L.SparseCategoricalCrossentropy(), [[1], [0]], tf.constant(P), 0.5), [0.7803, 0.3902]),
        (lambda: losses(L.BinaryCrossentropy(label_smoothing=0.2), T, P, [1.0, 0.0]), [0.5747, 0.188]),
        (
            lambda: [K.get_value(f(T, P)) for f in (L.mean_squared_error, L.squared_hinge, L.poisson, L.kullback_leibler_divergence)],
            [[0.04667, 0.2867], [0.9133, 1.42], [0.4522, 0.7347], [0.3567, 1.204]],
        ),
        (lambda: [K.get_value(L.categorical_crossentropy(T, tf.constant(P), from_logits=True, label_smoothing=0.3))], [[0.8779, 1.143]]),
        (
            lambda: [K.get_value(L.binary_crossentropy(T, tf.constant(P), True)), K.get_value(L.cosine_similarity(T, P, axis=0))],
            [[0.6486, 0.7787], [0.9487, 0.7593, 0.0]],
        ),
        (lambda: [K.get_value(L.sparse_categorical_crossentropy([1, 0], tf.constant(P), True))], [[0.7679, 1.153]]),
        (
            lambda: [
                L.get("kld").__name__,
                L.get("MSLE").__name__,
                L.get({"class_name": "Huber", "config": {"delta": 2.0}}).name,
                L.get(len).__name__,
            ],
            ["kullback_leibler_divergence", "mean_squared_logarithmic_error", "huber_loss", "len"],
        ),
        (lambda: [M.get({"class_name": "AUC", "config": {"num_thresholds": 4}}).num_thresholds, M.get(len).__name__], [4, "len"]),
        (
            lambda: [L.serialize(L.Huber(0.5)), M.serialize(M.Mean(name="m")), M.serialize(M.binary_accuracy)],
            [
                {"class_name": "Huber", "config": {"reduction": "auto", "name": "huber_loss", "delta": 0.5}},
                {"class_name": "Mean", "config": {"name": "m", "dtype": "float32"}},
                "binary_accuracy",
            ],
        ),
        (lambda: K.get_value(M.binary_accuracy(K.constant([[1.0], [0.0]]), K.constant([[0.6], [0.7]]), threshold=0.65)), [0.0, 0.0]),
        (
            lambda: [
                K.get_value(M.sparse_categorical_accuracy(K.constant([[1], [1]]), K.constant(P))),
                K.get_value(M.categorical_accuracy(T, P)),
            ],
            [[1.0, 1.0], [1.0, 0.0]],
        ),
        (lambda: K.get_value(M.top_k_categorical_accuracy(T, P, 1)), [1.0, 0.0]),
    ],
)
def test_losses_and_metrics_with_arguments(made, expected):
    assert plain(made(), 4) == expected


@pytest.mark.parametrize(
    ("wrong", "expected"),
    [
        (lambda: M.MeanTensor().result(), "ValueError: MeanTensor does not have any result yet. Please call the M"),
        (lambda: told(M.MeanTensor(), (CUBE,), (CUBE[0],)), "ValueError: MeanTensor input values must always have the same shape. E"),
        (lambda: M.Metric(), "TypeError: Can't instantiate abstract class Metric with"),
        (lambda: M.SpecificityAtSensitivity(1.5), "ValueError: `sensitivity` must be in the range [0, 1]."),
        (lambda: M.SensitivityAtSpecificity(-0.1), "ValueError: `specificity` must be in the range [0, 1]."),
        (lambda: M.AUC(num_thresholds=0), "ValueError: `num_thresholds` must be > 1."),
        (lambda: M.Recall([-0.5, 0.2]), "ValueError: Threshold values must be in [0, 1]. Invalid values: [-0.5]"),
        (lambda: told(M.Precision(), (Y, S * 3)), "InvalidArgumentError: predictions must be <= 1"),
        (lambda: told(M.TruePositives(), (Y, S[:3])), "ValueError: Shapes (3,) and (4,) are incompatible"),
        (lambda: told(M.Accuracy(), (RAGGED([1.0]), [1.0])), "TypeError: One of the inputs does not have acceptable types."),
        (lambda: M.get(3), "ValueError: Could not interpret metric function identifier: 3"),
        (lambda: M.deserialize("odd"), "ValueError: Unknown metric function:odd"),
        (lambda: L.get(3.5), "ValueError: ('Could not interpret loss function identifier:', 3.5)"),
        (lambda: L.deserialize({"class_name": "Odd", "config": {}}), "ValueError: Unknown loss function: Odd"),
        (lambda: L.MeanSquaredError(reduction="odd"), "ValueError: Invalid Reduction Key odd."),
    ],
)
def test_losses_and_metrics_that_cannot_be(wrong, expected):
    # Python's own sentence goes on differently from version to version.
    assert refused(wrong)[:70].startswith(expected)
