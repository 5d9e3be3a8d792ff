"""Heads: losses, metrics and summaries, and what is refused before or while a graph runs; values are those of TensorFlow 1.15.5."""

import pytest
from plain import plain, refused

import everflow as tf
from everflow import internals

est, con, fc, v2 = tf.estimator, tf.contrib.estimator, tf.feature_column, tf.compat.v2.estimator
graph_heads, base, sequential = (
    internals.module(f"tensorflow_estimator.python.estimator.{name}") for name in ("canned.head", "head.base_head", "head.sequential_head")
)


def given(value):
    """Tensors of values."""
    if isinstance(value, dict):
        return {k: given(v) for k, v in value.items()}
    if value is None or isinstance(value, (tf.Tensor, tf.SparseTensor)):
        return value
    return tf.constant(value)


def late(value):
    """A tensor whose shape isn't known before it is there."""
    return tf.placeholder_with_default(tf.constant(value), None)


def evaluated(fetches, updates=()):
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer(), tf.tables_initializer()])
        session.run(updates)
        return session.run(fetches)


def told(head, mode, logits, labels=None, features=None, more=(), **kwargs):
    """The loss, then summaries in training, metrics in evaluation, and predictions elsewhere, but for those named in `more`."""
    if mode == "train":
        kwargs.setdefault("train_op_fn", lambda loss: tf.no_op())
    features = given(features or {"x": [[1.0], [2.0]], "w": [[3.0], [0.5]]})
    spec = head.create_estimator_spec(features=features, mode=mode, logits=given(logits), labels=given(labels), **kwargs)
    if mode == "infer":
        return plain(evaluated({str(k): v for k, v in spec.predictions.items() if k not in more}), 4)
    if mode == "train":
        assert evaluated(spec.train_op) is None
        loss, summary = evaluated([spec.loss, tf.summary.merge_all()])
        return plain([loss, {v.tag: v.simple_value for v in tf.Summary.FromString(summary).value}], 4)
    metrics = spec.eval_metric_ops
    updates = [m[1] if isinstance(m, tuple) else m.updates for m in metrics.values()]
    values = {k: m[0] if isinstance(m, tuple) else m.result() for k, m in metrics.items()}
    return plain(evaluated([spec.loss, values], updates), 4)


ONE, TWO, THREE = [[1.0], [-2.0]], [[1.0, 0.0], [-0.5, 2.0]], [[1.0, 0.0, -1.0], [0.0, 2.0, 0.5]]
OLD, NEW = con.binary_classification_head, v2.BinaryClassHead


def own_loss(labels, logits, features=None):
    """The distance of labels and logits, times a feature."""
    return tf.abs(tf.cast(labels, tf.float32) - logits) * features["w"]


def pair(module, **kwargs):
    """Two heads together."""
    if module is con:
        return con.multi_head([con.regression_head(name="a", label_dimension=2), con.multi_class_head(3, name="b")], **kwargs)
    return v2.MultiHead([v2.RegressionHead(name="a", label_dimension=2), v2.MultiClassHead(3, name="b")], **kwargs)


FIVE = [[1.0, 0.0, 0.5, 2.0, -1.0], [-0.5, 2.0, 0.0, 0.0, 1.0]]
BOTH = {"a": [[1.0, 1.0], [0.0, 2.0]], "b": [[1], [2]]}


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (
            lambda: told(OLD(weight_column="w", name="h"), "train", ONE, [[1], [0]], regularization_losses=[tf.constant(0.5)] * 2),
            [1.502, {"loss/h": 1.502, "regularization_loss/h": 1.0}],
        ),
        (
            lambda: told(OLD(weight_column="w", name="h"), "eval", ONE, [[1], [1]], regularization_losses=[tf.constant(0.5)] * 2),
            [
                2.002,
                {
                    "average_loss/h": 0.5724,
                    "accuracy/h": 0.8571,
                    "precision/h": 1.0,
                    "recall/h": 0.8571,
                    "prediction/mean/h": 0.6437,
                    "label/mean/h": 1.0,
                    "accuracy_baseline/h": 1.0,
                    "auc/h": 0.0,
                    "auc_precision_recall/h": 1.0,
                    "regularization_loss/h": 1.0,
                },
            ],
        ),
        (lambda: told(OLD(loss_reduction="weighted_sum"), "train", ONE, [[1], [0]]), [0.4402, {"loss": 0.4402, "average_loss": 0.2201}]),
        (
            lambda: told(OLD(weight_column=fc.numeric_column("w"), thresholds=[0.3, 0.8]), "eval", ONE, [[0.0], [1.0]]),
            [
                2.502,
                {
                    "average_loss": 1.429,
                    "accuracy": 0.0,
                    "precision": 0.0,
                    "recall": 0.0,
                    "prediction/mean": 0.6437,
                    "label/mean": 0.1429,
                    "accuracy_baseline": 0.8571,
                    "auc": 2e-06,
                    "auc_precision_recall": 0.07143,
                    "accuracy/positive_threshold_0.3": 0.0,
                    "precision/positive_threshold_0.3": 0.0,
                    "recall/positive_threshold_0.3": 0.0,
                    "accuracy/positive_threshold_0.8": 0.8571,
                    "precision/positive_threshold_0.8": 0.0,
                    "recall/positive_threshold_0.8": 0.0,
                },
            ],
        ),
        (
            lambda: told(OLD(label_vocabulary=["n", "y"], loss_fn=own_loss), "eval", ONE, [["y"], ["n"]]),
            [
                0.5,
                {
                    "average_loss": 0.5,
                    "accuracy": 1.0,
                    "precision": 1.0,
                    "recall": 1.0,
                    "prediction/mean": 0.4251,
                    "label/mean": 0.5,
                    "accuracy_baseline": 0.5,
                    "auc": 1.0,
                    "auc_precision_recall": 1.0,
                },
            ],
        ),
        (
            lambda: told(OLD(label_vocabulary=["n", "y"]), "infer", ONE),
            {
                "logits": [[1.0], [-2.0]],
                "logistic": [[0.7311], [0.1192]],
                "probabilities": [[0.2689, 0.7311], [0.8808, 0.1192]],
                "class_ids": [[1], [0]],
                "classes": [[b"y"], [b"n"]],
                "all_class_ids": [[0, 1], [0, 1]],
                "all_classes": [[b"n", b"y"], [b"n", b"y"]],
            },
        ),
        (
            lambda: told(NEW(weight_column="w", name="h"), "train", ONE, [[1], [0]], regularization_losses=[tf.constant(0.5)] * 2),
            [1.502, {"loss/h": 1.502, "regularization_loss/h": 1.0}],
        ),
        (
            lambda: told(NEW(weight_column="w", name="h"), "eval", ONE, [[1], [1]], regularization_losses=[tf.constant(0.5)] * 2),
            [
                2.002,
                {
                    "average_loss/h": 0.5724,
                    "accuracy/h": 0.8571,
                    "precision/h": 1.0,
                    "recall/h": 0.8571,
                    "prediction/mean/h": 0.6437,
                    "label/mean/h": 1.0,
                    "accuracy_baseline/h": 1.0,
                    "auc/h": 0.0,
                    "auc_precision_recall/h": 1.0,
                    "regularization_loss/h": 1.0,
                },
            ],
        ),
        (
            lambda: told(NEW(thresholds=[0.3, 0.8], loss_fn=own_loss), "eval", ONE, [[0], [1]]),
            [
                2.25,
                {
                    "average_loss": 2.25,
                    "accuracy": 0.0,
                    "precision": 0.0,
                    "recall": 0.0,
                    "prediction/mean": 0.4251,
                    "label/mean": 0.5,
                    "accuracy_baseline": 0.5,
                    "auc": 0.0,
                    "auc_precision_recall": 0.3069,
                    "accuracy/positive_threshold_0.3": 0.0,
                    "precision/positive_threshold_0.3": 0.0,
                    "recall/positive_threshold_0.3": 0.0,
                    "accuracy/positive_threshold_0.8": 0.5,
                    "precision/positive_threshold_0.8": 0.0,
                    "recall/positive_threshold_0.8": 0.0,
                },
            ],
        ),
        (
            lambda: told(con.multi_class_head(3, "w", ["a", "b", "c"], name="h"), "eval", THREE, [["a"], ["c"]]),
            [1.063, {"average_loss/h": 0.6074, "accuracy/h": 0.8571}],
        ),
        (
            lambda: told(
                con.multi_class_head(3, loss_fn=lambda labels, logits: tf.cast(labels, tf.float32) + logits[:, :1]),
                "train",
                [[1.0] * 3] * 2,
                [[1], [2]],
            ),
            [2.5, {"loss": 2.5}],
        ),
        (
            lambda: told(NEW(loss_fn=lambda labels, logits, loss_reduction=None: logits + 1.0), "train", ONE, [[1], [0]]),
            [0.5, {"loss": 0.5}],
        ),
        (
            lambda: told(con.multi_class_head(3, label_vocabulary=["a", "b", "c"]), "infer", THREE),
            {
                "logits": [[1.0, 0.0, -1.0], [0.0, 2.0, 0.5]],
                "probabilities": [[0.6652, 0.2447, 0.09003], [0.09962, 0.7361, 0.1643]],
                "class_ids": [[0], [1]],
                "classes": [[b"a"], [b"b"]],
                "all_class_ids": [[0, 1, 2], [0, 1, 2]],
                "all_classes": [[b"a", b"b", b"c"], [b"a", b"b", b"c"]],
            },
        ),
        (
            lambda: told(con.multi_class_head(tf.constant(3)), "infer", THREE),
            {
                "logits": [[1.0, 0.0, -1.0], [0.0, 2.0, 0.5]],
                "probabilities": [[0.6652, 0.2447, 0.09003], [0.09962, 0.7361, 0.1643]],
                "class_ids": [[0], [1]],
                "classes": [[b"0"], [b"1"]],
                "all_class_ids": [[0, 1, 2], [0, 1, 2]],
                "all_classes": [[b"0", b"1", b"2"], [b"0", b"1", b"2"]],
            },
        ),
        (lambda: told(con.multi_class_head(late(3)), "train", THREE, [[1], [2]]), [1.607, {"loss": 1.607}]),
        (
            lambda: told(v2.MultiClassHead(3, "w", ["a", "b", "c"]), "eval", THREE, [["a"], ["c"]]),
            [1.063, {"average_loss": 0.6074, "accuracy": 0.8571}],
        ),
        (
            lambda: told(
                con.multi_label_head(3, "w", [0.6], ["a", "b", "c"], classes_for_class_based_metrics=["b", "c"]),
                "eval",
                THREE,
                [[1, 0, 0], [0, 1, 1]],
            ),
            [
                0.7677,
                {
                    "average_loss": 0.4387,
                    "auc": 1.0,
                    "auc_precision_recall": 1.0,
                    "accuracy/positive_threshold_0.6": 1.0,
                    "precision/positive_threshold_0.6": 1.0,
                    "recall/positive_threshold_0.6": 1.0,
                    "probability_mean/b": 0.5544,
                    "auc/b": 1.0,
                    "auc_precision_recall/b": 1.0,
                    "probability_mean/c": 0.3194,
                    "auc/c": 1.0,
                    "auc_precision_recall/c": 1.0,
                },
            ],
        ),
        (
            lambda: told(
                con.multi_label_head(3, classes_for_class_based_metrics=[0]),
                "eval",
                THREE,
                tf.SparseTensor([[0, 0], [1, 0], [1, 1]], [2, 0, 1], [2, 2]),
            ),
            [
                0.8523,
                {
                    "average_loss": 0.8523,
                    "auc": 0.3889,
                    "auc_precision_recall": 0.6056,
                    "probability_mean/class0": 0.6155,
                    "auc/class0": 1e-06,
                    "auc_precision_recall/class0": 0.25,
                },
            ],
        ),
        (
            lambda: told(
                con.multi_label_head(3, label_vocabulary=["a", "b", "c"]),
                "train",
                THREE,
                tf.SparseTensor([[0, 0], [1, 0]], ["c", "a"], [2, 1]),
            ),
            [1.186, {"loss": 1.186}],
        ),
        (
            lambda: told(
                con.multi_label_head(2, loss_fn=lambda labels, logits: tf.reduce_sum(tf.abs(logits), -1, keepdims=True)),
                "train",
                TWO,
                [[0, 1], [1, 1]],
            ),
            [1.75, {"loss": 1.75}],
        ),
        (
            lambda: told(v2.MultiLabelHead(3, "w", [0.6], classes_for_class_based_metrics=[1]), "eval", THREE, [[1, 0, 0], [0, 1, 1]]),
            [
                0.7677,
                {
                    "average_loss": 0.4387,
                    "auc": 1.0,
                    "auc_precision_recall": 1.0,
                    "accuracy/positive_threshold_0.6": 1.0,
                    "precision/positive_threshold_0.6": 1.0,
                    "recall/positive_threshold_0.6": 1.0,
                    "probability_mean/class1": 0.5544,
                    "auc/class1": 1.0,
                    "auc_precision_recall/class1": 1.0,
                },
            ],
        ),
        (
            lambda: told(con.regression_head("w", 2, name="h"), "eval", TWO, [[1.0, 1.0], [0.0, 3.0]]),
            [0.9062, {"average_loss/h": 0.5179, "prediction/mean/h": 0.5357, "label/mean/h": 1.071}],
        ),
        (
            lambda: told(con.regression_head(inverse_link_fn=tf.exp), "eval", ONE, [[1.0], [2.0]]),
            [8.0, {"average_loss": 8.0, "prediction/mean": 1.427, "label/mean": 1.5}],
        ),
        (
            lambda: told(con.logistic_regression_head("w"), "eval", ONE, [[1.0], [0.25]]),
            [0.6266, {"average_loss": 0.3581, "prediction/mean": 0.6437, "label/mean": 0.8929}],
        ),
        (
            lambda: told(con.poisson_regression_head("w", compute_full_loss=False), "eval", ONE, [[1.0], [3.0]]),
            [4.111, {"average_loss": 2.349, "prediction/mean": 2.349, "label/mean": 1.286}],
        ),
        (
            lambda: told(v2.PoissonRegressionHead(weight_column="w"), "eval", ONE, [[1.0], [3.0]]),
            [4.552, {"average_loss": 2.601, "prediction/mean": 2.349, "label/mean": 1.286}],
        ),
        (
            lambda: told(v2.LogisticRegressionHead(weight_column="w"), "eval", ONE, [[1.0], [0.25]]),
            [0.6266, {"average_loss": 0.3581, "prediction/mean": 0.6437, "label/mean": 0.8929}],
        ),
        (
            lambda: told(
                v2.RegressionHead(label_dimension=2, weight_column="w2"), "eval", TWO, [[1.0, 1.0], [0.0, 3.0]], {"w2": [[1.0], [3.0]]}
            ),
            [1.188, {"average_loss": 0.5938, "prediction/mean": 0.6875, "label/mean": 1.375}],
        ),
        (lambda: told(pair(con), "train", FIVE, BOTH), [0.7089, {"loss/a": 0.3125, "loss/b": 0.3964, "loss": 0.7089}]),
        (
            lambda: told(pair(con, head_weights=[2.0, 0.5]), "eval", {"a": [r[:2] for r in FIVE], "b": [r[2:] for r in FIVE]}, BOTH),
            [
                0.8232,
                {
                    "loss/a": 0.3125,
                    "average_loss/a": 0.3125,
                    "prediction/mean/a": 0.625,
                    "label/mean/a": 1.0,
                    "loss/b": 0.3964,
                    "average_loss/b": 0.3964,
                    "accuracy/b": 1.0,
                },
            ],
        ),
        (
            lambda: sorted(told(pair(con), "infer", FIVE)),
            [
                "('a', 'predictions')",
                "('b', 'all_class_ids')",
                "('b', 'all_classes')",
                "('b', 'class_ids')",
                "('b', 'classes')",
                "('b', 'logits')",
                "('b', 'probabilities')",
            ],
        ),
        (
            lambda: plain(evaluated(list(pair(con, head_weights=[2.0, 0.5]).create_loss({}, "eval", given(FIVE), given(BOTH))[:2])), 4),
            [0.8232, {"a": [[0.0, 2.0], [0.5, 0.0]], "b": [[0.1207], [0.2757]]}],
        ),
        (lambda: told(pair(v2), "train", FIVE, BOTH), [0.7089, {"loss/a": 0.3125, "loss/b": 0.3964, "loss": 0.7089}]),
        (
            lambda: told(pair(v2, head_weights=[2.0, 0.5]), "train", FIVE, BOTH, regularization_losses=[tf.constant(0.5)]),
            [1.323, {"loss/a": 0.3125, "loss/b": 0.3964, "loss": 1.323, "regularization_loss": 0.5}],
        ),
        (
            lambda: told(pair(v2, head_weights=[2.0, 0.5]), "eval", {"a": [r[:2] for r in FIVE], "b": [r[2:] for r in FIVE]}, BOTH),
            [
                0.8232,
                {
                    "loss/a": 0.3125,
                    "loss/b": 0.3964,
                    "average_loss/a": 0.3125,
                    "prediction/mean/a": 0.625,
                    "label/mean/a": 1.0,
                    "average_loss/b": 0.3964,
                    "accuracy/b": 1.0,
                },
            ],
        ),
        (
            lambda: told(pair(v2), "eval", FIVE, BOTH, regularization_losses=[tf.constant(0.5), tf.constant(1.0)]),
            [
                2.209,
                {
                    "regularization_loss/a_b": 1.5,
                    "loss/a": 0.3125,
                    "loss/b": 0.3964,
                    "average_loss/a": 0.3125,
                    "prediction/mean/a": 0.625,
                    "label/mean/a": 1.0,
                    "average_loss/b": 0.3964,
                    "accuracy/b": 1.0,
                },
            ],
        ),
        (
            lambda: sorted(told(pair(v2), "infer", FIVE)),
            [
                "('a', 'predictions')",
                "('b', 'all_class_ids')",
                "('b', 'all_classes')",
                "('b', 'class_ids')",
                "('b', 'classes')",
                "('b', 'logits')",
                "('b', 'probabilities')",
            ],
        ),
        (
            lambda: told(pair(v2), "train", [[r] for r in FIVE], {"a": [[r] for r in BOTH["a"]], "b": [[r] for r in BOTH["b"]]}),
            [0.7089, {"loss/a": 0.3125, "loss/b": 0.3964, "loss": 0.7089}],
        ),
        (lambda: plain(evaluated(pair(v2, head_weights=[2.0, 0.5]).loss(given(BOTH), given(FIVE), {})), 4), 0.8232),
        (lambda: sorted(pair(v2).metrics(regularization_losses=[])), ["loss/a", "loss/b", "regularization_loss/a_b"]),
        (
            lambda: [pair(v2).name, pair(v2).logits_dimension, pair(v2).loss_reduction, pair(con).name, pair(con).logits_dimension],
            ["a_b", 5, "sum_over_batch_size", "a_b", 5],
        ),
        (
            lambda: sorted(pair(v2).create_estimator_spec({}, "infer", given(FIVE)).export_outputs),
            ["a", "a/predict", "a/regression", "b", "b/classification", "b/predict", "predict", "serving_default"],
        ),
        (
            lambda: sorted(pair(con).create_estimator_spec({}, "infer", given(FIVE)).export_outputs["predict"].outputs),
            ["a/predictions", "b/all_class_ids", "b/all_classes", "b/class_ids", "b/classes", "b/logits", "b/probabilities"],
        ),
        (lambda: told(OLD(), "train", late(ONE), [[1], [0]]), [0.2201, {"loss": 0.2201}]),
        (lambda: told(OLD(), "train", late(ONE), late([[1], [0]])), [0.2201, {"loss": 0.2201}]),
        (lambda: told(OLD(), "train", ONE, [1, 0]), [0.2201, {"loss": 0.2201}]),
        (lambda: told(con.regression_head(weight_column="w"), "train", ONE, [1.0, 0.0], {"w": [2.0, 1.0]}), [2.0, {"loss": 2.0}]),
        (lambda: told(con.regression_head(weight_column="w"), "train", ONE, [1.0, 0.0], {"w": [2, 1]}), [2.0, {"loss": 2.0}]),
        (lambda: told(con.regression_head("w", 2), "train", TWO, TWO, {"w": [[2.0], [1.0]]}), [0.0, {"loss": 0.0}]),
        (
            lambda: told(con.regression_head("w", 2), "train", late(TWO), [[0.0, 0.0], [1.0, 1.0]], {"w": [[2.0], [1.0]]}),
            [1.312, {"loss": 1.312}],
        ),
    ],
)
def test_heads_measure_and_tell(made, expected):
    assert made() == expected


def loss_of(head, logits, labels, features=None, mode="train"):
    """The loss, where only running the graph can tell that something is wrong."""
    return lambda: told(head, mode, logits, labels, features)


def briefly(made):
    """What was refused, without what Python shows of classes and objects."""
    return refused(made).split(" <")[0]


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (
            lambda: briefly(loss_of(OLD(), TWO, [[1], [0]])),
            "ValueError: logits shape must be [D0, D1, ... DN, logits_dimension], got (2, 2).",
        ),
        (
            lambda: briefly(loss_of(OLD(), late(TWO), [[1], [0]])),
            "InvalidArgumentError: assertion failed: [logits shape must be [D0, D1, ... DN, logits_dimension]] [2 2]",
        ),
        (lambda: briefly(loss_of(OLD(), late([1.0, 2.0]), [[1], [0]])), "InvalidArgumentError: assertion failed: [2]"),
        (
            lambda: briefly(loss_of(OLD(), ONE, [[1, 0], [0, 1]])),
            "ValueError: Mismatched label shape. Expected labels dimension=1.  Received 2. Suggested Fix:If your classifier",
        ),
        (
            lambda: briefly(loss_of(OLD(), ONE, late([[1, 0], [0, 1]]))),
            "InvalidArgumentError: assertion failed: [labels shape must be [D0, D1, ... DN, 1]. Suggested Fix: check your n",
        ),
        (
            lambda: briefly(loss_of(OLD(), ONE, late([[1], [0], [1]]))),
            "InvalidArgumentError: assertion failed: [labels shape must be [D0, D1, ... DN, 1]. Suggested Fix: check your n",
        ),
        (lambda: briefly(loss_of(OLD(), ONE, [[2], [0]])), "InvalidArgumentError: assertion failed: [Labels must"),
        (
            lambda: briefly(loss_of(OLD(), ONE, [[-1], [0]])),
            "InvalidArgumentError: assertion failed: [Labels must >= 0] [Condition x >= 0 did not hold element-wise:] [x (h",
        ),
        (
            lambda: briefly(loss_of(OLD(), ONE, None)),
            "ValueError: You must provide a labels Tensor. Given: None. Suggested troubleshooting steps: Check that your da",
        ),
        (
            lambda: briefly(loss_of(OLD(), ONE, tf.SparseTensor([[0, 0]], [1], [2, 1]))),
            "ValueError: SparseTensor labels are not supported. labels must be a Tensor of shape [D0, D1, ..., DN, 1], e.g.",
        ),
        (
            lambda: briefly(loss_of(NEW(), ONE, None)),
            "ValueError: You must provide a labels Tensor. Given: None. Suggested troubleshooting steps: Check that your da",
        ),
        (lambda: briefly(loss_of(NEW(), ONE, [[2], [0]])), "InvalidArgumentError: assertion failed: [Labels must be"),
        (
            lambda: briefly(loss_of(NEW(), ONE, [[-1], [0]])),
            "InvalidArgumentError: assertion failed: [Labels must be >= 0] [Condition x >= 0 did not hold element-wise:] [x",
        ),
        (
            lambda: briefly(loss_of(NEW(), ONE, [[1, 0], [0, 1]])),
            "ValueError: Mismatched label shape. Expected labels dimension=1.  Received 2. Suggested Fix: If your classifie",
        ),
        (
            lambda: briefly(loss_of(NEW(), ONE, late([[1, 0], [0, 1]]))),
            "InvalidArgumentError: assertion failed: [labels shape must be [D0, D1, ... DN, 1]. Suggested Fix: check your n",
        ),
        (
            lambda: briefly(loss_of(OLD(weight_column="w"), ONE, [[1], [0]], {"w": [["a"], ["b"]]})),
            "UnimplementedError: Cast string to float is not supported",
        ),
        (
            lambda: briefly(loss_of(OLD(weight_column="w"), ONE, [[1], [0]], {"w": [[1.0, 2.0], [1.0, 2.0]]})),
            "ValueError: weights can not be broadcast to values. Mismatch at dim 1. values.shape=[2 1] weights.shape=[2 2].",
        ),
        (
            lambda: briefly(loss_of(OLD(weight_column=i()), ONE, [[1], [0]])),
            "TypeError: Weight column must be either a string or _NumericColumn. Given type:",
        ),
        (
            lambda: briefly(loss_of(NEW(weight_column=i()), ONE, [[1], [0]])),
            "TypeError: Weight column must be either a string or NumericColumn. Given type:",
        ),
        (
            lambda: briefly(loss_of(OLD(loss_fn=lambda labels, logits: tf.constant([1.0])), ONE, [[1], [0]])),
            "InvalidArgumentError: assertion failed: [loss_fn must return Tensor of shape [D0, D1, ... DN, 1]. ] [logits_sh",
        ),
        (lambda: briefly(loss_of(con.multi_class_head(3), THREE, [[3], [0]])), "InvalidArgumentError: assertion failed: [Labels must"),
        (
            lambda: briefly(loss_of(con.multi_class_head(3), THREE, [[1.0], [0.0]])),
            "ValueError: Labels dtype should be integer. Instead got",
        ),
        (
            lambda: briefly(loss_of(con.multi_class_head(3), THREE, [["a"], ["b"]])),
            "ValueError: Labels dtype should be integer. Instead got",
        ),
        (
            lambda: briefly(loss_of(con.multi_class_head(3, label_vocabulary=["a", "b", "c"]), THREE, [[1], [2]])),
            "ValueError: Labels dtype should be string if there is a vocabulary. Instead got",
        ),
        (
            lambda: briefly(loss_of(con.multi_class_head(3, label_vocabulary=["a", "b", "c"]), THREE, [["d"], ["a"]])),
            "InvalidArgumentError: assertion failed: [Labels must >= 0] [Condition x >= 0 did not hold element-wise:] [x (h",
        ),
        (
            lambda: briefly(loss_of(con.multi_label_head(3), THREE, [[1, 0, 2], [0, 1, 1]])),
            "InvalidArgumentError: labels must be an integer indicator Tensor with values in [0, 1]",
        ),
        (
            lambda: briefly(loss_of(con.multi_label_head(3), THREE, tf.SparseTensor([[0, 0], [1, 0]], [3, 0], [2, 1]))),
            "InvalidArgumentError: labels must be an integer SparseTensor with values in [0, 3)",
        ),
        (
            lambda: briefly(loss_of(con.multi_label_head(3), THREE, tf.SparseTensor([[0, 0], [1, 0]], [1.0, 0.0], [2, 1]))),
            'TypeError: labels must be an integer SparseTensor with values in [0, 3)  Expected "x" to be integer type.  Fou',
        ),
        (
            lambda: briefly(loss_of(con.multi_label_head(3), THREE, None)),
            "ValueError: You must provide a labels Tensor. Given: None. Suggested troubleshooting steps: Check that your da",
        ),
        (
            lambda: briefly(loss_of(con.regression_head(label_dimension=2), TWO, tf.SparseTensor([[0, 0]], [1.0], [2, 2]))),
            "ValueError: SparseTensor labels are not supported. labels must be a Tensor of shape [D0, D1, ..., DN, 2], e.g.",
        ),
        (
            lambda: briefly(loss_of(NEW(), late(TWO), [[1], [0]])),
            "InvalidArgumentError: assertion failed: [logits shape must be [D0, D1, ... DN, logits_dimension]] [2 2]",
        ),
        (
            lambda: briefly(loss_of(con.multi_label_head(3), THREE, late([[1, 0, 2], [0, 1, 1]]))),
            "InvalidArgumentError: assertion failed: [labels must be an integer indicator Tensor with values in [0, 1]] [Co",
        ),
        (
            lambda: briefly(loss_of(con.multi_label_head(3), THREE, late([[1, 0], [0, 1]]))),
            "InvalidArgumentError: assertion failed: [labels shape must be [D0, D1, ... DN, 3]. Suggested Fix: check your n",
        ),
        (
            lambda: briefly(lambda: con.multi_label_head(3, classes_for_class_based_metrics=["a"])),
            "ValueError: label_vocabulary must be provided when classes_for_class_based_metrics are sting.",
        ),
        (
            lambda: briefly(lambda: OLD(loss_fn=lambda labels, logits, loss_reduction: 1)),
            "ValueError: loss_fn has unexpected args: ['loss_reduction']",
        ),
        (
            lambda: briefly(loss_of(pair(con), THREE, BOTH)),
            "ValueError: Could not split logits of shape [2, 3] among the heads with individual logits dimensions: [2, 3]. ",
        ),
        (
            lambda: briefly(loss_of(pair(v2), THREE, BOTH)),
            "ValueError: Could not split logits of shape [2, 3] among the heads with individual logits dimensions: [2, 3]. ",
        ),
        (
            lambda: briefly(lambda: pair(v2).loss({"a": tf.constant([[1.0]])}, given(FIVE))),
            "ValueError: labels has missing values for head(s): ['b']",
        ),
        (lambda: briefly(lambda: pair(v2).predictions({"b": given(THREE)})), "ValueError: logits has missing values for head(s): ['a']"),
        (
            lambda: briefly(
                lambda: v2.MultiHead([v2.RegressionHead(name="a"), v2.RegressionHead(name="b", loss_reduction="sum")]).loss_reduction
            ),
            "ValueError: The loss_reduction must be the same for different heads. Given: ['sum_over_batch_size', 'sum']",
        ),
        (lambda: briefly(lambda: con.multi_head([])), "ValueError: Must specify heads. Given: []"),
        (
            lambda: briefly(lambda: con.multi_head([OLD(name="a")], [1.0, 2.0])),
            "ValueError: heads and head_weights must have the same size. Given len(heads): 1. Given len(head_weights): 2.",
        ),
        (lambda: briefly(lambda: con.multi_head([OLD(name="a"), OLD()])), "ValueError: All given heads must have name specified. Given:"),
        (lambda: briefly(lambda: con.multi_class_head(2)), "ValueError: n_classes must be > 2: 2."),
        (lambda: briefly(lambda: con.multi_class_head(None)), "ValueError: n_classes cannot be None"),
        (lambda: briefly(lambda: con.multi_class_head(tf.constant(2))), "InvalidArgumentError: n_classes must be greater than 2"),
        (
            lambda: briefly(lambda: con.multi_class_head(3, label_vocabulary="abc")),
            "ValueError: label_vocabulary should be a list or a tuple. Given type:",
        ),
        (lambda: briefly(lambda: OLD(label_vocabulary="ab")), "TypeError: label_vocabulary should be a list or tuple. Given type:"),
        (lambda: briefly(lambda: con.multi_label_head(1)), "ValueError: n_classes must be > 1 for multi-class classification. Given: 1"),
        (
            lambda: briefly(lambda: con.multi_label_head(None)),
            "ValueError: n_classes must be > 1 for multi-class classification. Given: None",
        ),
        (lambda: briefly(lambda: con.multi_label_head(3, thresholds=[0.0])), "ValueError: thresholds must be in (0, 1) range. Given: 0.0"),
        (lambda: briefly(lambda: con.multi_label_head(3, thresholds=[1.0])), "ValueError: thresholds must be in (0, 1) range. Given: 1.0"),
        (
            lambda: briefly(lambda: con.multi_label_head(3, label_vocabulary="abc")),
            "ValueError: label_vocabulary must be a list or tuple. Given type:",
        ),
        (
            lambda: briefly(lambda: con.multi_label_head(3, label_vocabulary=["a"])),
            "ValueError: Length of label_vocabulary must be n_classes (3). Given: 1",
        ),
        (
            lambda: briefly(lambda: con.multi_label_head(3, classes_for_class_based_metrics=[3])),
            "ValueError: All classes_for_class_based_metrics must be in range [0, 2]. Given: 3",
        ),
        (
            lambda: briefly(lambda: con.multi_label_head(3, classes_for_class_based_metrics=[-1])),
            "ValueError: All classes_for_class_based_metrics must be in range [0, 2]. Given: -1",
        ),
        (lambda: briefly(lambda: OLD(loss_reduction="none")), "ValueError: Invalid loss_reduction: none"),
        (lambda: briefly(lambda: OLD(loss_reduction="other")), "ValueError: Invalid loss_reduction: other"),
        (
            lambda: briefly(lambda: OLD(loss_fn=lambda labels: 1)),
            "ValueError: loss_fn must contain argument: logits. Given arguments: ('labels',)",
        ),
        (lambda: briefly(lambda: OLD(loss_fn=lambda labels, logits, other: 1)), "ValueError: loss_fn has unexpected args: ['other']"),
        (
            lambda: briefly(lambda: told(OLD(), "train", ONE, [[1], [0]], train_op_fn=None)),
            "ValueError: train_op_fn and optimizer cannot both be None.",
        ),
        (
            lambda: briefly(lambda: told(OLD(), "train", ONE, [[1], [0]], optimizer=tf.train.AdamOptimizer())),
            "ValueError: train_op_fn and optimizer cannot both be set.",
        ),
        (
            lambda: briefly(lambda: told(NEW(), "train", ONE, [[1], [0]], train_op_fn=None)),
            "ValueError: train_op_fn and optimizer cannot both be None.",
        ),
        (
            lambda: briefly(lambda: told(NEW(), "train", ONE, [[1], [0]], update_ops=tf.no_op())),
            "ValueError: update_ops should be a list or a tuple. Given type:",
        ),
        (
            lambda: briefly(lambda: told(NEW(), "train", ONE, [[1], [0]], train_op_fn=None, optimizer=tf.train.AdamOptimizer())),
            "ValueError: The given optimizer is not a tf.keras.optimizers.Optimizer instance. Given:",
        ),
        (
            lambda: briefly(lambda: told(NEW(), "train", ONE, [[1], [0]], train_op_fn=None, optimizer=tf.keras.optimizers.SGD())),
            "ValueError: trainable_variables cannot be None. Given None",
        ),
        (
            lambda: briefly(
                lambda: told(NEW(), "train", ONE, [[1], [0]], train_op_fn=None, optimizer=tf.keras.optimizers.SGD(), trainable_variables={})
            ),
            "ValueError: trainable_variables should be a list or a tuple. Given type:",
        ),
        (
            lambda: briefly(lambda: sequential._flatten_tensor(tf.constant([1]), tf.constant([[1]]), 1)),
            "ValueError: Input tensor expected to have at least 2 dimensions, got 1 instead.",
        ),
        (
            lambda: briefly(lambda: evaluated(sequential._flatten_tensor(tf.constant([[1, 2]]), late([[1]]), 1))),
            "ValueError: Number of mask dimensions must be specified, even if some dimensions are None.  E.g. shape=[None] ",
        ),
        (
            lambda: plain(
                evaluated(
                    sequential._flatten_tensor(
                        tf.SparseTensor([[0, 0, 0], [0, 0, 1], [0, 1, 0], [0, 1, 1]], [1, 2, 3, 4], [1, 2, 2]), tf.constant([[1, 1]]), 2
                    )
                )
            ),
            [[1, 2], [3, 4]],
        ),
        (
            lambda: briefly(lambda: sequential.SequentialHeadWrapper(NEW(), 5)),
            "TypeError: `sequence_mask` column must be a string. Given type:",
        ),
        (
            lambda: briefly(lambda: sequential.SequentialHeadWrapper(NEW(), "m", 5)),
            "TypeError: `feature_columns` must be either a string or an iterable of strings got",
        ),
        (lambda: briefly(lambda: sequential.SequentialHeadWrapper(NEW(), "m", [5])), "TypeError: Column must a string. Given type:"),
        (
            lambda: briefly(lambda: sequential.SequentialHeadWrapper(pair(v2), "m")),
            "ValueError: `MultiHead` is not supported with `SequentialHeadWrapper`.",
        ),
    ],
)
def test_heads_refuse(made, expected):
    assert made() == expected


def i():
    return fc.categorical_column_with_identity("x", 3)
